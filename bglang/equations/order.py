"""In which order variables follow from each other, and where loops are cut.

`components` are strongly connected parts, dependencies first.  In a part with a loop some variables are cut: they stay
unknowns of the system, and the rest follows from them.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence

from bglang.equations.draft import Key

Graph = Mapping[Key, Sequence[Key]]
"""Each variable with those that its value needs; variables that are no key of the mapping are known."""


def components(graph: Graph) -> list[list[Key]]:
    """Tarjan's strongly connected components, dependencies before dependents; iterative."""
    number: dict[Key, int] = {}
    low: dict[Key, int] = {}
    on_stack: set[Key] = set()
    stack: list[Key] = []
    found: list[list[Key]] = []
    for root in graph:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        work = [(root, iter(graph[root]))]
        while work:
            node, needs = work[-1]
            for other in needs:
                if other not in number:
                    if other not in graph:
                        continue
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(graph[other])))
                    break
                if other in on_stack and number[other] < low[node]:
                    low[node] = number[other]
            else:
                work.pop()
                if work and low[node] < low[work[-1][0]]:
                    low[work[-1][0]] = low[node]
                if low[node] == number[node]:
                    found.append(_pop_component(stack, on_stack, node))
    return found


def _pop_component(stack: list[Key], on_stack: set[Key], root: Key) -> list[Key]:
    part: list[Key] = []
    while True:
        node = stack.pop()
        on_stack.discard(node)
        part.append(node)
        if node == root:
            return part


def cut(part: Sequence[Key], graph: Graph, cost: Callable[[Key], int]) -> tuple[list[Key], list[Key]]:
    """A small set of variables without which a part has no loop, and the other variables in order.

    Levy and Low's reductions: what lies on no loop is taken away, what needs itself is cut, and a variable with one
    neighbour on one side is merged into it, the dearer into the cheaper, for every loop through the one goes through
    the other.  When nothing can be reduced, the cheapest is cut, among equals the one with most neighbours."""
    shrinking = _Shrinking(part, graph, cost)
    cuts = shrinking.run()
    return cuts, _sorted_without(part, graph, set(cuts))


class _Shrinking:
    """A directed graph that loses its vertices one by one."""

    def __init__(self, part: Sequence[Key], graph: Graph, cost: Callable[[Key], int]) -> None:
        members = set(part)
        self.part = part
        self.needs = {v: {w for w in graph[v] if w in members} for v in part}
        self.users: dict[Key, set[Key]] = {v: set() for v in part}
        for v, others in self.needs.items():
            for w in others:
                self.users[w].add(v)
        self.cost = {v: cost(v) for v in part}
        self.touched = list(reversed(part))
        self.cuts: list[Key] = []

    def run(self) -> list[Key]:
        order = {v: k for k, v in enumerate(self.part)}
        heap: list[tuple[int, int, int]] = []
        while self.needs:
            while self.touched:
                v = self.touched.pop()
                if v in self.needs and not self._reduce(v):
                    heapq.heappush(heap, (self.cost[v], self._degree(v), order[v]))
            if not self.needs:
                break
            _, degree, k = heapq.heappop(heap)
            v = self.part[k]
            if v in self.needs and degree == self._degree(v):  # else it stands in the heap again, as it is now
                self._cut(v)
        return self.cuts

    def _degree(self, v: Key) -> int:
        return -len(self.needs[v]) * len(self.users[v])

    def _reduce(self, v: Key) -> bool:
        needs, users = self.needs[v], self.users[v]
        if v in needs:
            self._cut(v)
        elif not needs or not users:
            self._remove(v)
        elif self._merges(v, needs) or self._merges(v, users):
            self._bypass(v)
        else:
            return False
        return True

    def _merges(self, v: Key, neighbours: set[Key]) -> bool:
        return len(neighbours) == 1 and self.cost[v] >= self.cost[next(iter(neighbours))]

    def _cut(self, v: Key) -> None:
        self.cuts.append(v)
        self._remove(v)

    def _remove(self, v: Key) -> None:
        for w in self.needs.pop(v):
            if w != v:
                self.users[w].discard(v)
                self.touched.append(w)
        for w in self.users.pop(v):
            if w != v:
                self.needs[w].discard(v)
                self.touched.append(w)

    def _bypass(self, v: Key) -> None:
        """Its users need what it needs."""
        needs, users = self.needs[v], self.users[v]
        self._remove(v)
        for user in users:
            self.needs[user] |= needs
        for need in needs:
            self.users[need] |= users


def _sorted_without(part: Sequence[Key], graph: Graph, cuts: set[Key]) -> list[Key]:
    rest = [v for v in part if v not in cuts]
    members = set(rest)
    inner = {v: [w for w in graph[v] if w in members] for v in rest}
    ordered = components(inner)
    assert all(len(c) == 1 for c in ordered), "a loop was left uncut"
    return [c[0] for c in ordered]
