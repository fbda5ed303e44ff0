"""What the tests of elaboration share: source texts in, graphs or diagnostics out, in short notations."""

from contextlib import suppress
from typing import Any

from bglang.diagnostics import Report, SourceError
from bglang.elaborate import load_model
from bglang.graph.ir import Bond, BondGraph, Element, Law, Parameter
from bglang.source import Source


def graph(text: str, **options: Any) -> BondGraph:
    """The flat graph of a text that must be right."""
    report = Report()
    try:
        return load_model(Source("test.bg", text), report=report, **options)
    except SourceError as problem:
        raise AssertionError(
            "\n".join(f"{d.code} {d.span}: {d.message} {d.hint}" for d in problem.diagnostics)
        ) from None


def problems(text: str, **options: Any) -> list[str]:
    """Codes of all diagnostics of a text."""
    report = Report()
    with suppress(SourceError):  # its diagnostics are the report's
        load_model(Source("test.bg", text), report=report, **options)
    return [d.code for d in report]


def messages(text: str, **options: Any) -> str:
    """Everything that is said about a text."""
    report = Report()
    with suppress(SourceError):  # its diagnostics are the report's
        load_model(Source("test.bg", text), report=report, **options)
    return "\n".join(f"{d.code}: {d.message} | {d.label} | {d.reason} | {d.hint}" for d in report)


def show(e: Any) -> str:
    """An expression in prefix notation, short enough to compare."""
    if isinstance(e, float):
        return f"{e:g}"
    if not isinstance(e, tuple):
        return str(e)
    if e[0] in ("v", "p"):
        return str(e[1])
    return f"{e[0]}({', '.join(show(a) for a in e[1:])})"


def element(g: BondGraph, name: str) -> Element:
    return next(e for e in g.elements if e.name == name)


def names(g: BondGraph) -> list[str]:
    return [e.name for e in g.elements]


def law(g: BondGraph, name: str, number: int = 0) -> str:
    """`e = *(r.R, r.f)`"""
    one: Law = element(g, name).laws[number]
    return f"{one.gives or '0'} = {show(one.value)}"


def laws(g: BondGraph, name: str) -> list[str]:
    e = element(g, name)
    return [f"{e.ports[w.port].name + '.' if w.port >= 0 else ''}{w.gives or '0'} = {show(w.value)}" for w in e.laws]


def parameter(g: BondGraph, name: str) -> Parameter:
    return next(p for p in g.parameters if p.name == name)


def value(g: BondGraph, name: str) -> str:
    found = parameter(g, name).value
    return "-" if found is None else show(found)


def bonds(g: BondGraph) -> list[str]:
    """`a -> t.p1` for every bond; a minus in front of the letter that turns at an end."""
    return [f"{end(g, b, True)} -> {end(g, b, False)}" for b in g.bonds]


def end(g: BondGraph, bond: Bond, tail: bool) -> str:
    place = bond.tail if tail else bond.head
    e = g.elements[place.element]
    port = e.ports[place.port].name
    turned = "".join(f"[-{x}]" for x, sign in (("e", place.e_sign), ("f", place.f_sign)) if sign < 0)
    return e.name + (f".{port}" if port else "") + turned


def equations(g: BondGraph) -> list[str]:
    return [f"{show(q.left)} = {show(q.right)}" for q in g.equations]


def starts(g: BondGraph) -> dict[str, str]:
    """All written starts, of ports and variables."""
    found = {}
    for e in g.elements:
        for number, port in enumerate(e.ports):
            if port.start is not None and port.kind in ("C", "I"):
                found[e.variable(number, "q" if port.kind == "C" else "p")] = show(port.start.value)
    for v in g.variables:
        if v.start is not None:
            found[v.name] = show(v.start.value)
    return found
