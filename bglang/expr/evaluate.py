"""The value of an expression, computed in plain Python: the reference that compiled code is compared with.

The evaluator is also what runs where speed does not matter: actions of `when`, assertions, start values.  Arithmetic is
IEEE's: a division by zero gives inf, a root of a negative number NaN, exactly as in compiled code.  Leaves may be
numbers or numpy arrays, so one call serves all the equations of one shape.

Tables come as *blocks* (made by `bglang.kernels.tables`): n, the n abscissas, then n + 1 cubic pieces of four
coefficients each.  Piece 0 lies before the first point and piece n behind the last one; piece k is a polynomial in
x - x[k-1] (piece 0 in x - x[0]).  One form for linear, spline and pchip tables and for all rules of what is outside.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bglang.diagnostics import UsageError
from bglang.expr.core import WITH_KEY, Expr

Floats: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = Sequence[float] | Floats
Block: TypeAlias = Floats


def _no_name(name: str) -> float:
    raise KeyError(name)


def _no_outside(key: str, values: Sequence[float]) -> float:
    raise UsageError("an FMU runs in the plain form of a model only: leave out --form and --dependent")


@dataclass(frozen=True, slots=True)
class Values:
    """What the leaves of an expression are worth.

    `left` holds the values just before an event, for ("pre", ...), "edge" and "change"; without it nothing changes.
    `external` asks outside models; `variable` and `parameter` give the values of leaves that are names instead of
    numbers."""

    t: Any = 0.0
    y: Numbers = ()
    d: Numbers = ()
    p: Numbers = ()
    z: Numbers = ()
    tables: Mapping[str, Block] = field(default_factory=dict)
    left: "Values | None" = None
    initial: bool = False
    terminal: bool = False
    external: Callable[[str, Sequence[float]], float] = _no_outside
    variable: Callable[[str], Any] = _no_name
    parameter: Callable[[str], Any] = _no_name

    def leaf(self, e: tuple[Any, ...]) -> Any:
        kind = e[0]
        if kind == "t":
            return self.t
        if kind == "v":
            return self.variable(e[1])
        if kind == "p" and isinstance(e[1], str):
            return self.parameter(e[1])
        return _LEAVES[kind](self)[e[1]]

    def before(self) -> "Values":
        """The values that `pre` sees.  Before the event nothing lies further left."""
        return replace(self, left=None) if self.left is None else self.left


_LEAVES: dict[str, Callable[[Values], Numbers]] = {
    "y": lambda v: v.y,
    "d": lambda v: v.d,
    "p": lambda v: v.p,
    "z": lambda v: v.z,
}


def evaluate(e: Expr, values: Values) -> float:
    """The value of one expression as a number."""
    return float(evaluate_array(e, values))


def evaluate_array(e: Expr, values: Values) -> Any:
    """The same where leaves may be arrays: an array, or a number if no leaf is an array."""
    with np.errstate(all="ignore"):
        return _compute(e, values)


def _compute(root: Expr, values: Values) -> Any:
    """Post-order with an own stack: expressions may be deep, and parts of them shared."""
    known: dict[int, Any] = {}
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        e, ready = stack.pop()
        if id(e) in known:
            continue
        if not isinstance(e, tuple):
            known[id(e)] = np.float64(e)
        elif e[0] in ("y", "d", "p", "z", "t", "v"):
            known[id(e)] = _number(values.leaf(e))
        elif e[0] in _SPECIAL:
            known[id(e)] = _SPECIAL[e[0]](e, values)
        else:
            parts = e[1:-1] if e[0] in WITH_KEY else e[1:]
            if not ready:
                stack.append((e, True))
                stack.extend((a, False) for a in parts)
            elif e[0] in WITH_KEY:
                known[id(e)] = _WITH_TABLE[e[0]](known[id(parts[0])], values.tables[e[-1]])
            else:
                known[id(e)] = OPERATIONS[e[0]](*[known[id(a)] for a in parts])
    return known[id(root)]


def _number(value: Any) -> Any:
    """numpy's own scalars divide by zero and overflow without exceptions."""
    return value if isinstance(value, np.ndarray) else np.float64(value)


