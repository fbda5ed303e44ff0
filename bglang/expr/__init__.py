"""Expressions of the flat model: small immutable trees made of tuples.

An expression is a `float`, or a tuple whose first item says what it is:

    ("v", name)        a variable of the flat model by its dotted name: "mass.p", "v.f", "b3.e", "motor.w.f", "h"
    ("p", name)        a parameter by its dotted name
    ("t",)             time
    (op, a, b, ...)    an operation on expressions

After derivation the leaves are numbers instead of names: ("y", i) an unknown, ("d", i) its rate, ("p", i) a parameter,
("z", i) a discrete quantity (mode or discrete variable), ("t",).

Tuples hash and compare by value, which is what common subexpressions and rolling need, and cost little.  Operations:

    "+" "*"            two or more operands;  "-" "/" "^" two;  "neg" one
    sin cos tan asin acos atan atan2 sinh cosh tanh exp log log10 sqrt        smooth
    abs sign min max floor ceil mod (floored) integer div rem                 each branch is a mode
    "<" "<=" ">" ">=" "==" "!="  "and" "or" (n-ary)  "not"                    conditions, 1.0 or 0.0 as numbers
    ("if", condition, then, else)
    ("noEvent", a)  ("smooth", order, a)  ("pre", v)  ("edge", b)  ("change", v)
    ("sample", start, interval)  ("initial",)  ("terminal",)  ("der", a)
    ("table", x, key)  value of the table `key` (a str that names a `Table` of the graph), ("dtable", x, key) its slope,
                       ("ddtable", x, key) and ("dddtable", x, key) its second and third derivative
    ("external", t, a, ..., key)  an output of an outside model, in actions of `when` only
    ("const", c0) ("linear", x, c0, c1) ("poly", x, c0, c1, ...) ("abs2", x, c) ("absqrt", x, c) ("coulomb", x, level)
    ("breakpoint", x, x1, y1, c1, c2) ("saturation", x, x1, y1, x2, y2)
    ("adjustable_saturation", x, x1, y1, x2, y2, c1, c2) ("reciprocal_square", x, c0, c1, c2) ("inverse", x)
    ("sine", x, c1, c2, c3, c4) and likewise cosine arcsine arccosine exponential logarithm reciprocal_sine
    reciprocal_cosine reciprocal_arcsine reciprocal_arccosine
    ("pwlin", x, key) a linear table; ("interpolation", x, key) one polynomial through the points of table `key`

The last group is the ENPORT set: kept by name until a law has its direction (they know their inverses), then expanded.
"""

from bglang.expr.core import ONE, TIME, ZERO, Expr, call, leaves, map_leaves, neg, par, product, total, var

__all__ = ["ONE", "TIME", "ZERO", "Expr", "call", "leaves", "map_leaves", "neg", "par", "product", "total", "var"]
