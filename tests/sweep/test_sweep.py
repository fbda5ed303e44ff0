"""Sweeps from Python: numbers against closed forms and single runs, files, going on."""

import math
from pathlib import Path

import numpy as np
import pytest

import bglang
from bglang.diagnostics import UsageError
from bglang.sweep import runner
from bglang.sweep.table import read_table

DECAY = """\
model Decay "a capacitor empties"
  parameter Real R(min = 0.1) = 2;
  parameter Integer n = 1;
  parameter Boolean leaky = true;
  J0 u;
  Electrical.Resistor leak[n](each R = n*R) if leaky;
  Electrical.Capacitor c(C = 0.5, q(start = 1));
bonds
  u -> leak, c;
end Decay;
"""
BALL = """\
model Ball
  parameter Real bounce = 0.8;
  J1 v; I m(I = 1); Se g(e = -10); Real h(start = 1);
bonds
  g -> v -> m;
equation
  der(h) = v.f;
  when h < 0 then reinit(m.p, -bounce*m.p); end when;
  assert(bounce < 1, "it must lose energy");
end Ball;
"""


@pytest.fixture
def decay() -> bglang.Model:
    return bglang.loads(DECAY)


def test_final_values_follow_the_closed_form(decay: bglang.Model) -> None:
    resistances = np.geomspace(0.5, 50, 40)
    swept = decay.sweep({"R": resistances}, tol=1e-9)
    assert swept["R"] == pytest.approx(resistances)
    assert swept["c.q"] == pytest.approx(np.exp(-1 / (0.5 * resistances)), rel=1e-8)
    assert swept["run"].tolist() == list(range(1, 41)) and set(swept["status"]) == {"ok"}
    assert swept.complete and not swept.failures and len(swept) == 40


def test_a_sweep_gives_what_single_runs_give(decay: bglang.Model) -> None:
    """The quick way and the whole one: the same equations, method, steps, hence the same bits."""
    swept = decay.sweep({"R": [0.2, 3.0, 2e-1 + 5]}, vars="c.q,leak[1].f", at=[0.25])
    for k, resistance in enumerate([0.2, 3.0, 5.2]):
        single = decay.simulate(R=resistance, points=2)
        assert swept["c.q"][k] == single["c.q"][-1]
        assert swept["leak[1].f"][k] == single["leak[1].f"][-1]
        assert swept["c.q@0.25"][k] == pytest.approx(math.exp(-0.25 / (0.5 * resistance)), rel=1e-5)


def test_starts_grids_and_settings_of_the_model() -> None:
    model = bglang.loads(DECAY, set={"R": 4})
    swept = model.sweep({"c.q.start": "{1, 2}", "R": [1, 4]}, tol=1e-9)
    assert swept["c.q"] == pytest.approx([s * math.exp(-2 / r) for s in (1, 2) for r in (1, 4)], rel=1e-8)
    alone = model.sweep({"c.q.start": [3]}, tol=1e-9)
    assert alone["c.q"] == pytest.approx([3 * math.exp(-2 / 4)], rel=1e-8)


def test_structural_parameters_are_compiled_for_each_value(decay: bglang.Model) -> None:
    swept = decay.sweep({"n": [1, 2, 3], "leaky": [True, False]}, vars="c.q,leak[1].f", tol=1e-9)
    held = math.exp(-1)
    assert swept["c.q"] == pytest.approx([held, 1, held, 1, held, 1], rel=1e-8)
    assert np.isnan(swept["leak[1].f"]).tolist() == [False, True] * 3  # a component that is not there has no value
    assert decay.sweep({"leaky": ["true"]})["c.q"] == pytest.approx([held], rel=1e-5)


def test_least_and_largest_values_see_both_sides_of_events() -> None:
    model = bglang.loads(BALL)
    swept = model.sweep({"bounce": [0.5, 0.8]}, vars="h,v.f", statistics=["min", "max"], stop=0.7)
    fall = math.sqrt(20)
    assert swept["min(v.f)"] == pytest.approx([-fall, -fall], rel=1e-6)
    assert swept["max(v.f)"] == pytest.approx([0.5 * fall, 0.8 * fall], rel=1e-6)
    assert swept["max(h)"] == pytest.approx([1, 1])


def test_failures_are_rows(decay: bglang.Model) -> None:
    swept = bglang.loads(BALL).sweep({"bounce": [0.5, 1.5, 0.6]}, stop=5)
    assert swept["status"] == ["failed", "failed", "failed"]
    assert swept["code"].tolist() == [3, 1, 3]
    assert "accumulates" in swept["message"][0] and "it must lose energy" in swept["message"][1]
    assert [f.run for f in swept.failures] == [1, 2, 3] and swept.failures[1].values == {"bounce": 1.5}
    swept = decay.sweep({"R": [1, 0.01, math.nan]})
    assert swept["code"].tolist() == [0, 1, 1] and "its min is 0.1" in swept["message"][1]
    assert np.isnan(swept["c.q"][1]) and swept["c.q"][0] == pytest.approx(math.exp(-2), rel=1e-5)


def test_trajectories_are_rows(decay: bglang.Model) -> None:
    swept = decay.sweep({"R": [1, 2]}, trajectories=True, points=5, tol=1e-9)
    assert swept["run"].tolist() == [1] * 5 + [2] * 5
    time = np.linspace(0, 1, 5)
    assert swept["time"] == pytest.approx(np.tile(time, 2))
    assert swept["c.q"] == pytest.approx(np.concatenate([np.exp(-2 * time), np.exp(-time)]), rel=1e-7)
    ball = bglang.loads(BALL).sweep({"bounce": [0.5]}, trajectories=True, stop=5, points=11)
    assert set(ball["status"]) == {"failed"} and 0 < ball["time"].max() < 5  # what was computed until then is kept


