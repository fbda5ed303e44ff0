"""Which integrator: the user's choice, or ours with the reason."""

from functools import lru_cache
from importlib.util import find_spec
from typing import get_args

import numpy as np

from bglang.records import dataclass
from bglang.solve import integrators
from bglang.solve.consistent import Instant
from bglang.solve.model import Array
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


@lru_cache(maxsize=1)
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
        return explicit_choice(_fast_constant(problem, at))
    if n > LARGE and "bdf" in available():
        return Choice("bdf", f"{n} unknowns with a sparse Jacobian")
    why = "equations with algebraic parts" if not explicit else "small model"
    events = any(m.kind not in ("sample", "discrete") for m in problem.system.modes)
    return Choice("radau", why + (" and events" if events else ""))


def explicit_choice(constant: float) -> Choice:
    """For explicit equations, by the constant that makes them stiff (NaN: none does)."""
    if np.isnan(constant):
        return Choice("rk", "the equations are explicit; it switches to radau if they turn out stiff")
    return Choice("radau", f"explicit equations, but a time constant of {constant:.2g} makes them stiff")


def _fast_constant(problem: Problem, at: Instant) -> float:
    """The shortest time constant at the start, where it is so short that stability, not accuracy, would rule the steps
    of an explicit method; NaN where it is not."""
    assert isinstance(problem.model, NativeModel)
    matrix = -problem.model.dense_jacobian(at.t, at.y, at.d, at.z)[0]
    return float(fast_constants(matrix[None], problem.stop - problem.start)[0])


def fast_constants(matrices: Array, span: float) -> Array:
    """The same for many matrices of states dy/dt = A y at once; NaN where an explicit method will do."""
    constants = np.full(len(matrices), np.nan)
    good = np.flatnonzero(np.isfinite(matrices).all(axis=(1, 2)))
    if not len(good) or not matrices.shape[1]:
        return constants
    poles = np.linalg.eigvals(matrices[good])
    rate = np.max(-poles.real, axis=1)
    stiff = (rate * span > STIFF_CONSTANTS) & (rate > 3.0 * np.max(np.abs(poles.imag), axis=1))
    constants[good[stiff]] = 1.0 / rate[stiff]
    return constants


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
