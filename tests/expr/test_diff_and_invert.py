"""Derivatives against complex steps and differences, inverses against the functions they invert."""

import cmath
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bglang.expr import Expr, call, var
from bglang.expr.diff import diff, time_derivative
from bglang.expr.evaluate import Values, evaluate
from bglang.expr.expand import expand
from bglang.expr.invert import inverse_table, invert, linear_in, solvable
from bglang.expr.walk import postorder, tree_size
from bglang.graph.ir import Table
from bglang.source import NOWHERE

X, Y, P = var("x"), var("y"), ("p", "k")


def value(e: Expr, **known: float) -> float:
    return evaluate(e, Values(t=known.get("t", 0.0), variable=known.__getitem__, parameter=known.__getitem__))


SMOOTH: list[Expr] = [
    ("+", X, ("*", 3.0, X, X), Y),
    ("/", ("sin", X), ("+", 2.0, ("cos", X))),
    ("^", X, 3.0),
    ("^", ("+", 1.5, X), ("neg", X)),
    ("^", 2.0, X),
    ("tan", X),
    ("asin", X),
    ("acos", X),
    ("atan", ("*", 2.0, X)),
    ("sinh", X),
    ("cosh", X),
    ("tanh", X),
    ("exp", ("-", X, 1.0)),
    ("log", ("+", 2.0, X)),
    ("log10", ("+", 2.0, X)),
    ("sqrt", ("+", 2.0, X)),
]


def complex_value(e: Expr, x: complex, y: complex) -> complex:
    """An evaluator of its own, on complex numbers: the imaginary part of f(x + ih)/h is f'(x) to rounding."""
    if not isinstance(e, tuple):
        return e
    if e[0] == "v":
        return x if e[1] == "x" else y
    args = [complex_value(a, x, y) for a in e[1:]]
    if e[0] == "+":
        return sum(args)
    if e[0] == "*":
        return math.prod(args)
    table = {"-": lambda a, b: a - b, "/": lambda a, b: a / b, "^": lambda a, b: a**b, "neg": lambda a: -a}
    return (table.get(e[0]) or getattr(cmath, e[0]))(*args)


@pytest.mark.parametrize("e", SMOOTH, ids=str)
@pytest.mark.parametrize("x", [0.3, 0.71])
def test_smooth_slopes_match_the_complex_step(e: Expr, x: float) -> None:
    expected = complex_value(e, x + 1e-30j, 0.4).imag / 1e-30
    assert value(diff(e, X), x=x, y=0.4) == pytest.approx(expected, rel=1e-13)


BRANCHED: list[Expr] = [
    ("abs", ("sin", X)),
    ("sign", X),
    ("min", X, ("*", X, X), 0.9),
    ("max", X, ("*", X, X), 0.2),
    ("floor", X),
    ("mod", X, 0.7),
    ("rem", X, 0.7),
    ("atan2", X, ("+", 2.0, X)),
    ("if", ("<", X, 0.5), ("*", X, X), ("exp", X)),
    ("noEvent", ("abs", X)),
    ("smooth", 1.0, ("*", X, ("abs", X))),
    ("poly", X, 1.0, 2.0, 3.0, -1.0),
    ("abs2", X, 2.0),
    ("absqrt", X, 2.0),
    ("breakpoint", X, 0.5, 1.0, 2.0, 3.0),
    ("saturation", X, -0.5, -1.0, 0.5, 1.0),
    ("adjustable_saturation", X, -0.5, -1.0, 0.5, 1.0, 0.1, 0.2),
    ("reciprocal_square", X, 1.0, 2.0, 0.5),
    ("inverse", X),
    ("sine", X, 2.0, 3.0, 0.1, 1.0),
    ("reciprocal_arccosine", X, 2.0, 0.5, 0.1, 1.0),
]


@pytest.mark.parametrize("e", BRANCHED, ids=str)
@pytest.mark.parametrize("x", [-0.62, 0.3, 0.8])
def test_branched_slopes_match_differences_inside_a_branch(e: Expr, x: float) -> None:
    h = 1e-6
    expected = (value(e, x=x + h) - value(e, x=x - h)) / (2 * h)
    assert value(diff(e, X), x=x) == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("e", BRANCHED, ids=str)
@pytest.mark.parametrize("x", [-0.62, 0.3, 0.8])
def test_expansion_keeps_the_value(e: Expr, x: float) -> None:
    assert value(expand(e), x=x) == pytest.approx(value(e, x=x), rel=1e-14)


