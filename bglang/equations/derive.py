"""From a bond graph with causality to F(t, y, dy/dt, p, z) = 0.

Every bond has an effort and a flow.  The strokes say which element sets which of them: that gives each its value in
terms of others.  Storages in integral causality are states; in derivative causality their law is an algebraic equation
and their rate is what the bond gets.  Signals join in by matching.  Then everything that is no unknown is put into the
equations, loops are cut, and constraints that only their derivative can meet are differentiated.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from bglang.causality.result import Causality
from bglang.diagnostics import Report
from bglang.equations.audit import list_audit
from bglang.equations.derivatives import define_derivatives
from bglang.equations.discrete import read_discrete
from bglang.equations.divisions import avoid_divisions
from bglang.equations.draft import Draft
from bglang.equations.index import reduce_index
from bglang.equations.inline import Inliner
from bglang.equations.laws import add_laws
from bglang.equations.maker import Maker
from bglang.equations.names import attach, read_names
from bglang.equations.outputs import list_outputs
from bglang.equations.prescribed import free_prescribed
from bglang.equations.signals import add_signals, solve_open
from bglang.equations.starts import read_initial, settle_starts
from bglang.equations.structure import add_structure
from bglang.equations.system import Row, System
from bglang.equations.watched_tables import watch_tables
from bglang.expr import call
from bglang.graph.ir import BondGraph
from bglang.records import replace


def derive(graph: BondGraph, causality: Causality, report: Report) -> System:
    """The equations of a model.  What is wrong with them goes into the report; raises `SourceError` where they do not
    determine the model."""
    with collector_paused():
        return _derive(graph, causality, report)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Derivation makes very many small tuples, none of them in a cycle: looking for cycles would cost half the time."""
    active = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if active:
            gc.enable()


def _derive(graph: BondGraph, causality: Causality, report: Report) -> System:
    draft = Draft(graph, causality, report)
    draft.attachments = attach(graph, causality)
    read_names(draft)
    maker = Maker(draft)
    add_signals(draft, maker)
    add_structure(draft, maker)
    add_laws(draft, maker)
    solve_open(draft, maker)
    avoid_divisions(draft)
    report.raise_if_errors()
    initial = read_initial(draft, maker)
    discrete = read_discrete(draft, maker)
    define_derivatives(draft, maker)
    report.raise_if_errors()
    inliner = Inliner(draft, maker, [*discrete.expressions(), *(side for e in initial for side in (e.left, e.right))])
    report.raise_if_errors()
    rows = reduce_index(draft, maker, assemble_rows(draft, inliner))
    report.raise_if_errors()
    unknowns, first = settle_starts(draft, maker, inliner, initial)
    outputs, powers = list_outputs(draft, inliner)
    audit = list_audit(draft, maker, inliner, powers)
    modes, whens, assertions = discrete.finish(inliner)
    tables = tuple(maker.parameters.renumber_table(table) for table in maker.modes.tables.values())
    modes, watched = watch_tables(tables, rows, outputs, modes)
    made = System(
        name=graph.name,
        unknowns=unknowns,
        rows=tuple(rows),
        initial=first,
        parameters=tuple(maker.parameters.entries),
        modes=modes,
        whens=whens,
        assertions=(*assertions, *watched),
        outputs=outputs,
        audit=audit,
        tables=tables,
        experiment=graph.experiment,
    )
    return free_prescribed(made)


def assemble_rows(draft: Draft, inliner: Inliner) -> list[Row]:
    """One row per unknown.  Those that were made while inlining are final already."""
    rows: list[Row] = []
    for number, (unknown, row) in enumerate(zip(draft.unknowns, draft.rows, strict=True)):
        if row is None:
            assert unknown.kind == "state"
            rate = draft.leaves.get(("rate", number)) or ("v", ("rate", number))
            value = draft.values["rate", number] if inliner.done["rate", number] == ("d", number) else rate
            residual = call("-", ("d", number), inliner(value))
            rows.append(Row(residual, True, unknown.name.rpartition(".")[0], unknown.span))
        else:
            rows.append(replace(row, residual=inliner(row.residual)))
    return rows
