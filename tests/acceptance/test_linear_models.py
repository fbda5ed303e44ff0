"""Whole models, from text to trajectory, against closed forms.

Each test writes its own source, runs it, and compares with a solution that was derived by hand."""

import math

import numpy as np
import pytest

import bglang


def simulate(text: str, **options: object) -> "bglang.Result":
    return bglang.loads(text).simulate(tol=1e-9, points=101, **options)


def close(actual: np.ndarray, expected: np.ndarray, tolerance: float = 1e-6) -> None:
    scale = np.max(np.abs(expected)) or 1.0
    assert np.max(np.abs(actual - expected)) <= tolerance * scale


def test_capacitor_charges_through_a_resistor() -> None:
    r = simulate(
        """
        model RC
          parameter Real U = 10, R = 2, C = 0.5;
          Se supply(e = U); J1 i; R res(R = R); C cap(C = C);
        bonds
          supply -> i -> res, cap;
        end RC;""",
        stop=5,
    )
    t = r.time
    close(r["cap.e"], 10 * (1 - np.exp(-t)))
    close(r["i.f"], 5 * np.exp(-t))
    close(r["supply.power"], 10 * 5 * np.exp(-t))


def test_damped_oscillator_with_start_values() -> None:
    r = simulate(
        """
        model Osc
          J1 v; I mass(I = 2, p(start = 1)); C spring(C = 1/8, q(start = 0.3)); R damper(R = 1);
        bonds
          v -> mass, spring, damper;
        end Osc;""",
        stop=10,
    )
    a, w = 0.25, math.sqrt(4 - 0.0625)
    q0, v0 = 0.3, 0.5
    t = r.time
    q = np.exp(-a * t) * (q0 * np.cos(w * t) + (v0 + a * q0) / w * np.sin(w * t))
    close(r["spring.q"], q)


@pytest.mark.parametrize(("arrow", "sign"), [("push -> v", 1.0), ("v -> push", -1.0)])
def test_arrow_of_a_source_is_physics(arrow: str, sign: float) -> None:
    r = simulate(
        f"""
        model M
          Se push(e = 3); J1 v; I mass(I = 2);
        bonds
          {arrow}; v -> mass;
        end M;""",
        stop=2,
    )
    close(r["v.f"], sign * 1.5 * r.time)
    close(r["push.power"], 3 * 1.5 * r.time)


@pytest.mark.parametrize("bond", ["v -> d", "d -> v"])
def test_arrow_of_a_passive_element_does_not_matter(bond: str) -> None:
    r = simulate(
        f"""
        model M
          J1 v; I mass(I = 1, p(start = 2)); R d(e = 2*f);
        bonds
          v -> mass; {bond};
        end M;""",
        stop=2,
    )
    close(r["mass.p"], 2 * np.exp(-2 * r.time))
    close(r["d.f"], 2 * np.exp(-2 * r.time))


def test_arrow_next_to_a_0_junction_keeps_the_effort() -> None:
    r = simulate(
        """
        model M
          J0 u; C c(C = 1, q(start = 2)); R d(f = 3*e);
        bonds
          u -> c; d -> u;
        end M;""",
        stop=1,
    )
    close(r["u.e"], 2 * np.exp(-3 * r.time))
    close(r["d.e"], 2 * np.exp(-3 * r.time))


def test_transformer_and_gyrator_follow_the_definition() -> None:
    r = simulate(
        """
        model M
          Se u(e = 6); J1 a, b; TF t(m = 3); GY g(r = 2); R r1(R = 1), r2(R = 4); J1 c; R r3(R = 8);
        bonds
          u -> a -> r1; a -> t -> b -> r2; b -> g -> c -> r3;
        end M;""",
        stop=1,
    )
    # f2 = 3 f1, e1 = 3 e2; e2 = 4 f2 + 2 f3, 2 f2 = 8 f3  ->  e2 = 4.5 f2 = 13.5 f1;  6 = f1 + 3*13.5 f1
    f1 = 6 / 41.5
    close(r["a.f"], np.full(101, f1))
    close(r["b.f"], np.full(101, 3 * f1))
    close(r["c.f"], np.full(101, 3 * f1 / 4))
    close(r["t.p1.power"], np.full(101, 40.5 * f1 * f1))
    close(r["t.p2.power"], np.full(101, 40.5 * f1 * f1))


def test_dependent_masses_on_a_lever() -> None:
    r = simulate(
        """
        model Lever
          parameter Real a = 2, b = 3, m1 = 4, m2 = 5;
          Se push(e = 7); J1 v1, v2; I i1(I = m1), i2(I = m2); TF lever(m = b/a);
        bonds
          push -> v1 -> i1; v1 -> lever -> v2 -> i2;
        end Lever;""",
        stop=3,
    )
    m = 4 + (3 / 2) ** 2 * 5
    close(r["v1.f"], 7 / m * r.time)
    close(r["i2.p"], 5 * 1.5 * 7 / m * r.time)
    close(r["i2.e"], np.full(101, 5 * 1.5 * 7 / m))


def test_inductor_and_capacitor_joined_by_a_gyrator_are_one_state() -> None:
    r = simulate(
        """
        model M
          Se u(e = 1); J1 i; I l(I = 2); GY g(r = 3); C c(C = 0.5);
        bonds
          u -> i -> l; i -> g -> c;
        end M;""",
        stop=2,
    )
    close(r["i.f"], r.time / (2 + 9 * 0.5))
    close(r["c.e"], 3 * r.time / 6.5)


