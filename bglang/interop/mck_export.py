"""Mass, damping and stiffness matrices of a linear model, found from its linear equations.

The coordinates are the displacements of the independent masses.  With v = G p their velocities, the linear equations
ṗ = A_pp p + A_pq q + B u, q̇ = A_qp p give q = T z with T = A_qp G⁻¹, and with the mass matrix M of the kinetic energy
C = −M G A_pp G⁻¹ and K = −M G A_pq T."""

from typing import TYPE_CHECKING

import numpy as np

from bglang.diagnostics import UsageError
from bglang.expr import Expr, leaves
from bglang.expr.core import LEAVES, operands
from bglang.expr.diff import diff
from bglang.expr.walk import postorder
from bglang.graph.ir import BondGraph, Element
from bglang.interop.mck import Matrix, MckFile
from bglang.records import dataclass

if TYPE_CHECKING:
    from bglang.api import Model

ROUNDING = 1e-9
SMOOTH = LEAVES | {"+", "-", "*", "/", "neg"}
"""Operations that a linear law may apply to its variables; of products the slope tells."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The matrices, and the mass whose displacement each dof is."""

    file: MckFile
    coordinates: tuple[str, ...]


class NotLinear(UsageError):
    """The model has no matrices; the message says why."""


def export_mck(model: "Model", name: str) -> Exported:
    """The matrices of a linear model; `NotLinear` where it has none."""
    graph = model.graph
    _refuse_nonlinear(graph)
    momenta = [f"{base}.p" for base in _ports(graph, "I")]
    flows = [f"{base}.f" for base in _ports(graph, "I")]
    linear = model.linearize(outputs=[*momenta, *flows])
    own = [k for k, state in enumerate(linear.states) if state in momenta]
    rest = [k for k, state in enumerate(linear.states) if state not in momenta]
    storage = {f"{base}.q" for base in _ports(graph, "C")} | {
        v.name for v in graph.variables if v.kind == "displacement"
    }
    _refuse_states([linear.states[k] for k in rest if linear.states[k] not in storage])
    if not own:
        raise NotLinear("the model has no mass whose displacement could be a coordinate")
    if linear.jumps:
        raise NotLinear(f"a flow source moves `{linear.jumps[0]}`: matrices describe free masses under forces only")
    a = linear.A
    if _large(a[np.ix_(rest, rest)], a):
        raise NotLinear("a displacement depends on itself: a spring in series with a damper has no place in M, C and K")
    p_part, f_part = linear.C[: len(momenta)], linear.C[len(momenta) :]
    if _large(p_part[:, rest], p_part) or _large(f_part[:, rest], f_part):
        raise NotLinear("a momentum depends on a displacement")
    chosen = [momenta.index(linear.states[k]) for k in own]
    gain = f_part[np.ix_(chosen, own)]
    back = np.linalg.inv(gain)
    mass = back.T @ f_part[:, own].T @ p_part[:, own] @ back
    damping = -mass @ gain @ a[np.ix_(own, own)] @ back
    stiffness = -mass @ gain @ a[np.ix_(own, rest)] @ a[np.ix_(rest, own)] @ back
    matrices = {"mass": mass, "damping": damping, "stiffness": stiffness}
    for word, values in matrices.items():
        if _large(values - values.T, values):
            raise NotLinear(f"its {word} matrix is not symmetric: gyrators or controls couple what MCK files cannot")
        matrices[word] = _rounded((values + values.T) / 2)
    coordinates = tuple(linear.states[k].removesuffix(".p") for k in own)
    forces = _forces(model, mass @ gain @ linear.B[own], linear.inputs)
    words = tuple(f"dof {i}: displacement of {c}" for i, c in enumerate(coordinates[:9], 1))
    damped = matrices["damping"] if matrices["damping"].any() else None
    file = MckFile(name[:8], graph.description or name, words, matrices["mass"], damped, matrices["stiffness"], forces)
    return Exported(file, coordinates)


def _ports(graph: BondGraph, kind: str) -> list[str]:
    """The storage ports of one kind by name."""
    return [e.variable(k, "e")[:-2] for e in graph.elements for k, port in enumerate(e.ports) if port.kind == kind]


def _large(part: Matrix, whole: Matrix) -> bool:
    return bool(part.size and np.abs(part).max() > ROUNDING * (np.abs(whole).max() or 1.0))


def _rounded(values: Matrix) -> Matrix:
    """Entries that are rounding only are zero."""
    result: Matrix = np.where(np.abs(values) > 1e-14 * (np.abs(values).max() or 1.0), values, 0.0)
    return result


def _forces(model: "Model", effect: Matrix, inputs: tuple[str, ...]) -> tuple[float | None, ...]:
    """Constant sources that push a dof, with their value; others are left to whoever uses the file."""
    values = [_constant(model, name) for name in inputs]
    forces = list[float | None]()
    for row in effect:
        pushed = [(gain, value) for gain, value in zip(row, values, strict=True) if abs(gain) > ROUNDING]
        if not pushed:
            forces.append(None)
        else:
            forces.append(float(sum(gain * value for gain, value in pushed if value is not None)))
    return tuple(forces)


def _constant(model: "Model", name: str) -> float | None:
    from bglang.diagnostics import Report
    from bglang.expr.numbers import NotANumber, evaluate
    from bglang.graph.parameters import evaluate_parameters

    element = next((e for e in model.graph.elements if e.name == name), None)
    if element is None or not element.laws:
        return None
    known = evaluate_parameters(model.graph, report=Report())
    if any(leaf[0] != "p" or leaf[1] not in known for leaf in leaves(element.laws[0].value)):
        return None
    try:
        return float(evaluate(element.laws[0].value, lambda leaf: known[leaf[1]]))
    except NotANumber:
        return None


# --- refusals --------------------------------------------------------------------------------------------------------


def _refuse_nonlinear(graph: BondGraph) -> None:
    if graph.whens:
        raise NotLinear("a model with events is not linear")
    for element in graph.elements:
        if element.kind in ("Se", "Sf"):
            continue
        if _varies(element.modulus) or any(_bent(law.value) for law in element.laws):
            raise NotLinear(f"`{element.name}` is not linear ({_place(element)})")


def _varies(value: Expr | None) -> bool:
    return value is not None and any(leaf[0] in ("v", "t", "der", "z") for leaf in leaves(value))


def _bent(value: Expr) -> bool:
    """Whether a law is more than a sum of its variables with constant factors."""
    for node in postorder(value):
        if node[0] not in SMOOTH and any(_varies(part) for part in operands(node)):
            return True
    names = {leaf for leaf in leaves(value) if leaf[0] == "v"}
    if any(leaf[0] not in ("v", "p") for leaf in leaves(value)):
        return True
    return any(_varies(diff(value, leaf)) for leaf in names)


def _place(element: Element) -> str:
    return f"{element.span.source.name}:{element.span.line}"


def _refuse_states(others: list[str]) -> None:
    if others:
        raise NotLinear(f"`{others[0]}` is neither the momentum of a mass nor the displacement of a spring")
