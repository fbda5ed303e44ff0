"""What a user asks to be compiled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from bglang.limits import Limits
from bglang.source import Source

Units = Literal["error", "warn", "off"]
"""What a mismatch of units is."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked to be compiled."""

    origin: Path | Source
    model: str | None = None
    set: Mapping[str, object] = field(default_factory=dict[str, object])
    libraries: Sequence[str] = ()
    units: Units = "error"
    allow_read: bool = False
    limits: Limits = field(default_factory=Limits)
    demand: Sequence[str] = ()
    allow_native: bool = False
