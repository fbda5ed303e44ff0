"""Value types: what `Real`, `type Voltage = Real(unit = "V")` and enumerations stand for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bglang.diagnostics import Report, error
from bglang.elaborate.bodies import Level, body_of
from bglang.elaborate.definitions import BROKEN, Builtin, Definition, Target
from bglang.elaborate.values import CONSTANT, TypeInfo, Value
from bglang.graph.ir import ValueType
from bglang.source import Span
from bglang.syntax import ast

if TYPE_CHECKING:
    from bglang.elaborate.scopes import InstanceScope


def enumeration_of(definition: Definition) -> Definition | None:
    """The enumeration that a type is or stands for."""
    seen = 0
    while definition.node.literals is None:
        bases = definition.bases()
        if definition.node.short is None or not bases or not isinstance(bases[0].target, Definition) or seen > 100:
            return None
        definition = bases[0].target
        seen += 1
    return definition


def enumeration_value(definition: Definition, ident: str) -> Value | None:
    """A literal of an enumeration as a value."""
    found = enumeration_of(definition) if definition.node.kind == "type" else None
    if found is None:
        return None
    for number, (name, _) in enumerate(found.node.literals or (), 1):
        if name == ident:
            return Value("enumeration", (), (float(number),), CONSTANT, found.name)
    return None


def value_base(target: Target, report: Report) -> tuple[ValueType, str] | None:
    """Base type and enumeration name of a value type; None for everything else."""
    if isinstance(target, Builtin):
        return (target.name, "") if target.kind == "value" else None  # type: ignore[return-value]
    if target.node.kind not in ("type", "class"):
        return None
    found = enumeration_of(target)
    if found is not None:
        return "enumeration", found.name
    body = body_of(target, report)
    if body.basic is not None and body.basic.kind == "value":
        return body.basic.name, ""  # type: ignore[return-value]
    return None


def type_levels(target: Target, report: Report) -> list[Level]:
    """Where a type gives attributes, outermost first."""
    return body_of(target, report).levels if isinstance(target, Definition) and target.node.literals is None else []


def type_dimensions(target: Target, report: Report) -> list[tuple[tuple[ast.Expression, ...], Definition]]:
    if isinstance(target, Builtin) or target.node.literals is not None:
        return []
    return body_of(target, report).dimensions


def type_info(target: Target, scope: "InstanceScope", span: Span) -> TypeInfo | None:
    """What a type stands for where a function declares a value; None after reporting."""
    report = scope.ctx.report
    if target is BROKEN:
        return None
    base = value_base(target, report)
    if base is None:
        report.add(
            error(
                "types/not-a-type", f"`{target.name}` is no type of values", span, hint="`Real`, for example, is one."
            )
        )
        return None
    shape = list[int]()
    for subscripts, definition in type_dimensions(target, report):
        from bglang.elaborate.scopes import InstanceScope as Scope

        sizes = fixed_sizes(subscripts, Scope(scope.ctx, None, definition))
        if sizes is None:
            return None
        shape += sizes
    return TypeInfo(base[0], tuple(shape), base[1], unit_of(target, scope))


def fixed_sizes(subscripts: tuple[ast.Expression, ...], scope: "InstanceScope") -> list[int] | None:
    from bglang.elaborate.expressions import translate_constant

    sizes = []
    for subscript in subscripts:
        value = translate_constant(subscript, scope, scope.ctx.report)
        if value is None:
            return None
        sizes.append(int(value.items[0]))
    return sizes


def unit_of(target: Target, scope: "InstanceScope") -> str:
    """The unit that a type itself gives."""
    for argument, _ in type_arguments(target, "unit", scope.ctx.report):
        if isinstance(argument.value, ast.String):
            return argument.value.value
    return ""


def type_arguments(target: Target, ident: str, report: Report) -> Iterator[tuple[ast.Argument, Definition]]:
    """The modifications of one attribute in a type, outermost first."""
    for level in type_levels(target, report):
        for argument in level.args:
            if argument.name is not None and len(argument.name.parts) == 1 and argument.name.parts[0].ident == ident:
                yield argument, level.definition
