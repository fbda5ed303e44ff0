"""What came of an event."""

import math

from bglang.diagnostics import Diagnostic
from bglang.records import dataclass, field
from bglang.results.record import Event
from bglang.solve.consistent import Instant
from bglang.solve.zeno import PileUp


@dataclass(slots=True)
class Happening:
    """What came of an event: the left limit as the laws have it, the instant after it, the log, whether values jumped,
    whether the run ends, and after what time a root that was turned back comes again."""

    left: Instant
    at: Instant
    log: list[Event] = field(default_factory=list[Event])
    jumped: bool = False
    warnings: list[Diagnostic] = field(default_factory=list[Diagnostic])
    terminate: str | None = None
    pile: PileUp | None = None
    soon: float = math.inf
