"""Radau IIA of order 5 for F(t, y, dy/dt) = 0.

Hairer & Wanner, Solving Ordinary Differential Equations II, section IV.8: three stages, simplified Newton iteration
split into one real and one complex system, predictive step control.  Residuals are evaluated instead of right-hand
sides, so that a mass matrix, dependent storages and algebraic variables are no special cases:

    stages   F(t + c_i h, y + z_i, (A^-1 z)_i / h) = 0
    Newton   (mu / h  F_d + F_y) dw = -T^-1 F              mu: the real and one complex eigenvalue of A^-1
    error    (mu_r/h F_d + F_y) err = -F(t, y, -(e.z)/h)       equals the book's formula for F = d - f(t, y)

Dense output is the collocation polynomial, raised by one degree: its leading error has a known shape, and the rate at
the start of the step (for an algebraic variable: its value one step before) says how large it is.
"""

import numpy as np

from bglang.solve.native.control import (
    count_rejection,
    failure,
    next_step,
    note_not_finite,
    note_worst,
    too_small,
)
from bglang.solve.native.intrinsics import Reals, Table, complexes, ints, jit, reals, residual, root, shift
from bglang.solve.native.iteration import (
    evaluate_jacobian,
    factor_complex,
    factor_real,
    note_singular,
    solve_complex,
    solve_real,
)
from bglang.solve.native.layout import (
    ACCEPTED,
    ALGEBRAIC,
    AT_END,
    ATTEMPTS,
    CONTINUE,
    DOUBTS,
    ERROR_DONE,
    FIRST,
    FIXED_STEP,
    GROW,
    H_BEFORE,
    H_DONE,
    H_FACTORS,
    H_MAX,
    HAVE_POLYNOMIAL,
    ITERATIONS,
    JACOBIAN_FRESH,
    LOCAL,
    MAX_ATTEMPTS,
    METHOD_REALS,
    MORE_MEMORY,
    NEED_FACTORS,
    NEED_JACOBIAN,
    NOISE,
    ORDER,
    PREVIOUS,
    RATE,
    REALS,
    REASON_ERROR,
    REASON_NAN,
    REASON_NEWTON,
    REJECTED_LAST,
    RESIDUALS,
    RESTING,
    RTOL,
    SIZE,
    STEPS,
    T_END,
    T_OLD,
    THETA,
    W0,
    W1,
    W2,
    W3,
    W4,
    W5,
    W6,
    W7,
    W8,
    W9,
    WEIGHT,
    WOKEN,
    D,
    H,
    N,
    T,
    Y,
)
from bglang.solve.native.noise import note_noise, note_noise_ahead
from bglang.solve.native.weights import (
    NOISE_MARGIN,
    begin_sizes,
    doubt_resting,
    learn_sizes,
    mean_size,
    note_sizes,
    set_weights,
    weighted_size,
)

# --- the method's numbers ---------------------------------------------------------------------------------------------
S6 = 6**0.5
C1, C2 = (4 - S6) / 10, (4 + S6) / 10
A = np.array(
    [
        [(88 - 7 * S6) / 360, (296 - 169 * S6) / 1800, (-2 + 3 * S6) / 225],
        [(296 + 169 * S6) / 1800, (88 + 7 * S6) / 360, (-2 - 3 * S6) / 225],
        [(16 - S6) / 36, (16 + S6) / 36, 1 / 9],
    ]
)
(B11, B12, B13), (B21, B22, B23), (B31, B32, B33) = np.linalg.inv(A).tolist()
MU = 3 + 3 ** (2 / 3) - 3 ** (1 / 3)
MU_REAL, MU_IMAG = 3 + 0.5 * (3 ** (1 / 3) - 3 ** (2 / 3)), -0.5 * (3 ** (5 / 6) + 3 ** (7 / 6))


def _eigenvectors() -> np.ndarray:
    """Real form of the eigenvectors of A^-1, scaled so that the last row is 1 1 0."""
    values, vectors = np.linalg.eig(np.linalg.inv(A))
    real = vectors[:, np.argmin(abs(values.imag))].real
    pair = vectors[:, np.argmin(values.imag)]
    pair = pair / pair[2]
    return np.column_stack([real / real[2], pair.real, -pair.imag])


