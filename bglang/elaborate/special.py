"""Operators written like functions: events, derivatives, conversions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bglang.elaborate.arguments import Arguments, numbers
from bglang.elaborate.operators import elementwise, mismatch, operation
from bglang.elaborate.protocol import fault
from bglang.elaborate.values import CONSTANT, DISCRETE, PARAMETER, Value, array, named
from bglang.expr import Expr
from bglang.expr.diff import time_derivative
from bglang.source import Span

if TYPE_CHECKING:
    from bglang.elaborate.expressions import Translator


# --- events ---------------------------------------------------------------------------------------------------------


def _no_event(t: "Translator", args: Arguments) -> Value:
    (value,) = args.exactly(1)
    if value.variability <= PARAMETER:
        return value
    items = [("noEvent", item) if isinstance(item, tuple) else item for item in value.items]
    return array(value.type, value.shape, items, value.variability, value.enum)


def _smooth(t: "Translator", args: Arguments) -> Value:
    order, value = args.exactly(2)
    n = t.as_size(order, args.positional[0][1])
    if n < 0:
        raise fault("functions/arguments", f"the order of `smooth` cannot be negative, but it is {n}", args.span)
    numbers("smooth", args.positional[1:])
    if value.variability <= PARAMETER:
        return value
    items = [("smooth", float(n), item) if isinstance(item, tuple) else item for item in value.items]
    return array(value.type, value.shape, items, value.variability)


def _of_variable(args: Arguments) -> Value:
    """The single argument of `pre`, `edge` and `change`, which must be a variable."""
    (value,) = args.exactly(1)
    if value.variability > PARAMETER and any(not isinstance(i, tuple) or i[0] != "v" for i in value.items):
        raise fault(
            "functions/arguments",
            f"`{args.function}` needs a variable, not a formula",
            args.span,
            hint="declare a variable for the formula and take that.",
        )
    return value


def _pre(t: "Translator", args: Arguments) -> Value:
    value = _of_variable(args)
    if value.variability <= PARAMETER:
        return value
    return Value(value.type, value.shape, tuple(("pre", item) for item in value.items), DISCRETE, value.enum)


def _edge(t: "Translator", args: Arguments) -> Value:
    value = _of_variable(args)
    if value.type != "Boolean":
        raise fault("types/argument", f"`edge` needs a Boolean variable, but this is {named(value)}", args.span)
    return _changes("edge", value)


def _change(t: "Translator", args: Arguments) -> Value:
    return _changes("change", _of_variable(args))


def _changes(op: str, value: Value) -> Value:
    if value.variability <= PARAMETER:
        return Value("Boolean", value.shape, (0.0,) * len(value.items), CONSTANT)
    return Value("Boolean", value.shape, tuple((op, item) for item in value.items), DISCRETE)


def _sample(t: "Translator", args: Arguments) -> Value:
    start, interval = args.exactly(2)
    numbers("sample", args.positional)
    for value, span in args.positional:
        if value.shape:
            raise fault("arrays/shape", "`sample` takes scalars", span)
        if value.variability > PARAMETER:
            raise fault(
                "expressions/not-constant",
                "the times of `sample` must be constants or parameters",
                span,
                hint="for instants that change, compare `time` with a discrete variable: `when time >= next then`.",
            )
    if interval.known and interval.items[0] <= 0:
        raise fault("functions/arguments", "the interval of `sample` must be positive", args.positional[1][1])
    return Value("Boolean", (), (("sample", start.items[0], interval.items[0]),), DISCRETE)


def _moment(t: "Translator", args: Arguments) -> Value:
    args.exactly(0)
    return Value("Boolean", (), ((args.function,),), DISCRETE)


# --- derivative -----------------------------------------------------------------------------------------------------


def _der(t: "Translator", args: Arguments) -> Value:
    """`der` of a variable stands; that of a formula is found by the chain rule."""
    (value,) = args.exactly(1)
    if value.type not in ("Real", "Integer") or (value.type == "Integer" and value.variability > PARAMETER):
        raise fault("types/argument", f"`der` needs a Real, but this is {named(value)}", args.span)
    return array("Real", value.shape, [_rate(item, args.span) for item in value.items], value.variability)


def _rate(item: Expr, span: Span) -> Expr:
    if not isinstance(item, tuple):
        return 0.0
    if item[0] == "v" or item[0] == "der":  # of `der(der(x))` only some places know what it means
        return ("der", item)
    return time_derivative(item, lambda leaf: ("der", leaf))


# --- others ---------------------------------------------------------------------------------------------------------


def _semi_linear(t: "Translator", args: Arguments) -> Value:
    """`semiLinear(x, a, b)`: slope a for positive x, b for negative."""
    args.exactly(3)
    values = numbers("semiLinear", args.positional)

    def item(x: Any, a: Any, b: Any) -> Expr:
        up, down = operation("*", (a, x), args.span), operation("*", (b, x), args.span)
        if not isinstance(x, tuple):
            return up if x >= 0 else down
        return up if up == down else ("if", (">=", x, 0.0), up, down)

    return elementwise(item, "Real", values, args.span)


def _homotopy(t: "Translator", args: Arguments) -> Value:
    if len(args.positional) == 2 and not args.named:
        value, simplified = args.values()
    elif not args.positional and args.named.keys() == {"actual", "simplified"}:
        value, simplified = args.named["actual"][0], args.named["simplified"][0]
    else:
        raise args.wrong_count("2", 2)
    if value.shape != simplified.shape:
        raise mismatch(value, simplified, args.span)
    return value


def _integer(t: "Translator", args: Arguments) -> Value:
    """The position of an enumeration's literal."""
    (value,) = args.exactly(1)
    if value.type == "Real":
        raise fault(
            "types/argument",
            "`Integer` needs an enumeration, but this is a Real",
            args.span,
            hint="`integer(x)` rounds down.",
        )
    if value.type not in ("enumeration", "Integer"):
        raise fault("types/argument", f"`Integer` needs an enumeration, but this is {named(value)}", args.span)
    return Value("Integer", value.shape, value.items, value.variability)


