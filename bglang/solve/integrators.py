"""Compiled integrators seen from Python: start, advance to a time or to the next root, change things, go on.

    integrator = make_integrator(model, Settings(method="radau", rtol=1e-6, times=grid), sink)
    integrator.start(t, y, d, p, z)
    status = integrator.advance(t_end)        # "done", "root" or why it failed
    integrator.restart(y=..., d=..., z=...)   # after an event that changed something
    integrator.finish()                       # the last row of the grid

Nothing here is called from inside a step; the compiled loop comes back after a bounded number of steps, so that Ctrl-C
and progress work, and whenever its buffer of rows is full, so that memory is bounded and results are written as the run
goes.
"""

import ctypes
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bglang.solve.linear import LUTable
from bglang.solve.native import layout as at
from bglang.solve.native.load import load
from bglang.solve.native.memory import (
    CompiledModel,
    Floats,
    Index,
    KernelCall,
    Long,
    Memory,
    adams_arrays,
    bdf_arrays,
    dense_matrices,
    describe_model,
    radau_arrays,
    rk_arrays,
    root_arrays,
)
from bglang.solve.native.settings import Method, Outcome, Progress, Settings, Sink, Statistics, Status

__all__ = [
    "CompiledModel",
    "Integrator",
    "KernelCall",
    "Method",
    "Settings",
    "Statistics",
    "Status",
    "make_integrator",
]

OUTCOMES: dict[int, Outcome] = {
    at.DONE: "done",
    at.ROOT: "root",
    at.STIFF: "stiff",
    at.STEP_TOO_SMALL: "step too small",
    at.NEWTON_FAILED: "newton failed",
    at.SINGULAR: "singular",
    at.NOT_FINITE: "not finite",
}
PATIENCE = 0.1  # seconds between two looks at the world
DENSE_SIZE, DENSE_PART = 12, 0.4  # up to this size, or from this part of nonzero entries on, matrices are dense
BUFFER = 1 << 17  # numbers in the buffer of rows, at least one row


