"""Drawing bonds: names become ends, chains and arrays become single bonds."""

from typing import Any, Literal

from bglang.diagnostics import Label, error
from bglang.elaborate.checking import report_protected
from bglang.elaborate.components import ValueComponent
from bglang.elaborate.context import Context
from bglang.elaborate.definitions import Definition
from bglang.elaborate.objects import (
    POISON,
    UNNAMED,
    Absent,
    ArrayObject,
    ElementObject,
    ElementPort,
    Instance,
    Many,
    Missing,
    NamedBond,
    NodeArgument,
    Port,
    Silent,
)  # fmt: skip
from bglang.elaborate.scopes import InstanceScope, combinations, flatten_many
from bglang.elaborate.sizes import sizes
from bglang.elaborate.values import Shape, Value, describe_shape
from bglang.source import Span
from bglang.syntax import ast
from bglang.syntax.text import quoted

INNER, OUTER = 0, 1

Stroke = Literal["head", "tail"] | None
STROKES: dict[str, Stroke] = {"->": None, "->|": "head", "|->": "tail"}


class RawBond:
    """A bond as drawn.  An end is an element with the number of its port, or a model's port with the side.

    Joined through `ports`, both ends are elements."""

    __slots__ = ("head", "head_port", "names", "ports", "span", "stroke", "tail", "tail_port")

    def __init__(self, tail: Any, tail_port: int, head: Any, head_port: int, stroke: Stroke, span: Span):
        self.tail = tail
        self.tail_port = tail_port
        self.head = head
        self.head_port = head_port
        self.stroke = stroke
        self.names: tuple[NamedBond | Port, ...] = ()
        self.ports: tuple[Port, ...] = ()
        self.span = span


# --- ends ------------------------------------------------------------------------------------------------------------


def find_nodes(name: ast.Name, scope: InstanceScope) -> Any:
    """What a name in a bond means: a node, several, or an absent one; None after reporting."""
    parts = name.parts
    first = parts[0]
    thing = None if name.rooted else scope.first(first.ident)
    if thing is None:
        found = scope.definition.lookup(first.ident)
        thing = found if isinstance(found, Definition) else scope.unknown(first, None)
    if first.subscripts is not None and thing is not None and not isinstance(thing, Silent | Absent):
        thing = scope.subscripted(thing, first)
    if len(parts) == 1:
        if type(thing) is ElementObject and thing.kind != "field":
            return thing.as_end()
        return None if thing is None or isinstance(thing, Silent) else as_node(thing, name, scope, False)
    for part in parts[1:]:
        if thing is None or isinstance(thing, Silent):
            return None
        if isinstance(thing, Absent):
            return thing
        if not enters_port(thing, part, scope):
            return None
        if isinstance(thing, ElementObject) and thing.ports() == [] and is_missing(thing, part):
            what = f"`{thing.name}` has no port `{part.ident}`"
            hint = f"it is bonded by its own name: write `{thing.name}`."
            scope.ctx.report.add(error("bonds/not-a-node", what, part.span, hint=hint))
            return None
        thing = scope.step(thing, part, name)
        if part.subscripts is not None and thing is not None and not isinstance(thing, Absent):
            thing = scope.subscripted(thing, part)
    if thing is None or isinstance(thing, Silent):
        return None
    return as_node(thing, name, scope, True)


def is_missing(element: ElementObject, part: ast.Part) -> bool:
    found = element.attribute(part.ident)
    return found is None or isinstance(found, Missing)


def enters_port(thing: Any, part: ast.Part, scope: InstanceScope) -> bool:
    """Bonds from outside go to a subsystem's ports, not to its inner nodes."""
    if isinstance(thing, ArrayObject):
        thing = next(iter(thing.items.values()), None)
    if isinstance(thing, Many):
        thing = thing.items[0] if thing.items else None
    if not isinstance(thing, Instance) or thing.macro:
        return True
    member = thing.body.members.get(part.ident)
    if member is None:
        return True
    if "port" not in member.component.prefixes:
        if isinstance(thing.attribute(part.ident), Value | ValueComponent):
            return True  # a signal, which is no node: reported as that
        ports = ", ".join(f"`{m.ident}`" for m in thing.body.ports())
        scope.ctx.report.add(
            error(
                "bonds/inner",
                f"`{part.ident}` lies inside `{thing.name}`",
                part.span,
                reason="Bonds from outside go to the ports of a subsystem.",
                hint=f"its ports are {ports}." if ports else f"declare a `port` in `{thing.definition.name}`.",
            )
        )
        return False
    if member.protected:
        report_protected(member, part.span, scope.ctx, "bonded")
    return True


