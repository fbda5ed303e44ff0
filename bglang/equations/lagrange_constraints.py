"""What the constraints of a Lagrange form are: how many count, whether they can be integrated, and to what.

A constraint is a balance A(q) dq/dt + b(q, t) = 0.  Its rank, and whether the whole set is holonomic, is judged at
points chosen at random (with a fixed seed): both are properties that hold almost everywhere or nowhere.  Holonomic is
tested by Frobenius' condition for the set: dω_i vanishes on all motions that all constraints allow.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bglang.equations.integrate import antiderivative
from bglang.equations.lagrange import LagrangeForm, Multiplier
from bglang.equations.lagrange_names import explicit_values, inline_explicit
from bglang.equations.system import System
from bglang.expr import TIME, Expr, product, total
from bglang.expr.diff import diff
from bglang.expr.evaluate import Values, evaluate
from bglang.expr.invert import linear_in
from bglang.expr.simplify import read, write
from bglang.expr.walk import depends, leaf_set
from bglang.kernels.tables import make_block
from bglang.records import dataclass

Array = NDArray[np.float64]
SAMPLES, TRIES, NEAR = 3, 40, 1e-9


@dataclass(frozen=True, slots=True)
class Constraint:
    """One balance.  `row` are the coefficients of the velocities, `rest` what is left of `velocity` without them.

    `holonomic` is None where the balance is not of the form A(q) dq/dt + b; `position` is a function of the coordinates
    that stays constant (its gradient is a multiple of `row`), where one was found in closed form."""

    multiplier: Multiplier
    velocity: Expr
    row: tuple[Expr, ...]
    rest: Expr
    holonomic: bool | None
    position: Expr | None


@dataclass(frozen=True, slots=True)
class Constraints:
    """`redundant` are the numbers of constraints that follow from those before them."""

    all: tuple[Constraint, ...]
    rank: int
    redundant: tuple[int, ...]
    degrees_of_freedom: int


def study_constraints(form: LagrangeForm) -> Constraints:
    study = _Study(form)
    return study.result()


class Numbers:
    """Values for the leaves of a system: parameters as given (random where they have no value), the rest at random."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.random = np.random.default_rng(20)
        p = np.zeros(len(system.parameters))
        for k, parameter in enumerate(system.parameters):
            try:
                value = evaluate(parameter.value, Values(p=p))
            except (ValueError, ZeroDivisionError, OverflowError):
                value = np.nan
            p[k] = value if np.isfinite(value) else self.random.uniform(0.5, 2.0)
        self.p = p
        values = Values(p=p)
        self.starts = np.array([evaluate(u.start, values) for u in system.unknowns])
        self.starts = np.where(np.isfinite(self.starts), self.starts, 0.0)
        tables = {
            t.key: make_block(
                np.array([evaluate(e, values) for e in t.x]), np.array([evaluate(e, values) for e in t.y]),
                t.method, t.outside, t.ends,
            )
            for t in system.tables
        }  # fmt: skip
        self.tables = tables

    def point(self) -> Values:
        """Somewhere near the start."""
        n = len(self.starts)
        y = self.starts + self.random.normal(0.0, 0.4, n) * np.maximum(np.abs(self.starts), 1.0)
        z = np.zeros(len(self.system.modes))
        return Values(t=float(self.random.uniform(0.0, 1.0)), y=y, d=np.zeros(n), p=self.p, z=z, tables=self.tables)

    def at_start(self) -> Values:
        n = len(self.starts)
        z = np.zeros(len(self.system.modes))
        return Values(t=0.0, y=self.starts, d=np.zeros(n), p=self.p, z=z, tables=self.tables)


