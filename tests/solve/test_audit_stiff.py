"""The energy audit where a step passes over a transient: against the same powers integrated by another program."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import bglang
import bglang.solve.audit
from bglang.expr.evaluate import Values, evaluate
from bglang.solve.audit import EnergyMeter
from bglang.solve.consistent import Instant
from bglang.solve.model import ReferenceModel

WHEEL = """
model Wheel "a motor that swings drives a wheel through a stiff freewheel"
  Se motor(e = 5*sin(3*time));
  I rotor(I = 0.5), wheel(I = 2);
  R drag(R = 0.2);
  Rotational.Drives.Freewheel slips(d = 1e5);
  J1 a, w, slip;
  J0 n;
bonds
  motor -> a -> rotor; a -> n -> slip -> slips; n -> w -> wheel, drag;
end Wheel;
"""
BRIDGE = """
model Bridge "a rectifier fed through an inductance"
  Se source(e = 12*sin(2*pi*50*time)), ground(e = 0);
  R rs(R = 0.5), load(R = 20);
  I ls(I = 1e-3);
  C c(C = 2e-3);
  Electrical.Semiconductors.PiecewiseDiode d1(Ron = 0.05), d2(Ron = 0.05), d3(Ron = 0.05), d4(Ron = 0.05);
  J1 i, i1, i2, i3, i4, out;
  J0 a, b, p, n, u;
bonds
  source -> i -> rs, ls; i -> a; b -> i;
  a -> i1 -> p; i1 -> d1; b -> i2 -> p; i2 -> d2;
  n -> i3 -> a; i3 -> d3; n -> i4 -> b; i4 -> d4;
  p -> out -> n; out -> u -> c, load; ground -> n;
end Bridge;
"""
TURNS = "[-9, -30; -4, -9; -1, -1.2; 0, 0; 1, 1; 4, 7; 9, 40]"
CURVED = WHEEL.replace(
    "drag(R", f'drag(R = 0.2); C spring(e = table(q, {TURNS}, method = "spline")); R more(R'
).replace("wheel, drag", "wheel, drag, more, spring")
"""The energy of the spring is known as an integral only."""


def audited(result: bglang.Result) -> dict[str, float]:
    assert result.audit is not None
    return {entry.element: entry.energy for entry in result.audit.entries}


def wheel() -> dict[str, float]:
    """Energies as states beside the two speeds."""

    def rate(t: float, y: np.ndarray) -> list[float]:
        push, torque = 5.0 * np.sin(3.0 * t), 1e5 * max(0.0, y[0] - y[1])
        drag = 0.2 * y[1]
        powers = [push * y[0], drag * y[1], torque * (y[0] - y[1])]
        return [(push - torque) / 0.5, (torque - drag) / 2.0, *powers]

    y = solve_ivp(rate, (0, 10), np.zeros(5), "Radau", rtol=1e-9, atol=1e-12).y[:, -1]
    return {"motor": y[2], "drag": y[3], "slips": y[4], "rotor": 0.25 * y[0] ** 2, "wheel": y[1] ** 2}


def bridge() -> dict[str, float]:
    """By symmetry both diodes of a pair have one voltage, x - u/2 or -x - u/2, and il = i1 - i3, iout = i1 + i2."""
    off, on, knee = 1e-8, 1.0 / 0.05, 0.6

    def voltages(il: float, u: float) -> tuple[float, float]:
        x = abs(il) / (2.0 * off)
        if x - u / 2.0 > knee:  # one pair conducts
            x = (abs(il) - off * knee + on * (u / 2.0 + knee) - off * u / 2.0) / (on + off)
        x = np.copysign(x, il)
        return x - u / 2.0, -x - u / 2.0

    def current(e: float) -> float:
        return off * knee + (e - knee) * on if e > knee else off * e

    def rate(t: float, y: np.ndarray) -> list[float]:
        il, u, source = y[0] / 1e-3, y[1] / 2e-3, 12.0 * np.sin(2.0 * np.pi * 50.0 * t)
        e1, e2 = voltages(il, u)
        powers = [source * il, 0.5 * il**2, u**2 / 20.0, e1 * current(e1), e2 * current(e2)]
        return [source - 0.5 * il - (e1 - e2), current(e1) + current(e2) - u / 20.0, *powers]

    y = solve_ivp(rate, (0, 0.06), np.zeros(7), "Radau", rtol=1e-9, atol=1e-13, max_step=2e-4).y[:, -1]
    names = ("source", "rs", "load", "d1", "d2")
    return dict(zip(names, y[2:].tolist(), strict=True)) | {"d3": y[6], "d4": y[5], "c": y[1] ** 2 / 4e-3}


def curved() -> dict[str, float]:
    """A cubic spline of scipy's, and its own integral."""
    points = np.array([[-9, -30], [-4, -9], [-1, -1.2], [0, 0], [1, 1], [4, 7], [9, 40]])
    law = CubicSpline(points[:, 0], points[:, 1])

    def rate(t: float, y: np.ndarray) -> list[float]:
        push, torque, back = 5.0 * np.sin(3.0 * t), 1e5 * max(0.0, y[0] - y[1]), float(law(y[2]))
        powers = [push * y[0], 0.2 * y[1] ** 2, torque * (y[0] - y[1])]
        return [(push - torque) / 0.5, (torque - 0.4 * y[1] - back) / 2.0, y[1], *powers]

    y = solve_ivp(rate, (0, 10), np.zeros(6), "Radau", rtol=1e-9, atol=1e-12).y[:, -1]
    names = ("motor", "drag", "slips")
    return dict(zip(names, y[3:].tolist(), strict=True)) | {"spring": float(law.integrate(0.0, y[2])), "more": y[4]}


