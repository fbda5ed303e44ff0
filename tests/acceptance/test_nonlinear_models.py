"""Nonlinear, modulated and event-driven models against scipy on equations written by hand, or exact times."""

import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

import bglang


def simulate(text: str, **options: object) -> "bglang.Result":
    return bglang.loads(text).simulate(tol=1e-9, points=101, **options)


def reference(f, y0, t):
    return solve_ivp(f, (t[0], t[-1]), y0, method="DOP853", rtol=1e-11, atol=1e-12, t_eval=t).y


def close(actual: np.ndarray, expected: np.ndarray, tolerance: float = 1e-6) -> None:
    scale = np.max(np.abs(expected)) or 1.0
    assert np.max(np.abs(actual - expected)) <= tolerance * scale


def test_pendulum_with_modulated_transformers() -> None:
    r = simulate(
        """
        model Pendulum
          parameter Real l = 0.7, m = 2;
          J1 w(q(start = 1.2)); J1 vx, vy; TF tx(m = l*cos(w.q)), ty(m = l*sin(w.q));
          I mx(I = m), my(I = m); Se g(e = -9.81*m);
        bonds
          w -> tx -> vx -> mx; w -> ty -> vy -> my; g -> vy;
        end Pendulum;""",
        stop=4,
    )
    y = reference(lambda t, y: [y[1], -9.81 / 0.7 * math.sin(y[0])], [1.2, 0.0], r.time)
    close(r["w.q"], y[0])


def test_roller_coaster_with_dependent_vertical_mass() -> None:
    """x'' (1 + h'^2) + h' h'' x'^2 = -g h': the plain rule m(1 + slope^2) would lose the second term."""
    r = simulate(
        """
        model Coaster
          parameter Real m = 10, g = 9.81;
          J1 vx(q(start = 0)), vy; I ix(I = m, p(start = 60)), iy(I = m);
          TF slope(m = 2*0.3*cos(0.3*vx.q)); Se weight(e = -m*g);
        bonds
          vx -> ix; vx -> slope -> vy -> iy; weight -> vy;
        end Coaster;""",
        stop=10,
    )

    def rhs(t, y):
        x, v = y
        h1, h2 = 0.6 * math.cos(0.3 * x), -0.18 * math.sin(0.3 * x)
        return [v, -(h1 * h2 * v * v + 9.81 * h1) / (1 + h1 * h1)]

    y = reference(rhs, [0.0, 6.0], r.time)
    close(r["vx.q"], y[0])
    close(r["vx.f"], y[1])


def test_diode_in_series_is_inverted_exactly() -> None:
    r = simulate(
        """
        model M
          parameter Real Is = 1e-9, Vt = 0.025;
          Se u(e = 5*sin(time)); J1 i; R r(R = 100); R diode(f = Is*(exp(e/Vt) - 1)); C c(C = 1e-2);
        bonds
          u -> i -> r, diode, c;
        end M;""",
        stop=6,
    )

    def rhs(t, y):
        u = 5 * math.sin(t) - y[0] / 1e-2

        def gap(e):  # the voltage of the diode
            return u - 100 * 1e-9 * math.expm1(e / 0.025) - e

        e = brentq(gap, u - 1.0 if u < 0 else -1.0, max(u, 0.0) + 1e-6, xtol=1e-15)
        return [1e-9 * math.expm1(e / 0.025)]

    y = solve_ivp(rhs, (0, 6), [0.0], method="Radau", rtol=1e-9, atol=1e-13, t_eval=r.time).y
    close(r["c.q"], y[0], 1e-5)


def test_implicit_orifice_law() -> None:
    r = simulate(
        """
        model M
          Se u(e = 3); J1 i; I l(I = 1); R orifice(0 = e - f - 2*f*abs(f));
        bonds
          u -> i -> l, orifice;
        end M;""",
        stop=2,
    )
    y = reference(lambda t, y: [3 - y[0] - 2 * y[0] * abs(y[0])], [0.0], r.time)
    close(r["i.f"], y[0])


def test_conservative_field_from_an_energy() -> None:
    r = simulate(
        """
        element Gap
          port Any mag; port Translational mech;
          energy = (2 - mech.q)*mag.q^2/2 + 5*mech.q^2;
        end Gap;
        model M
          Gap gap(mag.q(start = 1)); J1 v, i; I m(I = 1), l(I = 1);
        bonds
          v -> m; v -> gap.mech; i -> l; i -> gap.mag;
        end M;""",
        stop=5,
    )

    def rhs(t, y):
        q, x, p, i = y
        return [i, p, q * q / 2 - 10 * x, -(2 - x) * q]

    y = reference(rhs, [1.0, 0.0, 0.0, 0.0], r.time)
    close(r["gap.mag.q"], y[0])
    close(r["gap.mech.q"], y[1])
    energy = (
        (2 - r["gap.mech.q"]) * r["gap.mag.q"] ** 2 / 2
        + 5 * r["gap.mech.q"] ** 2
        + r["m.p"] ** 2 / 2
        + r["l.p"] ** 2 / 2
    )
    assert np.ptp(energy) < 1e-6


