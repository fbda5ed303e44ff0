"""The commands: the lever asked about on a terminal, files, options and mistakes in the call."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent)]

from reducing import EXAMPLES  # noqa: E402

import bglang  # noqa: E402
from bglang.cli import main  # noqa: E402
from bglang.cli.reduction import Asking  # noqa: E402
from bglang.reduce.reduce import reduce_storages  # noqa: E402

SESSION = """\
The path contains these elements:  i2  '1B'  lever  '1A'  i1
  i2.f = b/a*i1.f
  together: I = m1 + (b/a)^2*m2
Which element stays? i1, i2 or none (i1): I9
`I9` is none of the choices: i1, i2 or none.
Which element stays? i1, i2 or none (i1): I2
How is the law of i2 written? parameter or law (parameter): gain
`gain` is none of the choices: parameter or law.
How is the law of i2 written? parameter or law (parameter): law"""


def asked(name: str, *answers: str) -> tuple[str, tuple[str, ...]]:
    """The transcript with these answers, and what was done."""
    left, shown = list(answers), list[str]()

    def read(prompt: str) -> str:
        shown.append(prompt + left[0])
        return left.pop(0)

    made = reduce_storages(bglang.load(EXAMPLES / f"{name}.bg").graph, choose=Asking(read, shown.append))
    assert not left
    return "\n".join(shown), tuple(m.text for m in made.mergers)


def test_the_lever_session() -> None:
    transcript, done = asked("lever", "I9", "I2", "gain", "law")
    assert transcript == SESSION
    assert done == ("i1 merged into i2: I = m2 + m1/(b/a)^2; i1.f = i2.f/(b/a)",)


def test_return_takes_the_default_shown() -> None:
    _, done = asked("lever", "", "")
    assert done == ("i2 merged into i1: I = m1 + (b/a)^2*m2; i2.f = b/a*i1.f",)


def test_a_field_can_be_left_alone() -> None:
    _, done = asked("lever", "none")
    assert done == ()
    _, done = asked("split_path", "no", "yes")
    assert len(done) == 1


def test_of_two_bound_storages_the_user_chooses_the_one_that_stays() -> None:
    transcript, done = asked("zero_eigenvalue", "s3", "s2")
    assert "s2.q = s1.q + constant" in transcript
    assert "`s3` is none of the choices: s1, s2 or none." in transcript
    assert len(done) == 1 and done[0].startswith("s1 merged into s2")
    _, done = asked("zero_eigenvalue", "none")
    assert done == ()


def test_reduce_writes_a_formatted_file_that_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "reduced.bg"
    assert main(["reduce", str(EXAMPLES / "lever.bg"), "-o", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert '  I i1(I = m1 + (b/a)^2*m2, p(start = 1.5*(m1 + (b/a)^2*m2))) "first mass";' in text
    assert "  // i2 merged into i1: I = m1 + (b/a)^2*m2; i2.f = b/a*i1.f\n" in text
    assert "  Real 'i2.f' = b/a*i1.f;\n" in text
    from bglang.syntax.format import format_source

    assert format_source(text) == text
    assert main(["check", str(out)]) == 0
    assert "i2 merged into i1" in capsys.readouterr().err


def test_dry_run_only_tells(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", str(EXAMPLES / "lever.bg"), "--dry-run"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "" and "i2 merged into i1" in shown.err


def test_wrong_calls_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", str(EXAMPLES / "lever.bg"), "--keep", "i22"]) == 2
    assert "no storage named `i22`; did you mean `i2`?" in capsys.readouterr().err
    assert main(["augment", str(EXAMPLES / "lever.bg"), "--stiffness", "-1"]) == 2
    assert "--stiffness -1: must be positive" in capsys.readouterr().err


def test_a_gain_of_zero_cannot_be_divided_by(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "zero.bg"
    path.write_text(
        "model M J1 v, w; TF t(m = 0); I a(I = 1, p(start = 1)), b(I = 2); C s(C = 1);\n"
        "bonds v -> a, s; v -> t -> w -> b; end M;\n"
    )
    assert main(["reduce", str(path), "--keep", "b"]) == 2
    assert "`b` cannot stay" in capsys.readouterr().err


def test_nothing_to_do_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", str(EXAMPLES.parent / "oscillator.bg"), "--dry-run"]) == 0
    assert "no dependent storage was found" in capsys.readouterr().err


def test_compare_forms_prints_a_line_for_every_treatment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare-forms", str(EXAMPLES / "lever.bg"), "--stop", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["treatment", "unknowns", "steps", "time", "deviation", "drift"]
    assert [line.split()[0] for line in lines[1:]] == ["implicit", "reduce", "augment", "lambda"]


def test_run_reports_what_inserted_elements_gave_way(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(EXAMPLES / "lever.bg"), "--dependent", "augment", "--stop", "1"]) == 0
    assert "inserted  i2_spring: largest deflection" in capsys.readouterr().out
