"""Finding modes that agree with the values they lead to: at the start and at events.

First each mode that is contradicted is changed and everything solved anew, until nothing is contradicted.  Where that
runs in circles (ideal switches, diodes that decide together) the combinations of the modes involved are tried; of
those that agree, the one with the smallest jump is taken.
"""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from bglang.records import dataclass
from bglang.solve.model import Array
from bglang.solve.modes import Modes

ROUNDS = 40
COMBINATIONS = 4096


@dataclass(frozen=True, slots=True)
class Trial:
    """Values found for one set of modes; `contradicted` says which modes they disagree with, `jump` how far they
    moved."""

    z: Array
    y: Array
    d: Array
    contradicted: dict[int, float]
    jump: float = 0.0


Attempt = Callable[[Array], Trial | None]
"""Solve with given modes; None where there is no solution."""


def settle(attempt: Attempt, z: Array, modes: Modes) -> tuple[Trial | None, frozenset[int]]:
    """Modes and values that agree, and the modes that were changed on the way.  None: no combination agrees."""
    seen, touched = set[bytes](), set[int]()
    for _ in range(ROUNDS):
        seen.add(z.tobytes())
        trial = attempt(z)
        if trial is None:
            break
        if not trial.contradicted:
            return trial, frozenset(touched)
        touched.update(trial.contradicted)
        z = trial.z.copy()
        for k, value in trial.contradicted.items():
            z[k] = value
        if z.tobytes() in seen:
            break
    if not touched:
        touched = {k for k in modes.continuous if _open(modes, k)}
    return _search(attempt, z, modes, sorted(touched), seen), frozenset(touched)


def _open(modes: Modes, k: int) -> bool:
    """Whether another value of a mode may be tried: what time alone decides is decided."""
    mode = modes.modes[k]
    return mode.kind in ("relation", "coulomb") and not mode.time_only


def _search(attempt: Attempt, z: Array, modes: Modes, touched: list[int], seen: set[bytes]) -> Trial | None:
    best: Trial | None = None
    for candidate in _combinations(z, modes, touched):
        if candidate.tobytes() in seen:
            continue
        trial = attempt(candidate)
        if trial is not None and not trial.contradicted and (best is None or trial.jump < best.jump):
            best = trial
            if best.jump == 0.0:
                break
    return best


def _combinations(z: Array, modes: Modes, touched: list[int]) -> Iterator[Array]:
    """Other values for the touched modes, at most so many."""
    choices = list[tuple[float, ...]]()
    for k in touched:
        kind = modes.modes[k].kind
        if kind == "relation":
            choices.append((z[k], 1.0 - z[k]))
        elif kind == "coulomb":
            choices.append((0.0, 1.0, -1.0))
        else:
            choices.append((z[k], z[k] - 1.0, z[k] + 1.0))
    for count, values in enumerate(product(*choices)):
        if count >= COMBINATIONS:
            return
        candidate = np.array(z)
        candidate[touched] = values
        yield candidate
