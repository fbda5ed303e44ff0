"""Dynamic augmentation: a stiff element breaks every scalar dependency, at the bond where it enters.

A dependent I gets a stiff spring on a 0-junction between itself and what decides its flow; a dependent C gets a small
resistance or inertia on a 1-junction between itself and what decides its effort.  Afterwards every storage is
independent.  The deflection of an inserted spring is the error of the constraint that it stands for."""

from typing import Literal

from bglang.causality.assign import assign_causality
from bglang.causality.pivots import find_pivots, is_pivot, with_pivots
from bglang.causality.result import Causality, PortKey
from bglang.diagnostics import UsageError
from bglang.expr import Expr, product
from bglang.graph.ir import (
    Bond,
    BondGraph,
    Element,
    End,
    Kind,
    Law,
    Parameter,
    Port,
    Start,
)  # fmt: skip
from bglang.records import dataclass, replace
from bglang.reduce.algebra import numbers, value
from bglang.reduce.edit import Edit
from bglang.reduce.fields import find_fields
from bglang.reduce.followers import at_rest, consistent, followers_of, following, with_starts
from bglang.reduce.members import Member, describe
from bglang.reduce.pivots import start_pivots
from bglang.reduce.polynomials import to_expression
from bglang.reduce.starts import at_start
from bglang.reduce.stiffness import Scales, find_scales
from bglang.reduce.trace import Ring, Tracer
from bglang.source import NOWHERE

Dual = Literal["R", "I"]
ROUNDS = 1000


@dataclass(frozen=True, slots=True)
class Stiff:
    """How stiff: numbers that the user gives, or a wanted relative error that they are chosen for.

    `damping` is that of the spring; None chooses half of critical, 0 none.  `dual` is what a dependent C gets."""

    stiffness: float | None = None
    damping: float | None = None
    parasitic: float | None = None
    dual: Dual = "R"
    error: float = 1e-6


@dataclass(frozen=True, slots=True)
class Insertion:
    """An inserted element: `deflection` is the variable whose size is the constraint error, `bond` the bond of the
    original graph that it opened (its reaction, over the stiffness, is the estimate), `held` the storage it frees."""

    name: str
    held: str
    kind: Kind
    size: float
    deflection: str
    bond: int
    letter: str


@dataclass(frozen=True, slots=True)
class Augmentation:
    graph: BondGraph
    insertions: tuple[Insertion, ...]


def augment(graph: BondGraph, stiff: Stiff | None = None) -> Augmentation:
    """The graph with a stiff element for each scalar dependency; the storages start as they would have together."""
    stiff = stiff or Stiff()
    _check(stiff)
    tracer = _pivoted(graph) if stiff.damping != 0 else Tracer(graph, assign_causality(graph))
    made, causality = tracer.graph, tracer.causality
    followers, ringed = followers_of(tracer)
    starts = consistent(tracer, followers)
    whens = tuple(replace(w, branches=tuple(following(followers, b) for b in w.branches)) for w in graph.whens)
    made = replace(made, whens=whens)
    scales = find_scales(graph, stiff.error)
    insertions = list[Insertion]()
    while causality.dependent:
        assert len(insertions) <= ROUNDS + len(graph.elements), "augmentation does not end"
        made, new = _round(made, causality, stiff, scales, len(graph.bonds))
        insertions += new
        causality = assign_causality(made)
    velocities = {i.held: f"{i.name}.{'f' if i.kind == 'C' else 'e'}" for i in insertions}
    return Augmentation(with_starts(made, *at_rest(starts, tracer, ringed, velocities)), tuple(insertions))


def _pivoted(graph: BondGraph) -> Tracer:
    """With pivots where they spare divisions: what hangs on a massless crank is held to it, all of it at once; the
    dampers beside the springs decide its rate."""
    causality, junctions = assign_causality(graph), find_pivots(graph)
    if not junctions:
        return Tracer(graph, causality)
    trial = with_pivots(graph, junctions)
    tracer = Tracer(trial, assign_causality(trial))
    started = start_pivots(tracer, find_fields(trial, tracer.causality, tracer)[0], causality)
    return tracer if started is None else Tracer(started, tracer.causality)


def _round(
    graph: BondGraph, causality: Causality, stiff: Stiff, scales: Scales, bonds: int
) -> tuple[BondGraph, list[Insertion]]:
    """One element for every dependent storage whose place no other one of this round has taken."""
    tracer, edit = Tracer(graph, causality), Edit(graph)
    how = _How(stiff, scales, numbers(graph), bonds)
    taken, made = set[tuple[str, int]](), list[Insertion]()
    for dependence in causality.dependent:
        place = _place(graph, tracer, dependence.port)
        key = ("bond", place.bond.id) if place.junction is None else ("node", place.junction)
        if key not in taken:
            taken.add(key)
            made.append(_insert(edit, tracer, describe(graph, tracer, dependence.port), place, how))
    edit.remove_pivots()
    return edit.graph(), made


