"""Where the numbers of a result come from: columns that are stored, or columns computed when somebody asks."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bglang.results.record import Column

Array = NDArray[np.float64]


class Values(Protocol):
    """A table of time and named columns."""

    @property
    def time(self) -> Array: ...

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def columns(self) -> tuple[Column, ...]: ...

    def column(self, index: int) -> Column:
        """One of them: a large model has a million."""
        ...

    def take(self, indices: Sequence[int]) -> Array:
        """Values of some columns in all rows: an array of rows x columns."""
        ...

    def at(self, times: Array, indices: Sequence[int]) -> Array:
        """Values between the rows."""
        ...

    def curve(self, indices: Sequence[int]) -> tuple[Array, Array]:
        """Times and values for a picture: all rows, and where they are known the values before and after each event."""
        ...


class Stored:
    """Columns that are simply there: read from a file."""

    def __init__(self, time: Array, columns: Sequence[Column], values: Array):
        assert values.shape == (len(time), len(columns))
        self._time, self._columns, self._values = time, tuple(columns), values

    @property
    def time(self) -> Array:
        return self._time

    @property
    def columns(self) -> tuple[Column, ...]:
        return self._columns

    @property
    def names(self) -> Sequence[str]:
        return [column.name for column in self._columns]

    def column(self, index: int) -> Column:
        return self._columns[index]

    def take(self, indices: Sequence[int]) -> Array:
        return self._values[:, list(indices)]

    def at(self, times: Array, indices: Sequence[int]) -> Array:
        return interpolate(self._time, self._values[:, list(indices)], times)

    def curve(self, indices: Sequence[int]) -> tuple[Array, Array]:
        return self._time, self.take(indices)


def interpolate(time: Array, values: Array, at: Array) -> Array:
    """Monotone cubics between rows; where a time stands twice (an event) the curve may jump, and the later row counts.

    Outside the rows there is nothing to say: NaN."""
    from scipy.interpolate import PchipInterpolator

    found = np.full((len(at), values.shape[1]), np.nan)
    if not len(time):
        return found
    breaks = np.flatnonzero(np.diff(time) <= 0.0) + 1
    edges = [0, *breaks.tolist(), len(time)]
    for first, last in pairwise(edges):
        t, v = time[first:last], values[first:last]
        inside = (at >= t[0]) & (at <= t[-1])
        if not inside.any():
            continue
        if len(t) == 1:
            found[inside] = v[0]
        elif len(t) == 2:
            part = ((at[inside] - t[0]) / (t[1] - t[0]))[:, None]
            found[inside] = v[0] + part * (v[1] - v[0])
        else:
            finite = np.isfinite(v).all(axis=0)
            if finite.any():
                found[np.ix_(inside, finite)] = PchipInterpolator(t, v[:, finite], axis=0)(at[inside])
    return found
