"""Adams methods of order 1 to 12 with variable step, as predictor and corrector (PECE) with local extrapolation.

Shampine & Gordon, Computer Solution of Ordinary Differential Equations (1975): the past is kept as modified divided
differences of the rate.  Two evaluations a step, so this is the method for smooth models whose rates are expensive.
The rows must be dy/dt - f(t, y), so that f is the negative residual at dy/dt = 0.
"""

from bglang.solve.native.control import count_rejection, failure, next_step, note_not_finite, note_worst, too_small
from bglang.solve.native.explicit import first_step, rate
from bglang.solve.native.intrinsics import Reals, Table, jit, reals, shift
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
    LOCAL,
    MAX_ATTEMPTS,
    METHOD_INTS,
    METHOD_REALS,
    REALS,
    REASON_ERROR,
    REASON_NAN,
    RESTING,
    RTOL,
    STEPS,
    STIFF,
    STIFF_ALLOWED,
    STIFF_SEEN,
    T_END,
    T_OLD,
    W0,
    W1,
    W2,
    W5,
    W7,
    WOKEN,
    D,
    H,
    N,
    T,
    Y,
)
from bglang.solve.native.noise import look_at_terms, note_rounding
from bglang.solve.native.weights import begin_sizes, doubt_resting, learn_sizes, note_sizes, set_weights, weighted_size

MOST_ORDER, MOST_WAKINGS = 12, 5
TOLERANCE_PART = 0.2  # of the tolerance for a local error, so that results keep about the tolerance asked
STIFF_STEPS = 50  # so many steps at low order, short for no reason of accuracy, mean that the model is stiff
K = METHOD_INTS  # order
K_USED = METHOD_INTS + 1
SAME = METHOD_INTS + 2  # steps taken with this step size
GROWING = METHOD_INTS + 3
K_NEW = METHOD_INTS + 4
FAILURES = METHOD_INTS + 5
LOW = METHOD_INTS + 6
# Vectors of coefficients, counted from 1 as in the book; room for 16 each.
PSI = METHOD_REALS
ALPHA = METHOD_REALS + 14
BETA = METHOD_REALS + 28
SIGMA = METHOD_REALS + 42
G = METHOD_REALS + 56
V = METHOD_REALS + 70
ERROR_K = METHOD_REALS + 86
ERROR_LOWER = METHOD_REALS + 87
H_USED = METHOD_REALS + 88
SCRATCH = METHOD_REALS + 89
# Work: W0 differences phi(1..14), W1 predicted value, W2 rate there, W5 and W7 scratch.


@jit
def _gamma_star(k: int) -> float:
    """Error constants of the Adams-Moulton formulas (their absolute values)."""
    if k <= 4:
        return 0.5 if k == 1 else 1 / 12 if k == 2 else 1 / 24 if k == 3 else 19 / 720
    if k <= 8:
        return 3 / 160 if k == 5 else 863 / 60480 if k == 6 else 275 / 24192 if k == 7 else 0.00936
    if k <= 10:
        return 0.00789 if k == 9 else 0.00679
    return 0.00592 if k == 11 else 0.00524 if k == 12 else 0.00468


@jit
def _phi(c: Table, j: int) -> Reals:
    vector: Reals = shift(reals(c, W0), (j - 1) * c[N])
    return vector


@jit
def adams_begin(c: Table) -> None:
    """Order 1 at (t, y)."""
    r, y, d, n = reals(c, REALS), reals(c, Y), reals(c, D), c[N]
    c[FIRST], c[WOKEN], c[DOUBTS], c[STIFF_SEEN] = 1, 0, 0, 0
    r[LOCAL] = TOLERANCE_PART * r[RTOL]
    begin_sizes(c, y)
    rate(c, r[T], y, d)
    look_at_terms(c)
    before = r[H]
    if c[FIXED_STEP] == 0:
        r[H] = 0.0  # the step of a high order is too long for the first order
    first_step(c, TOLERANCE_PART * r[RTOL])
    if before > 0.0:
        r[H] = min(r[H], before)
    one, two = _phi(c, 1), _phi(c, 2)
    for i in range(n):
        one[i], two[i] = d[i], 0.0
    c[K], c[K_USED], c[SAME], c[GROWING], c[FAILURES], c[LOW] = 1, 0, 0, 1, 0, 0
    r[H_USED] = 0.0
    r[G + 1], r[G + 2], r[SIGMA + 1] = 1.0, 0.5, 1.0


