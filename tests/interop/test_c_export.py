"""`bglang export c`: the text agrees with the reference evaluator; compiled, it runs as bglang does."""

import csv
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from interop.c_interpreter import Pointer, Program
from interop.export_models import MODELS

import bglang
from bglang.cli import main
from bglang.interop.c_export import export_c
from bglang.interop.c_model import c_model
from bglang.interop.exported import Ready, prepare
from bglang.solve.model import Array, ReferenceModel

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler here")
SMALL = [name for name in MODELS if name != "ladder"]


def random_points(ready: Ready) -> list[tuple[float, Array, Array, Array]]:
    """Points around the start, with modes as they are there and as they are not."""
    random = np.random.default_rng(3)
    points = []
    for k in range(6):
        size = 0.4 * (k > 0)
        y = ready.at.y + size * random.standard_normal(len(ready.at.y))
        d = ready.at.d + size * random.standard_normal(len(ready.at.d))
        z = ready.at.z.copy()
        for m, mode in enumerate(ready.system.modes):
            if mode.kind == "relation" and k % 2:
                z[m] = 1.0 - z[m]
            elif mode.kind == "coulomb":
                z[m] = (k % 3) - 1.0
        points.append((0.37 * k, y, d, z))
    return points


@pytest.mark.parametrize("name", list(MODELS))
def test_the_text_means_what_the_equations_mean(name: str) -> None:
    """The C is interpreted, not compiled: residual, Jacobian, roots and outputs against the reference evaluator."""
    ready = prepare(bglang.loads(MODELS[name], name=f"{name}.bg"))
    program = Program(c_model(ready)[1])
    pattern = ready.program.patterns["jacobian"]
    reference = ReferenceModel(ready.system, ready.p[: ready.program.parameters])
    p = Pointer(ready.p.tolist())
    for t, y, d, z in random_points(ready)[: 2 if name == "ladder" else 6]:

        def computed(function: str, size: int, t: float = t, y: Array = y, d: Array = d, z: Array = z) -> Array:
            out = [0.0] * size
            program(function, t, y.tolist(), d.tolist(), p, z.tolist(), out)
            return np.array(out)

        residual = reference.residual(t, y, d, z)
        assert np.allclose(computed("model_residual", len(y)), residual, rtol=1e-12, atol=1e-12, equal_nan=True)
        slopes = computed("model_jacobian", 2 * pattern.nnz)
        for part, exact in zip(np.split(slopes, 2), reference.jacobian(t, y, d, z), strict=True):
            made = np.zeros((len(y), len(y)))
            made[pattern.indices, np.repeat(np.arange(len(y)), np.diff(pattern.indptr))] = part
            assert np.allclose(made, exact.toarray(), rtol=1e-11, atol=1e-11, equal_nan=True)
        roots = reference.roots(t, y, d, z)
        assert np.allclose(computed("model_roots", len(roots)), roots, rtol=1e-12, atol=1e-12, equal_nan=True)
        numbers = [int(k) for k in ready.program.output_numbers]
        outputs = reference.outputs(np.array([t]), y[None], d[None], z[None], numbers)[0]
        made = computed("model_outputs", len(numbers))
        assert np.allclose(made, outputs, rtol=1e-11, atol=1e-11, equal_nan=True)


def test_laws_of_one_shape_are_one_loop() -> None:
    long, short = (c_model(prepare(bglang.loads(MODELS["ladder"], set={"n": n})))[1] for n in (60, 30))
    body = long[long.index("void model_residual(") : long.index("void model_residual_t(")]
    assert body.count("for (int i") == short[short.index("void model_residual(") :].split("\n}\n")[0].count(
        "for (int i"
    )
    assert len(body.splitlines()) < 60


def build(folder: Path) -> Path:
    assert COMPILER
    sources = sorted(str(path) for path in folder.glob("*.c"))
    program = folder / "model"
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([COMPILER, *flags, "-o", str(program), *sources, "-lm"], check=True, timeout=120)
    return program


def run(program: Path, *words: str) -> dict[str, Array]:
    done = subprocess.run([str(program), *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    head, *rows = csv.reader(done.stdout.splitlines())
    return dict(zip(head, np.array(rows, float).T, strict=True))


def agree(made: dict[str, Array], result: bglang.Result, tolerance: float) -> None:
    assert np.allclose(made["time"], result.time, rtol=1e-15, atol=0)
    for name, values in made.items():
        exact = np.asarray(result[name])
        assert np.max(np.abs(values - exact)) <= tolerance * max(np.max(np.abs(exact)), 1e-9), name


@needs_compiler
@pytest.mark.parametrize("name", list(MODELS))
def test_a_compiled_export_runs_as_bglang_does(name: str, tmp_path: Path) -> None:
    model = bglang.loads(MODELS[name], name=f"{name}.bg")
    export_c(model, tmp_path)
    agree(run(build(tmp_path)), model.simulate(), 5e-6)


@needs_compiler
def test_other_values_are_solved_for_anew(tmp_path: Path) -> None:
    model = bglang.loads(MODELS["friction"])
    export_c(model, tmp_path)
    program = build(tmp_path)
    made = run(program, "m=3", "k=7", "spring.q.start=-2", "--stop", "5", "--points", "41", "--tol", "1e-10")
    other = model.simulate(stop=5, points=41, tol=1e-10, set={"m": 3, "k": 7, "spring.q.start": -2})
    agree(made, other, 1e-6)
    listed = subprocess.run([str(program), "--list"], capture_output=True, text=True, check=True).stdout
    assert "mass" in listed and "kg" in listed and "spring.q.start = 3" in listed
    for words in (["mm=3"], ["m"], ["m=x"], ["--points", "1"], ["dry.coulomb.start=1"]):
        wrong = subprocess.run([str(program), *words], capture_output=True, text=True)
        assert wrong.returncode == 2 and wrong.stderr


@needs_compiler
def test_a_table_that_a_parameter_makes_is_fixed(tmp_path: Path) -> None:
    export_c(bglang.loads(MODELS["tables"]), tmp_path)
    wrong = subprocess.run([str(build(tmp_path)), "bh[2,2]=1"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "export again" in wrong.stderr


@needs_compiler
def test_events_that_pile_up_end_the_run(tmp_path: Path) -> None:
    text = MODELS["events"].replace("StopTime = 1.9", "StopTime = 9").replace("0.5*push", "0*push")
    export_c(bglang.loads(text), tmp_path)
    done = subprocess.run([str(build(tmp_path))], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and "`h < 0` accumulates at t = " in done.stderr
    assert len(done.stdout.splitlines()) > 50  # what was computed is kept


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "friction.bg"
    file.write_text(MODELS["friction"])
    assert main(["export", "c", str(file), "-o", str(tmp_path / "out")]) == 0
    assert "cc -std=c99" in capsys.readouterr().out
    assert "cc -std=c99" in (tmp_path / "out" / "README.md").read_text()
    assert main(["export", "c", str(file), "-o", str(file)]) == 2
