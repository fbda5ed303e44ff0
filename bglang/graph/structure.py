"""Checks of the drawing: nodes without bonds, junctions that dangle, domains that meet."""

from collections import defaultdict
from collections.abc import Iterator

from bglang.diagnostics import Label, Report, error, warning
from bglang.graph.ir import Bond, BondGraph, Element
from bglang.graph.units import WATT, UnknownUnit, parse_unit, spell

_FREE = "`Se(e = 0)` at the open end lets it move freely, `Sf(f = 0)` holds it."


def check_structure(graph: BondGraph, report: Report) -> None:
    """Lone nodes, dangling junctions, domains."""
    bonded: dict[int, set[int]] = defaultdict(set)
    count: dict[int, int] = defaultdict(int)
    for bond in graph.bonds:
        for end in (bond.tail, bond.head):
            bonded[end.element].add(end.port)
            count[end.element] += 1
    for element in graph.elements:
        if element.type_name == "MCK":  # degrees of freedom that nothing is bonded to are free
            continue
        if element.kind in ("J0", "J1"):
            _junction(element, count[element.id], report)
        else:
            _ports(element, bonded[element.id], report)
    _domains(graph, report)
    _powers(graph, report)


def _junction(element: Element, count: int, report: Report) -> None:
    one, other = ("flow", "effort") if element.kind == "J1" else ("effort", "flow")
    if count == 0:
        report.add(
            error(
                "graph/lone-node",
                f"the junction `{element.name}` has no bond",
                element.span,
                reason=f"Nothing determines its {one}.",
                hint="bond it to something, or remove it.",
                component=element.name,
            )
        )
    elif count == 1:
        report.add(
            warning(
                "graph/dangling-junction",
                f"the junction `{element.name}` has a single bond",
                element.span,
                reason=f"The sum over its bonds is that one {other}, so the {other} is zero there.",
                component=element.name,
            )
        )


def _ports(element: Element, bonded: set[int], report: Report) -> None:
    missing = [port.name for k, port in enumerate(element.ports) if k not in bonded]
    if not missing:
        return
    hint = _FREE
    if element.kind in ("TF", "GY"):
        word = "transformer" if element.kind == "TF" else "gyrator"
        message = f"the {word} `{element.name}` needs two bonds, but has {len(bonded) or 'none'}"
        reason = f"Nothing is bonded to its port {' and '.join(f'`{name}`' for name in missing)}."
    elif len(element.ports) == 1:
        message, reason = f"`{element.name}` has no bond", "An element takes part only through its bond."
        hint = "draw a bond to it in the `bonds` section, or remove it."
    else:
        listed = ", ".join(f"`{name}`" for name in missing[:5]) + (", …" if len(missing) > 5 else "")
        message = f"nothing is bonded to {listed} of `{element.name}`"
        reason = "Every port of an element has one bond."
    report.add(error("graph/lone-node", message, element.span, reason=reason, hint=hint, component=element.name))


# --- domains --------------------------------------------------------------------------------------------------------


def _domains(graph: BondGraph, report: Report) -> None:
    """Domains spread from ports through bonds and junctions; where two of them meet is a mistake."""
    around: dict[int, list[Bond]] = defaultdict(list)
    told: dict[int, tuple[str, Element]] = {}
    waiting = list[Bond]()
    for bond in graph.bonds:
        for element, domain in _ends(graph, bond):
            if element.kind in ("J0", "J1"):
                around[element.id].append(bond)
            elif domain is not None and domain != "Any":
                known = told.get(bond.id)
                if known is None:
                    told[bond.id] = domain, element
                    waiting.append(bond)
                elif known[0] != domain:
                    _mismatch(bond, known, (domain, element), report)
    while waiting:
        bond = waiting.pop()
        for element, _ in _ends(graph, bond):
            for other in around.pop(element.id, ()):
                known = told.get(other.id)
                if known is None:
                    told[other.id] = told[bond.id]
                    waiting.append(other)
                elif known[0] != told[bond.id][0]:
                    _mismatch(other, told[bond.id], known, report)


def _ends(graph: BondGraph, bond: Bond) -> Iterator[tuple[Element, str | None]]:
    for end in (bond.tail, bond.head):
        element = graph.elements[end.element]
        yield element, element.ports[end.port].domain if end.port < len(element.ports) else None


def _mismatch(bond: Bond, first: tuple[str, Element], second: tuple[str, Element], report: Report) -> None:
    names = f"`{first[1].name}` is {first[0]} and `{second[1].name}` is {second[0]}"
    report.add(
        error(
            "domains/mismatch",
            f"{names}, but they share a bond or a junction",
            bond.span,
            related=[Label(e.span, d) for d, e in (first, second) if e.span.source is bond.span.source],
            reason="A bond has one domain, and so have all bonds of a junction.",
            hint="a transformer (TF), a gyrator (GY) or an element with several ports joins two domains.",
            component=second[1].name,
        )
    )


def _powers(graph: BondGraph, report: Report) -> None:
    for domain in graph.domains:
        if domain.pseudo or not domain.effort or not domain.flow:
            continue
        try:
            power = parse_unit(domain.effort) * parse_unit(domain.flow)
        except UnknownUnit:
            continue
        if not power.fits(WATT):
            report.add(
                error(
                    "graph/no-power",
                    f"in the domain `{domain.name}` effort times flow is `{spell(power)}`, not a power",
                    domain.span or graph.span,
                    reason=f'Its effort is in "{domain.effort}", its flow in "{domain.flow}"; the product must be W.',
                    hint="`pseudo = true` in the domain allows this and leaves it out of the energy audit.",
                )
            )
