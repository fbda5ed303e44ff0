"""Measured errors, over whole runs and all variables, against references that scipy computed from hand-written
equations (`ivp/make_references.py`; two of its runs agree to 3e-10)."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bglang

FOLDER = Path(__file__).parent / "ivp"
METHODS = ("radau", "bdf", "ida", "rk", "adams")
REFERENCES = json.loads((FOLDER / "references.json").read_text())
ALLOWED = {"brusselator": 10.0, "hires": 20.0, "pleiades": 400.0}
"""Tolerances that a run may be off by.  Ten is what is promised; Radau is at eleven in HIRES, and at seventeen where it
goes on after an explicit method.  Close passes of stars magnify what errs before them a hundredfold."""


@cache
def model(name: str) -> bglang.Model:
    return bglang.load(FOLDER / f"{name}.bg")


def error(result: bglang.Result, name: str) -> float:
    exact = np.array(REFERENCES[name]["values"])
    found = np.array([result[variable] for variable in REFERENCES[name]["names"]])
    return float((np.abs(found - exact).max(axis=1) / np.abs(exact).max(axis=1)).max())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ALLOWED)
def test_errors_are_about_the_tolerance(name: str, method: Any) -> None:
    rows = len(REFERENCES[name]["values"][0])
    for tol in (1e-4, 1e-6):
        result = model(name).simulate(method=method, tol=tol, points=rows)
        assert error(result, name) <= ALLOWED[name] * tol


@pytest.mark.parametrize("method", ["radau", "bdf", "rk"])
@pytest.mark.parametrize("name", ALLOWED)
def test_verify_sees_the_true_error(name: str, method: Any) -> None:
    rows = len(REFERENCES[name]["values"][0])
    found = model(name).verify(method=method, tol=1e-6, points=rows)
    true = error(found.result, name)
    assert 0.5 * true <= found.worst <= 2.0 * true
    assert found.good == (found.worst <= 1e-5)
