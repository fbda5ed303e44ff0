"""Curves: in the terminal without any dependency, as a picture or in a window with matplotlib.

Rows at events are part of every curve, and no points are dropped between them: a column of the terminal shows the
whole range that a curve runs through in it, so chattering looks like chattering.
"""

import math
import os
import shutil
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bglang.diagnostics import UsageError
from bglang.results.comparison import overlay_names
from bglang.results.result import Result, needs
from bglang.views.braille import Canvas

COLORS = (36, 33, 35, 32, 31, 34)
"""Terminal colours of the curves, in turn."""
Array = NDArray[np.float64]
PICTURES = (".png", ".svg", ".pdf")


def plot(
    results: Sequence[Result],
    names: str | Iterable[str] | None = None,
    *,
    to: str | PathLike[str] | None = None,
    span: tuple[float, float] = (-math.inf, math.inf),
    color: bool = False,
) -> str | None:
    """Curves of one result or several overlaid, over all their time or a `span` of it.

    Without `to` the text for a terminal; else a file, or a window."""
    chosen = _names(results, names)
    if all(not _within(result.time, span).any() for result in results):
        raise UsageError(f"no result has values between the times {span[0]:g} and {span[1]:g}")
    if to is None or to == "":
        return terminal(results, chosen, span=span, color=color)
    figure(results, chosen, to=to, span=span)
    return None


def _within(time: Array, span: tuple[float, float]) -> NDArray[np.bool_]:
    return (span[0] <= time) & (time <= span[1])


def _curve(result: Result, name: str, span: tuple[float, float]) -> tuple[Array, Array]:
    time, values = result.curve(name)
    kept = _within(time, span)
    return time[kept], values[kept]


def _names(results: Sequence[Result], names: str | Iterable[str] | None) -> list[str]:
    if not results:
        raise UsageError("there is nothing to plot")
    if names is not None:
        return results[0].select(names)
    if len(results) > 1:
        return overlay_names(results, None)
    return list(results[0].states or results[0].names)[:6]


# --- terminal -------------------------------------------------------------------------------------------------------


def terminal(
    results: Sequence[Result],
    names: Sequence[str],
    *,
    span: tuple[float, float] = (-math.inf, math.inf),
    color: bool = False,
    size: tuple[int, int] | None = None,
) -> str:
    """One panel for each variable (several results share it), as text."""
    columns, lines = size or shutil.get_terminal_size((100, 30))
    width = max(30, min(columns, 160) - 14)
    height = max(6, min(16, (lines - 2) // max(1, min(len(names), 3)) - 3))
    return "\n\n".join(
        _panel([_curve(r, name, span) for r in results if name in r], _title(results[0], name), (width, height), color)
        for name in names
    )


def _title(result: Result, name: str) -> str:
    unit = result.units.get(name, "")
    return f"{name} [{unit}]" if unit else name


def _panel(found: Sequence[tuple[Array, Array]], title: str, size: tuple[int, int], color: bool) -> str:
    width, height = size
    curves = [(t, v) for t, v in found if len(t)]
    finite = [v[np.isfinite(v)] for _, v in curves]
    values = np.concatenate(finite) if finite else np.zeros(0)
    if not len(values):
        return f"{title}\n  (no finite values)"
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        pad = abs(low) * 0.1 or 1.0
        low, high = low - pad, high + pad
    start = min(float(t[0]) for t, _ in curves)
    stop = max(float(t[-1]) for t, _ in curves)
    canvas = Canvas(width, height, (start, stop if stop > start else start + 1.0), (low, high))
    for k, (t, v) in enumerate(curves):
        canvas.curve(t, v, k)
    rows = canvas.rows(COLORS if color else None)
    labels = {0: high, height - 1: low, (height - 1) // 2: high - (high - low) * ((height - 1) // 2) / (height - 1)}
    shown = [f"{f'{labels[i]:.4g}' if i in labels else '':>10} ┤{row}" for i, row in enumerate(rows)]
    left, right = f"{start:.4g}", f"{stop:.4g}"
    axis = " " * 11 + "└" + "─" * width
    foot = " " * 12 + left + " " * max(1, width - len(left) - len(right)) + right
    return "\n".join([title, *shown, axis, foot])


# --- pictures ------------------------------------------------------------------------------------------------------


def figure(
    results: Sequence[Result],
    names: Sequence[str],
    *,
    to: str | PathLike[str] | None = None,
    against: str = "time",
    span: tuple[float, float] = (-math.inf, math.inf),
) -> Any:
    """A matplotlib figure: one panel for each unit; `to` is a png, svg or pdf file, or "window"."""
    target = os.fspath(to) if to is not None else ""
    window = target == "window"
    if target and not window and not target.lower().endswith(PICTURES):
        raise UsageError(f"`{target}`: pictures are written to {', '.join(PICTURES)}; the extension says which")
    matplotlib = needs("matplotlib", "plot")
    if not window and target:
        matplotlib.use("Agg")
    pyplot = needs("matplotlib.pyplot", "plot")
    panels = _panels(results[0], names)
    made, axes = pyplot.subplots(
        len(panels), 1, sharex=True, squeeze=False, figsize=(8, 1 + 2.4 * len(panels)), layout="constrained"
    )
    for axis, (unit, members) in zip(axes[:, 0], panels.items(), strict=True):
        for k, result in enumerate(results):
            for name in members:
                if name in result:
                    label = name if len(results) == 1 else f"{name} ({k + 1})"
                    kept = _within(result.curve(name)[0], span)
                    x, values = result.curve(against)[1][kept], result.curve(name)[1][kept]
                    axis.plot(x, values, ["-", "--", ":", "-."][k % 4], linewidth=1.2, label=label)
        axis.set_ylabel(f"[{unit}]" if unit else "")
        axis.grid(alpha=0.3)
        axis.legend(loc="best", fontsize="small")
    axes[-1, 0].set_xlabel("time [s]" if against == "time" else against)
    axes[0, 0].set_title(results[0].model)
    if window:
        pyplot.show()
    elif target:
        made.savefig(target, dpi=150)
        pyplot.close(made)
    return made


def _panels(result: Result, names: Sequence[str]) -> dict[str, list[str]]:
    """Variables of one unit share a panel; without a unit each has its own."""
    units = result.units
    panels = dict[str, list[str]]()
    for name in names:
        unit = units.get(name, "")
        panels.setdefault(unit or f"\0{name}", []).append(name)
    return {
        ("" if key.startswith("\0") else key) or _blank(i): members for i, (key, members) in enumerate(panels.items())
    }


def _blank(i: int) -> str:
    """Distinct empty labels: keys of a dictionary that all look like nothing."""
    return "\u200b" * (i + 1)
