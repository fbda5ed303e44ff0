"""The energy audit against closed forms, outputs with their units, and constraints that need differentiation."""

import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from build import Build  # noqa: E402
from derived import Point, system_of  # noqa: E402

from bglang.diagnostics import Report, SourceError  # noqa: E402
from bglang.equations.system import AuditItem, System  # noqa: E402
from bglang.expr import var  # noqa: E402
from bglang.graph.ir import BondGraph, Domain  # noqa: E402

Q, P = var("q"), var("p")


def item(system: System, element: str, kind: str = "") -> AuditItem:
    found = [i for i in system.audit if i.element == element and kind in ("", i.kind)]
    assert len(found) == 1
    return found[0]


def test_power_is_counted_into_elements_and_out_of_sources() -> None:
    g = Build()
    g.se("push", 10.0)
    g.se("load", 4.0)
    g.j1("v")
    g.i("mass", 2.0)
    g.r("loss", 3.0)
    g.c("spring", 0.5)
    g.bond("push", "v")
    g.bond("v", "load")
    g.bond("v", "mass", "loss")
    g.bond("spring", "v")
    system = system_of(g.graph())
    point = Point(system)
    point.y.update({"mass.p": 4.0, "spring.q": 0.7})
    powers = {i.element: point(i.power) for i in system.audit}
    assert powers["push"] == pytest.approx(20.0)
    assert powers["load"] == pytest.approx(-8.0)
    assert powers["loss"] == pytest.approx(12.0)
    assert powers["push"] + powers["load"] == pytest.approx(powers["mass"] + powers["spring"] + powers["loss"])
    assert {i.element: i.kind for i in system.audit} == {
        "push": "supplied", "load": "supplied", "mass": "stored", "loss": "dissipated", "spring": "stored",
    }  # fmt: skip
    assert point(item(system, "mass").energy) == pytest.approx(4.0)
    assert point(item(system, "spring").energy) == pytest.approx(0.49)
    for name in ("push", "load", "loss", "mass", "spring"):
        assert point.output(f"{name}.power") == pytest.approx(powers[name])


def test_nonlinear_and_affine_storages() -> None:
    g = Build()
    g.sf("a", 1.0)
    g.sf("b", 1.0)
    g.c("cubic", law=("e", ("+", Q, ("^", Q, 3.0))))
    g.c("affine", law=("e", ("+", ("*", 3.0, Q), 2.0)))
    g.bond("a", "cubic")
    g.bond("b", "affine")
    system = system_of(g.graph())
    point = Point(system)
    point.y.update({"cubic.q": 2.0, "affine.q": 2.0})
    cubic = item(system, "cubic")
    assert cubic.energy is None
    assert cubic.integral is not None
    assert point(cubic.integral[0]) == 10.0
    assert system.unknowns[cubic.integral[1]].name == "cubic.q"
    assert point(item(system, "affine").energy) == pytest.approx(10.0)


def test_modulated_storage_shows_the_modulation_apart() -> None:
    g = Build()
    g.sf("i", 2.0)
    g.c("plates", law=("e", ("*", ("+", 1.0, ("*", 0.5, ("t",))), Q)))
    g.bond("i", "plates")
    system = system_of(g.graph())
    point = Point(system, t=2.0)
    point.y["plates.q"] = 3.0
    assert point(item(system, "plates", "stored").energy) == pytest.approx(9.0)
    assert point(item(system, "plates", "modulation").power) == pytest.approx(0.25 * 9)


def gap() -> Build:
    g = Build()
    energy = ("*", ("-", 2.0, var("x.q")), ("^", var("m.q"), 2.0), 0.5)
    laws = [("m", "e", ("*", ("-", 2.0, var("x.q")), var("m.q"))), ("x", "e", ("*", -0.5, ("^", var("m.q"), 2.0)))]
    g.field("gap", [("m", "C"), ("x", "C")], laws, energy=energy, starts={"m": 1.0})
    g.sf("a", 1.0)
    g.sf("b", 3.0)
    g.bond("a", "gap.m")
    g.bond("b", "gap.x")
    return g


def test_energy_fields() -> None:
    system = system_of(gap().graph())
    point = Point(system)
    point.y.update({"gap.m.q": 4.0, "gap.x.q": 0.5})
    assert point(item(system, "gap").energy) == pytest.approx(1.5 * 8)
    assert point(item(system, "gap").power) == pytest.approx(1.5 * 4 - 3 * 8)
    assert point.output("gap.m.e") == pytest.approx(6.0)
    assert point.output("gap.x.power") == pytest.approx(-24.0)
    assert {u.name: u.start for u in system.unknowns} == {"gap.m.q": 1.0, "gap.x.q": 0.0}


def test_linear_fields_have_energy_where_they_are_reciprocal() -> None:
    for k12, k21, known in ((1.0, 1.0, True), (1.0, 2.0, False)):
        g = Build()
        a = ("+", ("*", 3.0, var("a.q")), ("*", k12, var("b.q")))
        b = ("+", ("*", k21, var("a.q")), ("*", 2.0, var("b.q")))
        g.field("k", [("a", "C"), ("b", "C")], [("a", "e", a), ("b", "e", b)])
        g.sf("s", 1.0)
        g.sf("t", 3.0)
        g.bond("s", "k.a")
        g.bond("t", "k.b")
        system = system_of(g.graph())
        energy = item(system, "k").energy
        assert (energy is not None) == known
        if energy is not None:
            point = Point(system)
            point.y.update({"k.a.q": 2.0, "k.b.q": 1.0})
            assert point(energy) == pytest.approx(0.5 * (3 * 4 + 2 * 2 + 2))


