"""A row for every column of a sparse matrix, with a nonzero entry, so that the diagonal can carry pivots."""

from typing import Any

from bglang.solve.native.dense_lu import magnitude
from bglang.solve.native.intrinsics import Ints, Reals, jit, shift

NOBODY = -1
GOOD_ENOUGH = 0.1  # the diagonal is taken if it has this part of the largest entry


@jit
def _match_cheaply(n: int, indptr: Ints, indices: Ints, a: Any, scale: Reals, row_of: Ints, column_of: Ints) -> int:
    """The diagonal where it is good, else any free row with a large entry.  How many columns are still without a
    row."""
    for i in range(n):
        column_of[i] = NOBODY
        row_of[i] = NOBODY
    for j in range(n):
        largest, own = 0.0, 0.0
        for k in range(indptr[j], indptr[j + 1]):
            size = magnitude(a[k]) * scale[indices[k]]
            largest = max(largest, size)
            if indices[k] == j:
                own = size
        if own > 0.0 and own >= GOOD_ENOUGH * largest:
            row_of[j] = j
            column_of[j] = j
    left = 0
    for j in range(n):
        if row_of[j] != NOBODY:
            continue
        best, largest = NOBODY, 0.0
        for k in range(indptr[j], indptr[j + 1]):
            size = magnitude(a[k]) * scale[indices[k]]
            if size > largest and column_of[indices[k]] == NOBODY:
                best, largest = indices[k], size
        row_of[j] = best
        if best == NOBODY:
            left += 1
        else:
            column_of[best] = j
    return left


@jit
def _augment(n: int, j: int, indptr: Ints, indices: Ints, a: Any, row_of: Ints, column_of: Ints, work: Ints) -> bool:
    """Find a row for column j by moving others, depth first.  `seen` holds the column for which a column was
    visited."""
    seen, stack, next_entry = work, shift(work, n), shift(work, 2 * n)
    depth = 0
    stack[0] = j
    seen[j] = j
    next_entry[j] = indptr[j]
    while depth >= 0:
        column = stack[depth]
        # a free row first
        if next_entry[column] == indptr[column]:
            for k in range(indptr[column], indptr[column + 1]):
                if column_of[indices[k]] == NOBODY and magnitude(a[k]) > 0.0:
                    row = indices[k]
                    while depth >= 0:  # hand the rows on along the path
                        column = stack[depth]
                        given = row_of[column]
                        row_of[column] = row
                        column_of[row] = column
                        row = given
                        depth -= 1
                    return True
        moved = False
        while next_entry[column] < indptr[column + 1]:
            k = next_entry[column]
            next_entry[column] = k + 1
            if magnitude(a[k]) > 0.0:
                other = column_of[indices[k]]
                if other != NOBODY and seen[other] != j:
                    seen[other] = j
                    next_entry[other] = indptr[other]
                    depth += 1
                    stack[depth] = other
                    moved = True
                    break
        if not moved:
            depth -= 1
    return False


@jit
def match(n: int, indptr: Ints, indices: Ints, a: Any, scale: Reals, row_of: Ints, column_of: Ints, work: Ints) -> int:
    """A row for every column.  Columns that get none (a singular matrix) take what is left; 1 + the first such
    column."""
    left = _match_cheaply(n, indptr, indices, a, scale, row_of, column_of)
    if left == 0:
        return 0
    for j in range(n):
        work[j] = NOBODY
    failed = 0
    for j in range(n):
        if row_of[j] == NOBODY:
            found = _augment(n, j, indptr, indices, a, row_of, column_of, work)
            if not found and failed == 0:
                failed = j + 1
    free = 0
    for j in range(n):
        if row_of[j] == NOBODY:
            while column_of[free] != NOBODY:
                free += 1
            row_of[j] = free
            column_of[free] = j
    return failed
