"""What causality assignment finds, as a table beside the graph."""

from typing import Literal, TypeAlias

from bglang.diagnostics import Diagnostic
from bglang.records import dataclass

PortKey: TypeAlias = tuple[int, int]
"""Element number and port number."""

Stroke: TypeAlias = Literal["head", "tail", ""]
"""The end of the bond that receives the effort; "" where none could be assigned."""

Rule: TypeAlias = Literal[
    "source", "fixed", "locked", "preferred", "kept", "resistive", "arbitrary", "junction", "transformer", "gyrator",
    "field", "conflict", "artificial",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a bond has its stroke: the rule, the element that applied it, and the bonds that it followed from."""

    rule: Rule
    element: int
    because: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a causal path: an element passed, over which bond it was left, and the gain of the step as text."""

    element: int
    bond: int
    gain: str


@dataclass(frozen=True, slots=True)
class Dependence:
    """A dependent storage port, what it depends on, and one causal path to each of those (sources too).

    `split`: several paths lead to one of them, so that the gain of a single path is not the whole gain."""

    port: PortKey
    on: tuple[PortKey, ...]
    paths: tuple[tuple[Step, ...], ...]
    split: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """An algebraic loop: its bonds in order, its elements, and the elements whose laws close it."""

    kind: Literal["resistive", "storage", "junction"]
    zero_order_class: int
    bonds: tuple[int, ...]
    elements: tuple[int, ...]
    closed_by: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A junction, TF, GY or bond that cannot have a causality: why, as a diagnostic.

    `solvable`: the equations may still be regular; derivation then keeps them implicit."""

    element: int
    bonds: tuple[int, ...]
    solvable: bool
    diagnostic: Diagnostic


@dataclass(frozen=True, slots=True)
class Causality:
    """`strokes[b]` and `reasons[b]` for every bond b.  A storage port in integral causality is independent.

    `loops` and the rest are lists of findings; derivation only needs the strokes."""

    strokes: tuple[Stroke, ...]
    reasons: tuple[Reason, ...]
    independent: tuple[PortKey, ...]
    dependent: tuple[Dependence, ...]
    loops: tuple[Loop, ...]
    conflicts: tuple[Conflict, ...]
    zero_eigenvalues: int
    procedure: Literal["scap", "mscap", "lcap", "lambda"] = "scap"
    artificial_flows: tuple[int, ...] = ()
    """Junctions with an artificial flow source (a generalized velocity), in the Lagrangian procedures."""
    artificial_efforts: tuple[int, ...] = ()
    """Junctions with an artificial effort source (a multiplier)."""
