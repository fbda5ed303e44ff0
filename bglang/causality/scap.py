"""The decisions of the procedure, in their order."""

from collections.abc import Iterable, Sequence

from bglang.causality.degenerate import Undetermined, is_singular, junction_loops, solve_regular
from bglang.causality.modular import Residues
from bglang.causality.propagate import Clash, Strokes
from bglang.causality.repair import connected_parts, solve_part
from bglang.causality.result import Rule
from bglang.causality.signals import Signals
from bglang.causality.structure import (
    FIXED,
    HARD,
    KEPT,
    LOCKED,
    NONINVERTIBLE,
    RESISTIVE,
    SOURCE,
    STORAGE,
    TF,
    Structure,
    Wish,
)
from bglang.records import dataclass, replace

RULES: dict[int, Rule] = {
    SOURCE: "source",
    FIXED: "fixed",
    LOCKED: "locked",
    KEPT: "kept",
    STORAGE: "preferred",
    NONINVERTIBLE: "resistive",
    RESISTIVE: "resistive",
}

BUDGET = 200_000
"""Bonds that may be looked at again to avoid divisions by modulated moduli, besides eight times the whole graph."""


@dataclass(slots=True)
class Assignment:
    """Strokes and what is wrong with them."""

    strokes: Strokes
    demands: list[Clash]
    """Contradictions among demands."""
    left_over: list[Clash]
    """Contradictions that even the matching could not avoid."""
    open: list[Undetermined]
    """What a singular ring leaves undetermined."""

    @property
    def sound(self) -> bool:
        return not (self.demands or self.left_over or self.open)


def assign_strokes(s: Structure) -> Assignment:
    """The whole procedure, with the choices that avoid divisions by modulated moduli."""
    first = run(s)
    if _divisions(s, first) and first.sound and _has_choice(s, first.strokes):
        return _avoid_divisions(s, first)
    return first


def run(s: Structure, locks: Sequence[Wish] = ()) -> Assignment:
    """One pass; parts that contradict themselves are solved by matching, singular ones by elimination."""
    strokes, demands = _pass(s, locks, {})
    clashes = strokes.clashes
    if demands:
        return Assignment(strokes, clashes[:demands], [], [])
    if locks:
        s = replace(s, wishes=sorted([*s.wishes, *locks], key=lambda w: w.rank))
    if not clashes and not s.rings:
        return Assignment(strokes, [], [], [])
    part = connected_parts(s)
    members: dict[int, list[int]] = {}
    for n, p in enumerate(part):
        members.setdefault(p, []).append(n)
    wanted: dict[int, int] = {}
    for p in sorted({part[c.node] for c in clashes}):
        wanted.update(spread_claims(s, solve_part(s, members[p]).claims))
    if clashes:
        strokes, _ = _pass(s, (), wanted)
        if strokes.clashes:
            return Assignment(strokes, [], strokes.clashes, [])
    return _regularise(s, strokes, members, wanted)


def _regularise(s: Structure, strokes: Strokes, members: dict[int, list[int]], wanted: dict[int, int]) -> Assignment:
    """Solves parts with singular rings anew."""
    signals = Signals(s, strokes.stroke, modulation=False)
    loops = junction_loops(signals)
    values = Residues({p.name: p.value for p in s.graph.parameters})
    singular = {s.node[2 * (loop[0] >> 1)] for loop in loops if is_singular(signals, loop, values)}
    if not singular:
        return Assignment(strokes, [], [], [])
    left_open: list[Undetermined] = []
    for inside in members.values():
        if singular.isdisjoint(inside):
            continue
        found = solve_regular(s, inside, values)
        left_open.extend(found.open)
        wanted.update(spread_claims(s, found.claims))
    strokes, _ = _pass(s, (), wanted)
    return Assignment(strokes, [], [] if left_open else strokes.clashes, left_open)


def divides(s: Structure, strokes: Strokes, n: int) -> bool:
    """Does the causality of this TF or GY divide by its modulus?  Natural is: flow into p1; of a GY also into p2."""
    first, _ = s.halves[n]
    return strokes.stroke[first >> 1] == (first & 1)


