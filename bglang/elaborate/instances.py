"""Making the instance tree: every declared name becomes an object."""

from typing import Any

from bglang.diagnostics import error
from bglang.elaborate.bodies import Body, Member, basic_names, body_of
from bglang.elaborate.checking import (
    check_names,
    check_no_value,
    partial_class,
    recursive,
    report_protected,
    wrong_place,
    wrong_type,
)
from bglang.elaborate.components import ValueComponent
from bglang.elaborate.context import Context
from bglang.elaborate.definitions import BROKEN, Builtin, Definition, Target
from bglang.elaborate.elements import make_class_element, make_element, make_port
from bglang.elaborate.macros import make_macro
from bglang.elaborate.modifications import Layers, Modification, at, children, read_modification
from bglang.elaborate.objects import POISON, Absent, ArrayObject, Instance
from bglang.elaborate.redeclaring import redeclared_layers, with_redeclared_classes
from bglang.elaborate.scopes import InstanceScope, combinations, scope_of
from bglang.elaborate.sizes import check_count, condition, sizes
from bglang.elaborate.types import type_dimensions, value_base
from bglang.elaborate.values import Shape, Value, count
from bglang.syntax import ast


class Plan:
    """What is the same for all instances of a declaration, found once."""

    __slots__ = ("base", "dimensions", "literal", "macro", "port", "simple", "target")

    def __init__(self, member: Member, ctx: Context):
        self.target: Target = member.resolve_type(ctx.report)
        self.literal: Value | None = None
        self.port = "port" in member.component.prefixes
        self.base = None if self.port else value_base(self.target, ctx.report)
        self.macro = isinstance(self.target, Definition) and self.target.node.kind == "macro"
        self.dimensions = type_dimensions(self.target, ctx.report) if self.base is not None else []
        self.simple = not (
            self.dimensions
            or member.component.subscripts
            or member.declarator.subscripts
            or member.declarator.condition is not None
            or self.target is BROKEN
        )
        """A scalar without condition."""


def plan_of(member: Member, ctx: Context) -> Plan:
    if member.plan is None:
        member.plan = Plan(member, ctx)
    plan: Plan = member.plan
    return plan


# --- one member ------------------------------------------------------------------------------------------------------


def create_member(instance: Instance, member: Member) -> Any:
    """The object of a declared name."""
    ident = member.ident
    if ident in instance.busy:
        instance.ctx.report.add(
            error(
                "parameters/cyclic",
                f"what `{instance.prefix}{ident}` is depends on itself",
                member.declarator.span,
                hint="sizes and conditions cannot use what they shape.",
            )
        )
        return POISON
    instance.busy.add(ident)
    thing = build(instance, member, scope_of(instance, member.definition), None)
    instance.busy.discard(ident)
    instance.objects[ident] = thing
    return thing


def build(instance: Instance, member: Member, scope: InstanceScope, index: tuple[int, ...] | None) -> Any:
    """A declared component, or the member `index` of an array that a loop makes."""
    ctx = instance.ctx
    layers, member = member_layers(instance, member, scope, index)
    plan = plan_of(member, ctx)
    if plan.base is None and not plan.macro and (layers or member.declarator.value is not None):
        check_no_value(member, layers, ctx)
    name = instance.prefix + member.shown
    if index is not None:
        name = f"{name}[{','.join(map(str, index))}]"
    if plan.simple or (index is not None and only_index(member, plan)):
        if plan.base is not None:
            return make_value(instance, member, name, layers, scope, ())
        return make(instance, member, plan.target, name, layers, scope)
    if plan.target is BROKEN:
        return POISON
    declarator = member.declarator
    if declarator.condition is not None:
        present = condition(declarator.condition, scope)
        if not present:
            return POISON if present is None else Absent(name, declarator.condition.span)
    shape = declared_sizes(member, plan, scope, index, instance)
    if shape is None:
        return POISON
    if plan.base is not None:
        return make_value(instance, member, name, layers, scope, shape)
    if None in shape:
        text, reason = f"the array `{name}` needs a size", "Only the size of an array of values may be left open."
        ctx.report.add(error("arrays/size", text, declarator.span, reason=reason))
        return POISON
    known: Shape = tuple(size for size in shape if size is not None)
    if not known:
        return make(instance, member, plan.target, name, layers, scope)
    if not check_count(known, scope, declarator.span):
        return POISON
    return make_array(instance, member, name, layers, scope, known)


def only_index(member: Member, plan: Plan) -> bool:
    """Whether the only subscripts of a declaration in a loop are those that say which member is made."""
    return not (
        plan.dimensions
        or member.component.subscripts
        or member.declarator.condition is not None
        or plan.target is BROKEN
    )


def make_array(
    instance: Instance, member: Member, name: str, layers: Layers, scope: InstanceScope, shape: Shape
) -> ArrayObject:
    array = ArrayObject(name, member.declarator.span, shape)
    instance.ctx.count(count(shape), member.declarator.span)
    target = plan_of(member, instance.ctx).target
    if len(shape) == 1:
        items = array.items
        for i in range(shape[0]):
            own = at(layers, (i,), shape) if layers else ()
            items[i + 1] = make(instance, member, target, f"{name}[{i + 1}]", own, scope, ((i,), shape))
        return array
    for index in combinations(tuple(tuple(range(size)) for size in shape)):
        places = tuple(i + 1 for i in index)
        full = f"{name}[{','.join(map(str, places))}]"
        own = at(layers, index, shape) if layers else ()
        array.items[array.key(places)] = make(instance, member, target, full, own, scope, (index, shape))
    return array


