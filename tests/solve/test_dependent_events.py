"""Events of models whose storages depend on each other, against hand-written equations."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import bglang

Values = NDArray[np.float64]

CRANE = """model Crane
  parameter Real M = 100, m = 50, l = 4, g = 9.81, Fc = 20;
  J1 x; J1 w(q(start = 0.4)); J1 vx, vy; J0 sx;
  I trolley(I = M); I mx(I = m), my(I = m);
  Se weight(e = -m*g); TF tx(m = l*cos(w.q)), ty(m = l*sin(w.q)); R fr(e = coulomb(f, Fc));
bonds
  x -> trolley, fr; x -> sx; sx -> vx -> mx; w -> tx -> sx; w -> ty -> vy -> my; weight -> vy;
end Crane;"""
M, MASS, L, G = 100.0, 50.0, 4.0, 9.81


class Crane:
    """The trolley with its swinging load: speed V, angle and its rate, from event to event."""

    def __init__(self, friction: float):
        self.friction = friction

    def reaction(self, y: Values) -> float:
        """What friction must give while the trolley stands."""
        _, angle, w = y
        return MASS * L * (math.cos(angle) * G / L * math.sin(angle) + math.sin(angle) * w * w)

    def rates(self, y: Values, slip: int) -> list[float]:
        _, angle, w = y
        c, s = math.cos(angle), math.sin(angle)
        if slip == 0:
            return [0.0, w, -G / L * s]
        matrix = np.array([[M + MASS, MASS * L * c], [MASS * L * c, MASS * L * L]])
        right = np.array([-self.friction * slip + MASS * L * s * w * w, -MASS * G * L * s])
        dv, dw = np.linalg.solve(matrix, right)
        return [dv, w, dw]

    def slip(self, y: Values) -> int:
        force = self.reaction(y)
        return 0 if abs(force) <= self.friction else int(math.copysign(1, force))

    def run(self, stop: float, grid: Values) -> tuple[Values, int]:
        t, y, found, events = 0.0, np.array([0.0, 0.4, 0.0]), np.zeros((len(grid), 3)), 0
        slip = self.slip(y)
        while t < stop:

            def left(_: float, y: Values, slip: int = slip) -> float:
                return y[0] * slip if slip else self.friction - abs(self.reaction(y))

            left.terminal, left.direction = True, -1  # type: ignore[attr-defined]
            piece = solve_ivp(
                lambda _, y, slip=slip: self.rates(y, slip), (t, stop), y, events=left,
                rtol=1e-12, atol=1e-13, dense_output=True, max_step=0.05,
            )  # fmt: skip
            inside = (grid >= t) & (grid <= piece.t[-1])
            found[inside] = piece.sol(grid[inside]).T
            t, y = float(piece.t[-1]), piece.y[:, -1].copy()
            if piece.status:
                events += 1
                slip = self.slip(y) if slip else int(math.copysign(1, self.reaction(y)))
                y[0] = 0.0
        return found, events


@pytest.mark.parametrize(("friction", "stop"), [(20.0, 20.0), (80.0, 20.0)])
@pytest.mark.parametrize("tol", [1e-5, 1e-8])
def test_a_trolley_with_dry_friction_and_a_swinging_load(friction: float, stop: float, tol: float) -> None:
    """Friction that passes through zero, or sticks, is no jump: interpolated storages agree with their constraints."""
    result = bglang.loads(CRANE).simulate(stop=stop, tol=tol, Fc=friction)
    expected, events = Crane(friction).run(stop, np.asarray(result.time))
    assert result.audit is not None and result.audit.relative_error < 3.0 * tol
    assert abs(result.audit.jumps) < 1e-12 * result.audit.scale
    assert not [e for e in result.events if e.kind == "impulse"]
    assert result.stats.events == events
    for name, k in (("x.f", 0), ("w.q", 1), ("w.f", 2)):
        assert np.abs(result[name] - expected[:, k]).max() < 30.0 * tol * np.abs(expected[:, k]).max()


def test_rows_satisfy_the_constraints_of_dependent_storages() -> None:
    result = bglang.loads(CRANE).simulate(stop=20.0, tol=1e-4)
    expected = MASS * L * np.sin(result["w.q"]) * result["w.f"]
    assert np.abs(result["my.p"] - expected).max() < 1e-12 * np.abs(expected).max()
    balance = result["trolley.e"] + result["fr.e"] + result["mx.e"]
    assert np.abs(balance).max() < 1e-9 * np.abs(result["mx.e"]).max()
