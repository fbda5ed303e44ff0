"""Numbers for storages, and what every name of the model stands for."""

from bglang.causality.result import Causality
from bglang.equations.draft import Attachment, Draft
from bglang.equations.system import Unknown
from bglang.expr import Expr
from bglang.graph.ir import BondGraph, Domain, Element

INPUT = {"C": "f", "I": "e"}
"""The variable whose integral a storage holds."""
CO = {"C": "e", "I": "f"}
"""The variable that a storage gives for its state."""
STATE = {"C": "q", "I": "p"}


def attach(graph: BondGraph, causality: Causality) -> list[list[Attachment]]:
    """The bonds at each element: by port, and for a junction in bond order."""
    found: list[list[Attachment]] = [[] for _ in graph.elements]
    for bond in graph.bonds:
        stroke = causality.strokes[bond.id]
        for end, at_tail in ((bond.tail, True), (bond.head, False)):
            sets_effort = None if stroke == "" else (stroke == "head") == at_tail
            found[end.element].append(Attachment(bond.id, end, at_tail, sets_effort))
    for element, places in zip(graph.elements, found, strict=True):
        if element.kind not in ("J0", "J1"):
            places.sort(key=lambda place: place.end.port)
            assert len(places) == len(element.ports), f"{element.name} has an open port"
    return found


def is_integral(kind: str, place: Attachment) -> bool:
    """Does a storage port hold its state freely?  Where no stroke says otherwise, yes."""
    return place.sets_effort is None or place.sets_effort == (kind == "C")


def read_names(draft: Draft) -> None:
    """Fills `names` with all variables of elements, junctions and named bonds, and numbers the storages."""
    domains = {d.name: d for d in draft.graph.domains}
    for element in draft.graph.elements:
        places = draft.attachments[element.id]
        if element.kind in ("J0", "J1"):
            letter = "f" if element.kind == "J1" else "e"
            draft.names[f"{element.name}.{letter}"] = places[0].leaf(letter) if places else 0.0
            continue
        for port, place in zip(element.ports, places, strict=True):
            index = place.end.port
            draft.names[element.variable(index, "e")] = place.own("e")
            draft.names[element.variable(index, "f")] = place.own("f")
            if element.kind in ("Se", "Sf") and not place.at_tail:
                draft.turned.add(element.name)
            if port.kind in STATE:
                _number_storage(draft, element, index, domains)
    for element in draft.graph.elements:
        if element.kind == "field" and len(element.ports) == 1:
            for letter in ("e", "f", STATE.get(element.ports[0].kind, "e")):
                draft.names.setdefault(f"{element.name}.{letter}", draft.names[element.variable(0, letter)])
    for bond in draft.graph.bonds:
        for name in bond.names:
            draft.names.setdefault(f"{name}.e", ("v", 2 * bond.id))
            draft.names.setdefault(f"{name}.f", ("v", 2 * bond.id + 1))


def _number_storage(draft: Draft, element: Element, index: int, domains: dict[str, Domain]) -> None:
    port = element.ports[index]
    place = draft.attachments[element.id][index]
    letter = STATE[port.kind]
    name = element.variable(index, letter)
    domain = domains.get(port.domain or draft.graph.bonds[place.bond].domain or "")
    unit = "" if domain is None else (domain.q_unit if letter == "q" else domain.p_unit)
    integral = is_integral(port.kind, place)
    start = port.start
    unknown = Unknown(
        name,
        "state" if integral else "dependent",
        0.0 if start is None else start.value,
        start is not None and start.written,
        None if start is None else start.fixed,
        port.nominal,
        unit,
        element.span if start is None else start.span,
    )
    number = draft.add_unknown(unknown)
    draft.storages[element.id, index] = number
    draft.names[name] = ("y", number)
    if integral:
        draft.values["rate", number] = place.own(INPUT[port.kind])
    else:
        draft.leaves["rate", number] = ("d", number)


def rate_of(draft: Draft, number: int) -> Expr:
    """The rate of an unknown as a leaf over keys."""
    return draft.leaves.get(("rate", number)) or ("v", ("rate", number))
