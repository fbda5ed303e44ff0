"""Algebraic variables and rates between the steps.

Integrators control the error of what has a rate; algebraic variables are exact at the ends of steps and merely
interpolated in between.  Rows of results and located roots are made as good as the states are: with these given, the
laws are solved for the algebraic variables, and differentiated by time for their rates.
"""

from collections.abc import Sequence

import numpy as np

from bglang.equations.system import column
from bglang.expr import leaves
from bglang.records import dataclass
from bglang.solve.consistent import Consistency, Instant
from bglang.solve.model import DENSE, Array, Model, Numbers
from bglang.solve.newton import NOISE
from bglang.solve.quick import Inverses

ITERATIONS = 4
GOOD = 1e-13


@dataclass(frozen=True, slots=True)
class Block:
    """The laws and the algebraic columns that they determine, in one set of modes; `square`: as many of each.

    Where the laws are straight (their `slopes` are the same everywhere, and time does not enter), `inverse` is that of
    the slopes by the algebraic columns."""

    laws: Numbers
    columns: Numbers
    square: bool
    slopes: Array
    inverse: Array | None


class Polisher:
    """Solves laws in many points of one smooth piece at once.  Large systems are left as they are: their methods keep
    algebraic variables to the tolerance."""

    def __init__(self, model: Model, scale: Array):
        self._model = model
        self._consistency = Consistency(model, scale)
        self._blocks: dict[bytes, Block | None] = {}
        self._inverses = Inverses()
        unknowns = model.system.unknowns
        self.useful = len(unknowns) <= DENSE and any(u.kind == "algebraic" for u in unknowns)
        rows = model.system.rows if self.useful else ()
        read = {leaf[1] for row in rows for leaf in leaves(row.residual) if leaf[0] == "z"}
        self._reads = np.array(sorted(read), dtype=np.intp)

    def _block(self, at: Instant) -> Block | None:
        key = at.z[self._reads].tobytes()
        if key not in self._blocks:
            f_y, f_d = self._model.dense_jacobian(at.t, at.y, at.d, at.z)
            sorts = self._consistency.sorts(at, f_y, f_d)
            part = f_y[np.ix_(sorts.laws, sorts.algebraic)] != 0.0
            laws, columns = sorts.laws[part.any(axis=1)], sorts.algebraic[part.any(axis=0)]
            useful = len(laws) and len(columns) and not sorts.stiff and not self._binds(f_y, laws, columns)
            self._blocks[key] = None
            if useful:
                slopes = f_y[laws]
                inverse = None
                if self._straight(at, laws, slopes):
                    inverse = self._inverses(slopes[:, columns], self._consistency.scale[columns])
                self._blocks[key] = Block(laws, columns, len(laws) == len(columns), slopes, inverse)
        return self._blocks[key]

    def _binds(self, f_y: Array, laws: Numbers, columns: Numbers) -> bool:
        """Whether more laws than they determine algebraic variables: they bind states, and what is left of that must
        not go into the variables."""
        block = f_y[np.ix_(laws, columns)] * self._consistency.scale[columns]
        if len(laws) < len(columns) or not np.isfinite(block).all():
            return False
        block = block / np.abs(block).max(axis=1, keepdims=True)
        column = np.abs(block).max(axis=0)  # a switch that blocked so far had next to no current: no lack of rank
        return bool(np.linalg.matrix_rank(block / np.where(column > NOISE, column, 1.0), tol=1e-10) < len(laws))

    def _straight(self, at: Instant, laws: Numbers, slopes: Array) -> bool:
        """Slopes and drift looked at in two more places, far from each other."""
        scale = self._consistency.scale
        for part, t in ((0.37, at.t), (-1.9, at.t + 1.0)):
            y = at.y + part * np.maximum(np.abs(at.y), scale)
            if not np.array_equal(self._model.dense_jacobian(t, y, at.d, at.z)[0][laws], slopes):
                return False
            if self._model.residual_t(t, y, at.d, at.z)[laws].any():
                return False
        return True

    def __call__(self, t: Array, y: Array, d: Array, z: Array) -> tuple[Array, Array]:
        """Values and rates at some points; they share the modes z."""
        if not self.useful or not len(t):
            return y, d
        block = self._block(Instant(float(t[0]), y[0], d[0], z))
        if block is None:
            return y, d
        if block.inverse is not None:
            return self._at_once(t, y, d, z, block, block.inverse)
        y, d = y.copy(), d.copy()
        for _ in range(ITERATIONS):
            residual = self._residuals(t, y, d, z, block)
            matrix = self._matrices(t, y, d, z, block)
            step = _solve(matrix[:, :, block.columns], residual, block.square)
            if step is None:
                return y, d
            y[:, block.columns] -= step
            size = np.maximum(np.abs(y[:, block.columns]), self._consistency.scale[block.columns])
            if np.max(np.abs(step) / size, initial=0.0) < GOOD**0.5:  # what is left is its square
                break
        matrix = self._matrices(t, y, d, z, block)
        drift = np.stack([self._model.residual_t(t[k], y[k], d[k], z)[block.laws] for k in range(len(t))])
        moving = d.copy()
        moving[:, block.columns] = 0.0
        rates = _solve(matrix[:, :, block.columns], np.einsum("kij,kj->ki", matrix, moving) + drift, block.square)
        if rates is not None:
            d[:, block.columns] = -rates
        return y, d

    def _residuals(self, t: Array, y: Array, d: Array, z: Array, block: Block) -> Array:
        return np.stack([self._model.residual(t[k], y[k], d[k], z)[block.laws] for k in range(len(t))])

    def _at_once(self, t: Array, y: Array, d: Array, z: Array, block: Block, inverse: Array) -> tuple[Array, Array]:
        """Straight laws need one correction, and the same one everywhere."""
        y, d = y.copy(), d.copy()
        y[:, block.columns] -= self._residuals(t, y, d, z, block) @ inverse.T
        d[:, block.columns] = 0.0
        d[:, block.columns] = -(d @ block.slopes.T) @ inverse.T
        return y, d

    def _matrices(self, t: Array, y: Array, d: Array, z: Array, block: Block) -> Array:
        return np.stack([self._model.dense_jacobian(t[k], y[k], d[k], z)[0][block.laws] for k in range(len(t))])


