"""Which bond variable follows from which, once the strokes are known.

Signal 2*b is the effort of bond b, signal 2*b + 1 its flow; the effort travels to the end with the stroke, the flow
to the other one.  Further signals are variables of the model that equations define from algebraic quantities.
Storages in integral causality and sources end every path: what they give does not depend on what they receive.
"""

from collections.abc import Iterator
from typing import Any

from bglang.causality.structure import GY, J0, J1, OTHER, TF, Structure
from bglang.expr import Expr, leaves
from bglang.graph.ir import Element


class Signals:
    """The causal signal graph of an assignment.  `stroke[b]` must be 0 or 1 for the bonds that are looked at."""

    def __init__(self, s: Structure, stroke: list[int], *, modulation: bool = True) -> None:
        self.s = s
        self.stroke = stroke
        self.strong = _strong_bonds(s, stroke)
        self.half_of = s.port_half
        self.extra: dict[int, list[int]] = {}
        """Signal to signals, by modulation and equations."""
        self.names: list[str] = []
        if modulation:
            self._modulation()

    @property
    def count(self) -> int:
        return 2 * self.s.bonds + len(self.names)

    def receiver(self, signal: int) -> int:
        """The bond end at which a signal arrives."""
        b = signal >> 1
        side = self.stroke[b]
        return 2 * b + (side if not signal & 1 else 1 - side)

    def following(self, signal: int) -> list[int]:
        """The signals that depend directly on this one."""
        more = self.extra.get(signal, [])
        if signal >= 2 * self.s.bonds or self.stroke[signal >> 1] < 0:
            return more
        half = self.receiver(signal)
        n = self.s.node[half]
        found = self._from_element(n, half) if self.s.kind[n] == OTHER else self._from_junction(n, half, signal)
        return found + more if more else found

    def causing(self, signal: int) -> list[int]:
        """The signals of the junction structure that this one is made of; none where an element gives it."""
        half = self.receiver(signal) ^ 1
        s, n, b = self.s, self.s.node[half], signal >> 1
        letter = signal & 1
        kind = s.kind[n]
        if kind in (J0, J1):
            strong = self.strong[n]
            if b != strong:
                return [2 * strong + letter] if strong >= 0 else []
            return [2 * (h >> 1) + letter for h in s.halves[n] if h >> 1 != b]
        if kind == OTHER or len(s.halves[n]) != 2:
            return []
        pair = s.halves[n]
        other = (pair[0] if pair[1] == half else pair[1]) >> 1
        return [2 * other + (letter if kind == TF else 1 - letter)]

    def _from_junction(self, n: int, half: int, signal: int) -> list[int]:
        s, b, letter = self.s, signal >> 1, signal & 1
        kind = s.kind[n]
        if kind in (J0, J1):
            if b == self.strong[n]:
                return [2 * (h >> 1) + letter for h in s.halves[n] if h >> 1 != b]
            return [2 * self.strong[n] + letter] if self.strong[n] >= 0 else []
        if len(s.halves[n]) != 2:
            return []
        pair = s.halves[n]
        other = (pair[0] if pair[1] == half else pair[1]) >> 1
        return [2 * other + (letter if kind != GY else 1 - letter)]

    def _from_element(self, n: int, half: int) -> list[int]:
        """What an element gives back at once: R and dependent storages do, a field where its laws say so."""
        e = self.s.graph.elements[n]
        if e.kind in ("Se", "Sf"):
            return []
        if e.kind != "field":
            return [self.output(n, 0)] if e.kind == "R" or self.derivative(n, 0) else []
        port = next(p for p in range(len(e.ports)) if self.half_of.get((n, p)) == half)
        if e.ports[port].kind in ("C", "I") and not self.derivative(n, port):
            return []
        return [self.output(n, p) for p in range(len(e.ports)) if self._field_depends(e, p, port)]

    def _field_depends(self, e: Element, out: int, into: int) -> bool:
        if (e.id, out) not in self.half_of:
            return False
        if e.ports[into].kind in ("C", "I"):
            letters = "q" if e.ports[into].kind == "C" else "p"
        else:
            letters = "ef"
        names = {e.variable(into, letter) for letter in letters}
        return out == into or any(
            leaf[0] == "v" and leaf[1] in names for law in e.laws if law.port in (out, -1) for leaf in leaves(law.value)
        )

    def derivative(self, n: int, port: int) -> bool:
        """Is this storage port in derivative causality?"""
        half = self.half_of.get((n, port))
        kind = self.s.graph.elements[n].ports[port].kind
        if half is None or kind not in ("C", "I"):
            return False
        receives_effort = self.stroke[half >> 1] == (half & 1)
        return receives_effort == (kind == "C")

    def output(self, n: int, port: int) -> int:
        """The signal that an element gives at a port."""
        half = self.half_of[n, port]
        return 2 * (half >> 1) + (self.stroke[half >> 1] == (half & 1))

    def _modulation(self) -> None:
        """Edges from variables that laws, moduli and equations read."""
        graph = self.s.graph
        readers = [(e, value) for e in graph.elements for value in _modulating(e)]
        if not readers and not graph.equations:
            return
        places = _Places(self)
        for eq in graph.equations:
            left = eq.left
            if isinstance(left, tuple) and left[0] == "v":
                places.define(left[1])
        for e, value in readers:
            outputs = [self._modulated_output(e, p) for p in range(len(e.ports)) if (e.id, p) in self.half_of]
            for signal in places.read(value, e.name):
                self.extra.setdefault(signal, []).extend(o for o in outputs if o >= 0)
        for eq in graph.equations:
            left = eq.left
            if isinstance(left, tuple) and left[0] == "v":
                target = places.define(left[1])
                for signal in places.read(eq.right, ""):
                    self.extra.setdefault(signal, []).append(target)

    def _modulated_output(self, e: Element, port: int) -> int:
        half = self.half_of[e.id, port]
        return -1 if self.stroke[half >> 1] < 0 else self.output(e.id, port)


