"""Who reads the reaction of a storage: what a merger would change under a model that still needs it."""

from collections.abc import Iterable, Iterator

from bglang.causality.result import PortKey
from bglang.expr import Expr, leaves
from bglang.graph.ir import Assertion, Assign, BondGraph, Element, Reinit
from bglang.reduce.trace import Tracer


def live_reactions(graph: BondGraph, tracer: Tracer, ports: Iterable[PortKey]) -> dict[PortKey, tuple[Element, str]]:
    """For each dependent port whose reaction the running model needs: one who reads it, and under which name.

    Equations that only define something to look at do not count."""
    needed = _needed(graph)
    if not needed:
        return {}
    places = signals_of(graph, tracer, needed)
    if not places:
        return {}
    found: dict[PortKey, tuple[Element, str]] = {}
    for port in ports:
        for signal in tracer.reaction(port):
            if signal in places:
                name = places[signal]
                found[port] = needed[name], name
                break
    return found


def signals_of(graph: BondGraph, tracer: Tracer, names: Iterable[str]) -> dict[int, str]:
    """Signals of the junction structure by the names of efforts, flows and powers."""
    elements, bonds = tracer.elements, tracer.named
    found: dict[int, str] = {}
    for name in names:
        head, _, letter = name.rpartition(".")
        if letter in ("e", "f", "power"):
            bond = _bond(tracer, elements, bonds, head)
            if bond is not None:
                found.update((2 * bond + k, name) for k in ((0, 1) if letter == "power" else (int(letter == "f"),)))
    return found


def _bond(tracer: Tracer, elements: dict[str, Element], bonds: dict[str, int], name: str) -> int | None:
    if name in bonds:
        return bonds[name]
    element = elements.get(name)
    if element is not None and element.kind in ("J0", "J1"):
        halves = tracer.structure.halves[element.id]
        return halves[0] >> 1 if halves else None
    owner, port = (element, 0) if element is not None else _port(elements, name)
    half = tracer.signals.half_of.get((owner.id, port)) if owner is not None else None
    return None if half is None else half >> 1


def _port(elements: dict[str, Element], name: str) -> tuple[Element | None, int]:
    owner, _, port = name.rpartition(".")
    element = elements.get(owner)
    if element is not None:
        for k, p in enumerate(element.ports):
            if p.name == port:
                return element, k
    return None, 0


def _needed(graph: BondGraph) -> dict[str, Element]:
    """Variables that take part in the motion, with an element to show; definitions are followed."""
    definitions: dict[str, Expr] = {}
    readers = list[tuple[Expr, Element]]()
    for element in graph.elements:
        own = f"{element.name}."
        readers.extend((e, element) for e in _expressions(element, own))
    if not graph.elements:
        return {}
    somewhere = graph.elements[0]
    for equation in graph.equations:
        left = equation.left
        if isinstance(left, tuple) and left[0] == "v":
            definitions[left[1]] = equation.right
        else:
            readers.extend((e, somewhere) for e in (left, equation.right))
    for e in _events(graph):
        readers.append((e, somewhere))
    found: dict[str, Element] = {}
    while readers:
        e, element = readers.pop()
        for leaf in leaves(e):
            if leaf[0] == "v" and leaf[1] not in found:
                found[leaf[1]] = element
                if leaf[1] in definitions:
                    readers.append((definitions[leaf[1]], element))
    return found


def _expressions(element: Element, own: str) -> Iterator[Expr]:
    """What an element reads beyond its own variables."""
    if element.kind == "field" or element.kind in ("J0", "J1"):
        values = [w.value for w in element.laws]
    else:
        values = [w.value for w in element.laws] + ([] if element.modulus is None else [element.modulus])
    for value in values:
        for leaf in leaves(value):
            if leaf[0] == "v" and not leaf[1].startswith(own):
                yield leaf


def _events(graph: BondGraph) -> Iterator[Expr]:
    for when in graph.whens:
        for branch in when.branches:
            yield from branch.conditions
            for action in branch.actions:
                if isinstance(action, Assign | Reinit):
                    yield action.value
                elif isinstance(action, Assertion):
                    yield action.condition
