"""Which equation determines which variable: maximum bipartite matching, and the parts where that fails."""

from collections.abc import Sequence

from bglang.records import dataclass

FREE = -1


@dataclass(slots=True)
class Matching:
    """`column_of[r]` and `row_of[c]`; FREE where nothing is matched."""

    column_of: list[int]
    row_of: list[int]

    def free_rows(self) -> list[int]:
        return [r for r, c in enumerate(self.column_of) if c == FREE]

    def free_columns(self) -> list[int]:
        return [c for c, r in enumerate(self.row_of) if r == FREE]


def match(rows: Sequence[Sequence[int]], columns: int, start: Sequence[int] | None = None) -> Matching:
    """As many rows as possible, each with a column of its own from its list; earlier columns of a list are preferred.

    `start` may give a first choice per row (FREE for none)."""
    found = Matching([FREE] * len(rows), [FREE] * columns)
    if start is not None:
        for r, c in enumerate(start):
            if c != FREE and found.row_of[c] == FREE:
                found.column_of[r], found.row_of[c] = c, r
    for r, candidates in enumerate(rows):
        if found.column_of[r] == FREE:
            for c in candidates:
                if found.row_of[c] == FREE:
                    found.column_of[r], found.row_of[c] = c, r
                    break
    visited = [FREE] * columns
    for r in range(len(rows)):
        if found.column_of[r] == FREE:
            _augment(rows, found, r, visited)
    return found


def _augment(rows: Sequence[Sequence[int]], found: Matching, root: int, visited: list[int]) -> bool:
    """One alternating path from a free row, depth first with an own stack; `visited` is stamped with the root."""
    path: list[tuple[int, int]] = []
    stack = [(root, iter(rows[root]))]
    while stack:
        row, candidates = stack[-1]
        for c in candidates:
            if visited[c] == root:
                continue
            visited[c] = root
            path.append((row, c))
            if found.row_of[c] == FREE:
                for r, column in path:
                    found.column_of[r], found.row_of[column] = column, r
                return True
            stack.append((found.row_of[c], iter(rows[found.row_of[c]])))
            break
        else:
            stack.pop()
            if path:
                path.pop()
    return False


def overdetermined(rows: Sequence[Sequence[int]], found: Matching, root: int) -> tuple[list[int], list[int]]:
    """The rows and columns that alternating paths reach from a free row: one equation more than variables."""
    seen_rows, seen_columns, stack = {root}, set[int](), [root]
    while stack:
        for c in rows[stack.pop()]:
            if c not in seen_columns:
                seen_columns.add(c)
                r = found.row_of[c]
                if r != FREE and r not in seen_rows:
                    seen_rows.add(r)
                    stack.append(r)
    return sorted(seen_rows), sorted(seen_columns)


def underdetermined(rows: Sequence[Sequence[int]], found: Matching, root: int) -> tuple[list[int], list[int]]:
    """The rows and columns that alternating paths reach from a free column: one variable more than equations."""
    users: dict[int, list[int]] = {}
    for r, columns in enumerate(rows):
        for c in columns:
            users.setdefault(c, []).append(r)
    seen_rows, seen_columns, stack = set[int](), {root}, [root]
    while stack:
        for r in users.get(stack.pop(), ()):
            if r not in seen_rows:
                seen_rows.add(r)
                c = found.column_of[r]
                if c != FREE and c not in seen_columns:
                    seen_columns.add(c)
                    stack.append(c)
    return sorted(seen_rows), sorted(seen_columns)
