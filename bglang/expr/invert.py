"""Closed inverses: solving y = value(x) for x, where that is exact for every x.

The expression is peeled from outside while only one operand contains x.  Where several do, it must be linear in x, or
x*abs(x) times a factor.  Functions whose inverse has a limited range (`atan`, `asin`, `sqrt`) give not-a-number outside
it, never the value of another branch.  What can be inverted only branch by branch stays implicit: `invert` gives None.
"""

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

from bglang.expr.core import LEAVES, Expr, call, neg, operands, product, total
from bglang.expr.diff import choose, diff
from bglang.expr.expand import expand_node
from bglang.expr.odd import odd_power, root_of
from bglang.expr.walk import contains, depends, postorder, rebuild
from bglang.graph.ir import Table

Node = tuple[Any, ...]
Tables = Mapping[str, Table]
Linear = tuple[Expr, Expr]
INVERSE_MARK = "^-1"
"""A table key that ends so names the table with the columns of the other one swapped (`inverse_table`)."""

_COULOMB = frozenset({"coulomb"})
NOT_A_NUMBER: Expr = ("sqrt", -1.0)


def invert(value: Expr, own: Expr, result: Expr, tables: Tables | None = None) -> Expr | None:
    """x from `result` = value(x), where `own` is the leaf x; None where no closed global inverse is known.

    `result` must not contain x.  An implicit law 0 = value is inverted with `result` 0."""
    current = value
    while current != own:
        if not isinstance(current, tuple) or not depends(current, own):
            return None
        linear = linear_in(current, own)
        if linear is not None:
            found = _from_linear(linear, result)  # what cancels (x - x) may have left x in a coefficient
            return None if found is None or depends(found, own) else found
        peeled = _peel(current, own, result, tables or {})
        if peeled is None:
            return None
        current, result = peeled
    return None if depends(result, own) else result


def solvable(value: Expr, own: Expr, tables: Tables | None = None) -> Literal["exact", "implicit", "never"]:
    """Can y = value(x) be solved for x: by a closed inverse, by an implicit equation, or never (x does not matter)?

    A term `coulomb(x, level)` can: it is set-valued, and its modes decide which of the two sides it fixes."""
    if not depends(value, own):
        return "never"
    if invert(value, own, ("v", "the result"), tables) is not None:
        return "exact"
    if contains(value, _COULOMB):
        return "implicit"
    slope = diff(value, own)
    return "implicit" if isinstance(slope, tuple) or slope != 0.0 else "never"


def linear_in(e: Expr, own: Expr) -> Linear | None:
    """(a, b) with e = a*own + b, neither of them containing own; None where e is not linear."""
    if not isinstance(e, tuple):
        return 0.0, e
    parts: dict[int, Linear | None] = {}
    for node in postorder(e):
        if node == own:
            parts[id(node)] = 1.0, 0.0
        elif node[0] in LEAVES:
            parts[id(node)] = 0.0, node
        else:
            args = operands(node)
            inner = [parts[id(a)] if isinstance(a, tuple) else (0.0, a) for a in args]
            parts[id(node)] = _linear_node(node, args, inner)
    return parts[id(e)]


def _linear_node(node: Node, args: Node, inner: list[Linear | None]) -> Linear | None:
    op = node[0]
    inside = [k for k, part in enumerate(inner) if part is None or part[0] != 0.0]
    known = [part for part in inner if part is not None]
    if not inside:
        return 0.0, rebuild(node, [b for _, b in known])  # where x has cancelled, nothing of it may be left
    if len(known) != len(inner):
        return None
    if op in ("+", "-", "neg"):
        return call(op, *(a for a, _ in known)), call(op, *(b for _, b in known))
    if op == "*" and len(inside) == 1:
        a, b = known[inside[0]]
        others = [other for k, other in enumerate(args) if k != inside[0]]
        return product([a, *others]), product([b, *others])
    if op == "/" and inside == [0]:
        a, b = known[0]
        return call("/", a, args[1]), call("/", b, args[1])
    if op == "linear" and inside == [0]:
        (a, b), (_, c0, c1) = known[0], args
        return product([c1, a]), total([c0, product([c1, b])])
    if op == "if" and inside == [1, 2]:  # where one branch loses x (an ideal switch) there is no inverse
        (a1, b1), (a2, b2) = known[1], known[2]
        return choose(args[0], a1, a2), choose(args[0], b1, b2)
    return None