def as_node(thing: Any, name: ast.Name, scope: InstanceScope, outside: bool) -> Any:
    """A thing as the end of a bond; None after reporting."""
    if isinstance(thing, NodeArgument | Absent):
        return thing
    if isinstance(thing, ElementObject):
        if thing.kind != "field":
            return thing.as_end()
        port = thing.inner.only_port() if thing.inner is not None else None
        if isinstance(port, ElementPort):
            return NodeArgument(thing, (thing, port.number))
        return no_node(name, scope, "has several ports", "name one of them: " + port_list(thing, name))
    if isinstance(thing, ElementPort):
        return NodeArgument(thing, (thing.element, thing.number))
    if isinstance(thing, Port):
        return NodeArgument(thing, (thing, OUTER if outside else INNER))
    if isinstance(thing, Instance):
        port = None if thing.macro else thing.only_port()
        if isinstance(port, Port):
            return NodeArgument(thing, (port, OUTER))
        if thing.macro:
            return no_node(name, scope, "is the use of a macro", "bond to one of the nodes in it.")
        ports = ", ".join(f"`{name.span.text}.{m.ident}`" for m in thing.body.ports())
        if not ports:
            kind = thing.definition.node.kind
            hint = (
                "its signals are read in expressions."
                if kind == "block"
                else f"declare a `port` in `{thing.definition.name}`."
            )
            return no_node(name, scope, "has no port", hint)
        return no_node(name, scope, "has several ports", f"name one of them: {ports}.")
    if isinstance(thing, ArrayObject):
        every = scope.all_of(thing, name.span)
        return None if every is None else as_node(every, name, scope, outside)
    if isinstance(thing, Many):
        items = [as_node(item, name, scope, outside) for item in thing.items]
        return None if any(item is None for item in items) else flatten_many(thing.shape, items)
    if isinstance(thing, Definition):
        return no_node(name, scope, "is a class", "declare a component of it and bond that.")
    if isinstance(thing, NamedBond):
        return no_node(name, scope, "is a bond", "bonds join nodes; put a junction in.")
    if isinstance(thing, Value | ValueComponent):
        owner = name.parts[:-1]
        text = name.span.source.text[name.span.start : owner[-1].span.end] if owner else ""
        hint = f"bond `{text}` itself." if text and not isinstance(thing, ValueComponent) else ""
        hint = hint or "signals are read in expressions, as in `Se s(e = …)`; bonds join nodes."
        return no_node(name, scope, "is a value, not a node", hint)
    return no_node(name, scope, "is no node", "")


def no_node(name: ast.Name, scope: InstanceScope, what: str, hint: str) -> None:
    scope.ctx.report.add(error("bonds/not-a-node", f"`{name.span.text}` {what}", name.span, hint=hint))


def port_list(element: ElementObject, name: ast.Name) -> str:
    return ", ".join(f"`{name.span.text}.{port.name}`" for port in element.ports()[:6])


# --- chains ----------------------------------------------------------------------------------------------------------


def draw_all(ctx: Context) -> list[RawBond]:
    """All bonds of the model, in the order of the text."""
    bonds = list[RawBond]()
    spans = dict[int, tuple[Span, ...]]()
    for chain, scope in ctx.drawn:
        places = spans.get(id(chain))
        if places is None:
            places = spans[id(chain)] = arrow_spans(chain)
        draw(chain, scope, bonds, places)
    for node in ctx.handed:
        node.thing()  # a node that the macro's body never mentions must exist all the same
    return bonds


def arrow_spans(chain: ast.BondChain) -> tuple[Span, ...]:
    """What is shown of a chain for each of its bonds."""
    nodes = chain.nodes
    inner = [nodes[k].span.to(nodes[k + 1].span) for k in range(len(nodes) - 1)]
    if len(chain.last) == 1:
        return (*inner, nodes[-1].span.to(chain.last[0].span))
    return (*inner, *(name.span for name in chain.last))


