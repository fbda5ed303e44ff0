"""Models whose masses hang on angles: the equations stay regular where a sine or cosine of the causality is zero."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bglang

G = 9.80665
EXAMPLES = Path(__file__).parents[2] / "examples"

PENDULUM = """
model Pendulum
  parameter Real m = 2, l = 0.5;
  J1 w(q(start = 0)), x, y;
  TF tx(m = l*cos(w.q)), ty(m = l*sin(w.q));
  I mx(I = m, p(start = 9)), my(I = m);
  Se weight(e = -m*Constants.g);
bonds
  w -> tx -> x -> mx;
  w -> ty -> y -> my;
  weight -> y;
end Pendulum;
"""

GYRATED = """
model Gyrated "two capacitors on one current, through gyrators whose factors turn"
  Real a(start = 0.3);
  J1 w; J0 ux, uy;
  GY gx(r = 2*cos(a)), gy(r = 2*sin(a));
  C cx(C = 0.5, q(start = 0.4)), cy(C = 0.8);
  Se push(e = sin(2*time)); R loss(R = 0.3);
bonds
  push -> w -> loss;
  w -> gx -> ux -> cx; w -> gy -> uy -> cy;
equation
  der(a) = 1;
end Gyrated;
"""

ARM = """
model Arm "two links that carry point masses at their ends and middles, driven at both joints"
  parameter Real l[2] = {0.7, 0.5};
  J1 w[2](q(start = {0.4, 1.1}));
  J1 mx1, my1, ex, ey, mx2, my2, tx, ty;
  J0 sx, sy, hx, hy;
  TF a[4](m = {-0.5*l[1]*sin(w[1].q), 0.5*l[1]*cos(w[1].q), -l[1]*sin(w[1].q), l[1]*cos(w[1].q)});
  TF b[4](m = {-0.5*l[2]*sin(w[2].q), 0.5*l[2]*cos(w[2].q), -l[2]*sin(w[2].q), l[2]*cos(w[2].q)});
  I ix1(I = 2), iy1(I = 2), ixe(I = 1), iye(I = 1), ix2(I = 1.5), iy2(I = 1.5), ixt(I = 0.5), iyt(I = 0.5);
  Se motor[2](e = {6*cos(3*time), -2.5*sin(2*time)});
bonds
  motor[1] -> w[1]; motor[2] -> w[2];
  w[1] -> a[1] -> mx1 -> ix1; w[1] -> a[2] -> my1 -> iy1;
  w[1] -> a[3] -> ex -> ixe;  w[1] -> a[4] -> ey -> iye;
  ex -> hx -> mx2 -> ix2;     ey -> hy -> my2 -> iy2;
  ex -> sx -> tx -> ixt;      ey -> sy -> ty -> iyt;
  w[2] -> b[1] -> hx; w[2] -> b[2] -> hy; w[2] -> b[3] -> sx; w[2] -> b[4] -> sy;
end Arm;
"""

CRANK = """
model Crank "a flywheel drives a piston through a connecting rod, over both dead centres"
  parameter Real r = 0.1, l = 0.3;
  J1 w(q(start = 0.3)), v;
  TF slider(m = -r*sin(w.q) - r^2*sin(w.q)*cos(w.q)/sqrt(l^2 - r^2*sin(w.q)^2));
  I piston(I = 4), wheel(I = 0.2, p(start = 1.5));
  C gas(e = 300*q);
bonds
  w -> wheel; w -> slider -> v -> piston, gas;
