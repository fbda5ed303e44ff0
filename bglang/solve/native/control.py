"""What the one-step loop of every method shares: how long the next step is, and why a step was refused."""

from bglang.solve.native.intrinsics import Reals, Table, jit, reals
from bglang.solve.native.layout import (
    AT_END,
    FIXED_STEP,
    H_MAX,
    LAST_REASON,
    NEWTON_FAILED,
    NOT_FINITE,
    REALS,
    REASON_ERROR,
    REASON_NAN,
    REASON_NEWTON,
    REASON_SINGULAR,
    REJECTED_ERROR,
    REJECTED_NAN,
    REJECTED_NEWTON,
    REJECTED_SINGULAR,
    SINGULAR,
    STEP_TOO_SMALL,
    T_END,
    WEIGHT,
    WORST,
    WORST_ROW,
    WORST_VARIABLE,
    H,
    N,
    T,
)

EPS = 2.0**-52


@jit
def next_step(c: Table) -> float:
    """The step to try: never longer than allowed, and exactly up to the end where that is near."""
    r = reals(c, REALS)
    left = r[T_END] - r[T]
    h = min(r[H], r[H_MAX])
    slack = 1e-9 if c[FIXED_STEP] != 0 else 1e-4
    c[AT_END] = 1 if h * (1.0 + slack) >= left else 0
    return left if c[AT_END] != 0 else h


@jit
def too_small(c: Table, h: float) -> bool:
    r = reals(c, REALS)
    return h < 16 * EPS * max(abs(r[T]), 1e-290) and c[AT_END] == 0


@jit
def failure(c: Table) -> int:
    """The status that says why no step was possible."""
    reason = c[LAST_REASON]
    if reason == REASON_NEWTON:
        return NEWTON_FAILED
    if reason == REASON_NAN:
        return NOT_FINITE
    if reason == REASON_SINGULAR:
        return SINGULAR
    return STEP_TOO_SMALL


@jit
def count_rejection(c: Table, reason: int) -> None:
    c[LAST_REASON] = reason
    if reason == REASON_ERROR:
        c[REJECTED_ERROR] += 1
    elif reason == REASON_NEWTON:
        c[REJECTED_NEWTON] += 1
    elif reason == REASON_NAN:
        c[REJECTED_NAN] += 1
    else:
        c[REJECTED_SINGULAR] += 1


@jit
def note_worst(c: Table, values: Reals) -> None:
    """Which variable has the largest weighted entry in values."""
    weight, worst = reals(c, WEIGHT), -1.0
    for i in range(c[N]):
        size = abs(values[i]) / weight[i]
        if not size <= worst:
            worst = size
            c[WORST_VARIABLE] = i
            if not size < 1e300:
                break
    reals(c, REALS)[WORST] = worst
    c[WORST_ROW] = -1


@jit
def note_not_finite(c: Table, f: Reals, copies: int) -> bool:
    """True, with the row noted, if one of the residuals f[0:copies*n] is not a number."""
    n = c[N]
    for k in range(copies * n):
        if not abs(f[k]) < 1e300:
            c[WORST_ROW] = k % n
            c[WORST_VARIABLE] = -1
            return True
    return False
