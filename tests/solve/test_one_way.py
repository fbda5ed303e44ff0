"""One-way clutches: laws that pin a flow while they hold, and take two inertias together."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import bglang

CLUTCH = """
model Clutch
  J1 a; J1 b; I ia(I = 1{start}); I ib(I = 2); Se drive(e = sin(time + 0.5)); R ra(R = 0.1); R rb(R = 0.8);
  J0 c; R d(0 = e - max(0, e + {d}*f));
bonds
  drive -> a -> ia, ra; a -> c -> b; b -> ib, rb; c -> d;
annotation(experiment(StopTime = 10, Tolerance = 1e-9));
end Clutch;
"""


@pytest.mark.parametrize("d", [1.0, 0.01])
def test_a_one_way_clutch_locks_two_inertias_and_lets_them_go(d: float) -> None:
    """Locked the two are one inertia of 3; it lets go where the torque through it is zero, and locks again where the
    speeds meet.  Integrated by hand, phase by phase."""
    result = bglang.loads(CLUTCH.format(start="", d=d)).simulate()

    def torque(t: float, w: float) -> float:  # through the clutch: 2 dw/dt + 0.8 w
        return 2 * (math.sin(t + 0.5) - 0.9 * w) / 3 + 0.8 * w

    def together(t: float, y: list[float]) -> list[float]:
        return [(math.sin(t + 0.5) - 0.9 * y[0]) / 3] * 2

    def apart(t: float, y: list[float]) -> list[float]:
        return [math.sin(t + 0.5) - 0.1 * y[0], -0.4 * y[1]]

    def lets_go(t: float, y: list[float]) -> float:
        return torque(t, y[0])

    def meets(_t: float, y: list[float]) -> float:
        return y[0] - y[1]

    lets_go.terminal, lets_go.direction = True, -1  # type: ignore[attr-defined]
    meets.terminal, meets.direction = True, 1  # type: ignore[attr-defined]
    t, y, locked, changes = 0.0, [0.0, 0.0], True, list[float]()
    while t < 10.0:
        phase, event = (together, lets_go) if locked else (apart, meets)
        found = solve_ivp(phase, (t, 10.0), y, events=event, rtol=1e-11, atol=1e-13, dense_output=True)
        inside = (result.time > t + 1e-6) & (result.time < found.t[-1] - 1e-6)
        exact = found.sol(result.time[inside])
        assert result["ia.f"][inside] == pytest.approx(exact[0], abs=1e-6)
        assert result["ib.f"][inside] == pytest.approx(exact[1], abs=1e-6)
        if locked:
            force = [torque(x, w) for x, w in zip(result.time[inside], exact[0], strict=True)]
            assert result["d.e"][inside] == pytest.approx(np.array(force), abs=1e-5)
        t, y, locked = float(found.t[-1]), found.y[:, -1].tolist(), not locked
        changes += [t] if t < 10.0 else []
    assert len(changes) >= 2
    assert [e.time for e in result.events if e.time > 1e-9] == pytest.approx(changes, abs=1e-6)


def test_starts_on_the_wrong_side_of_a_one_way_clutch_contradict_it() -> None:
    with pytest.raises(bglang.SourceError, match="initial/contradiction"):
        bglang.loads(CLUTCH.format(start=", p(start = 2)", d=1)).simulate()


def test_a_one_way_clutch_locks_an_inertia_onto_a_prescribed_speed() -> None:
    """Locked the inertia has the prescribed speed; it is let go where the torque through the clutch would pull, and
    slows down exponentially until the prescribed speed has caught up with it."""
    result = bglang.loads("""
model Clutch
  J1 b; I ib(I = 2, p(start = 2)); R rb(R = 0.2); Sf w(f = 1 + sin(2*time)); J0 c; R d(0 = e - max(0, e + f));
bonds
  w -> c -> b -> ib, rb; c -> d;
annotation(experiment(StopTime = 10, Tolerance = 1e-9));
end Clutch;
""").simulate()

    def torque(t: float) -> float:
        return 4 * math.cos(2 * t) + 0.2 * (1 + math.sin(2 * t))

    changes, exact, t = list[float](), np.empty(len(result.time)), 0.0
    for turn in range(4):
        go = brentq(torque, turn * math.pi + 0.5, turn * math.pi + 1.2)
        speed = 1 + math.sin(2 * go)
        meet = brentq(lambda x, go=go, v=speed: v * math.exp(-0.1 * (x - go)) - 1 - math.sin(2 * x), go + 0.5, go + 3.1)
        exact[result.time >= t] = 1 + np.sin(2 * result.time[result.time >= t])
        free = (result.time >= go) & (result.time <= meet)
        exact[free] = speed * np.exp(-0.1 * (result.time[free] - go))
        changes, t = [*changes, go, meet], meet
    assert result["ib.f"] == pytest.approx(exact, abs=1e-6)
    assert [e.time for e in result.events if e.time > 1e-9] == pytest.approx([x for x in changes if x < 10], abs=1e-6)
