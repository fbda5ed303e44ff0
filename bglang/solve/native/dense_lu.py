"""LU of small dense matrices, row by row; the same text serves real and complex numbers."""

from typing import Any

from bglang.solve.native.intrinsics import Ints, jit, times


@jit
def magnitude(x: Any) -> float:
    """|re| + |im|: cheaper than the modulus and as good for choosing pivots."""
    result: float = abs(x.real) + abs(x.imag)
    return result


@jit
def scaled(x: Any, factor: float) -> Any:
    if isinstance(x, float):
        return x * factor
    return complex(x.real * factor, x.imag * factor)


@jit
def invert(x: Any) -> Any:
    """1 / x, scaled against overflow (numba's complex division can raise)."""
    if isinstance(x, float):
        return 1.0 / x
    scale = 1.0 / (abs(x.real) + abs(x.imag))
    re, im = x.real * scale, x.imag * scale
    scale /= re * re + im * im
    return complex(re * scale, -im * scale)


@jit
def factor_dense(n: int, a: Any, pivot: Ints) -> int:
    """LU with row exchanges in place (a has n more places than n * n), reciprocals on the diagonal.

    Returns 0, or 1 + the column without a pivot, or -1 - the row that is empty or not finite.

    Rows are compared relative to their own largest entry: rows of a model carry different units."""
    for i in range(n):
        largest = 0.0
        for j in range(n):
            largest = max(largest, magnitude(a[i * n + j]))
        if not largest > 0.0 or not largest < 1e300:
            return -(i + 1)
        a[n * n + i] = 1.0 / largest
    for k in range(n):
        best, size = k, magnitude(a[k * n + k]) * a[n * n + k].real
        for i in range(k + 1, n):
            other = magnitude(a[i * n + k]) * a[n * n + i].real
            if other > size:
                best, size = i, other
        pivot[k] = best
        if not size > 0.0:
            return k + 1
        if best != k:
            for j in range(n):
                a[k * n + j], a[best * n + j] = a[best * n + j], a[k * n + j]
            a[n * n + best] = a[n * n + k]
        a[k * n + k] = invert(a[k * n + k])
        for i in range(k + 1, n):
            m = times(a[i * n + k], a[k * n + k])
            a[i * n + k] = m
            if magnitude(m) != 0.0:
                for j in range(k + 1, n):
                    a[i * n + j] -= times(m, a[k * n + j])
    return 0


@jit
def solve_dense(n: int, a: Any, pivot: Ints, b: Any) -> None:
    for k in range(n):
        other = pivot[k]
        if other != k:
            b[k], b[other] = b[other], b[k]
    for i in range(n):
        s = b[i]
        for j in range(i):
            s -= times(a[i * n + j], b[j])
        b[i] = s
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s -= times(a[i * n + j], b[j])
        b[i] = times(s, a[i * n + i])
