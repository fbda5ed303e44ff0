"""`FMU valve(file = "valve.fmu")` in a source: the block that stands for the unit.

Inputs, parameters and outputs have the names of its description, `step` is the time between communication points.  The
block is written as source and read like any other; its outputs change at communication points only."""

from pathlib import Path

from bglang.diagnostics import Report, error
from bglang.elaborate.outside import OutsideRequest
from bglang.interop.fmu_file import Fmu, FmuVariable, WrongFmu, read_fmu
from bglang.interop.fmu_run import key_of
from bglang.source import Source
from bglang.syntax import ast
from bglang.syntax.parse import parse
from bglang.syntax.text import literal, quoted

STEP = "step"


def make_class(request: OutsideRequest) -> ast.Class | None:
    """The block that a declaration asks for; None after reporting what is wrong."""
    if request.file is None:
        request.report.add(
            error("fmu/file", f"`{request.name}` needs a file", request.span, hint='write `file = "name.fmu"`.')
        )
        return None
    span = request.spans["file"]
    if not request.allow_native:
        request.report.add(
            error(
                "fmu/native",
                f"`{request.name}` would run native code from `{request.file.name}`",
                span,
                reason="An FMU holds a program that can do whatever you can do on this machine.",
                hint="if you trust where it comes from, allow it with `--allow-native`.",
                component=request.name,
            )
        )
        return None
    try:
        fmu = read_fmu(request.file)
        if "CoSimulation" not in fmu.identifiers:
            raise WrongFmu("it offers model exchange only; units for co-simulation can be used")
    except WrongFmu as problem:
        request.report.add(
            error("fmu/file", f"`{request.file.name}` cannot be used: {problem}", span, component=request.name)
        )
        return None
    made = Report()
    source = Source(f"<FMU {request.name}>", class_text(fmu, request.name, request.file))
    file = parse(source, made, request.limits)
    assert file is not None, [d.message for d in made]
    return file.classes[0]


def default_step(fmu: Fmu) -> float:
    """What the unit proposes, else a five-hundredth of its experiment, else 10 ms."""
    if fmu.step is not None and fmu.step > 0:
        return fmu.step
    return fmu.stop / 500 if fmu.stop is not None and fmu.stop > 0 else 0.01


def shown_parameters(fmu: Fmu) -> list[FmuVariable]:
    return [v for v in fmu.of("parameter") if v.start is not None]


def class_text(fmu: Fmu, name: str, path: Path) -> str:
    inputs, outputs, parameters = fmu.of("input"), fmu.of("output"), shown_parameters(fmu)
    step = _free(STEP, {v.name for v in (*inputs, *outputs, *parameters)})
    lines = ["block FMU", f"  parameter Real {quoted(step)} = {default_step(fmu)!r} {literal('communication step')};"]
    for v in parameters:
        lines.append(f"  parameter Real {quoted(v.name)}{_unit(v)} = {v.start!r} {literal(v.description)};")
    for v in inputs:
        lines.append(f"  input Real {quoted(v.name)}{_unit(v)} {literal(v.description)};")
    for v in outputs:
        lines.append(f"  discrete output Real {quoted(v.name)}{_unit(v)} {literal(v.description)};")
    lines.append("equation")
    if outputs:
        lines.append(f"  when sample(0, {quoted(step)}) then")
        fed = ", ".join(quoted(v.name) for v in (*inputs, *parameters))
        for v in outputs:
            key = key_of(name, path, v.name, [i.name for i in inputs], [p.name for p in parameters])
            lines.append(f"    {quoted(v.name)} = 'FMU output'({literal(key)}, time{', ' if fed else ''}{fed});")
        lines.append("  end when;")
    return "\n".join([*lines, "end FMU;", ""])


def _unit(v: FmuVariable) -> str:
    return f"(unit = {literal(v.unit)})" if v.unit and v.unit.isascii() else ""


def _free(wish: str, taken: set[str]) -> str:
    return wish if wish not in taken else _free(f"communication_{wish}", taken)
