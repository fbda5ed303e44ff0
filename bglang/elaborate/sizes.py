"""Shapes of declared arrays, and values that must be known when the model is put together."""

from typing import TYPE_CHECKING

from bglang.diagnostics import error
from bglang.elaborate.components import a, array_size
from bglang.elaborate.expressions import translate_constant
from bglang.elaborate.mistyped import not_boolean
from bglang.elaborate.values import Shape, Value, count, describe
from bglang.limits import raise_hint
from bglang.source import Span
from bglang.syntax import ast

if TYPE_CHECKING:
    from bglang.elaborate.scopes import InstanceScope


def sizes(subscripts: tuple[ast.Expression, ...], scope: "InstanceScope") -> list[int | None] | None:
    """The sizes that subscripts of a declaration give, None in place of `:`; None after reporting."""
    found = list[int | None]()
    for subscript in subscripts:
        if isinstance(subscript, ast.Colon):
            found.append(None)
            continue
        value = translate_constant(subscript, scope, scope.ctx.report)
        size = array_size(value, scope, subscript.span) if value is not None else None
        if size is None:
            return None
        found.append(size)
    return found


def check_count(shape: Shape, scope: "InstanceScope", span: Span) -> bool:
    """Whether an array stays below the limit."""
    limit = scope.ctx.limits.array
    if count(shape) > limit:
        scope.ctx.report.add(
            error(
                "limits/array", f"an array has at most {limit} elements", span, hint=raise_hint("array", count(shape))
            )
        )
        return False
    return True


def condition(expression: ast.Expression, scope: "InstanceScope") -> bool | None:
    """A condition around declarations and bonds; None after reporting."""
    value = translate_constant(expression, scope, scope.ctx.report)
    if value is None:
        return None
    if value.type != "Boolean" or value.shape:
        scope.ctx.report.add(not_boolean(value, expression.span))
        return None
    return bool(value.items[0])


def iterations(iterator: ast.Iterator, scope: "InstanceScope") -> list[Value] | None:
    """The values that a loop variable takes; None after reporting."""
    if iterator.range is None:
        scope.ctx.report.add(
            error(
                "types/loop",
                f"the loop needs a range for `{iterator.ident}`",
                iterator.span,
                hint=f"write `{iterator.ident} in 1:n`.",
            )
        )
        return None
    value = translate_constant(iterator.range, scope, scope.ctx.report)
    if value is None:
        return None
    if len(value.shape) != 1:
        scope.ctx.report.add(
            error(
                "types/loop",
                "a loop runs over a range or a vector",
                iterator.range.span,
                label=f"this is {a(describe(value))}",
            )
        )
        return None
    return [Value(value.type, (), (item,), value.variability, value.enum) for item in value.items]
