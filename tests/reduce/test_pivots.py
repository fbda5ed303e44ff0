"""Masses on massless cranks: the crank's own motion decides, and no modulus that turns is divided by."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bglang
from bglang.causality.pivots import find_pivots
from bglang.reduce.reduce import reduce_storages
from bglang.reduce.write import write_source

TREATMENTS = ["implicit", "reduce", "augment", "lambda"]
DOUBLE = Path(__file__).parents[2] / "examples" / "double_pendulum.bg"
PENDULUM = """
model Pendulum
  parameter Real l = 1.2, m = 2;
  J1 w(q(start = START));
  J1 x, y;
  TF tx(m = l*cos(w.q)), ty(m = l*sin(w.q));
  I mx(I = mMX), my(I = mMY);
  Se g(e = -m*9.81);
  R air(R = 0.3);
bonds
  w -> tx -> x -> mx;
  w -> ty -> y -> my;
  g -> y;
  x -> air;
  annotation(experiment(StopTime = 4, Tolerance = 1e-9));
end Pendulum;
"""


def pendulum(start: float, mx: str = "", my: str = "") -> bglang.Model:
    text = PENDULUM.replace("START", repr(start)).replace("mMX", f"m{mx}").replace("mMY", f"m{my}")
    return bglang.loads(text)


def pendulum_angle(start: float, rate: float, times: np.ndarray) -> np.ndarray:
    """m*l^2*w'' = -m*g*l*sin(w) - r*l^2*cos(w)^2*w'"""
    length, mass = 1.2, 2.0

    def slope(_: float, y: np.ndarray) -> list[float]:
        loss = 0.3 / mass * np.cos(y[0]) ** 2 * y[1]
        return [y[1], -9.81 / length * np.sin(y[0]) - loss]

    found = solve_ivp(slope, (0, 4), [start, rate], t_eval=times, rtol=1e-11, atol=1e-12, method="DOP853")
    return np.asarray(found.y[0])


@pytest.mark.parametrize("treatment", TREATMENTS)
@pytest.mark.parametrize(
    ("start", "mx", "my", "rate"),
    [
        (1.4, "", "", 0.0),
        (1.0, ", p(start = 3.1)", "", 3.1 / 2 / 1.2 / np.cos(1.0)),
        (1.0, "", ", p(start = 3.1)", 3.1 / 2 / 1.2 / np.sin(1.0)),
        (np.pi / 2, "", ", p(start = 3.1)", 3.1 / 2 / 1.2),
    ],
)
def test_a_rod_turns_through_every_angle(treatment: str, start: float, mx: str, my: str, rate: float) -> None:
    result = pendulum(start, mx, my).simulate(dependent=treatment, points=101)
    exact = pendulum_angle(start, rate, result.time)
    assert np.ptp(exact) > 2.0
    assert np.abs(result["w.q"] - exact).max() < (2e-5 if treatment == "augment" else 1e-6)


def double_pendulum(times: np.ndarray) -> np.ndarray:
    l1, l2, m1, m2, g = 1.0, 0.8, 1.0, 0.5, 9.80665

    def slope(_: float, y: np.ndarray) -> np.ndarray:
        a, b, u, v = y
        mass = np.array([[(m1 + m2) * l1**2, m2 * l1 * l2 * np.cos(a - b)], [m2 * l1 * l2 * np.cos(a - b), m2 * l2**2]])
        force = [
            -m2 * l1 * l2 * np.sin(a - b) * v**2 - (m1 + m2) * g * l1 * np.sin(a),
            m2 * l1 * l2 * np.sin(a - b) * u**2 - m2 * g * l2 * np.sin(b),
        ]
        return np.array([u, v, *np.linalg.solve(mass, force)])

    found = solve_ivp(slope, (0, times[-1]), [1.2, 0.5, 0, 0], t_eval=times, rtol=1e-11, atol=1e-12, method="DOP853")
    return np.asarray(found.y[:2])


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_the_double_pendulum_passes_the_horizontal_in_every_form(treatment: str) -> None:
    result = bglang.load(DOUBLE).simulate(stop=3, dependent=treatment, points=151)
    exact = double_pendulum(result.time)
    assert np.abs(exact[1]).max() > np.pi / 2
    for name, angle in zip(("w1.q", "w2.q"), exact, strict=True):
        assert np.abs(result[name] - angle).max() < (2e-4 if treatment == "augment" else 2e-6), name


def test_the_written_field_stands_at_the_cranks_and_divides_by_nothing_that_turns() -> None:
    made = reduce_storages(bglang.load(DOUBLE).graph)
    assert made.refusals == ()
    assert [m.merged for m in made.mergers] == [("mx1", "my1", "mx2", "my2")]
    source = write_source(made.graph, "Reduced.", made.mergers)
    assert "Real 'my2.f' = l1*sin(w1.q)*w1.f + l2*sin(w2.q)*w2.f;" in source
    assert "w1 -> w1_motion_w2_motion_field.w1_motion;" in source
    again = bglang.loads(source)
    assert not again.warnings
    result, exact = again.simulate(stop=3, points=151), double_pendulum(np.linspace(0, 3, 151))
    assert np.abs(result["w2.q"] - exact[1]).max() < 2e-6


def test_what_the_user_keeps_wins() -> None:
    graph = bglang.load(DOUBLE).graph
    assert [graph.elements[n].name for n in find_pivots(graph)] == ["w1", "w2"]
    assert find_pivots(graph, ["mx1"]) == ()
    assert "mx1_mx2_field" in {e.name for e in reduce_storages(graph, ["mx1"]).graph.elements}


def test_a_crank_with_inertia_needs_no_pivot_and_one_beside_it_may() -> None:
    text = DOUBLE.read_text().replace("  J0 fx, fy;", "  J0 fx, fy;\n  I wheel(I = 0.1, p(start = 0.02));")
    model = bglang.loads(text.replace("  weight2 -> y2;", "  weight2 -> y2;\n  w1 -> wheel;"))
    graph = model.graph
    assert [graph.elements[n].name for n in find_pivots(graph)] == ["w2"]
    reference = model.simulate(stop=2, tol=1e-10, points=51)
    for treatment in ("reduce", "lambda"):
        result = model.simulate(stop=2, points=51, dependent=treatment)
        assert np.abs(result["w2.q"] - reference["w2.q"]).max() < 1e-6, treatment


def test_contradictory_starts_name_the_storages_of_the_model() -> None:
    model = pendulum(1.0, ", p(start = 0.4)", ", p(start = 0.9)")
    with pytest.raises(bglang.SourceError, match=r"the start of `my.p` contradicts the starts of `mx.p`"):
        reduce_storages(model.graph)


def test_a_nonlinear_mass_on_the_crank_is_refused_as_before() -> None:
    text = PENDULUM.replace("START", "1").replace("I my(I = mMY)", "I my(f = tanh(p))").replace("mMX", "m")
    text = text.replace("I mx(I = m), my(I = mMY)", "I mx(I = m), my(p = f + f^3)")
    made = reduce_storages(bglang.loads(text).graph)
    assert [r.obstacle for r in made.refusals] == ["nonlinear"]
    assert "w_motion" not in {e.name for e in made.graph.elements}
