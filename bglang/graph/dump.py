"""A flat graph as text to read: what elaboration has made of a model, in the order in which it stands there."""

from collections.abc import Iterator

from bglang.expr import Expr
from bglang.expr.text import number, text
from bglang.graph.ir import (
    Assertion,
    Assign,
    Bond,
    BondGraph,
    Element,
    Equation,
    Law,
    Parameter,
    Port,
    Reinit,
    Start,
    Variable,
    When,
)


def dump(graph: BondGraph) -> str:
    """Everything that is in a graph, one thing a line."""
    lines = [f"model {graph.name}{_quoted(graph.description)}"]
    sections: list[tuple[str, list[str]]] = [
        ("domains", [f"{d.name}: {d.effort_name} [{d.effort}], {d.flow_name} [{d.flow}]" for d in graph.domains]),
        ("parameters", [_parameter(p) for p in graph.parameters]),
        ("tables", [_table(t.key, t.method, t.outside, t.ends, len(t.x)) for t in graph.tables]),
        ("elements", [line for e in graph.elements for line in _element(e)]),
        ("bonds", [_bond(graph, b) for b in graph.bonds]),
        ("variables", [_variable(v) for v in graph.variables]),
        ("equations", [_equation(e) for e in graph.equations]),
        ("initial equations", [_equation(e) for e in graph.initial_equations]),
        ("events", [line for w in graph.whens for line in _when(w)]),
        ("assertions", [_assertion(a) for a in graph.assertions]),
        ("experiment", [_experiment(graph)]),
    ]
    for title, body in sections:
        if body:
            lines += ["", title, *(f"  {line}" for line in body)]
    return "\n".join(lines) + "\n"


def _quoted(description: str) -> str:
    return f' "{description}"' if description else ""


def _unit(unit: str) -> str:
    return f" [{unit}]" if unit else ""


def _parameter(p: Parameter) -> str:
    value = f'"{p.text}"' if p.type == "String" else "?" if p.value is None else text(p.value)
    words = [w for w, on in (("constant", p.constant), ("final", p.final), ("structural", p.structural)) if on]
    if not p.fixed:
        words.append("to be found")
    bounds = [f"{w} {text(e)}" for w, e in (("min", p.minimum), ("max", p.maximum)) if e is not None]
    notes = ", ".join((*words, *bounds))
    kind = "" if p.type == "Real" else f"{p.type} "
    return f"{kind}{p.name} = {value}{_unit(p.unit)}{f' ({notes})' if notes else ''}{_quoted(p.description)}"


def _table(key: str, method: str, outside: str, ends: str, points: int) -> str:
    shown = f", ends {ends}" if method == "spline" else ""
    return f"{key}: {points} points, {method}, outside {outside}{shown}"


def _element(e: Element) -> Iterator[str]:
    notes = [note for note, on in (("symbolic", e.symbolic), ("preferred", e.prefer)) if on]
    kind = e.kind if e.type_name == e.kind else f"{e.kind} ({e.type_name})"
    yield f"{e.id} {kind} {e.name}{' ' + ', '.join(notes) if notes else ''}{_quoted(e.description)}"
    if e.modulus is not None:
        yield f"    {'m' if e.kind == 'TF' else 'r'} = {text(e.modulus)}"
    if e.energy is not None:
        yield f"    energy = {text(e.energy)}"
    for law in e.laws:
        yield f"    {_law(e, law)}"
    if e.kind not in ("J0", "J1"):
        yield from (f"    {line}" for port in e.ports for line in _port(port))


def _law(e: Element, law: Law) -> str:
    left = e.variable(law.port, law.gives) if law.gives else "0"
    return f"{left} = {text(law.value)}"


def _port(port: Port) -> Iterator[str]:
    words: list[str] = [port.kind] if port.kind and port.name else []
    if port.domain is not None:
        words.append(port.domain)
    if port.lock is not None:
        words.append(port.lock)
    letter = {"C": "q", "I": "p"}.get(port.kind, "")
    if port.start is not None:
        words.append(f"{letter}{_start(port.start)}".strip())
    if port.nominal is not None:
        words.append(f"nominal {text(port.nominal)}")
    if words:
        yield f"port{' ' + port.name if port.name else ''}: {', '.join(words)}"


def _start(start: Start) -> str:
    fixed = "" if start.fixed is None else " fixed" if start.fixed else " free"
    return f" starts at {text(start.value)}{'' if start.written else ' (not written)'}{fixed}"


def _bond(graph: BondGraph, b: Bond) -> str:
    arrow = {"head": "->|", "tail": "|->", None: "->"}[b.stroke]
    ends = list[str]()
    for end in (b.tail, b.head):
        element = graph.elements[end.element]
        port = element.ports[end.port].name if element.kind not in ("J0", "J1") else ""
        signs = "" if (end.e_sign, end.f_sign) == (1, 1) else f" ({'-e' if end.e_sign < 0 else '-f'})"
        ends.append(f"{element.name}{'.' + port if port else ''}{signs}")
    names = f" as {', '.join(b.names)}" if b.names else ""
    return f"{b.id} {ends[0]} {arrow} {ends[1]}{names}{f' in {b.domain}' if b.domain else ''}"


def _variable(v: Variable) -> str:
    kind = "" if v.kind == "continuous" else f"{v.kind} "
    start = "" if v.start is None else _start(v.start)
    bounds = [(w, e) for w, e in (("min", v.minimum), ("max", v.maximum), ("nominal", v.nominal)) if e is not None]
    shown = "".join(f", {w} {text(e)}" for w, e in bounds)
    return f"{kind}{v.type} {v.name}{_unit(v.unit)}{start}{shown}{_quoted(v.description)}"


def _equation(e: Equation) -> str:
    return f"{text(e.left)} = {text(e.right)}{f'  ({e.component})' if e.component else ''}"


def _when(when: When) -> Iterator[str]:
    word = "when"
    for branch in when.branches:
        yield f"{word} {' or '.join(_condition(c) for c in branch.conditions)}"
        for action in branch.actions:
            if isinstance(action, Reinit):
                yield f"    reinit {action.target} to {text(action.value)}"
            elif isinstance(action, Assign):
                yield f"    {action.target} := {text(action.value)}"
            elif isinstance(action, Assertion):
                yield f"    {_assertion(action)}"
            else:
                yield f'    terminate "{action.message}"'
        word = "elsewhen"


def _condition(e: Expr) -> str:
    return text(e)


def _assertion(a: Assertion) -> str:
    return f'{a.level} unless {text(a.condition)}: "{a.message}"'


def _experiment(graph: BondGraph) -> str:
    e = graph.experiment
    shown = [f"from {number(e.start)} to {number(e.stop)}", f"tolerance {number(e.tolerance)}"]
    if e.interval is not None:
        shown.append(f"interval {number(e.interval)}")
    if e.steady:
        shown.append("steady start")
    shown += [f"{key} {value}" for key, value in e.settings]
    return ", ".join(shown)
