"""The command, as a user calls it: exit codes, messages, files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bglang.cli import COMMANDS, main

GOOD = """\
model Decay "a capacitor empties"
  parameter Real R(unit = "ohm") = 2 "leak";
  J0 u;
  Electrical.Resistor leak(R = R);
  Electrical.Capacitor c(C = 0.5, q(start = 1));
bonds
  u -> leak, c;
end Decay;
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "decay.bg").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert "examples:" in text and all(name in text for name in COMMANDS)
    for name in COMMANDS:
        assert main([name, "--help"]) == 0
        assert len(capsys.readouterr().out) > 200


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("bglang 0.")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["rnu", "decay.bg"], "did you mean `run`"),
        (["run", "nothing.bg"], "no file `nothing.bg`"),
        (["run", "decay.bg", "--set", "R"], "NAME=VALUE"),
        (["run", "decay.bg", "--set", "r=3"], "`r`"),
        (["run", "decay.bg", "--stop", "-3"], "forward in time"),
        (["run", "decay.bg", "--tol", "7"], "tolerance"),
        (["run", "decay.bg", "--vars", "c.x"], "c.x"),
        (["run", "decay.bg", "--model", "Nope"], "Nope"),
        (["run", "decay.bg", "--limit", "nest=3"], "nest"),
        (["run", "decay.bg", "--plto", "c.q"], "did you mean `--plot`"),
        (["run", "decay.bg", "--plot", "c.qq"], "did you mean `c.q`"),
        (["run", "decay.bg", "--method", "radu"], "did you mean `radau`"),
        (["run", "decay.bg", "--stop", "long"], "`bglang run --help` teaches it"),
        (["run", "decay.bg", "more"], "`more` is too much"),
        (["run", "decay.bg", "--lib", "nowhere"], "no such folder"),
        (["run", "decay.bg", "--set", "c.c=3"], "did you mean `c.C`"),
        (["plot", "none.csv"], "none.csv"),
        (["linearize", "decay.bg", "--at", "noon"], "noon"),
        (["linearize", "decay.bg", "--in", "leak"], "no source"),
    ],
)
def test_wrong_calls_exit_with_2(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str) -> None:
    assert main(words) == 2
    said = capsys.readouterr()
    assert says in said.err and "final" not in said.out, "told before the run"


