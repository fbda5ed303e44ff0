"""The reference evaluator against closed forms."""

import math

import numpy as np
import pytest

from bglang.expr import Expr
from bglang.expr.evaluate import Values, evaluate, evaluate_array

Y0: Expr = ("y", 0)
Y1: Expr = ("y", 1)


def value(e: Expr, *y: float, **more: object) -> float:
    return evaluate(e, Values(y=y, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("e", "y", "expected"),
    [
        (("mod", Y0, Y1), (-7.0, 3.0), 2.0),
        (("mod", Y0, Y1), (7.0, -3.0), -2.0),
        (("rem", Y0, Y1), (-7.0, 3.0), -1.0),
        (("div", Y0, Y1), (-7.0, 3.0), -2.0),
        (("integer", Y0), (-0.5,), -1.0),
        (("ceil", Y0), (-0.5,), 0.0),
        (("sign", Y0), (0.0,), 0.0),
        (("min", Y0, Y1, 3.0), (5.0, 4.0), 3.0),
        (("max", Y0, Y1), (5.0, 4.0), 5.0),
        (("and", Y0, Y1, 1.0), (1.0, 0.0), 0.0),
        (("or", Y0, Y1), (1.0, 0.0), 1.0),
        (("not", Y0), (0.0,), 1.0),
        (("if", (">=", Y0, 0.0), ("sqrt", Y0), ("neg", ("sqrt", ("neg", Y0)))), (-4.0,), -2.0),
        (("^", Y0, 2.0), (-3.0,), 9.0),
        (("+", Y0, Y1, 1.0), (2.0, 3.0), 6.0),
        (("atan2", Y0, Y1), (1.0, -1.0), 0.75 * math.pi),
        (("noEvent", ("smooth", 1.0, Y0)), (2.5,), 2.5),
        (("breakpoint", Y0, 1.0, 2.0, 3.0, 4.0), (0.0,), -1.0),
        (("adjustable_saturation", Y0, -1.0, -1.0, 1.0, 1.0, 0.5, 0.25), (3.0,), 1.5),
        (("reciprocal_cosine", Y0, 2.0, 1.0, 0.0, 1.0), (0.0,), 3.0),
        (("poly", Y0, 1.0, 2.0, 3.0), (2.0,), 17.0),
    ],
)
def test_operations(e: Expr, y: tuple[float, ...], expected: float) -> None:
    assert value(e, *y) == pytest.approx(expected, rel=1e-15)


def test_undefined_values_are_ieee_s_and_never_exceptions() -> None:
    assert value(("/", 1.0, Y0), 0.0) == math.inf
    assert math.isnan(value(("sqrt", Y0), -1.0))
    assert math.isnan(value(("^", Y0, 0.5), -1.0))
    assert value(("exp", Y0), 1e4) == math.inf


def test_pre_edge_and_change_look_left_of_the_event() -> None:
    now = Values(y=(2.0,), z=(1.0,), left=Values(y=(1.0,), z=(0.0,)))
    assert evaluate(("-", Y0, ("pre", Y0)), now) == 1.0
    assert evaluate(("edge", ("z", 0)), now) == 1.0
    assert evaluate(("change", Y0), now) == 1.0
    assert evaluate(("edge", ("z", 0)), now.before()) == 0.0
    assert evaluate(("pre", Y0), now.before()) == 1.0


def test_sample_initial_terminal_and_names() -> None:
    ticks = [t for t in (0.05, 0.1, 0.25, 0.1 + 0.2 * 3) if evaluate(("sample", 0.1, 0.2), Values(t=t))]
    assert ticks == [0.1, 0.1 + 0.2 * 3]
    assert evaluate(("initial",), Values(initial=True)) == 1.0
    named = Values(variable={"m.p": 3.0}.__getitem__, parameter={"k": 2.0}.__getitem__)
    assert evaluate(("*", ("v", "m.p"), ("p", "k")), named) == 6.0


def test_arrays_are_evaluated_element_by_element() -> None:
    y = np.array([[1.0, -2.0, 3.0], [2.0, 2.0, 2.0]])
    e: Expr = ("if", ("<", Y0, 0.0), 0.0, ("*", Y0, Y1))
    assert evaluate_array(e, Values(y=y)).tolist() == [2.0, 0.0, 6.0]


def test_deep_and_shared_expressions_cost_what_they_hold() -> None:
    e: Expr = Y0
    for _ in range(20_000):
        e = ("*", 0.5, ("+", e, e))
    assert value(e, 3.0) == 3.0
