"""Parasitic storage in implicit fields of resistances, where the user asks for it.

An algebraic loop between resistances ends where a junction on it has a storage of its own: a small capacity sets the
effort of a 0-junction, a small inertia the flow of a 1-junction.  It starts at rest, where the loop has its
solution."""

from bglang.causality.assign import assign_causality
from bglang.causality.result import Causality, Loop
from bglang.expr import ZERO
from bglang.graph.ir import BondGraph, Element, Equation
from bglang.reduce.algebra import numbers, value
from bglang.reduce.augment import Augmentation, Insertion, Stiff, bond_to, clean_name, new_element
from bglang.reduce.edit import Edit
from bglang.reduce.stiffness import find_scales
from bglang.source import NOWHERE


def break_loops(graph: BondGraph, stiff: Stiff | None = None) -> Augmentation:
    """The graph with a small storage on every resistive loop."""
    stiff = stiff or Stiff()
    causality = assign_causality(graph)
    own = find_scales(graph, stiff.error).own
    made, insertions = graph, list[Insertion]()
    while True:
        found = next((loop for loop in causality.loops if loop.kind == "resistive"), None)
        junction = None if found is None else _junction(made, causality, found)
        if found is None or junction is None or len(insertions) > len(graph.bonds):
            return Augmentation(made, tuple(insertions))
        made, new = _insert(made, found, junction, stiff.parasitic, stiff.error / own)
        insertions.append(new)
        causality = assign_causality(made)


def _junction(graph: BondGraph, causality: Causality, loop: Loop) -> Element | None:
    """A junction on the loop whose common variable the loop itself decides."""
    for number in loop.elements:
        element = graph.elements[number]
        if element.kind not in ("J0", "J1"):
            continue
        for b in loop.bonds:
            bond = graph.bonds[b]
            at_head = bond.head.element == number
            if not at_head and bond.tail.element != number:
                continue
            receives = causality.strokes[b] == ("head" if at_head else "tail")
            if receives == (element.kind == "J0"):
                return element
    return None


def _insert(
    graph: BondGraph, loop: Loop, junction: Element, given: float | None, lag: float
) -> tuple[BondGraph, Insertion]:
    """The storage, so that it follows within the wanted lag."""
    edit, values = Edit(graph), numbers(graph)
    losses = list[float]()
    for number in loop.closed_by:
        law = graph.elements[number].laws[0] if graph.elements[number].laws else None
        found = None if law is None or law.gain is None else value(law.gain, values)
        losses.append(abs(found) if found else 1.0)
    kind = "C" if junction.kind == "J0" else "I"
    chosen = lag / max(losses) if kind == "C" else lag * min(losses)
    size = given or float(f"{chosen:.1e}")
    name = edit.fresh(f"{clean_name(junction.name)}_parasite")
    words = "small: ends the algebraic loop of " + ", ".join(graph.elements[k].name for k in loop.closed_by)
    inserted = new_element(edit, name, "C" if kind == "C" else "I", size, None, words)
    bond_to(edit, junction.id, inserted, None)
    state = f"{name}.{'q' if kind == 'C' else 'p'}"
    edit.initial.append(Equation(("der", ("v", state)), ZERO, "", NOWHERE))
    rate = f"{name}.{'f' if kind == 'C' else 'e'}"
    return edit.graph(), Insertion(name, junction.name, "C" if kind == "C" else "I", size, rate, -1, "e")
