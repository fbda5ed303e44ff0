"""Small symbolic matrices and numbers for expressions."""

from collections.abc import Mapping, Sequence
from typing import Any

from bglang.expr import Expr, call, neg, product, total
from bglang.expr.numbers import NotANumber, evaluate
from bglang.expr.walk import leaf_set
from bglang.graph.ir import BondGraph
from bglang.graph.parameters import evaluate_parameters

Matrix = list[list[Expr]]


def constant(e: Expr) -> bool:
    """Is it made of numbers and parameters only?"""
    return all(leaf[0] == "p" for leaf in leaf_set(e))


def quotient(a: Expr, b: Expr) -> Expr:
    """a/b, with what is plainly common cancelled."""
    if a == b:
        return 1.0
    if not isinstance(a, tuple) and not isinstance(b, tuple) and b != 0.0:
        exact = a / b
        return exact if len(repr(exact)) < 10 else ("/", a, b)  # 2/3 is read more easily than its decimals
    if isinstance(b, tuple) and b[0] == "/" and b[1] == 1.0:
        return product([a, b[2]])
    if isinstance(a, tuple) and a[0] == "*" and b in a[1:]:
        rest = list(a[1:])
        rest.remove(b)
        return product(rest)
    return call("/", a, b)


def square(a: Expr) -> Expr:
    if isinstance(a, tuple) and a[0] == "neg":
        a = a[1]
    return call("^", a, 2.0) if isinstance(a, tuple) else a * a


def times(a: Matrix, b: Matrix) -> Matrix:
    columns = list(zip(*b, strict=True))
    return [[total(product(pair) for pair in zip(row, c, strict=True)) for c in columns] for row in a]


def minor(m: Matrix, i: int, j: int) -> Matrix:
    return [[x for k, x in enumerate(row) if k != j] for r, row in enumerate(m) if r != i]


def determinant(m: Matrix) -> Expr:
    """By cofactors: for the few rows that a formula for people has."""
    if len(m) == 1:
        return m[0][0]
    if len(m) == 2:
        if m[0][1] == m[1][0]:
            return call("-", product([m[0][0], m[1][1]]), square(m[0][1]))
        return call("-", product([m[0][0], m[1][1]]), product([m[0][1], m[1][0]]))
    terms = list[Expr]()
    for j, x in enumerate(m[0]):
        if x != 0.0:
            term = product([x, determinant(minor(m, 0, j))])
            terms.append(neg(term) if j % 2 else term)
    return total(terms)


def adjugate(m: Matrix) -> Matrix:
    n = len(m)
    if n == 1:
        return [[1.0]]
    made = [[determinant(minor(m, j, i)) for j in range(n)] for i in range(n)]
    return [[neg(x) if (i + j) % 2 else x for j, x in enumerate(row)] for i, row in enumerate(made)]


def inverse(m: Matrix) -> Matrix:
    below = determinant(m)
    return [[0.0 if x == 0.0 else call("/", x, below) for x in row] for row in adjugate(m)]


def numbers(graph: BondGraph) -> dict[str, float]:
    """The parameters that have a value; mistakes in others are told elsewhere."""
    from bglang.diagnostics import Report

    return evaluate_parameters(graph, report=Report())


def value(e: Expr, parameters: Mapping[str, float], variables: Mapping[str, float] | None = None) -> float | None:
    """The number of an expression; None where something in it has none."""

    def leaf(node: tuple[Any, ...]) -> float:
        known = parameters if node[0] == "p" else (variables or {})
        name = node[1] if len(node) > 1 else "time"
        if name not in known:
            raise NotANumber(name)
        return known[name]

    try:
        return evaluate(e, leaf)
    except NotANumber:
        return None


def singular(m: Sequence[Sequence[Expr]], parameters: Mapping[str, float]) -> bool:
    """Is a matrix, with the model's numbers, singular?  Not known where a number is missing."""
    import numpy as np

    rows = [[value(x, parameters) for x in row] for row in m]
    if any(x is None for row in rows for x in row):
        return False
    array = np.array(rows, dtype=float)
    largest = float(np.max(np.abs(array), initial=0.0))
    return largest == 0.0 or abs(float(np.linalg.det(array / largest))) < 1e-13
