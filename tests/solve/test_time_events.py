"""Relations, steps and tables of time alone change when they should, and only then."""

import math

import numpy as np
import pytest

import bglang
from bglang.results import Result

TOUCH = 1e-7
"""Within this time of its top a wave cannot be told from it."""


def run(declaration: str, equation: str, rate: str, stop: float = 7.0) -> Result:
    return bglang.loads(
        f"model M\n {declaration} Real x(start = 0);\nequation\n {equation}\n der(x) = {rate};\n"
        f" annotation(experiment(StopTime = {stop}));\nend M;"
    ).simulate()


def times(result: Result) -> list[float]:
    return list(dict.fromkeys(e.time for e in result.events))


PI = math.pi


@pytest.mark.parametrize(
    ("condition", "exact"),
    [
        ("sin(4*time) > 0", [PI / 4 * k for k in range(9)]),
        ("time^3 > 0", [0.0]),
        ("(time - 0.5)^3 > 0", [0.5]),
        ("abs(sin(time)) > 0.5", [PI / 6, PI * 5 / 6, PI * 7 / 6, PI * 11 / 6, PI * 13 / 6]),
        ("abs(sin(time)) < 0", []),
        ("mod(time, 2) > 1", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        ("sin(time) > 1", []),
        ("1 - cos(time) < 0", []),
        ("0*time > 0", []),
        ("2 > 1", []),
        ("tan(time) > 0", [0.0, PI / 2, PI, PI * 3 / 2, PI * 2]),
        ("sin(time^2) > 0", [0.0, *(math.sqrt(PI * k) for k in range(1, 16))]),
    ],
)
def test_relations(condition: str, exact: list[float]) -> None:
    result = run("", "", f"if {condition} then 1 else 0")
    assert [e.time for e in result.events if e.relation == condition] == pytest.approx(exact, abs=1e-9)


def test_a_relation_of_a_floor_changes_with_it() -> None:
    result = run("", "", "if floor(time) > 2.5 then 1 else 0")
    assert times(result) == pytest.approx([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], abs=1e-12)
    assert result["x"][-1] == pytest.approx(4.0, abs=1e-9)


@pytest.mark.parametrize(
    ("condition", "tops"),
    [
        ("sin(time) >= 1", [PI / 2]),
        ("sin(4*time) >= 1", [PI / 8 + PI / 2 * k for k in range(5)]),
        ("abs(sin(time)) >= 1", [PI / 2, PI * 3 / 2]),
        ("cos(time) <= -1", [PI]),
    ],
)
def test_relations_that_hold_at_the_top_of_a_wave_only(condition: str, tops: list[float]) -> None:
    """True when the top is reached, false behind it: twice an event at each, and a `when` acts once."""
    result = run("discrete Real n(start = 0);", f"when {condition} then n = pre(n) + 1; end when;", "n")
    found = [e.time for e in result.events if e.kind == "relation" and e.relation == condition]
    assert found == pytest.approx([t for top in tops for t in (top, top)], abs=TOUCH)
    assert result["n"][-1] == len(tops)
    assert result["x"][-1] == pytest.approx(sum(7.0 - t for t in tops), abs=1e-6)


@pytest.mark.parametrize("argument", ["sin(4*time)", "3*sin(4*time)", "4*sin(3*time)", "cos(time)", "1 - cos(time)"])
def test_floors_of_waves(argument: str) -> None:
    result = run("Real b;", f"b = floor({argument});", "b", 3.0)
    t = result.time
    near = [e.time for e in result.events]
    clear = np.array([all(abs(x - e) > 1e-6 for e in near) for x in t])
    python = {"sin": np.sin, "cos": np.cos, "time": t}
    assert np.array_equal(result["b"][clear], np.floor(eval(argument, python))[clear])
    assert len(near) < 50


@pytest.mark.parametrize("stop", [1.0, 7.0])
@pytest.mark.parametrize(
    "argument", ["3*sin(4*time)", "4*sin(4*time)", "max(0, sin(time))", "1 - cos(time)", "abs(sin(time))", "0*time"]
)
def test_tables_read_by_waves(argument: str, stop: float) -> None:
    """A point of the table lies where the waves turn, or stay."""
    result = run(f"Signal.Table b(u = {argument}, data = [-4, 1; 0, 0; 4, 2]);", "", "b.y", stop)
    python = {"sin": np.sin, "cos": np.cos, "abs": np.abs, "max": np.maximum}

    def exact(t: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        return np.interp(eval(argument, python | {"time": t}), [-4.0, 0.0, 4.0], [1.0, 0.0, 2.0])

    assert result["b.y"] == pytest.approx(exact(result.time), abs=1e-9)
    fine = np.linspace(0.0, stop, 200_001)
    assert result["x"][-1] == pytest.approx(np.trapezoid(exact(fine), fine), abs=1e-6)
    assert len(times(result)) < 40


def test_what_fires_at_the_start_and_at_the_end_is_in_the_log() -> None:
    result = bglang.loads(
        "model M\n Real x(start = 1);  discrete Real k(start = 0), m(start = 0);\nequation\n der(x) = -x;\n"
        " when sample(0, 0.5) then k = pre(k) + 1; end when;\n when initial() then m = 7; reinit(x, 2); end when;\n"
        " when terminal() then m = 8; end when;\n annotation(experiment(StopTime = 1.2));\nend M;"
    ).simulate()
    log = [(e.time, e.kind, e.relation, e.line, e.old, e.new) for e in result.events]
    assert [entry for entry in log if entry[1] == "sample"] == [
        (t, "sample", "sample(0, 0.5)", 5, "false", "true") for t in (0.0, 0.5, 1.0)
    ]
    assert [entry[0] for entry in log if entry[2] == "k"] == [0.0, 0.5, 1.0]
    whens = [(0.0, "when", "initial()", 6, "false", "true"), (1.2, "when", "terminal()", 7, "false", "true")]
    assert [entry for entry in log if entry[1] == "when"] == whens
    assert (0.0, "discrete", "m", 2, "0", "7") in log
