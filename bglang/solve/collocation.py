"""Where the polynomial through the nodes is no curve of the model: the model itself, solved over the interval.

A step may pass over a transient that has died out long before its end.  The slopes at its beginning are those of the
transient, and a polynomial that begins with them swings far off what the model does; stiff laws turn that into powers
that never were.  Radau's three points satisfy the equations themselves, from the values at the beginning on, and their
rule integrates the powers there as accurately as the method does.  The end of the interval plays no part but as a first
guess: that work is compared with stored energies remains a check."""

import numpy as np

from bglang.solve.model import Array, Flags, Model

_ROOT = np.sqrt(6.0)
PLACES = np.array([(4.0 - _ROOT) / 10.0, (4.0 + _ROOT) / 10.0, 1.0])
WEIGHTS = np.array([(16.0 - _ROOT) / 36.0, (16.0 + _ROOT) / 36.0, 1.0 / 9.0])
_MATRIX = np.array(
    [
        [(88.0 - 7.0 * _ROOT) / 360.0, (296.0 - 169.0 * _ROOT) / 1800.0, (-2.0 + 3.0 * _ROOT) / 225.0],
        [(296.0 + 169.0 * _ROOT) / 1800.0, (88.0 + 7.0 * _ROOT) / 360.0, (-2.0 - 3.0 * _ROOT) / 225.0],
        [(16.0 - _ROOT) / 36.0, (16.0 + _ROOT) / 36.0, 1.0 / 9.0],
    ]
)
_INVERSE = np.linalg.inv(_MATRIX)
ITERATIONS, SETTLED = 8, 1e-10
NUMBERS = 2_000_000
"""So many numbers of matrices are held at once."""


def collocated(model: Model, t: Array, h: Array, y: Array, end: tuple[Array, Array], z: Array) -> tuple[Array, Flags]:
    """Work of every item of the audit over intervals of widths h that begin with (t, y) in modes z; `end`: values and
    rates there.  And where the equations could be solved."""
    work = np.zeros((len(t), len(model.system.audit)))
    good = np.zeros(len(t), dtype=bool)
    _, group = np.unique(z, axis=0, return_inverse=True)
    size = max(1, NUMBERS // (3 * y.shape[1]) ** 2)
    for number in range(int(group.max(initial=-1)) + 1):
        mine = np.flatnonzero(group.ravel() == number)
        for part in np.array_split(mine, -(-len(mine) // size)):
            stages, rates, good[part] = _stages(
                model, t[part], h[part], y[part], (end[0][part], end[1][part]), z[part[0]]
            )
            times = t[part, None] + h[part, None] * PLACES
            shape = (3 * len(part), y.shape[1])
            modes = np.repeat(z[part], 3, axis=0)
            power = model.powers(times.ravel(), stages.reshape(shape), rates.reshape(shape), modes)
            work[part] = h[part, None] * np.einsum("s,ksi->ki", WEIGHTS, power.reshape(len(part), 3, -1))
    return work, good & np.isfinite(work).all(axis=1)


def _stages(
    model: Model, t: Array, h: Array, y: Array, end: tuple[Array, Array], z: Array
) -> tuple[Array, Array, Flags]:
    """Values and rates at Radau's points, by Newton's method from what is known at the ends."""
    count, n = y.shape
    times = (t[:, None] + h[:, None] * PLACES).ravel()
    back = (h[:, None] * (PLACES - 1.0))[:, :, None]
    values = end[0][:, None, :] + back * end[1][:, None, :]  # past the transient
    good = np.zeros(count, dtype=bool)
    inverse = _INVERSE[None, :, :] / h[:, None, None]
    for _ in range(ITERATIONS):
        rates = inverse @ (values - y[:, None, :])
        flat = (times, values.reshape(-1, n), rates.reshape(-1, n), z)
        error = model.residual_rows(*flat).reshape(count, 3 * n)
        f_y, f_d = (slopes.reshape(count, 3, n, n) for slopes in model.jacobian_rows(*flat))
        matrix = np.einsum("ksij,ksu->ksiuj", f_d, inverse)
        for s in range(3):
            matrix[:, s, :, s, :] += f_y[:, s]
        step = _solved(matrix.reshape(count, 3 * n, 3 * n), error).reshape(count, 3, n)
        size = np.maximum(np.abs(values).max(axis=1), np.abs(y))[:, None, :]
        good = (np.abs(step) <= SETTLED * size + 1e-300).all(axis=(1, 2))
        values = values - np.where(np.isfinite(step), step, 0.0)
        if good.all():
            break
    return values, inverse @ (values - y[:, None, :]), good


def _solved(matrix: Array, right: Array) -> Array:
    """Solutions of many systems; infinite where there is none."""
    sound = np.isfinite(matrix).all(axis=(1, 2)) & np.isfinite(right).all(axis=1)
    found = np.full(right.shape, np.inf)
    try:
        found[sound] = np.linalg.solve(matrix[sound], right[sound][:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        for k in np.flatnonzero(sound):
            try:
                found[k] = np.linalg.solve(matrix[k], right[k])
            except np.linalg.LinAlgError:
                continue
    return found
