"""The equations of a model, ready to be solved: F(t, y, dy/dt, p, z) = 0.

y are the unknowns (states, dependent storages, algebraic variables that could not be eliminated), p the parameters, z
the discrete quantities: modes of relations, discrete variables.  Between events z is constant and F is smooth.
All expressions here have the leaves ("y", i), ("d", i) for dy_i/dt, ("p", k), ("z", k), ("t",).
"""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from bglang.expr import Expr
from bglang.expr.walk import postorder
from bglang.graph.ir import Experiment, Table
from bglang.records import dataclass
from bglang.source import Span

UnknownKind: TypeAlias = Literal["state", "dependent", "algebraic"]


@dataclass(frozen=True, slots=True)
class Unknown:
    """One entry of y.

    state: its rate is given by a differential row; its start holds unless an initial equation needs it.
    dependent: a storage in derivative causality; it follows from an algebraic row, its rate enters other rows.
    algebraic: neither.  Starts of the last two are guesses; a *written* one that contradicts is an error.
    `fixed` is what the source says: None when it says nothing."""

    name: str
    kind: UnknownKind
    start: Expr
    written: bool
    fixed: bool | None
    nominal: Expr | None
    unit: str
    span: Span


@dataclass(frozen=True, slots=True)
class Row:
    """0 = residual.  A differential row contains rates; an algebraic one does not.

    Where a mode pins a state (Coulomb stick), `residual` is the time derivative of `position`, and re-initialisation
    uses `position` instead: 0 = position also holds."""

    residual: Expr
    differential: bool
    component: str
    span: Span
    position: Expr | None = None


ModeKind: TypeAlias = Literal["relation", "coulomb", "floor", "segment", "sample", "discrete"]


@dataclass(frozen=True, slots=True)
class Mode:
    """One entry of z, and how it follows from its root functions, which are positive while the mode holds.

    relation   z is 1 when g > 0 (g >= 0 unless `strict`), else 0; roots = (g,), watched in both directions.
    coulomb    z is -1, 0 (stick) or 1.  roots = (upper, lower): in stick level - s and level + s with s the
               friction term;
               in slip x*z and 1.  arguments = (x, s, level).  Falling below zero in slip: try stick.
    floor      z <= x < z + 1, roots = (x - z, z + 1 - x).  arguments = (x,)
    segment    z is the segment of a linear table (0 before the first point, n behind the last):
               roots = (x - x[z-1], x[z] - x).  arguments = (x,), `table` its key.
    sample     true only in the instant; arguments = (start, interval), constant in time.
    discrete   a variable that only `when` changes; arguments = (start value,).
    `time_only`: the roots depend on time, parameters and z alone.  `text` is the relation in the user's words."""

    kind: ModeKind
    roots: tuple[Expr, ...]
    arguments: tuple[Expr, ...]
    name: str
    text: str
    component: str
    span: Span
    strict: bool = False
    time_only: bool = False
    table: str = ""


@dataclass(frozen=True, slots=True)
class Reinit:
    unknown: int
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Assign:
    """A new value of a discrete variable.  Simultaneous ones hold together, whatever their order; those of `latch`es
    read what was before any of them."""

    mode: int
    value: Expr
    span: Span
    latch: bool = False


@dataclass(frozen=True, slots=True)
class Terminate:
    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Assertion:
    condition: Expr
    message: str
    level: Literal["error", "warning"]
    component: str
    span: Span


@dataclass(frozen=True, slots=True)
class WhenBranch:
    """Fires when one of the conditions turns from 0 to 1 at an event.  In the actions and conditions ("pre", leaf) is
    the value just before the event, ("initial",) and ("terminal",) may occur."""

    conditions: tuple[Expr, ...]
    actions: tuple[Reinit | Assign | Terminate | Assertion, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class When:
    branches: tuple[WhenBranch, ...]
    component: str


@dataclass(frozen=True, slots=True)
class SystemParameter:
    """One entry of p: value in terms of earlier entries.  Derived ones (maximal parameter-only parts of the equations,
    computed once instead of in every evaluation) have the name "".  `fixed` False: found by an initial equation."""

    name: str
    value: Expr
    fixed: bool
    minimum: Expr | None
    maximum: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Output:
    """A named variable that is not an unknown (or is one: then `value` is just ("y", i))."""

    name: str
    value: Expr
    unit: str
    description: str


AuditKind: TypeAlias = Literal["stored", "dissipated", "supplied", "modulation"]


@dataclass(frozen=True, slots=True)
class AuditItem:
    """Power of one element: into storages and losses, out of sources.

    `energy` is the stored energy as a function of state where it is known in closed form; `integral` (effort, state):
    the energy is the integral of effort over that unknown, for nonlinear one-port storages; neither: only the power."""

    element: str
    domain: str
    kind: AuditKind
    power: Expr
    energy: Expr | None = None
    integral: tuple[Expr, int] | None = None


@dataclass(frozen=True, slots=True)
class System:
    """Everything the solver needs to know.  len(unknowns) == len(rows)."""

    name: str
    unknowns: tuple[Unknown, ...]
    rows: tuple[Row, ...]
    initial: tuple[Row, ...]
    parameters: tuple[SystemParameter, ...]
    modes: tuple[Mode, ...]
    whens: tuple[When, ...]
    assertions: tuple[Assertion, ...]
    outputs: tuple[Output, ...]
    audit: tuple[AuditItem, ...]
    tables: tuple[Table, ...]
    experiment: Experiment


def column(records: Sequence[Any], field: str) -> list[Any]:
    """One plain field of all records.  Those of a stored model are read off without being made (`kernels.lazy`)."""
    read = getattr(records, "column", None)
    return [getattr(record, field) for record in records] if read is None else list(read(field))


def present(records: Sequence[Any], field: str) -> list[bool]:
    """Which records have this field at all; expressions of a stored model are not looked at."""
    read = getattr(records, "present", None)
    return [getattr(record, field) is not None for record in records] if read is None else list(read(field))


def state_names(system: System) -> list[str]:
    """Names of the unknowns that are states."""
    names, kinds = column(system.unknowns, "name"), column(system.unknowns, "kind")
    return [name for name, kind in zip(names, kinds, strict=True) if kind == "state"]


def has_outside(system: System) -> bool:
    """Does a system ask models from outside (FMUs)?"""
    return any(
        node[0] == "external"
        for when in system.whens
        for branch in when.branches
        for action in branch.actions
        if isinstance(action, Assign) and isinstance(action.value, tuple)
        for node in postorder(action.value)
    )
