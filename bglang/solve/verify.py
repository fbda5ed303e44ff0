"""How accurate a run was, measured: the same run with another integrator at a much tighter tolerance, and compared."""

from collections.abc import Callable

import numpy as np

from bglang.records import dataclass
from bglang.results.result import Result
from bglang.results.values import Array
from bglang.solve.problem import Method

TIGHTER = 100.0
"""So many times smaller is the tolerance of the second run."""
TIGHTEST = 1e-12
"""Below this, rounding decides and not the integrator."""
HONEST = 10.0
"""A run is called good while its error stays within so many tolerances."""
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far one variable was off: the largest difference, against the size that the variable reaches."""

    name: str
    relative: float
    absolute: float
    when: float


@dataclass(frozen=True, slots=True)
class Verification:
    """A run and its check.  `deviations` has every variable, the worst first."""

    result: Result
    tolerance: float
    methods: tuple[str, str]
    checked_at: float
    deviations: tuple[Deviation, ...]
    events: float
    """the largest difference of the times of events; NaN if the two runs had different ones"""

    @property
    def worst(self) -> float:
        """Of the states, which the tolerance is about; of all variables if there are no states."""
        states = set(self.result.states)
        own = [d.relative for d in self.deviations if d.name in states]
        return max(own or [d.relative for d in self.deviations], default=0.0)

    @property
    def good(self) -> bool:
        """The observed accuracy is what the tolerance promises, up to a factor of ten."""
        return bool(self.worst <= HONEST * self.tolerance)

    def __str__(self) -> str:
        first, second = self.methods
        lines = [f"verified: {first} at {self.tolerance:.1e} against {second} at {self.checked_at:.1e}"]
        rows = [("variable", "relative", "in tolerances", "absolute", "at time")]
        for d in self.deviations[:SHOWN]:
            times = f"{d.relative / self.tolerance:.2g}"
            rows.append((d.name, f"{d.relative:.1e}", times, f"{d.absolute:.1e}", f"{d.when:.6g}"))
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        for name, *cells in rows:
            numbers = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
            lines.append(f"  {name.ljust(widths[0])}  {numbers}")
        if len(self.deviations) > SHOWN:
            lines.append(f"  … {len(self.deviations) - SHOWN} more, all better")
        if self.result.events:
            same = self.events == self.events
            lines.append(f"times of events differ by {self.events:.1e} at most" if same else "the events differ")
        observed = f"observed accuracy of the states {self.worst:.1e}, asked for {self.tolerance:.1e}"
        lines.append(f"{observed}: {self._verdict()}")
        return "\n".join(lines)

    def _verdict(self) -> str:
        if self.good:
            return "good"
        times = self.worst / self.tolerance
        return f"{times:.2g} times as much; a smaller --tol or --max-step helps, unless the motion itself is chaotic"


def verify(run: Callable[[float | None, Method], Result], tolerance: float, method: Method) -> Verification:
    """`run(tol, method)` simulates; the first time as the user asked, the second time to check that."""
    first = run(None, method)
    tight = max(tolerance / TIGHTER, min(TIGHTEST, tolerance))
    second = run(tight, other_method(first.stats.method))
    found = deviations(first, second)
    return Verification(first, tolerance, (first.stats.method, second.stats.method), tight, found, shift(first, second))


def event_times(result: Result) -> Array:
    return np.sort(np.array([event.time for event in result.events], dtype=np.float64))


def shift(a: Result, b: Result) -> float:
    """How far the times of events differ; NaN if there are not as many."""
    first, second = event_times(a), event_times(b)
    if len(first) != len(second):
        return float("nan")
    return float(np.max(np.abs(first - second), initial=0.0))


def other_method(used: str) -> Method:
    """An integrator of another family: one step against many, so that they share no mistake."""
    return "radau" if used in ("bdf", "adams", "ida", "rk") else "bdf"


def deviations(a: Result, b: Result) -> tuple[Deviation, ...]:
    """Every variable that both have, on the rows that both have, the worst first.

    Rows between an event of one run and the same event of the other are left out: one has jumped, the other not yet."""
    time, rows_a, rows_b = np.intersect1d(a.time, b.time, return_indices=True)
    first, second = event_times(a), event_times(b)
    if len(time) and len(first) == len(second) > 0:
        margin = 1e-12 * max(abs(float(time[0])), abs(float(time[-1])))
        begin, end = np.minimum(first, second) - margin, np.maximum(first, second) + margin
        between = np.searchsorted(begin, time, side="right") > np.searchsorted(end, time, side="left")
        time, rows_a, rows_b = time[~between], rows_a[~between], rows_b[~between]
    names = [name for name in a.names if name in b]
    if not len(time) or not names:
        return ()
    left, right = a.values(names)[rows_a], b.values(names)[rows_b]
    gap = np.abs(left - right)
    size = np.maximum(np.max(np.abs(right), axis=0), 1e-300)
    worst = np.argmax(np.where(np.isnan(gap), np.inf, gap), axis=0)
    found = [
        Deviation(name, float(gap[worst[k], k] / size[k]), float(gap[worst[k], k]), float(time[worst[k]]))
        for k, name in enumerate(names)
    ]
    return tuple(sorted(found, key=lambda d: (-d.relative if d.relative == d.relative else -np.inf, d.name)))
