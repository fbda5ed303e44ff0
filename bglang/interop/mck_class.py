"""`MCK beam(file = …, form = …)` in a source: the class that stands for the matrices.

Power goes into the ports `dof[1]` … `dof[n]`; `dof[i].q` is the displacement in every form; starts that the
declaration gives to it reach what holds it.  The class is written as source and read like any other."""

import numpy as np

from bglang.diagnostics import Report, error
from bglang.elaborate.outside import OutsideRequest
from bglang.elaborate.values import Value
from bglang.interop.matrix_files import read_npz
from bglang.interop.mck import Matrix, MckFile, matrix_problem, read_mck
from bglang.interop.mck_fields import (
    ONE,
    combination,
    coupled,
    damping_element,
    inertia,
    is_zero,
    matrix,
    number,
    stiffness_element,
    symmetrised,
    vector,
)
from bglang.interop.modal import Modes, NotModal, modes, undamped_modes
from bglang.interop.text_files import read_source
from bglang.source import Source
from bglang.syntax import ast
from bglang.syntax.parse import parse

FORMS = ("multiport", "modal", "state")


def make_class(request: OutsideRequest) -> ast.Class | None:
    """The model that a declaration asks for; None after reporting what is wrong."""
    form = form_of(request)
    model = matrices_of(request)
    if form is None or model is None:
        return None
    try:
        text = class_text(model, form, request.started)
    except NotModal as why:
        request.report.add(
            error(
                "mck/form",
                f"`{request.name}` has no {form} form",
                request.spans.get("form", request.span),
                reason=f"{str(why)[0].upper()}{str(why)[1:]}.",
                hint='write `form = "multiport"`.',
                component=request.name,
            )
        )
        return None
    made = Report()
    file = parse(Source(f"<MCK {request.name}>", text), made, request.limits)
    assert file is not None, [d.message for d in made]
    return file.classes[0]


# --- what is asked for -----------------------------------------------------------------------------------------------


def form_of(request: OutsideRequest) -> str | None:
    value = request.values.get("form")
    if value is None:
        return "multiport"
    text = str(value.items[0]) if value.items else ""
    if value.type == "String" and text in FORMS:
        return text
    known = ", ".join(f'"{form}"' for form in FORMS)
    request.report.add(error("mck/form", f"the form of an MCK model is one of {known}", request.spans["form"]))
    return None


def matrices_of(request: OutsideRequest) -> MckFile | None:
    given = [name for name in ("M", "C", "K") if name in request.values]
    if request.file is not None:
        if given:
            request.report.add(
                error(
                    "mck/settings",
                    f"`{request.name}` has a file and matrices",
                    request.spans[given[0]],
                    hint="the matrices come from the file, or from `M`, `C` and `K`.",
                )
            )
            return None
        if request.file.suffix.lower() == ".npz":
            return read_npz(request.file, request.report)
        source = read_source(request.file, request.report, request.spans["file"])
        return None if source is None else read_mck(source, request.report)
    for name in ("M", "K"):
        if name not in request.values:
            request.report.add(
                error(
                    "mck/settings",
                    f"`{request.name}` needs `{name}`" if given else f"`{request.name}` needs a file or matrices",
                    request.span,
                    hint='write `file = "name.mck"`, or `M = [...], K = [...]` and, with damping, `C = [...]`.',
                )
            )
            return None
    return from_values(request)


def from_values(request: OutsideRequest) -> MckFile | None:
    found = dict[str, Matrix]()
    for name in ("M", "C", "K"):
        value = request.values.get(name)
        if value is None:
            continue
        made = as_matrix(value)
        size = len(found["M"]) if "M" in found else None
        if made is None or (size is not None and len(made) != size):
            wanted = "a square matrix of numbers" if size is None else f"a {size} by {size} matrix, like `M`"
            request.report.add(error("mck/matrix", f"`{name}` is {wanted}", request.spans[name]))
            return None
        found[name] = made
    problem = matrix_problem({name: found[name] for name in ("M", "C", "K") if name in found}, mass_name="M")
    if problem:
        request.report.add(error("mck/matrix", problem.message, request.spans[problem.matrix]))
        return None
    return MckFile(request.name, "", (), found["M"], found.get("C"), found["K"], None)


def as_matrix(value: Value) -> Matrix | None:
    if not value.numeric or len(value.shape) != 2 or value.shape[0] != value.shape[1] or not value.shape[0]:
        return None
    return np.array(value.items, dtype=float).reshape(value.shape)


# --- the class -------------------------------------------------------------------------------------------------------


def class_text(model: MckFile, form: str, started: bool) -> str:
    """The source of the class; `started`: displacements have starts of their own."""
    mass, stiffness = symmetrised(model.mass), symmetrised(model.stiffness)
    damping = None if model.damping is None or is_zero(model.damping) else symmetrised(model.damping)
    if form == "modal":
        return modal_text(modes(mass, damping, stiffness), mass, started)
    shown = None
    if form == "state":
        shown = undamped_modes(mass, damping, stiffness)
    return fields_text(mass, damping, stiffness, shown)


