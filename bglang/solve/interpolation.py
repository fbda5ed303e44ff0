"""Curves through nodes with slopes: cubics, improved to quintics where a neighbouring node helps."""

import numpy as np

from bglang.solve.model import Array, Flags, Numbers

NEAR, FAR = 0.3, 6.0
"""A neighbour helps if it lies at least and at most so many widths away from the interval."""
NEIGHBOURS = (2, -1, 3, -2, 4, -3)
"""Which nodes are asked, counted from the beginning of the interval."""


class Pieces:
    """Polynomials on the intervals between some nodes a and the nodes behind them.

    The cubic matches values and slopes at both ends.  Where the node behind the interval, or the one before it, belongs
    to the same smooth piece (`joined[k]`: nodes k and k + 1 do), the quintic matches that node as well."""

    def __init__(self, t: Array, y: Array, d: Array, joined: Flags, intervals: Numbers):
        a, b = intervals, intervals + 1
        self.h = (t[b] - t[a])[:, None]
        self.y0, self.d0 = y[a], d[a]
        with np.errstate(over="ignore", invalid="ignore"):  # a failed run may end with a step of no width
            slope = (y[b] - y[a]) / self.h
            self.third = self.d0 + d[b] - 2.0 * slope
            self.second = 3.0 * slope - 2.0 * self.d0 - d[b]
        c, place = self._neighbours(t, joined, intervals)
        used = np.isfinite(place)
        s = np.where(used, place, 2.0)[:, None]
        w, w_slope = self._bump(s)
        value, rate = self._cubic(s)
        self.alpha = np.where(used[:, None], (y[c] - value) / w, 0.0)
        self.beta = np.where(used[:, None], ((d[c] - rate) * self.h - w_slope * self.alpha) / w, 0.0)
        self.place = s

    def _neighbours(self, t: Array, joined: Flags, intervals: Numbers) -> tuple[Numbers, Array]:
        """A third node for each interval and where it lies in widths from its beginning; NaN: there is none."""
        piece = np.append(0, np.cumsum(~joined))
        node, place = intervals.copy(), np.full(len(intervals), np.nan)
        for distance in NEIGHBOURS:
            c = intervals + distance
            there = (c >= 0) & (c < len(t)) & np.isnan(place)
            c = np.clip(c, 0, len(t) - 1)
            s = (t[c] - t[intervals]) / self.h[:, 0]
            gap = np.where(s > 0.0, s - 1.0, -s)
            good = there & (piece[c] == piece[intervals]) & (gap >= NEAR) & (gap <= FAR)
            node[good], place[good] = c[good], s[good]
        return node, place

    @staticmethod
    def _bump(s: Array) -> tuple[Array, Array]:
        """s^2 (1 - s)^2, which leaves both ends alone, and its slope."""
        return s**2 * (1.0 - s) ** 2, 2.0 * s * (1.0 - s) * (1.0 - 2.0 * s)

    def _cubic(self, s: Array) -> tuple[Array, Array]:
        value = self.y0 + self.h * s * (self.d0 + s * (self.second + s * self.third))
        return value, self.d0 + s * (2.0 * self.second + s * 3.0 * self.third)

    def at(self, s: float | Array) -> tuple[Array, Array]:
        """Values and slopes at the part s of each interval."""
        s = np.broadcast_to(np.asarray(s, dtype=np.float64), self.h.shape)
        value, rate = self._cubic(s)
        w, w_slope = self._bump(s)
        more = self.alpha + self.beta * (s - self.place)
        return value + w * more, rate + (w_slope * more + w * self.beta) / self.h


def interpolate(times: Array, t: Array, y: Array, d: Array) -> tuple[Array, Array, Numbers]:
    """Values and slopes at times inside; and the node to the left of each.  Where nodes share a time (an event) the
    last one counts, and no polynomial reaches across."""
    k = np.clip(np.searchsorted(t, times, side="right") - 1, 0, max(len(t) - 2, 0))
    if len(t) < 2:
        return np.repeat(y, len(times), axis=0), np.repeat(d, len(times), axis=0), k
    joined = np.diff(t) > 0.0
    found, slopes = y[k + 1].copy(), d[k + 1].copy()
    inside = np.flatnonzero(joined[k])
    if len(inside):
        pieces = Pieces(t, y, d, joined, k[inside])
        part = (times[inside] - t[k[inside]])[:, None] / pieces.h
        found[inside], slopes[inside] = pieces.at(part)
    return found, slopes, k


def node_weights(t: Array, joined: Flags) -> Array:
    """Weights with which values at nodes add up to their integral: through each interval runs the polynomial of its
    ends and of those neighbours (one on each side) that belong to the same smooth piece and are not too near or far."""
    weights = np.zeros(len(t))
    intervals = np.flatnonzero(joined)
    last = len(t) - 1
    h = t[intervals + 1] - t[intervals]
    before, behind = np.maximum(intervals - 1, 0), np.minimum(intervals + 2, last)
    has_before = (intervals > 0) & joined[before]
    has_behind = (intervals + 2 <= last) & joined[np.minimum(intervals + 1, last - 1)]
    x_before, x_behind = (t[before] - t[intervals]) / h, (t[behind] - t[intervals]) / h
    has_before &= (-x_before >= NEAR) & (-x_before <= FAR)
    has_behind &= (x_behind - 1.0 >= NEAR) & (x_behind - 1.0 <= FAR)
    for left in (False, True):
        for right in (False, True):
            chosen = np.flatnonzero((has_before == left) & (has_behind == right))
            if len(chosen):
                nodes = [intervals[chosen], intervals[chosen] + 1]
                places = [np.zeros(len(chosen)), np.ones(len(chosen))]
                if left:
                    nodes, places = [*nodes, before[chosen]], [*places, x_before[chosen]]
                if right:
                    nodes, places = [*nodes, behind[chosen]], [*places, x_behind[chosen]]
                for node, weight in zip(nodes, _lagrange_integrals(places), strict=True):
                    np.add.at(weights, node, weight * h[chosen])
    return weights


def _lagrange_integrals(places: list[Array]) -> list[Array]:
    """Integrals over [0, 1] of the Lagrange polynomials of some places, by Gauss (exact up to cubics)."""
    found = list[Array]()
    for i, own in enumerate(places):
        total = np.zeros_like(own)
        for s in (0.5 - np.sqrt(1.0 / 12.0), 0.5 + np.sqrt(1.0 / 12.0)):
            value = np.ones_like(own)
            for k, other in enumerate(places):
                if k != i:
                    value = value * (s - other) / (own - other)
            total += 0.5 * value
        found.append(total)
    return found
