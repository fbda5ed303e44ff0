"""Multipliers at dependent storages (Bos, van Dijk): every storage is independent, and a multiplier ties each dependent
one to the others.

A junction is put between a dependent storage and the rest, with an artificial source: of effort at a dependent I, whose
flow then has to agree with the rest; of flow at a dependent C.
"""

from bglang.causality.assign import assign_causality
from bglang.causality.lagrange import put_junction
from bglang.diagnostics import Report
from bglang.equations.lagrange import LagrangeForm, add_sources, with_sources
from bglang.equations.lagrange_constraints import Constraint, Constraints
from bglang.equations.lagrange_names import explicit_values, inline_explicit
from bglang.graph.ir import BondGraph


def multipliers_at_storages(graph: BondGraph, report: Report) -> tuple[LagrangeForm, Constraints]:
    """The form, and its constraints: at the level of velocities only."""
    found = assign_causality(graph, report=report)
    report.raise_if_errors()
    junctions = []
    for dependence in found.dependent:
        number, port = dependence.port
        element = graph.elements[number]
        place = (number, port)
        bond = next(b for b in graph.bonds for e in (b.tail, b.head) if (e.element, e.port) == place)
        name = element.name + (f".{element.ports[port].name}" if element.ports[port].name else "")
        junctions.append(len(graph.elements))
        kind = element.ports[port].kind
        graph = put_junction(graph, bond.id, f"'{name.strip(chr(39))}:lambda'", "J0" if kind == "I" else "J1")
    sources = add_sources(graph, junctions)
    strokes = assign_causality(sources, report=report)
    report.raise_if_errors()
    form = with_sources(graph, strokes, (), junctions, report)
    values = explicit_values(form.system, form.kept)
    constraints = tuple(
        Constraint(m, inline_explicit(form.constraint(m).residual, values), (), 0.0, None, None)
        for m in form.multipliers
    )
    return form, Constraints(constraints, len(constraints), (), 0)
