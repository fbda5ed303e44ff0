"""Speed that does not depend on the machine: work is counted, never timed.

A bound that is met with room to spare is no guard: these stand some way above what is needed now."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bglang
from benchmarks.cases import CASES
from bglang.kernels.lazy import Records
from bglang.kernels.load import load
from bglang.kernels.lower import lower
from bglang.memory import Memory
from bglang.store import Store

ROOT = Path(__file__).parent.parent
REPORT = "\nimport sys\nfrom bglang.cli import main\ncode = main(sys.argv[1:])\nprint(*sorted(sys.modules))\n"


def modules_of_a_run(cache: Path, *words: str) -> set[str]:
    environment = {**os.environ, "BGLANG_CACHE": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", REPORT, *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_modules_of_a_warm_run(tmp_path: Path) -> None:
    """A run of a model that was compiled before pays for Python, numpy and the solver."""
    model = tmp_path / "model.bg"
    model.write_text(CASES["drive"]().bg)
    words = ("run", str(model), "--stop", "1", "--quiet")
    modules_of_a_run(tmp_path / "cache", *words)
    warm = modules_of_a_run(tmp_path / "cache", *words)
    heavy = {"numba", "scipy", "lark", "dataclasses", "matplotlib", "pandas", "difflib", "unittest", "llvmlite"}
    assert warm & heavy == set()
    ours = {name for name in warm if name.startswith("bglang")}
    assert not {n for n in ours if n.split(".")[1:2] in (["elaborate"], ["syntax"], ["causality"], ["reduce"])}
    assert not ours & {"bglang.equations.derive", "bglang.kernels.lower", "bglang.kernels.roll", "bglang.pipeline"}
    assert len(ours) <= 94
    assert len(warm) <= 310


def test_modules_of_a_cold_run(tmp_path: Path) -> None:
    """The first run ever needs neither the parser's generator nor a compiler of Python."""
    model = tmp_path / "model.bg"
    model.write_text(CASES["oscillator"]().bg)
    cold = modules_of_a_run(tmp_path / "cache", "run", str(model), "--stop", "1", "--quiet")
    assert not cold & {"numba", "scipy", "lark", "dataclasses", "matplotlib", "pandas"}


@pytest.mark.parametrize("kind", ["ladder", "rlc"])
def test_laws_not_components_are_compiled(kind: str, tmp_path: Path) -> None:
    """Ten sections or two hundred: as many codes, and the second ladder compiles none of them."""
    programs = [lower(bglang.loads(CASES[f"{kind}-{n}"]().bg).compile()) for n in (10, 100)]
    assert len(programs[0].codes) == len(programs[1].codes) <= 40
    tmp_path.chmod(0o700)
    store = Store(tmp_path)
    assert load(programs[0], store=store).compiled <= 12
    assert load(programs[1], store=store).compiled == 0


WORK = {  # case: method, steps, residuals, jacobians, factorisations: at most
    "oscillator": ("rk", 1_100, 13_000, 2, 0),
    "drive": ("radau", 750, 12_000, 230, 120),
    "pendulum": ("rk", 140, 2_000, 32, 0),
    "ball": ("rk", 30, 450, 10, 0),
    "rectifier": ("radau", 750, 3_600, 60, 680),
    "robertson": ("radau", 230, 1_650, 60, 130),
    "chain": ("rk", 260, 3_200, 2, 0),
    "arm": ("radau", 370, 4_200, 370, 750),
    "ladder-100": ("radau", 310, 1_400, 2, 180),
    "ladder-1000": ("bdf", 650, 1_350, 46, 55),
}


@pytest.mark.parametrize("name", WORK)
def test_work_of_the_integrators(name: str) -> None:
    """Equal accuracy with more work than this is a step back."""
    method, steps, residuals, jacobians, factorisations = WORK[name]
    case = CASES[name]()
    result = bglang.loads(case.bg, name=name).simulate(stop=case.stop, tol=case.tolerance, points=2)
    stats = result.stats
    error = abs(result[case.variable][-1] - case.reference()) / abs(case.reference())
    assert error <= case.accuracy
    assert stats.method.split("+")[-1] == method
    done = (stats.steps, stats.residuals, stats.jacobians, stats.factorisations)
    assert all(a <= b for a, b in zip(done, (steps, residuals, jacobians, factorisations), strict=True)), done


def test_a_stored_model_is_not_unrolled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large model that was compiled before runs without one of its equations being rebuilt."""
    monkeypatch.setenv("BGLANG_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "ladder.bg"
    path.write_text(CASES["ladder-1000"]().bg)
    bglang.load(path).simulate(stop=1, points=2)
    kept = bglang.load(path)
    system = kept.compile()
    result = kept.simulate(stop=1, points=2)
    assert result["s[1].c.q"][-1] > 0.0
    for table in (system.rows, system.unknowns, system.audit, system.outputs):
        assert isinstance(table, Records)
        assert sum(made is not None for made in table._made) <= 8, "only what somebody looked at"


def test_outputs_are_lowered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BGLANG_CACHE", str(tmp_path / "cache"))
    calls = list[int]()
    from bglang.kernels import lower as module

    original = module.lower
    monkeypatch.setattr(module, "lower", lambda *given: calls.append(1) or original(*given))
    model = bglang.loads(CASES["ladder-100"]().bg)
    result = model.simulate(stop=1, points=2)
    assert result["s[7].r.power"][-1] > 0.0
    assert isinstance(model._memory, Memory) and model._memory.keeps
    assert len(calls) == 1


def test_one_more_variation_makes_nothing_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty runs with other values: one integrator, one kernel cut out for the variable that is read, and nothing of
    what begins a run alone."""
    from bglang.kernels import load as kernels
    from bglang.solve import repeat, run

    model, calls = bglang.loads(CASES["variations"]().bg), list[str]()

    def counted(module: object, name: str) -> None:
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given: calls.append(name) or original(*given))

    for module, name in ((repeat, "make_integrator"), (kernels, "restrict"), (run, "simulate")):
        counted(module, name)
    ends = [model.simulate(stop=1, points=2, R=0.5 + 0.1 * k)["v[7].e"][-1] for k in range(20)]
    assert ends == sorted(ends, reverse=True) and len(set(ends)) == 20
    assert {name: calls.count(name) for name in set(calls)} == {"simulate": 1, "make_integrator": 1, "restrict": 1}


@pytest.mark.parametrize(("text", "most"), [("ARRAYS", 900), ("MACROS", 930), ("MODELS", 1_200)])
def test_memory_of_a_flat_graph(text: str, most: int) -> None:
    """Bytes that stay for each node of a long ladder, its bonds included."""
    from benchmarks import bench_elaborate

    template = getattr(bench_elaborate, text)
    bench_elaborate.seconds(template.format(n=10))
    assert bench_elaborate.kept(template.format(n=1_000)) <= most
