"""A program: everything that is computed over and over in a run, as plain data.

A kernel is a list of parts; a part applies one code (the tape of a shape) to many instances by way of index columns.
Codes are texts that depend on the laws alone; index columns and counts hold all that depends on the model.  Parameters,
tables and lifted numbers are entries of the vector p and never part of a code.
"""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bglang.records import dataclass

Index: TypeAlias = npt.NDArray[np.int32]
Long: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Code:
    """One function: the text of its tape, and whether results are added to what `out` holds."""

    text: str
    adds: bool


@dataclass(frozen=True, slots=True)
class Kernel:
    """out[0:size] as a function of (t, y, d, p, z).

    Part k applies `codes[k]` (a number of `Program.codes`) to `counts[k]` instances, whose columns begin at
    `offsets[k]` of `index`; the columns are those of variables, parameters, discrete quantities, tables and results, in
    this order.  `levels` are the parts at which a new level begins, where parts depend on results of earlier ones."""

    size: int
    codes: Index
    counts: Long
    offsets: Long
    index: Index
    levels: Index


@dataclass(frozen=True, slots=True)
class Pattern:
    """Compressed columns of a Jacobian.  Its kernel writes dF/dy into out[:nnz] and dF/d(dy/dt) into out[nnz:2*nnz]."""

    rows: int
    columns: int
    indptr: Index
    indices: Index

    @property
    def nnz(self) -> int:
        return len(self.indices)


@dataclass(frozen=True, slots=True)
class TableLayout:
    """Where the block of a table lies in p, and how it is made from its points.

    The points are results `points` to `points + 2*count` of the kernel "points" (first all x, then all y)."""

    key: str
    base: int
    count: int
    points: int
    method: str
    outside: str
    ends: str


@dataclass(frozen=True, slots=True)
class Program:
    """Kernels by name:

    residual, residual_t   F and its partial derivative by time, `n` results each
    jacobian               see `Pattern`; the diagonal is always part of the pattern
    roots                  all root functions, mode by mode
    outputs                those outputs that were asked for (`output_numbers`), in that order
    powers, energies, efforts   of the audit: power of each item; its energy, or the effort of its integral, or 0
    initial, position      rows of initial equations; positions of the rows `position_rows`; each with "..._jacobian"
    parameters             results are entries of p, in levels
    points                 points of tables, from p
    starts, nominals       of the unknowns, from p (a nominal that is not given is NaN)

    For the last four `defaults` holds the numbers that the source gives as such (NaN elsewhere) and `computed` the
    entries that the kernel computes.

    p holds `parameters` entries of the system, blocks of tables, and `constants` from `constants_base` on."""

    n: int
    parameters: int
    p_size: int
    constants_base: int
    constants: Floats
    tables: tuple[TableLayout, ...]
    codes: tuple[Code, ...]
    kernels: Mapping[str, Kernel]
    patterns: Mapping[str, Pattern]
    defaults: Mapping[str, Floats]
    computed: Mapping[str, Index]
    position_rows: Index
    output_numbers: Index
