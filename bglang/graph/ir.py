"""The flat bond graph: what elaboration makes, and what every later stage reads.

Names are dotted instance names (`motor.w`, `cell[3].c`); expressions are those of `bglang.expr` with leaves
("v", name) and ("p", name).  Analyses of a graph are separate tables keyed by element or bond number: nothing here is
ever changed.  Which variables exist, by name:

    <element>.e .f .power, .q (C) .p (I)            one-port elements: power positive into R, C, I
    <element>.<port>.e .f .power .q .p              multiports: `t.p1.e`, `gap.mag.q`, `beam.dof[3].q`
    <junction>.f (J1) or .e (J0)
    <bond>.e .f .power                              named bonds and ports of models, along the arrow as drawn
    every name in `variables`

`<J1>.q`, `<J0>.p`, `<bond>.q`, `<bond>.p`, `<bond>.energy` are made on demand: where the source reads one, elaboration
adds a `Variable` of kind "displacement" with its `der` equation.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from bglang.expr import Expr
from bglang.source import Span

Kind: TypeAlias = Literal["Se", "Sf", "R", "C", "I", "TF", "GY", "J0", "J1", "field"]
PortKind: TypeAlias = Literal["R", "C", "I", ""]
ValueType: TypeAlias = Literal["Real", "Integer", "Boolean", "String", "enumeration"]


@dataclass(frozen=True, slots=True)
class Domain:
    """What effort and flow are in one physical domain; `pseudo` when their product is not a power."""

    name: str
    effort: str
    flow: str
    effort_name: str = "effort"
    flow_name: str = "flow"
    q_name: str = "displacement"
    q_unit: str = ""
    p_name: str = "momentum"
    p_unit: str = ""
    pseudo: bool = False
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """A start value.  `written`: the source gives it; `fixed`: None when the source does not say."""

    value: Expr
    written: bool
    fixed: bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class Port:
    """One place of an element where a bond may end.

    `name` is "" for the port of a one-port element and of a junction's bonds, "p1"/"p2" for TF and GY, the port's own
    name in a field.  `kind` says which storage variable a port has: C has q, I has p, R neither, "" for
    junctions, sources, TF and GY.  `lock` is a causality fixed in the source, seen from inside the element."""

    name: str
    kind: PortKind
    domain: str | None
    start: Start | None = None
    nominal: Expr | None = None
    lock: Literal["effort_in", "effort_out"] | None = None


@dataclass(frozen=True, slots=True)
class Law:
    """One scalar constitutive equation, as the source gives it.

    `gives` and `port` say which variable of which port stands alone on the left ("e", "f", "q", "p"); for an implicit
    law `0 = value` gives is "" and port -1.  `value` refers to the element's own variables by their full names.
    For a plain parameter (`R = …`, `C = …`, `I = …`) the law is written out (e = R*f, e = q/C, f = p/I) and `gain` is
    the parameter's expression (a ("p", "r1.R") leaf unless the value varies in time)."""

    gives: Literal["e", "f", "q", "p", ""]
    port: int
    value: Expr
    span: Span
    gain: Expr | None = None


@dataclass(frozen=True, slots=True)
class Element:
    """A node of the graph: element, field or junction.

    * Se, Sf: one law that gives "e" or "f" of the *bond* (sources follow the arrow; `Bond.tail/head` signs are +1
      there).
    * TF, GY: `modulus` is m or r; no laws.
    * field: any number of ports and as many laws as ports.  With `energy` the laws are its gradient.
    * J0, J1: no laws; `ports` is one `Port` per bond, in bond order.
    `symbolic`: no law was given; `gain`s are then parameters without value (rule 8).  `prefer`: the user wants this
    storage independent.  `type_name` is the class in the user's words ("Electrical.Resistor").  `written` is False for
    what a macro or bglang itself put in."""

    id: int
    name: str
    kind: Kind
    ports: tuple[Port, ...]
    laws: tuple[Law, ...]
    modulus: Expr | None
    energy: Expr | None
    symbolic: bool
    prefer: bool
    type_name: str
    description: str
    span: Span

    def variable(self, port: int, letter: str) -> str:
        """The flat name of a variable of one of the ports."""
        name = self.ports[port].name
        return f"{self.name}.{name}.{letter}" if name else f"{self.name}.{letter}"


@dataclass(frozen=True, slots=True)
class End:
    """One end of a bond: which port of which element, and how that port's own e and f follow from the bond's.

    own e = e_sign * bond e, own f = f_sign * bond f.  At junctions and sources both are +1: they use the bond's
    variables, and a junction takes the direction of power from the arrow.  Passive ports: power into the element counts
    positive; where the arrow is drawn the other way, the sign that turns is decided by the neighbour (language rule 4).
    TF/GY: p1 counts power into the element, p2 power out of it."""

    element: int
    port: int
    e_sign: int = 1
    f_sign: int = 1


