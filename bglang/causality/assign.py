"""The sequential causality assignment procedure (SCAP), with the best choice where there is one.

Sources, fixed laws and locked strokes first; then the storages in order of preference, each in integral causality
unless those before it forbid that; then the resistances as their laws are written; then what is left.  Every
decision is followed to its end (`propagate`).  The storages that can be independent together form a matroid, so this
greedy order finds as many as there are; only where a ring of the junction structure lets propagation run into a
contradiction is the part solved anew as a matching (`repair`), and where a ring is singular by elimination
(`degenerate`).  Ties are broken by the order of declaration and by nothing else.
"""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, TypeAlias

from bglang.causality.diagnose import explain_clash, explain_open
from bglang.causality.findings import count_zero_eigenvalues, find_dependences, find_loops, split_storages
from bglang.causality.procedures import lagrangian, relaxed, with_multipliers
from bglang.causality.propagate import Strokes
from bglang.causality.result import Causality, Conflict, Reason, Stroke
from bglang.causality.scap import Assignment, assign_strokes
from bglang.causality.signals import Signals
from bglang.causality.structure import GY, HARD, J0, J1, TF, Structure, build_structure
from bglang.diagnostics import Report
from bglang.graph.ir import BondGraph

Procedure: TypeAlias = Literal["scap", "mscap", "lcap", "lambda"]
SIDES: tuple[Stroke, Stroke] = ("tail", "head")


def assign_causality(
    graph: BondGraph,
    keep: Sequence[str] = (),
    procedure: Procedure = "scap",
    report: Report | None = None,
) -> Causality:
    """Strokes, reasons and findings for a graph; contradictions are also told to the report.

    `keep` names storages that shall be independent, in order of importance.  The other procedures of the literature are
    for looking at: equations are derived from "scap"."""
    with collector_paused():
        s = build_structure(graph, keep)
        if procedure == "lcap":
            found = lagrangian(s)
        elif procedure == "lambda":
            # looked at on the graph as it is: where a junction would have to be put in, the conflict is shown instead
            found = with_multipliers(s)
        else:
            found = _sequential(s)
            if procedure == "mscap":
                found = relaxed(s, found)
    if report is not None:
        report.extend(c.diagnostic for c in found.conflicts)
    return found


@contextmanager
def collector_paused() -> Iterator[None]:
    """Many small lists and no cycles are made: looking for garbage in between would take longer than the work."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _sequential(s: Structure) -> Causality:
    assignment = assign_strokes(s)
    conflicts = _find_conflicts(s, assignment)
    strokes, reasons = _table(assignment, conflicts)
    signals = Signals(s, assignment.strokes.stroke)
    independent, dependent = split_storages(s, assignment)
    return Causality(
        strokes=strokes,
        reasons=reasons,
        independent=independent,
        dependent=find_dependences(signals, dependent),
        loops=find_loops(signals, assignment.strokes) if assignment.sound else (),
        conflicts=conflicts,
        zero_eigenvalues=count_zero_eigenvalues(s) if assignment.sound else 0,
    )


def _find_conflicts(s: Structure, assignment: Assignment) -> tuple[Conflict, ...]:
    made: dict[tuple[int, tuple[int, ...]], Conflict] = {}
    for clash in (*assignment.demands, *assignment.left_over):
        conflict = explain_clash(s, assignment.strokes, clash)
        made.setdefault((conflict.element, conflict.bonds), conflict)
    for undetermined in assignment.open:
        conflict = explain_open(s, undetermined)
        made.setdefault((conflict.element, conflict.bonds), conflict)
    return tuple(made.values())


def _table(assignment: Assignment, conflicts: tuple[Conflict, ...]) -> tuple[tuple[Stroke, ...], tuple[Reason, ...]]:
    """Strokes and reasons as the result holds them; a bond in a conflict, or beside one, has no stroke."""
    sides: list[Stroke] = ["" if x < 0 else SIDES[x] for x in assignment.strokes.stroke]
    reasons = [r or Reason("arbitrary", -1) for r in assignment.strokes.reason]
    blank = [(b, c.element) for c in conflicts for b in c.bonds]
    if conflicts:
        blank += _beside_conflicts(assignment.strokes)
    for b, element in blank:
        if sides[b]:
            sides[b] = ""
            reasons[b] = Reason("conflict", element, reasons[b].because)
    return tuple(sides), tuple(reasons)


def _beside_conflicts(strokes: Strokes) -> list[tuple[int, int]]:
    """Bonds whose demand is not granted, and those of nodes whose rule the strokes do not satisfy, with the node."""
    s = strokes.structure
    found = [(w.bond, w.element) for w in s.wishes if w.rank <= HARD and strokes.stroke[w.bond] != w.side]
    for n, kind in enumerate(s.kind):
        bonds = [h >> 1 for h in s.halves[n]]
        here = sum(strokes.stroke[h >> 1] == (h & 1) for h in s.halves[n])
        allowed = {J0: (1,), J1: (len(bonds) - 1,), TF: (1,), GY: (0, 2)}.get(kind)
        if bonds and allowed is not None and here not in allowed:
            found += ((b, n) for b in bonds)
    return found
