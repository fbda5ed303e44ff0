"""Modifications: what the parentheses behind a name change, at any depth.

A `Modification` is what one place of the source says about one component.  A component meets several of them, kept as
layers with the outermost first: the outer one wins, and for laws it matters which of them were written together.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from bglang.diagnostics import Label, Report, error
from bglang.elaborate.loops import translate_in_loop
from bglang.elaborate.values import Shape, Value, count, describe, describe_shape
from bglang.source import Span
from bglang.syntax import ast

if TYPE_CHECKING:
    from bglang.elaborate.scopes import InstanceScope

_UNSET: Any = object()


class Binding:
    """A value given in a modification or declaration, and the scope in which it means something.

    `levels` are the arrays of components that lie between the place where the value was written and what it is for: the
    member (indices from 0) and the array's shape.  Members share one translation."""

    __slots__ = ("_value", "each", "expression", "final", "levels", "root", "scope", "span")

    def __init__(self, expression: ast.Expression, scope: "InstanceScope", each: bool, final: bool, span: Span):
        self.expression = expression
        self.scope = scope
        self.each = each
        self.final = final
        self.span = span
        self.levels: tuple[tuple[tuple[int, ...], Shape], ...] = ()
        self.root = self
        self._value: Any = _UNSET

    def member(self, index: tuple[int, ...], shape: Shape) -> "Binding":
        """The same binding as one member of an array of components sees it."""
        copy = Binding.__new__(Binding)
        copy.expression, copy.scope, copy.each = self.expression, self.scope, self.each
        copy.final, copy.span = self.final, self.span
        copy.levels = (*self.levels, (index, shape))
        copy.root = self.root
        copy._value = _UNSET
        return copy

    def whole(self) -> Value | None:
        """The value as written; None after reporting."""
        root = self.root
        if root._value is _UNSET:
            root._value = None  # a value that asks for itself finds nothing; whoever started reports
            root._value = translate_in_loop(root.expression, root.scope)
        value: Value | None = root._value
        return value

    def value(self, rank: int, what: str) -> Value | None:
        """The value for one member; `rank` is the number of dimensions that the modified thing itself has."""
        value = self.whole()
        if value is None or not self.levels:
            return value
        return self.pick(value, rank, what)

    def pick(self, value: Value, rank: int, what: str) -> Value | None:
        """This member's part of a value that was written for all members."""
        shape: Shape = tuple(size for _, sizes in self.levels for size in sizes)
        if self.each and len(value.shape) == rank:
            return value
        if len(value.shape) == rank + len(shape) and value.shape[: len(shape)] == shape:
            offset = 0
            for index, sizes in self.levels:
                for place, size in zip(index, sizes, strict=True):
                    offset = offset * size + place
            rest = value.shape[len(shape) :]
            size = count(rest)
            items = value.items[offset * size : (offset + 1) * size]
            return Value(value.type, rest, items, value.variability, value.enum)
        self._report_shape(value, shape, rank, what)
        return None

    def _report_shape(self, value: Value, shape: Shape, rank: int, what: str) -> None:
        scalar = len(value.shape) == rank
        self.scope.ctx.report.add(
            error(
                "arrays/each" if scalar else "arrays/shape",
                f"`{what}` is given to an array of components of shape {describe_shape(shape)}",
                self.span,
                label=f"this is {describe(value)}",
                reason="A value for an array of components has its shape, or is said to be for each member.",
                hint="write `each` before it." if scalar else "give one value per member.",
            )
        )


class Modification:
    """What one place of the source says about one component.

    `indexed` are modifications of single members (`dof[5].q(start = 1)`); `levels` the arrays of components around a
    redeclaration, as for a `Binding`."""

    __slots__ = ("binding", "checked", "children", "each", "final", "indexed", "levels", "redeclare", "span", "strict")

    def __init__(self, span: Span, each: bool = False, final: bool = False):
        self.span = span
        self.each = each
        self.final = final
        self.binding: Binding | None = None
        self.children: dict[str, Modification] = {}
        self.indexed: list[tuple[tuple[ast.Expression, ...], InstanceScope, Modification]] = []
        self.redeclare: tuple[ast.Component | ast.Class, InstanceScope] | None = None
        self.levels: tuple[tuple[tuple[int, ...], Shape], ...] = ()
        self.strict = True
        self.checked = False

    def member(self, index: tuple[int, ...], shape: Shape) -> "Modification":
        """The same modification as one member of an array of components sees it."""
        if not self._varies():
            return self
        copy = Modification(self.span, self.each, self.final)
        copy.redeclare, copy.strict = self.redeclare, self.strict
        copy.binding = self.binding.member(index, shape) if self.binding else None
        copy.children = {k: child if child.each else child.descend(index, shape) for k, child in self.children.items()}
        for subscripts, scope, change in self.indexed:
            if selects(subscripts, scope, index, shape, self.span):
                overlay(copy, change)
        return copy

    def _varies(self) -> bool:
        return bool(self.indexed) or self.binding is not None or any(not c.each for c in self.children.values())

    def descend(self, index: tuple[int, ...], shape: Shape) -> "Modification":
        """All values below become those of one member."""
        copy = Modification(self.span, self.each, self.final)
        copy.redeclare, copy.strict = self.redeclare, self.strict
        copy.levels = (*self.levels, (index, shape)) if self.redeclare is not None else ()
        copy.binding = self.binding.member(index, shape) if self.binding else None
        copy.children = {k: child.descend(index, shape) for k, child in self.children.items()}
        copy.indexed = [(s, scope, change.descend(index, shape)) for s, scope, change in self.indexed]
        return copy


