"""Systems with dependent storages against their equations of motion by hand, in all four treatments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp

import bglang

FOLDER = Path(__file__).parents[2] / "examples" / "reduction"
Vector = npt.NDArray[np.float64]
LIMITS = {"implicit": 1e-6, "reduce": 1e-6, "augment": 1e-4, "lambda": 1e-6}


@dataclass(frozen=True)
class System:
    """Rates of a few variables, their starts, and the names under which a run shows them."""

    rate: Callable[[float, Vector], Sequence[float]]
    start: Sequence[float]
    names: Sequence[str]


def two_masses(t: float, y: Vector) -> Sequence[float]:
    v, x = y
    return [(np.sin(3 * t) - 20 * x - 0.4 * v) / (2 + 3), v]


def lever(t: float, y: Vector) -> Sequence[float]:
    """The second end moves twice as far; its mass counts four times."""
    v, stretch = y
    return [(2 * np.sin(2 * t) - 2 * 40 * stretch) / (3 + 4 * 0.5), 2 * v]


def gyrator_field(t: float, y: Vector) -> Sequence[float]:
    """The voltage is r*w, so the capacity's current r*c*w' acts back as the torque r^2*c*w'."""
    w, twist = y
    return [(1 - 0.2 * w - twist / 0.1) / (0.3 + 2**2 * 0.05), w]


def split_path(t: float, y: Vector) -> Sequence[float]:
    v1, v2, x1, x2, u1, u2 = y
    mass = np.array([[1 + 0.5, -0.5], [-0.5, 2 + 0.5]])
    capacity = np.array([[0.2 + 0.3, 0.3], [0.3, 0.1 + 0.3]])
    a = np.linalg.solve(mass, [-x1 / 0.04 - 0.1 * v1, -x2 / 0.1])
    return [*a, v1, v2, *np.linalg.solve(capacity, [-u1 / 3, -u2 / 5])]


def zero_eigenvalue(t: float, y: Vector) -> Sequence[float]:
    v, x = y
    return [np.cos(2 * t) - 30 * (x + 0.2) - 20 * (x - 0.1) - 0.3 * v, v]


def roller_coaster(t: float, y: Vector) -> Sequence[float]:
    """m*(1 + h'^2)*x'' + m*h'*h''*x'^2 = -m*g*h' for the height h = 2*cos(x/3)."""
    x, v = y
    slope, bend = -2 / 3 * np.sin(x / 3), -2 / 9 * np.cos(x / 3)
    return [v, -(slope * bend * v**2 + 9.81 * slope) / (1 + slope**2)]


def robot_arm(t: float, y: Vector) -> Sequence[float]:
    """Lagrange's equations of the double pendulum with bodies."""
    a, b, wa, wb = y
    couple = 1.5 * 1.0 * 0.4
    mass = np.array([[0.7 + 1.5, couple * np.cos(a - b)], [couple * np.cos(a - b), 0.1 + 1.5 * 0.4**2]])
    turning = couple * np.sin(a - b) * np.array([-(wb**2), wa**2])
    weight = -9.81 * np.array([(2 * 0.5 + 1.5) * np.sin(a), 1.5 * 0.4 * np.sin(b)])
    return [wa, wb, *np.linalg.solve(mass, turning + weight - [0.05 * wa, 0])]


SYSTEMS = {
    "two_masses": System(two_masses, [2, 0], ["v.f", "spring.q"]),
    "lever": System(lever, [1.5, 0.1], ["'1A'.f", "spring.q"]),
    "gyrator_field": System(gyrator_field, [2, 0], ["w.f", "shaft.q"]),
    "split_path": System(split_path, [1, -0.5, 0, 0, 2, 0], ["v1.f", "v2.f", "k1.q", "k2.q", "u1.e", "u2.e"]),
    "zero_eigenvalue": System(zero_eigenvalue, [0.5, 0], ["v.f", ""]),
    "roller_coaster": System(roller_coaster, [0, 5], ["vx.q", "vx.f"]),
    "robot_arm": System(robot_arm, [0.8, -0.3, 0, 0.5], ["w1.q", "w2.q", "w1.f", "w2.f"]),
}


@pytest.mark.parametrize("treatment", LIMITS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_against_the_equations_of_motion(name: str, treatment: str) -> None:
    system = SYSTEMS[name]
    result = bglang.load(FOLDER / f"{name}.bg").simulate(points=101, dependent=treatment)
    expected = solve_ivp(system.rate, (0, result.time[-1]), system.start, "DOP853", result.time, rtol=1e-11, atol=1e-12)
    for column, values in zip(system.names, expected.y, strict=True):
        if column:
            size = np.abs(values).max()
            assert result[column] == pytest.approx(values, abs=10 * LIMITS[treatment] * size), column


@pytest.mark.parametrize("treatment", ["implicit", "reduce", "lambda"])
def test_profiles_of_the_roller_coaster(treatment: str) -> None:
    """Speed from the energy, acceleration from the slope, the passengers' load from the curvature."""
    result = bglang.load(FOLDER / "roller_coaster.bg").simulate(points=201, dependent=treatment)
    x = result["vx.q"]
    height, slope, bend = 2 * np.cos(x / 3), -2 / 3 * np.sin(x / 3), -2 / 9 * np.cos(x / 3)
    speed = np.sqrt(5**2 + 2 * 9.81 * (2 - height))
    along = np.sqrt(1 + slope**2)
    assert result["height"] == pytest.approx(height)
    assert result["speed"] == pytest.approx(speed, rel=1e-6)
    assert result["ahead"] == pytest.approx(-9.81 * slope / along, abs=1e-6)
    assert result["load"] == pytest.approx(np.abs(speed**2 * bend / along**3 + 9.81 / along) / 9.81, rel=1e-5)
