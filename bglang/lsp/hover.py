"""What a name is, and where it is declared."""

from collections.abc import Iterator
from pathlib import Path

from bglang.causality.view import CausalityView
from bglang.lsp.project import Instance, View, file_of
from bglang.lsp.symbols import Symbol
from bglang.source import Span
from bglang.syntax import ast

SHOWN = 3
"""So many instances of one declaration are told about."""


def hover(view: View, offset: int, instance: Instance | None) -> tuple[str, Span] | None:
    """A text in Markdown, and what it is about."""
    found = view.at(offset)
    if found is None:
        return None
    mention, part = found
    symbol = view.symbol(mention, part)
    if symbol is None:
        return None
    lines = [f"```bg\n{_headline(symbol)}\n```"]
    if symbol.description:
        lines.append(symbol.description)
    if symbol.kind not in ("built-in",) and symbol.place is not None and instance is not None:
        lines += _instances(symbol.place, instance)
    piece = mention.name.parts[part]
    return "\n\n".join(lines), Span(view.source, piece.span.start, piece.span.start + len(piece.ident))


def _headline(symbol: Symbol) -> str:
    """The declaration, as it is written, without its description."""
    node = symbol.node
    if isinstance(node, ast.Class):
        return f"{'partial ' if node.partial else ''}{node.kind} {symbol.owner.name if symbol.owner else symbol.name}"
    if isinstance(node, ast.Component) and symbol.declarator is not None:
        head = " ".join(node.span.source.text[node.span.start : node.type.span.end].split())
        text = " ".join(symbol.declarator.span.text.split())
        if symbol.description:
            text = text.replace(f'"{symbol.description}"', "").strip()
        return f"{head} {text}"
    return f"{symbol.kind} {symbol.name}"


def _instances(place: Span, instance: Instance) -> Iterator[str]:
    graph = instance.graph
    path = file_of(place)

    def here(span: Span) -> bool:
        return span.start == place.start and file_of(span) == path

    told = 0
    for q in graph.parameters:
        if here(q.span) and told < SHOWN:
            told += 1
            value = instance.values.get(q.name)
            shown = q.text if q.type == "String" else "no value" if value is None else f"{value:.8g}"
            yield f"`{q.name}` = {shown}{f' {q.unit}' if q.unit else ''}"
    view = CausalityView(graph, instance.causality) if instance.causality is not None else None
    for e in graph.elements:
        if here(e.span) and told < SHOWN:
            told += 1
            domains = sorted({port.domain for port in e.ports if port.domain})
            yield f"`{e.name}`: {e.kind}" + (f" in {', '.join(domains)}" if domains else "")
            if view is not None:
                yield view.explain(e.name).replace("\n  ", "\n- ")


def definition(view: View, offset: int) -> tuple[Path, Span] | None:
    found = view.at(offset)
    symbol = view.symbol(*found) if found is not None else None
    if symbol is None or symbol.place is None:
        return None
    path = file_of(symbol.place)
    return (path, symbol.place) if path is not None else None
