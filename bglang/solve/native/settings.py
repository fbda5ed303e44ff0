"""What goes into an integration and what comes out of it, besides the numbers."""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from bglang.records import dataclass
from bglang.solve.native.memory import Floats

Method: TypeAlias = Literal["radau", "bdf", "rk", "adams", "ida"]
Outcome: TypeAlias = Literal[
    "done", "root", "stiff", "step too small", "newton failed", "singular", "not finite", "too many steps"
]
Sink: TypeAlias = Callable[[Floats, Floats, Floats | None], None]
Progress: TypeAlias = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How to integrate.

    Methods: "radau" and "bdf" for any model, "rk" and "adams" for explicit ones; "ida" is the BDF code of SUNDIALS, an
    independent second opinion, where scikit-sundae is installed.
    `nominal` holds the size of each variable where it is known, 0 or NaN where the size it shows shall be taken.
    `groups` numbers variables of one kind (unit): one at rest takes the size of the others; without it all are of one
    kind.  `rounding` says for each equation how far the arithmetic inside its laws may move it.  `order` is 2 for
    multipliers of constraints (their error counts less), else 1.  Rows of output: at `times`, or at every accepted
    step, or both.  `root_interval` bounds the time between two looks at the root functions, roots closer than
    `root_merge` are one event."""

    method: Method = "radau"
    rtol: float = 1e-6
    nominal: npt.ArrayLike | None = None
    groups: npt.ArrayLike | None = None
    rounding: npt.ArrayLike | None = None
    order: npt.ArrayLike | None = None
    times: npt.ArrayLike = ()
    every_step: bool = False
    rates: bool = True
    max_step: float = np.inf
    step: float | None = None
    first_step: float = 0.0
    max_steps: int = 1 << 60
    root_points: int = 4
    root_interval: float = 0.0
    root_merge: float = 0.0


@dataclass(frozen=True, slots=True)
class Status:
    """Where `advance` stopped and why.

    `roots`: the functions that crossed zero, with their new sign.  After a failure `reason` is what made the last
    steps fail ("error", "newton", "not finite", "singular"), `variable` or `row` the index of the worst unknown or
    equation."""

    outcome: Outcome
    t: float
    roots: tuple[tuple[int, int], ...] = ()
    reason: str = ""
    variable: int | None = None
    row: int | None = None
    step: float = 0.0

    @property
    def good(self) -> bool:
        return self.outcome in ("done", "root")


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counted work."""

    steps: int
    rejected_error: int
    rejected_newton: int
    rejected_not_finite: int
    rejected_singular: int
    residuals: int
    jacobians: int
    factorisations: int
    iterations: int
    root_calls: int

    @property
    def rejected(self) -> int:
        return self.rejected_error + self.rejected_newton + self.rejected_not_finite + self.rejected_singular
