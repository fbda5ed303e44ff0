"""Matrices made of blocks, dense or sparse alike."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bglang.solve.model import DENSE, Array, Flags, Matrix


def over(parts: Sequence[Matrix]) -> Matrix:
    """Blocks one below the other: dense if one of them is dense."""
    if any(isinstance(p, np.ndarray) for p in parts):
        return np.vstack([_dense(p) for p in parts])
    from scipy.sparse import vstack

    return vstack(parts, format="csr")


def beside(parts: Sequence[Matrix]) -> Matrix:
    """Blocks one beside the other."""
    if any(isinstance(p, np.ndarray) for p in parts):
        return np.hstack([_dense(p) for p in parts])
    from scipy.sparse import hstack

    return hstack(parts, format="csr")


def _dense(part: Matrix) -> Any:
    return part if isinstance(part, np.ndarray) else part.toarray()


def empty(rows: int, columns: int) -> Matrix:
    if max(rows, columns) <= DENSE:
        return np.zeros((rows, columns))
    from scipy.sparse import csr_matrix

    return csr_matrix((rows, columns))


def units(columns: Sequence[int], n: int) -> Matrix:
    """Rows of the identity."""
    if n <= DENSE:
        rows = np.zeros((len(columns), n))
        rows[range(len(columns)), list(columns)] = 1.0
        return rows
    from scipy.sparse import csr_matrix

    return csr_matrix((np.ones(len(columns)), (range(len(columns)), list(columns))), shape=(len(columns), n))


def nonzero(matrix: Matrix) -> tuple[Flags, Flags]:
    """Which rows and which columns hold anything but zero."""
    if isinstance(matrix, np.ndarray):
        there = matrix != 0.0
        return there.any(axis=1), there.any(axis=0)
    coo = matrix.tocoo()
    rows, columns = (np.zeros(k, dtype=bool) for k in matrix.shape)
    present = coo.data != 0.0
    rows[coo.row[present]] = True
    columns[coo.col[present]] = True
    return rows, columns


def entries(found: Sequence[tuple[int, int, float]], shape: tuple[int, int]) -> Matrix:
    """A matrix from (row, column, value)."""
    if max(shape) <= DENSE:
        matrix = np.zeros(shape)
        for i, j, value in found:
            matrix[i, j] += value
        return matrix
    from scipy.sparse import csr_matrix

    rows, columns, values = zip(*found, strict=True) if found else ((), (), ())
    return csr_matrix((values, (rows, columns)), shape=shape)


def sparse(matrix: Array) -> Matrix:
    from scipy.sparse import csr_matrix

    return csr_matrix(matrix)


def finite(matrix: Matrix) -> bool:
    return bool(np.isfinite(matrix if isinstance(matrix, np.ndarray) else matrix.data).all())


def spread(matrix: Matrix) -> float:
    """The largest entry in terms of the smallest one."""
    data = np.abs(matrix if isinstance(matrix, np.ndarray) else matrix.data)
    data = data[data > 0.0]
    return float(data.max() / data.min()) if data.size else 1.0