def _string(t: "Translator", args: Arguments) -> Value:
    """`String(x)`, with `significantDigits`, `minimumLength`, `leftJustified` as in Modelica."""
    known = {"significantDigits": 6, "minimumLength": 0, "leftJustified": 1}
    if len(args.positional) != 1:
        raise args.wrong_count("1", 1)
    for name, (given, span) in args.named.items():
        if name not in known:
            raise fault("functions/arguments", f"`String` has no parameter `{name}`", span)
        known[name] = int(t.fixed(given, span).items[0])
    value, span = args.positional[0]
    if value.shape:
        raise fault("arrays/shape", "`String` takes a scalar", span)
    value = t.fixed(value, span)
    width = min(known["minimumLength"], 1000)
    text = _text(value, min(max(known["significantDigits"], 1), 17))
    return Value("String", (), (text.ljust(width) if known["leftJustified"] else text.rjust(width),), CONSTANT)


def _text(value: Value, digits: int) -> str:
    item = value.items[0]
    if value.type == "String":
        return str(item)
    if value.type == "Boolean":
        return "true" if item else "false"
    return f"{item:.{digits}g}" if value.type == "Real" else f"{int(item)}"


IMPURE = frozenset({"pre", "edge", "change", "sample", "initial", "terminal", "der"})
"""Operators that need the running model, which functions do not see."""

SPECIAL: dict[str, Callable[["Translator", Arguments], Value]] = {
    "noEvent": _no_event,
    "smooth": _smooth,
    "pre": _pre,
    "edge": _edge,
    "change": _change,
    "sample": _sample,
    "initial": _moment,
    "terminal": _moment,
    "der": _der,
    "semiLinear": _semi_linear,
    "homotopy": _homotopy,
    "Integer": _integer,
    "String": _string,
}
