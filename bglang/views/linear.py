"""Linear models for people: a page of text, and Bode, Nyquist, step and pole-zero pictures."""

import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bglang.equations.linearize import LinearModel

SHOWN = 12
"""Names in a list, and the largest matrix, on one screen."""
MODES, MOST_POINTS = 24, 20_000
MOST_SHAPES = 400
"""States up to which the page says who takes part in which mode: shapes cost the cube of this."""
PICTURES = ("bode", "nyquist", "step", "poles")


def report(model: LinearModel) -> str:
    """States, eigenvalues with frequency and damping, who takes part in which mode, and the matrices."""
    place = "the steady state" if model.steady else f"t = {model.time:g}"
    lines = [f"linear model at {place}"]
    shown = [f"{name} = {value:.6g}" for name, value in model.point] or list(model.states) or ["none"]
    lines.append(f"states:  {_listed(shown)}")
    lines.append(f"inputs:  {_listed(model.inputs or ('none',))}")
    lines.append(f"outputs: {_listed(model.outputs or ('none: --out NAMES',))}")
    if model.jumps:
        lines.append(f"moved at once by an input (the state is what stays continuous): {', '.join(model.jumps)}")
    lines += ["", *_modes(model)]
    rates = tuple(f"der({name})" for name in model.states)
    sides = {"A": (rates, model.states), "B": (rates, model.inputs), "C": (model.outputs, model.states),
             "D": (model.outputs, model.inputs)}  # fmt: skip
    for name, (rows, columns) in sides.items():
        matrix = getattr(model, name)
        if matrix.size:
            lines += ["", f"{name} =", *_matrix(matrix, rows, columns)]
    lines += _transfer(model)
    return "\n".join(lines)


def _modes(model: LinearModel) -> list[str]:
    if len(model.states) <= MOST_SHAPES:
        values, _, parts = model.modes()
    else:
        values, parts = model.poles(), np.zeros((len(model.states), len(model.states)))
    rows = [["eigenvalue", "frequency rad/s", "damping", "time constant s", "participation"]]
    seen = set[int]()
    for k, value in enumerate(values):
        if k in seen:
            continue
        if value.imag != 0.0:
            seen.update(k + 1 + np.flatnonzero(np.abs(values[k + 1 :] - value.conjugate()) < 1e-9 * abs(value)))
        size = abs(value)
        order = np.argsort(-parts[:, k])[:3]
        who = ", ".join(f"{model.states[i]} {100 * parts[i, k]:.0f}%" for i in order if parts[i, k] > 0.05)
        text = f"{value.real:.6g}" + (f" ± {abs(value.imag):.6g}i" if value.imag else "")
        damping = f"{-value.real / size:.4g}" if size and value.imag else ""
        constant = f"{-1 / value.real:.4g}" if value.real else ""
        rows.append([text, f"{size:.6g}" if value.imag else "", damping, constant, who])
    if len(rows) == 1:
        return ["no states: the model is algebraic"]
    more = len(rows) - 1 - MODES
    return [*_columns(rows[: MODES + 1]), *([f"… {more} faster ones: --json shows them"] if more > 0 else [])]


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def _listed(names: Sequence[str]) -> str:
    """On one screen, however many there are."""
    shown = ", ".join(names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown}, … {len(names) - SHOWN} more"


