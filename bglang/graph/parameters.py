"""Parameters get their numbers: once, in the order in which they depend on each other."""

from collections.abc import Mapping
from typing import Any

from bglang.diagnostics import Diagnostic, Report, error
from bglang.expr import leaves
from bglang.expr.numbers import NotANumber, TableValue, evaluate, interpolate
from bglang.graph.ir import BondGraph, Parameter, Table


def evaluate_parameters(
    graph: BondGraph, overrides: Mapping[str, float] | None = None, report: Report | None = None
) -> dict[str, float]:
    """The number of every parameter that has one; `overrides` replace values by name, dependents follow.

    Division by zero, cycles and values outside `min` and `max` are reported; without a report they raise `SourceError`.
    Parameters without value, texts, and those that an initial equation finds keep out of the result."""
    own = Report() if report is None else report
    values = _Evaluation(graph, overrides or {}, own).all()
    if report is None:
        own.raise_if_errors()
    return values


class _Evaluation:
    def __init__(self, graph: BondGraph, overrides: Mapping[str, float], report: Report):
        self.graph = graph
        self.overrides = overrides
        self.report = report
        self.parameters = {p.name: p for p in graph.parameters}
        self.tables = {t.key: t for t in graph.tables}
        self.values: dict[str, float] = {}
        self.failed: set[str] = set()

    def all(self) -> dict[str, float]:
        for name in self.overrides:
            assert name in self.parameters, f"no parameter {name!r}"
        for parameter in self.graph.parameters:
            self._settle(parameter.name)
        for parameter in self.graph.parameters:
            if parameter.name in self.values:
                self._check_bounds(parameter)
        return self.values

    def _settle(self, first: str) -> None:
        """Depth first with a stack of its own; a parameter met again on the way down closes a cycle."""
        stack, active = [first], dict[str, None]()
        while stack:
            name = stack[-1]
            if name in active:
                stack.pop()
                del active[name]
                if name not in self.failed:
                    self._compute(name)
            elif name in self.values or name in self.failed or self._direct(name):
                stack.pop()
            else:
                active[name] = None
                for needed in self._needs(name):
                    if needed in active:
                        names = list(active)
                        self._cycle(names[names.index(needed) :])
                    elif needed not in self.values and needed not in self.failed:
                        stack.append(needed)

    def _direct(self, name: str) -> bool:
        """Values that need no other: overrides, numbers, none at all."""
        parameter = self.parameters[name]
        if name in self.overrides:
            self.values[name] = float(self.overrides[name])
        elif parameter.type == "String" or parameter.value is None:
            self.failed.add(name)
        elif not isinstance(parameter.value, tuple):
            self.values[name] = float(parameter.value)
        else:
            return False
        return True

    def _needs(self, name: str) -> list[str]:
        value = self.parameters[name].value
        if value is None:
            return []
        return [leaf[1] for e in (value, *self._points(value)) for leaf in leaves(e) if leaf[0] == "p"]

    def _points(self, value: Any) -> list[Any]:
        """Formulas among the points of the tables that an expression looks into."""
        found = list[Any]()
        stack = [value]
        while stack:
            node = stack.pop()
            if isinstance(node, tuple) and node[0] not in ("v", "p", "t"):
                if isinstance(node[-1], str) and node[-1] in self.tables:
                    table = self.tables[node[-1]]
                    found.extend(x for x in (*table.x, *table.y) if isinstance(x, tuple))
                stack.extend(a for a in node[1:] if isinstance(a, tuple))
        return found

    def _compute(self, name: str) -> None:
        parameter = self.parameters[name]
        if any(n not in self.values for n in self._needs(name)):
            self.failed.add(name)  # what it needs has no value; that is said there
            return
        assert parameter.value is not None
        try:
            self.values[name] = evaluate(parameter.value, self._leaf, self._table())
        except NotANumber as problem:
            self.failed.add(name)
            self.report.add(
                error(
                    "parameters/not-a-number",
                    f"`{name}` has no value: {problem}",
                    parameter.span,
                    reason=self._inputs(name),
                    component=name,
                )
            )

    def _leaf(self, leaf: tuple[Any, ...]) -> float:
        assert leaf[0] == "p", f"a parameter cannot depend on {leaf!r}"
        return self.values[leaf[1]]

    def _table(self) -> TableValue:
        def look_up(op: str, key: str, at: float) -> float:
            table: Table = self.tables[key]
            x = [evaluate(e, self._leaf) for e in table.x]
            y = [evaluate(e, self._leaf) for e in table.y]
            return interpolate(op, (x, y), (table.method, table.outside, table.ends), at)

        return look_up

    def _inputs(self, name: str) -> str:
        used = list(dict.fromkeys(self._needs(name)))
        shown = ", ".join(f"{n} = {self.values[n]:.6g}" for n in used[:6])
        return f"It is computed with {shown}." if shown else ""

    def _cycle(self, names: list[str]) -> None:
        self.failed.update(names)
        first = self.parameters[names[0]]
        if len(names) == 1:
            message = f"`{names[0]}` is defined by itself"
        else:
            message = "parameters that need each other: " + " needs ".join(f"`{n}`" for n in (*names, names[0]))
        self.report.add(error("parameters/cyclic", message, first.span, component=names[0]))

    def _check_bounds(self, parameter: Parameter) -> None:
        value = self.values[parameter.name]
        for bound, word in ((parameter.minimum, "less"), (parameter.maximum, "greater")):
            if bound is None or any(leaf[1] not in self.values for leaf in leaves(bound)):
                continue
            limit = evaluate(bound, self._leaf, self._table())
            if value < limit if word == "less" else value > limit:
                self.report.add(_outside(parameter, value, limit, word))


def _outside(parameter: Parameter, value: float, limit: float, word: str) -> Diagnostic:
    attribute = "min" if word == "less" else "max"
    unit = f" {parameter.unit}" if parameter.unit else ""
    return error(
        "parameters/range",
        f"`{parameter.name}` is {value:.6g}{unit}, {word} than its {attribute}imum {limit:.6g}",
        parameter.span,
        hint=f"`{attribute}` of `{parameter.name}` says which values make sense.",
        component=parameter.name,
    )
