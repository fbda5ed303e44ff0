"""What comes out of any stage, as text, for `bglang dump`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bglang.diagnostics import Report
from bglang.source import Source

if TYPE_CHECKING:
    from bglang.api import Model
    from bglang.equations.system import System


def dump_syntax(source: Source) -> str:
    """The syntax tree of one text."""
    from bglang.syntax.dump import dump
    from bglang.syntax.parse import parse

    report = Report()
    tree = parse(source, report)
    report.raise_if_errors()
    assert tree is not None
    return dump(tree)


def dump_model(model: "Model", stage: str, keep: Sequence[str] = ()) -> str:
    """A model after elaborate, causality, derive or lower."""
    if stage == "elaborate":
        from bglang.graph.dump import dump

        return dump(model.graph)
    if stage == "causality":
        return str(model.causality(keep=keep))
    system = model.compile()
    return _system(system) if stage == "derive" else _program(system)


def _system(system: "System") -> str:
    """0 = F(t, y, dy/dt, p, z), row by row, with names for numbers."""
    from bglang.equations.readable import readable

    lines = [f"system {system.name}: {len(system.unknowns)} unknowns, {len(system.modes)} modes"]
    lines += [
        f"  y[{i}]  {u.name}  ({u.kind}, start {readable(u.start, system)})" for i, u in enumerate(system.unknowns)
    ]
    lines += [f"  0 = {readable(r.residual, system)}    // {r.component}, {r.span}" for r in system.rows]
    for k, mode in enumerate(system.modes):
        roots = ", ".join(readable(g, system) for g in mode.roots)
        lines.append(f"  z[{k}]  {mode.kind} {mode.name or mode.text}  roots: {roots or 'none'}")
    return "\n".join(lines)


def _program(system: "System") -> str:
    """How many equations share one piece of native code."""
    from bglang.kernels.lower import lower

    program = lower(system)
    lines = [f"program {system.name}: {len(system.rows)} rows, {len(program.codes)} pieces of code"]
    lines += [
        f"  {name}: {len(kernel.codes)} classes, {kernel.size} results" for name, kernel in program.kernels.items()
    ]
    return "\n".join(lines)
