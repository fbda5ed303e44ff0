"""Start values and jumps of storages that an augmentation set free: they begin, and jump, as they did together."""

from collections.abc import Sequence
from typing import TypeAlias

from bglang.causality.pivots import is_pivot
from bglang.diagnostics import Diagnostic, SourceError
from bglang.expr import Expr, map_leaves
from bglang.graph.ir import BondGraph, Element, Equation, Port, Reinit, Start, WhenBranch
from bglang.records import dataclass, replace
from bglang.reduce.algebra import numbers
from bglang.reduce.members import Member, describe
from bglang.reduce.motion import disagreement
from bglang.reduce.observe import written
from bglang.reduce.starts import at_start, start_of
from bglang.reduce.trace import Ring, Tracer
from bglang.source import NOWHERE

FREE = Start(0.0, True, False, NOWHERE)
"""A start that initial equations are to find."""

Starts: TypeAlias = dict[str, Expr | Equation | Start | None]


@dataclass(frozen=True, slots=True)
class Follower:
    """A dependent storage, what it receives, and the independent ones that this is made of."""

    member: Member
    receives: Expr
    ends: tuple[Member, ...]


def followers_of(tracer: Tracer) -> tuple[list[Follower], list[Member]]:
    """Those that follow by a formula, and those on a ring of junctions, which has none."""
    graph, found, ringed = tracer.graph, list[Follower](), list[Member]()
    for dependence in tracer.causality.dependent:
        try:
            combination = tracer.input(dependence.port)
        except Ring:
            ringed.append(describe(graph, tracer, dependence.port))
            continue
        ends = tuple(describe(graph, tracer, key) for key in combination if key in tracer.causality.independent)
        found.append(Follower(describe(graph, tracer, dependence.port), written(tracer, combination), ends))
    return found, ringed


def consistent(tracer: Tracer, followers: list[Follower]) -> Starts:
    """Start values of formerly dependent storages: what they hold when they follow; an equation where the source's own
    start value of the dependent one decides, or no formula is known.  None: the written start is to hold beside such
    equations, which others give way to."""
    made: Starts = {}
    wrong, values = list[Diagnostic](), numbers(tracer.graph)
    loose = {m.state for f in followers if start_of(f.member) for m in f.ends if start_of(m) is None}
    for f in followers:
        given = {m.given: m.gives_for(_start_value(m)) for m in f.ends if m.element.kind != "field"}
        decided = loose.isdisjoint(m.state for m in f.ends)
        at = _start_expression(tracer, f.receives, given) if decided else None
        if at is None or f.member.content is None:
            made[f.member.state] = Equation(("v", f.member.given), f.receives, "", NOWHERE)
            made |= {m.state: None for m in f.ends if start_of(m) is not None and m.state not in made}
        else:
            made[f.member.state] = f.member.holds(at)
            motion = [z for z in given.values() if z is not None]
            found = disagreement(f.member, at, motion, [m.state for m in f.ends if start_of(m) is not None], values)
            wrong += [found] if found is not None and not is_pivot(f.member.element) else []
    if wrong:
        raise SourceError(wrong)
    return made


def at_rest(
    starts: Starts, tracer: Tracer, ringed: list[Member], held: dict[str, str]
) -> tuple[Starts, list[Equation]]:
    """Storages on rings begin so that what was inserted does not move: `held` is its velocity, by storage.  Written
    starts are to hold beside that; an independent storage without one gives way to a dependent one with."""
    equations = [Equation(("v", held[m.name]), 0.0, "", NOWHERE) for m in ringed if m.name in held]
    made = dict(starts)
    independent = [describe(tracer.graph, tracer, port) for port in tracer.causality.independent] if equations else []
    loose = [m for m in independent if start_of(m) is None and m.state not in made]
    for m in independent:
        if start_of(m) is not None:
            made.setdefault(m.state, None)
    for m in ringed if equations else ():
        gives_way = loose.pop(0) if start_of(m) is not None and loose else m
        made[gives_way.state] = FREE
    return made, equations


def following(followers: list[Follower], branch: WhenBranch) -> WhenBranch:
    """`reinit` of a storage carries along those that were dependent on it."""
    targets = {a.target: a for a in branch.actions if isinstance(a, Reinit)}
    more = list[Reinit]()
    for f in followers:
        given = {m.given: m.gives_for(targets[m.state].value) for m in f.ends if m.state in targets}
        new = {name: z for name, z in given.items() if z is not None}
        if new and f.member.content is not None and f.member.state not in targets:
            receives = map_leaves(f.receives, lambda leaf, new=new: new.get(leaf[-1], leaf))  # type: ignore[misc]
            more.append(Reinit(f.member.state, f.member.holds(receives), branch.span))
    return replace(branch, actions=(*branch.actions, *more)) if more else branch


def _start_value(member: Member) -> Expr:
    start = start_of(member)
    return 0.0 if start is None else start.value


def _start_expression(tracer: Tracer, follows: Expr, given: dict[str, Expr | None]) -> Expr | None:
    if any(g is None for g in given.values()):
        return None
    return at_start(tracer, map_leaves(follows, lambda leaf: given.get(leaf[-1]) or _zero(leaf, given)))


def _zero(leaf: tuple[object, ...], given: dict[str, Expr | None]) -> Expr:
    return 0.0 if leaf[0] == "v" and leaf[1] in given else leaf


def with_starts(graph: BondGraph, starts: Starts, equations: Sequence[Equation] = ()) -> BondGraph:
    elements, initial = list[Element](), [*graph.initial_equations, *equations]
    for element in graph.elements:
        ports = list[Port]()
        for k, port in enumerate(element.ports):
            state = element.variable(k, "q" if port.kind == "C" else "p") if port.kind in ("C", "I") else ""
            if state in starts:
                new = starts[state]
                if isinstance(new, Equation):
                    initial.append(new)
                elif isinstance(new, Start):
                    port = replace(port, start=replace(new, span=element.span))
                elif new is not None:
                    fixed = port.start.fixed if port.start is not None else None
                    port = replace(port, start=Start(new, new != 0.0, fixed, element.span))
                if (new is None or isinstance(new, Equation)) and port.start is not None and port.start.written:
                    port = replace(port, start=replace(port.start, fixed=True))
            ports.append(port)
        elements.append(replace(element, ports=tuple(ports)))
    return replace(graph, elements=tuple(elements), initial_equations=tuple(initial))
