"""Tidying keeps the value and shortens the text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bglang.expr import Expr, var
from bglang.expr.evaluate import Values, evaluate
from bglang.expr.latex import latex, latex_name
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


@settings(max_examples=100, deadline=None)
@given(expressions)
def test_latex_is_balanced(e: Expr) -> None:
    shown = latex(tidy(e))
    assert shown.count("{") == shown.count("}")
    assert shown.count(r"\left") == shown.count(r"\right")


def test_names_in_latex() -> None:
    assert latex_name("mass.p") == r"p_{\mathrm{mass}}"
    assert latex_name("cell[3].c.q") == r"q_{\mathrm{cell[3].c}}"
    assert latex_name("x[2]") == "x_{2}"
    assert latex_name("my_var") == r"\mathrm{my\_var}"
