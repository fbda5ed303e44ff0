"""Test problems compiled with numba, in the kernels' calling convention."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numba import cfunc, types

from bglang.solve.native.memory import CompiledModel, KernelCall

REAL, INT, LONG = types.CPointer(types.float64), types.CPointer(types.int32), types.CPointer(types.int64)
SIGNATURE = types.void(types.float64, REAL, REAL, REAL, REAL, INT, LONG, REAL)


def kernel(function: Callable[..., None]) -> KernelCall:
    compiled = cfunc(SIGNATURE, error_model="numpy")(function)
    return KernelCall(compiled.address, np.zeros(1, np.int32), np.zeros(1, np.int64), owner=compiled)


@dataclass
class Problem:
    """A model with a consistent start."""

    model: CompiledModel
    y: np.ndarray
    d: np.ndarray
    p: np.ndarray = field(default_factory=lambda: np.zeros(1))
    z: np.ndarray = field(default_factory=lambda: np.zeros(1))
    name: str = ""


def make(
    residual: Callable[..., None],
    jacobian: Callable[..., None],
    y: Any,
    d: Any,
    p: Any = (0.0,),
    roots: Callable[..., None] | None = None,
    nroots: int = 0,
    pattern: Any = None,
    explicit: bool = False,
) -> Problem:
    """`pattern` is a boolean matrix, full by default; the Jacobian writes entries column by column."""
    n = len(y)
    mask = np.ones((n, n), bool) if pattern is None else np.asarray(pattern, bool)
    indptr = np.concatenate([[0], np.cumsum(mask.sum(axis=0))]).astype(np.int32)
    indices = np.concatenate([np.flatnonzero(mask[:, j]) for j in range(n)]).astype(np.int32)
    model = CompiledModel(
        n, nroots, kernel(residual), kernel(jacobian), kernel(roots) if roots else None, indptr, indices, explicit
    )
    return Problem(model, np.array(y, float), np.array(d, float), np.array(p, float))


@cache
def oscillator() -> Problem:
    """y0 = cos t; roots y0, y1 - 1/2 and y0 + 0.999."""

    def residual(t, y, d, p, z, index, counts, out):
        out[0] = d[0] - y[1]
        out[1] = d[1] + y[0]

    def jacobian(t, y, d, p, z, index, counts, out):
        for k in range(8):
            out[k] = 0.0
        out[1], out[2], out[4], out[7] = 1.0, -1.0, 1.0, 1.0

    def roots(t, y, d, p, z, index, counts, out):
        out[0], out[1], out[2] = y[0], y[1] - 0.5, y[0] + 0.999

    return make(residual, jacobian, [1.0, 0.0], [0.0, -1.0], roots=roots, nroots=3, explicit=True)


@cache
def robertson() -> Problem:
    """Chemical kinetics with the conservation law as an algebraic equation."""

    def residual(t, y, d, p, z, index, counts, out):
        out[0] = d[0] + p[0] * y[0] - p[1] * y[1] * y[2]
        out[1] = d[1] - p[0] * y[0] + p[1] * y[1] * y[2] + p[2] * y[1] * y[1]
        out[2] = y[0] + y[1] + y[2] - 1.0

    def jacobian(t, y, d, p, z, index, counts, out):
        for k in range(18):
            out[k] = 0.0
        out[0], out[1], out[2] = p[0], -p[0], 1.0
        out[3], out[4], out[5] = -p[1] * y[2], p[1] * y[2] + 2.0 * p[2] * y[1], 1.0
        out[6], out[7], out[8] = -p[1] * y[1], p[1] * y[1], 1.0
        out[9], out[13] = 1.0, 1.0

    return make(residual, jacobian, [1.0, 0.0, 0.0], [-0.04, 0.04, 0.0], [0.04, 1e4, 3e7])


@cache
def van_der_pol() -> Problem:
    """With p = mu^2 in the scaling of the test set: eps = 1e-6."""

    def residual(t, y, d, p, z, index, counts, out):
        out[0] = d[0] - y[1]
        out[1] = d[1] - ((1.0 - y[0] * y[0]) * y[1] - y[0]) / p[0]

    def jacobian(t, y, d, p, z, index, counts, out):
        for k in range(8):
            out[k] = 0.0
        out[1] = (2.0 * y[0] * y[1] + 1.0) / p[0]
        out[2], out[3] = -1.0, -(1.0 - y[0] * y[0]) / p[0]
        out[4], out[7] = 1.0, 1.0

    return make(residual, jacobian, [2.0, 0.0], [0.0, -2e6], [1e-6], explicit=True)


@cache
def hires() -> Problem:
    """High irradiance response of photomorphogenesis, eight equations (Schaefer 1975)."""

    def residual(t, y, d, p, z, index, counts, out):
        out[0] = d[0] - (-1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007)
        out[1] = d[1] - (1.71 * y[0] - 8.75 * y[1])
        out[2] = d[2] - (-10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4])
        out[3] = d[3] - (8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3])
        out[4] = d[4] - (-1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6])
        out[5] = d[5] - (-280.0 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6])
        out[6] = d[6] - (280.0 * y[5] * y[7] - 1.81 * y[6])
        out[7] = d[7] + (280.0 * y[5] * y[7] - 1.81 * y[6])

    def jacobian(t, y, d, p, z, index, counts, out):
        for k in range(128):
            out[k] = 0.0
        out[0], out[1] = 1.71, -1.71
        out[8], out[9], out[11] = -0.43, 8.75, -8.32
        out[16], out[18], out[19] = -8.32, 10.03, -1.71
        out[26], out[27], out[29] = -0.43, 1.12, -0.69
        out[34], out[36], out[37] = -0.035, 1.745, -1.71
        out[44], out[45], out[46], out[47] = -0.43, 280.0 * y[7] + 0.43, -280.0 * y[7], 280.0 * y[7]
        out[52], out[53], out[54], out[55] = -0.43, -0.69, 1.81, -1.81
        out[61], out[62], out[63] = 280.0 * y[5], -280.0 * y[5], 280.0 * y[5]
        for k in range(8):
            out[64 + 9 * k] = 1.0

    start = [1.0, 0, 0, 0, 0, 0, 0, 0.0057]
    return make(residual, jacobian, start, [-1.71 + 0.0007, 1.71, 0, 0, 0, 0, 0, 0], explicit=True)


@cache
def pendulum() -> Problem:
    """A pendulum in x, y, vx, vy and the force of its rod, of index 1: the constraint is differentiated twice.

    Unknowns x, y, u, v, lambda with the constraint lambda (x^2 + y^2) = u^2 + v^2 - g y."""

    def residual(t, y, d, p, z, index, counts, out):
        out[0] = d[0] - y[2]
        out[1] = d[1] - y[3]
        out[2] = d[2] + y[4] * y[0]
        out[3] = d[3] + y[4] * y[1] + p[0]
        out[4] = y[2] * y[2] + y[3] * y[3] - p[0] * y[1] - y[4] * (y[0] * y[0] + y[1] * y[1])

    def jacobian(t, y, d, p, z, index, counts, out):
        for k in range(50):
            out[k] = 0.0
        out[2], out[4] = y[4], -2.0 * y[4] * y[0]
        out[8], out[9] = y[4], -p[0] - 2.0 * y[4] * y[1]
        out[10], out[14] = -1.0, 2.0 * y[2]
        out[16], out[19] = -1.0, 2.0 * y[3]
        out[22], out[23], out[24] = y[0], y[1], -(y[0] * y[0] + y[1] * y[1])
        for k in range(4):
            out[25 + 6 * k] = 1.0

    return make(residual, jacobian, [1.0, 0, 0, 0, 0], [0, 0, 0, -9.81, 0], [9.81])


def _ladder_residual(t, y, d, p, z, index, counts, out):
    for i in range(counts[0]):
        before = math.sin(2.0 * t) * (1.0 - math.exp(-t / 0.1)) if i == 0 else y[2 * i - 1] + 0.1 * y[2 * i - 1] ** 3
        here = y[2 * i + 1] + 0.1 * y[2 * i + 1] ** 3
        out[2 * i] = d[2 * i] - (before - here - 0.1 * y[2 * i])
        after = y[2 * i + 2] if i < counts[0] - 1 else here
        out[2 * i + 1] = d[2 * i + 1] - (y[2 * i] - after)


def _ladder_jacobian(t, y, d, p, z, index, counts, out):
    last, nnz, k = 2 * counts[0] - 1, counts[1], 0
    for j in range(2 * nnz):
        out[j] = 0.0
    for j in range(last + 1):
        slope = 1.0 + 0.3 * y[j] * y[j]
        if j > 0:
            out[k] = 1.0 if j % 2 == 0 else slope
            k += 1
        out[k] = 0.1 if j % 2 == 0 else (slope if j == last else 0.0)
        out[nnz + k] = 1.0
        k += 1
        if j < last:
            out[k] = -1.0 if j % 2 == 0 else -slope
            k += 1


@cache
def ladder(sections: int) -> Problem:
    """A nonlinear RLC ladder, at rest at the start: momenta and charges in turn, tridiagonal Jacobian."""
    n = 2 * sections
    columns = [[i for i in (j - 1, j, j + 1) if 0 <= i < n] for j in range(n)]
    indptr = np.cumsum([0, *map(len, columns)]).astype(np.int32)
    indices = np.concatenate(columns).astype(np.int32)
    counts = np.array([sections, len(indices)], np.int64)
    residual, jacobian = (
        KernelCall(k.address, k.index, counts, k.owner) for k in (kernel(_ladder_residual), kernel(_ladder_jacobian))
    )
    model = CompiledModel(n, 0, residual, jacobian, None, indptr, indices, True)
    return Problem(model, np.zeros(n), np.zeros(n), np.zeros(1))