def dof_ports(n: int, displacement: str, lock: bool = False) -> str:
    locked = ', each causality = "effort_in"' if lock else ""
    return f"  port Any dof[{n}](each optional = true, each passive = true{locked}, displacement = {displacement});"


def fields_text(mass: Matrix, damping: Matrix | None, stiffness: Matrix, shown: Modes | None) -> str:
    """One J1 a dof with fields I, C and, with damping, R; with the modes of the state form if `shown`."""
    n, modal = len(mass), shown if shown is not None and len(shown.frequency) else None
    lines = ["model MCK"]
    masses = inertia(mass, "  ")
    lines += [*masses.classes, *stiffness_element(stiffness, "  ")]
    if damping is not None:
        lines += damping_element(damping, "  ")
    lines.append(dof_ports(n, "stiffness.dof.q", lock=shown is not None))
    if modal is not None:
        lines += MODE_CLASS
    lines += [f"  J1 v[{n}];", *masses.declarations, "  Stiffness stiffness;"]
    if damping is not None:
        lines.append("  Damping damping;")
    if modal is not None:
        lines += [projection(modal, mass), f"  {ONE}", mode_declaration(modal, "(one*projection)*stiffness.dof.q")]
    lines += ["bonds", "  dof -> v;", *masses.bonds, "  v -> stiffness.dof;"]
    if damping is not None:
        lines.append("  v -> damping.dof;")
    return "\n".join([*lines, "end MCK;", ""])


def start_parameters(n: int) -> list[str]:
    return [
        "  model AtStart",
        '    parameter Real q = 0 "displacement at the start";',
        "  end AtStart;",
        f"  AtStart at_start[{n}];",
    ]


MODE_CLASS = (
    "  model Mode",
    '    parameter Real frequency(unit = "rad/s") "natural frequency without damping";',
    '    parameter Real damping "damping ratio, 0 for rigid-body modes";',
    "    Real q;",
    "  end Mode;",
)


def mode_declaration(found: Modes, displacement: str) -> str:
    values = f"frequency = {vector(found.frequency)}, damping = {vector(found.ratios)}"
    return f"  Mode mode[{len(found.frequency)}]({values}, q = {displacement});"


def projection(found: Modes, mass: Matrix) -> str:
    """From displacements to modal coordinates: the inverse of the shapes."""
    heavy = len(found.frequency)
    rows = found.shapes[:, :heavy].T @ mass
    return f"  constant Real projection[{heavy}, {len(mass)}] = {matrix(rows, '  ')};"


def modal_text(found: Modes, mass: Matrix, started: bool) -> str:
    """A J0 a dof with transformers to the J1 of every mode in which it moves; mass 1, stiffness and damping a mode.

    Motions without mass are springs alone, which take no start but that of their damper."""
    n, slack = len(mass), found.slack
    heavy = n - slack
    shown = "{" + ", ".join(displacements(found)) + "}"
    lines = ["model MCK", *SPRING_CLASS, *MODE_CLASS, dof_ports(n, shown)]
    start = ""
    if started:
        lines += start_parameters(n)
        if heavy:
            lines.append(projection(found, mass))
            start = ", q(start = projection*at_start.q)"
    lines += [f"  J0 x[{n}];", f"  J1 v[{n}];"]
    if heavy:
        lines.append(f"  I inertia[{heavy}](each I = 1);")
        lines.append(f"  Spring spring[{heavy}](k = {vector(found.stiffness[:heavy])}{start});")
        lines.append(mode_declaration(found, "spring.q"))
    if slack:
        lines.append(f"  Spring slack[{slack}](k = {vector(found.stiffness[heavy:])});")
    if found.damping.any():
        lines.append(f"  R damper[{n}](R = {vector(found.damping)});")
    pairs = coupled(found.shapes)
    lines += [f"  TF u_{i}_{j}(m = {number(1 / value)});" for i, j, value in pairs]
    lines += ["bonds", "  dof -> x;"]
    if heavy:
        lines += [f"  v[1:{heavy}] -> inertia;", f"  v[1:{heavy}] -> spring;"]
    if slack:
        lines.append(f"  v[{heavy + 1}:{n}] -> slack;")
    if found.damping.any():
        lines.append("  v -> damper;")
    lines += [f"  x[{i}] -> u_{i}_{j} -> v[{j}];" for i, j, _ in pairs]
    return "\n".join([*lines, "end MCK;", ""])


SPRING_CLASS = (
    "  element Spring",
    "    extends C;",
    "    parameter Real k;",
    "  equation",
    "    e = k*q;",
    "  end Spring;",
)


def displacements(found: Modes) -> list[str]:
    """What each dof's displacement is in terms of the modes."""
    names = [f"spring[{j}].q" for j in range(1, len(found.frequency) + 1)]
    names += [f"slack[{j}].q" for j in range(1, found.slack + 1)]
    return [combination([float(x) for x in row], names) for row in found.shapes]
