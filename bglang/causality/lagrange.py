"""The procedure that leads to Lagrange's equations with multipliers (λLCAP).

The user chooses 1-junctions whose flows are the generalized velocities; each gets an artificial flow source.  Flows
spread from there; a 0-junction is passed only once some bond brings it an effort.  0-junctions that only flows arrive
at are completed one by one afterwards, and those where every bond brings a flow are constraints: an artificial effort
source, the multiplier, is attached to each.  Where two velocities meet on one bond a 0-junction is put into it.

All of it has a dual: at a chosen 0-junction the effort is the generalized velocity (of a momentum), 1-junctions where
every bond brings an effort are constraints with a flow as multiplier, and a 1-junction is put where two efforts meet.
Both may be chosen in one model.  A storage that stands beside no junction of the right kind may be named itself: a
junction for it is put into its bond.
"""

from collections import deque
from collections.abc import Sequence
from typing import Literal, TypeAlias

from bglang.causality.result import Causality, PortKey, Reason, Rule, Stroke
from bglang.causality.scap import assign_strokes
from bglang.causality.structure import (
    GY,
    HARD,
    J0,
    J1,
    KEPT,
    OTHER,
    RESISTIVE,
    STORAGE,
    Structure,
    Wish,
    build_structure,
)
from bglang.diagnostics import UsageError
from bglang.graph.ir import Bond, BondGraph, Element, End, Kind, Port
from bglang.records import dataclass, replace
from bglang.suggest import did_you_mean

SIDES: tuple[Stroke, Stroke] = ("tail", "head")
Storage: TypeAlias = Literal["I", "C"]
BESIDE: dict[Storage, Kind] = {"I": "J1", "C": "J0"}
"""The junction whose common variable is the velocity of a storage."""


@dataclass(frozen=True, slots=True)
class Lagrange:
    """A graph ready for Lagrange's equations.  `graph` has the 0-junctions that had to be put in, after all others."""

    graph: BondGraph
    causality: Causality
    coordinates: tuple[int, ...]
    """1-junctions with an artificial flow source, 0-junctions with an artificial effort source."""
    constraints: tuple[int, ...]
    """0-junctions with an artificial effort source: the flows of their bonds add up to zero; and the dual."""
    open_after_spreading: tuple[int, ...]
    """Bonds that the velocities alone did not decide (step 3 of the procedure)."""
    undetermined: tuple[PortKey, ...] = ()
    """Storages whose velocity follows from none of the chosen ones: an I among flows, a C among efforts."""


def assign_lagrange(graph: BondGraph, coordinates: Sequence[str], strong: Sequence[str] = ()) -> Lagrange:
    """`coordinates` are names of junctions or storages, in the order of the generalized coordinates.

    `strong` decides step 4: junctions, in order, that shall be determined through one of their open bonds; `a:b` says
    that it is the bond between a and b."""
    chosen: list[int] = []
    for name in coordinates:
        graph, number = _junction(graph, name)
        chosen.append(number)
    wanted = [_strong(graph, name) for name in strong]
    most = 2 * len(graph.bonds)  # a junction on either end of every bond is more than velocities can ask for
    while True:
        spread = _Spread(build_structure(graph), chosen, wanted)
        blocked = spread.decide_all()
        if blocked < 0:
            return spread.result(graph)
        if len(graph.bonds) > most:
            place = spread.inserted_name(blocked).strip("'").replace(":", " -> ")
            raise UsageError(f"coordinates: these velocities and the sources contradict each other on `{place}`")
        graph = put_junction(graph, blocked, spread.inserted_name(blocked), spread.inserted_kind)


def _junction(graph: BondGraph, name: str) -> tuple[BondGraph, int]:
    """The junction of a coordinate, put into the graph where a storage is named."""
    for e in graph.elements:
        if e.name != name:
            continue
        if e.kind in ("J0", "J1"):
            return graph, e.id
        if e.kind in ("I", "C"):
            return _beside(graph, e)
        raise UsageError(
            f"coordinates: `{name}` is a {e.kind}; only a junction (or an I or C) has a velocity of its own"
        )
    names = [e.name for e in graph.elements if e.kind in ("J0", "J1", "I", "C")]
    hint = did_you_mean(name, names)
    raise UsageError(f"coordinates: the model has no junction named `{name}`{'; ' + hint if hint else ''}")


