"""What a drawing shows: nodes, bonds, modulation and frames, before anything has a place."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from bglang.causality.result import Causality
from bglang.expr import Expr, leaves
from bglang.graph.ir import BondGraph, Element
from bglang.records import dataclass, field

Mark: TypeAlias = Literal["", "dependent", "loop", "conflict", "artificial"]
MARKS: dict[Mark, str] = {
    "dependent": "dependent storage (derivative causality)",
    "loop": "algebraic loop",
    "conflict": "causal conflict",
    "artificial": "artificial source (Lagrange)",
}


@dataclass(slots=True)
class Node:
    """A symbol with a name.  `frame` is the dotted name of the subsystem it stands in; `box` draws a border."""

    symbol: str
    name: str
    frame: str
    mark: Mark = ""
    box: bool = False
    junction: bool = False


@dataclass(slots=True)
class Line:
    """A bond between two nodes: half arrow at the second, stroke at "tail", "head" or nowhere."""

    tail: int
    head: int
    stroke: str
    label: str = ""
    mark: Mark = ""


@dataclass(slots=True)
class Signal:
    """A thin dashed arrow: the first node modulates the second."""

    source: int
    target: int


@dataclass(slots=True)
class Scene:
    title: str
    nodes: list[Node] = field(default_factory=list[Node])
    lines: list[Line] = field(default_factory=list[Line])
    signals: list[Signal] = field(default_factory=list[Signal])
    frames: dict[str, str] = field(default_factory=dict[str, str])
    """Dotted name of every subsystem that is drawn open, with its class."""

    @property
    def marks(self) -> list[Mark]:
        """The marks that occur, in the order of the legend."""
        used = {n.mark for n in self.nodes} | {x.mark for x in self.lines}
        return [m for m in MARKS if m in used]


def build_scene(graph: BondGraph, causality: Causality, depth: int | None = None) -> Scene:
    """`depth`: subsystems nested deeper than this are drawn as one node (0: every subsystem of the model)."""
    scene = Scene(graph.name)
    frames = dict(graph.frames)
    place = _Places(frames, depth)
    marks = _element_marks(graph, causality)
    number: dict[str, int] = {}
    for e in graph.elements:
        shown = place.shown(e.name)
        if shown not in number:
            number[shown] = len(scene.nodes)
            scene.nodes.append(_closed(shown, place, frames) if shown != e.name else _node(e, place, marks[e.id]))
        elif shown != e.name and marks[e.id] and not scene.nodes[number[shown]].mark:
            scene.nodes[number[shown]].mark = marks[e.id]
    _add_lines(scene, graph, causality, [number[place.shown(e.name)] for e in graph.elements])
    _add_artificial(scene, graph, causality, [number[place.shown(e.name)] for e in graph.elements])
    _add_signals(scene, graph, place, number, frames)
    used = dict.fromkeys(prefix for n in scene.nodes for prefix in _prefixes(n.frame) if prefix in frames)
    scene.frames = {name: frames[name] for name in used}
    return scene


class _Places:
    """In which frame an element is shown, and as what: itself, or the closed subsystem it belongs to."""

    def __init__(self, frames: dict[str, str], depth: int | None) -> None:
        self.frames, self.depth = frames, depth

    def chain(self, name: str) -> list[str]:
        """The subsystems around a name, outermost first."""
        return [p for p in _prefixes(name.rpartition(".")[0]) if p in self.frames]

    def shown(self, name: str) -> str:
        around = self.chain(name)
        if self.depth is not None and len(around) > self.depth:
            return around[self.depth]
        return name

    def frame(self, shown: str) -> str:
        around = self.chain(shown)
        return around[-1] if around else ""


def _prefixes(name: str) -> list[str]:
    """`a`, `a.b`, `a.b.c` of `a.b.c`"""
    if not name:
        return []
    parts = name.split(".")
    return [".".join(parts[: k + 1]) for k in range(len(parts))]


def _element_marks(graph: BondGraph, causality: Causality) -> list[Mark]:
    marks: list[Mark] = [""] * len(graph.elements)
    for loop in causality.loops:
        for n in loop.closed_by or loop.elements:
            marks[n] = "loop"
    for d in causality.dependent:
        marks[d.port[0]] = "dependent"
    for conflict in causality.conflicts:
        if conflict.element >= 0:
            marks[conflict.element] = "conflict"
    return marks


def _node(e: Element, place: _Places, mark: Mark) -> Node:
    frame = place.frame(e.name)
    name = e.name[len(frame) + 1 :] if frame else e.name
    if e.kind in ("J0", "J1"):
        return Node(e.kind[1], name, frame, mark, junction=True)
    if e.kind == "field":
        kinds = "".join(k for k in "ICR" if any(p.kind == k for p in e.ports))
        return Node(kinds or "field", name, frame, mark, box=True)
    return Node(("M" if _is_modulated(e) else "") + e.kind, name, frame, mark)


def _closed(shown: str, place: _Places, frames: dict[str, str]) -> Node:
    frame = place.frame(shown)
    kind = frames[shown].rpartition(".")[2]
    return Node(kind or "model", shown[len(frame) + 1 :] if frame else shown, frame, box=True)


def _is_modulated(e: Element) -> bool:
    return any(True for _ in _read_names(e))


def _read_names(e: Element) -> Iterator[str]:
    """Variables of others that an element's law or modulus reads."""
    values: list[Expr] = [law.value for law in e.laws] if e.modulus is None else [e.modulus]
    for value in values:
        for leaf in leaves(value):
            if leaf[0] == "v" and not leaf[1].startswith(e.name + "."):
                yield leaf[1]


