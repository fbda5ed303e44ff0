"""Kernels run in numpy, all instances of a shape and many points in time at once; nothing is compiled.

For what is computed a few times (start equations, parameters) or afterwards for all points together (outputs, powers)
this is as fast as native code, and it spares the first run the compiler.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from bglang.expr.evaluate import (
    OPERATIONS,
    Block,
    table_bend,
    table_jerk,
    table_slope,
    table_value,
)
from bglang.kernels.program import Floats, Index, Kernel, Program
from bglang.kernels.tables import block_size
from bglang.kernels.tape import TABLES, Tape, columns, operands, read_tape
from bglang.records import dataclass

_TABLE: dict[str, Callable[[Any, Block], Any]] = {
    "table": table_value,
    "dtable": table_slope,
    "ddtable": table_bend,
    "dddtable": table_jerk,
}
_OPERATIONS: dict[str, Callable[..., Any]] = {**OPERATIONS, "trunc": np.trunc}

cached_tape: Callable[[str], Tape] = lru_cache(maxsize=4096)(read_tape)


@dataclass(frozen=True, slots=True)
class Points:
    """Where to evaluate: one row of y, d and z for each time in t; p is one vector for all, or one row for each."""

    t: Floats
    y: Floats
    d: Floats
    p: Floats
    z: Floats


def one_point(t: float, y: Floats, d: Floats, p: Floats, z: Floats) -> Points:
    return Points(np.array([t]), y[None, :], d[None, :], p, z[None, :])


def run_kernel(program: Program, kernel: Kernel, points: Points) -> Floats:
    """Results of a kernel, one row for each point."""
    out = np.zeros((len(points.t), kernel.size))
    run_parts(program, kernel, range(len(kernel.codes)), points, out)
    return out


def run_parts(program: Program, kernel: Kernel, parts: Sequence[int], points: Points, out: Floats) -> None:
    with np.errstate(all="ignore"):
        for part in parts:
            code = program.codes[kernel.codes[part]]
            tape = cached_tape(code.text)
            count = int(kernel.counts[part])
            width = sum(columns(tape)) + len(tape.results)
            begin = int(kernel.offsets[part])
            table = kernel.index[begin : begin + width * count].reshape(width, count)
            results = run_tape(tape, table, points)
            for value, place in zip(results, table[width - len(tape.results) :], strict=True):
                if code.adds:
                    np.add.at(out.T, place, np.broadcast_to(value, (len(out), count)).T)
                else:
                    out[:, place] = value


def run_tape(tape: Tape, table: Index, points: Points) -> list[Any]:
    """The results of a tape for all instances: arrays of points by instances, or something that broadcasts to it."""
    ny, np_, nz, _ = columns(tape)
    offset = {"y": 0, "d": 0, "p": ny, "z": ny + np_}
    values: list[Any] = []
    last = _last_uses(tape)
    for k, (op, *a) in enumerate(tape.code):
        if op == "c":
            values.append(np.float64(float.fromhex(a[0])))
        elif op == "t":
            values.append(points.t[:, None])
        elif op == "p":
            values.append(np.atleast_2d(points.p[..., table[offset["p"] + a[0]]]))
        elif op in offset:
            values.append(np.take(getattr(points, op), table[offset[op] + a[0]], axis=1))
        elif op in TABLES:
            values.append(look_up(op, values[a[0]], points.p, table[ny + np_ + nz + a[1]]))
        else:
            values.append(_OPERATIONS[op](*[values[x] for x in a]))
        for x in last[k]:
            values[x] = None  # large models: no more is kept than will be read
    return [values[r] for r in tape.results]


def _last_uses(tape: Tape) -> list[list[int]]:
    """For each instruction, which values nothing behind it reads."""
    reader: dict[int, int] = {}
    for k, code in enumerate(tape.code):
        for a in operands(code):
            reader[a] = k
    last: list[list[int]] = [[] for _ in tape.code]
    for value, k in reader.items():
        if value not in tape.results:
            last[k].append(value)
    return last


def look_up(op: str, x: Any, p: Floats, bases: Index) -> Any:
    """A table function; instances may have tables of their own."""
    different = np.unique(bases)
    if len(different) == 1:
        return _TABLE[op](x, _block(p, int(different[0])))
    x = np.broadcast_to(x, (np.shape(x)[0] if np.ndim(x) else 1, len(bases)))
    result = np.empty(x.shape)
    for base in different:
        mine = bases == base
        result[:, mine] = _TABLE[op](x[:, mine], _block(p, int(base)))
    return result


def _block(p: Floats, base: int) -> Block:
    return p[base : base + block_size(int(p[base]))]
