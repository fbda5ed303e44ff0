"""What explicit methods share: the rate as a function of value and time, and a first step."""

from bglang.solve.native.intrinsics import Reals, Table, ints, jacobian, jit, reals, residual
from bglang.solve.native.layout import (
    FY,
    INDICES,
    INDPTR,
    JACOBIANS,
    NOISE,
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
from bglang.solve.native.weights import EPS, set_weights


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


@jit
def look_at_terms(c: Table) -> None:
    """The Jacobian, which tells how large the terms are that a rate is summed up from."""
    zeros = reals(c, W7)
    for i in range(c[N]):
        zeros[i] = 0.0
    jacobian(c, reals(c, REALS)[T], reals(c, Y), zeros, reals(c, FY))
    c[JACOBIANS] += 1


@jit
def note_rounding(c: Table, h: float) -> None:
    """What rounding errors in the terms of the rates do in a step; no step can be more accurate than that.

    Where terms cancel (by symmetry a variable stays at rest) a variable is nothing but rounding errors, and steps that
    keep a part of these would have to be infinitely short."""
    n, y, d, values, noise, total = c[N], reals(c, Y), reals(c, D), reals(c, FY), reals(c, NOISE), reals(c, W7)
    indptr, indices = ints(c, INDPTR), ints(c, INDICES)
    for i in range(n):
        noise[i], total[i] = 0.0, d[i]
    for j in range(n):
        for k in range(indptr[j], indptr[j + 1]):
            term = values[k] * y[j]
            noise[indices[k]] += abs(term)
            total[indices[k]] += term
    for i in range(n):
        noise[i] = EPS * h * (noise[i] + abs(total[i]))
        if not noise[i] < 1e300:
            noise[i] = 0.0