class _Study:
    def __init__(self, form: LagrangeForm) -> None:
        self.form, self.system = form, form.system
        self.values = explicit_values(form.system, form.kept)
        self.numbers = Numbers(form.system)
        self.velocities: list[Expr] = [("y", c.velocity) for c in form.coordinates]
        self.positions: list[Expr] = [("y", c.position) for c in form.coordinates]
        self.balances = [self._split(m) for m in form.multipliers]

    def result(self) -> Constraints:
        rows = [balance[1] for balance in self.balances]
        rank, redundant = self._rank(rows)
        holonomic = self._frobenius()
        made = []
        for multiplier, (velocity, row, rest), integrable in zip(
            self.form.multipliers, self.balances, holonomic, strict=True
        ):
            position = self._position(row, rest) if integrable else None
            made.append(Constraint(multiplier, velocity, row, rest, integrable, position))
        return Constraints(tuple(made), rank, redundant, len(self.velocities) - rank)

    def _split(self, multiplier: Multiplier) -> tuple[Expr, tuple[Expr, ...], Expr]:
        e = write(read(inline_explicit(self.form.constraint(multiplier).residual, self.values)))
        row, rest = list[Expr](), e
        for leaf in self.velocities:
            linear = linear_in(rest, leaf)
            if linear is None:
                return e, tuple(diff(e, v) for v in self.velocities), 0.0
            row.append(write(read(linear[0])))
            rest = linear[1]
        return e, tuple(row), write(read(rest))

    # --- rank -------------------------------------------------------------------------------------------------------

    def _rank(self, rows: Sequence[Sequence[Expr]]) -> tuple[int, tuple[int, ...]]:
        best: tuple[int, tuple[int, ...]] = (0, tuple(range(len(rows))))
        if not rows:
            return best
        for values in self._points([e for row in rows for e in row]):
            matrix = np.array([[evaluate(e, values) for e in row] for row in rows]).reshape(len(rows), -1)
            kept, basis = list[int](), list[Array]()
            for k, row in enumerate(matrix):
                left = row.copy()
                for other in basis:
                    left = left - (left @ other) * other
                if np.linalg.norm(left) > NEAR * max(float(np.linalg.norm(row)), 1e-300):
                    basis.append(left / np.linalg.norm(left))
                    kept.append(k)
            if len(kept) > best[0]:
                best = len(kept), tuple(k for k in range(len(rows)) if k not in kept)
        return best

    def _points(self, needed: Sequence[Expr]) -> list[Values]:
        """A few points at which all the expressions have values."""
        found = list[Values]()
        for _ in range(TRIES):
            values = self.numbers.point()
            if all(np.isfinite(_number(e, values)) for e in needed):
                found.append(values)
                if len(found) == SAMPLES:
                    break
        return found

    # --- Frobenius --------------------------------------------------------------------------------------------------

    def _frobenius(self) -> list[bool | None]:
        """For each constraint: does its differential vanish on the motions that all constraints allow?"""
        if not self.balances:
            return []
        forms = [dict(zip(self.positions, row, strict=True)) | {TIME: rest} for _, row, rest in self.balances]
        axes = [*self.positions, TIME]
        pfaffian = [self._add_axes(form, forms, axes) for form in list(forms)]
        if not all(pfaffian):
            return [None if not good else False for good in pfaffian]
        slopes = [
            {(a, b): diff(e, b) for a, e in form.items() for b in axes if isinstance(e, tuple) and depends(e, b)}
            for form in forms
        ]
        answer: list[bool | None] = [True] * len(self.balances)
        needed = [e for form in forms for e in form.values()] + [e for table in slopes for e in table.values()]
        for values in self._points(needed):
            matrix = np.array([[_number(form.get(a, 0.0), values) for a in axes] for form in forms])
            allowed = _null_space(matrix)
            for i in range(len(self.balances)):
                table = slopes[i]
                gradient = np.array([[_number(table.get((a, b), 0.0), values) for b in axes] for a in axes])
                curl = allowed.T @ (gradient - gradient.T) @ allowed
                if np.abs(curl).max(initial=0.0) > 1e-7 * max(np.abs(gradient).max(initial=0.0), 1e-300):
                    answer[i] = False
        return answer

    def _add_axes(self, form: dict[Expr, Expr], forms: list[dict[Expr, Expr]], axes: list[Expr]) -> bool:
        """Other states that the coefficients read become axes, with their own rates as further forms."""
        waiting = list(form.values())
        while waiting:
            for leaf in leaf_set(waiting.pop()):
                if leaf[0] != "y" or leaf in axes:
                    continue
                extra = self._rate_form(leaf[1])
                if extra is None:
                    return False
                axes.append(leaf)
                forms.append(extra)
                waiting.extend(extra.values())
        return True

    def _rate_form(self, number: int) -> dict[Expr, Expr] | None:
        """ds - B dq - c dt for a state s whose rate is linear in the velocities."""
        row = self.system.rows[number].residual
        if self.system.unknowns[number].kind != "state" or ("y", number) in self.velocities:
            return None
        linear = linear_in(inline_explicit(row, self.values), ("d", number))
        if linear is None or linear[0] != 1.0:
            return None
        made, rest = dict[Expr, Expr](), linear[1]
        for position, velocity in zip(self.positions, self.velocities, strict=True):
            part = linear_in(rest, velocity)
            if part is None:
                return None
            made[position], rest = part
        return made | {TIME: rest, ("y", number): 1.0}

    # --- position level -----------------------------------------------------------------------------------------------

    def _position(self, row: Sequence[Expr], rest: Expr) -> Expr | None:
        """A function whose gradient is the row, up to a factor, checked at random points."""
        axes = [*self.positions, TIME]
        entries = [*row, rest]
        if any(leaf[0] == "y" and leaf not in axes for e in entries for leaf in leaf_set(e)):
            return None
        for factor in (1.0, _denominators(entries, axes)):
            scaled = [write(read(product([factor, e]))) for e in entries]
            potential = _potential(scaled, axes)
            if potential is not None and self._is_gradient(potential, scaled, axes):
                return potential
        return None

    def _is_gradient(self, potential: Expr, row: Sequence[Expr], axes: Sequence[Expr]) -> bool:
        slopes = [diff(potential, a) for a in axes]
        points = self._points([*slopes, *row])
        for values in points:
            one = np.array([_number(e, values) for e in slopes])
            two = np.array([_number(e, values) for e in row])
            if np.abs(one - two).max() > 1e-8 * max(np.abs(two).max(), 1e-300):
                return False
        return bool(points)


