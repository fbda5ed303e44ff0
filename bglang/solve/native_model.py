"""Models whose kernels are native code."""

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bglang.equations.system import System
from bglang.expr.evaluate import Values
from bglang.kernels.interpret import Points, one_point
from bglang.kernels.load import Kernels, NativeKernel, load
from bglang.kernels.parameters import (
    complete_vector,
    nominal_values,
    parameter_vector,
    start_values,
    table_blocks,
)
from bglang.kernels.rebuild import Rebuilder
from bglang.records import replace
from bglang.solve.model import DENSE, Array, Matrix

if TYPE_CHECKING:
    from bglang.kernels.program import Program
    from bglang.solve.integrators import CompiledModel


class Compiled:
    """A system lowered and loaded once; `model` makes models of it for any numbers."""

    def __init__(self, system: System, program: "Program | None" = None):
        self.system = system
        self.program: Program = _lower(system) if program is None else program
        self.kernels: Kernels = load(self.program)
        self.model = NativeBuilder(self)
        self._explicit: bool | None = None
        self._asked: dict[tuple[int, ...], Program] = {}

    def output_program(self, chosen: Sequence[int]) -> "Program":
        """The program of some outputs of a model that is too large to have all of them lowered."""
        key = tuple(chosen)
        if key not in self._asked:
            self._asked[key] = _lower(replace(self.system, rows=(), initial=(), audit=()), key)
        return self._asked[key]

    @property
    def explicit(self) -> bool:
        """Whether every row is dy_i/dt - f_i(t, y)."""
        if self._explicit is None:
            self._explicit = Rebuilder(self.program, self.program.kernels["residual"]).explicit()
        return self._explicit


def _lower(system: System, outputs: Sequence[int] | None = None) -> "Program":
    """A stored program is not lowered again, so what lowers is imported only when needed."""
    from bglang.kernels.lower import lower

    return lower(system, outputs)


class NativeBuilder:
    """Numbers and models from a compiled system."""

    def __init__(self, compiled: Compiled):
        self.compiled = compiled

    def __call__(self, p: Array) -> "NativeModel":
        return NativeModel(self.compiled, p)

    def parameters(self, overrides: Mapping[int, float]) -> Array:
        program = self.compiled.program
        return parameter_vector(program, overrides)[: program.parameters]

    def starts(self, p: Array) -> tuple[Array, Array]:
        """Start and nominal values; NaN where there is no nominal value."""
        program = self.compiled.program
        whole = complete_vector(program, p)
        return start_values(program, whole), nominal_values(program, whole)


class _Call:
    """A kernel with buffers of its own: arguments are copied into place, so a call costs next to nothing."""

    def __init__(self, kernel: NativeKernel, p: Array, n: int, nz: int):
        self._kernel, self._p = kernel, p
        self._y, self._d, self._z, self._out = np.zeros(n), np.zeros(n), np.zeros(nz), np.zeros(kernel.size)
        function = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 7)(kernel.address)
        arrays = (self._y, self._d, p, self._z, kernel.index, kernel.counts, self._out)
        self._addresses = tuple(a.ctypes.data for a in arrays)
        self._function = function

    def __call__(self, t: float, y: Array, d: Array, z: Array) -> Array:
        self._y[:], self._d[:], self._z[:] = y, d, z
        self._function(t, *self._addresses)
        return self._out.copy()


