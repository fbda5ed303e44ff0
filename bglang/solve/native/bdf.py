"""Backward differentiation formulas of order 1 to 5 with variable step, for F(t, y, dy/dt) = 0.

The fixed-leading-coefficient form of DASSL (Brenan, Campbell and Petzold, Numerical Solution of Initial-Value
Problems in DAEs, chapter 5): the past is kept as scaled divided differences phi, one Newton iteration solves for the
correction, the matrix F_y + cj F_d is kept as long as it converges, and order and step follow the estimated errors of
neighbouring orders.
"""

from bglang.solve.native.control import (
    count_rejection,
    failure,
    next_step,
    note_not_finite,
    note_worst,
    too_small,
)
from bglang.solve.native.intrinsics import Reals, Table, ints, jit, reals, residual, shift
from bglang.solve.native.iteration import (
    evaluate_jacobian,
    factor_real,
    note_singular,
    solve_real,
)
from bglang.solve.native.layout import (
    ACCEPTED,
    AT_END,
    ATTEMPTS,
    CONTINUE,
    DOUBTS,
    FIRST,
    FIXED_STEP,
    GROW,
    H_DONE,
    H_MAX,
    ITERATIONS,
    JACOBIAN_FRESH,
    LOCAL,
    MAX_ATTEMPTS,
    METHOD_INTS,
    METHOD_REALS,
    MORE_MEMORY,
    NEED_JACOBIAN,
    NOISE,
    ORDER,
    PREVIOUS,
    RATE,
    REALS,
    REASON_ERROR,
    REASON_NAN,
    REASON_NEWTON,
    RESIDUALS,
    RESTING,
    RTOL,
    STEPS,
    T_END,
    T_OLD,
    W0,
    W1,
    W2,
    W3,
    W5,
    W6,
    W7,
    WEIGHT,
    WOKEN,
    D,
    H,
    N,
    T,
    Y,
)
from bglang.solve.native.noise import note_noise, note_noise_ahead
from bglang.solve.native.weights import begin_sizes, doubt_resting, learn_sizes, note_sizes, set_weights, weighted_size

EPS = 2.0**-52
MOST_ORDER, MOST_ITERATIONS, MOST_WAKINGS = 5, 4, 5
NEWTON_PART = 0.02  # of the tolerance is left to the iteration
KEPT_RATIO = 0.6  # the matrix is kept while cj changes by less than this factor
SLOW = 0.9
MUCH_BETTER = 0.1  # of the error at order 2: less would not pay the return to order 1, where stiff variables lag
UNIMPORTANT = 0.01 * NEWTON_PART  # two corrections below this are enough, whether they shrink or not
SWINGING, MORE_ITERATIONS = 0.5, 2  # a correction that goes back so far is shortened, and gets more time
WORTHWHILE = 1.25  # growth of the step, when it has been the same for some time; doubling is always worthwhile
# Local errors add up over more steps the smaller they are; with this part of the tolerance (down to 1e-4, and smaller
# by the power 6/5 below) results keep about the tolerance asked.
TOLERANCE_PART, TOLERANCE_FROM, TOLERANCE_POWER = 0.1, 1e-4, 0.2

# The method's own integers and doubles.
K = METHOD_INTS  # order
K_USED = METHOD_INTS + 1
SAME = METHOD_INTS + 2  # steps taken with this step size and order
GROWING = METHOD_INTS + 3  # 1 in the first phase: order and step go up in every step
K_NEW = METHOD_INTS + 4
FAILURES = METHOD_INTS + 5
# Steps that the size has to stay after one that failed, and the order after it has changed: what stiff variables lag
# behind depends on both, and each change shows as an error that is gone again in the steps after it.
PATIENCE = METHOD_INTS + 6
WAIT = METHOD_INTS + 7
PSI = METHOD_REALS
ALPHA = METHOD_REALS + 8
BETA = METHOD_REALS + 16
SIGMA = METHOD_REALS + 24
GAMMA = METHOD_REALS + 32
CJ = METHOD_REALS + 40
CJ_MATRIX = METHOD_REALS + 41
CK = METHOD_REALS + 42
ERROR_K = METHOD_REALS + 43
ERROR_LOWER = METHOD_REALS + 44
ERROR_NEW = METHOD_REALS + 45
H_USED = METHOD_REALS + 46
CJ_LAST = METHOD_REALS + 47
# Work: W0 phi (7 n), W1 correction, W2 predicted value, W3 predicted rate, W5 value, W6 rate, W7 residual and update.


