"""State equations der(x) = f(x, t), where they exist, and the differential-algebraic form otherwise.

What is algebraic is eliminated: laws that give a variable are put in, linear loops are solved by formula, dependent
storages are differentiated and their rates moved to the left.  What cannot be eliminated so is named, and the model is
shown with it as a DAE.
"""

from collections.abc import Sequence
from typing import Any

from bglang.causality.result import Causality
from bglang.equations.draft import Key
from bglang.equations.eliminate import LIMIT, solve_linear
from bglang.equations.forms_laws import Direction, law_directions
from bglang.equations.forms_modes import mode_remarks
from bglang.equations.lagrange_names import Written, explicit_values
from bglang.equations.names import CO
from bglang.equations.order import components
from bglang.equations.page import Line, Page, Section
from bglang.equations.system import System
from bglang.expr import Expr, call, map_leaves, product, total
from bglang.expr.diff import diff
from bglang.expr.invert import invert
from bglang.expr.simplify import simplify
from bglang.expr.text import text
from bglang.expr.walk import leaf_set
from bglang.graph.ir import BondGraph
from bglang.records import dataclass


@dataclass(frozen=True, slots=True)
class StateEquation:
    """der(name) = value; in the DAE form also 0 = value, with `rate` False."""

    name: str
    value: Expr
    origin: str
    rate: bool = True


@dataclass(frozen=True, slots=True)
class WrittenForm:
    model: str
    form: str
    equations: tuple[StateEquation, ...]
    laws: tuple[Direction, ...]
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "form": self.form,
            "states": [e.name for e in self.equations if e.rate],
            "equations": [
                {"name": e.name, "residual": text(_residual(e)), "origin": e.origin}
                | ({"rate": text(e.value)} if e.rate else {})
                for e in self.equations
            ],
            "laws": [law.to_dict() for law in self.laws],
            "remarks": list(self.remarks),
        }

    def page(self) -> Page:
        titles = {"state": "state equations", "dae": "differential and algebraic equations"}
        rates = tuple(Line(("der", ("v", e.name)), e.value, e.origin) for e in self.equations if e.rate)
        rest = tuple(Line(0.0, e.value, e.origin) for e in self.equations if not e.rate)
        sections = [Section("States", rates)] if rates else []
        if rest:
            sections.append(Section("Algebraic equations", rest))
        if self.laws:
            sections.append(Section("Laws in their assigned direction", tuple(law.line() for law in self.laws)))
        return Page(f"{self.model}: {titles[self.form]}", self.remarks, tuple(sections))

    def __str__(self) -> str:
        return self.page().text()

    def latex(self) -> str:
        return self.page().latex()


def _residual(e: StateEquation) -> Expr:
    return call("-", ("der", ("v", e.name)), e.value) if e.rate else e.value


def written_form(graph: BondGraph, causality: Causality, system: System, explicit: bool, coenergy: bool) -> WrittenForm:
    """The equations by name; explicit state equations if asked for and possible."""
    laws = law_directions(graph, causality)
    remarks: list[str] = []
    if explicit:
        solver = Elimination(system)
        rates = solver.rates()
        if rates is not None:
            made = _state_equations(graph, system, rates, coenergy, remarks)
            remarks += _modes(system, made)
            return WrittenForm(system.name, "state", made, laws, tuple(remarks))
        names = ", ".join(solver.left)
        remarks.append(f"There are no explicit state equations: {names} cannot be eliminated by formula.")
    made = _dae(graph, system)
    return WrittenForm(system.name, "dae", made, laws, (*remarks, *_modes(system, made)))


def _modes(system: System, equations: Sequence[StateEquation]) -> list[str]:
    names = {leaf[1] for e in equations for leaf in leaf_set(e.value) if leaf[0] == "v"}
    return mode_remarks(system.modes, names)


# --- explicit state equations -----------------------------------------------------------------------------------------


