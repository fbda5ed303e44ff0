"""IDA of SUNDIALS behind the same face: it agrees with closed forms and with our own integrators."""

import numpy as np
import pytest
from kernel_problems import Problem, hires, ladder, make, oscillator, robertson

from bglang.solve.integrators import Integrator, Settings, Status, make_integrator


def start(problem: Problem, sides: list[int] | None = None, sink: object = None, **settings: object) -> Integrator:
    integrator = make_integrator(problem.model, Settings(method="ida", **settings), sink)  # type: ignore[arg-type]
    integrator.start(0.0, problem.y, problem.d, problem.p, problem.z, sides)
    return integrator


def test_closed_form_and_counted_work() -> None:
    integrator = start(oscillator(), [2, 2, 2], rtol=1e-9)
    assert integrator.advance(20.0) == Status("done", 20.0)
    assert integrator.y == pytest.approx([np.cos(20.0), -np.sin(20.0)], abs=1e-8)
    work = integrator.statistics
    assert 300 < work.steps < 2400 and work.jacobians < 60 and work.residuals < 1.3 * work.steps


def test_stiff_references() -> None:
    integrator = start(robertson(), rtol=1e-9)
    assert integrator.advance(1e11).good
    reference = [0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050]
    assert np.all(np.abs(integrator.y - reference) < 1e-6 * np.array([1.0, 3.6e-5, 1.0]))
    integrator = start(hires(), rtol=1e-10)
    assert integrator.advance(321.8122).good
    assert integrator.y[0] == pytest.approx(0.7371312573325668e-3, rel=1e-4)


@pytest.mark.parametrize("sections", [5, 400])
def test_agrees_with_bdf_on_dense_and_sparse_models(sections: int) -> None:
    kind = np.arange(2 * sections) % 2
    ends = []
    for method, rtol in (("ida", 1e-10), ("bdf", 1e-8)):
        problem = ladder(sections)
        integrator = make_integrator(problem.model, Settings(method=method, rtol=rtol, groups=kind))  # type: ignore
        integrator.start(0.0, problem.y, problem.d, problem.p, problem.z)
        assert integrator.advance(6.0).good
        ends.append(integrator.y)
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_memory_of_the_sparse_factors_grows() -> None:
    """A random pattern fills up far beyond the room that is there at first: y' = A y with |y| bounded."""
    n = 60
    rng = np.random.default_rng(2)
    pattern = (rng.random((n, n)) < 0.08) | np.eye(n, dtype=bool)
    columns = [np.flatnonzero(pattern[:, j]) for j in range(n)]
    rows = np.concatenate(columns)
    cols = np.repeat(np.arange(n), [len(c) for c in columns])
    values = np.where(rows == cols, 3.0, -0.4)
    nnz = len(rows)
    layout = np.concatenate([rows, cols]).astype(np.float64)

    def residual(t, y, d, p, z, index, counts, out):
        for i in range(60):
            out[i] = d[i]
        for k in range(int(p[0])):
            out[int(p[1 + k])] += p[1 + 2 * int(p[0]) + k] * y[int(p[1 + int(p[0]) + k])]

    def jacobian(t, y, d, p, z, index, counts, out):
        m = int(p[0])
        for k in range(m):
            out[k] = p[1 + 2 * m + k]
            out[m + k] = 1.0 if p[1 + k] == p[1 + m + k] else 0.0

    matrix = np.zeros((n, n))
    matrix[rows, cols] = values
    problem = make(residual, jacobian, np.ones(n), -matrix @ np.ones(n), [nnz, *layout, *values], pattern=pattern)
    from scipy.linalg import expm

    for method in ("ida", "bdf", "radau"):
        integrator = make_integrator(problem.model, Settings(method=method, rtol=1e-9))  # type: ignore[arg-type]
        integrator._factors[0]._room(8)  # almost nothing
        integrator.start(0.0, problem.y, problem.d, problem.p, problem.z)
        assert integrator.advance(1.0).good
        assert integrator.y == pytest.approx(expm(-matrix) @ np.ones(n), abs=1e-6)


def test_rows_roots_and_restarts() -> None:
    rows: list[np.ndarray] = []
    times = np.linspace(0.0, 6.0, 61)

    def sink(t: np.ndarray, y: np.ndarray, d: np.ndarray) -> None:
        rows.append(np.column_stack([t, y, d]))

    integrator = start(oscillator(), [0, 2, 2], sink, rtol=1e-9, times=times)
    status = integrator.advance(6.0)
    assert status.outcome == "root" and status.roots == ((0, -1),)
    assert status.t == pytest.approx(np.pi / 2.0, abs=1e-6)
    integrator.restart([0.0, 1.0], [1.0, 0.0], sides=[2, 2, 2])
    assert integrator.advance(6.0) == Status("done", 6.0)
    integrator.finish()
    t, y, *_ = np.concatenate(rows).T
    assert (t == times).all()
    exact = np.where(t < np.pi / 2.0, np.cos(t), np.sin(t - np.pi / 2.0))
    assert y == pytest.approx(exact, abs=1e-5)


def test_every_step_and_the_grid() -> None:
    rows: list[np.ndarray] = []
    integrator = start(
        oscillator(), [2, 2, 2], lambda t, y, d: rows.append(t.copy()), every_step=True, times=[0.0, 0.5, 1.0, 2.0]
    )
    integrator.advance(2.0)
    integrator.finish()
    t = np.concatenate(rows)
    assert (np.diff(t) >= 0.0).all() and {0.0, 0.5, 1.0, 2.0} <= set(t)
    assert len(t) >= integrator.statistics.steps


def test_a_failure_is_a_status() -> None:
    def residual(t, y, d, p, z, index, counts, out):
        out[0] = d[0] + 1.0
        out[1] = d[1] - y[0] ** 0.5

    def jacobian(t, y, d, p, z, index, counts, out):
        for k in range(8):
            out[k] = 0.0
        out[1], out[4], out[7] = -0.5 / y[0] ** 0.5, 1.0, 1.0

    problem = make(residual, jacobian, [1.0, 1.0], [-1.0, 1.0])
    status = start(problem).advance(2.0)
    assert status.outcome in ("not finite", "singular", "newton failed") and status.reason
    assert status.t == pytest.approx(1.0, abs=0.01)
