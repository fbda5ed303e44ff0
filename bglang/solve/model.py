"""The equations as functions of numbers: what the rest of the solver asks of a model.

`NativeModel` (in `native_model.py`) answers with compiled kernels; `ReferenceModel` computes the same in plain Python
from the expressions and is what tests compare with.
"""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bglang.equations.system import System
from bglang.expr import Expr, leaves
from bglang.expr.diff import derivative, diff
from bglang.expr.evaluate import Block, Values, evaluate, evaluate_array

Array: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]
"""Numbers of rows or columns."""
Flags: TypeAlias = NDArray[np.bool_]
Matrix: TypeAlias = Any
"""A scipy.sparse matrix in compressed columns."""


DENSE = 200
"""Up to so many unknowns systems are handled dense: faster, and rank can be judged."""


class Model(Protocol):
    """F(t, y, d, z) = 0 with its derivatives, roots and outputs, for one vector of parameters."""

    system: System
    p: Array
    tables: dict[str, Block]

    def residual(self, t: float, y: Array, d: Array, z: Array) -> Array: ...

    def jacobian(self, t: float, y: Array, d: Array, z: Array) -> tuple[Matrix, Matrix]:
        """dF/dy and dF/d(dy/dt)."""
        ...

    def residual_t(self, t: float, y: Array, d: Array, z: Array) -> Array:
        """The partial derivative of F by time."""
        ...

    def roots(self, t: float, y: Array, d: Array, z: Array) -> Array:
        """All root functions, mode by mode."""
        ...

    def outputs(self, t: Array, y: Array, d: Array, z: Array, chosen: Sequence[int]) -> Array:
        """Values of some outputs in many points: the arguments have one row a point."""
        ...

    def powers(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        """Power of every item of the audit in many points."""
        ...

    def node_powers(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        """The same, for models so large that a call a point costs nothing."""
        ...

    def energies(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        """Stored energy of every item of the audit that knows it in closed form, in many points; 0 for the others."""
        ...

    def efforts(self, t: Array, y: Array, d: Array, z: Array, chosen: Sequence[int]) -> Array:
        """The effort whose integral over a state is the energy, for some items of the audit, in many points."""
        ...

    def positions(self, t: float, y: Array, d: Array, z: Array) -> tuple[Array, Matrix]:
        """The position forms of the rows that have one, and their derivatives by y (rows x unknowns)."""
        ...

    def values(self, t: float, y: Array, d: Array, z: Array) -> Values:
        """A point for the evaluator of single expressions."""
        ...

    def dense_jacobian(self, t: float, y: Array, d: Array, z: Array) -> tuple[Array, Array]:
        """The Jacobian as arrays."""
        ...

    def residual_rows(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        """F in many points that share their modes."""
        ...

    def residual_t_rows(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        """The partial derivative of F by time in many points that share their modes."""
        ...

    def jacobian_rows(self, t: Array, y: Array, d: Array, z: Array) -> tuple[Array, Array]:
        """The Jacobian as arrays (points x rows x unknowns) in many points that share their modes."""
        ...


def table_blocks(system: System, p: Array) -> dict[str, Block]:
    """The tables with numbers, in the form that evaluators read."""
    from bglang.kernels.tables import make_block

    values = Values(p=p)
    blocks = dict[str, Block]()
    for table in system.tables:
        x = np.array([evaluate(e, values) for e in table.x])
        y = np.array([evaluate(e, values) for e in table.y])
        blocks[table.key] = make_block(x, y, table.method, table.outside, table.ends)
    return blocks


class ReferenceModel:
    """A model evaluated expression by expression."""

    def __init__(self, system: System, p: Array):
        self.system, self.p = system, np.asarray(p, dtype=np.float64)
        self.tables = table_blocks(system, self.p)
        self._rows = [row.residual for row in system.rows]
        self._roots = [g for mode in system.modes for g in mode.roots]
        self._entries: list[tuple[int, int, int, Expr]] | None = None
        self._rates: list[Expr] | None = None

    def values(self, t: float, y: Array, d: Array, z: Array) -> Values:
        return Values(t=t, y=y, d=d, p=self.p, z=z, tables=self.tables)

    def residual(self, t: float, y: Array, d: Array, z: Array) -> Array:
        return self._all(self._rows, self.values(t, y, d, z))

    def jacobian(self, t: float, y: Array, d: Array, z: Array) -> tuple[Matrix, Matrix]:
        from scipy.sparse import csc_matrix

        if self._entries is None:
            self._entries = [
                (which, i, leaf[1], diff(row, leaf))
                for i, row in enumerate(self._rows)
                for which, kind in enumerate("yd")
                for leaf in sorted({leaf for leaf in leaves(row) if leaf[0] == kind})
            ]
        n, at = len(y), self.values(t, y, d, z)
        parts = []
        for which in (0, 1):
            mine = [(i, j, evaluate(e, at)) for w, i, j, e in self._entries if w == which]
            data = ([v for _, _, v in mine], ([i for i, _, _ in mine], [j for _, j, _ in mine]))
            parts.append(csc_matrix(data, shape=(n, n)))
        return parts[0], parts[1]

    def residual_t(self, t: float, y: Array, d: Array, z: Array) -> Array:
        if self._rates is None:
            self._rates = [derivative(row, lambda leaf: 1.0 if leaf[0] == "t" else 0.0) for row in self._rows]
        return self._all(self._rates, self.values(t, y, d, z))

    def roots(self, t: float, y: Array, d: Array, z: Array) -> Array:
        return self._all(self._roots, self.values(t, y, d, z))

    def outputs(self, t: Array, y: Array, d: Array, z: Array, chosen: Sequence[int]) -> Array:
        return self._many([self.system.outputs[i].value for i in chosen], t, y, d, z)

    def powers(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        return self._many([item.power for item in self.system.audit], t, y, d, z)

    def node_powers(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        return self.powers(t, y, d, z)

    def energies(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        return self._many([0.0 if item.energy is None else item.energy for item in self.system.audit], t, y, d, z)

    def efforts(self, t: Array, y: Array, d: Array, z: Array, chosen: Sequence[int]) -> Array:
        items = (self.system.audit[k] for k in chosen)
        return self._many([0.0 if item.integral is None else item.integral[0] for item in items], t, y, d, z)

    def positions(self, t: float, y: Array, d: Array, z: Array) -> tuple[Array, Matrix]:
        forms = [row.position for row in self.system.rows if row.position is not None]
        at, slopes = self.values(t, y, d, z), np.zeros((len(forms), len(y)))
        for k, form in enumerate(forms):
            for leaf in {leaf for leaf in leaves(form) if leaf[0] == "y"}:
                slopes[k, leaf[1]] = evaluate(diff(form, leaf), at)
        if len(y) <= DENSE:
            return self._all(forms, at), slopes
        from scipy.sparse import csr_matrix

        return self._all(forms, at), csr_matrix(slopes)

    def dense_jacobian(self, t: float, y: Array, d: Array, z: Array) -> tuple[Array, Array]:
        f_y, f_d = self.jacobian(t, y, d, z)
        return f_y.toarray(), f_d.toarray()

    def residual_rows(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        return np.stack([self.residual(*point, z) for point in zip(t, y, d, strict=True)])

    def residual_t_rows(self, t: Array, y: Array, d: Array, z: Array) -> Array:
        return np.stack([self.residual_t(*point, z) for point in zip(t, y, d, strict=True)])

    def jacobian_rows(self, t: Array, y: Array, d: Array, z: Array) -> tuple[Array, Array]:
        both = [self.dense_jacobian(*point, z) for point in zip(t, y, d, strict=True)]
        return np.stack([f_y for f_y, _ in both]), np.stack([f_d for _, f_d in both])

    def _all(self, expressions: Sequence[Expr], at: Values) -> Array:
        return np.array([evaluate(e, at) for e in expressions], dtype=np.float64)

    def _many(self, expressions: Sequence[Expr], t: Array, y: Array, d: Array, z: Array) -> Array:
        at = Values(t=t, y=y.T, d=d.T, p=self.p, z=z.T, tables=self.tables)
        found = np.empty((len(t), len(expressions)))
        for k, e in enumerate(expressions):
            found[:, k] = evaluate_array(e, at)
        return found