class Elimination:
    """Algebraic variables in terms of states; then the rates of the states."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.values: dict[tuple[Any, ...], Expr] = {}
        self.left: list[str] = []

    def rates(self) -> dict[int, Expr] | None:
        """The rate of every state over states, parameters, modes and time; None where something is left over."""
        unknowns, rows = self.system.unknowns, self.system.rows
        if not self._solve_algebraic():
            return None
        for n, u in enumerate(unknowns):
            if u.kind == "dependent":
                self.values["d", n] = self._derivative(self.values["y", n])
        states = [n for n, u in enumerate(unknowns) if u.kind == "state"]
        equations = {n: self._put_in(rows[n].residual) for n in states}
        needs = {n: [leaf[1] for leaf in leaf_set(e) if leaf[0] == "d"] for n, e in equations.items()}
        for part in _parts(needs):
            residuals = [self._put_in(equations[n]) for n in part]
            found = solve_linear(residuals, [("d", n) for n in part])
            if found is None:
                self.left += [f"der({unknowns[n].name})" for n in part]
                return None
            for n, value in zip(part, found, strict=True):
                self.values["d", n] = value
        return {n: self.values["d", n] for n in states}

    def _solve_algebraic(self) -> bool:
        """Rows without rates first; rows that hold rates define variables that can be put in as they stand."""
        unknowns, rows = self.system.unknowns, self.system.rows
        others = [n for n, u in enumerate(unknowns) if u.kind != "state"]
        plain = set(others)
        needs = {n: [x[1] for x in leaf_set(rows[n].residual) if x[0] == "y" and x[1] in plain] for n in others}
        for part in _parts(needs):
            residuals = [self._put_in(rows[n].residual) for n in part]
            leaves: list[Expr] = [("y", n) for n in part]
            found = None
            if len(part) == 1:
                value = invert(residuals[0], leaves[0], 0.0)
                found = None if value is None else [value]
            elif len(part) <= LIMIT:
                found = solve_linear(residuals, leaves)
            if found is None:
                self.left += [unknowns[n].name for n in part]
                return False
            for n, value in zip(part, found, strict=True):
                self.values["y", n] = value
        return True

    def _put_in(self, e: Expr) -> Expr:
        """Known values instead of leaves, again until none is left."""
        while any(leaf in self.values for leaf in leaf_set(e)):
            e = map_leaves(e, lambda leaf: self.values.get(leaf, leaf))
        return e

    def _derivative(self, e: Expr) -> Expr:
        e = self._put_in(e)
        terms = [product([diff(e, leaf), ("d", leaf[1])]) for leaf in sorted(leaf_set(e)) if leaf[0] == "y"]
        return total([*terms, diff(e, ("t",))])


def _parts(needs: dict[int, list[int]]) -> list[list[int]]:
    """What depends on each other, dependencies first."""
    graph: dict[Key, list[Key]] = {n: [*others] for n, others in needs.items()}
    return [[n for n in part if isinstance(n, int)] for part in components(graph)]


def _state_equations(
    graph: BondGraph, system: System, rates: dict[int, Expr], coenergy: bool, remarks: list[str]
) -> tuple[StateEquation, ...]:
    names: dict[int, Expr] = {}
    swaps = _coenergy(graph, system, remarks) if coenergy else {}
    back: dict[Expr, Expr] = {("v", system.unknowns[n].name): inverse for n, (_, _, inverse) in swaps.items()}
    written = Written(graph, system, names)
    made = []
    for n, value in rates.items():
        row, unknown = system.rows[n], system.unknowns[n]
        name = unknown.name
        if n in swaps:
            name, slope, _ = swaps[n]
            value = product([slope, value])
        shown = map_leaves(written(value), lambda leaf: back.get(leaf, leaf))
        made.append(StateEquation(name, simplify(shown), _origin(row.component, str(row.span))))
    return tuple(made)


def _coenergy(graph: BondGraph, system: System, remarks: list[str]) -> dict[int, tuple[str, Expr, Expr]]:
    """For each storage: the name of its co-energy variable, its slope by the state, and the state from it."""
    numbers = {u.name: n for n, u in enumerate(system.unknowns) if u.kind == "state"}
    outputs = {o.name: o.value for o in system.outputs}
    written = Written(graph, system)
    found = {}
    for element in graph.elements:
        for k, port in enumerate(element.ports):
            if port.kind not in CO or element.variable(k, "q" if port.kind == "C" else "p") not in numbers:
                continue
            n = numbers[element.variable(k, "q" if port.kind == "C" else "p")]
            name = element.variable(k, CO[port.kind])
            value = outputs[name]
            states = {leaf for leaf in leaf_set(value) if leaf[0] in "ydz"}
            inverse = invert(value, ("y", n), ("v", name)) if states == {("y", n)} else None
            if inverse is None:
                remarks.append(f"{system.unknowns[n].name} stays: it does not follow from {name} alone.")
            else:
                found[n] = name, diff(value, ("y", n)), written(inverse)
    return found


# --- differential-algebraic form --------------------------------------------------------------------------------------


def _dae(graph: BondGraph, system: System) -> tuple[StateEquation, ...]:
    written = Written(graph, system)
    explicit = set(explicit_values(system))
    made = []
    for n, (unknown, row) in enumerate(zip(system.unknowns, system.rows, strict=True)):
        origin = _origin(row.component, str(row.span))
        if n in explicit:
            continue
        value = _rate_of(row.residual, n)
        if unknown.kind == "state" and value is not None:
            made.append(StateEquation(unknown.name, simplify(written(value)), origin))
        else:
            made.append(StateEquation(unknown.name, simplify(written(row.residual)), origin, rate=False))
    return tuple(made)


def _rate_of(residual: Expr, n: int) -> Expr | None:
    if isinstance(residual, tuple) and residual[0] == "-" and residual[1] == ("d", n):
        return residual[2] if ("d", n) not in leaf_set(residual[2]) else None
    return 0.0 if residual == ("d", n) else None


def _origin(component: str, place: str) -> str:
    return f"{component}, {place}" if component else place