@jit
def _set_integrals(c: Table) -> None:
    """g(j): integrals of the basis polynomials over the step."""
    r, k, same = reals(c, REALS), c[K], c[SAME]
    if same <= 1:
        for q in range(1, k + 1):
            r[V + q] = 1.0 / (q * (q + 1))
            r[SCRATCH + q] = r[V + q]
    else:
        if k > c[K_USED]:
            r[V + k] = 1.0 / (k * (k + 1))
            for j in range(1, same - 1):
                r[V + k - j] -= r[ALPHA + j + 1] * r[V + k - j + 1]
        for q in range(1, k + 2 - same):
            r[V + q] -= r[ALPHA + same] * r[V + q + 1]
            r[SCRATCH + q] = r[V + q]
        r[G + same + 1] = r[SCRATCH + 1]
    for i in range(same + 2, k + 2):
        for q in range(1, k + 3 - i):
            r[SCRATCH + q] -= r[ALPHA + i - 1] * r[SCRATCH + q + 1]
        r[G + i] = r[SCRATCH + 1]


@jit
def _set_coefficients(c: Table, h: float) -> None:
    r, k = reals(c, REALS), c[K]
    if h != r[H_USED]:
        c[SAME] = 0
    if c[SAME] <= c[K_USED]:
        c[SAME] += 1
    same = c[SAME]
    if k < same:
        return
    r[BETA + same], r[ALPHA + same], r[SIGMA + same + 1] = 1.0, 1.0 / same, 1.0
    now = h * same
    for i in range(same + 1, k + 1):
        before = r[PSI + i - 1]
        r[PSI + i - 1] = now
        r[BETA + i] = r[BETA + i - 1] * now / before
        now = before + h
        r[ALPHA + i] = h / now
        r[SIGMA + i + 1] = i * r[ALPHA + i] * r[SIGMA + i]
    r[PSI + k] = now
    _set_integrals(c)


@jit
def _predict(c: Table, h: float) -> None:
    """The differences move to the new time; predicted value and the rate there."""
    n, r, k = c[N], reals(c, REALS), c[K]
    y, p = reals(c, Y), reals(c, W1)
    for j in range(c[SAME] + 1, k + 1):
        part, factor = _phi(c, j), r[BETA + j]
        for i in range(n):
            part[i] *= factor
    last, behind = _phi(c, k + 1), _phi(c, k + 2)
    for i in range(n):
        behind[i], last[i], p[i] = last[i], 0.0, 0.0
    for j in range(k, 0, -1):
        part, following, g = _phi(c, j), _phi(c, j + 1), r[G + j]
        for i in range(n):
            p[i] += g * part[i]
            part[i] += following[i]
    for i in range(n):
        p[i] = y[i] + h * p[i]
    rate(c, r[T] + h, p, reals(c, W2))


@jit
def _estimate(c: Table, h: float) -> float:
    """The error of the step (in W7 for each variable), those of this order and the one below, and the order they
    favour."""
    n, r, k = c[N], reals(c, REALS), c[K]
    f, one, err, v = reals(c, W2), _phi(c, 1), reals(c, W7), reals(c, W5)
    for i in range(n):
        err[i] = f[i] - one[i]
    norm = h * weighted_size(c, err)
    error = norm * r[SIGMA + k + 1] * _gamma_star(k)
    c[K_NEW], r[ERROR_K], r[ERROR_LOWER] = k, error, 0.0
    if k > 1:
        own = _phi(c, k)
        for i in range(n):
            v[i] = own[i] + err[i]
        lower = h * r[SIGMA + k] * _gamma_star(k - 1) * weighted_size(c, v)
        r[ERROR_LOWER] = lower
        if k > 2:
            below = _phi(c, k - 1)
            for i in range(n):
                v[i] = below[i] + err[i]
            lowest = h * r[SIGMA + k - 1] * _gamma_star(k - 2) * weighted_size(c, v)
            if max(lower, lowest) <= error:
                c[K_NEW] = k - 1
        elif lower <= 0.5 * error:
            c[K_NEW] = k - 1
    part = abs(r[G + k] - r[G + k + 1])
    for i in range(n):
        err[i] *= h * part
    return norm * part


