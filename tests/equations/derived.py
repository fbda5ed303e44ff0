"""Helpers: a derived system from a built graph, and its residuals at given values."""

import sys
from dataclasses import replace
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import numpy as np  # noqa: E402

from bglang.causality.assign import assign_causality  # noqa: E402
from bglang.diagnostics import Report  # noqa: E402
from bglang.equations.derive import derive  # noqa: E402
from bglang.equations.system import System  # noqa: E402
from bglang.expr import Expr  # noqa: E402
from bglang.expr.evaluate import Values, evaluate  # noqa: E402
from bglang.graph.ir import Assertion, BondGraph, Reinit, Variable, When, WhenBranch  # noqa: E402
from bglang.kernels.tables import make_block  # noqa: E402


def system_of(graph: BondGraph, report: Report | None = None) -> System:
    return derive(graph, assign_causality(graph), Report() if report is None else report)


def with_whens(graph: BondGraph, *branches: WhenBranch) -> BondGraph:
    return replace(graph, whens=tuple(When((branch,), "") for branch in branches))


def when(graph: BondGraph, condition: Expr, target: str, value: Expr) -> BondGraph:
    branch = WhenBranch((condition,), (Reinit(target, value, graph.span),), graph.span)
    return with_whens(graph, branch)


def with_assertion(graph: BondGraph, condition: Expr) -> BondGraph:
    return replace(graph, assertions=(Assertion(condition, "broken", "error", "", graph.span),))


def discrete(graph: BondGraph, name: str, start: float) -> BondGraph:
    from bglang.graph.ir import Start

    made = Variable(
        name, "discrete", "Real", "", "", Start(start, True, None, graph.span), None, None, None, graph.span
    )
    return replace(graph, variables=(*graph.variables, made))


class Point:
    """Values of a system's leaves; unknowns and rates by name, modes by number."""

    def __init__(self, system: System, t: float = 0.0, **modes: float) -> None:
        self.system, self.t = system, t
        self.p: list[float] = []
        for parameter in system.parameters:
            self.p.append(evaluate(parameter.value, Values(p=self.p)))
        self.y = dict.fromkeys((u.name for u in system.unknowns), 0.0)
        self.d = dict.fromkeys((u.name for u in system.unknowns), 0.0)
        self.z = [0.0] * len(system.modes)
        for name, number in modes.items():
            self.z[int(name[1:])] = number
        numbers = Values(p=self.p)
        self.tables = {
            t.key: make_block(
                np.array([evaluate(v, numbers) for v in t.x]), np.array([evaluate(v, numbers) for v in t.y]),
                t.method, t.outside, t.ends,
            )
            for t in system.tables
        }  # fmt: skip

    def values(self) -> Values:
        y = [self.y[u.name] for u in self.system.unknowns]
        d = [self.d[u.name] for u in self.system.unknowns]
        return Values(t=self.t, y=y, d=d, p=self.p, z=self.z, tables=self.tables)

    def __call__(self, e: Expr) -> float:
        return evaluate(e, self.values())

    def residual(self, name: str) -> float:
        """Of the row that goes with an unknown."""
        number = [u.name for u in self.system.unknowns].index(name)
        return self(self.system.rows[number].residual)

    def rate(self, name: str) -> float:
        """What the row of a state says its rate is, from a residual that is rate - value."""
        return self.d[name] - self.residual(name)

    def output(self, name: str) -> float:
        return self(next(o.value for o in self.system.outputs if o.name == name))
