"""A model as C: `model.h` with its sizes, `model.c` with its equations, tables and names."""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from bglang.interop.c_events import EventWriter
from bglang.interop.c_kernels import KernelWriter, Names
from bglang.interop.c_text import HELPERS, TABLE_HELPERS, array, comment, number, text
from bglang.interop.exported import Ready
from bglang.kernels.program import Pattern

MANY = 400
"""Vectors with more named entries than this are written with plain numbers."""
POINTS = 500


def c_model(ready: Ready) -> tuple[str, str]:
    """The texts of model.h and model.c."""
    names = _names(ready)
    kernels, events = KernelWriter(ready.program, names), EventWriter(ready, names)
    arguments, counts = events.arguments()
    header = _header(ready, events, sum(counts))
    remarks = [row.component or "the model" for row in ready.system.rows]
    lines = [
        f"/* {comment(ready.system.name)}: {comment(ready.graph.description)}",
        "   Written by bglang; `model.h` has the sizes, `interface.h` says what each function is for. */",
        '#include "model.h"', "", "#include <math.h>", "", HELPERS, TABLE_HELPERS if ready.system.tables else "",
        *_enumerations(names), *_vectors(ready), *_modes(ready, counts), *_whens(ready, events),
        *kernels.function("model_residual", "residual", remarks),
        *kernels.function("model_residual_t", "residual_t"),
        *kernels.function("model_jacobian", "jacobian"),
        *kernels.function("model_roots", "roots", events.remarks()),
        *arguments,
        *kernels.function("model_position", "position"),
        *kernels.function("model_position_jacobian", "position_jacobian"),
        *kernels.function("model_outputs", "outputs", [ready.system.outputs[int(k)].name
                                                       for k in ready.program.output_numbers]),
        *kernels.levels("model_compute_parameters"), *kernels.starts(), *events.whens(),
    ]  # fmt: skip
    return header, "\n".join(lines)


# --- names -----------------------------------------------------------------------------------------------------------


def _identifiers(prefix: str, names: Iterable[tuple[int, str]]) -> dict[int, str]:
    """C identifiers for dotted names, different ones for different names."""
    found, taken = dict[int, str](), set[str]()
    for place, name in names:
        base = prefix + (re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "unnamed")
        made, count = base, 1
        while made in taken:
            count += 1
            made = f"{base}_{count}"
        taken.add(made)
        found[place] = made
    return found


def _names(ready: Ready) -> Names:
    system = ready.system
    p = [(k, q.name) for k, q in enumerate(system.parameters) if q.name]
    z = [(k, m.name) for k, m in enumerate(system.modes) if m.name]
    return Names(
        _identifiers("y_", ((i, u.name) for i, u in enumerate(system.unknowns)))
        if len(system.unknowns) <= MANY
        else {},
        _identifiers("p_", p) if len(p) <= MANY else {},
        _identifiers("z_", z) if len(z) <= MANY else {},
    )


def _enumerations(names: Names) -> list[str]:
    lines = list[str]()
    for what, known in (("unknowns", names.y), ("parameters", names.p), ("discrete quantities", names.z)):
        if known:
            lines += [f"/* places of {what} */", "enum {"]
            lines += [f"    {name} = {place}," for place, name in known.items()] + ["};", ""]
    return lines


# --- sizes and data --------------------------------------------------------------------------------------------------


def _header(ready: Ready, events: EventWriter, arguments: int) -> str:
    system, program = ready.system, ready.program
    conditions = sum(len(b.conditions) for b in events.branches)
    experiment = system.experiment
    points = POINTS
    if experiment.interval:
        points = round((experiment.stop - experiment.start) / experiment.interval) + 1
    sizes = {
        "N_UNKNOWNS": len(system.unknowns), "N_ENTRIES": program.patterns["jacobian"].nnz,
        "N_MODES": len(system.modes), "N_ROOTS": sum(len(m.roots) for m in system.modes),
        "N_POSITIONS": len(program.position_rows), "N_OUTPUTS": len(program.output_numbers),
        "N_PARAMETERS": len(parameters_of(ready)), "N_LEVELS": len(program.kernels["parameters"].levels),
        "N_INPUTS": len(inputs_of(ready)), "N_WHENS": len(system.whens), "N_BRANCHES": len(events.branches),
    }  # fmt: skip
    room = {
        "SIZE_Y": sizes["N_UNKNOWNS"], "SIZE_JACOBIAN": 2 * sizes["N_ENTRIES"], "SIZE_P": program.p_size,
        "SIZE_MODES": sizes["N_MODES"], "SIZE_ROOTS": sizes["N_ROOTS"], "SIZE_ARGUMENTS": arguments,
        "SIZE_POSITIONS": sizes["N_POSITIONS"], "SIZE_POSITION_ENTRIES": program.patterns["position_jacobian"].nnz,
        "SIZE_OUTPUTS": sizes["N_OUTPUTS"], "SIZE_INPUTS": sizes["N_INPUTS"], "SIZE_WHENS": sizes["N_WHENS"],
        "SIZE_BRANCHES": sizes["N_BRANCHES"], "SIZE_CONDITIONS": conditions,
    }  # fmt: skip
    lines = [
        f"/* Sizes of {comment(system.name)}; arrays have at least one member. */",
        "#ifndef MODEL_H",
        "#define MODEL_H",
        "",
        f"#define MODEL_NAME {text(system.name)}",
        f"#define MODEL_STOP {number(experiment.stop)}",
        f"#define MODEL_TOLERANCE {number(experiment.tolerance)}",
        f"#define MODEL_POINTS {max(points, 2)}",
        f"#define MODEL_STARTS {int(ready.restarts)} /* starts can be solved here for other values */",
        "",
    ]
    lines += [f"#define {name} {size}" for name, size in sizes.items()]
    lines += [f"#define {name} {max(size, 1)}" for name, size in room.items()]
    return "\n".join([*lines, "", '#include "interface.h"', "", "#endif", ""])


