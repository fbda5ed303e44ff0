"""What a run promises to know about energy, for a balance in which nothing moves.

Where a structure holds something at exactly zero (a ring of transformers whose moduli do not agree), powers are
rounding errors, and their balance means nothing against each other.  A state is known to the tolerance times its size,
so the energy of a storage to that part of effort times displacement; an effort beside others of size E is known to the
tolerance times E, a flow alike, so is their product.  A side that is zero as a whole is known to what rounding does to
the other."""

from collections.abc import Sequence

import numpy as np

from bglang.solve.consistent import Instant
from bglang.solve.model import Model

EPS = 2.0**-52
SIDES = ("e", "f", "q", "p")


def promised_energy(model: Model, seen: Sequence[Instant], tolerance: float) -> float:
    """The largest over domains and storages, from the audited elements' variables at some instants of a run."""
    time = np.array([at.t for at in seen])
    sizes = _sizes(model, seen)
    largest = 0.0
    for domain in {domain for domain, _, _ in sizes}:
        e, f = (max((x for key, x in sizes.items() if key[::2] == (domain, side)), default=0.0) for side in "ef")
        largest = max(largest, max(e, EPS * f) * max(f, EPS * e) * float(np.ptp(time)))
    for (domain, port, side), size in sizes.items():
        if side in ("q", "p"):
            largest = max(largest, size * sizes.get((domain, port, "e" if side == "q" else "f"), 0.0))
    return tolerance * largest


def _sizes(model: Model, seen: Sequence[Instant]) -> dict[tuple[str, str, str], float]:
    """The largest values that were seen, by domain, port and side."""
    system = model.system
    domains = {item.element: item.domain for item in system.audit}
    keys, chosen = list[tuple[str, str, str]](), list[int]()
    for k, output in enumerate(system.outputs):
        port, _, side = output.name.rpartition(".")
        element = port
        while element and element not in domains:  # a port of a field
            element = element.rpartition(".")[0]
        if element and side in SIDES:
            keys.append((domains[element], port, side))
            chosen.append(k)
    if not chosen:
        return {}
    t = np.array([at.t for at in seen])
    y, d, z = (np.stack([getattr(at, w) for at in seen]) for w in "ydz")
    values = np.abs(model.outputs(t, y, d, z, chosen))
    found = np.max(np.where(np.isfinite(values), values, 0.0), axis=0).tolist()
    return dict(zip(keys, found, strict=True))