end Crank;
"""


def point_masses(jacobian, masses, torque):  # type: ignore[no-untyped-def]
    """Accelerations of point masses with velocities J(q) w: M w' = torque - J m (J' w)."""

    def rates(t: float, s: np.ndarray) -> np.ndarray:
        n = len(s) // 2
        q, w = s[:n], s[n:]
        j = jacobian(q)
        h = 1e-6
        bend = (jacobian(q + h * w) - jacobian(q - h * w)) @ w / (2 * h)
        mass = (j.T * masses) @ j
        return np.concatenate([w, np.linalg.solve(mass, torque(t, q) - (j.T * masses) @ bend)])

    return rates


def reference(rates, start, times):  # type: ignore[no-untyped-def]
    found = solve_ivp(rates, (times[0], times[-1]), start, rtol=1e-11, atol=1e-12, t_eval=times, method="DOP853")
    return found.y


def double_jacobian(q: np.ndarray) -> np.ndarray:
    l1, l2 = 1.0, 0.8
    a, b = l1 * np.array([np.cos(q[0]), np.sin(q[0])]), l2 * np.array([np.cos(q[1]), np.sin(q[1])])
    return np.array([[a[0], 0], [a[1], 0], [a[0], b[0]], [a[1], b[1]]])


def test_the_double_pendulum_passes_the_horizontal() -> None:
    model = bglang.load(str(EXAMPLES / "double_pendulum.bg"))
    result = model.simulate(stop=10, tol=1e-8, points=501)
    masses = np.array([1, 1, 0.5, 0.5])
    weights = np.array([0, -1.0 * G, 0, -0.5 * G])
    rates = point_masses(double_jacobian, masses, lambda t, q: double_jacobian(q).T @ weights)
    early = result.time <= 3.0
    expected = reference(rates, [1.2, 0.5, 0, 0], result.time[early])
    assert np.abs(result["w2.q"]).max() > np.pi / 2
    assert np.allclose(result["w1.q"][early], expected[0], atol=1e-5)
    assert np.allclose(result["w2.q"][early], expected[1], atol=1e-5)
    assert np.allclose(result["w2.f"][early], expected[3], atol=1e-4)
    height = np.cos(result["w1.q"]) * (1.5 * G) + 0.8 * np.cos(result["w2.q"]) * (0.5 * G)
    momenta = [result[f"{name}.p"] for name in ("mx1", "my1", "mx2", "my2")]
    energy = sum(p**2 / (2 * m) for p, m in zip(momenta, masses, strict=True)) - height
    assert np.ptp(energy) < 1e-5


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_a_pendulum_turns_over(method: str) -> None:
    result = bglang.loads(PENDULUM).simulate(stop=5, tol=1e-9, points=201, method=method)
    expected = reference(lambda t, s: [s[1], -G / 0.5 * np.sin(s[0])], [0, 9.0], result.time)
    assert result["w.q"][-1] > 4 * np.pi
    assert np.allclose(result["w.q"], expected[0], atol=1e-5)
    assert np.allclose(result["w.f"], expected[1], atol=1e-4)


@pytest.mark.parametrize(("start", "rate"), [("my(I = m, p(start = 3))", 3.0), ("my(I = m)", 0.0)])
def test_it_may_start_where_the_causality_is_singular(start: str, rate: float) -> None:
    text = PENDULUM.replace("mx(I = m, p(start = 9)), my(I = m)", f"mx(I = m), {start}").replace(
        "q(start = 0)", "q(start = pi/2)"
    )
    result = bglang.loads(text).simulate(stop=2, tol=1e-9, points=101)
    expected = reference(lambda t, s: [s[1], -G / 0.5 * np.sin(s[0])], [np.pi / 2, rate], result.time)
    assert np.allclose(result["w.q"], expected[0], atol=1e-6)


def test_gyrators_that_turn() -> None:
    result = bglang.loads(GYRATED).simulate(stop=8, tol=1e-9, points=101)

    def rates(t: float, s: np.ndarray) -> np.ndarray:
        """The sum over both of r (C r w)' = push - loss."""
        r, slope = 2 * np.array([np.cos(t + 0.3), np.sin(t + 0.3)]), 2 * np.array([-np.sin(t + 0.3), np.cos(t + 0.3)])
        c = np.array([0.5, 0.8])
        return (np.sin(2 * t) - 0.3 * s - c @ (r * slope) * s) / (c @ (r * r))

    expected = reference(rates, [0.4 / 0.5 / (2 * np.cos(0.3))], result.time)
    assert np.allclose(result["w.f"], expected[0], atol=1e-6)


