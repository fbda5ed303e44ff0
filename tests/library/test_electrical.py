"""Electrical classes against circuit theory."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from using import run


def test_resistor_conductor_capacitor_and_inductor() -> None:
    """A series circuit with its damped swing in closed form; the conductor stands for a second resistor."""
    result = run(
        """Se u(e = 10); J1 i; J0 n; Electrical.Resistor r(R = 2); Electrical.Conductor g(G = 0.1);
        Electrical.Inductor l(L = 0.5); Electrical.Capacitor c(C = 0.01);""",
        "u -> i -> r, l, n; n -> c; i -> g;",
        2.0,
    )
    t, damping = result.time, (2 + 10) / (2 * 0.5)
    swing = np.sqrt(1 / (0.5 * 0.01) - damping**2)
    expected = 10 - 10 * np.exp(-damping * t) * (np.cos(swing * t) + damping / swing * np.sin(swing * t))
    assert result["c.e"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("volts", [0.5, 2.0, -3.0])
def test_diode(volts: float) -> None:
    result = run(
        f"Se u(e = {volts}); J1 i; R r(R = 100); Electrical.Semiconductors.Diode d(Is = 1e-9, Vt = 0.05);",
        "u -> i -> r, d;",
        1.0,
    )
    expected = brentq(lambda e: (volts - e) / 100 - 1e-9 * (np.exp(e / 0.05) - 1), -5, 1, xtol=1e-15)
    assert result["d.e"][-1] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (
            "PiecewiseDiode d(Vf = 0.6, Ron = 0.1, Goff = 1e-3)",
            lambda e: np.where(e > 0.6, 1e-3 * 0.6 + (e - 0.6) / 0.1, 1e-3 * e),
        ),
        (
            "Zener d(Vz = 5, Vf = 0.6, Ron = 0.1, Goff = 1e-3)",
            lambda e: 1e-3 * e + np.where(e > 0.6, (e - 0.6) / 0.1, np.where(e < -5, (e + 5) / 0.1, 0)),
        ),
        ("Switch d(closed = time < 0.503, Ron = 0.1, Roff = 100)", None),
        (
            "MOSFET d(vgs = 3, Vt = 1, K = 0.5)",
            lambda e: np.where(np.abs(e) < 2, 0.5 * (2 - np.abs(e) / 2) * e, np.sign(e) * 0.25 * 4),
        ),
        ("MOSFET d(vgs = 0.5, Vt = 1, Goff = 1e-3)", lambda e: 1e-3 * e),
    ],
)
def test_laws_of_semiconductors(kind: str, law: object) -> None:
    result = run(f"Se u(e = 8*sin(6.28*time) - 1); J1 i; Electrical.Semiconductors.{kind};", "u -> i -> d;", 1.0)
    e = result["d.e"]
    expected = law(e) if callable(law) else e / np.where(result.time < 0.503, 0.1, 100)
    assert result["d.f"] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_ideal_diode_with_an_inductor() -> None:
    """Half-wave rectifier: the current of the first half swing in closed form; it ends where that is zero again."""
    result = run(
        "Se u(e = 100*sin(100*time)); J1 i; R r(R = 10); I l(I = 0.1); Electrical.Semiconductors.IdealDiode d;",
        "u -> i -> r, l, d;",
        0.06,
        points=601,
    )

    def current(t: float) -> float:
        phase, size = np.arctan2(100 * 0.1, 10), 100 / np.hypot(10, 100 * 0.1)
        return float(size * (np.sin(100 * t - phase) + np.sin(phase) * np.exp(-t / 0.01)))

    end = brentq(current, 0.03, 0.05)
    expected = [current(t) if t < end else 0.0 for t in result.time]
    assert result["i.f"] == pytest.approx(expected, abs=1e-5)


def test_thyristor_fired_late() -> None:
    """It conducts from the gate's pulse until its current has gone, though the pulse ended long before."""
    result = run(
        """Se u(e = 100*sin(314*time)); J1 i; R r(R = 10); I l(I = 0.01);
        Electrical.Semiconductors.Thyristor t(fire = time > 0.003 and time < 0.0035);""",
        "u -> i -> r, l, t;",
        0.02,
    )
    run_on = solve_ivp(
        lambda t, y: [(100 * np.sin(314 * t) - 10 * y[0] - 0.7 - 0.01 * y[0]) / 0.01],
        (0.003, 0.012),
        [0],
        dense_output=True,
        rtol=1e-10,
        atol=1e-12,
    )
    end = brentq(lambda t: run_on.sol(t)[0], 0.008, 0.0118)
    t = result.time
    expected = np.where((t > 0.003) & (t < end), run_on.sol(np.clip(t, 0.003, end))[0], 0)
    assert result["i.f"] == pytest.approx(expected, abs=2e-4)
    assert result["t.on"].tolist() == ((t >= 0.003) & (t < end)).astype(float).tolist()


