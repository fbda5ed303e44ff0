"""Where propagation ran into a contradiction: the best assignment of a part of the graph, by matching.

Only junction structures with rings need this.  `solve_part` gives strokes that respect every demand, and of those the
ones that fulfil the wishes in their order; or says which demands and rules cannot hold together.
"""

from collections.abc import Iterable

from bglang.causality.links import Vertices, build_vertices, side_of_claim
from bglang.causality.match import Matching
from bglang.causality.structure import Structure
from bglang.records import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """Strokes that claim the junctions of a part, and the junctions and bonds that no assignment can satisfy."""

    claims: tuple[tuple[int, int], ...]
    """(bond, side)"""
    unclaimed: tuple[int, ...]
    stuck: tuple[int, ...]
    """Bonds whose demand or rule is left over."""


def connected_parts(s: Structure) -> list[int]:
    """For every node the number of the connected part it belongs to."""
    part = [-1] * len(s.kind)
    count = 0
    for root in range(len(part)):
        if part[root] >= 0:
            continue
        part[root] = count
        stack = [root]
        while stack:
            n = stack.pop()
            for half in s.halves[n]:
                m = s.node[half ^ 1]
                if part[m] < 0:
                    part[m] = count
                    stack.append(m)
        count += 1
    return part


def solve_part(s: Structure, nodes: Iterable[int]) -> Part:
    vertices = build_vertices(s, nodes)
    return read_matching(s, vertices, best_matching(vertices))


def best_matching(vertices: Vertices) -> Matching:
    matching = Matching(vertices.neighbours)
    matching.start_greedily(vertices.hard)
    for v in vertices.hard:
        matching.cover(v)
    for v in vertices.soft:
        matching.cover(v)
    return matching


def read_matching(s: Structure, vertices: Vertices, matching: Matching) -> Part:
    """Strokes from a matching."""
    claims: list[tuple[int, int]] = []
    unclaimed: list[int] = []
    for n, v in vertices.junction.items():
        m = matching.mate[v]
        if m < 0:
            unclaimed.append(n)
            continue
        link = vertices.links[vertices.owner[m][1]]
        # the vertex of an exclusive link stands beside both junctions: its owner names the first
        at_far = s.node[link.halves[0]] != n or (s.node[link.far] == n and vertices.owner[m][0] != n)
        claims.append(side_of_claim(s, link, n, at_far=at_far))
    stuck = {
        vertices.links[vertices.owner[v][1]].halves[0] >> 1
        for v in vertices.hard
        if matching.mate[v] < 0 and vertices.owner[v][1] >= 0
    }
    return Part(tuple(claims), tuple(unclaimed), tuple(sorted(stuck)))