def test_resistive_algebraic_loop() -> None:
    r = simulate(
        """
        model M
          Se u(e = 10); J1 a; J0 n; R r1(R = 1), r2(R = 2), r3(R = 3); C c(C = 1); J1 b;
        bonds
          u -> a -> r1; a -> n -> r2; n -> b -> r3; b -> c;
        end M;""",
        stop=4,
    )
    # Thevenin: 10*2/3 behind 2/3 ohm + 3 ohm
    tau = 2 / 3 + 3
    close(r["c.e"], 20 / 3 * (1 - np.exp(-r.time / tau)))


def test_element_to_element_bond_means_common_effort() -> None:
    r = simulate(
        """
        model M
          C c(C = 2, q(start = 4)); R r(R = 3);
        bonds
          c -> r;
        end M;""",
        stop=6,
    )
    close(r["c.q"], 4 * np.exp(-r.time / 6))


def test_named_bond_and_displacement_on_demand() -> None:
    r = simulate(
        """
        model M
          Se u(e = 2); J1 v(q(start = 1)); I m(I = 1); R d(R = 1);
          Real x = v.q;
          Real y = drive.energy;
        bonds
          bond drive: u -> v; v -> m, d;
        end M;""",
        stop=3,
    )
    t = r.time
    close(r["v.q"], 1 + 2 * (t - 1 + np.exp(-t)))
    close(r["x"], r["v.q"])
    close(r["drive.e"], np.full(101, 2.0))
    close(r["y"], 4 * (t - 1 + np.exp(-t)))


def test_time_varying_source_on_dependent_storage_uses_its_derivative() -> None:
    r = simulate(
        """
        model M
          Sf drive(f = sin(2*time)); J1 v; I m(I = 3); R d(R = 1);
        bonds
          drive -> v -> m, d;
        end M;""",
        stop=3,
    )
    close(r["m.p"], 3 * np.sin(2 * r.time))
    close(r["m.e"], 6 * np.cos(2 * r.time), 1e-4)


def test_chain_by_macro_against_eigenvectors() -> None:
    n = 8
    r = simulate(
        f"""
        macro Coupling(node a, node b, Real k, Real c = 0)
          J0 force; J1 dv; C spring(C = 1/k);
          if c > 0 then R damper(R = c); end if;
        bonds
          a -> force -> b; force -> dv -> spring;
          if c > 0 then dv -> damper; end if;
        end Coupling;
        model Chain
          parameter Integer n = {n};
          J1 v[n]; I m[n](each I = 1.0);
        bonds
          for i in 1:n loop v[i] -> m[i]; end for;
          for i in 1:n-1 loop Coupling s[i](v[i], v[i+1], k = 100); end for;
        initial equation
          m[1].p = 1;
        end Chain;""",
        stop=2,
    )
    K = 100 * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    K[0, 0] = K[-1, -1] = 100
    lam, V = np.linalg.eigh(K)
    w = np.sqrt(np.maximum(lam, 0))
    v0 = np.zeros(n)
    v0[0] = 1
    modal = V.T @ v0
    for k in (1, 4, n):
        expected = sum(V[k - 1, j] * modal[j] * np.cos(w[j] * r.time) for j in range(n))
        assert np.max(np.abs(r[f"v[{k}].f"] - expected)) < 1e-5


def test_parameters_change_without_compiling_again() -> None:
    model = bglang.loads("""
        model RC
          parameter Real R = 2, C = 0.5;
          J0 u; R res(R = R); C cap(C = C, q(start = 1));
        bonds
          u -> res, cap;
        end RC;""")
    for resistance in (1.0, 2.0, 5.0):
        r = model.simulate(stop=1, tol=1e-9, R=resistance)
        close(r["cap.q"], np.exp(-r.time / (resistance * 0.5)))
    r = model.simulate(stop=1, tol=1e-9, set={"cap.q.start": 3, "res.R": 4})
    close(r["cap.q"], 3 * np.exp(-r.time / 2))


def test_energy_audit_balances() -> None:
    r = simulate(
        """
        model M
          Se u(e = sin(3*time)); J1 v; I m(I = 1); C s(e = q + 0.2*q^3); R d(e = 0.1*f + 0.05*f*abs(f));
        bonds
          u -> v -> m, s, d;
        end M;""",
        stop=20,
    )
    assert r.audit.relative_error <= 1e-6


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_a_moderately_stiff_motor_keeps_the_tolerance(tolerance: float) -> None:
    """The fast current dies out; an explicit method must not forget it and step beyond its stability."""
    from scipy.linalg import expm

    r = bglang.loads("""
        model Motor
          Se u(e = 12); J1 i, w; R r(R = 1); I l(I = 1e-3); GY emf(r = 0.05); I rotor(I = 2e-4); R load(R = 1e-3);
        bonds
          u -> i -> r, l; i -> emf -> w -> rotor, load;
        end Motor;""").simulate(stop=0.3, tol=tolerance, points=61)
    A = np.array([[-1 / 1e-3, -0.05 / 1e-3], [0.05 / 2e-4, -1e-3 / 2e-4]])
    b = np.array([12 / 1e-3, 0])
    exact = np.array([np.linalg.solve(A, (expm(A * t) - np.eye(2)) @ b) for t in r.time])
    assert np.max(np.abs(r["i.f"] - exact[:, 0])) < 10 * tolerance * np.max(exact[:, 0])
