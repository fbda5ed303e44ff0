"""Which names stand where in a file, each with the class in which it is looked up.  Nothing is looked up here."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

from bglang.elaborate.definitions import Definition
from bglang.source import Span
from bglang.syntax import ast


@dataclass(frozen=True, slots=True)
class Mention:
    """A dotted name in a text.

    `how`: "class" for types, bases and imports; "value" for expressions and nodes, where components come first;
    "member" for the names of modifications, looked up in the class that `base` names (`base.within` is that of an outer
    modification); "declared" where a component or class is declared."""

    name: ast.Name
    scope: Definition | None
    how: Literal["class", "value", "member", "declared"]
    base: "ast.Name | Mention | None" = None

    def part_at(self, offset: int) -> int | None:
        """The number of the part of the name that an offset lies in or at the end of."""
        for k, part in enumerate(self.name.parts):
            if part.span.start <= offset <= part.span.start + len(ident_text(part.span, part.ident)):
                return k
        return None


def ident_text(span: Span, ident: str) -> str:
    """An identifier as it is written: with quotes or without."""
    return f"'{ident}'" if span.source.text.startswith("'", span.start) else ident


def mentions(file: ast.File, place: "Definition | None", top: Any) -> Iterator[Mention]:
    """Every name in a file; `place` is the package that `within` names, if any."""
    for item in file.imports:
        yield Mention(item.name, None, "class")
    for node in file.classes:
        found = place.own(node.ident) if place is not None else top.own(node.ident)
        if isinstance(found, Definition) and found.node is node:
            yield from _in_class(found)


def _in_class(definition: Definition) -> Iterator[Mention]:
    node = definition.node
    yield _declared(node.ident, node.name_span, definition)
    if node.short is not None:
        yield Mention(node.short.type, definition, "class")
        yield from _modifications(node.short.args, definition, node.short.type)
    for parameter in node.head:
        if parameter.type is not None:
            yield Mention(parameter.type, definition, "class")
        yield from _values(parameter.default, definition)
    for section in node.sections:
        for item in section.items:
            yield from _in_item(item, definition)


def _in_item(item: Any, scope: Definition) -> Iterator[Mention]:
    if isinstance(item, ast.Class):
        inner = scope.own(item.ident)
        if isinstance(inner, Definition) and inner.node is item:
            yield from _in_class(inner)
    elif isinstance(item, ast.Component):
        yield Mention(item.type, scope, "class")
        for declarator in item.declarators:
            yield _declared(declarator.ident, declarator.span, scope)
            yield from _modifications(declarator.args or (), scope, item.type)
            for value in (declarator.subscripts, declarator.value, declarator.condition):
                yield from _values(value, scope)
    elif isinstance(item, ast.Extends):
        yield Mention(item.base, scope, "class")
        yield from _modifications(item.args, scope, item.base)
    elif isinstance(item, ast.Import):
        yield Mention(item.name, None, "class")
    elif isinstance(item, ast.BondChain):
        for name in (*item.nodes, *item.last):
            yield from _values(name, scope)
    elif isinstance(item, ast.IfBlock | ast.WhenBlock):
        for condition, body in item.branches:
            yield from _values(condition, scope)
            for inner_item in body:
                yield from _in_item(inner_item, scope)
        for inner_item in item.otherwise if isinstance(item, ast.IfBlock) else ():
            yield from _in_item(inner_item, scope)
    elif isinstance(item, ast.ForBlock | ast.WhileBlock):
        yield from _values(item.iterators if isinstance(item, ast.ForBlock) else item.condition, scope)
        for inner_item in item.body:
            yield from _in_item(inner_item, scope)
    else:
        yield from _values(item, scope)


def _modifications(args: tuple[ast.Argument, ...], scope: Definition, base: "ast.Name | Mention") -> Iterator[Mention]:
    """Names of a modification belong to the class that is modified; what they are set to is looked up here."""
    for argument in args:
        member: Mention | None = None
        if argument.name is not None and (argument.value is not None or argument.args is not None):
            member = Mention(argument.name, scope, "member", base)
            if argument.name.parts and argument.name.parts[0].ident != "0":
                yield member
        elif argument.name is not None:
            yield from _values(argument.name, scope)
        yield from _values(argument.value, scope)
        if argument.args is not None and member is not None:
            yield from _modifications(argument.args, scope, member)
        if argument.redeclare is not None:
            yield from _in_item(argument.redeclare, scope)


def _declared(ident: str, span: Span, scope: Definition) -> Mention:
    start = span.start
    short = Span(span.source, start, start + len(ident_text(span, ident)))
    return Mention(ast.Name((ast.Part(ident, None, short),), False, short), scope, "declared")


def _values(node: Any, scope: Definition) -> Iterator[Mention]:
    """Every name in an expression."""
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif isinstance(node, ast.Name):
            yield Mention(node, scope, "value")
            stack.extend(part.subscripts for part in node.parts if part.subscripts)
        elif isinstance(node, ast.Call):
            yield Mention(node.function, scope, "class")
            stack.extend(a.value if a.value is not None else a.name for a in node.args)
        elif is_dataclass(node) and not isinstance(node, Span):
            stack.extend(getattr(node, field.name) for field in fields(node) if field.name != "span")
