"""States that are flows and efforts instead of momenta and displacements: a change of variables in the system.

Where a storage's law gives its state x from its co-energy variable z (and other states), x = h(z, ...), every x in the
system becomes h and every rate of x the rate of h.  What is left is the same system over other unknowns, so whatever
can be written of the one can be written of the other.
"""

from typing import Any

from bglang.equations.eliminate import solve_linear
from bglang.equations.names import CO, STATE
from bglang.equations.system import Mode, Row, System
from bglang.expr import Expr, map_leaves
from bglang.expr.diff import time_derivative
from bglang.expr.invert import invert
from bglang.expr.walk import leaf_set, tree_size
from bglang.graph.ir import BondGraph, Element
from bglang.records import dataclass, replace

LONGEST = 2000
"""Leaves of an inverse that is still put in."""


@dataclass(frozen=True, slots=True)
class _Port:
    """A port of a storage: the number of its state, the name of its co-energy variable and its law z = value."""

    number: int
    name: str
    value: Expr


def to_coenergy(graph: BondGraph, system: System) -> tuple[System, list[str]]:
    """The system with co-energy variables where laws allow it; for every state that stays, why."""
    swap = _Swap(graph, system)
    for element in graph.elements:
        ports = swap.ports(element)
        if ports:
            swap.take(ports)
    return swap.finish(), swap.remarks


class _Swap:
    def __init__(self, graph: BondGraph, system: System) -> None:
        self.system = system
        self.numbers = {u.name: n for n, u in enumerate(system.unknowns) if u.kind != "algebraic"}
        self._storing = {n for n, u in enumerate(system.unknowns) if u.kind != "algebraic"}
        self.outputs = {o.name: o for o in system.outputs}
        self.inverses: dict[int, Expr] = {}
        self._open: list[int] = []
        """Inverses that mention states which may still be replaced."""
        """Old states over new ones, which are ("v", name) as long as others are still to come."""
        self.names: dict[int, str] = {}
        self.remarks: list[str] = []

    def ports(self, element: Element) -> list[_Port]:
        found = []
        for k, port in enumerate(element.ports):
            number = self.numbers.get(element.variable(k, STATE.get(port.kind, "")))
            if port.kind not in CO or number is None:
                continue
            name = element.variable(k, CO[port.kind])
            found.append(_Port(number, name, self._known(self.outputs[name].value)))
        return found

    def take(self, ports: list[_Port]) -> None:
        """One element: all its ports together where that is linear, else one after the other."""
        if len(ports) > 1:
            leaves = [("y", p.number) for p in ports]
            found = solve_linear([("-", p.value, ("v", p.name)) for p in ports], leaves)
            if found is not None and all(self._usable(e) for e in found):
                for p, solved in zip(ports, found, strict=True):
                    self._add(p, solved)
                return
        for p in ports:
            value = self._known(p.value)
            inverse = invert(value, ("y", p.number), ("v", p.name)) if self._usable(value) else None
            if inverse is not None and self._usable(inverse):
                self._add(p, inverse)
            else:
                self.remarks.append(self._why(p, value))

    def _known(self, e: Expr) -> Expr:
        return map_leaves(e, lambda leaf: self.inverses.get(leaf[1], leaf) if leaf[0] == "y" else leaf)

    def _usable(self, e: Expr) -> bool:
        """Over states and what is constant between events only."""
        return tree_size(e) <= LONGEST and all(
            leaf[0] in "pztv" or (leaf[0] == "y" and leaf[1] in self._storing) for leaf in leaf_set(e)
        )

    def _why(self, p: _Port, value: Expr) -> str:
        state = self.system.unknowns[p.number].name
        leaves = leaf_set(value)
        if ("y", p.number) not in leaves:
            return f"{state} stays: {p.name} does not depend on it."
        others = [
            self.system.unknowns[leaf[1]].name for leaf in leaves if leaf[0] == "y" and leaf[1] not in self._storing
        ]
        if others:
            return f"{state} stays: {p.name} depends on {', '.join(sorted(others))}, too, which is no state."
        return f"{state} stays: its law gives {p.name} and has no closed inverse."

    def _add(self, p: _Port, inverse: Expr) -> None:
        leaf: Expr = ("y", p.number)
        new = map_leaves(inverse, lambda x: self.inverses.get(x[1], x) if x[0] == "y" else x)
        for n in self._open:
            self.inverses[n] = _put(self.inverses[n], leaf, new)
        self.inverses[p.number] = new
        self._open = [n for n in (*self._open, p.number) if any(x[0] == "y" for x in leaf_set(self.inverses[n]))]
        self.names[p.number] = p.name

    def _start(self, n: int) -> Expr:
        """What the law gives where the states start."""
        starts = [u.start for u in self.system.unknowns]

        def leaf_value(leaf: tuple[Any, ...]) -> Expr:
            if leaf[0] == "y":
                return starts[int(leaf[1])]
            return self.system.experiment.start if leaf[0] == "t" else leaf

        return map_leaves(self.outputs[self.names[n]].value, leaf_value)

    def finish(self) -> System:
        back = {name: n for n, name in self.names.items()}

        def numbered(e: Expr) -> Expr:
            return map_leaves(e, lambda x: ("y", back[x[1]]) if x[0] == "v" and x[1] in back else x)

        values = {n: numbered(e) for n, e in self.inverses.items()}
        rates = {
            n: time_derivative(e, lambda leaf: ("d", leaf[1]) if leaf[0] == "y" else 0.0) for n, e in values.items()
        }

        def leaf_value(leaf: tuple[Any, ...]) -> Expr:
            if leaf[0] not in "yd":
                return leaf
            return (values if leaf[0] == "y" else rates).get(leaf[1], leaf)

        def change(e: Expr) -> Expr:
            return map_leaves(e, leaf_value)

        unknowns = tuple(
            replace(u, name=self.names[n], unit=self.outputs[self.names[n]].unit, start=self._start(n))
            if n in self.names
            else u
            for n, u in enumerate(self.system.unknowns)
        )
        return replace(
            self.system,
            unknowns=unknowns,
            rows=tuple(_changed(row, change) for row in self.system.rows),
            modes=tuple(_turned(mode, change) for mode in self.system.modes),
            outputs=tuple(replace(o, value=change(o.value)) for o in self.system.outputs),
        )


def _put(e: Expr, leaf: Expr, value: Expr) -> Expr:
    return map_leaves(e, lambda x: value if x == leaf else x)


def _changed(row: Row, change: Any) -> Row:
    return replace(row, residual=change(row.residual))


def _turned(mode: Mode, change: Any) -> Mode:
    return replace(mode, roots=tuple(change(e) for e in mode.roots), arguments=tuple(change(e) for e in mode.arguments))
