"""Using macros: nodes and values are handed over, the body is carried out under the name of the use."""

from typing import Any

from bglang.diagnostics import Label, error
from bglang.elaborate.bodies import Member, body_of
from bglang.elaborate.checking import recursive
from bglang.elaborate.components import a
from bglang.elaborate.definitions import Definition
from bglang.elaborate.expressions import translate_constant
from bglang.elaborate.hints import did_you_mean, listed
from bglang.elaborate.mistyped import mistyped
from bglang.elaborate.modifications import Binding
from bglang.elaborate.objects import POISON, Instance, Many, NodeArray
from bglang.elaborate.scopes import InstanceScope
from bglang.elaborate.values import Shape, Value, count, describe, describe_shape
from bglang.source import Span
from bglang.syntax import ast

Place = tuple[tuple[int, ...], Shape]


class MacroValue:
    """A value handed to a macro, translated when the body asks for it."""

    __slots__ = ("_read", "_value", "binding", "parameter", "scope")

    def __init__(self, parameter: ast.MacroParameter, binding: Binding, scope: InstanceScope):
        self.parameter = parameter
        self.binding = binding
        self.scope = scope
        self._read = False
        self._value: Value | None = None

    def read(self) -> Value | None:
        if not self._read:
            self._read = True
            self._value = self._find()
        return self._value

    def _find(self) -> Value | None:
        ident, report = self.parameter.ident, self.scope.ctx.report
        assert self.parameter.type is not None
        known = self.scope.ctx.macro_types
        if id(self.parameter) not in known:
            known[id(self.parameter)] = self.scope.value_type(self.parameter.type)
        info = known[id(self.parameter)]
        if info is None:
            return None
        shape = list(info.shape)
        rank = len(self.parameter.subscripts or ()) + len(shape)
        value = self.binding.value(rank, ident)
        if value is None:
            return None
        wanted = macro_shape(self.parameter, self.scope, value)
        if wanted is None:
            return None
        if value.type != info.type and not (value.type == "Integer" and info.type == "Real"):
            expected = info.enum or info.type
            report.add(mistyped(f"`{ident}` is {a(expected)}", expected, value, self.binding.span))
            return None
        if value.shape != (*wanted, *shape):
            text = f"`{ident}` is {describe_shape((*wanted, *shape))}"
            report.add(error("arrays/shape", text, self.binding.span, label=f"this is {describe(value)}"))
            return None
        return Value(info.type, value.shape, value.items, value.variability, value.enum)


def macro_shape(parameter: ast.MacroParameter, scope: InstanceScope, value: Value) -> tuple[int, ...] | None:
    """The shape that a macro's head asks for; `:` takes what comes."""
    shape = list[int]()
    for k, subscript in enumerate(parameter.subscripts or ()):
        if isinstance(subscript, ast.Colon):
            shape.append(value.shape[k] if k < len(value.shape) else 0)
            continue
        size = translate_constant(subscript, scope, scope.ctx.report)
        if size is None:
            return None
        shape.append(int(size.items[0]))
    return tuple(shape)


def make_macro(
    instance: Instance, member: Member, target: Definition, name: str, scope: InstanceScope, place: Place | None
) -> Any:
    """One use of a macro, as a subsystem whose inner nodes may be bonded from outside."""
    from bglang.elaborate.expansion import expand

    ctx = instance.ctx
    if recursive(instance, target, member):
        return POISON
    body = body_of(target, ctx.report)
    if body.broken:
        return POISON
    ctx.count(1, member.declarator.span)
    inner = Instance(ctx, name, target, body, instance, instance_layers(instance, member))
    inner.member = member
    inner.description = member.declarator.description
    inner.lexical = enclosing_instance(instance, target)
    inner.nodes, inner.values = {}, {}
    inner_scope = InstanceScope(ctx, inner, target)
    if not hand_over(inner, member, target, scope, inner_scope, place):
        return POISON
    expand(inner)
    return inner


def instance_layers(instance: Instance, member: Member) -> Any:
    """Modifications from outside reach into a macro's use as into any component."""
    from bglang.elaborate.modifications import children

    return children(instance.layers, member.ident)


def enclosing_instance(instance: Instance, target: Definition) -> Instance | None:
    """The instance of the model in which a macro is defined: its body sees that model's names."""
    home = parent_node(target)
    place: Instance | None = instance if home is not None else None
    while place is not None:
        if any(definition.node is home for definition in place.definition.lineage()):
            return place
        place = place.parent
    return None


def parent_node(target: Definition) -> ast.Class | None:
    return target.parent.node if isinstance(target.parent, Definition) else None


def hand_over(
    inner: Instance,
    member: Member,
    target: Definition,
    scope: InstanceScope,
    inner_scope: InstanceScope,
    place: Place | None,
) -> bool:
    """Give every parameter of the macro its argument or default."""
    ctx, head = inner.ctx, target.node.head
    given = match_arguments(member, target, scope)
    if given is None:
        return False
    assert inner.nodes is not None and inner.values is not None
    good = True
    for parameter in head:
        argument = given.get(parameter.ident)
        if parameter.type is None:
            if argument is None:
                report_missing(parameter, member, target, ctx)
                good = False
            else:
                node = MacroNode(parameter, argument, target, scope, place)
                inner.nodes[parameter.ident] = node
                ctx.handed.append(node)
        elif argument is not None:
            expression, each, span = argument
            binding = Binding(expression, scope, each, False, span)
            if place is not None:
                binding = binding.member(*place)
            inner.values[parameter.ident] = MacroValue(parameter, binding, inner_scope)
        elif parameter.default is not None:
            binding = Binding(parameter.default, inner_scope, False, False, parameter.span)
            inner.values[parameter.ident] = MacroValue(parameter, binding, inner_scope)
        else:
            report_missing(parameter, member, target, ctx)
            good = False
    return good


