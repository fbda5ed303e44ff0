"""The loop of smooth pieces: the integrator runs to the next event, the event is handled, the integrator goes on."""

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from bglang.diagnostics import SimulationError
from bglang.equations.system import column
from bglang.results.record import Stats
from bglang.solve.consistent import Instant
from bglang.solve.events import NEAR
from bglang.solve.integrators import Integrator, Settings, Statistics, Status, make_integrator
from bglang.solve.method import choose
from bglang.solve.model import Array
from bglang.solve.native_model import NativeModel
from bglang.solve.polish import RootSearch
from bglang.solve.problem import Problem

if TYPE_CHECKING:
    from bglang.solve.run import Run

IGNORED = 2
"""The side of a root that the integrator does not watch."""
RESTS = 0.01
"""A root rests at zero when it is and stays within this part of what counts as zero at events."""
SHORTER = 0.1
"""The first step after an event, at most this part of the time since the one before."""
SMALLEST = 1e-9
"""... but never shorter than this part of the run."""
PART = 0.25
"""The first step after an event, at most this part of the time after which a root that was turned back comes again."""
LOOSE_WINDOWS = 200
"""While a root is loose the integrator comes back that many times in a run, to see where it went."""


def longest_step(problem: Problem, method: str) -> float:
    """Radau's error estimate is damped where a model is stiff, so its steps may outgrow the polynomial that gives
    the rows between them (a stiff circuit that follows a slow source).  That error goes with the fourth power of
    the step; a bound that goes with the fourth root of the tolerance keeps it in its place at little cost."""
    if problem.options.max_step is not None:
        return problem.options.max_step
    if method != "radau" or problem.options.step is not None:
        return np.inf
    part: float = max(0.002, 0.4 * problem.tol**0.25)
    return (problem.stop - problem.start) * part


def integrator_settings(problem: Problem, method: str, grid: Array, merge: float, at: Instant) -> Settings:
    """How a problem wants to be integrated by one method from an instant on, with rows on the grid and every step."""
    assert isinstance(problem.model, NativeModel)
    return Settings(
        method=method,  # type: ignore[arg-type]
        rtol=problem.tol,
        nominal=np.where(problem.nominal > 0.0, problem.nominal, np.nan),
        groups=_groups(problem),
        rounding=problem.model.rounding(at.t, at.y, at.d, at.z),
        times=grid,
        every_step=True,
        max_step=longest_step(problem, method),
        step=problem.options.step,
        root_merge=merge,
    )


def _groups(problem: Problem) -> NDArray[np.int64]:
    """Unknowns of one unit share what counts as small; without a unit, those of one sort."""
    unknowns = problem.system.unknowns
    pairs = zip(column(unknowns, "unit"), column(unknowns, "kind"), strict=True)
    numbers = dict[str, int]()
    words = (unit or ("algebraic" if kind == "algebraic" else "stored") for unit, kind in pairs)
    return np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int64)


