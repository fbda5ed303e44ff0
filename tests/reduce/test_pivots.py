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


CRANE = """
model Crane "trolley with dry friction, and a load on a rod that is let go"
  parameter Real M = 100, m = 50, l = 4;
  J1 x, w(q(start = 0.4)), vx, vy;
  J0 s;
  I trolley(I = M), mx(I = m), my(I = m);
  Se weight(e = -m*9.81);
  R friction(e = coulomb(f, 20));
  TF tx(m = l*cos(w.q)), ty(m = l*sin(w.q));
bonds
  x -> trolley, friction, s;
  s -> vx -> mx;
  w -> tx -> s;
  w -> ty -> vy -> my;
  weight -> vy;
  annotation(experiment(StopTime = 4, Tolerance = 1e-9));
end Crane;
"""


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_a_crane_that_breaks_loose_at_the_start(treatment: str) -> None:
    """The friction holds 20 N, the rod pulls with 176 N.  Whoever asks first whether it sticks must not spoil the rest
    by what rounding leaves of a trolley that is held."""
    m, big, length, g = 50.0, 100.0, 4.0, 9.81

    def slope(_: float, y: np.ndarray, sign: float) -> np.ndarray:
        a, _, w = y
        mass = np.array([[big + m, m * length * np.cos(a)], [m * length * np.cos(a), m * length**2]])
        force = [m * length * np.sin(a) * w**2 - 20 * sign, -m * g * length * np.sin(a)]
        return np.array([w, *np.linalg.solve(mass, force)])

    def turns(_: float, y: np.ndarray, sign: float) -> float:
        return float(y[1])

    turns.terminal = True  # type: ignore[attr-defined]
    result = bglang.loads(CRANE).simulate(dependent=treatment, points=81)
    exact, begin, y, sign = np.zeros((81, 3)), 0.0, np.array([0.4, 0.0, 0.0]), 1.0
    while begin < 4.0:
        turns.direction = -sign  # type: ignore[attr-defined]
        part = solve_ivp(slope, (begin, 4.0), y, args=(sign,), events=turns, dense_output=True, rtol=1e-11, atol=1e-12)
        inside = (result.time >= begin) & (result.time <= part.t[-1])
        exact[inside] = part.sol(result.time[inside]).T
        begin, y, sign = part.t[-1], part.y[:, -1], -sign
    assert sign != 1.0
    assert np.abs(result["w.q"] - exact[:, 0]).max() < (1e-5 if treatment == "augment" else 1e-6)
    assert np.abs(result["x.f"] - exact[:, 1]).max() < (1e-5 if treatment == "augment" else 1e-6)


HUNG = """
model Hung "a pendulum whose support stands on a spring"
  parameter Real M = 2, m = 1, l = 0.8, k = 300;
  J1 vs, w(q(start = 1)), vx, vy;
  J0 s;
  I support(I = M), mx(I = m, p(start = m*l*cos(1)*0.7)), my(I = m, p(start = m*l*sin(1)*0.7));
  C spring(C = 1/k, q(start = 0.02));
  R damper(R = 2);
  Se g1(e = -M*9.81), g2(e = -m*9.81);
  TF tx(m = l*cos(w.q)), ty(m = l*sin(w.q));
bonds
  g1 -> vs -> support, spring, damper;
  vs -> s -> vy -> my;
  g2 -> vy;
  w -> tx -> vx -> mx;
  w -> ty -> s;
  annotation(experiment(StopTime = 3, Tolerance = 1e-9));
end Hung;
"""


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_a_pendulum_on_an_elastic_support(treatment: str) -> None:
    big, m, length, g = 2.0, 1.0, 0.8, 9.81

    def slope(_: float, y: np.ndarray) -> np.ndarray:
        q, a, v, w = y
        mass = np.array([[big + m, m * length * np.sin(a)], [m * length * np.sin(a), m * length**2]])
        force = [-m * length * np.cos(a) * w**2 - 300 * q - 2 * v - (big + m) * g, -m * g * length * np.sin(a)]
        return np.array([v, w, *np.linalg.solve(mass, force)])

    result = bglang.loads(HUNG).simulate(dependent=treatment, points=61)
    exact = solve_ivp(slope, (0, 3), [0.02, 1, 0, 0.7], t_eval=result.time, rtol=1e-11, atol=1e-12, method="DOP853").y
    assert np.abs(result["w.q"] - exact[1]).max() < (1e-5 if treatment == "augment" else 1e-6)
    assert np.abs(result["vs.f"] - exact[2]).max() < (1e-5 if treatment == "augment" else 1e-6)
