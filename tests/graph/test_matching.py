"""Matching against scipy's, and the parts that have too many or too few."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from bglang.graph.matching import match, shortage, surplus

graphs = st.integers(0, 7).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.sets(st.integers(0, n - 1)) if n else st.just(set()), max_size=7))
)


@given(graphs)
def test_as_large_as_scipys(graph: tuple[int, list[set[int]]]) -> None:
    count, sets = graph
    edges = [sorted(s) for s in sets]
    column_of, row_of = match(edges, count)
    for row, column in enumerate(column_of):
        assert column < 0 or (column in edges[row] and row_of[column] == row)
    found = sum(c >= 0 for c in column_of)
    if edges and count:
        dense = np.zeros((len(edges), count))
        for row, columns in enumerate(edges):
            dense[row, columns] = 1
        partner = maximum_bipartite_matching(csr_matrix(dense), perm_type="column")
        assert found == int((partner >= 0).sum())
    rows_over = sum(len(r) - len(c) for r, c in surplus(edges, column_of, row_of))
    columns_over = sum(len(c) - len(r) for r, c in shortage(edges, column_of, row_of))
    assert rows_over == len(edges) - found
    assert columns_over == count - found


def test_the_smallest_part_is_named() -> None:
    edges = [[0], [0], [1, 2], [2, 3]]  # two equations for column 0; two for columns 1, 2, 3
    column_of, row_of = match(edges, 4)
    assert surplus(edges, column_of, row_of) == [([0, 1], [0])]
    assert shortage(edges, column_of, row_of) == [([2, 3], [1, 2, 3])]


def test_a_long_chain_is_fast() -> None:
    n = 50_000
    edges = [[k, k + 1] for k in range(n)]
    column_of, _ = match(edges, n + 1)
    assert min(column_of) >= 0
