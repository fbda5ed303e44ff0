"""The tree builder, last part: classes, sections and files."""

from typing import Any, cast

from bglang.diagnostics import Label, error
from bglang.records import dataclass, replace
from bglang.source import Span
from bglang.syntax import ast
from bglang.syntax.placement import check_placement, protect
from bglang.syntax.replaced import REPLACED
from bglang.syntax.text import quoted
from bglang.syntax.tree_declarations import Annotation, DeclarationBuilder
from bglang.syntax.tree_expressions import Phrases

_SECTION_KINDS: dict[str, ast.SectionKind] = {"public": "declarations", "protected": "declarations"}


@dataclass(frozen=True, slots=True)
class _OpenSection:
    """A heading and what stands under it, class annotations included."""

    heading: str
    items: list[Any]
    span: Span


class TreeBuilder(DeclarationBuilder):
    """Makes the whole syntax tree of a file."""

    # --- files ---

    def start(self, phrases: Phrases, start: int, end: int) -> ast.File:
        within, *items = phrases
        for place in self.open_ends:
            self.problem(
                "syntax/end-value",
                "`end` is a value only inside a subscript",
                place,
                reason="There it stands for the size of the array: `x[end]`, `x[end-1]`.",
            )
        for call in self.doubtful.values():
            self.problem(
                "syntax/argument",
                "this call has arguments that only a modification can have",
                call,
                reason="A call takes values and named values: `f(x, n = 2)`.",
            )
        self._check_top(items)
        classes = tuple(item for item in items if isinstance(item, ast.Class))
        imports = tuple(item for item in items if isinstance(item, ast.Import))
        return ast.File(within, classes, imports, self.span(start, end))

    def _check_top(self, items: list[Any]) -> None:
        stray = [item for item in items if item is not None and not isinstance(item, ast.Class | ast.Import)]
        if stray:
            self.problem(
                "syntax/outside-class",
                "this stands outside of any class",
                stray[0].span,
                reason="At the top of a file there are only classes and imports.",
                hint="put it into a model: `model Name ... end Name;`.",
            )

    def within(self, phrases: Phrases, start: int, end: int) -> ast.Name:
        return phrases[0] or ast.Name((), False, self.span(start, end))

    # --- classes ---

    def class_(self, phrases: Phrases, start: int, end: int) -> ast.Class:
        words, definition = phrases
        return self._prefixed(definition, self.class_prefixes(words, start), start) if words else definition

    def _prefixed(self, definition: ast.Class, words: frozenset[str], start: int) -> ast.Class:
        return replace(
            definition,
            partial="partial" in words,
            encapsulated="encapsulated" in words,
            replaceable="replaceable" in words,
            redeclared="redeclare" in words,
            final="final" in words,
            span=self.span(start, definition.span.end),
        )

    def redeclared_class(self, phrases: Phrases, start: int, end: int) -> ast.Argument:
        prefixes, definition = phrases
        words = self.class_prefixes([w for w in prefixes or () if w != "each"] or ["final"], start)
        words = words & frozenset(prefixes or ())
        changed = self._prefixed(definition, words, start)
        text = f"{definition.kind} {quoted(definition.ident)}"
        return self._redeclaration(changed, words, self.span(start, end), text)

    def kind(self, phrases: Phrases, start: int, end: int) -> ast.ClassKind:
        word: str = phrases[0]
        if word in REPLACED:
            self.problem(
                "syntax/not-in-language",
                f"`{word}` is not in the language",
                self.span(start, end),
                hint=REPLACED[word],
            )
            return "class"
        return cast(ast.ClassKind, word)

    def long_class(self, phrases: Phrases, start: int, end: int) -> ast.Class:
        kind, name, description, body, end_name, constraint = phrases
        self._check_end(kind, name, end_name)
        return self._class(kind, name, self.span(start, end), description=description, body=body, constraint=constraint)

    def macro(self, phrases: Phrases, start: int, end: int) -> ast.Class:
        name, parameters, description, body, end_name = phrases
        self._check_end("macro", name, end_name)
        made = self._class("macro", name, self.span(start, end), description=description, body=body)
        return replace(made, head=tuple(parameters or ()))

    def domain(self, phrases: Phrases, start: int, end: int) -> ast.Class:
        name, args, description, body, end_name = phrases
        self._check_end("domain", name, end_name)
        made = self._class("domain", name, self.span(start, end), description=description, body=body)
        return replace(made, attributes=self.modification(args))

    def short_class(self, phrases: Phrases, start: int, end: int) -> ast.Class:
        kind, name, use, constraint, description, annotation = phrases
        made = self._class(kind, name, self.span(start, end), description=description, constraint=constraint)
        return replace(made, short=use, annotation=annotation or ())

    def enumeration(self, phrases: Phrases, start: int, end: int) -> ast.Class:
        kind, name, literals, description, annotation = phrases
        span = self.span(start, end)
        if kind != "type":
            message = f"an enumeration is a `type`, not a `{kind}`"
            self.problem("syntax/enumeration", message, span, hint=f"write `type {name[0]} = enumeration(...)`.")
        made = self._class(kind, name, span, description=description)
        return replace(made, literals=tuple(literals or ()), annotation=annotation or ())

    def literals(self, phrases: Phrases, start: int, end: int) -> Phrases:
        return phrases

    def literal(self, phrases: Phrases, start: int, end: int) -> tuple[str, str]:
        return self.identifier(phrases[0]), phrases[1] or ""

    def parameters(self, phrases: Phrases, start: int, end: int) -> Phrases:
        return phrases

    def parameter(self, phrases: Phrases, start: int, end: int) -> ast.MacroParameter:
        name, ident, subscripts, args, default, description = phrases
        type_name, more = self.type_name(name)
        is_node = len(type_name.parts) == 1 and type_name.parts[0].ident == "node" and not type_name.rooted
        return ast.MacroParameter(
            self.identifier(ident),
            None if is_node else type_name,
            subscripts or more,
            default,
            self.span(start, end),
            self.modification(args or ()),
            description or "",
        )

    def _check_end(self, kind: str, name: tuple[str, Span], end_name: tuple[str, Span]) -> None:
        if name[0] != end_name[0]:
            expected = quoted(name[0])
            self.problems.append(
                error(
                    "syntax/wrong-end",
                    f"`end {quoted(end_name[0])}` does not end `{kind} {expected}`",
                    end_name[1],
                    label=f"expected `{expected}`",
                    related=(Label(name[1], f"this {kind} is still open"),),
                    hint=f"write `end {expected};`.",
                )
            )

    def _class(
        self,
        kind: ast.ClassKind,
        name: tuple[str, Span],
        span: Span,
        *,
        description: str | None,
        body: "tuple[tuple[ast.Section, ...], tuple[ast.Argument, ...]]" = ((), ()),
        constraint: ast.TypeUse | None = None,
    ) -> ast.Class:
        return ast.Class(
            kind=kind,
            ident=name[0],
            description=description or "",
            partial=False,
            encapsulated=False,
            replaceable=False,
            redeclared=False,
            final=False,
            protected=False,
            head=(),
            attributes=(),
            short=None,
            literals=None,
            sections=body[0],
            annotation=body[1],
            span=span,
            name_span=name[1],
            constrainedby=constraint,
        )

    # --- sections ---

    def body(
        self, phrases: Phrases, start: int, end: int
    ) -> "tuple[tuple[ast.Section, ...], tuple[ast.Argument, ...]]":
        parts = [part for part in phrases if part is not None]
        split = next((i for i, part in enumerate(parts) if isinstance(part, _OpenSection)), len(parts))
        opened: list[_OpenSection] = parts[split:]
        if split:
            first = self.span(parts[0].span.start, parts[split - 1].span.end)
            opened = [_OpenSection("public", parts[:split], first), *opened]
        annotation: list[ast.Argument] = []
        sections: list[ast.Section] = []
        for section in opened:
            items = [item for item in section.items if not isinstance(item, Annotation)]
            annotation.extend(arg for item in section.items if isinstance(item, Annotation) for arg in item.args)
            sections.append(self._section(section, items))
        return tuple(sections), tuple(annotation)

    def _section(self, opened: "_OpenSection", items: list[ast.Item]) -> ast.Section:
        heading = opened.heading
        kind = _SECTION_KINDS.get(heading) or cast(ast.SectionKind, heading)
        self.problems.extend(check_placement(kind, items))
        protected = heading == "protected"
        kept = tuple(protect(item) for item in items) if protected else tuple(items)
        return ast.Section(kind, kept, protected, opened.span)

    def section(self, phrases: Phrases, start: int, end: int) -> "_OpenSection":
        heading, *items = phrases
        return _OpenSection(heading, [item for item in items if item is not None], self.span(start, end))

    def heading(self, phrases: Phrases, start: int, end: int) -> str:
        return " ".join(phrases)

    def extends(self, phrases: Phrases, start: int, end: int) -> ast.Extends:
        name, subscripts = self.type_name(phrases[0])
        if subscripts is not None:
            self.problem("syntax/type-name", "a base class has no subscripts", name.span)
        return ast.Extends(name, self.modification(phrases[1] or ()), False, self.span(start, end))

    # --- imports ---

    def import_name(self, phrases: Phrases, start: int, end: int) -> ast.Import:
        return ast.Import(self._plain(phrases[0]), None, False, (), self.span(start, end))

    def import_alias(self, phrases: Phrases, start: int, end: int) -> ast.Import:
        alias = self.identifier(phrases[0])
        return ast.Import(self._plain(phrases[1]), alias, False, (), self.span(start, end))

    def import_all(self, phrases: Phrases, start: int, end: int) -> ast.Import:
        return ast.Import(self._plain(phrases[0]), None, True, (), self.span(start, end))

    def import_several(self, phrases: Phrases, start: int, end: int) -> ast.Import:
        name, *idents, _ = phrases
        names = tuple(map(self.identifier, idents))
        return ast.Import(self._plain(name), None, False, names, self.span(start, end))

    def _plain(self, name: ast.Name) -> ast.Name:
        if any(part.subscripts is not None for part in name.parts):
            self.problem("syntax/type-name", "an imported name has no subscripts", name.span)
        return name
