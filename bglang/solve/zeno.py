"""Events that pile up: infinitely many in finite time (Zeno), or back and forth without getting on (chattering)."""

import itertools
from collections import deque
from collections.abc import Container, Iterable

from bglang.records import dataclass

SERIES = ((0.03, 3), (0.3, 4), (0.999, 10))
"""Intervals that shrink alike are a geometric series; up to each ratio it takes so many of them."""
SLOWEST = SERIES[-1][0]
CROWD = 200
"""So many events of the same modes within `INSTANT` of the run are chattering."""
INSTANT = 1e-7
REMAINING = 1e-6
"""A series is believed when what remains of it is this part of the run."""


@dataclass(frozen=True, slots=True)
class PileUp:
    """What was detected; `at` is the time at which a series accumulates."""

    kind: str
    at: float
    modes: tuple[int, ...]


class Chattering(Exception):
    """A switch that chatters and may slide instead: the run begins again with its surface in the model."""

    def __init__(self, modes: tuple[int, ...]):
        super().__init__("chattering")
        self.modes = modes


class Watch:
    """Remembers when each mode changed last."""

    def __init__(self, start: float, stop: float):
        self._run = max(stop - start, 1e-300)
        self._times: dict[int, deque[float]] = {}

    def note(self, t: float, modes: Iterable[int], timed: Container[int]) -> PileUp | None:
        """An event at which some modes changed; those that time alone decides make no series, but may crowd."""
        crowded = list[int]()
        for k in modes:
            times = self._times.setdefault(k, deque(maxlen=CROWD))
            if not times or t > times[-1]:
                times.append(t)
            else:
                times.append(times[-1])
            limit = None if k in timed else self._limit(times)
            if limit is not None:
                return PileUp("zeno", limit, (k,))
            if len(times) == CROWD and times[-1] - times[0] <= INSTANT * self._run:
                crowded.append(k)
        return PileUp("chattering", t, tuple(crowded)) if crowded else None

    def _limit(self, times: deque[float]) -> float | None:
        """The accumulation point of a geometric series of intervals."""
        for largest, count in SERIES:
            if len(times) < count + 2:
                return None
            tail = [times[i] for i in range(len(times) - count - 1, len(times))]
            steps = [b - a for a, b in itertools.pairwise(tail)]
            if min(steps) <= 0.0:
                return None
            ratios = [b / a for a, b in itertools.pairwise(steps)]
            ratio = sum(ratios) / len(ratios)
            if ratio < largest and max(ratios) - min(ratios) <= min(0.05, 0.2 * ratio):
                rest = steps[-1] * ratio / (1.0 - ratio)
                return tail[-1] + rest if rest <= REMAINING * self._run else None
        return None
