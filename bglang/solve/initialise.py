"""The start of a run: modes, values and rates that satisfy every equation, or the reason why there are none."""

import numpy as np

from bglang.diagnostics import Diagnostic, SimulationError, SourceError, error
from bglang.equations.system import Row, column
from bglang.expr.evaluate import evaluate
from bglang.records import dataclass, replace
from bglang.results.record import Event
from bglang.solve.consistent import Consistency, Instant
from bglang.solve.explain import first_span, labels, listed, not_finite, those_of, worst_rows
from bglang.solve.initial_problem import InitialProblem
from bglang.solve.model import Array
from bglang.solve.modes import STICK, Modes
from bglang.solve.newton import Outcome, homotopy, newton
from bglang.solve.problem import Problem
from bglang.solve.settle import Trial, settle
from bglang.solve.starts import Plan, plan_starts

CONTRADICTION = 1e-6
"""Written starts may be off by this part of their size: they were typed."""

ROUNDING = 1e-14
"""... and by this part of the terms that they follow from: these were computed."""

NOTHING = 1e-13
"""A flow is at rest when it is no larger than what this part of the sizes of unknowns makes of it."""


@dataclass(frozen=True, slots=True)
class Started:
    """A consistent first instant.  `problem` may hold parameters that initial equations found; `notes` are the
    modes."""

    problem: Problem
    at: Instant
    notes: tuple[Event, ...]
    contradiction: Exception | None = None
    """Modes that no starts agree with: what to say if a jump does not mend it."""


def first_modes(problem: Problem, modes: Modes) -> Array:
    """Discrete variables at their start values, samples off; relations follow."""
    z = np.zeros(len(modes.modes))
    at = problem.model.values(problem.start, problem.starts, np.zeros_like(problem.starts), z)
    for k, mode in enumerate(modes.modes):
        if mode.kind == "discrete":
            z[k] = evaluate(mode.arguments[0], at)
    return z


def initialise(problem: Problem) -> Started:
    """The consistent start.  A wrong model raises `SourceError`, a failing solver `SimulationError`."""
    modes = Modes(problem.system)
    n = len(problem.system.unknowns)
    y, d, z = problem.starts.copy(), np.zeros(n), first_modes(problem, modes)
    z = modes.read(problem.model, Instant(problem.start, y, d, z))
    plan = plan_starts(problem)
    if problem.steady:
        from bglang.solve.steady import steady_state

        found, at = steady_state(problem, plan, modes, z)
        contradiction = None
    else:
        found, at, contradiction = _consistent(problem, plan, modes, z)
    _check_written(found, plan, at)
    return Started(found, at, starting_modes(modes, at), contradiction)


def starting_modes(modes: Modes, at: Instant) -> tuple[Event, ...]:
    """What the log says of the modes at the start."""
    notes = [modes.record(at.t, k, at.z[k], at.z[k]) for k in modes.continuous]
    return tuple(replace(e, kind="start", old="", direction="") for e in notes)


def _consistent(problem: Problem, plan: Plan, modes: Modes, z: Array) -> tuple[Problem, Instant, Exception | None]:
    """Values that agree with modes; or, where none do, values and why: a jump may lead to some (an ideal diode that
    charges a capacitor)."""
    failure: list[Exception] = []
    solved: list[Trial] = []
    found: dict[bytes, Problem] = {}
    guess = problem.starts.copy()

    def attempt(z: Array) -> Trial | None:
        trial_problem, at, regular = _solve(problem, plan, guess, z, failure)
        if at is None:
            return None
        scale = problem.sizes(at.y)
        wrong = modes.contradicted(trial_problem.model, at, modes.margin(trial_problem.model, at, scale, NOTHING))
        found[z.tobytes()] = trial_problem
        guess[:] = at.y
        moved = float(np.max(np.abs(at.y - problem.starts)[storages] / scale[storages], initial=0.0))
        trial = Trial(at.z, at.y, at.d, wrong, moved, bool(wrong) or regular)
        solved.append(trial)
        return trial

    storages = np.array([kind != "algebraic" for kind in column(problem.system.unknowns, "kind")], dtype=bool)
    if any(mode.kind == "coulomb" for mode in modes.modes):
        z = _at_rest(modes, problem, attempt(z), z)
    trial, touched = settle(attempt, z, modes)
    contradiction = None
    if trial is None:
        contradiction = failure[-1] if failure else _no_modes(problem, modes, touched)
        if not solved:
            raise contradiction
        trial = solved[0]
    return found[trial.z.tobytes()], Instant(problem.start, trial.y, trial.d, trial.z), contradiction


def _at_rest(modes: Modes, problem: Problem, trial: Trial | None, z: Array) -> Array:
    """Frictions whose flow comes out as zero up to rounding stick to begin with: its sign says nothing."""
    if trial is None:
        return z
    at, z = Instant(problem.start, trial.y, trial.d, trial.z), z.copy()
    margin = modes.margin(problem.model, at, problem.sizes(at.y), NOTHING)
    g = problem.model.roots(at.t, at.y, at.d, at.z)
    for k, mode in enumerate(modes.modes):
        if mode.kind == "coulomb" and z[k] != STICK and abs(g[modes.first[k]]) <= margin[modes.first[k]]:
            z[k] = STICK
    return z


