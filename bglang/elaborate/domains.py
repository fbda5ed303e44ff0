"""Domains spread from ports and library elements through bonds and junctions; only TF, GY and fields join two."""

from collections.abc import Iterable

from bglang.diagnostics import Label, Report, error
from bglang.elaborate.definitions import Definition
from bglang.elaborate.elements import domain_name
from bglang.elaborate.libraries import Libraries
from bglang.elaborate.objects import ElementObject
from bglang.elaborate.wiring import Wire
from bglang.graph.ir import Domain
from bglang.records import dataclass
from bglang.source import Span
from bglang.syntax import ast


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that says which domain a bond belongs to."""

    domain: str
    what: str
    span: Span


def infer_domains(wires: list[Wire], report: Report) -> list[str | None]:
    """The domain of every bond, None where nothing says it; two different ones on one bond are reported."""
    groups = _Groups(len(wires))
    at_junction = dict[int, int]()
    for number, wire in enumerate(wires):
        for end in (wire.tail, wire.head):
            if end.kind == "J1" or end.kind == "J0":
                first = at_junction.setdefault(end.number, number)
                groups.join(first, number)
    claims = dict[int, Claim]()
    for number, wire in enumerate(wires):
        if not wire.ports and says_nothing(wire.tail) and says_nothing(wire.head):
            continue
        for claim in claims_of(wire):
            root = groups.root(number)
            before = claims.setdefault(root, claim)
            if before.domain != claim.domain:
                report_mismatch(before, claim, wire, report)
    if not claims:
        return [None] * len(wires)
    return [claims[root].domain if (root := groups.root(n)) in claims else None for n in range(len(wires))]


def says_nothing(element: ElementObject) -> bool:
    return element.inner is None and element.kind != "TF" and element.kind != "GY"


def claims_of(wire: Wire) -> list[Claim]:
    found = list[Claim]()
    for element, port in ((wire.tail, wire.tail_port), (wire.head, wire.head_port)):
        domain = port_domain(element, port)
        if domain is not None:
            found.append(Claim(domain, f"`{element.name}`", element.span))
    for model_port in wire.ports:
        if model_port.domain is not None:
            found.append(Claim(model_port.domain, f"the port `{model_port.name}`", model_port.span))
    return found


def port_domain(element: ElementObject, port: int) -> str | None:
    """The domain of one port of an element, where the element itself says it."""
    if element.kind in ("TF", "GY", "field"):
        return element.ports()[port].domain
    if element.inner is None or element.inner.body.domain is None:
        return None
    return domain_name(element.inner.body.domain)


def report_mismatch(before: Claim, claim: Claim, wire: Wire, report: Report) -> None:
    report.add(
        error(
            "domains/mismatch",
            f"{claim.what} is {claim.domain}, but {before.what} is {before.domain}",
            wire.span,
            label="these are joined here, or through junctions",
            related=[Label(before.span, before.domain), Label(claim.span, claim.domain)],
            reason="A bond has one domain, and junctions join bonds of one domain.",
            hint="a TF, a GY or a multiport element joins two domains.",
        )
    )


class _Groups:
    """Union-find over bonds."""

    def __init__(self, size: int):
        self.parent = list(range(size))

    def root(self, n: int) -> int:
        parent = self.parent
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    def join(self, a: int, b: int) -> None:
        a, b = self.root(a), self.root(b)
        if a != b:
            self.parent[max(a, b)] = min(a, b)


# --- what a domain is ------------------------------------------------------------------------------------------------

TEXTS = ("effort", "flow", "effort_name", "flow_name", "q_name", "q_unit", "p_name", "p_unit")


def read_domains(names: Iterable[str | None], library: Libraries, report: Report) -> list[Domain]:
    """The domains that a model uses, by name."""
    found = list[Domain]()
    for name in sorted({name for name in names if name is not None}):
        definition = library.top.path(name.split("."))
        if isinstance(definition, Definition):
            found.append(read_domain(name, definition, report))
    return found


def read_domain(name: str, definition: Definition, report: Report) -> Domain:
    from bglang.elaborate.hints import did_you_mean

    texts, pseudo = dict[str, str](), False
    for argument in definition.node.attributes:
        ident = argument.name.parts[0].ident if argument.name is not None else ""
        if ident == "pseudo" and isinstance(argument.value, ast.Bool):
            pseudo = argument.value.value
        elif ident in TEXTS and isinstance(argument.value, ast.String):
            texts[ident] = argument.value.value
        elif ident in TEXTS or ident == "pseudo":
            wanted = "`true` or `false`" if ident == "pseudo" else "a text in quotes"
            report.add(error("types/mismatch", f"`{ident}` of a domain is {wanted}", argument.span))
        else:
            hint = did_you_mean(ident, (*TEXTS, "pseudo"))
            report.add(error("names/unknown", f"a domain has no `{ident}`", argument.span, hint=hint))
    for needed in ("effort", "flow"):
        if needed not in texts:
            text = f"the domain `{name}` does not say the unit of its {needed}"
            report.add(
                error("domains/unit", text, definition.node.name_span, hint=f'write `domain {name}({needed} = "...")`.')
            )
    return Domain(
        name, texts.pop("effort", ""), texts.pop("flow", ""), **texts, pseudo=pseudo, span=definition.node.name_span
    )
