"""Root finding: order, accuracy, double crossings, poles, starts at zero, for every method."""

import math
from functools import cache

import numpy as np
import pytest
from kernel_problems import Problem, make, oscillator

from bglang.solve.integrators import Integrator, Settings, Status

METHODS = ("radau", "bdf", "rk", "adams")


@cache
def clock(number: int) -> Problem:
    """y' = 1, so that y = t, with root functions of t alone."""

    def residual(t, y, d, p, z, index, counts, out):
        out[0] = d[0] - 1.0

    def jacobian(t, y, d, p, z, index, counts, out):
        out[0], out[1] = 0.0, 1.0

    def several(t, y, d, p, z, index, counts, out):
        out[0], out[1], out[2] = 0.7 - y[0], y[0] - 0.3, y[0] - 0.3 - 1e-5

    def pole(t, y, d, p, z, index, counts, out):
        out[0], out[1] = 1.0 / (y[0] - 0.5), math.tan(3.0 * y[0])

    def touch(t, y, d, p, z, index, counts, out):
        x = y[0] - 0.515
        out[0], out[1], out[2] = x * x - 1e-6, x * x, x * x + 1e-9

    def at_zero(t, y, d, p, z, index, counts, out):
        out[0], out[1], out[2], out[3] = y[0], -y[0], y[0] * (0.25 - y[0]), 0.0

    def jump(t, y, d, p, z, index, counts, out):
        out[0] = 1.0 if y[0] < 1.0 / 3.0 else -1.0
        out[1] = max(0.5 - y[0], 0.0)

    roots, count = ((several, 3), (pole, 2), (touch, 3), (at_zero, 4), (jump, 2))[number]
    return make(residual, jacobian, [0.0], [1.0], roots=roots, nroots=count, explicit=True)


def begin(problem: Problem, method: str, sides: list[int] | None = None, **more: object) -> Integrator:
    integrator = Integrator(problem.model, Settings(method=method, rtol=1e-8, **more))  # type: ignore[arg-type]
    integrator.start(0.0, problem.y, problem.d, problem.p, problem.z, sides)
    return integrator


def all_roots(integrator: Integrator, end: float) -> list[tuple[float, tuple[tuple[int, int], ...]]]:
    found = []
    while (status := integrator.advance(end)).outcome == "root":
        found.append((status.t, status.roots))
        assert len(found) < 100
    assert status == Status("done", end)
    return found