@dataclass(frozen=True, slots=True)
class Bond:
    """A power bond; the half arrow points from tail to head.

    `names` are the names under which its variables are known: named bonds and ports of models (all with the same
    arrow). `stroke` is a causal stroke drawn in the source."""

    id: int
    tail: End
    head: End
    names: tuple[str, ...]
    stroke: Literal["head", "tail"] | None
    domain: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named constant of the run.  `value` may use other parameters; None when the source gives none.

    `structural` parameters have shaped the graph (sizes, conditions): changing one means elaborating again.
    Arrays appear element by element (`K[1,2]`).  For String the value is in `text`."""

    name: str
    value: Expr | None
    type: ValueType
    unit: str
    description: str
    final: bool
    structural: bool
    fixed: bool
    minimum: Expr | None
    maximum: Expr | None
    span: Span
    text: str = ""
    display_unit: str = ""
    constant: bool = False
    value_span: Span | None = None
    """Where the value was given, if not at the declaration."""


VariableKind: TypeAlias = Literal["continuous", "discrete", "displacement"]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that belongs to no bond: `Real h`, block inputs and outputs, discrete variables, J1.q and J0.p."""

    name: str
    kind: VariableKind
    type: ValueType
    unit: str
    description: str
    start: Start | None
    nominal: Expr | None
    minimum: Expr | None
    maximum: Expr | None
    span: Span
    display_unit: str = ""
    use: Span | None = None
    """Of an input of a block or subsystem: where that is declared, and its value expected."""


@dataclass(frozen=True, slots=True)
class Equation:
    """`left = right`, scalar.  Declaration values and block inputs (`PI c(u = …)`) are equations too.

    `component` is the instance that the equation belongs to."""

    left: Expr
    right: Expr
    component: str
    span: Span


@dataclass(frozen=True, slots=True)
class Reinit:
    target: str
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Assign:
    """A discrete variable takes a value."""

    target: str
    value: Expr
    span: Span


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


Action: TypeAlias = Reinit | Assign | Terminate | Assertion


@dataclass(frozen=True, slots=True)
class WhenBranch:
    """Fires when any of the conditions becomes true (`when {a, b}` has two)."""

    conditions: tuple[Expr, ...]
    actions: tuple[Action, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class When:
    """`when … elsewhen …`: of the branches that fire together the first one acts."""

    branches: tuple[WhenBranch, ...]
    component: str


@dataclass(frozen=True, slots=True)
class Table:
    """Points of a table function; `key` is what ("table", x, key) names.  Numbers or parameters, x increasing."""

    key: str
    x: tuple[Expr, ...]
    y: tuple[Expr, ...]
    method: Literal["linear", "spline", "pchip"]
    outside: Literal["hold", "linear", "error"]
    ends: Literal["not-a-knot", "natural", "secant"]
    span: Span


@dataclass(frozen=True, slots=True)
class Experiment:
    """The experiment annotation, with the defaults of the language."""

    start: float = 0.0
    stop: float = 1.0
    tolerance: float = 1e-6
    interval: float | None = None
    steady: bool = False
    settings: tuple[tuple[str, float | str | bool], ...] = ()
    """Further known keys: method, dependent, form, alpha, beta, … by name."""


@dataclass(frozen=True, slots=True)
class BondGraph:
    """One model, flat.  `elements[i].id == i` and `bonds[i].id == i`; elements stand in declaration order (rule 12).

    `frames` are the subsystems by dotted name with their class, for drawings; `dependencies` the files that were read,
    so that caches know when they are stale."""

    name: str
    description: str
    elements: tuple[Element, ...]
    bonds: tuple[Bond, ...]
    parameters: tuple[Parameter, ...]
    variables: tuple[Variable, ...]
    equations: tuple[Equation, ...]
    initial_equations: tuple[Equation, ...]
    whens: tuple[When, ...]
    assertions: tuple[Assertion, ...]
    tables: tuple[Table, ...]
    domains: tuple[Domain, ...]
    experiment: Experiment
    frames: tuple[tuple[str, str], ...]
    dependencies: tuple[str, ...]
    span: Span
    guesses: tuple[tuple[str, Expr], ...] = ()
    """Start values of variables of elements that are no states, by name: first guesses where something is solved
    for."""
    inputs: tuple[str, ...] = ()
    """Inputs of the main model that nothing drives; an equation keeps each at its start."""
    outputs: tuple[str, ...] = ()
    """Outputs of the main model."""
