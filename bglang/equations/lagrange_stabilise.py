"""A Lagrange form made fit for integration: constraints differentiated, and held in place.

The balances A dq/dt + b = 0 are differentiated once, which determines the multipliers.  What keeps numerical error from
carrying the motion away is one of these:

ggl          after Gear, Gupta and Leimkuhler: dq/dt = v + (dΦ/dq)ᵀ μ with multipliers μ of their own for the positions,
             in its form of index 1: not Φ(q) = 0 and A v + b = 0 themselves are equations (these hold exactly at the
             start and after every event) but d/dt + alpha of both, so that deviations from both die out on their own.
             They stay at the tolerance; in exchange λ and the interpolated results keep the order of the method, which
             the form of index 2 costs them.
baumgarte    d²Φ/dt² + 2 alpha dΦ/dt + beta² Φ = 0

Both need Φ(q), which holonomic constraints have; others take d/dt(A v + b) + alpha (A v + b) = 0.
"""

from typing import Literal

from bglang.diagnostics import Report, error
from bglang.equations.lagrange import LagrangeForm
from bglang.equations.lagrange_constraints import Constraint, Constraints
from bglang.equations.system import Output, Row, System, SystemParameter, Unknown
from bglang.expr import Expr, call, map_leaves, neg, product, total
from bglang.expr.diff import diff, time_derivative
from bglang.expr.invert import linear_in
from bglang.expr.walk import leaf_set
from bglang.records import dataclass, replace

Level = Literal["position", "velocity", "acceleration"]
Stabilisation = Literal["ggl", "baumgarte", "penalty", "perturbation"]
LEVELS: tuple[Level, ...] = ("position", "velocity", "acceleration")
STABILISATIONS: tuple[Stabilisation, ...] = ("ggl", "baumgarte", "penalty", "perturbation")

RATE = 100.0
"""Without a wish of the user's, errors die out with this rate, per length of the run."""

MOVER = 100.0
"""Nominal size of the multipliers of positions: they are zero up to errors, which must not set the step."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Names of results that should be zero: the balance of a constraint, and its position where it has one."""

    junction: str
    velocity: str
    position: str | None


@dataclass(frozen=True, slots=True)
class Stabilised:
    """`constants` are parameters that hold Φ at the start: name, and the expression whose start value they take."""

    system: System
    drifts: tuple[Drift, ...]
    constants: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class Rates:
    """How fast errors die out (ggl, baumgarte); None: chosen from the length of the run."""

    alpha: float | None = None
    beta: float | None = None

    def settle(self, system: System) -> tuple[float, float]:
        length = system.experiment.stop - system.experiment.start
        alpha = self.alpha if self.alpha is not None else RATE / length if length > 0.0 else RATE
        return alpha, alpha if self.beta is None else self.beta


def check_redundant(form: LagrangeForm, constraints: Constraints, report: Report) -> None:
    """Constraints that follow from others leave their multipliers undetermined."""
    for k in constraints.redundant:
        multiplier = constraints.all[k].multiplier
        others = ", ".join(f"`{c.multiplier.junction}`" for i, c in enumerate(constraints.all) if i not in
                           constraints.redundant)  # fmt: skip
        empty = all(e == 0.0 for e in constraints.all[k].row)
        report.add(error(
            "lagrange/redundant",
            f"the constraint of `{multiplier.junction}` "
            + ("does not involve the coordinates" if empty else f"follows from those of {others}"),
            multiplier.span, label="more constraints than freedom",
            reason=f"{len(constraints.all)} constraints act on {len(form.coordinates)} coordinates, but only "
            f"{constraints.rank} of them are independent: `{multiplier.name}` could have any value.",
            hint="remove it, or let compliance share the load: `--stabilise penalty`", component=multiplier.junction,
        ))  # fmt: skip


def stabilise(
    form: LagrangeForm, constraints: Constraints, method: Literal["ggl", "baumgarte"], level: Level, rates: Rates
) -> Stabilised:
    """The system to integrate.  `level` says up to where errors are corrected; acceleration: not at all."""
    return _Stabiliser(form, method, level, rates).run(constraints)


