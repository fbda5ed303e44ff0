"""Elaboration: from the syntax tree to the flat bond graph.

Files are loaded and names looked up (`libraries`, `definitions`), classes are merged with what they inherit
(`bodies`), the
instance tree is made (`instances`), bonds are drawn and joined through ports (`bonds`, `wiring`), and everything is
written down flat (`flatten`).
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from bglang.diagnostics import Report
from bglang.elaborate.load import Options, elaborate
from bglang.graph.ir import BondGraph
from bglang.limits import Limits
from bglang.source import Source

__all__ = ["Options", "elaborate", "load_model"]


def load_model(
    origin: str | os.PathLike[str] | Source,
    *,
    model: str | None = None,
    set: Mapping[str, object] | None = None,
    libraries: Sequence[str | os.PathLike[str]] = (),
    demand: Sequence[str] = (),
    allow_read: bool = False,
    allow_native: bool = False,
    report: Report | None = None,
    limits: Limits | None = None,
) -> BondGraph:
    """The flat graph of a model in a file (a path) or text (a `Source`).

    Mistakes of the model are added to the report and raised as `SourceError`; a call that names a model or parameter
    that does not exist raises `UsageError`."""
    report = Report() if report is None else report
    options = Options(tuple(libraries), tuple(demand), allow_read, limits or Limits(), allow_native)
    place = origin if isinstance(origin, Source) else Path(origin)
    graph = elaborate(place, model, set or {}, options, report)
    report.raise_if_errors()
    assert graph is not None, "elaboration fails only with a diagnostic"
    return graph
