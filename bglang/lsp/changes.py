"""Changes to texts: other names, and what diagnostics propose."""

import re
from collections.abc import Iterator
from pathlib import Path

from bglang.lsp.mentions import ident_text
from bglang.lsp.project import Project, View, file_of
from bglang.lsp.symbols import Symbol
from bglang.records import dataclass
from bglang.source import Span
from bglang.syntax import ast
from bglang.syntax.text import RESERVED, quoted

FILES = 500
"""So many files of a workspace are searched."""


def references(
    project: Project, view: View, offset: int, folders: list[Path]
) -> tuple[Symbol, dict[Path, list[Span]]] | None:
    """Every place where the symbol at an offset is named, by file, its declaration included."""
    found = view.at(offset)
    symbol = view.symbol(*found) if found is not None else None
    if symbol is None or symbol.place is None:
        return None
    home = file_of(symbol.place)
    if home is None:
        return None
    places = dict[Path, list[Span]]()
    for path in _searched(project, home, folders, symbol.name):
        spans = list(_places(project.view(path), symbol))
        if spans:
            places[path] = spans
    return symbol, places


def _searched(project: Project, home: Path, folders: list[Path], ident: str) -> Iterator[Path]:
    """Files that could name it: open ones, and those below the workspace's folders."""
    paths = {home, *project.texts}
    for folder in folders or [home.parent]:
        for path in folder.rglob("*.bg"):
            if len(paths) < FILES:
                paths.add(path.resolve())
    for path in sorted(paths):
        try:
            if ident in project.text(path):
                yield path
        except OSError:
            continue


def _places(view: View, symbol: Symbol) -> Iterator[Span]:
    assert symbol.place is not None
    home = file_of(symbol.place)
    seen = set[int]()
    for mention in view.mentions():
        for k, part in enumerate(mention.name.parts):
            if part.ident != symbol.name or part.span.start in seen:
                continue
            meant = view.symbol(mention, k)
            if meant is None or meant.place is None or meant.place.start != symbol.place.start:
                continue
            if file_of(meant.place) == home:
                seen.add(part.span.start)
                yield Span(view.source, part.span.start, part.span.start + len(ident_text(part.span, part.ident)))
                if mention.how == "declared" and isinstance(meant.node, ast.Class):
                    yield from _end_of(meant.node)


def _end_of(node: ast.Class) -> Iterator[Span]:
    """The name after `end`."""
    text = node.span.source.text
    found = list(re.finditer(r"\bend\s+(" + re.escape(node.ident) + r"|'" + re.escape(node.ident) + r"')",
                             text[node.span.start : node.span.end + 1]))  # fmt: skip
    if found:
        yield Span(node.span.source, node.span.start + found[-1].start(1), node.span.start + found[-1].end(1))


def new_name(name: str) -> str | None:
    """A name as it must be written; None if it cannot be one."""
    return None if not name.strip() or name in RESERVED or "\n" in name else quoted(name)


_MEANT = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Fix:
    title: str
    start: int
    end: int
    text: str


def fixes(code: str, hint: str, span: Span) -> list[Fix]:
    """Changes that a diagnostic itself proposes: names that were meant, a forgotten semicolon."""
    if code == "syntax/missing-semicolon":
        return [Fix("Insert `;`", span.start, span.start, ";")]
    if "did you mean" not in hint:
        return []
    meant = _MEANT.findall(hint[hint.index("did you mean") :])
    return [Fix(f"Change to `{name}`", span.start, span.end, name) for name in meant]
