"""A syntax tree as text, for `bglang dump --after parse` and for comparing trees: one node a line, places left out."""

from dataclasses import fields, is_dataclass
from typing import Any

from bglang.source import Span
from bglang.syntax import ast
from bglang.syntax.text import literal, quoted


def dump(tree: object, *, places: bool = False) -> str:
    """Every node with its fields, indented; fields that are empty or false are left out."""
    lines: list[str] = []
    todo: list[tuple[int, str, Any]] = [(0, "", tree)]
    while todo:  # trees can be deeper than Python likes to recurse
        level, label, value = todo.pop()
        text, inside = _node(value, places)
        lines.append(f"{'  ' * level}{label}{text}".rstrip())
        todo += reversed([(level + 1, name, member) for name, member in inside])
    return "\n".join(lines)


def _node(value: Any, places: bool) -> tuple[str, list[tuple[str, Any]]]:
    """What is written on the node's own line, and what goes below it."""
    place = f" @{value.span.line}:{value.span.column}" if places and hasattr(value, "span") else ""
    match value:
        case ast.Name() if not any(part.subscripts for part in value.parts):
            return f"Name {_name(value)}{place}", []
        case ast.Number():
            return f"Number {int(value.value) if value.integer else value.value}{place}", []
        case ast.String() | ast.Bool():
            text = literal(value.value) if isinstance(value.value, str) else str(value.value).lower()
            return f"{type(value).__name__} {text}{place}", []
        case tuple():
            return "()" if not value else "", [(f"{i}: ", member) for i, member in enumerate(value, 1)]
        case frozenset():
            return " ".join(sorted(value)), []
        case str():
            return literal(value), []
    if is_dataclass(value):
        return f"{type(value).__name__}{_words(value)}{place}", _inside(value)
    return str(value).lower() if isinstance(value, bool) else str(value), []


def _name(name: ast.Name) -> str:
    return ("." if name.rooted else "") + ".".join(quoted(part.ident) for part in name.parts)


def _words(value: Any) -> str:
    """The fields that identify a node stand on its own line."""
    words = [getattr(value, name) for name in ("kind", "op", "ident") if hasattr(value, name)]
    return "".join(f" {word}" for word in words)


def _inside(value: Any) -> list[tuple[str, Any]]:
    shown: list[tuple[str, Any]] = []
    for field in fields(value):
        member = getattr(value, field.name)
        if field.name in ("kind", "op", "ident") or isinstance(member, Span):
            continue
        if member is None or member is False or member == "" or member == frozenset():
            continue
        if member == () and field.name not in ("args", "subscripts"):
            continue
        shown.append((f"{field.name}: ", member))
    return shown