class _Places:
    """Signals by the names of variables."""

    def __init__(self, signals: Signals) -> None:
        self.signals = signals
        self.number: dict[str, int] = {}
        self.elements = {e.name: e for e in signals.s.graph.elements}
        self.bonds = {name: b.id for b in signals.s.graph.bonds for name in b.names}

    def define(self, name: str) -> int:
        if name not in self.number:
            self.number[name] = 2 * self.signals.s.bonds + len(self.signals.names)
            self.signals.names.append(name)
        return self.number[name]

    def read(self, value: Expr, own: str) -> Iterator[int]:
        """The algebraic signals in an expression; an element's own variables are not modulation."""
        for leaf in leaves(value):
            if leaf[0] == "v" and not (own and _belongs(leaf[1], own)):
                yield from self.find(leaf[1])

    def find(self, name: str) -> list[int]:
        if name in self.number:
            return [self.number[name]]
        head, _, letter = name.rpartition(".")
        if letter not in ("e", "f", "power"):
            return []
        bond = self._bond(head)
        if bond is None:
            return []
        return [2 * bond, 2 * bond + 1] if letter == "power" else [2 * bond + (letter == "f")]

    def _bond(self, name: str) -> int | None:
        if name in self.bonds:
            return self.bonds[name]
        e = self.elements.get(name)
        if e is not None:
            if e.kind in ("J0", "J1"):
                halves = self.signals.s.halves[e.id]
                return halves[0] >> 1 if halves else None
            half = self.signals.half_of.get((e.id, 0))
            return None if half is None else half >> 1
        owner, _, port = name.rpartition(".")
        e = self.elements.get(owner)
        if e is None:
            return None
        number = next((p for p, x in enumerate(e.ports) if x.name == port), None)
        half = None if number is None else self.signals.half_of.get((e.id, number))
        return None if half is None else half >> 1


def _belongs(name: str, element: str) -> bool:
    return name.startswith(element) and name[len(element) : len(element) + 1] == "."


def _modulating(e: Element) -> list[Any]:
    """The expressions of an element that read something else than its own variables."""
    if e.kind in ("J0", "J1") or (len(e.laws) == 1 and isinstance(e.laws[0].gain, tuple) and e.laws[0].gain[0] == "p"):
        return []
    values = [law.value for law in e.laws] if e.modulus is None else [e.modulus]
    return [v for v in values if any(leaf[0] == "v" and not _belongs(leaf[1], e.name) for leaf in leaves(v))]


def _strong_bonds(s: Structure, stroke: list[int]) -> list[int]:
    """For every junction the bond that claims it, -1 where none or several do."""
    strong = [-1] * len(s.kind)
    for n, kind in enumerate(s.kind):
        if kind in (J0, J1):
            claims = [h >> 1 for h in s.halves[n] if (stroke[h >> 1] == (h & 1)) ^ (kind == J1) and stroke[h >> 1] >= 0]
            if len(claims) == 1:
                strong[n] = claims[0]
    return strong
