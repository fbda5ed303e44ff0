"""Exact derivatives of expressions.

One pass from the leaves upwards (forward mode): the derivative of each part is made once, so shared parts cost nothing
extra.  Operations with branches (`abs`, `min`, `if`, ...) are differentiated by branch; what is constant between events
(`sign`, `floor`, relations, `pre`) has derivative zero.

The slope of `sqrt` at zero is infinite, which no Jacobian can hold: there the derivative stops growing when the root is
below `SLOPE_LIMIT`; that of other powers below one stops where their base is `LEAST_BASE`.  The value of the function
itself is never touched.
"""

import math
from collections.abc import Callable
from typing import Any

from bglang.expr.core import LEAVES, Expr, call, neg, operands, product, total
from bglang.expr.expand import expand_node
from bglang.expr.walk import postorder

SLOPE_LIMIT = 1e-10
LEAST_BASE = SLOPE_LIMIT**2
Node = tuple[Any, ...]

CONSTANT = frozenset((
    "sign", "floor", "ceil", "integer", "div", "<", "<=", ">", ">=", "==", "!=", "and", "or", "not", "pre", "edge",
    "change", "sample", "initial", "terminal",
))  # fmt: skip
"""Operations that are constant between events."""

NEXT_TABLE = {
    "table": "dtable", "dtable": "ddtable", "ddtable": "dddtable",
    "interpolation": "dinterpolation", "dinterpolation": "ddinterpolation", "ddinterpolation": "dddinterpolation",
}  # fmt: skip
"""The operation that is the slope of each operation with a table.  Pieces of a table are cubic at most: the fourth
derivative is zero."""


def diff(e: Expr, leaf: Expr) -> Expr:
    """The partial derivative of an expression with respect to one of its leaves."""
    return derivative(e, lambda node: 1.0 if node == leaf else 0.0)


def time_derivative(e: Expr, rate: Callable[[Node], Expr]) -> Expr:
    """The total derivative by time; `rate` gives that of every leaf except time (1) and parameters, z (0)."""

    def seed(node: Node) -> Expr:
        if node[0] == "t":
            return 1.0
        return 0.0 if node[0] in ("p", "z") else rate(node)

    return derivative(e, seed)


def derivative(e: Expr, seed: Callable[[Node], Expr]) -> Expr:
    """The derivative of an expression whose leaves have the derivatives that `seed` gives."""
    if not isinstance(e, tuple):
        return 0.0
    slopes: dict[int, Expr] = {}
    for node in postorder(e):
        if node[0] in LEAVES:
            slopes[id(node)] = seed(node)
        elif node[0] in CONSTANT:
            slopes[id(node)] = 0.0
        else:
            args = operands(node)
            inner = [slopes[id(a)] if isinstance(a, tuple) else 0.0 for a in args]
            zero = all(not isinstance(d, tuple) and d == 0.0 for d in inner)
            slopes[id(node)] = 0.0 if zero else _slope(node, args, inner)
    return slopes[id(e)]


def _slope(node: Node, args: Node, inner: list[Expr]) -> Expr:
    """The derivative of one operation from those of its operands."""
    op = node[0]
    if op in _UNARY:
        return product([inner[0], _UNARY[op](node, args[0])])
    if op in _SEVERAL:
        return _SEVERAL[op](node, args, inner)
    if op in NEXT_TABLE:
        return product([inner[0], (NEXT_TABLE[op], args[0], node[-1])])
    if op in ("dddtable", "dddinterpolation"):
        assert op == "dddtable", "no model needs the fourth derivative of an interpolation"
        return 0.0
    if op == "pwlin":
        return product([inner[0], ("dtable", args[0], node[-1])])
    expanded = expand_node(node)
    assert expanded is not node, f"no derivative is known for {op!r}"
    seeds = {id(a): d for a, d in zip(args, inner, strict=True) if isinstance(a, tuple)}
    return _derivative_above(expanded, seeds)


def _derivative_above(e: Expr, known: dict[int, Expr]) -> Expr:
    """The derivative of an expression some of whose parts (by identity) have known derivatives."""
    slopes = dict(known)
    for node in postorder(e):
        if id(node) in slopes:
            continue
        if node[0] in LEAVES or node[0] in CONSTANT:
            slopes[id(node)] = 0.0
        else:
            args = operands(node)
            inner = [slopes[id(a)] if isinstance(a, tuple) else 0.0 for a in args]
            zero = all(not isinstance(d, tuple) and d == 0.0 for d in inner)
            slopes[id(node)] = 0.0 if zero else _slope(node, args, inner)
    return slopes[id(e)] if isinstance(e, tuple) else 0.0