@pytest.mark.parametrize("ending", ["csv", "parquet", "h5", "json", "mat"])
def test_files_hold_the_table_and_a_second_sweep_runs_nothing(
    decay: bglang.Model, tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"out.{ending}"
    first = decay.sweep({"R": [1, 0.01, 3]}, output=path)
    assert list(tmp_path.iterdir()) == [path]  # no journal is left
    table = read_table(path)
    for name in first.names:
        mine, stored = first[name], table.columns[name]
        assert list(mine) == list(stored) if isinstance(mine, list) else np.array_equal(mine, stored, equal_nan=True)
    with monkeypatch.context() as patch:
        patch.setattr(runner.Runner, "run", None)  # nobody may call it
        again = decay.sweep({"R": [1, 0.01, 3]}, output=path)
    assert again.reused == 3 and np.array_equal(again["c.q"], first["c.q"], equal_nan=True)
    assert [f.message for f in again.failures] == [f.message for f in first.failures]
    more = decay.sweep({"R": [0.5, 3, 1]}, output=path)
    assert more.reused == 2 and more["c.q"] == pytest.approx(np.exp([-4, -2 / 3, -2]), rel=1e-4)
    assert read_table(path).columns["R"].tolist() == [0.5, 3, 1]


def test_what_matters_makes_a_sweep_another_one(decay: bglang.Model, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    decay.sweep({"R": [1, 2]}, output=path)
    assert decay.sweep({"R": [1, 2]}, output=path).reused == 2
    assert decay.sweep({"R": [1, 2]}, output=path, tol=1e-8).reused == 0
    assert decay.sweep({"R": [1, 2]}, output=path, tol=1e-8, vars="u.e").reused == 0
    assert bglang.loads(DECAY.replace("0.5", "0.6")).sweep({"R": [1, 2]}, output=path).reused == 0
    assert bglang.loads(DECAY, set={"n": 2}).sweep({"R": [1, 2]}, output=path).reused == 0


def test_failed_points_are_run_again_only_on_demand(decay: bglang.Model, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    decay.sweep({"R": [1, 0.01]}, output=path)
    assert decay.sweep({"R": [1, 0.01]}, output=path).reused == 2
    assert decay.sweep({"R": [1, 0.01]}, output=path, retry=True).reused == 1


def test_half_a_line_is_not_a_point(decay: bglang.Model, tmp_path: Path) -> None:
    """A killed sweep leaves what it had written; of trajectories only whole runs count."""
    path = tmp_path / "out.csv"
    whole = decay.sweep({"R": [1, 2, 3]}, output=path, trajectories=True, points=4)
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    for cut, reused in ((len("".join(lines[:8])), 1), (len("".join(lines[:9])), 2), (len(text) - 3, 2), (3, 0)):
        path.write_text(text[:cut])
        again = decay.sweep({"R": [1, 2, 3]}, output=path, trajectories=True, points=4)
        assert again.reused == reused and np.array_equal(again["c.q"], whole["c.q"])
        assert read_table(path).columns["c.q"] == pytest.approx(whole["c.q"])


def test_a_foreign_file_is_replaced(decay: bglang.Model, tmp_path: Path) -> None:
    for name, content in (("a.csv", b"time,x\n0,1\n"), ("a.parquet", b"nonsense"), ("a.json", b"[1]"), ("b.csv", b"")):
        (tmp_path / name).write_bytes(content)
        assert decay.sweep({"R": [1]}, output=tmp_path / name).reused == 0
        assert read_table(tmp_path / name).columns["R"].tolist() == [1]


def test_an_interrupted_sweep_keeps_what_it_has_and_goes_on(decay: bglang.Model, tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"

    def stop(done: int, total: int, failed: int) -> None:
        assert total == 6 and failed == 0
        if done == 4:
            raise KeyboardInterrupt

    values = {"R": [1, 2, 3, 4, 5, 6]}
    first = decay.sweep(values, output=path, progress=stop)
    assert not first.complete and len(first) == 4 and not path.exists()
    again = decay.sweep(values, output=path)
    assert again.complete and again.reused == 4
    assert again["c.q"] == pytest.approx(np.exp(-2 / np.arange(1, 7)), rel=1e-4)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        ({"vary": {"r": [1]}}, "did you mean `R`"),
        ({"vary": {"c.q": [1]}}, "`c.q` is not a parameter"),
        ({"vary": {"R": [1]}, "vars": "c.x"}, "c.x"),
        ({"vary": {"R": [1]}, "statistics": ["mean"]}, "final, min, max"),
        ({"vary": {"R": [1]}, "at": [7]}, "nothing at 7"),
        ({"vary": {"R": [1]}, "workers": 0}, "at least one worker"),
        ({"vary": {"R": [1]}, "stop": -1}, "forward in time"),
        ({"vary": {"R": [1]}, "output": "out.xls"}, "extension"),
    ],
)
def test_wrong_calls(decay: bglang.Model, keywords: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        decay.sweep(**keywords)  # type: ignore[arg-type]


def test_a_sweep_becomes_a_frame(decay: bglang.Model, tmp_path: Path) -> None:
    swept = decay.sweep({"R": [1, 2]}, statistics=["final", "max"])
    frame = swept.to_dataframe()
    assert list(frame["R"]) == [1, 2] and frame.attrs["units"]["max(c.q)"] == "C"
    swept.save(tmp_path / "a.csv")
    assert read_table(tmp_path / "a.csv").columns["max(c.q)"] == pytest.approx([1, 1])
    assert "2 runs" in repr(swept)
    with pytest.raises(UsageError, match="no column `x`"):
        swept["x"]
