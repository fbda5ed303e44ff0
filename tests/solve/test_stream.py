"""Files that grow with the run, and methods that agree."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from solve.solve_systems import T, balance, d, lasting, relation, state, system, y, z
from solve.test_runs import ball, friction, oscillator, run

from bglang.diagnostics import SimulationError, UsageError
from bglang.results import Result
from bglang.results.write import CsvWriter
from bglang.solve import native_model
from bglang.solve.method import available


@pytest.mark.parametrize("suffix", ["csv", "json", "mat", "h5", "parquet"])
def test_file_holds_the_run(tmp_path: Path, suffix: str) -> None:
    if suffix == "h5":
        pytest.importorskip("h5py")
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"out.{suffix}"
    result = run(ball(0.8, 1.5), output=path, points=200)
    stored = Result.load(path)
    assert np.array_equal(stored.time, result.time)
    assert np.array_equal(stored["h"], result["h"])
    assert os.listdir(tmp_path) == [path.name]
    if suffix != "csv":
        assert stored.events == result.events


def test_file_holds_chosen_variables_and_event_rows(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    result = run(ball(0.8, 0.6), output=path, points=11, vars=("h",), events=True)
    stored = Result.load(path)
    assert stored.names == ("h",)
    assert len(stored) == len(result) == 13
    with pytest.raises(UsageError, match="no variable"):
        run(ball(0.8, 0.6), output=path, vars=("nothing",))


def test_failed_run_keeps_its_file(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with pytest.raises(SimulationError) as caught:
        run(ball(0.5, 5.0), output=path)
    kept = caught.value.result
    assert kept is not None
    assert np.array_equal(Result.load(path).time, kept.time)


def test_killed_run_leaves_complete_rows(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    program = """
import sys
from solve.solve_systems import T, balance, d, lasting, state, system
from solve.test_runs import run
model = system([state("x", 0.0)], [balance(("-", d(0), ("sin", ("*", 3000.0, T))))], experiment=lasting(1e4))
run(model, output=sys.argv[1], points=1000001, max_step=1e-3)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), os.getcwd()])}
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], env=environment)
    try:
        until = time.monotonic() + 60.0
        while time.monotonic() < until and (not path.exists() or path.stat().st_size < 10_000):
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    rows = Result.load(path)
    assert len(rows) > 50
    assert np.all(np.diff(rows.time) > 0.0)


def test_full_disk_is_reported_with_what_the_file_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = CsvWriter.write

    def fill(writer: CsvWriter, time: np.ndarray, values: np.ndarray) -> None:
        written(writer, time[:7], values[:7])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(CsvWriter, "write", fill)
    path = tmp_path / "out.csv"
    with pytest.raises(SimulationError) as caught:
        run(oscillator(1.0), output=path, points=11)
    assert str(path) in caught.value.message and "No space left" in caught.value.message
    assert "7 complete rows, up to t = 0.6" in caught.value.diagnostic.reason
    assert caught.value.result is not None and len(caught.value.result) == 11
    assert len(Result.load(path)) == 7


METHODS = [m for m in available() if m not in ("rk", "adams")]


@pytest.mark.parametrize("method", METHODS)
def test_implicit_methods_agree_on_friction(method: str) -> None:
    result = run(friction(16.5), method=method)
    assert result["spring.q"][-1] == pytest.approx(0.5, abs=2e-5)
    assert [e.new for e in result.events][-1] == "sticks"
    assert result.stats.method == method


@pytest.mark.parametrize("method", available())
def test_all_methods_agree_on_impacts(method: str) -> None:
    result = run(ball(0.8, 2.5), method=method)
    hits = [e.time for e in result.events if e.kind == "reinit"]
    fall = (2.0 / 9.81) ** 0.5
    assert hits == pytest.approx([fall, fall * 2.6, fall * (2.6 + 1.28), fall * (3.88 + 1.024)], abs=1e-5)


def test_explicit_method_on_a_stiff_model_says_so() -> None:
    model = system(
        [state("x", 0.0), state("w", 0.0)],
        [balance(("+", d(0), ("*", 1e6, ("-", y(0), ("cos", T))))), balance(("-", d(1), y(0)))],
        experiment=lasting(10.0, 1e-6),
    )
    result = run(model)
    assert result["w"][-1] == pytest.approx(np.sin(10.0), abs=1e-4)
    assert "radau" in result.stats.method
    assert np.all(np.diff(result.time) > 0.0) and len(result) == 500


def test_steps_of_a_given_length() -> None:
    result = run(oscillator(1.0), step=0.01, method="radau")
    assert result.stats.steps == 100
    assert result["q"][-1] == pytest.approx(np.cos(1.0), abs=1e-9)


def test_switched_source_in_an_explicit_run() -> None:
    """A square wave of period 0.2 integrates to a triangle."""
    model = system(
        [state("x", 0.0)],
        [balance(("-", d(0), ("if", ("!=", z(0), 0.0), 1.0, -1.0)))],
        modes=[relation(("sin", ("*", 10 * np.pi, T)), "sin(10*pi*time) > 0", time_only=True)],
        experiment=lasting(1.0),
    )
    result = run(model, points=101)
    phase = np.mod(result.time, 0.2)
    assert result["x"] == pytest.approx(np.where(phase < 0.1, phase, 0.2 - phase), abs=1e-9)
    assert result.stats.events == 10


def test_outputs_of_a_large_model_are_lowered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model with many outputs has none of them lowered beforehand; those of the file are lowered once, not at every
    piece of the run."""
    monkeypatch.setattr("bglang.kernels.lower.MANY_OUTPUTS", 1)
    compiled = native_model.Compiled(oscillator())
    model = compiled.model(compiled.model.parameters({}))
    lowered = []
    original = native_model._lower
    monkeypatch.setattr(native_model, "_lower", lambda *a: lowered.append(a) or original(*a))
    for t in (0.0, 1.0, 2.0):
        rows = np.array([[t, t + 1.0]])
        values = model.outputs(np.array([t]), rows, 0 * rows, np.zeros((1, 0)), [0, 1])
        assert values.tolist() == rows.tolist()
    assert len(lowered) == 1