def member_layers(
    instance: Instance, member: Member, scope: InstanceScope, index: tuple[int, ...] | None
) -> tuple[Layers, Member]:
    """All modifications of a member, outermost first; and the declaration that is valid after redeclaring."""
    args = member.declarator.args
    outer = children(instance.layers, member.ident) if instance.layers else ()
    if not outer and not args and not member.inherited:
        return (), member
    layers = list[Modification]()
    if outer:
        if index is not None:
            outer = at(outer, tuple(i - 1 for i in index), index)
        for layer in outer:
            if member.protected and layer.strict:
                report_protected(member, layer.span, instance.ctx, "modified")
            layers.append(layer)
            if layer.redeclare is not None and isinstance(layer.redeclare[0], ast.Component):
                return redeclared_layers(instance, member, layer, layers)
    for changes, definition in member.inherited:
        inner = scope_of(instance, definition)
        layers.append(read_modification(changes, inner, changes[0].span).children[member.ident])
    # a macro's arguments are no modifications, and are read where the macro is used
    plan = plan_of(member, instance.ctx)
    if args and not plan.macro and plan.target is not BROKEN:  # what an unknown class has, nobody knows
        layers.append(read_modification(args, scope, member.declarator.span))
    return tuple(layers), member


def declared_sizes(
    member: Member, plan: Plan, scope: InstanceScope, index: tuple[int, ...] | None, instance: Instance
) -> list[int | None] | None:
    """The shape of a declaration: subscripts of the name, of the type name, and of the type itself."""
    shape = list[int | None]()
    own = member.declarator.subscripts if index is None else None
    places = [(own, scope), (member.component.subscripts, scope)]
    places += [(subscripts, scope_of(instance, definition)) for subscripts, definition in plan.dimensions]
    for subscripts, place in places:
        if subscripts:
            found = sizes(subscripts, place)
            if found is None:
                return None
            shape += found
    return shape


def make_value(
    instance: Instance,
    member: Member,
    name: str,
    layers: Layers,
    scope: InstanceScope,
    shape: "list[int | None] | tuple[()]",
) -> Any:
    """A parameter, constant or variable."""
    ctx = instance.ctx
    plan = plan_of(member, ctx)
    assert plan.base is not None
    component = ValueComponent(instance, member, name, plan.target, plan.base, layers, scope)
    if layers:
        known = ATTRIBUTES[component.type]
        check_names(layers, known, name, ctx, lambda: known)
    if shape:
        component.rank = len(shape)
        component.sizes = shape
        component.shape = None if None in shape else tuple(size for size in shape if size is not None)
        if component.shape is not None:
            if not check_count(component.shape, scope, member.declarator.span):
                return POISON
            ctx.count(count(component.shape), member.declarator.span)
        elif not component.given():
            text = f"the size of `{name}` follows from its value, but there is none"
            hint = "give a value, or write the size instead of `:`."
            ctx.report.add(error("arrays/size", text, member.declarator.span, hint=hint))
            return POISON
    if component.role == "parameter":
        component.register()
    return component


ATTRIBUTES = {
    "Real": basic_names(Builtin("Real", "value")),
    "Integer": basic_names(Builtin("Integer", "value")),
    "Boolean": basic_names(Builtin("Boolean", "value")),
    "String": basic_names(Builtin("String", "value")),
    "enumeration": {"start", "fixed", "min", "max", "quantity"},
}


def make(
    instance: Instance,
    member: Member,
    target: Target,
    name: str,
    layers: Layers,
    scope: InstanceScope,
    place: tuple[tuple[int, ...], Shape] | None = None,
) -> Any:
    """One component that is no value; `place` says which member of a declared array it is."""
    if "port" in member.component.prefixes:
        return make_port(instance, member, target, name, layers)
    if isinstance(target, Builtin):
        if target.kind == "element":
            if instance.element is not None:
                return wrong_place(instance, member, "an element holds no nodes", "use a `model`.")
            return make_element(instance, member, target, name, layers)
        if target.kind == "outside":
            from bglang.elaborate.outside import outside_class

            found = outside_class(instance, member, target, layers)
            if found is None:
                return POISON
            return make(instance, member, found[0], name, found[1], scope, place)
        return wrong_type(instance, member, target)
    return make_of_class(instance, member, target, name, layers, scope, place)


def make_of_class(
    instance: Instance,
    member: Member,
    target: Definition,
    name: str,
    layers: Layers,
    scope: InstanceScope,
    place: tuple[tuple[int, ...], Shape] | None,
) -> Any:
    kind = target.node.kind
    if kind not in ("model", "block", "class", "element", "macro"):
        return wrong_type(instance, member, target)
    if target.node.partial:
        return partial_class(instance, member, target)
    if instance.element is not None:
        return wrong_place(instance, member, f"an element holds no {kind}s", "use a `model`.")
    if kind == "macro":
        return make_macro(instance, member, target, name, scope, place)
    if recursive(instance, target, member):
        return POISON
    if layers:
        target = with_redeclared_classes(target, layers, instance.ctx)
    body = body_of(target, instance.ctx.report)
    if body.broken:
        return POISON
    if kind == "element":
        return make_class_element(instance, member, target, body, name, layers)
    return make_instance(instance, member, target, body, name, layers)


def make_instance(
    instance: Instance, member: Member, target: Definition, body: Body, name: str, layers: Layers
) -> Instance:
    """A subsystem."""
    from bglang.elaborate.expansion import expand

    ctx = instance.ctx
    ctx.count(1, member.declarator.span)
    if layers:
        check_names(layers, NOTHING, name, ctx, body.names, body)
    inner = Instance(ctx, name, target, body, instance, layers)
    inner.member = member
    inner.description = member.declarator.description
    expand(inner)
    return inner


NOTHING: frozenset[str] = frozenset()
