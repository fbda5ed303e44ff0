"""Bounces that pile up end at the time at which they do; whatever a `when` turns back is never lost."""

import math

import numpy as np
import pytest

import bglang
from bglang import SimulationError
from bglang.results import Result

G = 9.81


def ball(
    *, floor: str = "0", condition: str = "h < s", after: str = "w - bounce*(m.p - w)", pull: str = "-9.81"
) -> str:
    """A ball of 1 kg above a table at s(time)."""
    return f"""
model Ball
  parameter Real bounce = 0.5;
  parameter Real high = 1;
  J1 v; I m(I = 1); Se g(e = {pull}); Real h(start = high); Real s; Real w;
  bonds g -> v -> m;
equation
  s = {floor}; w = der(s);
  der(h) = v.f;
  when {condition} then reinit(m.p, {after}); end when;
  annotation(experiment(StopTime = 5));
end Ball;
"""


FLOOR = bglang.loads(ball(after="-bounce*m.p"))


def piled_up(model: bglang.Model, **options: float | str) -> tuple[float, Result]:
    with pytest.raises(SimulationError) as caught:
        model.simulate(**options)  # type: ignore[arg-type]
    assert caught.value.diagnostic.code == "events/zeno"
    assert caught.value.result is not None and not caught.value.result.complete
    return caught.value.time, caught.value.result


@pytest.mark.parametrize("beyond", [1.001, 3.0, 100.0])
@pytest.mark.parametrize("high", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("bounce", [0.0, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 0.9])
def test_a_ball_ends_when_its_bounces_do(bounce: float, high: float, beyond: float) -> None:
    limit = math.sqrt(2.0 * high / G) * (1.0 + bounce) / (1.0 - bounce)
    t, kept = piled_up(FLOOR, bounce=bounce, high=high, stop=beyond * limit)
    assert t == pytest.approx(limit, rel=1e-9)
    assert kept["h"].min() > -1e-12 * high


def test_a_run_that_stops_before_the_limit_is_whole() -> None:
    limit = math.sqrt(2.0 / G) * 1.1 / 0.9
    result = FLOOR.simulate(bounce=0.1, stop=0.999 * limit)
    assert result.complete and result["h"].min() > -1e-12


@pytest.mark.parametrize("method", ["rk", "adams", "bdf", "radau"])
@pytest.mark.parametrize("bounce", [0.0, 0.1])
def test_with_every_method(method: str, bounce: float) -> None:
    limit = math.sqrt(2.0 / G) * (1.0 + bounce) / (1.0 - bounce)
    assert piled_up(FLOOR, bounce=bounce, method=method)[0] == pytest.approx(limit, rel=1e-7)


def test_a_floor_far_from_zero() -> None:
    model = bglang.loads(ball(floor="-1000", after="-bounce*m.p"))
    t, kept = piled_up(model, bounce=0.1, stop=40)
    assert t == pytest.approx(math.sqrt(2.0 * 1001.0 / G) * 1.1 / 0.9, rel=1e-9)
    assert kept["h"].min() > -1000.0 - 1e-9


def moving_table(bounce: float) -> float:
    """Bounces on s = 0.01 sin(5 t), flight by flight: a parabola against a sine, by bisection."""
    t, h, v = 0.0, 1.0, 0.0

    def gap(x: float) -> float:
        return h + v * x - G * x * x / 2.0 - 0.01 * math.sin(5.0 * (t + x))

    flight = 1.0
    while flight > 1e-7:
        away = (v - 0.05 * math.cos(5.0 * t)) / G if t else 0.01
        low = away
        while gap(low + away / 8.0) > 0.0:
            low += away / 8.0
        high = low + away / 8.0
        for _ in range(80):
            middle = (low + high) / 2.0
            low, high = (middle, high) if gap(middle) > 0.0 else (low, middle)
        flight, t, v = high, t + high, v - G * high
        w = 0.05 * math.cos(5.0 * t)
        h, v = 0.01 * math.sin(5.0 * t), w - bounce * (v - w)
    return t


@pytest.mark.parametrize("bounce", [0.1, 0.5])
def test_on_a_moving_table(bounce: float) -> None:
    t, kept = piled_up(bglang.loads(ball(floor="0.01*sin(5*time)")), bounce=bounce)
    assert t == pytest.approx(moving_table(bounce), abs=1e-6)
    assert (kept["h"] - kept["s"]).min() > -1e-9


def test_a_ball_that_is_caught_rests_where_nothing_pulls() -> None:
    result = bglang.loads(ball(after="0", pull="if h > 0 then -9.81 else 0")).simulate()
    assert result.complete and result["h"][-1] == pytest.approx(0.0, abs=1e-12)


def test_a_ball_that_is_pushed_after_a_rest_does_not_get_lost() -> None:
    pull = "if time < 0.2 then -9.81 elseif time < 2 then 0 else -1"
    t, kept = piled_up(bglang.loads(ball(after="0", pull=pull)))
    assert 2.0 <= t < 2.03 and kept["h"].min() > -1e-3


def test_what_goes_on_more_slowly_passes() -> None:
    """A membrane halves the speed of a ball and lets it through."""
    result = bglang.loads(ball(after="0.5*m.p")).simulate(stop=2)
    fall = math.sqrt(2.0 / G)
    x = 2.0 - fall
    assert result["h"][-1] == pytest.approx(-0.5 * G * fall * x - G * x * x / 2.0, rel=1e-6)


def test_a_fast_sequence_that_ends_is_no_zeno() -> None:
    """Five bounces of a fifth each, then a kick; and again."""
    after = "if pre(n) < 5 then -0.2*v else 3"
    result = bglang.loads(
        f"""model Kicked
  Real h(start = 1); Real v; discrete Real n(start = 0);
equation
  der(h) = v; der(v) = -9.81;
  when h < 0 then reinit(v, {after}); n = if pre(n) < 5 then pre(n) + 1 else 0; end when;
  annotation(experiment(StopTime = 3));
end Kicked;"""
    ).simulate()
    exact, t, v, n = list[float](), math.sqrt(2.0 / G), math.sqrt(2.0 * G), 0
    while t < 3.0:
        exact.append(t)
        n, v = (n + 1, 0.2 * v) if n < 5 else (0, 3.0)
        t += 2.0 * v / G
    hits = [e.time for e in result.events if e.kind == "reinit"]
    assert result.complete
    assert hits == pytest.approx(exact, abs=1e-6)


def test_many_crossings_in_little_time_are_no_zeno() -> None:
    """sin(1/(1.01 - t)) crosses ever faster, and stops in time."""
    result = bglang.loads(
        """model Chirp
  Real h(start = 0.836026); Real n(start = 0);
equation
  der(h) = cos(1/(1.01 - time))/(1.01 - time)^2; der(n) = 0;
  when h > 0 then reinit(n, n + 1); end when;
  annotation(experiment(StopTime = 1));
end Chirp;"""
    ).simulate()
    exact = [1.01 - 1.0 / (2.0 * math.pi * k) for k in range(1, 16)]
    assert result["n"][-1] == len(exact)
    assert np.diff(exact).min() < 0.002
