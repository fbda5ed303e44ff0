"""Results: curves by name, events, statistics and energy; files; comparisons."""

from typing import TYPE_CHECKING, Any

from bglang.results.record import Audit, Column, EnergyEntry, Event, Stats
from bglang.results.result import MANY_COLUMNS, Result

if TYPE_CHECKING:
    from bglang.results.comparison import Comparison, Difference, compare

__all__ = [
    "MANY_COLUMNS", "Audit", "Column", "Comparison", "Difference", "EnergyEntry", "Event", "Result", "Stats", "compare",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Comparisons are imported when somebody compares."""
    if name not in ("Comparison", "Difference", "compare"):
        raise AttributeError(f"module 'bglang.results' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("bglang.results.comparison"), name)
