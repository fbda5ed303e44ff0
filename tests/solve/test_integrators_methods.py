"""Every method against closed forms and published values; measured orders; the methods against each other."""

import numpy as np
import pytest
from kernel_problems import Problem, hires, ladder, oscillator, pendulum, robertson, van_der_pol

from bglang.solve.integrators import Integrator, Settings, Status, make_integrator

IMPLICIT = ("radau", "bdf")
EXPLICIT = ("rk", "adams")
METHODS = (*IMPLICIT, *EXPLICIT)


def run(problem: Problem, t_end: float, **settings: object) -> Integrator:
    integrator = make_integrator(problem.model, Settings(**settings))  # type: ignore[arg-type]
    ignored = [2] * problem.model.nroots
    integrator.start(0.0, problem.y, problem.d, problem.p, problem.z, ignored)
    assert integrator.advance(t_end) == Status("done", t_end)
    return integrator


@pytest.mark.parametrize(("method", "order", "steps"), [("radau", 5, 20), ("rk", 8, 2)])
def test_measured_order(method: str, order: int, steps: int) -> None:
    errors = []
    for count in (steps, 2 * steps, 4 * steps):
        end = run(oscillator(), 2.0, method=method, step=2.0 / count, rtol=1e-12)
        errors.append(np.hypot(end.y[0] - np.cos(2.0), end.y[1] + np.sin(2.0)))
        assert end.statistics.steps == count
    assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.2)


def test_multistep_reaches_its_highest_order() -> None:
    """With formulas of order 5 a tenth of the error costs 10^(1/5) times the steps; of order 3, 10^(1/3)."""
    few, many = (run(oscillator(), 200.0, method="bdf", rtol=rtol).statistics.steps for rtol in (1e-6, 1e-11))
    assert 10 ** (5 / 6) < many / few < 10 ** (5 / 4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10])
def test_tolerance_is_about_kept(method: str, rtol: float) -> None:
    """The largest error of the whole run: at a single time the error may just pass through zero."""
    rows: list[np.ndarray] = []
    times = np.linspace(0.0, 20.0, 401)
    problem = oscillator()
    settings = Settings(method=method, rtol=rtol, times=times, rates=False)  # type: ignore[arg-type]
    integrator = Integrator(problem.model, settings, lambda t, y, d: rows.append(y.copy()))
    integrator.start(0.0, problem.y, problem.d, problem.p, problem.z, [2, 2, 2])
    assert integrator.advance(20.0).good
    integrator.finish()
    exact = np.column_stack([np.cos(times), -np.sin(times)])
    assert np.abs(np.concatenate(rows) - exact).max() < 20.0 * rtol


@pytest.mark.parametrize("method", METHODS)
def test_dense_output_is_as_good_as_the_steps(method: str) -> None:
    rows: list[np.ndarray] = []

    def sink(t: np.ndarray, y: np.ndarray, d: np.ndarray) -> None:
        rows.append(np.column_stack([t, y, d]))

    times = np.linspace(0.0, 10.0, 997)
    integrator = Integrator(oscillator().model, Settings(method=method, rtol=1e-8, times=times), sink)  # type: ignore
    problem = oscillator()
    integrator.start(0.0, problem.y, problem.d, problem.p, problem.z, [2, 2, 2])
    assert integrator.advance(10.0).good
    integrator.finish()
    t, y0, y1, d0, d1 = np.concatenate(rows).T
    assert (t == times).all()
    assert np.abs([y0 - np.cos(t), y1 + np.sin(t)]).max() < 2e-7
    assert np.abs([d0 + np.sin(t), d1 + np.cos(t)]).max() < 3e-6


@pytest.mark.parametrize("method", IMPLICIT)
def test_robertson(method: str) -> None:
    """Reference: the test set of Hairer & Wanner at t = 1e11."""
    end = run(robertson(), 1e11, method=method, rtol=1e-8)
    reference = [0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050]
    # Errors are controlled relative to the size that each variable has shown: 1, 3.6e-5 and 1.
    assert np.all(np.abs(end.y - reference) < 1e-7 * np.array([1.0, 3.6e-5, 1.0]))
    assert end.statistics.steps < 4000


