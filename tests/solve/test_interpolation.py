"""Interpolation and quadrature through nodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bglang.solve.interpolation import Pieces, interpolate, node_weights


def nodes(seed: int, count: int = 9, least: float = 0.2) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.cumsum(random.uniform(least, 1.0, count))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.floats(-2, 2), min_size=6, max_size=6))
def test_quintics_are_reproduced(seed: int, coefficients: list[float]) -> None:
    t = nodes(seed)
    curve = np.polynomial.Polynomial(coefficients)
    y, d = curve(t)[:, None], curve.deriv()(t)[:, None]
    at = np.linspace(t[0], t[-1], 57)
    found, slope, _ = interpolate(at, t, y, d)
    size = np.abs(y).max() + np.abs(d).max() + 1.0
    assert found[:, 0] == pytest.approx(curve(at), abs=1e-9 * size)
    assert slope[:, 0] == pytest.approx(curve.deriv()(at), abs=1e-8 * size)


def test_no_polynomial_reaches_across_an_event() -> None:
    t = np.array([0.0, 1.0, 2.0, 2.0, 3.0, 4.0])
    y = np.array([0.0, 1.0, 2.0, 10.0, 9.0, 8.0])[:, None]
    d = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])[:, None]
    found, slope, _ = interpolate(np.array([1.9, 2.0, 2.1]), t, y, d)
    assert found[:, 0] == pytest.approx([1.9, 10.0, 9.9])
    assert slope[:, 0] == pytest.approx([1.0, -1.0, -1.0])


def test_neighbours_that_are_too_near_are_not_used() -> None:
    t = np.array([0.0, 1e-9, 1.0, 1.0 + 1e-9, 2.0])
    y, d = np.sin(t)[:, None], np.cos(t)[:, None]
    d[1] += 1e-3  # what such a neighbour says of the slope is noise
    pieces = Pieces(t, y, d, np.diff(t) > 0.0, np.array([1]))
    assert np.isfinite(pieces.at(0.5)[0]).all()
    assert abs(pieces.at(0.5)[0][0, 0] - np.sin(0.5)) < 1e-2


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.floats(-2, 2), min_size=4, max_size=4))
def test_weights_integrate_cubics(seed: int, coefficients: list[float]) -> None:
    t = nodes(seed, least=0.4)  # no neighbour is too near or too far to be used
    curve = np.polynomial.Polynomial(coefficients)
    joined = np.ones(len(t) - 1, dtype=bool)
    weights = node_weights(t, joined)
    # the first and the last interval have one neighbour only: parabolas there, whose error for a cubic is known
    exact = curve.integ()(t[-1]) - curve.integ()(t[0])
    steps = np.diff(t)
    pairs = ((steps[0], steps[1]), (steps[-1], steps[-2]))
    ends = abs(coefficients[3]) * sum(h**3 * (h + k) / 6 - h**4 / 12 for h, k in pairs)
    assert weights @ curve(t) == pytest.approx(exact, abs=1e-9 * (1 + np.abs(curve(t)).max()) + ends)
    assert weights.sum() == pytest.approx(t[-1] - t[0])


def test_weights_leave_out_what_is_not_joined() -> None:
    t = np.array([0.0, 1.0, 1.0, 2.0])
    weights = node_weights(t, np.array([True, False, True]))
    assert weights == pytest.approx([0.5, 0.5, 0.5, 0.5])