_T = _eigenvectors()
(T11, T12, T13), (T21, T22, T23), (T31, T32, T33) = _T.tolist()
(I11, I12, I13), (I21, I22, I23), (I31, I32, I33) = np.linalg.inv(_T).tolist()
E1, E2, E3 = (-13 - 7 * S6) / 3, (-13 + 7 * S6) / 3, -1 / 3
# Shape of the leading error of the collocation polynomial: the integral of (x - C1) (x - C2) (x - 1) from 0.
M3, M2, M1, M0 = 1 / 4, -(C1 + C2 + 1) / 3, (C1 * C2 + C1 + C2) / 2, -C1 * C2
EPS = 2.0**-52
NEWTON_TOLERANCE = METHOD_REALS
PART = METHOD_REALS + 1  # of a correction is taken; 1 unless corrections swing
MOST_ITERATIONS, SAFETY, JACOBIAN_KEPT, STEP_KEPT = 7, 0.9, 1e-3, 1.2
GROWTH, SHRINKAGE, MOST_WAKINGS = 8.0, 0.2, 5
SWINGING, SHORTEST = 0.5, 0.1  # a correction goes back at least this part of the one before; how far it is shortened
# A larger correction of the dense output (in weights; its shape is at most 0.03) is a transient the step ran over.
LARGEST_CORRECTION = 200.0


@jit
def _set_tolerances(c: Table) -> None:
    """The estimate is of order 3 while the result is of order 5: the book's compensation.  Newton converges better."""
    r = reals(c, REALS)
    r[LOCAL] = 0.1 * r[RTOL] ** (2.0 / 3.0)
    r[NEWTON_TOLERANCE] = max(10 * EPS / r[LOCAL], min(0.03, root(r[LOCAL])))


# --- one step ---------------------------------------------------------------------------------------------------------


@jit
def _stage(c: Table, k: int, t: float, h: float, b1: float, b2: float, b3: float) -> None:
    n, y, z, ty, td = c[N], reals(c, Y), reals(c, W0), reals(c, W5), reals(c, W6)
    scale = 1.0 / h
    for i in range(n):
        ty[i] = y[i] + z[k * n + i]
        td[i] = (b1 * z[i] + b2 * z[n + i] + b3 * z[2 * n + i]) * scale
    residual(c, t, ty, td, shift(reals(c, W2), k * n))


@jit
def _update(c: Table) -> tuple[float, float]:
    """Solve for the Newton update: its norm, and how far it goes along the one before (-1: all the way back).

    What is at rest, or moves no more than by rounding, swings without meaning anything."""
    n, f, real, cplx, weight = c[N], reals(c, W2), reals(c, W3), complexes(c, W4), reals(c, WEIGHT)
    last, size, noise = reals(c, PREVIOUS), reals(c, SIZE), reals(c, NOISE)
    for i in range(n):
        f1, f2, f3 = f[i], f[n + i], f[2 * n + i]
        real[i] = -(I11 * f1 + I12 * f2 + I13 * f3)
        cplx[i] = -complex(I21 * f1 + I22 * f2 + I23 * f3, I31 * f1 + I32 * f2 + I33 * f3)
    solve_real(c, real)
    solve_complex(c, cplx)
    square, fourth, along, before = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        r1, r2, r3 = real[i], cplx[i].real, cplx[i].imag
        p1, p2, p3 = last[i], last[n + i], last[2 * n + i]
        last[i], last[n + i], last[2 * n + i] = r1, r2, r3
        e = (r1 * r1 + r2 * r2 + r3 * r3) / 3.0
        scale = weight[i] * weight[i]
        if size[i] > 0.0 and weight[i] > NOISE_MARGIN * noise[i]:
            along += (r1 * p1 + r2 * p2 + r3 * p3) / scale
            before += (p1 * p1 + p2 * p2 + p3 * p3) / scale
        e /= scale
        square += e
        fourth += e * e
    return mean_size(square, fourth), along / before if before > 0.0 else 0.0


