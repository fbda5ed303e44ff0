"""Closed kinematic chains as plain bond graphs: what closes the chain is a 0-junction whose flows add up to nothing.

The references have one coordinate: ½ M(θ) θ'² is the kinetic energy, with the other angles from closing the chain."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import bglang

G = 9.80665

ROD = """
model Rod "a mass in x and y, held by a rod"
  J1 vx(q(start = 0.6)), vy(q(start = -0.8));
  I mx(I = 2, p(start = 9)), my(I = 2);
  Se weight(e = -2*Constants.g);
  TF tx(m = vx.q), ty(m = vy.q);
  J0 rod; Sf guide(f = 0);
bonds
  vx -> mx; weight -> vy -> my;
  vx -> tx -> rod; vy -> ty -> rod; rod -> guide;
end Rod;
"""

CRANK_SLIDER = """
model CrankSlider
  parameter Real l1 = 0.1, l2 = 0.3;
  J1 w1(q(start = 0.4)), w2(q(start = -asin(l1*sin(0.4)/l2)));
  J1 gx, gy, b; J0 x, y, px, py;
  TF a1(m = -l1*sin(w1.q)), a2(m = l1*cos(w1.q)), b1(m = -l2*sin(w2.q)), b2(m = l2*cos(w2.q));
  TF c1(m = -0.5*l2*sin(w2.q)), c2(m = 0.5*l2*cos(w2.q)), d1(m = -l1*sin(w1.q)), d2(m = l1*cos(w1.q));
  I crank(I = 0.05, p(start = 0.5)), rod(I = 0.01), rx(I = 1), ry(I = 1), slider(I = 2);
  Sf guide(f = 0);
bonds
  w1 -> crank; w2 -> rod;
  w1 -> d1 -> px; w2 -> c1 -> px -> gx -> rx;
  w1 -> d2 -> py; w2 -> c2 -> py -> gy -> ry;
  w1 -> a1 -> x; w2 -> b1 -> x -> b -> slider;
  w1 -> a2 -> y; w2 -> b2 -> y -> guide;
end CrankSlider;
"""

FOUR_BAR = """
model FourBar
  parameter Real l1 = 0.1, l2 = 0.35, l3 = 0.3, q2, q3;
  J1 w1(q(start = 0.8)), w2(q(start = q2)), w3(q(start = q3));
  TF ax(m = -l1*sin(w1.q)), bx(m = -l2*sin(w2.q)), cx(m = l3*sin(w3.q));
  TF ay(m = l1*cos(w1.q)), by(m = l2*cos(w2.q)), cy(m = -l3*cos(w3.q));
  J0 x, y;
  I j1(I = 0.02, p(start = 0.1)), j2(I = 0.005), j3(I = 0.008);
bonds
  w1 -> j1; w2 -> j2; w3 -> j3;
  w1 -> ax -> x; w2 -> bx -> x; w3 -> cx -> x;
  w1 -> ay -> y; w2 -> by -> y; w3 -> cy -> y;
