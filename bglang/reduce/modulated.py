"""Gains that depend on displacements of the field's own flows: a field with its energy.

With varying gains the plain sum of storages loses a term.  The energy X'*S(q)^-1*X/2 as a field with a port for
each displacement q has it: its effort at q is the missing one.  That is exact where the flows of the dependent
storages are rates of functions of the coordinates (always so for one independent storage); what is not is refused."""

import random
import re

from bglang.causality.pivots import is_pivot
from bglang.expr import Expr, leaves, map_leaves, neg, product, total, var
from bglang.expr.diff import diff
from bglang.graph.ir import BondGraph, Element, Law, Port, Start
from bglang.records import dataclass, replace
from bglang.reduce.algebra import value
from bglang.reduce.edit import Edit
from bglang.reduce.fields import StorageField
from bglang.reduce.matrix import (
    Plan,
    change_reinits,
    equivalent_matrix,
    field_ports,
    localise,
    of_few_followers,
    plan_field,
    put_field,
    quadratic,
)
from bglang.reduce.members import LARGEST_INVERSE
from bglang.reduce.polynomials import to_expression
from bglang.reduce.refusals import Obstacle, Refusal, refuse
from bglang.reduce.trace import Ring, Tracer
from bglang.source import NOWHERE


@dataclass(frozen=True, slots=True)
class Displacement:
    """A variable that is the integral of a junction's common variable, times `sign`; `rates` how that follows from what
    the independent storages give."""

    name: str
    junction: Element
    sign: int
    rates: tuple[Expr, ...]
    start: Start | None


def check_modulated(graph: BondGraph, tracer: Tracer, field: StorageField, values: dict[str, float]) -> Refusal | None:
    """Why the energy rule does not apply, if it does not."""
    first = field.dependent[0]

    def no(obstacle: Obstacle, at: Element, reason: str) -> Refusal:
        return refuse(first.element, first.name, obstacle, at, reason)

    if any(m.element.kind == "field" for m in (*field.independent, *field.dependent)):
        at = next(m.element for m in (*field.independent, *field.dependent) if m.element.kind == "field")
        return no("multiport", at, f"The gain varies, and `{at.name}` is a field.")
    for sources in field.sources:
        if sources:
            at = graph.elements[sources[0][0][0]]
            return no("source", at, f"The gain varies, and the source `{at.name}` acts on the path.")
    at = _modulated_node(graph, field)
    n, r = len(field.independent), len(field.dependent)
    if (n if any(is_pivot(m.element) for m in field.independent) else min(n, r)) > LARGEST_INVERSE:
        at = _split(graph, field)
        return no("split path", at, f"The gains vary, and {r} storages follow {n} others: no formula is short enough.")
    signal = foreign_signal(graph, field)
    if signal is not None:
        return no("modulating signal", at, f"The modulus of `{at.name}` reads `{signal}`, which is no displacement.")
    found = displacements(graph, tracer, field)
    if isinstance(found, str):
        why = "whose rate does not follow from the storages of this field alone"
        return no("modulated", at, f"The modulus of `{at.name}` reads `{found}`, {why}.")
    if not integrable(graph, field, found, values):
        return no("modulated", at, "The constraint is not integrable, so that no energy of the positions describes it.")
    return None


def _split(graph: BondGraph, field: StorageField) -> Element:
    """The junction where the paths part."""
    elements = {e.name: e for e in graph.elements}
    for name in field.paths[0]:
        e = elements[name]
        if e.kind in ("J0", "J1") and len(e.ports) > 2 and (e.kind == "J0") == field.dependent[0].given.endswith("f"):
            return e
    return field.dependent[0].element


def _modulated_node(graph: BondGraph, field: StorageField) -> Element:
    """The transformer or gyrator that a message points at."""
    for e in graph.elements:
        if e.kind in ("TF", "GY") and any(m == e.modulus for m in field.moduli):
            return e
    return field.dependent[0].element


def _definitions(graph: BondGraph) -> dict[str, Expr]:
    return {eq.left[1]: eq.right for eq in graph.equations if isinstance(eq.left, tuple) and eq.left[0] == "v"}


