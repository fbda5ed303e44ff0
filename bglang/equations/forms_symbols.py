"""What the letters of a page stand for: states with their starts, parameters with their values."""

from collections.abc import Iterable
from typing import Any

from bglang.equations.lagrange_names import Written
from bglang.equations.system import System
from bglang.expr import Expr
from bglang.expr.gather import with_short_numbers
from bglang.expr.simplify import simplify
from bglang.expr.text import text
from bglang.expr.walk import leaf_set
from bglang.graph.ir import BondGraph
from bglang.records import dataclass

DIGITS = 7


@dataclass(frozen=True, slots=True)
class Symbol:
    """A state or parameter: where it starts or what it is, in what unit, and what the source says about it."""

    name: str
    kind: str
    value: Expr | None
    unit: str
    description: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "value": None if self.value is None else text(self.value),
            "unit": self.unit,
            "description": self.description,
        }

    def row(self) -> tuple[str, str, str]:
        """The name as it is, and two columns of words."""
        shown = "" if self.value is None else text(with_short_numbers(self.value, DIGITS))
        if isinstance(self.value, tuple):  # its unit is that of what it follows from
            value = shown
        else:
            value = f"{shown} {self.unit}".strip() if shown else f"no value{f', in {self.unit}' if self.unit else ''}"
        if self.kind == "state":
            value = f"starts at {value}"
        return self.name, value, self.description


def state_symbols(graph: BondGraph, system: System) -> tuple[Symbol, ...]:
    written = Written(graph, system)
    words = {o.name: o.description for o in system.outputs}
    return tuple(
        Symbol(u.name, "state", simplify(written(u.start)), u.unit, words.get(u.name, ""))
        for u in system.unknowns
        if u.kind == "state"
    )


def parameter_symbols(graph: BondGraph, shown: Iterable[Expr]) -> tuple[Symbol, ...]:
    """The parameters that the page mentions, and those that their values mention."""
    values = {p.name: p for p in graph.parameters}
    found = set[str]()
    waiting = [leaf[1] for e in shown for leaf in leaf_set(e) if leaf[0] == "p"]
    while waiting:
        name = waiting.pop()
        if name in values and name not in found:
            found.add(name)
            value = values[name].value
            waiting += [leaf[1] for leaf in leaf_set(value) if leaf[0] == "p"] if value is not None else []
    return tuple(
        Symbol(p.name, "parameter", p.value, p.unit, p.description) for p in graph.parameters if p.name in found
    )