# --- events ---------------------------------------------------------------------------------------------------------


def _pre(e: tuple[Any, ...], values: Values) -> Any:
    return _compute(e[1], values.before())


def _edge(e: tuple[Any, ...], values: Values) -> Any:
    return _truth(_compute(e[1], values)) * (1.0 - _truth(_pre(e, values)))


def _change(e: tuple[Any, ...], values: Values) -> Any:
    return np.not_equal(_compute(e[1], values), _pre(e, values)) * 1.0


def _sample(e: tuple[Any, ...], values: Values) -> Any:
    """True in the instants start, start + interval, ...; computed times are off by rounding only."""
    start, interval = _compute(e[1], values), _compute(e[2], values)
    ticks = (values.t - start) / interval
    near = np.round(ticks)
    return ((near >= 0) & (np.abs(ticks - near) * interval <= 4e-16 * np.maximum(abs(values.t), abs(start)))) * 1.0


def _external(e: tuple[Any, ...], values: Values) -> Any:
    return np.float64(values.external(e[-1], [float(_compute(a, values)) for a in e[1:-1]]))


_SPECIAL: dict[str, Callable[[tuple[Any, ...], Values], Any]] = {
    "external": _external,
    "pre": _pre,
    "edge": _edge,
    "change": _change,
    "sample": _sample,
    "initial": lambda e, values: np.float64(values.initial),
    "terminal": lambda e, values: np.float64(values.terminal),
}


# --- operations -----------------------------------------------------------------------------------------------------


def _truth(a: Any) -> Any:
    return np.not_equal(a, 0.0) * 1.0


def _compare(relation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: relation(a, b) * 1.0


def _select(condition: Any, then: Any, other: Any) -> Any:
    return np.where(np.not_equal(condition, 0.0), then, other)[()]


def _divide(a: Any, b: Any) -> Any:
    """Truncated quotient, Modelica's `div`."""
    return np.trunc(a / b)


def _poly(x: Any, *coefficients: Any) -> Any:
    return reduce(lambda value, c: value * x + c, reversed(coefficients), np.float64(0.0))


def _saturation(x: Any, x1: Any, y1: Any, x2: Any, y2: Any, c1: Any = 0.0, c2: Any = 0.0) -> Any:
    between = y1 + (y2 - y1) / (x2 - x1) * (x - x1)
    return _select(x < x1, y1 + c1 * (x - x1), _select(x > x2, y2 + c2 * (x - x2), between))


def _family(function: Callable[[Any], Any]) -> Callable[..., Any]:
    """c1*function(c2*x + c3) + c4, with the defaults of the ENPORT set."""
    return lambda x, c1=1.0, c2=1.0, c3=0.0, c4=0.0: c1 * function(c2 * x + c3) + c4


OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda *a: reduce(np.add, a),
    "*": lambda *a: reduce(np.multiply, a),
    "-": np.subtract,
    "/": np.divide,
    "^": np.power,
    "neg": np.negative,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "sign": lambda x: _select(x == 0.0, x, np.sign(x)),  # keeps the sign of zero, as compiled code does
    "min": lambda *a: reduce(lambda x, y: _select(y < x, y, x), a),
    "max": lambda *a: reduce(lambda x, y: _select(y > x, y, x), a),
    "floor": np.floor,
    "integer": np.floor,
    "ceil": np.ceil,
    "mod": lambda a, b: a - np.floor(a / b) * b,
    "div": _divide,
    "rem": lambda a, b: a - _divide(a, b) * b,
    "<": _compare(np.less),
    "<=": _compare(np.less_equal),
    ">": _compare(np.greater),
    ">=": _compare(np.greater_equal),
    "==": _compare(np.equal),
    "!=": _compare(np.not_equal),
    "and": lambda *a: reduce(np.multiply, [_truth(x) for x in a]),
    "or": lambda *a: reduce(np.maximum, [_truth(x) for x in a]),
    "not": lambda a: 1.0 - _truth(a),
    "if": _select,
    "noEvent": lambda a: a,
    "smooth": lambda order, a: a,
    "const": lambda c0=1.0: c0,
    "linear": lambda x, c0=0.0, c1=1.0: c0 + c1 * x,
    "poly": _poly,
    "abs2": lambda x, c=1.0: c * x * np.abs(x),
    "absqrt": lambda x, c=1.0: c * np.sign(x) * np.sqrt(np.abs(x)),
    "coulomb": lambda x, level=1.0: level * np.sign(x),
    "breakpoint": lambda x, x1, y1, c1, c2: y1 + _select(x <= x1, c1, c2) * (x - x1),
    "saturation": _saturation,
    "adjustable_saturation": _saturation,
    "reciprocal_square": lambda x, c0=0.0, c1=1.0, c2=1.0: c0 + c1 / (1.0 + np.square(x / c2)),
    "inverse": lambda x: 1.0 / x,
    "sine": _family(np.sin),
    "cosine": _family(np.cos),
    "arcsine": _family(np.arcsin),
    "arccosine": _family(np.arccos),
    "exponential": _family(np.exp),
    "logarithm": _family(np.log),
    "reciprocal_sine": _family(lambda u: 1.0 / np.sin(u)),
    "reciprocal_cosine": _family(lambda u: 1.0 / np.cos(u)),
    "reciprocal_arcsine": _family(lambda u: 1.0 / np.arcsin(u)),
    "reciprocal_arccosine": _family(lambda u: 1.0 / np.arccos(u)),
}


