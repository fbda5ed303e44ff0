"""How far rounding inside the laws may move each equation: a running error analysis of the residual's tapes.

Where constants cancel in a law (`y1 + c*(x - x1)` near its zero, `b/cos(u) - b` near u = 0) their rounding errors stay,
and nothing that looks at the variables alone sees them.  Each value carries a bound: what its operands bring, by the
slope of the operation, and one rounding of its own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bglang.expr.evaluate import OPERATIONS
from bglang.kernels.interpret import Points, cached_tape, look_up
from bglang.kernels.program import Floats, Index, Kernel, Program
from bglang.kernels.tape import RELATIONS, TABLES, Tape, columns

EPS = 2.0**-52
SLOPES: dict[str, Callable[[Any], Any]] = {
    "sin": np.cos,
    "cos": np.sin,
    "tan": lambda x: 1.0 + np.tan(x) ** 2,
    "asin": lambda x: 1.0 / np.sqrt(1.0 - x * x),
    "acos": lambda x: 1.0 / np.sqrt(1.0 - x * x),
    "atan": lambda x: 1.0 / (1.0 + x * x),
    "sinh": np.cosh,
    "cosh": np.sinh,
    "tanh": lambda x: 1.0 - np.tanh(x) ** 2,
    "exp": np.exp,
    "log": lambda x: 1.0 / x,
    "log10": lambda x: 1.0 / (np.log(10.0) * x),
    "sqrt": lambda x: 0.5 / np.sqrt(x),
}
CHOOSE = frozenset({"min", "max", "if"})
EXACT = RELATIONS | {"and", "or", "not", "sign", "floor", "ceil", "trunc"}


def rounding(program: Program, kernel: Kernel, points: Points) -> Floats:
    """A bound for each result of a kernel at one point; 0 where nothing finite can be said."""
    out = np.zeros(kernel.size)
    with np.errstate(all="ignore"):
        for part, number in enumerate(kernel.codes):
            tape = cached_tape(program.codes[number].text)
            count, begin = int(kernel.counts[part]), int(kernel.offsets[part])
            width = sum(columns(tape)) + len(tape.results)
            table = kernel.index[begin : begin + width * count].reshape(width, count)
            for bound, place in zip(_bounds(tape, table, points), table[width - len(tape.results) :], strict=True):
                found = np.broadcast_to(bound, (1, count))[0]
                np.add.at(out, place, np.where(np.isfinite(found), found, 0.0))
    return out


def _bounds(tape: Tape, table: Index, points: Points) -> list[Any]:
    """Bounds of the results of a tape, for all instances."""
    ny, np_, nz, _ = columns(tape)
    offset = {"y": 0, "d": 0, "p": ny, "z": ny + np_}
    values, errors = list[Any](), list[Any]()
    for op, *a in tape.code:
        error: Any = np.float64(0.0)  # what is given is exact
        if op == "c":
            value: Any = np.float64(float.fromhex(a[0]))
        elif op == "t":
            value = points.t[:, None]
        elif op == "p":
            value = np.atleast_2d(points.p[..., table[offset["p"] + a[0]]])
        elif op in offset:
            value = np.take(getattr(points, op), table[offset[op] + a[0]], axis=1)
        elif op in TABLES:
            x, bases = values[a[0]], table[ny + np_ + nz + a[1]]
            value = look_up(op, x, points.p, bases)
            slope = look_up("d" + op, x, points.p, bases) if op != "dddtable" else 0.0
            error = np.abs(slope) * (errors[a[0]] + EPS * np.abs(x)) + EPS * np.abs(value)
        else:
            x = [values[k] for k in a]
            value = OPERATIONS[op](*x) if op in OPERATIONS else np.trunc(*x)
            error = _error(op, x, [errors[k] for k in a], value)
        values.append(value)
        errors.append(error)
    return [errors[r] for r in tape.results]


def _error(op: str, x: list[Any], e: list[Any], value: Any) -> Any:
    """What the bounds `e` of the operands become, and one rounding."""
    if op in EXACT:
        return np.float64(0.0)
    if op in ("neg", "abs"):
        return e[0]
    if op == "if":
        return np.where(x[0] != 0.0, e[1], e[2])
    if op in CHOOSE:
        return sum(np.where(a == value, b, 0.0) for a, b in zip(x, e, strict=True))
    if op in ("+", "-"):
        own = np.abs(value) if len(x) == 2 else sum(np.abs(a) for a in x)
        return sum(e) + EPS * own
    if op == "*":
        total, bound = x[0], e[0]
        for a, b in zip(x[1:], e[1:], strict=True):
            bound = np.abs(total) * b + np.abs(a) * bound
            total = total * a
            bound = bound + EPS * np.abs(total)
        return bound
    if op == "/":
        return (e[0] + np.abs(value) * e[1]) / np.abs(x[1]) + EPS * np.abs(value)
    if op == "^":
        brought = np.abs(value * x[1] / x[0]) * e[0]
        return np.where(x[0] == 0.0, 0.0, brought + np.abs(value * np.log(np.abs(x[0]))) * e[1]) + EPS * np.abs(value)
    if op == "atan2":
        return (np.abs(x[0]) * e[1] + np.abs(x[1]) * e[0]) / (x[0] ** 2 + x[1] ** 2) + EPS * np.abs(value)
    return np.abs(SLOPES[op](x[0])) * e[0] + EPS * np.abs(value)
