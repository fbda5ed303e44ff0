"""Steady state: the rates of all states that anything reads are zero.

What the structure conserves (a charge split over capacitors, a displacement shared by springs) no steady condition can
find: for each constant w with w'F = 0 along all values the conserved sum w'F_d (y - y_start) = 0 takes its place.
States that nothing reads, or that all this leaves free, keep their starts.  When Newton fails from the starts,
implicit Euler with growing steps follows the model itself toward rest.
"""

import numpy as np
from scipy.sparse import csr_matrix, hstack, vstack

from bglang.diagnostics import SimulationError, SourceError, error
from bglang.equations.system import System
from bglang.expr import leaves
from bglang.solve.consistent import Consistency, Instant
from bglang.solve.explain import first_span, labels, listed, not_finite
from bglang.solve.model import Array, Matrix
from bglang.solve.modes import STICK, Modes
from bglang.solve.newton import Outcome, holds, newton
from bglang.solve.problem import Problem
from bglang.solve.settle import Trial, settle
from bglang.solve.starts import Plan

DENSE = 500
"""Up to so many unknowns conserved sums are looked for numerically; beyond, the transient keeps them by itself."""
ROUNDING = 1e-12
"""Parts of a conserved sum that are smaller came by rounding: what is at rest must not look pushed by them."""
STIFFNESS = 1e-4
"""States move that much less than algebraic variables where the equations leave a choice."""


def steady_state(problem: Problem, plan: Plan, modes: Modes, z: Array) -> tuple[Problem, Instant]:
    """A point at rest near the starts."""
    solver = _Steady(problem, plan)
    z = z.copy()
    for k, mode in enumerate(modes.modes):
        if mode.kind == "coulomb":
            z[k] = STICK  # at rest, unless that takes more than it can hold

    def attempt(z: Array) -> Trial | None:
        at = solver.solve(z)
        if at is None:
            return None

        scale = problem.sizes(at.y)
        wrong = modes.contradicted(problem.model, at, modes.margin(problem.model, at, scale, 1e-13))
        solver.guess = at.y.copy()
        return Trial(at.z, at.y, at.d, wrong, float(np.max(np.abs(at.y - problem.starts) / scale, initial=0.0)))

    trial, _ = settle(attempt, z, modes)
    if trial is None:
        raise solver.failure(z)
    return problem, Instant(problem.start, trial.y, trial.d, trial.z)


def unread_states(system: System) -> list[int]:
    """States whose value no equation reads: pure integrals.  A storage is no such thing: its own law reads it."""
    read = {leaf[1] for row in system.rows for leaf in leaves(row.residual) if leaf[0] == "y"}
    for item in system.audit:
        if item.kind == "stored":
            read |= {leaf[1] for leaf in leaves(item.energy) if leaf[0] == "y"} if item.energy is not None else set()
            read |= {item.integral[1]} if item.integral is not None else set()
    return [i for i, u in enumerate(system.unknowns) if u.kind == "state" and i not in read]


