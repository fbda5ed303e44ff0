"""Why an integrator gave up, in the words of the model, and what to try."""

import numpy as np

from bglang.diagnostics import Diagnostic, SimulationError, error
from bglang.expr import leaves
from bglang.solve.consistent import Instant
from bglang.solve.explain import first_span, labels, not_finite, those_of
from bglang.solve.integrators import Status
from bglang.solve.modes import Modes
from bglang.solve.problem import Problem
from bglang.source import Span


def explain_failure(problem: Problem, modes: Modes, status: Status, at: Instant) -> SimulationError:
    """The error for a status that is not good."""
    diagnostic = _outside_law(problem, status, at) or _by_reason(problem, modes, status, at)
    return SimulationError(diagnostic, at.t)


def _outside_law(problem: Problem, status: Status, at: Instant) -> Diagnostic | None:
    """A law that has no value just ahead."""
    if status.outcome != "not finite" and status.reason != "not finite":
        return None
    for step in (0.0, status.step, 2.0 * status.step, 1e-6, 1e-3):
        y = at.y + step * at.d
        values = problem.model.values(at.t + step, y, at.d, at.z)
        found = not_finite(problem.system, values, f"at t = {at.t:.9g}")
        if found is not None:
            return found
    row = problem.system.rows[status.row] if status.row is not None else None
    whose = f"the law of `{row.component}`" if row is not None and row.component else "a law of the model"
    return error(
        "solve/not-finite",
        f"{whose} has no finite value beyond t = {at.t:.9g}",
        row.span if row is not None else first_span([]),
        hint="Limit its argument, or check what drives it there.",
        component=row.component if row is not None else "",
    )


def _by_reason(problem: Problem, modes: Modes, status: Status, at: Instant) -> Diagnostic:
    system = problem.system
    if status.outcome == "singular" or status.reason == "singular":
        rows = _singular_rows(problem, at)
        names = list(dict.fromkeys(system.rows[i].component for i in rows if system.rows[i].component))
        return error(
            "solve/singular",
            f"the equations of {those_of(names)} do not determine their unknowns at t = {at.t:.9g}",
            first_span(system.rows[i].span for i in rows),
            related=labels([system.rows[i] for i in rows[1:4]]),
            reason="Their Jacobian is singular there.",
            hint="A parameter that is zero, or two ideal elements that say the same, can do that.",
            component=names[0] if names else "",
        )
    if status.outcome == "too many steps":
        return error(
            "solve/too-many-steps", f"too many steps at t = {at.t:.9g}", first_span([]), hint="Raise the tolerance."
        )
    name, span, component = _worst(problem, status)
    why = {
        "error": "the error of a step stays above the tolerance however small the step is",
        "newton": "the equations of a step cannot be solved however small the step is",
    }.get(status.reason, "no step is small enough")
    return error(
        "solve/step-too-small",
        f"the step became too small at t = {at.t:.9g}" + (f", because of `{name}`" if name else ""),
        span,
        reason=f"{why[0].upper()}{why[1:]}: {_growth(problem, at, name)}.",
        hint="Look for a pole or a law with infinite slope near there; a looser --tol may pass it.",
        component=component,
    )


def _worst(problem: Problem, status: Status) -> tuple[str, Span, str]:
    system = problem.system
    if status.variable is not None and status.variable < len(system.unknowns):
        unknown = system.unknowns[status.variable]
        return unknown.name, unknown.span, unknown.name.rpartition(".")[0] or unknown.name
    if status.row is not None and status.row < len(system.rows):
        row = system.rows[status.row]
        return row.component, row.span, row.component
    return "", first_span([]), ""


def _growth(problem: Problem, at: Instant, name: str) -> str:
    names = [u.name for u in problem.system.unknowns]
    if name in names:
        i = names.index(name)
        return f"`{name}` is {at.y[i]:.6g} there and changes at {at.d[i]:.6g} per second"
    return "the solution is not smooth there"


def _singular_rows(problem: Problem, at: Instant) -> list[int]:
    """Rows that take part in a dependence, the strongest first."""
    n = len(at.y)
    if n > 1000:
        return []
    f_y, f_d = problem.model.dense_jacobian(at.t, at.y, at.d, at.z)
    matrix = f_y + f_d * 1e3 / max(problem.stop - problem.start, 1e-300)
    matrix = np.where(np.isfinite(matrix), matrix, 0.0)
    size = np.abs(matrix).max(axis=1)
    matrix = matrix / np.where(size > 0.0, size, 1.0)[:, None]
    left = np.linalg.svd(matrix)[0][:, -1]
    order = np.argsort(-np.abs(left))
    return [int(i) for i in order if abs(left[i]) > 0.1 * np.abs(left).max() and _mentions(problem, int(i))][:6]


def _mentions(problem: Problem, i: int) -> bool:
    return any(leaf[0] in "yd" for leaf in leaves(problem.system.rows[i].residual))
