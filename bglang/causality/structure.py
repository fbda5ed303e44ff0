"""The graph as causality sees it: numbers in lists, and what every port wishes.

Half h = 2*bond + side is one end of a bond; side 0 is the tail, 1 the head.  A stroke is a side: the end that receives
the effort.  A bond *claims* a junction when it sets the junction's common variable: with the stroke at a J0, with the
stroke away from a J1.  Every junction is claimed by exactly one bond; a TF has the stroke at itself on exactly one
bond, a GY on both or on none.
"""

from collections.abc import Sequence

from bglang.causality.modular import Residues
from bglang.diagnostics import UsageError
from bglang.expr import Expr, leaves, map_leaves
from bglang.expr.invert import solvable
from bglang.graph.ir import BondGraph, Element, Law
from bglang.records import dataclass

J0, J1, TF, GY, OTHER = range(5)
KINDS = {"J0": J0, "J1": J1, "TF": TF, "GY": GY}

SOURCE, FIXED, LOCKED, KEPT, STORAGE, NONINVERTIBLE, RESISTIVE = range(7)
"""Ranks of wishes: the lower the stronger.  The first three are demands."""

HARD = LOCKED


@dataclass(slots=True)
class Wish:
    """A port that wants the stroke of its bond at `side`: at itself when it wants to receive the effort."""

    rank: int
    bond: int
    side: int
    element: int
    port: int


@dataclass(slots=True)
class Structure:
    """Lists indexed by node (element number) or half.  `halves[node]` are the bond ends at a node, in port order."""

    graph: BondGraph
    kind: list[int]
    node: list[int]
    halves: list[list[int]]
    wishes: list[Wish]
    storages: list[Wish]
    modulated: list[int]
    """TF and GY whose modulus varies in time."""

    port_half: dict[tuple[int, int], int]
    """The bond end at a port of an element that is no junction."""
    rings: list[int]
    """Nodes of the junction structure that lie on rings, or between them."""

    @property
    def bonds(self) -> int:
        return len(self.node) // 2


def build_structure(graph: BondGraph, keep: Sequence[str] = ()) -> Structure:
    """Numbers for the graph; wishes stand in order of rank, then of declaration."""
    node: list[int] = []
    halves: list[list[int]] = [[] for _ in graph.elements]
    port_half: dict[tuple[int, int], int] = {}
    kind = [KINDS.get(e.kind, OTHER) for e in graph.elements]
    half = 0
    for bond in graph.bonds:
        for end in (bond.tail, bond.head):
            n = end.element
            node.append(n)
            halves[n].append(half)
            if kind[n] > J1:
                port_half[n, end.port] = half
            half += 1
    for n, k in enumerate(kind):
        if k in (TF, GY):
            halves[n] = [port_half[n, p] for p in (0, 1) if (n, p) in port_half]
    wishes = _Laws(graph).wishes(port_half, _kept(graph, keep))
    wishes.extend(_locks(graph))
    wishes.sort(key=lambda w: w.rank)
    storages = [w for w in wishes if w.rank in (KEPT, STORAGE)]
    modulated = [
        n for n, k in enumerate(kind) if k in (TF, GY) and len(halves[n]) == 2 and varies(graph.elements[n].modulus)
    ]
    return Structure(graph, kind, node, halves, wishes, storages, modulated, port_half, _ring_nodes(kind, node, halves))


def _ring_nodes(kind: list[int], node: list[int], halves: list[list[int]]) -> list[int]:
    """What is left of the junction structure when ends are pulled off again and again."""
    inner = [k != OTHER for k in kind]
    degree = [0] * len(kind)
    for one, two in zip(node[::2], node[1::2], strict=True):
        if inner[one] and inner[two]:
            degree[one] += 1
            degree[two] += 1
    queue = [n for n, d in enumerate(degree) if d <= 1 and inner[n]]
    while queue:
        n = queue.pop()
        if not inner[n]:
            continue
        inner[n] = False
        for half in halves[n]:
            m = node[half ^ 1]
            if inner[m]:
                degree[m] -= 1
                if degree[m] == 1:
                    queue.append(m)
    return [n for n, yes in enumerate(inner) if yes]


def varies(value: Expr | None) -> bool:
    """Does the value change during a run?"""
    return value is not None and any(leaf[0] in ("v", "t") for leaf in leaves(value))


def _kept(graph: BondGraph, keep: Sequence[str]) -> dict[tuple[int, int], None]:
    """The storage ports that the user wants independent: `--keep` in the order given, then `prefer` in the source."""
    names: dict[str, list[tuple[int, int]]] = {}
    if keep:
        for e in graph.elements:
            for p, port in enumerate(e.ports):
                if port.kind in ("C", "I"):
                    names.setdefault(e.name, []).append((e.id, p))
                    if port.name:
                        names.setdefault(f"{e.name}.{port.name}", []).append((e.id, p))
    kept: dict[tuple[int, int], None] = {}
    for name in keep:
        if name not in names:
            raise UsageError(f"keep: the model has no storage named `{name}`")
        kept.update(dict.fromkeys(names[name]))
    for e in graph.elements:
        if e.prefer:
            kept.update(dict.fromkeys((e.id, p) for p, port in enumerate(e.ports) if port.kind in ("C", "I")))
    return kept


