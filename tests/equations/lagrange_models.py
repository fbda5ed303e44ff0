"""Models for the tests of Lagrange forms, and numbers for their residuals."""

from pathlib import Path
from typing import Any

import bglang
from bglang.api import Model
from bglang.expr import Expr
from bglang.expr.evaluate import Values, evaluate
from bglang.expr.walk import rewrite

EXAMPLES = Path(__file__).parents[2] / "examples"
LAGRANGE = EXAMPLES / "lagrange"

SLED = """
model Sled "A blade on ice: it moves along itself only"
  parameter Real m = 2, J = 0.5, F = 3;
  Real x, y, angle(start = 0.4);
  J1 vx, vy, w;
  I mx(I = m, p(start = 2*2*cos(0.4))), my(I = m, p(start = 2*2*sin(0.4))), turn(I = J, p(start = 0.5*1.5));
  TF sx(m = sin(angle)), sy(m = -cos(angle));
  J0 blade;
bonds
  vx -> mx; vy -> my; w -> turn;
  vx -> sx -> blade; vy -> sy -> blade;
equation
  der(x) = vx.f; der(y) = vy.f; der(angle) = w.f;
annotation(experiment(StopTime = 3, Tolerance = 1e-9));
end Sled;
"""

TWICE = """
model Twice "The same rod twice"
  parameter Real m = 1;
  Real x(start = 0.6), y(start = -0.8);
  J1 vx, vy;
  I mx(I = m), my(I = m);
  Se weight(e = -9.81*m);
  TF ax(m = x), ay(m = y), bx(m = 2*x), by(m = 2*y);
  J0 first, second;
bonds
  vx -> mx; weight -> vy -> my;
  vx -> ax -> first; vy -> ay -> first;
  vx -> bx -> second; vy -> by -> second;
equation
  der(x) = vx.f; der(y) = vy.f;
end Twice;
"""

GEARS = """
model Gears "Two wheels in mesh: a junction must be put between them"
  J1 w1, w2;
  I j1(I = 2), j2(I = 3);
  Se torque(e = 1);
  TF mesh(m = -0.5);
bonds
  torque -> w1 -> j1;
  w1 -> mesh -> w2 -> j2;
annotation(experiment(StopTime = 2, Tolerance = 1e-9));
end Gears;
"""

NODES = """
model Nodes "Two capacitors tied by a voltage source: efforts are the velocities"
  parameter Real C1 = 1e-3, C2 = 2e-3, R1 = 100, R2 = 50, E = 5;
  J0 a, b;
  J1 tie;
  C c1(C = C1, q(start = 0.02)), c2(C = C2);
  R r1(R = R1), r2(R = R2);
  Se source(e = E);
bonds
  a -> c1, r1;
  b -> c2, r2;
  a -> tie -> b;
  tie -> source;
annotation(experiment(StopTime = 0.5, Tolerance = 1e-9));
end Nodes;
"""


def example(name: str) -> Model:
    return bglang.load(LAGRANGE / f"{name}.bg")


def number(e: Expr, values: dict[Any, float]) -> float:
    """The value of a written equation: names, `der(x)` and `der(der(x))` by their text."""

    def leaf(node: tuple[Any, ...]) -> Expr:
        return values[node[1]] if node[0] in ("v", "p") and node[1] in values else node

    def operation(node: tuple[Any, ...], args: list[Expr]) -> Expr:
        if node[0] == "der":
            inner = node[1]
            twice = isinstance(inner, tuple) and inner[0] == "der"
            return values[f"der(der({inner[1][1]}))" if twice else f"der({inner[1]})"]
        return (node[0], *args)

    return float(evaluate(rewrite(e, leaf, operation), Values()))
