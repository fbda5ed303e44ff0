"""Storages as reduction sees them: what they store as a function of what they give."""

from bglang.causality.pivots import is_pivot
from bglang.causality.result import PortKey
from bglang.expr import Expr, map_leaves, var
from bglang.expr.invert import invert, linear_in
from bglang.expr.walk import depends, leaf_set
from bglang.graph.ir import BondGraph, Element
from bglang.records import dataclass
from bglang.reduce.algebra import Matrix, constant, inverse, quotient
from bglang.reduce.trace import Tracer

CO_ENERGY: Expr = ("v", "\0z")
"""Stands for the variable that a storage gives (f of an I, e of a C) in `Member.content`."""

LARGEST_INVERSE = 3
"""Stiffness matrices up to this size are inverted as formulas."""


@dataclass(frozen=True, slots=True)
class Member:
    """A storage port.  `parameter` is S where the law is linear, X = S*z; `content` is X as a function of z, None where
    the law has no closed form in this direction; `modulated`: the law reads other variables."""

    port: PortKey
    element: Element
    state: str
    given: str
    parameter: Expr | None
    content: Expr | None
    modulated: str = ""

    @property
    def name(self) -> str:
        return self.state[:-2]

    def holds(self, z: Expr) -> Expr:
        """X for a value of z."""
        assert self.content is not None
        return map_leaves(self.content, lambda leaf: z if leaf == CO_ENERGY else leaf)

    def gives_for(self, x: Expr) -> Expr | None:
        """z for a value of X; None where the law has no closed form in this direction.  The start of a pivot is that of
        its motion: it stores nothing."""
        if is_pivot(self.element):
            return x
        if self.parameter is not None:
            return quotient(x, self.parameter)
        law = self.element.laws[0]
        if law.gives == self.given[-1]:
            return map_leaves(law.value, lambda leaf: x if leaf == ("v", self.state) else leaf)
        return None if self.content is None else invert(self.content, CO_ENERGY, x)


def letters(kind: str) -> tuple[str, str]:
    """State and co-energy variable of a storage of this kind."""
    return ("q", "e") if kind == "C" else ("p", "f")


def describe(graph: BondGraph, tracer: Tracer, port: PortKey) -> Member:
    element = graph.elements[port[0]]
    x, z = letters(element.ports[port[1]].kind)
    state, given = element.variable(port[1], x), element.variable(port[1], z)
    if element.kind == "field" or not element.laws:
        return Member(port, element, state, given, None, None)
    law = element.laws[0]
    own = {("v", state), ("v", given)}
    foreign = next((leaf for leaf in leaf_set(law.value) if leaf[0] in ("v", "t") and leaf not in own), None)
    if foreign is not None:
        name = "time" if foreign[0] == "t" else str(foreign[1])
        return Member(port, element, state, given, None, None, name)
    if is_pivot(element):
        return Member(port, element, state, tracer.gives(port), 0.0, 0.0)
    if law.gain is not None:
        parameter = tracer.value_of(law.gain)
        return Member(port, element, state, given, parameter, ("*", parameter, CO_ENERGY))
    content = _content(graph, law.gives, law.value, var(state), var(given))
    if content is None:
        return Member(port, element, state, given, None, None)
    linear = linear_in(content, CO_ENERGY)
    slope = linear[0] if linear is not None and linear[1] == 0.0 and constant(linear[0]) else None
    return Member(port, element, state, given, slope, content)


def _content(graph: BondGraph, gives: str, law: Expr, state: Expr, given: Expr) -> Expr | None:
    tables = {t.key: t for t in graph.tables}
    assert isinstance(state, tuple) and isinstance(given, tuple)
    if ("v", given[1]) == given and gives and given[1].endswith(f".{gives}"):
        linear = linear_in(law, state)
        if linear is not None and linear[1] == 0.0 and constant(linear[0]) and linear[0] != 0.0:
            return ("*", quotient(1.0, linear[0]), CO_ENERGY)
        return invert(law, state, CO_ENERGY, tables)
    placed = map_leaves(law, lambda leaf: CO_ENERGY if leaf == given else leaf)
    if gives:
        return None if depends(placed, state) else placed
    return invert(placed, state, 0.0, tables)


def storage_matrix(element: Element) -> Matrix | None:
    """S of a linear field, X = S*z, over all its ports; None where it is not linear, not all storage, or too large."""
    n = len(element.ports)
    if any(port.kind not in ("C", "I") for port in element.ports) or len(element.laws) != n:
        return None
    pairs = [letters(port.kind) for port in element.ports]
    states = [var(element.variable(k, x)) for k, (x, _) in enumerate(pairs)]
    given = [var(element.variable(k, z)) for k, (_, z) in enumerate(pairs)]
    rows: dict[int, list[Expr]] = {}
    forms = {law.gives == pairs[law.port][1] for law in element.laws if law.port >= 0}
    if len(forms) != 1 or any(law.port < 0 for law in element.laws):
        return None
    stiffness = forms.pop()
    for law in element.laws:
        row = _row(law.value, states if stiffness else given)
        if row is None:
            return None
        rows[law.port] = row
    if len(rows) != n:
        return None
    matrix = [rows[k] for k in range(n)]
    if stiffness:
        return inverse(matrix) if n <= LARGEST_INVERSE else None
    return matrix


def _row(value: Expr, columns: list[Expr]) -> list[Expr] | None:
    """The constant coefficients of a linear form."""
    row, rest = list[Expr](), value
    for leaf in columns:
        linear = linear_in(rest, leaf)
        if linear is None or not constant(linear[0]):
            return None
        row.append(linear[0])
        rest = linear[1]
    return row if rest == 0.0 else None
