"""The command `equations`: output for people, machines and LaTeX, questions and exit codes."""

import json
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent)]

from lagrange_models import EXAMPLES, LAGRANGE, TWICE  # noqa: E402

from bglang.cli import main  # noqa: E402
from bglang.cli.equations import ask_coordinates  # noqa: E402

CRANK = str(LAGRANGE / "crank_slider.bg")


def test_json_and_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["equations", CRANK, "--form", "lagrange", "--coordinates", "w1,w2", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert {"coordinates", "multipliers", "equations", "constraints", "degrees_of_freedom"} <= set(made)
    assert main(["equations", str(EXAMPLES / "rlc.bg")]) == 0
    assert "der(coil.p) = " in capsys.readouterr().out


def test_latex_goes_into_a_file(tmp_path: Path) -> None:
    target = tmp_path / "crank.tex"
    assert main(["equations", CRANK, "--form", "lagrange", "--latex", "-o", str(target)]) == 0
    text = target.read_text()
    assert "\\ddot{\\theta}_{1}" in text and text.startswith("\\documentclass")


def test_exit_codes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["equations", CRANK, "--form", "lagrange", "--coordinates", "w9"]) == 2
    assert "no junction named `w9`; did you mean `w1`?" in capsys.readouterr().err
    double = str(EXAMPLES / "double_pendulum.bg")
    assert main(["equations", double, "--form", "lagrange", "--coordinates", "w1"]) == 1
    assert "do not determine the motion" in capsys.readouterr().err
    twice = tmp_path / "twice.bg"
    twice.write_text(TWICE)
    assert main(["run", str(twice), "--form", "lagrange", "--coordinates", "vx,vy"]) == 1
    assert "follows from those of `first`" in capsys.readouterr().err
    assert main(["equations", CRANK, "-o", str(tmp_path / "x.bg")]) == 2


def test_a_run_shows_multipliers_and_drift(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    words = ["run", CRANK, "--form", "lagrange", "--coordinates", "w1,w2", "--stabilise", "baumgarte", "--alpha", "20"]
    assert main([*words, "--stop", "0.2", "--points", "5", "--vars", "fyB.e,theta1", "-o", str(target)]) == 0
    assert "drift     fyB.constraint" in capsys.readouterr().out
    assert target.read_text().splitlines()[0] == "time,fyB.e,theta1"
    assert main(["run", CRANK, "--dependent", "lambda", "--stop", "0.1", "--quiet"]) == 0


def test_questions_are_asked_again(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import bglang

    graph = bglang.load(CRANK).graph
    answers = iter(["w1,w7", "w1,w2"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    assert ask_coordinates(graph) == "w1,w2"
    assert "there is no `w7`; there are w1, w2" in capsys.readouterr().out
    monkeypatch.setattr("builtins.input", lambda prompt: "")
    assert ask_coordinates(graph) == "w1,w2"


def test_elements_without_a_value_are_symbols(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "s.bg"
    path.write_text("model S\n  J1 v; I m; R r; C c; Se u;\nbonds\n  u -> v -> m, r, c;\nend S;\n")
    assert main(["equations", str(path), "--form", "lagrange"]) == 0
    assert "m.I*der(der(v.q))" in capsys.readouterr().out
    for form in ("state", "dae", "field"):
        assert main(["equations", str(path), "--form", form]) == 0
    assert "c.e = c.q/c.C" in capsys.readouterr().out
