"""Equations for people: the state form has the values of the system, and prints as text, LaTeX and JSON."""

import json
import math
import random
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from build import Build  # noqa: E402
from derived import Point, system_of  # noqa: E402
from test_linear_graphs import random_graph  # noqa: E402

from bglang.causality.assign import assign_causality  # noqa: E402
from bglang.diagnostics import Report, SourceError  # noqa: E402
from bglang.equations.derive import derive  # noqa: E402
from bglang.equations.explicit import solve_states  # noqa: E402
from bglang.equations.text import Listing, as_data, as_latex, as_text, list_equations  # noqa: E402
from bglang.expr import var  # noqa: E402
from bglang.expr.text import text  # noqa: E402

F = var("f")


def listing(g: Build) -> Listing:
    graph = g.graph()
    causality = assign_causality(graph)
    return list_equations(graph, causality, derive(graph, causality, Report()))


def two_masses() -> Build:
    g = Build()
    g.se("push", 10.0)
    g.j1("v", "w")
    g.i("a", 2.0)
    g.i("b", 5.0)
    g.tf("t", 3.0)
    g.r("loss", 1.5)
    g.bond("push", "v")
    g.bond("v", "a", "t")
    g.bond("t", "w")
    g.bond("w", "b", "loss")
    return g


def test_dependent_storages_are_eliminated_exactly() -> None:
    made = listing(two_masses())
    assert made.form == "state"
    assert made.states == ("a.p",)
    (line,) = made.equations
    assert text(line.left) == "der(a.p)"
    assert text(line.right) == "(push.e - loss.R*t.m^2*a.p/a.I)/(b.I*t.m^2/a.I + 1)"
    assert [text(x.right) for x in made.algebraic] == ["b.I*t.m*a.p/a.I"]
    assert {text(x.left): x.note for x in made.laws}["b.p"] == "inverted"


def test_a_modulated_path_has_its_centrifugal_term() -> None:
    """(J + m*G(q)^2)*w' + m*G*G'*w^2 = 0 for a slider on a crank, with G = -r*sin(q)."""
    g = Build()
    g.j1("w", "x")
    g.i("fly", 2.0)
    g.i("slider", 3.0)
    g.displacement("w")
    g.tf("t", ("*", -0.5, ("sin", var("w.q"))))
    g.bond("w", "fly", "t")
    g.bond("t", "x")
    g.bond("x", "slider")
    system = system_of(g.graph())
    explicit = solve_states(system)
    point = Point(system)
    point.y.update({"fly.p": 4.0, "w.q": 0.7})
    gain, slope = -0.5 * math.sin(0.7), -0.5 * math.cos(0.7)
    speed = 4.0 / 2.0
    acceleration = -3.0 * gain * slope * speed**2 / (2.0 + 3.0 * gain**2)
    number = [u.name for u in system.unknowns].index("fly.p")
    assert point(explicit.rates[number]) == pytest.approx(2.0 * acceleration)


@pytest.mark.parametrize("seed", range(60))
def test_state_forms_solve_the_system(seed: int) -> None:
    graph = random_graph(random.Random(seed))
    try:
        system = system_of(graph)
    except SourceError:
        return  # singular whatever its numbers
    explicit = solve_states(system)
    if explicit.obstacle:
        return
    rng = np.random.default_rng(seed)
    point = Point(system)
    for unknown in system.unknowns:
        if unknown.kind == "state":
            point.y[unknown.name] = rng.normal()
    for k, e in explicit.values.items():
        point.y[system.unknowns[k].name] = point(e)
    for k, e in explicit.rates.items():
        point.d[system.unknowns[k].name] = point(e)
    if not np.isfinite([*point.y.values(), *point.d.values()]).all():
        return  # the numbers of this graph are singular
    algebraic = [r for r in system.rows if not r.differential]
    scale = 1.0 + max(map(abs, (*point.y.values(), *point.d.values())), default=0.0)
    for row in algebraic:
        assert point(row.residual) == pytest.approx(0.0, abs=1e-8 * scale)
    if all(u.kind != "dependent" for u in system.unknowns):
        for row in system.rows:
            assert point(row.residual) == pytest.approx(0.0, abs=1e-8 * scale)


def test_where_there_is_no_state_form_the_reason_is_given() -> None:
    g = Build()
    g.j1("v")
    g.i("mass", 2.0)
    g.r("friction", law=("e", ("coulomb", F, 3.0)))
    g.bond("v", "mass", "friction")
    made = listing(g)
    assert made.form == "dae"
    assert "`friction` pins states" in made.obstacle
    assert "friction.slip" in as_text(made)


def test_branches_look_as_they_were_written() -> None:
    g = Build()
    g.se("push", ("if", ("<", ("t",), 1.0), 0.0, 10.0))
    g.j1("v")
    g.i("mass", 2.0)
    g.r("drag", law=("e", ("*", 3.0, F, ("abs", F))))
    g.bond("push", "v")
    g.bond("v", "mass", "drag")
    (line,) = listing(g).equations
    assert text(line.right) == "(if time < 1 then 0 else 10) - 3*mass.p*abs(mass.p/mass.I)/mass.I"


def test_pages() -> None:
    made = listing(two_masses())
    page = as_text(made)
    assert "der(a.p) = " in page
    assert "// loss" in page
    tex = as_latex(made)
    assert tex.count("{") == tex.count("}")
    assert tex.count(r"\left") == tex.count(r"\right")
    assert r"\dot{p_{\mathrm{a}}}" in tex
    data = json.loads(json.dumps(as_data(made)))
    assert data["states"] == ["a.p"]
    assert data["equations"][0]["component"] == "a"
