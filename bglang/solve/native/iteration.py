"""The iteration matrix F_y + c F_d, factored and solved, dense or sparse; and what the Jacobian says about the
model."""

from typing import Any

from bglang.solve.native.dense_lu import factor_dense, solve_dense
from bglang.solve.native.intrinsics import (
    Complexes,
    Reals,
    Table,
    call_table,
    complexes,
    ints,
    jacobian,
    jit,
    reals,
    table,
)
from bglang.solve.native.layout import (
    ALGEBRAIC,
    FACTORISATIONS,
    FY,
    INDICES,
    INDPTR,
    JACOBIANS,
    LU,
    LU_COMPLEX,
    LU_FACTOR,
    LU_FACTOR_COMPLEX,
    LU_SOLVE,
    LU_SOLVE_COMPLEX,
    MATRIX,
    MATRIX_COMPLEX,
    NNZ,
    PIVOT,
    PIVOT_COMPLEX,
    REASON_NAN,
    REASON_SINGULAR,
    SPARSE,
    WORST_ROW,
    WORST_VARIABLE,
    N,
)


@jit
def evaluate_jacobian(c: Table, t: float, y: Reals, d: Reals) -> None:
    values, indptr, algebraic, nnz = reals(c, FY), ints(c, INDPTR), ints(c, ALGEBRAIC), c[NNZ]
    jacobian(c, t, y, d, values)
    c[JACOBIANS] += 1
    for j in range(c[N]):
        algebraic[j] = 1
        for k in range(indptr[j], indptr[j + 1]):
            if values[nnz + k] != 0.0:
                algebraic[j] = 0


@jit
def _combine(fy: float, fd: float, scale: Any) -> Any:
    if isinstance(scale, float):
        return fy + scale * fd
    return complex(fy + scale.real * fd, scale.imag * fd)


@jit
def _fill(c: Table, scale: Any, a: Any) -> None:
    """a = F_y + scale F_d: dense by rows, or sparse in the order of the pattern."""
    values, n, nnz = reals(c, FY), c[N], c[NNZ]
    if c[SPARSE] != 0:
        for k in range(nnz):
            a[k] = _combine(values[k], values[nnz + k], scale)
        return
    indptr, indices = ints(c, INDPTR), ints(c, INDICES)
    for k in range(n * n):
        a[k] = 0.0
    for j in range(n):
        for k in range(indptr[j], indptr[j + 1]):
            a[indices[k] * n + j] = _combine(values[k], values[nnz + k], scale)


@jit
def factor_real(c: Table, scale: float) -> int:
    """0 when factored, GROW, 1 + column, or -1 - row of a singular matrix."""
    a = reals(c, MATRIX)
    _fill(c, scale, a)
    c[FACTORISATIONS] += 1
    if c[SPARSE] != 0:
        return call_table(c[LU_FACTOR], table(c, LU), a)
    return factor_dense(c[N], a, ints(c, PIVOT))


@jit
def factor_complex(c: Table, scale: complex) -> int:
    a = complexes(c, MATRIX_COMPLEX)
    _fill(c, scale, a)
    c[FACTORISATIONS] += 1
    if c[SPARSE] != 0:
        return call_table(c[LU_FACTOR_COMPLEX], table(c, LU_COMPLEX), a)
    return factor_dense(c[N], a, ints(c, PIVOT_COMPLEX))


@jit
def solve_real(c: Table, b: Reals) -> None:
    if c[SPARSE] != 0:
        call_table(c[LU_SOLVE], table(c, LU), b)
    else:
        solve_dense(c[N], reals(c, MATRIX), ints(c, PIVOT), b)


@jit
def note_singular(c: Table, code: int) -> int:
    """What the code of a failed factorisation says, noted; the reason: singular, or an entry that is not finite."""
    c[WORST_VARIABLE] = code - 1 if code > 0 else -1
    c[WORST_ROW] = -1 - code if code < 0 else -1
    values = reals(c, FY)
    for k in range(2 * c[NNZ]):
        if not abs(values[k]) < 1e300:
            c[WORST_VARIABLE], c[WORST_ROW] = -1, ints(c, INDICES)[k % c[NNZ]]
            return REASON_NAN
    return REASON_SINGULAR


@jit
def solve_complex(c: Table, b: Complexes) -> None:
    if c[SPARSE] != 0:
        call_table(c[LU_SOLVE_COMPLEX], table(c, LU_COMPLEX), b)
    else:
        solve_dense(c[N], complexes(c, MATRIX_COMPLEX), ints(c, PIVOT_COMPLEX), b)