@jit
def _tolerance(c: Table) -> float:
    rtol = reals(c, REALS)[RTOL]
    return TOLERANCE_PART * rtol * float(min(1.0, rtol / TOLERANCE_FROM) ** TOLERANCE_POWER)


@jit
def bdf_begin(c: Table) -> None:
    """Order 1 at (t, y, d), with the step in H or one that is found here."""
    r, y, d, phi, n = reals(c, REALS), reals(c, Y), reals(c, D), reals(c, W0), c[N]
    r[LOCAL] = _tolerance(c)
    begin_sizes(c, y)
    set_weights(c, y, r[LOCAL])
    span = r[T_END] - r[T]
    if c[FIXED_STEP] == 0:  # the step of a high order, where there was one, is too long for the first order
        found = min(1e-3 * span, 0.5 / max(weighted_size(c, d), 1e-100))
        r[H] = min(r[H], found) if r[H] > 0.0 else found
    h = min(min(r[H], r[H_MAX]), span)
    r[H] = h
    for i in range(n):
        phi[i], phi[n + i] = y[i], h * d[i]
    for i in range(2 * n, 7 * n):
        phi[i] = 0.0
    c[K], c[K_USED], c[SAME], c[GROWING], c[FAILURES], c[PATIENCE], c[WAIT] = 1, 0, 0, 1, 0, 0, 0
    c[FIRST], c[NEED_JACOBIAN], c[JACOBIAN_FRESH], c[WOKEN], c[DOUBTS] = 1, 1, 0, 0, 0
    for j in range(8):
        r[PSI + j] = h
        r[BETA + j] = 1.0
    r[H_USED], r[RATE], r[CJ], r[CJ_LAST], r[CJ_MATRIX] = 0.0, 100.0, 1.0 / h, 1.0 / h, 0.0


@jit
def _rescale_start(c: Table, h: float) -> None:
    """Before the first step the rate is stored for a step size that may have changed since."""
    n, r, phi, d = c[N], reals(c, REALS), reals(c, W0), reals(c, D)
    for i in range(n):
        phi[n + i] = h * d[i]
    r[PSI] = h


@jit
def _set_coefficients(c: Table, h: float) -> None:
    n, r, phi, k = c[N], reals(c, REALS), reals(c, W0), c[K]
    if h != r[H_USED] or k != c[K_USED]:
        c[SAME] = 0
    c[SAME] = min(c[SAME] + 1, c[K_USED] + 2)
    if k + 1 >= c[SAME]:
        r[BETA], r[ALPHA], r[SIGMA], r[GAMMA] = 1.0, 1.0, 1.0, 0.0
        now = h
        for i in range(1, k + 1):
            before = r[PSI + i - 1]
            r[PSI + i - 1] = now
            r[BETA + i] = r[BETA + i - 1] * now / before
            now = before + h
            r[ALPHA + i] = h / now
            r[SIGMA + i] = i * r[SIGMA + i - 1] * r[ALPHA + i]
            r[GAMMA + i] = r[GAMMA + i - 1] + r[ALPHA + i - 1] / h
        r[PSI + k] = now
    leading, alpha = 0.0, 0.0
    for i in range(k):
        leading -= 1.0 / (i + 1)
        alpha -= r[ALPHA + i]
    r[CJ_LAST], r[CJ] = r[CJ], -leading / h
    r[CK] = max(abs(r[ALPHA + k] + leading - alpha), r[ALPHA + k])
    for j in range(c[SAME], k + 1):
        factor = r[BETA + j]
        for i in range(j * n, (j + 1) * n):
            phi[i] *= factor


@jit
def _restore(c: Table, h: float) -> None:
    """Undo `_set_coefficients` after a step that failed."""
    n, r, phi, k = c[N], reals(c, REALS), reals(c, W0), c[K]
    for j in range(1, k + 1):
        r[PSI + j - 1] = r[PSI + j] - h
    for j in range(c[SAME], k + 1):
        factor = 1.0 / r[BETA + j]
        for i in range(j * n, (j + 1) * n):
            phi[i] *= factor


@jit
def _predict(c: Table) -> None:
    n, r, phi, k = c[N], reals(c, REALS), reals(c, W0), c[K]
    y, d, correction = reals(c, W2), reals(c, W3), reals(c, W1)
    for i in range(n):
        y[i], d[i], correction[i] = phi[i], 0.0, 0.0
    for j in range(1, k + 1):
        gamma = r[GAMMA + j]
        part: Reals = shift(phi, j * n)
        for i in range(n):
            y[i] += part[i]
            d[i] += gamma * part[i]


