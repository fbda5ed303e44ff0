"""Every constitutive law in the direction that causality gave it: as it was given, inverted, or kept implicit."""

from typing import Any

from bglang.causality.result import Causality
from bglang.diagnostics import Report
from bglang.equations.draft import Attachment, Draft
from bglang.equations.forms_modes import mode_expression, rejoin
from bglang.equations.lagrange_names import element_parameters
from bglang.equations.laws import add_laws
from bglang.equations.maker import Maker
from bglang.equations.names import CO, INPUT, STATE, attach, is_integral, read_names
from bglang.equations.page import Line
from bglang.equations.signals import add_signals
from bglang.expr import Expr, map_leaves, neg
from bglang.expr.gather import shortest
from bglang.expr.invert import invert
from bglang.expr.text import text
from bglang.expr.walk import rewrite
from bglang.graph.ir import BondGraph, Element
from bglang.records import dataclass

HOW = {
    "given": "as given",
    "inverted": "inverted",
    "implicit": "implicit",
    "derivative": "in derivative causality",
    "implicit derivative": "implicit, in derivative causality",
}


@dataclass(frozen=True, slots=True)
class Direction:
    """One port of one element: what its law gives there.  `how` is given, inverted, implicit or derivative.

    In derivative causality it gives the stored quantity, whose rate goes to the bond."""

    element: str
    kind: str
    gives: str
    value: Expr | None
    how: str
    origin: str

    def to_dict(self) -> dict[str, Any]:
        shown = None if self.value is None else text(self.value)
        return {"element": self.element, "kind": self.kind, "gives": self.gives, "value": shown, "how": self.how}

    def line(self) -> Line:
        if self.value is None:
            return Line(("v", self.gives), ("v", "its law"), self.origin, HOW[self.how])
        left: Expr = 0.0 if "implicit" in self.how else ("v", self.gives)
        return Line(left, self.value, self.origin, HOW[self.how])


def prepare(graph: BondGraph, causality: Causality) -> tuple[Draft, Maker]:
    """Names and laws, before anything is put into anything else."""
    draft = Draft(graph, causality, Report())
    draft.attachments = attach(graph, causality)
    read_names(draft)
    maker = Maker(draft)
    add_signals(draft, maker)
    return draft, maker


def law_directions(graph: BondGraph, causality: Causality) -> tuple[Direction, ...]:
    draft, maker = prepare(graph, causality)
    add_laws(draft, maker)
    named = Named(draft, maker)
    made = []
    for element in graph.elements:
        if not element.laws or element.kind in ("J0", "J1", "TF", "GY"):
            continue
        for port, place in zip(element.ports, draft.attachments[element.id], strict=True):
            made.append(_direction(draft, named, element, port.kind, place))
    return tuple(made)


class Named:
    """Expressions over keys in the words of the model."""

    def __init__(self, draft: Draft, maker: Maker) -> None:
        self.draft, self.maker = draft, maker
        self.hidden = element_parameters(draft.graph)
        self.signals = {v: k for k, v in draft.names.items() if isinstance(v, tuple) and v[0] == "y"}

    def __call__(self, e: Expr, element: Element | None = None) -> Expr:
        own: dict[int, Expr] = {}
        if element is not None:
            for place in self.draft.attachments[element.id]:
                for letter in ("e", "f"):
                    name: Expr = ("v", element.variable(place.end.port, letter))
                    own[place.leaf(letter)[1]] = name if place.sign(letter) > 0 else neg(name)
        return shortest(rewrite(e, lambda leaf: self._leaf(leaf, own), rejoin))

    def _leaf(self, leaf: tuple[Any, ...], own: dict[int, Expr]) -> Expr:
        kind = leaf[0]
        if kind == "v":
            return own.get(leaf[1]) or ("v", self.draft.describe(leaf[1]))
        if kind in "yd":
            name: Expr = ("v", self.draft.unknowns[leaf[1]].name)
            return name if kind == "y" else ("der", name)
        if kind == "p":
            number = leaf[1] if isinstance(leaf[1], int) else self.maker.parameters.numbers[leaf[1]]
            parameter = self.maker.parameters.entries[number]
            if not parameter.name or (parameter.name in self.hidden and parameter.value == parameter.value):
                return map_leaves(parameter.value, lambda inner: self._leaf(inner, own))
            return ("p", parameter.name)
        if kind == "z":
            made = mode_expression(self.maker.modes.modes[leaf[1]], leaf[1])
            return rewrite(made, lambda inner: self._leaf(inner, own), rejoin)
        return leaf


def output_letter(element: Element, kind: str, place: Attachment) -> str:
    """What an element gives to its bond at a port."""
    if element.kind in ("Se", "Sf"):
        return "e" if element.kind == "Se" else "f"
    return "e" if place.sets_effort else "f"


def _direction(draft: Draft, named: Named, element: Element, kind: str, place: Attachment) -> Direction:
    port = place.end.port
    origin = f"{element.name}, {element.span}"
    shown_kind = element.kind if element.kind != "field" else f"field port {element.ports[port].name}"
    if kind in STATE and not is_integral(kind, place):
        number = draft.storages[element.id, port]
        row = draft.rows[number]
        stored = None if row is None else invert(row.residual, ("y", number), 0.0)
        if stored is not None:  # what it gives is the rate of this
            return Direction(
                element.name, shown_kind, draft.unknowns[number].name, named(stored, element), "derivative", origin
            )
        gives = element.variable(port, INPUT[kind])
        value = None if row is None else named(row.residual, element)
        return Direction(element.name, shown_kind, gives, value, "implicit derivative", origin)
    letter = output_letter(element, kind, place)
    gives = element.variable(port, letter)
    key = place.leaf(letter)[1]
    law = next((w for w in element.laws if w.port == port), element.laws[0])
    given = law.gives == letter and law.port == port
    if given:
        return Direction(element.name, shown_kind, gives, named(law.value), "given", origin)
    if key in draft.values:
        value = draft.values[key]
        turned = value if place.sign(letter) > 0 or element.kind in ("Se", "Sf") else neg(value)
        return Direction(element.name, shown_kind, gives, named(turned, element), "inverted", origin)
    leaf = draft.leaves.get(key)
    row = draft.rows[leaf[1]] if leaf is not None else None
    return Direction(
        element.name, shown_kind, gives, None if row is None else named(row.residual, element), "implicit", origin
    )


__all__ = ["CO", "Direction", "Named", "law_directions", "output_letter", "prepare"]
