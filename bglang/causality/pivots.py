"""Junctions that should decide a motion although no storage of their own does.

Masses that hang on a massless crank by its sine and cosine: whichever of them is called independent, the turning of the
crank follows from it by a division that fails somewhere.  The crank's own rate would need none.  So a storage of size
zero is put there, a pivot: it takes the part of the independent storage, all others follow from it by products, and it
goes again when they have been merged or held.
"""

from collections.abc import Sequence

from bglang.causality.assign import assign_causality
from bglang.causality.gains import cross
from bglang.causality.result import Causality
from bglang.causality.signals import Signals
from bglang.causality.structure import J0, J1, OTHER, build_structure
from bglang.graph.ir import Bond, BondGraph, Element, End, Kind, Law, Port, Start
from bglang.records import replace
from bglang.source import NOWHERE

PIVOT = "\0pivot"
"""The type of a pivot: no class of a source can have this name."""


def is_pivot(element: Element) -> bool:
    return element.type_name == PIVOT


def find_pivots(graph: BondGraph, keep: Sequence[str] = ()) -> tuple[int, ...]:
    """The junctions from which every dependent storage follows without dividing by a modulus that varies; none where
    none is needed, or where what the user keeps, or the graph itself, allows no other choice."""
    chosen: list[int] = []
    while True:
        trial = with_pivots(graph, chosen)
        causality = assign_causality(trial, keep)
        first = len(graph.elements)
        if causality.conflicts or any((first + k, 0) not in causality.independent for k in range(len(chosen))):
            return ()
        divided = _divided(trial, causality) if causality.dependent else set[int]()
        if not divided:
            return tuple(chosen)
        new = sorted(divided - set(chosen))
        if not new or -1 in new:
            return ()
        chosen += new


def with_pivots(graph: BondGraph, junctions: Sequence[int]) -> BondGraph:
    """The graph with a pivot at each of some junctions, after everything else."""
    elements, bonds = list(graph.elements), list(graph.bonds)
    taken = {e.name for e in elements} | {v.name for v in graph.variables} | {p.name for p in graph.parameters}
    for n in junctions:
        junction = elements[n]
        kind: Kind = "I" if junction.kind == "J1" else "C"
        name = _name(junction.name, taken)
        number, domain = len(elements), junction.ports[0].domain if junction.ports else None
        letter, state = ("f", f"{name}.p") if kind == "I" else ("e", f"{name}.q")
        law = Law("f" if letter == "f" else "e", 0, ("v", state), junction.span, 1.0)
        port = Port("", "I" if kind == "I" else "C", domain, Start(0.0, False, None, NOWHERE))
        elements.append(Element(
            id=number, name=name, kind=kind, ports=(port,), laws=(law,), modulus=None, energy=None, symbolic=False,
            prefer=True, type_name=PIVOT, description="", span=junction.span,
        ))  # fmt: skip
        elements[n] = replace(junction, ports=(*junction.ports, Port("", "", domain)))
        bonds.append(Bond(len(bonds), End(n, len(junction.ports)), End(number, 0), (), None, domain, junction.span))
    return replace(graph, elements=tuple(elements), bonds=tuple(bonds)) if junctions else graph


def _name(junction: str, taken: set[str]) -> str:
    """`w_motion` beside the junction `w`; quotes stay outside."""
    name = f"{junction[:-1]}_motion'" if junction.endswith("'") else f"{junction}_motion"
    while name in taken:
        name = f"{name[:-1]}_'" if name.endswith("'") else f"{name}_"
    taken.add(name)
    return name


def _divided(graph: BondGraph, causality: Causality) -> set[int]:
    """The nodes that a quotient by a varying modulus arrives at, on the paths of dependent storages: junctions that
    have this variable in common, -1 for any other node."""
    s = build_structure(graph)
    if not s.modulated:
        return set()
    signals = Signals(s, [{"tail": 0, "head": 1, "": -1}[x] for x in causality.strokes], modulation=False)
    modulated, found = set(s.modulated), set[int]()
    waiting = [signals.output(*d.port) ^ 1 for d in causality.dependent]
    seen = set(waiting)
    while waiting:
        signal = waiting.pop()
        giver = signals.receiver(signal) ^ 1
        if s.kind[s.node[giver]] == OTHER:
            continue
        for cause in signals.causing(signal):
            step = cross(s, signals.receiver(cause), giver, cause & 1)
            if step.power < 0 and s.node[giver] in modulated:
                at = s.node[giver ^ 1]
                found.add(at if s.kind[at] == (J1 if signal & 1 else J0) else -1)
            if cause not in seen:
                seen.add(cause)
                waiting.append(cause)
    return found
