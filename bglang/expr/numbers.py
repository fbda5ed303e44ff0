"""Expressions worth a number: every operation on floats, and the value of an expression whose leaves are known."""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from bglang.expr.core import LEAVES, WITH_KEY, Expr


class NotANumber(Exception):
    """An operation has no finite real value; the text says why in the user's words."""


def compute(op: str, args: Sequence[float]) -> float:
    """One operation on numbers.  Raises `NotANumber` outside its domain."""
    try:
        result = float(FUNCTIONS[op](*args))
    except ZeroDivisionError:
        raise NotANumber(_division(op, args)) from None
    except OverflowError:
        raise NotANumber(f"{_spell(op, args)} is too large for a number") from None
    except ValueError:
        raise NotANumber(f"{_spell(op, args)} is not a real number") from None
    if math.isinf(result) and not any(map(math.isinf, args)):
        raise NotANumber(f"{_spell(op, args)} is too large for a number")
    return result + 0.0  # there is no negative zero in the language


def _division(op: str, args: Sequence[float]) -> str:
    return "division by zero" if op == "/" else f"division by zero in {_spell(op, args)}"


def _spell(op: str, args: Sequence[float]) -> str:
    shown = [f"{a:.6g}" for a in args]
    if op.isidentifier():
        return f"{op}({', '.join(shown)})"
    return op.join(f"({a})" if a.startswith("-") else a for a in shown)


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0))


def _power(a: float, b: float) -> float:
    if a == 0.0 and b < 0.0:
        raise ZeroDivisionError
    return math.pow(a, b)


def _div(a: float, b: float) -> float:
    if b == 0.0:
        raise ZeroDivisionError
    if a.is_integer() and b.is_integer():  # exact, also beyond what a quotient of floats resolves
        quotient = abs(int(a)) // abs(int(b))
        return float(quotient if (a < 0) == (b < 0) else -quotient)
    return float(math.trunc(a / b))


def _rem(a: float, b: float) -> float:
    if b == 0.0:
        raise ZeroDivisionError
    return math.fmod(a, b)


def _poly(x: float, *c: float) -> float:
    result = 0.0
    for coefficient in reversed(c):
        result = result * x + coefficient
    return result


def _saturation(x: float, x1: float, y1: float, x2: float, y2: float) -> float:
    return y1 if x <= x1 else y2 if x >= x2 else y1 + (y2 - y1) / (x2 - x1) * (x - x1)


def _adjustable(x: float, x1: float, y1: float, x2: float, y2: float, c1: float, c2: float) -> float:
    if x <= x1:
        return y1 + c1 * (x - x1)
    return y2 + c2 * (x - x2) if x >= x2 else y1 + (y2 - y1) / (x2 - x1) * (x - x1)


def _family(inner: Callable[[float], float], reciprocal: bool = False) -> Callable[..., float]:
    def of(x: float, c1: float, c2: float, c3: float, c4: float) -> float:
        value = inner(c2 * x + c3)
        return (c1 / value if reciprocal else c1 * value) + c4

    return of


FUNCTIONS: dict[str, Callable[..., float]] = {
    "+": lambda *a: sum(a),
    "*": lambda *a: math.prod(a),
    "-": lambda a, b: a - b,
    "/": lambda a, b: a / b,
    "^": _power,
    "neg": lambda a: -a,
    **{
        name: getattr(math, name)
        for name in [
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "atan2",
            "sinh",
            "cosh",
            "tanh",
            "exp",
            "log",
            "log10",
            "sqrt",
        ]
    },
    "abs": abs,
    "sign": _sign,
    "min": min,
    "max": max,
    "floor": math.floor,
    "ceil": math.ceil,
    "integer": math.floor,
    "mod": lambda a, b: a % b,
    "div": _div,
    "rem": _rem,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "and": lambda *a: all(a),
    "or": lambda *a: any(a),
    "not": lambda a: not a,
    "noEvent": lambda a: a,
    "smooth": lambda order, a: a,
    "const": lambda c0: c0,
    "linear": lambda x, c0, c1: c0 + c1 * x,
    "poly": _poly,
    "abs2": lambda x, c: c * x * abs(x),
    "absqrt": lambda x, c: c * _sign(x) * math.sqrt(abs(x)),
    "coulomb": lambda x, level: level * _sign(x),
    "breakpoint": lambda x, x1, y1, c1, c2: y1 + (c1 if x <= x1 else c2) * (x - x1),
    "saturation": _saturation,
    "adjustable_saturation": _adjustable,
    "reciprocal_square": lambda x, c0, c1, c2: c0 + c1 / (1 + (x / c2) ** 2),
    "inverse": lambda x: 1 / x,
    "sine": _family(math.sin),
    "cosine": _family(math.cos),
    "arcsine": _family(math.asin),
    "arccosine": _family(math.acos),
    "exponential": _family(math.exp),
    "logarithm": _family(math.log),
    "reciprocal_sine": _family(math.sin, True),
    "reciprocal_cosine": _family(math.cos, True),
    "reciprocal_arcsine": _family(math.asin, True),
    "reciprocal_arccosine": _family(math.acos, True),
}


