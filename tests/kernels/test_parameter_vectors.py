"""Numbers for parameters, tables and starts follow from a program without compiling."""

import numpy as np
import pytest
from kernel_cases import system

from bglang.expr import Expr
from bglang.expr.evaluate import Values, evaluate, table_value
from bglang.graph.ir import Table
from bglang.kernels.load import load
from bglang.kernels.lower import lower
from bglang.kernels.parameters import (
    complete_vector,
    nominal_values,
    parameter_vector,
    start_values,
    table_blocks,
)
from bglang.source import NOWHERE
from bglang.store import Store

TABLE = Table("t", (0.0, 1.0, ("p", 0)), (0.0, ("p", 1), 4.0), "linear", "hold", "natural", NOWHERE)
VALUES: tuple[Expr, ...] = (
    2.0,
    3.0,
    ("+", ("p", 0), ("p", 1)),
    ("*", ("p", 2), ("p", 2)),
    ("table", ("/", ("p", 2), 10.0), "t"),
    ("sin", ("p", 4)),
)


def test_parameters_are_computed_in_order_through_tables_too() -> None:
    program = lower(system([("d", 0)], VALUES, tables=[TABLE]))
    p = parameter_vector(program)
    assert p[:6].tolist() == pytest.approx([2.0, 3.0, 5.0, 25.0, 1.5, np.sin(1.5)])
    assert table_value(np.array([0.5, 1.5]), table_blocks(program, p)["t"]).tolist() == [1.5, 3.5]


def test_what_depends_on_a_given_value_follows() -> None:
    program = lower(system([("d", 0)], VALUES, tables=[TABLE]))
    assert parameter_vector(program, {0: 4.0})[:6] == pytest.approx([4.0, 3.0, 7.0, 49.0, 2.1, np.sin(2.1)])
    given = parameter_vector(program, {2: 1.0, 1: 5.0})
    assert given[:6] == pytest.approx([2.0, 5.0, 1.0, 1.0, 0.5, np.sin(0.5)]), "a computed one may be given as well"
    assert np.array_equal(complete_vector(program, given[:6]), given)


def test_long_sums_of_parameters() -> None:
    numbers = [float(k) for k in range(20)]
    many: tuple[Expr, ...] = (*numbers, ("+", *(("p", k) for k in range(20))), ("*", 2.0, ("p", 20)))
    program = lower(system([("d", 0)], many))
    assert parameter_vector(program)[20:22].tolist() == [190.0, 380.0]
    assert parameter_vector(program, {3: 13.0})[20:22].tolist() == [200.0, 400.0]
    assert parameter_vector(program, {20: 7.0})[20:22].tolist() == [7.0, 14.0]


def test_other_values_need_no_compiling() -> None:
    program = lower(system([("-", ("d", 0), ("table", ("*", ("p", 3), ("y", 0)), "t"))], VALUES, tables=[TABLE]))
    kernels = load(program, "llvm", Store(None))
    before = kernels.compiled
    for overrides in ({}, {0: 4.0}, {1: -2.0, 3: 0.125}):
        p = parameter_vector(program, overrides)
        found = kernels.residual(0.0, np.array([0.02]), np.array([1.0]), p, np.zeros(0))
        expected = 1.0 - table_value(np.float64(p[3] * 0.02), table_blocks(program, p)["t"])
        assert found[0] == expected
    assert kernels.compiled == before


def test_a_long_chain_and_a_wide_level() -> None:
    chain: list[Expr] = [1.0, *[("+", ("p", k), 1.0) for k in range(300)]]
    assert parameter_vector(lower(system([], chain)))[300] == 301.0
    wide: list[Expr] = [0.5, *[("*", ("p", 0), float(k)) for k in range(5000)]]
    program = lower(system([], wide))
    assert len(program.kernels["parameters"].codes) <= 8
    assert parameter_vector(program)[1:5001].tolist() == [0.5 * k for k in range(5000)]


def test_starts_and_nominals() -> None:
    case = system([("d", 0), ("d", 1)], VALUES[:3], starts=[7.5, ("*", 2.0, ("p", 2))])
    program = lower(case)
    p = parameter_vector(program, {1: 1.0})
    assert start_values(program, p).tolist() == [7.5, 6.0]
    assert np.isnan(nominal_values(program, p)).all()
    assert evaluate(case.unknowns[1].start, Values(p=p)) == 6.0