def _beside(graph: BondGraph, e: Element) -> tuple[BondGraph, int]:
    """The junction next to a storage that has its flow (I) or effort (C); put there if there is none."""
    kind = BESIDE["I" if e.kind == "I" else "C"]
    bond = next(b for b in graph.bonds if e.id in (b.tail.element, b.head.element))
    other = bond.head.element if bond.tail.element == e.id else bond.tail.element
    if graph.elements[other].kind == kind:
        return graph, other
    return put_junction(graph, bond.id, f"'{e.name}:own'", kind), len(graph.elements)


def _strong(graph: BondGraph, text: str) -> tuple[int, int]:
    """A junction, and the node at the other end of the bond that shall determine it (-1: any)."""
    junctions = {e.name: e.id for e in graph.elements if e.kind in ("J0", "J1")}
    first, colon, second = text.partition(":")
    if text in junctions:
        first, colon, second = text, "", ""
    nodes = {e.name: e.id for e in graph.elements}
    for name, known in ((first, junctions), *([(second, nodes)] if colon else [])):
        if name not in known:
            hint = did_you_mean(name, known)
            raise UsageError(f"strong: the model has no junction named `{name}`{'; ' + hint if hint else ''}")
    return junctions[first], nodes[second] if colon else -1


class _Spread:
    """Strokes that follow from the chosen velocities."""

    def __init__(self, s: Structure, chosen: Sequence[int], strong: Sequence[tuple[int, int]]) -> None:
        self.s = s
        self.chosen = tuple(dict.fromkeys(chosen))
        self.strong = list(strong)
        kinds = {s.kind[n] for n in self.chosen}
        self.flows, self.efforts = J0 not in kinds, J1 not in kinds and bool(kinds)
        """Are all velocities flows? are all of them efforts?"""
        self.inserted_kind: Kind = "J0"
        self._modulated = frozenset(s.modulated)
        self.stroke = [-1] * s.bonds
        self.reason = [Reason("arbitrary", -1)] * s.bonds
        self.given = [False] * len(s.kind)
        """Junctions whose common variable is known: a flow for a J1, an effort for a J0."""
        self.open_after_spreading: tuple[int, ...] = ()
        self._queue: deque[int] = deque()
        self._late: deque[int] = deque()
        """Bonds whose velocity goes on only by a division by a modulus that varies: others are given the way first."""
        self._blocked = -1

    def decide_all(self) -> int:
        """Steps 1 to 5.  A bond that two velocities reach, or -1."""
        for n in self.chosen:
            self.given[n] = True
        for w in self.s.wishes:
            if w.rank <= HARD:
                self._set(w.bond, w.side, "source" if w.rank == 0 else "fixed", w.element, ())
        for n in self.chosen:
            self._give(n, "artificial", ())
        self._run()
        self.open_after_spreading = tuple(b for b in range(self.s.bonds) if self.stroke[b] < 0)
        while self._blocked < 0 and self._choose():
            self._run()
        return self._blocked

    def inserted_name(self, bond: int) -> str:
        b = self.s.graph.bonds[bond]
        one, two = (self.s.graph.elements[x.element].name for x in (b.tail, b.head))
        return f"'{one}:{two}'"

    def result(self, graph: BondGraph) -> Lagrange:
        passed = (J0,) if self.flows else (J1,) if self.efforts else (J0, J1)
        constraints = tuple(
            n for n, k in enumerate(self.s.kind) if k in passed and self.s.halves[n] and not self.given[n]
        )
        storages = sorted(self.s.storages, key=lambda w: (w.element, w.port))
        independent = tuple((w.element, w.port) for w in storages if self.stroke[w.bond] == w.side)
        elements = self.s.graph.elements
        undetermined = ("C",) if self.efforts else ("I",) if self.flows else ()
        causality = Causality(
            strokes=tuple(SIDES[x] for x in self.stroke),
            reasons=tuple(self.reason),
            independent=independent,
            dependent=(),
            loops=(),
            conflicts=(),
            zero_eigenvalues=0,
            procedure="lambda",
            artificial_flows=self.chosen,
            artificial_efforts=constraints,
        )
        left = tuple(key for key in independent if elements[key[0]].ports[key[1]].kind in undetermined)
        return Lagrange(graph, causality, self.chosen, constraints, self.open_after_spreading, left)

    # strokes follow from strokes

    def _set(self, bond: int, side: int, rule: Rule, element: int, because: tuple[int, ...]) -> None:
        if self.stroke[bond] < 0:
            self.stroke[bond] = side
            self.reason[bond] = Reason(rule, element, because)
            self._queue.append(bond)
        elif self.stroke[bond] != side and self._blocked < 0:
            self._blocked = bond
            # who wants the stroke at its own end gives a flow: two flows meet; otherwise two efforts
            own = 0 <= element == self.s.node[2 * bond + side]
            self.inserted_kind = "J0" if own else "J1"

    def _give(self, n: int, rule: Rule, because: tuple[int, ...]) -> None:
        """The common variable of a junction is known: all its other bonds carry it away."""
        self.given[n] = True
        kind = self.s.kind[n]
        for half in self.s.halves[n]:
            if half >> 1 not in because:
                self._set(half >> 1, (half & 1) ^ (kind == J0), rule, n, because)

    def _run(self) -> None:
        s = self.s
        while (self._queue or self._late) and self._blocked < 0:
            late = not self._queue
            b = self._late.popleft() if late else self._queue.popleft()
            for half in (2 * b, 2 * b + 1):
                n = s.node[half]
                if s.kind[n] == OTHER or (late and s.kind[n] in (J0, J1)):
                    continue
                at_node = self.stroke[b] == (half & 1)
                if s.kind[n] in (J0, J1):
                    self._arrive(n, b, at_node)
                elif len(s.halves[n]) == 2:
                    pair = s.halves[n]
                    if not late and n in self._modulated and at_node == (s.kind[n] == GY or half == pair[0]):
                        self._late.append(b)
                        continue
                    other = pair[0] if pair[1] == half else pair[1]
                    there = at_node if s.kind[n] == GY else not at_node
                    rule: Rule = "gyrator" if s.kind[n] == GY else "transformer"
                    self._set(other >> 1, (other & 1) if there else 1 - (other & 1), rule, n, (b,))

    def _arrive(self, n: int, b: int, at_node: bool) -> None:
        s = self.s
        strong = at_node ^ (s.kind[n] == J1)
        if strong:
            if self.given[n]:
                # a second flow into a J1: two velocities meet here; two efforts at a J0 are no matter of flows
                if self._blocked < 0 and (s.kind[n] == J1 if self.flows else True):
                    self._blocked = b
                    self.inserted_kind = "J0" if s.kind[n] == J1 else "J1"
                return
            self._give(n, "junction", (b,))
        elif not self.given[n] and (self.flows if s.kind[n] == J1 else self.efforts):
            left = [h for h in s.halves[n] if self.stroke[h >> 1] < 0]
            known = [h for h in s.halves[n] if self.stroke[h >> 1] >= 0]
            if any((self.stroke[h >> 1] == (h & 1)) ^ (s.kind[n] == J1) for h in known):
                return  # what is common there is on its way
            if len(left) == 1:
                self._set(left[0] >> 1, (left[0] & 1) ^ (s.kind[n] == J1), "junction", n, tuple(h >> 1 for h in known))

    def _side(self, w: Wish) -> int:
        """A resistance that can be turned gives what the junctions there have in common: it leaves no constraint."""
        if w.rank != RESISTIVE:
            return w.side
        half = 2 * w.bond if self.s.node[2 * w.bond] == w.element else 2 * w.bond + 1
        gives_effort = self.flows or (not self.efforts and self.s.kind[self.s.node[half ^ 1]] == J0)
        return (half & 1) ^ gives_effort

    def _passive(self) -> tuple[str, ...]:
        return ("C", "R") if self.flows else ("I", "R") if self.efforts else ("R",)

    def _choose(self) -> bool:
        """Step 4: one more decision, where the fewest bonds are open.  False when there is nothing left to decide."""
        s = self.s
        while self.strong:
            node, other = self.strong.pop(0)
            left = [h for h in s.halves[node] if self.stroke[h >> 1] < 0 and other in (-1, s.node[h ^ 1])]
            if left and not self.given[node]:
                self._set(left[0] >> 1, (left[0] & 1) ^ (s.kind[node] == J1), "arbitrary", node, ())
                return True
        for w in s.wishes:
            # what is no inertia keeps its own direction: a spring or a resistance then never asks for a rate
            port = s.graph.elements[w.element].ports[w.port].kind if w.element >= 0 else ""
            if self.stroke[w.bond] < 0 and port in self._passive():
                self._set(w.bond, self._side(w), "preferred", w.element, ())
                return True
        best: tuple[int, int] | None = None
        for n, kind in enumerate(s.kind):
            if kind in (J0, J1) and not self.given[n]:
                count = sum(self.stroke[h >> 1] < 0 for h in s.halves[n])
                order = kind if not self.efforts else J1 - kind
                if count and (best is None or (count, order) < best):
                    best = (count, order)
                    at = n
        if best is None:
            bond = next((b for b in range(s.bonds) if self.stroke[b] < 0), -1)
            if bond >= 0:
                wish = next((w for w in s.wishes if w.bond == bond), None)
                self._set(bond, 1 if wish is None else wish.side, "arbitrary", -1, ())
            return bond >= 0
        half = next(h for h in s.halves[at] if self.stroke[h >> 1] < 0)
        self._set(half >> 1, (half & 1) ^ (s.kind[at] == J1), "arbitrary", at, ())
        return True


