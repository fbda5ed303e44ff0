"""Laws that are roots and powers with the sign of their argument, written by hand in every way, in both causalities.

The references are made with scipy from the equation that each model comes down to."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import bglang

Curve = Callable[[float], float]


def power(x: float, n: float) -> float:
    return float(np.sign(x) * abs(x) ** n)


LAWS: dict[str, tuple[Curve, Curve]] = {
    "f = sign(e)*sqrt(abs(e)/2)": (lambda e: power(e / 2, 0.5), lambda f: 2 * power(f, 2)),
    "f = 0.7*sqrt(abs(e))*sign(e)": (lambda e: 0.7 * power(e, 0.5), lambda f: power(f / 0.7, 2)),
    "f = if e > 0 then 0.7*sqrt(2*e) else -0.7*sqrt(-2*e)": (
        lambda e: 0.7 * power(2 * e, 0.5),
        lambda f: power(f / 0.7, 2) / 2,
    ),
    "f = sign(e)*abs(e)^(1/3)": (lambda e: power(e, 1 / 3), lambda f: f**3),
    "e = f^3": (lambda e: power(e, 1 / 3), lambda f: f**3),
    "e = sign(f)*f^2": (lambda e: power(e, 0.5), lambda f: power(f, 2)),
    "e = f*abs(f)^0.5": (lambda e: power(e, 2 / 3), lambda f: power(f, 1.5)),
}


def reference(rate: Callable[[float, float], float], times: np.ndarray) -> np.ndarray:
    made = solve_ivp(
        lambda t, y: [rate(t, y[0])], (0, times[-1]), [0.0], "DOP853", times, rtol=1e-10, atol=1e-12, max_step=0.02
    )
    return np.asarray(made.y[0])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", ["auto", "radau", "bdf"])
def test_flow_from_effort(law: str, method: str) -> None:
    """A store that starts empty, is fed and drawn from: its effort goes through zero again and again."""
    flow = LAWS[law][0]
    result = bglang.loads(f"""model M Sf feed(f = cos(2*time)); J0 p; C store(C = 1); R valve({law});
        bonds feed -> p; p -> store, valve; end M;""").simulate(stop=4, tol=1e-7, points=41, method=method)  # type: ignore[arg-type]
    exact = reference(lambda t, q: np.cos(2 * t) - flow(q), np.array(result.time))
    assert np.abs(result["store.q"] - exact).max() < 1e-6


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", ["auto", "radau", "bdf"])
def test_effort_from_flow(law: str, method: str) -> None:
    effort = LAWS[law][1]
    result = bglang.loads(f"""model M Se push(e = cos(3*time)); J1 v; I mass(I = 1); R drag({law});
        bonds push -> v; v -> mass, drag; end M;""").simulate(stop=4, tol=1e-7, points=41, method=method)  # type: ignore[arg-type]
    exact = reference(lambda t, p: np.cos(3 * t) - effort(p), np.array(result.time))
    assert np.abs(result["mass.p"] - exact).max() < 1e-6


@pytest.mark.parametrize("law", LAWS)
def test_in_an_algebraic_loop(law: str) -> None:
    """In series with a resistance: the law is solved together with it, also where it is at zero."""
    effort = LAWS[law][1]
    result = bglang.loads(f"""model M Se push(e = sin(2*time)); J1 v; C c(C = 1); R line(R = 0.5); R valve({law});
        bonds push -> v; v -> c, valve, line; end M;""").simulate(stop=4, tol=1e-7, points=41)

    def rate(t: float, q: float) -> float:
        return float(brentq(lambda f: effort(f) + 0.5 * f - (np.sin(2 * t) - q), -9, 9, xtol=1e-15, rtol=1e-14))

    exact = reference(rate, np.array(result.time))
    assert np.abs(result["c.q"] - exact).max() < 3e-6


@pytest.mark.parametrize("law", ["f = sign(e)*sqrt(abs(e))", "f = sign(e)*abs(e)^(1/3)"])
@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_a_store_that_runs_empty_rests_cheaply(law: str, method: str) -> None:
    """Where the slope is infinite, Newton's corrections swing around the solution; steps must not shrink for that."""
    source = f"""model M Sf feed(f = if time < 2 then 1 else if time < 5 then 0 else -0.5);
        J0 p; C store(C = 1); R valve({law}); bonds feed -> p; p -> store, valve; end M;"""
    result = bglang.loads(source).simulate(stop=8, tol=1e-8, points=9, method=method)  # type: ignore[arg-type]
    assert result.stats.steps < 5000
    assert abs(result["store.q"][5]) < 1e-7
    n = 0.5 if "sqrt" in law else 1 / 3
    balance = -(0.5 ** (1 / n))
    assert result["store.q"][-1] == pytest.approx(balance, abs=1e-2)
