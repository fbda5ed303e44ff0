"""What came of an event."""

import math
from typing import TypeAlias

from bglang.diagnostics import Diagnostic
from bglang.records import dataclass, field
from bglang.results.record import Event
from bglang.solve.consistent import Instant
from bglang.solve.model import Array
from bglang.solve.zeno import PileUp

Blow: TypeAlias = tuple[Instant, Instant, Array | None]
"""A jump that nobody asked for: the instants before and after, and the impulses of algebraic variables."""


@dataclass(slots=True)
class Happening:
    """What came of an event: the left limit as the laws have it, the instant after it, the log, whether values jumped,
    jumps that nobody asked for, whether the run ends, and after what time a root that was turned back comes again."""

    left: Instant
    at: Instant
    log: list[Event] = field(default_factory=list[Event])
    jumped: bool = False
    blows: list[Blow] = field(default_factory=list[Blow])
    warnings: list[Diagnostic] = field(default_factory=list[Diagnostic])
    terminate: str | None = None
    pile: PileUp | None = None
    soon: float = math.inf