def _check(stiff: Stiff) -> None:
    for name, number in (("stiffness", stiff.stiffness), ("parasitic", stiff.parasitic), ("error", stiff.error)):
        if number is not None and not number > 0:
            raise UsageError(f"--{name} {number:g}: must be positive")
    if stiff.damping is not None and stiff.damping < 0:
        raise UsageError(f"--damping {stiff.damping:g}: must not be negative")


# --- where ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """The bond to open, or the junction that the element is bonded to directly."""

    bond: Bond
    junction: int | None


@dataclass(frozen=True, slots=True)
class _How:
    """What decides the sizes; `bonds` are those of the original graph."""

    stiff: Stiff
    scales: Scales
    values: dict[str, float]
    bonds: int


def _place(graph: BondGraph, tracer: Tracer, port: PortKey) -> _Place:
    """The bond that decides the common variable at the dependent storage; its own bond where a storage or source on the
    same junction does."""
    half = tracer.signals.half_of[port]
    own = graph.bonds[half >> 1]
    near = graph.elements[tracer.structure.node[half ^ 1]]
    letter = "f" if tracer.output_letter(port) == "e" else "e"
    sums, common = ("J0", "J1") if letter == "f" else ("J1", "J0")
    if near.kind == sums:
        return _Place(own, near.id)
    if near.kind != common:
        return _Place(own, None)
    strong = tracer.signals.strong[near.id]
    deciding = graph.bonds[strong]
    far = graph.elements[(deciding.head if deciding.tail.element == near.id else deciding.tail).element]
    if far.kind == sums:
        return _Place(deciding, far.id)
    return _Place(deciding if far.kind in ("TF", "GY", "J0", "J1") else own, None)


def _insert(edit: Edit, tracer: Tracer, member: Member, place: _Place, how: _How) -> Insertion:
    spring = tracer.output_letter(member.port) == "e"
    held = _reduced(tracer, member, how.values)
    kind, size, damping = _sizes(held, how.stiff, how.scales, spring)
    name = _name(edit, member, spring)
    junction = place.junction if place.junction is not None else _open(edit, place.bond, spring, name)
    domain = place.bond.domain
    inserted = new_element(edit, name, kind, size, domain, f"stiff: holds {member.name} to what it follows")
    if spring and damping > 0:
        between = _junction(edit, "J1", edit.fresh(f"{name}_stretch"), inserted)
        bond_to(edit, junction, between, domain)
        damper = new_element(edit, edit.fresh(f"{name}_damper"), "R", damping, domain, f"damping of {name}")
        bond_to(edit, between, inserted, domain)
        bond_to(edit, between, damper, domain)
    else:
        bond_to(edit, junction, inserted, domain)
    deflection = f"{name}.q" if spring else f"{name}.e"
    bond = place.bond.id if place.bond.id < how.bonds else -1
    return Insertion(name, member.name, kind, size, deflection, bond, "e" if spring else "f")


def _name(edit: Edit, member: Member, spring: bool) -> str:
    return edit.fresh(f"{clean_name(member.name)}_{'spring' if spring else 'link'}")


def clean_name(name: str) -> str:
    """A dotted name as one plain word."""
    return name.replace("'", "").replace(".", "_").replace("[", "_").replace("]", "").replace(",", "_")


def _open(edit: Edit, bond: Bond, spring: bool, name: str) -> int:
    """A junction in the middle of a bond; a bond that is drawn against an element is turned round first, because the
    new neighbour would turn another one of the element's variables."""
    kind: Kind = "J0" if spring else "J1"
    junction = _junction(edit, kind, edit.fresh(f"{name}_joint"), bond.tail.element)
    turned = any(end.e_sign < 0 or end.f_sign < 0 for end in (bond.tail, bond.head))
    tail, head = (bond.head, bond.tail) if turned else (bond.tail, bond.head)
    tail, head = _signed(edit, tail, "tail", kind), _signed(edit, head, "head", kind)
    if turned:
        _rename(edit, bond, edit.elements[junction])
    edit.put_bond(replace(bond, tail=tail, head=End(junction, -1), names=(), stroke=None))
    second = edit.add_bond(End(junction, -1), head)
    edit.put_bond(
        replace(bond, id=second, tail=End(junction, -1), head=head, names=() if turned else bond.names, stroke=None)
    )
    return junction


