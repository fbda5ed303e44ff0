"""Roots of functions of time alone: found ahead of the integration, and none is missed.

Each function is enclosed over an interval of time together with its slope (interval arithmetic on value and
derivative). An interval whose enclosure does not hold zero has no root; one whose slope keeps its sign has at most
one, found by secants and bisection; any other is halved.  Where the arithmetic knows nothing (a table that is not
linear, an operation without enclosure) the interval is sampled densely instead.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np

from bglang.expr import Expr
from bglang.expr.core import operands
from bglang.expr.evaluate import Values, evaluate
from bglang.expr.walk import postorder
from bglang.records import dataclass, replace

Interval = tuple[float, float]
WHOLE: Interval = (-math.inf, math.inf)
SAMPLES = 64
SMALLEST = 2.0**-32
"""A part of the run this short is not halved any more; the extremum that it may hold is looked for."""
THIRDS = 40
MOST = 1000
"""After so many enclosures the rest is sampled."""


@dataclass(frozen=True, slots=True)
class Enclosure:
    """Bounds of a value and of its slope over an interval of time."""

    value: Interval
    slope: Interval


@dataclass(frozen=True, slots=True)
class Watched:
    """A function of time and the side of zero that its mode takes for granted: `sign` is that of the function there,
    `leaves_at_zero` says whether zero itself is beyond it (`x > 0` ends there, `x >= 0` does not)."""

    g: Expr
    values: Values
    sign: float
    leaves_at_zero: bool = False

    def value(self, t: float) -> float:
        """The function, positive on its side."""
        return self.sign * _value(self.g, self.values, t)

    def left(self, t: float) -> bool:
        """Whether the function has left its side.  What is no number lies nowhere."""
        value = self.value(t)
        return value < 0.0 or (self.leaves_at_zero and value == 0.0)


def next_root(watched: Watched, after: float, until: float) -> float | None:
    """The first time in (after, until] at which a function is no longer on its side.

    It may sit on zero at `after` itself, and stay there for a while (the top of a wave): that is no root.  A function
    that cannot be told from zero over long stretches is sampled instead of enclosed, once that costs too much."""
    run = until - after
    if run <= 0.0:
        return None
    g, values = watched.g, watched.values
    line = _straight(g, values) if is_linear(g) else None
    if line is not None:
        return line if after < line <= until else None
    stack = _windows(after + gap(after, until), until)
    enclosed = 0
    while stack:
        low, high = stack.pop()
        bounds = enclose(g, values, (low, high))
        enclosed += 1
        if _stays(watched, bounds):
            continue
        if bounds.slope[0] > 0.0 or bounds.slope[1] < 0.0:
            found = _inside(watched, low, high)
        elif high - low <= SMALLEST * run:
            found = _at_the_bottom(watched, low, high)
        elif enclosed > MOST or not _bounded(bounds):
            found = _sampled(watched, low, high)
        else:
            middle = (low + high) / 2.0
            stack += [(middle, high), (low, middle)]
            continue
        if found is not None:
            return found
    return None


def gap(after: float, until: float) -> float:
    """So far behind an instant its own roots may lie: the search begins there."""
    return max(abs(after), abs(until)) * 4e-16 + (until - after) * 1e-13


def _stays(watched: Watched, bounds: Enclosure) -> bool:
    low = bounds.value[0] if watched.sign > 0.0 else -bounds.value[1]
    return low > 0.0 or (low == 0.0 and not watched.leaves_at_zero)


def _windows(low: float, high: float) -> list[Interval]:
    """The interval in pieces that grow: the next root is usually near, and wide enclosures say little."""
    pieces = list[Interval]()
    width, at = (high - low) / 256.0, low
    while at < high:
        end = min(high, at + width)
        pieces.append((at, end))
        at, width = end, width * 2.0
    return pieces[::-1]


def _value(g: Expr, values: Values, t: float) -> float:
    return evaluate(g, replace(values, t=t))


def _straight(g: Expr, values: Values) -> float:
    """The root of a function that is linear in time, to the last bit that its terms allow."""
    at_zero, slope = _value(g, values, 0.0), enclose(g, values, (0.0, 1.0)).slope[0]
    return math.inf if slope == 0.0 else -at_zero / slope


@lru_cache(maxsize=4096)
def is_linear(g: Expr) -> bool:
    """Whether time enters only as a plain term or factor."""
    degree = dict[int, int]()
    for node in postorder(g):
        parts = [degree.get(id(a), 0) if isinstance(a, tuple) else 0 for a in operands(node)] if len(node) > 1 else []
        if node[0] == "t":
            d = 1
        elif node[0] in ("p", "z"):
            d = 0
        elif node[0] in ("+", "-", "neg"):
            d = max(parts)
        elif node[0] == "*":
            d = sum(parts)
        elif node[0] == "/" and parts[1] == 0:
            d = parts[0]
        else:
            d = 2 if any(parts) else 0
        degree[id(node)] = d
    return degree.get(id(g), 0) <= 1


def _inside(watched: Watched, low: float, high: float) -> float | None:
    """The first instant of an interval at which the function has left its side, if it has at the end."""
    if watched.left(low):
        return low
    if not watched.left(high):
        return None
    while True:
        for at in _guesses(watched, low, high):
            if low < at < high:
                low, high = (low, at) if watched.left(at) else (at, high)
        middle = low + (high - low) / 2.0
        if not low < middle < high:
            return high
        low, high = (low, middle) if watched.left(middle) else (middle, high)


def _guesses(watched: Watched, low: float, high: float) -> tuple[float, ...]:
    """Where a straight line crosses zero, a little to both sides of it: near a simple root the three bracket it."""
    at_low, at_high = watched.value(low), watched.value(high)
    if not at_low - at_high > 0.0:
        return ()
    part = at_low / (at_low - at_high)
    near = max(1e-4 * part * (1.0 - part), 4e-16)
    return tuple(low + (high - low) * (part + shift) for shift in (0.0, -near, near))


def _at_the_bottom(watched: Watched, low: float, high: float) -> float | None:
    """The root in an interval so short that the function has at most one extremum there."""
    if watched.left(low) or watched.left(high):
        return _inside(watched, low, high)
    a, b = low, high
    for _ in range(THIRDS):
        one, two = a + (b - a) / 3.0, b - (b - a) / 3.0
        here, there = watched.value(one), watched.value(two)
        for at, value in ((one, here), (two, there)):
            if value <= 0.0 and watched.left(at):
                return _inside(watched, low, at)
        a, b = (a, two) if here <= there else (one, b)
    return None


def _sampled(watched: Watched, low: float, high: float) -> float | None:
    times = np.linspace(low, high, SAMPLES + 1).tolist()
    for one, two in pairwise(times):
        if watched.left(two) or watched.left(one):
            return _inside(watched, one, two)
    return None


def _bounded(bounds: Enclosure) -> bool:
    return math.isfinite(bounds.value[0]) and math.isfinite(bounds.value[1])


# --- interval arithmetic --------------------------------------------------------------------------------------------


def enclose(g: Expr, values: Values, time: Interval) -> Enclosure:
    """Bounds of g and of dg/dt while time runs through an interval."""
    if not isinstance(g, tuple):
        return Enclosure((g, g), (0.0, 0.0))
    known = dict[int, Enclosure]()
    for node in postorder(g):
        if node[0] == "t":
            known[id(node)] = Enclosure(time, (1.0, 1.0))
        elif node[0] in ("p", "z"):
            value = float(values.leaf(node))
            known[id(node)] = Enclosure((value, value), (0.0, 0.0))
        else:
            parts = [known[id(a)] if isinstance(a, tuple) else Enclosure((a, a), (0.0, 0.0)) for a in operands(node)]
            known[id(node)] = _operation(node[0], parts)
    return known[id(g)]


def _operation(op: str, parts: list[Enclosure]) -> Enclosure:
    if all(p.value[0] == p.value[1] and p.slope == (0.0, 0.0) for p in parts) and op in _CONSTANT:
        value = _CONSTANT[op](*(p.value[0] for p in parts))
        return Enclosure((value, value), (0.0, 0.0)) if math.isfinite(value) else Enclosure(WHOLE, WHOLE)
    rule = _RULES.get(op)
    return rule(*parts) if rule else Enclosure(WHOLE, WHOLE)


def _add(a: Interval, b: Interval) -> Interval:
    return a[0] + b[0], a[1] + b[1]


def _mul(a: Interval, b: Interval) -> Interval:
    products = [0.0 if x == 0.0 or y == 0.0 else x * y for x in a for y in b]
    return min(products), max(products)


def _neg(a: Interval) -> Interval:
    return -a[1], -a[0]


def _inverse(a: Interval) -> Interval:
    if a[0] <= 0.0 <= a[1]:
        return WHOLE
    return 1.0 / a[1], 1.0 / a[0]


def _sum(*parts: Enclosure) -> Enclosure:
    value, slope = parts[0].value, parts[0].slope
    for p in parts[1:]:
        value, slope = _add(value, p.value), _add(slope, p.slope)
    return Enclosure(value, slope)


def _product(*parts: Enclosure) -> Enclosure:
    value, slope = parts[0].value, parts[0].slope
    for p in parts[1:]:
        slope = _add(_mul(slope, p.value), _mul(value, p.slope))
        value = _mul(value, p.value)
    return Enclosure(value, slope)


def _quotient(a: Enclosure, b: Enclosure) -> Enclosure:
    inverse = _inverse(b.value)
    if inverse == WHOLE:
        return Enclosure(WHOLE, WHOLE)
    return _product(a, Enclosure(inverse, _neg(_mul(_mul(inverse, inverse), b.slope))))


def _power(a: Enclosure, b: Enclosure) -> Enclosure:
    exponent = b.value[0]
    if b.slope != (0.0, 0.0) or b.value[1] != exponent:
        return Enclosure(WHOLE, WHOLE)
    if exponent.is_integer() and 1.0 <= exponent <= 16.0:
        result = a
        for _ in range(int(exponent) - 1):
            result = _product(result, a)
        if exponent % 2.0 == 0.0:
            result = Enclosure((max(0.0, result.value[0]), result.value[1]), result.slope)
        return result
    if a.value[0] <= 0.0:
        return Enclosure(WHOLE, WHOLE)
    ends = sorted((a.value[0] ** exponent, a.value[1] ** exponent))
    slopes = sorted((exponent * a.value[0] ** (exponent - 1.0), exponent * a.value[1] ** (exponent - 1.0)))
    return Enclosure((ends[0], ends[1]), _mul((slopes[0], slopes[1]), a.slope))


def _wave(a: Interval, shift: float) -> Interval:
    """The range of sin(x + shift)."""
    low, high = a[0] + shift, a[1] + shift
    if not high - low < 2.0 * math.pi:
        return -1.0, 1.0
    top = math.ceil((low - math.pi / 2.0) / (2.0 * math.pi)) * 2.0 * math.pi + math.pi / 2.0
    bottom = math.ceil((low + math.pi / 2.0) / (2.0 * math.pi)) * 2.0 * math.pi - math.pi / 2.0
    ends = math.sin(low), math.sin(high)
    slack = 1e-15 * (1.0 + abs(low) + abs(high))
    return (
        -1.0 if bottom <= high else max(-1.0, min(ends) - slack),
        1.0 if top <= high else min(1.0, max(ends) + slack),
    )


def _sin(a: Enclosure) -> Enclosure:
    return Enclosure(_wave(a.value, 0.0), _mul(_wave(a.value, math.pi / 2.0), a.slope))


def _cos(a: Enclosure) -> Enclosure:
    return Enclosure(_wave(a.value, math.pi / 2.0), _mul(_neg(_wave(a.value, 0.0)), a.slope))


def _increasing(f: Callable[[float], float], slope: Callable[[Interval], Interval]) -> Callable[[Enclosure], Enclosure]:
    def rule(a: Enclosure) -> Enclosure:
        try:
            return Enclosure((f(a.value[0]), f(a.value[1])), _mul(slope(a.value), a.slope))
        except (ValueError, OverflowError, ZeroDivisionError):
            return Enclosure(WHOLE, WHOLE)

    return rule


def _square_sum_inverse(a: Interval) -> Interval:
    ends = [1.0 / (1.0 + x * x) for x in a]
    return min(ends), 1.0 if a[0] <= 0.0 <= a[1] else max(ends)


def _sech2(a: Interval) -> Interval:
    ends = [1.0 - math.tanh(x) ** 2 for x in a]
    return min(ends), 1.0 if a[0] <= 0.0 <= a[1] else max(ends)


def _abs(a: Enclosure) -> Enclosure:
    if a.value[0] >= 0.0:
        return a
    if a.value[1] <= 0.0:
        return Enclosure(_neg(a.value), _neg(a.slope))
    size = max(abs(a.slope[0]), abs(a.slope[1]))
    return Enclosure((0.0, max(-a.value[0], a.value[1])), (-size, size))


def _choice(condition: Enclosure, then: Enclosure, other: Enclosure) -> Enclosure:
    if condition.value == (0.0, 0.0):
        return other
    if condition.value[0] > 0.0 or condition.value[1] < 0.0:
        return then
    return Enclosure(
        (min(then.value[0], other.value[0]), max(then.value[1], other.value[1])),
        (-math.inf, math.inf),
    )


_RULES: dict[str, Callable[..., Enclosure]] = {
    "+": _sum,
    "*": _product,
    "-": lambda a, b: _sum(a, Enclosure(_neg(b.value), _neg(b.slope))),
    "/": _quotient,
    "neg": lambda a: Enclosure(_neg(a.value), _neg(a.slope)),
    "^": _power,
    "sin": _sin,
    "cos": _cos,
    "exp": _increasing(math.exp, lambda a: (math.exp(a[0]), math.exp(a[1]))),
    "log": _increasing(math.log, _inverse),
    "sqrt": _increasing(math.sqrt, lambda a: (0.5 / math.sqrt(a[1]), 0.5 / math.sqrt(a[0]))),
    "atan": _increasing(math.atan, _square_sum_inverse),
    "tanh": _increasing(math.tanh, _sech2),
    "abs": _abs,
    "noEvent": lambda a: a,
    "smooth": lambda order, a: a,
    "if": _choice,
}

_CONSTANT: dict[str, Callable[..., float]] = {}


def _fill_constants() -> None:
    """Operations on numbers alone are left to the evaluator's own table."""
    from bglang.expr.evaluate import OPERATIONS

    def number(op: str) -> Callable[..., float]:
        function = OPERATIONS[op]

        def compute(*args: float) -> float:
            with np.errstate(all="ignore"):
                return float(function(*(np.float64(a) for a in args)))

        return compute

    _CONSTANT.update({op: number(op) for op in OPERATIONS})


_fill_constants()
