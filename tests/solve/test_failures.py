"""What the user reads when a run goes wrong: golden texts, one case for each message.

`failures/<code>.bg` with the slash of the code replaced by a hyphen; beside it the expected text, which
`--update-golden` writes.  The first line says how it ends: 1 the model is wrong, 3 the solver gave up, 0 a warning."""

from pathlib import Path

import pytest

import bglang
from bglang.render import render_all

FOLDER = Path(__file__).parent / "failures"
CASES = sorted(path.stem for path in FOLDER.glob("*.bg"))


def outcome(path: Path) -> tuple[int, tuple[bglang.diagnostics.Diagnostic, ...], str]:
    """Exit code, messages, and what is left of the run."""
    try:
        result = bglang.load(path).simulate()
    except bglang.SourceError as failure:
        return 1, failure.diagnostics, ""
    except bglang.SimulationError as failure:
        kept = failure.result
        left = f"kept until t = {kept.time[-1]:.3g}" if kept is not None else "nothing computed"
        return 3, failure.diagnostics, left
    return 0, result.warnings, ""


@pytest.mark.parametrize("name", CASES)
def test_failure(name: str, update_golden: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    code, found, left = outcome(Path(f"{name}.bg"))
    text = f"exit {code}{', ' + left if left else ''}\n{render_all(found)}\n"
    expected = Path(f"{name}.txt")
    if update_golden:
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")
    codes = {d.code.replace("/", "-") for d in found}
    assert any(name == c or name.startswith(f"{c}-") for c in codes), f"{name} does not produce its code"
