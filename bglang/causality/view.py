"""Causality by names: what Python users and the command see."""

from typing import Any

from bglang.causality.explain import explain, table, to_json
from bglang.causality.result import Causality
from bglang.diagnostics import Diagnostic
from bglang.graph.ir import BondGraph


class CausalityView:
    """Strokes, states, dependent storages, loops and conflicts of one graph, by name; prints as the short table."""

    def __init__(self, graph: BondGraph, result: Causality):
        self.graph, self.result = graph, result
        self._data: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The stable form for machines, as `bglang causality --json` prints it."""
        if self._data is None:
            self._data = to_json(self.graph, self.result)
        return self._data

    @property
    def independent(self) -> list[str]:
        return list(self.to_dict()["independent"])

    @property
    def dependent(self) -> list[str]:
        return list(self.to_dict()["dependent"])

    @property
    def bonds(self) -> list[dict[str, Any]]:
        return list(self.to_dict()["bonds"])

    @property
    def loops(self) -> list[dict[str, Any]]:
        return list(self.to_dict()["loops"])

    @property
    def conflicts(self) -> list[dict[str, Any]]:
        return list(self.to_dict()["conflicts"])

    @property
    def reasons(self) -> Any:
        return self.to_dict()["reasons"]

    @property
    def unsolvable(self) -> tuple[Diagnostic, ...]:
        """The conflicts that no equation can resolve."""
        return tuple(conflict.diagnostic for conflict in self.result.conflicts if not conflict.solvable)

    def explain(self, name: str) -> str:
        """The chain of reasons for an element, a storage or a bond."""
        return explain(self.graph, self.result, name)

    def __str__(self) -> str:
        return table(self.graph, self.result)

    def __repr__(self) -> str:
        return f"<causality of {self.graph.name}: {len(self.independent)} states, {len(self.dependent)} dependent>"
