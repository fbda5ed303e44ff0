"""Operators on values, with Modelica's typing: which operands fit, which shape comes out, what can be computed now."""

from collections.abc import Callable, Sequence
from typing import Any

from bglang.elaborate.protocol import Fault, fault
from bglang.elaborate.values import CONSTANT, DISCRETE, Shape, Value, array, describe, describe_shape, named
from bglang.expr import Expr, call, neg, product, total
from bglang.expr.core import LEAVES
from bglang.expr.numbers import FUNCTIONS, NotANumber, compute
from bglang.graph.ir import ValueType
from bglang.source import Span

RELATIONS = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "==", "<>": "!="}
_WORDS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "^": "raise"}


def operation(op: str, args: Sequence[Any], span: Span) -> Expr:
    """One scalar operation, computed if all operands are numbers, neutral operands dropped."""
    if op == "/" and args[1] == 0.0:
        raise fault(
            "expressions/division-by-zero",
            "division by zero",
            span,
            reason="The divisor is 0 whatever the parameters and variables are.",
        )
    if op in FUNCTIONS and not any(isinstance(a, tuple) for a in args):
        try:
            return compute(op, args)
        except NotANumber as problem:
            raise fault("expressions/not-a-number", f"{problem}", span) from None
    if (op == "+" or op == "-") and len(args) == 2:
        return _sum(op, args[0], args[1])
    if op == "*" and len(args) == 2:
        left, right = args
        if isinstance(left, tuple) and left[0] == "*" and isinstance(right, tuple):
            return (*left, right)
        return _kept_one(left, right) or product(args)
    if op == "/" and args[1] == 1.0 and isinstance(args[0], tuple):
        return ("/", args[0], 1.0)
    if op == "neg":
        return _negative(args[0])
    if op == "not" and args[0][0] == "not":
        inner: Expr = args[0][1]
        return inner
    if op == "and" or op == "or":
        return _logical(op, args)
    return call(op, *args)


def _kept_one(left: Any, right: Any) -> Expr | None:
    """`1*f` as it is written: a plain number makes the unit of a product unknown, also a one."""
    number, other = (right, left) if isinstance(left, tuple) else (left, right)
    if number not in (1.0, -1.0) or not isinstance(other, tuple):
        return None
    if other[0] != "*":
        return ("*", number, other)
    return ("*", number, *other[1:]) if isinstance(other[1], tuple) else ("*", number * other[1], *other[2:])


def _sum(op: str, left: Expr, right: Expr) -> Expr:
    """A chain of sums and differences is one long sum: evaluated in the same order, but not deep."""
    if op == "-" and left == 0.0 and isinstance(right, tuple):
        return _negative(right)
    if right == 0.0 or not isinstance(left, tuple) or left[0] not in ("+", "-"):
        return total((left, right)) if op == "+" else call("-", left, right)
    terms = left[1:] if left[0] == "+" else (left[1], _negative(left[2]))
    return ("+", *terms, right if op == "+" else _negative(right))


def _negative(e: Expr) -> Expr:
    """A leading number takes the sign."""
    if isinstance(e, tuple) and e[0] == "*" and not isinstance(e[1], tuple):
        return ("*", -e[1], *e[2:])
    return neg(e)


def _logical(op: str, args: Sequence[Any]) -> Expr:
    """`and` drops what is true and is decided by what is false; `or` the other way round."""
    neutral = 1.0 if op == "and" else 0.0
    rest = list[Any]()
    for arg in args:
        if not isinstance(arg, tuple):
            if arg != neutral:
                return 1.0 - neutral
        elif arg[0] == op:
            rest.extend(arg[1:])
        else:
            rest.append(arg)
    if len(rest) <= 1:
        return rest[0] if rest else neutral
    return (op, *rest)


# --- unary ----------------------------------------------------------------------------------------------------------


def unary(op: str, value: Value, span: Span) -> Value:
    if op == "not":
        _boolean(value, "not", span)
        return elementwise(lambda a: operation("not", (a,), span), "Boolean", (value,), span)
    if not value.numeric:
        raise _operands(f"`{op}` needs a number, but this is {named(value)}", span, value)
    if op in ("+", ".+"):
        return value
    return elementwise(lambda a: operation("neg", (a,), span), value.type, (value,), span)


# --- binary ---------------------------------------------------------------------------------------------------------


def binary(op: str, left: Value, right: Value, span: Span) -> Value:
    if not left.shape and not right.shape and op in _WORDS and left.numeric and right.numeric:
        item = operation(op, (left.items[0], right.items[0]), span)
        kind = _arithmetic_type(op, left, right)
        if not isinstance(item, tuple):
            return Value(kind, (), (item,), CONSTANT)
        return Value(kind, (), (item,), max(left.variability, right.variability))
    if op in RELATIONS:
        return _relation(op, left, right, span)
    if op == "and" or op == "or":
        _boolean(left, op, span)
        _boolean(right, op, span)
        return elementwise(lambda a, b: operation(op, (a, b), span), "Boolean", (left, right), span, scalars=False)
    if op == "+" and left.type == "String" and right.type == "String":
        return elementwise(lambda a, b: a + b, "String", (left, right), span, scalars=False)
    if not (left.numeric and right.numeric):
        raise _no_numbers(op, left, right, span)
    if not left.shape and not right.shape:
        return binary(op.lstrip("."), left, right, span)
    return _on_arrays(op, left, right, span)


