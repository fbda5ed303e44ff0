"""What rounding does: the one place that judges whether a variable moves or is only shaken.

Three things are known.  ROUNDING holds, for each equation, how far the arithmetic inside its laws may move it:
constants that cancel in a law leave their rounding errors behind; `bglang.kernels.rounding` finds that once a run.
The terms of an equation, which its Jacobian tells, are rounded themselves.  And what the iteration leaves unsolved
counts for what was at rest when a step began.  NOISE holds what follows for each variable: no step can be more
accurate, so weights stay above it, and a variable that rests is not woken by it.
"""

from bglang.solve.native.intrinsics import Reals, Table, ints, jacobian, jit, reals, root
from bglang.solve.native.iteration import solve_real
from bglang.solve.native.layout import (
    FY,
    INDICES,
    INDPTR,
    JACOBIANS,
    NNZ,
    NOISE,
    REALS,
    ROUNDING,
    RTOL,
    SIZE,
    W6,
    W7,
    D,
    N,
    T,
    Y,
)

EPS = 2.0**-52
LEFT = 0.05  # an iteration leaves errors of this part of the tolerance


@jit
def _rounding(c: Table, y: Reals, d: Reals, out: Reals, total: Reals) -> None:
    """out = how far rounding may move each equation.  What its terms with variables do not sum up to zero is a term
    without (a constant of the model)."""
    nnz, values, inside = c[NNZ], reals(c, FY), reals(c, ROUNDING)
    indptr, indices = ints(c, INDPTR), ints(c, INDICES)
    for i in range(c[N]):
        out[i], total[i] = 0.0, 0.0
    for j in range(c[N]):
        for k in range(indptr[j], indptr[j + 1]):
            term, rated = values[k] * y[j], values[nnz + k] * d[j]
            out[indices[k]] += abs(term) + abs(rated)
            total[indices[k]] += term + rated
    for i in range(c[N]):
        out[i] = EPS * (out[i] + abs(total[i])) + inside[i]


@jit
def note_noise(c: Table, y: Reals, d: Reals) -> None:
    """How far rounding may move each variable, with the real matrix just factored."""
    noise, other = reals(c, W6), reals(c, W7)
    _rounding(c, y, d, noise, other)
    _spread_noise(c, noise, other)
    _keep_noise(c, noise)


@jit
def _spread_noise(c: Table, noise: Reals, other: Reals) -> None:
    """What an error of this size in each equation makes of the variables.  Nobody knows the signs of the errors: where
    those of two equations cancel with one set of signs, they add up with another."""
    for i in range(c[N]):
        other[i] = noise[i] if i % 2 == 0 else -noise[i]
    solve_real(c, other)
    solve_real(c, noise)
    for i in range(c[N]):
        noise[i] = max(abs(noise[i]), abs(other[i]))


@jit
def note_noise_ahead(c: Table, y: Reals, step: Reals, rate: float) -> None:
    """The same at the end of a step, whose rates are about `rate` times the step: there a variable that was at rest at
    its begin shows what rounding does to it, and what the iteration left of the terms of its equation.  What such a
    variable has gathered by noise so far moves others."""
    nnz, values, noise, size, inside = c[NNZ], reals(c, FY), reals(c, W6), reals(c, SIZE), reals(c, ROUNDING)
    before = reals(c, NOISE)
    indptr, indices = ints(c, INDPTR), ints(c, INDICES)
    part = max(EPS, LEFT * reals(c, REALS)[RTOL])
    for i in range(c[N]):
        noise[i] = inside[i]
    for j in range(c[N]):
        gathered = min(abs(y[j]), before[j]) if size[j] == 0.0 else 0.0
        for k in range(indptr[j], indptr[j + 1]):
            terms = abs(values[k] * (y[j] + step[j])) + abs(values[nnz + k] * rate * step[j])
            noise[indices[k]] += part * terms + abs(values[k]) * gathered
    solve_real(c, noise)
    _keep_noise(c, noise)


@jit
def _keep_noise(c: Table, found: Reals) -> None:
    """A variable at rest has gathered the rounding of all steps so far, as a random walk does."""
    noise, size = reals(c, NOISE), reals(c, SIZE)
    for i in range(c[N]):
        now = abs(found[i])
        if not now < 1e300:
            now = 0.0
        noise[i] = root(noise[i] * noise[i] + now * now) if size[i] == 0.0 else now


@jit
def look_at_terms(c: Table) -> None:
    """The Jacobian of an explicit model, which tells how large the terms are that a rate is summed up from."""
    zeros = reals(c, W7)
    for i in range(c[N]):
        zeros[i] = 0.0
    jacobian(c, reals(c, REALS)[T], reals(c, Y), zeros, reals(c, FY))
    c[JACOBIANS] += 1


@jit
def note_rounding(c: Table, h: float) -> None:
    """What rounding of the rates does in a step of an explicit method.

    Where terms cancel (by symmetry a variable stays at rest) a variable is nothing but rounding errors, and steps that
    keep a part of these would have to be infinitely short."""
    noise = reals(c, NOISE)
    _rounding(c, reals(c, Y), reals(c, D), noise, reals(c, W7))
    for i in range(c[N]):
        noise[i] *= h
        if not noise[i] < 1e300:
            noise[i] = 0.0