def _signed(edit: Edit, end: End, side: str, joint: Kind) -> End:
    """The end of a bond whose neighbour is now the joint, with the signs that its own variables then have."""
    kind = edit.elements[end.element].kind
    if kind in ("J0", "J1", "Se", "Sf"):
        return End(end.element, end.port)
    natural = ("head", "tail")[end.port] if kind in ("TF", "GY") else "head"
    if side == natural:
        return End(end.element, end.port)
    return End(end.element, end.port, -1, 1) if joint == "J1" else End(end.element, end.port, 1, -1)


def _rename(edit: Edit, bond: Bond, joint: Element) -> None:
    """The variables of a named bond that was turned round, as it was drawn."""
    ends = [edit.elements[end.element] for end in (bond.tail, bond.head)]
    near = next((e for e in ends if e.kind in ("J0", "J1") and e.kind != joint.kind), None)
    if near is None:
        return
    common, other = ("f", "e") if near.kind == "J1" else ("e", "f")
    for title in bond.names:
        edit.define(f"{title}.{common}", ("v", f"{near.name}.{common}"))
        edit.define(f"{title}.{other}", ("neg", ("v", f"{joint.name}.{other}")))


def _junction(edit: Edit, kind: Kind, name: str, after: int) -> int:
    return edit.add_element(
        lambda k: Element(k, name, kind, (), (), None, None, False, False, kind, "", NOWHERE), after=after
    )


def bond_to(edit: Edit, junction: int, element: int, domain: str | None) -> None:
    """A bond from a junction to an element or another junction."""
    port = -1 if edit.elements[element].kind in ("J0", "J1") else 0
    edit.add_bond(End(junction, -1), End(element, port), domain=domain)


def new_element(edit: Edit, name: str, kind: Kind, size: float, domain: str | None, words: str) -> int:
    """A linear C, I or R with a number of its own."""
    parameter = f"{name}.{kind}"
    edit.parameters[parameter] = Parameter(
        parameter, size, "Real", "", "", False, False, True, None, None, NOWHERE
    )  # fmt: skip
    gain: Expr = ("p", parameter)
    law = {
        "R": Law("e", 0, product([gain, ("v", f"{name}.f")]), NOWHERE, gain),
        "C": Law("e", 0, ("/", ("v", f"{name}.q"), gain), NOWHERE, gain),
        "I": Law("f", 0, ("/", ("v", f"{name}.p"), gain), NOWHERE, gain),
    }[kind]
    port = Port("", kind, domain, Start(0.0, False, None, NOWHERE) if kind != "R" else None)  # type: ignore[arg-type]
    last = max(e.id for e in edit.old.elements)
    return edit.add_element(
        lambda k: Element(k, name, kind, (port,), (law,), None, None, False, False, kind, words, NOWHERE), after=last
    )


# --- how stiff ------------------------------------------------------------------------------------------------------


def _sizes(held: float, stiff: Stiff, scales: Scales, spring: bool) -> tuple[Kind, float, float]:
    """Kind, parameter and damping of the inserted element, which works against the storage `held`."""
    if spring:
        k = stiff.stiffness if stiff.stiffness is not None else _rounded(held * scales.stiff**2)
        half_critical = _rounded((k * held) ** 0.5)
        return "C", 1.0 / k, half_critical if stiff.damping is None else stiff.damping
    if stiff.dual == "R":
        # a lag of first order: its error goes with the frequency itself, not with the square
        return "R", stiff.parasitic or _rounded(stiff.error / (held * scales.own)), 0.0
    return "I", stiff.parasitic or _rounded(1.0 / (held * scales.stiff**2)), 0.0


def _reduced(tracer: Tracer, member: Member, values: dict[str, float]) -> float:
    """The storage that the inserted element works against: both sides of it in series."""
    graph, own = tracer.graph, _number(member, values)
    try:
        combination = tracer.input(member.port)
    except Ring:
        return own
    softness = 1.0 / own
    for port, gain in combination.items():
        if graph.elements[port[0]].kind in ("C", "I") and not is_pivot(graph.elements[port[0]]):
            there = at_start(tracer, to_expression(gain))
            g = None if there is None else value(there, values)
            softness += (g or 0.0) ** 2 / _number(describe(graph, tracer, port), values)
    return 1.0 / softness


def _number(member: Member, values: dict[str, float]) -> float:
    """The storage parameter as a positive number; 1 where the law has none."""
    found = None if member.parameter is None else value(member.parameter, values)
    return abs(found) if found else 1.0


def _rounded(x: float) -> float:
    """Two digits: nobody needs more of a number that only has to be large."""
    return float(f"{x:.1e}")
