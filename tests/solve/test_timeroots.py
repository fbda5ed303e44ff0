"""Roots of functions of time: none is missed, linear ones are exact."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bglang.expr.evaluate import Values, evaluate
from bglang.solve.timeroots import enclose, next_root

T = ("t",)


def roots(g: object, until: float, after: float = 0.0) -> list[float]:
    found, t = list[float](), after
    while True:
        root = next_root(g, Values(), t, until)  # type: ignore[arg-type]
        if root is None:
            return found
        found.append(root)
        t = root


def test_linear_functions_are_exact() -> None:
    assert next_root(("-", T, 0.1), Values(), 0.0, 1.0) == 0.1
    assert next_root(("-", 0.3, T), Values(), 0.0, 1.0) == 0.3
    assert next_root(("-", ("*", 3.0, T), 0.3), Values(), 0.0, 1.0) == pytest.approx(0.1, rel=1e-16)
    assert next_root(("-", T, 0.1), Values(), 0.1, 1.0) is None
    assert next_root(("-", T, 2.0), Values(), 0.1, 1.0) is None
    assert next_root(("+", 1.0, ("*", 0.0, T)), Values(), 0.0, 1.0) is None


def test_all_roots_of_a_fast_sine() -> None:
    found = roots(("-", ("sin", ("*", 50.0, T)), 0.3), 10.0)
    a = math.asin(0.3)
    exact = sorted(
        t for k in range(90) for t in ((2 * math.pi * k + a) / 50, (2 * math.pi * k + math.pi - a) / 50) if t <= 10.0
    )
    assert found == pytest.approx(exact, abs=1e-12)


def test_a_pair_of_roots_a_microsecond_apart() -> None:
    g = ("-", ("exp", ("neg", ("^", ("*", 1e6, ("-", T, 7.123456)), 2.0))), 0.5)
    half = math.sqrt(math.log(2.0)) / 1e6
    assert roots(g, 100.0) == pytest.approx([7.123456 - half, 7.123456 + half], abs=1e-11)


def test_a_pole_is_no_root() -> None:
    assert roots(("/", 1.0, ("-", T, 0.5)), 1.0) == []


def test_modes_and_parameters_are_read() -> None:
    g = ("-", ("*", ("p", 0), T), ("z", 0))
    assert next_root(g, Values(p=(2.0,), z=(3.0,)), 0.0, 10.0) == 1.5


smooth = st.recursive(
    st.one_of(st.just(T), st.floats(-3, 3).map(lambda x: round(x, 3))),
    lambda e: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*"]), e, e),
        st.tuples(st.sampled_from(["sin", "cos", "exp", "atan", "tanh", "neg", "abs"]), e),
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(smooth, st.floats(0, 3), st.floats(0, 1))
def test_enclosures_enclose(e: object, low: float, width: float) -> None:
    bounds = enclose(e, Values(), (low, low + width))  # type: ignore[arg-type]
    for k in range(11):
        value = evaluate(e, Values(t=low + width * k / 10))  # type: ignore[arg-type]
        slack = 1e-9 * max(1.0, abs(value))
        assert bounds.value[0] - slack <= value <= bounds.value[1] + slack
