"""Dynamic augmentation: where elements are inserted, how stiff, how they start, and that the motion stays."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path[:0] = [str(Path(__file__).parent)]

from reducing import EXAMPLES, column, difference, lasting, random_graph, run, sound  # noqa: E402

import bglang  # noqa: E402
from bglang.causality.assign import assign_causality  # noqa: E402
from bglang.diagnostics import Report  # noqa: E402
from bglang.graph.ir import BondGraph  # noqa: E402
from bglang.reduce.augment import Stiff, augment  # noqa: E402
from bglang.reduce.forms import PreparedAugmented, compare_forms, deviation  # noqa: E402
from bglang.reduce.loops import break_loops  # noqa: E402
from bglang.reduce.write import write_source  # noqa: E402
from bglang.solve.problem import Options  # noqa: E402

DEPENDENT = ["gyrator_field", "lever", "robot_arm", "roller_coaster", "split_path", "two_masses"]


def load(name: str) -> BondGraph:
    return bglang.load(EXAMPLES / f"{name}.bg").graph


def bonded(graph: BondGraph, name: str) -> set[str]:
    """The nodes that a node is bonded to."""
    number = next(e.id for e in graph.elements if e.name == name)
    found = set[str]()
    for bond in graph.bonds:
        ends = (bond.tail.element, bond.head.element)
        if number in ends:
            found |= {graph.elements[k].name for k in ends if k != number}
    return found


@pytest.mark.parametrize("name", DEPENDENT)
def test_examples_keep_their_trajectories(name: str) -> None:
    graph = load(name)
    made = augment(graph)
    assert not assign_causality(made.graph).dependent
    exact, stiff = run(graph), run(made.graph)
    assert deviation(exact, stiff) < 1e-4
    written = bglang.loads(write_source(made.graph, "Augmented.", ()))
    assert deviation(stiff, written.simulate(tol=1e-9, points=21)) < 1e-6


def test_one_spring_where_the_track_meets_the_car() -> None:
    made = augment(load("roller_coaster"), Stiff(damping=0))
    assert [i.name for i in made.insertions] == ["iy_spring"]
    assert bonded(made.graph, "iy_spring_joint") == {"track", "vy", "iy_spring"}


def test_two_springs_at_the_joint_of_the_arm() -> None:
    made = augment(load("robot_arm"), Stiff(damping=0))
    assert [(i.name, bonded(made.graph, i.name)) for i in made.insertions] == [
        ("mx_spring", {"fx"}),
        ("my_spring", {"fy"}),
    ]


def test_given_stiffness_holds_for_every_spring_and_none_is_stretched_at_the_start() -> None:
    made = augment(load("robot_arm"), Stiff(stiffness=1e7, damping=3.0))
    assert [i.size for i in made.insertions] == [1e-7, 1e-7]
    values = {p.name: p.value for p in made.graph.parameters}
    assert values["mx_spring_damper.R"] == values["my_spring_damper.R"] == 3.0
    result = run(made.graph)
    assert result["mx_spring.q"][0] == result["my_spring.q"][0] == 0.0


def test_formerly_dependent_storages_start_with_the_others() -> None:
    graph = load("robot_arm")
    exact, stiff = run(graph), run(augment(graph).graph)
    for name in ("mx.p", "my.p"):
        one, two = column(exact, name), column(stiff, name)
        assert one is not None and two is not None and two[0] == pytest.approx(one[0], abs=1e-12)


def test_stiffer_is_closer_with_the_first_power() -> None:
    graph = load("lever")
    sizes = []
    for k in (1e4, 1e6):
        prepared = PreparedAugmented(graph, Report(), Stiff(stiffness=k))
        result = prepared.run(Options(tol=1e-9))
        found = prepared.deflections(result)[0]
        assert found.estimate is not None and found.largest == pytest.approx(found.estimate, rel=0.2)
        sizes.append(found.largest)
    assert sizes[0] / sizes[1] == pytest.approx(100, rel=0.2)


def test_a_wanted_error_sets_the_stiffness() -> None:
    soft, hard = (augment(load("lever"), Stiff(error=e)).insertions[0].size for e in (1e-3, 1e-6))
    assert soft / hard == pytest.approx(1e3, rel=0.1)


@pytest.mark.parametrize("dual", ["R", "I"])
def test_capacities_that_a_source_or_each_other_hold_get_the_dual(dual: str) -> None:
    source = """model M J0 u; J1 i; Se s(e = 2); C a(C = 1), b(C = 0.5); R r(R = 1);
    bonds s -> u -> a; u -> i -> r, b; end M;"""
    graph = bglang.loads(source).graph
    made = augment(graph, Stiff(dual=dual))  # type: ignore[arg-type]
    assert [(i.held, i.kind) for i in made.insertions] == [("a", dual)]
    assert not assign_causality(made.graph).dependent
    exact, stiff = run(graph), run(made.graph)
    assert np.allclose(column(exact, "b.q"), column(stiff, "b.q"), atol=1e-4)  # type: ignore[arg-type]


def test_two_masses_on_one_junction_are_parted_at_the_second() -> None:
    made = augment(load("two_masses"), Stiff(damping=0))
    assert bonded(made.graph, "i2_spring_joint") == {"v", "i2", "i2_spring"}


@pytest.mark.parametrize("seed", [s for s in range(80) if sound(random_graph(s))][:12])
def test_random_graphs_have_no_dependent_storage_left(seed: int) -> None:
    graph = random_graph(seed)
    made = augment(graph)
    assert not assign_causality(made.graph).dependent
    assert len(made.insertions) == len(assign_causality(graph).dependent)
    in_memory = run(made.graph, tol=1e-7)
    written = bglang.loads(write_source(made.graph, "Augmented.", ())).simulate(tol=1e-7, points=21)
    assert max(difference(in_memory, written, lasting(graph)).values()) < 1e-4


def test_parasitic_storage_ends_loops_of_resistances_where_asked() -> None:
    source = """model M Se s(e = 2 + sin(time)); J1 i, m; J0 u; R r1(R = 3), r2(R = 2), r3(R = 1); I l(I = 0.5, p(start
    = 0.3)); bonds s -> i -> r1; i -> u -> r2; u -> m -> l, r3; end M;"""
    graph = bglang.loads(source).graph
    assert any(loop.kind == "resistive" for loop in assign_causality(graph).loops)
    made = break_loops(graph)
    assert made.insertions and not assign_causality(made.graph).loops
    written = bglang.loads(write_source(made.graph, "Augmented.", ())).graph
    exact = run(graph)
    for stiff in (run(made.graph), run(written)):
        assert max(difference(exact, stiff, [*lasting(graph), "u.e", "i.f"]).values()) < 1e-4


@pytest.mark.parametrize("name", DEPENDENT)
def test_all_treatments_agree(name: str) -> None:
    rows = compare_forms(bglang.load(EXAMPLES / f"{name}.bg"), Options(stop=1.0, tol=1e-8, points=51))
    assert [r.failure for r in rows] == ["", "", "", ""]
    limits = {"implicit": 1e-5, "reduce": 1e-5, "augment": 1e-4, "lambda": 1e-5}
    for row in rows:
        assert row.deviation is not None and row.deviation < limits[row.treatment], row


def test_simulate_takes_the_treatment_and_other_values() -> None:
    model = bglang.load(EXAMPLES / "lever.bg")
    exact = model.simulate(stop=2, m2=2.0)
    for dependent in ("reduce", "augment", "lambda"):
        other = model.simulate(stop=2, m2=2.0, dependent=dependent)
        assert max(difference(exact, other, lasting(model.graph)[:1]).values()) < 1e-4
