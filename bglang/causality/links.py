"""The junction structure as a matching problem.

A *link* runs from one junction through transformers and gyrators to another junction or to an element.  It either
claims exactly one of its two junctions, or both or none; so junctions, links and ports become vertices, claims become
edges, and a causality assignment is a matching that covers every junction and every link:

    claims one of u and v      u - y - v
    claims both or none        u - y1 - y2 - v
    port that wants to claim   p - u              covered p: it has its wish
    port that wants not to     p - x - u          x is always covered, p if it has its wish
    port without a wish        o - u
"""

from collections.abc import Iterable

from bglang.causality.structure import GY, HARD, J0, J1, OTHER, Structure, Wish
from bglang.records import dataclass, field


@dataclass(slots=True)
class Link:
    """`halves` are the ends nearer to the beginning, `far` the last end.  `turns[i]`: gyrators before bond i, mod 2."""

    halves: list[int]
    turns: list[int]
    far: int
    odd: int

    def toward_start(self, i: int, side: int) -> int:
        """With this stroke on its i-th bond: does the effort travel toward the beginning of the link?"""
        return int(side == (self.halves[i] & 1)) ^ self.turns[i]

    def first_side(self, toward: int) -> int:
        half = self.halves[0]
        return (half & 1) if toward else 1 - (half & 1)


@dataclass(slots=True)
class Vertices:
    """The matching problem.  `hard` vertices must be covered, `soft` ones should, in this order."""

    links: list[Link] = field(default_factory=list[Link])
    neighbours: list[list[int]] = field(default_factory=list[list[int]])
    junction: dict[int, int] = field(default_factory=dict[int, int])
    """Vertex of a junction."""
    hard: list[int] = field(default_factory=list[int])
    soft: list[int] = field(default_factory=list[int])
    free: list[int] = field(default_factory=list[int])
    owner: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """(junction, link) of the claim that a vertex beside a junction makes; (-1, link) for the other vertices."""

    starts: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """(vertex, link) where the beginning of a link between junctions meets its junction."""
    fars: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """The same at the far ends."""
    others: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """All other edges."""

    def add(self, junction: int, link: int, *beside: int) -> int:
        v = len(self.neighbours)
        self.neighbours.append(list(beside))
        for w in beside:
            self.neighbours[w].append(v)
        self.owner.append((junction, link))
        return v

    def add_port(self, junction: int, link: int, beside: int) -> int:
        v = self.add(junction, link, beside)
        self.others.append((v, beside))
        return v


def trace_link(s: Structure, half: int) -> Link:
    """Follows the bond of this end until a junction or an element."""
    halves, turns, odd = [half], [0], 0
    while True:
        far = half ^ 1
        n = s.node[far]
        if s.kind[n] in (J0, J1, OTHER) or len(s.halves[n]) != 2:
            return Link(halves, turns, far, odd)
        odd ^= s.kind[n] == GY
        pair = s.halves[n]
        half = pair[0] if pair[1] == far else pair[1]
        halves.append(half)
        turns.append(odd)


def build_vertices(s: Structure, nodes: Iterable[int]) -> Vertices:
    """The matching problem of the junctions among `nodes`, which must be a connected part of the graph."""
    made = Vertices()
    junctions = [n for n in nodes if s.kind[n] in (J0, J1)]
    for n in junctions:
        made.junction[n] = made.add(n, -1)
    made.hard.extend(made.junction.values())
    order = {id(w): k for k, w in enumerate(s.wishes)}
    by_bond: dict[int, list[Wish]] = {}
    for w in s.wishes:
        by_bond.setdefault(w.bond, []).append(w)
    soft: list[tuple[int, int]] = []
    for n in junctions:
        for half in s.halves[n]:
            link = trace_link(s, half)
            if s.kind[s.node[link.far]] in (J0, J1) and link.far < half:
                continue  # met from its other end
            number = len(made.links)
            made.links.append(link)
            rank = _add_link(s, made, number, by_bond)
            if rank is not None:
                soft.append((order[id(rank[0])], rank[1]))
    made.soft.extend(v for _, v in sorted(soft))
    return made


def _add_link(s: Structure, made: Vertices, number: int, by_bond: dict[int, list[Wish]]) -> tuple[Wish, int] | None:
    """Vertices and edges of one link; the wish and vertex of its port, if it has one that is not a demand."""
    link = made.links[number]
    u, v = s.node[link.halves[0]], s.node[link.far]
    u_kind = int(s.kind[u] == J1)
    wishes = [(w, link.toward_start(i, w.side)) for i, h in enumerate(link.halves) for w in by_bond.get(h >> 1, ())]
    demand = next((toward for w, toward in wishes if w.rank <= HARD), None)
    if s.kind[v] in (J0, J1):
        v_kind = int(s.kind[v] == J1)
        _add_inner(made, number, (u, u_kind), (v, v_kind), demand)
        return None
    if demand is not None:
        if demand ^ u_kind:
            made.hard.append(made.add_port(u, number, made.junction[u]))
        return None
    if not wishes:
        made.free.append(made.add_port(u, number, made.junction[u]))
        return None
    wish, toward = min(wishes, key=lambda pair: pair[0].rank)
    if toward ^ u_kind:
        return wish, made.add_port(u, number, made.junction[u])
    x = made.add_port(u, number, made.junction[u])
    made.hard.append(x)
    return wish, made.add_port(-1, number, x)


def _add_inner(made: Vertices, number: int, one: tuple[int, int], two: tuple[int, int], demand: int | None) -> None:
    """A link between two junctions, each with its kind (1 for a J1)."""
    (u, u_kind), (v, v_kind) = one, two
    exclusive = 1 ^ made.links[number].odd ^ u_kind ^ v_kind  # else it claims both or none
    if demand is not None:
        u_claimed = demand ^ u_kind
        if u_claimed:
            made.hard.append(made.add_port(u, number, made.junction[u]))
        if u_claimed ^ exclusive:
            made.hard.append(made.add_port(v, number, made.junction[v]))
        return
    first = made.add(u, number, made.junction[u])
    made.starts.append((first, number))
    made.hard.append(first)
    if exclusive:
        w = made.junction[v]
        made.neighbours[first].append(w)
        made.neighbours[w].append(first)
        made.fars.append((first, number))
    else:
        second = made.add(v, number, made.junction[v], first)
        made.hard.append(second)
        made.others += ((second, made.junction[v]), (second, first))


def side_of_claim(s: Structure, link: Link, junction: int, *, at_far: bool) -> tuple[int, int]:
    """Bond and stroke with which the link claims the junction at its beginning (or at its far end)."""
    half = link.far if at_far else link.halves[0]
    return half >> 1, (half & 1) ^ int(s.kind[junction] == J1)
