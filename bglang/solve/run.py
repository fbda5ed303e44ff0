"""A simulation: start, integrate from event to event, keep what was computed whatever happens, audit the energy."""

import time as clocks
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from bglang.diagnostics import Diagnostic, SimulationError, SourceError, error
from bglang.equations.system import column, state_names
from bglang.results.record import Audit, Event, Stats
from bglang.results.result import Result
from bglang.solve.assertions import parameter_assertions
from bglang.solve.audit import EnergyMeter, imbalance
from bglang.solve.clock import Clock
from bglang.solve.consistent import Instant
from bglang.solve.events import EventHandler, chattering
from bglang.solve.happening import Happening
from bglang.solve.initialise import initialise, starting_modes
from bglang.solve.lost import values_lost
from bglang.solve.model import Array
from bglang.solve.modes import Modes
from bglang.solve.polish import Polisher
from bglang.solve.problem import Problem
from bglang.solve.recorder import Computed, Recorder
from bglang.solve.smooth import SmoothRun
from bglang.solve.stream import Stream
from bglang.solve.zeno import Chattering, PileUp, Watch

PATIENCE = 0.2
"""Seconds between two reports of progress while the integrator itself makes none."""
SURFACES = 16
"""On so many surfaces a model may slide."""
MERGE = 1e-12
"""Roots closer than this part of the run are one event."""


def simulate(problem: Problem) -> Result:
    """Run a problem.  A wrong model raises `SourceError`; a run that fails raises `SimulationError`, which holds the
    result until then.  An interrupted run returns what there is, with `complete` False."""
    warnings = list[Diagnostic]()
    for _ in range(SURFACES):
        run = Run(problem)
        run.warnings += warnings
        try:
            return run.go()
        except Chattering as found:
            from bglang.solve.sliding import find_surface, slide, told

            surface = find_surface(run.system, run.model, found.modes)
            assert surface is not None
            warnings.append(told(run.system.modes[surface.lead], run.at.t))
            problem = slide(problem, surface)
    return Run(problem).go()


