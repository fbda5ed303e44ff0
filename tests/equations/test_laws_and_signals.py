"""Nonlinear laws in both directions, signals, derivatives, and what is refused."""

import math
import random
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from build import Build  # noqa: E402
from derived import Point, system_of  # noqa: E402

import bglang  # noqa: E402
from bglang.diagnostics import Report, SourceError  # noqa: E402
from bglang.expr import var  # noqa: E402

E, F, Q = var("e"), var("f"), var("q")


def test_a_diode_is_inverted_where_flow_is_given() -> None:
    diode = ("f", ("*", 1e-9, ("-", ("exp", ("/", E, 0.025)), 1.0)))
    g = Build()
    g.sf("push", 1e-3)
    g.j1("i")
    g.r("diode", law=diode)
    g.bond("push", "i")
    g.bond("i", "diode")
    system = system_of(g.graph())
    assert system.unknowns == ()
    assert Point(system).output("diode.e") == pytest.approx(0.025 * math.log(1e6 + 1))


def test_an_implicit_law_keeps_an_unknown() -> None:
    g = Build()
    g.se("push", 8.0)
    g.r("orifice", law=("", ("-", E, ("+", ("*", 2.0, F), ("^", F, 3.0)))))
    g.bond("push", "orifice")
    system = system_of(g.graph())
    assert [(u.name, u.kind) for u in system.unknowns] == [("orifice.f", "algebraic")]
    point = Point(system)
    point.y["orifice.f"] = 1.5
    assert point.residual("orifice.f") == pytest.approx(8.0 - (3.0 + 1.5**3))


def test_dependent_nonlinear_storage() -> None:
    g = Build()
    g.j1("v", "w")
    g.i("a", 2.0)
    g.i("b", law=("f", ("+", var("p"), ("^", var("p"), 3.0))))
    g.tf("t", 3.0)
    g.bond("v", "a")
    g.bond("v", "t")
    g.bond("t", "w")
    g.bond("w", "b")
    system = system_of(g.graph())
    assert [u.kind for u in system.unknowns] == ["state", "dependent"]
    point = Point(system)
    point.y.update({"a.p": 4.0, "b.p": 1.2})
    assert abs(point.residual("b.p")) == pytest.approx(abs(1.2 + 1.2**3 - 3.0 * 2.0))
    point.d.update({"b.p": 0.7})
    assert point.rate("a.p") == pytest.approx(-3.0 * 0.7)


def test_storage_law_given_the_other_way_is_inverted() -> None:
    g = Build()
    g.sf("push", 1.0)
    g.c("tank", law=("q", ("*", 2.0, ("exp", E))))
    g.bond("push", "tank")
    point = Point(system_of(g.graph()))
    point.y["tank.q"] = 3.0
    assert point.output("tank.e") == pytest.approx(math.log(1.5))


def pendulum() -> Build:
    g = Build()
    g.se("torque", ("*", -9.81, ("sin", var("w.q"))))
    g.j1("w")
    g.i("inertia", 2.0)
    g.displacement("w", start=0.3)
    g.bond("torque", "w")
    g.bond("w", "inertia")
    return g


def test_displacements_are_states() -> None:
    system = system_of(pendulum().graph())
    point = Point(system)
    point.y.update({"w.q": 0.4, "inertia.p": 6.0})
    assert point.rate("w.q") == 3.0
    assert point.rate("inertia.p") == pytest.approx(-9.81 * math.sin(0.4))
    assert {u.name: u.start for u in system.unknowns}["w.q"] == 0.3


def test_equations_find_their_variable() -> None:
    g = pendulum()
    for name in "abcd":
        g.variable(name)
    g.equation(("+", var("a"), var("b")), 3.0)  # solved for b
    g.equation(var("a"), ("*", 2.0, var("w.f")))
    g.equation(("exp", var("c")), var("b"))
    g.equation(("+", var("d"), ("^", var("d"), 3.0)), var("c"))
    system = system_of(g.graph())
    assert [u.name for u in system.unknowns if u.kind == "algebraic"] == ["d"]
    point = Point(system)
    point.y.update({"inertia.p": 1.0})
    assert point.output("a") == 1.0
    assert point.output("b") == 2.0
    assert point.output("c") == pytest.approx(math.log(2.0))
    point.y["d"] = 0.5
    assert point.residual("d") == pytest.approx(0.625 - math.log(2.0))


