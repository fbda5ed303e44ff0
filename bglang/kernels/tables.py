"""Blocks: the coefficients of table functions, in the one form that evaluators and compiled code read.

A block is n, the n abscissas, then n + 1 cubic pieces (see `bglang.expr.evaluate`).  Linear tables, splines, monotone
cubics and the rules for what lies outside differ only in these numbers, so compiled code never depends on them, and a
table whose points are parameters changes without compiling.
"""

from typing import Literal, TypeAlias

import numpy as np

from bglang.expr.evaluate import Block, Floats
from bglang.graph.ir import Table

Method: TypeAlias = Literal["linear", "spline", "pchip"]
Outside: TypeAlias = Literal["hold", "linear", "error"]
SLACK = 1e-9
"""By this part of its range an argument may lie outside a table that forbids it."""
Ends: TypeAlias = Literal["not-a-knot", "natural", "secant"]


def block_size(points: int) -> int:
    return 1 + points + 4 * (points + 1)


def table_block(table: Table) -> Block:
    """The block of a table whose points are numbers."""
    return make_block(np.array(table.x, float), np.array(table.y, float), table.method, table.outside, table.ends)


def make_block(x: Floats, y: Floats, method: Method, outside: Outside, ends: Ends) -> Block:
    """The block of one table.  x must increase; two equal x in a linear table are a jump."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    n = len(x)
    pieces = np.zeros((n + 1, 4))
    if n > 1:
        pieces[1:n] = _linear(x, y) if method == "linear" or n == 2 else _cubic(x, y, method, ends)
    pieces[0, 0], pieces[n, 0] = y[0], y[-1]
    if outside == "linear" and n > 1:
        pieces[0, 1] = pieces[1, 1]
        pieces[n, 1] = _end_slope(x, pieces[n - 1])
    elif outside == "error":
        pieces[0, 0] = pieces[n, 0] = np.nan  # solvers take NaN for "not defined here" and step back
        if n > 1:
            x = _widened(x, pieces)
    return np.concatenate([[float(n)], x, pieces.ravel()])


def _widened(x: Floats, pieces: Floats) -> Floats:
    """Abscissas whose ends lie a little further out, the first piece written anew from there: an argument that is at
    the end up to rounding (`abs(B)` where B passes through zero) has not left the table."""
    slack = SLACK * (x[-1] - x[0])
    c0, c1, c2, c3 = pieces[1]
    pieces[1, 0] = c0 - slack * (c1 - slack * (c2 - slack * c3))
    pieces[1, 1] = c1 - slack * (2 * c2 - 3 * slack * c3)
    pieces[1, 2] = c2 - 3 * slack * c3
    return np.concatenate([[x[0] - slack], x[1:-1], [x[-1] + slack]])


def range_text(block: Block) -> str:
    """The range of a table as it was written."""
    low, high = float(block[1]), float(block[int(block[0])])
    digit = 10 * SLACK * (high - low) or 1.0
    return f"{round(low / digit) * digit:g} … {round(high / digit) * digit:g}"


def _end_slope(x: Floats, piece: Floats) -> float:
    h = x[-1] - x[-2]
    return float(piece[1] + h * (2.0 * piece[2] + h * 3.0 * piece[3]))


def _linear(x: Floats, y: Floats) -> Floats:
    step = np.diff(x)
    jump = step == 0.0
    slope = np.where(jump, 0.0, np.diff(y) / np.where(jump, 1.0, step))
    zeros = np.zeros_like(slope)
    return np.stack([np.where(jump, y[1:], y[:-1]), slope, zeros, zeros], axis=1)


def _cubic(x: Floats, y: Floats, method: Method, ends: Ends) -> Floats:
    """Hermite pieces from the slopes at the points."""
    h = np.diff(x)
    delta = np.diff(y) / h
    slope = _pchip_slopes(h, delta) if method == "pchip" else _spline_slopes(h, delta, ends)
    left, right = slope[:-1], slope[1:]
    return np.stack([y[:-1], left, (3.0 * delta - 2.0 * left - right) / h, (left + right - 2.0 * delta) / h**2], axis=1)


def _spline_slopes(h: Floats, delta: Floats, ends: Ends) -> Floats:
    """Slopes that make the second derivative continuous; `ends` closes the system.

    not-a-knot: the first two and the last two pieces are one cubic each.  natural: no curvature at the ends.
    secant: the end slopes are those of the first and the last chord."""
    n = len(h) + 1
    if ends == "not-a-knot" and n == 3:
        # Both end conditions say the same, that the third derivative does not jump: one parabola through three points.
        middle = (h[1] * delta[0] + h[0] * delta[1]) / (h[0] + h[1])
        return np.array([2.0 * delta[0] - middle, middle, 2.0 * delta[1] - middle])
    lower, diagonal, upper, right = np.zeros(n), np.ones(n), np.zeros(n), np.zeros(n)
    lower[1:-1], upper[1:-1] = h[1:], h[:-1]
    diagonal[1:-1] = 2.0 * (h[:-1] + h[1:])
    right[1:-1] = 3.0 * (h[1:] * delta[:-1] + h[:-1] * delta[1:])
    if ends == "natural":
        diagonal[0] = diagonal[-1] = 2.0
        upper[0] = lower[-1] = 1.0
        right[0], right[-1] = 3.0 * delta[0], 3.0 * delta[-1]
    elif ends == "secant":
        right[0], right[-1] = delta[0], delta[-1]
    else:
        diagonal[0], upper[0], right[0] = _not_a_knot(h[0], h[1], delta[0], delta[1])
        diagonal[-1], lower[-1], right[-1] = _not_a_knot(h[-1], h[-2], delta[-1], delta[-2])
    return _tridiagonal(lower, diagonal, upper, right)


def _not_a_knot(h0: float, h1: float, delta0: float, delta1: float) -> tuple[float, float, float]:
    """The end row after the slope of the third point has been eliminated with the second row."""
    both = h0 + h1
    return h1, both, ((h0 + 2.0 * both) * h1 * delta0 + h0 * h0 * delta1) / both


def _tridiagonal(lower: Floats, diagonal: Floats, upper: Floats, right: Floats) -> Floats:
    """Gaussian elimination without pivoting: a spline's rows are diagonally dominant but for the two end rows, whose
    pivots not-a-knot makes positive too."""
    a, b, c, r = lower.tolist(), diagonal.tolist(), upper.tolist(), right.tolist()
    n = len(b)
    for i in range(1, n):
        factor = a[i] / b[i - 1]
        b[i] -= factor * c[i - 1]
        r[i] -= factor * r[i - 1]
    r[-1] /= b[-1]
    for i in range(n - 2, -1, -1):
        r[i] = (r[i] - c[i] * r[i + 1]) / b[i]
    return np.array(r)


def _pchip_slopes(h: Floats, delta: Floats) -> Floats:
    """Fritsch and Butland's weighted harmonic means: no overshoot between monotone points."""
    slope = np.zeros(len(h) + 1)
    w1, w2 = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    same = delta[:-1] * delta[1:] > 0.0
    safe0, safe1 = np.where(same, delta[:-1], 1.0), np.where(same, delta[1:], 1.0)
    slope[1:-1] = np.where(same, (w1 + w2) / (w1 / safe0 + w2 / safe1), 0.0)
    slope[0] = _pchip_end(h[0], h[1], delta[0], delta[1])
    slope[-1] = _pchip_end(h[-1], h[-2], delta[-1], delta[-2])
    return slope


def _pchip_end(h0: float, h1: float, delta0: float, delta1: float) -> float:
    """One-sided parabola, bent back where it would overshoot."""
    slope = float(((2.0 * h0 + h1) * delta0 - h0 * delta1) / (h0 + h1))
    if slope * delta0 <= 0.0:
        return 0.0
    if delta0 * delta1 <= 0.0 and abs(slope) > 3.0 * abs(delta0):
        return float(3.0 * delta0)
    return slope
