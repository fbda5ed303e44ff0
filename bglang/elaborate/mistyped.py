"""What to say about a value of the wrong type: one text for each pair of types, wherever the value stands."""

from bglang.diagnostics import Diagnostic, error
from bglang.elaborate.values import Value, named
from bglang.source import Span


def mistyped(message: str, wanted: str, value: Value, span: Span, reason: str = "") -> Diagnostic:
    """`message` says what the place is; `wanted` is the type that belongs there, an enumeration by its name."""
    text, hint = f"this is {named(value)}", type_hint(wanted, value)
    return error("types/mismatch", message, span, label=text, reason=reason, hint=hint)


def not_boolean(value: Value, span: Span) -> Diagnostic:
    return mistyped("a condition is true or false", "Boolean", value, span)


def type_hint(wanted: str, value: Value) -> str:
    """How a value becomes one of the wanted type, or what to write instead."""
    if value.shape:
        return "choose one item, as in `a[1]`." if wanted in ("Boolean", "Real", "Integer", "String") else ""
    given, number = value.enum or value.type, value.type in ("Real", "Integer")
    if wanted == "Boolean" and number:
        return "the Booleans are `true` and `false`; a relation such as `x > 0` is one."
    if wanted == "String":
        return "a text stands in double quotes; `String(x)` makes one of a value."
    if wanted == "Integer" and given == "Real":
        return "`integer(x)` rounds down to an Integer."
    if wanted in ("Real", "Integer"):
        if given == "Boolean":
            return "`if b then 1 else 0` makes a number of a Boolean."
        if given == "String":
            return "write the number without quotes."
        return f"`Integer(x)` is the position of a literal of `{given}`."
    if wanted == "Boolean":
        return (
            "write `true` or `false`."
            if given == "String"
            else f"compare it with one of its literals: `x == {given}.…`."
        )
    return f"name one of its literals: `{wanted}.…`."