def test_implicit_rates_stay_in_their_rows() -> None:
    g = Build()
    g.variable("x", 1.0)
    g.equation(("+", ("der", var("x")), ("^", ("der", var("x")), 3.0)), ("neg", var("x")))
    system = system_of(g.graph())
    point = Point(system)
    point.y["x"], point.d["x"] = 2.0, 1.0
    assert system.rows[0].differential
    assert point.residual("x") == pytest.approx(4.0)


def test_what_equations_determine_is_no_state() -> None:
    g = Build()
    g.variable("x")
    g.variable("v")
    g.variable("a")
    g.equation(var("x"), ("sin", ("*", 2.0, ("t",))))
    g.equation(var("v"), ("der", var("x")))
    g.equation(var("a"), ("der", var("v")))
    system = system_of(g.graph())
    assert system.unknowns == ()
    point = Point(system, t=0.3)
    assert point.output("v") == pytest.approx(2 * math.cos(0.6))
    assert point.output("a") == pytest.approx(-4 * math.sin(0.6))


def test_der_of_a_flow_is_exact() -> None:
    g = pendulum()
    g.variable("acceleration")
    g.equation(var("acceleration"), ("der", var("w.f")))
    point = Point(system_of(g.graph()))
    point.y.update({"w.q": 0.4, "inertia.p": 6.0})
    assert point.output("acceleration") == pytest.approx(-9.81 * math.sin(0.4) / 2.0)


def test_der_of_an_implicit_variable_is_exact() -> None:
    g = pendulum()
    g.variable("u")
    g.variable("rate")
    g.equation(("+", var("u"), ("^", var("u"), 3.0)), var("w.q"))
    g.equation(var("rate"), ("der", var("u")))
    system = system_of(g.graph())
    point = Point(system)
    point.y.update({"w.q": 10.0, "inertia.p": 6.0, "u": 2.0, "der(u)": 3.0 / 13.0})
    assert point.residual("der(u)") == pytest.approx(0.0, abs=1e-12)
    assert point.output("rate") == pytest.approx(3.0 / 13.0)


def refused(g: Build) -> list[str]:
    report = Report()
    with pytest.raises(SourceError):
        system_of(g.graph(), report)
    return [d.code for d in report.errors]


def test_a_derivative_that_feeds_itself_is_refused() -> None:
    g = Build()
    g.se("drive", ("neg", ("der", var("v.f"))))
    g.j1("v")
    g.i("mass", 2.0)
    g.bond("drive", "v")
    g.bond("v", "mass")
    assert refused(g) == ["equations/derivative-loop"]


def test_too_many_and_too_few_equations() -> None:
    g = pendulum()
    g.variable("a")
    g.equation(var("a"), 1.0)
    g.equation(var("a"), var("w.f"))
    assert refused(g) == ["equations/too-many"]
    g = pendulum()
    g.variable("a")
    g.variable("b")
    g.equation(("+", var("a"), var("b")), 1.0)
    report = Report()
    with pytest.raises(SourceError):
        system_of(g.graph(), report)
    assert report.errors[0].code == "equations/too-few"
    assert "`a`, `b`" in report.errors[0].reason


def test_initial_equations_and_fixed_starts() -> None:
    g = pendulum()
    g.equation(var("w.f"), 2.0, initial=True)
    g.equation(("der", var("w.q")), 2.0, initial=True)
    system = system_of(g.graph())
    point = Point(system)
    point.y["inertia.p"] = 4.0
    assert [point(row.residual) for row in system.initial] == [0.0, 0.0]


def test_parameters_are_hoisted_once() -> None:
    g = Build()
    k = g.parameter("k", 4.0)
    g.sf("push", 1.0)
    g.j0("n")
    g.bond("push", "n")
    for name in "abc":
        g.r(name, law=("f", ("*", ("sqrt", ("+", k, ("^", k, 2.0))), ("^", E, 3.0))))
        g.bond("n", name)
    g.c("tank", 1.0)
    g.bond("n", "tank")
    system = system_of(g.graph())
    derived = [p for p in system.parameters if p.name == ""]
    assert len(derived) == 1
    point = Point(system)
    point.y["tank.q"] = 2.0
    assert point.rate("tank.q") == pytest.approx(1.0 - 3 * math.sqrt(20.0) * 8.0)


