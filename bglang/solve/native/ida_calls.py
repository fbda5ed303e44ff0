"""What IDA of SUNDIALS calls back, compiled: residual, matrix, solve, roots, weights.  No Python runs inside a step.

The user data of every call is the table of `layout.py`.  A linear solver of SUNDIALS has no user data; the caller
puts the table's address where `_table_of` looks for it.  Vectors are read through SUNDIALS' own function, whose
address is in the table, so that their layout does not matter.
"""

from typing import Any

from llvmlite import ir

from bglang.solve.native.control import count_rejection, note_not_finite
from bglang.solve.native.intrinsics import (
    INT64,
    REAL,
    Reals,
    Table,
    intrinsic,
    jit,
    reals,
    residual,
    root_functions,
    table,
    types,
)
from bglang.solve.native.iteration import evaluate_jacobian, factor_real, note_singular, solve_real
from bglang.solve.native.layout import (
    GROW,
    IDA_ARRAY,
    IDA_STATUS,
    LOCAL,
    MORE_MEMORY,
    REALS,
    REASON_NAN,
    RESIDUALS,
    ROOT_CALLS,
    WEIGHT,
    N,
)
from bglang.solve.native.noise import note_noise
from bglang.solve.native.weights import begin_sizes, set_weights

RECOVERABLE, FATAL = 1, -1


@intrinsic
def _call_array(typingctx: Any, address: Any, vector: Any) -> Any:
    """double* (*)(void*)"""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.DoubleType().as_pointer(), [args[1].type])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), [args[1]])

    return REAL(types.int64, INT64), code


@jit
def _array(c: Table, vector: Table) -> Reals:
    data: Reals = _call_array(c[IDA_ARRAY], vector)
    return data


@jit
def _table_of(solver: Table) -> Table:
    """content -> array of pivots of the (unused) dense solver -> our table."""
    return table(table(table(solver, 0), 1), 0)


@jit
def ida_residual(t: float, y: Table, d: Table, out: Table, c: Table) -> int:
    f = _array(c, out)
    residual(c, t, _array(c, y), _array(c, d), f)
    c[RESIDUALS] += 1
    if note_not_finite(c, f, 1):
        count_rejection(c, REASON_NAN)
        return RECOVERABLE
    return 0


@jit
def ida_jacobian(
    t: float, cj: float, y: Table, d: Table, r: Table, m: Table, c: Table, w1: Table, w2: Table, w3: Table
) -> int:
    """Evaluates and factors at once: SUNDIALS asks for a new matrix only to factor it."""
    evaluate_jacobian(c, t, _array(c, y), _array(c, d))
    code = factor_real(c, cj)
    if code == MORE_MEMORY:
        c[IDA_STATUS] = GROW
        return FATAL
    if code != 0:
        count_rejection(c, note_singular(c, code))
        return RECOVERABLE
    note_noise(c, _array(c, y), _array(c, d))
    return 0


@jit
def ida_setup(solver: Table, matrix: Table) -> int:
    """Already done."""
    return 0


@jit
def ida_solve(solver: Table, matrix: Table, x: Table, b: Table, tolerance: float) -> int:
    c = _table_of(solver)
    target, source = _array(c, x), _array(c, b)
    for i in range(c[N]):
        target[i] = source[i]
    solve_real(c, target)
    return 0


@jit
def ida_roots(t: float, y: Table, d: Table, out: Reals, c: Table) -> int:
    root_functions(c, t, _array(c, y), _array(c, d), out)
    c[ROOT_CALLS] += 1
    return 0


@jit
def ida_weights(y: Table, out: Table, c: Table) -> int:
    """SUNDIALS multiplies with reciprocals."""
    values, inverse, weight = _array(c, y), _array(c, out), reals(c, WEIGHT)
    begin_sizes(c, values)
    set_weights(c, values, reals(c, REALS)[LOCAL])
    for i in range(c[N]):
        inverse[i] = 1.0 / weight[i]
    return 0