class SmoothRun:
    """Drives an integrator for a run."""

    def __init__(self, run: "Run"):
        self.run_, self.problem, self.modes = run, run.problem, run.modes
        assert isinstance(run.model, NativeModel), "integrators run compiled models"
        self.model: NativeModel = run.model
        choice = choose(self.problem, run.at)
        run.stats.method, run.stats.reason = choice.method, choice.reason
        self._timed = np.array(run.clock.roots, dtype=np.intp)
        self._loose = np.zeros(0, dtype=np.intp)
        self._meant = np.zeros(0, dtype=np.int32)
        self._last_event = run.at.t
        self.integrator = self._make(choice.method)

    def _make(self, method: str) -> Integrator:
        settings = integrator_settings(self.problem, method, self.run_.grid, self.run_.merge, self.run_.at)
        return make_integrator(self.model.addresses(), settings, self.run_.sink, self.run_.progress)

    def sides(self, at: Instant) -> NDArray[np.int32]:
        """The sign that each root has in the present modes.

        A root that an event has left at rest a rounding error on the wrong side of zero is taken from where it is: it
        has not been crossed again.  One that leaves toward its right side only needs a first step short enough to see
        it there."""
        side = self.modes.sides(at.z)
        side[self._timed] = IGNORED
        self._loose = np.zeros(0, dtype=np.intp)
        self._meant = np.zeros(0, dtype=np.int32)
        if len(side):
            g, _ = self.run_.handler.zones(at)
            wrong = np.flatnonzero((side != IGNORED) & (side * g < 0.0))
            if len(wrong):
                step = 1e-7 * max(self.problem.stop - self.problem.start, 1e-300)
                ahead = self.model.roots(at.t + step, at.y + step * at.d, at.d, at.z)
                self._loose = wrong[np.abs(ahead - g)[wrong] <= 1e-6 * np.abs(g)[wrong]]
                self._meant = side[self._loose].copy()
                side[self._loose] = 0
            self._let_rest(at, side)
        return side

    def _let_rest(self, at: Instant, side: NDArray[np.int32]) -> None:
        """Roots that the present modes hold at zero do not move (the `abs(f)` of a friction that sticks, the current
        of a diode that others keep from conducting): their sign is rounding, and nothing is to be seen there."""
        may = self.run_.handler.may_rest()
        if not may.any():
            return
        g, zone = self.run_.handler.zones(at)
        near = may & (np.abs(g) <= RESTS * zone) & (side != IGNORED)
        near[self._loose] = False
        if near.any():
            step = 1e-6 * max(self.problem.stop - self.problem.start, 1e-300)
            one, two = (self.model.roots(at.t + h, at.y + h * at.d, at.d, at.z) for h in (step, 2.0 * step))
            moves = 10.0 * np.abs(2.0 * one - 1.5 * g - 0.5 * two)  # what its rate brings in ten steps
            resting = np.flatnonzero(near & (moves <= RESTS * zone))
            self._loose = np.concatenate([self._loose, resting])
            self._meant = np.concatenate([self._meant, side[resting]])
            side[resting] = IGNORED

    def run(self) -> None:
        """To the end of the run, or until something ends it."""
        run, at = self.run_, self.run_.at
        self.integrator.start(at.t, at.y, at.d, self.model.whole, at.z, self.sides(at))
        try:
            while self._piece():
                pass
            with run.phase("integration"):
                self.integrator.finish()
        finally:
            self._count()

    def _piece(self) -> bool:
        """One smooth piece and the event after it; False at the end of the run."""
        run, stop = self.run_, self.problem.stop
        appointment = run.clock.next(run.at.t, run.at.z)
        end = min(stop, appointment.t)
        if len(self._loose):
            end = min(end, run.at.t + (stop - self.problem.start) / LOOSE_WINDOWS)
        with run.phase("integration"):
            status = self.integrator.advance(end)
        left = Instant(status.t, self.integrator.y.copy(), self.integrator.d.copy(), run.at.z)
        if status.outcome == "root" and run.polish is not None:
            found, left = left, self._refined(left, run.at, status)
            if left is found:
                return True
        run.at = left
        if status.outcome == "stiff":
            self._switch(left)
            return True
        if not status.good:
            raise self._failed(status, left)
        roots = self._crossed(status, left)
        samples: tuple[int, ...] = ()
        if appointment.t - left.t <= run.merge:
            roots += [r for r in appointment.roots if r not in roots]
            samples = appointment.samples
        if not roots and not samples:
            return left.t < stop
        since, self._last_event = left.t - self._last_event, left.t
        goes_on = run.event(left, roots, samples)
        at, first_step = run.at, self._first_step(since)
        if at.t != self.integrator.t:
            self.integrator.start(at.t, at.y, at.d, self.model.whole, at.z, self.sides(at))
        self.integrator.restart(at.y, at.d, at.z, sides=self.sides(at), first_step=first_step)
        return goes_on and at.t < stop

    def _refined(self, found: Instant, before: Instant, status: Status) -> Instant:
        """The root as the laws have it, and rows up to it.  `found` itself: there was none yet, the run goes on."""
        run, (watched, sign) = self.run_, status.roots[0]
        assert run.polish is not None
        search = RootSearch(self.model, run.polish, found, watched)
        here = search.root(sign, before.t, run.recorder.step)
        if here is None:
            ahead = search.here
            self.integrator.restart(ahead.y, ahead.d, sides=self.sides(ahead), first_step=search.distance / 2.0)
            return found
        if here.t < found.t:
            run.recorder.commit(here.t)  # rows behind it will come again
        elif here.t > found.t:
            run.recorder.gap(found, here.t)
        return here

    def _first_step(self, since: float) -> float | None:
        """After an event the next one may come as soon as this one did, or sooner (a ball that bounces lower): do not
        begin with a step that hides it."""
        step, flight = self.run_.recorder.step, PART * self.run_.soon
        if since <= 0.0 or step <= 0.0:
            return flight if np.isfinite(flight) else None
        return min(max(min(step, SHORTER * since), SMALLEST * (self.problem.stop - self.problem.start)), flight)

    def _crossed(self, status: Status, left: Instant) -> list[int]:
        """The roots that left their mode.  A loose one that has come to its right side is an ordinary root again; one
        that has gone on to the wrong side has been crossed."""
        found = dict(status.roots)
        meant = dict(zip(self._loose.tolist(), self._meant.tolist(), strict=True))
        roots = [r for r, sign in found.items() if meant.get(r) != sign]
        if not meant:
            return roots
        g = self.model.roots(left.t, left.y, left.d, left.z)
        zone = self.modes.margin(self.model, left, self.run_.handler.scale, NEAR, g)
        roots += [r for r, sign in meant.items() if sign * g[r] < -zone[r] and r not in roots]
        if not roots:
            self._loose, self._meant = self._loose[:0], self._meant[:0]
            self.integrator.restart(sides=self.sides(left))
        return roots

    def _switch(self, left: Instant) -> None:
        """An explicit method has met a stiff piece: an implicit one goes on."""
        run = self.run_
        self._count()
        turned_stiff(run.stats, left.t)
        self.integrator = self._make("radau")
        self.integrator.start(left.t, left.y, left.d, self.model.whole, left.z, self.sides(left))

    def _failed(self, status: Status, left: Instant) -> SimulationError:
        from bglang.solve.failure import explain_failure

        return explain_failure(self.problem, self.modes, status, left)

    def _count(self) -> None:
        """Statistics of an integrator that has done its part."""
        count_work(self.run_.stats, self.integrator.statistics)


def turned_stiff(stats: Stats, t: float) -> None:
    stats.reason += f"; stiff at t = {t:.6g}, radau goes on from there"
    stats.method += "+radau"


def count_work(stats: Stats, counted: Statistics) -> None:
    """Add what an integrator has done to what is told of the run."""
    stats.steps += counted.steps
    stats.rejected += counted.rejected
    stats.residuals += counted.residuals
    stats.jacobians += counted.jacobians
    stats.factorisations += counted.factorisations
    for name in ("error", "newton", "not_finite", "singular"):
        count = cast(int, getattr(counted, f"rejected_{name}"))
        if count:
            word = name.replace("_", " ")
            stats.rejections[word] = stats.rejections.get(word, 0) + count
