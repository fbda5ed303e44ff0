"""The units of the names of a graph: declared ones, and those that follow from the domain of a bond."""

from typing import Any

from bglang.diagnostics import Report, warning
from bglang.graph.ir import Bond, BondGraph
from bglang.graph.units import SECOND, WATT, Unit, UnknownUnit, parse_unit, spell
from bglang.source import Span

_LETTERS = ("e", "f", "q", "p", "power")


class UnitTable:
    """`anything` is False when no unit is known at all, so that there is nothing to check."""

    def __init__(self, graph: BondGraph, report: Report):
        self.report = report
        self.domains = {d.name: d for d in graph.domains}
        self.parameters = {p.name: p for p in graph.parameters}
        self.anything = bool(graph.domains)
        self.domain_of_port = dict[tuple[int, int], str | None]()
        self._parsed: dict[str, Unit | None] = {"": None}
        self._declared: dict[tuple[str, str], tuple[Unit, str]] = {}
        self._domain_of_name: dict[str, str] = {}
        self._of_domain: dict[tuple[str, str], tuple[Unit | None, str]] = {}
        for parameter in graph.parameters:
            self._declare(("p", parameter.name), parameter.unit, parameter.span)
        for variable in graph.variables:
            self._declare(("v", variable.name), variable.unit, variable.span)
        for bond in graph.bonds:
            self._bond(graph, bond)

    def unit(self, leaf: tuple[Any, ...]) -> Unit | None:
        """The unit of a variable or parameter, None if it is not known."""
        return self._find(leaf)[0]

    def written(self, leaf: tuple[Any, ...]) -> str:
        """The unit as somebody wrote it."""
        return self._find(leaf)[1]

    def of_domain(self, domain: str | None, letter: str) -> Unit | None:
        """The unit of an effort, flow, displacement, momentum or power in a domain."""
        return self._look_up(domain, letter)[0] if domain else None

    def _find(self, leaf: tuple[Any, ...]) -> tuple[Unit | None, str]:
        if len(leaf) != 2:
            return None, ""
        found = self._declared.get((leaf[0], leaf[1]))
        if found is not None:
            return found
        if leaf[0] == "v":
            owner, _, letter = leaf[1].rpartition(".")
            domain = self._domain_of_name.get(owner)
            if domain is not None and letter in _LETTERS:
                return self._look_up(domain, letter)
        return None, ""

    def _declare(self, leaf: tuple[str, str], text: str, span: Span) -> None:
        unit = self._parse(text, span)
        if unit is not None:
            self.anything = True
            self._declared[leaf] = unit, text

    def _parse(self, text: str, span: Span) -> Unit | None:
        if text not in self._parsed:
            try:
                self._parsed[text] = parse_unit(text)
            except UnknownUnit as problem:
                self._parsed[text] = None
                self.report.add(
                    warning(
                        "units/unknown",
                        f'the unit "{text}" is not known: {problem}',
                        span,
                        reason="What has it is taken as having no unit, so nothing is checked.",
                        hint='units look like "N.m/rad", "kg.m2", "1/s", "ohm".',
                    )
                )
        return self._parsed[text]

    def _bond(self, graph: BondGraph, bond: Bond) -> None:
        for end in (bond.tail, bond.head):
            element = graph.elements[end.element]
            port = element.ports[end.port] if end.port < len(element.ports) else None
            domain = bond.domain or (port.domain if port is not None else None)
            self.domain_of_port[end.element, end.port] = domain
            if domain is not None:
                inner = port is not None and element.kind not in ("J0", "J1") and port.name
                self._domain_of_name[f"{element.name}.{inner}" if inner else element.name] = domain
        if bond.domain is not None:
            self._domain_of_name.update(dict.fromkeys(bond.names, bond.domain))

    def _look_up(self, domain: str, letter: str) -> tuple[Unit | None, str]:
        found = self._of_domain.get((domain, letter))
        if found is None:
            found = self._of_domain[domain, letter] = self._made(domain, letter)
        return found

    def _made(self, domain: str, letter: str) -> tuple[Unit | None, str]:
        known = self.domains.get(domain)
        if known is None or (letter == "power" and known.pseudo):
            return None, ""
        if letter == "power":
            return WATT, "W"
        own = {"e": known.effort, "f": known.flow, "q": known.q_unit, "p": known.p_unit}[letter]
        unit = _quiet(own)
        if unit is None and letter in "qp":
            base = _quiet(known.flow if letter == "q" else known.effort)
            return (None, "") if base is None else (base * SECOND, spell(base * SECOND))
        return unit, own


def _quiet(text: str) -> Unit | None:
    try:
        return parse_unit(text) if text else None
    except UnknownUnit:
        return None