Layers: TypeAlias = tuple[Modification, ...]
"""Modifications of one component, the outermost first."""


def overlay(into: Modification, change: Modification) -> None:
    """Add a member's own modification; it is more particular and wins."""
    if change.binding is not None:
        into.binding = change.binding
    into.final = into.final or change.final
    into.indexed += change.indexed
    for key, child in change.children.items():
        if key in into.children:
            merged = into.children[key].descend((), ())
            overlay(merged, child)
            into.children[key] = merged
        else:
            into.children[key] = child


def selects(
    subscripts: tuple[ast.Expression, ...], scope: "InstanceScope", index: tuple[int, ...], shape: Shape, span: Span
) -> bool:
    """Whether subscripts written in a modification mean this member."""
    places = scope.positions(subscripts, shape, "this array", span)
    if places is None:
        return False
    return all(i == p if isinstance(p, int) else i in p for i, p in zip(index, places, strict=True))


def read_modification(args: Iterable[ast.Argument], scope: "InstanceScope", span: Span) -> Modification:
    """The modification that an argument list writes."""
    top = Modification(span)
    for argument in args:
        add_argument(top, argument, scope)
    return top


def add_argument(top: Modification, argument: ast.Argument, scope: "InstanceScope") -> None:
    report = scope.ctx.report
    if argument.redeclare is not None:
        node = argument.redeclare
        for ident in [node.ident] if isinstance(node, ast.Class) else [d.ident for d in node.declarators]:
            child = Modification(argument.span, argument.each, argument.final)
            child.redeclare = (node, scope)
            top.children[ident] = child
        return
    if argument.name is None:
        report.add(
            error(
                "types/argument",
                "a modification says what it changes",
                argument.span,
                hint="write `name = value`; only macros, functions and their like take values by position.",
            )
        )
        return
    place = top
    for part in argument.name.parts:
        if part.ident not in place.children:
            place.children[part.ident] = Modification(argument.span, argument.each)
        child = place.children[part.ident]
        if part.subscripts is not None:
            inner = Modification(argument.span, True, argument.final)
            child.indexed.append((part.subscripts, scope, inner))
            child = inner
        place = child
    _fill(place, argument, scope, report)


def _fill(place: Modification, argument: ast.Argument, scope: "InstanceScope", report: Report) -> None:
    """Put an argument's value and inner modifications at their place."""
    assert argument.name is not None
    place.final = place.final or argument.final
    if argument.value is not None:
        if place.binding is not None:
            report.add(
                error(
                    "names/duplicate",
                    f"`{argument.name.span.text}` is given twice",
                    argument.span,
                    label="given again here",
                    related=[Label(place.binding.span, "first given here")],
                    hint="remove one of them.",
                )
            )
            return
        place.binding = Binding(argument.value, scope, argument.each, argument.final, argument.span)
    for inner in argument.args or ():
        add_argument(place, inner, scope)
    if argument.each:
        _mark_each(place)


def for_member(args: Iterable[ast.Argument], scope: "InstanceScope", span: Span, around: Modification) -> Modification:
    """The modification of a redeclaration as one member of the arrays around it sees it: values for each member, or
    one value per member."""
    change = read_modification(args, scope, span)
    if around.levels:
        _mark_each(change)
        for index, shape in around.levels:
            change = change.descend(index, shape)
    return change


def _mark_each(place: Modification) -> None:
    """`each` in front of a nested modification is meant for everything in it."""
    if place.binding is not None:
        place.binding.each = True
    for child in place.children.values():
        _mark_each(child)


def children(layers: Layers, ident: str) -> Layers:
    """What the layers say about an inner component."""
    if not layers:
        return ()
    found = []
    for layer in layers:
        child = layer.children.get(ident)
        if child is not None:
            found.append(child)
    return tuple(found)


def outermost(layers: Layers, report: Report) -> Binding | None:
    """The value that wins; one that is final may not be overruled from outside."""
    winner: Binding | None = None
    for layer in layers:
        binding = layer.binding
        if binding is None:
            continue
        if winner is None:
            winner = binding
        elif binding.final or layer.final:
            report_final(winner, binding.span, report)
    return winner


def report_final(winner: Binding, span: Span, report: Report) -> None:
    report.add(
        error(
            "parameters/final",
            "a final value cannot be changed",
            winner.span,
            label="changed here",
            related=[Label(span, "it was made final here")],
            hint="remove this modification, or the word `final` there.",
        )
    )


def at(layers: Layers, index: tuple[int, ...], shape: Shape) -> Layers:
    """The layers as one member of an array sees them."""
    members = tuple(layer.member(index, shape) for layer in layers)
    return layers if all(a is b for a, b in zip(members, layers, strict=True)) else members
