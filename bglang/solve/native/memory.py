"""The memory of one integration: arrays whose addresses stand in the table of `layout.py`."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bglang.records import dataclass
from bglang.solve.native import layout as at

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int32]
Long = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A compiled kernel and the arrays that go with it.  `owner` keeps the code mapped."""

    address: int
    index: Index
    counts: Long
    owner: object = None


@dataclass(frozen=True, slots=True)
class CompiledModel:
    """A model by address.

    The Jacobian's pattern (compressed columns, diagonal included) holds dF/dy and dF/d(dy/dt).  `explicit`: every row
    is dy_i/dt - f_i(t, y), so that an explicit method can run it."""

    n: int
    nroots: int
    residual: KernelCall
    jacobian: KernelCall
    roots: KernelCall | None
    indptr: Index
    indices: Index
    explicit: bool = False


class Memory:
    """Owns the arrays behind a table; `table` and `reals` are the tables themselves."""

    def __init__(self) -> None:
        self.table: Long = np.zeros(at.TABLE_SIZE, np.int64)
        self.reals: Floats = np.zeros(at.REALS_SIZE)
        self._kept: dict[int, npt.NDArray[Any]] = {}
        self.table[at.REALS] = self.reals.ctypes.data
        self.address = int(self.table.ctypes.data)

    def keep(self, slot: int, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Put the array's address into a slot; the array lives as long as it stands there."""
        assert array.flags.c_contiguous
        self._kept[slot] = array
        self.table[slot] = array.ctypes.data
        return array

    def array(self, slot: int) -> npt.NDArray[Any]:
        return self._kept[slot]

    def floats(self, slot: int, size: int) -> Floats:
        return self.keep(slot, np.zeros(max(size, 1)))

    def ints(self, slot: int, size: int) -> Index:
        return self.keep(slot, np.zeros(max(size, 1), np.int32))

    def complexes(self, slot: int, size: int) -> npt.NDArray[np.complex128]:
        return self.keep(slot, np.zeros(max(size, 1), np.complex128))

    def kernel(self, slot: int, kernel: KernelCall) -> None:
        self.table[slot] = kernel.address
        self.keep(slot + 1, np.ascontiguousarray(kernel.index, np.int32))
        self.keep(slot + 2, np.ascontiguousarray(kernel.counts, np.int64))


def describe_model(memory: Memory, model: CompiledModel) -> None:
    """The first block of the table."""
    table = memory.table
    table[at.N], table[at.NNZ], table[at.NROOTS] = model.n, len(model.indices), model.nroots
    memory.kernel(at.RESIDUAL, model.residual)
    memory.kernel(at.JACOBIAN, model.jacobian)
    if model.roots is not None:
        memory.kernel(at.ROOTS, model.roots)
    memory.keep(at.INDPTR, np.ascontiguousarray(model.indptr, np.int32))
    memory.keep(at.INDICES, np.ascontiguousarray(model.indices, np.int32))


def root_arrays(memory: Memory, nroots: int) -> None:
    for slot in (at.SIDE, at.ZERO, at.FOUND, at.ROOT_ACTIVE):
        memory.ints(slot, nroots)
    for slot in (at.G_LAST, at.G_BEFORE, at.G_NEXT, at.G_LOW, at.G_HIGH, at.G_TRY):
        memory.floats(slot, nroots)


def radau_arrays(memory: Memory, n: int) -> None:
    for slot, copies in ((at.W0, 3), (at.W1, 3), (at.W2, 3), (at.W3, 1), (at.W5, 1), (at.W6, 1), (at.W7, 1)):
        memory.floats(slot, copies * n)
    memory.floats(at.W8, 5 * n)
    memory.floats(at.W9, n)
    memory.floats(at.PREVIOUS, 3 * n)
    memory.complexes(at.W4, n)


def bdf_arrays(memory: Memory, n: int) -> None:
    memory.floats(at.W0, 7 * n)
    for slot in (at.W1, at.W2, at.W3, at.W5, at.W6, at.W7, at.PREVIOUS):
        memory.floats(slot, n)


def rk_arrays(memory: Memory, n: int) -> None:
    for slot, copies in (
        (at.W0, 16),
        (at.W1, 1),
        (at.W2, 1),
        (at.W3, 1),
        (at.W4, 7),
        (at.W5, 1),
        (at.W6, 1),
        (at.W7, 1),
    ):
        memory.floats(slot, copies * n)


def adams_arrays(memory: Memory, n: int) -> None:
    memory.floats(at.W0, 14 * n)
    for slot in (at.W1, at.W2, at.W5, at.W6, at.W7):
        memory.floats(slot, n)


def dense_matrices(memory: Memory, n: int, with_complex: bool) -> None:
    memory.floats(at.MATRIX, n * n + n)
    memory.ints(at.PIVOT, n)
    if with_complex:
        memory.complexes(at.MATRIX_COMPLEX, n * n + n)
        memory.ints(at.PIVOT_COMPLEX, n)
