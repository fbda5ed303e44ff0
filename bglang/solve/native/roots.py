"""Root functions along an accepted step: where the first of them changes to the other side of zero.

Each root has a side: the sign that belongs to the present mode.  The step is looked at in several places; where a value
comes near zero and turns away again, its extremum is looked at too, so that double crossings are seen.  A crossing is
enclosed by a secant that falls back on bisection, for all roots at once, so that the earliest one is found.  A change
of sign through a pole or a jump is one like any other: what is compared is true on one side and false on the other.
"""

from collections.abc import Callable
from typing import Any

from bglang.solve.native.intrinsics import Reals, Table, ints, jit, reals, root_functions
from bglang.solve.native.layout import (
    FOUND,
    G_BEFORE,
    G_HIGH,
    G_LAST,
    G_LOW,
    G_NEXT,
    G_TRY,
    HAVE_BEFORE,
    IGNORED,
    NROOTS,
    REALS,
    ROOT_ACTIVE,
    ROOT_CALLS,
    ROOT_INTERVAL,
    ROOT_MERGE,
    ROOT_POINTS,
    SCAN_BEFORE,
    SCAN_FROM,
    SIDE,
    W5,
    W6,
    WATCHED,
    ZERO,
    D,
    T,
    Y,
)

EPS = 2.0**-52
DIP_SEARCHES = 12
MOST_PARTS = 100_000


@jit
def _crossed(c: Table, k: int, g: float) -> bool:
    """Whether the value lies on the other side.  NaN lies nowhere."""
    side = ints(c, SIDE)[k]
    if side == 0 or side == IGNORED:
        return False
    if g == 0.0:
        zero = ints(c, ZERO)[k]
        return zero != 0 and zero != side
    return g < 0.0 if side > 0 else g > 0.0


@jit
def _any_crossed(c: Table, g: Reals) -> bool:
    active = ints(c, ROOT_ACTIVE)
    for k in range(c[NROOTS]):  # noqa: SIM110  (compiled code has no generators)
        if active[k] != 0 and _crossed(c, k, g[k]):
            return True
    return False


@jit
def _copy(n: int, a: Reals, b: Reals) -> None:
    for k in range(n):
        b[k] = a[k]


@jit
def _take_sides(c: Table, g: Reals) -> None:
    """Roots whose side is still unknown take it from a value that is not zero."""
    side = ints(c, SIDE)
    for k in range(c[NROOTS]):
        if side[k] == 0 and g[k] != 0.0 and g[k] == g[k]:
            side[k] = 1 if g[k] > 0.0 else -1


@jit
def begin_roots(c: Table) -> None:
    """Values at a new start."""
    c[WATCHED] = 0
    for k in range(c[NROOTS]):
        if ints(c, SIDE)[k] != IGNORED:
            c[WATCHED] += 1
    if c[WATCHED] == 0:
        return
    r, g = reals(c, REALS), reals(c, G_LAST)
    root_functions(c, r[T], reals(c, Y), reals(c, D), g)
    c[ROOT_CALLS] += 1
    _take_sides(c, g)
    r[SCAN_FROM] = r[T]
    c[HAVE_BEFORE] = 0


@jit
def _secant(c: Table, a: float, b: float) -> float:
    """The earliest zero that straight lines between the ends of the enclosure predict."""
    low, high, active = reals(c, G_LOW), reals(c, G_HIGH), ints(c, ROOT_ACTIVE)
    part = 1.0
    for k in range(c[NROOTS]):
        if active[k] != 0 and _crossed(c, k, high[k]) and high[k] != low[k]:
            here = low[k] / (low[k] - high[k])
            if here < part:
                part = here
    return a + part * (b - a)


