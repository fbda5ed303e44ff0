"""Sections 4, 8 and 9 of the language: libraries in folders, the command, its exit codes and messages."""

import csv
from pathlib import Path

import numpy as np
import pytest
from language_runs import close

import bglang
from bglang.cli import main

GOOD = "model M parameter Real k = 1; J1 v; I m(I = 1, p(start = 1)); R r(R = k); bonds bond b: v -> m; v -> r; end M;"
WRONG = "model M\n  J1 v;\n  I mass(I = 1);\n  R r(R = q);\nbonds\n  v -> mas, r;\nend M;\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.bg").write_text(GOOD, encoding="utf-8")
    (tmp_path / "wrong.bg").write_text(WRONG, encoding="utf-8")
    (tmp_path / "two.bg").write_text(GOOD + GOOD.replace(" M;", " N;").replace("model M", "model N"), encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> int:
    try:
        return int(main(list(arguments)) or 0)
    except SystemExit as end:
        return int(end.code or 0)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("check", "good.bg"), 0),
        (("run", "good.bg"), 0),
        (("run", "good.bg", "--set", "k=3", "--stop", "2", "--points", "5"), 0),
        (("run", "good.bg", "--set", "m.p.start=4"), 0),
        (("check", "wrong.bg"), 1),
        (("run", "wrong.bg"), 1),
        (("run", "nowhere.bg"), 2),
        (("run", "good.bg", "--set", "nothing=3"), 2),
        (("run", "good.bg", "--set", "k=true"), 2),
        (("run", "good.bg", "--set", "k={1, 2}"), 2),
        (("run", "good.bg", "--set", "k"), 2),
        (("run", "good.bg", "--stop", "soon"), 2),
        (("run", "good.bg", "--model", "Other"), 2),
        (("run", "good.bg", "--vars", "nothing"), 2),
        (("run", "two.bg"), 2),
        (("run", "two.bg", "--model", "N"), 0),
        (("frobnicate", "good.bg"), 2),
    ],
)
def test_exit_codes(folder: Path, arguments: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == code
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    assert not code or err.strip()


def test_messages_name_line_column_and_hint(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "wrong.bg") == 1
    text = capsys.readouterr().err
    assert "wrong.bg:4:11" in text and "wrong.bg:6:8" in text
    assert "R r(R = q);" in text and "did you mean `mass`?" in text
    assert text.count("error[") == 2


def test_variables_on_demand_and_globs(folder: Path) -> None:
    assert run("run", "good.bg", "--vars", "v.q,b.energy,m.*", "--points", "3", "-o", "out.csv") == 0
    with (folder / "out.csv").open(encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head == ["time", "v.q", "b.energy", "m.p", "m.e", "m.f", "m.power"] or sorted(head[1:]) == sorted(
        ["v.q", "b.energy", "m.p", "m.e", "m.f", "m.power"]
    )
    last = dict(zip(head, map(float, rows[-1]), strict=True))
    close(last["v.q"], 1 - np.exp(-1), 1e-5)
    close(last["b.energy"], (np.exp(-2) - 1) / 2, 1e-5)
    assert len(rows) == 3


def write_library(folder: Path) -> None:
    files = {
        "Pumps/package.bg": """package Pumps "pumps" constant Real rho = 1000;
          function square input Real x; output Real y; algorithm y := x*abs(x); end square; end Pumps;""",
        "Pumps/Orifice.bg": """within Pumps;
          element Orifice extends R(e = k*rho*square(f)); parameter Real k = 1e-3; end Orifice;""",
        "Pumps/Valves/package.bg": "within Pumps; package Valves end Valves;",
        "Pumps/Valves/Gate.bg": """within Pumps.Valves;
          model Gate port Any a; Orifice o(k = 2e-3); bonds a -> o; end Gate;""",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


USER = """import G = Pumps.Valves.Gate;
model M
  import Pumps.*; import Pumps.{Orifice}; import square = Pumps.square;
  J1 v; I m(I = 1, p(start = 1)); Orifice o; G g; Pumps.Valves.Gate h; Real y = square(-v.f) + Pumps.rho;
bonds
  v -> m, o, g.a; v -> h;
end M;
"""


@pytest.mark.parametrize("how", ["beside", "--lib", "BGLANG_PATH"])
def test_libraries_in_folders(folder: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder if how == "beside" else folder / "elsewhere"
    write_library(place)
    (folder / "user.bg").write_text(USER, encoding="utf-8")
    if how == "BGLANG_PATH":
        monkeypatch.setenv("BGLANG_PATH", str(place))
    r = bglang.load("user.bg", libraries=[str(place)] if how == "--lib" else []).simulate(points=11, tol=1e-9)
    v = 1 / (1 + 5 * r.time)
    close(r["v.f"], v)
    close(r["y"], 1000 - v**2)


def test_a_missing_library_is_told_at_the_import(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "user.bg").write_text(USER, encoding="utf-8")
    assert run("check", "user.bg") == 1
    text = capsys.readouterr().err
    assert "user.bg:1:12" in text and "--lib" in text


def test_a_file_of_a_library_is_a_model_of_its_own(folder: Path) -> None:
    write_library(folder)
    assert run("check", "Pumps/Valves/Gate.bg") in (0, 1)
    (folder / "Pumps" / "Test.bg").write_text(
        "within Pumps; model Test J1 v; I m(I = rho, p(start = 1)); Orifice o; bonds v -> m, o; end Test;",
        encoding="utf-8",
    )
    assert run("run", "Pumps/Test.bg") == 0


@pytest.mark.parametrize(
    ("text", "main_model"),
    [
        ("model A {} end A; model B A a; end B;", "B"),
        ("partial model A {} end A; model B extends A; end B;", "B"),
        ("package P model X {} end X; end P; model B P.X x; end B;", "B"),
        ("model A {} end A; model B A a[2]; end B; block K Real x = 1; end K;", "B"),
    ],
)
def test_the_main_model(text: str, main_model: str) -> None:
    body = "J1 v; I m(I = 1, p(start = 1)); R r(R = 1); bonds v -> m, r;"
    assert bglang.loads(text.format(body)).name == main_model


def test_sources_read_only_files_below_them(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "secret.csv").write_text("0,0\n1,1\n", encoding="utf-8")
    (folder / "deep" / "m.bg").write_text('model M Real x = table(time, "../secret.csv"); end M;', encoding="utf-8")
    with pytest.raises(bglang.SourceError, match="files/outside"):
        bglang.load("deep/m.bg")
