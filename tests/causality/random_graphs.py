"""Random bond graphs, and what an independent numeric method says about them."""

import random

import numpy as np
import numpy.typing as npt
from build import Build

from bglang.graph.ir import BondGraph

Matrix = npt.NDArray[np.float64]


def random_build(seed: int, *, junctions: int = 6, rings: int = 2, unit: bool = False) -> Build:
    """Junctions joined as a tree with some rings, here and there through transformers and gyrators, with elements.

    `unit`: all moduli are one, so that rings may be singular."""
    rnd = random.Random(seed)
    g = Build(f"Random{seed}")
    names = [f"j{k}" for k in range(rnd.randint(1, junctions))]
    for name in names:
        (g.j0 if rnd.random() < 0.5 else g.j1)(name)
    pairs = [(names[rnd.randrange(k)], names[k]) for k in range(1, len(names))]
    if len(names) > 1:
        pairs += [tuple(rnd.sample(names, 2)) for _ in range(rnd.randint(0, rings))]  # type: ignore[misc]
    for k, (a, b) in enumerate(pairs):
        if rnd.random() < 0.5:
            a, b = b, a
        kind = rnd.random()
        if kind < 0.6:
            g.bond(a, b)
        else:
            modulus = 1.0 if unit else rnd.choice([0.5, 2.0, 3.0, round(rnd.uniform(0.3, 3.0), 3)])
            (g.tf if kind < 0.85 else g.gy)(f"t{k}", modulus)
            ends = ("p1", "p2") if rnd.random() < 0.5 else ("p2", "p1")
            (g.bond(a, f"t{k}.{ends[0]}") if rnd.random() < 0.7 else g.bond(f"t{k}.{ends[0]}", a))
            (g.bond(f"t{k}.{ends[1]}", b) if rnd.random() < 0.7 else g.bond(b, f"t{k}.{ends[1]}"))
    for k in range(rnd.randint(1, 2 * len(names) + 1)):
        _add_element(g, rnd, f"x{k}", rnd.choice(names))
    return g


def _add_element(g: Build, rnd: random.Random, name: str, at: str) -> None:
    kind = rnd.choice(["r", "r", "c", "c", "i", "i", "se", "sf"] if rnd.random() < 0.5 else ["r", "c", "i"])
    getattr(g, kind)(name, round(rnd.uniform(0.5, 2.0), 4))
    if rnd.random() < 0.75:
        g.bond(at, name)
    else:
        g.bond(name, at)


def tableau(graph: BondGraph) -> tuple[Matrix, Matrix]:
    """All equations as (E*s + A) x = 0 with x the efforts and flows of all bonds; sources are zero."""
    n = len(graph.bonds)
    values = {p.name: float(p.value) for p in graph.parameters if isinstance(p.value, float)}
    rows: list[dict[tuple[int, int], float]] = []
    ends: dict[int, list[tuple[int, int, int, int, int]]] = {}
    for b in graph.bonds:
        for end, into in ((b.tail, -1), (b.head, 1)):
            ends.setdefault(end.element, []).append((b.id, into, end.port, end.e_sign, end.f_sign))
    for e in graph.elements:
        at = sorted(ends.get(e.id, []), key=lambda x: x[2])
        if e.kind in ("J0", "J1"):
            common, summed = (0, n) if e.kind == "J0" else (n, 0)
            rows += [{(at[0][0] + common, 0): 1.0, (x[0] + common, 0): -1.0} for x in at[1:]]
            balance: dict[tuple[int, int], float] = {}
            for b, into, *_ in at:
                balance[b + summed, 0] = balance.get((b + summed, 0), 0.0) + into
            rows.append(balance)
        elif e.kind in ("TF", "GY"):
            (b1, _, _, e1, f1), (b2, _, _, e2, f2) = at
            assert isinstance(e.modulus, tuple)
            m = values[e.modulus[1]]
            if e.kind == "TF":
                rows += [{(b1, 0): e1, (b2, 0): -m * e2}, {(b2 + n, 0): f2, (b1 + n, 0): -m * f1}]
            else:
                rows += [{(b1, 0): e1, (b2 + n, 0): -m * f2}, {(b2, 0): e2, (b1 + n, 0): -m * f1}]
        else:
            b, _, _, es, fs = at[0]
            value = values[f"{e.name}.{ {'Se': 'e', 'Sf': 'f'}.get(e.kind, e.kind) }"]
            rows.append(
                {
                    "Se": {(b, 0): 1.0},
                    "Sf": {(b + n, 0): 1.0},
                    "R": {(b, 0): es, (b + n, 0): -value * fs},
                    "C": {(b + n, 0): fs, (b, 1): -value * es},
                    "I": {(b, 0): es, (b + n, 1): -value * fs},
                }[e.kind]
            )
    size = 2 * n
    assert len(rows) == size
    constant, rate = np.zeros((size, size)), np.zeros((size, size))
    for k, row in enumerate(rows):
        for (column, power), value in row.items():
            (rate if power else constant)[k, column] += value
    return rate, constant


def order_and_zeros(graph: BondGraph) -> tuple[int, int] | None:
    """Degree of det(E*s + A) and multiplicity of its root zero; None where it vanishes for every s.

    The coefficients come from values on a circle, so nothing is asked of the structure."""
    rate, constant = tableau(graph)
    if not len(rate):
        return 0, 0
    count = sum(e.kind in ("C", "I") for e in graph.elements) + 1
    points = np.exp(2j * np.pi * np.arange(count) / count)
    determinants = np.array([np.linalg.det(rate * s + constant) for s in points])
    scale = np.prod(np.maximum(np.abs(rate) + np.abs(constant), 0).sum(axis=1))
    coefficients = np.abs(np.fft.fft(determinants) / count)
    large = np.nonzero(coefficients > 1e-9 * max(np.max(coefficients), 1e-3 * min(scale, 1.0)))[0]
    if np.max(coefficients) < 1e-9:
        return None
    return int(large[-1]), int(large[0])
