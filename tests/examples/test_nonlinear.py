"""The systems of the thesis on ENPORT-6 against closed forms and against their equations in other coordinates."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp

import bglang

FOLDER = Path(__file__).parents[2] / "examples" / "nonlinear"
Vector = npt.NDArray[np.float64]


def test_coulomb_session() -> None:
    """51 points over 30 s from 17: half swings about -1 and +1 in turn, each 2 shorter, and rest on the very limit."""
    result = bglang.load(FOLDER / "coulomb.bg").simulate(points=51)
    assert result.time == pytest.approx(np.arange(51) * 0.6)
    swing = np.minimum(result.time // np.pi, 8).astype(int)
    amplitude = np.where(swing < 8, 16.0 - 2 * swing, 0.0)
    middle = np.where(swing == 8, 1.0, np.where(swing % 2 == 0, 1.0, -1.0))
    assert result["spring.q"] == pytest.approx(middle + amplitude * np.cos(result.time), abs=1e-6)
    assert result["mass.p"] == pytest.approx(-amplitude * np.sin(result.time), abs=1e-6)
    assert result["spring.q"][-1] == pytest.approx(1.0, abs=1e-6) and result["mass.p"][-1] == 0.0


def chain(t: float, y: Vector, k3: float) -> list[float]:
    """Displacements and velocities of two masses in a row; the springs stretch by x1 and by x2 - x1."""
    x1, x2, v1, v2 = y
    upper = x1 + k3 * x1**3 + 0.02 * v1
    lower = (x2 - x1) + k3 * (x2 - x1) ** 3 + 0.02 * (v2 - v1)
    return [v1, v2, lower - upper, -lower]


@pytest.mark.parametrize("x0", [1.0, 2.0])
def test_rising_rate_springs(x0: float) -> None:
    result = bglang.load(FOLDER / "rising_rate.bg").simulate(points=201, set={"x0": x0})
    for name, k3 in (("linear", 0.0), ("rising", 1.0)):
        run = solve_ivp(chain, (0, 20), [x0, 2 * x0, 0, 0], "DOP853", result.time, args=(k3,), rtol=1e-11, atol=1e-12)
        assert result[f"{name}.s1.q"] == pytest.approx(run.y[0], abs=1e-6)
        assert result[f"{name}.s2.q"] == pytest.approx(run.y[1] - run.y[0], abs=1e-6)
        assert result[f"{name}.m2.p"] == pytest.approx(run.y[3], abs=1e-6)


def test_only_the_rising_chain_hangs_on_the_amplitude() -> None:
    model = bglang.load(FOLDER / "rising_rate.bg")
    small, large = (model.simulate(points=401, set={"x0": x0}) for x0 in (1.0, 2.0))
    assert large["linear.s1.q"] == pytest.approx(2 * small["linear.s1.q"], abs=1e-6)
    first = [r.time[np.argmax(r["rising.s1.q"] < 0)] for r in (small, large)]
    assert first[1] < 0.8 * first[0]


def test_sprung_pendulum_in_cartesian_coordinates() -> None:
    result = bglang.load(FOLDER / "sprung_pendulum.bg").simulate(points=301)
    k, g, rest = 4 * 9.81, 9.81, 0.75

    def rate(t: float, y: Vector) -> list[float]:
        pull = k * (1 - rest / np.hypot(y[0], y[1]))
        return [y[2], y[3], -pull * y[0], -pull * y[1] - g]

    start = [1.1 * np.sin(0.05), -1.1 * np.cos(0.05), 0, 0]
    x, y = solve_ivp(rate, (0, 30), start, "DOP853", result.time, rtol=1e-12, atol=1e-12).y[:2]
    assert result["spring.q"] == pytest.approx(np.hypot(x, y), abs=1e-6)
    assert result["turning.q"] == pytest.approx(np.arctan2(y, x), abs=1e-6)
    bounce = np.abs(result["spring.q"] - 1)
    assert bounce[:20].max() > 4 * bounce[95:110].max(), "the bouncing turns into swinging"