def _from_linear(linear: Linear, result: Expr) -> Expr | None:
    a, b = linear
    if a == 0.0:
        return None
    top = call("-", result, b)
    if isinstance(a, tuple) and a[0] == "/" and a[1] == 1.0:
        return product([a[2], top])
    if isinstance(a, tuple) and a[0] == "neg":
        return neg(call("/", top, a[1]))
    return neg(top) if a == -1.0 else call("/", top, a)


def _peel(e: Node, own: Expr, result: Expr, tables: Tables) -> tuple[Expr, Expr] | None:
    """One operation taken off both sides: the operand that contains x, and what it must equal."""
    op, args = e[0], operands(e)
    inside = [k for k, a in enumerate(args) if depends(a, own)]
    if op in ("table", "pwlin"):
        return _peel_table(e, result, tables)
    if len(inside) > 1:
        return _peel_odd(e, own, result) or _peel_square(e, own, result)
    k = inside[0]
    if op in _PEEL:
        made = _PEEL[op](args, k, result)
        return None if made is None else (args[k], made)
    if op in _SLOPED:
        made = _SLOPED[op](args, k, result)
        return None if made is None else (args[0], made)
    if op in _EXPANDED:
        expanded = expand_node(e)
        return (expanded, result) if k == 0 else None
    return None


_EXPANDED = frozenset((
    "linear", "arcsine", "arccosine", "exponential", "logarithm", "reciprocal_arcsine", "reciprocal_arccosine",
    "inverse", "sine", "cosine",
))  # fmt: skip
"""Functions whose inverse is that of their formula."""


def _sum(args: Node, k: int, result: Expr) -> Expr:
    return total([result, *(neg(a) for i, a in enumerate(args) if i != k)])


def _difference(args: Node, k: int, result: Expr) -> Expr:
    return total([result, args[1]]) if k == 0 else call("-", args[0], result)


def _factor(args: Node, k: int, result: Expr) -> Expr:
    return call("/", result, product(a for i, a in enumerate(args) if i != k))


def _quotient(args: Node, k: int, result: Expr) -> Expr:
    return product([result, args[1]]) if k == 0 else call("/", args[0], result)


def _power(args: Node, k: int, result: Expr) -> Expr | None:
    if k == 1:
        return call("/", call("log", result), call("log", args[0]))
    n = args[1]
    if isinstance(n, tuple):
        return None  # a parameter may be even
    if n != int(n):
        return call("^", result, 1.0 / n)  # x >= 0 and result >= 0 by the definition of such powers
    if int(n) % 2 == 0:
        return None
    return root_of(result, n) if n > 0 else call("/", 1.0, root_of(result, -n))


def _within(r: Expr, low: float, high: float, value: Expr) -> Expr:
    """The value where low <= r <= high, else not a number."""
    return ("noEvent", call("if", ("and", (">=", r, low), ("<=", r, high)), value, NOT_A_NUMBER))


def _asinh(r: Expr) -> Expr:
    magnitude = ("abs", r)
    grown = call("log", total([magnitude, call("sqrt", total([call("*", r, r), 1.0]))]))
    return ("noEvent", call("if", ("<", r, 0.0), neg(grown), grown))


def _absqrt_of(r: Expr, c: Expr) -> Expr:
    """x from c*x*abs(x) = r."""
    return ("absqrt", call("/", r, c), 1.0)


_PEEL: dict[str, Callable[[Node, int, Expr], Expr | None]] = {
    "+": _sum,
    "-": _difference,
    "*": _factor,
    "/": _quotient,
    "^": _power,
    "neg": lambda args, k, r: neg(r),
    "exp": lambda args, k, r: call("log", r),
    "log": lambda args, k, r: call("exp", r),
    "log10": lambda args, k, r: call("^", 10.0, r),
    "sqrt": lambda args, k, r: _within(r, 0.0, math.inf, call("*", r, r)),
    "atan": lambda args, k, r: _within(r, -math.pi / 2, math.pi / 2, call("tan", r)),
    "asin": lambda args, k, r: _within(r, -math.pi / 2, math.pi / 2, call("sin", r)),
    "acos": lambda args, k, r: _within(r, 0.0, math.pi, call("cos", r)),
    "sinh": lambda args, k, r: _asinh(r),
    "tanh": lambda args, k, r: product([0.5, call("log", call("/", total([1.0, r]), call("-", 1.0, r)))]),
    "abs2": lambda args, k, r: _absqrt_of(r, args[1]) if k == 0 else None,
    "absqrt": lambda args, k, r: ("abs2", call("/", r, args[1]), 1.0) if k == 0 else None,
    "noEvent": lambda args, k, r: r,
    "smooth": lambda args, k, r: r if k == 1 else None,
}