Given = tuple[ast.Expression, bool, Span]


def match_arguments(member: Member, target: Definition, scope: InstanceScope) -> dict[str, Given] | None:
    """Arguments by the name of the parameter: first those by position, then those by name."""
    head = target.node.head
    report = scope.ctx.report
    given = dict[str, Given]()
    by_name, good = False, True
    known = {parameter.ident: parameter for parameter in head}
    for number, argument in enumerate(member.declarator.args or ()):
        named = argument.value is not None and argument.name is not None
        if named:
            by_name = True
            assert argument.name is not None
            ident = argument.name.parts[0].ident
            if ident not in known or len(argument.name.parts) > 1:
                hint = did_you_mean(ident, known) or listed(known)
                report.add(
                    error("names/unknown", f"the macro `{target.name}` takes no `{ident}`", argument.span, hint=hint)
                )
                good = False
                continue
        elif by_name or number >= len(head):
            listing = ", ".join(f"{parameter.ident} = …" for parameter in head)
            if by_name:
                text, hint = "arguments by position come first", "give this one by its name, or put it before those."
            else:
                number = len(member.declarator.args or ())
                text = f"the macro `{target.name}` takes {len(head)} arguments, but {number} are given"
                hint = f"its arguments are `{target.node.ident} x({listing})`."
            report.add(error("types/argument", text, argument.span, hint=hint))
            return None
        else:
            ident = head[number].ident
        if ident in given:
            first = Label(given[ident][2], "first given here")
            hint = "remove one of them."
            report.add(
                error(
                    "names/duplicate",
                    f"`{ident}` is given twice",
                    argument.span,
                    label="given again here",
                    related=[first],
                    reason="One of these is given by its position.",
                    hint=hint,
                )
            )
            good = False
            continue
        given[ident] = (argument_expression(argument), argument.each, argument.span)
    return given if good else None


def argument_expression(argument: ast.Argument) -> ast.Expression:
    """The expression of an argument; a call looks like a nested modification to the parser."""
    if argument.value is not None:
        return argument.value
    assert argument.name is not None
    if argument.args is not None:
        return ast.Call(argument.name, argument.args, argument.span)
    return argument.name


class MacroNode:
    """A node handed to a macro, looked for when the body asks for it: by then all nodes exist."""

    __slots__ = ("_thing", "expression", "parameter", "place", "scope", "span", "target")

    def __init__(
        self,
        parameter: ast.MacroParameter,
        argument: Given,
        target: Definition,
        scope: InstanceScope,
        place: Place | None,
    ):
        self.parameter = parameter
        self.expression, _, self.span = argument
        self.target = target
        self.scope = scope
        self.place = place
        self._thing: Any = None

    def thing(self) -> Any:
        """The node, or several; POISON after reporting."""
        if self._thing is None:
            self._thing = self._find()
        return self._thing

    def _find(self) -> Any:
        from bglang.elaborate.bonds import find_nodes

        ctx = self.scope.ctx
        if not isinstance(self.expression, ast.Name):
            text = f"`{self.parameter.ident}` of `{self.target.name}` is a node"
            hint = "name a junction, element or port."
            ctx.report.add(error("types/argument", text, self.span, label="this is a value", hint=hint))
            return POISON
        found = find_nodes(self.expression, self.scope)
        if found is None:
            return POISON
        if self.place is not None and isinstance(found, Many):
            found = self._member(found)
        return POISON if found is POISON else checked_node(self.parameter, found, self.target, self.span, self.scope)

    def _member(self, found: Many) -> Any:
        """One member of an array of uses gets one member of an array of nodes."""
        assert self.place is not None
        index, shape = self.place
        if found.shape[: len(shape)] != shape:
            text = f"the macro is used as an array of shape {describe_shape(shape)}"
            label = f"this has shape {describe_shape(found.shape)}"
            self.scope.ctx.report.add(error("bonds/shape", text, self.span, label=label))
            return POISON
        offset = 0
        for i, size in zip(index, shape, strict=True):
            offset = offset * size + i
        rest = found.shape[len(shape) :]
        items = found.items[offset * count(rest) : (offset + 1) * count(rest)]
        return Many(rest, items) if rest else items[0]


def checked_node(
    parameter: ast.MacroParameter, found: Any, target: Definition, span: Span, scope: InstanceScope
) -> Any:
    """A node is one, an array of nodes is an array."""
    rank = len(parameter.subscripts or ())
    shape = found.shape if isinstance(found, Many) else ()
    if len(shape) != rank:
        text = f"`{parameter.ident}` of `{target.name}` is {'one node' if not rank else 'an array of nodes'}"
        scope.ctx.report.add(error("bonds/shape", text, span, label=f"this has shape {describe_shape(shape)}"))
        return POISON
    return NodeArray(found.shape, found.items) if rank else found


def report_missing(parameter: ast.MacroParameter, member: Member, target: Definition, ctx: Any) -> None:
    kind = "node" if parameter.type is None else "value"
    ctx.report.add(
        error(
            "types/argument",
            f"the {kind} `{parameter.ident}` of `{target.name}` is not given",
            member.declarator.span,
            related=[Label(parameter.span, "declared here")],
            hint=f"write `{parameter.ident} = ...` among the arguments.",
        )
    )
