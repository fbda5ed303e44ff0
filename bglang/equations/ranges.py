"""Bounds of an expression, whatever its variables do: can a divisor become zero?"""

import math
from collections.abc import Callable
from typing import Any

from bglang.expr import Expr, call
from bglang.expr.core import LEAVES, WITH_KEY, operands
from bglang.expr.walk import postorder

Node = tuple[Any, ...]
Range = tuple[float, float]
EVERYTHING: Range = (-math.inf, math.inf)


def can_vanish(e: Expr, of_parameter: Callable[[Node], Expr | None]) -> bool:
    """May the expression be zero for some values of its variables?  `of_parameter` gives the value of a ("p", ..) leaf,
    in terms of other parameters, or None where there is none.  Yes in doubt."""
    low, high = range_of(e, of_parameter)
    return low <= 0.0 <= high


def has_zero_branch(e: Expr, of_parameter: Callable[[Node], Expr | None]) -> bool:
    """Is the expression zero in one of its branches, or as a whole (`if closed then 0 else 1e6`)?"""
    known: dict[int, bool] = {}

    def zero(a: Any) -> bool:
        return known[id(a)] if isinstance(a, tuple) else a == 0.0

    for node in postorder(e):
        args = operands(node) if node[0] not in LEAVES else ()
        if node[0] == "p":
            known[id(node)] = range_of(node, of_parameter) == (0.0, 0.0)
        elif node[0] in ("*", "and"):
            known[id(node)] = any(zero(a) for a in args)
        elif node[0] in ("neg", "/", "sqrt", "noEvent"):
            known[id(node)] = zero(args[0])
        elif node[0] == "if":
            known[id(node)] = zero(args[1]) or zero(args[2])
        else:
            known[id(node)] = node[0] in ("+", "-") and all(zero(a) for a in args)
    return zero(e)


def range_of(e: Expr, of_parameter: Callable[[Node], Expr | None]) -> Range:
    if not isinstance(e, tuple):
        return _point(float(e))
    known: dict[int, Range] = {}
    for node in postorder(e):
        if node[0] == "p":
            value = of_parameter(node)
            known[id(node)] = EVERYTHING if value is None else range_of(value, of_parameter)
        elif node[0] in LEAVES:
            known[id(node)] = EVERYTHING
        else:
            args = [known[id(a)] if isinstance(a, tuple) else _point(a) for a in operands(node)]
            known[id(node)] = _operation(node, args)
    return known[id(e)]


def _point(value: Any) -> Range:
    return EVERYTHING if isinstance(value, str) or math.isnan(value) else (float(value), float(value))


def _operation(node: Node, args: list[Range]) -> Range:
    if node[0] not in WITH_KEY and all(low == high for low, high in args):
        value = call(node[0], *(low for low, _ in args))
        if not isinstance(value, tuple):
            return _point(value)
    rule = _RULES.get(node[0])
    found = EVERYTHING if rule is None else rule(*args)
    return EVERYTHING if math.isnan(found[0]) or math.isnan(found[1]) else found


def _hull(values: list[float]) -> Range:
    finite = [v for v in values if not math.isnan(v)]
    return EVERYTHING if len(finite) < len(values) else (min(finite), max(finite))


def _sum(*args: Range) -> Range:
    return sum(a[0] for a in args), sum(a[1] for a in args)


def _product(*args: Range) -> Range:
    found: Range = (1.0, 1.0)
    for a in args:
        found = _hull([0.0 if 0.0 in (x, y) else x * y for x in found for y in a])
    return found


def _reciprocal(a: Range) -> Range:
    if a[0] <= 0.0 <= a[1]:
        return EVERYTHING
    return (1.0 / a[1], 1.0 / a[0])


def _power(a: Range, k: Range) -> Range:
    exponent = k[0]
    if k[0] != k[1]:
        return (0.0, math.inf) if a[0] >= 0.0 else EVERYTHING
    if a[0] > 0.0 and math.isfinite(a[1]) and abs(exponent) < 100.0:
        return _hull([a[0] ** exponent, a[1] ** exponent])
    if exponent < 0.0:
        return EVERYTHING
    return (0.0, math.inf) if a[0] >= 0.0 or exponent % 2.0 == 0.0 else EVERYTHING


def _abs(a: Range) -> Range:
    if a[0] <= 0.0 <= a[1]:
        return 0.0, max(-a[0], a[1])
    return _hull([abs(a[0]), abs(a[1])])


def _increasing(function: Callable[[float], float]) -> Callable[[Range], Range]:
    return lambda a: (function(a[0]), function(a[1]))


def _exp(x: float) -> float:
    """Never zero, also where the number would be."""
    return math.inf if x > 700.0 else max(math.exp(x), 5e-324)


def _root(x: float) -> float:
    return math.sqrt(max(x, 0.0))


def _extreme(choose: Callable[..., float]) -> Callable[..., Range]:
    return lambda *args: (choose(a[0] for a in args), choose(a[1] for a in args))


_RULES: dict[str, Callable[..., Range]] = {
    "+": _sum,
    "-": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "neg": lambda a: (-a[1], -a[0]),
    "*": _product,
    "/": lambda a, b: _product(a, _reciprocal(b)),
    "^": _power,
    "abs": _abs,
    "exp": _increasing(_exp),
    "cosh": lambda a: (1.0, math.inf),
    "sqrt": _increasing(_root),
    "sin": lambda a: (-1.0, 1.0),
    "cos": lambda a: (-1.0, 1.0),
    "tanh": _increasing(math.tanh),
    "atan": _increasing(math.atan),
    "min": _extreme(min),
    "max": _extreme(max),
    "if": lambda c, a, b: (min(a[0], b[0]), max(a[1], b[1])),
    "noEvent": lambda a: a,
}
"""What is not here can be anything."""
