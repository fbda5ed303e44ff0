"""Components that are values: parameters, constants, variables, inputs and outputs, scalars and arrays alike."""

from typing import TYPE_CHECKING, Any

from bglang.diagnostics import Label, error
from bglang.elaborate.expressions import translate_constant
from bglang.elaborate.mistyped import mistyped
from bglang.elaborate.modifications import Binding, Layers, children, outermost
from bglang.elaborate.types import type_arguments
from bglang.elaborate.values import (
    CONSTANT,
    CONTINUOUS,
    DISCRETE,
    PARAMETER,
    Shape,
    Value,
    count,
    describe,
    describe_shape,
)  # fmt: skip
from bglang.expr import Expr
from bglang.graph.ir import ValueType
from bglang.limits import raise_hint
from bglang.source import Span
from bglang.syntax import ast

if TYPE_CHECKING:
    from bglang.elaborate.bodies import Member
    from bglang.elaborate.definitions import Target
    from bglang.elaborate.objects import Instance
    from bglang.elaborate.scopes import InstanceScope

_UNSET: Any = object()
_COMPUTING: Any = object()


class ValueComponent:
    """A declared value.  `shape` is None for an array whose size follows from its value until that is known."""

    __slots__ = (
        "_bound", "_read", "ctx", "element", "enum", "layers", "member", "name", "owner", "rank", "reading", "role",
        "scope", "shape", "sizes", "target", "type",
    )  # fmt: skip

    def __init__(
        self,
        owner: "Instance",
        member: "Member",
        name: str,
        target: "Target",
        base: tuple[ValueType, str],
        layers: Layers,
        scope: "InstanceScope",
    ):
        self.ctx = owner.ctx
        self.owner = owner
        self.member = member
        self.name = name
        self.target = target
        self.type, self.enum = base
        self.layers = layers
        self.role = role_of(member.component)
        self.shape: Shape | None = ()
        self.rank = 0
        self.sizes: list[int | None] = []
        self.scope = scope
        self.element = owner.element is not None
        self.reading = False
        self._bound: Any = _UNSET
        self._read: Value | None = None

    @property
    def span(self) -> Span:
        return self.member.declarator.span

    # --- the declared value ------------------------------------------------------------------------------------------

    def binding(self) -> Binding | None:
        """What gives the value: the outermost modification, else the declaration."""
        found = outermost(self.layers, self.ctx.report)
        if found is not None and self.type == "String" and found.scope.setting:
            found = as_text(found)
        own = self.member.declarator.value
        if own is None:
            return found
        if found is None:
            return Binding(own, self.scope, False, False, own.span)
        if "final" in self.member.component.prefixes:
            report_final_component(self, found)
        return found

    def bound(self) -> Value | None:
        """The declared value, checked against type and shape; None when there is none or after reporting."""
        if self._bound is _UNSET:
            if not self.layers and type(self.member.declarator.value) is ast.Number and self.shape == ():
                literal = self._literal(self.member.declarator.value)
                if literal is not None:
                    self._bound = literal
                    return literal
            self._bound = _COMPUTING
            binding = self.binding()
            if binding is None:
                self._bound = None
            else:
                value = binding.value(self.rank, self.member.ident)
                self._bound = self._fitting(value, binding.span) if value is not None else None
            self._bound = self._with_members(self._bound)
        if self._bound is _COMPUTING:  # the shape of the value needs the value
            self.ctx.report_cycle([self.name], self.span)
            return None
        bound: Value | None = self._bound
        return bound

    def _literal(self, number: ast.Number) -> Value | None:
        """A plain number as default is the same value for all instances."""
        plan = self.member.plan
        if plan.literal is None and (self.type == "Real" or (self.type == "Integer" and number.integer)):
            plan.literal = Value(self.type, (), (number.value,), CONSTANT)
        literal: Value | None = plan.literal
        return literal

    def _with_members(self, value: Value | None) -> Value | None:
        """Modifications of single members (`m(k[2] = 5)`) over the value of the whole."""
        for layer in reversed(self.layers):
            for subscripts, scope, change in layer.indexed:
                if change.binding is None or self.shape is None:
                    continue
                places = scope.positions(subscripts, self.shape, self.member.ident, change.span)
                given = change.binding.whole()
                if places is None or given is None or self._fitting_type(given, change.span) is None:
                    continue
                value = replaced(self, value, places, given)
        return value

    def given(self) -> bool:
        """Whether the source gives a value, right or wrong."""
        return self.binding() is not None or any(layer.indexed for layer in self.layers)

    def _fitting(self, value: Value, span: Span) -> Value | None:
        value_or_none = self._fitting_type(value, span)
        if value_or_none is None:
            return None
        value = value_or_none
        if self.shape is None:
            self.shape = fit_shape(self, value, span)
            if self.shape is None:
                return None
        if value.shape != self.shape:
            hint = "write `fill(value, n)` for an array of equal values." if not value.shape else ""
            self.ctx.report.add(
                error(
                    "arrays/shape",
                    f"`{self.name}` "
                    + (f"has the shape {describe_shape(self.shape)}" if self.shape else "is a scalar"),
                    span,
                    label=f"this is {describe(value)}",
                    hint=hint,
                )
            )
            return None
        if self.role in ("parameter", "constant") and not self._may_vary(value, span):
            return None
        return value

    def _fitting_type(self, value: Value, span: Span) -> Value | None:
        if value.type == self.type and value.enum == self.enum:
            return value
        if value.type == "Integer" and self.type == "Real":
            return Value("Real", value.shape, value.items, value.variability)
        if not value.items:
            return Value(self.type, value.shape, (), CONSTANT, self.enum)
        wanted = self.enum or self.type
        self.ctx.report.add(mistyped(f"`{self.name}` is {a(wanted)}", wanted, value, span))
        return None

    def _may_vary(self, value: Value, span: Span) -> bool:
        """A Real parameter of an element may vary in time, which modulates it; any other parameter may not."""
        if value.variability <= PARAMETER or (self.element and self.role == "parameter" and self.type == "Real"):
            return True
        self.ctx.report.add(
            error(
                "parameters/variability",
                f"the {self.role} `{self.name}` cannot vary in time",
                span,
                label="this does",
                related=[Label(self.member.declarator.span, f"declared as {a(self.role)} here")],
                hint=f"declare it as `input Real {self.member.ident}`, if it is to be a signal."
                if not self.element
                else "only Real parameters of an element may be modulated.",
            )
        )
        return False

    # --- reading it --------------------------------------------------------------------------------------------------

    def read(self) -> Value | None:
        """What an expression that names this component gets."""
        if self._read is None and not self.reading:
            self.reading = True
            self._read = self._find_value()
            self.reading = False
        return self._read

    def _find_value(self) -> Value | None:
        if self.role == "constant" or self.type == "String":
            return self._known()
        if self.shape is None:
            self.bound()
        if self.shape is None:
            return None
        if self.role == "parameter":
            if self.element:
                bound = self.bound()
                if bound is not None and bound.variability > PARAMETER:
                    return bound
                if bound is None and self.given():
                    return None
            return Value(self.type, self.shape, tuple(("p", n) for n in self.flat_names()), PARAMETER, self.enum)
        variability = CONTINUOUS if self.type == "Real" and self.role != "discrete" else DISCRETE
        return Value(self.type, self.shape, tuple(("v", n) for n in self.flat_names()), variability, self.enum)

    def _known(self) -> Value | None:
        """Constants, and texts, are known at compile time."""
        if not self.given() and self.type == "String" and self.role == "parameter":
            return None if self.shape else Value("String", (), ("",), CONSTANT)
        bound = self.bound()
        if bound is None:
            if not self.given():
                self.ctx.report.add(
                    error(
                        "parameters/no-value",
                        f"the {self.role} `{self.name}` has no value",
                        self.member.declarator.span,
                    )
                )
            return None
        if self.type == "String":
            self.ctx.structural.update(self.flat_names())
        return self.ctx.constant(bound, self.member.declarator.span)

    def flat_names(self) -> list[str]:
        if not self.shape:
            return [self.name]
        return [self.name + suffix for suffix in suffixes(self.shape)]

    def register(self) -> None:
        """Make the numbers of this parameter available by name."""
        if self.type == "String":
            return
        if self.shape is None:
            self.bound()
        if self.shape == ():
            self.ctx.slots[self.name] = (self, 0)
        elif self.shape is not None:
            for place, name in enumerate(self.flat_names()):
                self.ctx.slots[name] = (self, place)

    def expression(self, place: int) -> Expr | None:
        """The expression of one scalar of this parameter."""
        bound = self.bound()
        return bound.items[place] if bound is not None else None

    # --- attributes --------------------------------------------------------------------------------------------------

    def attribute_items(self, ident: str) -> tuple[tuple[Any, ...], Span, bool] | None:
        """One item per scalar of an attribute, where it is given, and whether the component (not its type) gives it."""
        binding = outermost(children(self.layers, ident), self.ctx.report)
        assert self.shape is not None
        if binding is not None:
            value = attribute_value(binding, self.shape, ident)
            if value is None or not self._fits_attribute(ident, value, binding.span):
                return None
            return value.items, binding.span, True
        for argument, definition in type_arguments(self.target, ident, self.ctx.report):
            if argument.value is not None:
                from bglang.elaborate.scopes import InstanceScope

                value = translate_constant(argument.value, InstanceScope(self.ctx, None, definition), self.ctx.report)
                if value is not None and not value.shape:
                    return value.items * count(self.shape), argument.span, False
        return None

    def _fits_attribute(self, ident: str, value: Value, span: Span) -> bool:
        """`start`, `min` and `max` have the type of the variable; the others have types of their own."""
        wanted = ATTRIBUTE_TYPES.get(ident, self.enum or self.type)
        given = value.enum or value.type
        if given == wanted or (given == "Integer" and wanted == "Real"):
            return True
        if not value.items:
            return True
        self.ctx.report.add(mistyped(f"`{ident}` of `{self.name}` is {a(wanted)}", wanted, value, span))
        return False


