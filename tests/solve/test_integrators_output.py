"""Rows, steps, restarts and failures: what the caller of an integrator relies on."""

import numpy as np
import pytest
from kernel_problems import Problem, ladder, make, oscillator, pendulum

from bglang.solve.integrators import BUFFER, Integrator, Settings, Status

METHODS = ("radau", "bdf", "rk", "adams")


class Rows:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.parts: list[np.ndarray] = []
        self.largest = 0

    def __call__(self, t: np.ndarray, y: np.ndarray, d: np.ndarray | None) -> None:
        self.largest = max(self.largest, len(t))
        self.parts.append(np.column_stack([t, y] if d is None else [t, y, d]))

    @property
    def all(self) -> np.ndarray:
        return np.concatenate(self.parts)


def start(problem: Problem, sink: Rows | None = None, **settings: object) -> Integrator:
    integrator = Integrator(problem.model, Settings(**settings), sink)  # type: ignore[arg-type]
    integrator.start(0.0, problem.y, problem.d, problem.p, problem.z, [2] * problem.model.nroots)
    return integrator


@pytest.mark.parametrize("method", METHODS)
def test_rows_come_at_the_times_asked_for_whatever_the_pieces(method: str) -> None:
    rows, times = Rows(), np.linspace(0.0, 6.0, 61)
    integrator = start(oscillator(), rows, method=method, times=times, rtol=1e-9)
    for end in (0.05, 2.0, 2.0, 3.33, 6.0):
        assert integrator.advance(end) == Status("done", end)
    assert len(rows.all) == 60  # the last one waits: an event may change it
    integrator.finish()
    assert (rows.all[:, 0] == times).all()
    assert rows.all[:, 1] == pytest.approx(np.cos(times), abs=1e-7)
    assert rows.all[:, 3] == pytest.approx(-np.sin(times), abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_pieces_without_length_do_no_harm(method: str) -> None:
    integrator = start(oscillator(), method=method)
    for end in (0.0, 0.0, 1.0, 1.0):
        assert integrator.advance(end) == Status("done", end)
    integrator.restart(sides=[2, 2, 2])
    for end in (1.0, 2.0):
        assert integrator.advance(end) == Status("done", end)
    assert integrator.y[0] == pytest.approx(np.cos(2.0), abs=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_row_at_an_event_holds_the_values_after_it(method: str) -> None:
    rows = Rows()
    integrator = start(oscillator(), rows, method=method, times=[0.0, 1.0, 2.0], rates=False)
    integrator.advance(1.0)
    integrator.restart([5.0, 0.0], [0.0, -5.0], sides=[2, 2, 2])
    integrator.advance(2.0)
    integrator.finish()
    assert rows.all.shape == (3, 3)
    assert rows.all[1].tolist() == [1.0, 5.0, 0.0]
    assert rows.all[2, 1] == pytest.approx(5.0 * np.cos(1.0), rel=1e-5)


def test_every_step_gives_a_row() -> None:
    rows = Rows()
    integrator = start(oscillator(), rows, every_step=True)
    integrator.advance(10.0)
    assert len(rows.all) == integrator.statistics.steps
    assert (np.diff(rows.all[:, 0]) > 0.0).all()
    assert rows.all[-1, 0] == 10.0


def test_the_buffer_is_bounded() -> None:
    problem, rows = ladder(400), Rows()
    integrator = start(problem, rows, times=np.linspace(0.0, 1.0, 500), rates=False)
    integrator.advance(1.0)
    integrator.finish()
    assert len(rows.all) == 500
    assert rows.largest == BUFFER // 800


@pytest.mark.parametrize("method", METHODS)
def test_the_longest_step_is_kept(method: str) -> None:
    rows = Rows()
    start(oscillator(), rows, method=method, every_step=True, max_step=0.01).advance(1.0)
    assert np.diff(rows.all[:, 0]).max() < 0.0100001


@pytest.mark.parametrize("method", METHODS)
def test_a_fixed_step_is_taken(method: str) -> None:
    rows = Rows()
    integrator = start(oscillator(), rows, method=method, every_step=True, step=0.125)
    assert integrator.advance(1.0).outcome == "done"
    assert rows.all[:, 0].tolist() == [0.125 * k for k in range(1, 9)]


def test_too_many_steps() -> None:
    status = start(oscillator(), max_steps=1000).advance(1e9)
    assert status.outcome == "too many steps" and 0.0 < status.t < 1e6


def test_progress_is_reported() -> None:
    seen: list[float] = []
    problem = oscillator()
    integrator = Integrator(problem.model, Settings(), progress=seen.append)
    integrator.start(0.0, problem.y, problem.d, problem.p, problem.z, [2, 2, 2])
    integrator.advance(3000.0)
    assert seen == sorted(seen) and len(seen) >= 3


@pytest.mark.parametrize("method", METHODS)
def test_the_model_is_never_evaluated_beyond_the_end(method: str) -> None:
    """sqrt(1 - t) has no value there, and infinite slope at the end, which costs some accuracy."""

    def residual(t, y, d, p, z, index, counts, out):
        out[0] = d[0] - (1.0 - t) ** 0.5

    def jacobian(t, y, d, p, z, index, counts, out):
        out[0], out[1] = 0.0, 1.0

    problem = make(residual, jacobian, [0.0], [1.0], explicit=True)
    integrator = start(problem, method=method, rtol=1e-6, nominal=[1.0])
    assert integrator.advance(1.0) == Status("done", 1.0)
    assert integrator.y[0] == pytest.approx(2.0 / 3.0, rel=1e-4)
    assert integrator.statistics.rejected_not_finite == 0


@pytest.mark.parametrize("method", METHODS)
def test_no_value_names_the_equation(method: str) -> None:
    def residual(t, y, d, p, z, index, counts, out):
        out[0] = d[0] + 1.0
        out[1] = d[1] - y[0] ** 0.5

    def jacobian(t, y, d, p, z, index, counts, out):
        for k in range(8):
            out[k] = 0.0
        out[1], out[4], out[7] = -0.5 / y[0] ** 0.5, 1.0, 1.0

    problem = make(residual, jacobian, [1.0, 1.0], [-1.0, 1.0], explicit=True)
    status = start(problem, method=method).advance(2.0)
    assert status.outcome == "not finite" and status.reason == "not finite"
    assert status.row == 1 and status.t == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_solution_that_ends_in_infinity_names_the_variable(method: str) -> None:
    def residual(t, y, d, p, z, index, counts, out):
        out[0] = d[0]
        out[1] = d[1] - y[1] * y[1]

    def jacobian(t, y, d, p, z, index, counts, out):
        for k in range(8):
            out[k] = 0.0
        out[3], out[4], out[7] = -2.0 * y[1], 1.0, 1.0

    problem = make(residual, jacobian, [1.0, 1.0], [0.0, 1.0], explicit=True)
    status = start(problem, method=method).advance(2.0)
    assert not status.good and status.t == pytest.approx(1.0, abs=1e-3)
    assert status.variable == 1 or status.row == 1


@pytest.mark.parametrize("method", ["radau", "bdf"])
@pytest.mark.parametrize("size", [2, 40])
def test_a_singular_model_names_variable_or_equation(method: str, size: int) -> None:
    """The last equation is that of y0 again, so y[-1] is in no equation."""

    def residual(t, y, d, p, z, index, counts, out):
        n = int(p[0])
        for k in range(n - 1):
            out[k] = d[k] + y[k]
        out[n - 1] = d[0] + y[0]

    def jacobian(t, y, d, p, z, index, counts, out):
        n = int(p[0])
        nnz = n + 1
        for k in range(2 * nnz):
            out[k] = 0.0
        out[0], out[1], out[nnz], out[nnz + 1] = 1.0, 1.0, 1.0, 1.0
        for k in range(2, n):
            out[k], out[nnz + k] = 1.0, 1.0

    pattern = np.eye(size, dtype=bool)
    pattern[size - 1, 0] = True
    problem = make(residual, jacobian, np.ones(size), -np.ones(size), [size], pattern=pattern)
    status = start(problem, method=method).advance(1.0)
    assert status.outcome == "singular" and status.reason == "singular"
    assert status.variable in (0, size - 1) or status.row in (0, size - 1)


def test_one_integrator_runs_again_with_other_parameters() -> None:
    problem = pendulum()
    integrator = Integrator(problem.model, Settings(rtol=1e-8))
    for g in (9.81, 1.62):
        integrator.start(0.0, problem.y, [0.0, 0.0, 0.0, -g, 0.0], [g], problem.z)
        assert integrator.advance(1.0).good
        _, y, u, v, _ = integrator.y
        assert (u * u + v * v) / 2.0 + g * y == pytest.approx(0.0, abs=1e-6)


def test_nominal_values_set_the_absolute_tolerance() -> None:
    """A decay to nothing: relative to the size shown it is followed, relative to a large nominal value it is not."""

    def residual(t, y, d, p, z, index, counts, out):
        out[0] = d[0] + y[0]

    def jacobian(t, y, d, p, z, index, counts, out):
        out[0], out[1] = 1.0, 1.0

    problem = make(residual, jacobian, [1e-3], [-1e-3], explicit=True)
    tight = start(problem, rtol=1e-8)
    loose = start(problem, rtol=1e-8, nominal=[1e3])
    for integrator in (tight, loose):
        assert integrator.advance(5.0).good
    assert abs(tight.y[0] - 1e-3 * np.exp(-5.0)) < 1e-11
    assert loose.statistics.steps < 0.2 * tight.statistics.steps


def test_a_variable_at_rest_takes_the_size_of_its_likes() -> None:
    """Rounding noise of a variable that should stay zero must not be controlled relative to itself."""

    def residual(t, y, d, p, z, index, counts, out):
        out[0] = d[0] - y[1]
        out[1] = d[1] + y[0]
        out[2] = d[2] + 100.0 * (y[0] + 0.1 * y[1] - (y[0] + 0.1 * y[1]) * (1.0 + 1e-16)) + y[2]

    def jacobian(t, y, d, p, z, index, counts, out):
        for k in range(18):
            out[k] = 0.0
        out[1], out[3], out[8] = 1.0, -1.0, 1.0
        out[9], out[13], out[17] = 1.0, 1.0, 1.0

    problem = make(residual, jacobian, [1.0, 0.0, 0.0], [0.0, -1.0, 0.0], explicit=True)
    for method in METHODS:
        quiet = start(problem, method=method, groups=[0, 0, 0])
        assert quiet.advance(10.0).good
        alone = start(oscillator(), method=method, groups=[0, 0])
        assert alone.advance(10.0).good
        assert quiet.statistics.steps <= 1.3 * alone.statistics.steps
