"""The tree builder, second part: declarations, bonds, equations and blocks."""

from typing import Any, cast

from bglang.records import dataclass
from bglang.source import Span
from bglang.syntax import ast
from bglang.syntax.replaced import REPLACED
from bglang.syntax.tree_expressions import ExpressionBuilder, Phrases

_ARGUMENT_PREFIXES = frozenset({"each", "final", "redeclare", "replaceable"})
_CLASS_PREFIXES = frozenset({"partial", "encapsulated", "final", "redeclare", "replaceable"})
_COMPONENT_PREFIXES = frozenset(
    {"parameter", "constant", "discrete", "input", "output", "port", "final", "redeclare", "replaceable"}
)
_HEADINGS = {
    "equations": "equation",
    "algorithms": "algorithm",
    "connections": "bonds",
    "bindings": "bonds",
    "declarations": "",
    "parameters": "",
    "variables": "",
    "components": "",
}
"""Words that someone may take for a heading, and the right one."""
_EXCLUSIVE = (frozenset({"parameter", "constant", "discrete"}), frozenset({"input", "output", "port"}))


@dataclass(frozen=True, slots=True)
class Annotation:
    """`annotation(...);` among the items of a class."""

    args: tuple[ast.Argument, ...]
    span: Span


class DeclarationBuilder(ExpressionBuilder):
    # --- prefixes ---

    def prefixes(self, phrases: Phrases, start: int, end: int) -> list[str]:
        return phrases

    def prefix(self, phrases: Phrases, start: int, end: int) -> str:
        return cast(str, phrases[0])

    def argument_prefixes(self, words: list[str], start: int) -> frozenset[str]:
        return self.check_prefixes(words, start, _ARGUMENT_PREFIXES, "an argument")

    def class_prefixes(self, words: list[str], start: int) -> frozenset[str]:
        return self.check_prefixes(words, start, _CLASS_PREFIXES, "a class")

    def component_prefixes(self, words: list[str], start: int, also: frozenset[str] = frozenset()) -> frozenset[str]:
        return self.check_prefixes(words, start, _COMPONENT_PREFIXES | also, "a declaration")

    def check_prefixes(self, words: list[str], start: int, allowed: frozenset[str], where: str) -> frozenset[str]:
        found = frozenset(words)
        span = self.span(start, start + len(words[0]))
        foreign = [word for word in words if word not in allowed]
        clash = next((sorted(found & group) for group in _EXCLUSIVE if len(found & group) > 1), None)
        if foreign:
            self.problem("syntax/prefix", f"`{foreign[0]}` cannot stand before {where}", span, hint="leave it out.")
        elif len(found) < len(words):
            twice = next(word for i, word in enumerate(words) if word in words[:i])
            self.problem("syntax/prefix", f"`{twice}` is written twice", span, hint="leave one of them out.")
        elif clash:
            message = f"`{clash[0]}` and `{clash[1]}` exclude each other"
            self.problem("syntax/prefix", message, span, hint="keep one of them.")
        return found

    # --- declarations ---

    def declaration(self, phrases: Phrases, start: int, end: int) -> ast.Component:
        prefixes, name, *declarators, constraint, description = phrases
        words = self.component_prefixes(prefixes, start) if prefixes else frozenset()
        if description and not declarators[-1].description:
            declarators[-1] = _described(declarators[-1], description)
        return self.component(words, name, tuple(declarators), constraint, Span(self.source, start, end))

    def component(
        self,
        words: frozenset[str],
        name: ast.Name,
        declarators: tuple[ast.Declarator, ...],
        constraint: ast.TypeUse | None,
        span: Span,
    ) -> ast.Component:
        type_name, subscripts = self.type_name(name)
        if type_name.parts[0].ident in _HEADINGS and not words:
            self._check_heading(type_name, span)
        prefixes = cast(frozenset[ast.Prefix], words)
        return ast.Component(prefixes, type_name, subscripts, declarators, constraint, False, span)

    def _check_heading(self, name: ast.Name, span: Span) -> None:
        """`equations` and a line end, then `der(x) = 1`, reads as the declaration of `der`."""
        word = name.parts[0].ident
        rest = span.text[len(word) :]
        if len(name.parts) == 1 and "\n" in rest[: len(rest) - len(rest.lstrip())]:
            heading = _HEADINGS[word]
            hint = f"write `{heading}`." if heading else "leave it out: declarations need no heading."
            self.problem("syntax/heading", f"`{word}` is no heading of a section", name.span, hint=hint)

    def type_name(self, name: ast.Name) -> tuple[ast.Name, tuple[ast.Expression, ...] | None]:
        """Splits `Real[3]` into the name and the subscripts."""
        last = name.parts[-1]
        if any(part.subscripts is not None for part in name.parts[:-1]):
            self.problem(
                "syntax/type-name",
                "a type's name has subscripts at its end only",
                name.span,
                reason="`Real[3] x` declares an array; a class inside an array of components is no type.",
            )
        if last.subscripts is None:
            return name, None
        bare = ast.Part(last.ident, None, last.span)
        return ast.Name((*name.parts[:-1], bare), name.rooted, name.span), last.subscripts

    def declarator(self, phrases: Phrases, start: int, end: int) -> ast.Declarator:
        (ident, subscripts, args), value, condition, description, annotation = phrases
        return ast.Declarator(
            ident,
            subscripts,
            args,
            value,
            condition,
            description or "",
            annotation or (),
            Span(self.source, start, end),
        )

    def declared(self, phrases: Phrases, start: int, end: int) -> Any:
        text, subscripts, args = phrases
        if text[0] == "'" or not text.isascii():
            text = self.identifier(text)
        return text, subscripts, None if args is None else self.modification(args)

    def constraint(self, phrases: Phrases, start: int, end: int) -> ast.TypeUse:
        return cast(ast.TypeUse, phrases[0])

    def type_use(self, phrases: Phrases, start: int, end: int) -> ast.TypeUse:
        name, subscripts = self.type_name(phrases[0])
        return ast.TypeUse(name, subscripts, self.modification(phrases[1] or ()), self.span(start, end))

    def annotation(self, phrases: Phrases, start: int, end: int) -> tuple[ast.Argument, ...]:
        return self.modification(phrases[0])

    def class_annotation(self, phrases: Phrases, start: int, end: int) -> Annotation:
        return Annotation(phrases[0], self.span(start, end))

    def redeclared_component(self, phrases: Phrases, start: int, end: int) -> ast.Argument:
        prefixes, name, declarator, constraint = phrases
        span = self.span(start, end)
        words = self.component_prefixes(prefixes, start, frozenset({"each"})) if prefixes else frozenset()
        component = self.component(words - {"each"}, name, (declarator,), constraint, span)
        return self._redeclaration(component, words, span, f"{name.span.text} {declarator.ident}")

    def _redeclaration(
        self, what: ast.Component | ast.Class, words: frozenset[str], span: Span, text: str
    ) -> ast.Argument:
        if not words & {"redeclare", "replaceable"}:
            self.problem(
                "syntax/argument",
                f"`{text}` among arguments needs the word `redeclare`",
                span,
                reason="An argument gives a value (`R = 10`) or exchanges a declaration (`redeclare Motor m`).",
                hint=f"write `redeclare {text}`, or separate two arguments by a comma.",
            )
        return ast.Argument(None, None, None, "each" in words, "final" in words, what, "replaceable" in words, "", span)

    # --- bonds ---

    def chain(self, phrases: Phrases, start: int, end: int) -> tuple[list[ast.Name], list[ast.Arrow]]:
        first, arrow, last = phrases
        if isinstance(first, ast.Name):
            return [first, last], [arrow]
        first[0].append(last)
        first[1].append(arrow)
        return cast(tuple[list[ast.Name], list[ast.Arrow]], first)

    def bond(self, phrases: Phrases, start: int, end: int) -> ast.BondChain:
        name, (nodes, arrows), *more, description, _ = phrases
        last = (nodes[-1], *more)
        span = Span(self.source, start, end)
        return ast.BondChain(name, tuple(nodes[:-1]), tuple(arrows), last, description or "", span)

    # --- equations and statements ---

    def equation(self, phrases: Phrases, start: int, end: int) -> ast.Equation:
        left, right, description, _ = phrases
        return ast.Equation(left, right, description or "", Span(self.source, start, end))

    def assignment(self, phrases: Phrases, start: int, end: int) -> ast.Assignment:
        return ast.Assignment(phrases[0], phrases[1], self.span(start, end))

    def call_equation(self, phrases: Phrases, start: int, end: int) -> ast.CallEquation | None:
        left = phrases[0]
        span = self.span(start, end)
        if isinstance(left, ast.Call):
            return ast.CallEquation(left, span)
        if isinstance(left, ast.Binary) and left.op == "==":
            self.problem(
                "syntax/comparison",
                "`==` compares two values and states nothing",
                span,
                hint="an equation is written with `=`, an assignment in an algorithm with `:=`.",
            )
        elif isinstance(left, ast.Name) and left.span.text in REPLACED:
            word = left.span.text
            self.problem("syntax/not-in-language", f"`{word}` is not in the language", left.span, hint=REPLACED[word])
        elif isinstance(left, ast.Binary) and "<-" in left.span.text:
            tail, head = left.right.span.text.lstrip("-").strip(), left.left.span.text
            self.problem("syntax/arrow", "an arrow points to the right", span, hint=f"write `{tail} -> {head};`.")
        elif isinstance(left, ast.Binary) and left.op == "-" and isinstance(left.right, ast.Name):
            self.problem(
                "syntax/statement",
                "this is a difference, not a statement",
                span,
                reason="A declaration is `Type name;`, a bond `a -> b;`, an equation `left = right;`.",
                hint=f"write `{left.left.span.text} -> {left.right.span.text};` for a bond.",
            )
        else:
            self.problem(
                "syntax/statement",
                "this is an expression, not a statement",
                span,
                reason="A declaration is `Type name;`, a bond `a -> b;`, an equation `left = right;`.",
            )
        return None

    def branch(self, phrases: Phrases, start: int, end: int) -> tuple[ast.Expression, tuple[ast.Item, ...]]:
        return phrases[0], phrases[1]

    def items(self, phrases: Phrases, start: int, end: int) -> tuple[ast.Item, ...]:
        return tuple(item for item in phrases if item is not None)

    def if_block(self, phrases: Phrases, start: int, end: int) -> ast.IfBlock:
        *branches, otherwise = phrases
        return ast.IfBlock(tuple(branches), otherwise or (), self.span(start, end))

    def when_block(self, phrases: Phrases, start: int, end: int) -> ast.WhenBlock:
        return ast.WhenBlock(tuple(phrases), self.span(start, end))

    def for_block(self, phrases: Phrases, start: int, end: int) -> ast.ForBlock:
        return ast.ForBlock(phrases[0], phrases[1], self.span(start, end))

    def while_block(self, phrases: Phrases, start: int, end: int) -> ast.WhileBlock:
        return ast.WhileBlock(phrases[0], phrases[1], self.span(start, end))

    def break_statement(self, phrases: Phrases, start: int, end: int) -> ast.Break:
        return ast.Break(self.span(start, end))

    def return_statement(self, phrases: Phrases, start: int, end: int) -> ast.Return:
        return ast.Return(self.span(start, end))


def _described(d: ast.Declarator, description: str) -> ast.Declarator:
    return ast.Declarator(d.ident, d.subscripts, d.args, d.value, d.condition, description, d.annotation, d.span)
