"""References: closed forms, or the equations written down by hand and integrated by scipy far below the tolerances."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def integrate(
    slope: Callable[[float, Array], Sequence[float] | Array], start: Sequence[float] | Array, stop: float,
    size: float = 1e-13,
) -> Array:  # fmt: skip
    """The end of a trajectory, to about twelve digits."""
    from scipy.integrate import solve_ivp

    found = solve_ivp(slope, (0.0, stop), start, method="DOP853", rtol=1e-13, atol=size)
    assert found.success
    end: Array = found.y[:, -1]
    return end


def ladder_end(n: int, stop: float) -> float:
    """The first voltage of an RC ladder after a step of one volt: the sum over its modes."""
    angle = (2 * np.arange(n) + 1) * np.pi / (2 * n + 1)
    rate = 2 - 2 * np.cos(angle)
    weight = 4 * np.sin(angle) ** 2 / (2 * n + 1) / rate
    return float(np.sum(weight * -np.expm1(-rate * stop)))


def rlc_end(n: int, stop: float) -> float:
    """The first voltage of an RLC ladder; what lies far behind the front of the wave has no say."""
    n = min(n, int(2 * stop) + 100)

    def slope(t: float, x: Array) -> Array:
        current, voltage = x[:n], x[n:]
        before, behind = np.append(1.0, voltage[:-1]), np.append(current[1:], 0.0)
        return np.concatenate([before - voltage - current, current - behind])

    return float(integrate(slope, np.zeros(2 * n), stop)[n])


def ball_height(stop: float, restitution: float = 0.8, g: float = 9.81) -> float:
    """From bounce to bounce."""
    at, speed = np.sqrt(2.0 / g), restitution * np.sqrt(2.0 * g)
    if stop <= at:
        return float(1.0 - g * stop**2 / 2.0)
    while at + 2.0 * speed / g < stop:
        at, speed = at + 2.0 * speed / g, restitution * speed
    return float(speed * (stop - at) - g * (stop - at) ** 2 / 2.0)


def arm_angle(stop: float) -> float:
    """Two links in coordinates of their own: Lagrange's equations by hand."""
    l1, d1, d2, m1, m2, j1, j2, g, damping = 1.0, 0.5, 0.4, 2.0, 1.5, 0.7, 0.1, 9.81, 0.05

    def slope(t: float, x: Array) -> Array:
        a, b, va, vb = x
        couple = m2 * l1 * d2
        mass = np.array([[j1 + m2 * l1**2, couple * np.cos(a - b)], [couple * np.cos(a - b), j2 + m2 * d2**2]])
        pull_a = -couple * np.sin(a - b) * vb**2 - (m1 * d1 + m2 * l1) * g * np.sin(a) - damping * va
        pull_b = couple * np.sin(a - b) * va**2 - m2 * d2 * g * np.sin(b)
        return np.concatenate([[va, vb], np.linalg.solve(mass, [pull_a, pull_b])])

    return float(integrate(slope, [0.8, -0.3, 0.0, 0.05 / j2], stop)[0])


def actuator_place(time: float) -> float:
    """The valve of document 003 by Kirchhoff's laws written out by hand, which the tests of the example use as well."""
    import sys
    from importlib.util import module_from_spec, spec_from_file_location

    path = Path(__file__).parent.parent / "tests" / "examples" / "actuator_reference.py"
    spec = spec_from_file_location("actuator_reference", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)  # its dataclasses look for themselves there
    spec.loader.exec_module(module)
    return float(module.stroke_run(module.Drive(), 0.1e-3, np.array([0.0, time]))[-1, 3])
