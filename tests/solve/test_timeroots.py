"""Roots of functions of time: none is missed, linear ones are exact."""

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bglang.expr.evaluate import Values, evaluate
from bglang.records import replace
from bglang.solve.timeroots import Watched, enclose, gap, next_root

T = ("t",)


def following(g: object, values: Values, after: float, until: float) -> float | None:
    """The next change of sign, from the side that the function is on right behind `after`."""
    here = evaluate(g, replace(values, t=after + 2.0 * gap(after, until)))  # type: ignore[arg-type]
    return next_root(Watched(g, values, math.copysign(1.0, here)), after, until)  # type: ignore[arg-type]


def roots(g: object, until: float, after: float = 0.0) -> list[float]:
    found, t = list[float](), after
    while True:
        root = following(g, Values(), t, until)
        if root is None:
            return found
        found.append(root)
        t = root


def test_linear_functions_are_exact() -> None:
    assert following(("-", T, 0.1), Values(), 0.0, 1.0) == 0.1
    assert following(("-", 0.3, T), Values(), 0.0, 1.0) == 0.3
    assert following(("-", ("*", 3.0, T), 0.3), Values(), 0.0, 1.0) == pytest.approx(0.1, rel=1e-16)
    assert following(("-", T, 0.1), Values(), 0.1, 1.0) is None
    assert following(("-", T, 2.0), Values(), 0.1, 1.0) is None
    assert following(("+", 1.0, ("*", 0.0, T)), Values(), 0.0, 1.0) is None


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


def test_a_sign_changes_at_a_pole_too() -> None:
    assert roots(("/", 1.0, ("-", T, 0.5)), 1.0) == pytest.approx([0.5], abs=1e-15)


def test_modes_and_parameters_are_read() -> None:
    g = ("-", ("*", ("p", 0), T), ("z", 0))
    assert following(g, Values(p=(2.0,), z=(3.0,)), 0.0, 10.0) == 1.5


TOP = ("-", ("sin", T), 1.0)


def test_the_top_of_a_wave_counts_where_zero_does() -> None:
    """sin(t) - 1 cannot be told from zero within 1e-8 of its top."""
    assert next_root(Watched(TOP, Values(), -1.0), 0.0, 7.0) is None
    begins = next_root(Watched(TOP, Values(), -1.0, True), 0.0, 7.0)
    assert begins == pytest.approx(math.pi / 2.0, abs=3e-8)
    ends = next_root(Watched(TOP, Values(), 1.0), begins, 7.0)  # type: ignore[arg-type]
    assert ends == pytest.approx(math.pi / 2.0, abs=3e-8) and ends > begins  # type: ignore[operator]
    assert next_root(Watched(TOP, Values(), -1.0, True), ends, 7.0) is None  # type: ignore[arg-type]


def test_a_threefold_root() -> None:
    assert roots(("^", ("-", T, 0.5), 3.0), 7.0) == pytest.approx([0.5], abs=1e-15)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_function_that_is_zero_all_along_ends_the_search(sign: float) -> None:
    """cos(t)^2 + sin(t)^2 - 1 is rounding, which no enclosure can tell: a minute of halving, or a second of samples."""
    g = ("-", ("+", ("*", ("sin", T), ("sin", T)), ("*", ("cos", T), ("cos", T))), 1.0)
    began = time.process_time()
    next_root(Watched(("+", g, sign * 1e-14), Values(), sign), 0.0, 7.0)
    assert time.process_time() - began < 20.0


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
