"""A problem: a system of equations, numbers for its parameters and starts, and what the user asked of the run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Literal, Protocol, TypeAlias

import numpy as np

from bglang.diagnostics import Diagnostic, SourceError, UsageError, error
from bglang.equations.system import System, SystemParameter
from bglang.expr.evaluate import Values, evaluate
from bglang.results.values import Array
from bglang.solve.model import Model, ReferenceModel, table_blocks

Method: TypeAlias = Literal["auto", "radau", "bdf", "adams", "rk", "ida"]
METHODS: tuple[Method, ...] = ("auto", "radau", "bdf", "adams", "rk", "ida")


class Builder(Protocol):
    """Makes numbers and models of one system."""

    def __call__(self, p: Array) -> Model: ...

    def parameters(self, overrides: Mapping[int, float]) -> Array: ...

    def starts(self, p: Array) -> tuple[Array, Array]:
        """Start values, and nominal values (NaN where there is none)."""
        ...


class ReferenceBuilder:
    """The plain one: every number from the evaluator of single expressions."""

    def __init__(self, system: System):
        self.system = system

    def __call__(self, p: Array) -> Model:
        return ReferenceModel(self.system, p)

    def parameters(self, overrides: Mapping[int, float]) -> Array:
        p = np.zeros(len(self.system.parameters))
        values = Values(p=p)
        for k, parameter in enumerate(self.system.parameters):
            p[k] = overrides[k] if k in overrides else evaluate(parameter.value, values)
        return p

    def starts(self, p: Array) -> tuple[Array, Array]:
        values = Values(p=p, tables=table_blocks(self.system, p))
        unknowns = self.system.unknowns
        starts = np.array([evaluate(u.start, values) for u in unknowns], dtype=np.float64)
        nominal = [np.nan if u.nominal is None else evaluate(u.nominal, values) for u in unknowns]
        return starts, np.array(nominal, dtype=np.float64)


External: TypeAlias = Callable[[str, Sequence[float]], float]

POINTS = 500
"""Rows of a result, unless the user says how many."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked; None means what the model's experiment says, or the default.

    `vars` chooses what a file holds, `events` adds rows before and after each event, `output` is a file to be written
    as the run goes, `step` a fixed step, `progress` is called with the time reached, the start and the end of the
    run."""

    start: float | None = None
    stop: float | None = None
    tol: float | None = None
    points: int | None = None
    method: Method = "auto"
    max_step: float | None = None
    step: float | None = None
    vars: tuple[str, ...] = ()
    events: bool = False
    steady: bool | None = None
    output: str | PathLike[str] | None = None
    progress: Callable[[float, float, float], None] | None = None
    audit: bool = True


@dataclass(frozen=True, slots=True)
class Problem:
    """One run, ready to be started: all numbers are known.

    `starts[i]` is the start of unknown i; `written[i]` whether the source or the caller gave it; `nominal[i]` is 0
    where nothing says how large the variable is."""

    system: System
    model: Model
    p: Array
    starts: Array
    written: tuple[bool, ...]
    nominal: Array
    start: float
    stop: float
    tol: float
    points: int
    steady: bool
    options: Options
    overrides: Mapping[str, float]
    build: Builder = field(repr=False)
    external: External | None = field(default=None, repr=False)
    """Answers for outside models."""

    def with_parameters(self, found: Mapping[str, float]) -> "Problem":
        """The same problem with other numbers for some parameters; those computed from them follow."""
        p = parameter_values(self.system, {**self.overrides, **found}, self.build)
        return replace(self, model=self.build(p), p=p)

    def sizes(self, y: Array) -> Array:
        """What counts as small for each unknown: its nominal value, else its start or present size, else one."""
        guess = np.maximum(np.abs(self.starts), np.abs(y))
        return np.where(self.nominal > 0.0, self.nominal, np.where(guess > 0.0, np.minimum(guess, 1.0), 1.0))


def make_problem(
    system: System,
    options: Options | None = None,
    set: Mapping[str, float] | None = None,
    build: Builder | None = None,
    external: External | None = None,
) -> Problem:
    """Numbers for everything.  `set` overrides parameters (`k`) and starts (`spring.q.start`) by name; parameters
    computed from them follow.  `build` makes the compiled model for a vector of parameters."""
    options = options or Options()
    if build is None:
        from bglang.solve.native_model import Compiled

        build = Compiled(system).model
    overrides = dict(set or {})
    start_names = {f"{u.name}.start": i for i, u in enumerate(system.unknowns)} if overrides else {}
    for name in overrides:
        if name not in start_names and not any(q.name == name for q in system.parameters):
            raise UsageError(_no_such(name, [*(q.name for q in system.parameters if q.name), *start_names]))
    p = parameter_values(system, overrides, build)
    starts, nominal = build.starts(p)
    written = [u.written for u in system.unknowns]
    for name, value in overrides.items():
        if name in start_names:
            starts[start_names[name]], written[start_names[name]] = value, True
    start, stop, tol, points = _span(system, options)
    steady = system.experiment.steady if options.steady is None else options.steady
    return Problem(
        system, build(p), p, starts, tuple(written), np.where(np.isfinite(nominal), np.abs(nominal), 0.0),
        start, stop, tol, points, steady, options, overrides, build, external,
    )  # fmt: skip


def _span(system: System, options: Options) -> tuple[float, float, float, int]:
    """Start, stop, tolerance and number of rows, checked."""
    experiment = system.experiment
    start = experiment.start if options.start is None else options.start
    stop = experiment.stop if options.stop is None else options.stop
    tol = experiment.tolerance if options.tol is None else options.tol
    if not np.isfinite(start) or not np.isfinite(stop) or stop < start:
        raise UsageError(f"a run goes forward in time: it cannot go from {start:g} to {stop:g}")
    if not 1e-14 <= tol < 1.0:
        raise UsageError(f"the tolerance {tol:g} must lie between 1e-14 and 1")
    if options.method not in METHODS:
        raise UsageError(f"there is no method `{options.method}`; there are {', '.join(METHODS)}")
    for name, value in (("step", options.step), ("max_step", options.max_step)):
        if value is not None and not 0.0 < value < np.inf:
            raise UsageError(f"`{name}` must be a positive time, not {value:g}")
    if options.points is not None:
        points = options.points
    elif experiment.interval:
        points = round((stop - start) / experiment.interval) + 1
    else:
        points = POINTS
    if points < 2:
        raise UsageError(f"a result needs at least 2 points (both ends), not {points}")
    return start, stop, tol, points


def parameter_values(system: System, overrides: Mapping[str, float], build: Builder) -> Array:
    """All parameters; those computed from others follow.  Values outside `min` and `max` are errors."""
    given = {k: overrides[q.name] for k, q in enumerate(system.parameters) if q.name in overrides} if overrides else {}
    p = build.parameters(given)
    values = Values(p=p)
    wrong = list[Diagnostic]()
    finite = np.isfinite(p)
    for k, parameter in enumerate(system.parameters):
        if not finite[k] and parameter.name and parameter.fixed:
            wrong.append(
                error(
                    "parameter/value",
                    f"the parameter `{parameter.name}` has no finite value",
                    parameter.span,
                    reason=f"Its value comes out as {p[k]}.",
                    component=parameter.name,
                )
            )
        if parameter.minimum is not None or parameter.maximum is not None:
            wrong += _outside(parameter, float(p[k]), values)
    if wrong:
        raise SourceError(wrong)
    return p


def _outside(parameter: SystemParameter, value: float, values: Values) -> list[Diagnostic]:
    found = list[Diagnostic]()
    for bound, word, sign in ((parameter.minimum, "min", 1.0), (parameter.maximum, "max", -1.0)):
        limit = None if bound is None else evaluate(bound, values)
        if limit is not None and sign * (value - limit) < 0.0:
            message = f"the parameter `{parameter.name}` is {value:g}, but its {word} is {limit:g}"
            found.append(error("parameter/range", message, parameter.span, component=parameter.name))
    return found


def _no_such(name: str, known: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    meant = f"; did you mean `{near[0]}`?" if near else ""
    return f"the model has no parameter or start `{name}` that can be set{meant}"
