"""Causality in words: the short table, and the chain of reasons for one name."""

import difflib

from bglang.causality.machine import to_json
from bglang.causality.reasons import (
    bond_line,
    element_line,
    input_names,
    loop_text,
    path_gain,
    reason_text,
    signal_states,
    state_name,
    state_names,
)
from bglang.causality.result import Causality, Dependence
from bglang.causality.signals import Signals
from bglang.causality.structure import build_structure
from bglang.causality.trace import trace
from bglang.causality.wording import bond_name, end_name, listed, port_name
from bglang.diagnostics import UsageError
from bglang.graph.ir import BondGraph, Element

__all__ = ["explain", "table", "to_json"]


def table(graph: BondGraph, causality: Causality) -> str:
    """States, dependent storages, loops and the stroke of every bond, short."""
    states = state_names(graph, causality)
    lines = [f"{graph.name}: {len(graph.bonds)} bonds, order {len(states)}"]
    if causality.procedure != "scap":
        lines[0] += f", procedure {causality.procedure}"
    rows = [("states", states), ("inputs", input_names(graph)), ("signal states", signal_states(graph))]
    for label, names in rows:
        if names or label == "states":
            lines += _wrapped(label, ", ".join(names) if names else "none")
    for d in causality.dependent:
        lines += _wrapped("dependent", _dependence_text(graph, d))
    for loop in causality.loops:
        lines += _wrapped("loop", loop_text(graph, loop))
    for label, numbers in (
        ("artificial Sf", causality.artificial_flows),
        ("artificial Se", causality.artificial_efforts),
    ):
        if numbers:
            lines += _wrapped(label, ", ".join(f"at {graph.elements[n].name}" for n in numbers))
    for conflict in causality.conflicts:
        lines += _wrapped("conflict", conflict.diagnostic.message.replace("`", ""))
    if causality.zero_eigenvalues:
        lines += _wrapped("zero eigenvalues", f"{causality.zero_eigenvalues}, whatever the parameters are")
    lines.append("")
    return "\n".join(lines + _bond_rows(graph, causality))


def _wrapped(label: str, text: str, width: int = 110) -> list[str]:
    words, lines, current = text.split(" "), list[str](), ""
    for word in words:
        if current and len(current) + len(word) + 1 > width - 19:
            lines.append(current)
            current = word
        else:
            current = f"{current} {word}" if current else word
    lines.append(current)
    return [f"  {label if k == 0 else '':16} {line}" for k, line in enumerate(lines)]


def _bond_rows(graph: BondGraph, causality: Causality) -> list[str]:
    arrows = {"head": "->|", "tail": "|->", "": "-?-"}
    rows: list[tuple[str, str]] = []
    for b in graph.bonds:
        tail, head = end_name(graph, b, 0), end_name(graph, b, 1)
        name = f"{b.names[0]}: " if b.names else ""
        rows.append((f"{name}{tail} {arrows[causality.strokes[b.id]]} {head}", reason_text(graph, causality, b.id)))
    width = min(max((len(a) for a, _ in rows), default=0), 44)
    return [f"  {a:{width}}  {why.replace('`', '')}" for a, why in rows]


def _dependence_text(graph: BondGraph, d: Dependence) -> str:
    text = port_name(graph, d.port)
    if d.on:
        text += " on " + listed([port_name(graph, key) for key in d.on])
    if d.paths:
        text += ("   one path " if d.split else "   path ") + _path_text(graph, d, 0)
    return text


def _path_text(graph: BondGraph, d: Dependence, number: int) -> str:
    """`m2 - v2 - t - v1 - m1, gain t.m`"""
    path = d.paths[number]
    names = " - ".join(graph.elements[step.element].name for step in path)
    return f"{names}, gain {path_gain([step.gain for step in path])}"


