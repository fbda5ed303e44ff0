"""Discrete variables that an equation gives from their own past, against hand solutions."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import bglang


def run(text: str, **options: float) -> bglang.Result:
    return bglang.loads(text).simulate(**options)  # type: ignore[arg-type]


def changes(result: bglang.Result, what: str) -> list[float]:
    return [event.time for event in result.events if event.relation == what]


THYRISTOR = """
model T
  Se s(e = sin(2*pi*time + {phase})); J1 v; R load(R = 2); R thy(0 = if on then e - {on}*f else f - {off}*e); {more}
  Boolean on, gate;
equation
  gate = mod(time, 1) > 0.1 and mod(time, 1) < 0.15;
  on = (gate and thy.e > 0) or (pre(on) and thy.f > 0);
bonds
  s -> v -> load, thy{bond};
annotation(experiment(StopTime = 2, Tolerance = 1e-9));
end T;
"""


@pytest.mark.parametrize(("on", "off"), [(1e-3, 1e-6), (0.0, 0.0)])
def test_a_thyristor_feeds_a_resistor_from_its_firing_to_the_zero_of_the_current(on: float, off: float) -> None:
    result = run(THYRISTOR.format(on=on, off=off, phase=0, more="", bond=""))
    assert changes(result, "on") == pytest.approx([0.1, 0.5, 1.1, 1.5], abs=1e-9)
    t = np.array([0.05, 0.2, 0.45, 0.7, 1.3, 1.6])
    conducts = (t % 1 > 0.1) & (t % 1 < 0.5)
    resistance = np.where(conducts, 2 + on, 2 + 1 / off if off else math.inf)
    assert result.at(t, "load.f") == pytest.approx(np.sin(2 * math.pi * t) / resistance, abs=1e-6)


def test_a_thyristor_feeds_a_coil_until_its_current_is_zero() -> None:
    result = run(THYRISTOR.format(on=0.0, off=0.0, phase=0.3, more="I coil(I = 0.1);", bond=", coil"))
    w, z = 2 * math.pi, complex(2, 2 * math.pi * 0.1)

    def current(t: float) -> float:
        forced = [(np.exp(1j * (w * x + 0.3)) / z).imag for x in (t, 0.1)]
        return float(forced[0] - forced[1] * math.exp(-(t - 0.1) / 0.05))

    stop = brentq(current, 0.4, 0.7, xtol=1e-14)
    assert changes(result, "on") == pytest.approx([0.1, stop, 1.1, 1 + stop], abs=1e-6)
    t = np.array([0.05, 0.2, 0.5, 0.6, 0.9])
    exact = [current(x) if 0.1 < x < stop else 0.0 for x in t]
    assert result.at(t, "coil.f") == pytest.approx(exact, abs=1e-7)


@pytest.mark.parametrize(("start", "first"), [("false", 1 / 12), ("true", 7 / 12)])
def test_a_relay_with_hysteresis(start: str, first: float) -> None:
    text = f"""
model Relay
  Real u, x(start = 0); Boolean high(start = {start});
equation
  u = 2*sin(2*pi*time);
  high = u > 1 or pre(high) and u > -1;
  der(x) = if high then 1 else 0;
annotation(experiment(StopTime = 2, Tolerance = 1e-9));
end Relay;
"""
    result = run(text)
    both = [1 / 12, 7 / 12, 13 / 12, 19 / 12]
    assert changes(result, "high") == pytest.approx(both[both.index(first) :], abs=1e-9)
    assert result.at(2.0, "x") == pytest.approx(1.0 if start == "false" else 7 / 12 + 0.5, abs=1e-8)


def test_a_relay_in_a_loop_with_a_state_switches_at_both_limits() -> None:
    result = run("""
model Oven
  Real x(start = 0); Boolean heat(start = true);
equation
  heat = x < 1 or pre(heat) and x < 2;
  der(x) = if heat then 1 else -0.5;
annotation(experiment(StopTime = 8, Tolerance = 1e-9));
end Oven;
""")
    assert changes(result, "heat") == pytest.approx([2.0, 4.0, 5.0, 7.0], abs=1e-7)


def test_whole_numbers_count_edges_and_step_through_states() -> None:
    result = run("""
model Counter
  Integer n, stage; Real u; Boolean up;
equation
  u = sin(2*pi*time);
  up = u > 0.5;
  n = if edge(up) then pre(n) + 1 else pre(n);
  stage = if pre(stage) == 0 and u > 0.5 then 1 else if pre(stage) == 1 and u < -0.5 then 2 else pre(stage);
annotation(experiment(StopTime = 3));
end Counter;
""")
    assert changes(result, "n") == pytest.approx([1 / 12, 13 / 12, 25 / 12], abs=1e-9)
    assert result.at(3.0, "n") == 3
    assert changes(result, "stage") == pytest.approx([1 / 12, 7 / 12], abs=1e-9)


def test_two_latches_that_read_the_past_of_each_other_settle_in_one_event() -> None:
    result = run("""
model Pair
  Boolean a, b;
equation
  a = time > 1 or pre(a);
  b = pre(a) or pre(b);
annotation(experiment(StopTime = 2));
end Pair;
""")
    assert changes(result, "a") == changes(result, "b") == pytest.approx([1.0])


def test_a_latch_reads_the_new_value_of_another_one() -> None:
    result = run("""
model Order
  Boolean first, second;
equation
  second = time > 1 and not first or pre(second);
  first = time > 1 or pre(first);
annotation(experiment(StopTime = 2));
end Order;
""")
    assert changes(result, "first") == pytest.approx([1.0])
    assert changes(result, "second") == []