def test_the_slope_of_absqrt_is_finite_and_its_value_exact_at_zero() -> None:
    e = expand(("absqrt", X, 3.0))
    assert value(e, x=0.0) == 0.0
    assert math.isfinite(value(diff(e, X), x=0.0))


def test_shared_parts_stay_shared() -> None:
    e: Expr = X
    for _ in range(200):
        e = ("*", e, e)
    assert len(postorder(diff(e, X))) < 2000
    assert tree_size(e) == 2**200


def test_deep_expressions_need_no_recursion() -> None:
    e: Expr = X
    for _ in range(20_000):
        e = ("+", ("sin", e), Y)
    assert diff(e, X) != 0.0
    assert linear_in(e, Y) is None


def test_time_derivative_follows_the_rates() -> None:
    e = ("+", ("*", P, X, ("t",)), ("^", X, 2.0), ("z", 0))
    slope = time_derivative(e, lambda leaf: var("dx"))
    assert value(slope, k=2.0, x=3.0, t=5.0, dx=7.0) == 2 * 7 * 5 + 2 * 3 + 2 * 3 * 7


def test_interpolation_is_one_polynomial() -> None:
    table = Table("k", (0.0, 1.0, 3.0, 4.0), (1.0, 2.0, 28.0, 65.0), "linear", "hold", "not-a-knot", NOWHERE)
    e = expand(("interpolation", X, "k"), {"k": table})
    assert value(e, x=2.0) == pytest.approx(9.0)  # x^3 + 1
    slope = expand(diff(("interpolation", X, "k"), X), {"k": table})
    assert value(slope, x=2.0) == pytest.approx(12.0)


INVERTIBLE: list[tuple[Expr, list[float]]] = [
    (("*", P, X), [-2.0, 3.0]),
    (("/", X, P), [-2.0, 3.0]),
    (("+", ("*", P, X), ("-", ("*", 2.0, X), Y)), [-2.0, 3.0]),
    (("*", 1e-3, ("-", ("exp", ("/", X, P)), 1.0)), [-0.2, 0.6]),
    (("*", ("*", P, X), ("abs", X)), [-2.0, 0.0, 3.0]),
    (("*", X, ("abs", X), P), [-2.0, 0.0, 3.0]),
    (("^", X, 3.0), [-2.0, 3.0]),
    (("^", X, -3.0), [-2.0, 3.0]),
    (("^", X, 1.5), [2.0]),
    (("^", 3.0, X), [-2.0, 3.0]),
    (("atan", X), [-20.0, 3.0]),
    (("tanh", ("*", 0.3, X)), [-2.0, 3.0]),
    (("sinh", X), [-20.0, 3.0]),
    (("sqrt", X), [0.0, 3.0]),
    (("log", X), [0.1, 3.0]),
    (("log10", X), [0.1, 3.0]),
    (("abs2", X, 2.0), [-2.0, 3.0]),
    (("absqrt", X, 2.0), [-2.0, 3.0]),
    (("linear", X, 1.0, 2.0), [-2.0, 3.0]),
    (("exponential", X, 2.0, 3.0, 0.1, 5.0), [-2.0, 1.0]),
    (("logarithm", X, 2.0, 3.0, 0.1, 5.0), [0.2, 1.0]),
    (("arcsine", X, 2.0, 0.5, 0.1, 5.0), [-0.2, 1.0]),
    (("arccosine", X, 2.0, 0.5, 0.1, 5.0), [-0.2, 1.0]),
    (("reciprocal_arcsine", X, 2.0, 0.5, 0.1, 5.0), [-0.5, 1.0]),
    (("reciprocal_arccosine", X, 2.0, 0.5, 0.1, 5.0), [-0.5, 1.0]),
    (("inverse", X), [-0.2, 1.0]),
    (("breakpoint", X, 0.5, 1.0, 2.0, 3.0), [-0.2, 1.0]),
    (("breakpoint", X, 0.5, 1.0, -2.0, -3.0), [-0.2, 1.0]),
    (("adjustable_saturation", X, -1.0, -2.0, 1.0, 2.0, 0.1, 0.2), [-3.0, 0.2, 3.0]),
    (("adjustable_saturation", X, -1.0, 2.0, 1.0, -2.0, -0.1, -0.2), [-3.0, 0.2, 3.0]),
    (("if", (">", Y, 0.0), ("*", 2.0, X), ("+", X, 1.0)), [-3.0, 3.0]),
    (("pwlin", ("+", X, 1.0), "k"), [-3.0, 0.5, 3.0]),
]
TABLE = Table("k", (0.0, 1.0, 2.0), (3.0, 1.0, 0.0), "linear", "linear", "not-a-knot", NOWHERE)


