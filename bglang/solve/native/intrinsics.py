"""What compiled code needs beyond numba's own Python: pointers out of the table, and calls through addresses.

Rules for everything that is compiled here: pointers only (indexing neither checks nor wraps), no arrays, no exceptions,
no tuples indexed by a variable, no complex division.  Then the code needs nothing but libm.
"""

import os
from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

os.environ.setdefault("NUMBA_DISABLE_INTEL_SVML", "1")  # its vector functions live in a library that users may lack

import numba as _numba
import numba.extending
from llvmlite import ir

from bglang.solve.native.layout import JACOBIAN, RESIDUAL, ROOTS, P, Z

nb: Any = _numba  # its stubs describe what Python sees, not what compiled code sees
types = nb.types
Number = TypeVar("Number")
Function = TypeVar("Function", bound=Callable[..., Any])


class Pointer(Generic[Number]):
    """How a C pointer looks to the type checker; the compiler sees `types.CPointer`."""

    def __getitem__(self, index: int) -> Number:
        raise NotImplementedError

    def __setitem__(self, index: int, value: Number) -> None:
        raise NotImplementedError


Reals: TypeAlias = Pointer[float]
Complexes: TypeAlias = Pointer[complex]
Ints: TypeAlias = Pointer[int]
Table: TypeAlias = Pointer[int]

REAL, COMPLEX, INT32, INT64 = (types.CPointer(t) for t in (types.float64, types.complex128, types.int32, types.int64))


def jit(function: Function) -> Function:
    """Compiled when first called from compiled code; divisions by zero give inf, nothing is allocated."""
    options = {"error_model": "numpy", "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled: Function = nb.njit(**options)(function)
    return compiled


def intrinsic(function: Function) -> Any:
    """A function whose body is LLVM IR."""
    return nb.extending.intrinsic(function)


def _loader(kind: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = builder.load(builder.gep(args[0], [args[1]]))
        return builder.inttoptr(address, context.get_value_type(kind))

    return kind(INT64, types.int64), code


@intrinsic
def _reals(typingctx: Any, table: Any, slot: Any) -> Any:
    return _loader(REAL)


@intrinsic
def _complexes(typingctx: Any, table: Any, slot: Any) -> Any:
    return _loader(COMPLEX)


@intrinsic
def _ints(typingctx: Any, table: Any, slot: Any) -> Any:
    return _loader(INT32)


@intrinsic
def _table(typingctx: Any, table: Any, slot: Any) -> Any:
    return _loader(INT64)


@intrinsic
def _shift(typingctx: Any, pointer: Any, count: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, types.int64), code


@intrinsic
def _call_kernel(typingctx: Any, c: Any, slot: Any, t: Any, y: Any, d: Any, out: Any) -> Any:
    """The kernel at c[slot], with its index and counts and the model's p and z."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        table, slot_, t_, y_, d_, out_ = args
        one, long = ir.IntType(64)(1), ir.IntType(64)
        real, index, count = (
            ir.DoubleType().as_pointer(),
            ir.IntType(32).as_pointer(),
            long.as_pointer(),
        )

        def at(position: Any) -> Any:
            return builder.load(builder.gep(table, [position]))

        kind = ir.FunctionType(ir.VoidType(), [ir.DoubleType(), real, real, real, real, index, count, real])
        second = builder.add(slot_, one)
        builder.call(
            builder.inttoptr(at(slot_), kind.as_pointer()),
            [
                t_,
                y_,
                d_,
                builder.inttoptr(at(long(P)), real),
                builder.inttoptr(at(long(Z)), real),
                builder.inttoptr(at(second), index),
                builder.inttoptr(at(builder.add(second, one)), count),
                out_,
            ],
        )
        return context.get_dummy_value()

    return types.void(INT64, types.int64, types.float64, REAL, REAL, REAL), code


@intrinsic
def _call_table(typingctx: Any, address: Any, a: Any, b: Any) -> Any:
    """int64 (*)(void* a, void* b): how one compiled module calls a function of another."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [value.type for value in args[1:]])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])

    return types.int64(types.int64, a, b), code


@intrinsic
def _times(typingctx: Any, a: Any, b: Any) -> Any:
    """a * b by the plain formula: numba's complex product also repairs infinities, which costs and is not wanted."""
    if a != types.complex128:
        return types.float64(types.float64, types.float64), lambda context, builder, _, args: builder.fmul(*args)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (ar, ai), (br, bi) = ([builder.extract_value(x, k) for k in (0, 1)] for x in args)
        real = builder.fsub(builder.fmul(ar, br), builder.fmul(ai, bi))
        imag = builder.fadd(builder.fmul(ar, bi), builder.fmul(ai, br))
        return builder.insert_value(builder.insert_value(args[0], real, 0), imag, 1)

    return types.complex128(types.complex128, types.complex128), code


@intrinsic
def _root(typingctx: Any, x: Any) -> Any:
    """The square root as one instruction; NaN for negative numbers."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.sqrt", [ir.DoubleType()]), args)

    return types.float64(types.float64), code


# The names the rest uses, with types that the checker understands.
reals: Callable[[Table, int], Reals] = _reals
complexes: Callable[[Table, int], Complexes] = _complexes
ints: Callable[[Table, int], Ints] = _ints
table: Callable[[Table, int], Table] = _table
shift: Callable[[Any, int], Any] = _shift
call_table: Callable[[int, Any, Any], int] = _call_table
times: Callable[[Any, Any], Any] = _times
root: Callable[[float], float] = _root
call_kernel: Callable[[Table, int, float, Reals, Reals, Reals], None] = _call_kernel


@jit
def residual(c: Table, t: float, y: Reals, d: Reals, out: Reals) -> None:
    call_kernel(c, RESIDUAL, t, y, d, out)


@jit
def jacobian(c: Table, t: float, y: Reals, d: Reals, out: Reals) -> None:
    call_kernel(c, JACOBIAN, t, y, d, out)


@jit
def root_functions(c: Table, t: float, y: Reals, d: Reals, out: Reals) -> None:
    call_kernel(c, ROOTS, t, y, d, out)
