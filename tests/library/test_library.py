"""Every class of the standard library is documented and can be used."""

import re
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


def test_every_class_says_what_it_is() -> None:
    def bare(found: ast.Class) -> list[str]:
        inner = [item for section in found.sections for item in section.items if isinstance(item, ast.Class)]
        own = [] if found.description or found.kind == "function" else [found.ident]
        return own + [name for c in inner for name in bare(c)]

    assert [name for path in FILES for found in classes(path) for name in bare(found)] == []


def named(found: ast.Class, prefix: str = "") -> list[str]:
    """Full names of the classes that a model can use, inside a class and below."""
    name = f"{prefix}{found.ident}"
    if found.kind not in ("package", "domain"):
        return [name]
    inner = [item for section in found.sections for item in section.items if isinstance(item, ast.Class)]
    return [one for c in inner for one in named(c, f"{name}.")]


def test_every_class_has_a_test() -> None:
    """A class counts as tested where a test of this folder uses it by its last names."""
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    names = [name for path in FILES for found in classes(path) for name in named(found)]
    assert len(names) > 100
    assert [name for name in names if not re.search(rf"\b{name.rsplit('.', 1)[-1]}\b", tests)] == []