def _on_arrays(op: str, left: Value, right: Value, span: Span) -> Value:
    if op in ("+", "-") or op.startswith("."):
        plain = op.lstrip(".")
        kind = _arithmetic_type(plain, left, right)
        dotted = op.startswith(".")
        return elementwise(
            lambda a, b: operation(plain, (a, b), span), kind, (left, right), span, scalars=dotted, op=op
        )
    if op == "*":
        return multiply(left, right, span)
    if op == "/":
        if right.shape:
            raise fault(
                "arrays/shape",
                f"cannot divide by an array of shape {describe_shape(right.shape)}",
                span,
                reason="`/` divides by a scalar.",
                hint="`./` divides element by element; `solve(A, b)` solves A*x = b.",
            )
        return elementwise(lambda a, b: operation("/", (a, b), span), "Real", (left, right), span)
    return _power(left, right, span)


def _arithmetic_type(op: str, left: Value, right: Value) -> ValueType:
    return "Integer" if left.type == right.type == "Integer" and op in ("+", "-", "*") else "Real"


def elementwise(
    combine: Callable[..., Any],
    type: ValueType,
    values: Sequence[Value],
    span: Span,
    *,
    scalars: bool = True,
    op: str = "",
) -> Value:
    """A function of scalars on arrays of one shape; with `scalars`, scalars go with every item."""
    shape: Shape = next((v.shape for v in values if v.shape), ())
    for value in values:
        if value.shape != shape and (value.shape or not scalars):
            raise mismatch(values[0], value if value is not values[0] else values[1], span, op)
    if not shape:
        items: tuple[Any, ...] = (combine(*[v.items[0] for v in values]),)
    else:
        count = max(len(v.items) for v in values if v.shape)
        columns = [v.items if v.shape else v.items * count for v in values]
        items = tuple(map(combine, *columns))
    return array(type, shape, items, max(v.variability for v in values))


def mismatch(left: Value, right: Value, span: Span, op: str = "") -> Fault:
    """Two shapes that should be equal are not."""
    shapes = f"{describe_shape(left.shape)} and {describe_shape(right.shape)}"
    word = _WORDS.get(op, "combine")
    hint = ""
    if not left.shape or not right.shape:
        hint = f"`.{op}` takes a scalar with every item of an array." if op in ("+", "-") else ""
        shapes = f"{_a_shape(left.shape)} and {_a_shape(right.shape)}"
        return fault("arrays/shape", f"cannot {word} {shapes}", span, hint=hint)
    return fault(
        "arrays/shape", f"cannot {word} arrays of the shapes {shapes}", span, reason="The shapes must be equal."
    )


def _a_shape(shape: Shape) -> str:
    return f"an array of shape {describe_shape(shape)}" if shape else "a scalar"


def multiply(left: Value, right: Value, span: Span) -> Value:
    """`*`: scalars scale, vectors give the scalar product, matrices multiply."""
    kind = _arithmetic_type("*", left, right)
    if not left.shape or not right.shape:
        return elementwise(lambda a, b: operation("*", (a, b), span), kind, (left, right), span)
    if len(left.shape) > 2 or len(right.shape) > 2 or left.shape[-1] != right.shape[0]:
        raise fault(
            "arrays/shape",
            f"cannot multiply arrays of the shapes {describe_shape(left.shape)} and {describe_shape(right.shape)}",
            span,
            reason="The last size of the left one must be the first size of the right one.",
            hint="`.*` multiplies element by element." if left.shape == right.shape else "",
        )
    inner = right.shape[0]
    rows = left.shape[0] if len(left.shape) == 2 else 1
    columns = right.shape[1] if len(right.shape) == 2 else 1
    items = list[Expr]()
    a, b = left.items, right.items
    for i in range(rows):
        row = a[i * inner : (i + 1) * inner]
        for j in range(columns):
            items.append(_dot(row, b[j::columns], span))
    shape = (left.shape[:1] if len(left.shape) == 2 else ()) + (right.shape[1:] if len(right.shape) == 2 else ())
    return array(kind, shape, items, max(left.variability, right.variability))


def _dot(a: Sequence[Expr], b: Sequence[Expr], span: Span) -> Expr:
    terms = [operation("*", (x, y), span) for x, y in zip(a, b, strict=True)]
    return total(t for t in terms if t != 0.0)


