"""Random bond graphs: the rules hold, and the order is what the determinant of all equations says."""

import random
from contextlib import suppress
from dataclasses import replace

import pytest
from build import Build
from looking import check_rules
from random_graphs import order_and_zeros, random_build

from bglang.causality.assign import assign_causality
from bglang.causality.explain import explain, table, to_json
from bglang.causality.result import Causality
from bglang.diagnostics import Report, UsageError
from bglang.graph.ir import BondGraph

COUNT = 600


def assigned(graph: BondGraph) -> Causality:
    causality = assign_causality(graph, report=Report())
    check_rules(graph, causality)
    return causality


@pytest.mark.parametrize("unit", [True, False], ids=["unit moduli", "other moduli"])
@pytest.mark.parametrize("rings", [0, 4], ids=["trees", "rings"])
def test_order_and_zero_eigenvalues_are_those_of_the_determinant(unit: bool, rings: int) -> None:
    regular = 0
    for seed in range(COUNT // 4):
        graph = random_build(seed, junctions=8, rings=rings, unit=unit).graph()
        causality = assigned(graph)
        wanted = order_and_zeros(graph)
        if wanted is None:
            assert causality.conflicts, seed
        else:
            regular += 1
            assert not causality.conflicts, seed
            assert (len(causality.independent), causality.zero_eigenvalues) == wanted, seed
    assert regular > COUNT // 16


def test_nothing_goes_wrong_inside() -> None:
    for seed in range(COUNT):
        graph = random_build(10_000 + seed, junctions=14, rings=6, unit=seed % 2 == 0).graph()
        causality = assigned(graph)
        assert table(graph, causality).startswith(graph.name)
        to_json(graph, causality)
        explain(graph, causality, graph.elements[seed % len(graph.elements)].name)
        for procedure in ("mscap", "lcap"):
            assign_causality(graph, procedure=procedure)
        with suppress(UsageError):  # velocities chosen by default may contradict the sources of such a graph
            assign_causality(graph, procedure="lambda")


def permuted(graph: BondGraph, rnd: random.Random) -> BondGraph:
    """The same graph with its bonds in another order."""
    order = rnd.sample(range(len(graph.bonds)), len(graph.bonds))
    port: dict[int, int] = {}
    bonds = []
    for k, b in enumerate(order):
        ends = []
        for end in (graph.bonds[b].tail, graph.bonds[b].head):
            if graph.elements[end.element].kind in ("J0", "J1"):
                end = replace(end, port=port.setdefault(end.element, 0))
                port[end.element] += 1
            ends.append(end)
        bonds.append(replace(graph.bonds[b], id=k, tail=ends[0], head=ends[1]))
    return replace(graph, bonds=tuple(bonds))


def test_the_order_of_bonds_does_not_matter() -> None:
    rnd = random.Random(5)
    for seed in range(COUNT // 4):
        graph = random_build(20_000 + seed, junctions=8, rings=3).graph()
        first, second = assigned(graph), assigned(permuted(graph, rnd))
        if not first.conflicts:
            assert first.independent == second.independent, seed
            assert [d.port for d in first.dependent] == [d.port for d in second.dependent], seed


def test_another_order_of_declarations_gives_as_many_states() -> None:
    for seed in range(COUNT // 8):
        g = random_build(30_000 + seed, junctions=8, rings=3)
        first = assigned(g.graph())
        turned = Build(g.name)
        turned.__dict__.update(g.__dict__)
        turned._nodes = dict(reversed(g._nodes.items()))
        second = assigned(turned.graph())
        assert len(first.independent) == len(second.independent) or first.conflicts, seed
        assert first.zero_eigenvalues == second.zero_eigenvalues, seed


def test_twice_the_same() -> None:
    graph = random_build(77, junctions=30, rings=8).graph()
    first, second = assigned(graph), assigned(graph)
    assert (first.strokes, first.reasons, first.loops) == (second.strokes, second.reasons, second.loops)
