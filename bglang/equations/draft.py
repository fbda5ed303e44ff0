"""The workspace of derivation: what is known so far about the unknowns, their equations and all other variables.

While the equations are put together, every variable is a leaf ("v", key).  Keys of bond variables are numbers, 2*b for
the effort and 2*b + 1 for the flow of bond b (along its arrow); a signal's key is its name; further keys are tuples:
("rate", i) the rate of unknown i, ("D", key) the time derivative of a variable, ("s", k) a dry-friction term.
`values` gives each of them in terms of others; what has no value there is an unknown of the system.
"""

from collections.abc import Hashable
from typing import Any

from bglang.causality.result import Causality, PortKey
from bglang.diagnostics import Report
from bglang.equations.system import Row, Unknown
from bglang.expr import Expr
from bglang.graph import ir
from bglang.graph.ir import BondGraph, End, Law
from bglang.records import dataclass, field
from bglang.source import Span

Key = Hashable
Leaf = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Attachment:
    """Where a port of an element is bonded: the bond, its end there, and whether the element sets its effort.

    `sets_effort` is None on a bond without stroke."""

    bond: int
    end: End
    at_tail: bool
    sets_effort: bool | None

    def leaf(self, letter: str) -> Leaf:
        """The bond's own variable."""
        return ("v", 2 * self.bond + (letter == "f"))

    def own(self, letter: str) -> Expr:
        """The port's variable in terms of the bond's."""
        leaf = self.leaf(letter)
        return leaf if self.sign(letter) > 0 else ("neg", leaf)

    def sign(self, letter: str) -> int:
        return self.end.e_sign if letter == "e" else self.end.f_sign


@dataclass(frozen=True, slots=True)
class Equation:
    """left = right, over keys, that still has to find the variable it determines."""

    left: Expr
    right: Expr
    component: str
    span: Span


@dataclass(frozen=True, slots=True)
class Latch:
    """A discrete variable, the value that its equation gives it, and that equation."""

    name: str
    value: Expr
    equation: ir.Equation


@dataclass(frozen=True, slots=True)
class Quotient:
    """A bond variable that a TF, GY or R gives by dividing by what may become zero, and the same law multiplied out.

    0 = product is over keys; it contains the variable `key` itself."""

    key: int
    product: Expr
    element: int


@dataclass(slots=True)
class Draft:
    """Everything that the passes of derivation share.  `rows[i]` is the equation that goes with unknown i."""

    graph: BondGraph
    causality: Causality
    report: Report
    attachments: list[list[Attachment]] = field(default_factory=list[list[Attachment]])
    names: dict[str, Expr] = field(default_factory=dict[str, Expr])
    storages: dict[PortKey, int] = field(default_factory=dict[PortKey, int])
    signal_states: dict[str, int] = field(default_factory=dict[str, int])
    unknowns: list[Unknown] = field(default_factory=list[Unknown])
    rows: list[Row | None] = field(default_factory=list["Row | None"])
    values: dict[Key, Expr] = field(default_factory=dict[Key, Expr])
    setters: dict[Key, int] = field(default_factory=dict[Key, int])
    """The element whose law gives a variable its value: where loops are best cut."""
    straighter: dict[Key, Law] = field(default_factory=dict[Key, Law])
    """For values that are roots: the same law without a root, over names, for a loop that is cut there.  A root has an
    infinite slope at zero, where Newton's method stands still."""
    leaves: dict[Key, Leaf] = field(default_factory=dict[Key, Leaf])
    """Variables that are unknowns of the system: ("y", i), and ("d", i) for rates."""
    open_variables: dict[Key, None] = field(default_factory=dict[Key, None])
    open_equations: list[Equation] = field(default_factory=list[Equation])
    latches: tuple[Latch, ...] = ()
    """Discrete variables that an equation gives, from their own past."""
    turned: set[str] = field(default_factory=set[str])
    """Sources that the arrow points at: what they deliver is the power against it."""
    quotients: list[Quotient] = field(default_factory=list[Quotient])
    multiplied: set[Key] = field(default_factory=set[Key])
    """Variables of quotients that are unknowns, because their law was multiplied out."""
    derivatives: list[Key] = field(default_factory=list[Key])
    """Keys ("D", ...) that some expression uses."""

    def add_unknown(self, unknown: Unknown, row: Row | None = None) -> int:
        self.unknowns.append(unknown)
        self.rows.append(row)
        return len(self.unknowns) - 1

    def add_algebraic(self, key: Key, residual: Expr, component: str, span: Span) -> int:
        """A variable that stays an unknown, with the equation that determines it."""
        unknown = Unknown(self.describe(key), "algebraic", 0.0, False, None, None, "", span)
        number = self.add_unknown(unknown, Row(residual, False, component, span))
        self.leaves[key] = ("y", number)
        return number

    def set_row(self, number: int, residual: Expr, equation: Equation) -> None:
        """The equation of a state whose rate is not given explicitly."""
        self.rows[number] = Row(residual, True, equation.component, equation.span)

    def describe(self, key: Key) -> str:
        """A variable in the user's words."""
        if isinstance(key, str):
            return key
        if isinstance(key, int):
            return self._bond_variable(key)
        assert isinstance(key, tuple)
        kind, inner = key
        if kind == "s":
            return f"{self.graph.elements[inner[0]].name}.coulomb" + (f"[{inner[1] + 1}]" if inner[1] > 0 else "")
        return f"der({self.unknowns[inner].name if kind == 'rate' else self.describe(inner)})"

    def _bond_variable(self, key: int) -> str:
        """Named after the law that sets it, else after a named bond, an element at one end, a junction."""
        bond, letter = self.graph.bonds[key // 2], "ef"[key % 2]
        ends = [bond.tail, bond.head]
        setter = self.setters.get(key)
        ends.sort(key=lambda end: (end.element != setter, self.graph.elements[end.element].kind in ("J0", "J1")))
        element = self.graph.elements[ends[0].element]
        if element.kind not in ("J0", "J1"):
            return element.variable(ends[0].port, letter)
        if bond.names:
            return f"{bond.names[0]}.{letter}"
        tail, head = (self.graph.elements[end.element].name for end in (bond.tail, bond.head))
        return f"{letter} of {tail} -> {head}"