@pytest.mark.parametrize("tol", [1e-6, 1e-8])
@pytest.mark.parametrize(
    ("text", "stop", "expected"), [(WHEEL, 10.0, wheel), (BRIDGE, 0.06, bridge), (CURVED, 10.0, curved)]
)
def test_transients_within_a_step(text: str, stop: float, expected, tol: float) -> None:  # type: ignore[no-untyped-def]
    """After an event a stiff current dies out long before the first step ends."""
    result = bglang.loads(text).simulate(stop=stop, points=51, tol=tol, method="radau")
    assert result.audit is not None and result.audit.relative_error < max(tol, 1e-7)
    assert not result.warnings
    found, reference = audited(result), expected()
    size = max(abs(value) for value in reference.values())
    for name, value in reference.items():
        assert found[name] == pytest.approx(value, abs=100 * tol * size), name


def test_smooth_runs_are_integrated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted work: the model is not solved again where polynomials do."""

    def never(*arguments: object) -> None:
        raise AssertionError("solved again")

    monkeypatch.setattr(bglang.solve.audit, "collocated", never)
    smooth = "model M Se s(e = sin(time)); R r(R = 1); I i(I = 2); C c(C = 0.5); J1 v; bonds s -> v -> r, i, c; end M;"
    result = bglang.loads(smooth).simulate(stop=20, tol=1e-8, method="radau")
    assert result.audit is not None and result.audit.relative_error < 1e-7


@pytest.mark.parametrize("resistance", [1.0, 1.2])
def test_a_trajectory_of_another_model_does_not_balance(resistance: float) -> None:
    """Intervals that do not balance are solved again, but they balance only where the trajectory is the model's."""
    text = "model M R r(R = {}); I i(I = 2, p(start = 3)); C c(C = 0.5); J1 v; bonds v -> r, i, c; end M;"
    run = bglang.loads(text.format(1.0)).simulate(stop=4, points=401, tol=1e-10)
    system = bglang.loads(text.format(resistance)).compile()
    model = ReferenceModel(system, np.array([evaluate(q.value, Values()) for q in system.parameters]))
    values = {"i.p": (run["i.p"], run["i.e"]), "c.q": (run["c.q"], run["c.f"])}
    y, d = (np.column_stack([values[u.name][k] for u in system.unknowns]) for k in (0, 1))
    ends = [Instant(float(run.time[k]), y[k], d[k], np.zeros(0)) for k in (0, -1)]
    meter = EnergyMeter(model, 1e-10)
    meter.begin(ends[0])
    meter.nodes(run.time, y, d, np.zeros(0), True)
    missing = meter.audit(ends[1]).error
    assert missing == pytest.approx((1.0 - resistance) * np.trapezoid(run["v.f"] ** 2, run.time), rel=0.01, abs=1e-8)