def test_operational_amplifier_as_inverting_amplifier() -> None:
    """Gain -R2/R1, less what the finite gain costs; beyond the supply it is cut off."""
    nodes = """Se u(e = {u}); J0 n; J1 i1, i2; R r1(R = 1e3), r2(R = 1e4), load(R = 1e3); Se ground(e = 0);
    Electrical.Semiconductors.OpAmp a(A = 1e4, GBW = 1e6, Vs = 15); J0 o;"""
    bonds = "u -> i1 -> n; i1 -> r1; n -> i2 -> o; i2 -> r2; n -> a.minus; ground -> a.plus; a.out -> o -> load;"
    result = run(nodes.format(u="0.5"), bonds, 1e-3)
    assert result["load.e"][-1] == pytest.approx(-0.5 * 10 / (1 + 11 / 1e4), rel=1e-6)
    assert run(nodes.format(u="5"), bonds, 1e-3)["load.e"][-1] == pytest.approx(-15)


def test_ideal_transformer() -> None:
    result = run("Se u(e = 6); J1 a, b; R r(R = 2), s(R = 1); Electrical.Machines.IdealTransformer t(n = 3);",
                 "u -> a -> t -> b -> s; a -> r;", 1.0)  # fmt: skip
    assert result["a.f"][-1] == pytest.approx(6 / (2 + 9 * 1))
    assert result["b.f"][-1] == pytest.approx(3 * 6 / 11)


def test_coupled_windings() -> None:
    """Both as a field and as a transformer with resistances: the linear equations of two windings."""
    L = np.array([[1.0, 0.6], [0.6, 0.5]])
    matrix = -np.linalg.solve(L, np.diag([2.0, 3.0]))
    drive = np.linalg.solve(L, [10.0, 0.0])
    run_on = solve_ivp(lambda t, y: matrix @ y + drive, (0, 2), [0, 0], t_eval=np.linspace(0, 2, 101), rtol=1e-10,
                       atol=1e-12)  # fmt: skip
    field = run(
        """Se u(e = 10); J1 a, b; R r(R = 2), s(R = 3);
        Electrical.Machines.CoupledInductors c(L1 = 1, L2 = 0.5, M = 0.6);""",
        "u -> a -> r; a -> c.a; b -> s; b -> c.b;",
        2.0,
    )
    whole = run(
        "Se u(e = 10), short(e = 0); Electrical.Machines.Transformer t(R1 = 2, R2 = 3, L1 = 1, L2 = 0.5, M = 0.6);",
        "u -> t.primary; short -> t.secondary;",
        2.0,
    )
    for result, names in ((field, ("a.f", "b.f")), (whole, ("t.i1.f", "t.i2.f"))):
        assert result[names[0]] == pytest.approx(run_on.y[0], abs=1e-7)
        assert result[names[1]] == pytest.approx(run_on.y[1], abs=1e-7)


def test_dc_motor() -> None:
    result = run(
        """Se u(e = 12); Electrical.Machines.DCMotor m(R = 1, L = 2e-3, K = 0.05, J = 1e-4, d = 1e-5);
        Rotational.Damper load(d = 1e-4);""",
        "u -> m.pin; m.shaft -> load;",
        0.3,
    )
    matrix = np.array([[-1 / 2e-3, -0.05 / 2e-3], [0.05 / 1e-4, -1.1e-4 / 1e-4]])
    run_on = solve_ivp(lambda t, y: matrix @ y + [12 / 2e-3, 0], (0, 0.3), [0, 0], "Radau", result.time, rtol=1e-9,
                       atol=1e-10)  # fmt: skip
    assert result["m.i.f"] == pytest.approx(run_on.y[0], abs=1e-5)
    assert result["m.w.f"] == pytest.approx(run_on.y[1], abs=1e-4)