@jit
def _apply(c: Table, part: float) -> None:
    n, z, w, real, cplx = c[N], reals(c, W0), reals(c, W1), reals(c, W3), complexes(c, W4)
    for i in range(n):
        w1 = w[i] + part * real[i]
        w2, w3 = w[n + i] + part * cplx[i].real, w[2 * n + i] + part * cplx[i].imag
        w[i], w[n + i], w[2 * n + i] = w1, w2, w3
        z[i] = T11 * w1 + T12 * w2 + T13 * w3
        z[n + i] = T21 * w1 + T22 * w2 + T23 * w3
        z[2 * n + i] = T31 * w1 + T32 * w2 + T33 * w3


@jit
def _newton(c: Table, h: float, tolerance: float) -> tuple[float, int]:
    """Simplified Newton iteration on all stages: (1.0, iterations) when converged, else (step factor, iterations).

    Corrections that swing around the solution (a law whose slope there is much larger than where the matrix was made,
    or infinite) are shortened so that they meet it."""
    r = reals(c, REALS)
    t, part = r[T], 1.0
    theta, ratio_before, norm_before = JACOBIAN_KEPT, 1.0, 1.0
    rate = max(r[RATE], EPS) ** 0.8
    swung = False
    r[RATE] = 1.0
    for iteration in range(MOST_ITERATIONS):
        _stage(c, 0, t + C1 * h, h, B11, B12, B13)
        _stage(c, 1, t + C2 * h, h, B21, B22, B23)
        _stage(c, 2, t + h, h, B31, B32, B33)
        c[RESIDUALS] += 3
        c[ITERATIONS] += 1
        norm, swing = _update(c)
        if not norm < 1e100:  # also true for NaN
            nan = note_not_finite(c, reals(c, W2), 3)
            if not nan:
                note_worst(c, reals(c, W3))
            count_rejection(c, REASON_NAN if nan else REASON_NEWTON)
            return 0.5, iteration
        if iteration > 0:
            ratio = norm / max(norm_before, 1e-300)
            theta = ratio if iteration == 1 else root(ratio * ratio_before)
            ratio_before = ratio
            r[THETA] = theta
            if part * norm <= tolerance and part * norm_before <= tolerance:
                # Corrections that no longer matter, whether they shrink or not: at a law with infinite slope they swing
                # around the solution for ever.
                _apply(c, part)
                r[RATE] = 1.0
                return 1.0, iteration + 1
            left = MOST_ITERATIONS - 1 - iteration
            rate = theta / (1.0 - theta) if theta < 0.99 else 100.0
            forecast = rate * norm * theta**left / tolerance
            slow = theta >= 0.99 or forecast >= 1.0
            if (slow and swing < -SWINGING) or (part < 1.0 and swing > 0.5 * SWINGING):
                part = min(max(part / (1.0 - min(swing, 0.9)), SHORTEST), 1.0)
                r[PART] = part
                swung = True
                norm_before = max(norm, EPS)
                _apply(c, part)
                continue
            if slow:
                note_worst(c, reals(c, W3))
                count_rejection(c, REASON_NEWTON)
                shorter = 0.8 * min(max(forecast, 1e-4), 20.0) ** (-1.0 / (4 + left))
                return 0.5 if theta >= 0.99 else shorter, iteration
        norm_before = max(norm, EPS)
        _apply(c, part)
        if max(rate, 1.0 - part) * norm <= tolerance:  # what shortening left is not done yet
            r[RATE], r[THETA] = rate, theta
            if not swung:
                r[PART] = 1.0
            return 1.0, iteration + 1
    note_worst(c, reals(c, W3))
    count_rejection(c, REASON_NEWTON)
    return 0.5, MOST_ITERATIONS


@jit
def _estimate(c: Table, h: float, again: bool) -> None:
    """The embedded estimate of the error; `again` filters it once more, which stiff first steps need."""
    n, y, z, ty, td, err = c[N], reals(c, Y), reals(c, W0), reals(c, W5), reals(c, W6), reals(c, W7)
    for i in range(n):
        td[i] = -(E1 * z[i] + E2 * z[n + i] + E3 * z[2 * n + i]) / h
        ty[i] = y[i] + (err[i] if again else 0.0)
    residual(c, reals(c, REALS)[T], ty, td, err)
    c[RESIDUALS] += 1
    for i in range(n):
        err[i] = -err[i]
    solve_real(c, err)
    if c[ORDER] != 0:  # multipliers: the book weights their error with powers of the step
        order = ints(c, ORDER)
        for i in range(n):
            if order[i] > 1:
                err[i] *= h if order[i] == 2 else h * h