class _Stabiliser:
    def __init__(self, form: LagrangeForm, method: str, level: Level, rates: Rates) -> None:
        self.form, self.method, self.level = form, method, level
        self.alpha, self.beta = rates.settle(form.system)
        self.unknowns = list(form.system.unknowns)
        self.rows = list(form.system.rows)
        self.parameters = list(form.system.parameters)
        self.outputs = list(form.system.outputs)
        self.drifts: list[Drift] = []
        self.constants: list[tuple[str, Expr]] = []

    def run(self, constraints: Constraints) -> Stabilised:
        for constraint in constraints.all:
            self._add(constraint)
        self._settle_kinds()
        self.rows = [replace(row, differential=_has_rates(row.residual)) for row in self.rows]
        system = replace(
            self.form.system, unknowns=tuple(self.unknowns), rows=tuple(self.rows), outputs=tuple(self.outputs),
            parameters=tuple(self.parameters),
            initial=(),
        )  # fmt: skip
        return Stabilised(system, tuple(self.drifts), tuple(self.constants))

    def _add(self, c: Constraint) -> None:
        number, junction = c.multiplier.unknown, c.multiplier.junction
        row = self.rows[number]
        phi = self._deviation(c) if c.position is not None else None
        if self.level == "position" and self.method == "ggl" and phi is not None:
            self._move_positions(c, phi, row)
        rate = time_derivative(c.velocity, self._rate)
        held = rate
        if self.level == "velocity" or (self.level == "position" and phi is None):
            held = total([rate, product([self.alpha, c.velocity])])
        elif self.level == "position" and self.method == "baumgarte":
            assert phi is not None
            held = total([rate, product([2.0 * self.alpha, c.velocity]), product([self.beta**2, phi])])
        elif self.level == "position":
            held = total([rate, product([self.alpha, c.velocity])])
        self.rows[number] = replace(row, residual=held, differential=_has_rates(held), position=c.velocity)
        self._observe(junction, c.velocity, phi)

    def _deviation(self, c: Constraint) -> Expr:
        """Φ(q) minus what it is at the start, which is one more parameter.

        Where the gradient of Φ is a multiple of the balance, that is still the same constraint."""
        assert c.position is not None
        name = f"constant of {c.multiplier.junction}"
        number = len(self.parameters)
        start = map_leaves(c.position, self._start)
        self.parameters.append(SystemParameter(name, start, True, None, None, c.multiplier.span))
        self.constants.append((name, c.position))
        return call("-", c.position, ("p", number))

    def _start(self, leaf: tuple[object, ...]) -> Expr:
        if leaf[0] == "t":
            return self.form.system.experiment.start
        assert isinstance(leaf[1], int)
        return self.form.system.unknowns[leaf[1]].start if leaf[0] == "y" else leaf

    def _move_positions(self, c: Constraint, phi: Expr, row: Row) -> None:
        """One more multiplier moves the coordinates along the gradient of Φ."""
        mover = len(self.unknowns)
        name = f"position multiplier of {c.multiplier.junction}"
        self.unknowns.append(Unknown(name, "algebraic", 0.0, False, None, MOVER, "", c.multiplier.span))
        for coordinate in self.form.coordinates:
            slope = diff(phi, ("y", coordinate.position))
            if slope != 0.0:
                old = self.rows[coordinate.position]
                residual = call("-", old.residual, product([slope, ("y", mover)]))
                self.rows[coordinate.position] = replace(old, residual=residual)
        held = total([time_derivative(phi, self._rate), product([self.alpha, phi])])
        self.rows.append(Row(held, _has_rates(held), row.component, row.span, position=phi))

    def _rate(self, leaf: tuple[object, ...]) -> Expr:
        """The rate of an unknown: what its row says, where that is explicit."""
        number = leaf[1]
        assert isinstance(number, int)
        residual = self.rows[number].residual
        linear = linear_in(residual, ("d", number)) if self.unknowns[number].kind == "state" else None
        if linear is None or linear[0] != 1.0 or _has_rates(linear[1]):
            return ("d", number)
        return neg(linear[1])

    def _observe(self, junction: str, velocity: Expr, phi: Expr | None) -> None:
        name = f"{junction}.constraint"
        self.outputs.append(Output(f"{name}_rate", velocity, "", "balance at the constraint"))
        if phi is not None:
            self.outputs.append(Output(name, phi, "", "deviation from the constraint"))
        self.drifts.append(Drift(junction, f"{name}_rate", name if phi is not None else None))

    def _settle_kinds(self) -> None:
        """A velocity whose rate nothing holds (no mass, no constraint) is algebraic: its balance is its row."""
        used = {
            leaf for k, row in enumerate(self.rows) for leaf in leaf_set(row.residual)
            if leaf[0] == "y" and self.unknowns[k].kind != "state"
        }  # fmt: skip
        for c in self.form.coordinates:
            if ("y", c.acceleration) not in used:
                self.unknowns[c.velocity] = replace(self.unknowns[c.velocity], kind="algebraic")
                self.rows[c.velocity] = self.rows[c.acceleration]
                self.rows[c.acceleration] = replace(self.rows[c.acceleration], residual=("y", c.acceleration))


def _has_rates(e: Expr) -> bool:
    return any(leaf[0] == "d" for leaf in leaf_set(e))
