"""Two results, or a result and measurements, side by side: on different time grids, by name."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bglang.diagnostics import UsageError
from bglang.records import dataclass
from bglang.results.result import Result
from bglang.results.values import Array

SHOWN = 25


@dataclass(frozen=True, slots=True)
class Difference:
    """How one variable of two results differs: b - a on both time grids together, where they overlap.

    `largest` is the largest absolute difference and `when` it occurs; `rms` the root of the mean square over time;
    `relative` is `largest` against the range of the variable in `a` (its size, if it does not change)."""

    name: str
    largest: float
    when: float
    rms: float
    relative: float
    final_a: float
    final_b: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """All common variables, the worst first; and the names that only one side has."""

    differences: tuple[Difference, ...]
    start: float
    stop: float
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def worst(self) -> Difference | None:
        return self.differences[0] if self.differences else None

    def __str__(self) -> str:
        head = f"{len(self.differences)} common variables, time {self.start:g} to {self.stop:g}"
        rows = [("variable", "largest difference", "of its range", "at time", "rms")]
        rows += [(d.name, f"{d.largest:.4g}", f"{d.relative:.2%}" if d.relative < 10 else f"{d.relative:.3g}",
                  f"{d.when:.6g}", f"{d.rms:.4g}") for d in self.differences[:SHOWN]]  # fmt: skip
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = [head, ""]
        for name, *cells in rows:
            numbers = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
            lines.append(f"{name.ljust(widths[0])}  {numbers}")
        if len(self.differences) > SHOWN:
            lines.append(f"… and {len(self.differences) - SHOWN} more, all with smaller differences")
        for which, names in (("first", self.only_a), ("second", self.only_b)):
            if names:
                few = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
                lines.append(f"only in the {which}: {few} ({len(names)})")
        return "\n".join(lines)

    def within(self, tolerance: float) -> bool:
        """No variable differs by more than `tolerance` of its range."""
        return all(d.relative <= tolerance for d in self.differences)


def compare(
    a: Result, b: Result, names: str | Iterable[str] | None = None, *, rename: Mapping[str, str] | None = None
) -> Comparison:
    """Compare by name; `rename` says what a variable of `b` is called in `a` (a measured `u1` is `coil.e`)."""
    of_b = {(rename or {}).get(n, n): n for n in b.names}
    common = [n for n in a.names if n in of_b]
    if names is not None:
        wanted = set(a.select(names))
        common = [n for n in common if n in wanted]
    if not common:
        raise UsageError("the two results have no variable in common")
    start, stop = max(a.time[0], b.time[0]), min(a.time[-1], b.time[-1])
    if start > stop:
        raise UsageError(
            f"the two results do not overlap in time: {a.time[0]:g} … {a.time[-1]:g} and {b.time[0]:g} … {b.time[-1]:g}"
        )
    grid = np.union1d(a.time, b.time)
    grid = grid[(grid >= start) & (grid <= stop)]
    found = [_difference(name, grid, a, b, of_b[name]) for name in common]
    order = sorted(found, key=lambda d: -d.relative if np.isfinite(d.relative) else -np.inf)
    only_a = tuple(n for n in a.names if n not in of_b)
    return Comparison(tuple(order), float(start), float(stop), only_a, tuple(n for n in of_b if n not in a))


def _difference(name: str, grid: Array, a: Result, b: Result, other: str) -> Difference:
    left, right = _on(a, name, grid), _on(b, other, grid)
    gap = np.abs(right - left)
    known = np.isfinite(gap)
    if not known.any():
        return Difference(name, np.nan, np.nan, np.nan, np.inf, float(left[-1]), float(right[-1]))
    at = int(np.argmax(np.where(known, gap, -1.0)))
    size = float(np.ptp(left[known])) or float(np.max(np.abs(left[known])))
    largest = float(gap[at])
    relative = largest / size if size > 0.0 else (0.0 if largest == 0.0 else np.inf)
    return Difference(
        name, largest, float(grid[at]), _rms(grid[known], gap[known]), relative, float(left[-1]), float(right[-1])
    )


def _on(result: Result, name: str, grid: Array) -> Array:
    values: Array = result.at(grid, name)
    return values


def _rms(time: Array, gap: Array) -> float:
    if len(time) < 2 or time[-1] == time[0]:
        return float(np.sqrt(np.mean(gap**2)))
    square = gap**2
    area = np.sum((square[1:] + square[:-1]) * np.diff(time)) / 2
    return float(np.sqrt(area / (time[-1] - time[0])))


def overlay_names(results: Sequence[Result], names: str | Iterable[str] | None) -> list[str]:
    """Which variables to draw when several results share one picture."""
    if names is not None:
        return results[0].select(names)
    return [n for n in results[0].names if all(n in r for r in results[1:])][:8]
