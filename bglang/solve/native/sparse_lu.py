"""LU of sparse matrices whose pattern stays while the values change.

First time: order (`ordering.py`), then column by column the method of Gilbert and Peierls (SIAM J. Sci. Stat. Comput.
9, 1988) with row exchanges where the diagonal is too small.  Afterwards only the numbers are computed again, in the
same pattern with the same pivots, until one of them becomes too small beside its column: then pivots are searched
again. The same text serves real and complex numbers.
"""

from typing import Any

from bglang.solve.native.dense_lu import invert, magnitude, scaled
from bglang.solve.native.intrinsics import Ints, Reals, Table, complexes, ints, jit, reals, shift, times
from bglang.solve.native.layout import (
    LU_AGAIN,
    LU_DIAGONAL,
    LU_FACTORED,
    LU_FULL,
    LU_INDICES,
    LU_INDPTR,
    LU_L_IND,
    LU_L_PTR,
    LU_L_ROOM,
    LU_L_VAL,
    LU_LISTS,
    LU_LISTS_ROOM,
    LU_N,
    LU_NOTHING,
    LU_ORDER,
    LU_ORDERED,
    LU_PIVOTS,
    LU_PLACE,
    LU_SCALE,
    LU_STATE,
    LU_U_IND,
    LU_U_PTR,
    LU_U_ROOM,
    LU_U_VAL,
    LU_WORK,
    LU_X,
    MORE_MEMORY,
)
from bglang.solve.native.matching import match
from bglang.solve.native.ordering import minimum_degree

NOBODY = -1
DIAGONAL_PREFERRED = 1e-2  # the diagonal is taken if it has this part of the largest entry
PIVOT_KEPT = 1e-6  # a pivot is kept in later factorisations while it has this part of its column


@jit
def _row_scales(n: int, indptr: Ints, indices: Ints, a: Any, scale: Reals) -> int:
    """scale[i] = 1 / largest entry of row i; 0, or -1 - the row that is empty or not finite."""
    for i in range(n):
        scale[i] = 0.0
    for k in range(indptr[n]):
        size, i = magnitude(a[k]), indices[k]
        if not size <= scale[i]:  # takes NaN too
            scale[i] = size
    for i in range(n):
        if not 0.0 < scale[i] < 1e300:
            return -1 - i
        scale[i] = 1.0 / scale[i]
    return 0


@jit
def _order(lu: Table, a: Any) -> int:
    n, indptr, indices = lu[LU_N], ints(lu, LU_INDPTR), ints(lu, LU_INDICES)
    row_of, column_of, work = ints(lu, LU_DIAGONAL), ints(lu, LU_PLACE), ints(lu, LU_WORK)
    code = match(n, indptr, indices, a, reals(lu, LU_SCALE), row_of, column_of, work)
    if code != 0:
        return code
    minimum_degree(n, indptr, indices, column_of, work, ints(lu, LU_LISTS), lu[LU_LISTS_ROOM], ints(lu, LU_ORDER))
    lu[LU_STATE] = LU_ORDERED
    return 0


@jit
def _reach(lu: Table, column: int, tag: int) -> int:
    """Rows that the column becomes nonzero in: their topological order stands in the work vector from the result to n.

    Depth first through the columns of L.  Work: order, stack, where we are in a column, mark."""
    n, indptr, indices = lu[LU_N], ints(lu, LU_INDPTR), ints(lu, LU_INDICES)
    place, lptr, lind = ints(lu, LU_PLACE), ints(lu, LU_L_PTR), ints(lu, LU_L_IND)
    work = ints(lu, LU_WORK)
    stack, position, mark = shift(work, n), shift(work, 2 * n), shift(work, 3 * n)
    top = n
    for k in range(indptr[column], indptr[column + 1]):
        if mark[indices[k]] == tag:
            continue
        depth = 0
        stack[0] = indices[k]
        mark[indices[k]] = tag
        position[0] = lptr[place[indices[k]]] if place[indices[k]] != NOBODY else 0
        while depth >= 0:
            row = stack[depth]
            j = place[row]
            deeper = False
            if j != NOBODY:
                at, end = position[depth], lptr[j + 1]
                while at < end:
                    i = lind[at]
                    at += 1
                    if mark[i] != tag:
                        mark[i] = tag
                        position[depth] = at
                        depth += 1
                        stack[depth] = i
                        position[depth] = lptr[place[i]] if place[i] != NOBODY else 0
                        deeper = True
                        break
            if not deeper:
                top -= 1
                work[top] = row
                depth -= 1
    return top


