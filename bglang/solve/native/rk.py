"""Dormand and Prince's explicit Runge-Kutta method of order 8 with error estimates of order 5 and 3 (DOP853).

Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, section II.5 and II.6: twelve stages, step control,
stiffness detection, dense output of order 7 that costs three more stages, taken only in steps that need it.  The
model's rows must be dy/dt - f(t, y), so that f is the negative residual at dy/dt = 0.

For a fast decaying part of the solution the book's step control is not enough.  Its error estimate has a zero near
h * eigenvalue = -5.6, so that a step may pass by chance and the next be six times longer; and from -4 on the dense
output is worse than the end of the step, 130 times at -5.5 and 550 times at -17.  A step is therefore accepted only if
the polynomial that gives its rows and roots is good, too.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from scipy.integrate._ivp import dop853_coefficients as tableau

from bglang.solve.native.control import count_rejection, failure, next_step, note_not_finite, note_worst, too_small
from bglang.solve.native.explicit import first_step, rate
from bglang.solve.native.intrinsics import REAL, Reals, Table, intrinsic, jit, reals, root, shift
from bglang.solve.native.layout import (
    ACCEPTED,
    AT_END,
    ATTEMPTS,
    CONTINUE,
    DOUBTS,
    FIRST,
    FIXED_STEP,
    H_DONE,
    H_MAX,
    HAVE_POLYNOMIAL,
    LOCAL,
    MAX_ATTEMPTS,
    METHOD_INTS,
    NEXT,
    NTOUT,
    REALS,
    REASON_ERROR,
    REASON_NAN,
    REJECTED_LAST,
    RESTING,
    RTOL,
    STEPS,
    STIFF,
    STIFF_ALLOWED,
    STIFF_SEEN,
    T_END,
    T_OLD,
    TOUT,
    W0,
    W1,
    W2,
    W3,
    W4,
    W7,
    WATCHED,
    WEIGHT,
    WOKEN,
    D,
    H,
    N,
    T,
    Y,
)
from bglang.solve.native.noise import look_at_terms, note_rounding
from bglang.solve.native.weights import (
    begin_sizes,
    doubt_resting,
    learn_sizes,
    mean_size,
    note_sizes,
    set_weights,
    weighted_size,
)

STAGES, ALL_STAGES = 12, 16
SAFETY, SHRINKAGE, GROWTH, MOST_WAKINGS = 0.9, 0.333, 6.0, 5
# Beyond h * |eigenvalue| = 6.1 the method is unstable.  From here on the error estimate may be blind, and the
# polynomial is looked at whoever needs it; this many steps in a row so near the limit mean that the model is stiff.
NEAR_LIMIT, STIFF_STEPS, PATIENCE = 4.0, 15, 6
TOLERANCE_PART = 0.25  # of the tolerance for a local error, so that results keep about the tolerance asked
# The largest values of the polynomial's last two terms, x^3 (1-x)^3 and x^4 (1-x)^3, and how its error is judged by
# both.  Found for exponentials: for h * |eigenvalue| > 1, real or complex, the error is the last term / 6.8.  Beyond 4,
# where the last term is five times the other, that counts a little more than in full.  In oscillations the error is
# three times that at the end of the step; there h * |eigenvalue| < 1.5 and the other term is not the smaller one, so
# that a part counts that hardly ever rules the step.
LAST_BUT_ONE, LAST, FROM_LAST, FROM_LAST_BUT_ONE = 1.0 / 64.0, 6912.0 / 823543.0, 2.5, 12.0
NOTICEABLE = 0.01  # errors of the polynomial below this part say nothing about the next step; some are mere rounding
TIMES_STIFF, TIMES_CALM = METHOD_INTS, METHOD_INTS + 1
# Work: W0 stages (16 n), W1 start of the last step, W2 rate there, W3 new value, W4 polynomial (7 n), W7 error.

# Coefficients: rows of A for all stages, times, weights, two error estimates, dense output.
A_AT, C_AT, B_AT, E5_AT, E3_AT, D_AT = 0, 256, 272, 288, 304, 320
_TABLE = np.zeros(384)
_TABLE[A_AT:C_AT] = tableau.A[:16, :16].ravel()
_TABLE[C_AT:B_AT] = tableau.C[:16]
_TABLE[B_AT : B_AT + 12] = tableau.B
_TABLE[E5_AT : E5_AT + 13] = tableau.E5
_TABLE[E3_AT : E3_AT + 13] = tableau.E3
_TABLE[D_AT : D_AT + 64] = tableau.D[:, :16].ravel()
_NUMBERS = tuple(float(x) for x in _TABLE)


@intrinsic
def coefficients(typingctx: Any) -> Any:
    """The address of the table above, as a constant of the compiled code."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.ArrayType(ir.DoubleType(), len(_NUMBERS))
        name = "bglang.dop853"
        if name in builder.module.globals:
            constant = builder.module.globals[name]
        else:
            constant = ir.GlobalVariable(builder.module, kind, name)
            constant.global_constant, constant.linkage = True, "linkonce_odr"
            constant.initializer = ir.Constant(kind, list(_NUMBERS))
        return builder.bitcast(constant, ir.DoubleType().as_pointer())

    return REAL(), code


