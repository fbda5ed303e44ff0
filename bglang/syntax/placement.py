"""Which items may stand in which section.  The grammar takes any, so that the message can say where it belongs."""

from collections.abc import Iterable, Iterator

from bglang.diagnostics import Diagnostic, error
from bglang.records import replace
from bglang.source import Span
from bglang.syntax import ast
from bglang.syntax.tree_declarations import Annotation

_DECLARATIONS = (ast.Component, ast.Class, ast.Extends, ast.Import)
_BLOCKS = (ast.IfBlock, ast.ForBlock)
_ALLOWED: dict[str, tuple[type, ...]] = {
    "declarations": (*_DECLARATIONS, *_BLOCKS),
    "bonds": (*_DECLARATIONS, *_BLOCKS, ast.BondChain),
    "equation": (*_BLOCKS, ast.Equation, ast.CallEquation, ast.WhenBlock),
    "algorithm": (
        *_BLOCKS,
        ast.Assignment,
        ast.CallEquation,
        ast.WhenBlock,
        ast.WhileBlock,
        ast.Break,
        ast.Return,
    ),
}
_NOUNS: dict[type, str] = {
    ast.Component: "a declaration",
    ast.Class: "a class",
    ast.Extends: "an `extends`",
    ast.Import: "an import",
    ast.BondChain: "a bond",
    ast.Equation: "an equation",
    ast.CallEquation: "a call",
    ast.Assignment: "an assignment",
    ast.WhenBlock: "a `when`",
    ast.WhileBlock: "a `while`",
    ast.Break: "a `break`",
    ast.Return: "a `return`",
    Annotation: "an annotation of the class",
}
_PLACES = {
    "declarations": "among the declarations",
    "bonds": "among the bonds",
    "equation": "among the equations",
    "algorithm": "in an algorithm",
}
_HINTS: dict[type, str] = {
    ast.Component: "declare it before the first heading, or after `public` or `protected`.",
    ast.Class: "define it before the first heading, or after `public` or `protected`.",
    ast.Extends: "put it at the top of the class.",
    ast.Import: "put it at the top of the class.",
    ast.BondChain: "put the line `bonds` before it.",
    ast.Equation: "put the line `equation` before it.",
    ast.CallEquation: "put the line `equation` before it.",
    ast.Assignment: "an equation is written with `=`; only algorithms of functions assign with `:=`.",
    ast.WhenBlock: "put the line `equation` before it.",
    ast.WhileBlock: "only algorithms of functions have `while`.",
    ast.Break: "only loops in algorithms have `break`.",
    ast.Return: "only algorithms of functions have `return`.",
    Annotation: "put it outside of the block, before the class's `end`.",
}


def check_placement(kind: ast.SectionKind, items: Iterable[ast.Item]) -> Iterator[Diagnostic]:
    """What stands in the wrong section: the first of each sort, for the rest follows from it."""
    section = kind.removeprefix("initial ")
    told: set[type] = set()
    for item in _flat(items):
        if isinstance(item, ast.CallEquation) and item.call.function.span.text == "connect":
            yield _connect(item)
        elif not isinstance(item, _ALLOWED[section]) and type(item) not in told and not _is_energy(item, section):
            told.add(type(item))
            yield _misplaced(item, section)


def protect(item: ast.Item) -> ast.Item:
    """The same item, marked as standing under `protected`."""
    match item:
        case ast.Component() | ast.Class() | ast.Extends():
            return replace(item, protected=True)
        case ast.IfBlock():
            branches = tuple((c, tuple(map(protect, body))) for c, body in item.branches)
            return replace(item, branches=branches, otherwise=tuple(map(protect, item.otherwise)))
        case ast.ForBlock():
            return replace(item, body=tuple(map(protect, item.body)))
    return item


def _flat(items: Iterable[ast.Item]) -> Iterator[ast.Item]:
    """All items, those inside of blocks included, in the order of the text."""
    for item in items:
        yield item
        match item:
            case ast.IfBlock() | ast.WhenBlock():
                for _, body in item.branches:
                    yield from _flat(body)
                if isinstance(item, ast.IfBlock):
                    yield from _flat(item.otherwise)
            case ast.ForBlock() | ast.WhileBlock():
                yield from _flat(item.body)


def _is_energy(item: ast.Item, section: str) -> bool:
    """`energy = ...;` is also welcome among the declarations."""
    return section == "declarations" and isinstance(item, ast.Equation) and _text(item.left) == "energy"


def _text(expression: ast.Expression) -> str:
    return expression.parts[0].ident if isinstance(expression, ast.Name) and len(expression.parts) == 1 else ""


def _misplaced(item: ast.Item, section: str) -> Diagnostic:
    noun, place, hint = _NOUNS[type(item)], _PLACES[section], _HINTS[type(item)]
    code = "syntax/misplaced"
    if isinstance(item, ast.Equation) and section == "algorithm":
        code = "syntax/assignment"
        hint = f"write `{item.left.span.text} := {item.right.span.text};`."
    elif isinstance(item, ast.Assignment) and section != "algorithm":
        code = "syntax/assignment"
        hint = f"write `{item.target.span.text} = {item.value.span.text};`; only algorithms of functions use `:=`."
    elif isinstance(item, ast.CallEquation) and section in ("bonds", "declarations"):
        hint = "the use of a macro needs a name (`Coupling c1(a, b);`); a call belongs under `equation`."
    return error(code, f"{noun} cannot stand {place}", _first_line(item.span), hint=hint)


def _connect(item: ast.CallEquation) -> Diagnostic:
    ends = [arg.span.text for arg in item.call.args]
    written = f"`{ends[0]} -> {ends[1]};`" if len(ends) == 2 else "`a -> b;`"
    return error(
        "syntax/not-in-language",
        "`connect` is not in the language",
        item.span,
        reason="Power flows through bonds, which have a direction.",
        hint=f"write {written} in a `bonds` section.",
    )


def _first_line(span: Span) -> Span:
    """A long item is shown by its beginning."""
    end = span.source.text.find("\n", span.start, span.end)
    return span if end < 0 else Span(span.source, span.start, end)
