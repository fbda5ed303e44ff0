"""A failing random model made small: parts are taken away as long as it fails in the same way."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from soak.laws import references
from soak.physics import JUNCTIONS, LINKS, Edge, Model, Node, node_of

SIMPLE = {"R": ("R = 1", ("e", "1*f")), "C": ("C = 1", ("e", "q/1")), "I": ("I = 1", ("f", "p/1"))}


def minimise(model: Model, failure: Callable[[Model], str | None]) -> Model:
    """`failure` says how a model fails, or None; the answer of the given model is what is kept."""
    kind = failure(model)
    assert kind is not None
    again = True
    while again:
        again = False
        for smaller in smaller_ones(model):
            if failure(smaller) == kind:
                model, again = smaller, True
                break
    return model


def smaller_ones(model: Model) -> Iterator[Model]:
    degree = {n.name: 0 for n in model.nodes}
    for e in model.edges:
        degree[node_of(e.tail)] += 1
        degree[node_of(e.head)] += 1
    read = {node_of(name) for n in model.nodes for name in references(n.text)}
    for n in model.nodes:
        if n.name not in read and (n.base not in (*JUNCTIONS, *LINKS) or degree[n.name] < 2):
            yield without(model, n.name)
    for n in model.nodes:
        if n.base in LINKS and degree[n.name] == 2 and n.name not in read:
            yield shorted(model, n)
        simple = simpler(n)
        if simple is not None and simple != n:
            yield replace(model, nodes=tuple(simple if m is n else m for m in model.nodes))


def without(model: Model, name: str) -> Model:
    nodes = tuple(n for n in model.nodes if n.name != name)
    edges = tuple(e for e in model.edges if name not in (node_of(e.tail), node_of(e.head)))
    return replace(model, nodes=nodes, edges=edges)


def shorted(model: Model, link: Node) -> Model:
    (before,) = (e for e in model.edges if e.head == link.name)
    (after,) = (e for e in model.edges if e.tail == link.name)
    edges = tuple(
        Edge(after.name, before.tail, after.head, after.passive) if e is after else e
        for e in model.edges
        if e is not before
    )
    return replace(model, nodes=tuple(n for n in model.nodes if n is not link), edges=edges)


def simpler(n: Node) -> Node | None:
    """The plain linear law, or a modulus of 2."""
    if n.base in SIMPLE and n.text != SIMPLE[n.base][0]:
        text, law = SIMPLE[n.base]
        return replace(n, kind=n.base, text=text, laws=(law,), sticks=0.0)
    if n.base in LINKS and n.text.partition(" = ")[2] != "2":
        return replace(n, text=n.text.partition(" = ")[0] + " = 2", laws=(("m", "2"),))
    if n.base in ("Se", "Sf") and n.text.partition(" = ")[2] != "1":
        return replace(n, text=f"{n.text[0]} = 1", laws=((n.text[0], "1"),))
    return None
