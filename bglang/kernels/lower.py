"""Lowering: the equations of a system become a program.

Expressions are rolled block by block (residuals, roots, outputs, ...), derivatives are taken once per shape, and every
result gets its place: rows of a residual, or positions in the compressed columns of a Jacobian.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from bglang.equations.system import AuditItem, System
from bglang.expr.core import WITH_KEY, Expr
from bglang.expr.diff import derivative, diff
from bglang.expr.walk import leaf_set, postorder
from bglang.kernels.program import Code, Floats, Index, Kernel, Long, Pattern, Program, TableLayout
from bglang.kernels.roll import Layout, Shape, roll
from bglang.kernels.tables import block_size
from bglang.kernels.tape import INDEXED, TABLES, Tape, make_tape
from bglang.records import dataclass

_NAN = float("nan")
MANY_OUTPUTS = 20_000
"""A model with more outputs than this has only those lowered that are asked for."""


def lower(system: System, outputs: Sequence[int] | None = None) -> Program:
    """The program of a system.  `outputs` are numbers of the outputs that will be wanted; None means all of them, or
    none when there are more than `MANY_OUTPUTS`."""
    if outputs is None:
        outputs = range(len(system.outputs)) if len(system.outputs) <= MANY_OUTPUTS else ()
    layout, tables = _lay_out(system)
    maker = _Maker(layout, [])
    n, audit = len(system.unknowns), system.audit
    positions = [k for k, row in enumerate(system.rows) if row.position is not None]
    kernels: dict[str, Kernel] = {}
    patterns: dict[str, Pattern] = {}
    for name, equations in (
        ("residual", [row.residual for row in system.rows]),
        ("initial", [row.residual for row in system.initial]),
        ("position", [system.rows[k].position or 0.0 for k in positions]),
    ):
        shapes = roll(equations, layout)
        jacobian = "jacobian" if name == "residual" else f"{name}_jacobian"
        kernels[name] = maker.values(shapes, len(equations))
        kernels[jacobian], patterns[jacobian] = maker.jacobian(shapes, len(equations), n, name == "residual")
        if name == "residual":
            kernels["residual_t"] = maker.by_time(shapes, len(equations))
    blocks: dict[str, list[Expr]] = {
        "roots": [g for mode in system.modes for g in mode.roots],
        "outputs": [system.outputs[k].value for k in outputs],
        "powers": [item.power for item in audit],
        "energies": [0.0 if item.energy is None else item.energy for item in audit],
        "efforts": [_effort(item) for item in audit],
    }
    for name, equations in blocks.items():
        kernels[name] = maker.values(roll(equations, layout), len(equations))
    given: dict[str, list[Expr]] = {
        "points": [e for table in system.tables for e in (*table.x, *table.y)],
        "starts": [unknown.start for unknown in system.unknowns],
        "nominals": [_NAN if u.nominal is None else u.nominal for u in system.unknowns],
        "parameters": [parameter.value for parameter in system.parameters],
    }
    defaults, computed = dict[str, Floats](), dict[str, Index]()
    for name, equations in given.items():
        defaults[name] = np.array([_NAN if isinstance(e, tuple) else e for e in equations], float)
        members = [k for k, e in enumerate(equations) if isinstance(e, tuple)]
        computed[name] = np.array(members, np.int32)
        level = _levels(system, members) if name == "parameters" else np.zeros(len(members), np.int64)
        kernels[name] = maker.levels(equations, members, level)
    constants = np.array(list(layout.constants), float)
    return Program(
        n=n,
        parameters=len(system.parameters),
        p_size=layout.base + len(constants),
        constants_base=layout.base,
        constants=constants,
        tables=tables,
        codes=tuple(maker.codes),
        kernels=kernels,
        patterns=patterns,
        defaults=defaults,
        computed=computed,
        position_rows=np.array(positions, np.int32),
        output_numbers=np.array(outputs, np.int32),
    )


def _effort(item: AuditItem) -> Expr:
    return 0.0 if item.integral is None else item.integral[0]


def _lay_out(system: System) -> tuple[Layout, tuple[TableLayout, ...]]:
    at, points = len(system.parameters), 0
    tables = list[TableLayout]()
    for table in system.tables:
        count = len(table.x)
        tables.append(TableLayout(table.key, at, count, points, table.method, table.outside, table.ends))
        at += block_size(count)
        points += 2 * count
    return Layout(len(system.parameters), {t.key: t.base for t in tables}, at, {}), tuple(tables)


@dataclass(slots=True)
class _Part:
    code: int
    shape: Shape
    tape: Tape
    columns: list[Index]
    """Index columns that the code reads, before those of results."""


class _Maker:
    """Makes kernels and collects their codes; codes with the same text are one."""

    def __init__(self, layout: Layout, codes: list[Code]) -> None:
        self.layout, self.codes = layout, codes
        self._numbers: dict[Code, int] = {}

    def part(self, shape: Shape, results: Iterable[Expr]) -> _Part:
        tape, columns = _compact(make_tape(results), shape)
        code = Code(tape.text(), shape.adds)
        number = self._numbers.setdefault(code, len(self.codes))
        if number == len(self.codes):
            self.codes.append(code)
        return _Part(number, shape, tape, columns)

    def values(self, shapes: Sequence[Shape], size: int) -> Kernel:
        parts = [self.part(shape, [shape.expression]) for shape in shapes]
        return _kernel(size, parts, [shape.rows for shape in shapes])

    def by_time(self, shapes: Sequence[Shape], size: int) -> Kernel:
        """The partial derivatives by time of those rows that have one."""
        parts = list[_Part]()
        for shape in shapes:
            slope = derivative(shape.expression, lambda leaf: 1.0 if leaf[0] == "t" else 0.0)
            if slope != 0.0:
                parts.append(self.part(shape, [slope]))
        return _kernel(size, parts, [part.shape.rows for part in parts])

    def jacobian(self, shapes: Sequence[Shape], rows: int, columns: int, diagonal: bool) -> tuple[Kernel, Pattern]:
        """Every entry that is not zero for structural reasons, of both derivatives on one pattern."""
        entries = [_entries(shape) for shape in shapes]
        keys = [
            shape.variables[slot].astype(np.int64) * rows + shape.rows
            for shape, found in zip(shapes, entries, strict=True)
            for slot, _, _ in found
        ]
        own = np.arange(rows, dtype=np.int64) * (rows + 1) if diagonal else np.empty(0, np.int64)
        places, where = np.unique(np.concatenate([own, *keys]), return_inverse=True)
        at, parts, outs = len(own), list[_Part](), list[Index]()
        for shape, found in zip(shapes, entries, strict=True):
            if not found:
                continue
            parts.append(self.part(shape, [e for _, _, e in found]))
            count = len(shape.rows)
            position = where[at : at + count * len(found)].reshape(len(found), count)
            second = np.array([kind == "d" for _, kind, _ in found])[:, None]
            outs.append((position + second * len(places)).astype(np.int32))
            at += count * len(found)
        column = places // max(rows, 1)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=columns))]).astype(np.int32)
        pattern = Pattern(rows, columns, indptr, (places % max(rows, 1)).astype(np.int32))
        return _kernel(2 * len(places), parts, outs), pattern

    def levels(self, equations: Sequence[Expr], members: Sequence[int], level: Long) -> Kernel:
        """Some of the expressions, in levels: each level uses only results of earlier ones."""
        parts, outs, starts = list[_Part](), list[Index](), list[int]()
        order = np.argsort(level, kind="stable")
        bounds = np.searchsorted(level[order], np.arange(int(level.max(initial=-1)) + 2))
        for begin, end in pairwise(bounds):
            chosen = np.array(members, np.int32)[order[begin:end]]
            starts.append(len(parts))
            for shape in roll([equations[k] for k in chosen], self.layout):
                parts.append(self.part(shape, [shape.expression]))
                outs.append(chosen[shape.rows])
        return _kernel(len(equations), parts, outs, starts)


def _entries(shape: Shape) -> list[tuple[int, str, Expr]]:
    """(slot, "y" or "d", derivative) for every derivative of the shape that is not structurally zero."""
    found = list[tuple[int, str, Expr]]()
    for kind, slot in sorted((leaf for leaf in leaf_set(shape.expression) if leaf[0] in "yd"), key=lambda e: e[::-1]):
        slope = diff(shape.expression, (kind, slot))
        if isinstance(slope, tuple) or slope != 0.0:
            found.append((slot, kind, slope))
    return found


def _compact(tape: Tape, shape: Shape) -> tuple[Tape, list[Index]]:
    """The tape with its slots numbered without gaps, and the index columns of these slots."""
    used: dict[str, dict[int, int]] = {"y": {}, "p": {}, "z": {}, "table": {}}
    group = {"y": "y", "d": "y", "p": "p", "z": "z", **dict.fromkeys(TABLES, "table")}
    code = []
    for instruction in tape.code:
        op = instruction[0]
        if op in INDEXED or op in TABLES:
            slots = used[group[op]]
            instruction = (*instruction[:-1], slots.setdefault(instruction[-1], len(slots)))
        code.append(instruction)
    pools = {"y": shape.variables, "p": shape.parameters, "z": shape.discrete, "table": shape.tables}
    return Tape(tuple(code), tape.results), [pools[name][slot] for name, slots in used.items() for slot in slots]


def _kernel(size: int, parts: Sequence[_Part], outs: Sequence[Index], levels: Sequence[int] = ()) -> Kernel:
    blocks = list[Index]()
    offsets = list[int]()
    at = 0
    for part, out in zip(parts, outs, strict=True):
        offsets.append(at)
        blocks += [*part.columns, *(out if out.ndim == 2 else [out])]
        at += (len(part.columns) + (len(out) if out.ndim == 2 else 1)) * len(part.shape.rows)
    return Kernel(
        size,
        np.array([part.code for part in parts], np.int32),
        np.array([len(part.shape.rows) for part in parts], np.int64),
        np.array(offsets, np.int64),
        np.concatenate(blocks).astype(np.int32) if blocks else np.empty(0, np.int32),
        np.array(levels, np.int32),
    )


def _levels(system: System, members: Sequence[int]) -> Long:
    """How many steps lie between each computed parameter and plain numbers, also by way of tables."""
    tables: dict[str, int] = {}
    points = {table.key: (*table.x, *table.y) for table in system.tables}
    level = np.full(len(system.parameters), -1, np.int64)
    for k in members:
        level[k] = _depth(system.parameters[k].value, level, tables, points)
    return level[list(members)]


def _depth(e: Expr, level: Long, tables: dict[str, int], points: dict[str, tuple[Expr, ...]]) -> int:
    """The level of an expression; plain numbers are at level -1."""
    depth = 0
    for node in postorder(e):
        if node[0] == "p":
            depth = max(depth, int(level[node[1]]) + 1)
        elif node[0] in WITH_KEY:
            key = node[-1]
            if key not in tables:
                tables[key] = max((_depth(point, level, tables, points) for point in points[key]), default=0)
            depth = max(depth, tables[key])
    return depth
