"""`bglang import fmu`: a model that uses a unit, to begin with; nothing of the unit runs."""

import os
from pathlib import Path

from bglang.interop.fmu_class import default_step, shown_parameters
from bglang.interop.fmu_description import identifier
from bglang.interop.fmu_file import Fmu, FmuVariable
from bglang.syntax.text import literal, quoted


def describe(fmu: Fmu) -> str:
    """What a unit offers, for people."""
    kinds = " and ".join(
        {"CoSimulation": "co-simulation", "ModelExchange": "model exchange"}[k] for k in fmu.identifiers
    )
    lines = [f"{fmu.name}: {fmu.description}".rstrip(": "), f"  offers      {kinds or 'nothing'}, FMI {fmu.version}"]
    for title, found in (
        ("inputs", fmu.of("input")),
        ("outputs", fmu.of("output")),
        ("parameters", fmu.of("parameter")),
    ):
        lines.append(f"  {title:<11} {', '.join(_about(v) for v in found[:12]) or 'none'}{', ...' * (len(found) > 12)}")
    return "\n".join(lines)


def _about(v: FmuVariable) -> str:
    return f"{v.name} [{v.unit}]" if v.unit else v.name


def fmu_source(fmu: Fmu, folder: Path) -> str:
    """Inputs of the model drive the unit's, its outputs are the unit's."""
    name = identifier(fmu.name)
    model = f"{name[:1].upper()}{name[1:]}Unit"
    try:
        file = os.path.relpath(fmu.path.resolve(), folder.resolve())
    except ValueError:  # another drive
        file = str(fmu.path.resolve())
    given = [f"file = {literal(Path(file).as_posix())}", f"step = {default_step(fmu)!r}"]
    given += [f"{quoted(v.name)} = {v.start!r}" for v in shown_parameters(fmu)]
    given += [f"{quoted(v.name)} = {quoted(v.name)}" for v in fmu.of("input")]
    lines = [f"model {model} {literal(fmu.description or f'Uses the unit {fmu.name}')}"]
    for v in fmu.of("input"):
        unit = f", unit = {literal(v.unit)}" if v.unit else ""
        lines.append(f"  input Real {quoted(v.name)}(start = {v.start or 0.0!r}{unit}) {literal(v.description)};")
    lines += ["  FMU unit(", ",\n".join(f"    {g}" for g in given) + ");"]
    lines += [f"  output Real {quoted(v.name)} = unit.{quoted(v.name)};" for v in fmu.of("output")]
    stop = fmu.stop if fmu.stop is not None and fmu.stop > 0 else 1.0
    return "\n".join([*lines, f"  annotation(experiment(StopTime = {stop!r}));", f"end {model};", ""])
