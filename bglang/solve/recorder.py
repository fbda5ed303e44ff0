"""What a run leaves behind: rows at the times that were asked for, and nodes for interpolation and the audit."""

from collections.abc import Callable, Sequence

import numpy as np

from bglang.equations.system import column
from bglang.results.record import Column
from bglang.results.values import Array
from bglang.solve.consistent import Instant
from bglang.solve.interpolation import interpolate
from bglang.solve.model import Model
from bglang.solve.polish import reads_rates, true_rates

NODES = 10_000_000
"""So many numbers are kept for interpolation between rows; beyond, the rows themselves must do."""


class Rows:
    """A growing table of instants."""

    def __init__(self, n: int, nz: int, rates: bool):
        self.count = 0
        self._t = np.empty(64)
        self._y = np.empty((64, n))
        self._d = np.empty((64, n if rates else 0))
        self._z = np.empty((64, nz))
        self.rates = rates

    def extend(self, t: Array, y: Array, d: Array | None, z: Array) -> None:
        end = self.count + len(t)
        if end > len(self._t):
            size = max(end, 2 * len(self._t))
            for name in ("_t", "_y", "_d", "_z"):
                old = getattr(self, name)
                new = np.empty((size, *old.shape[1:]))
                new[: self.count] = old[: self.count]
                setattr(self, name, new)
        rows = slice(self.count, end)
        self._t[rows], self._y[rows], self._z[rows] = t, y, z
        if self.rates:
            self._d[rows] = 0.0 if d is None else d
        self.count = end

    def drop_last(self) -> None:
        self.count -= 1

    @property
    def t(self) -> Array:
        return self._t[: self.count]

    @property
    def y(self) -> Array:
        return self._y[: self.count]

    @property
    def d(self) -> Array:
        return self._d[: self.count] if self.rates else np.zeros((self.count, self._y.shape[1]))

    @property
    def z(self) -> Array:
        return self._z[: self.count]


Consumer = Callable[[Array, Array, Array, Array, bool], None]
"""Takes nodes of the trajectory: times, values, rates, modes, and whether a smooth piece begins with them."""


class Recorder:
    """Sorts what the integrator hands out.

    The integrator gives a row for every step and one for every time of the grid.  A step may end exactly on the grid,
    and an event may lie there too: of rows at one grid time the last one counts, which holds the values after an
    event."""

    def __init__(self, grid: Array, n: int, nz: int, *, rates: bool, events: bool, merge: float = 0.0):
        """`merge`: a row so close before an event is at the event (0.3 is no instant before the third tick of 0.1)."""
        self.grid, self.events, self.merge = grid, events, merge
        self.rows = Rows(n, nz, rates)
        self.nodes: Rows | None = Rows(n, nz, True)
        self.consumers: list[Consumer] = []
        self.z = np.zeros(nz)
        self.step = 0.0
        """About the step that the integrator took last."""
        self.polish: Callable[[Array, Array, Array, Array], tuple[Array, Array]] | None = None
        self._held: tuple[Array, Array, Array] | None = None
        self._pending: tuple[float, Array, Array] | None = None

    def sink(self, t: Array, y: Array, d: Array | None) -> None:
        """Rows from the integrator: each step and each grid time.  The last ones are held until they are sure."""
        self.commit()
        self._held = (t.copy(), y.copy(), np.zeros_like(y) if d is None else d.copy())

    def commit(self, until: float = np.inf) -> None:
        """Take what is held, up to a time: what lies behind it will come again."""
        if self._held is None:
            return
        t, y, rates = self._held
        self._held = None
        sure = t < until
        if not sure.all():
            t, y, rates = t[sure], y[sure], rates[sure]
        if not len(t):
            return
        if self.polish is not None:
            y, rates = self.polish(t, y, rates, self.z)
        at = np.searchsorted(self.grid, t)
        hit = (at < len(self.grid)) & (self.grid[np.minimum(at, len(self.grid) - 1)] == t)
        self._keep_nodes(t, y, rates)
        if len(t) > 1:
            self.step = float(np.diff(t[-4:]).max())
        if not hit.any():
            return
        numbers = np.flatnonzero(hit)
        times = t[numbers]
        if self._pending is not None:
            if times[0] > self._pending[0]:
                self.flush()
            else:
                self._pending = None
        last = np.append(times[1:] > times[:-1], True)
        numbers = numbers[last]
        done, rest = numbers[:-1], int(numbers[-1])
        if len(done):
            self._finish(t[done], y[done], rates[done])
        self._pending = (float(t[rest]), y[rest].copy(), rates[rest].copy())

    def flush(self) -> None:
        """The row that waited for an event at its time."""
        if self._pending is not None:
            t, y, d = self._pending
            self._pending = None
            self._finish(np.array([t]), y[None, :], d[None, :])

    def begin(self, at: Instant) -> None:
        """A new smooth piece begins."""
        self.commit()
        self.z = at.z.copy()
        self._keep_nodes(np.array([at.t]), at.y[None, :], at.d[None, :], begins=True)

    def event(self, left: Instant, after: Instant) -> None:
        """An event between two smooth pieces."""
        self.commit()
        if self._pending is not None:
            due = self._pending[0]
            if due < left.t - self.merge:
                self.flush()
            elif due <= left.t:  # the row at an event holds the values after it
                self._pending = None if self.events else (due, after.y.copy(), after.d.copy())
            else:
                self._pending = None  # it lies behind the event and will come again
        self._keep_nodes(np.array([left.t]), left.y[None, :], left.d[None, :])
        if self.events:
            self.rows.extend(np.array([left.t]), left.y[None, :], left.d[None, :], left.z)
            self.rows.extend(np.array([after.t]), after.y[None, :], after.d[None, :], after.z)
        self.begin(after)

    def end(self, at: Instant) -> None:
        """The run ends here, whatever the grid says: the last instant is a row."""
        self.commit()
        self.flush()
        self._keep_nodes(np.array([at.t]), at.y[None, :], at.d[None, :])
        if not self.rows.count or self.rows.t[-1] < at.t:
            self._finish(np.array([at.t]), at.y[None, :], at.d[None, :])

    def last(self, after: Instant) -> None:
        """The values after the event that ends a run replace its last row."""
        self.commit()
        if self._pending is not None and self._pending[0] < after.t:
            self.flush()
        self.z = after.z.copy()
        self._pending = (after.t, after.y.copy(), after.d.copy())

    def gap(self, left: Instant, until: float) -> None:
        """Rows of the grid between the last instant that an integrator has seen and an event that lies a little
        later."""
        times = self.grid[(self.grid > left.t) & (self.grid < until)]
        if len(times):
            y = left.y + (times - left.t)[:, None] * left.d
            self.sink(times, y, np.broadcast_to(left.d, y.shape))

    def _finish(self, t: Array, y: Array, d: Array) -> None:
        if self.events and self.rows.count and self.rows.t[-1] == t[0]:
            t, y, d = t[1:], y[1:], d[1:]  # the row after the event is there already
        if len(t):
            self.rows.extend(t, y, d, self.z)

    def _keep_nodes(self, t: Array, y: Array, d: Array, begins: bool = False) -> None:
        for consume in self.consumers:
            consume(t, y, d, self.z, begins)
        if self.nodes is not None:
            if (self.nodes.count + len(t)) * (2 * y.shape[1] + 1) > NODES:
                self.nodes = None
            else:
                self.nodes.extend(t, y, d, self.z)


