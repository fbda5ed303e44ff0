"""Which expressions in a loop are the same in every pass: they are translated once."""

from typing import TYPE_CHECKING, Any

from bglang.elaborate.expressions import translate
from bglang.elaborate.values import Value
from bglang.source import Span
from bglang.syntax import ast

if TYPE_CHECKING:
    from bglang.elaborate.scopes import Frame, InstanceScope


def translate_in_loop(expression: ast.Expression, scope: "InstanceScope") -> Value | None:
    """The value of an expression; outside of laws, what no loop variable touches is translated once per instance."""
    ctx, frame = scope.ctx, scope.frame
    if frame is None or scope.own is not None:
        return translate(expression, scope, ctx.report)
    words = ctx.words.get(id(expression))
    if words is None:
        words = ctx.words[id(expression)] = first_words(expression)
    if touches(frame, words):
        return translate(expression, scope, ctx.report)
    key = (id(expression), id(scope.instance))
    if key not in ctx.loop_values:
        ctx.loop_values[key] = translate(expression, scope, ctx.report)
    return ctx.loop_values[key]


def touches(frame: "Frame | None", words: frozenset[str]) -> bool:
    """Whether a loop variable is among the words."""
    while frame is not None:
        if frame.ident in words:
            return True
        frame = frame.parent
    return False


def first_words(expression: ast.Expression) -> frozenset[str]:
    """The first words of all names in an expression."""
    words, stack = set[str](), list[Any]([expression])
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            words.add(node.parts[0].ident)
        if isinstance(node, tuple):
            stack.extend(node)
        elif hasattr(node, "__match_args__") and not isinstance(node, Span):
            stack.extend(getattr(node, name) for name in node.__match_args__)
    return frozenset(words)
