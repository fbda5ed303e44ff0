"""Causality by names, for tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from build import Build

from bglang.causality.assign import Procedure, assign_causality
from bglang.causality.explain import to_json
from bglang.causality.result import Causality
from bglang.diagnostics import Diagnostic, Report
from bglang.graph.ir import BondGraph


@dataclass
class Found:
    graph: BondGraph
    causality: Causality
    data: dict[str, Any]
    diagnostics: list[Diagnostic]

    @property
    def independent(self) -> list[str]:
        return list(self.data["independent"])

    @property
    def dependent(self) -> list[str]:
        return list(self.data["dependent"])

    def stroke(self, bond: str) -> str:
        return next(str(b["stroke"]) for b in self.data["bonds"] if b["name"] == bond)

    def path(self, dependent: str, to: str) -> dict[str, Any]:
        entry = next(d for d in self.data["dependences"] if d["name"] == dependent)
        return next(p for p in entry["paths"] if p["to"] == to)


def look(g: Build | BondGraph, keep: Sequence[str] = (), procedure: Procedure = "scap") -> Found:
    graph = g.graph() if isinstance(g, Build) else g
    report = Report()
    causality = assign_causality(graph, keep=keep, procedure=procedure, report=report)
    check_rules(graph, causality)
    return Found(graph, causality, to_json(graph, causality), list(report))


def check_rules(graph: BondGraph, causality: Causality) -> None:
    """Every node's rule, wherever all its bonds have strokes (the other procedures break rules on purpose)."""
    if causality.procedure != "scap":
        return
    at: dict[int, list[tuple[str, str, int]]] = {}
    for b in graph.bonds:
        for side, end in (("tail", b.tail), ("head", b.head)):
            at.setdefault(end.element, []).append((side, causality.strokes[b.id], end.port))
    for e in graph.elements:
        ends = at.get(e.id, [])
        if not ends or any(stroke == "" for _, stroke, _ in ends):
            continue
        here = sum(stroke == side for side, stroke, _ in ends)
        if e.kind == "J0":
            assert here == 1, e.name
        elif e.kind == "J1":
            assert here == len(ends) - 1, e.name
        elif e.kind == "TF":
            assert here == 1, e.name
        elif e.kind == "GY":
            assert here in (0, 2), e.name
        elif e.kind == "Se":
            assert here == 0, e.name
        elif e.kind == "Sf":
            assert here == 1, e.name
    independent = set(causality.independent)
    for b in graph.bonds:
        for side, end in (("tail", b.tail), ("head", b.head)):
            kind = graph.elements[end.element].ports[end.port].kind if graph.elements[end.element].ports else ""
            if kind in ("C", "I") and causality.strokes[b.id] and graph.elements[end.element].kind in ("C", "I"):
                integral = (causality.strokes[b.id] == side) == (kind == "I")
                assert ((end.element, end.port) in independent) == integral
