"""Simplified expressions have the same value, and say it shorter."""

import math

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from bglang.expr import Expr
from bglang.expr.evaluate import Values, evaluate
from bglang.expr.simplify import collect, simplify
from bglang.expr.text import text

LEAVES = st.sampled_from([("v", "x"), ("v", "y"), ("p", "a"), 2.0, 0.5, -1.0])


def grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    two = st.sampled_from(["+", "-", "*", "/"])
    one = st.sampled_from(["neg", "sin", "cos", "exp"])
    return st.one_of(
        st.tuples(two, inner, inner), st.tuples(one, inner), st.tuples(st.just("^"), inner, st.sampled_from([2.0, 3.0]))
    )


def value(e: Expr) -> float:
    values = {"x": 0.7, "y": -1.3, "a": 1.9}
    try:
        return float(evaluate(e, Values(variable=values.__getitem__, parameter=values.__getitem__)))
    except (ZeroDivisionError, OverflowError, ValueError):
        return math.nan


@settings(max_examples=300, deadline=None)
@given(st.recursive(LEAVES, grow, max_leaves=12))
def test_values_are_kept(e: Expr) -> None:
    before = value(e)
    if math.isfinite(before) and 1e-6 < abs(before) < 1e6:
        after = value(simplify(e))
        assert after == pytest.approx(before, rel=1e-6) or not math.isfinite(after)
        assert value(collect(e, [("v", "x")])) == pytest.approx(before, rel=1e-6) or not math.isfinite(after)


X, Y, A = ("v", "x"), ("v", "y"), ("p", "a")


@pytest.mark.parametrize(
    "e, expected",
    [
        (("+", X, X), "2*x"),
        (("-", ("*", A, X), ("*", X, A)), "0"),
        (("/", ("*", A, X), A), "x"),
        (("/", X, ("/", 1.0, A)), "a*x"),
        (("+", ("*", A, ("^", ("sin", X), 2.0)), ("*", A, ("^", ("cos", X), 2.0))), "a"),
        (("+", ("*", ("cos", X), ("cos", Y)), ("*", ("sin", X), ("sin", Y))), "cos(x - y)"),
        (("-", ("*", ("sin", X), ("cos", Y)), ("*", ("cos", X), ("sin", Y))), "sin(x - y)"),
        (("-", ("*", ("sin", Y), ("cos", X)), ("*", ("cos", Y), ("sin", X))), "-sin(x - y)"),
        (("sin", ("neg", X)), "-sin(x)"),
        (("/", ("+", X, Y), ("+", ("*", 2.0, X), ("*", 2.0, Y))), "0.5"),
        (("+", ("/", X, ("+", A, 1.0)), ("/", Y, ("+", A, 1.0))), "(x + y)/(a + 1)"),
    ],
)
def test_shorter(e: Expr, expected: str) -> None:
    assert text(simplify(e)) == expected


def test_collected() -> None:
    e = ("+", ("*", A, X), ("*", 3.0, X), Y)
    assert text(collect(e, [X])) == "(a + 3)*x + y"
