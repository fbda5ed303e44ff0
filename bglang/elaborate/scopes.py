"""What names mean at one place of one instance: own variables of a law, loop variables, components, classes."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bglang.diagnostics import Label, error
from bglang.elaborate.bodies import body_of
from bglang.elaborate.builtins import ALL, NAMES
from bglang.elaborate.definitions import BROKEN, Builtin, Definition, Target, Top
from bglang.elaborate.hints import did_you_mean, listed
from bglang.elaborate.objects import POISON, Absent, ArrayObject, Instance, Many, Missing, NodeArray, Silent
from bglang.elaborate.statics import hides, imported_constant, static_constant
from bglang.elaborate.subscripts import positions, select
from bglang.elaborate.types import enumeration_value, type_info
from bglang.elaborate.values import CONSTANT, Shape, TypeInfo, Value, describe
from bglang.graph.ir import Table
from bglang.limits import Limits
from bglang.source import Span
from bglang.syntax import ast

if TYPE_CHECKING:
    from bglang.elaborate.context import Context


class Frame:
    """A loop variable and its present value."""

    __slots__ = ("ident", "parent", "value")

    def __init__(self, ident: str, value: Value, parent: "Frame | None"):
        self.ident = ident
        self.value = value
        self.parent = parent


class InstanceScope:
    """The scope of an instance (None inside functions) as the class `definition` sees it.

    `own` are the variables of an element while one of its laws is read; `seen` collects those that were used."""

    __slots__ = ("ctx", "definition", "frame", "instance", "own", "seen")

    def __init__(
        self,
        ctx: "Context",
        instance: Instance | None,
        definition: Definition,
        frame: Frame | None = None,
        own: dict[str, Value] | None = None,
    ):
        self.ctx = ctx
        self.instance = instance
        self.definition = definition
        self.frame = frame
        self.own = own
        self.seen: set[str] | None = None if own is None else set()

    @property
    def setting(self) -> bool:
        """Whether names here were written by the caller, outside of any source."""
        return False

    def with_own(self, own: dict[str, Value]) -> "InstanceScope":
        return InstanceScope(self.ctx, self.instance, self.definition, self.frame, own)

    def with_frame(self, frame: Frame) -> "InstanceScope":
        return InstanceScope(self.ctx, self.instance, self.definition, frame, self.own)

    @property
    def limits(self) -> Limits:
        return self.ctx.limits

    def work(self, number: int, span: Span) -> None:
        self.ctx.work(number, span)

    # --- what expressions ask ----------------------------------------------------------------------------------------

    def resolve(self, name: ast.Name) -> Value | None:
        thing = self.walk(name)
        if thing is None or isinstance(thing, Silent):
            return None
        return self.as_value(thing, name)

    def function(self, name: ast.Name) -> ast.Class | None:
        first = name.parts[0].ident
        if len(name.parts) == 1 and first in ALL:
            found = self.definition.lookup(first, libraries=False)
        else:
            found = self.definition.find_silently(name)
        if isinstance(found, Definition) and found.node.kind == "function":
            seen = found
            while seen.node.short is not None and not seen.node.short.args:
                base = seen.bases()[0].target
                if not isinstance(base, Definition):
                    break
                seen = base
            self.ctx.library.functions[id(seen.node)] = seen
            return seen.node
        return None

    def functions(self) -> Iterable[str]:
        return self.definition.visible()

    def function_scope(self, function: ast.Class) -> "InstanceScope":
        return InstanceScope(self.ctx, None, self.ctx.library.functions[id(function)])

    def value_type(self, name: ast.Name) -> TypeInfo | None:
        return type_info(self.definition.find(name, self.ctx.report), self, name.span)

    def constant(self, value: Value, span: Span) -> Value | None:
        return self.ctx.constant(value, span)

    def add_table(self, table: Table) -> str:
        return self.ctx.add_table(table)

    def path(self, file: str, span: Span) -> Path | None:
        return self.ctx.library.named_file(file, span)

    # --- finding things ----------------------------------------------------------------------------------------------

    def walk(self, name: ast.Name) -> Any:
        """The thing that a dotted name means; None after reporting."""
        parts = name.parts
        first = parts[0]
        thing = None if name.rooted else self.first(first.ident)
        if thing is None and first.ident in NAMES and len(parts) == 1 and not name.rooted:
            return NAMES[first.ident]
        if thing is None:
            thing = self.definition.library.top.own(first.ident) if name.rooted else self.definition.lookup(first.ident)
            if thing is None or isinstance(thing, Builtin):
                return self.unknown(first, thing)
        if first.subscripts is not None:
            thing = self.subscripted(thing, first)
        for part in parts[1:]:
            if thing is None or isinstance(thing, Silent):
                return None
            thing = self.step(thing, part, name)
            if part.subscripts is not None and thing is not None:
                thing = self.subscripted(thing, part)
        return thing

    def first(self, ident: str) -> Any:
        """The component that the first part of a name means, nearest first."""
        if self.own is not None and ident in self.own:
            assert self.seen is not None
            self.seen.add(ident)
            return self.own[ident]
        frame = self.frame
        while frame is not None:
            if frame.ident == ident:
                return frame.value
            frame = frame.parent
        instance = self.instance
        while instance is not None:
            found = instance.objects.get(ident)
            if found is None:
                found = instance.find(ident)
            if found is None and instance.element is not None:
                found = instance.element.inner_attribute(ident)
            if found is not None:
                return found
            instance = instance.lexical
        return self.static(ident)

    def static(self, ident: str) -> Any:
        """A constant of the classes around or of an import, unless a class of that name is nearer."""
        place: Definition | Top = self.definition
        while isinstance(place, Definition):
            own = place is not self.definition or self.instance is None
            found = static_constant(self.ctx, place, ident) if own else None
            if found is None:
                found = imported_constant(self.ctx, place, ident)
            if found is not None:
                return found
            if place.node.encapsulated or place.own(ident) is not None:
                return None
            place = place.parent
        return None

    def step(self, thing: Any, part: ast.Part, name: ast.Name) -> Any:
        """What a dot and a name behind a thing mean; None after reporting."""
        if isinstance(thing, ArrayObject):
            thing = self.all_of(thing, part.span)
            if thing is None:
                return None
        if isinstance(thing, Many):
            return self.step_many(thing, part, name)
        if isinstance(thing, Definition):
            return self.step_class(thing, part)
        if isinstance(thing, Absent):
            return self.report_absent(thing, name.parts[name.parts.index(part) - 1].span)
        attribute = getattr(thing, "attribute", None)
        found = attribute(part.ident) if attribute is not None else None
        if found is None:
            return self.no_such(thing, part, name)
        if isinstance(found, Missing):
            self.ctx.report.add(error("names/unknown", found.message, part.span, hint=found.hint))
            return None
        return found

    def step_many(self, things: Many, part: ast.Part, name: ast.Name) -> Many | None:
        items = []
        for thing in things.items:
            found = self.step(thing, part, name)
            if found is None or isinstance(found, Silent):
                return None
            items.append(found)
        return Many(things.shape, items)

    def step_class(self, definition: Definition, part: ast.Part) -> Any:
        literal = enumeration_value(definition, part.ident)
        if literal is not None:
            return literal
        found = static_constant(self.ctx, definition, part.ident)
        if found is None:
            found = definition.inner(part.ident)
            if found is BROKEN:
                return POISON
        if found is None:
            body = body_of(definition, self.ctx.report)
            if body.broken:
                return POISON
            if part.ident in body.members:
                self.ctx.report.add(
                    error(
                        "names/not-constant",
                        f"`{part.ident}` of the class `{definition.name}` is no constant",
                        part.span,
                        reason="A class itself has constants only; everything else belongs to its instances.",
                        hint=f"declare a component of type `{definition.node.ident}` and use its `{part.ident}`.",
                    )
                )
                return None
            known = body.names() | definition.class_names() | {n for n, _ in definition.node.literals or ()}
            self.ctx.report.add(
                error(
                    "names/unknown",
                    f"there is no `{part.ident}` in `{definition.name}`",
                    part.span,
                    hint=did_you_mean(part.ident, known) or listed(known),
                )
            )
        return found

    # --- subscripts --------------------------------------------------------------------------------------------------

    def subscripted(self, thing: Any, part: ast.Part) -> Any:
        """The members of an array that the subscripts of a name mean; None after reporting."""
        subscripts = part.subscripts
        assert subscripts is not None
        if isinstance(thing, Silent):
            return None
        if isinstance(thing, ArrayObject):
            if len(subscripts) == 1:
                index = self.index(subscripts[0])
                if index is not None:
                    found = thing.items.get(index)
                    if found is not None:
                        return found
            return self.members(thing, subscripts, part)
        if isinstance(thing, NodeArray):
            return self.chosen_nodes(thing, subscripts, part)
        if isinstance(thing, Many):
            items = [self.subscripted(item, part) for item in thing.items]
            return None if any(item is None for item in items) else flatten_many(thing.shape, items)
        if isinstance(thing, Absent):
            return self.report_absent(thing, part.span)
        read = getattr(thing, "read", None)
        value = read() if read is not None else thing
        if value is None:
            return None
        if not isinstance(value, Value) or not value.shape:
            self.ctx.report.add(
                error("types/subscript", f"`{part.ident}` is no array", part.span, label="a subscript needs an array")
            )
            return None
        if len(subscripts) == 1 and len(value.shape) == 1:
            index = self.index(subscripts[0])
            if index is not None and 1 <= index <= value.shape[0]:
                return Value(value.type, (), (value.items[index - 1],), _variability(value, index - 1), value.enum)
        places = self.positions(subscripts, value.shape, part.ident, part.span)
        return None if places is None else select(value, places)

    def members(self, array: ArrayObject, subscripts: tuple[ast.Expression, ...], part: ast.Part) -> Any:
        places = self.positions(subscripts, array.shape, part.ident, part.span)
        if places is None:
            return None
        shape = tuple(len(p) for p in places if not isinstance(p, int))
        found = [array.items.get(array.key(tuple(i + 1 for i in index))) for index in combinations(places)]
        if any(item is None for item in found):
            text = f"`{array.name}` has no such member"
            self.ctx.report.add(
                error("arrays/member", text, part.span, hint="it is made in a loop that leaves this one out.")
            )
            return None
        return Many(shape, found) if shape or any(not isinstance(p, int) for p in places) else found[0]

    def chosen_nodes(self, nodes: NodeArray, subscripts: tuple[ast.Expression, ...], part: ast.Part) -> Any:
        places = self.positions(subscripts, nodes.shape, part.ident, part.span)
        if places is None:
            return None
        found = []
        for index in combinations(places):
            offset = 0
            for i, size in zip(index, nodes.shape, strict=True):
                offset = offset * size + i
            found.append(nodes.items[offset])
        shape = tuple(len(p) for p in places if not isinstance(p, int))
        return NodeArray(shape, found) if shape else found[0]

    def all_of(self, array: ArrayObject, span: Span) -> Many | None:
        """A whole array of components."""
        places = tuple(tuple(range(size)) for size in array.shape)
        found = [array.items.get(array.key(tuple(i + 1 for i in index))) for index in combinations(places)]
        if any(item is None for item in found):
            text = f"`{array.name}` has members that do not exist"
            self.ctx.report.add(error("arrays/member", text, span, hint="name those that are meant, as in `a[1:3]`."))
            return None
        return Many(array.shape, found)

    def index(self, subscript: ast.Expression) -> int | None:
        """A subscript that is simple enough to be computed at once (`3`, `i`, `i + 1`)."""
        if isinstance(subscript, ast.Number):
            return int(subscript.value) if subscript.integer else None
        if isinstance(subscript, ast.Name):
            if len(subscript.parts) == 1 and subscript.parts[0].subscripts is None and self.own is None:
                ident, frame = subscript.parts[0].ident, self.frame
                while frame is not None:
                    if frame.ident == ident:
                        value = frame.value
                        return int(value.items[0]) if value.type == "Integer" and not value.shape else None
                    frame = frame.parent
            return None
        if isinstance(subscript, ast.Binary) and subscript.op in ("+", "-", "*"):
            left, right = self.index(subscript.left), self.index(subscript.right)
            if left is None or right is None:
                return None
            return left + right if subscript.op == "+" else left - right if subscript.op == "-" else left * right
        return None

    def positions(
        self, subscripts: tuple[ast.Expression, ...], shape: Shape, what: str, span: Span
    ) -> tuple[tuple[int, ...] | int, ...] | None:
        return positions(subscripts, shape, self, self.ctx.report, what, span)

    # --- values ------------------------------------------------------------------------------------------------------

    def as_value(self, thing: Any, name: ast.Name) -> Value | None:
        """The value of what a name means; None after reporting that it is none."""
        if isinstance(thing, Value):
            return thing
        read = getattr(thing, "read", None)
        if read is not None:
            value: Value | None = read()
            return value
        if isinstance(thing, ArrayObject):
            thing = self.all_of(thing, name.span)
        if isinstance(thing, Many):
            return self.stack(thing, name)
        if thing is None or isinstance(thing, Silent):
            return None
        if isinstance(thing, Absent):
            self.report_absent(thing, name.span)
            return None
        text = name.span.text
        what = "a class" if isinstance(thing, Definition) else "a component, not a value"
        names = sorted(thing.names() & {"e", "f", "q", "p"}) if hasattr(thing, "names") else []
        hint = "it has " + ", ".join(f"`{text}.{n}`" for n in names) if names else ""
        self.ctx.report.add(error("types/not-a-value", f"`{text}` is {what}", name.span, hint=hint))
        return None

    def stack(self, things: Many, name: ast.Name) -> Value | None:
        """Values of several things as one array."""
        known = list[Value]()
        for thing in things.items:
            value = self.as_value(thing, name)
            if value is None:
                return None  # one mistake is one message
            known.append(value)
        if not known:
            return Value("Real", things.shape, (), CONSTANT)
        first = known[0]
        if any(value.shape != first.shape or value.type != first.type for value in known):
            odd = next(v for v in known if v.shape != first.shape or v.type != first.type)
            self.ctx.report.add(
                error(
                    "arrays/shape",
                    f"the members of `{name.span.text}` differ: {describe(first)} and {describe(odd)}",
                    name.span,
                )
            )
            return None
        items = tuple(item for value in known for item in value.items)
        variability = max(value.variability for value in known)
        return Value(first.type, (*things.shape, *first.shape), items, variability, first.enum)

    # --- messages ----------------------------------------------------------------------------------------------------

    def unknown(self, part: ast.Part, found: Target | None) -> Any:
        if found is BROKEN:
            return POISON
        if found is not None:
            self.ctx.report.add(error("types/not-a-value", f"`{part.ident}` is a type, not a value", part.span))
            return None
        if self.instance is not None and self.instance.body.broken:
            return POISON
        text = f"there is no `{part.ident}` here"
        hint = did_you_mean(part.ident, self.declared()) or did_you_mean(part.ident, self.names())
        reason = ""
        if self.instance is None and hides(self.ctx, self.definition, part.ident):
            text = f"the function `{self.definition.name}` does not see `{part.ident}`"
            reason = "A function sees its inputs and constants only."
            hint = f"make it an input, `input Real {part.ident};`, and pass it in the call."
        self.ctx.report.add(error("names/unknown", text, part.span, reason=reason, hint=hint))
        return None

    def names(self) -> set[str]:
        """Everything that can be named here."""
        return self.declared() | set(NAMES) | self.definition.visible()

    def declared(self) -> set[str]:
        """What the model itself declares here and around."""
        names = set(self.own or ())
        frame = self.frame
        while frame is not None:
            names.add(frame.ident)
            frame = frame.parent
        instance = self.instance
        while instance is not None:
            names |= instance.names()
            instance = instance.lexical
        return names

    def no_such(self, thing: Any, part: ast.Part, name: ast.Name) -> None:
        body = getattr(thing, "body", None) or getattr(getattr(thing, "inner", None), "body", None)
        if body is not None and body.broken:
            return
        before = name.parts[: name.parts.index(part)]
        text = name.span.source.text[before[0].span.start : before[-1].span.end]
        names = thing.names() if hasattr(thing, "names") else set()
        hint = did_you_mean(part.ident, names) or listed(names)
        self.ctx.report.add(error("names/unknown", f"`{text}` has no `{part.ident}`", part.span, hint=hint))

    def report_absent(self, thing: Absent, span: Span) -> None:
        self.ctx.report.add(
            error(
                "names/absent",
                f"`{thing.name}` is not there",
                span,
                label="mentioned here",
                related=[Label(thing.span, "its condition is false")],
                hint="put what mentions it under the same condition.",
            )
        )


def _variability(value: Value, place: int) -> int:
    return value.variability if isinstance(value.items[place], tuple) else CONSTANT


def combinations(places: Iterable[tuple[int, ...] | int]) -> list[tuple[int, ...]]:
    """All index tuples of a selection, the last index fastest."""
    rows: list[tuple[int, ...]] = [()]
    for place in places:
        choices = (place,) if isinstance(place, int) else place
        rows = [(*row, choice) for row in rows for choice in choices]
    return rows


def flatten_many(shape: Shape, items: list[Any]) -> Many:
    """An array of arrays as one array."""
    if items and isinstance(items[0], Many):
        return Many((*shape, *items[0].shape), [inner for item in items for inner in item.items])
    return Many(shape, items)


def scope_of(instance: Instance, definition: Definition) -> InstanceScope:
    """The scope of an instance as one of its classes sees it."""
    scope = instance.scopes.get(id(definition))
    if scope is None:
        scope = definition.capture or InstanceScope(instance.ctx, instance, definition)
        instance.scopes[id(definition)] = scope
    return scope
