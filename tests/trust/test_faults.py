"""Faults that really happen: killed processes, full disks, folders that cannot be written, damaged files."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bglang.results import Result

ROOT = Path(__file__).parents[2]
MODEL = """model M
  J1 v; I m(I = 1); C c(C = 1, q(start = 1)); R r(R = 1e-3); Se s(e = sin(time));
bonds
  s -> v -> m, c, r;
end M;
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.bg"
    path.write_text(MODEL)
    return path


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "bglang", *map(str, words)]


def environment(cache: Path | str | None = None, **more: str) -> dict[str, str]:
    extra = {"BGLANG_CACHE": str(cache)} if cache is not None else {}
    return os.environ | extra | more | {"PYTHONPATH": str(ROOT)}


def call(
    *words: object, env: dict[str, str] | None = None, before: Callable[[], None] | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(*words), capture_output=True, text=True, env=env or environment(), preexec_fn=before, timeout=120
    )


def clean(done: "subprocess.CompletedProcess[str]") -> "subprocess.CompletedProcess[str]":
    assert "Traceback" not in done.stderr, done.stderr
    return done


def reference(model: Path) -> float:
    path = model.with_name("reference.csv")
    assert clean(call("run", model, "--stop", 5, "--quiet", "-o", path)).returncode == 0
    return float(Result.load(path)["c.q"][-1])


# --- killed ---------------------------------------------------------------------------------------------------------


def test_killed_while_it_runs(model: Path) -> None:
    """What was written until then can be read, and the next run works."""
    rng, expected = random.Random(1), reference(model)
    seen = 0
    for k in range(3):
        out = model.with_name(f"out{k}.csv")
        long = command("run", model, "--stop", 1e7, "--points", 2_000_000, "--quiet", "--vars", "c.q", "-o", out)
        process = subprocess.Popen(long, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while time.monotonic() < end and (not out.exists() or out.stat().st_size < 10_000):
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.5))
        process.kill()
        assert process.wait() == -signal.SIGKILL
        kept = Result.load(out)
        assert len(kept) > 10 and np.all(np.isfinite(kept["c.q"])) and np.all(np.diff(kept.time) > 0)
        seen += len(kept)
    assert seen > 100 and reference(model) == expected


def test_killed_while_the_cache_is_written(model: Path) -> None:
    cache, rng = model.with_name("cache"), random.Random(2)
    for _ in range(4):
        process = subprocess.Popen(
            command("run", model, "--stop", 5, "--quiet"), env=environment(cache), stderr=subprocess.DEVNULL
        )
        time.sleep(rng.uniform(0.2, 1.5))
        process.kill()
        process.wait()
    out = model.with_name("out.csv")
    assert clean(call("run", model, "--stop", 5, "-o", out, "--quiet", env=environment(cache))).returncode == 0
    assert Result.load(out)["c.q"][-1] == pytest.approx(reference(model), rel=1e-12)


# --- disks ----------------------------------------------------------------------------------------------------------


def full_disk(size: int) -> Callable[[], None]:
    """Files may not grow beyond `size`: writing fails as on a full disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def test_disk_full_while_results_are_written(model: Path) -> None:
    out = model.with_name("out.csv")
    done = clean(call("run", model, "--stop", 50, "--points", 5000, "-o", out, before=full_disk(50_000)))
    assert done.returncode == 3 and "cannot write" in done.stderr and "rows" in done.stderr
    kept = Result.load(out)
    assert len(kept) > 10 and out.stat().st_size <= 50_000 and out.read_bytes().endswith(b"\n")


def test_disk_full_while_the_cache_is_written(model: Path) -> None:
    cache = model.with_name("cache")
    assert clean(call("run", model, env=environment(cache), before=full_disk(100))).returncode == 0
    assert clean(call("run", model, env=environment(cache))).returncode == 0


@pytest.mark.parametrize("home", ["/proc/nowhere", "/dev/null"])
def test_a_home_that_cannot_be_written(model: Path, home: str) -> None:
    """/proc and a file in the place of a folder refuse even the superuser."""
    env = {k: v for k, v in environment(None, HOME=home, XDG_CACHE_HOME=home).items() if k != "BGLANG_CACHE"}
    assert clean(call("run", model, "--quiet", env=env)).returncode == 0


def test_a_cache_without_permission(model: Path) -> None:
    cache = model.with_name("cache")
    cache.mkdir(mode=0o500)
    assert clean(call("run", model, "--quiet", env=environment(cache))).returncode == 0
    cache.chmod(0o700)


@pytest.mark.parametrize("out", ["/proc/out.csv", "/dev/null/out.csv", "nowhere/out.csv", "m.bg/out.csv"])
def test_an_output_that_cannot_be_written(model: Path, out: str) -> None:
    done = clean(call("run", model, "-o", model.parent / out))
    assert done.returncode == 2 and "out.csv" in done.stderr


# --- at once --------------------------------------------------------------------------------------------------------


def test_two_processes_compile_the_same_model_at_once(model: Path) -> None:
    cache = model.with_name("cache")
    outs = [model.with_name(f"out{k}.csv") for k in range(3)]
    running = [
        subprocess.Popen(command("run", model, "--quiet", "-o", out), env=environment(cache), stderr=subprocess.PIPE)
        for out in outs
    ]
    for process in running:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    assert len({out.read_bytes() for out in outs}) == 1
    left = [path.name for path in (cache / "native").iterdir() if path.name.startswith(".")]
    assert left == []


# --- damaged --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["cut", "zero", "noise", "empty", "swapped"])
def test_damaged_caches_cost_time_only(model: Path, damage: str) -> None:
    cache, out = model.with_name("cache"), model.with_name("out.csv")
    words = ("run", model, "--quiet", "-o", out)
    assert call(*words, env=environment(cache)).returncode == 0
    good = out.read_bytes()
    rng = random.Random(3)
    files = [p for p in cache.rglob("*") if p.is_file() and p.name != "secret"]
    assert len(files) > 3
    contents = [p.read_bytes() for p in files]
    for path, data, other in zip(files, contents, contents[1:] + contents[:1], strict=True):
        spoiled = bytearray(data)
        for _ in range(20):
            spoiled[rng.randrange(len(spoiled))] ^= 1 << rng.randrange(8)
        path.write_bytes(
            {
                "cut": data[: len(data) // 2],
                "zero": bytes(len(data)),
                "noise": bytes(spoiled),
                "empty": b"",
                "swapped": other,
            }[damage]
        )
    assert clean(call(*words, env=environment(cache))).returncode == 0
    assert out.read_bytes() == good
    assert clean(call(*words, env=environment(cache))).returncode == 0


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet", "mat", "h5"])
def test_truncated_results_are_named(model: Path, suffix: str) -> None:
    out = model.with_name(f"out.{suffix}")
    assert call("run", model, "--quiet", "-o", out).returncode == 0
    data = out.read_bytes()
    for part in (0, 1, len(data) // 3, len(data) - 7):
        out.write_bytes(data[:part])
        done = clean(call("table", out, "--vars", "c.q", "--every", 100))
        assert done.returncode in (0, 2), done.stderr
        assert done.returncode == 0 or f"out.{suffix}" in done.stderr or "c.q" in done.stderr