def written_out(graph: BondGraph, e: Expr) -> Expr:
    """With variables that equations define replaced by what they are."""
    known = _definitions(graph)
    for _ in range(20):
        if not any(leaf[0] == "v" and leaf[1] in known for leaf in leaves(e)):
            break
        e = map_leaves(e, lambda leaf: known.get(leaf[1], leaf) if leaf[0] == "v" else leaf)
    return e


def _rates(graph: BondGraph) -> dict[str, Expr]:
    """The rate of everything that is an integral."""
    found: dict[str, Expr] = {}
    for eq in graph.equations:
        if isinstance(eq.left, tuple) and eq.left[0] == "der" and eq.left[1][0] == "v":
            found[eq.left[1][1]] = eq.right
    for e in graph.elements:
        for k, port in enumerate(e.ports):
            if port.kind == "C":
                found[e.variable(k, "q")] = var(e.variable(k, "f"))
            elif port.kind == "I":
                found[e.variable(k, "p")] = var(e.variable(k, "e"))
    return found


def foreign_signal(graph: BondGraph, field: StorageField) -> str | None:
    """What a modulus reads that is not an integral of anything."""
    rates = _rates(graph)
    for modulus in field.moduli:
        for leaf in leaves(written_out(graph, modulus)):
            if leaf[0] == "t":
                return "time"
            if leaf[0] == "v" and leaf[1] not in rates:
                return str(leaf[1])
    return None


def displacements(graph: BondGraph, tracer: Tracer, field: StorageField) -> tuple[Displacement, ...] | str:
    """The displacements that the moduli read, or the name of one that is not the field's own."""
    rates = _rates(graph)
    names = dict.fromkeys(
        str(leaf[1]) for m in field.moduli for leaf in leaves(written_out(graph, m)) if leaf[0] == "v"
    )
    made = list[Displacement]()
    for name in names:
        found = _displacement(graph, tracer, field, name, rates[name])
        if found is None:
            return name
        made.append(found)
    return tuple(made)


def _displacement(graph: BondGraph, tracer: Tracer, field: StorageField, name: str, rate: Expr) -> Displacement | None:
    place = _junction_of(graph, rate)
    if place is None:
        return None
    junction, sign, bond = place
    try:
        combination = tracer.variable(bond, "f" if junction.kind == "J1" else "e")
    except Ring:
        return None
    ports = [m.port for m in field.independent]
    if any(key not in ports for key in combination):
        return None
    gains = tuple(product([float(sign), to_expression(combination.get(p, {}))]) for p in ports)
    return Displacement(name, junction, sign, gains, _start_of(graph, name))


def _start_of(graph: BondGraph, name: str) -> Start | None:
    for v in graph.variables:
        if v.name == name:
            return v.start
    for e in graph.elements:
        for k, port in enumerate(e.ports):
            if port.kind in ("C", "I") and name in (e.variable(k, "q"), e.variable(k, "p")):
                return port.start
    return None


def _junction_of(graph: BondGraph, rate: Expr) -> tuple[Element, int, int] | None:
    """The junction whose common variable a rate is, with the sign, and one of its bonds."""
    sign = 1
    while isinstance(rate, tuple) and rate[0] == "neg":
        sign, rate = -sign, rate[1]
    if not isinstance(rate, tuple) or rate[0] != "v":
        return None
    owner, _, letter = rate[1].rpartition(".")
    kind = {"f": "J1", "e": "J0"}.get(letter)
    for bond in graph.bonds:
        for end, far in ((bond.tail, bond.head), (bond.head, bond.tail)):
            element = graph.elements[end.element]
            if element.name == owner and element.kind == kind:
                return element, sign, bond.id
            other = graph.elements[far.element]
            named = owner in bond.names and other.kind == kind
            one_port = element.name == owner and other.kind == kind and len(element.ports) == 1
            if named:
                return other, sign, bond.id
            if one_port:
                return other, sign * (end.f_sign if letter == "f" else end.e_sign), bond.id
    return None


