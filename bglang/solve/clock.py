"""Events that time alone decides: samples and relations of time.  They are known ahead, so the integrator stops at
them."""

import math

import numpy as np

from bglang.diagnostics import SourceError, error
from bglang.expr import Expr, leaves
from bglang.expr.diff import diff
from bglang.expr.evaluate import evaluate
from bglang.records import dataclass
from bglang.solve.model import Array, Model
from bglang.solve.modes import Modes
from bglang.solve.timeroots import Watched, gap, is_linear, next_root


@dataclass(frozen=True, slots=True)
class Appointment:
    """The next instant that time decides; roots and modes of samples that are due then."""

    t: float
    roots: tuple[int, ...]
    samples: tuple[int, ...]


class Clock:
    """Finds appointments.  `merge`: instants closer than this are one."""

    def __init__(self, modes: Modes, model: Model, stop: float, merge: float):
        self._modes, self._model, self._stop, self._merge = modes, model, stop, merge
        self._functions: dict[int, tuple[Expr, tuple[int, ...]]] = {}
        self._slopes: dict[int, float] = {}
        self._seen: dict[float, Array] = {}
        self._nothing = np.zeros(len(model.system.unknowns))
        for k in modes.continuous:
            mode = modes.modes[k]
            if mode.time_only:
                for i, g in enumerate(mode.roots):
                    reads = tuple(sorted({leaf[1] for leaf in leaves(g) if leaf[0] == "z"}))
                    self._functions[modes.first[k] + i] = (g, reads)
        self.roots = tuple(self._functions)
        self._find_slopes()
        self._known: dict[int, tuple[float, tuple[float, ...]]] = {}
        self._samples: dict[int, tuple[float, float]] = {}
        empty = np.zeros(0)
        at = model.values(0.0, empty, empty, np.zeros(len(modes.modes)))
        for k in modes.samples:
            start, interval = (evaluate(a, at) for a in modes.modes[k].arguments)
            if not interval > 0.0:
                mode = modes.modes[k]
                message = f"the interval of `{mode.text or 'sample'}` is {interval:g}; it must be positive"
                raise SourceError([error("events/sample", message, mode.span, component=mode.component)])
            self._samples[k] = (start, interval)

    def _find_slopes(self) -> None:
        """Functions that are straight in time, whatever the modes: their roots are a division away."""
        empty = np.zeros(0)
        for r, (g, _) in self._functions.items():
            slope = diff(g, ("t",)) if is_linear(g) else ("t",)
            if all(leaf[0] == "p" for leaf in leaves(slope)):
                self._slopes[r] = evaluate(slope, self._model.values(0.0, empty, empty, empty))

    def samples_at(self, t: float) -> tuple[int, ...]:
        """Samples that are due at the start of a run."""
        return tuple(k for k, (start, interval) in self._samples.items() if self._tick(start, interval, t, True) == t)

    def next(self, t: float, z: Array) -> Appointment:
        """The first instant after t; infinity if there is none before the end."""
        self._seen.clear()
        times = {r: self._root(r, t, z) for r in self._functions}
        ticks = {k: self._tick(start, interval, t, False) for k, (start, interval) in self._samples.items()}
        first = min([*times.values(), *ticks.values()], default=math.inf)
        if first > self._stop + self._merge:
            return Appointment(math.inf, (), ())
        near = first + self._merge
        first = min(first, self._stop)  # 0.3 is the third tick of 0.1 though 3*0.1 lies behind it
        due = [r for r, at in times.items() if at <= near]
        return Appointment(first, self._leading(due), tuple(k for k, at in ticks.items() if at <= near))

    def _leading(self, due: list[int]) -> tuple[int, ...]:
        """Those of the roots due that no other one decides: where `abs(sin(time))` turns to its other branch it is not
        below zero.  What reads a mode that changes is looked at again behind the change."""
        owner = self._modes.owner
        changing = {owner[r] for r in due}
        leading = tuple(r for r in due if changing.isdisjoint({*self._functions[r][1]} - {owner[r]}))
        return leading or tuple(due)

    def _root(self, r: int, t: float, z: Array) -> float:
        reads = self._functions[r][1]
        modes = tuple(float(z[k]) for k in reads)
        known = self._known.get(r)
        if known is None or known[0] <= t + self._merge or known[1] != modes:
            begin = t + self._behind(known, t)
            if self._contradicted(r, begin, z):
                return t
            known = self._known[r] = (self._search(r, begin, z), modes)
        return known[0]

    def _search(self, r: int, begin: float, z: Array) -> float:
        slope = self._slopes.get(r)
        if slope is not None:
            root = -self._value(r, 0.0, z) / slope if slope else math.inf
            return root if begin < root <= self._stop else math.inf
        empty = np.zeros(0)
        values = self._model.values(begin, empty, empty, z)
        sign, leaves_at_zero = self._modes.side(r, z, self._model)
        found = next_root(Watched(self._functions[r][0], values, sign, leaves_at_zero), begin, self._stop)
        return math.inf if found is None else found

    def _value(self, r: int, t: float, z: Array) -> float:
        if t not in self._seen:
            self._seen[t] = self._model.roots(t, self._nothing, self._nothing, z)
        return float(self._seen[t][r])

    def _contradicted(self, r: int, begin: float, z: Array) -> bool:
        """Whether the function has left its mode right behind t: `sin(time) > 0` is false at 0 and true behind it."""
        just = begin + gap(begin, self._stop)
        if just >= self._stop:
            return False
        sign, leaves_at_zero = self._modes.side(r, z, self._model)
        value = sign * self._value(r, just, z)
        return value < 0.0 or (leaves_at_zero and value == 0.0)

    def _behind(self, known: tuple[float, tuple[float, ...]] | None, t: float) -> float:
        """How far past t to begin: a root that was part of the last event is behind us even if it lies a little
        after."""
        return known[0] - t if known is not None and t < known[0] <= t + self._merge else 0.0

    def _tick(self, start: float, interval: float, t: float, inclusive: bool) -> float:
        """The first tick after t (or at t): counted, never summed up."""
        slack = self._merge / interval
        n = (t - start) / interval
        count = math.ceil(n - slack) if inclusive else math.floor(n + slack) + 1
        tick = start + max(count, 0) * interval
        return t if inclusive and abs(tick - t) <= self._merge else tick
