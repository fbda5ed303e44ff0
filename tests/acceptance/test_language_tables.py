"""Tables that are left, also where only an output reads them; rows that fall on events."""

import numpy as np
import pytest
from language_runs import close, simulate

import bglang

STAIRS = "model M Real y = {0}; Se s(e = 3); J1 v; I m(I = 1); R r(R = 1); bonds s -> v -> m, r; end M;"
"""v.f = 3*(1 - exp(-time))"""


@pytest.mark.parametrize(
    ("read", "end"),
    [
        ('table(time, {{0, 1}, {1, 2}}, outside = "error")', 1.0),
        ('table(time, {{0, 1}, {1, 2}, {1, 4}, {2, 5}}, outside = "error")', 2.0),
        ('2*table(v.f, {{-1, 0}, {1.5, 3}}, method = "spline", outside = "error") + 1', np.log(2.0)),
        ('if time < 2.5 then 0 else table(v.f, {{-1, 0}, {1.5, 3}}, outside = "error")', 2.5),
    ],
)
def test_a_table_that_must_not_be_left_ends_the_run_though_only_an_output_reads_it(read: str, end: float) -> None:
    with pytest.raises(bglang.SimulationError, match="a table was left: what `y` looks up") as failed:
        simulate(STAIRS.format(read), stop=3.0)
    assert failed.value.result is not None
    close([failed.value.result.time[-1]], [end])


@pytest.mark.parametrize("outside", ["error", "hold"])
def test_a_table_in_a_branch_that_is_not_taken_is_not_left(outside: str) -> None:
    r = simulate(
        STAIRS.format(f'if v.f < 0.5 then table(v.f, {{{{-1, 0}}, {{1, 4}}}}, outside = "{outside}") else 7'), 3
    )
    flow = 3 * (1 - np.exp(-r.time))
    close(r["y"], np.where(flow < 0.5, 2 * (flow + 1), 7))
    assert not r.warnings


def test_the_parts_of_a_table_that_jumps_are_one_table() -> None:
    r = simulate(STAIRS.format("table(time, {{0, 1}, {1, 2}, {1, 4}, {3, 5}})"), stop=3.0)
    assert not r.warnings
    r = simulate(STAIRS.format("table(time, {{0, 1}, {1, 2}, {1, 4}, {2, 5}})"), stop=3.0)
    assert [w.code for w in r.warnings] == ["run/table"]
    assert "outside 0 … 2" in r.warnings[0].message


@pytest.mark.parametrize("stop", [0.3, 0.6, 2.0])
@pytest.mark.parametrize(
    "state",
    [
        "",
        "Real x; equation der(x) = 1;",
        "discrete Real y; Real x; equation der(x) = 1; when x > 0.3 then y = x; end when;",
    ],
)
def test_no_tick_is_lost_beside_a_row_the_end_or_another_event(state: str, stop: float) -> None:
    """The third tick of 0.1 is 0.30000000000000004: behind a row at 0.3, behind an end there, behind an x of 0.3."""
    clock = "equation when sample(0, 0.1) then n = pre(n) + 1; end when;"
    r = bglang.loads(f"model M discrete Real n(start = 0); {state} {clock} end M;").simulate(stop=stop, points=201)
    assert r["n"][-1] == round(stop / 0.1) + 1


@pytest.mark.parametrize("events", [False, True])
def test_a_row_holds_the_value_after_an_event_that_lies_there_but_for_rounding(events: bool) -> None:
    """The third tick of 0.1 is 0.30000000000000004, the row is at 0.3."""
    model = bglang.loads(
        "model M discrete Real n(start = 0); equation when sample(0, 0.1) then n = pre(n) + 1; end when; end M;"
    )
    r = model.simulate(stop=2.0, points=201, events=events)
    assert np.all(np.diff(r.time) >= 0.0)
    last = np.append(np.diff(r.time) > 1e-9, True)
    assert np.count_nonzero(last) == 201
    close(r["n"][last], np.floor(r.time[last] / 0.1 + 1e-9) + 1)
