"""Single runs of a compiled model, again and again: what `Model.simulate` does from the second time on.

Runs without a story (`solve.repeat`) are integrated at once; rows, energy audit and warnings are made from the same
trajectory by the same code as in `solve.run`, when somebody asks for them.
"""

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import Lock

import numpy as np

from bglang.diagnostics import Diagnostic
from bglang.equations.system import state_names
from bglang.results.record import Audit, Column
from bglang.results.result import Result
from bglang.results.values import Array
from bglang.solve.audit import EnergyMeter, imbalance
from bglang.solve.consistent import Instant
from bglang.solve.native_model import Compiled, NativeModel
from bglang.solve.problem import Problem
from bglang.solve.recorder import Computed, Consumer, Recorder
from bglang.solve.repeat import Repeater, Trajectory, repeatable

NOTHING = np.zeros(0)


class Again:
    """Runs of one problem with other numbers."""

    def __init__(self, problem: Problem, compiled: Compiled):
        self.problem, self.compiled = problem, compiled
        self.grid = np.linspace(problem.start, problem.stop, problem.points)
        self._repeater = Repeater(problem, compiled, self.grid, every_step=True)
        self._states = tuple(state_names(problem.system))
        self._free = Lock()

    def run(self, numbers: Mapping[str, float]) -> Result | None:
        """The result; None for a run that `solve.run` must do."""
        if not self._free.acquire(blocking=False):
            return None  # another thread is using the integrator
        began = time.perf_counter()
        try:
            (run,) = self._repeater.run({name: np.array([value]) for name, value in numbers.items()}, 1)
        finally:
            self._free.release()
        if run is None:
            return None
        run.stats.seconds["integration"] = time.perf_counter() - began
        kept = Kept(self, run)
        return Result(self.problem.system.name, kept, stats=run.stats, states=self._states, late=kept.judged)


def again(problem: Problem, compiled: Compiled) -> Again | None:
    """Whether runs of this problem can be repeated cheaply; None if each has a story or wants company on its way."""
    options = problem.options
    alone = options.output is None and not options.vars and not options.events and options.progress is None
    return Again(problem, compiled) if alone and problem.external is None and repeatable(problem, compiled) else None


class Kept:
    """The values of one run, made of its trajectory when first asked for."""

    def __init__(self, made: Again, run: Trajectory):
        self._made, self._run = made, run

    @cached_property
    def _model(self) -> NativeModel:
        return NativeModel(self._made.compiled, self._run.p[: self._made.compiled.program.parameters])

    def _follow(self, consumers: Sequence[Consumer] = ()) -> Recorder:
        """The run as `solve.run` would have followed it."""
        run = self._run
        recorder = Recorder(self._made.grid, run.y.shape[1], 0, rates=True, events=False)
        recorder.consumers += consumers
        recorder.begin(self._end(0))
        recorder.sink(run.t, run.y, run.d)
        recorder.end(self._end(-1))
        return recorder

    def _end(self, at: int) -> Instant:
        return Instant(float(self._run.t[at]), self._run.y[at], self._run.d[at], NOTHING)

    @cached_property
    def _computed(self) -> Computed:
        recorder = self._follow()
        return Computed(self._model, recorder.rows, recorder.nodes)

    def judged(self) -> tuple[Audit | None, tuple[Diagnostic, ...]]:
        """The energy audit, and what it warns of."""
        problem = self._made.problem
        if not problem.options.audit or not problem.system.audit:
            return None, ()
        meter = EnergyMeter(self._model, problem.tol)
        meter.begin(self._end(0))
        self._follow([meter.nodes])
        audit = meter.audit(self._end(-1))
        return audit, tuple(imbalance(problem.system, audit, problem.tol))

    @property
    def time(self) -> Array:
        return self._computed.time

    @property
    def names(self) -> Sequence[str]:
        return self._computed.names

    @property
    def columns(self) -> tuple[Column, ...]:
        return self._computed.columns

    def column(self, index: int) -> Column:
        return self._computed.column(index)

    def take(self, indices: Sequence[int]) -> Array:
        return self._computed.take(indices)

    def at(self, times: Array, indices: Sequence[int]) -> Array:
        return self._computed.at(times, indices)

    def curve(self, indices: Sequence[int]) -> tuple[Array, Array]:
        return self._computed.curve(indices)