class NativeModel:
    """A compiled model with numbers."""

    def __init__(self, compiled: Compiled, p: Array):
        self.compiled, self.system = compiled, compiled.system
        self.kernels, program = compiled.kernels, compiled.program
        self.p = np.array(p, dtype=np.float64)
        self.whole = complete_vector(program, self.p)
        self.tables = table_blocks(program, self.whole)
        pattern = program.patterns["jacobian"]
        self._pattern = pattern
        self._calls: dict[str, _Call] = {}
        column = np.repeat(np.arange(pattern.columns), np.diff(pattern.indptr))
        self._place = pattern.indices.astype(np.intp) * pattern.columns + column

    def values(self, t: float, y: Array, d: Array, z: Array) -> Values:
        return Values(t=t, y=y, d=d, p=self.p, z=z, tables=self.tables)

    def _call(self, name: str) -> _Call:
        found = self._calls.get(name)
        if found is None:
            kernel = self.kernels.native(name)
            found = _Call(kernel, self.whole, len(self.system.unknowns), len(self.system.modes))
            self._calls[name] = found
        return found

    def residual(self, t: float, y: Array, d: Array, z: Array) -> Array:
        return self._call("residual")(t, y, d, z)

    def jacobian(self, t: float, y: Array, d: Array, z: Array) -> tuple[Matrix, Matrix]:
        from scipy.sparse import csc_matrix

        data, pattern = self._call("jacobian")(t, y, d, z), self._pattern
        shape = (pattern.rows, pattern.columns)
        return (
            csc_matrix((data[: pattern.nnz], pattern.indices, pattern.indptr), shape=shape),
            csc_matrix((data[pattern.nnz :], pattern.indices, pattern.indptr), shape=shape),
        )

    def dense_jacobian(self, t: float, y: Array, d: Array, z: Array) -> tuple[Array, Array]:
        """The same as arrays: for small systems sparse matrices cost more than they spare."""
        data, pattern = self._call("jacobian")(t, y, d, z), self._pattern
        both = np.zeros((2, pattern.rows * pattern.columns))
        both[:, self._place] = data.reshape(2, pattern.nnz)
        shape = (pattern.rows, pattern.columns)
        return both[0].reshape(shape), both[1].reshape(shape)

    def residual_rows(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        return self._many("residual", t, y, d, z)

    def residual_t_rows(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        return self._many("residual_t", t, y, d, z)

    def jacobian_rows(self, t: Array, y: Array, d: Array, z: Array) -> tuple[Array, Array]:
        data, pattern = self._many("jacobian", t, y, d, z), self._pattern
        both = np.zeros((len(t), 2, pattern.rows * pattern.columns))
        both[:, :, self._place] = data.reshape(len(t), 2, pattern.nnz)
        shape = (len(t), pattern.rows, pattern.columns)
        return both[:, 0].reshape(shape), both[:, 1].reshape(shape)

    def _many(self, name: str, t: Array, y: Array, d: Array, z: Array) -> Array:
        """A kernel in many points that share their modes."""
        return self.kernels.native(name).rows(t, y, d, self.whole, np.broadcast_to(z, (len(t), len(z))))

    def positions(self, t: float, y: Array, d: Array, z: Array) -> tuple[Array, Matrix]:
        pattern = self.compiled.program.patterns["position_jacobian"]
        values = self._call("position")(t, y, d, z)
        data = self._call("position_jacobian")(t, y, d, z)[: pattern.nnz]
        if len(y) <= DENSE:
            slopes = np.zeros((pattern.rows, pattern.columns))
            slopes[pattern.indices, np.repeat(np.arange(pattern.columns), np.diff(pattern.indptr))] = data
            return values, slopes
        from scipy.sparse import csc_matrix

        return values, csc_matrix(
            (data, pattern.indices, pattern.indptr), shape=(pattern.rows, pattern.columns)
        ).tocsr()

    def rounding(self, t: float, y: Array, d: Array, z: Array) -> Array:
        """How far rounding inside the laws may move each equation, beside that of its terms with variables."""
        from bglang.kernels.rounding import EPS, rounding

        program, pattern = self.compiled.program, self._pattern
        inside = rounding(program, program.kernels["residual"], one_point(t, y, d, self.whole, z))
        data = np.abs(self._call("jacobian")(t, y, d, z)).reshape(2, pattern.nnz)
        column = self._place % pattern.columns
        terms = data[0] * np.abs(y)[column] + data[1] * np.abs(d)[column]
        known = np.bincount(pattern.indices, terms, pattern.rows)
        found = np.maximum(inside - EPS * known, 0.0)
        return np.where(np.isfinite(found), found, 0.0)

    def residual_t(self, t: float, y: Array, d: Array, z: Array) -> Array:
        return self._call("residual_t")(t, y, d, z)

    def roots(self, t: float, y: Array, d: Array, z: Array) -> Array:
        return self._call("roots")(t, y, d, z)

    def outputs(self, t: Array, y: Array, d: Array, z: Array, chosen: Sequence[int]) -> Array:
        lowered = self.compiled.program.output_numbers
        points = Points(t, y, d, self.whole, z)
        if len(lowered) == len(self.system.outputs):
            return self.kernels.many("outputs", points, chosen)
        known = {int(k): i for i, k in enumerate(lowered)}
        if all(k in known for k in chosen):
            return self.kernels.many("outputs", points, [known[k] for k in chosen])
        from bglang.kernels.interpret import run_kernel

        program = self.compiled.output_program(chosen)
        points = Points(t, y, d, complete_vector(program, self.p), z)
        return run_kernel(program, program.kernels["outputs"], points)

    def powers(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        return self.kernels.many("powers", Points(t, y, d, self.whole, z))

    def node_powers(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        return self.kernels.native("powers").rows(t, y, d, self.whole, z)

    def energies(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        return self.kernels.many("energies", Points(t, y, d, self.whole, z))

    def efforts(self, t: Array, y: Array, d: Array, z: Array, chosen: Sequence[int]) -> Array:
        return self.kernels.many("efforts", Points(t, y, d, self.whole, z), chosen)

    def addresses(self) -> "CompiledModel":
        """The model as integrators want it."""
        from bglang.solve.integrators import CompiledModel, KernelCall

        def call(name: str) -> KernelCall:
            kernel = self.kernels.native(name)
            return KernelCall(kernel.address, kernel.index, kernel.counts, kernel)

        count = sum(len(m.roots) for m in self.system.modes)
        return CompiledModel(
            len(self.system.unknowns),
            count,
            call("residual"),
            call("jacobian"),
            call("roots") if count else None,
            self._pattern.indptr,
            self._pattern.indices,
            self.compiled.explicit,
        )
