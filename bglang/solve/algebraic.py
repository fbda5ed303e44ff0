"""Models without states: the equations are solved at each time of the grid, and modes change where they must."""

from typing import TYPE_CHECKING

import numpy as np

from bglang.diagnostics import SimulationError, error
from bglang.solve.consistent import Consistency, Instant
from bglang.solve.explain import first_span, labels, not_finite, those_of, worst_rows
from bglang.solve.model import Array, Matrix
from bglang.solve.newton import homotopy, newton

if TYPE_CHECKING:
    from bglang.solve.run import Run


def run_algebraic(run: "Run") -> None:
    """Solve at every grid time and at every event."""
    problem, stop = run.problem, run.problem.stop
    times = run.grid[run.grid > run.at.t]
    run.recorder.sink(np.array([run.at.t]), run.at.y[None, :], run.at.d[None, :])
    k = 0
    appointment = run.clock.next(run.at.t, run.at.z)
    while k < len(times):
        goal = min(float(times[k]), appointment.t)
        left, crossed = _reach(run, goal)
        if crossed:
            roots = [r for m in crossed for r in _root_of(run, m, left)]
            run.at = left
            if not run.event(left, roots, ()):
                return
            appointment = run.clock.next(run.at.t, run.at.z)
            continue
        run.at = left
        run.progress(left.t)
        if appointment.t <= goal:
            if not run.event(left, list(appointment.roots), appointment.samples):
                return
            left = run.at
            appointment = run.clock.next(left.t, left.z)
        if goal == times[k]:
            run.recorder.sink(np.array([goal]), run.at.y[None, :], run.at.d[None, :])
            run.stats.steps += 1
            k += 1
        if run.at.t >= stop and k >= len(times):
            break
    assert problem is run.problem


def _reach(run: "Run", goal: float) -> tuple[Instant, list[int]]:
    """The solution at a time, or at the first instant on the way at which modes are contradicted, with those modes."""
    at = solve_at(run, goal, run.at.z, run.at.y)
    wrong = _wrong(run, at)
    if not wrong:
        return at, []
    low, high, last = run.at.t, goal, at
    while high - low > max(run.merge, 4e-16 * max(abs(low), abs(high))):
        middle = (low + high) / 2.0
        trial = solve_at(run, middle, run.at.z, last.y)
        found = _wrong(run, trial)
        if found:
            high, last, wrong = middle, trial, found
        else:
            low = middle
    return last, wrong


def _wrong(run: "Run", at: Instant) -> list[int]:
    zone = run.modes.margin(run.model, at, run.handler.scale, 1e-13)
    timed = {run.modes.owner[r] for r in run.clock.roots}
    return [k for k in run.modes.contradicted(run.model, at, zone) if k not in timed]


def _root_of(run: "Run", mode: int, at: Instant) -> list[int]:
    """The root function that a contradicted mode has crossed."""
    first, count = run.modes.first[mode], len(run.modes.modes[mode].roots)
    g = run.model.roots(at.t, at.y, at.d, at.z)[first : first + count]
    return [first + int(np.argmin(g))] if count > 1 else [first]


def solve_at(run: "Run", t: float, z: Array, guess: Array) -> Instant:
    """All equations at one time, from a guess."""
    model, scale = run.model, run.handler.scale
    d = np.zeros(len(guess))
    if not len(guess):
        return Instant(t, guess, d, z)

    def residual(y: Array) -> Array:
        run.stats.residuals += 1
        return model.residual(t, y, d, z)

    consistency = Consistency(model, scale)

    def jacobian(y: Array) -> Matrix:
        return consistency.jacobian(t, y, d, z)[0]

    outcome = newton(residual, jacobian, guess, scale)
    for aside in (0.0, 1e-3, -1e-3, 1.0, -1.0):  # the guess may sit where the equations have no slope
        if outcome.converged and not outcome.singular:
            break
        outcome = homotopy(residual, jacobian, guess + aside * scale, scale)
    if outcome.converged:
        at = Instant(t, outcome.u, d, z)
        y, rates, good = consistency.rates(at)
        return Instant(t, y, rates if good else d, z)
    system = run.system
    diagnostic = not_finite(system, model.values(t, outcome.u, d, z), f"at t = {t:.9g}")
    if diagnostic is None:
        worst = [system.rows[i] for i in worst_rows(system, outcome.residual)]
        names = list(dict.fromkeys(row.component for row in worst if row.component))
        diagnostic = error(
            "solve/no-solution",
            f"the equations of {those_of(names)} have no solution at t = {t:.9g}",
            first_span(row.span for row in worst),
            related=labels(worst[1:]),
            component=names[0] if names else "",
        )
    raise SimulationError(diagnostic, t)