def _add_lines(scene: Scene, graph: BondGraph, causality: Causality, node: list[int]) -> None:
    looped = {b for loop in causality.loops for b in loop.bonds}
    broken = {b for conflict in causality.conflicts for b in conflict.bonds}
    dependent = {d.port for d in causality.dependent}
    for b in graph.bonds:
        tail, head = node[b.tail.element], node[b.head.element]
        if tail == head:
            continue  # inside a closed subsystem
        mark: Mark = "loop" if b.id in looped else ""
        if (b.tail.element, b.tail.port) in dependent or (b.head.element, b.head.port) in dependent:
            mark = "dependent"
        if b.id in broken:
            mark = "conflict"
        named = [x for x in b.names if "." not in x]
        scene.lines.append(Line(tail, head, causality.strokes[b.id], named[0] if named else "", mark))


def _add_artificial(scene: Scene, graph: BondGraph, causality: Causality, node: list[int]) -> None:
    """The sources of the Lagrangian procedures, with bonds of their own."""
    for numbers, symbol, stroke in (
        (causality.artificial_flows, "ASf", "tail"),
        (causality.artificial_efforts, "ASe", "head"),
    ):
        for n in numbers:
            what = "velocity of" if symbol == "ASf" else "λ of"
            name = f"{what} {graph.elements[n].name}"
            scene.nodes.append(Node(symbol, name, scene.nodes[node[n]].frame, "artificial"))
            scene.lines.append(Line(len(scene.nodes) - 1, node[n], stroke, "", "artificial"))


def _add_signals(
    scene: Scene, graph: BondGraph, place: _Places, number: dict[str, int], frames: dict[str, str]
) -> None:
    """Modulation from the node that owns the variable, through blocks, which get nodes of their own."""
    readers = _Readers(graph, number, place, scene, frames)
    found: dict[tuple[int, int], None] = {}
    for e in graph.elements:
        target = number[place.shown(e.name)]
        for name in dict.fromkeys(_read_names(e)):
            for source in readers.sources(name):
                found[source, target] = None
    for pair in list(readers.into_blocks):
        found[pair] = None
    scene.signals.extend(Signal(a, b) for a, b in found if a != b)


class _Readers:
    """From the name of a variable to the nodes it comes from."""

    def __init__(
        self, graph: BondGraph, number: dict[str, int], place: _Places, scene: Scene, frames: dict[str, str]
    ) -> None:
        self.number, self.place, self.scene, self.frames = number, place, scene, frames
        self.elements = {e.name for e in graph.elements}
        self.bonds = {name: b for b in graph.bonds for name in b.names}
        self.names = [e.name for e in graph.elements]
        self.given: dict[str, list[str]] = {}
        for eq in graph.equations:
            for left, right in ((eq.left, eq.right), (eq.right, eq.left)):
                inner = left[1] if isinstance(left, tuple) and left[0] == "der" else left
                if isinstance(inner, tuple) and inner[0] == "v":
                    reads = [x[1] for x in leaves(right) if x[0] == "v"]
                    self.given.setdefault(inner[1], []).extend(reads)
                    break
        self.blocks: dict[str, int] = {}
        self.into_blocks: dict[tuple[int, int], None] = {}

    def sources(self, name: str) -> list[int]:
        """Nodes from which a variable comes: elements, junctions, bonds or blocks."""
        found: dict[int, None] = {}
        seen, stack = {name}, [name]
        while stack:
            current = stack.pop()
            direct = self._direct(current)
            if direct is not None:
                found[direct] = None
                continue
            for other in self.given.get(current, ()):
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        return list(found)

    def _direct(self, name: str) -> int | None:
        head = name
        while "." in head:
            head = head.rpartition(".")[0]
            if head in self.elements:
                return self.number[self.place.shown(head)]
            if head in self.bonds:
                return self.number[self.place.shown(self.names[self.bonds[head].tail.element])]
            if head in self.frames and not any(e.startswith(head + ".") for e in self.elements):
                return self._block(head)
        return None

    def _block(self, name: str) -> int:
        """A frame without elements is a block: one node, with arrows from what it reads."""
        if name not in self.blocks:
            shown = self.place.shown(name)
            if shown != name:
                return self.number.get(shown, next(iter(self.number.values())))
            self.blocks[name] = len(self.scene.nodes)
            self.scene.nodes.append(_closed(name, self.place, self.frames))
            inputs = [x for key, reads in self.given.items() if key.startswith(name + ".") for x in reads]
            for x in dict.fromkeys(inputs):
                if not x.startswith(name + "."):
                    for source in self.sources(x):
                        self.into_blocks[source, self.blocks[name]] = None
        return self.blocks[name]
