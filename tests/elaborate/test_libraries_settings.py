"""Where classes come from, which model runs, and what the caller sets."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from elaborating import element, equations, graph, names, parameter, problems, starts, value

from bglang.diagnostics import Report, SourceError, UsageError
from bglang.elaborate import load_model


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return folder


LIBRARY = {
    "Lib/package.bg": "package Lib constant Real k = 7; element Base extends R(R = k); end Base; end Lib;",
    "Lib/Parts.bg": "within Lib; package Parts element A extends Base; end A; end Parts;",
    "Lib/Inner/package.bg": "within Lib; package Inner constant Real m = 2; end Inner;",
    "Lib/Inner/B.bg": "within Lib.Inner; element B extends Base(R = m*k); end B;",
}
USER = "model M Lib.Parts.A a; Lib.Inner.B b; J1 j; bonds j -> a, b; end M;"


def test_folders_are_packages(tmp_path: Path) -> None:
    write(tmp_path, {**LIBRARY, "m.bg": USER})
    g = load_model(tmp_path / "m.bg")
    assert value(g, "a.R") == "7" and value(g, "b.R") == "14"
    assert {Path(f).name for f in g.dependencies} == {"m.bg", "package.bg", "Parts.bg", "B.bg"}


def test_libraries_by_option_and_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "libs", LIBRARY)
    write(tmp_path / "models", {"m.bg": USER})
    model = tmp_path / "models" / "m.bg"
    with pytest.raises(SourceError):
        load_model(model)
    for folder in ("libs", "libs/Lib"):
        assert value(load_model(model, libraries=[str(tmp_path / folder)]), "a.R") == "7"
    monkeypatch.setenv("BGLANG_PATH", str(tmp_path / "libs") + os.pathsep + "/nowhere")
    assert value(load_model(model), "b.R") == "14"


def test_broken_files_beside_the_model_do_not_speak_for_it(tmp_path: Path) -> None:
    """A class that is not found is looked for in every file beside the model, whose mistakes are another matter."""
    write(tmp_path, {"draft.bg": "model Draft R r(", "m.bg": "model M Inductor l(L = 1); end M;"})
    with pytest.raises(SourceError) as caught:
        load_model(tmp_path / "m.bg")
    assert [d.message for d in caught.value.diagnostics] == ["there is no class `Inductor`"]
    assert "`Electrical.Inductor`" in caught.value.diagnostics[0].hint


def test_installed_packages_advertise_libraries(tmp_path: Path) -> None:
    site = write(
        tmp_path / "site",
        {
            "acoustics/__init__.py": "",
            "acoustics/Sound/package.bg": "package Sound element Hole extends R(R = 4); end Hole; end Sound;",
            "acoustics-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: acoustics\nVersion: 1.0\n",
            "acoustics-1.0.dist-info/entry_points.txt": "[bglang.libraries]\nacoustics = acoustics\n",
        },
    )
    write(tmp_path, {"m.bg": "model M Sound.Hole h; J1 j; bonds j -> h; end M;"})
    code = f"from bglang.elaborate import load_model; print(load_model({str(tmp_path / 'm.bg')!r}).parameters[0].value)"
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(root)])},
    )  # fmt: skip
    assert run.stdout.strip() == "4.0"


def test_a_model_inside_a_library_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        {**LIBRARY, "Lib/Inner/Ex.bg": "within Lib.Inner; model Ex B b; Base c; J1 j; bonds j -> b, c; end Ex;"},
    )
    g = load_model(tmp_path / "Lib" / "Inner" / "Ex.bg")
    assert g.name == "Lib.Inner.Ex" and value(g, "b.R") == "14"


def test_files_beside_the_model_and_their_mistakes(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"Part.bg": "element Part extends R(R = 1) end Part;", "m.bg": "model M Part p; J1 j; bonds j -> p; end M;"},
    )
    report = Report()
    with pytest.raises(SourceError):
        load_model(tmp_path / "m.bg", report=report)
    assert len(report.errors) == 1 and report.errors[0].span.source.name.endswith("Part.bg")


def test_wrong_within(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            **LIBRARY,
            "Lib/Parts.bg": "within Lob; package Parts element A extends R(R = 1); end A; end Parts;",
            "m.bg": USER,
        },
    )
    report = Report()
    with pytest.raises(SourceError):
        load_model(tmp_path / "m.bg", report=report)
    assert [d.code for d in report] == ["files/within"]


def test_files_outside_the_folder_are_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"data.csv": "0,0\n1,2\n", "models/in.csv": "0,0\n1,2\n"})
    text = 'model M Real x = table(time, "{}"); end M;'
    (tmp_path / "models" / "m.bg").write_text(text.format("../data.csv"))
    report = Report()
    with pytest.raises(SourceError):
        load_model(tmp_path / "models" / "m.bg", report=report)
    assert [d.code for d in report] == ["files/outside"]
    assert len(load_model(tmp_path / "models" / "m.bg", allow_read=True).tables) == 1
    (tmp_path / "models" / "m.bg").write_text(text.format("in.csv"))
    assert len(load_model(tmp_path / "models" / "m.bg").tables) == 1


def test_binary_and_broken_files(tmp_path: Path) -> None:
    (tmp_path / "m.bg").write_bytes(b"\xff\xfe\x00model")
    report = Report()
    with pytest.raises(SourceError):
        load_model(tmp_path / "m.bg", report=report)
    assert [d.code for d in report] == ["syntax/encoding"]


# --- which model -----------------------------------------------------------------------------------------------------


def test_the_main_model_is_the_one_that_no_other_uses() -> None:
    text = "model A J1 j; end A; partial model P end P; model B A a; extends P; end B; block X end X;"
    assert graph(text).name == "B" and graph(text, model="A").name == "A"


def test_models_are_named_with_dots() -> None:
    assert graph("package P model A J1 j; end A; end P;", model="P.A").name == "P.A"


def test_choosing_wrongly() -> None:
    with pytest.raises(UsageError, match="`A`, `B`"):
        graph("model A J1 j; end A; model B J1 j; end B;")
    with pytest.raises(UsageError, match="did you mean `Motor`"):
        graph("model Motor J1 j; end Motor;", model="Motr")
    with pytest.raises(UsageError, match="partial"):
        graph("partial model A J1 j; end A;", model="A")
    assert problems("package P end P;") == ["models/none"]


# --- settings --------------------------------------------------------------------------------------------------------

MODEL = """
    model Cell parameter Real k = 1; R r(R = k); J1 j; C c(C = 1, q(start = 2)); bonds j -> r, c; end Cell;
    model M
      parameter Integer n = 2; parameter Real m[3] = {1, 2, 3}, twice = 2*k, k = 5; parameter Boolean on = false;
      parameter String word = "a"; final parameter Real fin = 1; constant Real con = 1;
      Cell cell[n]; Real x(start = 1); R extra(R = 1) if on; J1 j; C d(e = q);
    bonds j -> extra, d;
    equation der(x) = k;
    end M;"""


def test_settings_of_all_kinds() -> None:
    g = graph(
        MODEL, set={"n": "3", "k": "2*4", "m[2]": 9, "on": "true", "word": "b", "cell[2].k": 7.5, "cell[1].r.R": "3"}
    )
    assert "cell[3].j" in names(g) and value(g, "k") == "8" and value(g, "twice") == "*(2, k)"
    assert [value(g, f"m[{i}]") for i in (1, 2, 3)] == ["1", "9", "3"]
    assert element(g, "extra").kind == "R" and parameter(g, "word").text == "b"
    assert [value(g, f"cell[{i}].k") for i in (1, 2, 3)] == ["1", "7.5", "1"]
    assert value(g, "cell[1].r.R") == "3" and value(g, "cell[2].r.R") == "cell[2].k"


def test_settings_of_starts_and_whole_arrays() -> None:
    g = graph(MODEL, set={"m": [4, 5, 6], "x.start": 17, "cell[1].c.q.start": 3, "d.q.start": "-1"})
    assert value(g, "m[3]") == "6" and starts(g) == {"x": "17", "cell[1].c.q": "3", "cell[2].c.q": "2", "d.q": "-1"}
    g = graph(MODEL, set={"m": "{7, 8, 9}", "cell.k": 6})
    assert value(g, "m[1]") == "7" and value(g, "cell[2].k") == "6"


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("kk", "did you mean `k`"),
        ("fin", "final"),
        ("con", "constant"),
        ("x", "variable"),
        ("cell[1].kk", "there is no parameter"),
        ("nothing.q.start", "there is no"),
        ("1+2", "not the name"),
    ],
)
def test_wrong_settings(name: str, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        graph(MODEL, set={name: 1})


def test_demanded_names_exist() -> None:
    text = "model M J1 w; I i(I = 1); bonds bond b: w -> i; end M;"
    assert equations(graph(text)) == []
    assert sorted(equations(graph(text, demand=["w.q", "b.p", "b.energy", "nothing.q", "i.*"]))) == [
        "der(b.energy) = b.power",
        "der(b.p) = b.e",
        "der(w.q) = w.f",
    ]
