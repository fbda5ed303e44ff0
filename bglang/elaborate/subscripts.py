"""Subscripts: which items of an array are meant, with `end`, slices and index vectors."""

from itertools import product as combinations

from bglang.diagnostics import Diagnostic, Report, error
from bglang.elaborate.locals import Locals
from bglang.elaborate.protocol import Scope
from bglang.elaborate.values import PARAMETER, Shape, Value, count, describe_shape, named
from bglang.source import Span
from bglang.syntax import ast

Places = tuple[tuple[int, ...] | int, ...]
"""Per dimension of an array: a number from 0 (the dimension goes) or a tuple of them (it stays)."""


def positions(
    subscripts: tuple[ast.Expression, ...], shape: Shape, scope: Scope, report: Report, what: str, span: Span
) -> Places | None:
    """One entry per dimension of `shape`; missing subscripts at the end are whole dimensions.

    `what` is the array's name for messages.  None after reporting."""
    if len(subscripts) > len(shape):
        report.add(_too_many(len(subscripts), shape, what, span))
        return None
    places = list[tuple[int, ...] | int]()
    wrong = False
    for k, size in enumerate(shape):
        if k >= len(subscripts) or isinstance(subscripts[k], ast.Colon):
            places.append(tuple(range(size)))
            continue
        place = _place(subscripts[k], size, scope, report, what)
        if place is None:
            wrong = True
        else:
            places.append(place)
    return None if wrong else tuple(places)


def _too_many(given: int, shape: Shape, what: str, span: Span) -> Diagnostic:
    if not shape:
        return error("arrays/index", f"`{what}` is not an array, so it takes no subscripts", span)
    return error(
        "arrays/index",
        f"`{what}` has {len(shape)} dimension{'s' * (len(shape) > 1)}, but {given} subscripts are given",
        span,
        reason=f"Its shape is {describe_shape(shape)}.",
    )


def _place(
    subscript: ast.Expression, size: int, scope: Scope, report: Report, what: str
) -> tuple[int, ...] | int | None:
    if isinstance(subscript, ast.Number) and subscript.integer:
        value = int(subscript.value)
        return value - 1 if _inside((value,), size, subscript.span, report, what) else None
    from bglang.elaborate.expressions import translate

    inner = Locals(scope, report, end=size)
    found = translate(subscript, inner, report)
    if found is not None and found.variability > PARAMETER:
        report.add(_varying(what, subscript.span))
        return None
    if found is not None and not found.known:
        found = inner.constant(found, subscript.span)
    if found is None:
        return None
    if found.type not in ("Integer", "enumeration") or len(found.shape) > 1:
        report.add(
            error(
                "arrays/index",
                f"a subscript of `{what}` must be an Integer, but this is {named(found)}",
                subscript.span,
                hint="`integer(x)` rounds down." if found.type == "Real" else "",
            )
        )
        return None
    indices = found.integers()
    if not _inside(indices, size, subscript.span, report, what):
        return None
    return tuple(i - 1 for i in indices) if found.shape else indices[0] - 1


def _varying(what: str, span: Span) -> Diagnostic:
    return error(
        "expressions/not-constant",
        f"which item of `{what}` is meant changes during a run",
        span,
        reason="A subscript is known at compile time.",
        hint="look the value up with `table`, or choose with `if`.",
    )


def _inside(indices: tuple[int, ...], size: int, span: Span, report: Report, what: str) -> bool:
    for index in indices:
        if not 1 <= index <= size:
            report.add(
                error(
                    "arrays/index",
                    f"the subscript {index} of `{what}` is out of range",
                    span,
                    reason=f"It goes from 1 to {size}." if size else "The array is empty.",
                )
            )
            return False
    return True


def select(value: Value, places: Places) -> Value:
    """The part of a value that the positions mean."""
    if len(places) == 1 and isinstance(places[0], int):
        return Value(value.type, (), (value.items[places[0]],), _variability(value, places[0]), value.enum)
    shape = tuple(len(p) for p in places if isinstance(p, tuple))
    strides = [count(value.shape[k + 1 :]) for k in range(len(value.shape))]
    offsets = [
        [i * stride for i in (p if isinstance(p, tuple) else (p,))] for p, stride in zip(places, strides, strict=True)
    ]
    items = tuple(value.items[sum(parts)] for parts in combinations(*offsets))
    known = not any(isinstance(item, tuple) for item in items)
    return Value(value.type, shape, items, 0 if known else value.variability, value.enum)


def _variability(value: Value, index: int) -> int:
    return value.variability if isinstance(value.items[index], tuple) else 0


def assign(value: Value, places: Places, part: Value) -> Value:
    """The value with the items at the positions replaced by those of `part`, which has the shape of the selection."""
    strides = [count(value.shape[k + 1 :]) for k in range(len(value.shape))]
    offsets = [
        [i * stride for i in (p if isinstance(p, tuple) else (p,))] for p, stride in zip(places, strides, strict=True)
    ]
    items = list(value.items)
    for parts, item in zip(combinations(*offsets), part.items, strict=True):
        items[sum(parts)] = item
    known = not any(isinstance(item, tuple) for item in items)
    return Value(
        value.type, value.shape, tuple(items), 0 if known else max(value.variability, part.variability, 1), value.enum
    )
