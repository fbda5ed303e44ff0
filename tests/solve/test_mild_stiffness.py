"""Rows of models with one part that decays some ten times faster than the rest moves, by explicit steps.

In such runs steps of an explicit method become long for the fast part, which is gone; what is left of it must neither
be lifted by the polynomial between steps nor slip through the error estimate.  References: scipy at 1e-13."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bglang

Rate = Callable[[float, np.ndarray], list[float]]


@dataclass(frozen=True)
class Case:
    text: str
    rate: Rate
    start: tuple[float, ...]
    stop: float
    names: tuple[str, ...]
    cache: dict[str, np.ndarray] = field(default_factory=dict)

    def exact(self, times: np.ndarray) -> np.ndarray:
        if "y" not in self.cache:
            found = solve_ivp(self.rate, (0, self.stop), self.start, "DOP853", times, rtol=1e-13, atol=1e-15,
                              max_step=self.stop / 400)  # fmt: skip
            self.cache["y"] = found.y
        return self.cache["y"]


def windings(u: str, drive: Callable[[float], float], stop: float) -> Case:
    """Two coupled windings, poles -1.6 and -27; states are the flux linkages."""
    inverse = np.linalg.inv([[1.0, 0.6], [0.6, 0.5]])
    resistances = np.diag([2.0, 3.0])
    return Case(
        f"""Se u(e = {u}); J1 a, b; R r(R = 2), s(R = 3);
        Electrical.Machines.CoupledInductors c(L1 = 1, L2 = 0.5, M = 0.6);
        bonds u -> a -> r; a -> c.a; b -> s; b -> c.b;""",
        lambda t, i: list(inverse @ (np.array([drive(t), 0.0]) - resistances @ i)),
        (0.0, 0.0),
        stop,
        ("a.f", "b.f"),
    )


def equations(laws: str, rate: Rate, start: tuple[float, ...], stop: float) -> Case:
    names = tuple("xyw"[: len(start)])
    nodes = "".join(f"Real {name}(start = {at}); " for name, at in zip(names, start, strict=True))
    return Case(f"{nodes}equation {laws}", rate, start, stop, names)


CASES = {
    "windings, step": windings("10", lambda t: 10.0, 2.0),
    "windings, longer": windings("10", lambda t: 10.0, 3.6),
    "windings, sine": windings("10*sin(time)", lambda t: 10 * np.sin(t), 3.6),
    "transfer function": Case(
        "Signal.TransferFunction b(u = 1, b = {43.2}, a = {1, 28.6, 43.2});",
        lambda t, x: [x[1], 43.2 - 43.2 * x[0] - 28.6 * x[1]],
        (0.0, 0.0),
        3.5,
        ("b.y",),
    ),
    "ladder": Case(
        """Se u(e = 5 + cos(2*time)); J1 i1, i2; J0 n1; R r1(R = 1), r2(R = 4); C c1(C = 0.04), c2(C = 0.3);
        bonds u -> i1 -> r1; i1 -> n1 -> c1; n1 -> i2 -> r2, c2;""",
        lambda t, v: [((5 + np.cos(2 * t) - v[0]) - (v[0] - v[1]) / 4) / 0.04, (v[0] - v[1]) / 4 / 0.3],
        (0.0, 0.0),
        3.0,
        ("c1.e", "c2.e"),
    ),
    "heavily damped mass": Case(
        """J1 v; I m(I = 0.1, p(start = 0.2)); R d(R = 3); C k(C = 0.2, q(start = 1)); bonds v -> m, d, k;""",
        lambda t, x: [-3 * x[0] / 0.1 - x[1] / 0.2, x[0] / 0.1],
        (0.2, 1.0),
        3.0,
        ("m.p", "k.q"),
    ),
    "relaxation to a curve": equations(
        "der(x) = -30*(x - cos(time)); der(y) = x - y;",
        lambda t, x: [-30 * (x[0] - np.cos(t)), x[0] - x[1]],
        (0.0, 0.5),
        3.0,
    ),
    "van der Pol": equations(
        "der(x) = y; der(y) = 12*(1 - x^2)*y - x;",
        lambda t, x: [x[1], 12 * (1 - x[0] ** 2) * x[1] - x[0]],
        (2.0, 0.0),
        2.5,
    ),
    "cubic cooling": equations(
        "der(x) = -8*(x^3 - y^3); der(y) = 0.5*(x - y) - 0.1*y;",
        lambda t, x: [-8 * (x[0] ** 3 - x[1] ** 3), 0.5 * (x[0] - x[1]) - 0.1 * x[1]],
        (2.0, 1.0),
        3.0,
    ),
    "enzyme": equations(
        "der(x) = -x + (x + 0.5)*y; der(y) = 25*(x - (x + 1)*y); der(w) = y;",
        lambda t, x: [-x[0] + (x[0] + 0.5) * x[1], 25 * (x[0] - (x[0] + 1) * x[1]), x[1]],
        (1.0, 0.0, 0.0),
        2.0,
    ),
    "fast spiral": equations(
        "der(x) = -20*x + 15*y + 3; der(y) = -15*x - 20*y + w; der(w) = -w;",
        lambda t, x: [-20 * x[0] + 15 * x[1] + 3, -15 * x[0] - 20 * x[1] + x[2], -x[2]],
        (1.0, 0.0, 2.0),
        3.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("method", ["auto", "rk"])
def test_rows_keep_the_tolerance(name: str, method: str) -> None:
    case = CASES[name]
    compiled = bglang.loads(f"model M {case.text} end M;")
    for tol in (1e-4, 1e-6, 1e-9):
        result = compiled.simulate(stop=case.stop, tol=tol, points=701, method=method)
        exact = case.exact(result.time)
        for variable, values in zip(case.names, exact, strict=False):
            error = np.abs(result[variable] - values).max() / np.abs(values).max()
            assert error < 10 * tol, (variable, tol, error)


@pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize(
    ("laws", "start"),
    [("der(x) = y; der(y) = -x;", (1.0, 0.0)), ("der(x) = x*(1 - y); der(y) = y*(x - 1);", (2.0, 1.0))],
)
def test_rows_do_not_rule_the_steps_of_oscillations(laws: str, start: tuple[float, float], tol: float) -> None:
    """The error between steps is looked at only where rows are; it must hardly cost steps where nothing decays."""
    compiled = bglang.loads(f"model M Real x(start = {start[0]}); Real y(start = {start[1]}); equation {laws} end M;")
    few, many = (compiled.simulate(stop=40.0, tol=tol, points=n, method="rk").stats for n in (2, 801))
    assert many.steps <= 1.1 * few.steps


def test_many_short_time_constants_are_found_stiff() -> None:
    """Steps that the polynomial keeps near the limit of stability count as a sign, too."""
    laws = "der(x) = -(1 + 100*time^2)*(x - cos(time)); der(y) = x;"
    compiled = bglang.loads(f"model M Real x(start = 1); Real y(start = 0); equation {laws} end M;")
    for tol in (1e-4, 1e-6):
        stats = compiled.simulate(stop=30.0, tol=tol, points=701, method="auto").stats
        assert stats.method == "rk+radau"
        assert stats.steps < 400