def put_junction(graph: BondGraph, bond: int, name: str, kind: Kind) -> BondGraph:
    """The graph with a junction in the middle of a bond: tail -> junction -> head."""
    old = graph.bonds[bond]
    taken = {e.name for e in graph.elements}
    while name in taken:
        name = f"{name[:-1]}:'"
    number = len(graph.elements)
    port = Port("", "", old.domain)
    made = Element(
        id=number, name=name, kind=kind, ports=(port, port), laws=(), modulus=None, energy=None, symbolic=False,
        prefer=False, type_name=kind, description="where two velocities meet", span=old.span,
    )  # fmt: skip
    # the end whose sign may turn stays with the half that keeps the names
    first = replace(old, head=End(number, 0), names=(), stroke=None)
    second = Bond(len(graph.bonds), End(number, 1), old.head, old.names, None, old.domain, old.span)
    bonds = (*graph.bonds[:bond], first, *graph.bonds[bond + 1 :], second)
    return replace(graph, elements=(*graph.elements, made), bonds=bonds)


def default_coordinates(graph: BondGraph) -> list[str]:
    """Velocities for a user who names none: the 1-junctions whose displacements the model reads, else those with an
    independent inertia; then those of all inertias that these do not determine.

    A model without any inertia moves in the dual way: 0-junctions and its compliances take these parts."""
    return _defaults(graph, "C" if not beside_storages(graph, "I") and _has(graph, "C") else "I")