ATTRIBUTE_TYPES = {
    "fixed": "Boolean",
    "nominal": "Real",
    "unit": "String",
    "displayUnit": "String",
    "quantity": "String",
}


def as_text(binding: Binding) -> Binding:
    """The caller may leave out the quotes around a text."""
    if isinstance(binding.expression, ast.Name):
        text = ast.String(binding.expression.span.text, binding.span)
        return Binding(text, binding.scope, binding.each, binding.final, binding.span)
    return binding


def attribute_value(binding: Binding, shape: Shape, what: str) -> Value | None:
    """The value of an attribute of a variable of this shape: one for each, or an array of the shape."""
    value = binding.whole()
    if value is None:
        return None
    if not value.shape and not shape and not binding.levels:
        return value
    if not value.shape and binding.each:
        return Value(value.type, shape, value.items * count(shape), value.variability, value.enum)
    if binding.levels:
        picked = binding.pick(value, len(shape), what)
        if picked is None:
            return None
        value = picked
    if value.shape != shape:
        scalar = not value.shape
        binding.scope.ctx.report.add(
            error(
                "arrays/each" if scalar else "arrays/shape",
                f"`{what}` is given to an array of shape {describe_shape(shape)}",
                binding.span,
                label=f"this is {describe(value)}",
                hint="write `each` before it." if scalar else "give one value per member.",
            )
        )
        return None
    return value


