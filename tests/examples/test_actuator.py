"""The electromagnetic actuator against Kirchhoff's laws written out by hand (`actuator_reference.py`)."""

from pathlib import Path

import actuator_reference as reference
import numpy as np
import pytest

import bglang

FOLDER = Path(__file__).parents[2] / "examples" / "actuator"
PRINTED = {"actuator.magnet.turns1": 37.5, "actuator.magnet.turns2": 20.3}


def test_the_first_instant_is_that_of_the_errata() -> None:
    model = bglang.load(FOLDER / "coil_step.bg")
    scaled, printed = model.simulate(stop=1e-6), model.simulate(stop=1e-6, set=PRINTED)
    assert scaled["actuator.magnet.i.f"][0] == pytest.approx(1.06396, abs=5e-6)
    assert printed["actuator.magnet.i.f"][0] == pytest.approx(0.21954, abs=5e-6)
    ohms = {row.name: row.value for row in model.parameters()}["actuator.magnet.R"]
    assert ohms == pytest.approx(0.27446, abs=5e-6)


def test_the_table_holds_the_surviving_rows_of_the_thesis() -> None:
    kilogauss_oersted = [(0.2, 0.025), (2.6, 0.1), (4, 0.12), (8, 0.18), (10, 0.21), (12, 0.28), (14, 0.425), (16, 1.0)]
    found = np.loadtxt(reference.TABLE, delimiter=",", skiprows=1)
    assert found[0].tolist() == [0, 350]
    assert found[1:9] == pytest.approx(np.array([(b / 10, 1000 * b / h) for b, h in kilogauss_oersted]))
    assert len(found) == 12


def test_force_map() -> None:
    model = bglang.load(FOLDER / "force_map.bg")
    for current in (2.0, 5.0, 10.7):
        for gap in (0.108e-3, 0.158e-3, 0.258e-3):
            result = model.simulate(stop=1e-6, set={"current": current, "gap": gap})
            turns = reference.Drive().turns
            assert result["force"] == pytest.approx(reference.steady_force(turns, current, gap), rel=1e-7)


@pytest.mark.parametrize("gap", [0.108e-3, 0.208e-3])
def test_current_with_the_armature_held(gap: float) -> None:
    result = bglang.load(FOLDER / "coil_step.bg").simulate(points=101, set={"gap": gap})
    current, pull = reference.held(reference.Drive(width=1), gap, result.time)
    assert result["actuator.magnet.i.f"] == pytest.approx(current, rel=1e-6)
    assert result["actuator.load.pull"] == pytest.approx(pull, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("stroke", [0.1e-3, 0.15e-3])
def test_close_hold_and_release(stroke: float) -> None:
    result = bglang.load(FOLDER / "stroke.bg").simulate(points=241, set={"actuator.load.stroke": stroke})
    expected = reference.stroke_run(reference.Drive(), stroke, result.time).T
    assert result["actuator.load.stops.q"] == pytest.approx(expected[3], abs=1e-6 * stroke)
    assert result["actuator.magnet.gaps.mag.q"] == pytest.approx(expected[2], abs=1e-6 * expected[2].max())
    assert result["actuator.load.v.f"] == pytest.approx(expected[4], abs=1e-4 * np.abs(expected[4]).max())
    assert result.audit is not None and result.audit.relative_error < 1e-8


def test_regulation_begins_where_the_thesis_plots_it() -> None:
    for stroke in (0.1e-3, 0.15e-3):
        result = bglang.load(FOLDER / "stroke.bg").simulate(set={"actuator.load.stroke": stroke})
        first = next(e.time for e in result.events if e.relation.startswith("min(actuator.drive.Vsat") and e.time > 0)
        assert first == pytest.approx(0.6e-3, abs=0.1e-3)
    voltage = result["actuator.drive.u.e"]
    assert voltage.max() == pytest.approx(12.5) and voltage.min() == pytest.approx(-45.0)


def test_another_drive() -> None:
    result = bglang.load(FOLDER / "battery.bg").simulate(points=161)
    expected = reference.stroke_run(reference.Battery(width=1.2e-3), 0.1e-3, result.time).T
    assert result["actuator.load.stops.q"] == pytest.approx(expected[3], abs=1e-10)
    assert result["actuator.magnet.gaps.mag.q"] == pytest.approx(expected[2], abs=1e-6 * expected[2].max())
    assert result.audit is not None and result.audit.relative_error < 1e-6