class Run:
    """The state of one simulation."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.system = problem.system
        self.stats = Stats()
        self.log: list[Event] = []
        self.warnings: list[Diagnostic] = []
        self.modes = Modes(problem.system)
        self.merge = MERGE * max(problem.stop - problem.start, 1e-300)
        self.grid = np.linspace(problem.start, problem.stop, problem.points)
        self.watch = Watch(problem.start, problem.stop)
        self.ending = ""
        self._told = clocks.monotonic()

    # --- the course of a run ----------------------------------------------------------------------------------------

    def go(self) -> Result:
        self._check_parameters()
        with self._phase("initialisation"):
            started = initialise(self.problem)
            self.problem = started.problem
            self.model = self.problem.model
            self.handler = EventHandler(self.problem, self.modes, self.problem.sizes(started.at.y))
            self.clock = Clock(self.modes, self.model, self.problem.stop, self.merge)
            self.at, self.contradiction = started.at, started.contradiction
            self.log += started.notes
        self._open()
        try:
            self._first_event()
            if self.ending == "":
                self._integrate()
            self._last_event()
        except SimulationError as failure:
            if failure is self.contradiction:
                raise  # there was no start
            self.ending = f"failed at t = {failure.time:.9g}"
            result = self._close(complete=False)
            raise SimulationError(failure.diagnostic, failure.time, result) from None
        except KeyboardInterrupt:
            self.ending = f"interrupted at t = {self.at.t:.9g}"
            return self._close(complete=False)
        return self._close(complete=True)

    def _check_parameters(self) -> None:
        empty = np.zeros(0)
        values = self.problem.model.values(self.problem.start, empty, empty, empty)
        found = parameter_assertions(self.system, values)
        if any(d.severity == "error" for d in found):
            raise SourceError(found)
        self.warnings += found

    def _open(self) -> None:
        n, nz = len(self.system.unknowns), len(self.modes.modes)
        self.recorder = Recorder(self.grid, n, nz, rates=True, events=self.problem.options.events, merge=self.merge)
        self.meter = EnergyMeter(self.model, self.problem.tol) if self.problem.options.audit else None
        if self.meter is not None:
            self.recorder.consumers.append(self.meter.nodes)
        polisher = Polisher(self.model, self.problem.sizes(self.at.y))
        self.polish = polisher if polisher.useful else None
        self.recorder.polish = self.polish
        self.stream = Stream(self.problem, self.model, self.recorder)

    def _first_event(self) -> None:
        """Samples and `initial()`; then the first smooth piece begins."""
        before = self.at
        if self.meter is not None:
            self.meter.begin(before)
        try:
            happening = self.handler.at_start(
                before, self.clock.samples_at(before.t), struck=self.contradiction is not None
            )
        except SimulationError:
            if self.contradiction is not None:
                raise self.contradiction from None
            raise
        if self.contradiction is not None:
            self.log = list(starting_modes(self.modes, happening.at))
        self._take(happening)
        if self.contradiction is not None:
            self._check_written(before)
        if self.meter is not None and happening.jumped:
            self.meter.event(before, self.at)
            for blow in happening.blows:
                self.meter.blow(*blow)
        self.recorder.begin(self.at)

    def _check_written(self, before: Instant) -> None:
        """A jump at the start may move what nobody has written, and nothing else."""
        moved = np.abs(self.at.y - before.y) > 1e-9 * np.maximum(np.abs(before.y), self.handler.scale)
        kinds = column(self.system.unknowns, "kind")
        written = (there and kind != "algebraic" for there, kind in zip(self.problem.written, kinds, strict=True))
        if any(there and jumps for there, jumps in zip(written, moved.tolist(), strict=True)):
            assert self.contradiction is not None
            raise self.contradiction

    def _integrate(self) -> None:
        if not any(column(self.system.rows, "differential")):
            with self._phase("integration"):
                self.stats.method, self.stats.reason = "algebraic", "the model has no states"
                from bglang.solve.algebraic import run_algebraic

                run_algebraic(self)
        else:
            SmoothRun(self).run()

    def _last_event(self) -> None:
        """`terminal()` is true in the last instant; the last row holds what it changes."""
        happening = self.handler.at_end(self.at)
        if happening.at is not self.at:
            self.recorder.last(happening.at)
        self._take(happening)

    # --- what the loops call ----------------------------------------------------------------------------------------

    def event(self, left: Instant, roots: list[int], samples: tuple[int, ...]) -> bool:
        """Handle an event; False when the run ends with it."""
        with self._phase("events"):
            self.handler.grow(left.y)
            happening = self.handler.at_event(left, roots, samples)
            self.stats.events += 1
            self.recorder.event(happening.left, happening.at)
            if self.meter is not None:
                self.meter.event(happening.left, happening.at)
                for blow in happening.blows:
                    self.meter.blow(*blow)
            self._take(happening)
            changed = [self.modes.owner[r] for r in roots] or samples
            pile = self.watch.note(left.t, dict.fromkeys(changed), self.modes.timed) or happening.pile
        if clocks.monotonic() - self._told > PATIENCE:
            self.progress(left.t)
        if pile is not None:
            self._slide(pile)
            raise self._piled_up(pile)
        return happening.terminate is None

    def _slide(self, pile: PileUp) -> None:
        """Begin again with a surface to slide on, if there is one."""
        if pile.kind == "chattering":
            from bglang.solve.sliding import find_surface

            if find_surface(self.system, self.model, pile.modes) is not None:
                raise Chattering(pile.modes)

    def _take(self, happening: Happening) -> None:
        self.at, self.soon = happening.at, happening.soon
        self.log += happening.log
        self.warnings += happening.warnings
        if happening.terminate is not None:
            self.ending = f"terminated at t = {happening.at.t:.9g}: {happening.terminate}"

    def sink(self, t: Array, y: Array, d: Array | None) -> None:
        """Rows from the integrator."""
        self.recorder.sink(t, y, d)
        if clocks.monotonic() - self._told > PATIENCE:
            self.progress(float(t[-1]))

    def progress(self, t: float) -> None:
        self._told = clocks.monotonic()
        self.stream.push()
        if self.problem.options.progress is not None:
            self.problem.options.progress(t, self.problem.start, self.problem.stop)

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        began = clocks.perf_counter()
        try:
            yield
        finally:
            self.stats.seconds[name] = self.stats.seconds.get(name, 0.0) + clocks.perf_counter() - began

    phase = _phase

    # --- the end ----------------------------------------------------------------------------------------------------

    def _close(self, complete: bool) -> Result:
        with self._phase("results"):
            self.recorder.end(self.at)
            rows, nodes = self.recorder.rows, self.recorder.nodes
            audit = self._audit()
            if self.system.tables:
                from bglang.solve.tables import tables_left

                self.warnings += tables_left(self.model, rows)
            if complete:
                self.warnings += values_lost(self.model, rows)
            result = Result(
                self.system.name,
                Computed(self.model, rows, nodes),
                events=[e for e in self.log if e.kind != "start"],
                stats=self.stats,
                audit=audit,
                states=state_names(self.system),
                warnings=tuple(dict.fromkeys(self.warnings)),
                complete=complete,
                ending=self.ending,
                modes=[e for e in self.log if e.kind == "start"],
            )
            self.stream.finish(result)
        return result

    def _audit(self) -> Audit | None:
        if self.meter is None or not self.system.audit:
            return None
        audit = self.meter.audit(self.at)
        self.warnings += imbalance(self.system, audit, self.problem.tol)
        return audit

    def _piled_up(self, pile: PileUp) -> SimulationError:
        mode = self.modes.modes[pile.modes[0]]
        text = mode.text or mode.name
        if pile.kind == "zeno":
            diagnostic = error(
                "events/zeno",
                f"infinitely many events: `{text}` accumulates at t = {pile.at:.9g}",
                mode.span,
                reason="The time between two events shrinks in a geometric series: the run cannot go beyond its limit.",
                hint="Let the model come to rest: switch to a resting mode once the motion is small.",
                component=mode.component,
            )
        else:
            diagnostic = chattering(text, mode.span, mode.component, pile.at)
        return SimulationError(diagnostic, pile.at)
