"""Problems of the test sets for initial value problems, written in the language (`ivp/*.bg`).

Reference values are those published with the Test Set for IVP Solvers (Mazzia, Magherini: release 2.4, University of
Bari) for Robertson, HIRES, Van der Pol, the oregonator, the transistor amplifier and the ring modulator.
The pendulum has a closed form.  Whole curves with computed references are in `test_accuracy.py`."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import bglang

FOLDER = Path(__file__).parent / "ivp"
IMPLICIT = ("radau", "bdf")


def final(name: str, method: str, *names: str, tol: float | None = None) -> list[float]:
    result = bglang.load(FOLDER / f"{name}.bg").simulate(method=method, tol=tol, points=3)  # type: ignore[arg-type]
    return [float(result[variable][-1]) for variable in names]


@pytest.mark.parametrize("model", ["robertson", "robertson_dae"])
@pytest.mark.parametrize("method", ["auto", *IMPLICIT])
def test_robertson(model: str, method: str) -> None:
    expected = [0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050]
    assert final(model, method, "y1", "y2", "y3") == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("method", ["auto", *IMPLICIT])
def test_hires(method: str) -> None:
    expected = [
        0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2,
        0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2, 0.2850001604814231e-2,
    ]  # fmt: skip
    found = final("hires", method, *(f"y[{k}]" for k in range(1, 9)))
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("method", ["auto", *IMPLICIT])
def test_van_der_pol(method: str) -> None:
    assert final("van_der_pol", method, "x", "v") == pytest.approx([1.706167732170483, -0.8928097010247975], rel=1e-6)


@pytest.mark.parametrize("method", ["auto", *IMPLICIT])
def test_oregonator(method: str) -> None:
    expected = [1.000814870318523, 1228.178521549917, 132.0554942846706]
    assert final("oregonator", method, "y1", "y2", "y3") == pytest.approx(expected, rel=1e-4)


def test_transistor_amplifier() -> None:
    """Drawn as a bond graph, with the transistors as controlled sources."""
    expected = [
        -0.5562145012262709e-2, 3.006522471903042, 2.849958788608128, 2.926422536206241,
        2.704617865010554, 2.761837778393145, 4.770927631616772, 1.236995868091548,
    ]  # fmt: skip
    found = final("transistor_amplifier", "radau", *(f"n[{k}].e" for k in range(1, 9)), tol=1e-7)
    assert found == pytest.approx(expected, rel=1e-4)


def test_the_multistep_method_keeps_its_order_in_the_transistor_amplifier() -> None:
    """Its output magnifies what the states lag behind at low orders: each change of order or step shows as an error.

    It once took 1900 steps with an error of 250 tolerances on the way, as its algebraic variables counted as noise."""
    model = bglang.load(FOLDER / "transistor_amplifier.bg")
    result = model.simulate(method="bdf", tol=1e-6, points=401)
    assert result["n[8].e"][-1] == pytest.approx(1.236995868091548, rel=1e-7)
    exact = model.simulate(method="radau", tol=1e-10, points=401)["n[8].e"]
    assert np.abs(result["n[8].e"] - exact).max() < 3e-6 * np.abs(exact).max()
    assert result.stats.steps < 6500


def test_ring_modulator() -> None:
    """Its fast oscillations take a quarter of a million steps."""
    expected = [
        -0.2339057358486745e-1, -0.7367485485540825e-2, 0.2582956709291169, -0.4064465721283450,
        -0.4039455665149794, 0.2607966765422943, 0.1106761861269975,
    ]  # fmt: skip
    found = final("ring_modulator", "radau", *(f"U{k}" for k in range(1, 8)), tol=1e-7)
    assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("method", IMPLICIT)
def test_pendulum_with_a_dependent_velocity(method: str) -> None:
    """From the horizontal at rest: sin(theta/2) = k sn(K - w t, k^2) with k = sin(pi/4); after two seconds, nearly at
    its start again, the mass is where the integral says.  The energy stays."""
    result = bglang.load(FOLDER / "pendulum.bg").simulate(method=method, points=401)  # type: ignore[arg-type]
    k = np.sin(np.pi / 4)
    sn, _, _, _ = ellipj(ellipk(k**2) - np.sqrt(13.7503671) * result.time, k**2)
    theta = 2 * np.arcsin(k * sn)
    assert result["w.q"] == pytest.approx(theta, abs=1e-6)
    assert result.audit is not None and result.audit.relative_error < 1e-7
