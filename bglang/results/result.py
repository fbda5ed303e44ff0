"""The result of a run: curves by name, events, statistics, energy."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from bglang.diagnostics import Diagnostic, UsageError
from bglang.results.names import select, tight, unknown
from bglang.results.record import Audit, Column, Event, Stats
from bglang.results.values import Array, Values

if TYPE_CHECKING:
    import pandas
    import xarray

MANY_COLUMNS = 20_000
"""Larger models write their states only, unless the caller says which variables he wants."""


class Result:
    """What a simulation computed, or what a file holds of it.

    `result["mass.p"]` is an array beside `result.time`; `result.at(0.3, "mass.p")` interpolates; `result.names`,
    `result.units`, `result.descriptions`, `result.events`, `result.stats`, `result.audit` tell the rest.  `modes` are
    the modes at the start.  `complete` is False when the run did not reach its end; `ending` says why it stopped, in
    words.  `late` computes audit and warnings when somebody asks for them."""

    def __init__(
        self,
        model: str,
        values: Values,
        *,
        events: Sequence[Event] = (),
        stats: Stats | None = None,
        audit: Audit | None = None,
        states: Sequence[str] = (),
        warnings: Sequence[Diagnostic] = (),
        complete: bool = True,
        ending: str = "",
        modes: Sequence[Event] = (),
        late: "Callable[[], tuple[Audit | None, tuple[Diagnostic, ...]]] | None" = None,
    ):
        self.model = model
        self.events = tuple(events)
        self.stats = stats if stats is not None else Stats()
        self._late = late if late is not None else lambda: (audit, tuple(warnings))
        self.states = tuple(states)
        self.complete = complete
        self.ending = ending
        self.modes = tuple(modes)
        self._values = values

    @cached_property
    def _judged(self) -> tuple[Audit | None, tuple[Diagnostic, ...]]:
        return self._late()

    @cached_property
    def audit(self) -> Audit | None:
        """Where the energy went; None where nobody wanted to know."""
        return self._judged[0]

    @cached_property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is to be said about the run."""
        return self._judged[1]

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self._values.names)}

    @property
    def time(self) -> Array:
        return self._values.time

    @property
    def columns(self) -> tuple[Column, ...]:
        return self._values.columns

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._index)

    @property
    def units(self) -> dict[str, str]:
        return {c.name: c.unit for c in self.columns}

    @property
    def descriptions(self) -> dict[str, str]:
        return {c.name: c.description for c in self.columns}

    def unit(self, name: str) -> str:
        """The unit of one variable, "" where it has none."""
        return self._values.column(self._number(name)).unit

    def __getitem__(self, name: str) -> Array:
        if name == "time":
            return self.time
        return self._values.take([self._number(name)])[:, 0]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name == "time" or tight(name) in self._index)

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} … {self.time[-1]:g}" if len(self) else "no rows"
        end = "" if self.complete else f", stopped: {self.ending}"
        return f"<Result of {self.model}: {len(self._index)} variables, {len(self)} rows, time {span}{end}>"

    def select(self, patterns: str | Iterable[str]) -> list[str]:
        """Names that fit globs (`cell[*].q, v.f`)."""
        names = self.names
        return [names[i] for i in select(names, patterns)]

    def values(self, names: Sequence[str] | None = None) -> Array:
        """Rows x columns; without names every variable."""
        indices = range(len(self._index)) if names is None else [self._number(n) for n in names]
        return self._values.take(indices)

    def at(self, time: float | Sequence[float] | Array, name: str) -> Any:
        """The value at any time of the run: a number for a number, an array for an array.  At an event: after it."""
        times = np.atleast_1d(np.asarray(time, dtype=np.float64))
        first, last = (self.time[0], self.time[-1]) if len(self) else (np.nan, np.nan)
        if not np.all((times >= first) & (times <= last)):
            raise UsageError(f"the result covers {first:g} to {last:g}; there is nothing at {time}")
        found = times.copy() if name == "time" else self._values.at(times, [self._number(name)])[:, 0]
        return float(found[0]) if np.ndim(time) == 0 else found

    def curve(self, name: str) -> tuple[Array, Array]:
        """Times and values for a picture: rows, and the values before and after each event, so that nothing hides."""
        time, values = self._values.curve([] if name == "time" else [self._number(name)])
        return time, time if name == "time" else values[:, 0]

    def default_names(self) -> tuple[str, ...]:
        """What a file holds when nobody says what it should: everything, or the states of a large model."""
        return self.names if len(self._index) <= MANY_COLUMNS or not self.states else self.states

    def save(self, path: str | PathLike[str], names: str | Iterable[str] | None = None) -> None:
        """Write to csv, parquet, mat, h5 or json, by extension."""
        from bglang.results.write import save

        save(self, path, self.default_names() if names is None else self.select(names))

    @staticmethod
    def load(path: str | PathLike[str]) -> "Result":
        """Read what `save`, `bglang run -o` or somebody else's csv holds."""
        from bglang.results.read import load

        return load(path)

    def to_dataframe(self, names: str | Iterable[str] | None = None) -> "pandas.DataFrame":
        """A pandas DataFrame with time as index; units in `.attrs["units"]`."""
        pandas = needs("pandas", "data")
        chosen = list(self.default_names() if names is None else self.select(names))
        frame = pandas.DataFrame(self.values(chosen), index=pandas.Index(self.time, name="time"), columns=chosen)
        frame.attrs["units"] = {n: self.columns[self._index[n]].unit for n in chosen}
        return frame

    def to_xarray(self, names: str | Iterable[str] | None = None) -> "xarray.Dataset":
        """An xarray Dataset over the coordinate time, with units and descriptions as attributes."""
        xarray = needs("xarray", "data")
        chosen = list(self.default_names() if names is None else self.select(names))
        table = self.values(chosen)
        variables = {}
        for i, name in enumerate(chosen):
            column = self.columns[self._index[name]]
            attributes = {"units": column.unit, "long_name": column.description}
            variables[name] = ("time", table[:, i], {k: v for k, v in attributes.items() if v})
        return xarray.Dataset(variables, coords={"time": self.time}, attrs={"model": self.model})  # type: ignore[no-any-return]

    def plot(self, *names: str, to: str | PathLike[str] | None = None, against: str = "time") -> Any:
        """Curves with matplotlib: a figure, also written to `to` (png, svg, pdf) if given."""
        from bglang.views.plot import figure

        chosen = self.select(names) if names else list(self.states or self.names)[:8]
        return figure([self], chosen, to=to, against=against)

    def _number(self, name: str) -> int:
        found = self._index.get(name)
        if found is None:
            found = self._index.get(tight(name))
        if found is None:
            raise UsageError(unknown(name, self.names))
        return found


def needs(module: str, extra: str) -> Any:
    """An optional package, or the words that say how to get it."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise UsageError(
            f"this needs the package `{module}`, which is not installed: pip install 'bglang[{extra}]'"
        ) from None
