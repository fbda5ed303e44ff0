"""A linear mechanical model written out as bglang source: the expanded bond graph, with its forces as sources."""

import numpy as np

from bglang.interop.mck import Matrix, MckFile
from bglang.interop.mck_fields import (
    combination,
    coupled,
    damping_element,
    inertia,
    is_singular,
    is_zero,
    matrix,
    number,
    stiffness_element,
    symmetric_inverse,
    symmetrised,
)
from bglang.interop.modal import Modes, modes, refuse_coupling, undamped_modes
from bglang.records import dataclass
from bglang.syntax.text import literal, quoted

EXPERIMENT = "  annotation(experiment(StopTime = 10));  // the file says nothing about a run: 10 s is only a default"


@dataclass(frozen=True, slots=True)
class Written:
    """The source text, and how many nodes and connectors its graph has."""

    text: str
    nodes: int
    connectors: int


def mck_source(model: MckFile, form: str) -> Written:
    """The expanded model; `NotModal` where it has no such form."""
    mass, stiffness = symmetrised(model.mass), symmetrised(model.stiffness)
    damping = None if model.damping is None or is_zero(model.damping) else symmetrised(model.damping)
    if form == "modal":
        return _modal(model, modes(mass, damping, stiffness))
    if form == "state":
        return _state(model, mass, damping, stiffness)
    return _multiport(model, mass, damping, stiffness)


def forces(model: MckFile) -> list[tuple[int, float]]:
    """The dofs (from 1) at which the file asks for a source, with its value."""
    return [(i, value) for i, value in enumerate(model.forces or (), 1) if value is not None]


def _head(model: MckFile) -> tuple[list[str], str]:
    name = quoted(model.name or "Imported")
    title = f" {literal(model.title)}" if model.title else ""
    return [f"// {line}" for line in model.description], f"model {name}{title}"


def _close(model: MckFile) -> list[str]:
    return [EXPERIMENT, f"end {quoted(model.name or 'Imported')};", ""]


def _multiport(model: MckFile, mass: Matrix, damping: Matrix | None, stiffness: Matrix) -> Written:
    n, sources = model.dimension, forces(model)
    comments, first = _head(model)
    masses = inertia(mass, "  ")
    lines = [*comments, first, *masses.classes, *stiffness_element(stiffness, "  ")]
    lines += damping_element(damping, "  ") if damping is not None else []
    lines += [f'  J1 v[{n}] "velocities of the dofs";', *masses.declarations, "  Stiffness stiffness;"]
    lines += ["  Damping damping;"] if damping is not None else []
    lines += [f"  Se force_{i}(e = {number(value)});" for i, value in sources]
    lines += ["bonds", *(f"  force_{i} -> v[{i}];" for i, _ in sources), *masses.bonds, "  v -> stiffness.dof;"]
    lines += ["  v -> damping.dof;"] if damping is not None else []
    fields = 1 if damping is None else 2
    nodes, connectors = n + len(sources) + masses.nodes + fields, len(sources) + masses.connectors + n * fields
    return Written("\n".join([*lines, *_close(model)]), nodes, connectors)


def _modal(model: MckFile, found: Modes) -> Written:
    """A spring, a mass and perhaps a damper a mode; motions without mass are written where a force reaches them."""
    n, sources, heavy = model.dimension, forces(model), len(found.frequency)
    comments, first = _head(model)
    damped = bool(found.damping.any())
    driven = {i for i, _ in sources}
    pairs = [pair for pair in coupled(found.shapes) if pair[0] in driven]
    reached = {j for _, j, _ in pairs}
    places = {j: k for k, j in enumerate((j for j in range(1, n + 1) if j <= heavy or j in reached), 1)}
    lines = [*comments, first, f'  J1 v[{len(places)}] "velocities of the modes, from the lowest frequency up";']
    bonds = list[str]()
    for j, k in places.items():
        about = f'"mode {k}: {found.frequency[j - 1]:.6g} rad/s"' if j <= heavy else '"motion without mass"'
        lines += [f"  I mass_{k}(I = 1) {about};"] if j <= heavy else []
        lines.append(f"  C spring_{k}(e = {number(found.stiffness[j - 1])}*q){'' if j <= heavy else f' {about}'};")
        lines += [f"  R damper_{k}(R = {number(found.damping[j - 1])});"] if damped else []
        parts = [*([f"mass_{k}"] if j <= heavy else []), f"spring_{k}", *([f"damper_{k}"] if damped else [])]
        bonds.append(f"  v[{k}] -> {', '.join(parts)};")
    for i, value in sources:
        lines += [f"  Se force_{i}(e = {number(value)});", f"  J0 dof_{i};"]
    lines += [f"  TF u_{i}_{places[j]}(m = {number(1 / value)});" for i, j, value in pairs]
    lines += [f'  Real z[{n}] "displacements of the dofs";', "bonds", *bonds]
    lines += [f"  force_{i} -> dof_{i};" for i in sorted(driven)]
    lines += [f"  dof_{i} -> u_{i}_{places[j]} -> v[{places[j]}];" for i, j, _ in pairs]
    lines.append("equation")
    names = [f"spring_{k}.q" for k in places.values()]
    for i, row in enumerate(found.shapes, 1):
        lines.append(f"  z[{i}] = {combination([float(row[j - 1]) for j in places], names)};")
    own = len(places) * (2 if damped else 1) + heavy
    nodes, connectors = len(places) + own + 2 * len(sources) + len(pairs), own + len(sources) + 2 * len(pairs)
    return Written("\n".join([*lines, *_close(model)]), nodes, connectors)