def test_a_wrong_model_exits_with_1_and_never_with_a_traceback(folder: Path) -> None:
    (folder / "wrong.bg").write_text(GOOD.replace("u -> leak, c;", "u -> leek, c;"))
    for words in (["check"], ["run"], ["causality"], ["draw"], ["params"]):
        done = subprocess.run(
            [sys.executable, "-m", "bglang", *words, "wrong.bg"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "there is no `leek`" in done.stderr and "did you mean `leak`" in done.stderr
        assert "wrong.bg:7:8" in done.stderr and "Traceback" not in done.stderr
        assert "\033[" not in done.stderr


def test_check_for_machines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "wrong.bg").write_text(GOOD.replace("leak, c", "leek, c"))
    assert main(["check", "wrong.bg", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    first = (data["diagnostics"] if isinstance(data, dict) else data)[0]
    assert first["code"] == "names/unknown"
    assert main(["check", "decay.bg", "--json"]) == 0


def test_run_writes_a_result_that_can_be_shown_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "decay.bg", "-o", "a.csv", "--points", "11", "--tol", "1e-9"]) == 0
    assert "energy" in capsys.readouterr().out
    head, *rows = Path("a.csv").read_text().splitlines()
    assert head.startswith("time,") and len(rows) == 11
    assert main(["run", "decay.bg", "--set", "R=4", "-o", "b.csv", "--quiet"]) == 0
    assert main(["compare", "a.csv", "b.csv"]) == 0
    assert main(["compare", "a.csv", "b.csv", "--tol", "1e-3"]) == 1
    assert main(["table", "a.csv", "--vars", "c.q", "--from", "0.2", "--to", "0.5"]) == 0
    shown = capsys.readouterr().out
    assert "c.q" in shown
    assert main(["plot", "a.csv", "--vars", "c.q"]) == 0
    capsys.readouterr()
    assert main(["plot", "a.csv", "--vars", "c.q", "--from", "0.2", "--to", "0.5"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["0.2", "0.5"]
    assert main(["plot", "a.csv", "b.csv", "--vars", "c.q", "-o", "both.svg"]) == 0
    assert Path("both.svg").read_text().startswith("<?xml")
    assert main(["plot", "a.csv", "--from", "7"]) == 2


def test_a_dependent_parameter_follows_a_set_value(folder: Path) -> None:
    Path("d.bg").write_text("""
        model D
          parameter Real a = 2; parameter Real b = 3*a; parameter Integer n = 2;
          J1 v[n]; I m[n](each I = b); Se s[n](each e = 6);
        bonds
          s -> v -> m;
        end D;""")
    assert main(["run", "d.bg", "--set", "a=1", "--set", "n=3", "-o", "d.csv", "--quiet"]) == 0
    head, *rows = Path("d.csv").read_text().splitlines()
    last = dict(zip(head.split(","), map(float, rows[-1].split(",")), strict=True))
    assert last["v[3].f"] == pytest.approx(2.0)


def test_parameters_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["params", "decay.bg", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["R"]["value"] == 2.0 and rows["R"]["unit"] == "ohm" and rows["R"]["origin"].endswith("decay.bg:2:18")


@pytest.mark.parametrize("stage", ["parse", "elaborate", "causality", "derive", "lower"])
def test_every_stage_can_be_shown(folder: Path, capsys: pytest.CaptureFixture[str], stage: str) -> None:
    assert main(["dump", "decay.bg", "--after", stage]) == 0
    assert "Decay" in capsys.readouterr().out or stage == "causality"


def test_a_new_project_runs(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["new", "my-rig"]) == 0
    assert main(["new", "my-rig"]) == 2
    monkeypatch.chdir(folder / "my-rig")
    assert main(["check", "my-rig.bg"]) == 0
    assert main(["run", "my-rig.bg", "--quiet"]) == 0
    assert main(["fmt", "--check", "."]) == 0
    assert "warning" not in capsys.readouterr().err


def test_format_check_diff_and_rewrite(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("ugly.bg").write_text(GOOD.replace("  J0 u;", "  J0    u ; // here\n"))
    assert main(["fmt", "--check", "ugly.bg"]) == 1
    assert main(["fmt", "--diff", "ugly.bg"]) == 0
    assert "-  J0    u ;" in capsys.readouterr().out
    assert main(["fmt", "ugly.bg"]) == 0
    assert "J0 u;  // here" in Path("ugly.bg").read_text()
    assert main(["fmt", "--check", "ugly.bg"]) == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert "--points" in text or "points" in text
    if shell == "bash":
        assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0


def test_a_failed_run_exits_with_3_and_keeps_results(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("pole.bg").write_text("""
        model Pole
          Real x(start = 1); J1 v; R r(R = 1); Se s(e = x);
        bonds
          s -> v -> r;
        equation
          der(x) = x^2;
        end Pole;""")
    assert main(["run", "pole.bg", "--stop", "2", "-o", "pole.csv"]) == 3
    shown = capsys.readouterr()
    assert "pole.bg" in shown.err and "x" in shown.err
    assert len(Path("pole.csv").read_text().splitlines()) > 100


def test_a_warm_run_imports_no_compiler_and_no_parser(folder: Path) -> None:
    """The speed guard that does not depend on the machine: what a second run of the same model loads."""
    program = (
        "import sys; from bglang.cli import main; main(['run', 'decay.bg', '--quiet']);"
        "print(sorted(m for m in ('numba', 'lark', 'sympy', 'scipy', 'bglang.syntax.parse', 'bglang.elaborate',"
        " 'bglang.equations.derive', 'matplotlib', 'pandas') if m in sys.modules))"
    )
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip().splitlines()[-1] == "[]"
