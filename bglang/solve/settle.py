"""Finding modes that agree with the values they lead to: at the start and at events.

First each mode that is contradicted is changed and everything solved anew, until nothing is contradicted.  Where that
runs in circles (ideal switches, diodes that decide together) combinations of the modes involved are tried, then of all
that values decide; of those that agree, the one with the smallest jump is taken.
"""

from collections.abc import Callable, Iterator
from itertools import combinations, islice, product

import numpy as np

from bglang.records import dataclass, replace
from bglang.solve.model import Array
from bglang.solve.modes import Modes

ROUNDS = 40
COMBINATIONS = 4096
SMOOTH = 1e-10
"""A jump that is no larger than this part of what jumps is none: nothing better can be found."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Values found for one set of modes; `contradicted` says which modes they disagree with, `jump` how far they
    moved, `regular` whether all values are determined, `bound` whether laws or pins bind states, `idle` whether it was
    taken because nearer modes left something open, `impulse` what algebraic variables did if they were infinite."""

    z: Array
    y: Array
    d: Array
    contradicted: dict[int, float]
    jump: float = 0.0
    regular: bool = True
    bound: bool = False
    idle: bool = False
    impulse: Array | None = None

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """Of trials that agree the lowest is taken: without a jump, with all values determined, nearest."""
        return (self.jump > SMOOTH, not self.regular, self.jump)


Attempt = Callable[[Array], Trial | None]
"""Solve with given modes; None where there is no solution."""


def settle(attempt: Attempt, z: Array, modes: Modes) -> tuple[Trial | None, frozenset[int]]:
    """Modes and values that agree, and the modes that were changed on the way.  None: no combination agrees."""
    seen, touched = set[bytes](), set[int]()
    best: Trial | None = None
    for _ in range(ROUNDS):
        seen.add(z.tobytes())
        trial = attempt(z)
        if trial is None:
            break
        if not trial.contradicted:
            if trial.regular:
                return trial, frozenset(touched)
            best = trial  # ideal elements that leave something open: others that rest may determine it
            break
        touched.update(trial.contradicted)
        z = trial.z.copy()
        for k, value in trial.contradicted.items():
            z[k] = value
        if z.tobytes() in seen:
            break
    wide = [k for k in modes.continuous if _open(modes, k)]
    open_ended = best is not None
    narrow = [] if open_ended else [k for k in wide if k in touched]
    for chosen in (narrow, wide) if narrow and len(narrow) < len(wide) else (wide,):
        best = _search(attempt, z, modes, chosen, seen, best)
        if best is not None:
            return replace(best, idle=open_ended), frozenset(touched)
    return None, frozenset(touched or wide)


def _open(modes: Modes, k: int) -> bool:
    """Whether another value of a mode may be tried: what time alone decides is decided."""
    mode = modes.modes[k]
    return mode.kind in ("relation", "coulomb") and not mode.time_only


def _search(
    attempt: Attempt, z: Array, modes: Modes, chosen: list[int], seen: set[bytes], best: Trial | None
) -> Trial | None:
    for candidate in islice(_combinations(z, modes, chosen), COMBINATIONS):
        if candidate.tobytes() in seen:
            continue
        seen.add(candidate.tobytes())
        trial = attempt(candidate)
        if trial is not None and not trial.contradicted and (best is None or trial.rank < best.rank):
            best = trial
            if best.jump <= SMOOTH and best.regular:
                break
    return best


def _combinations(z: Array, modes: Modes, chosen: list[int]) -> Iterator[Array]:
    """Other values for the chosen modes: first for one of them at a time, then for two, and so on."""
    others = {
        k: (1.0 - z[k],) if modes.modes[k].kind == "relation" else tuple(v for v in (0.0, 1.0, -1.0) if v != z[k])
        for k in chosen
    }
    for count in range(1, len(chosen) + 1):
        for changed in combinations(chosen, count):
            for values in product(*(others[k] for k in changed)):
                candidate = np.array(z)
                candidate[list(changed)] = values
                yield candidate