class Computed:
    """Columns of a result, computed from the trajectory when somebody asks for them."""

    def __init__(self, model: Model, rows: Rows, nodes: Rows | None):
        self._model, self._rows, self._nodes = model, rows, nodes
        self._columns: tuple[Column, ...] | None = None
        self._cache: dict[int, Array] = {}
        self._rates: Array | None = None

    @property
    def time(self) -> Array:
        return self._rows.t

    @property
    def columns(self) -> tuple[Column, ...]:
        if self._columns is None:
            fields = (column(self._model.system.outputs, field) for field in ("name", "unit", "description"))
            self._columns = tuple(map(Column, *fields))
        return self._columns

    @property
    def names(self) -> Sequence[str]:
        return column(self._model.system.outputs, "name")

    def column(self, index: int) -> Column:
        output = self._model.system.outputs[index]
        return Column(output.name, output.unit, output.description)

    def take(self, indices: Sequence[int]) -> Array:
        wanted = [i for i in dict.fromkeys(indices) if i not in self._cache]
        if wanted:
            rows = self._rows
            values = self._model.outputs(rows.t, rows.y, self._d(wanted), rows.z, wanted)
            if len(wanted) == len(list(indices)) and len(wanted) > 64:
                return values  # many at once: not worth keeping twice
            for k, i in enumerate(wanted):
                self._cache[i] = values[:, k]
        if not len(indices):
            return np.empty((len(self.time), 0))
        return np.column_stack([self._cache[i] for i in indices])

    def _d(self, wanted: Sequence[int]) -> Array:
        """Rates at the rows: those of storages that depend on each other are made exact when somebody looks at them."""
        rows = self._rows
        if not reads_rates(self._model, wanted):
            return rows.d
        if self._rates is None:
            self._rates = true_rates(self._model, rows.t, rows.y, rows.d, rows.z)
        return self._rates

    def curve(self, indices: Sequence[int]) -> tuple[Array, Array]:
        rows, nodes = self._rows, self._nodes
        if nodes is None or nodes.count < 2:
            return rows.t, self.take(indices)
        twin = np.flatnonzero(np.diff(nodes.t) == 0.0)
        ends = np.unique(np.concatenate([twin, twin + 1]))
        if not len(ends):
            return rows.t, self.take(indices)
        values = self._model.outputs(nodes.t[ends], nodes.y[ends], nodes.d[ends], nodes.z[ends], list(indices))
        plain = ~np.isin(rows.t, nodes.t[ends])  # a row at an event is one of the two
        time = np.concatenate([rows.t[plain], nodes.t[ends]])
        order = np.argsort(time, kind="stable")
        return time[order], np.concatenate([self.take(indices)[plain], values])[order]

    def at(self, times: Array, indices: Sequence[int]) -> Array:
        nodes = self._nodes if self._nodes is not None and self._nodes.count else self._rows
        y, d, k = interpolate(times, nodes.t, nodes.y, nodes.d)
        right = np.minimum(k + 1, nodes.count - 1)
        z = np.where(
            (nodes.t[right] > nodes.t[k])[:, None] & (times < nodes.t[right])[:, None], nodes.z[k], nodes.z[right]
        )
        if reads_rates(self._model, indices):
            d = true_rates(self._model, times, y, d, z)
        return self._model.outputs(times, y, d, z, list(indices))
