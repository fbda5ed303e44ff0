"""Runs of the Lagrange form: consistent starts from the model as it is, then the stabilised equations.

The start is that of the ordinary form: starts, initial equations and steady states mean the same in every form."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bglang.causality.assign import assign_causality
from bglang.causality.lagrange import beside_storages
from bglang.causality.pivots import find_pivots
from bglang.diagnostics import Report, SourceError
from bglang.equations.derive import derive
from bglang.equations.lagrange import LagrangeForm, derive_lagrange
from bglang.equations.lagrange_choice import LagrangeChoice
from bglang.equations.lagrange_constraints import study_constraints
from bglang.equations.lagrange_dependent import multipliers_at_storages
from bglang.equations.lagrange_relax import Relaxed, choose_stiffness, relax, storage_names
from bglang.equations.lagrange_stabilise import Drift, Stabilised, check_redundant, stabilise
from bglang.equations.system import System
from bglang.expr.evaluate import evaluate
from bglang.expr.walk import leaf_set
from bglang.graph.ir import BondGraph
from bglang.records import dataclass, replace
from bglang.results import Result
from bglang.solve.initialise import Started, initialise
from bglang.solve.native_model import Compiled
from bglang.solve.problem import Options, Problem, make_problem
from bglang.solve.run import simulate


@dataclass(frozen=True, slots=True)
class Ordinary:
    """The model in its ordinary form, compiled once."""

    system: System
    compiled: Compiled

    @classmethod
    def of(cls, graph: BondGraph, report: Report) -> "Ordinary":
        causality = assign_causality(graph, report=report)
        report.raise_if_errors()
        system = derive(graph, causality, report)
        report.raise_if_errors()
        return cls(system, Compiled(system))

    def known(self, numbers: Mapping[str, float]) -> dict[str, float]:
        """The values that this form takes: parameters, and starts of its unknowns."""
        names = {f"{u.name}.start" for u in self.system.unknowns} | {q.name for q in self.system.parameters}
        return {name: value for name, value in numbers.items() if name in names}

    def start(self, options: Options, numbers: Mapping[str, float]) -> Started:
        return initialise(make_problem(self.system, options, self.known(numbers), self.compiled.model))

    def values(self, started: Started, names: Iterable[str]) -> dict[str, float]:
        """Variables at the start, those of the names that exist and are finite."""
        known = {output.name: k for k, output in enumerate(self.system.outputs)}
        wanted = [name for name in names if name in known]
        at = started.at
        rows = (np.array([at.t]), at.y[None, :], at.d[None, :], at.z[None, :])
        found = started.problem.model.outputs(*rows, [known[name] for name in wanted])[0]
        return {name: float(v) for name, v in zip(wanted, found, strict=True) if np.isfinite(v)}


class LagrangeRun:
    """A stabilised form that can be run with several numbers."""

    def __init__(self, form: LagrangeForm, stabilised: Stabilised, report: Report):
        self.form, self.stabilised = form, stabilised
        self.base = Ordinary.of(form.graph, report)
        self.compiled = Compiled(stabilised.system)

    def run(self, options: Options, numbers: Mapping[str, float]) -> Result:
        result = simulate(self._problem(options, numbers))
        report_drift(result, self.stabilised.drifts)
        return result

    def multipliers(self, options: Options, numbers: Mapping[str, float]) -> dict[str, float]:
        """The multipliers at the start, by junction."""
        at = initialise(self._problem(options, numbers)).at
        return {m.junction: float(at.y[m.unknown]) for m in self.form.multipliers}

    def _problem(self, options: Options, numbers: Mapping[str, float]) -> Problem:
        system = self.stabilised.system
        started = self.base.start(options, numbers)
        parameters = {q.name for q in system.parameters if q.name}
        values = {name: value for name, value in numbers.items() if name in parameters}
        values |= self._starts(started, values)
        made = make_problem(system, replace(options, steady=False), values, self.compiled.model)
        # the ordinary form has checked what the user wrote; these starts are all computed
        return replace(made, written=(False,) * len(system.unknowns))

    def _starts(self, started: Started, parameters: Mapping[str, float]) -> dict[str, float]:
        """Every unknown of this form at the start, by name."""
        system, at = self.stabilised.system, started.at
        starts = self.base.values(started, [u.name for u in system.unknowns])
        y = np.array([starts.get(u.name, 0.0) for u in system.unknowns])
        own = make_problem(system, None, parameters, self.compiled.model).model
        values = own.values(at.t, y, np.zeros(len(y)), np.zeros(len(system.modes)))
        constants = {name: float(evaluate(e, values)) for name, e in self.stabilised.constants}
        return constants | {f"{name}.start": value for name, value in starts.items()}


class RelaxedRun:
    """Penalty or singular perturbation: an ordinary model with a stiff spring and damper at every constraint.

    The springs start with the load that the rigid constraint bears (`rigid`), so that nothing rings; where constraints
    are redundant that is not known, and they start relaxed."""

    def __init__(self, relaxed: Relaxed, rigid: LagrangeRun | None, report: Report):
        self.relaxed, self.rigid = relaxed, rigid
        self.base = Ordinary.of(relaxed.graph, report)

    def run(self, options: Options, numbers: Mapping[str, float]) -> Result:
        values = self.base.known(numbers)
        if self.rigid is not None:
            starts = loaded_starts(self.relaxed, self.rigid, options, numbers)
            values |= self.base.known({f"{name}.start": value for name, value in starts.items()})
        problem = make_problem(self.base.system, options, values, self.base.compiled.model)
        result = simulate(problem)
        report_drift(result, self.relaxed.drifts)
        return result


def loaded_starts(
    relaxed: Relaxed, rigid: LagrangeRun, options: Options, numbers: Mapping[str, float]
) -> dict[str, float]:
    """Values of the storages of a relaxed model with which it begins just as the rigid one does."""
    starts = rigid.base.values(rigid.base.start(options, numbers), storage_names(rigid.form.graph))
    loads = rigid.multipliers(options, numbers)
    for drift, stiff in zip(relaxed.drifts, relaxed.stiff, strict=True):
        assert drift.position is not None
        starts[drift.position] = loads[drift.junction] / stiff.stiffness
    return starts


def prepare_lagrange(graph: BondGraph, choice: LagrangeChoice, report: Report) -> LagrangeRun | RelaxedRun:
    """Everything that does not depend on numbers."""
    form = derive_lagrange(graph, choice.coordinates, report, choice.strong)
    constraints = study_constraints(form)
    relaxed = choice.stabilise in ("penalty", "perturbation")
    if not relaxed or not constraints.redundant:
        check_redundant(form, constraints, report)
        report.raise_if_errors()
        level = "acceleration" if relaxed else choice.level
        rigid = LagrangeRun(form, stabilise(form, constraints, choice.method, level, choice.rates), report)
        if not relaxed:
            return rigid
    else:
        rigid = None
    return RelaxedRun(relax(form, choose_stiffness(form, constraints, choice)), rigid, report)


def prepare_dependent(graph: BondGraph, choice: LagrangeChoice, report: Report) -> LagrangeRun | RelaxedRun:
    """Multipliers at the dependent storages.

    Where a massless junction would then follow by a division, it and all inertias are coordinates, and the multipliers
    stand where they meet; so they do where a ring of junctions would leave the multipliers to rates of what is no
    state."""
    pivots = find_pivots(graph)
    if pivots:
        return prepare_lagrange(graph, _where_they_meet(graph, choice, pivots), report)
    form, constraints = multipliers_at_storages(graph, report)
    held = stabilise(form, constraints, "baumgarte", "velocity", choice.rates)
    if _reads_algebraic_rates(held.system):
        try:
            return prepare_lagrange(graph, _where_they_meet(graph, choice), Report())
        except SourceError:
            pass  # constraints that repeat each other, or no inertias to choose: as it was
    return LagrangeRun(form, held, report)


def _where_they_meet(graph: BondGraph, choice: LagrangeChoice, more: Sequence[int] = ()) -> LagrangeChoice:
    names = (*(graph.elements[n].name for n in more), *beside_storages(graph, "I").values())
    return replace(choice, coordinates=tuple(dict.fromkeys(names)))


def _reads_algebraic_rates(system: System) -> bool:
    algebraic = {("d", k) for k, u in enumerate(system.unknowns) if u.kind != "state"}
    return any(not algebraic.isdisjoint(leaf_set(row.residual)) for row in system.rows)


def report_drift(result: Result, drifts: Sequence[Drift]) -> None:
    """The largest deviation from each constraint, among the statistics of the run."""
    known = set(result.names)
    for drift in drifts:
        for name in (drift.position, drift.velocity):
            if name is not None and name in known:
                result.stats.drift[name] = float(np.max(np.abs(result[name]), initial=0.0))
