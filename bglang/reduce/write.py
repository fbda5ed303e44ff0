"""A rewritten graph as source, formatted, with comments that say what was done."""

import re
from collections.abc import Sequence
from textwrap import wrap

from bglang.expr import var
from bglang.graph.emit import emit
from bglang.graph.ir import BondGraph
from bglang.records import replace
from bglang.reduce.edit import Edit
from bglang.reduce.reduce import Merger
from bglang.syntax.format import format_source
from bglang.syntax.text import quoted


def write_source(graph: BondGraph, heading: str, mergers: Sequence[Merger]) -> str:
    """The source of the graph; each comment stands before the element that it is about."""
    lines = emit(_writable(graph)).splitlines()
    definitions = _definitions(lines)
    lines = _declared(lines, definitions)
    for merger in mergers:
        place = _declaration(lines, merger.kept)
        if place is not None:
            lines[place:place] = [f"  // {line}" for line in wrap(merger.text, 95, break_long_words=False)]
    return format_source("\n".join([f"// {heading}", *lines]) + "\n")


def _writable(graph: BondGraph) -> BondGraph:
    """Variables that stand for what went are written in quotes; those inside their names go: `'1B'.f` as `'1B.f'`."""
    new = {v.name: v.name.replace("'", "") for v in graph.variables if "'" in v.name[1:-1] and v.kind != "displacement"}
    if not new:
        return graph
    edit = Edit(graph)
    edit.variables = [replace(v, name=new.get(v.name, v.name)) for v in edit.variables]
    edit.reads = {("v", old): var(name) for old, name in new.items()}
    return edit.graph()


def _declaration(lines: list[str], name: str) -> int | None:
    pattern = re.compile(rf"  [\w.']+ {re.escape(quoted(name))}[(;  ]")
    return next((k for k, line in enumerate(lines) if pattern.match(line)), None)


def _definitions(lines: list[str]) -> dict[str, str]:
    """Equations `'i2.f' = …;` of variables that stand for what went, by name."""
    found: dict[str, str] = {}
    if "equation" in lines:
        for line in lines[lines.index("equation") + 1 :]:
            match = re.fullmatch(r"  ('[^'\\]+') = (.*);", line)
            if match is not None:
                found[match[1]] = match[2]
    return found


def _declared(lines: list[str], definitions: dict[str, str]) -> list[str]:
    """The definitions moved to the declarations: `Real 'i2.f' = (b/a)*i1.f;`."""
    names = {n for n in definitions if f"  Real {n};" in lines}
    made = list[str]()
    for line in lines:
        declared = re.fullmatch(r"  Real ('[^'\\]+');", line)
        defined = re.fullmatch(r"  ('[^'\\]+') = (.*);", line)
        if declared is not None and declared[1] in names:
            made.append(f"  Real {declared[1]} = {definitions[declared[1]]};")
        elif not (defined is not None and defined[1] in names):
            made.append(line)
    if "equation" in made:
        at = made.index("equation")
        if at + 1 < len(made) and not made[at + 1].startswith("  "):
            del made[at]
    return made
