"""What explicit methods share: the rate as a function of value and time, and a first step."""

from bglang.solve.native.intrinsics import Reals, Table, jit, reals, residual
from bglang.solve.native.layout import (
    REALS,
    RESIDUALS,
    T_END,
    W7,
    WEIGHT,
    D,
    H,
    N,
    T,
    Y,
)
from bglang.solve.native.weights import set_weights


@jit
def rate(c: Table, t: float, y: Reals, out: Reals) -> None:
    """f(t, y), from rows dy/dt - f(t, y).  W7 holds zeros afterwards."""
    zeros = reals(c, W7)
    for i in range(c[N]):
        zeros[i] = 0.0
    residual(c, t, y, zeros, out)
    c[RESIDUALS] += 1
    for i in range(c[N]):
        out[i] = -out[i]


@jit
def first_step(c: Table, rtol: float) -> None:
    """A step for H if the caller gave none: one hundredth of the time in which the largest variable would double."""
    r, y, d, weight = reals(c, REALS), reals(c, Y), reals(c, D), reals(c, WEIGHT)
    if r[H] > 0.0:
        return
    set_weights(c, y, rtol)
    size, speed = 0.0, 0.0
    for i in range(c[N]):
        size, speed = max(size, abs(y[i]) / weight[i]), max(speed, abs(d[i]) / weight[i])
    r[H] = min(1e-2 * max(size, 1.0) / max(speed, 1e-100), 1e-3 * (r[T_END] - r[T]))