@jit
def _eliminate_column(lu: Table, column: int, top: int, a: Any, x: Any, lval: Any, uval: Any, at: int) -> int:
    """x = L^-1 (column of the matrix) on the reached rows; writes the entries above the diagonal from U's place `at`
    on."""
    n, indptr, indices = lu[LU_N], ints(lu, LU_INDPTR), ints(lu, LU_INDICES)
    place, lptr, lind, uind = ints(lu, LU_PLACE), ints(lu, LU_L_PTR), ints(lu, LU_L_IND), ints(lu, LU_U_IND)
    scale, work = reals(lu, LU_SCALE), ints(lu, LU_WORK)
    for m in range(top, n):
        x[work[m]] = 0.0
    for k in range(indptr[column], indptr[column + 1]):
        x[indices[k]] = scaled(a[k], scale[indices[k]])
    for m in range(top, n):
        row = work[m]
        j = place[row]
        if j == NOBODY:
            continue
        value = x[row]
        uind[at] = j
        uval[at] = value
        at += 1
        for k in range(lptr[j], lptr[j + 1]):
            x[lind[k]] -= times(lval[k], value)
    return at


@jit
def _choose_pivot(lu: Table, column: int, top: int, x: Any) -> int:
    """The row with the largest entry among those that are left, or the diagonal if it is large enough; -1: none."""
    place, work = ints(lu, LU_PLACE), ints(lu, LU_WORK)
    best, largest = NOBODY, 0.0
    for m in range(top, lu[LU_N]):
        row = work[m]
        if place[row] == NOBODY:
            size = magnitude(x[row])
            if not size <= largest:
                best, largest = row, size
    if best == NOBODY or not 1e-300 < largest < 1e300:
        return NOBODY
    own = ints(lu, LU_DIAGONAL)[column]
    mark = shift(work, 3 * lu[LU_N])
    if mark[own] == mark[best] and place[own] == NOBODY and magnitude(x[own]) >= DIAGONAL_PREFERRED * largest:
        return own
    return best


@jit
def _factor_fully(lu: Table, a: Any, x: Any, lval: Any, uval: Any, pivots: Any) -> int:
    n, order, place = lu[LU_N], ints(lu, LU_ORDER), ints(lu, LU_PLACE)
    lptr, lind, uptr, work = ints(lu, LU_L_PTR), ints(lu, LU_L_IND), ints(lu, LU_U_PTR), ints(lu, LU_WORK)
    mark = shift(work, 3 * n)
    for i in range(n):
        place[i] = NOBODY
        mark[i] = NOBODY
    lptr[0], uptr[0] = 0, 0
    for k in range(n):
        column = order[k]
        lptr[k + 1] = lptr[k]
        top = _reach(lu, column, k)
        if lptr[k] + n - top > lu[LU_L_ROOM] or uptr[k] + n - top > lu[LU_U_ROOM]:
            return MORE_MEMORY
        uptr[k + 1] = _eliminate_column(lu, column, top, a, x, lval, uval, uptr[k])
        pivot = _choose_pivot(lu, column, top, x)
        if pivot == NOBODY:
            return 1 + column
        place[pivot] = k
        pivots[k] = invert(x[pivot])
        at = lptr[k]
        for m in range(top, n):
            row = work[m]
            if place[row] == NOBODY:
                lind[at] = row
                lval[at] = times(x[row], pivots[k])
                at += 1
        lptr[k + 1] = at
    for k in range(lptr[n]):
        lind[k] = place[lind[k]]
    for i in range(n):
        x[i] = 0.0
    lu[LU_STATE] = LU_FACTORED
    lu[LU_FULL] += 1
    return 0


