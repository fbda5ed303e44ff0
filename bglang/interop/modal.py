"""Modes of M z'' + C z' + K z = E: frequencies, shapes, modal damping, and why a model has no modal form."""

import numpy as np
from numpy.typing import NDArray

from bglang.records import dataclass

Matrix = NDArray[np.float64]
COUPLING = 1e-6
"""Off-diagonal modal damping larger than this part of its diagonal is not proportional."""


@dataclass(frozen=True, slots=True)
class Modes:
    """Mass-normalised: UᵀMU = 1, UᵀKU = diag(stiffness), frequencies upwards, largest component of a shape positive.

    `damping` is the diagonal of UᵀCU."""

    frequency: Matrix
    shapes: Matrix
    stiffness: Matrix
    damping: Matrix

    @property
    def ratios(self) -> Matrix:
        """Damping ratios; 0 for modes without frequency."""
        twice = 2 * np.abs(self.frequency)
        ratios: Matrix = np.divide(self.damping, twice, out=np.zeros_like(twice), where=twice > 0)
        return ratios


class NotModal(Exception):
    """The model has no modal form; the message says why."""


def modes(mass: Matrix, damping: Matrix | None, stiffness: Matrix) -> Modes:
    """The modal form; `NotModal` if the mass matrix is singular or the damping couples the modes."""
    found = undamped_modes(mass, damping, stiffness)
    if damping is not None:
        _refuse_coupling(found.shapes.T @ damping @ found.shapes)
    return found


def undamped_modes(mass: Matrix, damping: Matrix | None, stiffness: Matrix) -> Modes:
    """Modes without damping; of the modal damping the diagonal, whatever couples beside it."""
    from scipy.linalg import eigh

    lowest = np.linalg.eigvalsh(mass)[0]
    if lowest <= 1e-12 * np.abs(mass).max():
        raise NotModal(
            "the mass matrix is singular: some coordinates have no mass; the multiport form keeps them implicit"
        )
    squared, shapes = eigh(stiffness, mass)
    scale = np.abs(squared).max() or 1.0
    squared = np.where(np.abs(squared) < 1e-12 * scale, 0.0, squared)  # rigid-body modes are exactly zero
    if damping is not None:
        shapes = _rotate(shapes, squared, damping)
    shapes = shapes * np.where(shapes[np.abs(shapes).argmax(axis=0), range(len(squared))] < 0, -1.0, 1.0)
    diagonal = np.zeros(len(squared))
    if damping is not None:
        diagonal = np.diag(shapes.T @ damping @ shapes).copy()
    return Modes(np.sqrt(np.abs(squared)) * np.sign(squared), shapes, squared, diagonal)


def _rotate(shapes: Matrix, squared: Matrix, damping: Matrix) -> Matrix:
    """Within the space of equal frequencies any basis is as good: take the one in which the damping is diagonal."""
    result, begin = shapes.copy(), 0
    scale = np.abs(squared).max() or 1.0
    for end in range(1, len(squared) + 1):
        if end == len(squared) or abs(squared[end] - squared[begin]) > 1e-9 * scale:
            if end - begin > 1:
                block = shapes[:, begin:end]
                _, turn = np.linalg.eigh(block.T @ damping @ block)
                result[:, begin:end] = block @ turn
            begin = end
    return result


def _refuse_coupling(modal: Matrix) -> None:
    off = np.abs(modal - np.diag(np.diag(modal)))
    if off.size == 0 or off.max() == 0:
        return
    i, j = (int(k) for k in np.unravel_index(off.argmax(), off.shape))
    size = np.sqrt(abs(modal[i, i] * modal[j, j])) or np.abs(np.diag(modal)).max() or 1.0
    if off[i, j] > COUPLING * size:
        raise NotModal(
            f"the damping is not proportional: it couples modes {min(i, j) + 1} and {max(i, j) + 1} "
            f"({modal[i, j]:.4g} beside {modal[i, i]:.4g} and {modal[j, j]:.4g}); use the multiport or state form"
        )