TableValue = Callable[[str, str, float], float]
"""Operation ("table", "dtable", "pwlin", "interpolation"), key and argument to the value."""


def evaluate(e: Expr, leaf: Callable[[tuple[Any, ...]], float], table: TableValue | None = None) -> float:
    """The value of an expression.  Raises `NotANumber`; what stands in a branch that is not taken cannot.

    The walk needs no recursion, and every shared part is computed once."""
    known: dict[int, float | NotANumber] = {}
    stack = [e]
    while stack:
        node = stack[-1]
        if not isinstance(node, tuple) or id(node) in known:
            stack.pop()
            continue
        args = () if node[0] in LEAVES else node[1:-1] if node[0] in WITH_KEY else node[1:]
        waiting = [a for a in args if isinstance(a, tuple) and id(a) not in known]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        try:
            known[id(node)] = _node(
                node, [known[id(a)] if isinstance(a, tuple) else float(a) for a in args], leaf, table
            )
        except NotANumber as problem:
            known[id(node)] = problem
    result = known[id(e)] if isinstance(e, tuple) else float(e)
    if isinstance(result, NotANumber):
        raise result
    return result


def _node(
    node: tuple[Any, ...],
    args: list[float | NotANumber],
    leaf: Callable[[tuple[Any, ...]], float],
    table: TableValue | None,
) -> float:
    op = node[0]
    if op in LEAVES:
        return leaf(node)
    if op == "if":
        return _need(args[1] if _need(args[0]) else args[2])
    if op == "and" or op == "or":  # as far as needed, from left to right
        for arg in args:
            if bool(_need(arg)) == (op == "or"):
                return float(op == "or")
        return float(op == "and")
    numbers = [_need(arg) for arg in args]
    if op in WITH_KEY:
        if table is None:
            raise NotANumber("a table cannot be evaluated here")
        return table(op, node[-1], numbers[0])
    if op not in FUNCTIONS:
        raise NotANumber(f"`{op}` has no value before the run")
    return compute(op, numbers)


def _need(value: float | NotANumber) -> float:
    if isinstance(value, NotANumber):
        raise value
    return value


# --- tables ---------------------------------------------------------------------------------------------------------


def interpolate(
    op: str, points: tuple[Sequence[float], Sequence[float]], how: tuple[str, str, str], at: float
) -> float:
    """The value of a table (slope for "dtable") at one place; `how` is method, outside, ends."""
    x, y = points
    method, outside, ends = how
    if op == "interpolation":
        return _lagrange(x, y, at)
    if not x[0] <= at <= x[-1]:
        if outside == "error":
            raise NotANumber(f"{at:.6g} lies outside the table, which goes from {x[0]:.6g} to {x[-1]:.6g}")
        end, level = (x[0], y[0]) if at < x[0] else (x[-1], y[-1])
        slope = 0.0 if outside == "hold" else _inside(method, ends, x, y, end, 1)
        return slope if op == "dtable" else level + slope * (at - end)
    return _inside(method, ends, x, y, at, 1 if op == "dtable" else 0)


def _inside(method: str, ends: str, x: Sequence[float], y: Sequence[float], at: float, order: int) -> float:
    if method == "linear":
        if at == x[-1] and not order:
            return y[-1]
        k = min(bisect_right(x, at) - 1, len(x) - 2)
        if x[k + 1] == x[k]:  # a jump at the very end: the slope is that of the segment before it
            k -= 1
        slope = (y[k + 1] - y[k]) / (x[k + 1] - x[k])
        return slope if order else y[k] + slope * (at - x[k])
    from scipy.interpolate import CubicSpline, PchipInterpolator

    if method == "pchip":
        return float(PchipInterpolator(x, y)(at, order))
    if ends == "secant":
        first, last = (y[1] - y[0]) / (x[1] - x[0]), (y[-1] - y[-2]) / (x[-1] - x[-2])
        return float(CubicSpline(x, y, bc_type=((1, first), (1, last)))(at, order))
    return float(CubicSpline(x, y, bc_type=ends)(at, order))


def _lagrange(x: Sequence[float], y: Sequence[float], at: float) -> float:
    """Neville's scheme: the polynomial through all points, without its coefficients."""
    column = list(y)
    for k in range(1, len(x)):
        for i in range(len(x) - k):
            column[i] = ((at - x[i + k]) * column[i] - (at - x[i]) * column[i + 1]) / (x[i] - x[i + k])
    return column[0]


def unordered(xs: Sequence[Any], jumps: bool) -> tuple[int, bool] | None:
    """The first row whose x does not follow the one before, and whether it is equal to it; rows with formulas fit."""
    for k in range(1, len(xs)):
        a, b = xs[k - 1], xs[k]
        if isinstance(a, tuple) or isinstance(b, tuple) or a < b:
            continue
        if a > b:
            return k, False
        if not jumps or (k >= 2 and xs[k - 2] == a) or len(xs) == 2:
            return k, True
    return None
