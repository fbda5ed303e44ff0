"""Blocks of coefficients against scipy's splines and monotone cubics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline, PchipInterpolator

from bglang.expr.evaluate import Floats, Values, evaluate, evaluate_array, table_slope, table_value
from bglang.kernels.tables import Ends, Outside, block_size, make_block


def points(count: int, seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    return np.cumsum(0.1 + random.random(count)), random.normal(size=count)


@given(st.integers(3, 12), st.integers(0, 10_000), st.sampled_from(["not-a-knot", "natural", "secant"]))
@settings(max_examples=60, deadline=None)
def test_splines_are_those_of_scipy(count: int, seed: int, ends: Ends) -> None:
    x, y = points(count, seed)
    chords = (y[1] - y[0]) / (x[1] - x[0]), (y[-1] - y[-2]) / (x[-1] - x[-2])
    kind = ((1, chords[0]), (1, chords[1])) if ends == "secant" else ends
    spline = CubicSpline(x, y, bc_type=kind)
    block = make_block(x, y, "spline", "hold", ends)
    inside = np.linspace(x[0], x[-1], 57)
    assert len(block) == block_size(count)
    assert table_value(inside, block) == pytest.approx(spline(inside), rel=1e-9, abs=1e-9)
    assert table_slope(inside, block) == pytest.approx(spline(inside, 1), rel=1e-8, abs=1e-8)


@given(st.integers(3, 12), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_pchip_is_that_of_scipy(count: int, seed: int) -> None:
    x, y = points(count, seed)
    block = make_block(x, y, "pchip", "hold", "not-a-knot")
    inside = np.linspace(x[0], x[-1], 57)
    assert table_value(inside, block) == pytest.approx(PchipInterpolator(x, y)(inside), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("method", ["linear", "spline", "pchip"])
def test_two_points_are_a_line_in_every_method(method: str) -> None:
    block = make_block(np.array([1.0, 3.0]), np.array([2.0, 8.0]), method, "linear", "not-a-knot")  # type: ignore[arg-type]
    assert table_value(np.array([0.0, 1.0, 2.0, 3.0, 4.0]), block).tolist() == [-1.0, 2.0, 5.0, 8.0, 11.0]


@pytest.mark.parametrize(
    ("outside", "below", "above"), [("hold", 1.0, 4.0), ("linear", 0.0, 7.0), ("error", np.nan, np.nan)]
)
def test_what_lies_outside_follows_the_rule(outside: Outside, below: float, above: float) -> None:
    block = make_block(np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 4.0]), "linear", outside, "natural")
    got = table_value(np.array([-1.0, 0.0, 2.0, 3.5]), block)
    np.testing.assert_equal(got, [below, 1.0, 4.0, above])


def test_two_equal_abscissas_are_a_jump_taken_from_the_right() -> None:
    block = make_block(np.array([0.0, 1.0, 1.0, 2.0]), np.array([0.0, 1.0, 5.0, 6.0]), "linear", "hold", "natural")
    assert table_value(np.array([0.5, np.nextafter(1, 0), 1.0, 1.5]), block) == pytest.approx([0.5, 1.0, 5.0, 5.5])
    last = make_block(np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 5.0]), "linear", "error", "natural")
    assert table_value(np.float64(1.0), last) == 5.0


def test_the_slope_of_a_held_end_is_zero_outside_and_the_table_s_inside() -> None:
    block = make_block(np.array([0.0, 1.0]), np.array([0.0, 2.0]), "linear", "hold", "natural")
    assert table_slope(np.array([-1.0, 0.0, 1.0, 1.5]), block).tolist() == [0.0, 2.0, 2.0, 0.0]


def test_interpolation_is_one_polynomial_through_all_points() -> None:
    x = np.array([-1.0, 0.0, 2.0, 3.0])
    block = make_block(x, x**3 - 2 * x, "linear", "error", "natural")
    values = Values(y=[np.linspace(-1, 3, 9)], tables={"k": block})  # type: ignore[list-item]
    at = np.linspace(-1, 3, 9)
    assert evaluate_array(("interpolation", ("y", 0), "k"), values) == pytest.approx(at**3 - 2 * at)


def test_nan_goes_through_a_table() -> None:
    block = make_block(np.array([0.0, 1.0]), np.array([0.0, 2.0]), "linear", "hold", "natural")
    assert np.isnan(evaluate(("table", ("y", 0), "k"), Values(y=[np.nan], tables={"k": block})))