@jit
def _combine(c: Table, count: int, weights: Reals, out: Reals) -> None:
    """out = sum of weights[j] * stage j."""
    n, k = c[N], reals(c, W0)
    for i in range(n):
        out[i] = 0.0
    for j in range(count):
        w = weights[j]
        if w != 0.0:
            stage: Reals = shift(k, j * n)
            for i in range(n):
                out[i] += w * stage[i]


@jit
def _stage(c: Table, s: int, t: float, h: float, y: Reals) -> None:
    """Stage s from those before it."""
    n, k, point, a = c[N], reals(c, W0), reals(c, W3), coefficients()
    _combine(c, s, shift(a, A_AT + 16 * s), point)
    for i in range(n):
        point[i] = y[i] + h * point[i]
    rate(c, t + a[C_AT + s] * h, point, shift(k, s * n))


@jit
def rk_begin(c: Table) -> None:
    r, y, d, k = reals(c, REALS), reals(c, Y), reals(c, D), reals(c, W0)
    c[FIRST], c[REJECTED_LAST], c[WOKEN], c[HAVE_POLYNOMIAL], c[DOUBTS] = 1, 0, 0, 0, 0
    c[TIMES_STIFF], c[TIMES_CALM], c[STIFF_SEEN] = 0, 0, 0
    r[LOCAL] = TOLERANCE_PART * r[RTOL]
    begin_sizes(c, y)
    rate(c, r[T], y, d)
    for i in range(c[N]):
        k[i] = d[i]
    look_at_terms(c)
    first_step(c, TOLERANCE_PART * r[RTOL])


@jit
def _error(c: Table, h: float) -> float:
    """The norm that mixes both estimates; the one of order 5 stays in W7."""
    n, k, err, weight, a = c[N], reals(c, W0), reals(c, W7), reals(c, WEIGHT), coefficients()
    _combine(c, STAGES + 1, shift(a, E5_AT), err)
    five, fourth, three = 0.0, 0.0, 0.0
    for i in range(n):
        e = 0.0
        for j in range(STAGES):
            e += a[E3_AT + j] * k[j * n + i]
        e /= weight[i]
        three += e * e
        e = err[i] / weight[i]
        err[i] *= h
        e *= e
        five += e
        fourth += e * e
    if five == 0.0:
        return 0.0
    # The book's mixture of both estimates: five^2 / sqrt(five^2 + 0.01 three^2).
    return h * mean_size(five, fourth) * root(five / (five + 0.01 * three))


@jit
def _stiffness(c: Table, h: float) -> float:
    """h * |eigenvalue| from the last two stages, which nearly have the same time: |f(a) - f(b)| / |a - b|."""
    n, k, new, point, y = c[N], reals(c, W0), reals(c, W3), reals(c, W7), reals(c, Y)
    a = coefficients()
    _combine(c, STAGES - 1, shift(a, A_AT + 16 * (STAGES - 1)), point)
    up, down = 0.0, 0.0
    for i in range(n):
        df = k[STAGES * n + i] - k[(STAGES - 1) * n + i]
        dy = new[i] - (y[i] + h * point[i])
        up += df * df
        down += dy * dy
    return h * root(up / down) if down > 0.0 else 0.0


