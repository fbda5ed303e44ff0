"""Lagrange's equations for people and for machines."""

from typing import Any

from bglang.diagnostics import Diagnostic, warning
from bglang.equations.lagrange import LagrangeForm
from bglang.equations.lagrange_constraints import Constraint, Constraints, study_constraints
from bglang.equations.lagrange_names import Written, explicit_values, inline_explicit, lagrange_writer
from bglang.equations.lagrange_stabilise import Level
from bglang.equations.page import Line, Page, Section
from bglang.expr import Expr, call, map_leaves, neg, product
from bglang.expr.diff import time_derivative
from bglang.expr.invert import linear_in
from bglang.expr.simplify import collect, read, simplify, write
from bglang.expr.text import text
from bglang.expr.walk import leaf_set
from bglang.records import dataclass


@dataclass(frozen=True, slots=True)
class Balance:
    """0 = residual at a junction."""

    junction: str
    residual: Expr
    origin: str
    holonomic: bool | None = None


@dataclass(frozen=True, slots=True)
class LagrangeEquations:
    """The equations of one model in chosen coordinates."""

    model: str
    coordinates: tuple[tuple[str, str], ...]
    """Name and junction."""
    multipliers: tuple[tuple[str, str], ...]
    equations: tuple[Balance, ...]
    constraints: tuple[Balance, ...]
    level: Level
    degrees_of_freedom: int
    redundant: tuple[str, ...]
    inserted: tuple[str, ...]
    auxiliary: tuple[tuple[str, Expr, str], ...]
    """Further variables that occur, with their equations (0 = residual) and origins."""
    warnings: tuple[Diagnostic, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """What `equations --form lagrange --json` prints."""
        return {
            "model": self.model,
            "form": "lagrange",
            "coordinates": [{"name": name, "junction": junction} for name, junction in self.coordinates],
            "multipliers": [{"name": name, "junction": junction} for name, junction in self.multipliers],
            "equations": [{"junction": b.junction, "residual": text(b.residual)} for b in self.equations],
            "constraints": [
                {"junction": b.junction, "residual": text(b.residual), "holonomic": bool(b.holonomic)}
                for b in self.constraints
            ],
            "degrees_of_freedom": self.degrees_of_freedom,
            "level": self.level,
            "redundant": list(self.redundant),
            "inserted": list(self.inserted),
            "auxiliary": [{"name": name, "residual": text(e)} for name, e, _ in self.auxiliary],
        }

    def page(self) -> Page:
        head = [f"Coordinates: {_pairs(self.coordinates)}."]
        if self.multipliers:
            head.append(f"Multipliers: {_pairs(self.multipliers)}.")
        freedom = self.degrees_of_freedom
        count = len(self.constraints) - len(self.redundant)
        head.append(
            f"{_counted(freedom, 'degree')} of freedom: {_counted(len(self.coordinates), 'coordinate')}, "
            f"{_counted(count, 'independent constraint')}."
        )
        if self.redundant:
            head.append(f"Redundant: the constraints of {', '.join(self.redundant)} follow from the others.")
        if self.inserted:
            head.append(f"Junctions put in where velocities meet: {', '.join(self.inserted)}.")
        sections = [Section("Lagrange's equations", tuple(Line(0.0, b.residual, b.origin) for b in self.equations))]
        if self.constraints:
            lines = tuple(Line(0.0, b.residual, f"{b.origin}, {_kind(b.holonomic)}") for b in self.constraints)
            sections.append(Section(f"Constraints, at the level of {self.level}", lines))
        if self.auxiliary:
            lines = tuple(_explicit(name, e, origin) for name, e, origin in self.auxiliary)
            sections.append(Section("Further variables", lines))
        return Page(f"{self.model}: Lagrange's equations", tuple(head), tuple(sections))

    def __str__(self) -> str:
        return self.page().text()

    def latex(self) -> str:
        return self.page().latex()


def lagrange_equations(form: LagrangeForm, level: Level = "velocity") -> LagrangeEquations:
    """The form in the model's names, simplified: accelerations first, then multipliers, then the rest."""
    return _Writer(form, study_constraints(form), level).write()


class _Writer:
    def __init__(self, form: LagrangeForm, constraints: Constraints, level: Level) -> None:
        self.form, self.constraints, self.level = form, constraints, level
        self.named = lagrange_writer(form)
        self.values = explicit_values(form.system, form.kept)
        self.kept = form.kept
        self.next: dict[int, Expr] = {c.position: ("y", c.velocity) for c in form.coordinates}
        self.next |= {c.velocity: ("y", c.acceleration) for c in form.coordinates}
        order = [c.acceleration for c in form.coordinates] + [m.unknown for m in form.multipliers]
        order += [c.velocity for c in form.coordinates]
        self.rank = {number: k for k, number in enumerate(order)}
        self.seen: dict[int, None] = {}
        self.warnings: list[Diagnostic] = []

    def write(self) -> LagrangeEquations:
        form = self.form
        equations = []
        velocities = {c.velocity for c in form.coordinates}
        for c in form.coordinates:
            raw = form.system.rows[c.acceleration].residual
            self._note(raw)
            shown = collect(self.named(raw), self._leading(raw, velocities))
            equations.append(Balance(c.junction, shown, f"balance at {c.junction}"))
        constraints = [self._constraint(c) for c in self.constraints.all]
        return LagrangeEquations(
            form.system.name,
            tuple((c.name, c.junction) for c in form.coordinates),
            tuple((m.name, m.junction) for m in form.multipliers),
            tuple(equations),
            tuple(constraints),
            self.level,
            self.constraints.degrees_of_freedom,
            tuple(self.constraints.all[k].multiplier.junction for k in self.constraints.redundant),
            tuple(e.name for e in form.graph.elements if e.description == "where two velocities meet"),
            tuple(self._auxiliary()),
            tuple(self.warnings),
        )

    def _constraint(self, c: Constraint) -> Balance:
        junction = c.multiplier.junction
        residual = c.velocity
        if self.level == "acceleration":
            residual = time_derivative(c.velocity, self._rate)
        elif self.level == "position" and c.position is not None:
            start = map_leaves(c.position, self._start)
            residual = call("-", c.position, start)
        elif self.level == "position":
            self._no_position(c)
        self._note(residual)
        shown = _positive(collect(self.named(residual), self._leading(residual, set())))
        return Balance(junction, shown, f"balance at {junction}", c.holonomic)

    def _leading(self, e: Expr, leave: set[int]) -> list[Expr]:
        """Accelerations, multipliers and velocities that occur, in this order, by name."""
        found = {leaf[1] for leaf in leaf_set(inline_explicit(e, self.values)) if leaf[0] == "y"}
        numbers = sorted((n for n in found if n in self.rank and n not in leave), key=self.rank.__getitem__)
        return [self.named.variable(n) for n in numbers]

    def _no_position(self, c: Constraint) -> None:
        why = (
            "It is not holonomic: no function of the coordinates has this balance as its rate."
            if not c.holonomic
            else "It can be integrated, but not by the rules that are known here."
        )
        self.warnings.append(
            warning(
                "lagrange/no-position",
                f"the constraint of `{c.multiplier.junction}` has no position level here",
                c.multiplier.span,
                reason=why,
                hint="its balance of velocities is shown instead",
                component=c.multiplier.junction,
            )
        )

    def _start(self, leaf: tuple[Any, ...]) -> Expr:
        if leaf[0] == "t":
            return self.form.system.experiment.start
        return self.form.system.unknowns[leaf[1]].start if leaf[0] == "y" else leaf

    def _rate(self, leaf: tuple[Any, ...]) -> Expr:
        """Of positions the velocities, of velocities the accelerations, of other states what their row says."""
        number = leaf[1]
        if number in self.next:
            return self.next[number]
        linear = linear_in(inline_explicit(self.form.system.rows[number].residual, self.values), ("d", number))
        return ("d", number) if linear is None or linear[0] != 1.0 else neg(linear[1])

    # --- what else occurs ---------------------------------------------------------------------------------------------

    def _note(self, e: Expr) -> None:
        for leaf in leaf_set(inline_explicit(e, self.values)):
            if leaf[0] in "yd" and leaf[1] not in self.kept:
                self.seen.setdefault(leaf[1])

    def _auxiliary(self) -> list[tuple[str, Expr, str]]:
        system, made, done = self.form.system, list[tuple[str, Expr, str]](), set[int]()
        while waiting := [n for n in self.seen if n not in done]:
            for number in waiting:
                done.add(number)
                row = system.rows[number]
                self._note(row.residual)
                unknown = system.unknowns[number]
                origin = f"{row.component}, {row.span}" if row.component else str(row.span)
                made.append((unknown.name, simplify(self.named(row.residual)), origin))
        return made


def _positive(e: Expr) -> Expr:
    """The residual without a leading minus: a balance may be turned round."""
    first = e[1] if isinstance(e, tuple) and e[0] == "+" else e
    leading = first
    while isinstance(leading, tuple) and leading[0] in ("*", "/") and isinstance(leading[1], tuple):
        leading = leading[1]
    number = leading[1] if isinstance(leading, tuple) and leading[0] in ("*", "/") else 0.0
    if not (isinstance(leading, tuple) and leading[0] == "neg") and not (isinstance(number, float) and number < 0.0):
        return e
    terms = e[1:] if isinstance(e, tuple) and e[0] == "+" else (e,)
    return ("+", *(_turned(t) for t in terms)) if len(terms) > 1 else _turned(terms[0])


def _turned(term: Expr) -> Expr:
    """Minus the term, with the sign inside where it stands there."""
    if isinstance(term, tuple) and term[0] == "neg":
        return neg(term)
    if isinstance(term, tuple) and term[0] == "*" and isinstance(term[1], float):
        return product([-term[1], *term[2:]])
    if isinstance(term, tuple) and term[0] in ("*", "/") and isinstance(term[1], tuple) and term[1][0] == "neg":
        return (term[0], term[1][1], *term[2:])
    if isinstance(term, tuple) and term[0] == "*" and isinstance(term[1], tuple) and term[1][0] == "+":
        return ("*", write({m: -c for m, c in read(term[1]).items()}), *term[2:])
    return neg(term)


def _explicit(name: str, e: Expr, origin: str) -> Line:
    """der(x) = value where the residual says so."""
    rate = ("der", ("v", name))
    linear = linear_in(_with_leaf(e, rate), ("v", "the rate"))
    if linear is not None and linear[0] == 1.0:
        return Line(rate, simplify(neg(linear[1])), origin)
    return Line(0.0, e, origin)


def _with_leaf(e: Expr, part: Expr) -> Expr:
    if e == part:
        return ("v", "the rate")
    if not isinstance(e, tuple) or e[0] in ("v", "p", "t"):
        return e
    return (e[0], *(_with_leaf(a, part) if isinstance(a, tuple) else a for a in e[1:]))


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _pairs(items: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{name} (at {junction})" for name, junction in items)


def _kind(holonomic: bool | None) -> str:
    return "holonomic" if holonomic else "not holonomic"


__all__ = ["Balance", "LagrangeEquations", "Written", "lagrange_equations"]
