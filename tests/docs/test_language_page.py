"""Every block of code in the language reference compiles, and the wrong ones give the errors that they promise."""

import re
from pathlib import Path

import pytest

from bglang.diagnostics import Report, SourceError
from bglang.pipeline import Request, causal, equations, front
from bglang.source import Source

PAGE = Path(__file__).parent.parent.parent / "docs" / "language.md"
BLOCK = re.compile(r"^```bg(?P<mark>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
TOP = re.compile(r"^(?P<partial>partial )?model (?P<name>\w+)", re.MULTILINE)


def blocks() -> list[tuple[str, str, str]]:
    """Line of the page, mark and text of every block."""
    page = PAGE.read_text(encoding="utf-8")
    return [
        (f"line {page.count(chr(10), 0, m.start()) + 1}", m["mark"].strip(), m["text"]) for m in BLOCK.finditer(page)
    ]


GOOD = [(line, text) for line, mark, text in blocks() if not mark]
WRONG = [(line, mark, text) for line, mark, text in blocks() if mark]


def diagnose(line: str, text: str, model: str | None) -> Report:
    report = Report()
    try:
        request = Request(Source(f"language.md, {line}", text), model=model)
        graph = front(request, report, numbers=True)
        equations(graph, causal(graph, report), report)
    except SourceError as problem:
        assert tuple(report) == problem.diagnostics
    return report


@pytest.mark.parametrize(("line", "text"), GOOD, ids=[line for line, _ in GOOD])
def test_good_block(line: str, text: str) -> None:
    """Each model at the top of a block is compiled, those that others use too unless they have open ports."""
    models = [m["name"] for m in TOP.finditer(text) if not m["partial"]]
    assert models
    for model in models:
        report = diagnose(line, text, model)
        assert not report.errors, f"{model}: {report.errors}"


@pytest.mark.parametrize(("line", "mark", "text"), WRONG, ids=[line for line, _, _ in WRONG])
def test_wrong_block(line: str, mark: str, text: str) -> None:
    found = re.fullmatch(r"error=([a-z]+/[a-z-]+)", mark)
    assert found, f"{line}: `{mark}` is no mark of a block"
    errors = diagnose(line, text, None).errors
    assert [d.code for d in errors[:1]] == [found[1]]
    assert len(errors) == 1, "one mistake, one message"


def test_the_page_has_blocks() -> None:
    assert len(GOOD) > 15 and len(WRONG) > 4
