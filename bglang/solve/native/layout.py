"""How a model and a running integration look in memory: one table of 64-bit integers and one of doubles.

The integer table `c` holds counts, flags, statistics and *addresses*.  The table of doubles, whose address is
`c[REALS]`, holds times, step sizes and tolerances.  All memory belongs to the caller.  A model is the first block of
the table: three kernels by address, each with its own index and count arrays, and the sparsity pattern of the Jacobian.
"""

from typing import Final

# --- the integer table ------------------------------------------------------------------------------------------------
# The model.  Kernels: void k(double t, y*, d*, p*, z*, int32_t* index, int64_t* counts, double* out).
N: Final = 0
NNZ: Final = 1
NROOTS: Final = 2
RESIDUAL: Final = 3  # kernel, index, counts follow one another
JACOBIAN: Final = 6  # writes dF/dy into out[0:nnz] and dF/d(dy/dt) into out[nnz:2 nnz]
ROOTS: Final = 9
P: Final = 12
Z: Final = 13
INDPTR: Final = 14  # compressed columns, int32
INDICES: Final = 15

# The point the caller sees, and the state of the integration itself (end of the last accepted step).
REALS: Final = 16
Y_AT: Final = 17
D_AT: Final = 18
Y: Final = 19
D: Final = 20

# Error weights: size shown so far or nominal value; 1 where the nominal value was given; groups of likes.
SIZE: Final = 21
GIVEN: Final = 22
GROUP: Final = 23
NGROUPS: Final = 24
GROUP_SIZE: Final = 25
WOKEN: Final = 26  # how often a group at rest made a step be tried again
WEIGHT: Final = 27
NOISE: Final = 29  # what rounding errors of the residual alone may do to each variable
ROUNDING: Final = 39  # how far rounding inside the laws of each equation may move it
ORDER: Final = 28  # int32, differentiation index of a variable: 0 or 1, or 2, 3 for multipliers; address 0: all 1

# Outputs: a grid of times and a buffer of rows that the caller empties.
TOUT: Final = 30
NTOUT: Final = 31
NEXT: Final = 32
EVERY_STEP: Final = 33
OUT_T: Final = 34
OUT_Y: Final = 35
OUT_D: Final = 36  # address 0: rates are not wanted
OUT_COUNT: Final = 37
OUT_CAPACITY: Final = 38

# Roots.  SIDE: sign that belongs to the present mode (0: take it from the value, IGNORED: do not watch).
# ZERO: the sign that a value of exactly zero counts as (0: whatever the side is).  FOUND: new sign, or 0.
SIDE: Final = 40
ZERO: Final = 41
FOUND: Final = 42
ROOT_ACTIVE: Final = 43
G_LAST: Final = 44  # values at the last sample that was searched, before it, and scratch
G_BEFORE: Final = 45
G_NEXT: Final = 46
G_LOW: Final = 47
G_HIGH: Final = 48
G_TRY: Final = 49
ROOT_POINTS: Final = 50
HAVE_BEFORE: Final = 51
WATCHED: Final = 52  # how many roots are not ignored

# Control.
BASE: Final = 53  # what is added to |y| before it is multiplied with the tolerance
PHASE: Final = 54
MAX_ATTEMPTS: Final = 55  # per call
ATTEMPTS: Final = 56
FIRST: Final = 57
REJECTED_LAST: Final = 58
NEED_JACOBIAN: Final = 59
NEED_FACTORS: Final = 60
JACOBIAN_FRESH: Final = 61
HAVE_POLYNOMIAL: Final = 62
FIXED_STEP: Final = 63
RESTING: Final = 64  # some group of variables has not moved yet
AT_END: Final = 65
STIFF_ALLOWED: Final = 66  # an explicit method goes on where it looks stiff
STIFF_SEEN: Final = 67
DOUBTS: Final = 68  # how often variables at rest made a step fail since the start

# Statistics and the detail of a failure.
STEPS: Final = 70
REJECTED_ERROR: Final = 71
REJECTED_NEWTON: Final = 72
REJECTED_NAN: Final = 73
REJECTED_SINGULAR: Final = 74
RESIDUALS: Final = 75
JACOBIANS: Final = 76
FACTORISATIONS: Final = 77
ITERATIONS: Final = 78
ROOT_CALLS: Final = 79
LAST_REASON: Final = 81
WORST_VARIABLE: Final = 82
WORST_ROW: Final = 83

