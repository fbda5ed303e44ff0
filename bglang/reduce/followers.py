"""Start values and jumps of storages that an augmentation set free: they begin, and jump, as they did together."""

from bglang.expr import Expr, map_leaves
from bglang.graph.ir import BondGraph, Element, Equation, Port, Reinit, Start, WhenBranch
from bglang.records import dataclass, replace
from bglang.reduce.members import Member, describe
from bglang.reduce.observe import written
from bglang.reduce.starts import at_start, start_of
from bglang.reduce.trace import Ring, Tracer
from bglang.source import NOWHERE


@dataclass(frozen=True, slots=True)
class Follower:
    """A dependent storage, what it receives, and the independent ones that this is made of."""

    member: Member
    receives: Expr
    ends: tuple[Member, ...]


def followers_of(tracer: Tracer) -> list[Follower]:
    graph, found = tracer.graph, list[Follower]()
    for dependence in tracer.causality.dependent:
        try:
            combination = tracer.input(dependence.port)
        except Ring:
            continue
        ends = tuple(describe(graph, tracer, key) for key in combination if key in tracer.causality.independent)
        found.append(Follower(describe(graph, tracer, dependence.port), written(tracer, combination), ends))
    return found


def consistent(tracer: Tracer, followers: list[Follower]) -> dict[str, Expr | Equation | None]:
    """Start values of formerly dependent storages: what they hold when they follow; an equation where the source's own
    start value of the dependent one decides, or no formula is known.  None: the written start is to hold beside such
    equations, which others give way to."""
    made: dict[str, Expr | Equation | None] = {}
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
    return made


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


def with_starts(graph: BondGraph, starts: dict[str, Expr | Equation | None]) -> BondGraph:
    elements, initial = list[Element](), list(graph.initial_equations)
    for element in graph.elements:
        ports = list[Port]()
        for k, port in enumerate(element.ports):
            state = element.variable(k, "q" if port.kind == "C" else "p") if port.kind in ("C", "I") else ""
            if state in starts:
                new = starts[state]
                if isinstance(new, Equation):
                    initial.append(new)
                if new is not None and not isinstance(new, Equation):
                    fixed = port.start.fixed if port.start is not None else None
                    port = replace(port, start=Start(new, new != 0.0, fixed, element.span))
                elif port.start is not None and port.start.written:
                    port = replace(port, start=replace(port.start, fixed=True))
            ports.append(port)
        elements.append(replace(element, ports=tuple(ports)))
    return replace(graph, elements=tuple(elements), initial_equations=tuple(initial))
