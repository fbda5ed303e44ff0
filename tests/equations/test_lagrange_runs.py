"""Runs of Lagrange forms against independent references, and against each other."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from lagrange_models import GEARS, NODES, SLED, TWICE, example  # noqa: E402

import bglang  # noqa: E402
from bglang.results import Result  # noqa: E402

METHODS = ("ggl", "baumgarte", "penalty", "perturbation")


def crank_reference(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The crank angle by itself as coordinate, and the force of the guide from the rod's balance of moments."""
    l1, l2, J1, J2, m, f, Cm = 0.1, 0.3, 0.01, 0.005, 0.5, 2.0, 1.0
    offset = l1 * np.sin(0.3) + l2 * np.sin(-0.09867)

    def kinematics(a: float, w: float) -> tuple[float, ...]:
        b = np.arcsin((offset - l1 * np.sin(a)) / l2)
        g = -l1 * np.cos(a) / (l2 * np.cos(b))  # db/da
        dg = (l1 * np.sin(a) + l2 * np.sin(b) * g**2) / (l2 * np.cos(b))
        return b, g, dg

    def jacobians(a: float, b: float, g: float, dg: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Velocity of the rod's centre and of the slider per crank speed; and the rate of the first."""
        centre = np.array([-l1 * np.sin(a) - l2 / 2 * np.sin(b) * g, l1 * np.cos(a) + l2 / 2 * np.cos(b) * g])
        change = np.array([
            -l1 * np.cos(a) - l2 / 2 * (np.cos(b) * g**2 + np.sin(b) * dg),
            -l1 * np.sin(a) + l2 / 2 * (-np.sin(b) * g**2 + np.cos(b) * dg),
        ])  # fmt: skip
        return centre, change, -l1 * np.sin(a) - l2 * np.sin(b) * g

    def acceleration(a: float, w: float) -> float:
        b, g, dg = kinematics(a, w)
        centre, change, slider = jacobians(a, b, g, dg)
        inertia = J1 + J2 * g**2 + m * centre @ centre
        return float((Cm - f * slider**2 * w - (J2 * g * dg + m * centre @ change) * w**2) / inertia)

    def force(a: float, w: float) -> float:
        """From the balance of moments of the rod about its upper end, with everything but the guide known."""
        b, g, dg = kinematics(a, w)
        centre, change, slider = jacobians(a, b, g, dg)
        dw = acceleration(a, w)
        turning = J2 * (g * dw + dg * w**2)
        push = m * (centre * dw + change * w**2)
        friction = f * slider * w
        arm = l2 / 2 * np.array([-np.sin(b), np.cos(b)])
        return float(-(turning + arm @ push + friction * -l2 * np.sin(b)) / (l2 * np.cos(b)))

    solved = solve_ivp(lambda t, x: [x[1], acceleration(*x)], (0, times[-1]), [0.3, 0.0], "DOP853", times,
                       rtol=1e-12, atol=1e-12)  # fmt: skip
    return solved.y, np.array([force(a, w) for a, w in solved.y.T])


@pytest.fixture(scope="module")
def crank() -> dict[str, Result]:
    model = example("crank_slider")
    return {m: model.simulate(form="lagrange", coordinates=["w1", "w2"], stabilise=m, points=101) for m in METHODS}


@pytest.mark.parametrize("method", METHODS)
def test_crank_slider_against_one_coordinate(crank: dict[str, Result], method: str) -> None:
    result = crank[method]
    (angle, speed), force = crank_reference(result.time)
    soft = method in ("penalty", "perturbation")
    assert result["theta1"] == pytest.approx(angle, abs=2e-4 if soft else 2e-6)
    assert result["w1.f"] == pytest.approx(speed, abs=1e-3 if soft else 2e-5)
    scale = np.abs(force).max()
    assert result["fyB.e"] == pytest.approx(force, abs=(2e-3 if soft else 2e-6) * scale)


def test_drift_is_small_and_reported(crank: dict[str, Result]) -> None:
    for method in ("ggl", "baumgarte"):
        drift = crank[method].stats.drift
        assert set(drift) == {"fyB.constraint", "fyB.constraint_rate"}
        assert drift["fyB.constraint"] < 1e-8 and drift["fyB.constraint_rate"] < 1e-6
        result = crank[method]
        shown = 0.1 * np.sin(result["theta1"]) + 0.3 * np.sin(result["theta2"])
        assert np.ptp(shown) < 2e-8
    assert set(crank["penalty"].stats.drift) == {"fyB_spring.q", "fyB_damper.f"}
    assert crank["penalty"].stats.drift["fyB_spring.q"] < 1e-6


def test_all_variables_exist_and_energy_is_kept(crank: dict[str, Result]) -> None:
    ordinary = example("crank_slider").simulate(points=101)
    for result in crank.values():
        assert set(ordinary.names) <= set(result.names)
        assert result.audit is not None and result.audit.relative_error < 1e-6


def pendulum_reference(times: np.ndarray, m: float = 2.0, g: float = 9.81) -> tuple[np.ndarray, np.ndarray]:
    start = np.arctan2(0.8, 0.6)
    solved = solve_ivp(lambda t, x: [x[1], -g * np.sin(x[0])], (0, times[-1]), [start, 0.0], "DOP853", times,
                       rtol=1e-12, atol=1e-12)  # fmt: skip
    angle, speed = solved.y
    pull = m * (g * np.cos(angle) + speed**2)  # on a rod of length 1
    return angle, pull


@pytest.mark.parametrize("method", METHODS)
def test_pendulum_against_its_angle(method: str) -> None:
    result = example("pendulum").simulate(form="lagrange", coordinates="vx,vy", stabilise=method, points=101)
    angle, pull = pendulum_reference(result.time)
    soft = method in ("penalty", "perturbation")
    assert result["x"] == pytest.approx(np.sin(angle), abs=2e-5 if soft else 2e-6)
    assert result["y"] == pytest.approx(-np.cos(angle), abs=2e-5 if soft else 2e-6)
    assert result["rod.e"] == pytest.approx(pull, rel=2e-3 if soft else 1e-5)


@pytest.mark.parametrize("level", ["position", "velocity", "acceleration"])
def test_levels_of_constraints(level: str) -> None:
    result = example("pendulum").simulate(form="lagrange", coordinates="vx,vy", constraints=level, points=51)
    angle, _ = pendulum_reference(result.time)
    assert result["x"] == pytest.approx(np.sin(angle), abs=2e-5)
    assert result.stats.drift["rod.constraint"] < 1e-5


def test_multipliers_at_dependent_storages() -> None:
    model = example("pendulum")
    result = model.simulate(dependent="lambda", points=101)
    angle, _ = pendulum_reference(result.time)
    assert result["x"] == pytest.approx(np.sin(angle), abs=2e-5)
    (name,) = (n for n in result.names if n.endswith(":lambda'.e"))
    assert result[name] == pytest.approx(result["my.e"], abs=1e-6)


def test_numbers_can_be_given_to_a_prepared_form() -> None:
    model = example("pendulum")
    for mass in (1.0, 4.0):
        result = model.simulate(form="lagrange", coordinates="vx,vy", stop=1, points=11, m=mass)
        _, pull = pendulum_reference(result.time, m=mass)
        assert result["rod.e"] == pytest.approx(pull, rel=1e-5)
    moved = model.simulate(form="lagrange", coordinates="vx,vy", stop=1, set={"x.start": 0.0, "y.start": -2.0})
    assert moved["y"] == pytest.approx(-2.0 * np.ones(len(moved)), abs=1e-9)
    assert moved["rod.e"][-1] == pytest.approx(2 * 9.81 / 2)


def test_a_sled_keeps_its_speed_and_its_blade_turns_it() -> None:
    model = bglang.loads(SLED)
    result = model.simulate(form="lagrange", coordinates="vx,vy,w", points=61)
    angle = 0.4 + 1.5 * result.time
    assert result["angle"] == pytest.approx(angle, abs=1e-7)
    assert result["x"] == pytest.approx(2 / 1.5 * (np.sin(angle) - np.sin(0.4)), abs=1e-6)
    assert np.abs(result["blade.e"]) == pytest.approx(2 * 2 * 1.5 * np.ones(61), rel=1e-6)
    assert set(result.stats.drift) == {"blade.constraint_rate"}


def test_gears_with_a_junction_put_in() -> None:
    result = bglang.loads(GEARS).simulate(form="lagrange", coordinates="w1,w2", points=11)
    inertia = 2 + 0.25 * 3
    assert result["w1.f"] == pytest.approx(result.time / inertia, abs=1e-9)
    assert result["w2.f"] == pytest.approx(-0.5 * result.time / inertia, abs=1e-9)
    assert result["j2.e"] == pytest.approx(-0.5 * 3 / inertia * np.ones(11), abs=1e-9)


def test_voltages_as_velocities() -> None:
    """c1 holds 20 V at the start, c2 follows 5 V below; then both discharge through both resistances."""
    for wish in ({}, {"stabilise": "penalty"}):
        result = bglang.loads(NODES).simulate(form="lagrange", coordinates="a,b", points=51, **wish)
        # (C1 + C2) de/dt = -e/R1 - (e - E)/R2 for e at a
        rate, rest = (1 / 100 + 1 / 50) / 3e-3, (5 / 50) / (1 / 100 + 1 / 50)
        start = result["a.e"][0]
        expected = rest + (start - rest) * np.exp(-rate * result.time)
        tolerance = 1e-4 if wish else 1e-7
        assert result["a.e"] == pytest.approx(expected, rel=tolerance)
        assert result["b.e"] == pytest.approx(result["a.e"] - 5, abs=20 * tolerance)
        current = result["b.e"] / 50 - 2e-3 * rate * (start - rest) * np.exp(-rate * result.time)
        assert np.abs(result["tie.f"]) == pytest.approx(np.abs(current), rel=2e-3 if wish else 1e-5)


def test_star_point_voltage() -> None:
    """Two currents as states, the star point's voltage from the third phase."""
    result = example("star").simulate(form="lagrange", coordinates="i1,i2,i3", points=201)
    R, L = np.array([10, 10, 4]), np.array([0.03, 0.03, 0.05])
    phases = np.array([0.0, -2 * np.pi / 3, 2 * np.pi / 3])

    def star(t: float, i: np.ndarray) -> float:
        u = 325 * np.sin(2 * np.pi * 50 * t + phases)
        return float(((u - R * i) / L).sum() / (1 / L).sum())

    def rates(t: float, i: np.ndarray) -> np.ndarray:
        u = 325 * np.sin(2 * np.pi * 50 * t + phases)
        return np.asarray((u - R * i - star(t, i)) / L)

    solved = solve_ivp(rates, (0, 0.2), np.zeros(3), "DOP853", result.time, rtol=1e-11, atol=1e-11)
    for k in range(3):
        assert result[f"i{k + 1}.f"] == pytest.approx(solved.y[k], abs=1e-5)
    expected = [star(t, i) for t, i in zip(result.time, solved.y.T, strict=True)]
    assert result["star.e"] == pytest.approx(np.array(expected), abs=1e-3)


def test_a_coordinate_without_mass() -> None:
    model = example("cam_follower")
    result = model.simulate(form="lagrange", coordinates="w,a,v", points=101, stop=0.5)
    ordinary = model.simulate(points=101, stop=0.5)
    for name in ("phi", "y", "alpha"):
        assert result[name] == pytest.approx(ordinary[name], abs=1e-5)
    # the contact force acts along the normal of the cam
    assert result["side.e"] * np.sin(result["alpha"]) == pytest.approx(
        result["contact.e"] * np.cos(result["alpha"]), abs=1e-6 * np.abs(result["contact.e"]).max()
    )


def test_compliance_shares_a_redundant_load() -> None:
    model = bglang.loads(TWICE)
    result = model.simulate(form="lagrange", coordinates="vx,vy", stabilise="penalty", stiffness=1e7, stop=0.5)
    total = result["first.e"] + 2 * result["second.e"]
    assert np.isfinite(total).all()
    assert np.hypot(result["x"], result["y"]) == pytest.approx(np.ones(len(result)), abs=1e-4)


def test_relaxed_constraints_are_written_as_source(tmp_path: Path) -> None:
    from bglang.cli import main

    target = tmp_path / "soft.bg"
    words = ["equations", str(Path(example("pendulum").request.origin)), "--form", "lagrange"]
    assert main([*words, "--coordinates", "vx,vy", "--stabilise", "perturbation", "-o", str(target)]) == 0
    text = target.read_text()
    assert "C rod_spring(C = 1/rod_k, q(start = " in text and "R rod_damper(R = rod_c)" in text
    result = bglang.load(target).simulate(points=101)
    angle, _ = pendulum_reference(result.time)
    assert result["x"] == pytest.approx(np.sin(angle), abs=1e-4)


def test_an_impact_in_the_lagrange_form() -> None:
    text = """
    model Ball
      J1 v; I m(I = 2, p(start = 0)); Se g(e = -2*9.81); Real h(start = 1);
    bonds
      g -> v -> m;
    equation
      der(h) = v.f;
      when h < 0 then reinit(m.p, -0.5*m.p); end when;
    annotation(experiment(StopTime = 0.6, Tolerance = 1e-9));
    end Ball;
    """
    model = bglang.loads(text)
    one, two = model.simulate(form="lagrange", coordinates="v"), model.simulate()
    assert one["h"] == pytest.approx(two["h"], abs=1e-7)
    assert one["m.p"][-1] == pytest.approx(two["m.p"][-1], abs=1e-7)


MUTUAL = """
element Mutual "two coils on one core"
  port Electrical a; port Electrical b;
  parameter Real L1 = 2, L2 = 3, M = 1;
  energy = (L2*a.p^2 - 2*M*a.p*b.p + L1*b.p^2)/(2*(L1*L2 - M^2));
end Mutual;
model T
  J1 i, j; Mutual m; R r(R = 1), s(R = 2); Se u(e = sin(3*time));
bonds
  u -> i -> r; i -> m.a; j -> s; j -> m.b;
annotation(experiment(StopTime = 3, Tolerance = 1e-9));
end T;
"""
FAST = """
model T "a momentum that does not follow by formula"
  J1 v; I m(f = p/sqrt(1 + p^2)); C s(C = 1, q(start = 0.5)); R d(R = 0.1);
bonds
  v -> m, s, d;
annotation(experiment(StopTime = 5, Tolerance = 1e-9));
end T;
"""
BEAD = """
model T "a mass at a distance that changes: the rate of the modulus counts"
  Real r(start = 1);
  J1 v, w, vt; I m(I = 1, p(start = 0.1)), J(I = 2, p(start = 2)), mt(I = 1);
  C k(C = 0.2);
  TF t(m = r);
bonds
  v -> m, k; w -> J; w -> t -> vt -> mt;
equation
  der(r) = v.f;
annotation(experiment(StopTime = 3, Tolerance = 1e-9));
end T;
"""
DRIVEN = """
model T "a motion that is prescribed between two masses"
  J1 a, b; I m1(I = 1), m2(I = 2); C s(C = 0.1); Sf drive(f = cos(2*time)); J0 j;
bonds
  a -> m1; b -> m2, s; a -> j; drive -> j; j -> b;
annotation(experiment(StopTime = 3, Tolerance = 1e-9));
end T;
"""


@pytest.mark.parametrize("text", [MUTUAL, FAST, BEAD, DRIVEN], ids=["mutual", "fast", "bead", "driven"])
@pytest.mark.parametrize("wish", [{"form": "lagrange"}, {"dependent": "lambda"}], ids=["lagrange", "lambda"])
def test_agrees_with_the_ordinary_form(text: str, wish: dict[str, str]) -> None:
    model = bglang.loads(text)
    one, two = model.simulate(points=31, **wish), model.simulate(points=31)  # type: ignore[arg-type]
    for name in two.names:
        size = max(float(np.abs(two[name]).max()), 1e-2)
        assert one[name] == pytest.approx(two[name], abs=2e-5 * size), name


def test_driven_with_both_masses_as_coordinates() -> None:
    model = bglang.loads(DRIVEN)
    one, two = model.simulate(points=31, form="lagrange", coordinates="a,b"), model.simulate(points=31)
    assert one["j.e"] == pytest.approx(two["j.e"], abs=1e-5 * float(np.abs(two["j.e"]).max()))
    made = model.equations("lagrange", coordinates="a,b", constraints="position").to_dict()
    assert made["constraints"] == [{"junction": "j", "residual": "a.q - b.q + 0.5*sin(2*time)", "holonomic": True}]


MOTOR = """
model M "a capacitor and a wheel across a gyrator: efforts and flows as velocities together"
  Se u(e = 10); J1 i; R ri(R = 1); J0 n; C c(C = 0.1); GY g(r = 0.5); J1 w; I J(I = 0.2); R d(R = 0.05);
bonds
  u -> i -> ri; i -> n -> c; n -> g -> w -> J, d;
annotation(experiment(StopTime = 3, Tolerance = 1e-9));
end M;
"""


@pytest.mark.parametrize("coordinates", ["n,w", "w", "n", "w,i", "c,J"])
def test_flows_and_efforts_together(coordinates: str) -> None:
    model = bglang.loads(MOTOR)
    one, two = model.simulate(form="lagrange", coordinates=coordinates, points=31), model.simulate(points=31)
    for name in ("w.f", "n.e", "i.f", "c.f", "J.e"):
        assert one[name] == pytest.approx(two[name], abs=1e-5), name
    made = model.equations("lagrange", coordinates=coordinates).to_dict()
    assert made["degrees_of_freedom"] == (2 if coordinates == "w,i" else 1)
