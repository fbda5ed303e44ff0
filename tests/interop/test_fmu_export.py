"""`bglang export fmu`: valid archives that run in another simulator as they do here."""

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fmpy import read_model_description, simulate_fmu
from fmpy.validation import validate_fmu, validate_model_description
from interop.export_models import MODELS

import bglang
from bglang.cli import main
from bglang.interop.exported import prepare
from bglang.interop.fmu_description import description
from bglang.interop.fmu_export import export_fmu

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler here")


@pytest.mark.parametrize("name", list(MODELS))
def test_descriptions_are_valid(name: str, tmp_path: Path) -> None:
    """Against the schema and FMPy's own rules, and without a compiler."""
    model = bglang.loads(MODELS[name])
    assert export_fmu(model, tmp_path / "m.fmu", binary=False).reason == "it was not asked for"
    described = read_model_description(str(tmp_path / "m.fmu"))
    assert not validate_model_description(described)
    names = {v.name for v in described.modelVariables}
    assert {o.name for o in model.compile().outputs} <= names
    with zipfile.ZipFile(tmp_path / "m.fmu") as archive:
        assert {"sources/model.c", "sources/fmu2.c"} <= set(archive.namelist())


def test_what_a_description_says() -> None:
    text = description(prepare(bglang.loads(MODELS["input"])), "{g}", ["model.c"], "2026-01-01T00:00:00Z")
    lines = {line.split('name="')[1].split('"')[0]: line for line in text.splitlines() if "<ScalarVariable" in line}
    assert 'causality="input"' in lines["u"] and 'unit="V" start="1.0"' in lines["u"]
    assert 'causality="output"' in lines["y"]
    assert 'causality="parameter"' in lines["r"] and 'unit="ohm" start="2.0"' in lines["r"]
    assert "resistance" in lines["r"]
    assert 'causality="calculatedParameter"' in lines["loss.R"] and "start" not in lines["loss.R"]
    assert 'initial="exact"' in lines["coil.p"]
    assert f'derivative="{list(lines).index("coil.p") + 1}"' in lines["der(coil.p)"]


def errors(made: np.ndarray, result: bglang.Result, names: list[str], skip: float) -> float:
    """The largest relative difference, away from events, where the two may show different sides."""
    times = made["time"]
    jumps = np.array([e.time for e in result.events])
    clear = np.array([t == 0 or not len(jumps) or np.min(np.abs(jumps - t)) > skip for t in times])
    worst = 0.0
    for name in names:
        exact = np.asarray(result[name])
        here = np.interp(times, result.time, exact)
        worst = max(worst, float(np.max(np.abs(here - made[name])[clear]) / max(np.max(np.abs(exact)), 1e-9)))
    return worst


@needs_compiler
@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
@pytest.mark.parametrize("name", [n for n in MODELS if n != "ladder"])
def test_another_simulator_finds_the_same(name: str, kind: str, tmp_path: Path) -> None:
    model, file = bglang.loads(MODELS[name]), str(tmp_path / "m.fmu")
    export_fmu(model, Path(file))
    assert not validate_fmu(file)
    stop = model.compile().experiment.stop
    result = model.simulate(points=201)
    names = [u.name for u in model.compile().unknowns if u.kind == "state"]
    made = simulate_fmu(
        file, fmi_type=kind, output=names, stop_time=stop, output_interval=stop / 200, record_events=False,
        relative_tolerance=1e-9, step_size=stop / 200 if kind == "CoSimulation" else None,
    )  # fmt: skip
    assert len(made) >= len(result.time) - 1
    assert errors(made, result, names, stop / 1e9) < (1e-6 if kind == "CoSimulation" else 1e-5)


@needs_compiler
@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_parameters_starts_and_inputs(kind: str, tmp_path: Path) -> None:
    """A step of the input against the closed form of a first-order circuit."""
    file = str(tmp_path / "m.fmu")
    export_fmu(bglang.loads(MODELS["input"]), Path(file))
    r, inductance, first = 3.0, 0.25, 0.5
    steps = np.array([(0.0, 2.0), (0.5, 2.0), (0.5, -1.0), (1.0, -1.0)], dtype=[("time", float), ("u", float)])
    made = simulate_fmu(
        file, fmi_type=kind, input=steps, start_values={"r": r, "l": inductance, "coil.p": inductance * first},
        stop_time=1.0, output_interval=0.01, step_size=0.01 if kind == "CoSimulation" else None, output=["y", "coil.p"],
        relative_tolerance=1e-9, record_events=False,
    )  # fmt: skip
    t, decay = made["time"], r / inductance
    rising = 2 / r + (first - 2 / r) * np.exp(-decay * np.minimum(t, 0.5))
    at_half = 2 / r + (first - 2 / r) * np.exp(-decay * 0.5)
    current = np.where(t <= 0.5, rising, -1 / r + (at_half + 1 / r) * np.exp(-decay * (t - 0.5)))
    assert np.allclose(made["y"], 3 * current, atol=3e-6)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "friction.bg"
    file.write_text(MODELS["friction"])
    assert main(["export", "fmu", str(file), "-o", str(tmp_path / "f.fmu"), "--no-binary"]) == 0
    assert "no binary: it was not asked for" in capsys.readouterr().out
    assert zipfile.is_zipfile(tmp_path / "f.fmu") and not (tmp_path / "f.fmu.part").exists()


def test_without_a_compiler_the_archive_holds_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    made = export_fmu(bglang.loads(MODELS["friction"]), tmp_path / "f.fmu")
    assert not made.platform and "no C compiler was found" in made.reason
