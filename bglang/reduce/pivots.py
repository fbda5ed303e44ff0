"""Where merging needs pivots: junctions from whose motion everything follows without a division."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bglang.causality.assign import assign_causality
from bglang.causality.pivots import find_pivots, is_pivot, with_pivots
from bglang.causality.result import Causality, PortKey
from bglang.expr import Expr, product, total
from bglang.graph.ir import BondGraph, Start
from bglang.reduce.algebra import Matrix, inverse, numbers, value
from bglang.reduce.fields import StorageField, find_fields
from bglang.reduce.members import Member
from bglang.reduce.modulated import check_modulated
from bglang.reduce.starts import at_start, start_of
from bglang.reduce.trace import Tracer


def with_useful_pivots(graph: BondGraph, keep: Sequence[str]) -> BondGraph:
    """The graph with pivots where they spare divisions and everything that follows them can be merged."""
    junctions = find_pivots(graph, keep)
    if not junctions:
        return graph
    before = assign_causality(graph, keep)
    trial = with_pivots(graph, junctions)
    tracer = Tracer(trial, assign_causality(trial, keep))
    fields, refused = find_fields(trial, tracer.causality, tracer)
    values, told = numbers(trial), {graph.elements[d.port[0]].name for d in before.dependent}
    pivoted = [f for f in fields if any(is_pivot(m.element) for m in f.independent)]
    if any(check_modulated(trial, tracer, field, values) for field in pivoted):
        return graph
    if any(r.diagnostic.component not in told for r in refused):
        return graph
    made = start_pivots(tracer, pivoted, before)
    return graph if made is None else made


def start_pivots(tracer: Tracer, fields: Sequence[StorageField], before: Causality) -> BondGraph | None:
    """The tracer's graph with starts for its pivots; None where they are not all known."""
    graph, values, starts = tracer.graph, numbers(tracer.graph), dict[int, Start]()
    for field in fields:
        starts |= _starts(tracer, field, before.independent, values) or {}
    if any(is_pivot(e) and e.id not in starts for e in graph.elements):
        return None
    elements = (
        replace(e, ports=(replace(e.ports[0], start=starts[e.id]),)) if e.id in starts else e for e in graph.elements
    )
    return replace(graph, elements=tuple(elements))


def _starts(
    tracer: Tracer, field: StorageField, before: Sequence[PortKey], values: dict[str, float]
) -> dict[int, Start] | None:
    """The motion of a field's pivots at the start: that which lets those storages that were independent before give
    what they shall, or, where they have no start of their own, those that have one.  None where no formula is known."""
    pivots = {k: m for k, m in enumerate(field.independent) if is_pivot(m.element)}
    real = [m for m in (*field.independent, *field.dependent) if not is_pivot(m.element)]
    if all(start_of(m) is None for m in real):
        return {m.port[0]: Start(0.0, False, None, m.element.span) for m in pivots.values()}
    size = range(len(field.independent))
    rows: dict[PortKey, list[Expr | None]] = {
        m.port: [1.0 if i == k else 0.0 for i in size] for k, m in enumerate(field.independent)
    }
    rows |= {m.port: [at_start(tracer, field.gain(d, i)) for i in size] for d, m in enumerate(field.dependent)}
    order = sorted(real, key=lambda m: (m not in field.independent, start_of(m) is None, m.port not in before))
    chosen, matrix = _regular(order, rows, len(size), values)
    given = [_given(m) for m in chosen]
    if len(chosen) < len(size) or any(g is None for g in given):
        return None
    solved = inverse(matrix)
    return {
        m.port[0]: Start(_times(solved[k], given), True, None, m.element.span) for k, m in pivots.items()
    }  # fmt: skip


def _times(row: Sequence[Expr], column: Sequence[Expr | None]) -> Expr:
    return total(product([x, g]) for x, g in zip(row, column, strict=True) if g is not None)


def _given(member: Member) -> Expr | None:
    start = start_of(member)
    return 0.0 if start is None else member.gives_for(start.value)


def _regular(
    order: Sequence[Member], rows: dict[PortKey, list[Expr | None]], size: int, values: dict[str, float]
) -> tuple[list[Member], Matrix]:
    """The first members whose gains are independent of each other, and these gains."""
    chosen, matrix, known = list[Member](), list[list[Expr]](), list[list[float]]()
    for member in order:
        row = [e for e in rows[member.port] if e is not None]
        found = [x for e in row if (x := value(e, values)) is not None]
        if len(found) == size and np.linalg.matrix_rank(np.array([*known, found])) > len(known):
            known.append(found)
            matrix.append(row)
            chosen.append(member)
            if len(chosen) == size:
                break
    return chosen, matrix
