"""Damped Newton for the systems of the start and of events: sparse, affine invariant, with homotopy as a second try.

The damping test compares Newton corrections, not residuals (Deuflhard): it does not depend on the units of the
equations.  A system that determines its unknowns only in part takes the smallest correction.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from bglang.records import dataclass
from bglang.solve.model import DENSE, Array, Matrix

Residual: TypeAlias = Callable[[Array], Array]
Jacobian: TypeAlias = Callable[[Array], Matrix]

PRECISION = 1e-11
ITERATIONS = 60
PATIENT = 600
"""Small systems may take so many: down an exponential law each of them covers one unit of its argument."""
SMALLEST_DAMPING = 1e-7


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where Newton ended.  `residual` is that of the end point; `singular`: the Jacobian had no inverse somewhere."""

    u: Array
    converged: bool
    residual: Array
    iterations: int
    singular: bool


NOISE = 2.0**-54
"""Entries below this part of the largest one in their row may be what rounding left of zero."""


class Factors:
    """Solves with one Jacobian, many times."""

    def __init__(self, matrix: Matrix, scale: Array):
        self.singular = False
        self._scale = scale
        rows, columns = matrix.shape
        if max(rows, columns) <= DENSE or isinstance(matrix, np.ndarray):
            scaled = (matrix if isinstance(matrix, np.ndarray) else matrix.toarray()) * scale
            self._row = _reciprocal(np.abs(scaled).max(axis=1, initial=0.0))
            self._solve = self._dense(scaled * self._row[:, None])
        else:
            scaled = matrix.multiply(scale[None, :]).tocsc()
            self._row = _reciprocal(abs(scaled).max(axis=1).toarray().ravel())
            self._solve = self._sparse(scaled.multiply(self._row[:, None]).tocsc())

    def __call__(self, right: Array) -> Array:
        return self._scale * self._solve(self._row * right)

    def _dense(self, matrix: Array) -> Callable[[Array], Array]:
        if not matrix.size:
            return lambda right: np.zeros(matrix.shape[1])
        if not np.isfinite(matrix).all():
            self.singular = True
            return lambda right: np.full(matrix.shape[1], np.nan)
        if matrix.shape[0] == matrix.shape[1]:
            size = np.abs(matrix).max(axis=0)  # an unknown that was tiny so far does not spoil the rank; noise has none
            column = _reciprocal(np.where((size > NOISE) | self._stands_out(matrix), size, 0.0))
            even = matrix * column
            try:
                inverse = np.linalg.inv(even)
            except np.linalg.LinAlgError:
                inverse = None  # exactly singular
            if inverse is not None and np.isfinite(inverse).all():
                condition = np.abs(even).sum(axis=0).max() * np.abs(inverse).sum(axis=0).max()
                if condition < 1e14:
                    return lambda right: column * _refined(even, inverse, right)
        self.singular = True
        pseudo = np.linalg.pinv(matrix, rcond=1e-12)
        return lambda right: np.asarray(pseudo @ right)

    def _stands_out(self, matrix: Array) -> Array:
        """Columns that are no noise beside the others of a row, as the equations are written: what was tiny so far may
        itself have been what rounding left, and then nothing measured by it can tell."""
        with np.errstate(over="ignore", invalid="ignore"):
            plain = np.abs(matrix / self._scale)
            return np.asarray((plain > NOISE * plain.max(axis=1, keepdims=True)).any(axis=0))

    def _sparse(self, scaled: Matrix) -> Callable[[Array], Array]:
        from bglang.solve.linear import SingularMatrix, SparseLU

        if scaled.shape[0] == scaled.shape[1]:
            scaled.sort_indices()
            factors = SparseLU(scaled.shape[0], scaled.indptr, scaled.indices)
            try:
                factors.factor(scaled.data)
                diagonal = np.abs(factors.pivots())
                if diagonal.min() > 1e-14 * diagonal.max():
                    return factors.solve
            except SingularMatrix:
                pass  # exactly singular: the smallest correction below
        self.singular = True
        return _least_norm(scaled)


def _refined(matrix: Array, inverse: Any, right: Array) -> Array:
    """The solution by the inverse, improved once: as good as a factorisation, and numpy alone is enough."""
    found = inverse @ right
    return np.asarray(found + inverse @ (right - matrix @ found))