class _Laws:
    """What the laws want.  Laws of one shape are looked at once."""

    def __init__(self, graph: BondGraph) -> None:
        self.graph = graph
        self._known: dict[object, tuple[int, bool] | None] = {}
        self._given = {p.name: p.value for p in graph.parameters}
        self._values = Residues(self._given)

    def wishes(self, port_half: dict[tuple[int, int], int], kept: dict[tuple[int, int], None]) -> list[Wish]:
        """In declaration order, behind those of the kept storages, which have an order of their own."""
        made: list[Wish] = []
        early: dict[tuple[int, int], Wish] = {}
        for e in self.graph.elements:
            for p in range(len(e.ports) if e.kind not in ("J0", "J1") else 0):
                half = port_half.get((e.id, p))
                wanted = self._wanted(e, p) if half is not None else None
                if wanted is None or half is None:
                    continue
                rank, effort_out = wanted
                side = (half & 1) ^ effort_out
                if (e.id, p) in kept and rank == STORAGE:
                    early[e.id, p] = Wish(KEPT, half >> 1, side, e.id, p)
                else:
                    made.append(Wish(rank, half >> 1, side, e.id, p))
        return [early[key] for key in kept if key in early] + made

    def _wanted(self, e: Element, port: int) -> tuple[int, bool] | None:
        """Rank, and whether the port gives the effort.  None: the port takes what comes."""
        kind = e.ports[port].kind
        if e.kind in ("Se", "Sf"):
            return SOURCE, e.kind == "Se"
        if e.kind in ("TF", "GY"):
            # with a modulus of 0 only the direction that does not divide is left
            return (FIXED, True) if port == 0 and e.modulus is not None and self._is_zero(e.modulus) else None
        if e.kind == "field":
            law = next((w for w in e.laws if w.port == port), None)
            if kind in ("C", "I"):
                return STORAGE, kind == "C"
            return None if law is None or law.gives not in ("e", "f") else (NONINVERTIBLE, law.gives == "e")
        law = e.laws[0] if e.laws else None
        vanishing = law is not None and law.gain is not None and self._is_zero(law.gain)
        if kind in ("C", "I"):
            if vanishing:
                return FIXED, kind == "I"
            return (FIXED if law is not None and _constant(e, law, kind) else STORAGE), kind == "C"
        if law is None or law.gain is not None:
            return (FIXED if vanishing else RESISTIVE), True
        key = _shape(e, law)
        if key not in self._known:
            self._known[key] = _resistive(e, law)
        return self._known[key]

    def _is_zero(self, value: Expr) -> bool:
        if isinstance(value, tuple) and value[0] == "p":
            value = self._given.get(value[1]) or value
        return self._values.value(value) == 0 if isinstance(value, tuple) else value == 0.0


def _constant(e: Element, law: Law, kind: str) -> bool:
    """A storage whose effort (C) or flow (I) is given whatever it stores: it can only give that."""
    if law.gain is not None or law.gives != ("e" if kind == "C" else "f"):
        return False
    own = ("v", e.variable(0, "q" if kind == "C" else "p"))
    return all(leaf != own for leaf in leaves(law.value))


def _shape(e: Element, law: Law) -> object:
    """Equal for laws that differ in names only, so that a thousand copies of one law are looked at once."""
    effort, flow = ("v", e.variable(0, "e")), ("v", e.variable(0, "f"))
    short = {effort: ("v", "e"), flow: ("v", "f")}
    return law.gives, map_leaves(law.value, lambda leaf: short.get(leaf, (leaf[0], "other")))


def _resistive(e: Element, law: Law) -> tuple[int, bool] | None:
    """An R prefers the direction its law is written in; one that cannot be turned round at all demands it."""
    effort, flow = ("v", e.variable(0, "e")), ("v", e.variable(0, "f"))
    if law.gives in ("e", "f"):
        gives_effort = law.gives == "e"
        how = solvable(law.value, flow if gives_effort else effort)
        return {"exact": RESISTIVE, "implicit": NONINVERTIBLE, "never": FIXED}[how], gives_effort
    by_effort, by_flow = solvable(law.value, effort), solvable(law.value, flow)
    if by_flow == "never" and by_effort != "never":
        return FIXED, True
    if by_effort == "never" and by_flow != "never":
        return FIXED, False
    if (by_effort == "exact") != (by_flow == "exact"):
        return NONINVERTIBLE, by_effort == "exact"
    return None


def _locks(graph: BondGraph) -> list[Wish]:
    """Strokes drawn in the source and ports with a causality."""
    made = [
        Wish(LOCKED, b, int(bond.stroke == "head"), -1, -1)
        for b, bond in enumerate(graph.bonds)
        if bond.stroke is not None
    ]
    locked = {(e.id, p): port.lock for e in graph.elements for p, port in enumerate(e.ports) if port.lock is not None}
    if locked:
        for b, bond in enumerate(graph.bonds):
            for side, end in enumerate((bond.tail, bond.head)):
                lock = locked.get((end.element, end.port))
                if lock is not None:
                    made.append(Wish(LOCKED, b, side if lock == "effort_in" else 1 - side, end.element, end.port))
    return made
