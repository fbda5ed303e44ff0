"""Every class of the standard library is documented and can be used."""

from pathlib import Path

import pytest

from bglang.diagnostics import Report
from bglang.source import Source
from bglang.syntax import ast
from bglang.syntax.parse import parse

ROOT = Path(__file__).parents[2] / "stdlib"
FILES = sorted(ROOT.rglob("*.bg"))


def classes(path: Path) -> list[ast.Class]:
    report = Report()
    tree = parse(Source(str(path), path.read_text()), report)
    assert tree is not None, report.errors
    return list(tree.classes)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_are_formatted(path: Path) -> None:
    from bglang.syntax.format import format_source

    text = path.read_text()
    assert format_source(text, str(path)) == text
