"""The Python interface: `bglang.load`, `bglang.loads`, and the model object that they give.

Nothing is computed before it is asked for; what was computed is kept, so that one loaded model is simulated again and
again with other values without compiling anything."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bglang.diagnostics import Diagnostic, Report, UsageError
from bglang.limits import Limits
from bglang.memory import Memory, plain_number
from bglang.records import dataclass, replace
from bglang.request import Request, Units
from bglang.source import Source

if TYPE_CHECKING:
    from bglang.causality.view import CausalityView
    from bglang.equations.forms import Equations
    from bglang.equations.linearize import LinearModel
    from bglang.equations.system import System
    from bglang.graph.ir import BondGraph
    from bglang.interop.fmu_run import FmuPool
    from bglang.reduce.forms import Prepared
    from bglang.results import Result
    from bglang.solve.again import Again
    from bglang.solve.native_model import Compiled
    from bglang.solve.problem import Method, Options
    from bglang.solve.verify import Verification
    from bglang.sweep import Sweep
    from bglang.views.draw import Drawing

DEPENDENT = ("implicit", "reduce", "augment", "lambda")
"""What can be done with storages in derivative causality."""
REPEATED = 8
"""So many sets of options are remembered for further runs."""
SHORT = 0.2
"""Seconds of a run that may be repeated without a story."""


def load(
    path: str | PathLike[str],
    model: str | None = None,
    set: Mapping[str, object] | None = None,
    libraries: Sequence[str] = (),
    units: Units = "error",
    allow_read: bool = False,
    limits: Limits | None = None,
    demand: Sequence[str] = (),
    allow_native: bool = False,
) -> "Model":
    """The model in a file.

    `model` names it if the file has several; `set` gives other values to parameters and starts ({"n": 50}); `libraries`
    are folders to look in; `demand` names variables made on demand (`w.q`) that the source itself does not mention.
    `allow_native` lets the native code of FMUs run.  A wrong source raises `SourceError`, which prints as the command
    would."""
    origin = Path(path)
    if not origin.exists():
        raise UsageError(f"there is no file `{path}`")
    if not origin.is_file():  # a folder, a pipe, a device: it would be read more than once, or never end
        raise UsageError(f"`{path}` is no plain file")
    return Model(
        Request(
            origin,
            model,
            dict(set or {}),
            libraries,
            units,
            allow_read,
            limits or Limits(),
            tuple(demand),
            allow_native=allow_native,
        )
    )


def loads(
    text: str,
    model: str | None = None,
    set: Mapping[str, object] | None = None,
    name: str = "<text>",
    libraries: Sequence[str] = (),
    units: Units = "error",
    demand: Sequence[str] = (),
) -> "Model":
    """The model in a text; otherwise like `load`."""
    return Model(Request(Source(name, text), model, dict(set or {}), libraries, units, demand=tuple(demand)))


def outside_models(system: "System", allowed: bool) -> "FmuPool | None":
    """What answers for the FMUs of a system; None if it has none."""
    from bglang.equations.system import has_outside

    if not has_outside(system):
        return None
    from bglang.interop.fmu_run import FmuPool

    return FmuPool(allowed)


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One line of `bglang params`."""

    name: str
    value: float | str | None
    unit: str
    type: str
    structural: bool
    final: bool
    origin: str
    description: str

    @property
    def value_text(self) -> str:
        if self.value is None:
            return "(none)"
        return self.value if isinstance(self.value, str) else f"{self.value:.10g}"

    def as_dict(self) -> dict[str, object]:
        return {key: getattr(self, key) for key in self.__slots__}


