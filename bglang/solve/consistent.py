"""Consistent values: what holds at one instant, at the start and after an event.

Rows of a system in a given mode are of three sorts.  Balances hold rates: what they sum up, F_d (y+ - y-), is
continuous through any instant in which only finite efforts and flows act.  Laws hold no rates.  Pins are the time
derivative of a position that holds as well (a sticking friction): they may need an impulse, which enters the balances
through the algebraic variables and obeys the laws like these.

Small systems are handled as dense arrays, large ones sparse; the code is the same.
"""

import numpy as np

from bglang.equations.system import column, present
from bglang.records import dataclass, replace
from bglang.solve.blocks import beside, empty, nonzero, over, units
from bglang.solve.model import DENSE, Array, Matrix, Model, Numbers
from bglang.solve.newton import Factors, Jacobian, Outcome, holds, newton
from bglang.solve.quick import Inverses, quick_rates, quick_values

ROUNDING = 1e-8
"""A pinned state that is off by no more than this part of its size came there by an event located numerically."""

AHEAD = 1e-6
"""How far ahead rates that no equation holds are looked for, as a part of the time in which anything changes."""


@dataclass(frozen=True, slots=True)
class Sorts:
    """Which rows are balances, laws and pins in one mode; which columns carry no rates.

    A pin whose row holds no rates (they were replaced by what they equal) determines its reaction like a law: `laws`
    holds it too, and `stiff` is False.  `pinned` are the numbers of the pins among the rows that have a position."""

    balances: Numbers
    laws: Numbers
    pins: Numbers
    pinned: Numbers
    algebraic: Numbers
    stiff: bool


@dataclass(frozen=True, slots=True)
class Instant:
    """A point of the trajectory."""

    t: float
    y: Array
    d: Array
    z: Array


