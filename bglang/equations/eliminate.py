"""Small systems of linear equations solved by formula."""

from collections.abc import Sequence

from bglang.expr import Expr, call, neg, product, total
from bglang.expr.invert import linear_in

LIMIT = 8
"""More equations than this are left to numbers: the formulas grow too fast to be read or to be worth computing."""


def solve_linear(residuals: Sequence[Expr], unknowns: Sequence[Expr]) -> list[Expr] | None:
    """The values of some leaves from 0 = residual for each; None where that is not linear, singular or too large."""
    if len(unknowns) > LIMIT:
        return None
    matrix: list[list[Expr]] = []
    for residual in residuals:
        row: list[Expr] = []
        rest = residual
        for leaf in unknowns:
            linear = linear_in(rest, leaf)
            if linear is None:
                return None
            slope, rest = linear
            row.append(slope)
        if any(linear_in(slope, leaf) != (0.0, slope) for slope in row for leaf in unknowns):
            return None
        matrix.append([*row, neg(rest)])
    return _eliminate(matrix)


def _eliminate(matrix: list[list[Expr]]) -> list[Expr] | None:
    """Gauss-Jordan.  Pivots that are numbers are taken first: they cannot turn out to be zero."""
    n = len(matrix)
    for k in range(n):
        candidates = [r for r in range(k, n) if matrix[r][k] != 0.0]
        if not candidates:
            return None
        best = min(candidates, key=lambda r: (isinstance(matrix[r][k], tuple), r))
        matrix[k], matrix[best] = matrix[best], matrix[k]
        pivot = matrix[k][k]
        matrix[k] = [1.0 if j == k else _divide(a, pivot) for j, a in enumerate(matrix[k])]
        for r in range(n):
            factor = matrix[r][k]
            if r != k and factor != 0.0:
                matrix[r] = [
                    0.0 if j == k else _minus(a, product([factor, b]))
                    for j, (a, b) in enumerate(zip(matrix[r], matrix[k], strict=True))
                ]
    return [row[-1] for row in matrix]


def _divide(a: Expr, b: Expr) -> Expr:
    if b == -1.0:
        return neg(a)
    return call("/", a, b)


def _minus(a: Expr, b: Expr) -> Expr:
    if b == 0.0:
        return a
    return total([a, neg(b)])
