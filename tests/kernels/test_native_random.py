"""Random programs: native code, the plain evaluator and complex steps must agree."""

import cmath
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_cases import system
from scipy.sparse import csc_matrix

from bglang.expr import Expr
from bglang.expr.evaluate import Floats, Values, evaluate
from bglang.graph.ir import Table
from bglang.kernels.load import Emitter, Kernels, load
from bglang.kernels.lower import lower
from bglang.kernels.parameters import parameter_vector, table_blocks
from bglang.source import NOWHERE
from bglang.store import Store

X = (-1.0, 0.0, 0.5, 0.5, 2.0)
TABLES = (
    Table("line", X, (0.0, 1.0, -1.0, 3.0, 0.25), "linear", "linear", "not-a-knot", NOWHERE),
    Table("held", (0.0, ("p", 0)), (1.0, ("p", 1)), "linear", "hold", "not-a-knot", NOWHERE),
    Table("curve", (-2.0, -1.0, 0.5, 3.0), (1.0, ("p", 1), 0.0, 2.0), "spline", "error", "not-a-knot", NOWHERE),
)
PARAMETERS: tuple[Expr, ...] = (1.75, -0.5, ("*", ("p", 0), ("p", 1)), ("table", ("p", 2), "curve"))
UNARY = ("neg", "sqrt", "abs", "sign", "floor", "ceil", "integer", "not", "noEvent")
BINARY = ("-", "/", "mod", "rem", "div", "<", "<=", ">", ">=", "==", "!=")
SEVERAL = ("+", "*", "min", "max", "and", "or")

numbers = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.5, -2.0, 3.0, 0.25]), st.floats(-4, 4, allow_nan=False, width=16)
)
leaves = st.one_of(
    st.integers(0, 2).map(lambda i: ("y", i)),
    st.integers(0, 2).map(lambda i: ("d", i)),
    st.integers(0, 3).map(lambda i: ("p", i)),
    st.integers(0, 1).map(lambda i: ("z", i)),
    st.just(("t",)),
    numbers,
)