@jit
def _restore(c: Table, h: float) -> None:
    """Undo `_set_coefficients` and `_predict` after a step that failed."""
    n, r, k = c[N], reals(c, REALS), c[K]
    for j in range(1, k + 1):
        part, following = _phi(c, j), _phi(c, j + 1)
        factor = 1.0 / r[BETA + j] if j > c[SAME] else 1.0
        for i in range(n):
            part[i] = factor * (part[i] - following[i])
    last, behind = _phi(c, k + 1), _phi(c, k + 2)
    for i in range(n):
        last[i] = behind[i]
    for j in range(2, k + 1):
        r[PSI + j - 1] = r[PSI + j] - h


@jit
def _choose_next(c: Table, h: float) -> float:
    """Order and step after an accepted step."""
    r, k = reals(c, REALS), c[K]
    error = r[ERROR_K]
    if c[K_NEW] == k - 1 or k == MOST_ORDER:
        c[GROWING] = 0
    if c[GROWING] != 0:
        c[K] = k + 1
        return min(2.0 * h, r[H_MAX])
    if c[K_NEW] == k - 1:
        c[K], error = k - 1, r[ERROR_LOWER]
    elif k < MOST_ORDER and k + 1 <= c[SAME]:
        higher = h * _gamma_star(k + 1) * weighted_size(c, _phi(c, k + 2))
        if k > 1 and r[ERROR_LOWER] <= min(error, higher):
            c[K], error = k - 1, r[ERROR_LOWER]
        elif higher < (error if k > 1 else 0.5 * error):
            c[K], error = k + 1, higher
    if error * 2.0 ** (c[K] + 1) <= 0.5:
        return min(2.0 * h, r[H_MAX])
    if error > 0.5:
        return h * float(max(0.5, min(0.9, (0.5 / error) ** (1.0 / (c[K] + 1)))))
    return h


@jit
def _accept(c: Table, h: float) -> None:
    """Correct, evaluate, update the differences, choose what follows."""
    n, r, k = c[N], reals(c, REALS), c[K]
    y, d, p, f, one = reals(c, Y), reals(c, D), reals(c, W1), reals(c, W2), _phi(c, 1)
    factor = h * r[G + k + 1]
    for i in range(n):
        y[i] = p[i] + factor * (f[i] - one[i])
    r[T_OLD], r[H_DONE] = r[T], h
    r[T] = r[T_END] if c[AT_END] != 0 else r[T] + h
    rate(c, r[T], y, d)
    last, behind = _phi(c, k + 1), _phi(c, k + 2)
    for i in range(n):
        last[i] = d[i] - one[i]
        behind[i] = last[i] - behind[i]
    for j in range(1, k + 1):
        part = _phi(c, j)
        for i in range(n):
            part[i] += last[i]
    c[K_USED], r[H_USED] = k, h
    h_new = _choose_next(c, h)
    if c[FIXED_STEP] == 0:
        r[H] = max(h_new, r[H]) if c[AT_END] != 0 else h_new
    c[FIRST], c[FAILURES] = 0, 0
    c[STEPS] += 1
    note_sizes(c, y)
    c[LOW] = c[LOW] + 1 if k <= 3 and r[RTOL] < 1e-3 else 0
    if c[LOW] >= STIFF_STEPS and c[STIFF_ALLOWED] == 0:
        c[STIFF_SEEN], c[LOW] = 1, 0


