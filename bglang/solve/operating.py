"""Operating points: the start of a run, a time in it, or the steady state; and the linear model there."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bglang.causality.assign import assign_causality
from bglang.diagnostics import Report, UsageError
from bglang.equations.derive import derive
from bglang.equations.linearize import LinearModel, Point, linearize, source_names, with_inputs
from bglang.graph.ir import BondGraph
from bglang.records import replace
from bglang.solve.initialise import initialise
from bglang.solve.native_model import Compiled
from bglang.solve.problem import Options, Problem, make_problem
from bglang.solve.run import Run

if TYPE_CHECKING:
    from bglang.solve.consistent import Instant


def linear_model(
    graph: BondGraph,
    report: Report,
    at: float | str,
    inputs: Sequence[str] | None,
    outputs: Sequence[str],
    set: Mapping[str, float],
) -> LinearModel:
    """Linearise a graph at a point; sources are the inputs unless some are named."""
    names = source_names(graph) if inputs is None else list(inputs)
    driven = with_inputs(graph, names)
    causality = assign_causality(driven, report=report)
    report.raise_if_errors()
    system = derive(driven, causality, report)
    report.raise_if_errors()
    compiled = Compiled(system)
    problem, instant = _operating_point(compiled, at, set)
    point = Point(instant.t, instant.y, instant.d, instant.z, problem.model)
    linear = linearize(system, point, names, outputs)
    where = tuple((u.name, float(instant.y[n])) for n, u in enumerate(system.unknowns) if u.kind == "state")
    return replace(linear, point=where, steady=at == "steady")


def _operating_point(compiled: Compiled, at: float | str, set: Mapping[str, float]) -> "tuple[Problem, Instant]":
    if isinstance(at, str):
        if at not in ("start", "steady"):
            raise UsageError(f"`{at}` is no operating point: give a time, `start` or `steady`")
        options = Options(steady=True if at == "steady" else None)
        started = initialise(make_problem(compiled.system, options, set, compiled.model))
        return started.problem, started.at
    run = Run(make_problem(compiled.system, Options(stop=at, points=2, audit=False), set, compiled.model))
    run.go()
    return run.problem, run.at
