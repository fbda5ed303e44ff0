"""The parameter vector: named parameters in an order in which they can be computed, then derived ones.

A derived parameter is a part of an equation that depends on parameters alone, computed once instead of in every
evaluation; equal parts share one.
"""

import math
from typing import Any

from bglang.equations.ranges import can_vanish, has_zero_branch
from bglang.equations.system import SystemParameter
from bglang.expr import Expr
from bglang.expr.core import LEAVES, operands
from bglang.expr.expand import elementary
from bglang.expr.walk import leaf_set, rebuild, rewrite
from bglang.graph.ir import BondGraph, Parameter, Table
from bglang.records import replace
from bglang.source import NOWHERE

VARYING = frozenset(["pre", "edge", "change", "sample", "initial", "terminal", "der"])


class ParameterVector:
    """Numbers the parameters of a graph and collects derived ones."""

    def __init__(self, graph: BondGraph) -> None:
        numeric = [p for p in graph.parameters if p.type != "String"]
        self.entries: list[SystemParameter] = []
        self.numbers: dict[str, int] = {}
        self._derived: dict[Expr, Expr] = {}
        self._tables = {table.key: table for table in graph.tables}
        for parameter in _in_order(numeric):
            self.numbers[parameter.name] = len(self.numbers)
        for parameter in _in_order(numeric):
            self.entries.append(self._entry(parameter))

    def _entry(self, p: Parameter) -> SystemParameter:
        value = math.nan if p.value is None else self.renumber(p.value)
        low = None if p.minimum is None else self.renumber(p.minimum)
        high = None if p.maximum is None else self.renumber(p.maximum)
        return SystemParameter(p.name, value, p.fixed, low, high, p.span)

    def leaf(self, name: str) -> Expr:
        return ("p", self.numbers[name])

    def renumber(self, e: Expr) -> Expr:
        """Names of parameters replaced by their numbers."""
        if not isinstance(e, tuple):
            return e
        e = elementary(e, self._tables)
        return rewrite(e, lambda leaf: ("p", self.numbers[leaf[1]]) if leaf[0] == "p" else leaf)

    def renumber_table(self, table: Table) -> Table:
        if not any(isinstance(v, tuple) for v in (*table.x, *table.y)):
            return table
        return replace(table, x=tuple(map(self.renumber, table.x)), y=tuple(map(self.renumber, table.y)))

    def hoist(self, e: Expr) -> Expr:
        """Every largest part that depends on parameters alone, replaced by a derived parameter."""
        if not isinstance(e, tuple) or e[0] in LEAVES:
            return e
        constant: dict[int, bool] = {}

        def is_constant(a: Expr) -> bool:
            return not isinstance(a, tuple) or constant[id(a)]

        def leaf(node: tuple[Any, ...]) -> Expr:
            constant[id(node)] = node[0] == "p"
            return node

        def operation(node: tuple[Any, ...], args: list[Expr]) -> Expr:
            before = operands(node)
            if node[0] not in VARYING and all(is_constant(a) for a in before):
                constant[id(node)] = True
                return node
            constant[id(node)] = False
            args = [self._derive(a) if is_constant(b) else a for a, b in zip(args, before, strict=True)]
            return rebuild(node, args)

        result = rewrite(e, leaf, operation)
        return self._derive(e) if is_constant(e) else result

    def can_vanish(self, e: Expr) -> bool:
        """May an expression become zero, with the parameters as they are?"""
        return can_vanish(e, self._value)

    def has_zero_branch(self, e: Expr) -> bool:
        """Is an expression zero in one of its branches, with the parameters as they are?"""
        return has_zero_branch(e, self._value)

    def _value(self, leaf: tuple[Any, ...]) -> Expr | None:
        entry = self.entries[leaf[1]]
        return entry.value if entry.fixed else None

    def _derive(self, e: Expr) -> Expr:
        if not isinstance(e, tuple) or e[0] == "p":
            return e
        known = self._derived.get(e)
        if known is None:
            known = self._derived[e] = ("p", len(self.entries))
            self.entries.append(SystemParameter("", e, True, None, None, NOWHERE))
        return known


def _in_order(parameters: list[Parameter]) -> list[Parameter]:
    """Each after those that its value uses, else in the order of declaration."""
    by_name = {p.name: p for p in parameters}
    done: dict[str, None] = {}
    for root in parameters:
        stack = [(root, False)]
        while stack:
            p, ready = stack.pop()
            if ready:
                done.setdefault(p.name)
            elif p.name not in done:
                stack.append((p, True))
                if isinstance(p.value, tuple):
                    used = {leaf[1] for leaf in leaf_set(p.value) if leaf[0] == "p"}
                    stack.extend((by_name[name], False) for name in sorted(used) if name not in done)
    return [by_name[name] for name in done]