@pytest.mark.parametrize("method", IMPLICIT)
def test_van_der_pol(method: str) -> None:
    """Reference: the test set of Mazzia & Magherini, eps = 1e-6, t = 2."""
    end = run(van_der_pol(), 2.0, method=method, rtol=1e-9, groups=[0, 1])
    assert end.y[0] == pytest.approx(0.1706167732170483e1, rel=1e-7)
    assert end.y[1] == pytest.approx(-0.8928097010247975, rel=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_hires(method: str) -> None:
    """Reference: the test set of Mazzia & Magherini at t = 321.8122."""
    end = run_through(hires(), 321.8122, method)
    reference = [
        0.7371312573325668e-3,
        0.1442485726316185e-3,
        0.5888729740967575e-4,
        0.1175651343283149e-2,
        0.2386356198831331e-2,
        0.6238968252742796e-2,
        0.2849998395185769e-2,
        0.2850001604814231e-2,
    ]
    assert end.y == pytest.approx(reference, rel=1e-4)


def run_through(problem: Problem, t_end: float, method: str) -> Integrator:
    """Going on where an explicit method says that the model is stiff."""
    integrator = Integrator(problem.model, Settings(method=method, rtol=1e-9))  # type: ignore[arg-type]
    integrator.start(0.0, problem.y, problem.d, problem.p, problem.z)
    status = integrator.advance(t_end)
    while status.outcome == "stiff":
        status = integrator.advance(t_end)
    assert status == Status("done", t_end)
    return integrator


@pytest.mark.parametrize("method", IMPLICIT)
def test_pendulum_dae_keeps_energy_and_length(method: str) -> None:
    end = run(pendulum(), 5.0, method=method, rtol=1e-9)
    x, y, u, v, force = end.y
    assert x * x + y * y == pytest.approx(1.0, abs=1e-6)
    assert (u * u + v * v) / 2.0 + 9.81 * y == pytest.approx(0.0, abs=1e-5)
    assert force == pytest.approx(u * u + v * v - 9.81 * y, rel=1e-5)


def test_implicit_methods_agree_on_a_dae() -> None:
    ends = [run(pendulum(), 3.0, method=method, rtol=1e-10).y for method in (*IMPLICIT, "ida")]
    for other in ends[1:]:
        assert ends[0] == pytest.approx(other, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("sections", [5, 40, 400])
def test_all_methods_agree_on_a_ladder_dense_and_sparse(sections: int) -> None:
    """It starts at rest as a whole, so sizes are learned; 5 sections are solved dense, the others sparse."""
    kind = np.arange(2 * sections) % 2
    ends = [run(ladder(sections), 6.0, method=method, rtol=1e-7, groups=kind) for method in METHODS]
    for end in ends[1:]:
        assert np.abs(end.y - ends[0].y).max() < 1e-6
    assert ends[0].statistics.rejected < 10


def test_accuracy_does_not_depend_on_how_much_of_the_model_rests() -> None:
    kind = np.arange(800) % 2
    exact = run(ladder(400), 6.0, method="rk", rtol=1e-11, groups=kind).y
    for method in METHODS:
        assert np.abs(run(ladder(400), 6.0, method=method, rtol=1e-6, groups=kind).y - exact).max() < 4e-6


@pytest.mark.parametrize("method", EXPLICIT)
def test_explicit_methods_say_that_a_model_is_stiff(method: str) -> None:
    problem = van_der_pol()
    integrator = Integrator(problem.model, Settings(method=method, rtol=1e-6))  # type: ignore[arg-type]
    integrator.start(0.0, problem.y, problem.d, problem.p, problem.z)
    status = integrator.advance(2.0)
    assert status.outcome == "stiff" and 0.0 < status.t < 0.01
    assert integrator.t == status.t


def test_counted_work_does_not_grow() -> None:
    """Work at a tolerance, not time: what a change of the methods must not make worse unseen."""
    work = run(robertson(), 1e11, method="radau", rtol=1e-6).statistics
    assert work.steps < 150 and work.residuals < 1400 and work.factorisations < 350
    work = run(van_der_pol(), 2.0, method="radau", rtol=1e-6).statistics
    assert work.steps < 500 and work.residuals < 4500
    work = run(oscillator(), 2 * np.pi * 100, method="rk", rtol=1e-6).statistics
    assert work.steps < 720 and work.residuals < 8700
    work = run(ladder(400), 6.0, method="bdf", rtol=1e-6, groups=np.arange(800) % 2).statistics
    assert work.steps < 700 and work.jacobians < 40
