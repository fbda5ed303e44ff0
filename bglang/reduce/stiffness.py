"""How stiff an inserted element must be: from the model's own frequencies and the error that is wanted.

A constraint replaced by a spring moves a frequency w by (w/w_s)^2 at most, in relative terms, w_s being the
frequency of the spring against the storages on its sides.  So w_s = w/sqrt(error)."""

import math

from bglang.diagnostics import BglangError, Report
from bglang.graph.ir import BondGraph
from bglang.records import dataclass

SLOWEST_PERIODS = 10.0
"""A model without frequencies of its own gets that many periods in its run."""


@dataclass(frozen=True, slots=True)
class Scales:
    """The model's fastest frequency at its start, and the one that inserted elements shall have."""

    own: float
    stiff: float


def find_scales(graph: BondGraph, error: float) -> Scales:
    own = _fastest(graph)
    return Scales(own, own / math.sqrt(error))


def _fastest(graph: BondGraph) -> float:
    from bglang.solve.operating import linear_model

    experiment = graph.experiment
    slow = SLOWEST_PERIODS * 2 * math.pi / max(experiment.stop - experiment.start, 1e-12)
    try:
        poles = linear_model(graph, Report(), "start", (), (), {}).poles()
    except BglangError:  # no operating point, no regular form: the run's own length must do
        return slow
    sizes = [abs(complex(p)) for p in poles if math.isfinite(abs(complex(p)))]
    return max([*sizes, slow])
