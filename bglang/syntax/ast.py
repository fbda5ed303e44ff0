"""The syntax tree: what the parser makes and elaboration reads.  Nothing here knows what a name means.

Expressions first, then arguments (modifications, call arguments and macro arguments are one thing, whose shape
elaboration checks), then declarations, bonds, equations, statements, classes.
"""

from typing import Literal, TypeAlias

from bglang.records import dataclass
from bglang.source import Span

# --- names and expressions --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One step of a dotted name: an identifier and its subscripts (`cell[i, 2]`); quotes are already removed.

    `subscripts` is None without brackets.  A subscript is an expression, a `Range` or a `Colon`."""

    ident: str
    subscripts: "tuple[Expression, ...] | None"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """`a.b[3].c`; with `rooted`, `.a.b` (a name looked up from the top)."""

    parts: tuple[Part, ...]
    rooted: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    value: float
    integer: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class String:
    value: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Bool:
    value: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Unary:
    op: Literal["-", "+", "not", ".-", ".+"]
    operand: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Binary:
    op: Literal["+", "-", "*", "/", "^", ".+", ".-", ".*", "./", ".^", "<", "<=", ">", ">=", "==", "<>", "and", "or"]
    left: "Expression"
    right: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class IfExpression:
    """`if c1 then a elseif c2 then b else d`: pairs of condition and value, and the last value."""

    branches: "tuple[tuple[Expression, Expression], ...]"
    otherwise: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """`name(args)`, `der(x)`, `table(x, data, method = "spline")`."""

    function: Name
    args: "tuple[Argument, ...]"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ArrayList:
    """`{a, b, c}`"""

    items: "tuple[Expression, ...]"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class MatrixList:
    """`[a, b; c, d]`"""

    rows: "tuple[tuple[Expression, ...], ...]"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Comprehension:
    """`{expr for i in range, j in range}` and reductions `sum(expr for i in range)` (then the single argument)."""

    body: "Expression"
    iterators: "tuple[Iterator, ...]"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """`start : stop` or `start : step : stop`"""

    start: "Expression"
    step: "Expression | None"
    stop: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Colon:
    """`:` as a whole subscript"""

    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class End:
    """`end` inside a subscript"""

    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Tuple:
    """`(a, b)` on the left of a call of a function with several outputs; an omitted place is None."""

    items: "tuple[Expression | None, ...]"
    span: Span


Expression: TypeAlias = (
    Name | Number | String | Bool | Unary | Binary | IfExpression | Call | ArrayList | MatrixList | Comprehension
    | Range | Colon | End | Tuple
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Iterator:
    """`i in 1:n`"""

    ident: str
    range: Expression | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Argument:
    """One argument of a modification, call or macro use.

    `R = 10` (name, value); `q(start = 3)` (name, args); `q(start = 3) = 5` (both); `v[1]` or `2*k` (value only);
    `redeclare Motor m(...)` and `redeclare model M = N` (redeclare: a declaration or class).

    An implicit law `0 = e - R*f` has the name `0`, which no identifier is.  In declarations `q(start = 3)` is a
    modification and `sqrt(2)` a value: a call whose arguments are all named is taken for a modification (a macro that
    wants a value there makes a `Call` of it again).
    """

    name: Name | None
    args: "tuple[Argument, ...] | None"
    value: Expression | None
    each: bool
    final: bool
    redeclare: "Component | Class | None"
    replaceable: bool
    description: str
    span: Span


# --- declarations -----------------------------------------------------------------------------------------------------

Prefix: TypeAlias = Literal[
    "parameter", "constant", "discrete", "input", "output", "final", "replaceable", "redeclare", "port", "node"
]


@dataclass(frozen=True, slots=True, eq=False)
class Declarator:
    """One declared name: `mass[3](each I = m) = value if cond "text"`.

    For a macro use, `args` holds nodes and values; which of the two a declaration is, elaboration decides from the
    type.  `args` is None without parentheses."""

    ident: str
    subscripts: tuple[Expression, ...] | None
    args: tuple[Argument, ...] | None
    value: Expression | None
    condition: Expression | None
    description: str
    annotation: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """`parameter Real m(unit = "kg") = 1, k;`, `J1 v[n];`, `port Electrical pin;`, `Coupling s[i](a, b, k = 1);`

    `subscripts` are those written after the type (`Real[3] x`).  `constrainedby` is the type named after that word."""

    prefixes: frozenset[Prefix]
    type: Name
    subscripts: tuple[Expression, ...] | None
    declarators: tuple[Declarator, ...]
    constrainedby: "TypeUse | None"
    protected: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class TypeUse:
    """A type name with subscripts and modification."""

    type: Name
    subscripts: tuple[Expression, ...] | None
    args: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Extends:
    base: Name
    args: tuple[Argument, ...]
    protected: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Import:
    """`import A.B.C;`, `import D = A.B.C;` (alias), `import A.B.*;` (all), `import A.B.{C, D};` (several names)"""

    name: Name
    alias: str | None
    all: bool
    names: tuple[str, ...]
    span: Span


# --- bonds ------------------------------------------------------------------------------------------------------------

Arrow: TypeAlias = Literal["->", "->|", "|->"]


@dataclass(frozen=True, slots=True, eq=False)
class BondChain:
    """`a -> b -> c, d;`: `nodes` holds one name per position but the last, which may be a list.

    nodes = (a, b), arrows = ("->", "->"), last = (c, d).  `bond n[i]: a -> b;` has `name` (a Part)."""

    name: Part | None
    nodes: tuple[Name, ...]
    arrows: tuple[Arrow, ...]
    last: tuple[Name, ...]
    description: str
    span: Span


# --- equations and statements (the same words serve declarations, bonds and equations) --------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Equation:
    """`left = right;`  In an element, `energy = ...` is an equation whose left side is the name `energy`."""

    left: Expression
    right: Expression
    description: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class CallEquation:
    """`reinit(x, 0);`, `assert(...)`, `terminate(...)`; as a statement also a call whose results are dropped."""

    call: Call
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """`x := e;` in an algorithm; `target` may be a Tuple."""

    target: Expression
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class IfBlock:
    branches: "tuple[tuple[Expression, tuple[Item, ...]], ...]"
    otherwise: "tuple[Item, ...]"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ForBlock:
    iterators: tuple[Iterator, ...]
    body: "tuple[Item, ...]"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class WhenBlock:
    branches: "tuple[tuple[Expression, tuple[Item, ...]], ...]"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class WhileBlock:
    condition: Expression
    body: "tuple[Item, ...]"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Break:
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Return:
    span: Span


# --- classes ----------------------------------------------------------------------------------------------------------

ClassKind: TypeAlias = Literal["model", "element", "block", "macro", "package", "domain", "function", "type", "class"]
SectionKind: TypeAlias = Literal[
    "declarations", "bonds", "equation", "initial equation", "algorithm", "initial algorithm"
]


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A run of items under one heading; the text before the first heading is a "declarations" section."""

    kind: SectionKind
    items: "tuple[Item, ...]"
    protected: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class MacroParameter:
    """`node a`, `Real k(unit = "N/m")`, `Integer n = 3 "text"` in a macro's head; `type` is None for a node."""

    ident: str
    type: Name | None
    subscripts: tuple[Expression, ...] | None
    default: Expression | None
    span: Span
    args: tuple[Argument, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """Any class definition.

    `short` is set for `model A = B(...)` and `type X = Real(unit = "V")`; `literals` for enumerations
    (name, description).  `head` holds a macro's parameters, `attributes` a domain's (`effort = "V"`).  `constrainedby`
    is the type named after that word in a replaceable class."""

    kind: ClassKind
    ident: str
    description: str
    partial: bool
    encapsulated: bool
    replaceable: bool
    redeclared: bool
    final: bool
    protected: bool
    head: tuple[MacroParameter, ...]
    attributes: tuple[Argument, ...]
    short: TypeUse | None
    literals: tuple[tuple[str, str], ...] | None
    sections: tuple[Section, ...]
    annotation: tuple[Argument, ...]
    span: Span
    name_span: Span
    constrainedby: TypeUse | None = None


Item: TypeAlias = (
    Component | Class | Extends | Import | BondChain | Equation | CallEquation | Assignment | IfBlock | ForBlock
    | WhenBlock | WhileBlock | Break | Return
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """A whole source file: `within A.B;` (None when absent, an empty Name for `within;`) and its classes."""

    within: Name | None
    classes: tuple[Class, ...]
    imports: tuple[Import, ...]
    span: Span
