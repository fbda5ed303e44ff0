"""Sparse LU for matrices whose values change while their pattern stays: one analysis, cheap new factorisations.

lu = SparseLU(n, indptr, indices)           # compressed columns
lu.factor(values)
x = lu.solve(b)
"""

import ctypes
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bglang.solve.native import layout as at
from bglang.solve.native.load import load


class SingularMatrix(ArithmeticError):
    """`column` has no pivot, or `row` is empty or not finite."""

    def __init__(self, column: int | None, row: int | None):
        self.column, self.row = column, row
        super().__init__(f"column {column} has no pivot" if row is None else f"row {row} is empty or not finite")


@cache
def _function(name: str) -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(load("linear")[name])


class LUTable:
    """The memory of one factorisation, which compiled code works on; `address` is that of its table."""

    def __init__(self, n: int, indptr: npt.ArrayLike, indices: npt.ArrayLike, dtype: Any = np.float64):
        self.dtype = np.dtype(dtype)
        self.table = np.zeros(at.LU_TABLE_SIZE, np.int64)
        self._kept: dict[int, npt.NDArray[Any]] = {}
        self._keep(at.LU_INDPTR, np.ascontiguousarray(indptr, np.int32))
        nnz = len(self._keep(at.LU_INDICES, np.ascontiguousarray(indices, np.int32)))
        self.table[at.LU_N], self.table[at.LU_NNZ] = n, nnz
        for slot in (at.LU_ORDER, at.LU_PLACE, at.LU_DIAGONAL):
            self._keep(slot, np.zeros(n, np.int32))
        for slot in (at.LU_L_PTR, at.LU_U_PTR):
            self._keep(slot, np.zeros(n + 1, np.int32))
        for slot in (at.LU_PIVOTS, at.LU_X):
            self._keep(slot, np.zeros(n, self.dtype))
        self._keep(at.LU_SCALE, np.zeros(n))
        self._keep(at.LU_WORK, np.zeros(14 * n + 4, np.int32))
        lists = self._keep(at.LU_LISTS, np.zeros(2 * nnz + 2 * n + 16, np.int32))
        self.table[at.LU_LISTS_ROOM] = len(lists)
        self._room(2 * nnz + 2 * n)

    @property
    def address(self) -> int:
        return int(self.table.ctypes.data)

    @property
    def entries(self) -> int:
        """Of L and U together, without the diagonal."""
        n = int(self.table[at.LU_N])
        return int(self._kept[at.LU_L_PTR][n]) + int(self._kept[at.LU_U_PTR][n])

    @property
    def inverse_pivots(self) -> npt.NDArray[Any]:
        return self._kept[at.LU_PIVOTS]

    def grow(self) -> None:
        """After MORE_MEMORY; the factorisation is then done anew."""
        self._room(2 * int(self.table[at.LU_L_ROOM]))

    def grow_if_short(self) -> None:
        """The same where it is not known which of several factorisations ran out of memory."""
        if self.table[at.LU_STATE] == at.LU_ORDERED:
            self.grow()

    def _keep(self, slot: int, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        self._kept[slot] = array
        self.table[slot] = array.ctypes.data
        return array

    def _room(self, entries: int) -> None:
        for indices, values, room in (
            (at.LU_L_IND, at.LU_L_VAL, at.LU_L_ROOM),
            (at.LU_U_IND, at.LU_U_VAL, at.LU_U_ROOM),
        ):
            self._keep(indices, np.empty(entries, np.int32))
            self._keep(values, np.empty(entries, self.dtype))
            self.table[room] = entries


class SparseLU:
    """Factors of a square matrix in compressed columns, real or complex."""

    def __init__(self, n: int, indptr: npt.ArrayLike, indices: npt.ArrayLike, dtype: Any = np.float64):
        self.n, self.memory = n, LUTable(n, indptr, indices, dtype)
        suffix = "_complex" if self.memory.dtype == np.complex128 else ""
        self._factor, self._solve = _function("factor" + suffix), _function("solve" + suffix)

    def factor(self, values: npt.ArrayLike) -> None:
        """Raises SingularMatrix."""
        a = np.ascontiguousarray(values, self.memory.dtype)
        assert a.shape == (int(self.memory.table[at.LU_NNZ]),)
        while (code := int(self._factor(self.memory.address, a.ctypes.data))) == at.MORE_MEMORY:
            self.memory.grow()
        if code > 0:
            raise SingularMatrix(code - 1, None)
        if code < 0:
            raise SingularMatrix(None, -1 - code)

    def pivots(self) -> npt.NDArray[Any]:
        """The diagonal of U."""
        return 1.0 / self.memory.inverse_pivots

    def solve(self, b: npt.ArrayLike) -> npt.NDArray[Any]:
        x = np.array(b, self.memory.dtype)
        assert x.shape == (self.n,)
        self._solve(self.memory.address, x.ctypes.data)
        return x
