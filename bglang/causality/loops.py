"""Strong components of a directed graph, without recursion (Tarjan)."""

from collections.abc import Callable, Iterable, Sequence


def strong_components(roots: Iterable[int], following: Callable[[int], Sequence[int]]) -> list[list[int]]:
    """The components with a cycle that can be reached from the roots, each in the order of its discovery."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    found: list[list[int]] = []
    for root in roots:
        if root in index:
            continue
        work: list[tuple[int, Sequence[int], int]] = [(root, following(root), 0)]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            v, nexts, k = work.pop()
            descended = False
            while k < len(nexts):
                w = nexts[k]
                k += 1
                if w not in index:
                    work.append((v, nexts, k))
                    work.append((w, following(w), 0))
                    index[w] = low[w] = len(index)
                    stack.append(w)
                    on_stack.add(w)
                    descended = True
                    break
                if w in on_stack and index[w] < low[v]:
                    low[v] = index[w]
            if descended:
                continue
            if work and low[v] < low[work[-1][0]]:
                low[work[-1][0]] = low[v]
            if low[v] == index[v]:
                at = _position(stack, v)
                component = stack[at:]
                del stack[at:]
                on_stack.difference_update(component)
                if len(component) > 1 or v in nexts:
                    found.append(component)
    return found


def _position(stack: list[int], v: int) -> int:
    """Where v stands, looked for from the top: the component is what lies above it."""
    at = len(stack) - 1
    while stack[at] != v:
        at -= 1
    return at