# --- tables ---------------------------------------------------------------------------------------------------------


def find_piece(x: Any, block: Block) -> Any:
    """Number of the piece that holds x.  The last point itself still belongs to the last inner piece."""
    n = int(block[0])
    knots = block[1 : n + 1]
    piece = np.searchsorted(knots, x, side="right")
    return np.where((piece == n) & (x <= knots[-1]) & (n > 1), n - 1, np.where(np.isnan(x), 0, piece))


def _piece(x: Any, block: Block) -> tuple[Any, Any, Any, Any, Any]:
    """Distance from the piece's own origin, and its coefficients."""
    n = int(block[0])
    piece = find_piece(x, block)
    a, b, c, d = np.moveaxis(block[n + 1 :].reshape(n + 1, 4)[piece], -1, 0)
    return x - block[np.maximum(piece, 1)], a, b, c, d


def table_value(x: Any, block: Block) -> Any:
    s, a, b, c, d = _piece(x, block)
    return a + s * (b + s * (c + s * d))


def table_slope(x: Any, block: Block) -> Any:
    s, _, b, c, d = _piece(x, block)
    return b + s * (2.0 * c + s * (3.0 * d))


def table_bend(x: Any, block: Block) -> Any:
    s, _, _, c, d = _piece(x, block)
    return 2.0 * c + s * (6.0 * d)


def table_jerk(x: Any, block: Block) -> Any:
    return 6.0 * _piece(x, block)[4]


def _interpolation(x: Any, block: Block) -> Any:
    """The polynomial through all points of the table, in Newton's form."""
    n = int(block[0])
    knots = block[1 : n + 1]
    ordinates = table_value(knots, block)
    for order in range(1, n):
        ordinates[order:] = (ordinates[order:] - ordinates[order - 1 : -1]) / (knots[order:] - knots[:-order])
    return reduce(lambda value, k: value * (x - knots[k]) + ordinates[k], reversed(range(n)), np.float64(0.0))


_WITH_TABLE: dict[str, Callable[[Any, Block], Any]] = {
    "table": table_value,
    "dtable": table_slope,
    "ddtable": table_bend,
    "dddtable": table_jerk,
    "pwlin": table_value,
    "interpolation": _interpolation,
}
