"""Which parameters a graph reads."""

from collections.abc import Iterator

from bglang.expr import Expr
from bglang.expr.walk import postorder
from bglang.graph.ir import Assertion, BondGraph, Start, Terminate


def used_parameters(graph: BondGraph) -> set[str]:
    """Names of the parameters that something reads."""
    used = set[str]()
    for e in expressions(graph):
        if isinstance(e, tuple):
            used.update(node[1] for node in postorder(e) if node[0] == "p")
    return used


def expressions(graph: BondGraph) -> Iterator[Expr | None]:
    """Every expression of a graph."""
    for element in graph.elements:
        yield element.modulus
        yield element.energy
        for law in element.laws:
            yield law.value
        for port in element.ports:
            yield from _start(port.start)
            yield port.nominal
    for parameter in graph.parameters:
        yield from (parameter.value, parameter.minimum, parameter.maximum)
    for variable in graph.variables:
        yield from _start(variable.start)
        yield from (variable.nominal, variable.minimum, variable.maximum)
    for equation in (*graph.equations, *graph.initial_equations):
        yield from (equation.left, equation.right)
    for table in graph.tables:
        yield from table.x
        yield from table.y
    for assertion in graph.assertions:
        yield assertion.condition
    for when in graph.whens:
        for branch in when.branches:
            yield from branch.conditions
            for action in branch.actions:
                if isinstance(action, Assertion):
                    yield action.condition
                elif not isinstance(action, Terminate):
                    yield action.value


def _start(start: Start | None) -> Iterator[Expr]:
    if start is not None:
        yield start.value