def replaced(component: ValueComponent, value: Value | None, places: Any, given: Value) -> Value | None:
    """A value with some of its items exchanged."""
    from bglang.elaborate.scopes import combinations

    shape = component.shape
    assert shape is not None
    items = list(value.items) if value is not None else [None] * count(shape)
    chosen = combinations(places)
    if len(given.items) not in (1, len(chosen)):
        return value
    for number, index in enumerate(chosen):
        offset = 0
        for i, size in zip(index, shape, strict=True):
            offset = offset * size + i
        items[offset] = given.items[number if len(given.items) > 1 else 0]
    variability = max(given.variability, value.variability if value is not None else CONSTANT)
    return Value(component.type, shape, tuple(items), variability, component.enum)


def fit_shape(component: ValueComponent, value: Value, span: Span) -> Shape | None:
    """The shape that a value gives to an array declared with `:`."""
    if len(value.shape) != component.rank:
        component.ctx.report.add(
            error(
                "arrays/shape",
                f"`{component.name}` has {component.rank} dimensions",
                span,
                label=f"this is {describe(value)}",
            )
        )
        return None
    shape = list(value.shape)
    for k, size in enumerate(component.sizes):
        shape[k] = shape[k] if size is None else size
    return tuple(shape)


_SUFFIXES: dict[Shape, list[str]] = {}


def suffixes(shape: Shape) -> list[str]:
    """`[1]`, `[2]`, ... or `[1,1]`, `[1,2]`, ...: what stands behind the name of each scalar."""
    if not shape:
        return [""]
    if shape not in _SUFFIXES:
        if len(_SUFFIXES) > 64:
            _SUFFIXES.clear()
        rows = [""]
        for size in shape:
            rows = [f"{row},{k}" if row else str(k) for row in rows for k in range(1, size + 1)]
        _SUFFIXES[shape] = [f"[{row}]" for row in rows]
    return _SUFFIXES[shape]


def role_of(component: ast.Component) -> str:
    for role in ("constant", "parameter", "input", "output", "discrete"):
        if role in component.prefixes:
            return role
    return "variable"


def a(noun: str) -> str:
    return f"an {noun}" if noun[:1] in "AEIOaeiou" else f"a {noun}"


def report_final_component(component: ValueComponent, found: Binding) -> None:
    component.ctx.report.add(
        error(
            "parameters/final",
            f"`{component.name}` is final",
            found.span,
            label="changed here",
            related=[Label(component.member.declarator.span, "declared final here")],
            hint="remove this modification.",
        )
    )


def array_size(value: Value, scope: "InstanceScope", span: Span) -> int | None:
    """A size of an array: a whole number, not negative, not too large."""
    report, limit = scope.ctx.report, scope.ctx.limits.array
    if value.shape or value.type not in ("Integer", "enumeration"):
        report.add(mistyped("the size of an array is an Integer", "Integer", value, span))
        return None
    size = int(value.items[0])
    if size < 0:
        report.add(error("arrays/size", "the size of an array cannot be negative", span, label=f"this is {size}"))
        return None
    if size > limit:
        report.add(
            error(
                "limits/array",
                f"an array has at most {limit} elements",
                span,
                label=f"this is {size}",
                hint=raise_hint("array"),
            )
        )
        return None
    return size