@jit
def _count_stiff(c: Table, stiff: bool) -> None:
    """Steps in a row that stability rules; the caller hears of it before the next step, when this one has been looked
    through."""
    if c[STIFF_ALLOWED] != 0:
        return
    if stiff:
        c[TIMES_CALM] = 0
        c[TIMES_STIFF] += 1
        if c[TIMES_STIFF] >= STIFF_STEPS:
            c[STIFF_SEEN] = 1
        return
    c[TIMES_CALM] += 1
    if c[TIMES_CALM] >= PATIENCE:
        c[TIMES_STIFF] = 0


@jit
def _move(c: Table, h: float) -> None:
    """To the end of the step that is tried; its polynomial can be made now."""
    n, r, y, d, k, new = c[N], reals(c, REALS), reals(c, Y), reals(c, D), reals(c, W0), reals(c, W3)
    old, old_rate = reals(c, W1), reals(c, W2)
    for i in range(n):
        old[i], old_rate[i] = y[i], d[i]
        y[i], d[i] = new[i], k[STAGES * n + i]
    r[T_OLD], r[H_DONE] = r[T], h
    c[HAVE_POLYNOMIAL] = 0


@jit
def _move_back(c: Table) -> None:
    y, d, old, old_rate = reals(c, Y), reals(c, D), reals(c, W1), reals(c, W2)
    for i in range(c[N]):
        y[i], d[i] = old[i], old_rate[i]


@jit
def _accept(c: Table, h: float) -> None:
    r = reals(c, REALS)
    r[T] = r[T_END] if c[AT_END] != 0 else r[T] + h
    c[STEPS] += 1
    note_sizes(c, reals(c, Y))


@jit
def _make_polynomial(c: Table) -> None:
    """Three more stages and the coefficients of the dense output of the last step."""
    n, r, poly, y, d = c[N], reals(c, REALS), reals(c, W4), reals(c, Y), reals(c, D)
    old, old_rate, a = reals(c, W1), reals(c, W2), coefficients()
    h = r[H_DONE]
    for s in range(STAGES + 1, ALL_STAGES):
        _stage(c, s, r[T_OLD], h, old)
    for i in range(n):
        step = y[i] - old[i]
        poly[i] = step
        poly[n + i] = h * old_rate[i] - step
        poly[2 * n + i] = 2.0 * step - h * (d[i] + old_rate[i])
    for m in range(4):
        part: Reals = shift(poly, (3 + m) * n)
        _combine(c, ALL_STAGES, shift(a, D_AT + 16 * m), part)
        for i in range(n):
            part[i] *= h
    c[HAVE_POLYNOMIAL] = 1


@jit
def _needs_polynomial(c: Table, h: float) -> bool:
    """Whether rows or roots inside of the step will be asked for."""
    if c[WATCHED] > 0:
        return True
    return c[NEXT] < c[NTOUT] and reals(c, TOUT)[c[NEXT]] < reals(c, REALS)[T] + h


@jit
def _error_inside(c: Table) -> float:
    """The error of the polynomial, in parts of what is allowed, so that it rules a step only where parts decay fast."""
    poly, n = reals(c, W4), c[N]
    last = LAST * weighted_size(c, shift(poly, 6 * n))
    if last == 0.0:
        return 0.0
    before = LAST_BUT_ONE * weighted_size(c, shift(poly, 5 * n))
    return last / (FROM_LAST + FROM_LAST_BUT_ONE * before / last)


@jit
def rk_dense(c: Table, t: float, y: Reals, d: Reals) -> None:
    if c[HAVE_POLYNOMIAL] == 0:
        _make_polynomial(c)
    n, r, poly, old = c[N], reals(c, REALS), reals(c, W4), reals(c, W1)
    h = r[H_DONE]
    x = (t - r[T_OLD]) / h
    for i in range(n):
        value, slope = 0.0, 0.0
        for m in range(7):
            value += poly[(6 - m) * n + i]
            if m % 2 == 0:
                slope = slope * x + value
                value *= x
            else:
                slope = slope * (1.0 - x) - value
                value *= 1.0 - x
        y[i] = old[i] + value
        d[i] = slope / h