def _matrix(matrix: Any, rows: Sequence[str], columns: Sequence[str]) -> list[str]:
    if max(matrix.shape) > SHOWN:
        return [f"  ({matrix.shape[0]} x {matrix.shape[1]}: --json shows it)"]
    cells = [["", *columns], *([row, *(f"{value:.6g}" for value in values)]
                               for row, values in zip(rows, matrix, strict=True))]  # fmt: skip
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    return ["  " + "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in cells]


def _transfer(model: LinearModel) -> list[str]:
    lines = list[str]()
    if not (1 <= len(model.inputs) * len(model.outputs) <= 6):
        return lines
    for j, u in enumerate(model.inputs):
        for i, y in enumerate(model.outputs):
            zeros = ", ".join(_complex(z) for z in model.zeros(i, j)) or "none"
            lines.append(f"{u} -> {y}: zeros {zeros}; static gain {_static(model, i, j)}")
    return ["", *lines]


def _complex(value: complex) -> str:
    return (
        f"{value.real:.5g}" if abs(value.imag) < 1e-12 * max(1.0, abs(value)) else f"{value.real:.5g}{value.imag:+.5g}i"
    )


def _static(model: LinearModel, output: int, input: int) -> str:
    """The gain towards frequency zero, which an integrator elsewhere in the model does not matter to."""
    try:
        return f"{model.gain(0.0)[output, input].real:.6g}"
    except np.linalg.LinAlgError:
        sizes = [abs(p) for p in model.poles() if abs(p) > 1e-9]
        slow = 1e-6 * min(sizes, default=1.0)
        one, two = (model.gain(s)[output, input].real for s in (slow, slow / 10))
        return "infinite (an integrator)" if abs(two) > 3 * abs(one) else f"{two:.6g}"


def frequencies(model: LinearModel, count: int = 400) -> Any:
    """A range of frequencies that shows every pole, a decade and a half beyond both ends, dense at every resonance."""
    poles = [p for p in model.poles() if abs(p) > 1e-12]
    sizes = [abs(p) for p in poles]
    low, high = (min(sizes), max(sizes)) if sizes else (1.0, 1.0)
    grid = np.logspace(math.log10(low) - 1.5, math.log10(high) + 1.5, count)
    angles = np.tan(np.linspace(-1.55, 1.55, 81))  # even steps along the circle that a resonance draws
    sharp = [p for p in poles if p.imag > 10 * abs(p.real)][:MODES]
    near = [p.imag + max(abs(p.real), 1e-6 * p.imag) * angles for p in sharp]
    together = np.concatenate([grid, *near])
    return np.unique(together[(together >= grid[0]) & (together <= grid[-1])])


def draw(model: LinearModel, kind: str, path: str | PathLike[str]) -> None:
    """One picture into a file; every input against every output."""
    from bglang.results.result import needs

    needs("matplotlib", "plot")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    {"bode": _bode, "nyquist": _nyquist, "step": _step, "poles": _poles}[kind](model, figure)
    figure.savefig(Path(path))


def _responses(model: LinearModel) -> tuple[Any, Any]:
    w = frequencies(model)
    return w, np.array([model.gain(1j * x) for x in w])


def _bode(model: LinearModel, figure: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    w, g = _responses(model)
    size, phase = figure.subplots(2, 1, sharex=True)
    for j, u in enumerate(model.inputs):
        for i, y in enumerate(model.outputs):
            size.loglog(w, np.abs(g[:, i, j]), label=f"{u} → {y}")
            phase.semilogx(w, np.degrees(np.unwrap(np.angle(g[:, i, j]))))
    size.set_ylabel("magnitude")
    phase.set_ylabel("phase in degrees")
    phase.set_xlabel("frequency in rad/s")
    phase.yaxis.set_major_locator(MaxNLocator(steps=[1, 4.5, 9, 10]))
    size.legend()
    for axes in (size, phase):
        axes.grid(True, which="both", alpha=0.3)


def _nyquist(model: LinearModel, figure: Any) -> None:
    _, g = _responses(model)
    axes = figure.subplots()
    for j, u in enumerate(model.inputs):
        for i, y in enumerate(model.outputs):
            (line,) = axes.plot(g[:, i, j].real, g[:, i, j].imag, label=f"{u} → {y}")
            axes.plot(g[:, i, j].real, -g[:, i, j].imag, color=line.get_color(), alpha=0.4)
    axes.plot([-1], [0], "k+")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("real part")
    axes.set_ylabel("imaginary part")
    axes.legend()
    axes.grid(True, alpha=0.3)


def _step(model: LinearModel, figure: Any) -> None:
    from scipy.linalg import expm

    n = len(model.states)
    rates = [abs(p.real) for p in model.poles() if abs(p.real) > 1e-12] or [1.0]
    stop = 6 / min(rates)
    fastest = max((abs(p.imag) for p in model.poles() if abs(p.real) < abs(p.imag)), default=0.0)
    t = np.linspace(0, stop, int(min(max(400, 4 * stop * fastest), MOST_POINTS)))
    axes = figure.subplots()
    for j, u in enumerate(model.inputs):
        whole = np.zeros((n + 1, n + 1))
        whole[:n, :n], whole[:n, n] = model.A, model.B[:, j]
        one = expm(whole * t[1])
        x = np.zeros((len(t), n + 1))
        x[0, n] = 1.0
        for k in range(1, len(t)):
            x[k] = one @ x[k - 1]
        for i, y in enumerate(model.outputs):
            axes.plot(t, x[:, :n] @ model.C[i] + model.D[i, j], label=f"{u} → {y}")
    axes.set_xlabel("time in s")
    axes.set_ylabel("response to a unit step")
    axes.legend()
    axes.grid(True, alpha=0.3)


def _poles(model: LinearModel, figure: Any) -> None:
    axes = figure.subplots()
    poles = model.poles()
    axes.plot(poles.real, poles.imag, "x", label="poles")
    zeros = model.zeros()
    if len(zeros):
        axes.plot(zeros.real, zeros.imag, "o", fillstyle="none", label=f"zeros, {model.inputs[0]} → {model.outputs[0]}")
    axes.axvline(0, color="black", linewidth=0.5)
    axes.set_xlabel("real part")
    axes.set_ylabel("imaginary part")
    axes.legend()
    axes.grid(True, alpha=0.3)