@jit
def _swing(c: Table) -> float:
    """How far a correction of Newton's goes along the one before; -1: all the way back."""
    f, last, weight = reals(c, W7), reals(c, PREVIOUS), reals(c, WEIGHT)
    along, before = 0.0, 0.0
    for i in range(c[N]):
        along += (f[i] / weight[i]) * (last[i] / weight[i])
        before += (last[i] / weight[i]) * (last[i] / weight[i])
    return along / before if before > 0.0 else 0.0


@jit
def _only_noise(c: Table, f: Reals) -> bool:
    """Whether a correction is what rounding makes of each variable, so that none after it can be smaller: rates of what
    a friction holds are differences of constants, divided by the step."""
    noise, weight = reals(c, NOISE), reals(c, WEIGHT)
    for i in range(c[N]):  # noqa: SIM110  (compiled code has no generators)
        if not abs(f[i]) <= max(noise[i], UNIMPORTANT * weight[i]):
            return False
    return True


@jit
def _newton(c: Table, t: float) -> int:
    """Correct the prediction: 0 when converged, else the reason."""
    n, r = c[N], reals(c, REALS)
    y0, d0, correction = reals(c, W2), reals(c, W3), reals(c, W1)
    y, d, f, last = reals(c, W5), reals(c, W6), reals(c, W7), reals(c, PREVIOUS)
    cj = r[CJ]
    scale = 2.0 / (1.0 + cj / r[CJ_MATRIX])  # for a matrix that was made with another cj
    first, before, since, part = 1.0, 1e300, 0, 1.0
    for iteration in range(MOST_ITERATIONS + MORE_ITERATIONS):
        if iteration >= MOST_ITERATIONS and part == 1.0:
            break
        for i in range(n):
            y[i] = y0[i] + correction[i]
            d[i] = d0[i] + cj * correction[i]
        residual(c, t, y, d, f)
        c[RESIDUALS] += 1
        c[ITERATIONS] += 1
        solve_real(c, f)
        for i in range(n):
            f[i] *= -scale
            correction[i] += part * f[i]
        norm = weighted_size(c, f)
        if not norm < 1e100:  # also NaN
            residual(c, t, y, d, f)
            if note_not_finite(c, f, 1):
                return REASON_NAN
            break
        if iteration == 0:
            first = norm
            if norm <= 1e-4 * NEWTON_PART:
                return 0
        elif norm <= UNIMPORTANT and before <= UNIMPORTANT:
            return 0
        else:
            swing = _swing(c)
            if part == 1.0 and swing < -SWINGING:  # shorter corrections meet what these swing around
                part = 1.0 / (1.0 - swing)
                for i in range(n):
                    correction[i] -= (1.0 - part) * f[i]
                first, since = norm, iteration
                continue
            rate = (norm / first) ** (1.0 / (iteration - since))
            if not rate <= SLOW:
                if _only_noise(c, f):
                    return 0
                break
            r[RATE] = rate / (1.0 - rate)
        before = norm
        for i in range(n):
            last[i] = f[i]
        if r[RATE] * norm <= NEWTON_PART:
            return 0
    note_worst(c, f)
    return REASON_NEWTON


@jit
def _prepare_matrix(c: Table, t: float) -> int:
    """A matrix for this cj, new or kept: ACCEPTED, GROW, or the negative reason why there is none."""
    r = reals(c, REALS)
    ratio = r[CJ] / r[CJ_MATRIX] if r[CJ_MATRIX] > 0.0 else 0.0
    if c[NEED_JACOBIAN] == 0 and KEPT_RATIO <= ratio <= 1.0 / KEPT_RATIO:
        if r[CJ] != r[CJ_LAST]:
            r[RATE] = 100.0
        return ACCEPTED
    if c[JACOBIAN_FRESH] == 0:
        evaluate_jacobian(c, t, reals(c, W2), reals(c, W3))
        c[JACOBIAN_FRESH] = 1
    code = factor_real(c, r[CJ])
    if code == MORE_MEMORY:
        return GROW
    if code != 0:
        r[CJ_MATRIX] = 0.0
        return -note_singular(c, code)
    note_noise(c, reals(c, Y), reals(c, D))
    r[CJ_MATRIX], r[RATE] = r[CJ], 20.0
    c[NEED_JACOBIAN] = 0
    return ACCEPTED


