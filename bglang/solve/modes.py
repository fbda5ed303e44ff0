"""Modes: the discrete part of a trajectory, and how it follows from root functions.

A mode that has just been left toward one side sits exactly on its root, where the sign of the root function is
rounding. So modes are never read off the roots there: `Modes.contradicted` takes a margin, and what the integrator or
the event iteration found stays.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bglang.equations.system import Mode, System
from bglang.expr import leaves
from bglang.expr.evaluate import Values, evaluate, find_piece
from bglang.results.record import Event
from bglang.solve.consistent import Instant
from bglang.solve.model import Array, Model

if TYPE_CHECKING:
    from bglang.solve.margins import Margins

STICK = 0.0
SLIDE = "slide"
"""How the mode of a switch that slides is named."""
CLOSED = 1e-9
"""A sticking friction stays while its reaction is not beyond its limit by more than this part of it."""


class Modes:
    """The modes of one system, with the numbers of their root functions."""

    def __init__(self, system: System):
        self.modes = system.modes
        ends = np.cumsum([len(m.roots) for m in self.modes], dtype=int).tolist()
        self.first = [end - len(m.roots) for end, m in zip(ends, self.modes, strict=True)]
        self.owner = [k for k, m in enumerate(self.modes) for _ in m.roots]
        self.continuous = [k for k, m in enumerate(self.modes) if m.kind not in ("sample", "discrete")]
        self.samples = [k for k, m in enumerate(self.modes) if m.kind == "sample"]
        self.timed = {k for k, m in enumerate(self.modes) if m.time_only or m.kind == "sample"}
        self._two_sided = np.array([self.modes[k].kind == "relation" for k in self.owner], dtype=bool)
        self.needs_rates = any(
            leaf[0] == "d" for m in self.modes for e in (*m.roots, *m.arguments) for leaf in leaves(e)
        )

        self._system = system
        self._margins: Margins | None = None

    def of(self, k: int) -> slice:
        """The root functions of a mode."""
        return slice(self.first[k], self.first[k] + len(self.modes[k].roots))

    # --- reading modes off values -----------------------------------------------------------------------------------

    def read(self, model: Model, at: Instant, which: Iterable[int] | None = None) -> Array:
        """The modes that the values at an instant suggest; arguments may themselves read modes, hence the rounds."""
        z = at.z.copy()
        which = self.continuous if which is None else list(which)
        for _ in range(len(self.modes) + 1):
            before = z.copy()
            values = model.values(at.t, at.y, at.d, z)
            for k in which:
                z[k] = self._suggested(k, values, model)
            if np.array_equal(before, z):
                break
        return z

    def _suggested(self, k: int, values: Values, model: Model) -> float:
        mode = self.modes[k]
        if mode.kind == "relation":
            g = evaluate(mode.roots[0], values)
            return float(g > 0.0 or (g == 0.0 and not mode.strict))
        x = evaluate(mode.arguments[0], values)
        if not np.isfinite(x):
            return float(values.z[k])
        if mode.kind == "coulomb":
            return float(np.sign(x))
        if mode.kind == "floor":
            return float(np.floor(x))
        return float(find_piece(x, model.tables[mode.table]))

    def margin(self, model: Model, at: Instant, scale: Array, part: float, g: Array | None = None) -> Array:
        """How much the root functions (`g`: their values, if known) move when unknowns move by a small part of their
        size."""
        if not self.owner:
            return np.zeros(0)
        if g is None:
            g = model.roots(at.t, at.y, at.d, at.z)
        if self._margins is None:
            from bglang.solve.margins import Margins

            self._margins = Margins(self._system)
        return self._margins(model, at.t, at.y, at.d, at.z, part * np.maximum(np.abs(at.y), scale), g)

    # --- contradictions ---------------------------------------------------------------------------------------------

    def contradicted(self, model: Model, at: Instant, margin: Array, g: Array | None = None) -> dict[int, float]:
        """Modes that the values contradict by more than the margin of their roots (`g`: their values, if known), with
        the mode to try instead."""
        if g is None:
            g = model.roots(at.t, at.y, at.d, at.z)
        found = dict[int, float]()
        low = g < -margin
        high = g > margin
        if not low.any() and not (high & self._two_sided).any():
            return {}
        for k in self.continuous:
            mode, first = self.modes[k], self.first[k]
            if mode.kind == "relation":
                if (low if at.z[k] else high)[first]:
                    found[k] = 1.0 - at.z[k]
            elif mode.kind == "coulomb":
                change = self._coulomb(k, at, g[first : first + 2], bool(low[first]), model)
                if change is not None:
                    found[k] = change
            elif low[first : first + 2].any():
                found[k] = self._suggested(k, model.values(at.t, at.y, at.d, at.z), model)
        return {k: v for k, v in found.items() if v != at.z[k]}

    def _coulomb(self, k: int, at: Instant, g: Array, low: bool, model: Model) -> float | None:

        if at.z[k] != STICK:
            return STICK if low else None
        level = evaluate(self.modes[k].arguments[2], model.values(at.t, at.y, at.d, at.z))
        slack = CLOSED * abs(level)
        if g[0] < -slack:
            return 1.0
        return -1.0 if g[1] < -slack else None

    def after_root(self, k: int, root: int, at: Instant, model: Model) -> float:
        """The mode to try when the integrator has found a sign change of one of the mode's roots."""
        mode, z = self.modes[k], at.z[k]
        if mode.kind == "relation":
            return float(1.0 - z)
        if mode.kind == "coulomb":
            if z != STICK:
                return STICK
            return 1.0 if root == self.first[k] else -1.0
        if mode.kind == "floor":
            return float(z - 1.0 if root == self.first[k] else z + 1.0)
        return self._neighbour(mode, z, root == self.first[k], model)

    def _neighbour(self, mode: Mode, z: float, downwards: bool, model: Model) -> float:
        """The next segment of a table, past any jump (two points at one place)."""
        block = model.tables[mode.table]
        n = int(block[0])
        knots, k = block[1 : n + 1], int(z) + (-1 if downwards else 1)
        while 0 < k < n and knots[k] == knots[k - 1]:
            k += -1 if downwards else 1
        return float(min(max(k, 0), n))

    def sides(self, z: Array) -> NDArray[np.int32]:
        """The sign that each root function has in the present modes."""
        side = np.ones(len(self.owner), dtype=np.int32)
        for k in self.continuous:
            if self.modes[k].kind == "relation" and z[k] == 0.0:
                side[self.first[k]] = -1
        return side

    def side(self, root: int, z: Array, model: Model) -> tuple[float, bool]:
        """The sign that a root function has in the present modes, and whether the mode ends already at zero."""
        k = self.owner[root]
        mode, upper = self.modes[k], root > self.first[k]
        if mode.kind == "relation":
            return (1.0, mode.strict) if z[k] else (-1.0, not mode.strict)
        last = mode.kind == "segment" and z[k] >= model.tables[mode.table][0] - 1.0  # the last point is part of it
        return 1.0, upper and not last

    # --- words ------------------------------------------------------------------------------------------------------

    def word(self, k: int, value: float) -> str:
        """A mode in words."""
        kind = self.modes[k].kind
        if kind in ("relation", "sample"):
            return "true" if value else "false"
        if self._slides(k):
            return {-1.0: "below", 0.0: "slides", 1.0: "above"}.get(value, f"{value:g}")
        if kind == "coulomb":
            return {-1.0: "slips backward", 0.0: "sticks", 1.0: "slips forward"}.get(value, f"{value:g}")
        if kind == "segment":
            return f"segment {int(value)}"
        return f"{value:g}"

    def _slides(self, k: int) -> bool:
        """Whether a mode is that of a surface on which a switch slides."""
        return self.modes[k].kind == "coulomb" and self.modes[k].name == SLIDE

    def record(self, t: float, k: int, old: float, new: float) -> Event:
        """The log entry of a change."""
        mode = self.modes[k]
        direction = ("up" if new > old else "down") if mode.kind != "discrete" else ""
        span, kind = mode.span, "sliding" if self._slides(k) else mode.kind
        return Event(
            float(t), kind, mode.text or mode.name, mode.component, span.line if span.source.text else 0,
            span.source.name, self.word(k, old), self.word(k, new), direction,
        )  # fmt: skip

    def changes(self, t: float, old: Array, new: Array, which: Sequence[int] | None = None) -> list[Event]:
        numbers = range(len(self.modes)) if which is None else which
        return [self.record(t, k, old[k], new[k]) for k in numbers if old[k] != new[k]]
