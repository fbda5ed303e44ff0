"""Results: curves by name, events, statistics and energy; files; comparisons."""

from bglang.results.comparison import Comparison, Difference, compare
from bglang.results.record import Audit, Column, EnergyEntry, Event, Stats
from bglang.results.result import MANY_COLUMNS, Result

__all__ = [
    "MANY_COLUMNS", "Audit", "Column", "Comparison", "Difference", "EnergyEntry", "Event", "Result", "Stats", "compare",
]  # fmt: skip