@jit
def _judge(c: Table, h: float) -> int:
    """Error test and step control: ACCEPTED, or -1 for another try."""
    r, err = reals(c, REALS), reals(c, W7)
    norm = _error(c, h)
    if c[RESTING] != 0:
        _subtract(c)
        if learn_sizes(c, reals(c, Y), reals(c, W4), 1.0, err) and c[WOKEN] < MOST_WAKINGS:
            c[WOKEN] += 1
            return -1
        set_weights(c, reals(c, Y), TOLERANCE_PART * r[RTOL])
        norm = _error(c, h)
        doubt_resting(c, TOLERANCE_PART * r[RTOL], err)
        norm = _error(c, h)
    if not norm < 1e300:
        note_not_finite(c, reals(c, W3), 1)
        count_rejection(c, REASON_NAN)
        r[H], c[REJECTED_LAST] = 0.1 * h, 1
        return -1
    if norm >= 1.0:
        note_worst(c, err)
        return _refuse(c, h, norm)
    stiffness = _stiffness(c, h)
    needed = _needs_polynomial(c, h)
    _move(c, h)
    if needed or stiffness > NEAR_LIMIT:
        _make_polynomial(c)
        inside = _error_inside(c)
        if not inside < 1.0:
            note_worst(c, shift(reals(c, W4), 6 * c[N]))
            _count_stiff(c, True)
            _move_back(c)
            return _refuse(c, h, inside)
        if inside > NOTICEABLE:
            norm = max(norm, inside)
    _count_stiff(c, stiffness > NEAR_LIMIT)
    cut, factor = c[AT_END] != 0, _factor(norm)
    _accept(c, h)
    if c[REJECTED_LAST] != 0:
        factor = min(factor, 1.0)
    h_new = min(h * factor, r[H_MAX])
    r[H] = max(h_new, r[H]) if cut else h_new
    c[REJECTED_LAST], c[FIRST] = 0, 0
    return ACCEPTED


@jit
def _factor(norm: float) -> float:
    """By how much the next step may be longer than one with this error."""
    if not norm < 1e300:
        return SHRINKAGE
    return GROWTH if norm == 0.0 else min(GROWTH, max(SHRINKAGE, SAFETY * norm ** (-0.125)))


@jit
def _refuse(c: Table, h: float, norm: float) -> int:
    count_rejection(c, REASON_ERROR)
    reals(c, REALS)[H], c[REJECTED_LAST] = h * min(_factor(norm), 0.9), 1
    return -1


@jit
def _subtract(c: Table) -> None:
    """W4 = new value minus old one."""
    step, new, y = reals(c, W4), reals(c, W3), reals(c, Y)
    for i in range(c[N]):
        step[i] = new[i] - y[i]


@jit
def rk_step(c: Table) -> int:
    """Try until a step is accepted: ACCEPTED, CONTINUE, STIFF, or why it failed."""
    n, r, y, k, new, a = c[N], reals(c, REALS), reals(c, Y), reals(c, W0), reals(c, W3), coefficients()
    if c[STIFF_SEEN] != 0:  # a caller who goes on after that does not want to hear it again
        c[STIFF_SEEN], c[STIFF_ALLOWED] = 0, 1
        return STIFF
    while True:
        if c[ATTEMPTS] >= c[MAX_ATTEMPTS]:
            return CONTINUE
        c[ATTEMPTS] += 1
        h = next_step(c)
        if too_small(c, h):
            return failure(c)
        d = reals(c, D)
        for i in range(n):
            k[i] = d[i]
        if c[REJECTED_LAST] != 0:
            look_at_terms(c)
        note_rounding(c, h)
        set_weights(c, y, TOLERANCE_PART * r[RTOL])
        for s in range(1, STAGES):
            _stage(c, s, r[T], h, y)
        _combine(c, STAGES, shift(a, B_AT), new)
        for i in range(n):
            new[i] = y[i] + h * new[i]
        rate(c, r[T] + h, new, shift(k, STAGES * n))
        if c[FIXED_STEP] != 0:
            if note_not_finite(c, shift(k, STAGES * n), 1):
                count_rejection(c, REASON_NAN)
                return failure(c)
            _move(c, h)
            _accept(c, h)
            return ACCEPTED
        if _judge(c, h) == ACCEPTED:
            return ACCEPTED