class Model:
    """A checked model.  Making one reads and checks the source, unless the very same was compiled before."""

    def __init__(self, request: Request):
        self.request = request
        self._report = Report()
        self._graph: BondGraph | None = None
        self._memory = Memory(request)
        self._kept = self._memory.recall()
        self._system: System | None = None
        self._compiled: Compiled | None = None
        self._prepared: dict[object, Any] = {}
        self._repeated: dict[Options, Again | Literal[False] | None] = {}
        if self._kept is None:
            from bglang.pipeline import front

            self._graph = front(request, self._report, numbers=False)
        else:
            self._system = self._kept.system
            self._report.extend(self._kept.diagnostics)

    def __repr__(self) -> str:
        return f"<bglang model {self.name}>"

    def _repr_svg_(self) -> str:
        return self.draw().svg()

    @property
    def name(self) -> str:
        return self._system.name if self._graph is None and self._system is not None else self.graph.name

    @property
    def graph(self) -> "BondGraph":
        """The flat bond graph."""
        if self._graph is None:
            from bglang.pipeline import front

            self._graph = front(self.request, Report(), numbers=False)
        return self._graph

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What the checks found that does not stop the model."""
        return tuple(d for d in self._report if d.severity != "error")

    # --- looking ---

    def causality(
        self, keep: Sequence[str] = (), procedure: Literal["scap", "mscap", "lcap", "lambda"] = "scap"
    ) -> "CausalityView":
        """Strokes, states, dependent storages, loops and the reasons, by name."""
        from bglang.causality.assign import assign_causality
        from bglang.causality.view import CausalityView

        found = assign_causality(self.graph, keep=keep, procedure=procedure, report=Report())
        return CausalityView(self.graph, found)

    def draw(
        self,
        depth: int | None = None,
        keep: Sequence[str] = (),
        procedure: Literal["scap", "mscap", "lcap", "lambda"] = "scap",
    ) -> "Drawing":
        """The bond graph as a picture: `.svg()`, `.save("graph.svg")`; a notebook shows it by itself."""
        from bglang.causality.assign import assign_causality
        from bglang.views.draw import draw

        causality = assign_causality(self.graph, keep=keep, procedure=procedure, report=Report())
        return draw(self.graph, causality, depth=depth)

    def parameters(self) -> list[ParameterRow]:
        """All parameters with value, unit and origin."""
        from bglang.graph.parameters import evaluate_parameters

        values = evaluate_parameters(self.graph, report=Report())
        return [
            ParameterRow(
                q.name,
                q.text if q.type == "String" else values.get(q.name),
                q.unit,
                q.type,
                q.structural,
                q.final,
                str(q.span),
                q.description,
            )
            for q in self.graph.parameters
        ]

    def equations(
        self,
        form: str = "state",
        coordinates: str | Sequence[str] = (),
        strong: str | Sequence[str] = (),
        constraints: str = "velocity",
        states: str = "energy",
        matrices: bool = False,
    ) -> "Equations":
        """The equations for people: `print(model.equations())`, `.latex()`, `.to_dict()`.

        Forms: "state" (explicit where that exists, else "dae"), "dae", "field", and "lagrange" in the `coordinates`
        (junctions), with constraints at the level of position, velocity or acceleration."""
        from bglang.equations.forms import make_equations

        wish = {"coordinates": coordinates, "strong": strong, "constraints": constraints}
        return make_equations(self.graph, form, wish, states, matrices, self._report)

    def linearize(
        self,
        at: float | str = "start",
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] = (),
        set: Mapping[str, float] | None = None,
    ) -> "LinearModel":
        """A, B, C, D at the start, at a time, or at the steady state (`at="steady"`), with names.

        `inputs` are sources (all, unless given), `outputs` any variables."""
        from bglang.solve.operating import linear_model

        return linear_model(self.graph, self._report, at, inputs, outputs, set or {})

    # --- running ---

    def compile(self) -> "System":
        """The equations; raises `SourceError` for a model that cannot be run."""
        if self._system is None:
            from bglang.graph.checks import check_values
            from bglang.graph.parameters import evaluate_parameters
            from bglang.pipeline import causal, equations

            report = self._report
            check_values(self.graph, report)
            evaluate_parameters(self.graph, report=report)
            report.raise_if_errors()
            self._system = equations(self.graph, causal(self.graph, report), report)
        return self._system

    def simulate(
        self,
        stop: float | None = None,
        tol: float | None = None,
        points: int | None = None,
        method: "Method" = "auto",
        start: float | None = None,
        set: Mapping[str, object] | None = None,
        vars: str | Sequence[str] = (),
        events: bool = False,
        max_step: float | None = None,
        step: float | None = None,
        output: str | PathLike[str] | None = None,
        progress: Callable[[float, float, float], None] | None = None,
        form: str | None = None,
        dependent: str | None = None,
        coordinates: str | Sequence[str] = (),
        strong: str | Sequence[str] = (),
        constraints: str | None = None,
        stabilise: str | None = None,
        audit: bool = True,
        **parameters: float,
    ) -> "Result":
        """Run the model.  What is not given comes from the model's experiment.

        `set` and keyword arguments give other values to parameters and starts: `simulate(stop=10, k=4)`,
        `simulate(set={"spring.q.start": 17})`.  Only a structural parameter makes the model compile again.
        `form="lagrange"` runs Lagrange's equations in the `coordinates` (junctions; automatic if none are named), with
        `constraints` corrected up to position, velocity or acceleration by `stabilise`: ggl, baumgarte (alpha, beta),
        penalty (stiffness, damping) or perturbation (epsilon).  `dependent="lambda"` puts multipliers at dependent
        storages, "reduce" merges them into those they follow, "augment" holds them by stiff elements.
        `audit=False` spares the energy audit.
        A run that fails raises `SimulationError`, which holds the result until then."""
        from bglang.solve.problem import Options

        wanted = (vars,) if isinstance(vars, str) and vars else tuple(vars)
        options = Options(
            start, stop, tol, points, method, max_step, step, wanted, events, None, output, progress, audit
        )
        wish = {"form": form, "dependent": dependent, "coordinates": coordinates, "strong": strong,
                "constraints": constraints, "stabilise": stabilise}  # fmt: skip
        if self._is_lagrange(wish):
            return self._simulate_lagrange(options, wish, dict(set or {}), parameters)
        values = {**(set or {}), **parameters}
        if wish["dependent"] != "implicit":
            return self._simulate_treated(options, str(wish["dependent"]), values)
        numbers = self.numbers(values)
        if numbers is None:
            other = Model(replace(self.request, set={**self.request.set, **values}))
            return other.simulate(
                stop, tol, points, method, start, None, vars, events, max_step, step, output, progress, audit=audit
            )
        repeated = self._again(options)
        result = repeated.run(numbers) if repeated is not None else None
        if result is None:
            result = self._simulate_once(options, numbers)
        return result

    def _simulate_once(self, options: "Options", numbers: dict[str, float]) -> "Result":
        from bglang.solve.problem import make_problem
        from bglang.solve.run import simulate

        external = outside_models(self.compile(), self.request.allow_native)
        problem = make_problem(self.compile(), options, numbers, self.compiled().model, external)
        try:
            result = simulate(problem)
        finally:
            if external is not None:
                external.close()
        if external is None and sum(result.stats.seconds.values()) < SHORT:
            self._repeated.setdefault(options, None)
        return result

    def _again(self, options: "Options") -> "Again | None":
        """What repeats a run with the same options, after a first one was short: who waits wants to be told how far it
        is, and to stop it."""
        if options not in self._repeated:
            return None
        found = self._repeated[options]
        if found is None:
            from bglang.solve.again import again
            from bglang.solve.problem import make_problem

            base = make_problem(self.compile(), options, None, self.compiled().model)
            found = again(base, self.compiled()) or False
            if len(self._repeated) >= REPEATED:
                self._repeated.clear()
            self._repeated[options] = found
        return found or None

    def verify(
        self,
        stop: float | None = None,
        tol: float | None = None,
        points: int | None = None,
        method: "Method" = "auto",
        start: float | None = None,
        set: Mapping[str, object] | None = None,
        vars: str | Sequence[str] = (),
        max_step: float | None = None,
        output: str | PathLike[str] | None = None,
        **parameters: float,
    ) -> "Verification":
        """Run the model twice: as asked, and with another integrator at a hundredth of the tolerance.

        `print(model.verify(stop=10))` shows the worst relative difference of each variable; `.result` is the run that
        was asked for, `.good` whether its error stays within ten tolerances."""
        from bglang.solve.verify import verify

        def run(tighter: float | None, method: "Method") -> "Result":
            values = {**(set or {}), **parameters}
            return self.simulate(
                stop, tol if tighter is None else tighter, points, method, start, values, vars, max_step=max_step,
                output=output if tighter is None else None,
            )  # fmt: skip

        return verify(run, self.compile().experiment.tolerance if tol is None else tol, method)

    def sweep(
        self,
        vary: Mapping[str, object] | Sequence[str],
        pairs: bool = False,
        vars: str | Sequence[str] = (),
        statistics: Sequence[str] = ("final",),
        at: Sequence[float] = (),
        trajectories: bool = False,
        start: float | None = None,
        stop: float | None = None,
        tol: float | None = None,
        points: int | None = None,
        method: "Method" = "auto",
        max_step: float | None = None,
        workers: int | None = 1,
        scheduler: str | None = None,
        output: str | PathLike[str] | None = None,
        retry: bool = False,
        progress: Callable[[int, int, int], None] | None = None,
    ) -> "Sweep":
        """Run the model for many values: `model.sweep({"k": numpy.linspace(1, 10, 100)})["v.f"]`.

        `vary` maps parameters and starts to arrays, lists or texts ("linspace(1,10,100)"); several make a grid, or
        `pairs`.  Recorded are the final values of `vars` (the states, unless said), and what `statistics` ("final",
        "min", "max") and `at` (times) say, or all rows (`trajectories`).  `output` is a file that grows with the sweep;
        called again, only what it does not hold is run (and what failed, with `retry`).  `workers` are processes (None:
        one a processor), `scheduler` is the address of a Dask cluster.  Runs that fail are listed in `.failures`."""
        from bglang.sweep import sweep

        return sweep(
            self, vary, pairs=pairs, vars=vars, statistics=statistics, at=at, trajectories=trajectories, start=start,
            stop=stop, tol=tol, points_=points, method=method, max_step=max_step, workers=workers, scheduler=scheduler,
            output=output, retry=retry, progress=progress,
        )  # fmt: skip

    def treated(self, dependent: str) -> "Prepared":
        """The model with its dependent storages merged ("reduce") or held by stiff elements ("augment"), compiled."""
        if dependent not in self._prepared:
            from bglang.reduce.forms import PreparedAugmented, PreparedReduced

            make = PreparedReduced if dependent == "reduce" else PreparedAugmented
            self._prepared[dependent] = make(self.graph, self._report)
        prepared: Prepared = self._prepared[dependent]
        return prepared

    def _simulate_treated(self, options: "Options", dependent: str, values: Mapping[str, object]) -> "Result":
        model = Model(replace(self.request, set={**self.request.set, **values})) if values else self
        return model.treated(dependent).run(options)

    def _is_lagrange(self, wish: dict[str, Any]) -> bool:
        """Does the caller, or else the experiment, want multipliers?  Fills in what the experiment says."""
        experiment = (
            self._system.experiment if self._graph is None and self._system is not None else self.graph.experiment
        )
        settings = dict(experiment.settings)
        for key, known in (("form", ("state", "lagrange")), ("dependent", DEPENDENT)):
            wish[key] = wish[key] or settings.get(key) or known[0]
            if wish[key] not in known:
                raise UsageError(f"{key}: `{wish[key]}` is none of {', '.join(known)}")
        return bool(wish["form"] == "lagrange" or wish["dependent"] == "lambda")

    def _simulate_lagrange(
        self, options: "Options", wish: dict[str, Any], values: dict[str, object], more: dict[str, float]
    ) -> "Result":
        from bglang.equations.lagrange_choice import NUMBERS, settle_choice
        from bglang.solve.lagrange import prepare_dependent, prepare_lagrange

        own = {q.name: q for q in self.graph.parameters}
        wish |= {name: more.pop(name) for name in NUMBERS if name in more and name not in own}
        values = {**self._memory.overrides, **values, **more}
        fixed = [n for n in values if n in own and (own[n].structural or plain_number(values[n]) is None)]
        if fixed:
            other = Model(replace(self.request, set={**self.request.set, **values}))
            return other._simulate_lagrange(options, wish, {}, {})
        numbers = {name: number for name, v in values.items() if (number := plain_number(v)) is not None}
        choice = settle_choice(self.graph, wish, automatic=wish["dependent"] != "lambda")
        key = ("dependent", choice) if wish["dependent"] == "lambda" else ("lagrange", choice)
        if key not in self._prepared:
            if key[0] == "dependent":
                self._prepared[key] = prepare_dependent(self.graph, choice, self._report)
            else:
                self._prepared[key] = prepare_lagrange(self.graph, choice, self._report)
        result: Result = self._prepared[key].run(options, numbers)
        return result

    def compiled(self) -> "Compiled":
        """The equations as native code."""
        from bglang.solve.native_model import Compiled

        if self._compiled is None:
            system = self.compile()
            if self._kept is not None:
                self._compiled = Compiled(system, self._kept.program)
            elif not self._memory.keeps:
                self._compiled = Compiled(system)
            else:  # what is kept shows all outputs: lowered now, they need not be lowered again
                from bglang.kernels.lower import lower

                self._compiled = Compiled(system, lower(system, range(len(system.outputs))))
                self._memory.remember(self.graph, system, self._compiled.program, self.warnings)
        return self._compiled

    def numbers(self, values: Mapping[str, object]) -> dict[str, float] | None:
        """The values as numbers for the compiled model; None if the model must be compiled anew for them."""
        values = {**self._memory.overrides, **values}
        settable = self._memory.settable(self._graph, self.compile())
        numbers = dict[str, float]()
        for name, value in values.items():
            number = plain_number(value)
            if number is None or name not in settable:
                return None
            numbers[name] = number
        return numbers
