"""Sources of every domain and of signals: what they give over time."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from using import run

Vector = npt.NDArray[np.float64]


def step(before: float, after: float, t0: float) -> Callable[[Vector], Vector]:
    return lambda t: np.where(t < t0, before, after)


def ramp(before: float, after: float, t0: float, duration: float) -> Callable[[Vector], Vector]:
    return lambda t: before + (after - before) * np.clip((t - t0) / duration, 0, 1)


def sine(size: float, frequency: float, phase: float, offset: float = 0) -> Callable[[Vector], Vector]:
    return lambda t: offset + size * np.sin(2 * np.pi * frequency * t + phase)


def constant(value: float) -> Callable[[Vector], Vector]:
    return lambda t: np.full_like(t, value)


def pulses(low: float, high: float, period: float, width: float, t0: float) -> Callable[[Vector], Vector]:
    return lambda t: np.where((t >= t0) & (np.mod(t - t0, period) < width * period), high, low)


def points(t: Vector) -> Vector:
    return np.interp(t, [0, 0.4, 1, 2], [1, 3, -1, 0])


DATA = "data = [0, 1; 0.4, 3; 1, -1; 2, 0]"
EFFORTS = {
    "Electrical.Sources.ConstantVoltage(V = 3)": constant(3),
    "Electrical.Sources.StepVoltage(V0 = 1, V1 = 3, t0 = 0.503)": step(1, 3, 0.503),
    "Electrical.Sources.RampVoltage(V0 = 1, V1 = 3, t0 = 0.2, duration = 0.5)": ramp(1, 3, 0.2, 0.5),
    "Electrical.Sources.SineVoltage(V = 3, frequency = 2, phase = 0.3, offset = 1)": sine(3, 2, 0.3, 1),
    "Electrical.Sources.PulseVoltage(low = 1, high = 3, period = 0.3, width = 0.35, t0 = 0.123)": pulses(
        1, 3, 0.3, 0.35, 0.123
    ),
    f"Electrical.Sources.TableVoltage({DATA})": points,
    "Translational.Sources.ConstantForce(F = 3)": constant(3),
    "Translational.Sources.StepForce(F0 = 1, F1 = 3, t0 = 0.503)": step(1, 3, 0.503),
    "Translational.Sources.RampForce(F0 = 1, F1 = 3, t0 = 0.2, duration = 0.5)": ramp(1, 3, 0.2, 0.5),
    "Translational.Sources.SineForce(F = 3, frequency = 2, phase = 0.3)": sine(3, 2, 0.3),
    f"Translational.Sources.TableForce({DATA})": points,
    "Translational.Sources.Weight(m = 2)": constant(2 * 9.80665),
    "Rotational.Sources.ConstantTorque(M = 3)": constant(3),
    "Rotational.Sources.StepTorque(M0 = 1, M1 = 3, t0 = 0.503)": step(1, 3, 0.503),
    "Rotational.Sources.RampTorque(M0 = 1, M1 = 3, t0 = 0.2, duration = 0.5)": ramp(1, 3, 0.2, 0.5),
    "Rotational.Sources.SineTorque(M = 3, frequency = 2, phase = 0.3)": sine(3, 2, 0.3),
    f"Rotational.Sources.TableTorque({DATA})": points,
    "Hydraulic.Sources.ConstantPressure(p0 = 3)": constant(3),
    "Hydraulic.Sources.StepPressure(p0 = 1, p1 = 3, t0 = 0.503)": step(1, 3, 0.503),
    "Hydraulic.Sources.SinePressure(p = 3, frequency = 2, phase = 0.3, offset = 1)": sine(3, 2, 0.3, 1),
    f"Hydraulic.Sources.TablePressure({DATA})": points,
    "Magnetic.Components.MMF(F = 3)": constant(3),
    "Thermal.Temperature(T = 300)": constant(300),
    "Thermal.Pseudo.Temperature(T = 300)": constant(300),
    "Chemical.Chemostat(mu = 3)": constant(3),
}
FLOWS = {
    "Electrical.Sources.ConstantCurrent(I0 = 3)": constant(3),
    "Electrical.Sources.StepCurrent(I0 = 1, I1 = 3, t0 = 0.503)": step(1, 3, 0.503),
    "Electrical.Sources.RampCurrent(I0 = 1, I1 = 3, t0 = 0.2, duration = 0.5)": ramp(1, 3, 0.2, 0.5),
    "Electrical.Sources.SineCurrent(A = 3, frequency = 2, phase = 0.3, offset = 1)": sine(3, 2, 0.3, 1),
    "Electrical.Sources.PulseCurrent(low = 1, high = 3, period = 0.3, width = 0.35, t0 = 0.123)": pulses(
        1, 3, 0.3, 0.35, 0.123
    ),
    f"Electrical.Sources.TableCurrent({DATA})": points,
    "Translational.Sources.Velocity(v = 3)": constant(3),
    "Translational.Sources.SineVelocity(v = 3, frequency = 2, phase = 0.3)": sine(3, 2, 0.3),
    f"Translational.Sources.TableVelocity({DATA})": points,
    "Rotational.Sources.ConstantSpeed(w = 3)": constant(3),
    "Rotational.Sources.SineSpeed(w = 3, frequency = 2, phase = 0.3)": sine(3, 2, 0.3),
    f"Rotational.Sources.TableSpeed({DATA})": points,
    "Hydraulic.Sources.ConstantFlow(Q = 3)": constant(3),
    "Hydraulic.Sources.StepFlow(Q0 = 1, Q1 = 3, t0 = 0.503)": step(1, 3, 0.503),
    f"Hydraulic.Sources.TableFlow({DATA})": points,
    "Thermal.Pseudo.HeatFlow(Q = 3)": constant(3),
    "Chemical.Influx(v = 3)": constant(3),
}
SIGNALS = {
    "Signal.Constant(k = 3)": constant(3),
    "Signal.Step(height = 2, offset = 1, startTime = 0.503)": step(1, 3, 0.503),
    "Signal.Ramp(height = 2, duration = 0.5, offset = 1, startTime = 0.2)": ramp(1, 3, 0.2, 0.5),
    "Signal.Sine(amplitude = 3, frequency = 2, phase = 0.3, offset = 1)": sine(3, 2, 0.3, 1),
    "Signal.Pulse(amplitude = 2, width = 0.35, period = 0.3, offset = 1, startTime = 0.123)": pulses(
        1, 3, 0.3, 0.35, 0.123
    ),
    f"Signal.PWL({DATA})": points,
    "Signal.Chirp(amplitude = 2, f0 = 1, f1 = 5, duration = 2)": lambda t: 2 * np.sin(2 * np.pi * (t + t**2)),
}


def declared(text: str) -> str:
    """`Class(arguments)` as a declaration of `s`."""
    name, arguments = text.split("(", 1)
    return f"{name} s({arguments};"


@pytest.mark.parametrize("text", EFFORTS)
def test_efforts(text: str) -> None:
    result = run(f"{declared(text)} J1 j; R r(R = 2);", "s -> j -> r;", 1.97)
    assert result["r.e"] == pytest.approx(EFFORTS[text](result.time))
    assert result["r.f"] == pytest.approx(EFFORTS[text](result.time) / 2)


@pytest.mark.parametrize("text", FLOWS)
def test_flows(text: str) -> None:
    result = run(f"{declared(text)} J0 j; R r(R = 2);", "s -> j -> r;", 1.97)
    assert result["r.f"] == pytest.approx(FLOWS[text](result.time))
    assert result["r.e"] == pytest.approx(FLOWS[text](result.time) * 2)


@pytest.mark.parametrize("text", SIGNALS)
def test_signals(text: str) -> None:
    result = run(declared(text), "", 1.97)
    assert result["s.y"] == pytest.approx(SIGNALS[text](result.time))