def exact_operations(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Operations that IEEE defines to the last bit."""
    return st.one_of(
        st.tuples(st.sampled_from(UNARY), part),
        st.tuples(st.sampled_from(BINARY), part, part),
        st.lists(part, min_size=2, max_size=4).flatmap(lambda a: st.sampled_from(SEVERAL).map(lambda op: (op, *a))),
        st.tuples(st.just("if"), part, part, part),
        st.tuples(st.just("if"), st.tuples(st.just("<"), part, part), st.tuples(st.just("exp"), st.just(0.0)), part),
        st.tuples(st.just("smooth"), st.just(1.0), part),
        st.tuples(
            st.sampled_from(["table", "dtable", "ddtable", "dddtable"]), part, st.sampled_from([t.key for t in TABLES])
        ),
    )


exact = st.recursive(leaves, exact_operations, max_leaves=25)
point = st.lists(st.floats(-5, 5, width=16), min_size=9, max_size=9)


def build(rows: list[Expr], emitter: Emitter, store: Store | None = None) -> tuple[Kernels, Floats]:
    program = lower(system(rows, PARAMETERS, unknowns=3, roots=rows, tables=TABLES))
    return load(program, emitter, store or Store(None)), parameter_vector(program)


def reference(rows: list[Expr], kernels: Kernels, t: float, y: Floats, d: Floats, p: Floats, z: Floats) -> Floats:
    values = Values(t=t, y=y, d=d, p=p, z=z, tables=table_blocks(kernels.program, p))
    return np.array([evaluate(e, values) for e in rows])


def split(x: list[float]) -> tuple[float, Floats, Floats, Floats]:
    return x[0], np.array(x[1:4]), np.array(x[4:7]), np.round(np.array(x[7:9]))


@given(st.lists(exact, min_size=1, max_size=5), point)
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
def test_native_code_equals_the_evaluator_to_the_last_bit(rows: list[Expr], x: list[float]) -> None:
    kernels, p = build(rows, "llvm")
    t, y, d, z = split(x)
    expected = reference(rows, kernels, t, y, d, p, z)
    np.testing.assert_array_equal(kernels.roots(t, y, d, p, z), expected)
    np.testing.assert_array_equal(kernels.native("roots")(t, y, d, p, z), expected)


@given(st.lists(exact, min_size=1, max_size=8), point)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_interpreted_kernels_equal_the_evaluator_to_the_last_bit(rows: list[Expr], x: list[float]) -> None:
    from bglang.kernels.interpret import one_point, run_kernel

    program = lower(system(rows, PARAMETERS, unknowns=3, roots=rows, tables=TABLES))
    p = parameter_vector(program)
    t, y, d, z = split(x)
    values = Values(t=t, y=y, d=d, p=p, z=z, tables=table_blocks(program, p))
    found = run_kernel(program, program.kernels["roots"], one_point(t, y, d, p, z))[0]
    np.testing.assert_array_equal(found, [evaluate(e, values) for e in rows])


Y: tuple[Expr, ...] = (("y", 0), ("y", 1), ("y", 2))
EVERY: list[Expr] = [
    *[(op, Y[0]) for op in "sin cos tan atan sinh cosh tanh exp abs sign floor ceil integer neg not".split()],  # noqa: SIM905
    *[(op, ("*", 0.2, Y[0])) for op in ("asin", "acos")],
    *[(op, ("+", 1.5, ("*", Y[0], Y[0]))) for op in ("log", "log10", "sqrt")],
    *[(op, Y[0], Y[1]) for op in (*BINARY, "atan2", *SEVERAL)],
    *[("^", Y[0], float(n)) for n in (2, 3, 5, 8, -1, -3, 64, 70, 2.5)],
    *[("^", ("abs", Y[0]), n) for n in (0.5, 1.5, -0.5)],
    ("^", ("abs", Y[0]), Y[1]),
    ("^", 2.0, Y[1]),
    ("if", ("and", ("<", Y[0], 0.0), ("not", ("==", Y[1], Y[2]))), ("log", ("neg", Y[0])), ("sqrt", Y[0])),
    ("if", ("<", Y[0], 0.0), ("if", (">", Y[1], 0.0), ("exp", Y[1]), ("sin", Y[0])), ("*", ("exp", Y[1]), Y[2])),
    ("*", ("if", (">", Y[0], 0.0), ("exp", Y[0]), 1.0), ("if", (">", Y[0], 0.0), ("^", ("exp", Y[0]), 2.0), Y[1])),
    *[(op, Y[0], key) for op in ("table", "dtable", "ddtable", "dddtable") for key in ("line", "held", "curve")],
    ("pwlin", Y[0], "line"),
    ("+", ("initial",), ("terminal",), ("edge", Y[0]), ("change", ("z", 0)), ("sample", 0.0, 1.0), ("pre", Y[1])),
]


@pytest.mark.parametrize("emitter", ["llvm", "numba"])
def test_every_operation_in_both_emitters(emitter: Emitter, tmp_path_factory: pytest.TempPathFactory) -> None:
    kernels, p = build(EVERY, emitter, Store(tmp_path_factory.mktemp("store")))
    random = np.random.default_rng(7)
    special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e300, -1e300, np.inf, -np.inf, np.nan, 1e-320]
    for k in range(60):
        y = random.normal(size=3) * 2.0 if k < 40 else random.choice(special, 3)
        found = kernels.roots(0.3, y, np.ones(3), p, np.zeros(2))
        expected = reference(EVERY, kernels, 0.3, y, np.ones(3), p, np.zeros(2))
        np.testing.assert_allclose(found, expected, rtol=3e-14, atol=1e-300, err_msg=str(y))


# --- derivatives ----------------------------------------------------------------------------------------------------


def smooth_operations(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.tuples(st.sampled_from(["sin", "cos", "tanh", "atan", "neg"]), part),
        part.map(lambda a: ("log", ("+", 1.25, ("*", a, a)))),
        part.map(lambda a: ("sqrt", ("+", 0.5, ("*", a, a)))),
        part.map(lambda a: ("exp", ("sin", a))),
        st.tuples(st.sampled_from(["+", "*"]), part, part, part),
        st.tuples(st.just("-"), part, part),
        st.tuples(part, part).map(lambda ab: ("/", ab[0], ("+", 1.5, ("^", ab[1], 2.0)))),
        st.tuples(st.just("^"), part, st.sampled_from([2.0, 3.0])),
        part.map(lambda a: ("^", ("+", 2.0, ("sin", a)), ("p", 0))),
    )


smooth = st.recursive(leaves, smooth_operations, max_leaves=12)

COMPLEX: dict[str, Any] = {
    "+": lambda *a: sum(a),
    "*": lambda *a: math.prod(a),
    "-": lambda a, b: a - b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a**b,
    "neg": lambda a: -a,
    **{name: getattr(cmath, name) for name in ("sin", "cos", "tanh", "atan", "log", "sqrt", "exp")},
}


def complex_value(e: Expr, at: dict[str, Any]) -> complex:
    if not isinstance(e, tuple):
        return e
    if e[0] == "t":
        return at["t"]
    return at[e[0]][e[1]] if e[0] in at else COMPLEX[e[0]](*[complex_value(a, at) for a in e[1:]])


@given(st.lists(smooth, min_size=3, max_size=3), point)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_jacobians_agree_with_complex_steps(rows: list[Expr], x: list[float]) -> None:
    program = lower(system(rows, PARAMETERS, tables=TABLES))
    kernels, p = load(program, "llvm", Store(None)), parameter_vector(program)
    t, y, d, z = split([v / 3 for v in x])
    data = kernels.jacobian(t, y, d, p, z)
    pattern = kernels.pattern
    for which, kind in enumerate("yd"):
        part = data[which * pattern.nnz : (which + 1) * pattern.nnz]
        matrix = csc_matrix((part, pattern.indices, pattern.indptr), (3, 3)).toarray()
        for j in range(3):
            at: dict[str, Any] = {"t": t, "y": y.astype(complex), "d": d.astype(complex), "p": p, "z": z}
            at[kind][j] += 1e-30j
            column = np.array([complex(complex_value(e, at)).imag / 1e-30 for e in rows])
            scale = 1.0 + np.abs(column)
            np.testing.assert_allclose(matrix[:, j] / scale, column / scale, rtol=0, atol=1e-9)
    at = {"t": t + 1e-30j, "y": y, "d": d, "p": p, "z": z}
    column = np.array([complex(complex_value(e, at)).imag / 1e-30 for e in rows])
    found = kernels("residual_t", t, y, d, p, z)
    np.testing.assert_allclose(found / (1 + abs(column)), column / (1 + abs(column)), rtol=0, atol=1e-9)


def test_deep_and_shared_expressions_are_lowered_in_linear_time() -> None:
    e: Expr = ("y", 0)
    for _ in range(3000):
        e = ("*", 0.5, ("+", e, e))
    kernels, p = build([e], "llvm")
    assert kernels.roots(0.0, np.array([3.0, 0.0, 0.0]), np.zeros(3), p, np.zeros(2)).tolist() == [3.0]
    sums: Expr = ("+", ("y", 0), 1.0)
    for _ in range(80):
        sums = ("+", sums, sums)
    kernels, p = build([sums], "llvm")
    assert kernels.roots(0.0, np.zeros(3), np.zeros(3), p, np.zeros(2)).tolist() == [2.0**80]