def _state(model: MckFile, mass: Matrix, damping: Matrix | None, stiffness: Matrix) -> Written:
    """State equations alone: no graph, hence no nodes."""
    n = model.dimension
    comments, first = _head(model)
    efforts = [0.0 if value is None else value for value in model.forces or [0.0] * n]
    forced = f'  Real e[{n}] = {{{", ".join(number(x) for x in efforts)}}} "forces";'
    if is_singular(mass):
        lines = [*comments, first, *_condensed(mass, damping, stiffness, forced)]
        return Written("\n".join([*lines, *_close(model)]), 0, 0)
    inverse = symmetric_inverse(mass)
    parts = {"A_z": -inverse @ stiffness, "B": inverse}
    if damping is not None:
        parts = {"A_v": -inverse @ damping, **parts}
    lines = [*comments, first, *_constants(parts), forced]
    lines += [f'  Real v[{n}] "velocities";', f'  Real z[{n}] "displacements";', "equation", "  der(z) = v;"]
    lines.append(f"  der(v) = {'A_v*v + ' if damping is not None else ''}A_z*z + B*e;")
    return Written("\n".join([*lines, *_close(model)]), 0, 0)


def _constants(parts: dict[str, Matrix]) -> list[str]:
    sizes = {name: f"{name}[{values.shape[0]}, {values.shape[1]}]" for name, values in parts.items()}
    return [f"  constant Real {sizes[name]} = {matrix(values, '  ')};" for name, values in parts.items()]


def _condensed(mass: Matrix, damping: Matrix | None, stiffness: Matrix, forced: str) -> list[str]:
    """In modes, because M^-1 does not exist: motions without mass follow at once, or as a first order."""
    found = undamped_modes(mass, damping, stiffness)
    heavy, n, slack = len(found.frequency), len(mass), found.slack
    modal = np.diag(found.damping) if damping is None else found.shapes.T @ damping @ found.shapes
    between = modal.copy()
    between[:heavy, :heavy] = np.diag(found.damping[:heavy])  # modes with mass may couple, here as in the file
    refuse_coupling(between)
    parts = {"A_x": -np.diag(found.stiffness[:heavy]), "A_v": -modal[:heavy, :heavy]} if heavy else {}
    lines = [*_constants({"U": found.shapes, **parts}), forced]
    if heavy:
        lines += [f'  Real v[{heavy}] "velocities of the modes";', f'  Real x[{heavy}] "their displacements";']
    lines += [f'  Real s[{slack}] "motions without mass";', f'  Real z[{n}] "displacements of the dofs";']
    lines += [f'  Real f[{n}] = transpose(U)*e "forces on the modes";', "equation"]
    lines += ["  der(x) = v;", f"  der(v) = A_v*v + A_x*x + f[1:{heavy}];"] if heavy else []
    for k, loss in enumerate(found.damping[heavy:], 1):
        rate = "" if is_zero(np.array([loss])) else f" - {number(loss)}*der(s[{k}])"
        lines.append(f"  s[{k}] = f[{heavy + k}]{rate};")
    return [*lines, "  z = U*cat(1, x, s);" if heavy else "  z = U*s;"]
