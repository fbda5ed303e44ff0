"""Every variable of the junction structure as a combination of what the elements give."""

from bglang.causality.gains import cross, element_sign
from bglang.causality.modular import Residues
from bglang.causality.pivots import is_pivot
from bglang.causality.result import Causality, PortKey
from bglang.causality.signals import Signals
from bglang.causality.structure import OTHER, build_structure
from bglang.expr import Expr, leaves
from bglang.graph.ir import Bond, BondGraph, Element, End
from bglang.reduce.polynomials import Polynomial, add, factor, multiply

Combination = dict[PortKey, Polynomial]
"""For every port of an element that gives something: the factor with which its own variable enters."""


class Ring(Exception):
    """The variable depends on itself: the path runs through a ring of the junction structure."""

    def __init__(self, element: Element):
        super().__init__(element.name)
        self.element = element


class Tracer:
    """Causal paths of one graph with its strokes.  What was found is kept, so paths that share parts cost once."""

    def __init__(self, graph: BondGraph, causality: Causality):
        self.graph, self.causality = graph, causality
        self.structure = build_structure(graph)
        strokes = [{"tail": 0, "head": 1, "": -1}[stroke] for stroke in causality.strokes]
        self.signals = Signals(self.structure, strokes, modulation=False)
        self._values = {p.name: p.value for p in graph.parameters}
        self._known: dict[int, Combination] = {}
        self.place: dict[PortKey, tuple[Bond, End]] = {}
        """The bond at each port, and its end there."""
        for bond in graph.bonds:
            for end in (bond.tail, bond.head):
                self.place[end.element, end.port] = bond, end
        self.read = {
            leaf[1] for eq in graph.equations for side in (eq.left, eq.right) for leaf in leaves(side) if leaf[0] == "v"
        }
        """Variables that the model's own equations mention."""
        self.residues = Residues(self._values)
        self.elements = {e.name: e for e in graph.elements}
        self.named = {name: b.id for b in graph.bonds for name in b.names}
        self.starts = _starts(graph)
        """Start values of everything that is an integral, and what sources give."""

    def input(self, port: PortKey) -> Combination:
        """The variable that an element receives at a port, as its own variable."""
        return self._own(port, given=False)

    def output_letter(self, port: PortKey) -> str:
        """ "e" or "f": what the port gives."""
        return "f" if self.signals.output(*port) & 1 else "e"

    def variable(self, bond: int, letter: str) -> Combination:
        """The effort or flow of a bond."""
        return self._combination(2 * bond + (letter == "f"))

    def gives(self, port: PortKey) -> str:
        """The flat name of the variable that the port gives; nobody knows a pivot: it gives what its junction has."""
        if is_pivot(self.graph.elements[port[0]]):
            junction = self.graph.elements[self.place[port][0].tail.element]
            return f"{junction.name}.{self.output_letter(port)}"
        return self.graph.elements[port[0]].variable(port[1], self.output_letter(port))

    def _own(self, port: PortKey, given: bool) -> Combination:
        half = self.signals.half_of[port]
        signal = self.signals.output(*port) if given else self.signals.output(*port) ^ 1
        sign = element_sign(self.structure, half, signal & 1)
        return {key: multiply(gain, factor(sign, None, 0)) for key, gain in self._combination(signal).items()}

    def _combination(self, start: int) -> Combination:
        stack, active = [start], set[int]()
        while stack:
            signal = stack[-1]
            if signal in self._known:
                stack.pop()
                continue
            if self.signals.stroke[signal >> 1] < 0:
                raise Ring(self.graph.elements[self.structure.node[2 * (signal >> 1)]])
            causes = self.signals.causing(signal)
            waiting = [c for c in causes if c not in self._known]
            if waiting:
                if signal in active:
                    raise Ring(self.graph.elements[self.structure.node[self.signals.receiver(signal) ^ 1]])
                active.add(signal)
                stack.extend(waiting)
                continue
            stack.pop()
            self._known[signal] = self._sum(signal, causes)
        return self._known[start]

    def _sum(self, signal: int, causes: list[int]) -> Combination:
        s = self.structure
        giver = self.signals.receiver(signal) ^ 1
        if s.kind[s.node[giver]] == OTHER:
            bond = self.graph.bonds[giver >> 1]
            end = bond.head if giver & 1 else bond.tail
            return {(end.element, end.port): factor(element_sign(s, giver, signal & 1), None, 0)}
        made: Combination = {}
        for cause in causes:
            step = cross(s, self.signals.receiver(cause), giver, cause & 1)
            gain = factor(step.sign, self._written(step.modulus), step.power)
            for port, inner in self._known[cause].items():
                made[port] = add(made.get(port, {}), multiply(gain, inner))
        return {port: gain for port, gain in made.items() if gain}

    def _written(self, modulus: Expr | None) -> Expr | None:
        """A modulus as the source gives it; a plain number keeps the name of its parameter."""
        return None if modulus is None else self.value_of(modulus)

    def value_of(self, e: Expr) -> Expr:
        """What a parameter of an element was given, in the names of the model."""
        if isinstance(e, tuple) and e[0] == "p":
            value = self._values.get(e[1])
            if isinstance(value, tuple):
                return value
        return e

    def reaction(self, port: PortKey) -> list[int]:
        """The signals that what this port gives takes part in, in the junction structure."""
        first = self.signals.output(*port)
        found, queue = {first}, [first]
        for signal in queue:
            half = self.signals.receiver(signal)
            if self.structure.kind[self.structure.node[half]] == OTHER:
                continue
            for following in self.signals.following(signal):
                if following not in found:
                    found.add(following)
                    queue.append(following)
        return queue


def _starts(graph: BondGraph) -> dict[str, Expr]:
    integrals = {eq.left[1][-1] for eq in graph.equations if isinstance(eq.left, tuple) and eq.left[0] == "der"}
    found: dict[str, Expr] = {
        v.name: 0.0 if v.start is None else v.start.value for v in graph.variables if v.name in integrals
    }
    for element in graph.elements:
        for k, port in enumerate(element.ports):
            if port.kind in ("C", "I"):
                name = element.variable(k, "q" if port.kind == "C" else "p")
                found[name] = port.start.value if port.start is not None else 0.0
        if element.kind in ("Se", "Sf"):
            found[element.variable(0, element.laws[0].gives)] = element.laws[0].value
    return found