@jit
def _factor_again(lu: Table, a: Any, x: Any, lval: Any, uval: Any, pivots: Any) -> bool:
    """The numbers only.  False if a pivot has become too small.  x is zero before and after."""
    n, order, place = lu[LU_N], ints(lu, LU_ORDER), ints(lu, LU_PLACE)
    indptr, indices, scale = ints(lu, LU_INDPTR), ints(lu, LU_INDICES), reals(lu, LU_SCALE)
    lptr, lind, uptr, uind = ints(lu, LU_L_PTR), ints(lu, LU_L_IND), ints(lu, LU_U_PTR), ints(lu, LU_U_IND)
    for k in range(n):
        column = order[k]
        for m in range(indptr[column], indptr[column + 1]):
            x[place[indices[m]]] = scaled(a[m], scale[indices[m]])
        for m in range(uptr[k], uptr[k + 1]):
            j = uind[m]
            value = x[j]
            x[j] = 0.0
            uval[m] = value
            for q in range(lptr[j], lptr[j + 1]):
                x[lind[q]] -= times(lval[q], value)
        pivot = x[k]
        x[k] = 0.0
        largest = 0.0
        reciprocal = invert(pivot)
        for q in range(lptr[k], lptr[k + 1]):
            value = x[lind[q]]
            x[lind[q]] = 0.0
            largest = max(largest, magnitude(value))
            lval[q] = times(value, reciprocal)
        pivots[k] = reciprocal
        size = magnitude(pivot)
        if not (size >= PIVOT_KEPT * largest and size > 1e-300):
            for i in range(n):
                x[i] = 0.0
            return False
    lu[LU_AGAIN] += 1
    return True


@jit
def _factor(lu: Table, a: Any, x: Any, lval: Any, uval: Any, pivots: Any) -> int:
    code = _row_scales(lu[LU_N], ints(lu, LU_INDPTR), ints(lu, LU_INDICES), a, reals(lu, LU_SCALE))
    if code != 0:
        return code
    if lu[LU_STATE] == LU_NOTHING:
        code = _order(lu, a)
        if code != 0:
            return code
    if lu[LU_STATE] == LU_FACTORED:
        if _factor_again(lu, a, x, lval, uval, pivots):
            return 0
        lu[LU_STATE] = LU_ORDERED
    return _factor_fully(lu, a, x, lval, uval, pivots)


@jit
def _solve(lu: Table, b: Any, x: Any, lval: Any, uval: Any, pivots: Any) -> None:
    n, order, place, scale = lu[LU_N], ints(lu, LU_ORDER), ints(lu, LU_PLACE), reals(lu, LU_SCALE)
    lptr, lind, uptr, uind = ints(lu, LU_L_PTR), ints(lu, LU_L_IND), ints(lu, LU_U_PTR), ints(lu, LU_U_IND)
    for i in range(n):
        x[place[i]] = scaled(b[i], scale[i])
    for k in range(n):
        value = x[k]
        for m in range(lptr[k], lptr[k + 1]):
            x[lind[m]] -= times(lval[m], value)
    for k in range(n - 1, -1, -1):
        value = times(x[k], pivots[k])
        x[k] = 0.0
        b[order[k]] = value
        for m in range(uptr[k], uptr[k + 1]):
            x[uind[m]] -= times(uval[m], value)


# --- what the module exports
# ---------------------------------------------------------------------------------------------


@jit
def factor(lu: Table, a: Reals) -> int:
    """0; MORE_MEMORY; 1 + the column without a pivot; -1 - the row that is empty or not finite."""
    return _factor(lu, a, reals(lu, LU_X), reals(lu, LU_L_VAL), reals(lu, LU_U_VAL), reals(lu, LU_PIVOTS))


@jit
def solve(lu: Table, b: Reals) -> int:
    _solve(lu, b, reals(lu, LU_X), reals(lu, LU_L_VAL), reals(lu, LU_U_VAL), reals(lu, LU_PIVOTS))
    return 0


@jit
def factor_complex(lu: Table, a: Any) -> int:
    x, lval, uval = complexes(lu, LU_X), complexes(lu, LU_L_VAL), complexes(lu, LU_U_VAL)
    return _factor(lu, a, x, lval, uval, complexes(lu, LU_PIVOTS))


@jit
def solve_complex(lu: Table, b: Any) -> int:
    x, lval, uval = complexes(lu, LU_X), complexes(lu, LU_L_VAL), complexes(lu, LU_U_VAL)
    _solve(lu, b, x, lval, uval, complexes(lu, LU_PIVOTS))
    return 0
