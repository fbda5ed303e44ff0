"""Expressions back from a program: what was rolled can be unrolled, one equation at a time.

A stored model keeps its equations in rolled form only; messages, initialisation and analyses that want to see one of
them get it from here.  It is the same function, though not always written as it was: x^2 is x*x.
"""

import numpy as np

from bglang.expr.core import Expr
from bglang.expr.diff import diff
from bglang.kernels.interpret import cached_tape
from bglang.kernels.program import Index, Kernel, Program
from bglang.kernels.tape import TABLES, columns


class Rebuilder:
    """The expressions of one kernel by the number of their result."""

    def __init__(self, program: Program, kernel: Kernel) -> None:
        self._program, self._kernel = program, kernel
        self._tables = {table.base: table.key for table in program.tables}
        self._order: Index | None = None
        self._rows = np.empty(0, np.int32)
        self._part = np.empty(0, np.int32)
        self._instance = np.empty(0, np.int32)

    def expression(self, row: int) -> Expr:
        """The expression of one result; a sum where it was rolled term by term, 0 where nothing computes it."""
        self._prepare()
        begin, end = np.searchsorted(self._rows, [row, row + 1])
        terms = [self._term(int(self._part[k]), int(self._instance[k])) for k in range(begin, end)]
        return 0.0 if not terms else terms[0] if len(terms) == 1 else ("+", *terms)

    def _prepare(self) -> None:
        """Sort all instances by the row they belong to, once."""
        if self._order is not None:
            return
        kernel = self._kernel
        rows = [self._columns(part)[-1] for part in range(len(kernel.codes))]
        flat = np.concatenate(rows) if rows else np.empty(0, np.int32)
        self._order = np.argsort(flat, kind="stable").astype(np.int32)
        self._rows = flat[self._order]
        parts = np.repeat(np.arange(len(rows), dtype=np.int32), kernel.counts)
        instances = [np.arange(count, dtype=np.int32) for count in kernel.counts]
        self._part = parts[self._order]
        self._instance = (np.concatenate(instances) if instances else flat)[self._order]

    def _columns(self, part: int) -> Index:
        tape = cached_tape(self._program.codes[self._kernel.codes[part]].text)
        width, count = sum(columns(tape)) + len(tape.results), int(self._kernel.counts[part])
        begin = int(self._kernel.offsets[part])
        return self._kernel.index[begin : begin + width * count].reshape(width, count)

    def _term(self, part: int, instance: int, lifting: bool = True) -> Expr:
        """One instance; without `lifting` the constants in which instances differ stay parameters."""
        program = self._program
        tape = cached_tape(program.codes[self._kernel.codes[part]].text)
        index = self._columns(part)[:, instance].tolist()
        y, p, z, _ = columns(tape)
        offset = {"y": 0, "d": 0, "p": y, "z": y + p}
        values = list[Expr]()
        for op, *a in tape.code:
            if op == "c":
                values.append(float.fromhex(a[0]))
            elif op in offset:
                number = index[offset[op] + a[0]]
                lifted = lifting and op == "p" and number >= program.constants_base
                values.append(float(program.constants[number - program.constants_base]) if lifted else (op, number))
            elif op in TABLES:
                values.append((op, values[a[0]], self._tables[index[y + p + z + a[1]]]))
            elif op == "trunc":
                values.append(("div", values[a[0]], 1.0))
            else:
                values.append((op, *[values[x] for x in a]))
        return values[tape.results[0]]

    def explicit(self) -> bool:
        """Whether every result i is dy_i/dt and what does not depend on rates: seen by law, not by equation."""
        seen = np.zeros(self._kernel.size, np.int64)
        for part, code in enumerate(self._kernel.codes):
            slots = {a[0] for op, *a in cached_tape(self._program.codes[code].text).code if op == "d"}
            if not slots:
                continue
            table, slot = self._columns(part), slots.pop()
            if slots or not np.array_equal(table[slot], table[-1]):
                return False
            if diff(self._term(part, 0, lifting=False), ("d", int(table[slot][0]))) != 1.0:
                return False
            np.add.at(seen, table[-1], 1)
        return bool((seen == 1).all())


class Given:
    """Expressions most of which are plain numbers: parameters, starts, nominal values."""

    def __init__(self, program: Program, name: str) -> None:
        self._numbers = program.defaults[name]
        self._computed = frozenset(program.computed[name].tolist())
        self._rebuilder = Rebuilder(program, program.kernels[name])

    def exists(self, row: int) -> bool:
        """Whether there is a value at all."""
        return row in self._computed or not np.isnan(self._numbers[row])

    def expression(self, row: int) -> Expr:
        return self._rebuilder.expression(row) if row in self._computed else float(self._numbers[row])