def test_coulomb_oscillator_sticks_exactly() -> None:
    """Each half swing takes 2 Fc/k off the amplitude; the thesis' numbers with q(0) = 16.5 end at rest."""
    r = simulate(
        """
        model Oscillator
          J1 v; I mass(I = 1); C spring(C = 1, q(start = 16.5)); R friction(e = coulomb(f, 1));
        bonds
          v -> mass, spring, friction;
        end Oscillator;""",
        stop=30,
    )
    half_swings = 8  # 16.5 -> -14.5 -> ... -> 0.5: then |k q| < Fc
    end = half_swings * math.pi
    at_rest = r.time > end + 1e-9
    assert at_rest.any()
    assert np.max(np.abs(r["v.f"][at_rest])) < 1e-12
    close(r["spring.q"][at_rest], np.full(at_rest.sum(), 0.5), 1e-6)
    close(r["friction.e"][at_rest], np.full(at_rest.sum(), -0.5), 1e-6)
    n = np.floor(r.time / math.pi)
    amplitude = 16.5 - 2 * n - 1
    sign = np.where(n % 2 == 0, 1.0, -1.0)
    expected = np.where(at_rest, 0.5, sign + sign * amplitude * np.cos(r.time - n * math.pi))
    close(r["spring.q"], expected, 1e-6)


def test_bouncing_ball_hits_at_exact_times() -> None:
    r = simulate(
        """
        model Ball
          J1 v; I m(I = 1); Se g(e = -9.81); Real h(start = 1);
        bonds
          g -> v -> m;
        equation
          der(h) = v.f;
          when h < 0 then reinit(m.p, -0.8*m.p); end when;
        end Ball;""",
        stop=2,
    )
    first = math.sqrt(2 / 9.81)
    impacts, t, v = [], first, 9.81 * first
    while t < 2:
        impacts.append(t)
        v *= 0.8
        t += 2 * v / 9.81
    times = sorted({round(e.time, 9) for e in r.events})
    assert len(times) == len(impacts)
    assert np.allclose(times, impacts, atol=1e-8)


def test_zeno_stops_with_the_accumulation_time() -> None:
    model = bglang.loads("""
        model Ball
          J1 v; I m(I = 1); Se g(e = -9.81); Real h(start = 1);
        bonds
          g -> v -> m;
        equation
          der(h) = v.f;
          when h < 0 then reinit(m.p, -0.5*m.p); end when;
        end Ball;""")
    with pytest.raises(bglang.SimulationError) as caught:
        model.simulate(stop=10, tol=1e-9)
    first = math.sqrt(2 / 9.81)
    assert caught.value.result.time[-1] == pytest.approx(3 * first, abs=1e-3)


def test_step_of_a_source_on_a_dependent_path_jumps_the_state() -> None:
    """Two capacitors in a loop with a source: q1/C1 + U = q2/C2 always; the charge moved is what the step asks for."""
    r = simulate(
        """
        model M
          Se u(e = if time < 1 then 0 else 6); J1 i; C c1(C = 1), c2(C = 2); J0 n; R leak(R = 1e9);
        bonds
          u -> i -> c1; i -> n -> c2; n -> leak;
        end M;""",
        stop=2,
    )
    after = r.time > 1.0001
    close(r["c1.q"][after], np.full(after.sum(), 4.0), 1e-5)
    close(r["c2.e"][after], np.full(after.sum(), 2.0), 1e-5)


def test_sampled_controller() -> None:
    r = simulate(
        """
        model Sampled
          J1 v; I m(I = 1); Se drive(e = u); R d(R = 0.5); discrete Real u(start = 0);
        bonds
          drive -> v -> m, d;
        equation
          when sample(0, 0.1) then u = 2*(1 - v.f); end when;
        end Sampled;""",
        stop=3,
    )
    v, expected = 0.0, [0.0]
    decay = math.exp(-0.05)
    for _ in range(30):
        u = 2 * (1 - v)
        v = v * decay + u / 0.5 * (1 - decay)
        expected.append(v)
    at = [float(np.interp(0.1 * k, r.time, r["v.f"])) for k in range(31)]
    assert np.allclose(at[::3], expected[::3], atol=2e-6)