def _solve(matrix: Array, right: Array, square: bool) -> Array | None:
    """Solutions of many small systems; None where they have none."""
    if not np.isfinite(matrix).all() or not np.isfinite(right).all():
        return None
    try:
        if square:
            found = np.linalg.solve(matrix, right[:, :, None])[:, :, 0]
        else:
            found = (np.linalg.pinv(matrix, rcond=1e-12) @ right[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        return None
    return np.asarray(found, dtype=np.float64) if np.isfinite(found).all() else None


def reads_rates(model: Model, chosen: Sequence[int]) -> bool:
    """Whether some outputs read rates that only interpolation gives: those of storages that depend on each other."""
    unknowns, outputs = model.system.unknowns, model.system.outputs
    if len(unknowns) > DENSE or "dependent" not in column(unknowns, "kind"):
        return False
    return any(leaf[0] == "d" for i in chosen for leaf in leaves(outputs[i].value))


def true_rates(model: Model, t: Array, y: Array, d: Array, z: Array) -> Array:
    """Interpolated rates made exact: they satisfy the balances, and the laws differentiated by time."""
    d = d.copy()
    consistency = Consistency(model, np.ones(y.shape[1]))
    for k in range(len(t)):
        f_y, f_d = model.dense_jacobian(t[k], y[k], d[k], z[k])
        sorts = consistency.sorts(Instant(float(t[k]), y[k], d[k], z[k]), f_y, f_d)
        if sorts.stiff:
            continue
        slopes, drift = f_y[sorts.laws], model.residual_t(t[k], y[k], d[k], z[k])[sorts.laws]
        right = [model.residual(t[k], y[k], d[k], z[k])[sorts.balances], slopes @ d[k] + drift]
        matrix = np.concatenate([f_d[sorts.balances], slopes])
        step = _solve(matrix[None], np.concatenate(right)[None], matrix.shape[0] == matrix.shape[1])
        if step is not None:
            d[k] -= step[0]
    return d


class RootSearch:
    """A root that was located on interpolated algebraic variables, looked for again on the laws themselves.

    States go on along their rates: the way is so short that this is far more accurate than the interpolation."""

    def __init__(self, model: Model, polish: Polisher, found: Instant, root: int):
        self._model, self._polish, self._found, self._root = model, polish, found, root
        self.here, self._g = self._at(found.t)
        self.distance = 0.0

    def _at(self, t: float) -> tuple[Instant, float]:
        found = self._found
        y = found.y + (t - found.t) * found.d
        polished, d = self._polish(np.array([t]), y[None, :], found.d[None, :], found.z)
        g = self._model.roots(t, polished[0], d[0], found.z)
        return Instant(t, polished[0], d[0], found.z), float(g[self._root])

    def root(self, sign: int, first: float, width: float) -> Instant | None:
        """The instant after `first` at which the function takes the given sign; None: it is still `distance` away."""
        found, g = self._found, self._g
        rough = float(self._model.roots(found.t, found.y, found.d, found.z)[self._root])
        near = abs(g - rough) <= 1e-9 * max(abs(g), abs(rough)) or g == 0.0
        if near or not np.isfinite(g) or width <= 0.0:
            return self.here
        t_old = max(first, found.t - 1e-3 * width)
        g_old = self._at(t_old)[1]
        if g == g_old or not np.isfinite(g_old):
            return self.here
        step = -g * (found.t - t_old) / (g - g_old)
        if sign * g < 0.0 and step > 1e-6 * width:
            self.distance = step
            return None
        return self._secants(t_old, g_old, first, width)

    def _secants(self, t_old: float, g_old: float, first: float, width: float) -> Instant:
        t, g, here = self._found.t, self._g, self.here
        for _ in range(20):
            if g == g_old:
                break
            t_old, t, g_old = t, t - g * (t - t_old) / (g - g_old), g
            if not first < t or abs(t - self._found.t) > 4.0 * width:
                return self.here
            here, g = self._at(t)
            if abs(t - t_old) <= 4e-16 * max(abs(t), abs(t_old)) or g == 0.0:
                break
        return here