@jit
def _weigh_orders(c: Table, h: float) -> None:
    """Multipliers of constraints: their error counts with powers of the step."""
    if c[ORDER] == 0:
        return
    order, weight = ints(c, ORDER), reals(c, WEIGHT)
    for i in range(c[N]):
        if order[i] > 1:
            weight[i] /= h if order[i] == 2 else h * h


@jit
def _estimate(c: Table) -> bool:
    """Errors at this order and below it, and the order that they favour; whether the step is accurate enough."""
    n, r, phi, k = c[N], reals(c, REALS), reals(c, W0), c[K]
    correction, v = reals(c, W1), reals(c, W7)
    norm = weighted_size(c, correction)
    error = r[SIGMA + k] * norm
    term = (k + 1) * error
    c[K_NEW], r[ERROR_K], r[ERROR_NEW], r[ERROR_LOWER] = k, error, error, 0.0
    if k > 1:
        for i in range(n):
            v[i] = phi[k * n + i] + correction[i]
        lower = r[SIGMA + k - 1] * weighted_size(c, v)
        r[ERROR_LOWER] = lower
        if k > 2:
            for i in range(n):
                v[i] += phi[(k - 1) * n + i]
            lowest = r[SIGMA + k - 2] * weighted_size(c, v)
            if max(k * lower, (k - 1) * lowest) <= term:
                c[K_NEW], r[ERROR_NEW] = k - 1, lower
        elif k * lower <= MUCH_BETTER * term:
            c[K_NEW], r[ERROR_NEW] = k - 1, lower
    return r[CK] * norm <= 1.0


@jit
def _choose_next(c: Table, h: float) -> float:
    """Order and step after an accepted step."""
    n, r, phi, k = c[N], reals(c, REALS), reals(c, W0), c[K]
    changed = k - c[K_USED]
    c[K_USED], r[H_USED] = k, h
    if c[K_NEW] == k - 1 or k == MOST_ORDER:
        c[GROWING] = 0
    if c[GROWING] != 0:
        if c[FIRST] == 0:
            c[K] = k + 1
            return min(2.0 * h, r[H_MAX])
        return h
    error = r[ERROR_K]
    if c[WAIT] > 0:
        c[WAIT] -= 1
    elif c[K_NEW] == k - 1:
        c[K], error = k - 1, r[ERROR_LOWER]
    elif k < MOST_ORDER and k + 1 < c[SAME] and changed != 1:
        v, correction = reals(c, W7), reals(c, W1)
        for i in range(n):
            v[i] = correction[i] - phi[(k + 1) * n + i]
        higher = weighted_size(c, v) / (k + 2)
        term, term_higher, term_lower = (k + 1) * r[ERROR_K], (k + 2) * higher, k * r[ERROR_LOWER]
        if k == 1:
            if term_higher < 0.5 * term:
                c[K], error = k + 1, higher
        elif term_lower <= min(term, term_higher):
            c[K], error = k - 1, r[ERROR_LOWER]
        elif term_higher < term:
            c[K], error = k + 1, higher
    if c[K] != k:
        c[WAIT] = c[K] + 1
    factor: float = (2.0 * error + 1e-4) ** (-1.0 / (c[K] + 1))
    if c[PATIENCE] > 0 and factor > 1.0:
        c[PATIENCE] -= 1
        return h
    if factor >= 2.0 or (factor >= WORTHWHILE and c[SAME] > k):
        return min(min(factor, 2.0) * h, r[H_MAX])
    if factor <= 1.0:
        return h * max(0.5, min(0.9, factor))
    return h


@jit
def _accept(c: Table, h: float) -> None:
    n, r, phi, correction = c[N], reals(c, REALS), reals(c, W0), reals(c, W1)
    y, d, d0 = reals(c, Y), reals(c, D), reals(c, W3)
    h_new = _choose_next(c, h)
    if c[FIXED_STEP] != 0:
        h_new = r[H]
    k = c[K_USED]
    cj = r[CJ]
    if k < MOST_ORDER:
        extra: Reals = shift(phi, (k + 1) * n)
        for i in range(n):
            extra[i] = correction[i]
    above: Reals = correction
    for j in range(k, -1, -1):
        part: Reals = shift(phi, j * n)
        for i in range(n):
            part[i] += above[i]
        above = part
    for i in range(n):
        y[i] = phi[i]
        d[i] = d0[i] + cj * correction[i]
    r[T_OLD], r[H_DONE] = r[T], h
    r[T] = r[T_END] if c[AT_END] != 0 else r[T] + h
    r[H] = max(h_new, r[H]) if c[AT_END] != 0 else h_new
    c[FIRST], c[JACOBIAN_FRESH], c[FAILURES] = 0, 0, 0
    c[STEPS] += 1
    note_sizes(c, y)


