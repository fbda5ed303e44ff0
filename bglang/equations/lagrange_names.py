"""Lagrange's equations in the model's own names: coordinates, their derivatives, parameters as the source has them."""

from typing import Any

from bglang.equations.forms_modes import mode_expression, rejoin
from bglang.equations.lagrange import LagrangeForm
from bglang.equations.system import System
from bglang.expr import Expr, map_leaves
from bglang.expr.walk import leaf_set, rewrite
from bglang.graph.ir import BondGraph

GAINS = ("R", "C", "I", "m", "r", "e", "f")


def element_parameters(graph: BondGraph) -> frozenset[str]:
    """Parameters that are not the user's own but the value of an element's law: `mass.I` of `I mass(I = m)`."""
    names = {f"{e.name}.{gain}" for e in graph.elements for gain in GAINS}
    return frozenset(q.name for q in graph.parameters if q.name in names and q.value is not None)


class Written:
    """Expressions of a system over names; explicit algebraic unknowns and element parameters are written out."""

    def __init__(self, graph: BondGraph, system: System, names: dict[int, Expr] | None = None) -> None:
        self.system = system
        self.names = names or {}
        """Other names for some unknowns: velocities are `der(theta)`."""
        self._hidden = element_parameters(graph)
        self._explicit = explicit_values(system, frozenset(self.names))
        self._known: dict[tuple[Any, ...], Expr] = {}

    def __call__(self, e: Expr) -> Expr:
        return rewrite(e, self._leaf, rejoin)

    def variable(self, number: int) -> Expr:
        return self.names.get(number) or ("v", self.system.unknowns[number].name)

    def _leaf(self, leaf: tuple[Any, ...]) -> Expr:
        if leaf not in self._known:
            self._known[leaf] = self._make(leaf)
        return self._known[leaf]

    def _make(self, leaf: tuple[Any, ...]) -> Expr:
        kind = leaf[0]
        if kind == "y":
            value = self._explicit.get(leaf[1])
            return self(value) if value is not None else self.variable(leaf[1])
        if kind == "d":
            return ("der", self.variable(leaf[1]))
        if kind == "p":
            parameter = self.system.parameters[leaf[1]]
            if not parameter.name or (parameter.name in self._hidden and parameter.value == parameter.value):
                return self(parameter.value)
            return ("p", parameter.name)
        if kind == "z":
            return self(mode_expression(self.system.modes[leaf[1]], leaf[1]))
        return leaf


def explicit_values(system: System, keep: frozenset[int] = frozenset()) -> dict[int, Expr]:
    """Algebraic unknowns whose row is 0 = y - value, where that does not lead back to themselves."""
    found: dict[int, Expr] = {}
    for number, (unknown, row) in enumerate(zip(system.unknowns, system.rows, strict=True)):
        r = row.residual
        if unknown.kind != "algebraic" or number in keep or not isinstance(r, tuple) or r[:2] != ("-", ("y", number)):
            continue
        if ("y", number) not in leaf_set(r[2]):
            found[number] = r[2]
    return {n: e for n, e in found.items() if not _leads_back(n, found)}


def _leads_back(number: int, values: dict[int, Expr]) -> bool:
    seen, stack = set[int](), [number]
    while stack:
        for leaf in leaf_set(values[stack.pop()]):
            if leaf[0] == "y" and leaf[1] in values:
                if leaf[1] == number:
                    return True
                if leaf[1] not in seen:
                    seen.add(leaf[1])
                    stack.append(leaf[1])
    return False


def inline_explicit(e: Expr, values: dict[int, Expr]) -> Expr:
    """An expression with explicit unknowns replaced by their values, still over numbers."""

    def leaf(node: tuple[Any, ...]) -> Expr:
        return inline_explicit(values[node[1]], values) if node[0] == "y" and node[1] in values else node

    return map_leaves(e, leaf)


def lagrange_writer(form: LagrangeForm) -> Written:
    """Velocities are the derivatives of the coordinates."""
    names: dict[int, Expr] = {c.velocity: ("der", ("v", c.name)) for c in form.coordinates}
    names |= {c.acceleration: ("der", ("der", ("v", c.name))) for c in form.coordinates}
    names |= {m.unknown: ("v", m.name) for m in form.multipliers}
    return Written(form.graph, form.system, names)
