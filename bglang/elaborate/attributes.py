"""Attributes of variables: start, fixed, nominal, min, max, unit, and what follows from them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bglang.diagnostics import error
from bglang.elaborate.components import ValueComponent, a
from bglang.elaborate.definitions import Builtin
from bglang.elaborate.mistyped import mistyped
from bglang.elaborate.modifications import Binding, Layers, Modification
from bglang.elaborate.values import PARAMETER, Value
from bglang.expr import Expr
from bglang.graph.ir import Start
from bglang.records import dataclass
from bglang.source import NOWHERE, Span

if TYPE_CHECKING:
    from bglang.elaborate.context import Context


@dataclass(frozen=True, slots=True)
class Attributes:
    """What is said about one scalar variable; expressions may use parameters."""

    start: Start | None = None
    nominal: Expr | None = None
    minimum: Expr | None = None
    maximum: Expr | None = None
    unit: str = ""
    display_unit: str = ""


PLAIN = Attributes()
TYPES = {"start": "number", "nominal": "number", "min": "number", "max": "number", "fixed": "Boolean", "unit": "String"}
KNOWN = frozenset({"start", "fixed", "nominal", "min", "max", "unit", "displayUnit", "quantity"})


def find(layers: Layers, ident: str) -> Binding | None:
    for layer in layers:
        child = layer.children.get(ident)
        if child is not None and child.binding is not None:
            return child.binding
    return None


def scalar_attributes(layers: Layers, ctx: "Context") -> Attributes:
    """Attributes of a variable of an element or port, from the modifications of its letter."""
    check_known(layers, ctx)
    items = dict[str, Any]()
    for ident in ("start", "fixed", "nominal", "min", "max", "unit", "displayUnit"):
        binding = find(layers, ident)
        if binding is not None:
            value = binding.value(0, ident)
            item = checked(value, ident, binding.span, ctx)
            if item is not None:
                items[ident] = (item, binding.span)
    return assemble(items)


def check_known(layers: Layers, ctx: "Context") -> None:
    from bglang.elaborate.hints import did_you_mean

    for layer in layers:
        for ident, child in layer.children.items():
            if ident not in KNOWN and layer.strict:
                hint = did_you_mean(ident, KNOWN)
                ctx.report.add(error("names/unknown", f"a variable has no attribute `{ident}`", child.span, hint=hint))


def checked(value: Value | None, ident: str, span: Span, ctx: "Context") -> Any:
    """An attribute's value if it has the right type and does not vary."""
    if value is None:
        return None
    wanted = {"fixed": ("Boolean",), "unit": ("String",), "displayUnit": ("String",), "quantity": ("String",)}
    types = wanted.get(ident, ("Real", "Integer", "Boolean", "enumeration"))
    if value.shape or value.type not in types:
        ctx.report.add(mistyped(f"`{ident}` is {a(types[0])}", types[0], value, span))
        return None
    if value.variability > PARAMETER:
        ctx.report.add(
            error("types/variability", f"`{ident}` must be known before the run", span, label="this varies in time")
        )
        return None
    if ident == "fixed":
        known = ctx.constant(value, span)
        return None if known is None else bool(known.items[0])
    return value.items[0]


def assemble(items: dict[str, Any]) -> Attributes:
    if not items:
        return PLAIN
    start: Start | None = None
    if "start" in items or "fixed" in items:
        value, span = items.get("start", (0.0, items.get("fixed", (None, NOWHERE))[1]))
        fixed = items["fixed"][0] if "fixed" in items else None
        start = Start(value, "start" in items, fixed, span)
    plain = {ident: items[ident][0] if ident in items else None for ident in ("nominal", "min", "max")}
    texts = {ident: items[ident][0] if ident in items else "" for ident in ("unit", "displayUnit")}
    return Attributes(start, plain["nominal"], plain["min"], plain["max"], texts["unit"], texts["displayUnit"])


def component_attributes(component: ValueComponent) -> list[Attributes]:
    """Attributes of every scalar of a declared value."""
    assert component.shape is not None
    if isinstance(component.target, Builtin) and not any(layer.children for layer in component.layers):
        return [PLAIN] * len(component.flat_names())
    found = dict[str, Any]()
    for ident in ("start", "fixed", "nominal", "min", "max", "unit", "displayUnit"):
        items = component.attribute_items(ident)
        if items is not None:
            found[ident] = items
    number = len(component.flat_names())
    if not found:
        return [PLAIN] * number
    rows = []
    for place in range(number):
        row = dict[str, Any]()
        for ident, (items, span, _) in found.items():
            item = items[place]
            value = Value(attribute_type(ident, component, item), (), (item,), variability_of(item))
            good = checked(value, ident, span, component.ctx)
            if good is not None:
                row[ident] = (good, span)
        rows.append(assemble(row))
    return rows


def attribute_type(ident: str, component: ValueComponent, item: Any) -> Any:
    if isinstance(item, str):
        return "String"
    return "Boolean" if ident == "fixed" else component.type


def variability_of(item: Any) -> int:
    if not isinstance(item, tuple):
        return 0
    from bglang.expr import leaves

    return PARAMETER if all(leaf[0] == "p" for leaf in leaves(item)) else 3


def letter_layers(sources: Sequence[Any], letter: str) -> Layers:
    """What the places that speak about an element say about one of its variables."""
    return tuple(s.children[letter] for s in sources if isinstance(s, Modification) and letter in s.children)
