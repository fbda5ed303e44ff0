"""Calls: which function is meant, and what the built-in ones give."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bglang.elaborate import arrays
from bglang.elaborate.arguments import Arguments, expression_of, name_of, numbers
from bglang.elaborate.builtins import (
    ABSENT,
    ALL,
    ALONE,
    ELEMENTARY,
    ENPORT,
    POLY_DEFAULTS,
    RELATED,
    STEPPING,
    Signature,
)
from bglang.elaborate.hints import did_you_mean
from bglang.elaborate.linear import SYMBOLIC
from bglang.elaborate.locals import impure, stack_of
from bglang.elaborate.operators import elementwise, operation
from bglang.elaborate.protocol import Fault, fault
from bglang.elaborate.special import IMPURE, SPECIAL
from bglang.elaborate.tables import OPTIONS, table
from bglang.elaborate.values import CONSTANT, DISCRETE, PARAMETER, Value, integer
from bglang.graph.ir import ValueType
from bglang.source import Span
from bglang.syntax import ast
from bglang.syntax.replaced import REPLACED

if TYPE_CHECKING:
    from bglang.elaborate.expressions import Translator

FMU_OUTPUT = "FMU output"


def call(t: "Translator", e: ast.Call) -> Value:
    """The value of a call; that of a function with several outputs is its first one."""
    function = t.scope.function(e.function)
    if function is not None:
        from bglang.elaborate.functions import execute

        return execute(t, function, e)[0]
    name = spelled(e.function)
    if name == FMU_OUTPUT and e.span.source.name.startswith("<FMU "):
        return _fmu_output(arguments(t, e, name))
    if name not in ALL:
        raise _unknown(t, e, name)
    result = _BUILTIN[name](t, arguments(t, e, name))
    return t.silent(result) if name in RELATED else result


def _fmu_output(args: Arguments) -> Value:
    """The output of an outside model at a communication point; only the block that stands for one calls it."""
    key, *fed = (value for value, _ in args.positional)
    operands = tuple(item for value in fed for item in value.items)
    return Value("Real", (), (("external", *operands, str(key.items[0])),), DISCRETE)


def spelled(name: ast.Name) -> str:
    return "." * name.rooted + ".".join(part.ident for part in name.parts)


def _unknown(t: "Translator", e: ast.Call, name: str) -> Fault:
    if name in ALONE:
        return fault("functions/no-value", f"`{name}` has no value", e.span, hint=ALONE[name])
    if name in REPLACED:
        return fault("functions/unknown", f"`{name}` is not in the language", e.function.span, hint=REPLACED[name])
    hint = ABSENT.get(name) or did_you_mean(name, [*ALL, *t.scope.functions()])
    return fault("functions/unknown", f"there is no function `{name}`", e.function.span, hint=hint)


def arguments(t: "Translator", e: ast.Call, name: str) -> Arguments:
    """The translated arguments of a call; every wrong one is reported."""
    positional, named, wrong = list[tuple[Value, Span]](), dict[str, tuple[Value, Span]](), False
    for argument in e.args:
        try:
            key = name_of(argument)
            if key is None:
                if named:
                    raise fault("functions/arguments", "arguments by position come before those by name", argument.span)
                positional.append((t.value(expression_of(argument)), argument.span))
            elif key in named:
                raise fault("functions/arguments", f"`{key}` is given twice", argument.span)
            else:
                assert argument.value is not None
                named[key] = t.value(argument.value), argument.span
        except Fault as problem:
            wrong = True
            if problem.diagnostic is not None:
                t.report.add(problem.diagnostic)
    if wrong:
        raise Fault(None)
    return Arguments(name, e.span, tuple(positional), named)


# --- scalar functions, element by element ---------------------------------------------------------------------------


def _elementary(t: "Translator", args: Arguments) -> Value:
    args.exactly(ELEMENTARY[args.function])
    values = numbers(args.function, args.positional)
    return elementwise(lambda *a: operation(args.function, a, args.span), "Real", values, args.span)


def _stepping(t: "Translator", args: Arguments) -> Value:
    name = args.function
    args.exactly(STEPPING[name])
    values = numbers(name, args.positional)
    whole = all(v.type == "Integer" for v in values)
    if whole and name in ("floor", "ceil", "integer"):
        return values[0] if name == "integer" else Value("Real", *_rest(values[0]))
    if name in ("mod", "div", "rem") and values[1].known and 0.0 in values[1].items:
        raise fault("expressions/division-by-zero", f"division by zero in `{name}`", args.span)
    kind: ValueType = "Integer" if name in ("sign", "integer") or whole else "Real"
    result = elementwise(lambda *a: operation(name, a, args.span), kind, values, args.span)
    if name in ("mod", "rem", "abs") and not whole:
        return result
    return Value(kind, result.shape, result.items, min(result.variability, DISCRETE))


def _rest(value: Value) -> tuple[tuple[int, ...], tuple[Any, ...], int]:
    return value.shape, value.items, value.variability


def _extreme(t: "Translator", args: Arguments) -> Value:
    """`min` and `max`: of two values, or of all items of an array."""
    name = args.function
    args.unnamed()
    values = args.values()
    if len(values) == 1:
        return arrays.reduce(name, values[0], args.span)
    if len(values) != 2:
        raise fault(
            "functions/arguments",
            f"`{name}` takes two values or one array, but {len(values)} arguments are given",
            args.span,
            hint=f"`{name}({{a, b, c}})` takes the {name}imum of several values." if values else "",
        )
    if values[0].type == values[1].type == "enumeration" and values[0].enum == values[1].enum:
        kind: ValueType = "enumeration"
    else:
        values = numbers(name, args.positional)
        kind = "Integer" if all(v.type == "Integer" for v in values) else "Real"
    result = elementwise(lambda *a: operation(name, a, args.span), kind, values, args.span)
    return Value(kind, result.shape, result.items, result.variability, values[0].enum)


def _enport(t: "Translator", args: Arguments) -> Value:
    name = args.function
    pairs = args.match(ENPORT[name])
    values = numbers(name, pairs)
    if name == "coulomb" and values[1].known and any(level < 0 for level in values[1].items):
        raise fault("functions/arguments", "the level of `coulomb` cannot be negative", pairs[1][1])
    if name in ("saturation", "adjustable_saturation"):
        _check_corners(name, values, args.span)
    return elementwise(lambda *a: operation(name, a, args.span), "Real", values, args.span)


def _check_corners(name: str, values: list[Value], span: Span) -> None:
    x1, x2 = values[1], values[3]
    if x1.known and x2.known and any(a >= b for a, b in zip(x1.items, x2.items, strict=False)):
        raise fault("functions/arguments", f"`x1` of `{name}` must be less than `x2`", span)


def _const(t: "Translator", args: Arguments) -> Value:
    """`const(x, c0)`; a single constant or parameter is the coefficient itself."""
    if len(args.positional) == 1 and not args.named and args.positional[0][0].variability <= PARAMETER:
        return Value("Real", *_rest(numbers("const", args.positional)[0]))
    pairs = args.match(Signature(("x", "c0"), (0.0, 1.0)))
    value = numbers("const", pairs)[1]
    return elementwise(lambda c: c if not isinstance(c, tuple) else ("const", c), "Real", (value,), args.span)


def _poly(t: "Translator", args: Arguments) -> Value:
    """`poly(x, {c0, c1, …})`, also `poly(x, c0, c1, …)` and by name."""
    if not args.positional and "x" not in args.named:
        raise fault("functions/arguments", "`poly` needs `x`", args.span)
    given = args.positional
    if len(given) == 2 and given[1][0].shape and not args.named:
        c = given[1][0]
        numbers("poly", given)
        if len(c.shape) != 1 or not c.items:
            raise fault("functions/arguments", "the coefficients of `poly` must be a vector `{c0, c1, …}`", given[1][1])
        coefficients = [Value(c.type, (), (item,), c.variability) for item in c.items]
        x = given[0][0]
    else:
        extra = max(len(given), 6)
        signature = Signature(
            ("x", *[f"c{k}" for k in range(extra - 1)]),
            POLY_DEFAULTS if len(given) <= 1 else (0.0,) * (extra - 1),
        )
        if any(name.startswith("c") for name in args.named):
            signature = Signature(signature.parameters, POLY_DEFAULTS)
        x, *coefficients = numbers("poly", args.match(signature))
        while len(coefficients) > 1 and coefficients[-1].items == (0.0,):
            coefficients.pop()
    return elementwise(lambda *a: operation("poly", a, args.span), "Real", (x, *coefficients), args.span)


# --- arrays ---------------------------------------------------------------------------------------------------------


def _size(t: "Translator", args: Arguments) -> Value:
    values = args.at_least(1)
    shape = values[0].shape
    if len(values) == 1:
        return Value("Integer", (len(shape),), tuple(map(float, shape)), CONSTANT)
    args.exactly(2)
    k = t.as_size(values[1], args.positional[1][1])
    if not 1 <= k <= len(shape):
        dimensions = f"{len(shape)} dimension{'s' * (len(shape) != 1)}"
        raise fault("arrays/index", f"this has {dimensions}, so there is no size {k}", args.span)
    return integer(shape[k - 1])


def _ndims(t: "Translator", args: Arguments) -> Value:
    return integer(len(args.exactly(1)[0].shape))


def _reduction(t: "Translator", args: Arguments) -> Value:
    return arrays.reduce(args.function, args.exactly(1)[0], args.span)


def _sizes(t: "Translator", args: Arguments, skip: int = 0) -> tuple[int, ...]:
    args.at_least(skip + 1)
    sizes = tuple(t.as_size(value, span) for value, span in args.positional[skip:])
    return arrays.limited(sizes, args.span, t.scope.limits)


def _filled(t: "Translator", args: Arguments) -> Value:
    if args.function == "fill":
        shape = _sizes(t, args, skip=1)
        return arrays.filled(args.positional[0][0], shape, args.span, t.scope.limits)
    value = integer(1 if args.function == "ones" else 0)
    return arrays.filled(value, _sizes(t, args), args.span, t.scope.limits)


def _identity(t: "Translator", args: Arguments) -> Value:
    args.exactly(1)
    n = t.as_size(*args.positional[0])
    arrays.limited((n, n), args.span, t.scope.limits)
    return arrays.identity(n)


def _linspace(t: "Translator", args: Arguments) -> Value:
    first, last, _ = args.exactly(3)
    n = t.as_size(*args.positional[2])
    arrays.limited((n,), args.span, t.scope.limits)
    return arrays.linspace(first, last, n, args.span)


def _cat(t: "Translator", args: Arguments) -> Value:
    values = args.at_least(2)
    arrays.limited((sum(len(v.items) for v in values[1:]),), args.span, t.scope.limits)
    return arrays.cat(t.as_size(*args.positional[0]), values[1:], args.span)


def _array(t: "Translator", args: Arguments) -> Value:
    return arrays.stack(args.at_least(1), args.span)


def _one(t: "Translator", args: Arguments) -> Value:
    (value,) = args.exactly(1)
    if args.function == "diagonal":
        arrays.limited(value.shape * 2, args.span, t.scope.limits)
    if args.function in ("inv", "det"):
        value = _settled(t, value, args.span)
    return arrays.ONE_ARRAY[args.function](value, args.span)


def _two(t: "Translator", args: Arguments) -> Value:
    a, b = args.exactly(2)
    if args.function == "outerProduct":
        arrays.limited(a.shape + b.shape, args.span, t.scope.limits)
    if args.function == "solve":
        a = _settled(t, a, args.span)
    return arrays.TWO_ARRAYS[args.function](a, b, args.span)


def _settled(t: "Translator", value: Value, span: Span) -> Value:
    """A larger matrix of parameters is computed at compile time, where numbers do instead of formulas."""
    if value.variability == PARAMETER and value.shape and value.shape[0] > SYMBOLIC:
        return t.fixed(value, span)
    return value


# --- tables and text ------------------------------------------------------------------------------------------------


def _table(t: "Translator", args: Arguments) -> Value:
    name = args.function
    options = tuple(OPTIONS) if name == "table" else ("outside",) if name == "pwlin" else ()
    for key, (_, span) in args.named.items():
        if key not in ("x", "data", *options):
            known = ", ".join(f"`{p}`" for p in ("x", "data", *options))
            raise fault(
                "functions/arguments",
                f"`{name}` has no parameter `{key}`",
                span,
                reason=f"Its parameters are {known}.",
                hint=did_you_mean(key, options),
            )
    given = dict(zip(("x", "data", *options), args.positional, strict=False))
    if len(args.positional) > 2 + len(options):
        raise args.wrong_count(f"at most {2 + len(options)}", 2)
    for key, pair in args.named.items():
        if key in given:
            raise fault("functions/arguments", f"`{key}` of `{name}` is given twice", pair[1])
        given[key] = pair
    for key in ("x", "data"):
        if key not in given:
            raise fault("functions/arguments", f"`{name}` needs `{key}`", args.span)
    chosen = {key: given[key] for key in options if key in given}
    return table(name, (given["x"][0], given["data"]), chosen, t.scope, args.span)


def _special(t: "Translator", args: Arguments) -> Value:
    stack = stack_of(t.scope)
    if stack and args.function in IMPURE:
        raise impure(f"`{args.function}`", stack[-1], args.span)
    return SPECIAL[args.function](t, args)


_BUILTIN: dict[str, Callable[["Translator", Arguments], Value]] = {
    **dict.fromkeys(ELEMENTARY, _elementary),
    **dict.fromkeys(STEPPING, _stepping),
    **dict.fromkeys(ENPORT, _enport),
    **dict.fromkeys(("min", "max"), _extreme),
    **dict.fromkeys(("sum", "product"), _reduction),
    **dict.fromkeys(("zeros", "ones", "fill"), _filled),
    **dict.fromkeys(("table", "pwlin", "interpolation"), _table),
    **dict.fromkeys(arrays.ONE_ARRAY, _one),
    **dict.fromkeys(arrays.TWO_ARRAYS, _two),
    **dict.fromkeys(SPECIAL, _special),
    "const": _const,
    "poly": _poly,
    "size": _size,
    "ndims": _ndims,
    "identity": _identity,
    "linspace": _linspace,
    "cat": _cat,
    "array": _array,
}
assert _BUILTIN.keys() == ALL
