"""A linear mechanical model written out as bglang source: the expanded bond graph, with its forces as sources."""

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
from bglang.interop.modal import Modes, NotModal, modes
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
        if is_singular(mass):
            raise NotModal("the mass matrix is singular: some coordinates have no mass, so that M^-1 does not exist")
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
    n, sources = model.dimension, forces(model)
    comments, first = _head(model)
    lines = [*comments, first, f'  J1 v[{n}] "velocities of the modes, from the lowest frequency up";']
    damped = bool(found.damping.any())
    for j, (frequency, stiffness) in enumerate(zip(found.frequency, found.stiffness, strict=True), 1):
        lines += [
            f'  I mass_{j}(I = 1) "mode {j}: {frequency:.6g} rad/s";',
            f"  C spring_{j}(e = {number(stiffness)}*q);",
        ]
        lines += [f"  R damper_{j}(R = {number(found.damping[j - 1])});"] if damped else []
    driven = {i for i, _ in sources}
    pairs = [pair for pair in coupled(found.shapes) if pair[0] in driven]
    for i, value in sources:
        lines += [f"  Se force_{i}(e = {number(value)});", f"  J0 dof_{i};"]
    lines += [f"  TF u_{i}_{j}(m = {number(1 / value)});" for i, j, value in pairs]
    lines += [f'  Real z[{n}] "displacements of the dofs";', "bonds"]
    for j in range(1, n + 1):
        lines.append(f"  v[{j}] -> mass_{j}, spring_{j}{f', damper_{j}' if damped else ''};")
    lines += [f"  force_{i} -> dof_{i};" for i in sorted(driven)]
    lines += [f"  dof_{i} -> u_{i}_{j} -> v[{j}];" for i, j, _ in pairs]
    lines.append("equation")
    names = [f"spring_{j}.q" for j in range(1, n + 1)]
    for i, row in enumerate(found.shapes, 1):
        lines.append(f"  z[{i}] = {combination([float(x) for x in row], names)};")
    each = 3 if damped else 2
    nodes, connectors = n * (1 + each) + 2 * len(sources) + len(pairs), n * each + len(sources) + 2 * len(pairs)
    return Written("\n".join([*lines, *_close(model)]), nodes, connectors)


def _state(model: MckFile, mass: Matrix, damping: Matrix | None, stiffness: Matrix) -> Written:
    """State equations alone: no graph, hence no nodes."""
    n = model.dimension
    comments, first = _head(model)
    inverse = symmetric_inverse(mass)
    parts = {"A_z": -inverse @ stiffness, "B": inverse}
    if damping is not None:
        parts = {"A_v": -inverse @ damping, **parts}
    lines = [*comments, first]
    lines += [f"  constant Real {name}[{n}, {n}] = {matrix(values, '  ')};" for name, values in parts.items()]
    efforts = [0.0 if value is None else value for value in model.forces or [0.0] * n]
    lines += [f'  Real e[{n}] = {{{", ".join(number(x) for x in efforts)}}} "forces";']
    lines += [f'  Real v[{n}] "velocities";', f'  Real z[{n}] "displacements";', "equation", "  der(z) = v;"]
    lines.append(f"  der(v) = {'A_v*v + ' if damping is not None else ''}A_z*z + B*e;")
    return Written("\n".join([*lines, *_close(model)]), 0, 0)
