"""Causality for machines."""

from typing import Any

from bglang.causality.reasons import input_names, loop_text, path_gain, reason_text, signal_states, state_names
from bglang.causality.result import Causality, Dependence, Loop
from bglang.causality.wording import bond_name, listed, port_name
from bglang.graph.ir import BondGraph


def to_json(graph: BondGraph, causality: Causality) -> dict[str, Any]:
    """Names only, no numbers of elements: stable between runs and machines."""
    return {
        "model": graph.name,
        "procedure": causality.procedure,
        "order": len(causality.independent),
        "states": state_names(graph, causality),
        "signal_states": signal_states(graph),
        "inputs": input_names(graph),
        "independent": [port_name(graph, key) for key in causality.independent],
        "dependent": [port_name(graph, d.port) for d in causality.dependent],
        "dependences": [_dependence_json(graph, d) for d in causality.dependent],
        "zero_eigenvalues": causality.zero_eigenvalues,
        "loops": [_loop_json(graph, loop) for loop in causality.loops],
        "zero_order_paths": _zero_order_json(graph, causality),
        "conflicts": [
            {
                "element": graph.elements[c.element].name if c.element >= 0 else "",
                "bonds": [bond_name(graph, graph.bonds[b]) for b in c.bonds],
                "solvable": c.solvable,
                "severity": c.diagnostic.severity,
                "code": c.diagnostic.code,
                "message": c.diagnostic.message,
                "reason": c.diagnostic.reason,
                "hint": c.diagnostic.hint,
                "lines": sorted({c.diagnostic.span.line, *(x.span.line for x in c.diagnostic.related)}),
            }
            for c in causality.conflicts
        ],
        "artificial_flows": [graph.elements[n].name for n in causality.artificial_flows],
        "artificial_efforts": [graph.elements[n].name for n in causality.artificial_efforts],
        "bonds": [_bond_json(graph, causality, b.id) for b in graph.bonds],
        "reasons": _reasons_json(graph, causality),
    }


def _bond_json(graph: BondGraph, causality: Causality, number: int) -> dict[str, Any]:
    b, reason = graph.bonds[number], causality.reasons[number]
    tail, head = (port_name(graph, (x.element, x.port)) for x in (b.tail, b.head))
    return {
        "name": bond_name(graph, b),
        "names": list(b.names),
        "tail": tail,
        "head": head,
        "stroke": causality.strokes[number],
        "rule": reason.rule,
        "element": graph.elements[reason.element].name if reason.element >= 0 else "",
        "because": [bond_name(graph, graph.bonds[c]) for c in reason.because],
        "reason": reason_text(graph, causality, number),
        "line": b.span.line if b.span.source.text else 0,
    }


def _dependence_json(graph: BondGraph, d: Dependence) -> dict[str, Any]:
    return {
        "name": port_name(graph, d.port),
        "on": [port_name(graph, key) for key in d.on],
        "split": d.split,
        "paths": [
            {
                "to": port_name(graph, key),
                "elements": [graph.elements[step.element].name for step in path],
                "gains": [step.gain for step in path],
                "gain": path_gain([step.gain for step in path]),
            }
            for key, path in zip(d.on, d.paths, strict=True)
        ],
    }


def _loop_json(graph: BondGraph, loop: Loop) -> dict[str, Any]:
    return {
        "kind": loop.kind,
        "class": loop.zero_order_class,
        "elements": [graph.elements[n].name for n in loop.elements],
        "closed_by": [graph.elements[n].name for n in loop.closed_by],
        "bonds": [bond_name(graph, graph.bonds[b]) for b in loop.bonds],
        "reason": loop_text(graph, loop),
    }


def _zero_order_json(graph: BondGraph, causality: Causality) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"class": 1, "elements": [port_name(graph, d.port), *(port_name(graph, key) for key in d.on)]}
        for d in causality.dependent
    ]
    return found + [
        {"class": x.zero_order_class, "elements": [graph.elements[n].name for n in x.elements]} for x in causality.loops
    ]


def _reasons_json(graph: BondGraph, causality: Causality) -> dict[str, str]:
    """By name: every port of an element, then every bond."""
    found: dict[str, str] = {}
    dependent = {d.port: d for d in causality.dependent}
    for b in graph.bonds:
        for end in (b.tail, b.head):
            key = (end.element, end.port)
            e = graph.elements[end.element]
            if e.kind in ("J0", "J1"):
                continue
            text = reason_text(graph, causality, b.id)
            if key in dependent and dependent[key].on:
                on = listed([f"`{port_name(graph, k)}`" for k in dependent[key].on])
                text = f"dependent on {on}: {text}"
            found[port_name(graph, key)] = text
    for b in graph.bonds:
        found.setdefault(bond_name(graph, b), reason_text(graph, causality, b.id))
    return found
