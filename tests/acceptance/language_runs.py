"""What the tests of the language share: run a text, compare trajectories, collect the codes of messages."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

import bglang


def simulate(
    text: str, stop: float = 1.0, demand: tuple[str, ...] = (), method: str = "auto", **options: object
) -> "bglang.Result":
    if "model M " in text:
        options.setdefault("model", "M")
    model = bglang.loads(text, demand=demand, **options)  # type: ignore[arg-type]
    return model.simulate(stop=stop, tol=1e-9, points=51, method=method)  # type: ignore[arg-type]


def close(actual: ArrayLike, expected: ArrayLike, tolerance: float = 1e-6) -> None:
    """Within a tolerance relative to the size of the trajectory."""
    a, b = np.asarray(actual, float), np.asarray(expected, float)
    scale = float(np.max(np.abs(b))) or 1.0
    error = float(np.max(np.abs(a - b)))
    assert error <= tolerance * scale, f"off by {error} of {scale}"


def integrate(rate: object, start: list[float], time: np.ndarray) -> np.ndarray:
    """An independent solution of y' = rate(t, y), one row per variable."""
    span = (float(time[0]), float(time[-1]))
    found = solve_ivp(rate, span, start, method="DOP853", t_eval=time, rtol=1e-11, atol=1e-12)
    return np.asarray(found.y)


def codes(text: str, **options: object) -> list[str]:
    """Codes of all messages of a text that may be wrong, in order."""
    from bglang.diagnostics import Report, SourceError
    from bglang.pipeline import Request, causal, equations, front
    from bglang.source import Source

    report = Report()
    try:
        graph = front(Request(Source("model.bg", text), **options), report, numbers=True)  # type: ignore[arg-type]
        equations(graph, causal(graph, report), report)
    except SourceError as problem:
        assert tuple(report) == problem.diagnostics
    return [d.code for d in report]


def values(result: "bglang.Result", row: int, names: Mapping[str, float]) -> None:
    """Several variables at one row."""
    for name, expected in names.items():
        close([result[name][row]], [expected])
