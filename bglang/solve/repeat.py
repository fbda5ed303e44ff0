"""One compiled model run many times with other numbers, at almost no cost beyond the integration itself.

That is possible where a run has no story: explicit equations, no events, no initial equations, no tables.  Numbers of
all runs are then computed together, one integrator serves them all, and outputs of all runs are computed together.
Whatever is out of the ordinary in a single run (a parameter out of range, a step that fails) is not judged here: the
run is left to `solve.run`, which does it from the start and tells what is wrong.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bglang.equations.system import SystemParameter
from bglang.kernels.interpret import Points, run_kernel
from bglang.kernels.load import restrict
from bglang.kernels.parameters import BaseNumbers
from bglang.kernels.program import Kernel
from bglang.records import dataclass, replace
from bglang.results.record import Stats
from bglang.solve.consistent import Instant
from bglang.solve.integrators import Integrator, make_integrator
from bglang.solve.method import Choice, choose, explicit_choice, fast_constants
from bglang.solve.model import DENSE, Array, Flags
from bglang.solve.native_model import Compiled, NativeModel
from bglang.solve.problem import Problem
from bglang.solve.smooth import count_work, integrator_settings, turned_stiff

NOTHING = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Rows of one run on the grid, and what they cost."""

    t: Array
    y: Array
    d: Array
    p: Array
    stats: Stats


def repeatable(problem: Problem, compiled: Compiled) -> bool:
    """Whether runs of this model have no story: then `Repeater` runs them."""
    system = problem.system
    return (
        compiled.explicit
        and 0 < len(system.unknowns) <= DENSE
        and not (system.modes or system.whens or system.assertions or system.initial or system.tables)
        and not problem.steady
        and all(q.fixed for q in system.parameters)
        and all(u.kind == "state" and u.fixed is not False for u in system.unknowns)
        and problem.options.method != "ida"
        and len(compiled.program.output_numbers) == len(system.outputs)
    )


def _bounds(parameters: Sequence[SystemParameter]) -> tuple[Array, Array]:
    """`min` and `max` of all parameters, NaN where there is none; one that is itself computed lets nothing pass."""
    lower, upper = np.full(len(parameters), np.nan), np.full(len(parameters), np.nan)
    for k, q in enumerate(parameters):
        for bound, into, never in ((q.minimum, lower, np.inf), (q.maximum, upper, -np.inf)):
            if bound is not None:
                into[k] = bound if isinstance(bound, float | int) else never
    return lower, upper


