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

from bglang.cli import main
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


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet", "mat", "h5"])
def test_disk_full_while_results_are_written(model: Path, suffix: str) -> None:
    """What fits is kept to the last complete row, beside the file where that cannot grow; the message says where."""
    out = model.with_name(f"out.{suffix}")
    done = clean(call("run", model, "--stop", 50, "--points", 5000, "-o", out, before=full_disk(50_000)))
    assert done.returncode == 3 and "cannot write" in done.stderr and "wrote" not in done.stderr
    path = out if suffix == "csv" else out.with_name(f"out.{suffix}.part.csv")
    kept, line = Result.load(path), len(path.read_bytes().splitlines()[-1])
    assert f"`{path}` holds {len(kept)} complete rows" in done.stderr
    assert 50_000 - 3 * line < path.stat().st_size <= 50_000 and path.read_bytes().endswith(b"\n")
    assert out == path or not out.exists()


@pytest.mark.parametrize("suffix", ["json", "parquet", "mat", "h5"])
def test_disk_full_while_the_file_is_made_at_the_end(model: Path, suffix: str) -> None:
    """The rows stay in the file beside it, and an older result is not touched."""
    out = model.with_name(f"out.{suffix}")
    assert call("run", model, "--quiet", "-o", out, "--vars", "c.q").returncode == 0
    old = out.read_bytes()
    script = (
        "import sys, bglang.results.write as w, errno, os\n"
        "from pathlib import Path\n"
        "from bglang.cli import main\n"
        "rename = os.replace\n"
        "def full(a, b):\n"
        "    if str(b).endswith(sys.argv[2]): raise OSError(errno.ENOSPC, 'No space left on device', str(a))\n"
        "    rename(a, b)\n"
        "w.os.replace = full\n"
        "sys.exit(main(['run', sys.argv[1], '-o', sys.argv[2], '--vars', 'c.q', '--quiet']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(model), str(out)], capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 3 and f"cannot write `{out}`" in done.stderr, done.stderr
    assert out.read_bytes() == old
    assert len(Result.load(out.with_name(f"{out.name}.part.csv"))) == 500


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


@pytest.mark.parametrize("number", [2, 6])
def test_processes_compile_the_same_model_at_once(model: Path, number: int) -> None:
    cache = model.with_name("cache")
    outs = [model.with_name(f"out{k}.csv") for k in range(number)]
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
def test_damaged_results_are_named(model: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Cut, and with bytes changed, removed and put in: read back by `table`, `plot` and `compare`."""
    out, whole, rng = model.with_name(f"out.{suffix}"), model.with_name("whole.csv"), random.Random(4)
    for path in (out, whole):
        assert call("run", model, "--quiet", "--points", 30, "-o", path).returncode == 0
    data = out.read_bytes()
    for k in range(60):
        out.write_bytes(data[: (0, 1, len(data) // 3, len(data) - 7)[k]] if k < 4 else damaged(data, rng))
        for words in (["table", out, "--every", 9], ["plot", out, "--vars", "c.q"], ["compare", whole, out]):
            code = main(list(map(str, words)))
            said = capsys.readouterr().err
            assert code in (0, 1) or (code == 2 and said.startswith("bglang ")), (k, words, code, said)
            assert code != 2 or out.name in said or "c.q" in said or "two results" in said, said


def damaged(data: bytes, rng: random.Random) -> bytes:
    spoiled = bytearray(data)
    at = rng.randrange(len(spoiled))
    match rng.randrange(4):
        case 0:
            del spoiled[at:]
        case 1:
            del spoiled[at : at + rng.randint(1, 60)]
        case 2:
            spoiled[at:at] = rng.randbytes(rng.randint(1, 8))
        case _:
            for _ in range(rng.choice([1, 3, 20])):
                spoiled[rng.randrange(len(spoiled))] ^= 1 << rng.randrange(8)
    return bytes(spoiled)
