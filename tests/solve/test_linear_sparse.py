"""The sparse LU against scipy: random patterns, new values on the same pattern, singular matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bglang.solve.linear import SingularMatrix, SparseLU
from bglang.solve.native import layout as at


def random_matrix(n: int, per_row: float, seed: int) -> sp.csc_matrix:
    """Regular, unsymmetric, with many zeros on the diagonal; a random permutation makes it structurally regular."""
    rng = np.random.default_rng(seed)
    a = sp.random(n, n, density=min(1.0, per_row / n), random_state=rng, format="csc")
    a = a + sp.csc_matrix((rng.uniform(0.5, 2.0, n), (np.arange(n), rng.permutation(n))), shape=(n, n))
    a = sp.csc_matrix(a)
    a.sort_indices()
    return a


def backward_error(a: sp.csc_matrix, x: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a @ x - b).max() / (abs(a) @ np.abs(x) + np.abs(b)).max())


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 60), per_row=st.floats(0.0, 6.0), seed=st.integers(0, 10**6), real=st.booleans())
def test_solves_random_systems(n: int, per_row: float, seed: int, real: bool) -> None:
    a = random_matrix(n, per_row, seed)
    rng = np.random.default_rng(seed + 1)
    if not real:
        a.data = a.data * np.exp(1j * rng.uniform(0.0, 6.0, a.nnz))
    lu = SparseLU(n, a.indptr, a.indices, a.data.dtype)
    lu.factor(a.data)
    b = rng.standard_normal(n).astype(a.data.dtype)
    assert backward_error(a, lu.solve(b), b) < 1e-10


def test_fill_is_that_of_a_good_ordering() -> None:
    """A plane grid: nested dissection has n log n entries, a bad ordering n^1.5; SuperLU's own count is the measure."""
    m = 40
    line = sp.diags([-1.0, 4.1, -1.0], [-1, 0, 1], shape=(m, m))
    beside = sp.diags([-1.0, -1.0], [-1, 1], shape=(m, m))
    a = sp.csc_matrix(sp.kron(sp.eye(m), line) + sp.kron(beside, sp.eye(m)))
    a.sort_indices()
    lu = SparseLU(m * m, a.indptr, a.indices)
    lu.factor(a.data)
    best = sp.linalg.splu(a, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    assert lu.memory.entries + 2 * m * m < 1.2 * best.nnz


def test_one_full_row_and_column_cause_no_fill() -> None:
    n = 2000
    a = sp.lil_matrix((n, n))
    a.setdiag(np.linspace(2.0, 3.0, n))
    a[0, :] = 1.0
    a[:, 0] = 1.0
    a[0, 0] = n
    a = sp.csc_matrix(a)
    lu = SparseLU(n, a.indptr, a.indices)
    lu.factor(a.data)
    assert lu.memory.entries == 2 * (n - 1)


def test_new_values_keep_pattern_and_pivots() -> None:
    a = random_matrix(300, 2.0, 3)
    lu = SparseLU(300, a.indptr, a.indices)
    rng = np.random.default_rng(4)
    for turn in range(5):
        a.data = a.data * rng.uniform(0.9, 1.1, a.nnz)
        lu.factor(a.data)
        b = rng.standard_normal(300)
        assert backward_error(a, lu.solve(b), b) < 1e-9
        assert lu.memory.table[at.LU_FULL] == 1
        assert lu.memory.table[at.LU_AGAIN] == turn


def test_pivots_that_vanish_are_searched_again() -> None:
    a = sp.csc_matrix(np.array([[2.0, 1.0], [1.0, 2.0]]))
    lu = SparseLU(2, a.indptr, a.indices)
    lu.factor(a.data)
    changed = np.array([[1e-14, 1.0], [1.0, 1e-14]])
    lu.factor(sp.csc_matrix(changed).data)
    assert lu.memory.table[at.LU_FULL] == 2
    assert lu.solve(changed @ [1.0, 2.0]) == pytest.approx([1.0, 2.0], rel=1e-12)


def test_memory_grows_with_the_fill() -> None:
    """A random sparse matrix fills up almost completely: far beyond the room that was there at first."""
    a = random_matrix(400, 4.0, 9)
    lu = SparseLU(400, a.indptr, a.indices)
    lu.factor(a.data)
    assert lu.memory.entries > 3 * a.nnz
    b = np.arange(400.0)
    assert backward_error(a, lu.solve(b), b) < 1e-9


def test_singular_matrices_name_the_place() -> None:
    indptr, indices = [0, 1, 2, 4], [0, 0, 1, 2]
    with pytest.raises(SingularMatrix) as caught:  # columns 0 and 1 share their only row
        SparseLU(3, indptr, indices).factor([1.0, 2.0, 1.0, 1.0])
    assert caught.value.column in (0, 1)
    with pytest.raises(SingularMatrix) as caught:
        SparseLU(3, indptr, indices).factor([1.0, 2.0, 1.0, 0.0])
    assert caught.value.row == 2
    with pytest.raises(SingularMatrix) as caught:
        SparseLU(3, [0, 1, 2, 3], [0, 1, 2]).factor([1.0, np.nan, 1.0])
    assert caught.value.row == 1
    full = sp.csc_matrix(np.array([[1.0, 2.0], [2.0, 4.0]]))
    with pytest.raises(SingularMatrix):  # numerically
        SparseLU(2, full.indptr, full.indices).factor(full.data)


def test_badly_scaled_rows_do_no_harm() -> None:
    a = random_matrix(80, 3.0, 11)
    scales = 10.0 ** np.random.default_rng(5).uniform(-12, 12, 80)
    scaled = sp.csc_matrix(sp.diags(scales) @ a)
    scaled.sort_indices()
    lu = SparseLU(80, scaled.indptr, scaled.indices)
    lu.factor(scaled.data)
    x = np.linspace(1.0, 2.0, 80)
    assert lu.solve(scaled @ x) == pytest.approx(x, rel=1e-9)
