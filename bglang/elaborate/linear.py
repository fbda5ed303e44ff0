"""Determinants, inverses and solutions of small linear systems: numbers where they are known, formulas otherwise."""

from collections.abc import Sequence
from typing import Any

from bglang.elaborate.operators import operation
from bglang.elaborate.protocol import Fault, fault
from bglang.expr import Expr, product, total
from bglang.source import Span

Rows = Sequence[Sequence[Any]]

SYMBOLIC = 4
"""Up to this size formulas are written out; a formula for a larger full matrix would have thousands of terms."""

TERMS = 100
"""Larger matrices are taken if they are so sparse that no formula has more products than this."""


def numeric(rows: Rows) -> bool:
    return not any(isinstance(item, tuple) for row in rows for item in row)


def determinant(rows: Rows, span: Span) -> Expr:
    if not rows:
        return 1.0
    if numeric(rows):
        return _eliminate(rows, [[] for _ in rows])[1]
    return _Minors(rows, span).of(tuple(range(len(rows))), tuple(range(len(rows))))


def inverse(rows: Rows, span: Span) -> list[list[Expr]]:
    n = len(rows)
    return solution(rows, [[float(i == j) for j in range(n)] for i in range(n)], span)


def solution(rows: Rows, right: Rows, span: Span) -> list[list[Expr]]:
    """x in rows*x = right, column by column."""
    if numeric(rows):
        if numeric(right):
            solved, value = _eliminate(rows, right)
            if value == 0.0:
                raise _singular(span)
            return solved
        inverted = inverse(rows, span)
        return [
            [total(operation("*", (a, right[k][j]), span) for k, a in enumerate(row)) for j in range(len(right[0]))]
            for row in inverted
        ]
    return _cramer(rows, right, span)


def _singular(span: Span) -> Fault:
    return fault(
        "expressions/singular",
        "this matrix has no inverse",
        span,
        reason="Its determinant is 0: its rows depend on each other.",
    )


def _eliminate(rows: Rows, right: Rows) -> tuple[list[list[Expr]], float]:
    """Gauss with row pivoting; the solution (unless singular) and the determinant.

    A pivot that is only rounding against the size of its matrix counts as zero."""
    a = [[float(x) for x in row] for row in rows]
    b = [[float(x) for x in row] for row in right]
    n, value = len(a), 1.0
    size = max((abs(x) for row in a for x in row), default=0.0)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(a[i][k]))
        if abs(a[pivot][k]) <= 1e-15 * size:
            return [], 0.0
        if pivot != k:
            a[k], a[pivot], b[k], b[pivot] = a[pivot], a[k], b[pivot], b[k]
            value = -value
        value *= a[k][k]
        for i in range(k + 1, n):
            ratio = a[i][k] / a[k][k]
            if ratio:
                a[i] = [x - ratio * y for x, y in zip(a[i], a[k], strict=True)]
                b[i] = [x - ratio * y for x, y in zip(b[i], b[k], strict=True)]
    for k in reversed(range(n)):
        b[k] = [x / a[k][k] for x in b[k]]
        for i in range(k):
            b[i] = [x - a[i][k] * y for x, y in zip(b[i], b[k], strict=True)]
    return [list(row) for row in b], value


def _cramer(rows: Rows, right: Rows, span: Span) -> list[list[Expr]]:
    """The adjugate times the right-hand side over the determinant: no pivot has to be chosen."""
    n = len(rows)
    minors = _Minors(rows, span)
    everything = tuple(range(n))
    value = minors.of(everything, everything)
    if value == 0.0:
        raise _singular(span)

    def cofactor(i: int, k: int) -> Expr:
        if n == 1:
            return 1.0
        minor = minors.of(everything[:i] + everything[i + 1 :], everything[:k] + everything[k + 1 :])
        return operation("neg", (minor,), span) if (i + k) % 2 else minor

    adjugate = [[cofactor(i, k) for i in range(n)] for k in range(n)]
    return [
        [
            operation("/", (total(product((row[i], right[i][j])) for i in range(n)), value), span)
            for j in range(len(right[0]))
        ]
        for row in adjugate
    ]


class _Minors:
    """Determinants of parts of a matrix by expansion along the first row, each computed once."""

    def __init__(self, rows: Rows, span: Span):
        self.rows = rows
        self.span = span
        self.known: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[Expr, int]] = {}

    def of(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> Expr:
        value, terms = self._of(rows, columns)
        if terms > TERMS or len(rows) > 3 * SYMBOLIC:
            raise self._too_large()
        return value

    def _too_large(self) -> Fault:
        n = len(self.rows)
        return fault(
            "limits/matrix",
            f"the inverse of a {n} by {n} matrix that varies is too large a formula",
            self.span,
            reason=f"Full matrices are taken up to {SYMBOLIC} by {SYMBOLIC}; larger ones if their entries are known.",
            hint="declare the solution as a variable and write the equation `A*x = b` instead.",
        )

    def _of(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> tuple[Expr, int]:
        if not rows:
            return 1.0, 1
        found = self.known.get((rows, columns))
        if found is not None:
            return found
        if len(self.known) > 200 * TERMS:
            raise self._too_large()
        parts, count = list[Expr](), 0
        for j, column in enumerate(columns):
            entry = self.rows[rows[0]][column]
            if entry == 0.0:
                continue
            minor, terms = self._of(rows[1:], columns[:j] + columns[j + 1 :])
            term = operation("*", (entry, minor), self.span)
            if term != 0.0:
                parts.append(operation("neg", (term,), self.span) if j % 2 else term)
                count += terms
        result = (total(parts), max(count, 1))
        self.known[rows, columns] = result
        return result
