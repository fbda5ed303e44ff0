"""Which equation determines which unknown: matching, and the smallest part that has too many or too few of either."""

from collections import defaultdict
from collections.abc import Sequence


def match(edges: Sequence[Sequence[int]], count: int) -> tuple[list[int], list[int]]:
    """A largest matching of rows (with the columns in `edges`) and `count` columns: partner of each, -1 for none.

    First in the order given, then along augmenting paths; no recursion."""
    column_of, row_of = [-1] * len(edges), [-1] * count
    for row, columns in enumerate(edges):
        for column in columns:
            if row_of[column] < 0:
                row_of[column], column_of[row] = row, column
                break
    for row in range(len(edges)):
        if column_of[row] < 0:
            _augment(row, edges, column_of, row_of)
    return column_of, row_of


def _augment(start: int, edges: Sequence[Sequence[int]], column_of: list[int], row_of: list[int]) -> None:
    """Looks for a path of alternating edges to a free column, breadth first, and turns it round."""
    reached_from: dict[int, int] = {}
    waiting = [start]
    for row in waiting:
        for column in edges[row]:
            if column in reached_from:
                continue
            reached_from[column] = row
            if row_of[column] < 0:
                while True:
                    source = reached_from[column]
                    previous = column_of[source]
                    row_of[column], column_of[source] = source, column
                    if source == start:
                        return
                    column = previous
            waiting.append(row_of[column])


Part = tuple[list[int], list[int]]
"""Rows and columns that belong together."""


def surplus(edges: Sequence[Sequence[int]], column_of: list[int], row_of: list[int]) -> list[Part]:
    """Parts with more rows than columns: the unmatched rows and everything that they compete with, if connected."""
    rows = dict.fromkeys(row for row in range(len(edges)) if column_of[row] < 0)
    waiting = list(rows)
    for row in waiting:
        for column in edges[row]:
            if row_of[column] not in rows:
                rows[row_of[column]] = None
                waiting.append(row_of[column])
    return _connected(list(rows), edges)


def _connected(rows: Sequence[int], edges: Sequence[Sequence[int]]) -> list[Part]:
    users: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        for column in edges[row]:
            users[column].append(row)
    parts, seen = list[Part](), set[int]()
    for row in rows:
        if row in seen:
            continue
        seen.add(row)
        members, columns = [row], dict[int, None]()
        for member in members:
            for column in edges[member]:
                if column in columns:
                    continue
                columns[column] = None
                fresh = [other for other in users[column] if other not in seen]
                seen.update(fresh)
                members.extend(fresh)
        parts.append((sorted(members), sorted(columns)))
    return parts


def shortage(edges: Sequence[Sequence[int]], column_of: list[int], row_of: list[int]) -> list[Part]:
    """Parts with more columns than rows, found the same way from the unmatched columns."""
    users: dict[int, list[int]] = defaultdict(list)
    for row, columns in enumerate(edges):
        for column in columns:
            users[column].append(row)
    turned = [users[column] for column in range(len(row_of))]
    return [(rows, columns) for columns, rows in surplus(turned, row_of, column_of)]
