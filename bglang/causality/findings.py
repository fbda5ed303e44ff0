"""What a causal graph shows: dependent storages with their paths, algebraic loops, eigenvalues that must be zero.

Zero-order causal paths (those without an integration) come in five classes here:

    1   between a dependent storage and the independent ones that decide it      (`Causality.dependent`)
    2   between several resistive ports
    3   from one resistive port back to itself
    4   closed inside the junction structure, efforts and flows apart
    5   closed inside the junction structure, passing efforts and flows of the same bonds
"""

from collections.abc import Sequence
from typing import Literal

from bglang.causality.loops import strong_components
from bglang.causality.propagate import Strokes
from bglang.causality.result import Dependence, Loop, PortKey
from bglang.causality.scap import Assignment, run
from bglang.causality.signals import Signals
from bglang.causality.structure import KEPT, OTHER, STORAGE, Structure, Wish
from bglang.causality.trace import Budget, trace
from bglang.records import replace

PATH_STEPS = 20_000
"""So many steps of paths are written down, besides four for every bond; `explain` traces the others on demand."""


def split_storages(s: Structure, assignment: Assignment) -> tuple[tuple[PortKey, ...], tuple[PortKey, ...]]:
    """Storage ports in integral and in derivative causality, in declaration order."""
    stroke = assignment.strokes.stroke
    ordered = sorted(s.storages, key=lambda w: (w.element, w.port))
    independent = tuple((w.element, w.port) for w in ordered if stroke[w.bond] == w.side)
    return independent, tuple((w.element, w.port) for w in ordered if stroke[w.bond] != w.side)


def find_dependences(signals: Signals, ports: Sequence[PortKey]) -> tuple[Dependence, ...]:
    budget = Budget(4 * signals.s.bonds + PATH_STEPS)
    return tuple(trace(signals, port, budget) for port in ports)


def count_zero_eigenvalues(s: Structure) -> int:
    """How many storages stay in integral causality when derivative causality is preferred.

    The characteristic polynomial has terms from s to this number up to s to the number of independent storages."""
    if not s.storages:
        return 0
    turned = [Wish(w.rank, w.bond, 1 - w.side, w.element, w.port) if w.rank in (KEPT, STORAGE) else w for w in s.wishes]
    found = run(replace(s, wishes=turned))
    return sum(found.strokes.stroke[w.bond] == w.side for w in s.storages)


def find_loops(signals: Signals, strokes: Strokes) -> tuple[Loop, ...]:
    """Algebraic loops, those of the junction structure once for effort and flow together."""
    if _certainly_none(signals, strokes):
        return ()
    found: dict[tuple[int, ...], Loop] = {}
    for component in strong_components(_roots(signals), signals.following):
        loop = _describe(signals, component)
        if loop is not None:
            key = tuple(sorted(loop.bonds)) if loop.kind == "junction" else (-1, *sorted(component))
            found.setdefault(key, loop)
    return tuple(sorted(found.values(), key=lambda x: (min(x.bonds, default=-1), x.kind)))


def _certainly_none(signals: Signals, strokes: Strokes) -> bool:
    """Where sources and storages alone decide every stroke there is no loop.

    A causal path between two resistances could be turned round, and their strokes would not be decided.  Rings, fields
    and modulation make paths that this does not cover."""
    s = signals.s
    if s.rings or signals.extra or any(e.kind == "field" for e in s.graph.elements):
        return False
    followed = ("source", "preferred", "kept", "junction", "transformer", "gyrator")
    return all(r is not None and r.rule in followed for r in strokes.reason)


def _roots(signals: Signals) -> list[int]:
    """Every loop passes an element that answers at once, a modulation, or a ring of the junction structure."""
    s = signals.s
    roots: list[int] = []
    for e in s.graph.elements:
        if s.kind[e.id] == OTHER and e.kind not in ("Se", "Sf"):
            for p, port in enumerate(e.ports):
                half = signals.half_of.get((e.id, p))
                if half is None or signals.stroke[half >> 1] < 0:
                    continue
                if port.kind not in ("C", "I") or e.kind == "field" or signals.derivative(e.id, p):
                    roots.append(signals.output(e.id, p))
    roots.extend(signals.extra)
    ring = set(s.rings)
    if ring:
        for b in range(s.bonds):
            if s.node[2 * b] in ring and s.node[2 * b + 1] in ring and signals.stroke[b] >= 0:
                roots += (2 * b, 2 * b + 1)
    return roots


def _describe(signals: Signals, component: list[int]) -> Loop | None:
    s = signals.s
    members = set(component)
    order = _in_order(signals, component, members)
    bonds = list(dict.fromkeys(x >> 1 for x in order if x < 2 * s.bonds))
    if not bonds:
        return None  # a loop among equations alone
    closing = [n for n in dict.fromkeys(_closer(signals, x, members) for x in order) if n >= 0]
    on_loop = set(closing) | _passed_twice(signals, bonds)
    elements = tuple(dict.fromkeys(n for b in bonds for n in (s.node[2 * b], s.node[2 * b + 1]) if n in on_loop))
    kind, number = _class(signals, members, closing)
    return Loop(kind, number, tuple(bonds), elements, tuple(closing))


def _class(
    signals: Signals, members: set[int], closing: list[int]
) -> tuple[Literal["resistive", "storage", "junction"], int]:
    s = signals.s
    if not closing:
        both = any(x < 2 * s.bonds and x ^ 1 in members for x in members)
        return "junction", 5 if both else 4
    if any(s.graph.elements[n].kind in ("C", "I") for n in closing):
        return "storage", 1
    ports = sum(
        signals.output(n, p) in members
        for n in closing
        if s.kind[n] == OTHER
        for p in range(len(s.graph.elements[n].ports))
        if (n, p) in signals.half_of
    )
    return "resistive", 2 if ports > 1 else 3


def _closer(signals: Signals, signal: int, members: set[int]) -> int:
    """The element whose law or modulus makes this signal from another one of the loop; -1: a junction does."""
    s = signals.s
    if signal >= 2 * s.bonds:
        return -1
    n = s.node[signals.receiver(signal) ^ 1]
    if s.kind[n] == OTHER:
        return n
    structural = any(x in members for x in signals.causing(signal))
    return -1 if structural else n


def _passed_twice(signals: Signals, bonds: list[int]) -> set[int]:
    """Nodes at which more than one bond of the loop ends: the loop passes them."""
    once, twice = set[int](), set[int]()
    for b in bonds:
        for n in (signals.s.node[2 * b], signals.s.node[2 * b + 1]):
            (twice if n in once else once).add(n)
    return twice


def _in_order(signals: Signals, component: list[int], members: set[int]) -> list[int]:
    """The signals as one meets them when following the loop from its first element with a law."""
    s = signals.s
    start = min(
        (x for x in component if x < 2 * s.bonds and s.kind[s.node[signals.receiver(x) ^ 1]] == OTHER),
        default=component[0],
    )
    seen, order, stack = {start}, list[int](), [start]
    while stack:
        x = stack.pop()
        order.append(x)
        for y in reversed(signals.following(x)):
            if y in members and y not in seen:
                seen.add(y)
                stack.append(y)
    return order