def make_scan(dense: Callable[..., None]) -> tuple[Any, Any]:
    """The search on top of a method's dense output."""

    @jit
    def values(c: Table, t: float, g: Reals) -> None:
        y, d = reals(c, W5), reals(c, W6)
        dense(c, t, y, d)
        root_functions(c, t, y, d, g)
        c[ROOT_CALLS] += 1

    @jit
    def enclose(c: Table, a: float, b: float) -> float:
        """Shrink [a, b] (values in G_LOW and G_HIGH; nothing crossed at a) around the earliest crossing; the end of it
        where it has crossed."""
        n, low, high, trial = c[NROOTS], reals(c, G_LOW), reals(c, G_HIGH), reals(c, G_TRY)
        r = reals(c, REALS)
        smallest = 4 * EPS * max(abs(a), abs(r[T]))
        slow, side = 0, 0
        while b - a > smallest:
            t = 0.5 * (a + b)
            if slow < 3:
                t = _secant(c, a, b)
                # Aim a little beyond the predicted zero on the side that stays, so that the enclosure closes.
                margin = max(smallest, 1e-3 * (b - a)) * 0.5
                t = min(max(t + (margin if side >= 0 else -margin) * 0.5, a + 0.25 * smallest), b - 0.25 * smallest)
            if not a < t < b:
                t = 0.5 * (a + b)
                if not a < t < b:
                    break
            width = b - a
            values(c, t, trial)
            if _any_crossed(c, trial):
                b, side = t, -1
                _copy(n, trial, high)
            else:
                a, side = t, 1
                _copy(n, trial, low)
            slow = slow + 1 if b - a > 0.5 * width else 0
            if slow > 3:
                slow = 3
            if b - a < 0.3 * width:
                slow = 0
        return b

    @jit
    def dip(c: Table, k: int, a: float, m: float, b: float) -> float:
        """Look for a crossing of root k near its extremum between a and b; the time, or NaN."""
        nan = float("nan")
        ga, gm, gb = reals(c, G_BEFORE)[k], reals(c, G_LAST)[k], reals(c, G_NEXT)[k]
        trial = reals(c, G_TRY)
        for _ in range(DIP_SEARCHES):
            # vertex of the parabola through the three points
            u, v = (m - a) * (gm - gb), (m - b) * (gm - ga)
            if u - v == 0.0:
                return nan
            t = m - 0.5 * ((m - a) * u - (m - b) * v) / (u - v)
            if not a < t < b or abs(t - m) < 1e-9 * (b - a):
                t = 0.5 * (m + (b if b - m > m - a else a))
            bottom = gm - abs(gm - gb) - abs(gm - ga) if gm > 0 else gm + abs(gm - gb) + abs(gm - ga)
            if bottom * gm > 0.0 or b - a < 64 * EPS * max(abs(a), abs(b)):
                return nan
            values(c, t, trial)
            g = trial[k]
            if _crossed(c, k, g):
                return t
            if abs(g) < abs(gm):
                if t < m:
                    b, gb = m, gm
                else:
                    a, ga = m, gm
                m, gm = t, g
            elif t < m:
                a, ga = t, g
            else:
                b, gb = t, g
        return nan

    @jit
    def first_dip(c: Table, a: float, m: float, b: float) -> float:
        """The earliest crossing between samples that all lie on one side, or NaN."""
        before, last, following, active = (
            reals(c, G_BEFORE),
            reals(c, G_LAST),
            reals(c, G_NEXT),
            ints(c, ROOT_ACTIVE),
        )
        first = float("nan")
        for k in range(c[NROOTS]):
            if active[k] == 0 or not abs(last[k]) <= abs(before[k]) or not abs(last[k]) <= abs(following[k]):
                continue
            if _crossed(c, k, before[k]) or _crossed(c, k, last[k]) or _crossed(c, k, following[k]):
                continue
            t = dip(c, k, a, m, b)
            if t == t and not first <= t:
                first = t
        return first

    @jit
    def settle(c: Table, a: float, b: float, last: float) -> float:
        """Enclose the crossing between a and b, note the roots that cross there, and say when."""
        n, r, found, side = c[NROOTS], reals(c, REALS), ints(c, FOUND), ints(c, SIDE)
        high, active = reals(c, G_HIGH), ints(c, ROOT_ACTIVE)
        at = enclose(c, a, b)
        for k in range(n):
            found[k] = -side[k] if active[k] != 0 and _crossed(c, k, high[k]) else 0
        if r[ROOT_MERGE] > 0.0 and at < last:
            later = min(at + r[ROOT_MERGE], last)
            values(c, later, reals(c, G_TRY))
            more = False
            for k in range(n):
                if active[k] != 0 and found[k] == 0 and _crossed(c, k, reals(c, G_TRY)[k]):
                    found[k] = -side[k]
                    more = True
            if more:
                at = later
                _copy(n, reals(c, G_TRY), high)
        for k in range(n):
            if found[k] != 0:
                side[k] = found[k]
        r[SCAN_FROM] = at
        _copy(n, high, reals(c, G_LAST))
        c[HAVE_BEFORE] = 0
        return at

    @jit
    def set_active(c: Table) -> bool:
        """Watch the roots that are on their own side now; True if one lies on the wrong side here and at the sample."""
        active, last, following = ints(c, ROOT_ACTIVE), reals(c, G_LAST), reals(c, G_NEXT)
        wrong = False
        for k in range(c[NROOTS]):
            active[k] = 0 if _crossed(c, k, last[k]) else 1
            if active[k] == 0 and _crossed(c, k, following[k]):
                wrong = True
        return wrong

    @jit
    def found_at_start(c: Table) -> float:
        found, active, following, side = ints(c, FOUND), ints(c, ROOT_ACTIVE), reals(c, G_NEXT), ints(c, SIDE)
        for k in range(c[NROOTS]):
            found[k] = 0
            if active[k] == 0 and _crossed(c, k, following[k]):
                found[k] = -side[k]
                side[k] = found[k]
        c[HAVE_BEFORE] = 0
        return reals(c, REALS)[SCAN_FROM]

    @jit
    def sample_after(c: Table, start: float, end: float) -> float:
        """Where to look next: equal parts of the step, the last one exactly at its end."""
        r = reals(c, REALS)
        width = (end - start) / c[ROOT_POINTS]
        if r[ROOT_INTERVAL] > 0.0:
            width = max(min(width, r[ROOT_INTERVAL]), (end - start) / MOST_PARTS)
        t = r[SCAN_FROM] + width
        return t if t < end - 0.5 * width else end

    @jit
    def scan(c: Table, start: float, end: float) -> float:
        """The time of the first root behind SCAN_FROM in the last step, or NaN."""
        n, r = c[NROOTS], reals(c, REALS)
        last, following = reals(c, G_LAST), reals(c, G_NEXT)
        while r[SCAN_FROM] < end:
            a, b = r[SCAN_FROM], sample_after(c, start, end)
            values(c, b, following)
            _take_sides(c, following)
            if set_active(c):
                return found_at_start(c)
            if c[HAVE_BEFORE] != 0:
                t = first_dip(c, r[SCAN_BEFORE], a, b)
                if t == t:
                    # A crossing behind `a`, or one before it that the samples had missed.
                    before = t < a
                    low = r[SCAN_BEFORE] if before else a
                    _copy(n, reals(c, G_BEFORE) if before else last, reals(c, G_LOW))
                    values(c, t, reals(c, G_HIGH))
                    return settle(c, low, t, b)
            if _any_crossed(c, following):
                _copy(n, last, reals(c, G_LOW))
                _copy(n, following, reals(c, G_HIGH))
                return settle(c, a, b, b)
            _copy(n, last, reals(c, G_BEFORE))
            _copy(n, following, last)
            r[SCAN_BEFORE], r[SCAN_FROM] = a, b
            c[HAVE_BEFORE] = 1
        return float("nan")

    return scan, values
