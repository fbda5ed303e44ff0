"""Translational, rotational and planar classes against mechanics on paper."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from using import run

SWING = np.sqrt(50 / 2 - 0.25**2)


def swing(t: np.ndarray) -> np.ndarray:
    """Displacement of mass 2, stiffness 50, damping 1 after release at 0.1."""
    return 0.1 * np.exp(-0.25 * t) * (np.cos(SWING * t) + 0.25 / SWING * np.sin(SWING * t))


@pytest.mark.parametrize(
    "nodes",
    [
        "Translational.Mass m(m = 2); Translational.Spring s(k = 50, q(start = 0.1)); Translational.Damper d(d = 1);",
        "Rotational.Inertia m(J = 2); Rotational.Spring s(k = 50, q(start = 0.1)); Rotational.Damper d(d = 1);",
    ],
)
def test_mass_spring_damper(nodes: str) -> None:
    result = run(f"J1 v; {nodes}", "v -> m, s, d;", 3.0)
    assert result["s.q"] == pytest.approx(swing(result.time), abs=1e-7)


def test_spring_and_damper_as_one() -> None:
    result = run(
        """J1 v; Translational.Mass m(m = 2);
        Translational.Springs.SpringDamper s(k = 50, d = 1, spring.q(start = 0.1));""",
        "v -> m; v -> s;",
        3.0,
    )
    assert result["s.spring.q"] == pytest.approx(swing(result.time), abs=1e-7)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("Translational.Springs.Hardening c(k = 2, k3 = 5)", lambda q: 2 * q + 5 * q**3),
        ("Translational.Springs.Preloaded c(k = 2, F0 = 5)", lambda q: 5 + 2 * q),
        ("Translational.Springs.Stop c(k = 2, gap = 0.3)", lambda q: 2 * np.maximum(0, q - 0.3)),
        (
            "Translational.Springs.TwoStops c(k = 2, lower = -0.2, upper = 0.3)",
            lambda q: 2 * (q - np.clip(q, -0.2, 0.3)),
        ),
        ("Rotational.Drives.Stop c(k = 2, gap = 0.3)", lambda q: 2 * np.maximum(0, q - 0.3)),
        ("Rotational.Drives.Backlash c(k = 2, b = 0.25)", lambda q: 2 * (q - np.clip(q, -0.25, 0.25))),
    ],
)
def test_springs_that_are_moved(kind: str, law: object) -> None:
    result = run(f"Sf s(f = 4*cos(5*time)); J1 v; {kind};", "s -> v -> c;", 2.0)
    q = 0.8 * np.sin(5 * result.time)
    assert callable(law)
    assert result["c.e"] == pytest.approx(law(q), abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("Translational.Friction.Coulomb r(Fc = 3)", lambda f: 3 * np.sign(f)),
        ("Translational.Friction.CoulombViscous r(Fc = 3, d = 2)", lambda f: 3 * np.sign(f) + 2 * f),
        (
            "Translational.Friction.Stribeck r(Fc = 3, Fs = 5, vs = 0.5, d = 2)",
            lambda f: np.sign(f) * (3 + 2 * np.exp(-((f / 0.5) ** 2))) + 2 * f,
        ),
        ("Translational.Friction.Brake r(N = 10, mu = 0.3)", lambda f: 3 * np.sign(f)),
        ("Translational.Friction.QuadraticDrag r(c = 3)", lambda f: 3 * f * np.abs(f)),
        ("Rotational.Friction.Coulomb r(Mc = 3)", lambda f: 3 * np.sign(f)),
        ("Rotational.Friction.CoulombViscous r(Mc = 3, d = 2)", lambda f: 3 * np.sign(f) + 2 * f),
        (
            "Rotational.Friction.Stribeck r(Mc = 3, Ms = 5, ws = 0.5, d = 2)",
            lambda f: np.sign(f) * (3 + 2 * np.exp(-((f / 0.5) ** 2))) + 2 * f,
        ),
        ("Rotational.Friction.Clutch r(M = 3)", lambda f: 3 * np.sign(f)),
    ],
)
def test_friction_while_it_slides(kind: str, law: object) -> None:
    assert callable(law)
    for way in (1, -1):
        result = run(f"Sf s(f = {way}*(1.1 + cos(5*time))); J1 v; {kind};", "s -> v -> r;", 2.0)
        assert result["r.e"] == pytest.approx(law(way * (1.1 + np.cos(5 * result.time))), abs=1e-9)


@pytest.mark.parametrize(
    ("kind", "breakaway"),
    [
        ("Translational.Friction.Coulomb r(Fc = 3)", 3),
        ("Translational.Friction.Stribeck r(Fc = 2, Fs = 3, vs = 0.1)", 3),
        ("Translational.Friction.Brake r(N = 10, mu = 0.3)", 3),
        ("Rotational.Friction.Stribeck r(Mc = 2, Ms = 3, ws = 0.1)", 3),
        ("Rotational.Friction.Clutch r(M = 3)", 3),
    ],
)
def test_friction_sticks_until_it_breaks_away(kind: str, breakaway: float) -> None:
    """A force that grows by 1 N/s moves nothing before it exceeds the limit."""
    result = run(f"Se s(e = time); J1 v; I m(I = 1); {kind};", "s -> v -> m, r;", 4.0)
    still = result.time <= breakaway
    assert np.all(result["v.f"][still] == 0.0)
    assert result["r.e"][still] == pytest.approx(result.time[still])
    assert result["v.f"][-1] > 0.1


def test_stick_slip_with_stribeck() -> None:
    """A block pulled by a spring sticks and slips; each stick ends at the breakaway force."""
    result = run(
        """Sf pull(f = 0.05); J0 n; J1 v; C s(e = 20*q); I m(I = 1);
        Translational.Friction.Stribeck r(Fc = 1, Fs = 2, vs = 0.05, d = 0.1);""",
        "pull -> n -> v -> m, r; n -> s;",
        10.0,
        points=501,
    )
    still = np.abs(result["v.f"]) < 1e-20
    assert 1.95 < result["r.e"][still].max() <= 2.0 + 1e-9
    assert 0.5 < np.mean(still) < 0.95


def test_contact_pushes_and_never_pulls() -> None:
    """A ball of 1 kg falls on a damped contact: half a swing of a damped oscillator, cut off when the force is gone."""
    result = run(
        """J1 v; Se g(e = 9.81); I m(I = 1, p(start = 2));
        Translational.Springs.Contact c(k = 1e4, d = 20, gap = 0.1);""",
        "g -> v -> m; v -> c;",
        0.2,
        points=401,
    )
    force = 1e4 * (result["c.tip.q"] - 0.1) + 20 * result["v.f"]
    expected = np.where(result["c.tip.q"] > 0.1, np.maximum(0, force), 0)
    assert result["c.tip.e"] == pytest.approx(expected, abs=1e-6)
    assert result["c.tip.e"].min() == 0.0 and result["c.tip.e"].max() > 100 and result["v.f"].min() < -1


@pytest.mark.parametrize(
    ("kind", "ratio"),
    [
        ("Translational.Levers.Lever t(a = 2, b = 6);", 3.0),
        ("Rotational.Drives.Gear t(ratio = 4);", 0.25),
    ],
)
def test_levers_and_gears(kind: str, ratio: float) -> None:
    """The second mass counts by the square of the ratio of velocities."""
    result = run(f"Se s(e = 2); J1 a, b; I m(I = 5); R r(R = 3); {kind}", "s -> a -> m, t; t -> b -> r;", 2.0)
    rate = ratio**2 * 3 / 5
    assert result["a.f"] == pytest.approx(2 / (5 * rate) * (1 - np.exp(-rate * result.time)), abs=1e-8)
    assert result["b.f"] == pytest.approx(ratio * result["a.f"], abs=1e-12)


@pytest.mark.parametrize(
    ("kind", "ports", "ratio"),
    [
        ("Translational.Levers.RackAndPinion t(r = 0.02)", ("shaft", "rack"), 0.02),
        ("Translational.Levers.Screw t(lead = 0.01)", ("shaft", "nut"), 0.01 / (2 * np.pi)),
    ],
)
def test_turning_becomes_translation(kind: str, ports: tuple[str, str], ratio: float) -> None:
    result = run(f"Se s(e = 2); J1 w, v; R a(R = 0.1), b(R = 50); {kind};",
                 f"s -> w -> a; w -> t.{ports[0]}; t.{ports[1]} -> v -> b;", 1.0)  # fmt: skip
    assert result["v.f"][-1] == pytest.approx(ratio * 2 / (0.1 + ratio**2 * 50))


def test_elastic_shaft() -> None:
    result = run(
        "Rotational.Inertia a(J = 1, p(start = 3)), b(J = 2); J1 wa, wb; Rotational.Drives.Shaft s(k = 40, d = 0.3);",
        "wa -> a; wb -> b; wa -> s.a; s.b -> wb;",
        3.0,
    )

    def rate(t: float, y: np.ndarray) -> list[float]:
        torque = 40 * y[2] + 0.3 * (y[0] - y[1])
        return [-torque, torque / 2, y[0] - y[1]]

    expected = solve_ivp(rate, (0, 3), [3, 0, 0], "DOP853", result.time, rtol=1e-11, atol=1e-12).y
    assert result["wa.f"] == pytest.approx(expected[0], abs=1e-7)
    assert result["s.spring.q"] == pytest.approx(expected[2], abs=1e-7)


def test_planetary_gear() -> None:
    """Sun driven, ring held: the carrier turns by 1/(1 + ratio), with the torque times that."""
    result = run(
        """Sf sun(f = 12), ring(f = 0); R load(R = 2); J1 w; Rotational.Drives.Planetary p(ratio = 2);""",
        "sun -> p.sun; ring -> p.ring; p.carrier -> w -> load;",
        1.0,
    )
    assert result["w.f"][-1] == pytest.approx(4.0)
    assert result["sun.e"][-1] == pytest.approx(8.0 / 3)
    assert result["ring.e"][-1] == pytest.approx(2 * 8.0 / 3)


def test_freewheel_overruns() -> None:
    """A motor that swings drives a wheel only forward; while the wheel is faster it coasts."""
    result = run(
        """Se M(e = 2*sin(2*time)); J1 a, w, slip; I motor(I = 0.5), wheel(I = 1, p(start = 0.2));
        J0 n; R drag(R = 0.2); Rotational.Drives.Freewheel f(d = 1e3);""",
        "M -> a -> motor; a -> n -> w -> wheel, drag; n -> slip -> f;",
        4.0,
    )

    def rate(t: float, y: np.ndarray) -> list[float]:
        torque = 1e3 * max(0.0, y[0] - y[1])
        return [(2 * np.sin(2 * t) - torque) / 0.5, torque - 0.2 * y[1]]

    expected = solve_ivp(rate, (0, 4), [0, 0.2], "Radau", result.time, rtol=1e-9, atol=1e-11).y
    assert result["a.f"] == pytest.approx(expected[0], abs=1e-5)
    assert result["w.f"] == pytest.approx(expected[1], abs=1e-5)


def test_point_mass_flies() -> None:
    result = run(
        """Planar.PointMass m(m = 2, x.p(start = 6), y.p(start = 8));
        J1 vx(q(start = 0)), vy(q(start = 0)); Se g(e = -2*9.81), air(e = 0);""",
        "air -> vx -> m.x; g -> vy -> m.y;",
        1.0,
    )
    assert result["vx.q"] == pytest.approx(3 * result.time, abs=1e-9)
    assert result["vy.q"] == pytest.approx(4 * result.time - 9.81 / 2 * result.time**2, abs=1e-8)


def test_pinned_body_is_a_physical_pendulum() -> None:
    """Pin, arm and body: (J + m*l^2)*angle'' = -m*g*l*cos(angle), the angle from the horizontal."""
    result = run(
        """Planar.Pin pin; Planar.Arm arm(l = 0.5, angle = body.omega.q);
        Planar.Body body(m = 2, J = 0.1, g = 9.81, omega.q(start = -1)); J1 w; R bearing(R = 0.05);""",
        "pin.x -> arm.bx; pin.y -> arm.by; arm.tx -> body.x; arm.ty -> body.y; w -> arm.w; w -> bearing; w -> body.w;",
        3.0,
    )
    inertia = 0.1 + 2 * 0.25

    def rate(t: float, y: np.ndarray) -> list[float]:
        return [y[1], (-2 * 9.81 * 0.5 * np.cos(y[0]) - 0.05 * y[1]) / inertia]

    expected = solve_ivp(rate, (0, 3), [-1, 0], "DOP853", result.time, rtol=1e-11, atol=1e-12).y
    assert result["body.omega.q"] == pytest.approx(expected[0], abs=1e-6)
    assert result["w.f"] == pytest.approx(expected[1], abs=1e-6)


def test_bead_on_a_turning_rod() -> None:
    """A slider on a rod that turns at constant speed flies outward: s = s0*cosh(w*t)."""
    result = run(
        """Planar.Pin pin; Sf turn(f = 2), hold(f = 0); J1 w(q(start = 0.3)); Se free(e = 0);
        Planar.Prismatic guide(angle = w.q, s0 = 0.1); Planar.PointMass bead(m = 0.7, y.p(start = 0.7*0.2*cos(0.3)),
        x.p(start = -0.7*0.2*sin(0.3)));""".replace(", hold(f = 0)", ""),
        """pin.x -> guide.ax; pin.y -> guide.ay; turn -> w -> guide.aw; free -> guide.axis;
        guide.bx -> bead.x; guide.by -> bead.y;""",
        1.5,
    )
    assert result["guide.rate.q"] == pytest.approx(0.1 * np.cosh(2 * result.time), abs=1e-6)
    place, spin = result["guide.rate.q"], result["guide.rate.f"]
    assert result["turn.e"] == pytest.approx(2 * 0.7 * 2 * place * spin, abs=1e-5)


def test_revolute_joint_between_two_links() -> None:
    """A double pendulum from joints, arms and bodies against Lagrange's equations."""
    result = run(
        """Planar.Pin pin; J1 wa, wb; R axis(R = 0.1); J1 rel;
        Planar.Arm upper(l = 1, angle = wa.q), lower(l = 0.8, angle = wb.q);
        Planar.PointMass a(m = 1), b(m = 0.5); Se ga(e = -9.81), gb(e = -0.5*9.81);
        Planar.Revolute joint; J1 ax, ay, bx, by;""".replace("J1 wa, wb;", "J1 wa(q(start = -1)), wb(q(start = -2));"),
        """pin.x -> upper.bx; pin.y -> upper.by; wa -> upper.w; wa -> joint.aw; joint.bw -> wb; wb -> lower.w;
        upper.tx -> ax -> a.x; upper.ty -> ay -> a.y; ga -> ay; ax -> joint.ax; ay -> joint.ay;
        joint.bx -> lower.bx; joint.by -> lower.by; lower.tx -> bx -> b.x; lower.ty -> by -> b.y; gb -> by;
        rel -> axis; rel -> joint.axis;""",
        1.5,
    )

    def rate(t: float, y: np.ndarray) -> list[float]:
        p, q, wp, wq = y
        c, s = 0.5 * 0.8 * np.cos(p - q), 0.5 * 0.8 * np.sin(p - q)
        mass = np.array([[1.5, c], [c, 0.5 * 0.64]])
        friction = 0.1 * (wq - wp)
        right = [-s * wq**2 - 9.81 * 1.5 * np.cos(p) + friction, s * wp**2 - 9.81 * 0.4 * np.cos(q) - friction]
        return [wp, wq, *np.linalg.solve(mass, right)]

    expected = solve_ivp(rate, (0, 1.5), [-1, -2, 0, 0], "DOP853", result.time, rtol=1e-11, atol=1e-12).y
    assert result["wa.q"] == pytest.approx(expected[0], abs=1e-6)
    assert result["wb.q"] == pytest.approx(expected[1], abs=1e-6)
