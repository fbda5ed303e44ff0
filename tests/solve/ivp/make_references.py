"""Reference curves for `test_accuracy.py`: `python tests/solve/ivp/make_references.py` writes `references.json`.

The equations are written by hand and integrated by scipy, twice with integrators or tolerances of their own; the
numbers differ by no more than `agree` (against the largest value of each variable), which is written beside them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

ROWS = 41
Array = Any


def hires(t: float, y: Array) -> list[float]:
    r = 280 * y[5] * y[7]
    return [
        -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007, 1.71 * y[0] - 8.75 * y[1],
        -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4], 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
        -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6], -r + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
        r - 1.81 * y[6], -r + 1.81 * y[6],
    ]  # fmt: skip


def pleiades(t: float, w: Array) -> Array:
    x, y, u, v = w.reshape(4, 7)
    m = np.arange(1, 8)
    dx, dy = x[None, :] - x[:, None], y[None, :] - y[:, None]
    r = (dx**2 + dy**2 + np.eye(7)) ** 1.5
    return np.concatenate([u, v, (m * dx / r).sum(axis=1), (m * dy / r).sum(axis=1)])


def brusselator(t: float, w: Array) -> Array:
    """Ten cells between walls, cells of the first kind first."""
    u, v = w.reshape(2, 10)
    wide, high = np.concatenate([[1.0], u, [1.0]]), np.concatenate([[3.0], v, [3.0]])
    c = 0.02 * 11.0**2
    return np.concatenate(
        [1 + u * u * v - 4 * u + c * np.diff(wide, 2), 3 * u - u * u * v + c * np.diff(high, 2)]
    )  # fmt: skip


STARS = np.array(
    [3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4, 0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0], dtype=float
)
CELLS = np.concatenate([1 + np.sin(2 * np.pi * np.arange(1, 11) / 11), np.full(10, 3.0)])
CASES: dict[str, tuple[Callable[..., Any], Array, float, list[str], str]] = {
    "hires": (hires, [1, 0, 0, 0, 0, 0, 0, 0.0057], 321.8122, [f"y[{k}]" for k in range(1, 9)], "Radau"),
    "pleiades": (pleiades, STARS, 3.0, [f"{s}[{k}]" for s in "xyuv" for k in range(1, 8)], "DOP853"),
    "brusselator": (brusselator, CELLS, 10.0, [f"{s}[{k}]" for s in "uv" for k in range(1, 11)], "DOP853"),
}


def main() -> None:
    made: dict[str, Any] = {}
    for name, (rate, start, stop, names, method) in CASES.items():
        times = np.linspace(0, stop, ROWS)
        one, two = (
            solve_ivp(rate, (0, stop), start, method=method, t_eval=times, rtol=rtol, atol=rtol * 1e-6).y
            for rtol in (1e-12, 1e-11)
        )
        agree = float((np.abs(one - two).max(axis=1) / np.abs(one).max(axis=1)).max())
        made[name] = {"agree": agree, "names": names, "values": one.tolist()}
        print(name, agree)
    (Path(__file__).parent / "references.json").write_text(json.dumps(made) + "\n")


if __name__ == "__main__":
    main()
