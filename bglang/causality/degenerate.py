"""Junction structures whose rings are singular although every junction has its claim.

A ring of junctions has a loop gain.  Where it is one, efforts or flows of the ring are not determined by its claims,
and another assignment must be found; sometimes there is none, and then something in the ring is left open for good.
The structure's equations form a skew-symmetric matrix with one row and column for every vertex of the matching problem
(`links`); the first columns that are independent of those before them, in order of importance, are what can be
covered.
"""

from collections.abc import Sequence

from bglang.causality.gains import arrow, cross, cross_two_port
from bglang.causality.links import Link, Vertices, build_vertices
from bglang.causality.loops import strong_components
from bglang.causality.match import Matching
from bglang.causality.modular import PRIME, Column, Residues, column_basis, inverse
from bglang.causality.repair import read_matching
from bglang.causality.signals import Signals
from bglang.causality.structure import J0, Structure
from bglang.records import dataclass


@dataclass(frozen=True, slots=True)
class Undetermined:
    """Junctions whose common variable, and links whose other variable, no equation determines."""

    junctions: tuple[int, ...]
    bonds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RegularPart:
    """A part solved so that its equations are regular, and what stays open."""

    claims: tuple[tuple[int, int], ...]
    open: tuple[Undetermined, ...]


def junction_loops(signals: Signals) -> list[list[int]]:
    """Closed causal paths inside the junction structure, as sets of signals."""
    s, stroke, inside = signals.s, signals.stroke, set(signals.s.rings)
    bonds = [b for b in range(s.bonds) if stroke[b] >= 0 and s.node[2 * b] in inside and s.node[2 * b + 1] in inside]
    allowed = {x for b in bonds for x in (2 * b, 2 * b + 1)}

    def following(signal: int) -> list[int]:
        return [x for x in signals.following(signal) if x in allowed]

    return strong_components(sorted(allowed), following)


def is_singular(signals: Signals, loop: Sequence[int], values: Residues) -> bool:
    """Is the loop gain one (the matrix of the loop's equations singular)?"""
    place = {x: k for k, x in enumerate(loop)}
    columns: list[Column] = []
    for x in loop:
        column: Column = {place[x]: 1}
        into = signals.receiver(x)
        for y in signals.following(x):
            if y in place:
                gain = cross(signals.s, into, signals.receiver(y) ^ 1, x & 1).residue(values)
                column[place[y]] = (column.get(place[y], 0) - gain) % PRIME
        columns.append({r: v for r, v in column.items() if v})
    chosen, _ = column_basis(columns)
    return not all(chosen)


def solve_regular(s: Structure, nodes: Sequence[int], values: Residues) -> RegularPart:
    """The best assignment of a part whose equations are regular as they stand."""
    vertices = build_vertices(s, nodes)
    columns = _matrix(s, vertices, values)
    order = [*vertices.hard, *vertices.soft, *vertices.free]
    chosen, dependences = column_basis([columns[v] for v in order])
    covered = {v for v, yes in zip(order, chosen, strict=True) if yes}
    kept = [[w for w in near if w in covered] if v in covered else [] for v, near in enumerate(vertices.neighbours)]
    matching = Matching(kept)
    matching.start_greedily([v for v in order if v in covered])
    for v in order:
        if v in covered:
            matching.cover(v)
    hard = len(vertices.hard)
    left_open = [
        _undetermined(vertices, [order[i] for i in made]) for k, made in sorted(dependences.items()) if k < hard
    ]
    return RegularPart(read_matching(s, vertices, matching).claims, tuple(left_open))


def _undetermined(vertices: Vertices, members: list[int]) -> Undetermined:
    junction_of = {v: n for n, v in vertices.junction.items()}
    junctions = sorted(junction_of[v] for v in members if v in junction_of)
    bonds = sorted(
        {h >> 1 for v in members if v not in junction_of for h in vertices.links[vertices.owner[v][1]].halves}
    )
    return Undetermined(tuple(junctions), tuple(bonds))


def _matrix(s: Structure, vertices: Vertices, values: Residues) -> list[Column]:
    """Columns of the skew-symmetric matrix of the part."""
    columns: list[Column] = [{} for _ in vertices.neighbours]

    def enter(row: int, column: int, value: int) -> None:
        columns[column][row] = (columns[column].get(row, 0) + value) % PRIME
        columns[row][column] = (columns[row].get(column, 0) - value) % PRIME

    for one, two in vertices.others:
        enter(two, one, 1)
    exclusive = {v for v, _ in vertices.fars}
    for v, number in vertices.starts:
        link = vertices.links[number]
        value = arrow(link.halves[0])
        if v not in exclusive:
            value *= _link_gain(s, link, values)
        enter(vertices.junction[s.node[link.halves[0]]], v, value)
    for v, number in vertices.fars:
        link = vertices.links[number]
        value = arrow(link.far) * inverse(_link_gain(s, link, values))
        enter(vertices.junction[s.node[link.far]], v, value)
    return [{r: x for r, x in column.items() if x} for column in columns]


def _link_gain(s: Structure, link: Link, values: Residues) -> int:
    """The factor from the variable at the far end of the link to the one that its first junction sums up."""
    letter = int(s.kind[s.node[link.halves[0]]] == J0)  # a J0 sums up flows
    gain = 1
    for i in range(len(link.halves) - 1, 0, -1):
        into, out = link.halves[i], link.halves[i - 1] ^ 1
        gain = gain * cross_two_port(s, into, out, letter ^ link.turns[i]).residue(values) % PRIME
    return gain