def _square(a: Expr) -> Expr:
    return call("*", a, a)


def _sqrt_slope(node: Node, _a: Expr) -> Expr:
    return call("/", 0.5, ("noEvent", ("max", node, SLOPE_LIMIT)))


_UNARY: dict[str, Callable[[Node, Expr], Expr]] = {
    "neg": lambda _, a: -1.0,
    "sin": lambda _, a: call("cos", a),
    "cos": lambda _, a: neg(call("sin", a)),
    "tan": lambda node, a: total([1.0, _square(node)]),
    "asin": lambda _, a: call("/", 1.0, call("sqrt", call("-", 1.0, _square(a)))),
    "acos": lambda _, a: call("/", -1.0, call("sqrt", call("-", 1.0, _square(a)))),
    "atan": lambda _, a: call("/", 1.0, total([1.0, _square(a)])),
    "sinh": lambda _, a: call("cosh", a),
    "cosh": lambda _, a: call("sinh", a),
    "tanh": lambda node, a: call("-", 1.0, _square(node)),
    "exp": lambda node, a: node,
    "log": lambda _, a: call("/", 1.0, a),
    "log10": lambda _, a: call("/", 1.0 / math.log(10.0), a),
    "sqrt": _sqrt_slope,
    "abs": lambda _, a: call("if", ("<", a, 0.0), -1.0, 1.0),
}


def _product_slope(node: Node, args: Node, inner: list[Expr]) -> Expr:
    terms = []
    for k, d in enumerate(inner):
        if isinstance(d, tuple) or d != 0.0:
            terms.append(product([*args[:k], d, *args[k + 1 :]]))
    return total(terms)


def _quotient_slope(node: Node, args: Node, inner: list[Expr]) -> Expr:
    (_, b), (da, db) = args, inner
    if db == 0.0:
        return call("/", da, b)
    return call("/", call("-", da, product([node, db])), b)


def _power_slope(node: Node, args: Node, inner: list[Expr]) -> Expr:
    (a, b), (da, db) = args, inner
    terms = []
    if da != 0.0:
        base = a
        if isinstance(a, tuple) and (isinstance(b, tuple) or 0.0 < b < 1.0):
            base = ("noEvent", ("if", ("<", ("abs", a), LEAST_BASE), LEAST_BASE, a))
        terms.append(product([b, call("^", base, call("-", b, 1.0)), da]))
    if db != 0.0:
        terms.append(product([node, call("log", a), db]))
    return total(terms)


def _atan2_slope(node: Node, args: Node, inner: list[Expr]) -> Expr:
    (y, x), (dy, dx) = args, inner
    top = call("-", product([x, dy]), product([y, dx]))
    return call("/", top, total([_square(x), _square(y)]))


def _extreme_slope(node: Node, args: Node, inner: list[Expr]) -> Expr:
    """min and max of several: the slope of the one that is taken."""
    relation = "<=" if node[0] == "min" else ">="
    value, slope = args[-1], inner[-1]
    for a, d in zip(reversed(args[:-1]), reversed(inner[:-1]), strict=True):
        slope = choose((relation, a, value), d, slope)
        value = (node[0], a, value)
    return slope


def _mod_slope(node: Node, args: Node, inner: list[Expr]) -> Expr:
    whole = ("floor", call("/", *args)) if node[0] == "mod" else ("div", *args)
    return call("-", inner[0], product([whole, inner[1]]))


def choose(condition: Expr, a: Expr, b: Expr) -> Expr:
    """`if condition then a else b`, or just a where both are the same."""
    if a is b or (not isinstance(a, tuple) and a == b):
        return a
    return call("if", condition, a, b)


_SEVERAL: dict[str, Callable[[Node, Node, list[Expr]], Expr]] = {
    "+": lambda node, args, inner: total(inner),
    "-": lambda node, args, inner: call("-", *inner),
    "*": _product_slope,
    "/": _quotient_slope,
    "^": _power_slope,
    "atan2": _atan2_slope,
    "min": _extreme_slope,
    "max": _extreme_slope,
    "mod": _mod_slope,
    "rem": _mod_slope,
    "if": lambda node, args, inner: choose(args[0], inner[1], inner[2]),
    "noEvent": lambda node, args, inner: ("noEvent", inner[0]) if isinstance(inner[0], tuple) else inner[0],
    "smooth": lambda node, args, inner: ("noEvent", inner[1]) if isinstance(inner[1], tuple) else inner[1],
    "coulomb": lambda node, args, inner: product([inner[1], ("sign", args[0])]),
}
