"""Equations of higher order: `der(der(x))` becomes the rate of a further variable, the rate of x.

That further variable is a state where nothing else determines x or its rate, and follows from that where something
does.  Of what follows from the bond graph the second derivative is found from there."""

from collections.abc import Sequence

from bglang.expr import Expr
from bglang.expr.walk import postorder
from bglang.graph.ir import BondGraph, Equation, Variable
from bglang.records import replace

DEEPEST = 8
"""No model means a derivative of higher order than this."""


def split_orders(graph: BondGraph) -> BondGraph:
    """The graph with equations of first order.  The rate of `theta` is named `'der(theta)'`, and starts at 0."""
    for _ in range(DEEPEST):
        names = _second_order(graph.equations, {v.name for v in graph.variables if v.kind == "continuous"})
        if not names:
            return graph
        graph = _split(graph, names)
    return graph


def _second_order(equations: Sequence[Equation], variables: set[str]) -> dict[str, Equation]:
    """Variables under two `der`, and the first equation where each stands so."""
    found = dict[str, Equation]()
    for equation in equations:
        for side in (equation.left, equation.right):
            for name in _twice(side):
                if name in variables:
                    found.setdefault(name, equation)
    return found


def _twice(e: Expr) -> list[str]:
    """Variables whose second derivative an expression contains."""
    if not isinstance(e, tuple):
        return []
    inner = [n[1][1] for n in postorder(e) if n[0] == "der" and isinstance(n[1], tuple) and n[1][0] == "der"]
    return [name[1] for name in inner if isinstance(name, tuple) and name[0] == "v"]


def _split(graph: BondGraph, names: dict[str, Equation]) -> BondGraph:
    rates = {name: _rate_name(name) for name in names}
    variables, defining = list(graph.variables), list[Equation]()
    for name, equation in names.items():
        at = next(k for k, v in enumerate(variables) if v.name == name)
        own = variables[at]
        rate = Variable(rates[name], own.kind, "Real", "", f"rate of {name}", None, None, None, None, own.span)
        variables.insert(at + 1, rate)
        defining.append(Equation(("der", ("v", name)), ("v", rates[name]), equation.component, equation.span))
    return replace(
        graph,
        variables=tuple(variables),
        equations=(*defining, *(_lowered(e, rates) for e in graph.equations)),
        initial_equations=tuple(_lowered(e, rates) for e in graph.initial_equations),
    )


def _rate_name(name: str) -> str:
    owner, dot, last = name.rpartition(".")
    return f"{owner}{dot}'der({last.replace(chr(39), '')})'"


def _lowered(equation: Equation, rates: dict[str, str]) -> Equation:
    return replace(equation, left=_without(equation.left, rates), right=_without(equation.right, rates))


def _without(e: Expr, rates: dict[str, str]) -> Expr:
    """The rates of some variables by their names."""
    if not isinstance(e, tuple) or e[0] in ("v", "p", "t"):
        return e
    if e[0] == "der" and isinstance(e[1], tuple) and e[1][0] == "v" and e[1][1] in rates:
        return ("v", rates[e[1][1]])
    parts = tuple(_without(a, rates) if isinstance(a, tuple) else a for a in e)
    return e if all(a is b for a, b in zip(parts, e, strict=True)) else parts
