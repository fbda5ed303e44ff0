"""Systems that an engineer puts together from the library, against their equations by hand and another integrator."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import PchipInterpolator
from using import run

Vector = npt.NDArray[np.float64]
MU0 = 1.25663706212e-6


@dataclass(frozen=True)
class System:
    """A model, and by hand: rates, starts, and which variable of a run each unknown is."""

    nodes: str
    bonds: str
    stop: float
    rate: Callable[[float, Vector], Sequence[float]]
    start: Sequence[float]
    names: Sequence[str]
    longest: float = np.inf


def turbulent(pressure: float, opening: float) -> float:
    full = 0.62 * 2e-5 * np.sqrt(2 / 870)
    return float(max(0.0, min(1.0, opening)) * full * np.sign(pressure) * np.sqrt(abs(pressure)))


def servo(t: float, y: Vector) -> Sequence[float]:
    """The valve swings through zero: P feeds A and B in turn; areas of the piston differ."""
    volume_a, volume_b, momentum = y
    a, b, v, x = volume_a * 7e12, volume_b * 7e12, momentum / 20, 0.6 * np.sin(10 * t)
    into_a = turbulent(7e6 - a, x) - turbulent(a - 1e5, -x)
    into_b = turbulent(7e6 - b, -x) - turbulent(b - 1e5, x)
    return [into_a - 1e-3 * v, into_b + 7e-4 * v, 1e-3 * a - 7e-4 * b - 300 * v]


def bead(t: float, y: Vector) -> Sequence[float]:
    """(J + m s^2) w' + 2 m s s' w = M; m s'' = m s w^2 - k (s - s0)."""
    _, s, w, v = y
    return [w, v, (0.3 - 2 * 0.5 * s * v * w) / (0.4 + 0.5 * s**2), s * w**2 - 40 * (s - 0.6) / 0.5]


def two_bodies(t: float, y: Vector) -> Sequence[float]:
    """Temperatures; the resistor warms the first body, and its resistance rises."""
    a, b = y
    heat = 20**2 / (10 * (1 + 0.004 * (a - 300)))
    return [(heat - 2 * (a - b)) / 100, (2 * (a - b) - 0.5 * (b - 290)) / 250]


def reaction(t: float, y: Vector) -> Sequence[float]:
    """A + 2 B = C by mass action."""
    a, b, c = y
    v = 0.1 * (a * (2 * b) ** 2 - 0.5 * c)
    return [-v, -2 * v, v]


IRON = np.array([[0, 0], [0.5, 100], [1, 250], [1.3, 700], [1.6, 4000], [1.8, 12000]])
FIELD = PchipInterpolator(IRON[:, 0], IRON[:, 1])
GAP = MU0 * (4e-4 / 1e-3 + 2 * 0.26 * 0.02 + 0.02 / np.pi * np.log(1 + 2 * 0.01 / 1e-3))


def magnet(t: float, y: Vector) -> Sequence[float]:
    """Fluxes of the core and of the leakage beside it; the leakage shows the mmf."""
    core, leak = y
    mmf = leak / 5e-8
    rate = (mmf - 0.2 * float(FIELD(core / 4e-4)) - core / GAP) / 500
    return [rate, (10 - 2 * mmf / 200) / 200 - rate]


def puller(t: float, y: Vector) -> Sequence[float]:
    momentum, x, flux = y
    mmf = (2e-3 - x) / (MU0 * 2e-4) * flux + 1e5 * flux
    pull = flux**2 / (2 * MU0 * 2e-4)
    return [pull - 6e4 * x - 4 * momentum / 0.05, momentum / 0.05, (5 - 4 * mmf / 400) / 400]


def windings(t: float, y: Vector) -> Sequence[float]:
    i, j, u = y
    rates = np.linalg.solve([[2, 0.19], [0.19, 0.02]], [325 * np.sin(100 * np.pi * t) - 2 * i, u - 0.1 * j])
    return [*rates, (-j - u / 5) / 1e-4]


def amplifier(t: float, y: Vector) -> Sequence[float]:
    out = max(-15.0, min(15.0, y[0]))
    minus = (0.5 * np.sin(2000 * np.pi * t) * 1e4 + out * 1e3) / 1.1e4
    return [2 * np.pi * 1e6 * (-minus - y[0] / 1e5)]


def planetary(t: float, y: Vector) -> Sequence[float]:
    sun, ring = y
    gain = np.array([1, 2.5]) / 3.5
    mass = np.diag([0.1, 0.3]) + 0.5 * np.outer(gain, gain)
    return list(np.linalg.solve(mass, [3 * np.sin(np.pi * t), 0] - gain * 0.2 * (gain @ np.array([sun, ring]))))


SYSTEMS = {
    "servo drive": System(
        """Hydraulic.Sources.ConstantPressure supply(p0 = 7e6), tank(p0 = 1e5);
        Hydraulic.Components.ServoValve valve(opening = 0.6*sin(10*time), area = 2e-5);
        Hydraulic.Components.DoubleCylinder cylinder(Aa = 1e-3, Ab = 7e-4);
        Hydraulic.Components.Volume va(V0 = 2e-4), vb(V0 = 2e-4); J0 a, b;
        J1 v; Translational.Mass m(m = 20); Translational.Damper d(d = 300);""",
        """supply -> valve.P; valve.T -> tank; valve.A -> a -> va; a -> cylinder.a; cylinder.b -> b -> vb;
        valve.B -> b; cylinder.rod -> v -> m, d;""",
        1, servo, [0, 0, 0], ["va.q", "vb.q", "m.p"], 1e-3,
    ),
    "bead on a turning rod": System(
        """Planar.Pin pin; Planar.PointMass bead(m = 0.5); Planar.Prismatic slide(angle = w.q, s0 = 0.6);
        J1 w(q(start = 0.2)), axis; Rotational.Inertia j(J = 0.4); Rotational.Sources.ConstantTorque torque(M = 0.3);
        Translational.Springs.Preloaded spring(k = 40, F0 = -24, q(start = 0.6));""",
        """pin.x -> slide.ax; pin.y -> slide.ay; torque -> w -> j; w -> slide.aw; slide.bx -> bead.x;
        slide.by -> bead.y; spring -> axis -> slide.axis;""",
        3, bead, [0.2, 0.6, 0, 0], ["w.q", "slide.rate.q"],
    ),
    "heated body": System(
        """Thermal.Capacity a(Cth = 100, T0 = 300), b(Cth = 250, T0 = 300); Thermal.Conduction g(G = 2), loss(G = 0.5);
        Thermal.HotResistor heater(R = 10, alpha = 0.004, Tref = 300); Thermal.Temperature outside(T = 290);
        Electrical.Sources.ConstantVoltage u(V = 20); J0 ta, tb;""",
        """u -> heater.pin; heater.heat -> ta -> a; ta -> g.hot; g.cold -> tb -> b; tb -> loss.hot;
        loss.cold -> outside;""",
        300, two_bodies, [300, 300], ["a.e", "b.e"],
    ),
    "reaction": System(
        """Chemical.Species A(K = 1, q(start = 2)), B(K = 2, q(start = 3)), C(K = 0.5, q(start = 0.01));
        Chemical.Reaction r(kappa = 0.1); Chemical.Stoichiometry two(n = 1/2); J1 v; J0 a, b, c;""",
        "a -> A; b -> B; c -> C; a -> v; b -> two -> v; v -> r.forward; r.reverse -> c;",
        5, reaction, [2, 3, 0.01], ["A.q", "B.q", "C.q"],
    ),
    "magnet with fringes": System(
        """Electrical.Sources.StepVoltage u(V1 = 10); Electrical.Resistor r(R = 2);
        Magnetic.Components.Winding w(N = 200);
        Magnetic.Components.Iron iron(length = 0.2, area = 4e-4); Magnetic.EddyLoss eddy(G = 500);
        Magnetic.Permeance leak(P = 5e-8), gap(P = Magnetic.Roters.parallel_faces(4e-4, 1e-3)
            + 2*Magnetic.Roters.half_cylinder(0.02) + Magnetic.Roters.half_annulus(0.02, 0.01, 1e-3));
        J1 i, core, beside; J0 mmf;""",
        """u -> i -> r; i -> w.pin; w.core -> mmf; mmf -> core -> iron, gap, eddy; mmf -> beside -> leak;""",
        0.1, magnet, [0, 0], ["iron.q", "leak.q"],
    ),
    "pulling magnet": System(
        """Electrical.Sources.StepVoltage u(V1 = 5); Electrical.Resistor r(R = 4);
        Magnetic.Components.Winding w(N = 400);
        Magnetic.Components.AirGap gap(g0 = 2e-3, area = 2e-4); Magnetic.Reluctance core(Rm = 1e5);
        Translational.Mass m(m = 0.05); Translational.Spring k(k = 6e4); Translational.Damper d(d = 4);
        J1 i, v, flux;""",
        "u -> i -> r; i -> w.pin; w.core -> flux -> core; flux -> gap.mag; v -> m, k, d; v -> gap.mech;",
        0.1, puller, [0, 0, 0], ["m.p", "k.q", "core.q"],
    ),
    "loaded transformer": System(
        """Electrical.Sources.SineVoltage u(V = 325); Electrical.Resistor load(R = 5); Electrical.Capacitor c(C = 1e-4);
        Electrical.Machines.Transformer t(R1 = 2, R2 = 0.1, L1 = 2, L2 = 0.02, M = 0.19); J0 out;""",
        "u -> t.primary; out -> t.secondary; out -> load, c;",
        0.1, windings, [0, 0, 0], ["t.i1.f", "t.i2.f", "c.e"],
    ),
    "inverting amplifier": System(
        """Electrical.Sources.SineVoltage u(V = 0.5, frequency = 1000); Electrical.Resistor r1(R = 1e3), r2(R = 1e4);
        Electrical.Semiconductors.OpAmp op; Electrical.Resistor load(R = 2e3);
        J0 minus, out, plus; J1 i1, i2; Se zero(e = 0);""",
        """u -> i1 -> minus; i1 -> r1; minus -> op.minus; zero -> plus -> op.plus; minus -> i2 -> out; i2 -> r2;
        op.out -> out -> load;""",
        2e-3, amplifier, [0], ["op.v"],
    ),
    "planetary gear": System(
        """Rotational.Drives.Planetary gear(ratio = 2.5); Rotational.Sources.SineTorque motor(M = 3, frequency = 0.5);
        J1 s, r, c; Rotational.Inertia js(J = 0.1), jr(J = 0.3), jc(J = 0.5); Rotational.Damper d(d = 0.2);""",
        "motor -> s -> js; s -> gear.sun; r -> jr; r -> gear.ring; gear.carrier -> c -> jc, d;",
        4, planetary, [0, 0], ["s.f", "r.f"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_system(name: str) -> None:
    system = SYSTEMS[name]
    result = run(system.nodes, system.bonds, system.stop, points=51)
    options = {"rtol": 1e-10, "atol": 1e-14, "max_step": system.longest}
    wanted = solve_ivp(system.rate, (0, system.stop), system.start, "LSODA", result.time, **options)
    assert wanted.success
    for column, values in zip(system.names, wanted.y, strict=False):
        assert np.abs(result[column] - values).max() < 1e-6 * np.abs(values).max(), column


def test_an_ideal_freewheel_does_not_slip() -> None:
    """A sine torque drives a load through it; while it carries both turn as one, else each runs down alone."""
    result = run(
        """Rotational.Sources.SineTorque torque(M = 2, frequency = 0.4); J1 a, b, slip; J0 m;
        Rotational.Inertia ja(J = 0.1), jb(J = 0.5); Rotational.Damper da(d = 0.3), db(d = 0.2);
        Rotational.Drives.IdealFreewheel wheel;""",
        "torque -> a -> ja, da; a -> m -> b -> jb, db; m -> slip -> wheel;",
        2.5,
    )
    slip = result["a.f"] - result["b.f"]
    assert slip.max() < 1e-9 and result["wheel.e"].min() > -1e-9
    assert np.abs(slip * result["wheel.e"]).max() < 1e-9

    def together(t: float, y: Vector) -> list[float]:
        return [(2 * np.sin(0.8 * np.pi * t) - 0.5 * y[0]) / 0.6]

    first = result.time < 1.15
    wanted = solve_ivp(together, (0, 1.15), [0], "DOP853", result.time[first], rtol=1e-11, atol=1e-12).y[0]
    assert np.abs(result["b.f"][first] - wanted).max() < 1e-7
    alone = (result.time > 1.17) & (result.time < 2.5)
    start = result["b.f"][alone][0]
    assert result["b.f"][alone] == pytest.approx(start * np.exp(-0.4 * (result.time[alone] - result.time[alone][0])))
