"""Relations whose sides change order through a pole: the mode behind it is right, the events on both sides are seen."""

import math

import pytest

import bglang

METHODS = ("radau", "bdf", "rk", "adams", "ida")


def run(equations: str, method: str = "auto", stop: float = 3.0) -> bglang.Result:
    hits = "discrete Real hits(start = 0);" if "hits" in equations else ""
    return bglang.loads(
        f"model M\n Real x(start = 0.1, fixed = true); Real n(start = 0, fixed = true); {hits}\nequation\n"
        f" der(x) = 1;\n {equations}\n annotation(experiment(StopTime = {stop}, Tolerance = 1e-9));\nend M;"
    ).simulate(method=method)  # type: ignore[arg-type]


def times(result: bglang.Result, relation: str) -> list[float]:
    return [event.time for event in result.events if event.relation == relation]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("sign", "before", "after"), [("", 2.0, 1.0), ("-", 1.0, 2.0)])
def test_a_mode_changes_at_a_pole(sign: str, before: float, after: float, method: str) -> None:
    result = run(f"der(n) = if {sign}1/(x - 1) > 0 then 1 else 2;", method)
    assert times(result, f"{sign}1/(x - 1) > 0") == pytest.approx([0.9], abs=1e-12)
    assert result["n"][-1] == pytest.approx(0.9 * before + 2.1 * after, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_roots_and_poles_of_a_tangent_come_in_turn(method: str) -> None:
    result = run("der(n) = if tan(x) > 0 then 1 else 0;", method, stop=9.9)
    turns = [k * math.pi / 2 for k in range(1, 7)]
    assert times(result, "tan(x) > 0") == pytest.approx([t - 0.1 for t in turns], abs=1e-9)
    held = turns[0] - 0.1 + (turns[2] - turns[1]) + (turns[4] - turns[3]) + 10.0 - turns[5]
    assert result["n"][-1] == pytest.approx(held, abs=1e-8)


@pytest.mark.parametrize("method", METHODS[:4])  # IDA looks at the ends of its steps only
def test_a_root_beside_a_pole_is_found(method: str) -> None:
    result = run("der(n) = if (x - 1.3)/(x - 1) > 0 then 1 else 0;", method)
    assert times(result, "(x - 1.3)/(x - 1) > 0") == pytest.approx([0.9, 1.2], abs=1e-9)
    assert result["n"][-1] == pytest.approx(0.9 + 1.8, abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_a_when_fires_at_poles_and_a_reset_at_one_holds(method: str) -> None:
    """x is sent back at the pole each time it comes there."""
    result = run("der(n) = 1; when 1/(x - 1) > 0 then hits = pre(hits) + 1; reinit(x, 0); end when;", method)
    assert times(result, "reinit(x)") == pytest.approx([0.9, 1.9, 2.9], abs=1e-9)
    assert result["hits"][-1] == 3
    assert result["x"][-1] == pytest.approx(0.1, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_pole_that_is_only_touched_is_no_event(method: str) -> None:
    result = run("der(n) = if 1/(x - 1)^2 > 0 then 1 else 2;", method)
    assert not result.events and result["n"][-1] == pytest.approx(3.0)


def test_a_model_without_states_passes_a_pole() -> None:
    result = bglang.loads(
        "model M\n J1 v; Se s(e = time - 1.2); R r(R = 1); R r2(e = if 1/(f - 0.3) > 0 then f else 2*f);\n"
        "bonds s -> v -> r, r2;\nannotation(experiment(StopTime = 3));\nend M;"
    ).simulate()
    assert [event.time for event in result.events] == pytest.approx([2.1], abs=1e-9)  # where 3*f = time - 1.2 is 0.9
    assert result["v.f"][-1] == pytest.approx(0.9)