class Repeater:
    """Runs of one model with rows on one grid, and at every step if wanted.  Not for several threads at once."""

    def __init__(self, problem: Problem, compiled: Compiled, grid: Array, every_step: bool = False):
        self.compiled, self.grid, self.every_step = compiled, grid, every_step
        self.system = problem.system
        self._model = NativeModel(compiled, problem.p)
        self._problem = replace(problem, model=self._model)
        self._lower, self._upper = _bounds(self.system.parameters)
        self._number = {q.name: k for k, q in enumerate(self.system.parameters) if q.name}
        self._start = {f"{u.name}.start": i for i, u in enumerate(self.system.unknowns)}
        self._integrators: dict[str, Integrator] = {}
        self._rows: list[tuple[Array, Array, Array]] = []
        self._cut: tuple[list[int], Kernel] | None = None
        self._base = BaseNumbers(compiled.program, problem.p)

    def run(self, values: Mapping[str, Array], count: int) -> Iterator[Trajectory | None]:
        """One trajectory for each set of values, in order; None for a run that `solve.run` must do."""
        numbers = {self._number[name]: column for name, column in values.items() if name in self._number}
        p, starts, nominal = self._base.tables(numbers, count)
        for name, column in values.items():
            if name in self._start:
                starts[:, self._start[name]] = column
        named = list(self._number.values())
        good: Flags = np.asarray(np.isfinite(np.hstack([p[:, named], starts])).all(axis=1))
        own = p[:, : len(self._lower)]
        outside = (own < self._lower) | (own > self._upper)  # False where there is no bound
        good &= ~outside.any(axis=1)
        rates, choices = self._begin(p, starts, good)
        for k in range(count):
            yield self._one(choices[k], p[k], starts[k], rates[k], nominal[k]) if good[k] else None

    def outputs(self, runs: Sequence[Trajectory], chosen: Sequence[int]) -> Array:
        """Values of some outputs in all rows of some runs, one row after the other."""
        t, y, d = (np.concatenate([getattr(run, name) for run in runs]) for name in ("t", "y", "d"))
        p = np.repeat(np.stack([run.p for run in runs]), [len(run.t) for run in runs], axis=0)
        points = Points(t, y, d, p, np.zeros((len(t), 0)))
        program = self.compiled.program
        if self._cut is None or self._cut[0] != chosen:
            self._cut = (list(chosen), restrict(program, program.kernels["outputs"], list(chosen)))
        return run_kernel(program, self._cut[1], points)

    def _begin(self, p: Array, starts: Array, good: Flags) -> tuple[Array, list[Choice]]:
        """Rates at the start, and the method for each run; `good` loses those that cannot begin."""
        model, begin, n = self._model, self._problem.start, starts.shape[1]
        rates, matrices, still = np.zeros_like(starts), np.zeros((len(p), n, n)), np.zeros(n)
        asked = self._problem.options.method != "auto"
        for k in np.flatnonzero(good):
            model.whole[:] = p[k]
            rates[k] = model.residual(begin, starts[k], still, NOTHING)
            if not asked:
                matrices[k] = model.dense_jacobian(begin, starts[k], still, NOTHING)[0]
        rates *= -1.0
        good &= np.isfinite(rates).all(axis=1)
        if asked or self._problem.options.step:
            return rates, [choose(self._problem, Instant(begin, starts[0], rates[0], NOTHING))] * len(p)
        return rates, list(map(explicit_choice, fast_constants(-matrices, self._problem.stop - begin).tolist()))

    def _one(self, choice: Choice, p: Array, y: Array, d: Array, nominal: Array) -> Trajectory | None:
        t, method, stats = self._problem.start, choice.method, Stats(choice.method, choice.reason)
        self._rows.clear()
        while True:
            integrator = self._integrator(method, Instant(t, y, d, NOTHING))
            integrator.again(t, y, d, p, nominal)
            status = integrator.advance(self._problem.stop)
            if status.outcome != "stiff":
                break
            count_work(stats, integrator.statistics)
            turned_stiff(stats, status.t)
            t, y, d, method = status.t, integrator.y.copy(), integrator.d.copy(), "radau"
        if status.outcome != "done" or not np.isfinite(integrator.y).all():
            return None
        integrator.finish()
        count_work(stats, integrator.statistics)
        return self._gathered(p, stats)

    def _gathered(self, p: Array, stats: Stats) -> Trajectory:
        """The rows; of several at one time (where one method went on after another) the last."""
        if len(self._rows) == 1:
            return Trajectory(*self._rows[0], p, stats)
        t, y, d = (np.concatenate([rows[i] for rows in self._rows]) for i in range(3))
        if not self.every_step:
            last = np.append(t[1:] > t[:-1], True)
            t, y, d = t[last], y[last], d[last]
        return Trajectory(t, y, d, p, stats)

    def _integrator(self, method: str, at: Instant) -> Integrator:
        found = self._integrators.get(method)
        if found is None or not found.dense:
            settings = integrator_settings(self._problem, method, self.grid, 0.0, at)
            settings = replace(settings, every_step=self.every_step)
            found = make_integrator(self._model.addresses(), settings, self._sink)
            self._integrators[method] = found
        return found

    def _sink(self, t: Array, y: Array, d: Array | None) -> None:
        assert d is not None
        self._rows.append((t.copy(), y.copy(), d.copy()))