def draw(chain: ast.BondChain, scope: InstanceScope, bonds: list[RawBond], spans: tuple[Span, ...]) -> None:
    first = len(bonds)
    tail = find_nodes(chain.nodes[0], scope)
    broken = tail is None
    number = 0
    for name in chain.nodes[1:]:
        head = find_nodes(name, scope)
        broken = broken or head is None
        join(tail, head, chain.arrows[number], spans[number], scope, bonds)
        tail = head
        number += 1
    arrow = chain.arrows[number]
    for name in chain.last:
        head = find_nodes(name, scope)
        broken = broken or head is None
        join(tail, head, arrow, spans[number], scope, bonds)
        number += 1
    if chain.name is not None:
        if broken:
            assert scope.instance is not None
            scope.instance.objects.setdefault(chain.name.ident, POISON)
        else:
            name_bonds(chain, scope, bonds[first:])


def join(tail: Any, head: Any, arrow: str, span: Span, scope: InstanceScope, bonds: list[RawBond]) -> None:
    """Bonds between two nodes, or member by member between arrays."""
    if tail is None or head is None:
        return
    if not isinstance(tail, Many) and not isinstance(head, Many):
        add_bond(tail, head, arrow, span, scope, bonds)
        return
    tails, heads = members(tail), members(head)
    if isinstance(tail, Many) and isinstance(head, Many):
        if tail.shape != head.shape:
            report_shapes(tail.shape, head.shape, span, scope)
            return
    elif isinstance(tail, Many):
        if not is_junction(head):
            report_shapes(tail.shape, (), span, scope)
            return
        heads = [head] * len(tails)
    else:
        if not is_junction(tail):
            report_shapes((), heads_shape(head), span, scope)
            return
        tails = [tail] * len(heads)
    scope.ctx.count(len(tails), span)
    for one, other in zip(tails, heads, strict=True):
        add_bond(one, other, arrow, span, scope, bonds)


def members(node: Any) -> list[Any]:
    return node.items if isinstance(node, Many) else [node]


def heads_shape(node: Any) -> Shape:
    return node.shape if isinstance(node, Many) else ()


def is_junction(node: Any) -> bool:
    if isinstance(node, Absent):
        return True
    end = node.end[0]
    return isinstance(end, ElementObject) and end.junction


def report_shapes(tail: Shape, head: Shape, span: Span, scope: InstanceScope) -> None:
    one = () in (tail, head)
    scope.ctx.report.add(
        error(
            "bonds/shape",
            f"the ends have different shapes: {describe_shape(tail)} and {describe_shape(head)}",
            span,
            reason="Arrays of equal shape are bonded member by member; a single junction is bonded to each member.",
            hint="name the member that is meant, or draw the bonds in a loop."
            if one
            else "use slices of equal size, as in `a[1:n]`.",
        )
    )


def add_bond(tail: Any, head: Any, arrow: str, span: Span, scope: InstanceScope, bonds: list[RawBond]) -> None:
    if isinstance(tail, Absent) or isinstance(head, Absent):
        return  # bonds to absent components vanish with them
    (tail_node, tail_port), (head_node, head_port) = tail.end, head.end
    if tail_node is head_node:
        scope.ctx.report.add(
            error(
                "bonds/self",
                f"this joins `{tail_node.name}` with itself",
                span,
                hint="a bond joins two different nodes.",
            )
        )
        return
    bond = RawBond(tail_node, tail_port, head_node, head_port, STROKES[arrow], span)
    number = len(bonds)
    tail_place = attach(number, tail_node, tail_port, True, bonds, span)
    if tail_place is None:
        return
    head_place = attach(number, head_node, head_port, False, bonds, span)
    if head_place is None:
        detach(number, tail_node, tail_place)
        return
    bond.tail_port, bond.head_port = tail_place, head_place
    bonds.append(bond)


def attach(number: int, node: Any, port: int, tail: bool, bonds: list[RawBond], span: Span) -> int | None:
    """Occupy a port; returns its number, None after reporting that it is taken."""
    if isinstance(node, Port):
        return attach_port(number, node, port, bonds, span)
    kind = node.kind
    if kind == "J1" or kind == "J0":
        node.bonds.append(number)
        return UNNAMED
    if kind == "TF" or kind == "GY" or kind == "field":
        if port == UNNAMED:
            port = 1 if tail else 0
        if not node.bonds:
            node.bonds = [-1] * len(node.ports())
        if node.bonds[port] >= 0:
            report_taken(f"{node.name}.{node.ports()[port].name}", node, bonds[node.bonds[port]].span, span)
            return None
        node.bonds[port] = number
        return port
    if node.bonds:
        report_taken(node.name, node, bonds[node.bonds[0]].span, span)
        return None
    node.bonds.append(number)
    return 0


