"""Linear analysis: A, B, C, D with names, exact derivatives, at an operating point.

F(t, y, ẏ, u) = 0 is differentiated exactly: F_d δẏ + F_y δy + F_u δu = 0.  With F_d = U Σ Vᵀ the rows and columns split
into a differential part and an algebraic one, whose block must be regular (index 1); eliminating it gives state
equations in coordinates that are then turned back into the model's own states x.  Where a source acts on a dependent
storage, x itself jumps with the source: x = x̃ + Q u, and x̃, which is continuous, is the state (mathematically X*).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bglang.diagnostics import UsageError
from bglang.equations.system import System
from bglang.expr import Expr, leaves, total, var
from bglang.expr.diff import diff
from bglang.graph.ir import BondGraph, Start, Variable
from bglang.records import dataclass, replace
from bglang.source import NOWHERE

Matrix = NDArray[np.float64]

INPUT = "input:"
"""Prefix of the quantities added to sources in order to differentiate by them; no source text can name them."""


class NotRegular(UsageError):
    """The equations have no state form at this point."""


@dataclass(frozen=True, slots=True)
class LinearModel:
    """δẋ = A δx + B δu, δy = C δx + D δu.  `jumps` names states that a source moves at once (x̃ stands for them)."""

    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    A: Matrix
    B: Matrix
    C: Matrix
    D: Matrix
    time: float
    jumps: tuple[str, ...]
    point: tuple[tuple[str, float], ...] = ()
    """The states there."""
    steady: bool = False

    def poles(self) -> NDArray[np.complex128]:
        """Eigenvalues, slowest first."""
        values = np.linalg.eigvals(self.A).astype(np.complex128) if self.states else np.zeros(0, np.complex128)
        return values[np.lexsort((values.imag, values.real, np.abs(values)))]

    def modes(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128], Matrix]:
        """Poles, shapes (columns) and participation of each state in each mode (columns add up to 1)."""
        from scipy.linalg import eig

        if not self.states:
            return np.zeros(0, np.complex128), np.zeros((0, 0), np.complex128), np.zeros((0, 0))
        values, left, right = eig(self.A, left=True, right=True)
        order = np.lexsort((values.imag, values.real, np.abs(values)))
        values, left, right = values[order], left[:, order], right[:, order]
        parts = np.abs(left.conj() * right)
        sums = parts.sum(axis=0)
        return values, right, parts / np.where(sums > 0, sums, 1.0)

    def zeros(self, output: int = 0, input: int = 0) -> NDArray[np.complex128]:
        """Zeros of one transfer function: where the system matrix loses rank."""
        from bglang.equations.zeros import invariant_zeros

        if not self.inputs or not self.outputs:
            return np.zeros(0, np.complex128)
        d = self.D[[output], :][:, [input]]
        return invariant_zeros(self.A, self.B[:, [input]], self.C[[output], :], d)

    def invariant_zeros(self) -> NDArray[np.complex128]:
        """Zeros of all inputs and outputs together, slowest first."""
        from bglang.equations.zeros import invariant_zeros

        return invariant_zeros(self.A, self.B, self.C, self.D)

    def gain(self, s: complex) -> NDArray[np.complex128]:
        """The transfer matrix at one complex frequency."""
        n = len(self.states)
        inner = np.linalg.solve(s * np.eye(n) - self.A, self.B.astype(complex)) if n else np.zeros((0, self.B.shape[1]))
        return np.asarray(self.C @ inner + self.D, np.complex128)

    def to_control(self) -> Any:
        """The same as a `control.StateSpace`, which takes no dots in names: `i.f` is `i_f` there."""
        from bglang.results.result import needs

        control = needs("control", "control")
        states, inputs, outputs = ([n.replace(".", "_") for n in ns] for ns in (self.states, self.inputs, self.outputs))
        return control.StateSpace(self.A, self.B, self.C, self.D, states=states, inputs=inputs, outputs=outputs)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        zeros = self.zeros() if len(self.inputs) == len(self.outputs) == 1 else None
        return {
            "states": list(self.states),
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "A": self.A.tolist(),
            "B": self.B.tolist(),
            "C": self.C.tolist(),
            "D": self.D.tolist(),
            "poles": [[p.real, p.imag] for p in self.poles()],
            "zeros": _zero_table(self) if zeros is None else [[p.real, p.imag] for p in zeros],
            "invariant_zeros": [[z.real, z.imag] for z in self.invariant_zeros()],
            "time": self.time,
            "point": dict(self.point),
            "steady": self.steady,
            "jumps": list(self.jumps),
        }


def _zero_table(model: LinearModel) -> list[dict[str, Any]]:
    """Zeros of every transfer function of a model with several inputs or outputs."""
    return [
        {"input": u, "output": y, "zeros": [[z.real, z.imag] for z in model.zeros(i, j)]}
        for j, u in enumerate(model.inputs)
        for i, y in enumerate(model.outputs)
    ]


# --- inputs -----------------------------------------------------------------------------------------------------------


def source_names(graph: BondGraph) -> list[str]:
    return [element.name for element in graph.elements if element.kind in ("Se", "Sf")]


def with_inputs(graph: BondGraph, names: Sequence[str]) -> BondGraph:
    """The same graph with a quantity, zero for now, added to what each of these sources gives.

    A source may be named by itself or by what it gives: `push` or `push.e`."""
    sources = {e.name: e for e in graph.elements if e.kind in ("Se", "Sf")}
    written = {f"{name}.{'e' if e.kind == 'Se' else 'f'}": name for name, e in sources.items()}
    given = dict[str, str]()
    for name in names:
        source = name if name in sources else written.get(name)
        if source is None:
            listed = ", ".join(f"`{k}`" for k in sources) or "none"
            raise UsageError(f"`{name}` is no source of the model; inputs can be {listed}")
        if source in given:
            raise UsageError(f"`{given[source]}` and `{name}` are the same input")
        given[source] = name
    elements = [
        replace(e, laws=(replace(e.laws[0], value=total([e.laws[0].value, var(INPUT + given[e.name])])),))
        if e.name in given
        else e
        for e in graph.elements
    ]
    start = Start(0.0, False, None, NOWHERE)
    added = [Variable(INPUT + name, "discrete", "Real", "", "", start, None, None, None, NOWHERE) for name in names]
    return replace(graph, elements=tuple(elements), variables=(*graph.variables, *added))


# --- matrices ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    """Numbers of an operating point, and the evaluator of single expressions there."""

    t: float
    y: Matrix
    d: Matrix
    z: Matrix
    model: Any


def linearize(system: System, point: Point, inputs: Sequence[str], outputs: Sequence[str]) -> LinearModel:
    """The matrices at a point.  `inputs` are sources, `outputs` any variables of the model."""
    fy, fd = (m.toarray() for m in point.model.jacobian(point.t, point.y, point.d, point.z))
    leaf_of = {mode.name: ("z", k) for k, mode in enumerate(system.modes) if mode.kind == "discrete"}
    input_leaves = [leaf_of[INPUT + name] for name in inputs]
    rows = [row.residual for row in system.rows]
    fu = _partials(rows, input_leaves, point)
    values = {o.name: o.value for o in system.outputs}
    for name in outputs:
        if name not in values:
            from bglang.results.names import unknown

            raise UsageError(unknown(name, list(values)))
    expressions = [values[name] for name in outputs]
    n = len(system.unknowns)
    oy = _partials(expressions, [("y", i) for i in range(n)], point)
    od = _partials(expressions, [("d", i) for i in range(n)], point)
    ou = _partials(expressions, input_leaves, point)
    states = [i for i, u in enumerate(system.unknowns) if u.kind == "state"]
    names = tuple(system.unknowns[i].name for i in states)
    reduced = _eliminate(fd, fy, fu, states, [system.unknowns[i].name for i in range(n)])
    return _named(reduced, names, tuple(inputs), tuple(outputs), (oy, od, ou), point.t)


def _partials(expressions: Sequence[Expr], by: Sequence[tuple[Any, ...]], point: Point) -> Matrix:
    """Exact derivatives at the point, only where a leaf occurs."""
    from bglang.expr.evaluate import evaluate

    at = point.model.values(point.t, point.y, point.d, point.z)
    column = {leaf: j for j, leaf in enumerate(by)}
    result = np.zeros((len(expressions), len(by)))
    for i, e in enumerate(expressions):
        for leaf in {leaf for leaf in leaves(e) if leaf in column}:
            result[i, column[leaf]] = evaluate(diff(e, leaf), at)
    return result


@dataclass(frozen=True, slots=True)
class _Reduced:
    """y = Y s + Yu u, ṡ = S s + Su u, and x = P s + Q u for the named states."""

    S: Matrix
    Su: Matrix
    Y: Matrix
    Yu: Matrix
    states: list[int]


def _eliminate(fd: Matrix, fy: Matrix, fu: Matrix, states: list[int], names: list[str]) -> _Reduced:
    n = len(fd)
    slopes = fd.diagonal()
    if n == len(states) and np.all(slopes != 0.0) and np.count_nonzero(fd) == n:  # der(x) = ... for every unknown
        scale = -1.0 / slopes[:, None]
        return _Reduced(scale * fy, scale * fu, np.eye(n), np.zeros((n, fu.shape[1])), states)
    u, sigma, vt = np.linalg.svd(fd) if n else (fd, np.zeros(0), fd)
    rank = int(np.sum(sigma > 1e-10 * (sigma[0] if len(sigma) else 1.0)))
    if rank != len(states):
        listed = ", ".join(f"`{names[i]}`" for i in states)
        raise NotRegular(f"at this point only {rank} of the states {listed} can be chosen freely")
    v = vt.T
    a, b = u.T @ fy @ v, u.T @ fu
    a11, a12, a21, a22 = a[:rank, :rank], a[:rank, rank:], a[rank:, :rank], a[rank:, rank:]
    if n > rank and np.linalg.cond(a22) > 1e13:
        raise NotRegular("the algebraic equations are singular at this point, so there are no state equations")
    w_s, w_u = (np.linalg.solve(a22, m) for m in (-a21, -b[rank:])) if n > rank else (a21, b[rank:])
    scale = 1.0 / sigma[:rank, None]
    s = -scale * (a11 + a12 @ w_s)
    s_u = -scale * (b[:rank] + a12 @ w_u)
    y = v @ np.vstack([np.eye(rank), w_s])
    y_u = v @ np.vstack([np.zeros((rank, fu.shape[1])), w_u])
    return _Reduced(s, s_u, y, y_u, states)


def _named(
    r: _Reduced,
    names: tuple[str, ...],
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    derivatives: tuple[Matrix, Matrix, Matrix],
    time: float,
) -> LinearModel:
    oy, od, ou = derivatives
    p, q = r.Y[r.states, :], r.Yu[r.states, :]
    same = np.array_equal(p, np.eye(len(p)))
    if not same and np.linalg.cond(p) > 1e13:
        raise NotRegular("the states of the model are not independent at this point")
    inverse = p if same else np.linalg.inv(p)
    q = np.where(np.abs(q) > 1e-12 * max(1.0, np.abs(r.Yu).max(initial=0.0)), q, 0.0)
    # x̃ = x - Q u = P s:  its rate needs no rate of u
    a = p @ r.S @ inverse
    b = p @ r.Su
    y_x, y_u = r.Y @ inverse, r.Yu
    # ẏ = Y ṡ + Yu u̇; outputs that would need u̇ have no place in D
    if np.abs(od @ r.Yu).max(initial=0.0) > 1e-9 * max(1.0, np.abs(od).max(initial=0.0)):
        worst = int(np.abs(od @ r.Yu).max(axis=1).argmax())
        raise NotRegular(f"the output `{outputs[worst]}` depends on the rate of an input; leave it out")
    c = oy @ y_x + od @ r.Y @ inverse @ a
    d = oy @ y_u + od @ r.Y @ inverse @ b + ou
    jumps = tuple(name for name, row in zip(names, q, strict=True) if np.any(row))
    return LinearModel(names, inputs, outputs, _clean(a), _clean(b), _clean(c), _clean(d), time, jumps)


def _clean(m: Matrix) -> Matrix:
    """Rounding left by the orthogonal transformations is not physics: entries far below the largest are zero."""
    size = np.abs(m).max(initial=0.0)
    return np.where(np.abs(m) > 1e-13 * size, m, 0.0)
