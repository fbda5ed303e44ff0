"""Algebraic variables, dependent storages and rates between the steps.

Integrators control the error of what has a rate; algebraic variables are exact at the ends of steps and merely
interpolated in between, and so is the agreement of storages that depend on each other.  Rows of results and located
roots are made as good as the states are.  With independent states given, the laws are solved for the algebraic
variables, and differentiated by time for their rates.  Where laws bind storages to each other, what their balances sum
up is given instead, as at an event: the laws then hold and nothing jumps.
"""

from collections.abc import Sequence

import numpy as np

from bglang.equations.system import column
from bglang.expr import leaves
from bglang.records import dataclass, replace
from bglang.solve.consistent import Consistency, Instant, Sorts
from bglang.solve.model import DENSE, Array, Model, Numbers
from bglang.solve.newton import NOISE
from bglang.solve.quick import Inverses

ITERATIONS = 4
GOOD = 1e-13


@dataclass(frozen=True, slots=True)
class Block:
    """The laws and the columns that they determine, in one set of modes; `square`: as many of each.

    With dependent storages the columns are all of them, and `balances` the rows whose sums stay.  Where the laws are
    straight (the slopes are the same everywhere, and time does not enter), `slopes` holds them and `inverse` that of
    the part that belongs to the columns."""

    balances: Numbers
    laws: Numbers
    columns: Numbers
    algebraic: Numbers
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
        self._pins: dict[bytes, bool] = {}
        self._inverses = Inverses()
        unknowns = model.system.unknowns
        kinds = set(column(unknowns, "kind"))
        self.useful = len(unknowns) <= DENSE and not kinds.isdisjoint(("algebraic", "dependent"))
        self._depends = "dependent" in kinds
        rows = model.system.rows if self.useful else ()
        read = {leaf[1] for row in rows for leaf in leaves(row.residual) if leaf[0] == "z"}
        self._reads = np.array(sorted(read), dtype=np.intp)

    def _block(self, at: Instant) -> Block | None:
        key = at.z[self._reads].tobytes()
        if key not in self._blocks:
            f_y, f_d = self._model.dense_jacobian(at.t, at.y, at.d, at.z)
            sorts = self._consistency.sorts(at, f_y, f_d)
            self._blocks[key] = None
            self._pins[key] = sorts.stiff
            if not sorts.stiff:
                self._blocks[key] = self._whole(at, sorts, f_y, f_d) if self._depends else self._part(at, sorts, f_y)
        return self._blocks[key]

    def _part(self, at: Instant, sorts: Sorts, f_y: Array) -> Block | None:
        """The laws that determine algebraic variables."""
        part = f_y[np.ix_(sorts.laws, sorts.algebraic)] != 0.0
        laws, columns = sorts.laws[part.any(axis=1)], sorts.algebraic[part.any(axis=0)]
        if not len(laws) or not len(columns) or self._binds(f_y, laws, columns):
            return None
        slopes, inverse, none = f_y[laws], None, sorts.balances[:0]
        if self._straight(at, none, laws, slopes):
            inverse = self._inverses(slopes[:, columns], self._consistency.scale[columns])
        return Block(none, laws, columns, columns, len(laws) == len(columns), slopes, inverse)

    def _whole(self, at: Instant, sorts: Sorts, f_y: Array, f_d: Array) -> Block | None:
        """All laws, and the balances that say what stays."""
        slopes = np.concatenate([f_d[sorts.balances], f_y[sorts.laws]])
        inverse = self._inverses(slopes, self._consistency.scale)
        if inverse is None:
            return None
        if not self._straight(at, sorts.balances, sorts.laws, slopes):
            inverse = None
        every = np.arange(len(at.y))
        return Block(sorts.balances, sorts.laws, every, sorts.algebraic, True, slopes, inverse)

    def _binds(self, f_y: Array, laws: Numbers, columns: Numbers) -> bool:
        """Whether more laws than they determine algebraic variables: they bind states, and what is left of that must
        not go into the variables."""
        block = f_y[np.ix_(laws, columns)] * self._consistency.scale[columns]
        if len(laws) < len(columns) or not np.isfinite(block).all():
            return False
        block = block / np.abs(block).max(axis=1, keepdims=True)
        column = np.abs(block).max(axis=0)  # a switch that blocked so far had next to no current: no lack of rank
        return bool(np.linalg.matrix_rank(block / np.where(column > NOISE, column, 1.0), tol=1e-10) < len(laws))

    def _straight(self, at: Instant, balances: Numbers, laws: Numbers, slopes: Array) -> bool:
        """Slopes and drift looked at in two more places, far from each other."""
        scale = self._consistency.scale
        for part, t in ((0.37, at.t), (-1.9, at.t + 1.0)):
            y = at.y + part * np.maximum(np.abs(at.y), scale)
            there = self._slopes(np.array([t]), y[None, :], at.d[None, :], at.z, balances, laws)
            if not np.array_equal(there[0], slopes):
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
        d[:, block.algebraic] = 0.0
        for _ in range(ITERATIONS):
            matrix = self._matrices(t, y, d, z, block)
            step = _solve(matrix[:, :, block.columns], self._errors(t, y, d, z, block), block.square)
            if step is None:
                return y, d
            y[:, block.columns] -= step
            size = np.maximum(np.abs(y[:, block.columns]), self._consistency.scale[block.columns])
            if np.max(np.abs(step) / size, initial=0.0) < GOOD**0.5:  # what is left is its square
                break
        matrix = self._matrices(t, y, d, z, block)
        drift = self._model.residual_t_rows(t, y, d, z)[:, block.laws]
        moving = np.einsum("kij,kj->ki", matrix[:, len(block.balances) :], d) + drift
        right = np.concatenate([self._residuals(t, y, d, z, block.balances), moving], axis=1)
        rates = _solve(matrix[:, :, block.columns], right, block.square)
        if rates is not None:
            d[:, block.columns] -= rates
        return y, d

    def one(self, at: Instant) -> Instant:
        """The same at one point, also where modes pin states: reactions then follow from the rates."""
        if self._block(at) is None and self._pins.get(at.z[self._reads].tobytes()):
            outcome = self._consistency.values(at, at.z, {})
            y, d, good = self._consistency.rates(replace(at, y=outcome.u))
            return Instant(at.t, y, d, at.z) if outcome.converged and good else at
        y, d = self(np.array([at.t]), at.y[None, :], at.d[None, :], at.z)
        return Instant(at.t, y[0], d[0], at.z)

    def _residuals(self, t: Array, y: Array, d: Array, z: Array, rows: Numbers) -> Array:
        return self._model.residual_rows(t, y, d, z)[:, rows] if len(rows) else np.zeros((len(t), 0))

    def _errors(self, t: Array, y: Array, d: Array, z: Array, block: Block) -> Array:
        """What the laws are off; the sums stay."""
        stay = np.zeros((len(t), len(block.balances)))
        return np.concatenate([stay, self._residuals(t, y, d, z, block.laws)], axis=1)

    def _at_once(self, t: Array, y: Array, d: Array, z: Array, block: Block, inverse: Array) -> tuple[Array, Array]:
        """Straight laws need one correction, and the same one everywhere."""
        y, d = y.copy(), d.copy()
        d[:, block.algebraic] = 0.0
        y[:, block.columns] -= self._errors(t, y, d, z, block) @ inverse.T
        balances = self._residuals(t, y, d, z, block.balances)
        right = np.concatenate([balances, d @ block.slopes[len(block.balances) :].T], axis=1)
        d[:, block.columns] -= right @ inverse.T
        return y, d

    def _matrices(self, t: Array, y: Array, d: Array, z: Array, block: Block) -> Array:
        return self._slopes(t, y, d, z, block.balances, block.laws)

    def _slopes(self, t: Array, y: Array, d: Array, z: Array, balances: Numbers, laws: Numbers) -> Array:
        f_y, f_d = self._model.jacobian_rows(t, y, d, z)
        return np.concatenate([f_d[:, balances], f_y[:, laws]], axis=1) if len(balances) else f_y[:, laws]


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
        at = self._polish.one(replace(found, t=t, y=found.y + (t - found.t) * found.d))
        return at, float(self._model.roots(t, at.y, at.d, at.z)[self._root])

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