@pytest.mark.parametrize("method", METHODS)
def test_several_roots_of_one_step_come_in_order(method: str) -> None:
    found = all_roots(begin(clock(0), method), 1.0)
    assert [roots for _, roots in found] == [((1, 1),), ((2, 1),), ((0, -1),)]
    assert [t for t, _ in found] == pytest.approx([0.3, 0.3 + 1e-5, 0.7], rel=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_close_roots_are_one_event_if_wanted(method: str) -> None:
    found = all_roots(begin(clock(0), method, root_merge=2e-5), 1.0)
    assert [roots for _, roots in found] == [((1, 1), (2, 1)), ((0, -1),)]


@pytest.mark.parametrize("method", METHODS)
def test_changes_of_sign_through_poles_are_found_among_the_roots(method: str) -> None:
    found = all_roots(begin(clock(1), method), 2.0)
    pole, other, root = math.pi / 6.0, math.pi / 2.0, math.pi / 3.0
    assert [roots for _, roots in found] == [((0, 1),), ((1, -1),), ((1, 1),), ((1, -1),)]
    assert [t for t, _ in found] == pytest.approx([0.5, pole, root, other], rel=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_double_crossings_inside_a_step_are_seen_and_touches_are_not(method: str) -> None:
    integrator = begin(clock(2), method, root_points=3)
    found = all_roots(integrator, 1.0)
    assert [roots for _, roots in found] == [((0, -1),), ((0, 1),)]
    assert [t for t, _ in found] == pytest.approx([0.514, 0.516], rel=1e-11)
    assert integrator.statistics.steps < 120  # found by looking, not by tiny steps


@pytest.mark.parametrize("method", METHODS)
def test_roots_that_begin_at_zero(method: str) -> None:
    """They take their side from the way they go, and are no events by themselves."""
    assert all_roots(begin(clock(3), method), 1.0) == [(pytest.approx(0.25, rel=1e-13), ((2, -1),))]


@pytest.mark.parametrize("method", METHODS)
def test_side_given_by_the_mode_makes_a_wrong_direction_from_zero_an_event(method: str) -> None:
    integrator = begin(clock(3), method, sides=[-1, -1, 2, 2])
    status = integrator.advance(1.0)
    assert status.outcome == "root" and status.roots == ((0, 1),)
    assert status.t == pytest.approx(0.0, abs=1e-12)
    assert all_roots(integrator, 1.0) == []  # reported once


@pytest.mark.parametrize("method", METHODS)
def test_jumps_are_roots_and_zero_counts_as_told(method: str) -> None:
    found = all_roots(begin(clock(4), method), 1.0)
    assert found == [(pytest.approx(1.0 / 3.0, rel=1e-13), ((0, -1),))]
    integrator = begin(clock(4), method)
    integrator.restart(sides=[1, 1], zero=[0, -1])
    found = all_roots(integrator, 1.0)
    assert [roots for _, roots in found] == [((0, -1),), ((1, -1),)]
    assert found[1][0] == pytest.approx(0.5, rel=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_crossings_of_an_oscillator(method: str) -> None:
    found = all_roots(begin(oscillator(), method, sides=[0, 0, 2]), 20.0)
    zeros = [t for t, roots in found for k, _ in roots if k == 0]
    assert zeros == pytest.approx(np.pi * (np.arange(len(zeros)) + 0.5), abs=1e-6)
    assert [sign for _, roots in found for k, sign in roots if k == 0] == [-1, 1] * (len(zeros) // 2)
    halves = [t for t, roots in found for k, _ in roots if k == 1]
    exact = [t + 2 * np.pi * k for k in range(4) for t in (7 * np.pi / 6, 11 * np.pi / 6)]
    assert halves == pytest.approx([t for t in exact if t < 20.0], abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_grazing_crossings_of_an_oscillator(method: str) -> None:
    """cos t falls below -0.999 for 0.09 of a time unit, much less than a step."""
    found = all_roots(begin(oscillator(), method, sides=[2, 2, 0]), 20.0)
    width = math.acos(0.999)
    exact = [np.pi * k + side * width for k in (1, 3, 5) for side in (-1, 1)]
    assert [t for t, _ in found] == pytest.approx(exact, abs=2e-5)


@pytest.mark.parametrize("method", METHODS)
def test_bouncing_ball(method: str) -> None:
    """Impacts against the closed form, each one a root, a change of state and a restart."""

    def residual(t, y, d, p, z, index, counts, out):
        out[0] = d[0] - y[1]
        out[1] = d[1] + p[0]

    def jacobian(t, y, d, p, z, index, counts, out):
        for k in range(8):
            out[k] = 0.0
        out[2], out[4], out[7] = -1.0, 1.0, 1.0

    def roots(t, y, d, p, z, index, counts, out):
        out[0] = y[0]

    ball = make(residual, jacobian, [1.0, 0.0], [0.0, -9.81], [9.81], roots, 1, explicit=True)
    integrator = begin(ball, method, sides=[1])
    times = []
    while (status := integrator.advance(3.0)).outcome == "root":
        times.append(status.t)
        _, speed = integrator.y
        integrator.restart([0.0, -0.8 * speed], [-0.8 * speed, -9.81], sides=[1])
    assert status.outcome == "done"
    fall = math.sqrt(2.0 / 9.81)
    exact = fall + 2.0 * fall * np.cumsum([0.0, *(0.8**k for k in range(1, len(times)))])
    assert len(times) == 6
    assert times == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_going_on_after_a_root_keeps_the_history(method: str) -> None:
    """Roots that change nothing cost no restart.  Rows in every step: where roots or rows need the polynomial between
    steps, its error is controlled, too."""
    times = np.linspace(0.0, 20.0, 2001)
    watched = begin(oscillator(), method, times=times)
    ignored = begin(oscillator(), method, sides=[2, 2, 2], times=times)
    all_roots(watched, 20.0)
    all_roots(ignored, 20.0)
    assert watched.statistics.steps == ignored.statistics.steps
    assert (watched.y == ignored.y).all()
    assert ignored.statistics.root_calls == 0