@jit
def bdf_dense(c: Table, t: float, y: Reals, d: Reals) -> None:
    """Value and rate inside the last accepted step, from the divided differences."""
    n, r, phi, k = c[N], reals(c, REALS), reals(c, W0), c[K_USED]
    x = t - r[T]
    value, slope, gamma = 1.0, 0.0, x / r[PSI]
    for i in range(n):
        y[i], d[i] = phi[i], 0.0
    for j in range(1, k + 1):
        slope = slope * gamma + value / r[PSI + j - 1]
        value *= gamma
        gamma = (x + r[PSI + j - 1]) / r[PSI + j]
        part: Reals = shift(phi, j * n)
        for i in range(n):
            y[i] += value * part[i]
            d[i] += slope * part[i]


@jit
def _refuse_error(c: Table, h: float) -> None:
    """A smaller step after an error that was too large; the third time in a row back to order 1."""
    r = reals(c, REALS)
    note_worst(c, reals(c, W1))
    count_rejection(c, REASON_ERROR)
    c[GROWING] = 0
    c[FAILURES] += 1
    # A step that fails each time it grows would never leave room for another order, which needs equal steps.
    c[PATIENCE], c[WAIT] = c[K] + 2, 0
    factor = 0.25
    if c[FAILURES] == 1:
        c[K] = c[K_NEW]
        factor = max(0.25, min(0.9, 0.9 * (2.0 * r[ERROR_NEW] + 1e-4) ** (-1.0 / (c[K] + 1))))
    elif c[FAILURES] == 2:
        c[K] = c[K_NEW]
    else:
        c[K] = 1
    r[H] = factor * h


@jit
def _try(c: Table, h: float) -> int:
    """One attempt: ACCEPTED, GROW, or -1 when another one shall follow."""
    r, t = reals(c, REALS), reals(c, REALS)[T] + h
    if c[FIRST] != 0:
        _rescale_start(c, h)
    _set_coefficients(c, h)
    _predict(c)
    set_weights(c, reals(c, Y), r[LOCAL])
    _weigh_orders(c, h)
    status = _prepare_matrix(c, t)
    reason = -status if status < 0 else 0
    if status == ACCEPTED:
        reason = _newton(c, t)
    if status == GROW or reason != 0:
        _restore(c, h)
        if status == GROW:
            return GROW
        stale = c[JACOBIAN_FRESH] == 0
        c[NEED_JACOBIAN] = 1
        count_rejection(c, reason)
        if not stale:
            c[GROWING] = 0
            c[JACOBIAN_FRESH] = 0
            r[H] = 0.25 * h
        return -1
    if c[RESTING] != 0:
        if _learn(c) and c[WOKEN] < MOST_WAKINGS:
            c[WOKEN] += 1
            _restore(c, h)
            return -1
        set_weights(c, reals(c, Y), r[LOCAL])
        doubt_resting(c, r[LOCAL], reals(c, W7))
        _weigh_orders(c, h)
    if not _estimate(c) and c[FIXED_STEP] == 0:
        _restore(c, h)
        _refuse_error(c, h)
        return -1
    _accept(c, h)
    return ACCEPTED


@jit
def _learn(c: Table) -> bool:
    """Let resting variables show their size; the estimated error is left in W7."""
    n, err, correction, new, y = c[N], reals(c, W7), reals(c, W1), reals(c, W2), reals(c, Y)
    factor = reals(c, REALS)[SIGMA + c[K]]
    step = reals(c, W5)
    for i in range(n):
        err[i] = factor * correction[i]
        step[i] = new[i] + correction[i] - y[i]
    note_noise_ahead(c, y, step, 1.0 / reals(c, REALS)[H])
    return learn_sizes(c, y, step, 1.0, err)


@jit
def bdf_step(c: Table) -> int:
    """Try until a step is accepted: ACCEPTED, CONTINUE, GROW, or why it failed."""
    while True:
        if c[ATTEMPTS] >= c[MAX_ATTEMPTS]:
            return CONTINUE
        c[ATTEMPTS] += 1
        h = next_step(c)
        if too_small(c, h):
            return failure(c)
        h_wanted = reals(c, REALS)[H]
        status = _try(c, h)
        if status in (ACCEPTED, GROW):
            return status
        if c[FIXED_STEP] != 0 and reals(c, REALS)[H] != h_wanted:
            return failure(c)