def test_parameters_stand_in_an_order_that_can_be_computed() -> None:
    g = Build()
    g.parameter("a", ("*", 2.0, ("p", "b")))
    g.parameter("b", ("+", 1.0, ("p", "c")))
    g.parameter("c", 3.0)
    system = system_of(g.graph())
    point = Point(system)
    assert {p.name: v for p, v in zip(system.parameters, point.p, strict=True)} == {"c": 3.0, "b": 4.0, "a": 8.0}


def test_a_modulated_transformer_reads_a_displacement() -> None:
    g = pendulum()
    g.j1("x")
    g.tf("lever", ("*", 0.5, ("cos", var("w.q"))))
    g.i("slider", 3.0)
    g.bond("w", "lever")
    g.bond("lever", "x")
    g.bond("x", "slider")
    system = system_of(g.graph())
    kinds = {u.name: u.kind for u in system.unknowns}
    assert kinds == {"inertia.p": "state", "slider.p": "dependent", "w.q": "state"}
    point = Point(system)
    point.y.update({"w.q": 0.4, "inertia.p": 6.0, "slider.p": 0.9})
    assert abs(point.residual("slider.p")) == pytest.approx(abs(0.3 - 0.5 * math.cos(0.4) * 3.0))
    point.d["slider.p"] = 2.0
    expected = -9.81 * math.sin(0.4) - 0.5 * math.cos(0.4) * 2.0
    assert point.rate("inertia.p") == pytest.approx(expected)


def test_long_chains_of_signals_cost_their_length() -> None:
    g = pendulum()
    g.variable("s[0]")
    g.equation(var("s[0]"), var("w.f"))
    for k in range(1, 2000):
        g.variable(f"s[{k}]")
        g.equation(var(f"s[{k}]"), ("+", ("*", 0.5, var(f"s[{k - 1}]")), ("sin", var(f"s[{k - 1}]"))))
    from bglang.expr.walk import postorder

    system = system_of(g.graph())
    nodes = sum(len(postorder(o.value)) for o in system.outputs) + sum(len(postorder(r.residual)) for r in system.rows)
    assert nodes < 200_000


def test_random_signal_networks_agree_with_forward_evaluation() -> None:
    for seed in range(30):
        rng = random.Random(seed)
        g = pendulum()
        names, expected = ["w.q", "inertia.p"], {"w.q": 0.4, "inertia.p": 6.0}
        for k in range(30):
            a, b = rng.choice(names), rng.choice(names)
            name = f"n{k}"
            g.variable(name)
            left, right = var(name), ("+", ("sin", var(a)), ("*", 0.5, var(b)))
            g.equation(*((left, right) if rng.random() < 0.5 else (right, left)))
            expected[name] = math.sin(expected[a]) + 0.5 * expected[b]
            names.append(name)
        system = system_of(g.graph())
        point = Point(system)
        point.y.update({"w.q": 0.4, "inertia.p": 6.0})
        for number, unknown in enumerate(system.unknowns):  # large shared parts, in the order in which they follow
            if unknown.kind == "algebraic":
                point.y[unknown.name] -= point(system.rows[number].residual)
        for name, number in expected.items():
            assert point.output(name) == pytest.approx(number, rel=1e-12), name


def test_functions_of_parameters_may_be_of_the_enport_set() -> None:
    """Values, starts, nominals and discrete starts are computed before the run, from the same functions as laws."""
    model = bglang.loads("""
        model M
          parameter Real a = 0.3;
          parameter Real b = 2 + cosine(a) + coulomb(a, 0.5) + interpolation(a, [0, 0; 1, 1; 2, 4]);
          discrete Real d(start = sine(a));
          J0 u; C c(C = b, q(start = sine(a) + table(a, [0, 0; 1, 2]), nominal = exponential(a))); R r(R = 1 + abs2(a));
        bonds u -> c, r;
        equation when time > 0.5 then d = 2*absqrt(a); end when;
        end M;""")
    result = model.simulate(stop=1, tol=1e-9, points=3)
    c, r = 2 + np.cos(0.3) + 0.5 + 0.09, 1.09
    assert np.allclose(result["c.q"], (np.sin(0.3) + 0.6) * np.exp(-result.time / (r * c)), rtol=1e-7)
    assert np.allclose(result["d"], [np.sin(0.3), 2 * np.sqrt(0.3), 2 * np.sqrt(0.3)])
