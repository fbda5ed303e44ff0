"""Events of small models without pins and resets: the usual case, done with as few evaluations as possible.

One Jacobian and its inverse serve all corrections; inverses are remembered, because a model that switches comes back
to the same few matrices.  Whatever does not converge at once, or is not regular, is left to the general way.
"""

import numpy as np

from bglang.solve.model import Array, Model, Numbers

REMEMBERED = 256
SMALL = 40
"""Matrices up to this size are remembered."""
CORRECTIONS = 6
PRECISION = 1e-11
CONDITION = 1e10


class Inverses:
    """Inverses of regular matrices, in terms of unknowns of size `scale`."""

    def __init__(self) -> None:
        self._known: dict[bytes, Array | None] = {}

    def __call__(self, matrix: Array, scale: Array) -> Array | None:
        """None: it is not square, not finite or too near to singular."""
        if matrix.shape[0] != matrix.shape[1] or not matrix.size:
            return None
        key = matrix.tobytes() if len(matrix) <= SMALL else b""
        if key and key in self._known:
            return self._known[key]
        found = _inverse(matrix, scale)
        if key:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[key] = found
        return found


def _inverse(matrix: Array, scale: Array) -> Array | None:
    scaled = matrix * scale
    size = np.abs(scaled).max(axis=1, initial=0.0)
    if not np.isfinite(size).all() or not size.all():
        return None
    scaled /= size[:, None]
    try:
        inverse = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:
        return None
    condition = np.abs(scaled).sum(axis=0).max() * np.abs(inverse).sum(axis=0).max()
    if not condition < CONDITION:
        return None
    return np.asarray(scale[:, None] * inverse / size)


def quick_values(
    model: Model, t: float, before: Array, d: Array, z: Array, first: Array, sums: Array, laws: Numbers,
    inverse: Array, scale: Array,
) -> Array | None:  # fmt: skip
    """y near `before` that keeps the sums of balances and satisfies the laws; None: not at once.

    `first` are the residuals of the laws at the beginning, `sums` the rows of dF/d(dy/dt) whose change must be zero,
    `inverse` that of these rows over those of the laws."""
    y, f = before.copy(), first
    if not np.isfinite(f).all():
        return None
    size = np.inf
    for _ in range(CORRECTIONS):
        step = inverse @ np.concatenate([sums @ (y - before), f])
        y -= step
        f = model.residual(t, y, d, z)[laws]
        last, size = size, float(np.max(np.abs(step) / np.maximum(np.abs(y), scale), initial=0.0))
        if not size <= 0.25 * last or not np.isfinite(f).all():
            return None
        if size <= PRECISION:
            return y
    return None


def quick_rates(
    model: Model, t: float, y: Array, first: Array, z: Array, balances: Numbers, law_rows: Array, drift: Array,
    inverse: Array, scale: Array,
) -> Array | None:  # fmt: skip
    """dy/dt with which the balances hold and the laws stay true; None: not at once."""
    d = first.copy()
    for _ in range(2):
        f = model.residual(t, y, d, z)[balances]
        if not np.isfinite(f).all():
            return None
        step = inverse @ np.concatenate([f, law_rows @ d + drift])
        d -= step
        if np.max(np.abs(step) / np.maximum(np.abs(d), scale), initial=0.0) <= PRECISION:
            return d
    return None
