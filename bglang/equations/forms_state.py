"""State equations der(x) = f(x, t), where they exist, and the differential-algebraic form otherwise.

What is algebraic is eliminated: laws that give a variable are put in, linear loops are solved by formula, dependent
storages are differentiated and their rates moved to the left.  What cannot be eliminated so is named, and the model is
shown with it as a DAE.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bglang.causality.result import Causality
from bglang.equations.forms_coenergy import to_coenergy
from bglang.equations.forms_elimination import Elimination
from bglang.equations.forms_events import event_lines
from bglang.equations.forms_laws import Direction, law_directions
from bglang.equations.forms_modes import mode_remarks
from bglang.equations.forms_symbols import Symbol, parameter_symbols, state_symbols
from bglang.equations.lagrange_names import Written, explicit_values
from bglang.equations.page import Line, Page, Section
from bglang.equations.system import Row, System
from bglang.expr import Expr, call, neg
from bglang.expr.gather import readable
from bglang.expr.invert import linear_in
from bglang.expr.text import text
from bglang.expr.walk import depends, leaf_set
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
    states: tuple[str, ...]
    equations: tuple[StateEquation, ...]
    laws: tuple[Direction, ...]
    events: tuple[str, ...]
    symbols: tuple[Symbol, ...]
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "form": self.form,
            "states": list(self.states),
            "equations": [
                {"name": e.name, "residual": text(_residual(e)), "origin": e.origin}
                | ({"rate": text(e.value)} if e.rate else {})
                for e in self.equations
            ],
            "laws": [law.to_dict() for law in self.laws],
            "events": list(self.events),
            "symbols": [symbol.to_dict() for symbol in self.symbols],
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
        if self.events:
            sections.append(Section("Events", remarks=self.events))
        if self.symbols:
            sections.append(Section("Symbols", table=tuple(symbol.row() for symbol in self.symbols)))
        return Page(f"{self.model}: {titles[self.form]}", self.remarks, tuple(sections))

    def __str__(self) -> str:
        return self.page().text()

    def latex(self) -> str:
        return self.page().latex()


def _residual(e: StateEquation) -> Expr:
    return call("-", ("der", ("v", e.name)), e.value) if e.rate else e.value


def written_form(graph: BondGraph, causality: Causality, system: System, explicit: bool, coenergy: bool) -> WrittenForm:
    """The equations by name; explicit state equations if asked for and possible."""
    remarks: list[str] = []
    if coenergy:
        system, remarks = to_coenergy(graph, system)
    form, made = "dae", None
    if explicit:
        solver = Elimination(system)
        rates = solver.rates()
        if rates is None:
            remarks.append(_obstacle(graph, system, solver.left))
        else:
            form, made = "state", _state_equations(graph, system, rates)
    if made is None:
        made = _dae(graph, system)
    laws = law_directions(graph, causality)
    shown = [e.value for e in made] + [law.value for law in laws if law.value is not None]
    return WrittenForm(
        system.name,
        form,
        tuple(u.name for u in system.unknowns if u.kind == "state"),
        made,
        laws,
        event_lines(graph),
        (*state_symbols(graph, system), *parameter_symbols(graph, shown)),
        (*remarks, *_modes(system, made)),
    )


def _obstacle(graph: BondGraph, system: System, left: Sequence[tuple[Any, ...]]) -> str:
    if not left:
        return "The explicit state equations would be too long to be read."
    written = Written(graph, system, junction_names(graph, system))
    names = ", ".join(text(written(leaf)) for leaf in left)
    return f"There are no explicit state equations: {names} cannot be eliminated by formula."


def _modes(system: System, equations: Sequence[StateEquation]) -> list[str]:
    names = {leaf[1] for e in equations for leaf in leaf_set(e.value) if leaf[0] == "v"}
    return mode_remarks(system.modes, names)


def _state_equations(graph: BondGraph, system: System, rates: Mapping[int, Expr]) -> tuple[StateEquation, ...]:
    written, origin = Written(graph, system), Origins(graph)
    return tuple(
        StateEquation(system.unknowns[n].name, readable(written(e)), origin(system.rows[n])) for n, e in rates.items()
    )


# --- differential-algebraic form --------------------------------------------------------------------------------------


def _dae(graph: BondGraph, system: System) -> tuple[StateEquation, ...]:
    explicit = set(explicit_values(system))
    written = Written(graph, system, junction_names(graph, system))
    origin, made = Origins(graph), []
    for n, (unknown, row) in enumerate(zip(system.unknowns, system.rows, strict=True)):
        if n in explicit:
            continue
        value = _rate_of(row.residual, n) if unknown.kind == "state" else None
        if value is not None:
            made.append(StateEquation(unknown.name, readable(written(value)), origin(row)))
        else:
            name = text(written.variable(n))
            made.append(StateEquation(name, readable(written(row.residual)), origin(row), rate=False))
    return tuple(made)


def junction_names(graph: BondGraph, system: System) -> dict[int, Expr]:
    """Algebraic unknowns that are the common variable of a junction, by its name: `w.f` says more than `tx.p1.f`."""
    left = {n for n, u in enumerate(system.unknowns) if u.kind == "algebraic"} - set(explicit_values(system))
    values = {o.name: o.value for o in system.outputs} if left else {}
    names: dict[int, Expr] = {}
    for element in graph.elements:
        if element.kind in ("J0", "J1") and left:
            name = f"{element.name}.{'f' if element.kind == 'J1' else 'e'}"
            value = values.get(name, 0.0)
            if isinstance(value, tuple) and value[0] == "y" and value[1] in left:
                names.setdefault(value[1], ("v", name))
    return names


def _rate_of(residual: Expr, n: int) -> Expr | None:
    """The rate of a state from its own row, where nothing has to be divided by but a slope of its own law."""
    linear = linear_in(residual, ("d", n))
    if linear is None or linear[0] == 0.0 or depends(linear[0], ("d", n)) or depends(linear[1], ("d", n)):
        return None
    if any(leaf[0] not in "pz" and leaf != ("y", n) for leaf in leaf_set(linear[0])):
        return None
    return call("/", neg(linear[1]), linear[0]) if linear[0] != 1.0 else neg(linear[1])


class Origins:
    """Where an equation comes from: its component, and the line that declares it."""

    def __init__(self, graph: BondGraph) -> None:
        self._places = {e.name: e.span for e in graph.elements}

    def __call__(self, row: Row) -> str:
        place = str(self._places.get(row.component, row.span))
        return f"{row.component}, {place}" if row.component else place
