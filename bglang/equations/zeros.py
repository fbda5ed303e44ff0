"""Invariant zeros of a linear model: the frequencies at which it can move without being seen.

An output that no input reaches at once gives a state in terms of the others; it is taken out, and its rate becomes the
output (the idea of Emami-Naeini and Van Dooren, 1982).  When every output is reached, the inputs that keep them at rest
are put in, and the zeros are eigenvalues.  So zeros at infinity never have to be told from large ones.  Elimination is
by pivots, and what cancels to rounding is set to zero entry by entry, so that widely different units do no harm.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Pieces = tuple[Matrix, Matrix, Matrix, Matrix]

ROUNDING = 1e-12


def invariant_zeros(a: Matrix, b: Matrix, c: Matrix, d: Matrix) -> NDArray[np.complex128]:
    """The finite zeros of all inputs to all outputs, slowest first; none where only some inputs or only some outputs
    matter at every frequency."""
    none = np.zeros(0, np.complex128)
    if not (b.shape[1] and c.shape[0]):
        return none
    a, b, c, d = _turned(_reduced(*_turned(_reduced(*_balanced(a, b, c, d)))))
    if not len(a) or d.shape[0] != d.shape[1]:
        return none
    for k in range(len(d)):  # the rows of d are solved for one input each
        j = int(np.argmax(np.abs(d[k])))
        b, c, d, a = _without_input(a, b, c, d, k, j)
    values = np.linalg.eigvals(a).astype(np.complex128)
    return values[np.lexsort((values.imag, values.real, np.abs(values)))]


def _balanced(a: Matrix, b: Matrix, c: Matrix, d: Matrix) -> Pieces:
    """The same zeros with states of like size."""
    if not len(a):
        return a, b, c, d
    from scipy.linalg import matrix_balance

    balanced: Any = matrix_balance(a, permute=False, separate=True)
    made, (scale, _) = balanced
    return made, b / scale[:, None], c * scale, d


def _turned(pieces: Pieces) -> Pieces:
    a, b, c, d = pieces
    return a.T, c.T, b.T, d.T


def _less(x: Matrix, y: Matrix) -> Matrix:
    """x - y, where what is left of two equal numbers is nothing."""
    made = x - y
    return np.where(np.abs(made) > ROUNDING * (np.abs(x) + np.abs(y)), made, 0.0)


def _reduced(a: Matrix, b: Matrix, c: Matrix, d: Matrix) -> Pieces:
    """The model without the states that outputs see; every output that is left is reached by an input of its own."""
    a, b = a.copy(), b.copy()
    left = np.ones(len(a), bool)
    while True:
        c, d, reached = _echelon(c, d)
        hidden = [k for k in range(len(c)) if k not in reached]
        if not hidden:
            return a[np.ix_(left, left)], b[left], c[:, left], d
        k = hidden[0]
        if np.any(c[k]):
            j = int(np.argmax(np.abs(c[k])))
            _take_out(a, b, c, d, k, j)
            left[j] = False
        else:
            c, d = np.delete(c, k, axis=0), np.delete(d, k, axis=0)


def _echelon(c: Matrix, d: Matrix) -> tuple[Matrix, Matrix, list[int]]:
    """Outputs combined so that each of some has an input of its own, and the rest none; which have one."""
    c, d, reached = c.copy(), d.copy(), list[int]()
    for j in range(d.shape[1]):
        rows = [k for k in range(len(d)) if k not in reached and d[k, j] != 0.0]
        if not rows:
            continue
        best = max(rows, key=lambda k: abs(d[k, j]) / max(np.abs(d[k]).max(), 1e-300))
        reached.append(best)
        for k in range(len(d)):
            if k != best and d[k, j] != 0.0:
                factor = d[k, j] / d[best, j]
                c[k], d[k] = _less(c[k], factor * c[best]), _less(d[k], factor * d[best])
                d[k, j] = 0.0
    return c, d, reached


def _take_out(a: Matrix, b: Matrix, c: Matrix, d: Matrix, k: int, j: int) -> None:
    """Output k holds state j to the others; what that needs of its rate is the new output.  In place: row and column j
    of what is left are zero."""
    weights = c[k] / c[k, j]
    weights[j] = 0.0
    others = np.flatnonzero(weights)
    rate, drive = a[j].copy(), b[j].copy()
    for i in others:
        rate, drive = _less(rate, -weights[i] * a[i]), _less(drive, -weights[i] * b[i])
    c[k], d[k] = rate, drive
    a[j], b[j] = 0.0, 0.0
    for m in (a, c):
        rows = np.flatnonzero(m[:, j])
        if len(rows) and len(others):
            places = np.ix_(rows, others)
            m[places] = _less(m[places], np.outer(m[rows, j], weights[others]))
        m[:, j] = 0.0


def _without_input(a: Matrix, b: Matrix, c: Matrix, d: Matrix, k: int, j: int) -> Pieces:
    """Input j keeps output k at rest."""
    pivot = d[k, j]
    a = _less(a, np.outer(b[:, j] / pivot, c[k]))
    others = np.arange(len(d)) != k
    c, d = c.copy(), d.copy()
    c[others] = _less(c[others], np.outer(d[others, j] / pivot, c[k]))
    b = _less(b, np.outer(b[:, j] / pivot, d[k]))
    d[others] = _less(d[others], np.outer(d[others, j] / pivot, d[k]))
    return b, c, d, a