def _potential(row: Sequence[Expr], axes: Sequence[Expr]) -> Expr | None:
    found: Expr = 0.0
    for entry, axis in zip(row, axes, strict=True):
        left = write(read(total([entry, product([-1.0, diff(found, axis)])])))
        part = antiderivative(left, axis)
        if part is None:
            return None
        found = total([found, part])
    return write(read(found))


def _denominators(row: Sequence[Expr], axes: Sequence[Expr]) -> Expr:
    """What all terms must be multiplied with to be free of denominators that move: often an integrating factor."""
    powers: dict[Expr, int] = {}
    for entry in row:
        for monomial in read(entry):
            for atom, k in monomial:
                if k < 0 and any(depends(atom, axis) for axis in axes):
                    powers[atom] = max(powers.get(atom, 0), -k)
    return product([atom if k == 1 else ("^", atom, float(k)) for atom, k in powers.items()])


def _null_space(matrix: Array) -> Array:
    _, s, v = np.linalg.svd(matrix)
    rank = int((s > NEAR * max(s.max(initial=0.0), 1e-300)).sum())
    return np.asarray(v[rank:].T)


def _number(e: Expr, values: Values) -> float:
    if not isinstance(e, tuple):
        return float(e)
    with np.errstate(all="ignore"):
        try:
            return float(evaluate(e, values))
        except (ValueError, ZeroDivisionError, OverflowError):
            return float("nan")