def explain(graph: BondGraph, causality: Causality, name: str) -> str:
    """Everything that led to the strokes of an element, a port, a junction or a bond."""
    for e in graph.elements:
        if e.name == name:
            return _explain_element(graph, causality, e, None)
        for p, port in enumerate(e.ports):
            if port.name and f"{e.name}.{port.name}" == name:
                return _explain_element(graph, causality, e, p)
    bonds = [b.id for b in graph.bonds if name in b.names or bond_name(graph, b) == name]
    if bonds:
        return "\n".join(_chain(graph, causality, bonds))
    known = [e.name for e in graph.elements] + [bond_name(graph, b) for b in graph.bonds]
    close = difflib.get_close_matches(name, known, 1)
    raise UsageError(
        f"the model has no element or bond named `{name}`" + (f"; did you mean `{close[0]}`?" if close else "")
    )


def _explain_element(graph: BondGraph, causality: Causality, e: Element, port: int | None) -> str:
    bonds = [
        b.id
        for b in graph.bonds
        for end in (b.tail, b.head)
        if end.element == e.id and (port is None or end.port == port)
    ]
    lines = [_headline(graph, causality, e, p) for p in _ports_to_tell(e, port)]
    for d in causality.dependent:
        if d.port[0] == e.id and (port is None or d.port[1] == port):
            lines += _paths_of(graph, causality, d)
    for loop in causality.loops:
        if e.id in loop.elements:
            lines.append(f"It is part of an algebraic loop {loop_text(graph, loop)}.")
    for conflict in causality.conflicts:
        if conflict.element == e.id or set(conflict.bonds) & set(bonds):
            lines.append(f"Conflict: {conflict.diagnostic.message}. {conflict.diagnostic.reason}")
    return "\n".join([*lines, *_chain(graph, causality, bonds)])


def _ports_to_tell(e: Element, port: int | None) -> list[int]:
    if e.kind in ("J0", "J1") or not e.ports:
        return [-1]
    return [port] if port is not None else list(range(len(e.ports)))


def _headline(graph: BondGraph, causality: Causality, e: Element, port: int) -> str:
    where = f"({element_line(e)})"
    key = (e.id, port)
    name = f"`{port_name(graph, key) if port >= 0 else e.name}`"
    if key in causality.independent:
        return f"{name} is independent {where}: it is in integral causality, and {state_name(graph, key)} is a state."
    for d in causality.dependent:
        if d.port == key:
            causes = listed([f"`{port_name(graph, k)}`" for k in d.on])
            because = f" because {causes} decide{'s' if len(d.on) == 1 else ''} it" if d.on else ""
            return f"{name} is dependent {where}: it is in derivative causality{because}."
    kinds = {"J0": "a 0-junction", "J1": "a 1-junction", "TF": "a transformer", "GY": "a gyrator", "R": "a resistance",
             "Se": "an effort source", "Sf": "a flow source", "field": "a field"}  # fmt: skip
    return f"{name} is {kinds.get(e.kind, e.kind)} {where}."


def _paths_of(graph: BondGraph, causality: Causality, d: Dependence) -> list[str]:
    if not d.paths and all(causality.strokes):
        # too long to be kept with the result: traced now
        s = build_structure(graph)
        d = trace(Signals(s, [int(x == "head") for x in causality.strokes]), d.port)
    lines = []
    for k, key in enumerate(d.on):
        lines.append(f"  causal path to `{port_name(graph, key)}`: {_path_text(graph, d, k)}")
    return lines


def _chain(graph: BondGraph, causality: Causality, bonds: list[int], most: int = 60) -> list[str]:
    """Each bond with its reason, then the bonds that the reason names, until decisions are reached."""
    arrows = {"head": "stroke at the head", "tail": "stroke at the tail", "": "no stroke"}
    seen: dict[int, None] = dict.fromkeys(bonds)
    lines: list[str] = []
    for b in (queue := list(seen)):
        if len(lines) == most:
            lines.append(f"  … and {len(seen) - most} more bonds behind these")
            break
        place = f"{bond_line(graph, b)}, {arrows[causality.strokes[b]]}"
        lines.append(f"  `{bond_name(graph, graph.bonds[b])}` ({place}): {reason_text(graph, causality, b)}")
        for c in causality.reasons[b].because:
            if c not in seen:
                seen[c] = None
                queue.append(c)
    return lines
