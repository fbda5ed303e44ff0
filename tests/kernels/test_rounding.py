"""Bounds of rounding errors in the residual, against the same expressions in sixty digits."""

import decimal
import math
import operator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from kernel_cases import system

from bglang.equations.system import System
from bglang.expr import Expr
from bglang.kernels.interpret import one_point, run_kernel
from bglang.kernels.lower import lower
from bglang.kernels.parameters import complete_vector
from bglang.kernels.program import Floats, Program
from bglang.kernels.rounding import EPS, rounding

Y: Expr = ("y", 0)
CASES: dict[str, Expr] = {
    "a line through a point off the origin": ("+", 0.122, ("*", 1.22, ("-", Y, 0.1))),
    "one over a cosine less its value": ("-", ("/", 0.216, ("cos", ("*", 0.4, ("tanh", Y)))), 0.216),
    "an exponential less one": ("*", 1e-6, ("-", ("exp", ("/", Y, 0.026)), 1.0)),
    "a power of a sum": ("-", ("^", ("+", 1.1, Y), 2.7), ("exp", ("*", 2.7, ("log", 1.1)))),
    "roots": ("-", ("sqrt", ("+", 2.0, Y)), ("sqrt", 2.0)),
    "a choice": ("if", ("<", Y, 0.5), ("-", ("sin", ("+", 1.0, Y)), ("sin", 1.0)), 3.0),
}


def sine(x: Decimal) -> Decimal:
    term, total, k = x, x, 1
    while abs(term) > Decimal(10) ** -58:
        k += 2
        term = -term * x * x / (k * (k - 1))
        total += term
    return total


QUARTER = Decimal("1.570796326794896619231321691639751442098584699687552910487472296")
EXACT: dict[str, Any] = {
    "+": lambda *a: sum(a), "*": lambda *a: math.prod(a), "-": operator.sub, "/": operator.truediv,
    "^": operator.pow, "<": operator.lt, "if": lambda c, a, b: a if c else b, "sin": sine,
    "cos": lambda x: sine(QUARTER - x), "tanh": lambda x: 1 - 2 / ((2 * x).exp() + 1),
    **{name: getattr(Decimal, name if name != "log" else "ln") for name in ("exp", "sqrt", "log")},
}  # fmt: skip


def exact(e: Expr, y: float) -> Any:
    if not isinstance(e, tuple):
        return Decimal(e)
    return Decimal(y) if e == Y else EXACT[e[0]](*(exact(a, y) for a in e[1:]))


def at(made: System, y: float) -> tuple[Program, Floats, Floats]:
    """The program, its residual in doubles and its bounds."""
    program = lower(made)
    p = complete_vector(program, np.zeros(0))
    point = one_point(0.0, np.array([y]), np.zeros(1), p, np.zeros(0))
    kernel = program.kernels["residual"]
    return program, run_kernel(program, kernel, point)[0], rounding(program, kernel, point)


@pytest.mark.parametrize("name", CASES)
def test_bounds_hold_and_are_not_idle(name: str) -> None:
    made = system([CASES[name]])
    worst = 0.0
    with decimal.localcontext() as context:
        context.prec = 60
        for y in [0.0, *(s * 10.0**k for k in range(-20, 0) for s in (1, -1, 3.3))]:
            _, found, bound = at(made, y)
            error = abs(float(Decimal(float(found[0])) - exact(CASES[name], y)))
            assert error <= bound[0]
            worst = max(worst, error / bound[0])
    assert worst > 0.02  # a bound that says something


def test_a_law_without_constants_has_no_rounding_at_rest() -> None:
    _, _, bound = at(system([("+", ("*", 3.0, Y), ("sinh", Y))]), 0.0)
    assert bound[0] == 0.0
    _, _, bound = at(system([("*", 3.0, Y)]), 2.0)
    assert EPS * 6.0 <= bound[0] <= 4 * EPS * 6.0
