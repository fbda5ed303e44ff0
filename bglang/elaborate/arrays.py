"""Array constructors and the array functions of the language."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from bglang.elaborate.linear import determinant, inverse, solution
from bglang.elaborate.operators import common_type, mismatch, operation
from bglang.elaborate.protocol import fault
from bglang.elaborate.values import CONSTANT, Shape, Value, array, count, describe_shape, named
from bglang.expr import Expr, total
from bglang.graph.ir import ValueType
from bglang.limits import Limits, raise_hint
from bglang.source import Span


def limited(shape: Shape, span: Span, limits: Limits) -> Shape:
    """The shape, if such an array may be made."""
    for size in shape:
        if size < 0:
            raise fault("arrays/shape", f"a size cannot be negative, but this is {size}", span)
    if count(shape) > limits.array:
        raise fault(
            "limits/array",
            f"an array of shape {describe_shape(shape)} is too large",
            span,
            reason=f"An array has at most {limits.array} items.",
            hint=raise_hint("array", count(shape)),
        )
    return shape


# --- constructors ---------------------------------------------------------------------------------------------------


def stack(values: Sequence[Value], span: Span) -> Value:
    """`{a, b, c}`: values of one shape become the rows of an array."""
    if not values:
        return Value("Real", (0,), (), CONSTANT)
    kind, enum = common_type(values, span, "the items of this array")
    for value in values:
        if value.shape != values[0].shape:
            raise mismatch(values[0], value, span, "put together")
    shape = (len(values), *values[0].shape)
    items = [item for value in values for item in value.items]
    return array(kind, shape, items, max(v.variability for v in values), enum)


def matrix_of(rows: Sequence[Sequence[Value]], span: Span) -> Value:
    """`[a, b; c, d]`: blocks side by side, then rows of blocks below each other."""
    lines = [cat(2, [_at_least_matrix(v) for v in row], span) for row in rows]
    return cat(1, lines, span)


def _at_least_matrix(value: Value) -> Value:
    if len(value.shape) >= 2:
        return value
    shape = (*value.shape, 1) if value.shape else (1, 1)
    return Value(value.type, shape, value.items, value.variability, value.enum)


def cat(dimension: int, values: Sequence[Value], span: Span) -> Value:
    """Arrays joined along one dimension, the others being equal."""
    kind, enum = common_type(values, span, "the arrays that are joined")
    rank = len(values[0].shape)
    if not 1 <= dimension <= rank:
        raise fault(
            "arrays/shape", f"these arrays have {rank} dimensions, so they cannot be joined along {dimension}", span
        )
    k = dimension - 1
    for value in values[1:]:
        same = len(value.shape) == rank and all(
            a == b for i, (a, b) in enumerate(zip(value.shape, values[0].shape, strict=True)) if i != k
        )
        if not same:
            shapes = f"{describe_shape(values[0].shape)} and {describe_shape(value.shape)}"
            raise fault(
                "arrays/shape",
                f"cannot join arrays of the shapes {shapes} along dimension {dimension}",
                span,
                reason="All other sizes must be equal.",
            )
    joined = sum(v.shape[k] for v in values)
    shape = (*values[0].shape[:k], joined, *values[0].shape[k + 1 :])
    outer = count(shape[:k])
    items = list[Any]()
    for i in range(outer):
        for value in values:
            block = count(value.shape[k:])
            items.extend(value.items[i * block : (i + 1) * block])
    return array(kind, shape, items, max(v.variability for v in values), enum)


def span_of(first: Value, step: Value, last: Value, span: Span, limits: Limits) -> Value:
    """`first : step : last`, of Integers, Reals or the literals of an enumeration."""
    values = (first, step, last)
    literals = first.type == last.type == "enumeration" and first.enum == last.enum
    if any(v.shape for v in values) or not (literals or all(v.numeric for v in values)):
        wrong = next((v for v in values if v.shape or not v.numeric), first)
        raise fault("types/range", f"a range goes from one number to another, but this is {named(wrong)}", span)
    a, h, b = (float(v.items[0]) for v in values)
    if h == 0.0:
        raise fault("types/range", "the step of a range cannot be 0", span)
    whole = all(v.type == "Integer" for v in values)
    # a step that divides the distance up to rounding reaches the end
    steps = (b - a) / h
    n = max(0, math.floor(steps if whole or literals else steps + 1e-9 * max(1.0, abs(steps))) + 1)
    limited((n,), span, limits)
    items = tuple(a + h * k for k in range(n))
    kind: ValueType = "enumeration" if literals else "Integer" if whole else "Real"
    return Value(kind, (n,), items, CONSTANT, first.enum)


# --- reductions -----------------------------------------------------------------------------------------------------


def reduce(name: str, value: Value, span: Span) -> Value:
    """`sum`, `product`, `min`, `max` of all items of an array."""
    if not value.numeric and not (name in ("min", "max") and value.type in ("enumeration", "Boolean")):
        raise fault("types/argument", f"`{name}` needs numbers, but this is {named(value)}", span)
    if name == "sum":
        item: Expr = total(value.items)
    elif name == "product":
        item = operation("*", value.items, span) if value.items else 1.0
    elif not value.items:
        raise fault("arrays/shape", f"`{name}` of an empty array has no value", span)
    else:
        item = _tree(name, list(value.items), span)
    return array(value.type, (), (item,), value.variability, value.enum)


def _tree(op: str, items: list[Expr], span: Span) -> Expr:
    """Two by two, so that the expression of a long array is not deep."""
    while len(items) > 1:
        pairs = [operation(op, items[i : i + 2], span) for i in range(0, len(items) - 1, 2)]
        items = pairs + items[len(pairs) * 2 :]
    return items[0]


# --- functions ------------------------------------------------------------------------------------------------------


def _need_rank(value: Value, rank: int, name: str, span: Span) -> Value:
    kind = {1: "a vector", 2: "a matrix"}[rank]
    if len(value.shape) != rank:
        raise fault("arrays/shape", f"`{name}` needs {kind}, but this is {_shaped(value)}", span)
    return value


def _shaped(value: Value) -> str:
    return f"an array of shape {describe_shape(value.shape)}" if value.shape else "a scalar"


def _numbers(value: Value, name: str, span: Span) -> Value:
    if not value.numeric:
        raise fault("types/argument", f"`{name}` needs numbers, but this is {named(value)}", span)
    return value


def _rows(value: Value) -> list[tuple[Any, ...]]:
    n = value.shape[1]
    return [value.items[i : i + n] for i in range(0, len(value.items), n)] if n else [()] * value.shape[0]


def transpose(value: Value, span: Span) -> Value:
    _need_rank(value, 2, "transpose", span)
    n, m = value.shape
    items = tuple(value.items[i * m + j] for j in range(m) for i in range(n))
    return Value(value.type, (m, n), items, value.variability, value.enum)


def symmetric(value: Value, span: Span) -> Value:
    """The upper triangle mirrored to the lower one."""
    n = _square(value, "symmetric", span)
    items = [value.items[min(i, j) * n + max(i, j)] for i in range(n) for j in range(n)]
    return array(value.type, (n, n), items, value.variability)


def diagonal(value: Value, span: Span) -> Value:
    n = _need_rank(_numbers(value, "diagonal", span), 1, "diagonal", span).shape[0]
    items = [value.items[i] if i == j else 0.0 for i in range(n) for j in range(n)]
    return array(value.type, (n, n), items, value.variability)


def _three(value: Value, name: str, span: Span) -> tuple[Any, ...]:
    if value.shape != (3,):
        raise fault("arrays/shape", f"`{name}` needs a vector of 3 items, but this is {_shaped(value)}", span)
    return _numbers(value, name, span).items


def skew(value: Value, span: Span) -> Value:
    """The matrix S with S*b = cross(a, b)."""
    x, y, z = _three(value, "skew", span)
    x_, y_, z_ = (operation("neg", (a,), span) for a in (x, y, z))
    return array(value.type, (3, 3), (0.0, z_, y, z, 0.0, x_, y_, x, 0.0), value.variability)


def cross(a: Value, b: Value, span: Span) -> Value:
    x, y = _three(a, "cross", span), _three(b, "cross", span)
    items = [
        operation("-", (operation("*", (x[i], y[j]), span), operation("*", (x[j], y[i]), span)), span)
        for i, j in ((1, 2), (2, 0), (0, 1))
    ]
    return array(_number_type(a, b), (3,), items, max(a.variability, b.variability))


def outer_product(a: Value, b: Value, span: Span) -> Value:
    _need_rank(_numbers(a, "outerProduct", span), 1, "outerProduct", span)
    _need_rank(_numbers(b, "outerProduct", span), 1, "outerProduct", span)
    shape = (a.shape[0], b.shape[0])
    items = [operation("*", (x, y), span) for x in a.items for y in b.items]
    return array(_number_type(a, b), shape, items, max(a.variability, b.variability))


def _number_type(a: Value, b: Value) -> ValueType:
    return "Integer" if a.type == b.type == "Integer" else "Real"


def scalar_of(value: Value, span: Span) -> Value:
    if len(value.items) != 1:
        raise fault("arrays/shape", f"`scalar` needs an array with one item, but this is {_shaped(value)}", span)
    return Value(value.type, (), value.items, value.variability, value.enum)


def vector_of(value: Value, span: Span) -> Value:
    if sum(size != 1 for size in value.shape) > 1:
        raise fault(
            "arrays/shape", f"`vector` needs an array with one size other than 1, but this is {_shaped(value)}", span
        )
    return Value(value.type, (len(value.items),), value.items, value.variability, value.enum)


def matrix_from(value: Value, span: Span) -> Value:
    if any(size != 1 for size in value.shape[2:]):
        raise fault("arrays/shape", f"`matrix` cannot take {_shaped(value)}", span)
    shape = (*value.shape, 1, 1)[:2]
    return Value(value.type, shape, value.items, value.variability, value.enum)


def filled(value: Value, shape: Shape, span: Span, limits: Limits) -> Value:
    shape = limited((*shape, *value.shape), span, limits)
    times = count(shape) // max(1, len(value.items))
    return Value(value.type, shape, value.items * times, value.variability, value.enum)


def identity(n: int) -> Value:
    return Value("Integer", (n, n), tuple(float(i == j) for i in range(n) for j in range(n)), CONSTANT)


def linspace(first: Value, last: Value, n: int, span: Span) -> Value:
    if n < 2:
        raise fault("functions/arguments", f"`linspace` needs at least 2 points, but this asks for {n}", span)
    if first.shape or last.shape or not (first.numeric and last.numeric):
        raise fault("types/argument", "`linspace` goes from one number to another", span)
    a, b = first.items[0], last.items[0]
    width = operation("-", (b, a), span)
    items: list[Expr] = [a]
    for i in range(1, n - 1):
        part = operation("/", (operation("*", (float(i), width), span), float(n - 1)), span)
        items.append(operation("+", (a, part), span))
    items.append(b)
    return array("Real", (n,), items, max(first.variability, last.variability))


def _square(value: Value, name: str, span: Span) -> int:
    if len(value.shape) != 2 or value.shape[0] != value.shape[1]:
        raise fault("arrays/shape", f"`{name}` needs a square matrix, but this is {_shaped(value)}", span)
    _numbers(value, name, span)
    return value.shape[0]


def det(value: Value, span: Span) -> Value:
    _square(value, "det", span)
    return array("Real", (), (determinant(_rows(value), span),), value.variability)


def inv(value: Value, span: Span) -> Value:
    _square(value, "inv", span)
    rows = inverse(_rows(value), span)
    return array("Real", value.shape, [item for row in rows for item in row], value.variability)


def solve(a: Value, b: Value, span: Span) -> Value:
    """x in a*x = b; b may be a vector or a matrix of right-hand sides."""
    n = _square(a, "solve", span)
    _numbers(b, "solve", span)
    if not 1 <= len(b.shape) <= 2 or b.shape[0] != n:
        raise fault(
            "arrays/shape",
            f"`solve(A, b)` needs as many rows in b as in A, but the shapes are "
            f"{describe_shape(a.shape)} and {describe_shape(b.shape)}",
            span,
        )
    columns = b.shape[1] if len(b.shape) == 2 else 1
    right = [list(b.items[i * columns : (i + 1) * columns]) for i in range(n)]
    rows = solution(_rows(a), right, span)
    return array("Real", b.shape, [item for row in rows for item in row], max(a.variability, b.variability))


ONE_ARRAY: dict[str, Callable[[Value, Span], Value]] = {
    "transpose": transpose,
    "symmetric": symmetric,
    "diagonal": diagonal,
    "skew": skew,
    "scalar": scalar_of,
    "vector": vector_of,
    "matrix": matrix_from,
    "det": det,
    "inv": inv,
}
TWO_ARRAYS: dict[str, Callable[[Value, Value, Span], Value]] = {
    "cross": cross,
    "outerProduct": outer_product,
    "solve": solve,
}