def _pass(s: Structure, locks: Iterable[Wish], wanted: dict[int, int]) -> tuple[Strokes, int]:
    """Decides in order.  `wanted` are strokes known beforehand: only wishes that agree with them are granted.

    Also says how many of the contradictions come from demands alone."""
    strokes = Strokes(s)
    strokes.complete_single_bonds()
    soft: list[Wish] = []
    for w in s.wishes:
        if w.rank > HARD:
            soft.append(w)
        elif not strokes.decide(w.bond, w.side, RULES[w.rank], w.element):
            strokes.clashes.append(Clash(w.element, "demand", w.bond, w.bond))
    demands = len(strokes.clashes)
    waiting = list(locks)
    for w in soft:
        if w.rank != KEPT and waiting:
            _grant(strokes, waiting)
            waiting = []
        if wanted.get(w.bond, w.side) == w.side:
            strokes.decide(w.bond, w.side, RULES[w.rank], w.element)
    _grant(strokes, waiting)
    for bond, side in wanted.items():
        strokes.decide(bond, side, "arbitrary", -1)
    if len(strokes.assigned) < s.bonds:
        for bond in range(s.bonds):
            if strokes.stroke[bond] < 0:
                strokes.decide(bond, 1, "arbitrary", -1)
    return strokes, demands


def _grant(strokes: Strokes, locks: list[Wish]) -> None:
    for w in locks:
        strokes.decide(
            w.bond, w.side, "transformer" if strokes.structure.kind[w.element] == TF else "gyrator", w.element
        )


def spread_claims(s: Structure, claims: Iterable[tuple[int, int]]) -> dict[int, int]:
    """All strokes of the parts whose claims are known."""
    strokes = Strokes(s)
    for bond, side in claims:
        strokes.decide(bond, side, "arbitrary", -1)
    return {b: strokes.stroke[b] for b in strokes.assigned}


def _has_choice(s: Structure, strokes: Strokes) -> bool:
    """Is there anything but one possible assignment?  A wish not granted, or a decision behind the storages."""
    for w in s.wishes:
        if w.rank > LOCKED and strokes.stroke[w.bond] != w.side and w.rank <= STORAGE:
            return True
    return any(r is not None and r.rule in ("resistive", "arbitrary") for r in strokes.reason)


def _natural(s: Structure, n: int) -> Wish:
    first = s.halves[n][0]
    return Wish(LOCKED, first >> 1, 1 - (first & 1), n, 0)


def _independent(s: Structure, strokes: Strokes) -> tuple[int, int]:
    """Kept storages and storages in integral causality."""
    granted = [w.rank for w in s.storages if strokes.stroke[w.bond] == w.side]
    return sum(r == KEPT for r in granted), len(granted)


def _avoid_divisions(s: Structure, first: Assignment) -> Assignment:
    """Turns modulated moduli to their natural side, as far as the states allow: all at once, else one by one.

    Turning one counts only if fewer are divided by in the end; otherwise the order of declaration decides."""
    goal = _independent(s, first.strokes)

    def good(locks: list[Wish]) -> Assignment | None:
        found = run(s, locks)
        fits = found.sound and _independent(s, found.strokes) >= goal
        held = all(found.strokes.stroke[w.bond] == w.side for w in locks)
        return found if fits and held else None

    everything = [_natural(s, n) for n in s.modulated]
    best = good(everything)
    if best is not None:
        return best
    best, locks = first, list[Wish]()
    budget = 8 * s.bonds + BUDGET
    for n in s.modulated:
        lock = _natural(s, n)
        if best.strokes.stroke[lock.bond] == lock.side or budget < s.bonds:
            continue
        budget -= s.bonds
        found = good([*locks, lock])
        if found is not None and _divisions(s, found) < _divisions(s, best):
            best, locks = found, [*locks, lock]
    return best


def _divisions(s: Structure, assignment: Assignment) -> int:
    return sum(divides(s, assignment.strokes, n) for n in s.modulated)
