"""`FMU valve(file = …)` and `bglang import fmu`: units made by our own exporter run inside other models."""

import itertools
import shutil
import stat
import zipfile
from pathlib import Path

import numpy as np
import pytest
from interop.export_models import MODELS

import bglang
from bglang.cli import main
from bglang.interop.fmu_export import export_fmu
from bglang.interop.fmu_file import WrongFmu, read_fmu

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler here")
DESCRIPTION = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="2.0" modelName="Valve" guid="1"><CoSimulation modelIdentifier="valve"/>
<ModelVariables><ScalarVariable name="u" valueReference="1" causality="input"><Real start="0"/></ScalarVariable>
<ScalarVariable name="y" valueReference="2" causality="output"><Real/></ScalarVariable></ModelVariables>
</fmiModelDescription>"""
LOOP = """
model Loop
  parameter Real step = 0.01;
  FMU drive(file = "drive.fmu", u = 2 - 0.5*tank.q, step = step, r = 3);
  J0 n; C tank(C = 1, q(start = 0.2)); Sf pump(f = drive.y); R out(R = 2);
bonds pump -> n -> tank, out;
annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end Loop;"""
WHOLE = """
model Whole
  J1 i; Se source(e = 2 - 0.5*tank.q); R loss(R = 3); I coil(I = 0.5);
  J0 n; C tank(C = 1, q(start = 0.2)); Sf pump(f = 3*i.f); R out(R = 2);
bonds source -> i -> loss, coil; pump -> n -> tank, out;
annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end Whole;"""


def archive(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name, text in members.items():
            made.writestr(name, text)
    return path


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    export_fmu(bglang.loads(MODELS["input"]), tmp_path / "drive.fmu")
    (tmp_path / "loop.bg").write_text(LOOP)
    return tmp_path / "loop.bg"


@needs_compiler
def test_a_loop_through_a_unit_approaches_the_whole_model(loop: Path) -> None:
    """Signals are held between communication points: the error is of first order in the step."""
    exact = bglang.loads(WHOLE).simulate(points=31)["tank.q"]
    model = bglang.load(loop, allow_native=True)
    errors = list[float]()
    for step in (0.02, 0.01, 0.005):
        made = bglang.load(loop, set={"step": step}, allow_native=True).simulate(points=31)["tank.q"]
        errors.append(float(np.max(np.abs(made - exact))))
    assert errors[2] < 0.01
    assert all(1.7 < a / b < 2.3 for a, b in itertools.pairwise(errors))
    again = model.simulate(points=31)["tank.q"]
    assert np.array_equal(again, model.simulate(points=31)["tank.q"])  # a new run has a new instance


@needs_compiler
def test_native_code_needs_the_flag_also_when_the_model_is_cached(
    loop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(loop), "--allow-native"]) == 0
    assert main(["run", str(loop)]) == 1
    assert "--allow-native" in capsys.readouterr().err


@needs_compiler
def test_an_import_is_a_model_that_runs(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = loop.parent / "unit.bg"
    assert main(["import", "fmu", str(loop.parent / "drive.fmu"), "-o", str(out)]) == 0
    assert "inputs      u [V]" in capsys.readouterr().out
    result = bglang.load(out, allow_native=True).simulate(points=11)
    exact = 1.5 * (1 - np.exp(-4 * result.time))
    assert np.allclose(result["unit.y"], exact, atol=1e-6)


@needs_compiler
def test_exporters_refuse_a_model_with_a_unit(loop: Path) -> None:
    from bglang.interop.exported import prepare

    with pytest.raises(bglang.SourceError, match="It is an FMU"):
        prepare(bglang.load(loop, allow_native=True))


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"readme.txt": ""}, "no modelDescription"),
        ({"modelDescription.xml": "<a"}, "is wrong"),
        ({"modelDescription.xml": DESCRIPTION, "../evil.so": ""}, "outside of its folder"),
        ({"modelDescription.xml": DESCRIPTION, "/evil.so": ""}, "outside of its folder"),
        ({"modelDescription.xml": DESCRIPTION.replace('"2.0"', '"3.0"')}, "FMI 3.0"),
        ({"modelDescription.xml": DESCRIPTION.replace('"valve"', '"../valve"')}, "no C identifier"),
        ({"modelDescription.xml": DESCRIPTION.replace('valueReference="1"', "")}, "no value reference"),
        (
            {"modelDescription.xml": DESCRIPTION.replace("<fmiM", '<!DOCTYPE x [<!ENTITY a "aaaa">]><fmiM', 1)},
            "document type or entities",
        ),
    ],
)
def test_wrong_archives(members: dict[str, str], reason: str, tmp_path: Path) -> None:
    file = archive(tmp_path / "m.fmu", members)
    with pytest.raises(WrongFmu, match=reason):
        read_fmu(file)
    assert main(["import", "fmu", str(file), "-o", str(tmp_path / "out.bg")]) == 1
    assert not (tmp_path / "out.bg").exists()


def test_links_and_plain_files_are_no_units(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("resources/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "m.fmu", "w") as made:
        made.writestr("modelDescription.xml", DESCRIPTION)
        made.writestr(link, "/etc/passwd")
    with pytest.raises(WrongFmu, match="is a link"):
        read_fmu(tmp_path / "m.fmu")
    (tmp_path / "text.fmu").write_text("no archive")
    with pytest.raises(WrongFmu, match="no readable archive"):
        read_fmu(tmp_path / "text.fmu")


def test_a_unit_without_a_binary_says_so(tmp_path: Path) -> None:
    archive(tmp_path / "drive.fmu", {"modelDescription.xml": DESCRIPTION})
    (tmp_path / "m.bg").write_text(
        'model M FMU drive(file = "drive.fmu", u = v.f); J1 v; I m(I = 1); Se s(e = drive.y);\n'
        "bonds s -> v -> m;\nend M;"
    )
    with pytest.raises(bglang.SimulationError, match="no binary for this platform"):
        bglang.load(tmp_path / "m.bg", allow_native=True).simulate()