def _has(graph: BondGraph, kind: Storage) -> bool:
    return any(port.kind == kind for e in graph.elements for port in e.ports)


def _defaults(graph: BondGraph, kind: Storage) -> list[str]:
    names = beside_storages(graph, kind)
    chosen = _read_positions(graph, BESIDE[kind]) or _independent(graph, names)
    for _ in range(len(graph.elements)):
        if not chosen:
            break
        left = assign_lagrange(graph, chosen).undetermined
        # all of them at once: they are independent of each other
        more = [names[key] for key in left if key in names and names[key] not in chosen]
        if not more:
            break
        chosen += dict.fromkeys(more)
    return chosen


def beside_storages(graph: BondGraph, kind: Storage) -> dict[PortKey, str]:
    """Every port of an inertia (compliance) with its 1-junction (0-junction), else with the element itself if it has no
    other port."""
    found: dict[PortKey, str] = {}
    for bond in graph.bonds:
        for end, other in ((bond.tail, bond.head), (bond.head, bond.tail)):
            element, neighbour = graph.elements[end.element], graph.elements[other.element]
            if element.kind not in (kind, "field") or element.ports[end.port].kind != kind:
                continue
            if neighbour.kind == BESIDE[kind]:
                found[element.id, end.port] = neighbour.name
            elif element.kind == kind:
                found[element.id, end.port] = element.name
    return found


def _read_positions(graph: BondGraph, kind: Kind) -> list[str]:
    letter = "f" if kind == "J1" else "e"
    junctions = {f"{e.name}.{letter}": e.name for e in graph.elements if e.kind == kind}
    read = [
        junctions[eq.right[1]]
        for eq in graph.equations
        if isinstance(eq.left, tuple) and eq.left[0] == "der"
        if isinstance(eq.right, tuple) and eq.right[0] == "v" and eq.right[1] in junctions
    ]
    return list(dict.fromkeys(read))


def _independent(graph: BondGraph, names: dict[PortKey, str]) -> list[str]:
    s = build_structure(graph)
    stroke = assign_strokes(s).strokes.stroke
    found: dict[str, None] = {}
    for w in s.storages:
        key = w.element, w.port
        if w.rank in (KEPT, STORAGE) and key in names and stroke[w.bond] == w.side:
            found[names[key]] = None
    return list(found)