class _Steady:
    """The steady problem of one system; unknowns are the values that are read and the rates of those that are not."""

    def __init__(self, problem: Problem, plan: Plan):
        self.problem, self.plan, self.model = problem, plan, problem.model
        n = len(problem.starts)
        self.unread = np.array(unread_states(problem.system), dtype=np.intp)
        mask = np.ones(n, dtype=bool)
        mask[self.unread] = False
        self.moving = np.flatnonzero(mask)
        self.guess = problem.starts.copy()
        self.states = np.array([u.kind != "algebraic" for u in problem.system.unknowns], dtype=bool)
        self._rest: tuple[Outcome, Instant] | None = None
        self._lost: Array | None = None

    def split(self, u: Array) -> tuple[Array, Array]:
        y, d = self.problem.starts.copy(), np.zeros(len(self.problem.starts))
        y[self.moving] = u[: len(self.moving)]
        d[self.unread] = u[len(self.moving) :]
        return y, d

    def matrix(self, y: Array, d: Array, z: Array) -> Matrix:
        f_y, f_d = (m.tocsc() for m in self.model.jacobian(self.problem.start, y, d, z))
        return hstack([f_y[:, self.moving], f_d[:, self.unread]], format="csr")

    def scale(self) -> Array:
        size = self.problem.sizes(self.guess) * np.where(self.states, STIFFNESS, 1.0)
        return np.concatenate([size[self.moving], np.ones(len(self.unread))])

    def conserved(self, z: Array) -> Matrix:
        """Rows w'F_d, one for each conserved sum.  Remembers a w whose sum has a constant source: no rest at all."""
        n = len(self.problem.starts)
        if n > DENSE or not n:
            return csr_matrix((0, n))
        random = np.random.default_rng(12345)
        size = np.maximum(self.problem.sizes(self.guess), np.abs(self.guess))
        looks = list[Array]()
        for k in range(3):
            aside = size * random.standard_normal(n) if k else np.zeros(n)
            for part in (0.1, 1e-3, 1e-5) if k else (0.0,):  # some laws are not defined far away
                look = self.matrix(self.guess + part * aside, np.zeros(n), z).toarray()
                if np.isfinite(look).all():
                    looks.append(look)
                    break
        if not looks:
            return csr_matrix((0, n))
        even, rows, _ = _evened(np.hstack(looks))
        left, singular, _ = np.linalg.svd(even, full_matrices=True)
        rank = int(np.sum(singular > 1e-10 * singular.max(initial=1e-300)))
        w = left[:, rank:].T
        w = np.where(np.abs(w) > ROUNDING, w, 0.0) * rows[None, :]
        y, d = self.guess, np.zeros(n)
        rest = self.model.residual(self.problem.start, y, d, z)
        terms = np.abs(w) @ np.maximum(np.abs(rest), 1e-300)
        pushed = np.abs(w @ rest) > 1e-8 * terms
        if pushed.any():
            self._lost = w[np.flatnonzero(pushed)[0]]
        return csr_matrix(w[~pushed] @ self.model.jacobian(self.problem.start, y, d, z)[1].toarray())

    def solve(self, z: Array) -> Instant | None:
        self._lost = None
        kept = self.conserved(z)
        if self._lost is not None:
            return None
        outcome = self._newton(z, kept, self.guess)
        if outcome is None:
            moved = self._transient(z)
            outcome = None if moved is None else self._newton(z, kept, moved)
        if outcome is None:
            return None
        y, d = self.split(self._quiet(outcome.u, z, kept))
        at = Instant(self.problem.start, y, d, z)
        y, d, good = Consistency(self.model, self.problem.sizes(y)).rates(at)
        return Instant(at.t, y, d, z) if good else at

    def _quiet(self, u: Array, z: Array, kept: Matrix) -> Array:
        """Values that are nothing but rounding of larger ones rest: their size would mislead the integrator."""
        if len(u) > DENSE:
            return u
        y, d = self.split(u)
        matrix = np.vstack([self.matrix(y, d, z).toarray(), self._wide(kept).toarray()])
        even, rows, columns = _evened(matrix)
        doubt = columns * (np.abs(np.linalg.pinv(even, rcond=1e-12)) @ (rows * (np.abs(matrix) @ np.abs(u))))
        return np.where(np.abs(u) <= 1e-14 * doubt, 0.0, u)

    def _wide(self, kept: Matrix) -> Matrix:
        """Conserved sums as rows over the unknowns of the steady problem."""
        return hstack([kept[:, self.moving], csr_matrix((kept.shape[0], len(self.unread)))], format="csr")

    def _newton(self, z: Array, kept: Matrix, guess: Array) -> Outcome | None:
        t, start = self.problem.start, self.problem.starts

        def residual(u: Array) -> Array:
            y, d = self.split(u)
            return np.concatenate([self.model.residual(t, y, d, z), kept @ (y - start)])

        def jacobian(u: Array) -> Matrix:
            y, d = self.split(u)
            return vstack([self.matrix(y, d, z), self._wide(kept)], format="csc")

        first = np.concatenate([guess[self.moving], np.zeros(len(self.unread))])
        scale = self.scale()
        outcome = newton(residual, jacobian, first, scale)
        y, d = self.split(outcome.u)
        self._rest = outcome, Instant(t, y, d, z)
        if not outcome.converged:
            return None
        size = np.maximum(scale, np.concatenate([self.problem.sizes(y)[self.moving], np.ones(len(self.unread))]))
        return outcome if holds(outcome.residual, jacobian(outcome.u), outcome.u, size, 1e-7).all() else None

    def _transient(self, z: Array) -> Array | None:
        """Implicit Euler with growing steps; the values it comes to rest at, or None."""
        t = self.problem.start
        y = self.guess.copy()
        step = max(1e-6 * (self.problem.stop - self.problem.start), 1e-9)
        scale = self.scale() * np.concatenate(
            [np.where(self.states[self.moving], 1.0 / STIFFNESS, 1.0), np.ones(len(self.unread))]
        )
        quiet = 0
        for _ in range(300):
            before = y

            def residual(u: Array, before: Array = before, step: float = step) -> Array:
                now, d = self.split(u)
                d[self.moving] = (now - before)[self.moving] / step
                return self.model.residual(t, now, d, z)

            def jacobian(u: Array, before: Array = before, step: float = step) -> Matrix:
                now, d = self.split(u)
                d[self.moving] = (now - before)[self.moving] / step
                f_y, f_d = (m.tocsc() for m in self.model.jacobian(t, now, d, z))
                return hstack([(f_y + f_d / step)[:, self.moving], f_d[:, self.unread]], format="csc")

            first = np.concatenate([before[self.moving], np.zeros(len(self.unread))])
            outcome = newton(residual, jacobian, first, scale, 1e-8)
            if not outcome.converged:
                step /= 5.0
                if step < 1e-18:
                    return None
                continue
            y = self.split(outcome.u)[0]
            change = np.max(np.abs(y - before) / np.maximum(np.abs(y), self.problem.sizes(y)), initial=0.0)
            quiet = quiet + 1 if change < 1e-7 else 0
            if quiet >= 3 or step > 1e15:
                return y
            step *= 4.0
        return None

    def failure(self, z: Array) -> Exception:
        """Why there is no steady state, naming the state that does not come to rest."""
        system, problem = self.problem.system, self.problem
        if self._lost is not None:
            rows = [
                int(i) for i in np.argsort(-np.abs(self._lost)) if abs(self._lost[i]) > 1e-6 * np.abs(self._lost).max()
            ]
            names = self._names(rows)
            return SourceError(
                [
                    error(
                        "initial/no-steady-state",
                        f"there is no steady state: nothing holds {listed(names)}",
                        first_span(system.rows[i].span for i in rows),
                        reason="Its rate does not depend on any value, so no value makes it zero.",
                        hint='Add what balances it (a load, a loss, a spring), or leave out `initial = "steady"`.',
                        component=names[0] if names else "",
                    )
                ]
            )
        assert self._rest is not None
        outcome, at = self._rest
        diagnostic = not_finite(system, self.model.values(at.t, at.y, at.d, at.z), "at the start")
        if diagnostic is None:
            size = np.abs(outcome.residual[: len(system.rows)])
            rows = [int(i) for i in np.argsort(-size)[:3] if size[i] > 0.0]
            names = self._names(rows)
            diagnostic = error(
                "initial/no-steady-state",
                f"no steady state was found: {listed(names)} does not come to rest",
                first_span(system.rows[i].span for i in rows),
                related=labels(system.rows[i] for i in rows[1:]),
                hint="Give starts closer to the steady state, or check that there is one.",
                component=names[0] if names else "",
            )
        return SimulationError(diagnostic, problem.start)

    def _names(self, rows: list[int]) -> list[str]:
        """The states whose rates some rows hold, else the rows' components."""
        system = self.problem.system
        names = list[str]()
        for i in rows:
            mine = [system.unknowns[leaf[1]].name for leaf in leaves(system.rows[i].residual) if leaf[0] == "d"]
            names += mine or [system.rows[i].component]
        return [n for n in dict.fromkeys(names) if n]


def _evened(matrix: Array) -> tuple[Array, Array, Array]:
    """A matrix with rows and columns of like size, so that its rank does not hang on units; the factors of both."""
    rows, columns = np.ones(matrix.shape[0]), np.ones(matrix.shape[1])
    for _ in range(4):
        rows = rows * _evening(np.abs(matrix * columns * rows[:, None]).max(axis=1, initial=0.0))
        columns = columns * _evening(np.abs(matrix * columns * rows[:, None]).max(axis=0, initial=0.0))
    return matrix * columns * rows[:, None], rows, columns


def _evening(largest: Array) -> Array:
    return 1.0 / np.sqrt(np.where(largest > 0.0, largest, 1.0))
