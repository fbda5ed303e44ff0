"""Pieces of source text that every form of a linear mechanical model is written with: numbers, matrices, fields."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from bglang.records import dataclass

Matrix = NDArray[np.float64]

SINGULAR = 1e-12
"""A mass matrix whose lowest eigenvalue is below this part of its largest entry has coordinates without mass."""


ONE = 'final parameter Real one = 1 "leaves the units of the matrix open, also those of its ones";'
"""A factor of exactly 1 vanishes from a law, and would then equate a force with a displacement."""


def number(value: float) -> str:
    """A number with all its digits."""
    value = float(value)
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def vector(values: Iterable[float]) -> str:
    return "{" + ", ".join(number(v) for v in values) + "}"


def matrix(values: Matrix, indent: str) -> str:
    """A matrix literal, a row a line."""
    rows = [", ".join(number(v) for v in row) for row in values]
    return "[\n" + ";\n".join(f"{indent}  {row}" for row in rows) + "]"


def is_singular(mass: Matrix) -> bool:
    return bool(np.linalg.eigvalsh((mass + mass.T) / 2)[0] <= SINGULAR * (np.abs(mass).max() or 1.0))


def is_zero(values: Matrix | None) -> bool:
    return values is None or not values.any()


@dataclass(frozen=True, slots=True)
class Inertia:
    """How the masses are written: classes, declarations and bonds to the J1 `v` of the dofs, and how many of each."""

    classes: tuple[str, ...]
    declarations: tuple[str, ...]
    bonds: tuple[str, ...]
    nodes: int
    connectors: int


def inertia(mass: Matrix, indent: str) -> Inertia:
    """An I-field.  Coordinates without mass are left out of it, so that what they do follows from the others."""
    heavy = [i for i in range(len(mass)) if mass[i, i] > SINGULAR * np.abs(mass).max()]
    if not heavy:
        return Inertia((), (), (), 0, 0)
    part = mass[np.ix_(heavy, heavy)]
    if is_singular(part):
        return principal_masses(mass, indent)
    words = "velocity = M^-1 * momentum"
    classes = field_element("Inertia", words, len(part), symmetric_inverse(part), "dof.f = (one*A)*dof.p", indent)
    bonds = (
        [f"{indent}v -> inertia.dof;"]
        if len(part) == len(mass)
        else [f"{indent}v[{i + 1}] -> inertia.dof[{k}];" for k, i in enumerate(heavy, 1)]
    )
    return Inertia(tuple(classes), (f"{indent}Inertia inertia;",), tuple(bonds), 1, len(part))


def principal_masses(mass: Matrix, indent: str) -> Inertia:
    """A singular mass matrix whose motions without mass are no single dofs: one mass for each that has some."""
    squares, turned = np.linalg.eigh(mass)
    kept = squares > SINGULAR * np.abs(mass).max()
    factors = turned[:, kept] * np.sqrt(squares[kept])
    pairs = coupled(factors)
    count = factors.shape[1]
    declarations = [f"{indent}J0 w[{count}];", f"{indent}I inertia[{count}](each I = 1);"]
    declarations += [f"{indent}TF b_{i}_{k}(m = {number(value)});" for i, k, value in pairs]
    bonds = [f"{indent}v[{i}] -> b_{i}_{k} -> w[{k}];" for i, k, _ in pairs] + [f"{indent}w -> inertia;"]
    return Inertia((), tuple(declarations), tuple(bonds), 2 * count + len(pairs), count + 2 * len(pairs))


def stiffness_element(stiffness: Matrix, indent: str) -> list[str]:
    return field_element(
        "Stiffness", "force = K * displacement", len(stiffness), stiffness, "dof.e = (one*A)*dof.q", indent
    )


def damping_element(damping: Matrix, indent: str) -> list[str]:
    return field_element("Damping", "force = C * velocity", len(damping), damping, "dof.e = (one*A)*dof.f", indent)


def field_element(name: str, words: str, n: int, values: Matrix, law: str, indent: str) -> list[str]:
    return [
        f'{indent}element {name} "{words}"',
        f"{indent}  port Any dof[{n}];",
        f"{indent}  constant Real A[{n}, {n}] = {matrix(values, indent + '  ')};",
        f"{indent}  {ONE}",
        f"{indent}equation",
        f"{indent}  {law};",
        f"{indent}end {name};",
    ]


def symmetric_inverse(mass: Matrix) -> Matrix:
    """The inverse, exactly symmetric so that the field stays reciprocal."""
    inverse = np.linalg.inv((mass + mass.T) / 2)
    result: Matrix = (inverse + inverse.T) / 2
    return result


def symmetrised(values: Matrix) -> Matrix:
    """Files print few digits: small differences across the diagonal are rounding."""
    result: Matrix = (values + values.T) / 2
    return result


def combination(row: Sequence[float], names: Sequence[str]) -> str:
    """`2*a - 3*b`: a sum without the terms that are zero."""
    text = ""
    for value, name in zip(row, names, strict=True):
        if value == 0:
            continue
        sign = ("- " if value < 0 else "+ ") if text else ("-" if value < 0 else "")
        factor = "" if abs(value) == 1 else f"{number(abs(value))}*"
        text += f"{' ' if text else ''}{sign}{factor}{name}"
    return text or "0"


def coupled(shapes: Matrix) -> list[tuple[int, int, float]]:
    """The dofs and modes (counted from 1) that a transformer joins: entries that are more than rounding."""
    floor = 1e-13 * np.abs(shapes).max(axis=0)
    return [
        (i + 1, j + 1, float(shapes[i, j]))
        for i in range(len(shapes))
        for j in range(shapes.shape[1])
        if abs(shapes[i, j]) > floor[j]
    ]