@jit
def _start_values(c: Table, h: float) -> None:
    """Extrapolate the last polynomial to the stages of the step to be tried; not from what has been swinging."""
    n, z, w, poly = c[N], reals(c, W0), reals(c, W1), reals(c, W8)
    if c[HAVE_POLYNOMIAL] == 0 or reals(c, REALS)[PART] < 1.0:
        for i in range(3 * n):
            z[i] = 0.0
            w[i] = 0.0
        return
    ratio = h / reals(c, REALS)[H_DONE]
    for i in range(n):
        p2, p3, p4 = poly[n + i], poly[2 * n + i], poly[3 * n + i]
        s1, s2 = C1 * ratio, C2 * ratio
        z1 = s1 * (p2 + (s1 - (C2 - 1)) * (p3 + (s1 - (C1 - 1)) * p4))
        z2 = s2 * (p2 + (s2 - (C2 - 1)) * (p3 + (s2 - (C1 - 1)) * p4))
        z3 = ratio * (p2 + (ratio - (C2 - 1)) * (p3 + (ratio - (C1 - 1)) * p4))
        z[i], z[n + i], z[2 * n + i] = z1, z2, z3
        w[i] = I11 * z1 + I12 * z2 + I13 * z3
        w[n + i] = I21 * z1 + I22 * z2 + I23 * z3
        w[2 * n + i] = I31 * z1 + I32 * z2 + I33 * z3


# --- dense output -----------------------------------------------------------------------------------------------------


@jit
def _raise_degree(c: Table, h: float) -> None:
    """The fifth coefficient: how large the leading error of the collocation polynomial is, by the data before the step.

    A differential variable errs like the integral of (x - C1)(x - C2)(x - 1), and the rate at the start tells how
    much.  An algebraic one is interpolated; its value at the start of the step before gives one more divided
    difference."""
    n, poly, before, d = c[N], reals(c, W8), reals(c, W9), reals(c, D)
    algebraic, weight, r = ints(c, ALGEBRAIC), reals(c, WEIGHT), reals(c, REALS)
    s = -1.0 - r[H_BEFORE] / h
    node = s * (s + 1.0) * (s - (C1 - 1)) * (s - (C2 - 1))
    for i in range(n):
        p2, p3, p4 = poly[n + i], poly[2 * n + i], poly[3 * n + i]
        if c[HAVE_POLYNOMIAL] == 0:
            poly[4 * n + i] = 0.0
        elif algebraic[i] != 0:
            value = poly[i] + s * (p2 + (s - (C2 - 1)) * (p3 + (s - (C1 - 1)) * p4))
            q = (before[i] - value) / node
            poly[4 * n + i] = q if abs(q) < LARGEST_CORRECTION * weight[i] else 0.0
        else:
            q = p3 - C1 * p4
            slope = (p2 - C2 * q) - (q - C2 * p4)  # of the polynomial at s = -1
            q = (h * d[i] - slope) / M0
            poly[4 * n + i] = q if abs(q) < LARGEST_CORRECTION * weight[i] else 0.0


@jit
def _keep_polynomial(c: Table, h: float) -> None:
    """Newton form of the collocation polynomial of the step just accepted, around its end."""
    n, y, z, poly = c[N], reals(c, Y), reals(c, W0), reals(c, W8)
    for i in range(n):
        z1, z2, z3 = z[i], z[n + i], z[2 * n + i]
        slope = (z1 - z2) / (C1 - C2)
        p2 = (z2 - z3) / (C2 - 1)
        p3 = (slope - p2) / (C1 - 1)
        poly[i] = y[i] + z3
        poly[n + i], poly[2 * n + i] = p2, p3
        poly[3 * n + i] = p3 - (slope - z1 / C1) / C2
    _raise_degree(c, h)


