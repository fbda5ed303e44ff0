"""Two independent ways to the response of a linear graph at a complex frequency s.

`tableau` takes every bond's effort and flow and every storage's state as unknowns and writes down all equations; no
causality, no elimination.  `response` evaluates a derived `System` with y and dy/dt = s*y.  All variables must agree.
"""

from typing import Any

import numpy as np

from bglang.equations.system import System
from bglang.expr import Expr
from bglang.graph.ir import BondGraph


def value(e: Expr, s: complex, y: Any, p: Any) -> complex:
    """A small evaluator of its own, on complex numbers."""
    if not isinstance(e, tuple):
        return e
    op = e[0]
    if op == "y":
        return y[e[1]]
    if op == "d":
        return s * y[e[1]]
    if op == "p":
        return p[e[1]]
    args = [value(a, s, y, p) for a in e[1:]]
    if op == "+":
        return sum(args)
    if op == "*":
        return np.prod(args)
    return {"-": lambda a, b: a - b, "/": lambda a, b: a / b, "neg": lambda a: -a, "^": lambda a, b: a**b}[op](*args)


def parameter_values(system: System) -> list[complex]:
    known: list[complex] = []
    for parameter in system.parameters:
        known.append(value(parameter.value, 0.0, (), known))
    return known


def response(system: System, s: complex) -> dict[str, complex]:
    """Every output of a linear system whose sources have the amplitude that their parameter says."""
    n, p = len(system.unknowns), parameter_values(system)
    assert len(system.rows) == n
    # a differentiated constraint takes sources for constant; here they have the frequency s, so take the constraint
    equations = [row.residual if row.position is None else row.position for row in system.rows]
    zero = np.array([value(e, s, np.zeros(n), p) for e in equations])
    matrix = np.zeros((n, n), complex)
    for k in range(n):
        unit = np.zeros(n)
        unit[k] = 1.0
        matrix[:, k] = [value(e, s, unit, p) for e in equations] - zero
    y = np.linalg.solve(matrix, -zero) if n else zero
    return {output.name: value(output.value, s, y, p) for output in system.outputs if not output.name.endswith("power")}


def tableau(graph: BondGraph, s: complex) -> dict[str, complex] | None:
    """The same from all equations at once; None where they are singular."""
    known = {p.name: p.value for p in graph.parameters}
    count = 2 * len(graph.bonds)
    states: dict[str, int] = {}
    names: dict[str, tuple[int, int]] = {}
    for bond in graph.bonds:
        for end in (bond.tail, bond.head):
            element = graph.elements[end.element]
            if element.kind in ("J0", "J1"):
                letter = "ef"[element.kind == "J1"]
                names[f"{element.name}.{letter}"] = (2 * bond.id + (letter == "f"), 1)
                continue
            names[element.variable(end.port, "e")] = (2 * bond.id, end.e_sign)
            names[element.variable(end.port, "f")] = (2 * bond.id + 1, end.f_sign)
            kind = element.ports[end.port].kind
            if kind in ("C", "I"):
                name = element.variable(end.port, "qp"[kind == "I"])
                names[name] = (count + len(states), 1)
                states[name] = count + len(states)
    size = count + len(states)
    rows: list[tuple[dict[int, complex], complex]] = []

    def linear(e: Expr) -> tuple[dict[int, complex], complex]:
        if not isinstance(e, tuple):
            return {}, e
        if e[0] == "p":
            return linear(known[e[1]])
        if e[0] == "v":
            column, sign = names[e[1]]
            return {column: sign}, 0.0
        parts = [linear(a) for a in e[1:]]
        if e[0] in ("+", "-", "neg"):
            signs = {"+": [1] * len(parts), "-": [1, -1], "neg": [-1]}[e[0]]
            total: dict[int, complex] = {}
            for sign, (terms, _) in zip(signs, parts, strict=True):
                for c, v in terms.items():
                    total[c] = total.get(c, 0) + sign * v
            return total, sum(sign * c for sign, (_, c) in zip(signs, parts, strict=True))
        if e[0] == "*":
            terms, constant = {}, 1.0
            for inner, c in parts:
                if inner:
                    terms = {k: v * constant for k, v in inner.items()}
                    constant = c * constant
                else:
                    terms, constant = {k: v * c for k, v in terms.items()}, constant * c
            return terms, constant
        (terms, top), (_, bottom) = parts
        return {k: v / bottom for k, v in terms.items()}, top / bottom

    def add(e: Expr) -> None:
        rows.append(linear(e))

    for element in graph.elements:
        ends = [
            (b, end, sign)
            for b in graph.bonds
            for end, sign in ((b.tail, -1), (b.head, 1))
            if end.element == element.id
        ]
        if element.kind in ("J0", "J1"):
            same, summed = (1, 0) if element.kind == "J1" else (0, 1)
            for bond, _, _ in ends[1:]:
                rows.append(({2 * bond.id + same: 1.0, 2 * ends[0][0].id + same: -1.0}, 0.0))
            rows.append(({2 * bond.id + summed: sign for bond, _, sign in ends}, 0.0))
        elif element.kind in ("TF", "GY"):
            e1, f1, e2, f2 = (("v", element.variable(k, x)) for k in (0, 1) for x in "ef")
            pairs = ((e1, e2), (f2, f1)) if element.kind == "TF" else ((e1, f2), (e2, f1))
            for left, right in pairs:
                add(("-", left, ("*", element.modulus, right)))
        for law in element.laws:
            add(("-", ("v", element.variable(law.port, law.gives)), law.value) if law.gives else law.value)
    for name, column in states.items():
        source, sign = names[name[:-1] + ("f" if name.endswith("q") else "e")]
        rows.append(({column: s, source: -sign}, 0.0))
    matrix = np.zeros((size, size), complex)
    right = np.zeros(size, complex)
    assert len(rows) == size
    for r, (terms, constant) in enumerate(rows):
        right[r] = -constant
        for c, v in terms.items():
            matrix[r, c] += v
    if np.linalg.cond(matrix) > 1e9:
        return None
    x = np.linalg.solve(matrix, right)
    return {name: sign * x[column] for name, (column, sign) in names.items()}
