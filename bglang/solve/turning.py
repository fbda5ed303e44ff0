"""Roots that a `when` has turned back: a ball that bounces.

A relation that was crossed at an event is left again toward the side it came from when the event has reversed the rate
of its root function, however slow it has become, or has stopped it.  Where something drives it back at once, the next
crossing follows after a time that is known; once it is too short to be told from none, so are all that come after it.
"""

from collections.abc import Sequence

from bglang.equations.system import System, column
from bglang.expr import Expr
from bglang.expr.diff import time_derivative
from bglang.expr.evaluate import evaluate
from bglang.expr.walk import leaf_set
from bglang.records import dataclass
from bglang.solve.consistent import Consistency, Instant
from bglang.solve.model import Model
from bglang.solve.modes import Modes
from bglang.solve.zeno import REMAINING, SLOWEST, PileUp

STOPPED = 1e-9
"""A root function that goes on with no more than this part of its rate has been stopped."""
LOST = 1e-3
"""An excursion that is no higher than this part of what counts as zero cannot be followed."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A relation that was crossed: the mode it came from, the sign of its function beyond, and the rate toward it."""

    mode: int
    origin: float
    beyond: float
    speed: float


@dataclass(frozen=True, slots=True)
class Comeback:
    """A function on its way back: since when, how long it takes to come to zero again, how far it gets, and how slow
    it has become against the last time."""

    mode: int
    since: float
    flight: float
    height: float
    ratio: float


class Turning:
    """Rates of root functions, where they follow from those of states."""

    def __init__(self, system: System, modes: Modes, model: Model, run: float):
        self._modes, self._model, self._run = modes, model, run
        states = {i for i, kind in enumerate(column(system.unknowns, "kind")) if kind != "algebraic"}
        self._rates: dict[int, Expr] = {}
        for k in modes.continuous if system.whens else ():
            mode = modes.modes[k]
            if mode.kind != "relation" or mode.time_only:
                continue
            moving = [leaf for leaf in leaf_set(mode.roots[0]) if leaf[0] in "yd"]
            if all(leaf[0] == "y" and leaf[1] in states for leaf in moving):
                self._rates[k] = time_derivative(mode.roots[0], lambda leaf: ("d", leaf[1]) if leaf[0] == "y" else 0.0)

    def crossings(self, left: Instant, roots: Sequence[int]) -> tuple[Crossing, ...]:
        """The relations among crossed roots, with the rates at which they are crossed."""
        found = list[Crossing]()
        for k in dict.fromkeys(self._modes.owner[r] for r in roots):
            if k in self._rates:
                beyond = -1.0 if left.z[k] else 1.0
                speed = beyond * self._rate(k, left)
                if speed > 0.0:
                    found.append(Crossing(k, float(left.z[k]), beyond, speed))
        return tuple(found)

    def _rate(self, k: int, at: Instant) -> float:
        return float(evaluate(self._rates[k], self._model.values(at.t, at.y, at.d, at.z)))

    def is_back(self, crossing: Crossing, at: Instant) -> bool:
        """Whether the function has been stopped, or goes back to where it came from."""
        return crossing.beyond * self._rate(crossing.mode, at) <= STOPPED * crossing.speed

    def mode_after(self, crossing: Crossing, at: Instant) -> float | None:
        """The mode of a relation after it was turned back: the one it came from, or that of zero if it was stopped
        there.  None: it goes on."""
        if not self.is_back(crossing, at):
            return None
        stopped = abs(self._rate(crossing.mode, at)) <= STOPPED * crossing.speed
        return float(not self._modes.modes[crossing.mode].strict) if stopped else crossing.origin

    def comeback(self, crossing: Crossing, at: Instant, step: float, consistency: Consistency) -> Comeback | None:
        """The way back, from the rate of the function and how that changes in a small step; None when nothing drives
        the function back."""
        k, beyond = crossing.mode, crossing.beyond
        rate = beyond * self._rate(k, at)
        y, d, good = consistency.rates(Instant(at.t + step, at.y + step * at.d, at.d, at.z))
        if not good:
            return None
        gain = beyond * self._rate(k, Instant(at.t + step, y, d, at.z)) - rate
        if not gain > STOPPED * crossing.speed:
            return None
        speed = max(-rate, 0.0)
        flight = 2.0 * speed * step / gain
        return Comeback(k, at.t, flight, 0.25 * speed * flight, speed / crossing.speed)

    def pile(self, back: Comeback, zone: float) -> PileUp | None:
        """What is left of the crossings when each is as much slower as this one; None while the next one can be
        seen."""
        if back.ratio >= SLOWEST:
            return None
        rest = back.flight / (1.0 - back.ratio)
        lost = back.height <= LOST * zone or (back.height <= zone and rest <= REMAINING * self._run)
        return PileUp("zeno", back.since + rest, (back.mode,)) if lost else None