@pytest.mark.parametrize(("e", "points"), INVERTIBLE, ids=str)
def test_inverses_give_back_the_argument(e: Expr, points: list[float]) -> None:
    import numpy as np

    from bglang.kernels.tables import make_block  # the kernels' form of a table

    swapped = inverse_table(TABLE)
    assert swapped is not None
    blocks = {t.key: make_block(np.array(t.x), np.array(t.y), t.method, t.outside, t.ends) for t in (TABLE, swapped)}
    inverse = invert(e, X, var("r"), {"k": TABLE})
    assert inverse is not None
    assert solvable(e, X, {"k": TABLE}) == "exact"
    for x in points:
        known = {"x": x, "y": 0.7, "k": 1.3}
        y = evaluate(e, Values(tables=blocks, variable=known.__getitem__, parameter=known.__getitem__))
        known["r"] = y
        back = evaluate(expand(inverse), Values(tables=blocks, variable=known.__getitem__, parameter=known.__getitem__))
        assert back == pytest.approx(x, rel=1e-9, abs=1e-12)


def test_an_inverse_never_lands_on_another_branch() -> None:
    for e in (("atan", X), ("asin", X), ("sqrt", X)):
        inverse = invert(e, X, -2.0)
        assert inverse is not None
        assert math.isnan(value(inverse))


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (("sin", X), "implicit"),
        (("abs", X), "implicit"),
        (("^", X, 2.0), "implicit"),
        (("^", X, P), "implicit"),
        (("poly", X, 1.0, 2.0, 3.0), "implicit"),
        (("+", X, ("^", X, 3.0)), "implicit"),
        (("saturation", X, -1.0, -1.0, 1.0, 1.0), "implicit"),
        (("coulomb", X, P), "implicit"),
        (("breakpoint", X, 0.5, 1.0, -2.0, 3.0), "implicit"),
        (("if", (">", Y, 0.0), X, 0.0), "implicit"),
        (("table", X, "k"), "implicit"),
        (("const", P), "never"),
        (("sign", X), "never"),
        (("*", P, Y), "never"),
        (3.0, "never"),
    ],
    ids=str,
)
def test_what_has_no_global_inverse(e: Expr, expected: str) -> None:
    assert solvable(e, X) == expected


def test_implicit_laws_are_solved_for_what_is_linear() -> None:
    law = ("-", Y, ("+", ("*", P, X), ("*", 2.0, Y, ("abs", Y))))
    x = invert(law, X, 0.0)
    assert x is not None
    assert value(x, y=3.0, k=2.0) == pytest.approx((3 - 18) / 2)
    assert invert(law, Y, 0.0) is None


numbers = st.floats(-3, 3, allow_nan=False).map(lambda v: round(v, 3))
expressions = st.recursive(
    numbers | st.just(X),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*"]), inner, inner),
        st.tuples(st.sampled_from(["sin", "cos", "tanh", "atan", "neg"]), inner),
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(expressions, st.floats(-2, 2))
def test_random_slopes_match_the_complex_step(e: Expr, x: float) -> None:
    expected = complex_value(e, x + 1e-30j, 0.0)
    slope = value(diff(e, X), x=x)
    assert slope == pytest.approx(complex(expected).imag / 1e-30, rel=1e-9, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(expressions, st.floats(-2, 2))
def test_random_inverses_are_inverses(e: Expr, x: float) -> None:
    inverse = invert(e, X, var("r"))
    if inverse is None or abs(value(diff(e, X), x=x)) < 1e-3:
        return
    assert value(expand(inverse), r=value(e, x=x)) == pytest.approx(x, rel=1e-6, abs=1e-6)


def test_what_cancels_leaves_nothing_behind() -> None:
    inverse = invert(("+", X, ("sin", ("-", X, X))), X, var("r"))
    assert inverse is not None
    assert value(inverse, r=2.0) == 2.0


def test_folding_keeps_calls_of_tables() -> None:
    assert call("table", X, "k") == ("table", X, "k")
