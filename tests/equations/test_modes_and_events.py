"""Relations become modes; dry friction sticks; `when`, `reinit`, `pre`, assertions."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from build import Build  # noqa: E402
from derived import Point, discrete, system_of, when, with_assertion, with_whens  # noqa: E402

import bglang  # noqa: E402
from bglang.diagnostics import Report, SourceError  # noqa: E402
from bglang.equations.system import Assign, Reinit, System  # noqa: E402
from bglang.expr import Expr, var  # noqa: E402
from bglang.graph import ir  # noqa: E402

E, F, X, T = var("e"), var("f"), var("x"), ("t",)


def signal(e: Expr) -> System:
    """x with der(x) = 1, and y = e."""
    g = Build()
    g.variable("x")
    g.variable("y")
    g.equation(("der", X), 1.0)
    g.equation(var("y"), e)
    g.table("k", [(0.0, 0.0), (1.0, 2.0), (3.0, 3.0)])
    g.table("jump", [(0.0, 0.0), (1.0, 2.0), (1.0, 5.0), (3.0, 6.0)])
    g.table("smooth", [(0.0, 0.0), (1.0, 2.0), (3.0, 3.0), (4.0, 3.5)], method="spline")
    return system_of(g.graph())


def settled(system: System, x: float, t: float = 0.0) -> Point:
    """A point whose modes agree with their definitions."""
    point = Point(system, t)
    point.y["x"] = x
    for _ in range(10):
        for k, mode in enumerate(system.modes):
            if mode.kind == "relation":
                g = point(mode.roots[0])
                point.z[k] = float(g > 0 or (g == 0 and not mode.strict))
            elif mode.kind == "floor":
                point.z[k] = float(point(mode.arguments[0]) // 1)
            elif mode.kind == "segment":
                table = next(t for t in system.tables if t.key == mode.table)
                point.z[k] = float(sum(point(mode.arguments[0]) >= point(v) for v in table.x))
    return point


def signum(x: float) -> float:
    return float((x > 0) - (x < 0))


CASES = [
    (("abs", X), abs, 1),
    (("sign", X), signum, 2),
    (("min", X, 0.5, ("neg", X)), lambda x: min(x, 0.5, -x), 2),
    (("max", X, 0.5, ("neg", X)), lambda x: max(x, 0.5, -x), 2),
    (("floor", X), lambda x: x // 1, 1),
    (("ceil", X), lambda x: -(-x // 1), 1),
    (("integer", X), lambda x: x // 1, 1),
    (("mod", X, 0.7), lambda x: x % 0.7, 1),
    (("div", X, 0.7), lambda x: float(int(x / 0.7)), 3),
    (("rem", X, 0.7), lambda x: x - 0.7 * int(x / 0.7), 3),
    (("if", ("<", X, 0.2), ("*", 2.0, X), 7.0), lambda x: 2 * x if x < 0.2 else 7.0, 1),
    (("if", ("and", (">", X, 0.2), ("not", (">", X, 2.0))), 1.0, 0.0), lambda x: float(0.2 < x <= 2), 2),
    (("+", ("if", ("<", X, 0.2), 1.0, 0.0), ("if", (">=", X, 0.2), 3.0, 0.0)), lambda x: 1.0 if x < 0.2 else 3.0, 1),
    (("noEvent", ("abs", X)), abs, 0),
    (("smooth", 1.0, ("*", X, ("abs", X))), lambda x: x * abs(x), 0),
    (("abs2", X, 2.0), lambda x: 2 * x * abs(x), 1),
    (("absqrt", X, 2.0), lambda x: 2 * signum(x) * abs(x) ** 0.5, 0),
    (("*", ("sign", X), ("sqrt", ("abs", X))), lambda x: signum(x) * abs(x) ** 0.5, 0),
    (("if", (">", X, 0.0), ("sqrt", X), ("neg", ("sqrt", ("neg", X)))), lambda x: signum(x) * abs(x) ** 0.5, 0),
    (("saturation", X, -1.0, -2.0, 1.0, 2.0), lambda x: max(-2.0, min(2.0, 2 * x)), 2),
    (("table", X, "k"), lambda x: 0.0 if x < 0 else 2 * x if x < 1 else 2 + (x - 1) / 2 if x < 3 else 3.0, 1),
    (("table", X, "jump"), lambda x: 0.0 if x < 0 else 2 * x if x < 1 else 5 + (x - 1) / 2 if x < 3 else 6.0, 3),
]


@pytest.mark.parametrize(("e", "function", "count"), CASES, ids=[str(case[0]) for case in CASES])
@pytest.mark.parametrize("x", [-2.3, -0.4, 0.0, 0.3, 0.9, 1.6, 3.2])
def test_modes_reproduce_the_function(e: Expr, function, count: int, x: float) -> None:
    system = signal(e)
    assert len(system.modes) == count
    point = settled(system, x)
    assert point.output("y") == pytest.approx(function(x), abs=1e-12)
    for k, mode in enumerate(system.modes):
        roots = [point(root) for root in mode.roots]
        assert all(r >= 0 for r in roots) or (mode.kind == "relation" and point.z[k] == 0.0 and roots[0] <= 0)
        assert not mode.time_only
        assert mode.text


def test_splines_have_no_breakpoints() -> None:
    assert signal(("table", X, "smooth")).modes == ()


def test_relations_of_time_are_known_beforehand() -> None:
    system = signal(("if", (">", ("sin", ("*", 50.0, T)), 0.3), 1.0, 0.0))
    assert [m.time_only for m in system.modes] == [True]


def test_equal_relations_share_their_mode() -> None:
    g = Build()
    g.variable("x")
    g.equation(("der", X), 1.0)
    for k, op in enumerate(["<", ">", ">=", "<=", "<"]):
        g.variable(f"y{k}")
        g.equation(var(f"y{k}"), ("if", (op, X, 2.0), 1.0, 0.0))
    assert len(system_of(g.graph()).modes) == 2  # x < 2 with its opposite, x > 2 with its opposite


# --- dry friction ---


def oscillator(*levels: float, viscous: float = 0.0) -> System:
    g = Build()
    g.j1("v")
    g.i("mass", 2.0)
    g.c("spring", 0.5)
    g.bond("v", "mass", "spring")
    for k, level in enumerate(levels):
        law = ("+", ("coulomb", F, level), ("*", viscous, F)) if viscous else ("coulomb", F, level)
        g.r(f"friction{k}", law=("e", law))
        g.bond("v", f"friction{k}")
    return system_of(g.graph())


def test_friction_slips_and_sticks() -> None:
    system = oscillator(3.0)
    assert [u.kind for u in system.unknowns] == ["state", "state", "algebraic"]
    s = system.unknowns[2].name
    (mode,) = system.modes
    assert mode.kind == "coulomb"
    point = Point(system, z0=1.0)
    point.y.update({"mass.p": 4.0, "spring.q": 0.2, s: 2.5})
    assert point.residual(s) == pytest.approx(-0.5)
    assert point(mode.roots[0]) == 2.0  # x*z
    point = Point(system, z0=0.0)
    point.y.update({"mass.p": 0.0, "spring.q": 0.7, s: -1.4})
    assert point.residual(s) == pytest.approx(0.0)  # the derivative of p/m: s balances the spring
    row = system.rows[2]
    assert row.position is not None
    point.y["mass.p"] = 3.0
    assert point(row.position) == pytest.approx(1.5)
    assert [point(r) for r in mode.roots] == [pytest.approx(4.4), pytest.approx(1.6)]
    assert [point(a) for a in mode.arguments] == [pytest.approx(1.5), -1.4, 3.0]


def test_two_frictions_share_the_reaction() -> None:
    report = Report()
    g = Build()
    g.j1("v", "w")
    g.i("mass", 2.0)
    g.c("spring", 0.5)
    g.r("a", law=("e", ("coulomb", F, 1.0)))
    g.r("b", law=("e", ("+", ("coulomb", F, 3.0), F)))
    g.bond("v", "mass", "spring", "a", "w")
    g.bond("b", "w")  # against the arrow, and over a second 1-junction
    system = system_of(g.graph(), report)
    assert [d.code for d in report] == ["equations/shared-friction"]
    assert len(system.modes) == 1
    s = system.unknowns[2].name
    point = Point(system, z0=0.0)
    point.y.update({"spring.q": 0.5, s: -1.0})
    assert point.residual(s) == pytest.approx(0.0)
    assert point.output("a.e") == pytest.approx(-0.25)
    assert point.output("b.e") == pytest.approx(-0.75)
    assert point(system.modes[0].arguments[2]) == 4.0


def test_friction_on_a_massless_junction_sticks_by_its_own_flow() -> None:
    g = Build()
    g.se("push", 2.0)
    g.j1("v")
    g.r("damper", 4.0)
    g.r("friction", law=("e", ("coulomb", F, 3.0)))
    g.bond("push", "v")
    g.bond("v", "damper", "friction")
    system = system_of(g.graph())
    names = [u.name for u in system.unknowns]
    point = Point(system, z0=0.0)
    s = next(n for n in names if "friction" in n)
    point.y[s] = 2.0
    for row in system.rows:
        assert point(row.residual) == pytest.approx(0.0)
        assert row.position is None


def test_elasto_slip_pins_the_state_while_it_slips() -> None:
    g = Build()
    g.sf("pull", 0.1)
    g.j0("n")
    g.c("spring", 0.5)
    g.r("slider", law=("e", ("coulomb", F, 3.0)))
    g.bond("pull", "n")
    g.bond("n", "spring", "slider")
    system = system_of(g.graph())
    assert [(u.name, u.kind) for u in system.unknowns] == [("spring.q", "state"), ("slider.f", "algebraic")]
    stick, slip = Point(system, z0=0.0), Point(system, z0=1.0)
    stick.y.update({"spring.q": 0.2, "slider.f": 0.05})
    assert stick.residual("slider.f") == pytest.approx(0.05)
    slip.y.update({"spring.q": 1.5, "slider.f": 0.1})
    assert slip.residual("slider.f") == pytest.approx(0.0)  # all flow goes through the slider: q stays
    position = system.rows[1].position
    assert position is not None
    slip.y["spring.q"] = 2.0
    assert abs(slip(position)) == pytest.approx(1.0)


def test_coulomb_with_viscous_part_in_both_directions() -> None:
    for kind in ("se", "sf"):
        g = Build()
        getattr(g, kind)("push", 7.0 if kind == "se" else 2.0)
        g.r("friction", law=("e", ("+", ("coulomb", F, 3.0), ("*", 2.0, F))))
        g.bond("push", "friction")
        point = Point(system := system_of(g.graph()), z0=1.0)
        for unknown in system.unknowns:
            point.y[unknown.name] = 3.0
        assert all(point(row.residual) == pytest.approx(0.0) for row in system.rows)
        assert point.output("friction.e") == pytest.approx(7.0)
        assert point.output("friction.f") == pytest.approx(2.0)


def test_coulomb_elsewhere_is_a_plain_sign() -> None:
    report = Report()
    g = Build()
    g.variable("x")
    g.variable("y")
    g.equation(("der", X), 1.0)
    g.equation(var("y"), ("coulomb", X, 3.0))
    system = system_of(g.graph(), report)
    assert [d.code for d in report] == ["equations/coulomb"]
    assert settled(system, -2.0).output("y") == -3.0
    assert settled(system, 0.0).output("y") == 0.0


def test_a_limiter_pins_a_capacitor_branch_by_branch() -> None:
    g = Build()
    g.sf("pump", 1.0)
    g.j0("n")
    g.c("tank", 0.5)
    limit = ("-", E, ("min", 4.0, ("max", -1.0, ("+", E, ("*", 2.0, F)))))
    g.r("limiter", law=("", limit))
    g.bond("pump", "n")
    g.bond("n", "tank", "limiter")
    system = system_of(g.graph())
    row = system.rows[1]
    assert row.position is not None
    residuals = {}
    for upper in (0.0, 1.0):
        for lower in (0.0, 1.0):
            point = Point(system, z0=lower, z1=upper)
            point.y.update({"tank.q": 1.0, "limiter.f": 1.0})
            residuals[lower, upper] = (point(row.residual), point(row.position))
    assert any(r[0] == pytest.approx(0.0) and r[1] == pytest.approx(-2.0) for r in residuals.values())  # e = 4 is held
    assert any(r[0] == pytest.approx(-2.0) and r[1] == pytest.approx(-2.0) for r in residuals.values())  # f = 0


# --- when, reinit, pre ---


def ball() -> Build:
    g = Build()
    g.j1("v")
    g.i("m", 1.0)
    g.se("g", -9.81)
    g.variable("h", 1.0)
    g.bond("g", "v")
    g.bond("v", "m")
    g.equation(("der", var("h")), var("v.f"))
    return g


def test_reinit_of_a_state() -> None:
    graph = when(ball().graph(), ("<", var("h"), 0.0), "m.p", ("*", -0.8, var("m.p")))
    system = system_of(graph)
    (clause,) = system.whens
    (branch,) = clause.branches
    assert branch.conditions == (("z", 0),)
    (action,) = branch.actions
    assert isinstance(action, Reinit)
    assert system.unknowns[action.unknown].name == "m.p"
    assert system.modes[0].text == "h < 0"
    assert system.modes[0].strict


def test_reinit_of_a_dependent_storage_names_the_independent_one() -> None:
    g = Build()
    g.j1("v")
    g.i("a", 1.0)
    g.i("b", 1.0)
    g.bond("v", "a", "b")
    report = Report()
    with pytest.raises(SourceError):
        system_of(when(g.graph(), (">", T, 1.0), "b.p", 0.0), report)
    assert report.errors[0].code == "equations/reinit"
    assert "`a.p`" in report.errors[0].reason
    with pytest.raises(SourceError):
        system_of(when(g.graph(), (">", T, 1.0), "v.f", 0.0))


def test_discrete_variables_and_pre() -> None:
    graph = discrete(ball().graph(), "n", 2.0)
    place = graph.span
    actions = (ir.Assign("n", ("+", ("pre", var("n")), ("pre", var("v.f"))), place),)
    graph = with_whens(graph, ir.WhenBranch((("sample", 0.0, 0.5), ("edge", ("<", var("h"), 0.0))), actions, place))
    system = system_of(graph)
    kinds = [m.kind for m in system.modes]
    number = kinds.index("discrete")
    assert system.modes[number].name == "n"
    assert system.modes[number].arguments == (2.0,)
    (action,) = system.whens[0].branches[0].actions
    assert isinstance(action, Assign)
    assert action.mode == number
    assert action.value[0] == "+"
    assert ("pre", ("z", number)) in action.value
    assert "sample" in kinds
    condition = system.whens[0].branches[0].conditions[1]
    assert condition == ("and", ("z", kinds.index("relation")), ("not", ("pre", ("z", kinds.index("relation")))))
    assert Point(system, **{f"z{number}": 5.0}).output("n") == 5.0


def test_assertions_over_modes_and_parameters() -> None:
    system = system_of(with_assertion(ball().graph(), (">", var("h"), -1.0)))
    assert system.assertions[0].condition == ("z", 0)
    g = ball()
    g.parameter("k", 2.0)
    system = system_of(with_assertion(g.graph(), (">", ("p", "k"), 1.0)))
    assert system.assertions[0].condition[0] == "p"
    assert system.modes == ()


def test_boolean_variables_follow_their_modes() -> None:
    graph = ball().graph()
    low = ir.Variable("low", "discrete", "Boolean", "", "", None, None, None, None, graph.span)
    equation = ir.Equation(var("low"), ("<", var("h"), 0.5), "", graph.span)
    graph = replace(graph, variables=(*graph.variables, low), equations=(*graph.equations, equation))
    system = system_of(graph)
    assert len(system.modes) == 1
    assert Point(system, z0=1.0).output("low") == 1.0


def test_bounds_of_variables_are_watched() -> None:
    graph = ball().graph()
    height = replace(graph.variables[0], minimum=0.0, maximum=("p", "top"))
    top = ir.Parameter("top", 5.0, "Real", "", "", False, False, True, None, None, graph.span)
    system = system_of(replace(graph, variables=(height,), parameters=(*graph.parameters, top)))
    assert [(a.level, a.message) for a in system.assertions] == [
        ("warning", "`h` is below its minimum 0"),
        ("warning", "`h` is above its maximum top"),
    ]
    assert len(system.modes) == 2


@pytest.mark.parametrize(
    "e",
    [
        ("if", (">", X, 0.0), ("sqrt", X), ("neg", ("sqrt", ("neg", X)))),
        ("if", ("<=", X, 1.0), ("sqrt", ("-", 1.0, X)), ("sqrt", ("-", X, 1.0))),
        ("*", ("sign", X), ("sqrt", ("abs", X))),
        ("^", ("abs", X), 0.3),
        ("absqrt", X, 2.0),
    ],
    ids=str,
)
def test_held_branches_have_values_beyond_their_end(e: Expr) -> None:
    system = signal(e)
    edge = 1.0 if e[1] == ("<=", X, 1.0) else 0.0
    for inside, beyond in ((edge + 0.5, edge - 1e-9), (edge - 0.5, edge + 1e-9)):
        point = settled(system, inside)
        point.y["x"] = beyond
        assert abs(point.output("y")) < 1e-2


def test_power_can_be_read() -> None:
    g = Build()
    g.se("push", 10.0)
    g.se("load", 4.0)
    g.j1("v")
    g.i("mass", 2.0)
    g.bond("push", "v", name="drive")
    g.bond("v", "load", "mass")
    for name in ("push", "load", "mass", "drive"):
        g.variable(f"power of {name}")
        g.equation(var(f"power of {name}"), var(f"{name}.power"))
    point = Point(system_of(g.graph()))
    point.y["mass.p"] = 4.0
    found = {name: point.output(f"power of {name}") for name in ("push", "load", "mass", "drive")}
    assert found == {"push": 20.0, "load": -8.0, "mass": 12.0, "drive": 20.0}
    assert all(point.output(f"{name}.power") == number for name, number in found.items())


def test_a_linear_table_alone_is_inverted_by_swapping_its_columns() -> None:
    text = "model M J1 v; I m(I = 1); C c({}, q(start = 0.5)); bonds v -> m, c; end M;"
    given = bglang.loads(text.format('q = 2*table(e, [-9, -8; 0, 0; 0.1, 0.3; 9, 12], outside = "linear")'))
    swapped = bglang.loads(text.format('e = table(q/2, [-8, -9; 0, 0; 0.3, 0.1; 12, 9], outside = "linear")'))
    a, b = (model.simulate(stop=4, tol=1e-9, points=41) for model in (given, swapped))
    assert np.allclose(a["m.p"], b["m.p"], atol=1e-7) and len(a.events) == len(b.events) > 0