def _solve(
    problem: Problem, plan: Plan, guess: Array, z: Array, failure: list[Exception]
) -> tuple[Problem, Instant | None, bool]:
    """Values and rates with given modes, and whether they are determined."""
    initial = InitialProblem(problem, plan, z, guess)
    outcome = newton(initial.residual, initial.jacobian, initial.first, initial.scale)
    if not outcome.converged or not initial.satisfied(outcome):
        second = homotopy(initial.residual, initial.jacobian, initial.first, initial.scale)
        if second.converged and initial.satisfied(second):
            outcome = second
    if not outcome.converged or not initial.satisfied(outcome):
        failure.append(_no_start(problem, outcome, initial))
        return problem, None, False
    solved, at = initial.read(outcome.u)
    broken = initial.broken_pins(solved, at)
    if broken:
        failure.append(SourceError([_contradictory(problem, initial, broken, [row.component for row in broken])]))
        return problem, None, False
    consistency = Consistency(solved.model, problem.sizes(at.y))
    y, d, good = consistency.rates(at)
    if not good:
        values = solved.model.values(at.t, y, at.d, z)
        diagnostic = not_finite(problem.system, values, f"at the start (t = {at.t:g})")
        if diagnostic is not None:
            failure.append(SimulationError(diagnostic, at.t))
            return problem, None, False
        d = np.where(np.isfinite(d), d, 0.0)
    return solved, Instant(at.t, y, d, z), consistency.regular


def _check_written(problem: Problem, plan: Plan, at: Instant) -> None:
    """Starts of dependent storages that were written and come out differently."""
    wrong = []
    for i in plan.checked:
        start, value = problem.starts[i], at.y[i]
        off = abs(value - start)
        if off > CONTRADICTION * max(abs(value), abs(start)) and off > _rounding(problem, i, at):
            unknown = problem.system.unknowns[i]
            partners = _partners(problem, i)
            wrong.append(
                error(
                    "initial/contradiction",
                    f"the start of `{unknown.name}` contradicts the starts of {listed(partners)}"
                    if partners else f"the start of `{unknown.name}` contradicts the model",
                    unknown.span,
                    label=f"{start:g} is given, {value:.9g} follows",
                    reason=f"`{unknown.name}` is a dependent storage: its value follows from the others.",
                    hint=f"Leave this start out, or give {value:.9g}.",
                    component=unknown.name,
                )
            )  # fmt: skip
    if wrong:
        raise SourceError(wrong)


def _rounding(problem: Problem, i: int, at: Instant) -> float:
    """How far rounding in the terms of its law may move a storage: cos(pi/2) is not quite zero."""
    slopes = problem.model.jacobian(at.t, at.y, at.d, at.z)[0].tocsr()[[i]].toarray()[0]
    own = abs(float(slopes[i]))
    return ROUNDING * float(np.abs(slopes) @ np.abs(at.y)) / own if own > 0.0 else 0.0


def _partners(problem: Problem, i: int) -> list[str]:
    from bglang.expr import leaves

    names = list[str]()
    for row in problem.system.rows:
        mentioned = {leaf[1] for leaf in leaves(row.residual) if leaf[0] == "y"}
        if not row.differential and i in mentioned:
            names += [problem.system.unknowns[j].name for j in sorted(mentioned - {i})]
    states = {u.name for u in problem.system.unknowns if u.kind != "algebraic"}
    return [n for n in dict.fromkeys(names) if n in states]


def _no_start(problem: Problem, outcome: Outcome, initial: InitialProblem) -> Exception:
    """Why there is no consistent start: not a number, contradictory, or no convergence."""
    system = problem.system
    solved, at = initial.read(outcome.u)
    values = solved.model.values(at.t, at.y, at.d, at.z)
    when = f"at the start (t = {at.t:g})"
    diagnostic = not_finite(system, values, when)
    if diagnostic is not None:
        return SimulationError(diagnostic, at.t)
    rows = initial.rows
    worst = [rows[i] for i in worst_rows(system, outcome.residual) if i < len(rows)]
    names = [row.component for row in worst if row.component]
    if initial.hopeless():
        return SourceError([_contradictory(problem, initial, worst, names)])
    return SimulationError(
        error(
            "initial/no-convergence",
            f"no consistent start was found (t = {at.t:g})",
            first_span(row.span for row in worst),
            label="farthest from holding",
            related=labels(worst[1:], "and this"),
            reason=f"The equations of {those_of(names)} could not be solved from the given starts.",
            hint="Give starts that are closer to the solution for the variables in these equations.",
            component=names[0] if names else "",
        ),
        at.t,
    )


def _contradictory(problem: Problem, initial: InitialProblem, worst: list[Row], names: list[str]) -> Diagnostic:
    involved = initial.involved(worst)
    held = [problem.system.unknowns[i].name for i in involved if problem.written[i]]
    unwritten = [problem.system.unknowns[i].name for i in involved if not problem.written[i]]
    if held:
        reason = f"With the starts of {listed(held)} the equation of {those_of(names)} cannot hold."
    elif unwritten:
        reason = f"With the starts of {listed(unwritten)} at 0 the equation of {those_of(names)} cannot hold."
    else:
        reason = f"The equations of {those_of(names)} cannot hold together."
    return error(
        "initial/contradiction",
        "the starts contradict each other",
        first_span(row.span for row in worst),
        related=labels(worst[1:]),
        reason=reason,
        hint="Leave out one of the starts, or one initial equation.",
        component=names[0] if names else "",
    )


def _no_modes(problem: Problem, modes: Modes, touched: frozenset[int]) -> SimulationError:
    chosen = [modes.modes[k] for k in sorted(touched)]
    texts = [m.text or m.name for m in chosen]
    return SimulationError(
        error(
            "initial/no-mode",
            f"at the start no combination of {listed(texts)} agrees with itself",
            first_span(m.span for m in chosen),
            related=labels([]),
            reason="Whichever of these conditions is assumed, the values that follow contradict it.",
            hint="Check the starts, or the direction of the switching laws.",
            component=chosen[0].component if chosen else "",
        ),
        problem.start,
    )
