"""Which integrator: the user's choice, or ours with the reason."""

from importlib.util import find_spec
from typing import get_args

from bglang.records import dataclass
from bglang.solve import integrators
from bglang.solve.consistent import Instant
from bglang.solve.native_model import NativeModel
from bglang.solve.problem import Problem

STIFF_CONSTANTS = 100.0
"""A run that lasts more than so many of the shortest time constants is stiff."""
LARGE = 400
"""From so many unknowns on, multistep with sparse matrices pays."""


@dataclass(frozen=True, slots=True)
class Choice:
    method: str
    reason: str


def available() -> tuple[str, ...]:
    """Methods that can be used here: IDA only where SUNDIALS is installed."""
    sundials = find_spec("sksundae") is not None
    return tuple(method for method in get_args(integrators.Method) if method != "ida" or sundials)


def choose(problem: Problem, at: Instant) -> Choice:
    """`auto`: implicit Radau for small models, multistep for large sparse ones, explicit where that is enough."""
    asked = problem.options.method
    if asked != "auto":
        return _asked(problem, asked)
    n = len(problem.system.unknowns)
    model = problem.model
    explicit = isinstance(model, NativeModel) and model.compiled.explicit
    if explicit and "rk" in available() and n <= LARGE and not problem.options.step:
        constant = _fast_constant(problem, at)
        if constant is not None:
            return Choice("radau", f"explicit equations, but a time constant of {constant:.2g} makes them stiff")
        return Choice("rk", "the equations are explicit; it switches to radau if they turn out stiff")
    if n > LARGE and "bdf" in available():
        return Choice("bdf", f"{n} unknowns with a sparse Jacobian")
    why = "equations with algebraic parts" if not explicit else "small model"
    events = any(m.kind not in ("sample", "discrete") for m in problem.system.modes)
    return Choice("radau", why + (" and events" if events else ""))


def _fast_constant(problem: Problem, at: Instant) -> float | None:
    """The shortest time constant at the start, where it is so short that stability, not accuracy, would rule the steps
    of an explicit method.  Near its limit of stability the error estimate of such a method is blind to what is gone."""
    import numpy as np

    assert isinstance(problem.model, NativeModel)
    matrix = -problem.model.dense_jacobian(at.t, at.y, at.d, at.z)[0]
    if not len(matrix) or not np.isfinite(matrix).all():
        return None
    poles = np.linalg.eigvals(matrix)
    rate = float(np.max(-poles.real))
    many = rate * (problem.stop - problem.start) > STIFF_CONSTANTS
    return 1.0 / rate if many and rate > 3.0 * float(np.max(np.abs(poles.imag))) else None


def _asked(problem: Problem, method: str) -> Choice:
    from bglang.diagnostics import UsageError

    if method == "ida" and method not in available():
        raise UsageError("the method `ida` needs SUNDIALS, which is not installed: pip install 'bglang[sundials]'")
    if method not in available():
        raise UsageError(f"the method `{method}` is not available here; there are {', '.join(('auto', *available()))}")
    if method in ("rk", "adams"):
        model = problem.model
        if isinstance(model, NativeModel) and not model.compiled.explicit:
            reason = "the model has algebraic equations, which an explicit method cannot run"
            return Choice("radau", f"{reason}; `{method}` was asked for")
    return Choice(method, "asked for")