def integrable(
    graph: BondGraph, field: StorageField, found: tuple[Displacement, ...], values: dict[str, float]
) -> bool:
    """Are the flows of the dependent storages rates of functions of the coordinates?  Tried at random places."""
    n = len(field.independent)
    if n == 1:
        return True
    draw = random.Random(1)
    parameters = {p.name: values.get(p.name, draw.uniform(0.5, 2.0)) for p in graph.parameters}
    for _ in range(3):
        place = {d.name: draw.uniform(0.2, 1.2) for d in found}
        for d in range(len(field.dependent)):
            gains = [written_out(graph, field.gain(d, i)) for i in range(n)]
            for i in range(n):
                for j in range(i):
                    a = [product([diff(gains[i], ("v", q.name)), q.rates[j]]) for q in found]
                    b = [product([diff(gains[j], ("v", q.name)), q.rates[i]]) for q in found]
                    one, two = (value(written_out(graph, total(x)), parameters, place) for x in (a, b))
                    if one is None or two is None or abs(one - two) > 1e-9 * (1 + abs(one) + abs(two)):
                        return False
    return True


def merge_modulated(edit: Edit, tracer: Tracer, field: StorageField) -> str:
    """Writes the field with its energy; the new element's name."""
    graph = tracer.graph
    found = displacements(graph, tracer, field)
    assert not isinstance(found, str)
    plan = plan_field(edit, field)
    names = _port_names(plan, found)
    own: dict[str, Expr] = {}
    for d, port in zip(found, names, strict=True):
        q = var(f"{plan.name}.{port}.{'q' if d.junction.kind == 'J1' else 'p'}")
        own[d.name] = q if d.sign > 0 else neg(q)
    matrix = [[written_out(graph, x) for x in row] for row in equivalent_matrix(field)]
    inside = [[_replaced(x, own) for x in row] for row in matrix]
    states = [var(plan.variable(k, m.state[-1])) for k, m in enumerate(field.independent)]
    if len(inside) <= LARGEST_INVERSE:
        whole_energy = quadratic(inside, states)
    else:
        whole_energy = _replaced(written_out(graph, of_few_followers(field, states)), own)
    energy = localise(edit, plan, whole_energy)
    ports = field_ports(edit, tracer, field, plan, matrix)
    more = tuple(_port(d, name) for d, name in zip(found, names, strict=True))
    whole = Plan(plan.name, (*plan.ports, *names))
    laws = tuple(_law(whole, k, port, energy) for k, port in enumerate((*ports, *more)))
    put_field(edit, tracer, field, plan, ((*ports, *more), laws, energy), tuple(d.junction for d in found))
    change_reinits(edit, field, plan, inside)
    return plan.name


def _replaced(e: Expr, variables: dict[str, Expr]) -> Expr:
    return map_leaves(e, lambda leaf: variables.get(leaf[1], leaf) if leaf[0] == "v" else leaf)


def _port_names(plan: Plan, found: tuple[Displacement, ...]) -> list[str]:
    made = list[str]()
    for d in found:
        wish = re.sub(r"\W+", "_", d.name.rpartition(".")[0] or d.name).strip("_") or "x"
        wish = wish if wish[0].isalpha() else f"x{wish}"
        name, k = wish, 1
        while name in (*plan.ports, *made):
            k += 1
            name = f"{wish}_{k}"
        made.append(name)
    return made


def _port(d: Displacement, name: str) -> Port:
    start = d.start
    if start is not None and d.sign < 0:
        start = replace(start, value=neg(start.value))
    domain = d.junction.ports[0].domain if d.junction.ports else None
    return Port(name, "C" if d.junction.kind == "J1" else "I", domain, start)


def _law(plan: Plan, k: int, port: Port, energy: Expr) -> Law:
    if port.kind == "C":
        return Law("e", k, diff(energy, ("v", plan.variable(k, "q"))), NOWHERE)
    return Law("f", k, diff(energy, ("v", plan.variable(k, "p"))), NOWHERE)
