"""IDA of SUNDIALS, from the libraries that the scikit-sundae wheel brings, behind the same face as our own integrators.

Everything that IDA calls back is compiled (`ida_calls.py`); matrices are factored by our own dense or sparse LU,
which is put in place of the functions of a dense solver object that is otherwise not used.
"""

import ctypes
import importlib.util
import weakref
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bglang.solve.integrators import Integrator
from bglang.solve.native import layout as at
from bglang.solve.native.load import load
from bglang.solve.native.settings import Outcome, Statistics, Status

POINTER, REAL, INDEX, INT, LONG = ctypes.c_void_p, ctypes.c_double, ctypes.c_int32, ctypes.c_int, ctypes.c_long
PARTS = ("core", "nvecserial", "sunmatrixdense", "sunlinsoldense", "ida")
NORMAL, ONE_STEP = 1, 2
TOLERANCE_PART = 0.1
"""Of the tolerance, for a local error: they add up, and results keep about the tolerance asked."""
TSTOP, ROOT_FOUND, TOO_MUCH_WORK = 1, 2, -1
FAILURES: dict[int, tuple[Outcome, str]] = {
    -3: ("step too small", "error"),
    -4: ("newton failed", "newton"),
    -6: ("singular", "singular"),
    -9: ("not finite", "not finite"),
    -10: ("not finite", "not finite"),
}


class NoSundials(Exception):
    """The libraries are not there, or not as expected."""


@cache
def libraries() -> dict[str, ctypes.CDLL]:
    """The shared libraries of the wheel, with all that they depend on."""
    spec = importlib.util.find_spec("sksundae")
    if spec is None or spec.origin is None:
        raise NoSundials("scikit-sundae is not installed")
    import sksundae.ida  # noqa: F401  its own import finds what the libraries need

    home = Path(spec.origin).parent
    found = {}
    for part in PARTS:
        folders = (home.parent / "scikit_sundae.libs", home / ".dylibs", home.parent / "scikit_sundae.dylibs")
        paths = [path for folder in folders for path in sorted(folder.glob(f"*sundials_{part}*"))]
        if not paths:
            raise NoSundials(f"scikit-sundae has no library `{part}` where it is looked for")
        found[part] = ctypes.CDLL(str(paths[0]))
    return found


def _function(part: str, name: str, *arguments: Any, result: Any = INT) -> Any:
    try:
        function = getattr(libraries()[part], name)
    except AttributeError:
        raise NoSundials(f"the SUNDIALS of scikit-sundae has no `{name}`") from None
    function.argtypes, function.restype = arguments, result
    return function


def _address(part: str, name: str) -> int:
    return ctypes.cast(getattr(libraries()[part], name), POINTER).value or 0


def _word(address: int) -> ctypes.c_int64:
    return ctypes.c_int64.from_address(address)


class _Objects:
    """The objects of SUNDIALS that one integration needs; `free` gives them back."""

    def __init__(self, y: Any, d: Any, table: int, module: Any) -> None:
        context = POINTER()
        _function("core", "SUNContext_Create", INT, POINTER)(0, ctypes.addressof(context))
        self.context = context
        _function("core", "SUNContext_ClearErrHandlers", POINTER)(context)  # failures are seen in the status
        vector = _function("nvecserial", "N_VMake_Serial", INDEX, POINTER, POINTER, result=POINTER)
        self.y, self.d = vector(len(y), y.ctypes.data, context), vector(len(d), d.ctypes.data, context)
        self.memory = _function("ida", "IDACreate", POINTER, result=POINTER)(context)
        self._numbers = np.zeros(4)
        self.small = vector(4, self._numbers.ctypes.data, context)
        self.matrix = _function("sunmatrixdense", "SUNDenseMatrix", INDEX, INDEX, POINTER, result=POINTER)(
            4, 4, context
        )
        make = _function("sunlinsoldense", "SUNLinSol_Dense", POINTER, POINTER, POINTER, result=POINTER)
        self.solver = make(self.small, self.matrix, context)
        self._replace(table, module)

    def _replace(self, table: int, module: Any) -> None:
        """Our functions in place of the dense solver's; our table in the memory of its pivots, which nobody uses."""
        # An object begins with its content, then in newer versions a word of Python's, then its table of functions.
        content = _word(self.solver).value
        operations = _word(self.solver + 8).value or _word(self.solver + 16).value
        wanted = {
            _address("sunlinsoldense", "SUNLinSolSetup_Dense"): module["ida_setup"],
            _address("sunlinsoldense", "SUNLinSolSolve_Dense"): module["ida_solve"],
        }
        places = {_word(operations + 8 * k).value: operations + 8 * k for k in range(12)}
        if not wanted.keys() <= places.keys():
            raise NoSundials("the linear solvers of this SUNDIALS are laid out in another way")
        for old, new in wanted.items():
            _word(places[old]).value = new
        _word(_word(content + 8).value).value = table

    def free(self) -> None:
        memory = POINTER(self.memory)
        _function("ida", "IDAFree", POINTER, result=None)(ctypes.addressof(memory))
        _function("core", "SUNLinSolFree", POINTER)(self.solver)
        _function("core", "SUNMatDestroy", POINTER, result=None)(self.matrix)
        for vector in (self.y, self.d, self.small):
            _function("core", "N_VDestroy", POINTER, result=None)(vector)
        _function("core", "SUNContext_Free", POINTER)(ctypes.addressof(self.context))