class Consistency:
    """Solves for consistent values and rates.  `scale` is the size of the unknowns where they are near zero."""

    def __init__(self, model: Model, scale: Array):
        self.model, self.scale = model, scale
        rows = model.system.rows
        self.regular = True
        """Whether the instant whose rates were found last determines all unknowns."""
        self.bound = False
        """Whether laws or pins bind states there: integrators keep such states only as well as their tolerance says."""
        self.impulse: Array | None = None
        """What algebraic variables do in the instant whose values were found last, if they are infinite there."""
        self._known: tuple[Array, Array, Matrix, Matrix, Sorts] | None = None
        self._inverses = Inverses()
        self._sorts: dict[bytes, Sorts] = {}
        self._differential = np.array(column(rows, "differential"), dtype=bool)
        self._positions = np.flatnonzero(present(rows, "position"))

    def jacobian(self, t: float, y: Array, d: Array, z: Array) -> tuple[Matrix, Matrix]:
        """dF/dy and dF/d(dy/dt): arrays for small systems, sparse rows for large ones."""
        if len(y) <= DENSE:
            return self.model.dense_jacobian(t, y, d, z)
        f_y, f_d = self.model.jacobian(t, y, d, z)
        return f_y.tocsr(), f_d.tocsr()

    def sorts(self, at: Instant, f_y: Matrix, f_d: Matrix) -> Sorts:
        """The sorts of rows and columns in the modes of an instant."""
        key = b""
        if not len(self._positions) and isinstance(f_d, np.ndarray):
            key = (f_d != 0.0).tobytes()
            if key in self._sorts:
                return self._sorts[key]
        rated, column = nonzero(f_d)
        pinned = np.zeros(0, dtype=np.intp)
        if len(self._positions):
            pinned = self._in_effect(at, f_y)
        pins = self._positions[pinned]
        is_pin = np.zeros(len(rated), dtype=bool)
        is_pin[pins] = True
        stiff = bool((is_pin & rated).any())
        balances = self._differential & rated & ~is_pin
        laws = ~balances & ~is_pin if stiff else ~balances
        found = Sorts(np.flatnonzero(balances), np.flatnonzero(laws), pins, pinned, np.flatnonzero(~column), stiff)
        if key:
            self._sorts[key] = found
        return found

    def _in_effect(self, at: Instant, f_y: Matrix) -> Numbers:
        """Positions that say something else than their rows do: those of the modes that pin a state."""
        values, slopes = self.model.positions(at.t, at.y, at.d, at.z)
        rows = f_y[self._positions]
        residual = self.model.residual(at.t, at.y, at.d, at.z)[self._positions]
        differs = np.asarray(abs(slopes - rows).sum(axis=1)).ravel() > 0.0
        return np.flatnonzero(differs | (values != residual))

    # --- values ---------------------------------------------------------------------------------------------------

    def values(self, left: Instant, z: Array, held: dict[int, float]) -> Outcome:
        """y after an instant: sums of balances stay, laws and positions hold, `held` unknowns take the given value."""
        self._known = self.impulse = None
        before = left.y.copy()
        for i, value in held.items():
            before[i] = value
        at = Instant(left.t, before, left.d, z)
        f_y, f_d = self.jacobian(at.t, before, left.d, z)
        sorts = self.sorts(at, f_y, f_d)
        if len(sorts.pins):
            outcome = self._pin(at, held, sorts)
            if sorts.stiff or not outcome.converged:
                return outcome
            at = Instant(at.t, outcome.u, at.d, z)
            f_y, f_d = self.jacobian(at.t, at.y, at.d, z)
        return self._lawful(at, held, sorts, f_y, f_d)

    def _lawful(self, at: Instant, held: dict[int, float], sorts: Sorts, f_y: Matrix, f_d: Matrix) -> Outcome:
        """Values that satisfy the laws and keep the sums of balances."""
        t, before, z = at.t, at.y, at.z
        f = self.model.residual(t, before, at.d, z)[sorts.laws]
        if np.isfinite(f).all() and holds(f, f_y[sorts.laws], before, self.scale, 1e-13).all():
            self._known = (before, z, f_y, f_d, sorts)
            return Outcome(before, True, f, 0, False)
        if not held and isinstance(f_d, np.ndarray) and not len(self._positions):
            quick = self._quick(at, f, sorts, f_y, f_d)
            if quick is not None:
                return quick
        balance_rows = self._release(f_d, sorts.balances, held)
        chosen = sorted(held)
        hold_rows = units(chosen, len(before))

        def residual(y: Array) -> Array:
            f = self.model.residual(t, y, at.d, z)
            sums = self._sums(at, y)
            return np.concatenate([sums[balance_rows], f[sorts.laws], y[chosen] - before[chosen]])

        def jacobian(y: Array) -> Matrix:
            now_y, now_d = self.jacobian(t, y, at.d, z)
            return over([now_d[balance_rows], now_y[sorts.laws], hold_rows])

        outcome = newton(residual, jacobian, before, self.scale)
        if not outcome.singular or _if_it_holds(outcome, jacobian, self.scale, 1e-12).converged:
            return outcome
        second = self._impulse(at, held, sorts)  # laws that bind states alone, as open switches around a coil do
        return second if second.converged else _if_it_holds(outcome, jacobian, self.scale)

    def _quick(self, at: Instant, f: Array, sorts: Sorts, f_y: Array, f_d: Array) -> Outcome | None:
        """The same where one Jacobian is good enough and what the balances sum up is linear in y."""
        sums = f_d[sorts.balances]
        inverse = self._inverses(np.concatenate([sums, f_y[sorts.laws]]), self.scale)
        if inverse is None:
            return None
        y = quick_values(self.model, at.t, at.y, at.d, at.z, f, sums, sorts.laws, inverse, self.scale)
        if y is None:
            return None
        now_y, now_d = self.model.dense_jacobian(at.t, y, at.d, at.z)
        if not np.array_equal(now_d, f_d):
            return None
        self._known = (y, at.z, now_y, now_d, sorts)
        return Outcome(y, True, np.zeros(0), 1, False)

    def _pin(self, at: Instant, held: dict[int, float], sorts: Sorts) -> Outcome:
        """Move pinned states onto their positions: by hand where only rounding is missing, else by an impulse."""
        values, slopes = self.model.positions(at.t, at.y, at.d, at.z)
        values, slopes = values[sorts.pinned], slopes[sorts.pinned]
        step = Factors(slopes, self.scale)(-values)
        if np.isfinite(step).all() and (np.abs(step) <= ROUNDING * np.maximum(np.abs(at.y), self.scale)).all():
            y = at.y + step
            values, slopes = self.model.positions(at.t, y, at.d, at.z)
            rest = values[sorts.pinned]
            y = y + Factors(slopes[sorts.pinned], self.scale)(-rest)
            if not sorts.stiff or self._laws_hold(replace(at, y=y), sorts):
                return Outcome(y, True, rest, 1, False)
        return self._impulse(at, held, sorts)

    def _laws_hold(self, at: Instant, sorts: Sorts) -> bool:
        """Whether the laws besides the pins hold: storages that depend on each other agree."""
        f = self.model.residual(at.t, at.y, at.d, at.z)[sorts.laws]
        f_y, _ = self.jacobian(at.t, at.y, at.d, at.z)
        return bool(holds(f, f_y[sorts.laws], at.y, self.scale, 1e-12).all())

    def _sums(self, at: Instant, after: Array) -> Array:
        """F_d (y+ - y-), with F_d in the middle: exact where it is linear in y."""
        _, f_d = self.jacobian(at.t, (at.y + after) / 2.0, at.d, at.z)
        return np.asarray(f_d @ (after - at.y))

    def _release(self, f_d: Matrix, balances: Numbers, held: dict[int, float]) -> Numbers:
        """The balances that still count when some unknowns are given: each given one replaces its own balance."""
        if not held:
            return balances
        free = {int(i) for i in balances}
        for j in sorted(held):
            column = f_d[:, [j]]
            size = np.asarray(abs(column).sum(axis=1)).ravel()
            candidates = [i for i in free if size[i] > 0.0]
            if candidates:  # its own balance: the one that holds the fewest other rates
                free.discard(min(candidates, key=lambda i: (int((f_d[[i]] != 0.0).sum()), abs(i - j))))
        return np.array(sorted(free), dtype=np.intp)

    def _impulse(self, at: Instant, held: dict[int, float], sorts: Sorts) -> Outcome:
        """Unknowns are y and the impulses of the algebraic variables, which obey the laws like these."""
        t, z, before, n, columns = at.t, at.z, at.y, len(at.y), sorts.algebraic
        balance_rows = self._release(self.jacobian(t, before, at.d, z)[1], sorts.balances, held)
        laws = np.setdiff1d(sorts.laws, sorts.pins)
        chosen = sorted(held)

        def residual(u: Array) -> Array:
            y, impulse = u[:n], u[n:]
            f = self.model.residual(t, y, at.d, z)
            through = self.jacobian(t, y, at.d, z)[0][:, columns] @ impulse
            sums = self._sums(at, y) + through
            pins = self.model.positions(t, y, at.d, z)[0][sorts.pinned]
            return np.concatenate([sums[balance_rows], through[laws], f[laws], pins, y[chosen] - before[chosen]])

        def jacobian(u: Array) -> Matrix:
            f_y, f_d = self.jacobian(t, u[:n], at.d, z)
            pins = self.model.positions(t, u[:n], at.d, z)[1][sorts.pinned]
            of_y = over([f_d[balance_rows], empty(len(laws), n), f_y[laws], pins, units(chosen, n)])
            of_impulse = over([f_y[balance_rows][:, columns], f_y[laws][:, columns]])
            rest = empty(of_y.shape[0] - of_impulse.shape[0], len(columns))
            return beside([of_y, over([of_impulse, rest])])

        scale = np.concatenate([self.scale, self.scale[columns]])
        first = np.concatenate([before, np.zeros(len(columns))])
        outcome = _if_it_holds(newton(residual, jacobian, first, scale), jacobian, scale)
        self.impulse = np.zeros(n)
        self.impulse[columns] = outcome.u[n:]
        return Outcome(outcome.u[:n], outcome.converged, outcome.residual, outcome.iterations, outcome.singular)

    # --- rates ------------------------------------------------------------------------------------------------------

    def rates(self, at: Instant) -> tuple[Array, Array, bool]:
        """y, dy/dt and whether they were found: balances and pins hold, laws hold also when differentiated by time."""
        known = self._known
        if known is not None and known[0] is at.y and known[1] is at.z:
            f_y, f_d, sorts = known[2:]
        else:
            f_y, f_d = self.jacobian(at.t, at.y, at.d, at.z)
            sorts = self.sorts(at, f_y, f_d)
        self.regular, self.bound = True, bool(len(sorts.pins))
        if sorts.stiff:
            return self._pinned_rates(at, sorts)
        drift = self.model.residual_t(at.t, at.y, at.d, at.z)[sorts.laws] if len(sorts.laws) else np.zeros(0)
        law_rows = f_y[sorts.laws]

        def residual(d: Array) -> Array:
            f = self.model.residual(at.t, at.y, d, at.z)
            return np.concatenate([f[sorts.balances], law_rows @ d + drift])

        first = np.where(np.isfinite(at.d), at.d, 0.0)
        scale = self._rate_scale(at.d)
        if isinstance(f_d, np.ndarray):
            balances = f_d[sorts.balances]
            inverse = self._inverses(np.concatenate([balances, law_rows]), self.scale)
            if inverse is not None:
                quick = quick_rates(
                    self.model, at.t, at.y, first, at.z, sorts.balances, law_rows, drift, inverse, scale
                )
                if quick is not None:
                    return at.y, quick, True

        def jacobian(d: Array) -> Matrix:
            rated = f_d if d is first else self.jacobian(at.t, at.y, d, at.z)[1]
            return over([rated[sorts.balances], law_rows])

        outcome = _if_it_holds(newton(residual, jacobian, first, scale), jacobian, scale, 1e-6)
        if not outcome.singular:
            return at.y, outcome.u, outcome.converged
        self.bound = True
        y, d, good = self._pinned_rates(at, sorts)  # laws that bind states say what algebraic variables are
        if not good:
            return at.y, outcome.u, outcome.converged
        return y, self._with_algebraic(Instant(at.t, y, d, at.z), sorts), True

    def _pinned_rates(self, at: Instant, sorts: Sorts) -> tuple[Array, Array, bool]:
        """With pins the algebraic variables themselves (the reaction of a sticking friction) follow from the rates.
        So they do where laws bind states alone."""
        n, columns = len(at.y), sorts.algebraic
        laws = sorts.laws[~nonzero(self.jacobian(at.t, at.y, at.d, at.z)[1])[0][sorts.laws]]

        def split(u: Array) -> tuple[Array, Array]:
            y = at.y.copy()
            y[columns] = u[n:]
            return y, u[:n]

        def residual(u: Array) -> Array:
            y, d = split(u)
            f = self.model.residual(at.t, y, d, at.z)
            f_y = self.jacobian(at.t, y, d, at.z)[0][laws]
            drift = self.model.residual_t(at.t, y, d, at.z)[laws]
            return np.concatenate([f, f_y @ d + drift])

        def jacobian(u: Array) -> Matrix:
            y, d = split(u)
            f_y, f_d = self.jacobian(at.t, y, d, at.z)
            none = empty(len(laws), len(columns))
            return over([beside([f_d, f_y[:, columns]]), beside([f_y[laws], none])])

        size = np.maximum(self.scale, 1e-9 * np.max(self.scale, initial=0.0))  # rounding is nobody's size
        scale = np.concatenate([self._rate_scale(at.d), size[columns]])
        first = np.concatenate([np.where(np.isfinite(at.d), at.d, 0.0), at.y[columns]])
        outcome = newton(residual, jacobian, first, scale)
        y, d = split(outcome.u)
        if not (outcome.singular and outcome.converged):
            return y, d, outcome.converged
        f_y, f_d = self.jacobian(at.t, y, d, at.z)
        self.regular = self._determined(f_y, f_d)
        speed = np.maximum(np.abs(d), scale[:n])  # equations are measured by all their terms, not by the unknown ones
        terms = abs(f_y) @ np.maximum(np.abs(y), size) + abs(f_d) @ speed
        terms = np.concatenate([terms, abs(f_y[laws]) @ speed])
        return y, d, bool((np.abs(outcome.residual) <= 1e-6 * np.maximum(terms, 1e-300)).all())

    def _with_algebraic(self, at: Instant, sorts: Sorts) -> Array:
        """The rates, with those of algebraic variables that only the rates of states determine: by looking ahead."""
        step = AHEAD / max(float(np.max(np.abs(at.d) / np.maximum(np.abs(at.y), self.scale), initial=0.0)), 1e-9)
        soon = Instant(at.t + step, at.y + step * at.d, at.d, at.z)
        y, _, good = self._pinned_rates(soon, sorts)
        d = at.d.copy()
        if good:
            d[sorts.algebraic] = (y - at.y)[sorts.algebraic] / step
        return d

    def _determined(self, f_y: Matrix, f_d: Matrix) -> bool:
        """Whether a step of an integrator determines all unknowns: c F_d + F_y has an inverse for some c."""
        size = abs(f_y).max() / max(abs(f_d).max(), 1e-300)
        return any(not Factors(f_y + c * size * f_d, self.scale).singular for c in (1.0, 1e3))

    def _rate_scale(self, d: Array) -> Array:
        finite = np.where(np.isfinite(d), np.abs(d), 0.0)
        return np.maximum(np.maximum(finite, self.scale), 1e-9)


def _if_it_holds(outcome: Outcome, jacobian: Jacobian, scale: Array, slack: float = 1e-8) -> Outcome:
    """A singular system may converge to where equations that contradict each other are least wrong: that is none."""
    if not (outcome.singular and outcome.converged):
        return outcome
    good = holds(outcome.residual, jacobian(outcome.u), outcome.u, scale, slack).all()
    return replace(outcome, converged=bool(good))