def _breakpoint_inverse(args: Node, k: int, r: Expr) -> Expr | None:
    _, x1, y1, c1, c2 = args
    if k != 0 or isinstance(c1, tuple) or isinstance(c2, tuple) or c1 * c2 <= 0.0:
        return None
    slopes = (1.0 / c1, 1.0 / c2) if c1 > 0.0 else (1.0 / c2, 1.0 / c1)
    return ("breakpoint", r, y1, x1, *slopes)


def _saturation_inverse(args: Node, k: int, r: Expr) -> Expr | None:
    _, x1, y1, x2, y2, c1, c2 = args
    if k != 0 or any(isinstance(a, tuple) for a in args[1:]) or c1 * c2 <= 0.0:
        return None
    if x1 >= x2 or (y2 - y1) * c1 <= 0.0:
        return None
    if c1 > 0.0:
        return ("adjustable_saturation", r, y1, x1, y2, x2, 1.0 / c1, 1.0 / c2)
    return ("adjustable_saturation", r, y2, x2, y1, x1, 1.0 / c2, 1.0 / c1)


_SLOPED: dict[str, Callable[[Node, int, Expr], Expr | None]] = {
    "breakpoint": _breakpoint_inverse,
    "adjustable_saturation": _saturation_inverse,
}


def _peel_odd(e: Node, own: Expr, result: Expr) -> tuple[Expr, Expr] | None:
    """c*sign(u)*abs(u)^n, however it is written."""
    found = odd_power(e)
    if found is None or found.below is not None or isinstance(found.n, tuple) or depends(found.factor, own):
        return None
    return found.u, root_of(call("/", result, found.factor), found.n)


def _peel_square(e: Node, own: Expr, result: Expr) -> tuple[Expr, Expr] | None:
    """c*u*abs(u): the only product of two dependent factors with a global inverse."""
    if e[0] != "*":
        return None
    inside = [a for a in operands(e) if depends(a, own)]
    others = [a for a in operands(e) if not depends(a, own)]
    if len(inside) == 1:
        return inside[0], call("/", result, product(others))
    if len(inside) != 2:
        return None
    for u, v in (inside, inside[::-1]):
        if v == ("abs", u):
            return u, _absqrt_of(result, product(others))
        if isinstance(u, tuple) and u[0] == "*":  # (c*u)*abs(u), as sources write it
            flat: Expr = product([*others, *operands(u), v])
            return _peel_square(flat, own, result) if isinstance(flat, tuple) else None
    return None


def _peel_table(e: Node, result: Expr, tables: Tables) -> tuple[Expr, Expr] | None:
    table = tables.get(e[2])
    if table is None or inverse_table(table) is None:
        return None
    return e[1], (e[0], result, e[2] + INVERSE_MARK)


def inverse_table(table: Table) -> Table | None:
    """The table with its columns swapped: only linear ones, strictly monotone, that do not end in a plateau."""
    numbers = [v for v in (*table.x, *table.y) if not isinstance(v, tuple)]
    if table.method != "linear" or table.outside == "hold" or len(numbers) != len(table.x) + len(table.y):
        return None
    pairs = list(zip(table.y, table.x, strict=True))
    if pairs[0][0] > pairs[-1][0]:  # type: ignore[operator]
        pairs.reverse()
    ys = [y for y, _ in pairs]
    if any(b <= a for a, b in itertools.pairwise(ys)):  # type: ignore[operator]
        return None
    if any(a == b for a, b in zip(table.x, table.x[1:], strict=False)):
        return None
    key = table.key + INVERSE_MARK
    x, y = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    return Table(key, x, y, "linear", table.outside, table.ends, table.span)
