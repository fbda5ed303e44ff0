"""Modes of M z'' + C z' + K z = E: frequencies, shapes, modal damping, and why a model has no modal form."""

import numpy as np
from numpy.typing import NDArray

from bglang.records import dataclass

Matrix = NDArray[np.float64]
SINGULAR = 1e-12
"""A mass below this part of the largest entry is none."""
COUPLING = 1e-6
"""Off-diagonal modal damping larger than this part of its diagonal is not proportional."""


@dataclass(frozen=True, slots=True)
class Modes:
    """Mass-normalised: UᵀMU = 1, UᵀKU = diag(stiffness), frequencies upwards, largest component of a shape positive.

    `damping` is the diagonal of UᵀCU.  Motions without mass come last, without a frequency: they have a stiffness of 1
    and no inertia, so that they follow the forces at once or, damped, as a first order."""

    frequency: Matrix
    shapes: Matrix
    stiffness: Matrix
    damping: Matrix

    @property
    def ratios(self) -> Matrix:
        """Damping ratios; 0 for modes without frequency."""
        twice = 2 * np.abs(self.frequency)
        own = self.damping[: len(twice)]
        ratios: Matrix = np.divide(own, twice, out=np.zeros_like(twice), where=twice > 0)
        return ratios

    @property
    def slack(self) -> int:
        """How many motions have no mass."""
        return len(self.stiffness) - len(self.frequency)


class NotModal(Exception):
    """The model has no modal form; the message says why."""


def modes(mass: Matrix, damping: Matrix | None, stiffness: Matrix) -> Modes:
    """The modal form; `NotModal` if the damping couples the modes, or a motion has neither mass nor stiffness."""
    found = undamped_modes(mass, damping, stiffness)
    if damping is not None:
        refuse_coupling(found.shapes.T @ damping @ found.shapes)
    return found


def undamped_modes(mass: Matrix, damping: Matrix | None, stiffness: Matrix) -> Modes:
    """Modes without damping; of the modal damping the diagonal, whatever couples beside it."""
    from scipy.linalg import eigh

    heavy, slack = _with_and_without_mass(mass, damping, stiffness)
    squared, shapes = np.zeros(0), heavy
    if heavy.size:
        squared, turned = eigh(heavy.T @ stiffness @ heavy, heavy.T @ mass @ heavy)
        shapes = heavy @ turned
    scale = np.abs(squared).max(initial=0.0) or 1.0
    squared = np.where(np.abs(squared) < 1e-12 * scale, 0.0, squared)  # rigid-body modes are exactly zero
    if damping is not None:
        shapes = _rotate(shapes, squared, damping)
    shapes = np.hstack([shapes, slack])
    shapes = shapes * np.where(shapes[np.abs(shapes).argmax(axis=0), range(len(mass))] < 0, -1.0, 1.0)
    diagonal = np.zeros(len(mass))
    if damping is not None:
        diagonal = np.diag(shapes.T @ damping @ shapes).copy()
    stiff = np.concatenate([squared, np.ones(slack.shape[1])])
    return Modes(np.sqrt(np.abs(squared)) * np.sign(squared), shapes, stiff, diagonal)


def _with_and_without_mass(mass: Matrix, damping: Matrix | None, stiffness: Matrix) -> tuple[Matrix, Matrix]:
    """A basis of the motions with mass, and one of those without; neither's forces reach the other.

    The massless ones have a stiffness of 1 each and uncoupled damping; of the others they are made free by static
    condensation, which is exact: no inertia holds them back."""
    from scipy.linalg import eigh

    squares, axes = np.linalg.eigh(mass)
    kept = squares > SINGULAR * np.abs(mass).max()
    if kept.all():
        return np.eye(len(mass)), np.zeros((len(mass), 0))
    heavy, free = axes[:, kept], axes[:, ~kept]
    held = free.T @ stiffness @ free
    if np.linalg.eigvalsh(held)[0] <= SINGULAR * np.abs(stiffness).max():
        raise NotModal("some motion has neither mass nor stiffness, so that nothing says how fast a force moves it")
    loss = np.zeros_like(held) if damping is None else free.T @ damping @ free
    _, turned = eigh(loss, held)
    return heavy - free @ np.linalg.solve(held, free.T @ stiffness @ heavy), free @ turned


def _rotate(shapes: Matrix, squared: Matrix, damping: Matrix) -> Matrix:
    """Within the space of equal frequencies any basis is as good: take the one in which the damping is diagonal."""
    result, begin = shapes.copy(), 0
    scale = np.abs(squared).max(initial=0.0) or 1.0
    for end in range(1, len(squared) + 1):
        if end == len(squared) or abs(squared[end] - squared[begin]) > 1e-9 * scale:
            if end - begin > 1:
                block = shapes[:, begin:end]
                _, turn = np.linalg.eigh(block.T @ damping @ block)
                result[:, begin:end] = block @ turn
            begin = end
    return result


def refuse_coupling(modal: Matrix) -> None:
    """`NotModal` naming the worst pair of modes, if the damping joins any."""
    off = np.abs(modal - np.diag(np.diag(modal)))
    if off.size == 0 or off.max() == 0:
        return
    i, j = (int(k) for k in np.unravel_index(off.argmax(), off.shape))
    size = np.sqrt(abs(modal[i, i] * modal[j, j])) or np.abs(np.diag(modal)).max() or 1.0
    if off[i, j] > COUPLING * size:
        raise NotModal(
            f"the damping is not proportional: it couples modes {min(i, j) + 1} and {max(i, j) + 1} "
            f"({modal[i, j]:.4g} beside {modal[i, i]:.4g} and {modal[j, j]:.4g})"
        )