@jit
def radau_dense(c: Table, t: float, y: Reals, d: Reals) -> None:
    """Value and rate at a time inside the last accepted step."""
    n, poly, algebraic, r = c[N], reals(c, W8), ints(c, ALGEBRAIC), reals(c, REALS)
    h = r[H_DONE]
    s = (t - r[T]) / h
    x = s + 1.0
    shape = x * (M0 + x * (M1 + x * (M2 + x * M3)))
    rate = (x - C1) * (x - C2) * s
    node = x * (x - C1) * (x - C2) * s
    node_rate = rate + x * ((x - C2) * s + (x - C1) * s + (x - C1) * (x - C2))
    for i in range(n):
        p4, p5 = poly[3 * n + i], poly[4 * n + i]
        q = poly[2 * n + i] + (s - (C1 - 1)) * p4
        u = poly[n + i] + (s - (C2 - 1)) * q
        v = u + s * (q + (s - (C2 - 1)) * p4)
        if algebraic[i] != 0:
            y[i] = poly[i] + s * u + p5 * node
            d[i] = (v + p5 * node_rate) / h
        else:
            y[i] = poly[i] + s * u + p5 * shape
            d[i] = (v + p5 * rate) / h


# --- steps ------------------------------------------------------------------------------------------------------------


@jit
def radau_begin(c: Table) -> None:
    """Forget the past: a new start at (t, y, d), with the step in H or, where that is 0, one that is found here."""
    r, y, d, weight = reals(c, REALS), reals(c, Y), reals(c, D), reals(c, WEIGHT)
    _set_tolerances(c)
    c[HAVE_POLYNOMIAL] = 0
    c[FIRST], c[REJECTED_LAST], c[NEED_JACOBIAN], c[NEED_FACTORS], c[JACOBIAN_FRESH] = 1, 0, 1, 1, 0
    c[WOKEN], c[DOUBTS], r[PART] = 0, 0, 1.0
    r[RATE], r[ERROR_DONE], r[THETA] = 1.0, 1e-2, JACOBIAN_KEPT
    begin_sizes(c, y)
    span = r[T_END] - r[T]
    if r[H] <= 0.0:
        set_weights(c, y, r[LOCAL])
        size, speed = 0.0, 0.0
        for i in range(c[N]):
            size, speed = max(size, abs(y[i]) / weight[i]), max(speed, abs(d[i]) / weight[i])
        r[H] = min(1e-2 * max(size, 1.0) / max(speed, 1e-100), 1e-3 * span)


@jit
def _factor(c: Table, h: float) -> int:
    """ACCEPTED when both matrices are factored for this step, GROW, or SINGULAR's reason as a negative number."""
    code = factor_real(c, MU / h)
    if code == 0:
        note_noise(c, reals(c, Y), reals(c, D))
        code = factor_complex(c, complex(MU_REAL / h, MU_IMAG / h))
    if code == MORE_MEMORY:
        return GROW
    if code != 0:
        count_rejection(c, note_singular(c, code))
        return -1
    reals(c, REALS)[H_FACTORS] = h
    c[NEED_FACTORS] = 0
    return ACCEPTED


@jit
def _refuse(c: Table, h: float) -> None:
    """Try again with step h and, unless it is new, another Jacobian."""
    reals(c, REALS)[H] = h
    c[REJECTED_LAST] = 1
    c[NEED_JACOBIAN] = 1 if c[JACOBIAN_FRESH] == 0 else 0
    c[NEED_FACTORS] = 1


@jit
def _accept(c: Table, h: float, h_new: float) -> None:
    n, r, y, d, z, before = c[N], reals(c, REALS), reals(c, Y), reals(c, D), reals(c, W0), reals(c, W9)
    _keep_polynomial(c, h)
    for i in range(n):
        before[i] = y[i]
        y[i] += z[2 * n + i]
        d[i] = (B31 * z[i] + B32 * z[n + i] + B33 * z[2 * n + i]) / h
    r[H_BEFORE], r[H_DONE], r[T_OLD] = h, h, r[T]
    r[T] = r[T_END] if c[AT_END] != 0 else r[T] + h
    c[HAVE_POLYNOMIAL], c[FIRST], c[REJECTED_LAST], c[JACOBIAN_FRESH] = 1, 0, 0, 0
    c[STEPS] += 1
    note_sizes(c, y)
    c[NEED_JACOBIAN] = 1 if r[THETA] > JACOBIAN_KEPT else 0
    if c[NEED_JACOBIAN] == 0 and 1.0 <= h_new / h <= STEP_KEPT and h == r[H_FACTORS]:
        h_new = h
    else:
        c[NEED_FACTORS] = 1
    # A step that was cut by the end says little about the step that would have been possible.
    r[H] = max(h_new, r[H]) if c[AT_END] != 0 else h_new


