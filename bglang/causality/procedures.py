"""The other causality procedures of the literature, for looking at.

mscap    Relaxed causality (Joseph and Martens 1974, van Dijk 1994): every storage stays in integral causality, and
         where storages depend on each other a multiplier keeps them together.
lcap     Lagrangian causality (Karnopp 1977): artificial flow sources at 1-junctions until every inertia has its flow
         and every compliance its displacement given by velocities; inertias then are in derivative causality.
lambda   As lcap, with velocities that need not be independent and multipliers where they meet (`lagrange`).
"""

from bglang.causality.lagrange import assign_lagrange, default_coordinates
from bglang.causality.propagate import Strokes
from bglang.causality.result import Causality, Conflict, Reason, Stroke
from bglang.causality.structure import HARD, J0, J1, OTHER, Structure, Wish
from bglang.causality.wording import listed, port_name
from bglang.diagnostics import Diagnostic
from bglang.records import replace

SIDES: tuple[Stroke, Stroke] = ("tail", "head")


def relaxed(s: Structure, found: Causality) -> Causality:
    """All storages in integral causality; the strokes at a multiplier contradict each other on purpose."""
    strokes, reasons = list(found.strokes), list(found.reasons)
    by_port = {(w.element, w.port): w for w in s.storages}
    conflicts, places = list(found.conflicts), dict[int, None]()
    for d in found.dependent:
        wish = by_port[d.port]
        near = _neighbour(s, wish)
        strokes[wish.bond] = SIDES[wish.side]
        reasons[wish.bond] = Reason("preferred", wish.element)
        if near >= 0:
            places[near] = None
        names = [f"`{port_name(s.graph, key)}`" for key in (d.port, *d.on)]
        conflicts.append(Conflict(near, (wish.bond,), True, _multiplier_note(s, near, wish, names)))
    ports = sorted({*found.independent, *(d.port for d in found.dependent)})
    return replace(
        found,
        strokes=tuple(strokes),
        reasons=tuple(reasons),
        independent=tuple(ports),
        dependent=(),
        conflicts=tuple(conflicts),
        procedure="mscap",
        artificial_efforts=tuple(places),
    )


def _neighbour(s: Structure, wish: Wish) -> int:
    """The node on the other end of a storage's bond."""
    half = s.port_half[wish.element, wish.port]
    n = s.node[half ^ 1]
    return n if s.kind[n] != OTHER else -1


def _multiplier_note(s: Structure, near: int, wish: Wish, names: list[str]) -> Diagnostic:
    span = s.graph.bonds[wish.bond].span
    where = f" at `{s.graph.elements[near].name}`" if near >= 0 else ""
    message = f"a multiplier{where} keeps {listed(names)} together"
    reason = "They are all in integral causality, so that more is given here than the junction takes."
    return Diagnostic("note", "causality/relaxed", message, span, reason=reason)


def lagrangian(s: Structure) -> Causality:
    """Artificial flow sources at 1-junctions with inertias, then at the others, until every bond has its stroke."""
    strokes = Strokes(s)
    strokes.complete_single_bonds()
    for w in s.wishes:
        if w.rank <= HARD:
            strokes.decide(w.bond, w.side, "source", w.element)
    carries = [False] * len(s.kind)
    for w in s.storages:
        near = _neighbour(s, w)
        if near >= 0 and s.kind[near] == J1 and s.graph.elements[w.element].ports[w.port].kind == "I":
            carries[near] = True
    flows: list[int] = []
    for wanted in (True, False):
        for n, kind in enumerate(s.kind):
            open_bond = any(strokes.stroke[h >> 1] < 0 for h in s.halves[n])
            if kind == J1 and carries[n] is wanted and open_bond and strokes.claim_artificially(n):
                flows.append(n)
    for w in s.wishes:
        derivative = s.graph.elements[w.element].ports[w.port].kind == "I" if w.element >= 0 else False
        strokes.decide(w.bond, 1 - w.side if derivative else w.side, "preferred", w.element)
    for bond in range(s.bonds):
        if strokes.stroke[bond] < 0:
            strokes.decide(bond, 1, "arbitrary", -1)
    return _result(s, strokes.stroke, [r or Reason("arbitrary", -1) for r in strokes.reason], flows, _over(s, strokes))


def _over(s: Structure, strokes: Strokes) -> tuple[Conflict, ...]:
    made: dict[int, Conflict] = {}
    for clash in strokes.clashes:
        if clash.node >= 0 and clash.node not in made:
            e = s.graph.elements[clash.node]
            what = "effort" if s.kind[clash.node] == J0 else "flow"
            message = f"the velocities leave a contradiction at `{e.name}`"
            reason = f"Its {what} is given more than once or not at all: choose other velocities, or use multipliers."
            note = Diagnostic("note", "causality/velocities", message, e.span, reason=reason)
            bonds = tuple(b for b in (clash.first, clash.second) if 0 <= b < s.bonds)
            made[clash.node] = Conflict(clash.node, bonds, True, note)
    return tuple(made.values())


def _result(
    s: Structure, stroke: list[int], reasons: list[Reason], flows: list[int], conflicts: tuple[Conflict, ...]
) -> Causality:
    ordered = sorted(s.storages, key=lambda w: (w.element, w.port))
    return Causality(
        strokes=tuple(SIDES[x] for x in stroke),
        reasons=tuple(reasons),
        independent=tuple((w.element, w.port) for w in ordered if stroke[w.bond] == w.side),
        dependent=(),
        loops=(),
        conflicts=conflicts,
        zero_eigenvalues=0,
        procedure="lcap",
        artificial_flows=tuple(flows),
    )


def with_multipliers(s: Structure) -> Causality:
    """λLCAP with the velocities of the independent inertias, on the graph as it is."""
    found = assign_lagrange(s.graph, default_coordinates(s.graph))
    count, nodes = s.bonds, len(s.graph.elements)
    if len(found.graph.bonds) == count:
        return found.causality
    return replace(
        found.causality,
        strokes=found.causality.strokes[:count],
        reasons=found.causality.reasons[:count],
        artificial_efforts=tuple(n for n in found.constraints if n < nodes),
    )