end FourBar;
"""


def one_coordinate(mass: Callable[[float], float], start: float, rate: float, times: np.ndarray) -> np.ndarray:
    """θ from M θ'' + ½ M' θ'² = 0."""

    def rates(t: float, s: np.ndarray) -> list[float]:
        h = 1e-5
        slope = (8 * (mass(s[0] + h) - mass(s[0] - h)) - mass(s[0] + 2 * h) + mass(s[0] - 2 * h)) / (12 * h)
        return [s[1], -0.5 * slope * s[1] ** 2 / mass(s[0])]

    return solve_ivp(rates, (0, times[-1]), [start, rate], rtol=1e-10, atol=1e-11, t_eval=times, method="DOP853").y


@pytest.mark.parametrize("guide", [True, False])
def test_a_mass_on_a_rod(guide: bool) -> None:
    """With a source of no flow, or none at all: a 0-junction says the same."""
    text = ROD if guide else ROD.replace("Sf guide(f = 0);", "").replace("rod -> guide;", "")
    result = bglang.loads(text).simulate(stop=10, tol=1e-8, points=301)
    angle = np.arctan2(0.6, 0.8)
    pendulum = solve_ivp(
        lambda t, s: [s[1], -G * np.sin(s[0])], (0, 10), [angle, 4.5 / 0.8], rtol=1e-11, atol=1e-12, t_eval=result.time
    )
    assert np.abs(result["vx.q"] ** 2 + result["vy.q"] ** 2 - 1).max() < 1e-8
    assert np.allclose(result["vx.q"], np.sin(pendulum.y[0]), atol=1e-5)
    assert np.allclose(result["vy.q"], -np.cos(pendulum.y[0]), atol=1e-5)


def crank_mass(q1: float) -> float:
    s, c = np.sin(q1), np.cos(q1)
    q2 = -np.arcsin(0.1 * s / 0.3)
    k = -0.1 * c / (0.3 * np.cos(q2))  # the rod's turning over the crank's
    slider = -0.1 * s - 0.3 * np.sin(q2) * k
    middle = np.array([-0.1 * s - 0.15 * np.sin(q2) * k, 0.1 * c + 0.15 * np.cos(q2) * k])
    return float(0.05 + 0.01 * k * k + middle @ middle + 2 * slider**2)


@pytest.mark.parametrize("guide", [True, False])
def test_a_crank_slider(guide: bool) -> None:
    text = CRANK_SLIDER if guide else CRANK_SLIDER.replace("Sf guide(f = 0);", "").replace("y -> guide;", "y;")
    result = bglang.loads(text).simulate(stop=3, tol=1e-8, points=101)
    expected = one_coordinate(crank_mass, 0.4, 10.0, result.time)
    assert expected[0][-1] > 2 * np.pi
    assert np.allclose(result["w1.q"], expected[0], atol=1e-5)
    assert np.abs(0.1 * np.sin(result["w1.q"]) + 0.3 * np.sin(result["w2.q"])).max() < 1e-8
    assert abs(result.audit.error) < 1e-6


def four_bar(q1: float, guess: np.ndarray) -> np.ndarray:
    def gap(q: np.ndarray) -> list[float]:
        x = 0.1 * np.cos(q1) + 0.35 * np.cos(q[0]) - 0.3 * np.cos(q[1]) - 0.4
        return [x, 0.1 * np.sin(q1) + 0.35 * np.sin(q[0]) - 0.3 * np.sin(q[1])]

    return np.asarray(fsolve(gap, guess, xtol=1e-12))


def four_bar_mass(q1: float) -> float:
    q2, q3 = four_bar(q1, np.array([0.7, 1.5]))
    matrix = [[-0.35 * np.sin(q2), 0.3 * np.sin(q3)], [0.35 * np.cos(q2), -0.3 * np.cos(q3)]]
    k2, k3 = np.linalg.solve(matrix, [0.1 * np.sin(q1), -0.1 * np.cos(q1)])
    return float(0.02 + 0.005 * k2**2 + 0.008 * k3**2)


def test_a_four_bar_linkage() -> None:
    q2, q3 = four_bar(0.8, np.array([0.7, 1.5]))
    text = FOUR_BAR.replace("q2, q3;", f"q2 = {q2:.17g}, q3 = {q3:.17g};")
    result = bglang.loads(text).simulate(stop=4, tol=1e-8, points=41)
    expected = one_coordinate(four_bar_mass, 0.8, 5.0, result.time)
    assert expected[0][-1] > 5 * np.pi
    assert np.allclose(result["w1.q"], expected[0], atol=1e-5)
    last = four_bar(result["w1.q"][-1], np.array([0.7, 1.5]))
    assert np.allclose([result["w2.q"][-1], result["w3.q"][-1]], last, atol=1e-8)


def test_constraints_that_repeat_each_other_are_told() -> None:
    twice = ROD.replace("J0 rod;", "TF sx(m = 2*vx.q), sy(m = 2*vy.q); J0 again; J0 rod;")
    twice = twice.replace("rod -> guide;", "rod -> guide; vx -> sx -> again; vy -> sy -> again;")
    with pytest.raises(bglang.SourceError, match="`again`"):
        bglang.loads(twice).simulate(stop=1)
