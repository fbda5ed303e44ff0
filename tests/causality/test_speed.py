"""Cost grows with the model and not faster."""

import time

import pytest
from build import Build

from bglang.causality.assign import assign_causality
from bglang.graph.ir import BondGraph


def ladder(sections: int) -> BondGraph:
    g = Build("Ladder")
    g.se("E")
    before = "E"
    for k in range(sections):
        g.j1(f"i{k}")
        g.i(f"l{k}")
        g.r(f"r{k}")
        g.j0(f"u{k}")
        g.c(f"c{k}")
        g.bond(before, f"i{k}")
        g.bond(f"i{k}", f"l{k}", f"r{k}", f"u{k}")
        g.bond(f"u{k}", f"c{k}")
        before = f"u{k}"
    return g.graph()


def rigid_chain(sections: int) -> BondGraph:
    """Every mass but the first is dependent."""
    g = Build("Rigid")
    for k in range(sections):
        g.j1(f"v{k}")
        g.i(f"m{k}")
        g.bond(f"v{k}", f"m{k}")
        if k:
            g.tf(f"t{k}", 2.0)
            g.chain(f"v{k - 1}", f"t{k}", f"v{k}")
    return g.graph()


def resistors(sections: int) -> BondGraph:
    """One algebraic loop through everything."""
    g = Build("Resistors")
    g.se("E")
    before = "E"
    for k in range(sections):
        g.j1(f"i{k}")
        g.r(f"r{k}")
        g.j0(f"u{k}")
        g.r(f"s{k}")
        g.chain(before, f"i{k}", f"u{k}", f"s{k}")
        g.bond(f"i{k}", f"r{k}")
        before = f"u{k}"
    return g.graph()


def mesh(side: int) -> BondGraph:
    """A square of compliances joined by inertias: rings everywhere."""
    g = Build("Mesh")
    for i in range(side):
        for j in range(side):
            g.j0(f"u{i}_{j}")
            g.c(f"c{i}_{j}")
            g.bond(f"u{i}_{j}", f"c{i}_{j}")
    for i in range(side):
        for j in range(side):
            for a, b in ((i + 1, j), (i, j + 1)):
                if a < side and b < side:
                    name = f"{i}_{j}_{a}_{b}"
                    g.j1(f"i{name}")
                    g.i(f"l{name}")
                    g.chain(f"u{i}_{j}", f"i{name}", f"u{a}_{b}")
                    g.bond(f"i{name}", f"l{name}")
    return g.graph()


def seconds(graph: BondGraph) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        assign_causality(graph)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("build", [ladder, rigid_chain, resistors], ids=["ladder", "rigid chain", "resistors"])
def test_four_times_the_model_takes_about_four_times_as_long(build: object) -> None:
    small, large = seconds(build(500)), seconds(build(2000))  # type: ignore[operator]
    assert large < 7 * small  # 4 is linear, 16 quadratic; the machine may be busy


def test_a_long_ladder_has_all_its_states() -> None:
    found = assign_causality(ladder(10_000))
    assert len(found.independent) == 20_000
    assert not found.dependent


def test_a_mesh_needs_no_elimination() -> None:
    found = assign_causality(mesh(20))
    assert len(found.independent) == 400 + 2 * 20 * 19
    # flows round the meshes and the sum of all charges never change
    assert found.zero_eigenvalues == (2 * 20 * 19 - (400 - 1)) + 1
