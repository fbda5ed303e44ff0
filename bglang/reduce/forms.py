"""One model, several treatments of its dependent storages: as they are, merged, held stiffly, held by multipliers."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from bglang.causality.assign import assign_causality
from bglang.diagnostics import BglangError, Diagnostic, Report, SimulationError
from bglang.graph.ir import BondGraph
from bglang.pipeline import causal, equations
from bglang.records import dataclass, replace
from bglang.reduce.augment import Augmentation, Stiff, augment
from bglang.reduce.reduce import Reduction, reduce_storages

if TYPE_CHECKING:
    from bglang.api import Model
    from bglang.results import Result
    from bglang.solve.problem import Options

Treatment = Literal["implicit", "reduce", "augment", "lambda"]
TREATMENTS: tuple[Treatment, ...] = ("implicit", "reduce", "augment", "lambda")


class Prepared:
    """A rewritten graph, compiled once and run as often as wanted."""

    def __init__(self, graph: BondGraph, report: Report):
        from bglang.solve.native_model import Compiled

        self.graph = graph
        self.system = equations(graph, causal(graph, report), report)
        self.compiled = Compiled(self.system)

    def run(self, options: "Options", values: Mapping[str, float] | None = None) -> "Result":
        from bglang.solve.problem import make_problem
        from bglang.solve.run import simulate

        return simulate(make_problem(self.system, options, dict(values or {}), self.compiled.model))


@dataclass(frozen=True, slots=True)
class Deflection:
    """The largest error of a constraint that an inserted element stands for; `estimate` from the reaction that the
    exact model finds there, None where that could not be run."""

    name: str
    largest: float
    estimate: float | None


class PreparedReduced(Prepared):
    """With the storage fields merged; every result tells what could not be."""

    def __init__(self, graph: BondGraph, report: Report):
        self.made: Reduction = reduce_storages(graph)
        super().__init__(self.made.graph, report)

    def run(self, options: "Options", values: Mapping[str, float] | None = None) -> "Result":
        result = super().run(options, values)
        result.warnings = (*(r.diagnostic for r in self.made.refusals), *result.warnings)
        return result


class PreparedAugmented(Prepared):
    """With stiff elements, whose deflections can be looked at afterwards."""

    def __init__(self, graph: BondGraph, report: Report, stiff: Stiff | None = None):
        self.original = graph
        self.made: Augmentation = augment(graph, stiff)
        super().__init__(self.made.graph, report)

    def deflections(self, result: "Result", options: "Options | None" = None) -> list[Deflection]:
        """What the inserted elements gave way, beside what the exact model lets one expect."""
        largest = {
            i.name: float(np.max(np.abs(result[i.deflection]), initial=0.0))
            for i in self.made.insertions
            if i.deflection in result.names
        }
        estimates = estimate(self.original, self.made, options) if largest else {}
        return [Deflection(name, x, estimates.get(name)) for name, x in largest.items()]


def estimate(graph: BondGraph, made: Augmentation, options: "Options | None" = None) -> dict[str, float]:
    """Deflections from the reactions of the exact model: effort over stiffness, or flow times resistance."""
    from bglang.solve.problem import Options

    names = {i.name: f"\0{i.name}" for i in made.insertions if i.bond >= 0 and i.kind in ("C", "R")}
    bonds = list(graph.bonds)
    for i in made.insertions:
        if i.name in names:
            bonds[i.bond] = replace(bonds[i.bond], names=(*bonds[i.bond].names, names[i.name]))
    watched = {i.name: f"{names[i.name]}.{i.letter}" for i in made.insertions if i.name in names}
    wanted = replace(options or Options(), tol=1e-4, points=200, method="auto", output=None, progress=None, vars=())
    try:
        exact = Prepared(replace(graph, bonds=tuple(bonds)), Report()).run(wanted)
    except BglangError:
        return {}
    size = {i.name: i.size for i in made.insertions}
    return {
        name: size[name] * float(np.max(np.abs(exact[variable]), initial=0.0))
        for name, variable in watched.items()
        if variable in exact.names
    }


# --- side by side ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Compared:
    """One line of the comparison; `failure` where the treatment does not apply or did not run, `deviation` is None
    where the treatment itself is what the others are compared with."""

    treatment: Treatment
    unknowns: int
    steps: int
    seconds: float
    deviation: float | None
    drift: float | None
    failure: str = ""


def compare_forms(model: "Model", options: "Options") -> list[Compared]:
    """Every treatment that applies, run with the same tolerance and compared with an exact run that is tighter."""
    graph = model.graph
    tol = options.tol if options.tol is not None else graph.experiment.tolerance
    reference = _tighter(model, options, tol)
    runs: dict[Treatment, Callable[[], tuple[Result, int, float | None]]] = {
        "implicit": lambda: _implicit(model, options),
        "reduce": lambda: _reduced(graph, options),
        "augment": lambda: _augmented(graph, options),
        "lambda": lambda: _multipliers(model, options),
    }
    dependent = bool(assign_causality(graph).dependent)
    made = list[Compared]()
    for name, run in runs.items():
        if name in ("augment", "lambda") and not dependent:
            made.append(Compared(name, 0, 0, 0.0, 0.0, None, "no dependent storage"))
            continue
        try:
            result, unknowns, drift = run()
        except BglangError as failure:
            made.append(Compared(name, 0, 0, 0.0, 0.0, None, _first_line(failure)))
            continue
        seconds = result.stats.seconds.get("integration", sum(result.stats.seconds.values()))
        apart = None if reference is None else deviation(reference, result)
        made.append(Compared(name, unknowns, result.stats.steps, seconds, apart, drift))
        reference = reference or result
    return made


def _tighter(model: "Model", options: "Options", tol: float) -> "Result | None":
    """An exact run, as much tighter as the model allows; without one the first treatment is what others deviate
    from."""
    for part in (1e-2, 1e-1):
        try:
            return model.simulate(
                stop=options.stop, start=options.start, tol=max(tol * part, 1e-11), points=options.points,
                dependent="implicit", form="state",
            )  # fmt: skip
        except SimulationError:
            continue
    return None


def _first_line(failure: BglangError) -> str:
    diagnostics: tuple[Diagnostic, ...] = getattr(failure, "diagnostics", ())
    return diagnostics[0].message if diagnostics else str(failure).splitlines()[0]


def _implicit(model: "Model", options: "Options") -> "tuple[Result, int, float | None]":
    prepared = Prepared(model.graph, Report())
    return prepared.run(options), len(prepared.system.unknowns), None


def _reduced(graph: BondGraph, options: "Options") -> "tuple[Result, int, float | None]":
    made: Reduction = reduce_storages(graph)
    if not made.mergers:
        why = made.refusals[0].diagnostic.message if made.refusals else "nothing to merge"
        raise BglangError(why)
    prepared = Prepared(made.graph, Report())
    return prepared.run(options), len(prepared.system.unknowns), None


def _augmented(graph: BondGraph, options: "Options") -> "tuple[Result, int, float | None]":
    prepared = PreparedAugmented(graph, Report())
    result = prepared.run(options)
    drift = max((d.largest for d in prepared.deflections(result, options)), default=0.0)
    return result, len(prepared.system.unknowns), drift


def _multipliers(model: "Model", options: "Options") -> "tuple[Result, int, float | None]":
    result = model.simulate(
        stop=options.stop, start=options.start, tol=options.tol, points=options.points, dependent="lambda"
    )
    drift = getattr(result.stats, "drift", None)
    return result, len(result.states), max(drift.values(), default=0.0) if isinstance(drift, dict) else drift


def deviation(reference: "Result", result: "Result") -> float:
    """The largest difference of flows, efforts and states that have not changed their meaning, over their size.

    Only the variables of junctions and displacements are compared: those every treatment keeps; and not at the very
    start, where an inserted resistance needs a moment to carry its flow."""
    known = {_plain(name): name for name in result.names}
    worst = 0.0
    for name in reference.names:
        if _plain(name) not in known or not _common(name, reference):
            continue
        a, b = np.asarray(reference[name]), np.asarray(result[known[_plain(name)]])
        if a.shape != b.shape:
            b = np.interp(reference.time, result.time, b)
        a, b = a[1:], b[1:]
        size = float(np.max(np.abs(a), initial=0.0))
        if size > 0.0:
            worst = max(worst, float(np.max(np.abs(a - b))) / size)
    return worst


def _plain(name: str) -> str:
    return name.replace("'", "")


def _common(name: str, reference: "Result") -> bool:
    """`v.f` without a `v.power` beside it is the variable of a junction; `x.q` without `x.e` a displacement."""
    head, _, letter = name.rpartition(".")
    if letter == "f":
        return f"{head}.power" not in reference.names
    return letter == "q" and f"{head}.e" not in reference.names