@jit
def _judge(c: Table, h: float, iterations: int, rtol: float) -> int:
    """Error test and step control after a converged iteration: ACCEPTED, or -1 for another try."""
    n, r = c[N], reals(c, REALS)
    _estimate(c, h, False)
    if c[RESTING] != 0:
        y, err_vector, step = reals(c, Y), reals(c, W7), shift(reals(c, W0), 2 * n)
        note_noise_ahead(c, y, step, 1.0 / h)
        if learn_sizes(c, y, step, 1.0, err_vector) and c[WOKEN] < MOST_WAKINGS:
            c[WOKEN] += 1
            return -1
        set_weights(c, y, rtol)
        doubt_resting(c, rtol, err_vector)
    err = max(weighted_size(c, reals(c, W7)), 1e-10)
    if err >= 1.0 and (c[FIRST] != 0 or c[REJECTED_LAST] != 0):
        _estimate(c, h, True)
        err = max(weighted_size(c, reals(c, W7)), 1e-10)
    most = 2 * MOST_ITERATIONS
    fac = min(SAFETY, SAFETY * (1 + most) / (iterations + most))
    shrink = max(1.0 / GROWTH, min(1.0 / SHRINKAGE, root(root(err)) / fac))
    if not err < 1.0:
        finite = err < 1e300
        if finite:
            note_worst(c, reals(c, W7))
        else:
            note_not_finite(c, reals(c, W7), 1)
        count_rejection(c, REASON_ERROR if finite else REASON_NAN)
        _refuse(c, 0.1 * h if c[FIRST] != 0 or not finite else h / shrink)
        return -1
    if c[FIRST] == 0:  # Gustafsson: remember how the last step went
        history = (r[H_DONE] / h) * root(err / root(r[ERROR_DONE])) / SAFETY
        shrink = max(shrink, max(1.0 / GROWTH, min(1.0 / SHRINKAGE, history)))
    h_new = min(h / shrink, r[H_MAX])
    if c[REJECTED_LAST] != 0:
        h_new = min(h_new, h)
    r[ERROR_DONE] = max(1e-2, err)
    _accept(c, h, h_new)
    return ACCEPTED


@jit
def radau_step(c: Table) -> int:
    """Try until a step is accepted: ACCEPTED, CONTINUE, GROW, or why it failed."""
    r = reals(c, REALS)
    rtol, tolerance = r[LOCAL], r[NEWTON_TOLERANCE]
    while True:
        if c[ATTEMPTS] >= c[MAX_ATTEMPTS]:
            return CONTINUE
        h = next_step(c)
        if too_small(c, h):
            return failure(c)
        if c[NEED_JACOBIAN] != 0:
            evaluate_jacobian(c, r[T], reals(c, Y), reals(c, D))
            c[NEED_JACOBIAN], c[NEED_FACTORS], c[JACOBIAN_FRESH] = 0, 1, 1
        if c[NEED_FACTORS] != 0 or h != r[H_FACTORS]:
            status = _factor(c, h)
            if status == GROW:
                return GROW
            if status != ACCEPTED:
                c[ATTEMPTS] += 1
                if c[FIXED_STEP] != 0 and c[JACOBIAN_FRESH] != 0:
                    return failure(c)
                _refuse(c, h if c[FIXED_STEP] != 0 else 0.5 * h)
                continue
        c[ATTEMPTS] += 1
        set_weights(c, reals(c, Y), rtol)
        _start_values(c, h)
        factor_h, iterations = _newton(c, h, tolerance)
        if factor_h != 1.0:
            r[PART] = 1.0
            if c[FIXED_STEP] != 0 and c[JACOBIAN_FRESH] != 0:
                return failure(c)
            _refuse(c, h if c[FIXED_STEP] != 0 else factor_h * h)
            continue
        if c[FIXED_STEP] != 0:
            _accept(c, h, r[H])
            return ACCEPTED
        if _judge(c, h, iterations, rtol) == ACCEPTED:
            return ACCEPTED
