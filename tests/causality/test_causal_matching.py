"""The matching, against all matchings of small graphs."""

import random

from bglang.causality.match import Matching


def coverable(edges: list[tuple[int, int]]) -> set[frozenset[int]]:
    """The vertex sets of all matchings."""
    found = {frozenset[int]()}
    for a, b in edges:
        found |= {s | {a, b} for s in found if a not in s and b not in s}
    return found


def test_vertices_are_covered_in_order_of_importance() -> None:
    for seed in range(1500):
        rnd = random.Random(seed)
        n = rnd.randint(2, 9)
        density = rnd.choice([0.2, 0.3, 0.5])
        edges = [(a, b) for a in range(n) for b in range(a) if rnd.random() < density][:14]
        near: list[list[int]] = [[] for _ in range(n)]
        for a, b in edges:
            near[a].append(b)
            near[b].append(a)
        order = rnd.sample(range(n), n)
        matching = Matching(near)
        if seed % 2:
            matching.start_greedily(order[::-1])
        sets = coverable(edges)
        wanted: list[int] = []
        for v in order:
            if any({*wanted, v} <= s for s in sets):
                wanted.append(v)
        assert [v for v in order if matching.cover(v)] == wanted, seed
        for v in wanted:
            assert matching.mate[matching.mate[v]] == v
            assert matching.mate[v] in near[v]
