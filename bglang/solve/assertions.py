"""Assertions of a model: on parameters before a run, on everything at its events."""

from collections.abc import Iterable

from bglang.diagnostics import Diagnostic, SimulationError, error, warning
from bglang.equations.system import Assertion, System
from bglang.expr import leaves
from bglang.expr.evaluate import Values, evaluate
from bglang.solve.happening import Happening


def check_assertions(assertions: Iterable[Assertion], values: Values, happening: Happening) -> None:
    """A failed assertion of level error ends the run; one of level warning is told once."""
    for assertion in assertions:
        if evaluate(assertion.condition, values) != 0.0:
            continue
        t = float(values.t)
        if assertion.level == "warning":
            happening.warnings.append(
                warning("run/assert", assertion.message, assertion.span, component=assertion.component)
            )
            continue
        raise SimulationError(
            error(
                "run/assert",
                assertion.message,
                assertion.span,
                label=f"failed at t = {t:.9g}",
                component=assertion.component,
            ),
            t,
        )


def parameter_assertions(system: System, values: Values) -> list[Diagnostic]:
    """Assertions on parameters alone: a wrong model, known before the run."""
    found = list[Diagnostic]()
    for assertion in system.assertions:
        if all(leaf[0] == "p" for leaf in leaves(assertion.condition)) and not evaluate(assertion.condition, values):
            make = error if assertion.level == "error" else warning
            found.append(make("run/assert", assertion.message, assertion.span, component=assertion.component))
    return found
