"""What an import read, told to the user."""

import numpy as np

from bglang.interop.mck import Matrix, MckFile
from bglang.interop.mck_source import Written, forces

SHOWN = 12
"""So many frequencies are listed."""


def describe(model: MckFile, form: str, written: Written) -> str:
    """Dimension, counts, first and last value of every matrix, nodes and connectors, natural frequencies."""
    rows = [("dimension", f"{model.dimension}")]
    sources = forces(model)
    listed = ", ".join(f"{value:g} on dof {i}" for i, value in sources[:SHOWN])
    rows.append(("forces", f"{len(sources)} source{'' if len(sources) == 1 else 's'}{': ' if sources else ''}{listed}"))
    rows.append(("mass", counted(model.mass, "mass")))
    rows.append(("stiffness", counted(model.stiffness, "stiffness")))
    rows.append(("damping", "0 damping elements" if model.damping is None else counted(model.damping, "damping")))
    graph = f"{written.nodes} nodes, {written.connectors} connectors" if written.nodes else "state equations only"
    rows.append((form, graph))
    found = natural_frequencies(model.mass, model.stiffness)
    more = f", … {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    listed = ", ".join(f"{abs(w):.6g}{'i' if w < 0 else ''}" for w in found[:SHOWN])
    rows.append(("frequencies", f"{listed}{more} rad/s" if found else "none: nothing has mass"))
    if found and found[0] < 0:
        rows.append(("unstable", "the stiffness matrix is indefinite: motions of imaginary frequency grow"))
    head = f"{model.name}: {model.title}" if model.title else model.name
    return "\n".join([head, *(f"  {word:<12}{text}" for word, text in rows)])


def counted(values: Matrix, word: str) -> str:
    return f"{values.size} {word} elements, first {values.flat[0]:g}, last {values.flat[-1]:g}"


def natural_frequencies(mass: Matrix, stiffness: Matrix) -> list[float]:
    """Frequencies without damping, upwards, imaginary ones as negative; motions without mass have none."""
    from scipy.linalg import eig

    alpha, beta = eig(stiffness, mass, right=False, homogeneous_eigvals=True)
    finite = np.abs(beta) > 1e-12 * np.abs(beta).max()
    squared = np.sort((alpha[finite] / beta[finite]).real)
    floor = 1e-12 * (np.abs(squared).max() if squared.size else 1.0)
    return [0.0 if abs(x) < floor else float(np.sign(x) * np.sqrt(abs(x))) for x in squared]
