"""Points to rows, in one process, with one compiled model.  Not for several threads at once."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bglang.diagnostics import BglangError, SimulationError, SourceError, UsageError
from bglang.records import dataclass
from bglang.results.result import Result
from bglang.results.values import Array
from bglang.solve.problem import POINTS, Options, Problem, make_problem
from bglang.solve.repeat import Repeater, Trajectory, repeatable
from bglang.sweep.points import Point, Spec
from bglang.sweep.vary import Value

if TYPE_CHECKING:
    from bglang.api import Model

TOGETHER = 256
"""So many quick runs share the computation of their outputs."""


@dataclass(frozen=True, slots=True)
class Done:
    """A point that was run: its rows (one, or one for each time), or why there are none: `code` as of the command."""

    number: int
    rows: Array
    times: Array
    code: int = 0
    message: str = ""
    steps: int = 0
    seconds: float = 0.0


class Runner:
    """Runs points of one model."""

    def __init__(self, model: "Model", spec: Spec):
        self.model, self.spec = model, spec
        names = {o.name: i for i, o in enumerate(model.compile().outputs)}
        self._chosen = [names[n] for n in spec.columns if n in names]
        self._repeater = self._quick() if len(self._chosen) == len(spec.columns) else None

    @property
    def quick(self) -> bool:
        """Whether runs go through the repeater."""
        return self._repeater is not None

    def run(self, points: Sequence[Point]) -> Iterator[Done]:
        """All points, in order."""
        for first in range(0, len(points), TOGETHER):
            part = points[first : first + TOGETHER]
            quick = self._run_quick(part) if self._repeater is not None else {}
            for point in part:
                yield quick.get(point.number) or self._run_one(point)

    # --- runs without a story -----------------------------------------------------------------------------------------

    def _quick(self) -> Repeater | None:
        problem = self._problem()
        if problem is None or not repeatable(problem, self.model.compiled()):
            return None
        return Repeater(problem, self.model.compiled(), self._grid(problem))

    def _problem(self) -> Problem | None:
        """The model as it stands; None where its runs need more than its compiled equations."""
        spec, model = self.spec, self.model
        experiment = dict(model.compile().experiment.settings)
        if experiment.get("form", "state") != "state" or experiment.get("dependent", "implicit") != "implicit":
            return None
        zero = model.numbers(dict.fromkeys(spec.names, 0.0))  # the values do not matter: can these be set as numbers?
        numbers = model.numbers({})
        if zero is None or numbers is None:
            return None
        options = Options(spec.start, spec.stop, spec.tol, self._points(), spec.method, spec.max_step, audit=False)
        return make_problem(model.compile(), options, numbers, model.compiled().model)

    def _points(self) -> int | None:
        """Rows of a run: few where only its end counts."""
        spec = self.spec
        return spec.points if spec.trajectories or set(spec.statistics) & {"min", "max"} else 2

    def _grid(self, problem: Problem) -> Array:
        grid = np.linspace(problem.start, problem.stop, problem.points)
        outside = [t for t in self.spec.at if not problem.start <= t <= problem.stop]
        if outside:
            raise UsageError(
                f"the runs go from {problem.start:g} to {problem.stop:g}; there is nothing at {outside[0]:g}"
            )
        return np.unique(np.concatenate([grid, self.spec.at])) if self.spec.at else grid

    def _run_quick(self, points: Sequence[Point]) -> dict[int, Done]:
        repeater = self._repeater
        assert repeater is not None
        try:
            table = np.array([point.values for point in points], dtype=np.float64)
        except ValueError:
            return {}
        fixed = {name: np.full(len(points), v) for name, v in (self.model.numbers({}) or {}).items()}
        varied = {name: table[:, i] for i, name in enumerate(self.spec.names)}
        began = time.perf_counter()
        found = list(zip(points, repeater.run({**fixed, **varied}, len(points)), strict=True))
        good = [(point, run) for point, run in found if run is not None]
        if not good:
            return {}
        values = repeater.outputs([run for _, run in good], self._chosen)
        spent = (time.perf_counter() - began) / len(points)
        ends = np.cumsum([len(run.t) for _, run in good])
        parts = np.split(values, ends[:-1])
        return {point.number: self._quick_rows(point, run, part, spent)
                for (point, run), part in zip(good, parts, strict=True)}  # fmt: skip

    def _quick_rows(self, point: Point, run: Trajectory, values: Array, seconds: float) -> Done:
        spec = self.spec
        if spec.trajectories:
            return Done(point.number, values, run.t, steps=run.stats.steps, seconds=seconds)
        row = [summary(statistic, values) for statistic in spec.statistics]
        row += [values[int(np.searchsorted(run.t, t))] for t in spec.at]
        return Done(point.number, np.concatenate(row)[None, :], run.t[-1:], steps=run.stats.steps, seconds=seconds)

    # --- any run ------------------------------------------------------------------------------------------------------

    def _run_one(self, point: Point) -> Done:
        spec = self.spec
        values = dict(zip(spec.names, map(plain, point.values), strict=True))
        began = time.perf_counter()
        code, message, result = 0, "", None
        try:
            result = self.model.simulate(
                spec.stop, spec.tol, self._points() or POINTS, spec.method, spec.start, values,
                max_step=spec.max_step, audit=False,
            )  # fmt: skip
            if not result.complete:
                raise KeyboardInterrupt
        except SourceError as failure:
            code, message = 1, "; ".join(d.message for d in failure.diagnostics if d.severity == "error")
        except SimulationError as failure:
            code, message, result = 3, failure.message, failure.result
        except BglangError as failure:
            code, message = 2, str(failure)
        rows, times = self._rows(result, code)
        steps = result.stats.steps if result is not None else 0
        return Done(point.number, rows, times, code, message, steps, time.perf_counter() - began)

    def _rows(self, result: Result | None, code: int) -> tuple[Array, Array]:
        """What a result gives; of a failed run the rows until then, but no summary: its end is not the run's."""
        spec = self.spec
        width = len(spec.columns)
        if spec.trajectories:
            if result is None:
                return np.empty((0, width)), np.empty(0)
            return _columns(result, spec.columns), result.time
        if result is None or code:
            return np.full((1, width * (len(spec.statistics) + len(spec.at))), np.nan), np.full(1, np.nan)
        row = list[Array]()
        for statistic in spec.statistics:
            rows = _columns(result, spec.columns) if statistic == "final" else _curves(result, spec.columns)
            row.append(summary(statistic, rows))
        known = [name if name in result else "" for name in spec.columns]
        row += [np.array([result.at(t, name) if name else np.nan for name in known]) for t in self._within(result)]
        return np.concatenate(row)[None, :], result.time[-1:]

    def _within(self, result: Result) -> Iterable[float]:
        """A run that `terminate` ended early has no value behind its end: the last one holds."""
        return np.clip(self.spec.at, result.time[0], result.time[-1])


def plain(value: Value) -> object:
    """A whole number as an Integer, which fits Real parameters as well."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def summary(statistic: str, values: Array) -> Array:
    """One number a column."""
    if statistic == "final":
        return np.asarray(values[-1])
    return np.asarray(values.min(axis=0) if statistic == "min" else values.max(axis=0))


def _columns(result: Result, names: Sequence[str]) -> Array:
    """Columns by name; NaN where this run has none (a structural parameter took it away)."""
    known = [name for name in names if name in result]
    values = np.full((len(result), len(names)), np.nan)
    values[:, [i for i, name in enumerate(names) if name in result]] = result.values(known)
    return values


def _curves(result: Result, names: Sequence[str]) -> Array:
    """The same with the values before and after each event."""
    if not result.events:
        return _columns(result, names)
    curves = [result.curve(name)[1] if name in result else None for name in names]
    length = max((len(c) for c in curves if c is not None), default=1)
    return np.column_stack([np.full(length, np.nan) if c is None else c for c in curves])