def attach_port(number: int, port: Port, side: int, bonds: list[RawBond], span: Span) -> int | None:
    taken = port.inner if side == INNER else port.outer
    if taken is not None:
        report_taken(port.name, port, bonds[taken].span, span, "inside" if side == INNER else "outside")
        return None
    if side == INNER:
        port.inner = number
    else:
        port.outer = number
    return side


def detach(number: int, node: Any, place: int) -> None:
    """Take back half a bond whose other end was taken."""
    if isinstance(node, Port):
        if place == INNER:
            node.inner = None
        else:
            node.outer = None
    elif node.kind in ("TF", "GY", "field"):
        node.bonds[place] = -1
    else:
        node.bonds.remove(number)


def report_taken(name: str, node: Any, before: Span, span: Span, side: str = "") -> None:
    two = isinstance(node, ElementObject) and node.kind in ("TF", "GY")
    if isinstance(node, Port):
        reason = f"A port has exactly one bond {side}."
        hint = "put a junction at the port and bond both to it."
    elif two:
        reason = "An arrow into a TF or GY takes its port p1, an arrow out of it p2."
        hint = f"name the ports: `{node.name}.p1`, `{node.name}.p2`."
    else:
        reason = "An element has one bond per port."
        hint = "put a junction between: a J1 for a common flow, a J0 for a common effort."
    node.ctx.report.add(
        error(
            "bonds/port-taken",
            f"`{name}` already has its bond",
            span,
            label="would be a second one",
            related=[Label(before, "the first one")],
            reason=reason,
            hint=hint,
        )
    )


# --- named bonds -----------------------------------------------------------------------------------------------------


def name_bonds(chain: ast.BondChain, scope: InstanceScope, drawn: list[RawBond]) -> None:
    """`bond b: ...` draws exactly one bond, or an array of them."""
    part, instance = chain.name, scope.instance
    assert part is not None and instance is not None
    if len(chain.nodes) > 1 or len(chain.last) > 1:
        scope.ctx.report.add(
            error(
                "bonds/named",
                f"`{part.ident}` would name several bonds",
                chain.span,
                hint="give each bond its own line and name.",
            )
        )
        instance.objects[part.ident] = POISON
        return
    name = instance.prefix + quoted(part.ident)
    looped = scope.frame is not None
    if part.subscripts is not None and looped:
        index = sizes(part.subscripts, scope)
        if index is None or not drawn:
            return
        array = instance.objects.get(part.ident)
        if array is None:
            array = instance.objects[part.ident] = ArrayObject(name, part.span, None)
        place = tuple(i or 0 for i in index)
        if not isinstance(array, ArrayObject) or array.key(place) in array.items or len(drawn) > 1:
            text = (
                f"`{part.span.text}` is declared twice"
                if len(drawn) == 1
                else f"`{part.ident}` would name several bonds"
            )
            scope.ctx.report.add(error("names/duplicate" if len(drawn) == 1 else "bonds/named", text, part.span))
            return
        array.items[array.key(place)] = named(f"{name}[{','.join(map(str, place))}]", drawn[0], part.span)
        return
    if part.ident in instance.objects:
        scope.ctx.report.add(error("names/duplicate", f"`{name}` is declared twice", part.span))
        return
    shape = drawn_shape(chain, scope)
    if part.subscripts is not None and tuple(sizes(part.subscripts, scope) or ()) != shape:
        drawn_here = f"bonds of the shape {describe_shape(shape)} are drawn" if shape else "a single bond is drawn"
        hint = f"write `bond {part.ident}: …`; outside a loop the subscript is the size."
        text = f"`{part.span.text}` does not fit: {drawn_here}"
        scope.ctx.report.add(error("bonds/shape", text, part.span, hint=hint))
        return
    if not shape:
        if drawn:
            instance.objects[part.ident] = named(name, drawn[0], part.span)
        return
    array = instance.objects[part.ident] = ArrayObject(name, part.span, shape)
    for place, bond in zip(combinations(tuple(tuple(range(1, n + 1)) for n in shape)), drawn, strict=False):
        array.items[array.key(place)] = named(f"{name}[{','.join(map(str, place))}]", bond, part.span)


def drawn_shape(chain: ast.BondChain, scope: InstanceScope) -> Shape:
    """The shape of the ends of a single arrow."""
    for name in (chain.nodes[0], chain.last[0]):
        node = find_nodes(name, scope)
        if isinstance(node, Many):
            return node.shape
    return ()


def named(name: str, bond: RawBond, span: Span) -> NamedBond:
    thing = NamedBond(name, span)
    bond.names = (*bond.names, thing)
    return thing