def _reciprocal(size: Array) -> Array:
    used = np.isfinite(size) & (size > 0.0)
    return np.where(used, 1.0 / np.where(used, size, 1.0), 1.0)


def _least_norm(matrix: Matrix) -> Callable[[Array], Array]:
    """The smallest solution of a sparse system without full rank, through its regularised saddle point form."""
    from scipy.sparse import bmat, identity
    from scipy.sparse.linalg import splu

    rows, columns = matrix.shape
    saddle = bmat([[identity(columns) * 1e-6, matrix.T], [matrix, identity(rows) * -1e-10]], format="csc")
    factors = splu(saddle)

    def solve(right: Array) -> Array:
        found = np.zeros(columns)
        for _ in range(3):  # the regularisation's error is worked off by refinement
            rest = np.concatenate([np.zeros(columns), right - matrix @ found])
            found = found + factors.solve(rest)[:columns]
        return found

    return solve


def newton(residual: Residual, jacobian: Jacobian, start: Array, scale: Array, precision: float = PRECISION) -> Outcome:
    """Solve residual(u) = 0 from `start`.  `scale` is the size below which a component counts as zero."""
    u = start
    f = residual(u)
    damping, singular = 1.0, False
    limit = PATIENT if len(start) <= DENSE else ITERATIONS
    for iteration in range(limit):
        if not np.isfinite(f).all():
            return Outcome(u, False, f, iteration, singular)
        factors = Factors(jacobian(u), scale)
        singular = singular or factors.singular
        step = factors(-f)
        if not np.isfinite(step).all():
            return Outcome(u, False, f, iteration, True)
        size = _size(step, u, scale)
        if size <= precision:
            return _finish(residual, u, step, f, iteration, singular)
        damping = min(1.0, 4.0 * damping)
        while True:
            trial = u + damping * step
            f_trial = residual(trial)
            if np.isfinite(f_trial).all():
                correction = factors(-f_trial)
                next_size = _size(correction, u, scale)
                if damping == 1.0 and next_size <= precision:
                    return _finish(residual, trial, correction, f_trial, iteration + 1, singular)
                if next_size <= (1.0 - damping / 4.0) * size:
                    break
            damping /= 2.0
            if damping < SMALLEST_DAMPING:
                return Outcome(u, False, f, iteration, singular)
        u, f = trial, f_trial
    return Outcome(u, False, f, limit, singular)


def _finish(residual: Residual, u: Array, step: Array, f: Array, iteration: int, singular: bool) -> Outcome:
    """The last correction; for a singular system also the question whether the equations hold at all."""
    last = u + step
    f_last = residual(last)
    if not np.isfinite(f_last).all() or np.abs(f_last).max(initial=0.0) > np.abs(f).max(initial=0.0):
        last, f_last = u, f
    return Outcome(last, True, f_last, iteration, singular)


def _size(step: Array, u: Array, scale: Array) -> float:
    return float(np.max(np.abs(step) / np.maximum(np.abs(u), scale), initial=0.0))


def homotopy(residual: Residual, jacobian: Jacobian, start: Array, scale: Array) -> Outcome:
    """From a relaxed problem, whose solution is `start`, in steps to the true one."""
    at_start = residual(start)
    if not np.isfinite(at_start).all():
        return Outcome(start, False, at_start, 0, False)
    u, done, advance, iterations = start, 0.0, 0.25, 0
    outcome = Outcome(start, False, at_start, 0, False)
    while done < 1.0:
        goal = min(1.0, done + advance)

        def relaxed(v: Array, rest: float = 1.0 - goal) -> Array:
            return residual(v) - rest * at_start

        outcome = newton(relaxed, jacobian, u, scale)
        iterations += outcome.iterations
        if outcome.converged:
            u, done, advance = outcome.u, goal, min(0.5, 2.0 * advance)
        else:
            advance /= 4.0
            if advance < 1e-5:
                return Outcome(u, False, residual(u), iterations, outcome.singular)
    return Outcome(u, True, residual(u), iterations, outcome.singular)


def holds(residual: Array, matrix: Matrix, u: Array, scale: Array, slack: float = 1e-8) -> Any:
    """For each equation: whether its residual is nothing but rounding, measured by the size of its own terms."""
    terms = abs(matrix) @ np.maximum(np.abs(u), scale)
    return np.abs(residual) <= slack * np.maximum(terms, 1e-300)
