"""The ENPORT functions written out in elementary operations.

They keep their names while a law looks for its direction (they know their inverses) and are expanded afterwards.
`coulomb` is left alone: only the law that it stands in knows whether it sticks (`bglang.equations.modes`).

`absqrt` is written by branches, +-c*sqrt(+-x), without events: its value at zero is exact and its slope there, which is
infinite, is limited as that of every `sqrt` (`bglang.expr.diff`).  An event at zero would have to hold a branch beyond
the end of its domain, and what drains through an `absqrt` comes to rest exactly there.  `abs2` is x*abs(x).
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from bglang.expr.core import Expr, call, neg, product, total
from bglang.expr.walk import contains, rebuild, rewrite

Node = tuple[Any, ...]


class Points(Protocol):
    """What is needed of a table: its points."""

    @property
    def x(self) -> tuple[Expr, ...]: ...
    @property
    def y(self) -> tuple[Expr, ...]: ...


def expand(e: Expr, tables: Mapping[str, Points] | None = None) -> Expr:
    """The expression without ENPORT functions (but `coulomb`); `tables` hold the points of interpolations."""

    def operation(node: Node, args: list[Expr]) -> Expr:
        made = rebuild(node, args)
        if not isinstance(made, tuple):
            return made
        if made[0].endswith("interpolation"):
            assert tables is not None, "an interpolation needs its points"
            return _interpolation(made, tables[made[2]])
        return expand_node(made)

    return rewrite(e, lambda leaf: leaf, operation)


def elementary(e: Expr, tables: Mapping[str, Points] | None = None) -> Expr:
    """The expression of parameters alone without ENPORT functions: nothing can stick there, `coulomb` is a sign."""
    if not isinstance(e, tuple) or not contains(e, ENPORT):
        return e

    def operation(node: Node, args: list[Expr]) -> Expr:
        return product([args[1], ("sign", args[0])]) if node[0] == "coulomb" else rebuild(node, args)

    return rewrite(expand(e, tables), lambda leaf: leaf, operation)


def expand_node(node: Node) -> Expr:
    """One operation expanded; the node itself where it is elementary already."""
    make = _FORMULAS.get(node[0])
    return node if make is None else make(*node[1:])


def _line(x: Expr, x1: Expr, y1: Expr, slope: Expr) -> Expr:
    return total([y1, product([slope, call("-", x, x1)])])


def _poly(x: Expr, *coefficients: Expr) -> Expr:
    result: Expr = 0.0
    for c in reversed(coefficients):
        result = total([c, product([x, result])])
    return result


def _absqrt(x: Expr, c: Expr = 1.0) -> Expr:
    negative = neg(product([c, call("sqrt", neg(x))]))
    chosen = call("if", ("<", x, 0.0), negative, product([c, call("sqrt", x)]))
    return ("noEvent", chosen) if isinstance(chosen, tuple) else chosen


def _breakpoint(x: Expr, x1: Expr, y1: Expr, c1: Expr, c2: Expr) -> Expr:
    return call("if", ("<=", x, x1), _line(x, x1, y1, c1), _line(x, x1, y1, c2))


def _saturation(x: Expr, x1: Expr, y1: Expr, x2: Expr, y2: Expr) -> Expr:
    return _adjustable(x, x1, y1, x2, y2, 0.0, 0.0)


def _adjustable(x: Expr, x1: Expr, y1: Expr, x2: Expr, y2: Expr, c1: Expr, c2: Expr) -> Expr:
    middle = _line(x, x1, y1, call("/", call("-", y2, y1), call("-", x2, x1)))
    upper = call("if", (">=", x, x2), _line(x, x2, y2, c2), middle)
    return call("if", ("<=", x, x1), _line(x, x1, y1, c1), upper)


def _family(function: str, reciprocal: bool) -> Callable[..., Expr]:
    """c1*function(c2*x + c3) + c4, or c1/function(...) + c4."""

    def make(x: Expr, c1: Expr = 1.0, c2: Expr = 1.0, c3: Expr = 0.0, c4: Expr = 0.0) -> Expr:
        inner = call(function, total([product([c2, x]), c3]))
        return total([call("/", c1, inner) if reciprocal else product([c1, inner]), c4])

    return make


_FORMULAS: dict[str, Callable[..., Expr]] = {
    "const": lambda c0=1.0: c0,
    "linear": lambda x, c0=0.0, c1=1.0: total([c0, product([c1, x])]),
    "poly": _poly,
    "abs2": lambda x, c=1.0: product([c, x, ("abs", x)]),
    "absqrt": _absqrt,
    "breakpoint": _breakpoint,
    "saturation": _saturation,
    "adjustable_saturation": _adjustable,
    "reciprocal_square": lambda x, c0=0.0, c1=1.0, c2=1.0: total(
        [c0, call("/", c1, total([1.0, call("^", call("/", x, c2), 2.0)]))]
    ),
    "inverse": lambda x: call("/", 1.0, x),
    "pwlin": lambda x, key: ("table", x, key),
    "sine": _family("sin", False),
    "cosine": _family("cos", False),
    "arcsine": _family("asin", False),
    "arccosine": _family("acos", False),
    "exponential": _family("exp", False),
    "logarithm": _family("log", False),
    "reciprocal_sine": _family("sin", True),
    "reciprocal_cosine": _family("cos", True),
    "reciprocal_arcsine": _family("asin", True),
    "reciprocal_arccosine": _family("acos", True),
}

ENPORT = frozenset(_FORMULAS) | {"interpolation", "coulomb"}


def _interpolation(node: Node, points: Points) -> Expr:
    """One polynomial through all points in Newton's form, differentiated as often as the operation's name says."""
    from bglang.expr.diff import diff

    order = len(node[0]) - len("interpolation")
    x: Expr = ("v", "interpolation's argument")
    value = _newton_form(x, points.x, points.y)
    for _ in range(order):
        value = diff(value, x)
    return rewrite(value, lambda leaf: node[1] if leaf == x else leaf)


def _newton_form(x: Expr, xs: Sequence[Expr], ys: Sequence[Expr]) -> Expr:
    differences = list(ys)
    coefficients = [differences[0]]
    for order in range(1, len(xs)):
        differences = [
            call("/", call("-", b, a), call("-", xs[k + order], xs[k]))
            for k, (a, b) in enumerate(itertools.pairwise(differences))
        ]
        coefficients.append(differences[0])
    result = coefficients[-1]
    for k in range(len(coefficients) - 2, -1, -1):
        result = total([coefficients[k], product([call("-", x, xs[k]), result])])
    return result
