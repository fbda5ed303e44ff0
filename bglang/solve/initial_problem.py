"""The equations of the start as one square system, for one set of modes."""

from collections.abc import Iterable, Sequence

import numpy as np

from bglang.equations.system import Row
from bglang.expr import Expr, leaves
from bglang.expr.diff import diff
from bglang.expr.evaluate import Values, evaluate
from bglang.solve.blocks import beside, empty, entries, finite, over, sparse, spread
from bglang.solve.consistent import Consistency, Instant
from bglang.solve.model import DENSE, Array, Matrix
from bglang.solve.newton import Factors, Outcome, holds
from bglang.solve.problem import Problem
from bglang.solve.starts import Plan

EXACT = 60
"""Up to so many unknowns the curvature of the laws enters the Jacobian of the differentiated laws."""


STEEP = 1e30
"""Slopes that differ by this factor cannot be told from dependent ones."""


class InitialProblem:
    """Unknowns: the values that do not hold their start; where needed also the rates and free parameters.

    Short form: the laws and the initial equations determine the free values; rates follow afterwards.  Long form,
    where an initial equation reads a rate, a parameter is to be found or a friction sticks: all equations and the
    differentiated laws determine values, rates and parameters together."""

    def __init__(self, problem: Problem, plan: Plan, z: Array, guess: Array):
        self.problem, self.plan, self.z = problem, plan, z
        n = len(problem.starts)
        self.y = guess.copy()
        self.y[list(plan.held)] = problem.starts[list(plan.held)]
        mask = np.ones(n, dtype=bool)
        mask[list(plan.held)] = False
        self.free = np.flatnonzero(mask)
        size = problem.sizes(self.y)
        consistency = Consistency(problem.model, size)
        at = Instant(problem.start, self.y, np.zeros(n), z)
        self.sorts = consistency.sorts(at, *consistency.jacobian(at.t, at.y, at.d, z))
        read_rates = any(leaf[0] == "d" for row in plan.equations for leaf in leaves(row.residual))
        self.long = bool(read_rates or plan.parameters or self.sorts.stiff)
        self._slopes = [_slopes(row.residual) for row in plan.equations]
        self._p_first = problem.p[list(plan.parameters)]
        if self.long:
            self.first = np.concatenate([self.y[self.free], np.zeros(n), self._p_first])
            p_size = np.where(self._p_first != 0.0, np.abs(self._p_first), 1.0)
            self.scale = np.concatenate([size[self.free], np.maximum(size, 1e-9), p_size])
        else:
            self.first = self.y[self.free]
            self.scale = size[self.free]

    @property
    def rows(self) -> Sequence[Row]:
        """The equations of the system, in its order."""
        rows = self.problem.system.rows
        laws = [rows[int(i)] for i in self.sorts.laws]
        return [*(rows if self.long else ()), *laws, *self.plan.equations]

    # --- reading the unknowns ---------------------------------------------------------------------------------------

    def read(self, u: Array) -> tuple[Problem, Instant]:
        """The problem (with found parameters) and the instant that a vector of unknowns means."""
        y = self.y.copy()
        y[self.free] = u[: len(self.free)]
        if not self.long:
            return self.problem, Instant(self.problem.start, y, np.zeros(len(y)), self.z)
        d = u[len(self.free) : len(self.free) + len(y)]
        return self._with(u[len(self.free) + len(y) :]), Instant(self.problem.start, y, d, self.z)

    def _with(self, parameters: Array) -> Problem:
        if not len(parameters) or np.array_equal(parameters, self.problem.p[list(self.plan.parameters)]):
            return self.problem
        names = [self.problem.system.parameters[k].name for k in self.plan.parameters]
        return self.problem.with_parameters(dict(zip(names, map(float, parameters), strict=True)))

    # --- the system -------------------------------------------------------------------------------------------------

    def residual(self, u: Array) -> Array:
        problem, at = self.read(u)
        model = problem.model
        f = model.residual(at.t, at.y, at.d, at.z)
        values = model.values(at.t, at.y, at.d, at.z)
        initial = [evaluate(row.residual, _initial(values)) for row in self.plan.equations]
        if not self.long:
            return np.concatenate([f[self.sorts.laws], initial])
        return np.concatenate([f, self._law_rates(problem, at), initial])

    def _law_rates(self, problem: Problem, at: Instant) -> Array:
        f_y = self._jacobian(problem, at)[0][self.sorts.laws]
        return np.asarray(f_y @ at.d + problem.model.residual_t(at.t, at.y, at.d, at.z)[self.sorts.laws])

    def jacobian(self, u: Array) -> Matrix:
        problem, at = self.read(u)
        n, free = len(at.y), self.free
        f_y, f_d = self._jacobian(problem, at)
        values = _initial(problem.model.values(at.t, at.y, at.d, at.z))
        by_y = self._equation_slopes("y", values, n)
        if not self.long:
            return over([f_y[self.sorts.laws][:, free], by_y[:, free]])
        by_d = self._equation_slopes("d", values, n)
        laws = f_y[self.sorts.laws]
        top = beside([f_y[:, free], f_d])
        middle = beside([self._curvature(problem, at), laws])
        body = over([top, middle, beside([by_y[:, free], by_d])])
        return beside([body, self._by_parameters(u)]) if self.plan.parameters else body

    def _curvature(self, problem: Problem, at: Instant) -> Matrix:
        """How the differentiated laws change with the free values: by differences, for small systems."""
        if len(self.free) > EXACT or not len(self.sorts.laws):
            return empty(len(self.sorts.laws), len(self.free))
        base = self._law_rates(problem, at)
        columns = np.empty((len(base), len(self.free)))
        for k, j in enumerate(self.free):
            step = 1e-7 * max(abs(at.y[j]), self.scale[k])
            y = at.y.copy()
            y[j] += step
            columns[:, k] = (self._law_rates(problem, Instant(at.t, y, at.d, at.z)) - base) / step
        return np.where(np.isfinite(columns), columns, 0.0)

    def _equation_slopes(self, kind: str, values: Values, n: int) -> Matrix:
        found = [(r, j, evaluate(e, values)) for r, of in enumerate(self._slopes) for k, j, e in of if k == kind]
        return entries(found, (len(self._slopes), n))

    def _jacobian(self, problem: Problem, at: Instant) -> tuple[Matrix, Matrix]:
        if len(at.y) <= DENSE:
            return problem.model.dense_jacobian(at.t, at.y, at.d, at.z)
        f_y, f_d = problem.model.jacobian(at.t, at.y, at.d, at.z)
        return f_y.tocsr(), f_d.tocsr()

    def _by_parameters(self, u: Array) -> Matrix:
        count = len(self.plan.parameters)
        columns = np.empty((len(self.residual(u)), count))
        for k in range(count):
            at = len(u) - count + k
            step = 1e-7 * max(abs(u[at]), self.scale[at])
            up, down = u.copy(), u.copy()
            up[at] += step
            down[at] -= step
            columns[:, k] = (self.residual(up) - self.residual(down)) / (2.0 * step)
        return columns if len(self.y) <= DENSE else sparse(columns)

    # --- judging the outcome ----------------------------------------------------------------------------------------

    def satisfied(self, outcome: Outcome) -> bool:
        """Whether the equations really hold: a singular system may converge to where they contradict least."""
        if not outcome.singular:
            return outcome.converged
        return bool(holds(outcome.residual, self.jacobian(outcome.u), outcome.u, self.scale, 1e-7).all())

    def broken_pins(self, problem: Problem, at: Instant) -> list[Row]:
        """Rows that pin states in these modes, but elsewhere than where they start: what is solved here are the rates
        of that.  (Constraints that hold in all modes are differentiated by who also sees to their starts.)"""
        if not len(self.sorts.pins):
            return []
        values, slopes = problem.model.positions(at.t, at.y, at.d, at.z)
        pinned = self.sorts.pinned
        good = holds(values[pinned], slopes[pinned], at.y, self.problem.sizes(at.y), 1e-7)
        broken = [self.problem.system.rows[int(r)] for r, held in zip(self.sorts.pins, good, strict=True) if not held]
        return [row for row in broken if row.position is not None and any(x[0] == "z" for x in leaves(row.position))]

    def hopeless(self) -> bool:
        """Whether the equations contradict each other whatever the values: they are dependent at any point.  Nothing
        can be said where laws are so steep that all else is lost beside them."""
        random = np.random.default_rng(1)
        for part in (1.0, 1.0, 1e-3, 1e-6):
            u = self.first + part * self.scale * random.uniform(0.5, 1.5, len(self.first))
            matrix = self.jacobian(u)
            if not finite(matrix) or spread(matrix) > STEEP or not Factors(matrix, self.scale).singular:
                return False
        return True

    def involved(self, rows: Iterable[Row]) -> list[int]:
        """Unknowns that some rows mention."""
        return sorted({leaf[1] for row in rows for leaf in leaves(row.residual) if leaf[0] == "y"})


def _slopes(e: Expr) -> list[tuple[str, int, Expr]]:
    found = sorted({leaf for leaf in leaves(e) if leaf[0] in "yd"})
    return [(leaf[0], leaf[1], diff(e, leaf)) for leaf in found]


def _initial(values: Values) -> Values:
    from bglang.records import replace

    return replace(values, initial=True)