def test_pseudo_domains_are_left_out_and_units_follow_domains() -> None:
    g = Build()
    g.se("hot", 10.0)
    g.j1("h")
    g.r("wall", 2.0)
    g.bond("hot", "h")
    g.bond("h", "wall")
    thermal = Domain("Heat", "K", "W", q_unit="J", pseudo=True)
    graph = g.graph()
    bonds = tuple(replace(bond, domain="Heat") for bond in graph.bonds)
    graph = replace(graph, domains=(thermal,), bonds=bonds)
    system = system_of(graph)
    assert system.audit == ()
    assert {o.name: o.unit for o in system.outputs}["wall.e"] == "K"
    assert {o.name: o.unit for o in system.outputs}["h.f"] == "W"
    electrical = replace(thermal, name="Heat", pseudo=False)
    assert len(system_of(replace(graph, domains=(electrical,))).audit) == 2


def test_named_bonds_and_multiports_have_outputs() -> None:
    g = Build()
    g.se("push", 10.0)
    g.j1("v")
    g.tf("t", 2.0)
    g.r("loss", 3.0)
    g.bond("push", "v")
    g.bond("v", "t", name="b3")
    g.bond("t", "loss")
    point = Point(system := system_of(g.graph()))
    names = [o.name for o in system.outputs]
    expected = [
        "push.e",
        "push.f",
        "push.power",
        "v.f",
        *(f"t.{p}.{x}" for p in ("p1", "p2") for x in ("e", "f", "power")),
    ]
    assert names == [*expected, "loss.e", "loss.f", "loss.power", "b3.e", "b3.f", "b3.power"]
    assert (
        point.output("b3.power")
        == point.output("loss.power")
        == point.output("t.p1.power")
        == point.output("t.p2.power")
    )
    assert point.output("loss.e") == 5.0


def test_a_constraint_between_signals_leaves_one_state() -> None:
    """0 = x + y with reaction u: y is a state, x follows, and u is what keeps them together."""
    g = Build()
    for name in "xyu":
        g.variable(name)
    g.equation(("der", var("x")), var("u"))
    g.equation(("der", var("y")), ("+", var("u"), ("*", 2.0, var("x"))))
    g.equation(0.0, ("+", var("x"), var("y")))
    system = system_of(g.graph())
    (state,) = [u.name for u in system.unknowns if u.kind == "state"]
    point = Point(system)
    point.y[state] = 3.0 if state == "x" else -3.0
    for unknown in system.unknowns:
        if unknown.kind == "algebraic":
            zero = point.residual(unknown.name)
            point.y[unknown.name] = 1.0
            point.y[unknown.name] = -zero / (point.residual(unknown.name) - zero)
    assert point.output("x") == pytest.approx(3.0)
    assert point.output("y") == pytest.approx(-3.0)
    assert point.output("u") == pytest.approx(-3.0)


def test_motion_prescribed_for_signals_is_inverse_dynamics() -> None:
    g = Build()
    for name in "xvu":
        g.variable(name)
    g.equation(("der", var("x")), var("v"))
    g.equation(("der", var("v")), var("u"))
    g.equation(0.0, ("-", var("x"), ("sin", ("t",))))
    system = system_of(g.graph())
    assert system.unknowns == ()
    assert Point(system, t=0.7).output("u") == pytest.approx(-math.sin(0.7))


def mass_on(constraint: object) -> BondGraph:
    g = Build()
    g.variable("u")
    g.se("push", var("u"))
    g.j1("v")
    g.i("mass", 2.0)
    g.r("loss", 3.0)
    g.displacement("v")
    g.bond("push", "v")
    g.bond("v", "mass", "loss")
    g.equation(0.0, constraint)
    return g.graph()


def test_an_unknown_force_that_prescribes_a_flow() -> None:
    """0 = v.f - sin(t) pins the state p; its derivative gives the force."""
    system = system_of(mass_on(("-", var("v.f"), ("sin", ("t",)))))
    names = [u.name for u in system.unknowns]
    point = Point(system, t=0.7)
    point.y.update({"mass.p": 2 * math.sin(0.7), "u": 3 * math.sin(0.7) + 2 * math.cos(0.7)})
    row = system.rows[names.index("u")]
    assert point(row.residual) == pytest.approx(0.0)
    assert row.position is not None
    assert point(row.position) == pytest.approx(0.0)
    point.y["mass.p"] += 1.0
    assert abs(point(row.position)) == pytest.approx(0.5)


def test_a_prescribed_displacement_is_differentiated_twice() -> None:
    system = system_of(mass_on(("-", var("v.q"), ("sin", ("t",)))))
    point = Point(system, t=0.7)
    point.y.update({"mass.p": 2 * math.cos(0.7), "u": 3 * math.cos(0.7) - 2 * math.sin(0.7)})
    assert all(point(row.residual) == pytest.approx(0.0) for row in system.rows if not row.differential)
    assert point.output("v.q") == pytest.approx(math.sin(0.7))


def test_a_constraint_without_reaction_is_refused_by_name() -> None:
    g = Build()
    g.variable("u")
    g.variable("w")
    g.j1("v")
    g.i("mass", 2.0)
    g.bond("v", "mass")
    g.equation(0.0, ("-", var("v.f"), ("sin", ("t",))))
    g.equation(var("w"), var("u"))
    report = Report()
    with pytest.raises(SourceError):
        system_of(g.graph(), report)
    assert report.errors[0].code == "equations/singular"
    assert "`w`" in report.errors[0].message or "`u`" in report.errors[0].message