class Integrator:
    """One integration of a compiled model."""

    def __init__(
        self, model: CompiledModel, settings: Settings, sink: Sink | None = None, progress: Progress | None = None
    ) -> None:
        self.model, self.settings, self.sink, self.progress = model, settings, sink, progress
        self._memory = memory = Memory()
        self._table, self._reals = memory.table, memory.reals
        n = model.n
        assert n > 0, "a model without unknowns needs no integrator"
        describe_model(memory, model)
        root_arrays(memory, model.nroots)
        self.y, self.d = memory.floats(at.Y_AT, n), memory.floats(at.D_AT, n)
        for slot in (at.Y, at.D, at.WEIGHT, at.BASE):
            memory.floats(slot, n)
        self._noise = memory.floats(at.NOISE, n)
        rounding = memory.floats(at.ROUNDING, n)
        if settings.rounding is not None:
            rounding[:] = settings.rounding
        memory.floats(at.FY, 2 * len(model.indices))
        self._factors: tuple[LUTable, ...] = ()
        if settings.method in ("rk", "adams"):
            assert model.explicit, "an explicit method needs an explicit model"
            (rk_arrays if settings.method == "rk" else adams_arrays)(memory, n)
        else:
            memory.ints(at.ALGEBRAIC, n)
            (radau_arrays if settings.method == "radau" else bdf_arrays)(memory, n)
            self._factors = self._prepare_matrices(settings.method == "radau")
        self._prepare_weights()
        self._prepare_output()
        self._prepare_control()
        self._chunk = 256
        self._load()
        self._first_reals = self._reals.copy()
        self._snapshot: tuple[Long, Floats] | None = None

    def _load(self) -> None:
        self._module = load(self.settings.method)
        self._advance = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(self._module["advance"])

    # --- setting up ---------------------------------------------------------------------------------------------------

    def _prepare_matrices(self, with_complex: bool) -> tuple[LUTable, ...]:
        """Room for iteration matrices, dense when small; the tables of sparse factorisations."""
        model, memory, table = self.model, self._memory, self._table
        nnz = len(model.indices)
        if model.n <= DENSE_SIZE or nnz > DENSE_PART * model.n**2:
            dense_matrices(memory, model.n, with_complex)
            return ()
        linear = load("linear")
        table[at.SPARSE] = 1
        memory.floats(at.MATRIX, nnz)
        factors = [LUTable(model.n, model.indptr, model.indices)]
        table[at.LU] = factors[0].address
        table[at.LU_FACTOR], table[at.LU_SOLVE] = linear["factor"], linear["solve"]
        if with_complex:
            memory.complexes(at.MATRIX_COMPLEX, nnz)
            factors.append(LUTable(model.n, model.indptr, model.indices, np.complex128))
            table[at.LU_COMPLEX] = factors[1].address
            table[at.LU_FACTOR_COMPLEX] = linear["factor_complex"]
            table[at.LU_SOLVE_COMPLEX] = linear["solve_complex"]
        return tuple(factors)

    def _prepare_weights(self) -> None:
        n, memory, settings = self.model.n, self._memory, self.settings
        self.size = memory.floats(at.SIZE, n)
        given = self._given = memory.ints(at.GIVEN, n)
        if settings.nominal is not None:
            nominal = np.abs(np.asarray(settings.nominal, dtype=np.float64))
            given[:] = np.isfinite(nominal) & (nominal > 0.0)
            self.size[:] = np.where(given, nominal, 0.0)
        groups = np.zeros(n, int) if settings.groups is None else np.unique(settings.groups, return_inverse=True)[1]
        memory.keep(at.GROUP, groups.astype(np.int32))
        count = int(groups.max(initial=0)) + 1
        self._table[at.NGROUPS] = count
        memory.floats(at.GROUP_SIZE, count)
        if settings.order is not None:
            memory.keep(at.ORDER, np.ascontiguousarray(settings.order, np.int32))

    def _prepare_output(self) -> None:
        n, memory, settings = self.model.n, self._memory, self.settings
        times = self._times = memory.keep(at.TOUT, np.array(settings.times, dtype=np.float64))
        rows = max(1, min(BUFFER // n, 4096))
        self._out_t, self._out_y = memory.floats(at.OUT_T, rows), memory.floats(at.OUT_Y, rows * n).reshape(rows, n)
        self._out_d = memory.floats(at.OUT_D, rows * n).reshape(rows, n) if settings.rates else None
        table = self._table
        table[at.NTOUT], table[at.OUT_CAPACITY], table[at.EVERY_STEP] = len(times), rows, settings.every_step

    def _prepare_control(self) -> None:
        settings, reals, table = self.settings, self._reals, self._table
        reals[at.RTOL], reals[at.H_MAX] = settings.rtol, settings.max_step
        reals[at.LOCAL] = settings.rtol
        reals[at.H] = settings.first_step
        if settings.step is not None:
            reals[at.H], table[at.FIXED_STEP] = settings.step, 1
        reals[at.ROOT_INTERVAL], reals[at.ROOT_MERGE] = settings.root_interval, settings.root_merge
        table[at.ROOT_POINTS] = settings.root_points

    # --- running ------------------------------------------------------------------------------------------------------

    @property
    def t(self) -> float:
        return float(self._reals[at.T_AT])

    @property
    def dense(self) -> bool:
        """Whether matrices are dense: then nothing of one run is left for the next."""
        return bool(self._table[at.SPARSE] == 0)

    @property
    def steps(self) -> int:
        return int(self._table[at.STEPS])

    def again(self, t: float, y: Floats, d: Floats, p: Floats, nominal: Floats) -> None:
        """Begin another run of the same model, without roots, as if just made."""
        if self._snapshot is None:
            self.start(t, y, d, p, np.zeros(0))
            self._table[at.STEPS : at.WORST_ROW + 1] = 0
            self._snapshot = (self._table.copy(), self._first_reals)
        self._table[:], self._reals[:] = self._snapshot
        self._reals[at.T_AT] = t
        self._table[at.NEXT] = np.searchsorted(self._times, t)
        self.y[:], self.d[:], self.p[:] = y, d, p
        given = nominal > 0.0  # False for NaN
        self._given[:] = given
        self.size[:] = np.where(given, nominal, 0.0)
        self._noise[:] = 0.0

    def start(
        self,
        t: float,
        y: npt.ArrayLike,
        d: npt.ArrayLike,
        p: npt.ArrayLike,
        z: npt.ArrayLike,
        sides: Sequence[int] | Index | None = None,
    ) -> None:
        """Begin at a consistent point.  Rows of the grid before t are left out."""
        self._reals[at.T_AT] = t
        self.p = self._memory.keep(at.P, np.array(p, dtype=np.float64).reshape(-1))
        self.z = self._memory.keep(at.Z, np.array(z, dtype=np.float64).reshape(-1))
        self._table[at.NEXT] = np.searchsorted(self._memory.array(at.TOUT), t)
        self.restart(y, d, sides=sides, zero=None)

    def restart(
        self,
        y: npt.ArrayLike | None = None,
        d: npt.ArrayLike | None = None,
        z: npt.ArrayLike | None = None,
        p: npt.ArrayLike | None = None,
        sides: Sequence[int] | Index | None = None,
        zero: Sequence[int] | Index | None = None,
        first_step: float | None = None,
    ) -> None:
        """Go on from the present point with other values.

        `sides` is the sign of each root function that belongs to its present mode: 1, -1, 0 to take it from the
        value, 2 for a root that is not watched.  `zero` is the sign that a value of exactly zero counts as (0: that
        of the side).  Without a restart `advance` goes on after a root as if nothing had happened, without losing its
        history."""
        for array, values in ((self.y, y), (self.d, d), (self.z, z), (self.p, p)):
            if values is not None:
                array[:] = values
        side_array, zero_array = self._memory.array(at.SIDE), self._memory.array(at.ZERO)
        side_array[:] = 0
        if sides is not None:
            side_array[: self.model.nroots] = sides
        if zero is not None:
            zero_array[: self.model.nroots] = zero
        if first_step is not None and self.settings.step is None:
            self._reals[at.H] = first_step
        self._table[at.PHASE] = at.PHASE_FRESH

    def advance(self, t_end: float) -> Status:
        """To t_end, never evaluating beyond it, or to the next root."""
        self._reals[at.T_END] = t_end
        while True:
            self._table[at.MAX_ATTEMPTS] = self._chunk
            began = time.perf_counter()
            code = int(self._advance(self._memory.address))
            spent = time.perf_counter() - began
            if code == at.BUFFER_FULL:
                self._drain()
                continue
            if code == at.GROW:
                for factors in self._factors:
                    factors.grow_if_short()
                continue
            if code == at.CONTINUE:
                self._look_up(spent)
                if self._table[at.STEPS] >= self.settings.max_steps:
                    self._drain()
                    return self._failed("too many steps")
                continue
            self._drain()
            outcome = OUTCOMES[code]
            if code == at.ROOT:
                found = self._memory.array(at.FOUND)[: self.model.nroots]
                return Status(outcome, self.t, tuple((int(k), int(found[k])) for k in np.flatnonzero(found)))
            return Status(outcome, self.t) if code == at.DONE else self._failed(outcome)

    def finish(self) -> None:
        """The rows of the grid up to the present time: the last one, which waits for events at the end."""
        self._table[at.PHASE] = at.PHASE_FINISH
        while self._advance(self._memory.address) == at.BUFFER_FULL:
            self._drain()
        self._drain()

    def _look_up(self, spent: float) -> None:
        """After a chunk of steps: report, and make chunks that last about as long as our patience."""
        if spent < 0.5 * PATIENCE:
            self._chunk = min(2 * self._chunk, 1 << 30)
        elif spent > 2.0 * PATIENCE:
            self._chunk = max(self._chunk // 2, 1)
        if self.progress is not None:
            self.progress(self.t)

    def _drain(self) -> None:
        count = int(self._table[at.OUT_COUNT])
        if count and self.sink is not None:
            self.sink(self._out_t[:count], self._out_y[:count], None if self._out_d is None else self._out_d[:count])
        self._table[at.OUT_COUNT] = 0

    def _failed(self, outcome: Outcome) -> Status:
        table = self._table
        reasons = {
            at.REASON_ERROR: "error",
            at.REASON_NEWTON: "newton",
            at.REASON_NAN: "not finite",
            at.REASON_SINGULAR: "singular",
        }
        variable, row = int(table[at.WORST_VARIABLE]), int(table[at.WORST_ROW])
        return Status(
            outcome,
            self.t,
            reason=reasons.get(int(table[at.LAST_REASON]), ""),
            variable=variable if variable >= 0 else None,
            row=row if row >= 0 else None,
            step=float(self._reals[at.H]),
        )

    @property
    def statistics(self) -> Statistics:
        table = self._table
        return Statistics(
            steps=int(table[at.STEPS]),
            rejected_error=int(table[at.REJECTED_ERROR]),
            rejected_newton=int(table[at.REJECTED_NEWTON]),
            rejected_not_finite=int(table[at.REJECTED_NAN]),
            rejected_singular=int(table[at.REJECTED_SINGULAR]),
            residuals=int(table[at.RESIDUALS]),
            jacobians=int(table[at.JACOBIANS]),
            factorisations=int(table[at.FACTORISATIONS]),
            iterations=int(table[at.ITERATIONS]),
            root_calls=int(table[at.ROOT_CALLS]),
        )


def make_integrator(
    model: CompiledModel, settings: Settings, sink: Sink | None = None, progress: Progress | None = None
) -> Integrator:
    """An integrator for the method that the settings name."""
    if settings.method == "ida":
        from bglang.solve.native.sundials import IdaIntegrator

        return IdaIntegrator(model, settings, sink, progress)
    return Integrator(model, settings, sink, progress)
