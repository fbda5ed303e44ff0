"""Every variable of the model by its name, as an expression over the unknowns."""

from bglang.causality.result import PortKey
from bglang.equations.draft import Draft
from bglang.equations.inline import Inliner
from bglang.equations.names import STATE
from bglang.equations.system import Output
from bglang.expr import Expr, neg, product
from bglang.graph.ir import Domain, Element

Powers = dict[PortKey, Expr]
"""The power at each port: into passive elements, out of sources, from port 1 to port 2 of TF and GY."""


def list_outputs(draft: Draft, inliner: Inliner) -> tuple[tuple[Output, ...], Powers]:
    """Elements and junctions in declaration order, then named bonds, then signals; and the powers among them."""
    lister = _Lister(draft, inliner)
    for element in draft.graph.elements:
        lister.add_element(element)
    for bond in draft.graph.bonds:
        for name in bond.names:
            lister.add_bond(name, bond.id, bond.domain)
    for variable in draft.graph.variables:
        if variable.name in draft.names:
            value = inliner.output(draft.names[variable.name])
            lister.outputs.append(Output(variable.name, value, variable.unit, variable.description))
    return tuple(lister.outputs), lister.powers


class _Lister:
    def __init__(self, draft: Draft, inliner: Inliner) -> None:
        self.draft, self.inliner = draft, inliner
        self.domains = {d.name: d for d in draft.graph.domains}
        self.outputs: list[Output] = []
        self.powers: Powers = {}

    def domain(self, *names: str | None) -> Domain | None:
        for name in names:
            if name in self.domains:
                return self.domains[name]
        return None

    def add_element(self, element: Element) -> None:
        places = self.draft.attachments[element.id]
        names, output, bonds = self.draft.names, self.inliner.output, self.draft.graph.bonds
        if element.kind in ("J0", "J1"):
            letter = "f" if element.kind == "J1" else "e"
            name = f"{element.name}.{letter}"
            domain = self.domain(*(bonds[p.bond].domain for p in places[:1]))
            self.outputs.append(Output(name, output(names[name]), _unit(domain, letter), element.description))
            return
        text = element.description
        for port, place in zip(element.ports, places, strict=True):
            prefix = f"{element.name}.{port.name}" if port.name else element.name
            domain = self.domain(port.domain, bonds[place.bond].domain)
            e, f = output(place.own("e")), output(place.own("f"))
            if port.kind in STATE:
                state = f"{prefix}.{STATE[port.kind]}"
                self.outputs.append(Output(state, names[state], _unit(domain, STATE[port.kind]), text))
            self.outputs.append(Output(prefix + ".e", e, _unit(domain, "e"), text))
            self.outputs.append(Output(prefix + ".f", f, _unit(domain, "f"), text))
            power: Expr = ("*", e, f) if isinstance(e, tuple) and isinstance(f, tuple) else product([e, f])
            if element.kind in ("Se", "Sf") and not place.at_tail:
                power = neg(power)
            self.powers[element.id, place.end.port] = power
            self.outputs.append(Output(prefix + ".power", power, _power_unit(domain), text))

    def add_bond(self, name: str, number: int, domain_name: str | None) -> None:
        domain = self.domain(domain_name)
        e: Expr = self.inliner.output(("v", 2 * number))
        f: Expr = self.inliner.output(("v", 2 * number + 1))
        self.outputs.append(Output(f"{name}.e", e, _unit(domain, "e"), ""))
        self.outputs.append(Output(f"{name}.f", f, _unit(domain, "f"), ""))
        self.outputs.append(Output(f"{name}.power", product([e, f]), _power_unit(domain), ""))


def _unit(domain: Domain | None, letter: str) -> str:
    if domain is None:
        return ""
    return {"e": domain.effort, "f": domain.flow, "q": domain.q_unit, "p": domain.p_unit}[letter]


def _power_unit(domain: Domain | None) -> str:
    return "" if domain is None or domain.pseudo else "W"
