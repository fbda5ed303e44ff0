"""Equations for people: the state form has the values of the system, and prints as text, LaTeX and JSON."""

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
from bglang.equations.forms_elimination import Elimination  # noqa: E402
from bglang.equations.forms_state import WrittenForm, written_form  # noqa: E402
from bglang.expr import var  # noqa: E402
from bglang.expr.evaluate import Values, evaluate  # noqa: E402
from bglang.expr.text import text  # noqa: E402

F = var("f")


def listing(g: Build) -> WrittenForm:
    graph = g.graph()
    causality = assign_causality(graph)
    return written_form(graph, causality, derive(graph, causality, Report()), explicit=True, coenergy=False)


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
    assert line.name == "a.p"
    (push, a, b, t, r) = (10.0, 2.0, 5.0, 3.0, 1.5)
    at = Values(variable={"a.p": 0.7}.__getitem__, parameter=lambda name: float("nan"))
    assert evaluate(line.value, at) == pytest.approx((push - r * t**2 * 0.7 / a) / (b * t**2 / a + 1))
    assert {law.gives: law.how for law in made.laws}["b.p"] == "derivative"


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
    rates = Elimination(system).rates()
    assert rates is not None
    point = Point(system)
    point.y.update({"fly.p": 4.0, "w.q": 0.7})
    gain, slope = -0.5 * math.sin(0.7), -0.5 * math.cos(0.7)
    speed = 4.0 / 2.0
    acceleration = -3.0 * gain * slope * speed**2 / (2.0 + 3.0 * gain**2)
    number = [u.name for u in system.unknowns].index("fly.p")
    assert point(rates[number]) == pytest.approx(2.0 * acceleration)


@pytest.mark.parametrize("seed", range(60))
def test_state_forms_solve_the_system(seed: int) -> None:
    graph = random_graph(random.Random(seed))
    try:
        system = system_of(graph)
    except SourceError:
        return  # singular whatever its numbers
    solver = Elimination(system)
    rates = solver.rates()
    if rates is None:
        assert solver.left
        return
    rng = np.random.default_rng(seed)
    point = Point(system)
    for unknown in system.unknowns:
        if unknown.kind == "state":
            point.y[unknown.name] = rng.normal()
    for (kind, k), e in solver.values.items():
        if kind == "y":
            point.y[system.unknowns[k].name] = point(solver.put_in(e))
    for k, e in rates.items():
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
    g.se("push", 3.0)
    g.j1("v")
    g.c("spring", 2.0)
    g.r("drag", law=("e", ("+", ("exp", F), F)))
    g.bond("push", "v")
    g.bond("v", "spring", "drag")
    made = listing(g)
    assert made.form == "dae"
    assert "cannot be eliminated" in made.remarks[0] and "v.f" in made.remarks[0]


def test_branches_look_as_they_were_written() -> None:
    g = Build()
    g.se("push", ("if", ("<", ("t",), 1.0), 0.0, 10.0))
    g.j1("v")
    g.i("mass", 2.0)
    g.r("drag", law=("e", ("*", 3.0, F, ("abs", F))))
    g.bond("push", "v")
    g.bond("v", "mass", "drag")
    (line,) = listing(g).equations
    assert "if time < 1 then 0 else 10" in text(line.value) and "abs(" in text(line.value)
    at = Values(t=2.0, variable={"mass.p": -0.8}.__getitem__, parameter=lambda name: float("nan"))
    assert evaluate(line.value, at) == pytest.approx(10 + 3 * 0.4 * 0.4)
