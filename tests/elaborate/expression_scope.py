"""A small scope for tests of expressions: names given as values, functions and constants given as source text."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bglang.diagnostics import Report, error
from bglang.elaborate.builtins import NAMES
from bglang.elaborate.expressions import translate, translate_constant
from bglang.elaborate.subscripts import positions, select
from bglang.elaborate.values import CONTINUOUS, PARAMETER, TypeInfo, Value
from bglang.expr.numbers import evaluate
from bglang.graph.ir import Table
from bglang.limits import Limits
from bglang.source import Source, Span
from bglang.syntax import ast
from bglang.syntax.parse import parse


def variable(name: str, *shape: int, type: Any = "Real", kind: str = "v", variability: int = CONTINUOUS) -> Value:
    """`x`, or `x[1]`, `x[2]`, … as leaves."""
    if not shape:
        return Value(type, (), ((kind, name),), variability)
    places: list[tuple[int, ...]] = [(i + 1,) for i in range(shape[0])]
    for size in shape[1:]:
        places = [(*p, i + 1) for p in places for i in range(size)]
    items = tuple((kind, f"{name}[{','.join(map(str, p))}]") for p in places)
    return Value(type, shape, items, variability)


def parameter(name: str, *shape: int, type: Any = "Real") -> Value:
    return variable(name, *shape, type=type, kind="p", variability=PARAMETER)


@dataclass
class TestScope:
    """Implements the protocol that elaboration implements for models."""

    __test__ = False
    values: dict[str, Value] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    classes: dict[str, ast.Class] = field(default_factory=dict)
    folder: Path | None = None
    report: Report = field(default_factory=Report)
    limits: Limits = field(default_factory=Limits)
    worked: int = 0
    tables: list[Table] = field(default_factory=list)
    structural: set[str] = field(default_factory=set)

    def work(self, number: int, span: Span) -> None:
        self.worked += number

    def resolve(self, name: ast.Name) -> Value | None:
        spelled = ".".join(p.ident for p in name.parts)
        value = self.values.get(spelled) or NAMES.get(spelled)
        if value is None:
            self.report.add(error("names/unknown", f"`{spelled}` is not known", name.span))
            return None
        last = name.parts[-1]
        if last.subscripts is None:
            return value
        places = positions(last.subscripts, value.shape, self, self.report, spelled, last.span)
        return None if places is None else select(value, places)

    def function(self, name: ast.Name) -> ast.Class | None:
        return self.classes.get(name.parts[-1].ident)

    def functions(self) -> Iterable[str]:
        return self.classes

    def function_scope(self, function: ast.Class) -> "TestScope":
        return self

    def value_type(self, name: ast.Name) -> TypeInfo | None:
        return TypeInfo(name.parts[-1].ident)  # type: ignore[arg-type]

    def constant(self, value: Value, span: Span) -> Value | None:
        def leaf(e: tuple[Any, ...]) -> float:
            self.structural.add(e[1])
            return self.numbers[e[1]]

        items = tuple(i if isinstance(i, str) else evaluate(i, leaf) for i in value.items)
        return Value(value.type, value.shape, items, 0, value.enum)

    def add_table(self, table: Table) -> str:
        self.tables.append(replace(table, key=f"t{len(self.tables)}"))
        return f"t{len(self.tables) - 1}"

    def path(self, file: str, span: Span) -> Path | None:
        return None if self.folder is None else self.folder / file


def parsed(text: str, functions: str = "") -> tuple[ast.Expression, dict[str, ast.Class]]:
    report = Report()
    source = Source("test.bg", f"{functions}\nmodel M\nequation\n  x = {text};\nend M;\n")
    file = parse(source, report)
    assert file is not None, [d.message for d in report]
    model = file.classes[-1]
    equation = next(i for s in model.sections for i in s.items if isinstance(i, ast.Equation))
    return equation.right, {c.ident: c for c in file.classes if c.kind == "function"}


def value_of(text: str, scope: TestScope | None = None, functions: str = "") -> Value:
    """The value of an expression, which must be right."""
    scope = scope or TestScope()
    expression, classes = parsed(text, functions)
    scope.classes |= classes
    value = translate(expression, scope, scope.report)
    assert value is not None, [(d.code, d.message) for d in scope.report]
    return value


def constant_of(text: str, scope: TestScope | None = None) -> Value:
    scope = scope or TestScope()
    value = translate_constant(parsed(text)[0], scope, scope.report)
    assert value is not None, [(d.code, d.message) for d in scope.report]
    return value


def errors_of(text: str, scope: TestScope | None = None, functions: str = "") -> list[tuple[str, str]]:
    """Codes and messages of an expression that must be wrong."""
    scope = scope or TestScope()
    expression, classes = parsed(text, functions)
    scope.classes |= classes
    assert translate(expression, scope, scope.report) is None
    assert scope.report.errors
    return [(d.code, d.message) for d in scope.report.errors]
