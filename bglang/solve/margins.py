"""How far root functions move when unknowns move by a small part of their size: what counts as zero for them."""

import numpy as np

from bglang.equations.system import System
from bglang.expr.walk import leaf_set
from bglang.solve.model import Array, Model, Numbers


class Margins:
    """Unknowns that no root function reads together are moved together; those of one function are moved one by one, for
    in a difference (`x1 > x2`) what is common to both cancels."""

    def __init__(self, system: System):
        reads = [[leaf[1] for leaf in leaf_set(g) if leaf[0] == "y"] for mode in system.modes for g in mode.roots]
        self._groups = [np.array(group, dtype=np.intp) for group in _apart(reads)]

    def __call__(self, model: Model, t: float, y: Array, d: Array, z: Array, step: Array, g: Array) -> Array:
        """`g` are the functions at y."""
        moved = np.zeros(len(g))
        for group in self._groups:
            moved += self._moved(model, t, y, d, z, step, g, group)
        return 4.0 * moved + 1e-300

    def _moved(
        self, model: Model, t: float, y: Array, d: Array, z: Array, step: Array, g: Array, group: Numbers
    ) -> Array:
        aside = y.copy()
        aside[group] += step[group]
        up = np.abs(model.roots(t, aside, d, z) - g)
        aside[group] = y[group] - step[group]
        down = np.abs(model.roots(t, aside, d, z) - g)
        moved = np.fmax(up, down)
        return np.where(np.isfinite(moved), moved, 0.0)


def _apart(reads: list[list[int]]) -> list[list[int]]:
    """Groups of numbers such that no list has two of one group."""
    lists_of: dict[int, list[int]] = {}
    for k, numbers in enumerate(reads):
        for i in numbers:
            lists_of.setdefault(i, []).append(k)
    groups: list[list[int]] = []
    taken: list[set[int]] = []
    for i, lists in lists_of.items():
        place = next((c for c, used in enumerate(taken) if used.isdisjoint(lists)), len(groups))
        if place == len(groups):
            groups.append([])
            taken.append(set())
        groups[place].append(i)
        taken[place].update(lists)
    return groups
