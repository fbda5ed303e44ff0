"""The loop around a method: steps, roots, rows of output.  Everything it needs to go on later is in the table, so it
can return to Python at any time: when a buffer is full, when it has tried enough steps, when memory must grow."""

from collections.abc import Callable
from typing import Any

from bglang.solve.native.intrinsics import Reals, Table, jit, reals, shift
from bglang.solve.native.layout import (
    ACCEPTED,
    ATTEMPTS,
    BUFFER_FULL,
    CONTINUE,
    D_AT,
    DONE,
    EVERY_STEP,
    NEXT,
    NTOUT,
    OUT_CAPACITY,
    OUT_COUNT,
    OUT_D,
    OUT_T,
    OUT_Y,
    PHASE,
    PHASE_EMIT,
    PHASE_EMIT_ROOT,
    PHASE_FINISH,
    PHASE_FRESH,
    PHASE_SCAN,
    PHASE_STEP,
    REALS,
    ROOT,
    SCAN_FROM,
    STIFF,
    T_AT,
    T_END,
    T_OLD,
    TOUT,
    UNTIL,
    W5,
    W6,
    WATCHED,
    Y_AT,
    D,
    N,
    T,
    Y,
)
from bglang.solve.native.roots import begin_roots, make_scan

EPS = 2.0**-52


@jit
def _copy(n: int, a: Reals, b: Reals) -> None:
    for i in range(n):
        b[i] = a[i]


@jit
def _row(c: Table, t: float, y: Reals, d: Reals) -> None:
    n, k = c[N], c[OUT_COUNT]
    reals(c, OUT_T)[k] = t
    _copy(n, y, shift(reals(c, OUT_Y), k * n))
    if c[OUT_D] != 0:
        _copy(n, d, shift(reals(c, OUT_D), k * n))
    c[OUT_COUNT] += 1


@jit
def _emit_here(c: Table) -> bool:
    """Rows of the grid up to and including the present point; False when the buffer is full."""
    r = reals(c, REALS)
    while c[NEXT] < c[NTOUT] and reals(c, TOUT)[c[NEXT]] <= r[T_AT]:
        if c[OUT_COUNT] >= c[OUT_CAPACITY]:
            return False
        _row(c, reals(c, TOUT)[c[NEXT]], reals(c, Y_AT), reals(c, D_AT))
        c[NEXT] += 1
    return True


@jit
def _arrive(c: Table) -> None:
    """Let the caller see the end of the last step."""
    r, n = reals(c, REALS), c[N]
    r[T_AT] = r[T]
    _copy(n, reals(c, Y), reals(c, Y_AT))
    _copy(n, reals(c, D), reals(c, D_AT))


def make_advance(begin: Callable[..., None], step: Callable[..., int], dense: Callable[..., None]) -> Any:
    scan, _values = make_scan(dense)

    @jit
    def emit(c: Table, until: float, whole: bool) -> bool:
        """Rows of the grid before `until` (a row at an event belongs to the values after it); False when full."""
        r, y, d = reals(c, REALS), reals(c, W5), reals(c, W6)
        while c[NEXT] < c[NTOUT] and reals(c, TOUT)[c[NEXT]] < until:
            if c[OUT_COUNT] >= c[OUT_CAPACITY]:
                return False
            t = reals(c, TOUT)[c[NEXT]]
            dense(c, t, y, d)
            _row(c, t, y, d)
            c[NEXT] += 1
        if whole and c[EVERY_STEP] != 0:
            if c[OUT_COUNT] >= c[OUT_CAPACITY]:
                return False
            _row(c, r[T], reals(c, Y), reals(c, D))
        return True

    @jit
    def advance(c: Table) -> int:
        r = reals(c, REALS)
        c[ATTEMPTS] = 0
        while True:
            phase = c[PHASE]
            if phase == PHASE_FRESH:
                if not _emit_here(c):
                    return BUFFER_FULL
                if not r[T_END] > r[T_AT]:
                    return DONE
                r[T] = r[T_AT]
                _copy(c[N], reals(c, Y_AT), reals(c, Y))
                _copy(c[N], reals(c, D_AT), reals(c, D))
                begin(c)
                begin_roots(c)
                c[PHASE] = PHASE_STEP
            elif phase == PHASE_STEP:
                left = r[T_END] - r[T]
                if left <= 4 * EPS * max(abs(r[T_END]), abs(r[T])):
                    _arrive(c)
                    r[T_AT] = r[T_END] if left > 0.0 else r[T]
                    return DONE
                status = step(c)
                if status != ACCEPTED:
                    if status < 0 or status in (CONTINUE, STIFF):
                        _arrive(c)
                    return status
                r[SCAN_FROM] = r[T_OLD]
                c[PHASE] = PHASE_SCAN
            elif phase == PHASE_SCAN:
                c[PHASE] = PHASE_EMIT
                r[UNTIL] = r[T]
                if c[WATCHED] > 0:
                    at = scan(c, r[T_OLD], r[T])
                    if at == at:
                        r[UNTIL] = at
                        c[PHASE] = PHASE_EMIT_ROOT
            elif phase == PHASE_EMIT:
                if not emit(c, r[UNTIL], True):
                    return BUFFER_FULL
                c[PHASE] = PHASE_STEP
            elif phase == PHASE_EMIT_ROOT:
                if not emit(c, r[UNTIL], False):
                    return BUFFER_FULL
                r[T_AT] = r[UNTIL]
                dense(c, r[UNTIL], reals(c, Y_AT), reals(c, D_AT))
                c[PHASE] = PHASE_SCAN
                return ROOT
            elif phase == PHASE_FINISH:
                return DONE if _emit_here(c) else BUFFER_FULL

    return advance
