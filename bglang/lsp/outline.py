"""The classes and components of a file, one inside the other."""

from collections.abc import Iterator

from bglang.lsp.mentions import ident_text
from bglang.records import dataclass
from bglang.source import Span
from bglang.syntax import ast


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the outline."""

    name: str
    kind: str
    detail: str
    span: Span
    name_span: Span
    children: tuple["Entry", ...] = ()


def outline(file: ast.File) -> list[Entry]:
    return [_class_entry(node) for node in file.classes]


def _class_entry(node: ast.Class) -> Entry:
    children = tuple(entry for section in node.sections for item in section.items for entry in _entries(item))
    return Entry(node.ident, node.kind, node.description, node.span, node.name_span, children)


def _entries(item: ast.Item) -> Iterator[Entry]:
    if isinstance(item, ast.Class):
        yield _class_entry(item)
    elif isinstance(item, ast.Component):
        kind = next((p for p in ("parameter", "constant", "port") if p in item.prefixes), "component")
        type_name = ".".join(part.ident for part in item.type.parts)
        for d in item.declarators:
            short = Span(d.span.source, d.span.start, d.span.start + len(ident_text(d.span, d.ident)))
            yield Entry(d.ident, kind, type_name, d.span, short)
    elif isinstance(item, ast.IfBlock):
        for _, body in item.branches:
            yield from (entry for inner in body for entry in _entries(inner))
        yield from (entry for inner in item.otherwise for entry in _entries(inner))
    elif isinstance(item, ast.ForBlock):
        yield from (entry for inner in item.body for entry in _entries(inner))