def _power(left: Value, right: Value, span: Span) -> Value:
    square = len(left.shape) == 2 and left.shape[0] == left.shape[1]
    if right.shape or not square:
        raise fault(
            "arrays/shape",
            f"cannot raise {_a_shape(left.shape)} to {_a_shape(right.shape)}",
            span,
            reason="`^` takes a scalar or a square matrix on the left and a scalar on the right.",
            hint="`.^` works element by element.",
        )
    exponent = right.items[0]
    if right.type != "Integer" or not right.known or exponent < 0 or exponent > MATRIX_POWER:
        raise fault(
            "types/operands",
            f"the exponent of a matrix must be an Integer from 0 to {MATRIX_POWER} that is known at compile time",
            span,
            hint="`inv(A)` is the inverse of a matrix." if right.known and exponent == -1 else "",
        )
    n = left.shape[0]
    result = Value("Integer", (n, n), tuple(float(i == j) for i in range(n) for j in range(n)), CONSTANT)
    base = left
    bits = int(exponent)
    while bits:
        if bits & 1:
            result = multiply(result, base, span)
        bits >>= 1
        if bits:
            base = multiply(base, base, span)
    return Value("Real", result.shape, result.items, result.variability)


MATRIX_POWER = 64
"""The largest exponent of a matrix: the entries of A^n are sums of n-fold products."""


# --- relations ------------------------------------------------------------------------------------------------------


def _relation(op: str, left: Value, right: Value, span: Span) -> Value:
    comparable = (left.numeric and right.numeric) or (left.type == right.type and left.enum == right.enum)
    if not comparable:
        raise _operands(f"cannot compare {named(left)} with {named(right)}", span, left, right)
    if left.shape or right.shape:
        raise fault(
            "arrays/shape",
            f"`{op}` compares scalars, but this is {_a_shape(left.shape or right.shape)}",
            span,
            hint="compare the items one by one, or `min` and `max` of the array.",
        )
    name = RELATIONS[op]
    a, b = left.items[0], right.items[0]
    if left.type == "String":
        return Value("Boolean", (), (float(_TEXT[name](a, b)),), CONSTANT)
    item = operation(name, (a, b), span)
    variability = min(max(left.variability, right.variability), DISCRETE) if isinstance(item, tuple) else CONSTANT
    return Value("Boolean", (), (item,), variability)


_TEXT: dict[str, Callable[[str, str], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


# --- choice ---------------------------------------------------------------------------------------------------------


def choose(condition: Expr, variability: int, then: Value, otherwise: Value, span: Span) -> Value:
    """`if condition then … else …` where the condition is not known yet; both branches have one type and shape."""
    kind, enum = common_type((then, otherwise), span, "the branches of this `if`")
    if then.shape != otherwise.shape:
        shapes = f"{describe_shape(then.shape)} and {describe_shape(otherwise.shape)}"
        raise fault("arrays/shape", f"the branches of this `if` have different shapes, {shapes}", span)
    if kind == "String" and then.items != otherwise.items:
        raise fault(
            "expressions/not-constant",
            "which of these texts is meant is not known at compile time",
            span,
            reason="Strings have no place in a running simulation.",
            hint="choose with a condition on constants and parameters.",
        )
    items = [a if _same(a, b) else ("if", condition, a, b) for a, b in zip(then.items, otherwise.items, strict=True)]
    return array(kind, then.shape, items, max(variability, then.variability, otherwise.variability), enum)


def _same(a: Any, b: Any) -> bool:
    """Equal at a glance; comparing large formulas that share parts could take forever."""
    return a is b or (not isinstance(a, tuple) and a == b) or (isinstance(a, tuple) and a[0] in LEAVES and a == b)


def common_type(values: Sequence[Value], span: Span, what: str) -> tuple[ValueType, str]:
    """The type that all values fit; Integers become Real beside Reals."""
    first = values[0]
    kind, enum = first.type, first.enum
    for value in values[1:]:
        if value.numeric and (kind == "Real" or kind == "Integer"):
            kind = kind if kind == value.type else "Real"
        elif value.type != kind or value.enum != enum:
            raise _operands(f"{what} have different types, {describe(first)} and {describe(value)}", span, first, value)
    return kind, enum


# --- what is wrong --------------------------------------------------------------------------------------------------


def _boolean(value: Value, op: str, span: Span) -> None:
    if value.type != "Boolean":
        raise _operands(f"`{op}` needs Booleans, but this is {named(value)}", span, value)


def _no_numbers(op: str, left: Value, right: Value, span: Span) -> Fault:
    word = _WORDS.get(op.lstrip("."), "combine")
    joined = "to the power of" if word == "raise" else "by" if word in ("multiply", "divide") else "and"
    return _operands(f"cannot {word} {named(left)} {joined} {named(right)}", span, left, right)


def _operands(message: str, span: Span, *values: Value) -> Fault:
    kinds = {v.type for v in values}
    hint = ""
    if "String" in kinds and len(kinds) > 1:
        hint = "`String(x)` turns a number into text."
    elif "Boolean" in kinds:
        hint = "`if b then 1 else 0` turns a Boolean into a number; a relation such as `x > 0` is a Boolean."
    elif "enumeration" in kinds:
        hint = "`Integer(x)` is the position of an enumeration's literal."
    return fault("types/operands", message, span, hint=hint)
