"""Strokes follow from strokes: the rules of junctions, transformers and gyrators, applied until nothing follows.

What is concluded here is always true of every complete assignment that agrees with the strokes given so far.  So a
storage that propagation puts in derivative causality is dependent on those decided before it, whatever comes later.
On junction structures without rings the reverse holds too: what propagation lets pass can be completed.
"""

from collections import deque

from bglang.causality.result import Reason, Rule
from bglang.causality.structure import GY, J0, J1, OTHER, TF, Structure
from bglang.records import dataclass


@dataclass(frozen=True, slots=True)
class Clash:
    """Two conclusions that contradict each other at a node.

    twice      `first` and `second` both claim the junction
    never      no bond is left to claim the junction; `first` is the last bond that could have
    opposite   `second` is the bond that has a stroke already; `first` the bond from which the other one followed (-1: a
               demand of the element itself)"""

    node: int
    how: str
    first: int
    second: int


class Strokes:
    """A growing assignment.  `stroke[b]` is -1 (none yet), 0 (tail) or 1 (head)."""

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.stroke = [-1] * structure.bonds
        self.reason: list[Reason | None] = [None] * structure.bonds
        self.strong = [-1] * len(structure.kind)
        self.open = [len(h) for h in structure.halves]
        """Bonds of a junction that claim it or still may."""
        self.clashes: list[Clash] = []
        self.assigned: list[int] = []
        """Bonds in the order in which they got their strokes."""
        self.refused: dict[int, Reason] = {}
        """Demands that came too late: the bond has the opposite stroke already."""

    def decide(self, bond: int, side: int, rule: Rule, element: int) -> bool:
        """Gives a bond its stroke and draws all conclusions.  False if the bond has the opposite one already."""
        if self.stroke[bond] >= 0:
            if self.stroke[bond] != side:
                self.refused.setdefault(bond, Reason(rule, element))
            return self.stroke[bond] == side
        self._set(bond, side, Reason(rule, element))
        self._spread(deque((bond,)))
        return True

    def complete_single_bonds(self) -> None:
        """A junction with one bond is claimed by it."""
        kind, halves = self.structure.kind, self.structure.halves
        for n in [n for n, count in enumerate(self.open) if count == 1 and kind[n] <= J1]:
            h = halves[n][0]
            if self.stroke[h >> 1] < 0:
                self.decide(h >> 1, (h & 1) ^ kind[n], "junction", n)

    def claim_artificially(self, n: int) -> bool:
        """An artificial source sets the common variable of a junction.  False if a bond does already."""
        if self.strong[n] >= 0:
            return False
        self.strong[n] = self.structure.bonds  # no bond has this number
        self.open[n] += 1
        queue: deque[int] = deque()
        for half in self.structure.halves[n]:
            if self.stroke[half >> 1] < 0:
                self._set(half >> 1, (half & 1) ^ (self.structure.kind[n] == J0), Reason("artificial", n))
                queue.append(half >> 1)
        self._spread(queue)
        return True

    def _set(self, bond: int, side: int, reason: Reason) -> None:
        self.stroke[bond] = side
        self.reason[bond] = reason
        self.assigned.append(bond)

    def _spread(self, queue: deque[int]) -> None:
        s = self.structure
        kind, node, stroke = s.kind, s.node, self.stroke
        while queue:
            b = queue.popleft()
            side = stroke[b]
            for half in (2 * b, 2 * b + 1):
                n = node[half]
                k = kind[n]
                if k == OTHER:
                    continue
                at_node = side == (half & 1)
                if k in (TF, GY):
                    self._through(n, k, half, at_node, queue)
                elif at_node ^ (k == J1):
                    self._claimed(n, k, b, queue)
                else:
                    self._passed(n, k, b, queue)

    def _claimed(self, n: int, k: int, b: int, queue: deque[int]) -> None:
        """Bond b sets the common variable of junction n: no other bond does."""
        if self.strong[n] >= 0:
            self.clashes.append(Clash(n, "twice", self.strong[n], b))
            return
        self.strong[n] = b
        stroke, common = self.stroke, None
        for half in self.structure.halves[n]:
            c = half >> 1
            if stroke[c] < 0:
                common = common or Reason("junction", n, (b,))
                self._set(c, (half & 1) ^ (k == J0), common)
                queue.append(c)

    def _passed(self, n: int, k: int, b: int, queue: deque[int]) -> None:
        """Bond b does not claim junction n; the last one that can, must."""
        self.open[n] -= 1
        if self.open[n] == 0:
            self.clashes.append(Clash(n, "never", b, -1))
        elif self.open[n] == 1 and self.strong[n] < 0:
            halves = self.structure.halves[n]
            last = next((h for h in halves if self.stroke[h >> 1] < 0), -1)
            if last >= 0:
                because = tuple(h >> 1 for h in halves if h != last)
                self._set(last >> 1, (last & 1) ^ (k == J1), Reason("junction", n, because))
                queue.append(last >> 1)

    def _through(self, n: int, k: int, half: int, at_node: bool, queue: deque[int]) -> None:
        pair = self.structure.halves[n]
        if len(pair) != 2:
            return
        other = pair[0] if pair[1] == half else pair[1]
        there = at_node if k == GY else not at_node
        side = (other & 1) if there else 1 - (other & 1)
        c = other >> 1
        if self.stroke[c] < 0:
            self._set(c, side, Reason("gyrator" if k == GY else "transformer", n, (half >> 1,)))
            queue.append(c)
        elif self.stroke[c] != side and half < other:
            # met from both ends: told once
            self.clashes.append(Clash(n, "opposite", half >> 1, c))
