"""What a result remembers besides its curves: events, effort of the solver, energy."""

import math
from typing import Any

from bglang.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Column:
    """One variable of a result."""

    name: str
    unit: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the event log.

    `relation` is the condition in the user's words, `old` and `new` the mode before and after, `direction` is "up" or
    "down" for a relation that became true or false and "" otherwise.  `kind`: relation, coulomb, floor, segment,
    sample, when, reinit, discrete, impulse, assert, terminate, table, sliding, start."""

    time: float
    kind: str
    relation: str
    component: str = ""
    line: int = 0
    file: str = ""
    old: str = ""
    new: str = ""
    direction: str = ""

    def __str__(self) -> str:
        change = f": {self.old} -> {self.new}" if self.old or self.new else ""
        where = f" ({self.component})" if self.component else ""
        place = f" [{self.file}:{self.line}]" if self.line else ""
        return f"t = {self.time:.9g}  {self.relation}{where}{change}{place}"


@dataclass(slots=True)
class Stats:
    """What the run cost.  `seconds` holds one entry a phase, `rejections` counts refused steps by reason.

    `drift` is the largest deviation from each constraint, where multipliers hold the motion."""

    method: str = ""
    reason: str = ""
    steps: int = 0
    rejected: int = 0
    residuals: int = 0
    jacobians: int = 0
    factorisations: int = 0
    events: int = 0
    rejections: dict[str, int] = field(default_factory=dict[str, int])
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    drift: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def evaluations(self) -> int:
        return self.residuals

    def as_dict(self) -> dict[str, Any]:
        from dataclasses import asdict

        return asdict(self) | {"evaluations": self.evaluations}


@dataclass(frozen=True, slots=True)
class EnergyEntry:
    """Energy of one element over the run, in joule where the domain's units say so.

    stored: what it holds more at the end than at the start; the others: what went into (dissipated), out of
    (supplied), or through the modulation (modulation) of it.  `jumps` is the part that impulses and resets brought."""

    element: str
    domain: str
    kind: str
    energy: float
    jumps: float = 0.0


@dataclass(frozen=True, slots=True)
class Audit:
    """supplied + jumps + modulation = stored + dissipated, up to `error`; `scale` is what that is measured against.

    `jumps` is what resets brought or took; what sources and resistances did in impulses is part of their energy."""

    entries: tuple[EnergyEntry, ...]
    supplied: float
    stored: float
    dissipated: float
    modulation: float
    jumps: float
    error: float
    scale: float
    worst: str = ""

    @property
    def relative_error(self) -> float:
        if not math.isfinite(self.error):
            return math.inf
        return abs(self.error) / self.scale if self.scale > 0.0 else 0.0

    def of_domain(self) -> dict[str, dict[str, float]]:
        """Sums by domain and kind."""
        sums = dict[str, dict[str, float]]()
        for entry in self.entries:
            of = sums.setdefault(entry.domain, {})
            of[entry.kind] = of.get(entry.kind, 0.0) + entry.energy
        return sums

    def as_dict(self) -> dict[str, Any]:
        from dataclasses import asdict

        return asdict(self) | {"relative_error": self.relative_error}
