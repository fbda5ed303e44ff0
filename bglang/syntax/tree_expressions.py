"""The tree builder, first part: names, expressions and arguments.

The parser calls the method named like the grammar's rule with the values of its phrases and the places where the phrase
begins and ends.  Omitted optional phrases are None.
"""

import unicodedata
from typing import Any

from bglang.diagnostics import Diagnostic, error
from bglang.limits import Limits
from bglang.source import Source, Span
from bglang.syntax import ast
from bglang.syntax.text import identifier, string_value

Phrases = list[Any]
MAX_PARTS = 1_000
"""of a dotted name"""


class ExpressionBuilder:
    """Makes expressions; what is wrong although it follows the grammar goes to `problems`."""

    def __init__(self, source: Source, limits: Limits):
        self.source = source
        self.limits = limits
        self.problems: list[Diagnostic] = []
        self.doubtful: dict[int, Span] = {}
        """calls whose arguments only fit a modification, by the place where they begin, until they prove to be one"""
        self.open_ends: list[Span] = []
        """`end` values that are not inside a subscript so far"""

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    def problem(
        self, code: str, message: str, span: Span, *, label: str = "", reason: str = "", hint: str = ""
    ) -> None:
        self.problems.append(error(code, message, span, label=label, reason=reason, hint=hint))

    # --- names ---

    def ident(self, phrases: Phrases, start: int, end: int) -> tuple[str, Span]:
        return self.identifier(phrases[0]), self.span(start, end)

    def identifier(self, text: str) -> str:
        if text[0] != "'" and text.isascii():
            return text
        return unicodedata.normalize("NFC", identifier(text))

    def part(self, phrases: Phrases, start: int, end: int) -> ast.Part:
        text, subscripts = phrases
        if text[0] == "'" or not text.isascii():
            text = self.identifier(text)
        return ast.Part(text, subscripts, Span(self.source, start, end))

    def subscripts(self, phrases: Phrases, start: int, end: int) -> tuple[ast.Expression, ...]:
        while self.open_ends and self.open_ends[-1].start >= start:
            self.open_ends.pop()
        return tuple(phrases)

    def colon(self, phrases: Phrases, start: int, end: int) -> ast.Colon:
        return ast.Colon(self.span(start, end))

    def end_value(self, phrases: Phrases, start: int, end: int) -> ast.End:
        value = ast.End(self.span(start, end))
        self.open_ends.append(value.span)
        return value

    def name(self, phrases: Phrases, start: int, end: int) -> ast.Name:
        part: ast.Part = phrases[0]
        return ast.Name((part,), False, part.span)

    def rooted_name(self, phrases: Phrases, start: int, end: int) -> ast.Name:
        return ast.Name((phrases[0],), True, self.span(start, end))

    def dotted_name(self, phrases: Phrases, start: int, end: int) -> ast.Name:
        name: ast.Name = phrases[0]
        if len(name.parts) >= MAX_PARTS:
            if not self.problems or self.problems[-1].span.start != name.span.start:
                self.problem("limits/nesting", f"a name has at most {MAX_PARTS} parts", name.span)
            return name
        return ast.Name((*name.parts, phrases[1]), name.rooted, self.span(start, end))

    # --- values ---

    def number(self, phrases: Phrases, start: int, end: int) -> ast.Number:
        text: str = phrases[0]
        value = float(text)
        if value == float("inf"):
            self.problem(
                "syntax/number",
                f"the number `{_short(text)}` is too large",
                self.span(start, end),
                reason="Numbers are IEEE doubles, the largest of which is about 1.8e308.",
            )
        return ast.Number(value, text.isdigit(), Span(self.source, start, end))

    def string(self, phrases: Phrases, start: int, end: int) -> ast.String:
        return ast.String(string_value(phrases[0]), self.span(start, end))

    def description(self, phrases: Phrases, start: int, end: int) -> str:
        return "".join(map(string_value, phrases))

    def true(self, phrases: Phrases, start: int, end: int) -> ast.Bool:
        return ast.Bool(True, self.span(start, end))

    def false(self, phrases: Phrases, start: int, end: int) -> ast.Bool:
        return ast.Bool(False, self.span(start, end))

    def parenthesized(self, phrases: Phrases, start: int, end: int) -> ast.Expression:
        return phrases[0]  # type: ignore[no-any-return]

    def unary(self, phrases: Phrases, start: int, end: int) -> ast.Unary:
        return ast.Unary(phrases[0], phrases[1], Span(self.source, start, end))

    def binary(self, phrases: Phrases, start: int, end: int) -> ast.Binary:
        return ast.Binary(phrases[1], phrases[0], phrases[2], Span(self.source, start, end))

    def joined(self, phrases: Phrases, start: int, end: int) -> ast.Binary:
        return ast.Binary("+", phrases[0], phrases[1], self.span(start, end))

    def range_expression(self, phrases: Phrases, start: int, end: int) -> ast.Range:
        step = phrases[1] if len(phrases) == 3 else None
        return ast.Range(phrases[0], step, phrases[-1], self.span(start, end))

    def alternative(self, phrases: Phrases, start: int, end: int) -> tuple[ast.Expression, ast.Expression]:
        return phrases[0], phrases[1]

    def if_expression(self, phrases: Phrases, start: int, end: int) -> ast.IfExpression:
        return ast.IfExpression(tuple(phrases[:-1]), phrases[-1], self.span(start, end))

    def tuple_expression(self, phrases: Phrases, start: int, end: int) -> ast.Tuple:
        return ast.Tuple((*phrases,), self.span(start, end))

    def array(self, phrases: Phrases, start: int, end: int) -> ast.ArrayList:
        return ast.ArrayList((*(item for item in phrases if item is not None),), self.span(start, end))

    def row(self, phrases: Phrases, start: int, end: int) -> Phrases:
        return phrases

    def matrix(self, phrases: Phrases, start: int, end: int) -> ast.MatrixList:
        return ast.MatrixList((*((*row,) for row in phrases),), self.span(start, end))

    def comprehension(self, phrases: Phrases, start: int, end: int) -> ast.Comprehension:
        return ast.Comprehension(phrases[0], phrases[1], self.span(start, end))

    def iterators(self, phrases: Phrases, start: int, end: int) -> Any:
        return (*phrases,)

    def iterator(self, phrases: Phrases, start: int, end: int) -> ast.Iterator:
        return ast.Iterator(self.identifier(phrases[0]), phrases[1], self.span(start, end))

    # --- calls and arguments ---

    def call(self, phrases: Phrases, start: int, end: int) -> ast.Call:
        function, args = phrases
        if any(arg.args is not None or arg.each or arg.final or arg.redeclare or arg.replaceable for arg in args):
            self.doubtful[start] = self.span(start, end)
        return ast.Call(function, args, Span(self.source, start, end))

    def arguments(self, phrases: Phrases, start: int, end: int) -> Any:
        return (*(argument for argument in phrases if argument is not None),)

    def reduction(self, phrases: Phrases, start: int, end: int) -> Any:
        span = phrases[0].span.to(phrases[1][-1].span)
        body = ast.Comprehension(phrases[0], phrases[1], span)
        return (ast.Argument(None, None, body, False, False, None, False, "", span),)

    def argument(self, phrases: Phrases, start: int, end: int) -> ast.Argument:
        prefixes, left, value, description = phrases
        words = self.argument_prefixes(prefixes, start) if prefixes else frozenset()
        name: ast.Name | None = None
        args: Any = None
        if value is None:
            value = left
        elif isinstance(left, ast.Name):
            name = left
        elif isinstance(left, ast.Call):
            name, args = left.function, self.modification(left.args)
            self.doubtful.pop(left.span.start, None)
        else:
            name = self._law_side(left)
        return ast.Argument(
            name,
            args,
            value,
            "each" in words,
            "final" in words,
            None,
            "replaceable" in words,
            description or "",
            Span(self.source, start, end),
        )

    def argument_prefixes(self, words: list[str], start: int) -> frozenset[str]:
        raise NotImplementedError  # of the declarations' part

    def _law_side(self, left: ast.Expression) -> ast.Name:
        """`0 = ...` is an argument with the name `0`, which no identifier can have."""
        if not (isinstance(left, ast.Number) and left.value == 0):
            self.problem(
                "syntax/argument",
                "the left side of an argument must be a name or 0",
                left.span,
                label="neither a name nor 0",
                reason="An argument gives a name its value (`R = 10`) or states an implicit law (`0 = e - R*f`).",
                hint="bring everything to the right side: `0 = ...`.",
            )
        return ast.Name((ast.Part("0", None, left.span),), False, left.span)

    def modification(self, args: tuple[ast.Argument, ...]) -> tuple[ast.Argument, ...]:
        """Arguments of a declaration: there `q(start = 3)` modifies `q`, and is no call of it."""
        if not any(arg.name is None and isinstance(arg.value, ast.Call) for arg in args):
            return args
        return (*(self._modifier(arg) for arg in args),)

    def _modifier(self, arg: ast.Argument) -> ast.Argument:
        """A call among a declaration's arguments modifies if all that it is given is named, or modifies itself."""
        call = arg.value
        if arg.name is not None or not isinstance(call, ast.Call) or not looks_like_modification(call):
            return arg
        self.doubtful.pop(call.span.start, None)
        inner = self.modification(call.args)
        return ast.Argument(
            call.function, inner, None, arg.each, arg.final, None, arg.replaceable, arg.description, arg.span
        )


def looks_like_modification(call: ast.Call) -> bool:
    return bool(call.args) and all(
        arg.name is not None
        or arg.each
        or arg.final
        or arg.redeclare is not None
        or (isinstance(arg.value, ast.Call) and looks_like_modification(arg.value))
        for arg in call.args
    )


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:20]}…"