@jit
def adams_dense(c: Table, t: float, y: Reals, d: Reals) -> None:
    """Value and rate inside the last accepted step."""
    n, r, k = c[N], reals(c, REALS), c[K_USED] + 1
    here, x = reals(c, Y), t - r[T]
    for i in range(n):
        y[i], d[i] = 0.0, 0.0
    for q in range(1, k + 1):
        r[SCRATCH + q] = 1.0 / q
    term, rho = 0.0, 1.0
    for j in range(1, k + 1):
        if j > 1:
            psi = r[PSI + j - 1]
            gamma, eta = (x + term) / psi, x / psi
            for q in range(1, k + 2 - j):
                r[SCRATCH + q] = gamma * r[SCRATCH + q] - eta * r[SCRATCH + q + 1]
            rho *= gamma
            term = psi
        part, g = _phi(c, j), r[SCRATCH + 1]
        for i in range(n):
            y[i] += g * part[i]
            d[i] += rho * part[i]
    for i in range(n):
        y[i] = here[i] + x * y[i]


@jit
def _refuse(c: Table, h: float, error: float) -> None:
    """A smaller step; the third time in a row at order 1."""
    r = reals(c, REALS)
    finite = error < 1e300
    if finite:
        note_worst(c, reals(c, W7))
    else:
        note_not_finite(c, reals(c, W2), 1)
    count_rejection(c, REASON_ERROR if finite else REASON_NAN)
    c[GROWING] = 0
    c[FAILURES] += 1
    factor = 0.5
    if c[FAILURES] > 3 and r[ERROR_K] > 2.0:
        factor = (0.5 / r[ERROR_K]) ** 0.5
    c[K] = 1 if c[FAILURES] >= 3 else c[K_NEW]
    r[H] = h * (max(factor, 1e-3) if finite else 0.1)


@jit
def _learn(c: Table, h: float) -> bool:
    """Let resting variables show their size.  A first step of order 1 errs by what it moves: that much is allowed."""
    y, p, f, one, step, err = reals(c, Y), reals(c, W1), reals(c, W2), _phi(c, 1), reals(c, W5), reals(c, W7)
    factor = h * reals(c, REALS)[G + c[K] + 1]
    for i in range(c[N]):
        step[i] = p[i] - y[i] + factor * (f[i] - one[i])
        err[i] *= 0.4
    return learn_sizes(c, y, step, 1.0, err)


@jit
def _try(c: Table, h: float) -> int:
    """One attempt: ACCEPTED, or -1 when another one shall follow."""
    r, rtol = reals(c, REALS), TOLERANCE_PART * reals(c, REALS)[RTOL]
    _set_coefficients(c, h)
    _predict(c, h)
    if c[FAILURES] != 0:
        look_at_terms(c)
    note_rounding(c, h)
    set_weights(c, reals(c, Y), rtol)
    error = _estimate(c, h)
    if c[RESTING] != 0:
        y = reals(c, Y)
        if _learn(c, h) and c[WOKEN] < MOST_WAKINGS:
            c[WOKEN] += 1
            _restore(c, h)
            return -1
        set_weights(c, y, rtol)
        _estimate(c, h)
        doubt_resting(c, rtol, reals(c, W7))
        error = _estimate(c, h)
    if not error <= 1.0 and (c[FIXED_STEP] == 0 or not error < 1e300):
        _restore(c, h)
        _refuse(c, h, error)
        return -1
    _accept(c, h)
    return ACCEPTED if r[T] == r[T] else -1


@jit
def adams_step(c: Table) -> int:
    """Try until a step is accepted: ACCEPTED, CONTINUE, STIFF, or why it failed."""
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
        h_wanted = reals(c, REALS)[H]
        if _try(c, h) == ACCEPTED:
            return ACCEPTED
        if c[FIXED_STEP] != 0 and reals(c, REALS)[H] != h_wanted:
            return failure(c)
