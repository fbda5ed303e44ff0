"""Tidying keeps the value and shortens the text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bglang.expr import Expr, par, var
from bglang.expr.evaluate import Values, evaluate
from bglang.expr.gather import readable, with_short_numbers
from bglang.expr.text import text
from bglang.expr.tidy import tidy

A, B, X = var("a"), var("b"), var("x")


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (("+", A, ("neg", ("+", B, ("neg", A)))), "2*a - b"),
        (("*", 2.0, ("/", A, B), B, 3.0), "6*a"),
        (("/", ("*", A, X), ("*", X, X)), "a/x"),
        (("-", 0.0, ("*", -2.0, A)), "2*a"),
        (("-", A, A), "0"),
        (("-", ("/", ("*", 3.0, A), B), ("/", A, B)), "2*a/b"),
        (("+", ("neg", A), B), "b - a"),
        (("if", (">=", X, 0.0), X, ("neg", X)), "abs(x)"),
        (("if", ("<", X, 0.0), ("neg", X), X), "abs(x)"),
        (("if", (">", X, 0.0), 1.0, ("if", ("<", X, 0.0), -1.0, 0.0)), "sign(x)"),
        (("if", ("<=", A, B), A, B), "min(a, b)"),
        (("if", (">=", A, B), A, B), "max(a, b)"),
        (("not", ("<", A, B)), "a >= b"),
        (("^", ("^", X, 2.0), 0.5), "(x^2)^0.5"),
        (("^", ("^", X, 2.0), 3.0), "x^6"),
    ],
    ids=str,
)
def test_readable_forms(e: Expr, expected: str) -> None:
    assert text(tidy(e)) == expected


numbers = st.sampled_from([-3.0, -1.0, 0.5, 1.0, 2.0])
expressions = st.recursive(
    numbers | st.sampled_from([A, B, X]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "/", "min", "max"]), inner, inner),
        st.tuples(st.sampled_from(["neg", "sin", "abs"]), inner),
        st.tuples(st.just("^"), inner, st.sampled_from([2.0, 3.0])),
        st.tuples(st.just("if"), st.tuples(st.sampled_from(["<", ">="]), inner, inner), inner, inner),
    ),
    max_leaves=14,
)


@settings(max_examples=300, deadline=None)
@given(expressions)
def test_the_value_is_kept(e: Expr) -> None:
    known = {"a": 1.37, "b": -0.62, "x": 2.11}
    values = Values(variable=known.__getitem__)
    before = evaluate(e, values)
    if abs(before) < 1e6:  # also false for what is not a number
        assert evaluate(tidy(e), values) == pytest.approx(before, rel=1e-6, abs=1e-6)


@settings(max_examples=300, deadline=None)
@given(expressions)
def test_gathering_keeps_the_value(e: Expr) -> None:
    known = {"a": 1.37, "b": -0.62, "x": 2.11}
    values = Values(variable=lambda name: 3.141592653589793 if name == "pi" else known[name])
    before = evaluate(e, values)
    if abs(before) < 1e6:  # also false for what is not a number
        made = with_short_numbers(readable(e), 12)
        assert evaluate(made, values) == pytest.approx(before, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (("-", ("*", par("k"), A), ("*", par("k"), B)), "k*(a - b)"),
        (("+", ("neg", ("*", par("k"), A)), ("*", par("k"), B)), "k*(b - a)"),
        (("*", 2 / 3, A), "2/3*a"),
        (("sin", ("*", 6.283185307179586, A)), "sin(2*pi*a)"),
        (("exp", ("-", ("/", A, par("long")), ("/", B, par("long")))), "exp((a - b)/long)"),
        (("/", ("-", ("*", A, A), ("*", B, B)), ("-", A, B)), "a + b"),
        (("+", ("neg", A), ("if", (">", X, 0.0), A, B)), "if x > 0 then 0 else -a + b"),
    ],
    ids=str,
)
def test_what_a_page_shows(e: Expr, expected: str) -> None:
    assert text(with_short_numbers(readable(e), 7)) == expected
