"""Plots and the summary."""

from pathlib import Path

import numpy as np
import pytest

import bglang
from bglang.diagnostics import UsageError
from bglang.results import Column, Event, Result, Stats
from bglang.results.values import Stored
from bglang.views.plot import plot, terminal
from bglang.views.summary import summary


def curve(values: np.ndarray, time: np.ndarray | None = None, unit: str = "m") -> Result:
    time = np.linspace(0.0, 1.0, len(values)) if time is None else time
    return Result("M", Stored(time, [Column("x", unit)], np.asarray(values, dtype=float)[:, None]), states=["x"])


def test_terminal_plot_shows_range_and_unit() -> None:
    text = terminal([curve(np.linspace(-1.0, 3.0, 50))], ["x"], size=(60, 20))
    lines = text.splitlines()
    assert lines[0] == "x [m]"
    assert lines[1].strip().startswith("3 ┤")
    assert lines[-3].strip().startswith("-1 ┤")
    assert lines[-1].split() == ["0", "1"]


def test_a_falling_line_is_a_diagonal() -> None:
    text = terminal([curve(np.linspace(1.0, 0.0, 50))], ["x"], size=(44, 20))
    rows = [line.split("┤", 1)[1] for line in text.splitlines() if "┤" in line]
    first = [len(row) - len(row.lstrip()) for row in rows if row.strip()]
    assert first == sorted(first) and len(first) == len(rows)


def test_chattering_fills_its_columns() -> None:
    """Ten thousand jumps in the middle: the columns there are full from top to bottom."""
    time = np.concatenate([[0.0], np.linspace(0.4, 0.6, 10_000), [1.0]])
    values = np.concatenate([[0.0], np.arange(10_000) % 2 * 2.0 - 1.0, [0.0]])
    text = terminal([curve(values, time)], ["x"], size=(60, 20))
    rows = [line.split("┤", 1)[1] for line in text.splitlines() if "┤" in line]
    middle = len(rows[0]) // 2
    assert all(row[middle] == "⣿" for row in rows)


def test_flat_missing_and_overlaid_curves() -> None:
    assert "5" in terminal([curve(np.full(5, 5.0))], ["x"], size=(60, 20))
    assert "no finite values" in terminal([curve(np.full(5, np.nan))], ["x"], size=(60, 20))
    both = plot([curve(np.zeros(5)), curve(np.ones(5))], None, color=True)
    assert both is not None and "\033[36m" in both and "\033[33m" in both


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    results = [curve(np.linspace(0, 1, 9)), curve(np.linspace(1, 0, 5))]
    for suffix in ("png", "svg"):
        assert plot(results, "x", to=tmp_path / f"p.{suffix}") is None
        assert (tmp_path / f"p.{suffix}").stat().st_size > 1000
    with pytest.raises(UsageError, match="extension"):
        plot(results, "x", to=tmp_path / "p.doc")
    with pytest.raises(UsageError, match="no variable"):
        plot(results, "y")


def test_summary_fits_on_a_screen() -> None:
    time = np.linspace(0.0, 2.0, 5)
    events = [Event(0.1 * k, "relation", f"x > {k % 9}", "c", 2, "m.bg", "false", "true", "up") for k in range(40)]
    result = Result(
        "M",
        Stored(time, [Column(f"x[{i}]", "m") for i in range(30)], np.ones((5, 30))),
        events=events,
        stats=Stats("radau", "small model", 12, 1, 40, 2, 3, 40, {"error": 1}, {"integration": 0.02}),
        states=[f"x[{i}]" for i in range(30)],
        complete=False,
        ending="interrupted at t = 2",
    )
    text = summary(result)
    assert len(text.splitlines()) <= 24
    for part in (
        "interrupted at t = 2",
        "radau (small model)",
        "12, 1 rejected",
        "20 ms",
        "40",
        "x[0] = 1 m",
        "22 more states",
    ):
        assert part in text, part


def test_jumps_of_one_state_are_one_line_of_the_summary() -> None:
    source = "if time < 0.3 then 0 elseif time < 0.6 then 1 else 3"
    text = f"model M\n Sf s(f = {source}); I k(I = 1); J1 u; C c(C = 1);\nbonds\n s -> u -> k, c;\nend M;"
    shown = summary(bglang.loads(text).simulate(stop=1.0))
    assert shown.count("jumps") == 1 and "2 x k.p jumps, last at t = 0.6, 1 -> 3" in shown