def arm_jacobian(q: np.ndarray) -> np.ndarray:
    a = 0.7 * np.array([-np.sin(q[0]), np.cos(q[0])])
    b = 0.5 * np.array([-np.sin(q[1]), np.cos(q[1])])
    rows = [np.outer(a / 2, [1, 0]), np.outer(a, [1, 0])]
    rows += [np.outer(a, [1, 0]) + np.outer(b / 2, [0, 1]), np.outer(a, [1, 0]) + np.outer(b, [0, 1])]
    return np.concatenate(rows)


def test_a_planar_arm() -> None:
    result = bglang.loads(ARM).simulate(stop=4, tol=1e-9, points=101)
    masses = np.repeat([2, 1, 1.5, 0.5], 2)
    rates = point_masses(arm_jacobian, masses, lambda t, q: np.array([6 * np.cos(3 * t), -2.5 * np.sin(2 * t)]))
    expected = reference(rates, [0.4, 1.1, 0, 0], result.time)
    assert np.allclose(result["w[1].q"], expected[0], atol=1e-6)
    assert np.allclose(result["w[2].q"], expected[1], atol=1e-6)


def test_a_crank_passes_its_dead_centres() -> None:
    result = bglang.loads(CRANK).simulate(stop=3, tol=1e-9, points=201)
    r, length = 0.1, 0.3

    def modulus(q: float) -> float:
        s, c = np.sin(q), np.cos(q)
        return float(-r * s - r * r * s * c / np.sqrt(length**2 - r * r * s * s))

    def position(q: float) -> float:
        return float(r * np.cos(q) + np.sqrt(length**2 - r * r * np.sin(q) ** 2))

    def rates(t: float, s: np.ndarray) -> np.ndarray:
        q, w = s
        m, h = modulus(q), 1e-6
        bend = (modulus(q + h) - modulus(q - h)) / (2 * h)
        force = -300 * (position(q) - position(0.3)) - 4 * bend * w * w
        return np.array([w, m * force / (0.2 + 4 * m * m)])

    expected = reference(rates, [0.3, result["w.f"][0]], result.time)
    assert expected[0][-1] > 2 * np.pi
    assert np.allclose(result["w.q"], expected[0], atol=1e-5)


HELD = """
model Held "a massless crank, held by its sine and its cosine through springs with dampers"
  parameter Real m = 2, l = 1.2, k = 4e3, c = 40;
  J1 w(q(start = 1.4));
  J1 x, y, sx, sy;
  J0 fx, fy;
  TF tx(m = l*cos(w.q)), ty(m = l*sin(w.q));
  C kx(C = 1/k), ky(C = 1/k);
  R cx(R = c), cy(R = c);
  I mx(I = m), my(I = m);
  Se g(e = -m*9.81);
bonds
  w -> tx -> fx -> x -> mx;
  w -> ty -> fy -> y -> my;
  fx -> sx -> kx, cx;
  fy -> sy -> ky, cy;
  g -> y;
  annotation(experiment(StopTime = 3, Tolerance = 1e-9));
end Held;
"""


def test_a_loop_of_dampers_decides_a_massless_crank_at_every_angle() -> None:
    result = bglang.loads(HELD).simulate(points=61)
    m, length, k, c = 2.0, 1.2, 4e3, 40.0

    def slope(_: float, s: np.ndarray) -> list[float]:
        """Of the angle, the stretches and the velocities; the balance of moments gives the crank's rate."""
        w, qx, qy, vx, vy = s
        a, b = length * np.cos(w), length * np.sin(w)
        rate = (a * (c * vx - k * qx) + b * (c * vy - k * qy)) / (c * (a * a + b * b))
        ex, ey = k * qx + c * (a * rate - vx), k * qy + c * (b * rate - vy)
        return [rate, a * rate - vx, b * rate - vy, ex / m, ey / m - 9.81]

    exact = solve_ivp(slope, (0, 3), [1.4, 0, 0, 0, 0], t_eval=result.time, rtol=1e-10, atol=1e-12, method="Radau")
    assert exact.y[0].min() < -np.pi / 4
    assert np.abs(result["w.q"] - exact.y[0]).max() < 1e-6