def test_limits_written_as_they_are_thought() -> None:
    r = simulate(
        """
        model Limiter
          parameter Real VS = 10, VZ = -1, Rz = 0.1;
          Sf drive(f = 20*sin(time)); J0 u; R limiter(0 = e - min(VS, max(VZ, e + Rz*f))); R shunt(R = 1);
        bonds
          drive -> u -> limiter, shunt;
        end Limiter;""",
        stop=6,
    )
    close(r["u.e"], np.clip(20 * np.sin(r.time), -1, 10), 1e-6)


def test_ideal_diode_rectifier_conducts_and_blocks() -> None:
    r = simulate(
        """
        model Rectifier
          Se u(e = 10*sin(time)); J1 i; R d(0 = if d_on then e else f); R load(R = 5);
          Boolean d_on(start = false);
        bonds
          u -> i -> d, load;
        equation
          d_on = if pre(d_on) then d.f > 0 else d.e > 0;
        end Rectifier;""",
        stop=12,
    )
    close(r["i.f"], np.maximum(10 * np.sin(r.time), 0) / 5, 1e-5)


def test_spline_table_matches_scipy() -> None:
    from scipy.interpolate import CubicSpline, PchipInterpolator

    x, y = [0, 1, 2.5, 4, 6], [0, 2, 1, 3, 2.5]
    data = "[" + "; ".join(f"{a}, {b}" for a, b in zip(x, y, strict=True)) + "]"
    r = simulate(
        f"""
        model T
          constant Real data[5, 2] = {data};
          Real a = table(6*time, data, method = "spline"); Real c = table(6*time, data);
          Real b = table(6*time, data, method = "pchip");
          J1 v; R r(R = 1); Sf s(f = a);
        bonds
          s -> v -> r;
        end T;""",
        stop=1,
    )
    close(r["a"], CubicSpline(x, y)(6 * r.time), 1e-10)
    close(r["b"], PchipInterpolator(x, y)(6 * r.time), 1e-10)
    close(r["c"], np.interp(6 * r.time, x, y), 1e-10)


def test_van_der_pol_relaxation_period() -> None:
    r = simulate(
        """
        model VdP
          parameter Real mu = 100;
          J1 i; I l(I = 1); C c(C = 1, q(start = 2)); R r(e = mu*(c.q^2 - 1)*f);
        bonds
          i -> l, c, r;
        end VdP;""",
        stop=200,
    )
    y = solve_ivp(
        lambda t, y: [y[1], -100 * (y[0] ** 2 - 1) * y[1] - y[0]],
        (0, 200),
        [2.0, 0.0],
        method="Radau",
        rtol=1e-10,
        atol=1e-12,
        t_eval=r.time,
    ).y
    assert np.max(np.abs(r["c.q"][:60] - y[0][:60])) < 1e-4


def test_function_is_inlined_and_differentiated() -> None:
    r = simulate(
        """
        function drag
          input Real v; input Real c[2] = {1, 0.5}; output Real F;
        protected
          Real x;
        algorithm
          F := 0; x := v;
          for k in 1:2 loop F := F + c[k]*x; x := x*abs(v); end for;
        end drag;
        model Falling
          J1 v; I m(I = 1); Se g(e = 9.81); R air(e = drag(f));
        bonds
          g -> v -> m, air;
        end Falling;""",
        stop=3,
    )
    y = reference(lambda t, y: [9.81 - y[0] - 0.5 * y[0] * abs(y[0])], [0.0], r.time)
    close(r["v.f"], y[0])


def test_tank_empties_in_finite_time() -> None:
    """dV/dt = -k sqrt(V/A): empty at 2 sqrt(V0 A)/k."""
    r = simulate(
        """
        model Tank
          J0 p; C tank(C = 1, q(start = 4)); R hole(f = absqrt(e, 1));
        bonds
          p -> tank, hole;
        end Tank;""",
        stop=6,
    )
    expected = np.where(r.time < 4, (2 - r.time / 2) ** 2, 0.0)
    assert np.max(np.abs(r["tank.q"] - expected)) < 1e-4


def test_steady_start() -> None:
    r = simulate(
        """
        model M
          Se u(e = 12); J1 i; R r(R = 3); I l(I = 1); J0 n; C c(C = 1); R load(R = 9);
        bonds
          u -> i -> r, l; i -> n -> c, load;
          annotation(experiment(initial = "steady"));
        end M;""",
        stop=5,
    )
    close(r["i.f"], np.ones(101))
    close(r["n.e"], 9 * np.ones(101))


def test_work_of_nonlinear_spring_equals_kinetic_energy() -> None:
    r = simulate(
        """
        model M
          J1 v; I m(I = 2); C s(e = 3*sinh(q), q(start = 1));
        bonds
          v -> m, s;
        end M;""",
        stop=4,
    )
    stored = [quad(lambda x: 3 * math.sinh(x), 0, q)[0] for q in r["s.q"]]
    total = np.array(stored) + r["m.p"] ** 2 / 4
    assert np.ptp(total) < 1e-6
