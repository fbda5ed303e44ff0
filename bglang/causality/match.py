"""Matchings in graphs: which vertices can be covered at the same time (Edmonds' blossoms).

The sets of vertices that one matching can cover form a matroid.  So covering vertices one after the other in order of
importance, each by an alternating path that uncovers nothing accepted before, covers as many as possible, and of all
such sets the one that is first in that order.
"""

from collections import deque
from collections.abc import Sequence


class Matching:
    """`mate[v]` is the partner of v or -1.  `accepted` vertices stay covered for good."""

    def __init__(self, neighbours: Sequence[Sequence[int]]) -> None:
        self.neighbours = neighbours
        n = len(neighbours)
        self.mate = [-1] * n
        self.accepted = [False] * n
        self._frozen = [False] * n
        """Vertices of searches that failed: no later search can profit from them."""

    def start_greedily(self, order: Sequence[int]) -> None:
        """A first matching, so that few searches are needed."""
        for v in order:
            if self.mate[v] < 0:
                for w in self.neighbours[v]:
                    if self.mate[w] < 0:
                        self.mate[v], self.mate[w] = w, v
                        break

    def cover(self, v: int) -> bool:
        """Covers v as well as all accepted vertices, and accepts it.  False if that cannot be; then v is left out."""
        if self.mate[v] < 0 and not self._search(v):
            return False
        self.accepted[v] = True
        return True

    def _search(self, root: int) -> bool:
        """Looks for an alternating path from an uncovered vertex to one that is uncovered or may be left uncovered."""
        mate, neighbours = self.mate, self.neighbours
        parent: dict[int, int] = {}
        base: dict[int, int] = {}
        outer = {root}
        queue = deque((root,))
        while queue:
            v = queue.popleft()
            if v != root and not self.accepted[v]:
                w = mate[v]
                mate[v] = -1
                self._flip(w, parent)
                return True
            for w in neighbours[v]:
                if self._frozen[w] or _find(base, v) == _find(base, w) or mate[v] == w:
                    continue
                if w in outer:
                    self._shrink(v, w, parent, base, outer, queue)
                elif w not in parent:
                    parent[w] = v
                    if mate[w] < 0:
                        self._flip(w, parent)
                        return True
                    outer.add(mate[w])
                    queue.append(mate[w])
        for v in outer:
            self._frozen[v] = True
        for v in parent:
            self._frozen[v] = True
        return False

    def _flip(self, end: int, parent: dict[int, int]) -> None:
        """Exchanges matched and unmatched edges on the way back from `end` to the root."""
        while end >= 0:
            before = parent[end]
            rest = self.mate[before]
            self.mate[end], self.mate[before] = before, end
            end = rest

    def _shrink(
        self, v: int, w: int, parent: dict[int, int], base: dict[int, int], outer: set[int], queue: deque[int]
    ) -> None:
        """The edge v-w closes an odd ring: its vertices become one, all of them reachable with either parity."""
        stem = self._common(v, w, parent, base)
        merged: list[int] = []
        for a, b in ((v, w), (w, v)):
            while _find(base, a) != stem:
                m = self.mate[a]
                parent[a] = b
                b = m
                merged += (_find(base, a), _find(base, m))
                if m not in outer:
                    outer.add(m)
                    queue.append(m)
                a = parent[m]
        for x in merged:
            base[x] = stem

    def _common(self, v: int, w: int, parent: dict[int, int], base: dict[int, int]) -> int:
        """The base in which the two ways back to the root meet, found by stepping on both in turn."""
        seen: set[int] = set()
        a, b = _find(base, v), _find(base, w)
        while True:
            if a >= 0:
                if a in seen:
                    return a
                seen.add(a)
                m = self.mate[a]
                a = _find(base, parent[m]) if m >= 0 and m in parent else -1
            a, b = b, a


def _find(base: dict[int, int], v: int) -> int:
    root = v
    while base.get(root, root) != root:
        root = base[root]
    while base.get(v, v) != root:
        base[v], v = root, base[v]
    return root
