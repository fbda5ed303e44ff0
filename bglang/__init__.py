"""bglang: a language, compiler and runtime for bond graphs.

    import bglang

    model = bglang.load("oscillator.bg")
    result = model.simulate(stop=30, k=2)
    result["mass.p"]

Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["BglangError", "Model", "Result", "SimulationError", "SourceError", "UsageError", "load", "loads"]

if TYPE_CHECKING:
    from bglang.api import Model, load, loads
    from bglang.diagnostics import BglangError, SimulationError, SourceError, UsageError
    from bglang.results import Result

_HOME = {
    "Model": "bglang.api",
    "load": "bglang.api",
    "loads": "bglang.api",
    "Result": "bglang.results",
    "BglangError": "bglang.diagnostics",
    "SimulationError": "bglang.diagnostics",
    "SourceError": "bglang.diagnostics",
    "UsageError": "bglang.diagnostics",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'bglang' has no attribute {name!r}")
