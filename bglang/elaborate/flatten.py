"""From the instance tree to the flat bond graph."""

from collections.abc import Iterator, Sequence
from typing import Any

from bglang.diagnostics import Report
from bglang.elaborate.bonds import draw_all
from bglang.elaborate.components import ValueComponent
from bglang.elaborate.domains import infer_domains, read_domains
from bglang.elaborate.equations import collect
from bglang.elaborate.experiment import read_experiment
from bglang.elaborate.fields import laws_of
from bglang.elaborate.objects import ArrayObject, ElementObject, Instance, Port
from bglang.elaborate.ordering import in_dependency_order
from bglang.elaborate.orders import split_orders
from bglang.elaborate.output import Output, Places
from bglang.elaborate.passive import settle_passive, write_displacements
from bglang.elaborate.scopes import InstanceScope
from bglang.elaborate.settings import reach
from bglang.elaborate.wiring import Wire, connect, end_of
from bglang.elaborate.write_elements import write_element
from bglang.elaborate.write_integrals import write_demanded, write_port_starts
from bglang.elaborate.write_values import write_value
from bglang.graph import ir
from bglang.syntax import ast


def flatten(root: Instance, demand: Sequence[ast.Name]) -> ir.BondGraph:
    """The flat graph of a model whose instance tree is complete."""
    ctx = root.ctx
    ctx.complete = True
    things = list(flat_things(root))
    elements = [t for t in things if type(t) is ElementObject]
    ports = [t for t in things if type(t) is Port]
    for number, element in enumerate(elements):
        element.number = number
    before = len(ctx.report.errors)
    drawn = draw_all(ctx)
    for joint in settle_passive(ports, drawn):
        joint.number = len(elements)
        elements.append(joint)
        things.append(joint)
    wires = connect(drawn, ports, ctx.report, complete=len(ctx.report.errors) == before)
    domains = infer_domains(wires, ctx.report)
    places = find_places(wires, domains, len(elements))
    output = Output(ctx)
    laws = [laws_of(element) for element in elements]
    collected = collect(ctx.equations)
    for thing in things:  # values may ask for integrals of what is written before them
        if type(thing) is ValueComponent:
            thing.bound()
    for name in demand:
        ask(name, root)
    for thing in things:
        if type(thing) is ElementObject:
            write_element(thing, laws[thing.number], places, output)
        elif type(thing) is ValueComponent:
            write_value(thing, output, collected.assigned)
    for wire in wires:
        for named in wire.names:
            write_demanded(named, output)
    write_port_starts(ports, output)
    write_displacements(ports, output)
    graph = ir.BondGraph(
        name=root.definition.name,
        description=root.definition.node.description,
        elements=tuple(output.elements),
        bonds=tuple(write_bonds(wires, places)),
        parameters=in_dependency_order(output.parameters, ctx),
        variables=tuple(output.variables),
        equations=(*output.equations, *collected.equations),
        initial_equations=(*output.initial, *collected.initial),
        whens=tuple(collected.whens),
        assertions=(*output.assertions, *collected.assertions),
        tables=tuple(ctx.tables()),
        domains=tuple(read_domains(domains, ctx.library, ctx.report)),
        experiment=read_experiment(root),
        frames=tuple(ctx.frames),
        dependencies=tuple(ctx.library.dependencies),
        span=root.definition.node.name_span,
        guesses=tuple(output.guesses),
        inputs=tuple(output.inputs),
        outputs=tuple(output.outputs),
    )
    return split_orders(graph)


def flat_things(root: Instance) -> Iterator[Any]:
    """Values, elements and ports in declaration order: depth first, last index fastest."""
    stack = [iter(root.order)]
    while stack:
        thing = next(stack[-1], None)
        if thing is None:
            stack.pop()
        elif isinstance(thing, Instance):
            stack.append(iter(thing.order))
        elif isinstance(thing, ArrayObject):
            stack.append(iter(list(thing.items.values())))
        else:
            if isinstance(thing, ElementObject) and thing.inner is not None:
                yield from (t for t in flat_things(thing.inner) if isinstance(t, ValueComponent))
            yield thing


def ask(name: ast.Name, root: Instance) -> None:
    """A name that the caller wants to see, if it exists: displacements and momenta are made on demand."""
    owner = reach(ast.Name(name.parts[:-1], False, name.span), root) if len(name.parts) > 1 else None
    if owner is not None:
        scope = InstanceScope(root.ctx, root, root.definition)
        loud, root.ctx.report = root.ctx.report, Report()
        scope.walk(name)
        root.ctx.report = loud


# --- bonds -----------------------------------------------------------------------------------------------------------


def find_places(wires: list[Wire], domains: list[str | None], elements: int) -> Places:
    """Which bonds end at which element, and the number of the port at every end; a junction's ports are in bond
    order."""
    at: list[list[int]] = [[] for _ in range(elements)]
    tails, heads = list[int](), list[int]()
    for number, wire in enumerate(wires):
        for ports, element, port in ((tails, wire.tail, wire.tail_port), (heads, wire.head, wire.head_port)):
            mine = at[element.number]
            ports.append(len(mine) if element.junction else port)
            mine.append(number)
    return Places(at, tails, heads, wires, domains)


def write_bonds(wires: list[Wire], places: Places) -> Iterator[ir.Bond]:
    for number, wire in enumerate(wires):
        tail = end_of(wire.tail, places.tails[number], False, wire.head)
        head = end_of(wire.head, places.heads[number], True, wire.tail)
        names = tuple(thing.name for thing in wire.names) if wire.names else ()
        yield ir.Bond(number, tail, head, names, wire.stroke, places.domains[number], wire.span)
