"""Sweeps in several processes, on a Dask cluster, killed and called again."""

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import bglang
from bglang.cli import main
from bglang.diagnostics import BglangError
from bglang.sweep import workers
from bglang.sweep.table import read_table

MODEL = """\
model Ball
  parameter Real bounce = 0.8;
  J1 v; I m(I = 1); Se g(e = -10); Real h(start = 1);
bonds
  g -> v -> m;
equation
  der(h) = v.f;
  when h < 0 then reinit(m.p, -bounce*m.p); end when;
end Ball;
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ball.bg"
    path.write_text(MODEL)
    return path


def height(bounce: float) -> float:
    """At t = 0.7: one fall of sqrt(0.2), then up with a part of the speed."""
    t = 0.7 - math.sqrt(0.2)
    return bounce * math.sqrt(20) * t - 5 * t * t


def test_processes_give_what_one_gives(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "TRIAL", 0.0)
    monkeypatch.setattr(workers, "PAYS", 0.0)
    model = bglang.load(path)
    values = np.linspace(0.5, 0.9, 9)
    here = model.sweep({"bounce": values}, stop=0.7)
    there = model.sweep({"bounce": values}, stop=0.7, workers=2, output=tmp_path / "out.csv")
    assert np.array_equal(here["h"], there["h"]) and here["h"] == pytest.approx([height(b) for b in values], rel=1e-6)
    assert read_table(tmp_path / "out.csv").columns["run"].tolist() == list(range(1, 10))  # in order, whoever was first


def _die(*chunk: object) -> None:
    """What a worker that runs out of memory looks like."""
    os._exit(9)


def test_a_dead_worker_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "TRIAL", 0.0)
    monkeypatch.setattr(workers, "PAYS", 0.0)
    monkeypatch.setattr(workers, "run_chunk", _die)

    with pytest.raises(BglangError, match="a worker process died"):
        bglang.load(path).sweep({"bounce": [0.5, 0.6, 0.7]}, stop=0.7, workers=2)


def test_a_script_without_guard_may_use_workers(path: Path, tmp_path: Path) -> None:
    """New processes do not run the caller's script again."""
    script = tmp_path / "script.py"
    script.write_text(
        "import bglang\nfrom bglang.sweep import workers\nworkers.TRIAL = workers.PAYS = 0.0\n"
        f"swept = bglang.load({str(path)!r}).sweep({{'bounce': '0.5:0.1:0.9'}}, stop=0.7, workers=2)\n"
        "print(len(swept), len(swept.failures))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "5 0\n", done.stderr


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_command_goes_on(path: Path, tmp_path: Path, by: int) -> None:
    out = tmp_path / "out.parquet"
    journal = tmp_path / "out.parquet.part.csv"
    words = ["sweep", str(path), "--vary", "bounce=linspace(0.4,0.8,3000)", "--stop", "1.2", "-o", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "bglang", *words, "--workers", "1"], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (journal.exists() and journal.stat().st_size > 2000) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(by)
    _, said = process.communicate(timeout=60)
    if by == signal.SIGINT:
        assert process.returncode == 130 and "the same command goes on from there" in said
    held = journal.read_text().count("\n") - 1
    assert 0 < held < 3000 and not out.exists()
    began = bglang.load(path).sweep({"bounce": "linspace(0.4,0.8,3000)"}, stop=1.2, output=out, progress=_stop_at_once)
    assert began.reused in (held, held - 1)  # the last line may have been half written


def _stop_at_once(done: int, total: int, failed: int) -> None:
    raise KeyboardInterrupt


def test_a_cluster_gives_what_one_process_gives(path: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    values = "linspace(0.5,0.9,7)"
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        address = cluster.scheduler_address
        out = tmp_path / "out.csv"
        words = ["sweep", str(path), "--vary", f"bounce={values}", "--stop", "0.7", "-o", str(out)]
        assert main([*words, "--scheduler", address]) == 0
    table = read_table(out).columns
    here = bglang.load(path).sweep({"bounce": values}, stop=0.7)
    assert np.array_equal(here["h"], table["h"]) and table["run"].tolist() == list(range(1, 8))


def test_no_scheduler_is_told(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    words = ["sweep", str(path), "--vary", "bounce=0.5", "-o", str(tmp_path / "out.csv"), "--scheduler", "nonsense://x"]
    assert main(words) == 2
    assert "no Dask scheduler at `nonsense://x`" in capsys.readouterr().err


def test_the_command(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out.csv")
    assert main(["sweep", str(path), "--vary", "bounce={0.5,0.8}", "--stop", "0.7", "--vars", "h", "-o", out]) == 0
    said = capsys.readouterr().out
    assert "Ball: 2 runs, 0 failed" in said and "ms a run" in said
    assert main(["sweep", str(path), "--vary", "bounce={0.5,0.8}", "--stop", "0.7", "--vars", "h", "-o", out]) == 0
    assert "2 were there already" in capsys.readouterr().out
    assert main(["sweep", str(path), "--vary", "bounce={0.4,0.5}", "--stop", "5", "-o", out]) == 3
    assert "run 1 (bounce = 0.4), code 3: infinitely many events" in capsys.readouterr().out
    words = ["--vary", "bounce={0.5,0.8}", "--vary", "h.start={1,2}", "--zip", "--stop", "0.3", "--at", "0.1"]
    assert main(["sweep", str(path), *words, "-o", out, "--quiet"]) == 0
    assert read_table(out).columns["h@0.1"] == pytest.approx([0.95, 1.95])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "nothing is varied"),
        (["--vary", "bounce=linspace(0,1"], "not closed"),
        (["--vary", "bonce=1"], "did you mean `bounce`"),
        (["--vary", "bounce=1", "--at", "noon"], "list of times"),
        (["--vary", "bounce=1", "--workers", "2", "--scheduler", "x"], "one of them"),
        (["--vary", "bounce={1,2}", "--vary", "h.start={1,2,3}", "--zip"], "equal length"),
    ],
)
def test_wrong_calls_exit_with_2(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert main(["sweep", str(path), *words, "-o", str(tmp_path / "o.csv")]) == 2
    assert says in capsys.readouterr().err
    assert not list(tmp_path.glob("o.csv*"))


def test_a_table_must_go_somewhere(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(path), "--vary", "bounce=1"]) == 2
    assert "-o out.csv" in capsys.readouterr().err
