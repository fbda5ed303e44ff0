"""Parameters are computed in the order of their dependence."""

import math
from dataclasses import replace

import pytest
from build import Build

from bglang.diagnostics import Report, SourceError
from bglang.expr import par
from bglang.graph.ir import BondGraph
from bglang.graph.parameters import evaluate_parameters


def graph_with(**values: object) -> BondGraph:
    build = Build()
    for name, value in values.items():
        build.parameter(name, value)  # type: ignore[arg-type]
    return build.graph()


def test_order_does_not_matter() -> None:
    graph = graph_with(a=("*", 2.0, par("b")), b=("+", par("c"), 1.0), c=3.0, d=("sqrt", par("a")))
    values = evaluate_parameters(graph)
    assert values == {"a": 8.0, "b": 4.0, "c": 3.0, "d": pytest.approx(math.sqrt(8.0))}


def test_dependents_follow_an_override() -> None:
    graph = graph_with(a=("*", 2.0, par("b")), b=1.0)
    assert evaluate_parameters(graph, {"b": 5.0}) == {"a": 10.0, "b": 5.0}
    assert evaluate_parameters(graph, {"a": 5.0}) == {"a": 5.0, "b": 1.0}


def test_a_long_chain_needs_no_recursion() -> None:
    n = 20_000
    chain = {f"x{k}": ("+", par(f"x{k + 1}"), 1.0) for k in range(n)}
    assert evaluate_parameters(graph_with(**chain, **{f"x{n}": 0.0}))["x0"] == n


def test_a_cycle_names_its_members() -> None:
    report = Report()
    graph = graph_with(a=("+", par("b"), 1.0), b=("*", par("c"), 2.0), c=par("a"), d=par("d"), e=par("a"))
    evaluate_parameters(graph, report=report)
    messages = [d.message for d in report.errors]
    assert messages == [
        "parameters that need each other: `a` needs `b` needs `c` needs `a`",
        "`d` is defined by itself",
    ]


def test_a_division_by_zero_shows_the_numbers() -> None:
    with pytest.raises(SourceError) as caught:
        evaluate_parameters(graph_with(k=("/", 1.0, par("c")), c=0.0))
    (problem,) = caught.value.diagnostics
    assert problem.code == "parameters/not-a-number"
    assert problem.message == "`k` has no value: division by zero"
    assert problem.reason == "It is computed with c = 0."


def test_what_is_not_taken_is_not_computed() -> None:
    graph = graph_with(c=0.0, k=("if", (">", par("c"), 0.0), ("/", 1.0, par("c")), 7.0))
    assert evaluate_parameters(graph)["k"] == 7.0


def test_a_value_outside_its_bounds_is_an_error() -> None:
    graph = graph_with(k=-3.0)
    graph = replace(graph, parameters=(replace(graph.parameters[0], minimum=0.0, unit="N/m"),))
    report = Report()
    evaluate_parameters(graph, report=report)
    assert [d.message for d in report.errors] == ["`k` is -3 N/m, less than its minimum 0"]
    report = Report()
    evaluate_parameters(graph, {"k": 3.0}, report)
    assert not report.errors


def test_parameters_without_value_stay_out() -> None:
    assert evaluate_parameters(graph_with(a=None, b=par("a"), c=1.0)) == {"c": 1.0}


def test_tables_of_parameters_are_looked_up() -> None:
    build = Build()
    build.table("t", [(0.0, 0.0), (1.0, 10.0)], outside="linear")
    build.parameter("x", 0.25)
    build.parameter("y", ("table", par("x"), "t"))
    assert evaluate_parameters(build.graph(), {"x": 2.0})["y"] == 20.0
