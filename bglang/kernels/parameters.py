"""Numbers for the vector p, and for starts and nominal values: from a program, without compiling anything.

p holds the system's parameters, the blocks of its tables, and the numbers that rolling lifted out of equations.
Parameters are computed level by level; a value given from outside replaces its expression, and all that depends on it
follows.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

import numpy as np

from bglang.kernels.interpret import Points, cached_tape, run_kernel, run_parts
from bglang.kernels.program import Floats, Program
from bglang.kernels.tables import block_size, make_block
from bglang.kernels.tape import columns

_EMPTY = np.zeros((1, 0))


def parameter_vector(program: Program, overrides: Mapping[int, float] | None = None) -> Floats:
    """The whole of p.  `overrides` are values for parameters by number."""
    p = _blank(program)
    p[program.computed["parameters"]] = 0.0  # long sums are added up term by term
    given = dict(overrides or {})
    numbers, values = np.array(list(given), np.int64), np.array(list(given.values()), float)
    p[numbers] = values
    kernel = program.kernels["parameters"]
    bounds = [*kernel.levels.tolist(), len(kernel.codes)]
    for begin, end in pairwise(bounds):
        fill_tables(program, p)
        out = p[: program.parameters]
        run_parts(program, kernel, range(begin, end), _at(p), out[None, :])
        p[numbers] = values
    fill_tables(program, p)
    return p


def parameter_table(program: Program, overrides: Mapping[int, Floats], count: int) -> Floats:
    """The whole of p for many sets of values at once, one row each.  Only for programs without tables."""
    assert not program.tables, "tables belong to one set of values"
    p = np.tile(_blank(program), (count, 1))
    p[:, program.computed["parameters"]] = 0.0
    kernel = program.kernels["parameters"]
    for number, values in overrides.items():
        p[:, number] = values
    bounds = [*kernel.levels.tolist(), len(kernel.codes)]
    for begin, end in pairwise(bounds):
        run_parts(program, kernel, range(begin, end), _many(p), p[:, : program.parameters])
        for number, values in overrides.items():
            p[:, number] = values
    return p


def start_table(program: Program, name: Literal["starts", "nominals"], p: Floats) -> Floats:
    """Starts or nominal values for many sets of values, one row each."""
    found = np.tile(program.defaults[name], (len(p), 1))
    kernel = program.kernels[name]
    if len(kernel.codes):
        computed = program.computed[name]
        found[:, computed] = run_kernel(program, kernel, _many(p))[:, computed]
    return found


class BaseNumbers:
    """Numbers of a program without tables for a vector of parameters: what other values of some parameters do not
    reach is not computed again."""

    def __init__(self, program: Program, parameters: Floats) -> None:
        self.program = program
        self.p = complete_vector(program, parameters)
        self._starts = start_table(program, "starts", self.p[None])
        self._nominal = start_table(program, "nominals", self.p[None])
        self._computed = set(program.computed["parameters"].tolist())
        self._read = {name: _entries_read(program, name) for name in ("parameters", "starts", "nominals")}

    def tables(self, values: Mapping[int, Floats], count: int) -> tuple[Floats, Floats, Floats]:
        """p, starts and nominal values for many sets of values, one row each."""
        new = {number for number, column in values.items() if (column != self.p[number]).any()}
        follow = bool(new & self._read["parameters"] or values.keys() & self._computed)
        if follow:
            p = parameter_table(self.program, values, count)
        else:
            p = np.tile(self.p, (count, 1))
            for number in new:
                p[:, number] = values[number]
        starts = start_table(self.program, "starts", p) if follow or new & self._read["starts"] else self._starts
        nominal = start_table(self.program, "nominals", p) if follow or new & self._read["nominals"] else self._nominal
        shape = count, starts.shape[1]
        return p, np.array(np.broadcast_to(starts, shape)), np.abs(np.broadcast_to(nominal, shape))


def _entries_read(program: Program, name: str) -> set[int]:
    """The entries of p that a kernel reads."""
    kernel, found = program.kernels[name], set[int]()
    for part, code in enumerate(kernel.codes):
        tape = cached_tape(program.codes[code].text)
        y, count, begin = columns(tape)[0], int(kernel.counts[part]), int(kernel.offsets[part])
        for op, *a in tape.code:
            if op == "p":
                at = begin + (y + a[0]) * count
                found.update(kernel.index[at : at + count].tolist())
    return found


def complete_vector(program: Program, parameters: Floats) -> Floats:
    """The whole of p where the parameters are already known as numbers."""
    p = _blank(program)
    p[: program.parameters] = parameters
    fill_tables(program, p)
    return p


def start_values(program: Program, p: Floats) -> Floats:
    return _with_defaults(program, "starts", p)


def nominal_values(program: Program, p: Floats) -> Floats:
    """NaN where the source gives none."""
    return _with_defaults(program, "nominals", p)


def fill_tables(program: Program, p: Floats) -> None:
    """The blocks of all tables, from their points at the present values of the parameters."""
    if not program.tables:
        return
    points = _with_defaults(program, "points", p)
    for table in program.tables:
        x = points[table.points : table.points + table.count]
        y = points[table.points + table.count : table.points + 2 * table.count]
        with np.errstate(all="ignore"):  # a parameter that comes later is not a number yet
            block = make_block(x, y, table.method, table.outside, table.ends)  # type: ignore[arg-type]
        p[table.base : table.base + block_size(table.count)] = block


def table_blocks(program: Program, p: Floats) -> dict[str, Floats]:
    """The blocks by the tables' keys, as the evaluator of single expressions wants them."""
    return {t.key: p[t.base : t.base + block_size(t.count)] for t in program.tables}


def _blank(program: Program) -> Floats:
    p = np.full(program.p_size, np.nan)
    p[: program.parameters] = program.defaults["parameters"]
    p[program.constants_base :] = program.constants
    return p


def _at(p: Floats) -> Points:
    return Points(np.zeros(1), _EMPTY, _EMPTY, p, _EMPTY)


def _many(p: Floats) -> Points:
    none = np.zeros((len(p), 0))
    return Points(np.zeros(len(p)), none, none, p, none)


def _with_defaults(program: Program, name: str, p: Floats) -> Floats:
    """Numbers that the source gives as such, and what the kernel computes for the others."""
    plain = program.defaults[name]
    kernel = program.kernels[name]
    if not len(kernel.codes):
        return plain.copy()
    computed = run_kernel(program, kernel, _at(p))[0]
    known = np.ones(len(plain), bool)
    known[program.computed[name]] = False
    return np.where(known, plain, computed)