def parameters_of(ready: Ready) -> list[int]:
    """Numbers of the parameters that people know by name."""
    return [k for k, q in enumerate(ready.system.parameters) if q.name]


def inputs_of(ready: Ready) -> list[int]:
    """Numbers of the modes that are inputs."""
    places = {m.name: k for k, m in enumerate(ready.system.modes) if m.kind == "discrete"}
    return [places[name] for name in ready.graph.inputs]


def _vectors(ready: Ready) -> list[str]:
    system, program = ready.system, ready.program
    known = {q.name: q for q in ready.graph.parameters}
    fixed = {k for k in parameters_of(ready) if known[system.parameters[k].name].final or k in ready.tied}
    units = {v.name: v.unit for v in ready.graph.variables}
    parameters = [
        f"{{{text(q.name)}, {text(known[q.name].unit)}, {text(known[q.name].description)}, {k}, {int(k not in fixed)}}}"
        for k, q in ((k, system.parameters[k]) for k in parameters_of(ready))
    ]
    outputs = [system.outputs[int(k)] for k in program.output_numbers]
    modes = system.modes
    at = ready.at
    start = [
        "const Instant model_start = {", f"    {number(at.t)},", *_rows(at.y), *_rows(at.d), *_rows(at.z), "};",
    ]  # fmt: skip
    return [
        *_pattern("model_jacobian_start", "model_jacobian_row", program.patterns["jacobian"]),
        *_pattern("model_position_start", "model_position_index", program.patterns["position_jacobian"]),
        *array("const int", "model_position_row[]", map(str, program.position_rows.tolist())),
        *array("const int", "model_column_order[]", map(str, column_order(program.patterns["jacobian"]))),
        *array("const char", "model_differential[]", (str(int(row.differential)) for row in system.rows)),
        *array("const char", "model_storage[]", (str(int(u.kind != "algebraic")) for u in system.unknowns)),
        *array("const double", "model_nominal[]", (number(float(x)) for x in ready.nominal)),
        "/* parameters, blocks of tables, constants */",
        *array("const double", "model_default_p[SIZE_P]", (number(float(x)) for x in ready.p)),
        "/* time, unknowns, rates, modes */", *start,
        "/* name, unit, description, place in p, whether it may be set */",
        *_records("Parameter model_parameters[]", parameters),
        *_records("Unknown model_unknowns[]", [f"{{{text(u.name)}, {text(u.unit)}, {int(u.kind == 'state')}}}"
                                               for u in system.unknowns]),
        *_records("Output model_output[]", [f"{{{text(o.name)}, {text(o.unit)}, {text(o.description)}}}"
                                            for o in outputs]),
        *_records("Input model_inputs[]", [f"{{{text(modes[k].name)}, {text(units.get(modes[k].name, ''))}, {k}}}"
                                           for k in inputs_of(ready)]), "",
    ]  # fmt: skip


def _rows(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[str]:
    inner = array("", "", (number(float(x)) for x in values))[1:-1]
    return ["    {", *inner, "    },"]


def _records(head: str, records: Sequence[str]) -> list[str]:
    return [f"const {head} = {{", *(f"    {r}," for r in records or ["{0}"]), "};"]


def _pattern(start: str, row: str, pattern: Pattern) -> list[str]:
    return [
        *array("const int", f"{start}[]", map(str, pattern.indptr.tolist())),
        *array("const int", f"{row}[]", map(str, pattern.indices.tolist())),
    ]


def column_order(pattern: Pattern) -> list[int]:
    """An order of the columns that keeps the factors sparse."""
    if pattern.columns < 3:
        return list(range(pattern.columns))
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    random = np.random.default_rng(1)
    data = random.uniform(1.0, 2.0, pattern.nnz)
    column = np.repeat(np.arange(pattern.columns), np.diff(pattern.indptr))
    data[pattern.indices == column] += 10.0 * pattern.columns  # never singular
    order = splu(csc_matrix((data, pattern.indices, pattern.indptr), shape=(pattern.rows, pattern.columns))).perm_c
    return [int(k) for k in np.argsort(order)]


def _modes(ready: Ready, counts: Sequence[int]) -> list[str]:
    records, first, at = list[str](), 0, 0
    for mode, count in zip(ready.system.modes, counts, strict=True):
        records.append(
            f"{{{mode.kind.upper()}, {first}, {len(mode.roots)}, {at}, {count}, {int(mode.strict)}, "
            f"{int(mode.time_only)}, {text(mode.text or mode.name)}}}"
        )
        first, at = first + len(mode.roots), at + count
    return [
        "/* kind, first root, roots, first argument, arguments, strict, of time alone, in words */",
        *_records("Mode model_modes[]", records), "",
    ]  # fmt: skip


def _whens(ready: Ready, events: EventWriter) -> list[str]:
    branches, conditions = [0], [0]
    for when in ready.system.whens:
        branches.append(branches[-1] + len(when.branches))
    for branch in events.branches:
        conditions.append(conditions[-1] + len(branch.conditions))
    return [
        *array("const int", "model_when_branch[]", map(str, branches)),
        *array("const int", "model_branch_condition[]", map(str, conditions)), "",
    ]  # fmt: skip
