"""Hybrid models as users write them: switching by time, ideal switches, frictions, against closed forms."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import bglang

Values = NDArray[np.float64]


def run(text: str, **options: float) -> bglang.Result:
    return bglang.loads(text).simulate(**options)  # type: ignore[arg-type]


# --- what time decides --------------------------------------------------------------------------------------------


def test_pulses_made_with_mod_go_on_at_each_period() -> None:
    """The end of a period is found a rounding error before it: the new period holds all the same."""
    result = run(
        """model M J1 j; I l(I=1e-3); R r(R=1); Se s(e=if mod(time,1e-4) < 0.3e-4 then 10 else 0);
        bonds s -> j -> l, r; end M;""",
        stop=0.02, tol=1e-8,
    )  # fmt: skip
    current = 0.0
    for _ in range(200):
        current = (10 + (current - 10) * math.exp(-0.03)) * math.exp(-0.07)
    assert result["l.f"][-1] == pytest.approx(current, abs=1e-6)


def test_steps_of_floor_ceil_and_mod_of_time() -> None:
    result = run(
        """model M Real x(start=0), y(start=0), z(start=0);
        equation der(x) = floor(2.5*time); der(y) = ceil(time^2); der(z) = mod(3*time, 2); end M;""",
        stop=3, tol=1e-9,
    )  # fmt: skip
    steps = sum((k + 1) * (math.sqrt(k + 1) - math.sqrt(k)) for k in range(9))
    assert result["x"][-1] == pytest.approx(0.4 * 21 + 7 * 0.2, abs=1e-7)
    assert result["y"][-1] == pytest.approx(steps, abs=1e-7)
    assert result["z"][-1] == pytest.approx(8 / 3 + 1 / 6, abs=1e-7)