class IdaIntegrator(Integrator):
    """Roots are IDA's own: sides given are not looked at."""

    def _load(self) -> None:
        assert self.settings.step is None, "IDA has no fixed step"
        self._reals[at.LOCAL] = TOLERANCE_PART * self.settings.rtol
        self._module = module = load("ida")
        self._table[at.IDA_ARRAY] = _address("core", "N_VGetArrayPointer")
        self._objects = _Objects(self.y, self.d, self._memory.address, module)
        self._finalizer = weakref.finalize(self, self._objects.free)
        self._begun, self._fresh, self._reached = False, True, ctypes.c_double()

    def _ida(self, name: str, *arguments: Any) -> int:
        kinds = [REAL if isinstance(a, float) else LONG if name == "IDASetMaxNumSteps" else POINTER for a in arguments]
        return int(_function("ida", name, POINTER, *kinds)(self._objects.memory, *arguments))

    def _begin(self) -> None:
        """(Re)initialise at the present point."""
        objects, module = self._objects, self._module
        if self._begun:
            self._ida("IDAReInit", self.t, objects.y, objects.d)
        else:
            initialise = _function("ida", "IDAInit", POINTER, POINTER, REAL, POINTER, POINTER)
            initialise(objects.memory, module["ida_residual"], self.t, objects.y, objects.d)
            self._ida("IDASetUserData", self._memory.address)
            self._ida("IDAWFtolerances", module["ida_weights"])
            self._ida("IDASetLinearSolver", objects.solver, objects.matrix)
            self._ida("IDASetJacFn", module["ida_jacobian"])
            if np.isfinite(self.settings.max_step):
                self._ida("IDASetMaxStep", float(self.settings.max_step))
        if self.model.nroots:
            watched = (self._memory.array(at.SIDE) != at.IGNORED).any()
            start_roots = _function("ida", "IDARootInit", POINTER, INT, POINTER)
            start_roots(objects.memory, self.model.nroots if watched else 0, module["ida_roots"] if watched else None)
        self._ida("IDASetInitStep", float(self.settings.first_step))
        self._begun, self._fresh = True, False

    def restart(self, *arguments: Any, **named: Any) -> None:
        super().restart(*arguments, **named)
        self._fresh = True

    def advance(self, t_end: float) -> Status:
        if self._fresh:
            self._reals[at.T_END] = t_end
            self._emit_here()
            self._begin()
        if t_end <= self.t:
            return Status("done", self.t)
        self._ida("IDASetStopTime", float(t_end))
        while True:
            code = self._step(t_end)
            if code == TOO_MUCH_WORK:
                self._look_up(0.1)
                if self._count("IDAGetNumSteps") >= self.settings.max_steps:
                    return self._failed("too many steps")
            elif code < 0:
                if self._table[at.IDA_STATUS] != at.GROW:
                    return self._gave_up(code)
                self._table[at.IDA_STATUS] = 0
                for factors in self._factors:
                    factors.grow_if_short()
                self._begin()
                self._ida("IDASetStopTime", float(t_end))
            elif code == ROOT_FOUND and (found := self._found()):
                self._drain()
                return Status("root", self.t, found)
            elif self.t >= t_end:
                self._drain()
                return Status("done", self.t)

    def _step(self, t_end: float) -> int:
        """To the next row, or one step if every step is a row."""
        objects, table, times = self._objects, self._table, self._memory.array(at.TOUT)
        k = int(table[at.NEXT])
        target = min(t_end, times[k]) if k < table[at.NTOUT] else t_end
        every = self.settings.every_step
        self._ida("IDASetMaxNumSteps", self._chunk)
        call = _function("ida", "IDASolve", POINTER, REAL, POINTER, POINTER, POINTER, INT)
        reached = ctypes.addressof(self._reached)
        code = int(call(objects.memory, target, reached, objects.y, objects.d, ONE_STEP if every else NORMAL))
        before, self._reals[at.T_AT] = self.t, self._reached.value
        if every and code >= 0:
            self._rows_between(before, t_end)
            self._row()
        elif code in (0, TSTOP) and self.t < t_end:
            self._row()
            table[at.NEXT] += 1
        return code

    def _rows_between(self, before: float, t_end: float) -> None:
        """Rows of the grid inside the last step, by IDA's own interpolation."""
        table, times = self._table, self._memory.array(at.TOUT)
        derivative = _function("ida", "IDAGetDky", POINTER, REAL, INT, POINTER)
        y, d, now = self.y.copy(), self.d.copy(), self.t
        while table[at.NEXT] < table[at.NTOUT] and times[table[at.NEXT]] < min(now, t_end):
            self._reals[at.T_AT] = times[table[at.NEXT]]
            derivative(self._objects.memory, self.t, 0, self._objects.y)
            derivative(self._objects.memory, self.t, 1, self._objects.d)
            self._row()
            table[at.NEXT] += 1
        self._reals[at.T_AT] = now
        self.y[:], self.d[:] = y, d

    def _row(self) -> None:
        if self._table[at.OUT_COUNT] >= self._table[at.OUT_CAPACITY]:
            self._drain()
        k = int(self._table[at.OUT_COUNT])
        self._out_t[k], self._out_y[k] = self.t, self.y
        if self._out_d is not None:
            self._out_d[k] = self.d
        self._table[at.OUT_COUNT] += 1

    def _emit_here(self) -> None:
        """Rows of the grid up to and including the present point."""
        times, table = self._memory.array(at.TOUT), self._table
        while table[at.NEXT] < table[at.NTOUT] and times[table[at.NEXT]] <= self.t:
            self._row()
            table[at.NEXT] += 1

    def finish(self) -> None:
        self._emit_here()
        self._drain()

    def _found(self) -> tuple[tuple[int, int], ...]:
        """Roots that crossed, without those that are not watched or come back to where their mode has them."""
        signs = np.zeros(self.model.nroots, np.int32)
        self._ida("IDAGetRootInfo", signs.ctypes.data)
        sides = self._memory.array(at.SIDE)
        found = [k for k in np.flatnonzero(signs) if sides[k] not in (at.IGNORED, signs[k])]
        for k in found:
            sides[k] = signs[k] if sides[k] != 0 else 0
        return tuple((int(k), int(signs[k])) for k in found)

    def _gave_up(self, code: int) -> Status:
        """The status of a failure; the variable is the one with the largest estimated error."""
        self._drain()
        outcome, reason = FAILURES.get(code, ("newton failed", "newton"))
        if self._table[at.LAST_REASON] == at.REASON_NAN:
            outcome, reason = "not finite", "not finite"
        elif reason in ("error", "newton"):
            errors = np.zeros(self.model.n)
            vector = _function("nvecserial", "N_VMake_Serial", INDEX, POINTER, POINTER, result=POINTER)(
                self.model.n, errors.ctypes.data, self._objects.context
            )
            self._ida("IDAGetEstLocalErrors", vector)
            _function("core", "N_VDestroy", POINTER, result=None)(vector)
            weight = self._memory.array(at.WEIGHT)
            self._table[at.WORST_VARIABLE], self._table[at.WORST_ROW] = int(np.argmax(np.abs(errors) / weight)), -1
        row, variable = int(self._table[at.WORST_ROW]), int(self._table[at.WORST_VARIABLE])
        return Status(
            outcome,
            self.t,
            reason=reason,
            variable=variable if variable >= 0 else None,
            row=row if row >= 0 else None,
        )

    def _count(self, name: str) -> int:
        number = ctypes.c_long()
        if self._begun:
            self._ida(name, ctypes.addressof(number))
        return number.value

    @property
    def statistics(self) -> Statistics:
        """Since the last restart, as IDA counts."""
        table = self._table
        return Statistics(
            steps=self._count("IDAGetNumSteps"),
            rejected_error=self._count("IDAGetNumErrTestFails"),
            rejected_newton=self._count("IDAGetNumNonlinSolvConvFails"),
            rejected_not_finite=int(table[at.REJECTED_NAN]),
            rejected_singular=int(table[at.REJECTED_SINGULAR]),
            residuals=int(table[at.RESIDUALS]),
            jacobians=int(table[at.JACOBIANS]),
            factorisations=int(table[at.FACTORISATIONS]),
            iterations=self._count("IDAGetNumNonlinSolvIters"),
            root_calls=int(table[at.ROOT_CALLS]),
        )
