"""Where merging needs pivots: junctions from whose motion everything follows without a division."""

from collections.abc import Sequence

from bglang.causality.assign import assign_causality
from bglang.causality.pivots import find_pivots, is_pivot, with_pivots
from bglang.causality.result import Causality
from bglang.graph.ir import BondGraph, Start
from bglang.records import replace
from bglang.reduce.algebra import numbers
from bglang.reduce.fields import StorageField, find_fields
from bglang.reduce.modulated import check_modulated
from bglang.reduce.motion import motion_at_start
from bglang.reduce.starts import start_of
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
    graph, starts = tracer.graph, dict[int, Start]()
    for field in fields:
        members = (*field.independent, *field.dependent)
        written = any(start_of(m) is not None for m in members)
        motion = motion_at_start(tracer, field, before.independent) if written else [0.0] * len(field.independent)
        for m, z in zip(field.independent, motion or (), strict=motion is not None):
            if is_pivot(m.element):
                starts[m.port[0]] = Start(z, written, None, m.element.span)
    if any(is_pivot(e) and e.id not in starts for e in graph.elements):
        return None
    elements = (
        replace(e, ports=(replace(e.ports[0], start=starts[e.id]),)) if e.id in starts else e for e in graph.elements
    )
    return replace(graph, elements=tuple(elements))