# Linear algebra.
SPARSE: Final = 90
FY: Final = 91  # Jacobian values, dF/dy then dF/d(dy/dt)
MATRIX: Final = 92  # dense: n*n doubles; sparse: nnz doubles
MATRIX_COMPLEX: Final = 93
PIVOT: Final = 94
PIVOT_COMPLEX: Final = 95
LU: Final = 96  # address of the table of a sparse factorisation
LU_COMPLEX: Final = 97
LU_FACTOR: Final = 98  # addresses of compiled functions
LU_SOLVE: Final = 99
LU_FACTOR_COMPLEX: Final = 100
LU_SOLVE_COMPLEX: Final = 101
ALGEBRAIC: Final = 102  # int32, 1 where no equation contains the rate of the variable
PREVIOUS: Final = 103  # the correction that Newton's method made last

# Work vectors of the method in use.
W0: Final = 110
W1: Final = 111
W2: Final = 112
W3: Final = 113
W4: Final = 114
W5: Final = 115
W6: Final = 116
W7: Final = 117
W8: Final = 118
W9: Final = 119
METHOD_INTS: Final = 120  # eight integers of the method's own

IDA_ARRAY: Final = METHOD_INTS  # address of the function of SUNDIALS that gives the numbers of a vector
IDA_STATUS: Final = METHOD_INTS + 1

TABLE_SIZE: Final = 128

# --- the table of doubles ---------------------------------------------------------------------------------------------
T: Final = 0
T_AT: Final = 1
T_END: Final = 2
T_OLD: Final = 3  # start of the last accepted step
H: Final = 4  # step to try next
H_DONE: Final = 5  # last accepted step
H_FACTORS: Final = 6  # step the factorisation is for
H_MAX: Final = 7
RTOL: Final = 8
ERROR_DONE: Final = 9
RATE: Final = 10
THETA: Final = 11
RATIO: Final = 12  # step to try over the step the polynomial is of
SCAN_FROM: Final = 13
SCAN_BEFORE: Final = 14
UNTIL: Final = 15
ROOT_MERGE: Final = 16
ROOT_INTERVAL: Final = 17
WORST: Final = 18
H_BEFORE: Final = 19
LARGEST: Final = 21  # size of the largest variable so far
LOCAL: Final = 20  # the tolerance for one step, of which the error weights are made
METHOD_REALS: Final = 24  # the rest belongs to the method
REALS_SIZE: Final = 128

# --- codes ------------------------------------------------------------------------------------------------------------
DONE: Final = 0
ROOT: Final = 1
CONTINUE: Final = 2
BUFFER_FULL: Final = 3
GROW: Final = 4
STIFF: Final = 5
ACCEPTED: Final = 6
STEP_TOO_SMALL: Final = -1
NEWTON_FAILED: Final = -3
SINGULAR: Final = -4
NOT_FINITE: Final = -5
ERROR_TOO_LARGE: Final = -6

PHASE_FRESH: Final = 0
PHASE_STEP: Final = 1
PHASE_SCAN: Final = 2
PHASE_EMIT: Final = 3
PHASE_EMIT_ROOT: Final = 4
PHASE_FINISH: Final = 5

IGNORED: Final = 2
MORE_MEMORY: Final = 1 << 40  # a sparse factorisation ran out of its memory

REASON_ERROR: Final = 1
REASON_NEWTON: Final = 2
REASON_NAN: Final = 3
REASON_SINGULAR: Final = 4

# --- the table of a sparse factorisation
# ---------------------------------------------------------------------------------- Same kind of table, of its own;
# real and complex factorisations have one each.
LU_N: Final = 0
LU_NNZ: Final = 1
LU_INDPTR: Final = 2  # pattern of the matrix, compressed columns, int32
LU_INDICES: Final = 3
LU_STATE: Final = 4
LU_ORDER: Final = 5  # int32: the column eliminated k-th
LU_PLACE: Final = 6  # int32: when a row is pivot, -1 while it is not
LU_DIAGONAL: Final = 7  # int32: the row matched to a column
LU_L_PTR: Final = 8  # int32, n + 1
LU_L_IND: Final = 9
LU_L_VAL: Final = 10
LU_L_ROOM: Final = 11
LU_U_PTR: Final = 12
LU_U_IND: Final = 13
LU_U_VAL: Final = 14
LU_U_ROOM: Final = 15
LU_PIVOTS: Final = 16  # reciprocals
LU_X: Final = 17  # work vector of numbers
LU_SCALE: Final = 18  # reciprocal of the largest entry of each row, doubles
LU_WORK: Final = 19  # int32, 14 n + 4
LU_LISTS: Final = 20  # int32, 2 nnz + 2 n
LU_LISTS_ROOM: Final = 21
LU_FULL: Final = 22  # factorisations with a search for pivots, and those that kept them
LU_AGAIN: Final = 23
LU_TABLE_SIZE: Final = 24

LU_NOTHING: Final = 0
LU_ORDERED: Final = 1
LU_FACTORED: Final = 2
