"""A scope with a few names of its own in front of another scope: iterators, `end`, the variables of a function."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from bglang.diagnostics import Diagnostic, Report, error
from bglang.elaborate.protocol import Fault, Scope, fault
from bglang.elaborate.values import TypeInfo, Value
from bglang.graph.ir import Table
from bglang.limits import Limits
from bglang.records import dataclass, field, replace
from bglang.source import Span
from bglang.syntax import ast

UNSET = ("unset",)
"""The item of a variable of a function that has no value yet."""


@dataclass(frozen=True, slots=True)
class Locals:
    """`values` hide what the inner scope knows; `end` is the size that `end` stands for in a subscript.

    `stack` are the functions being executed, called from `caller`; `quiet`: relations make no events (loops in
    functions)."""

    inner: Scope
    report: Report
    values: Mapping[str, Value] = field(default_factory=dict[str, Value])
    end: int | None = None
    stack: tuple[ast.Class, ...] = ()
    caller: Scope | None = None
    quiet: bool = False

    @property
    def limits(self) -> Limits:
        return (self.caller or self.inner).limits

    def work(self, number: int, span: Span) -> None:
        (self.caller or self.inner).work(number, span)

    def resolve(self, name: ast.Name) -> Value | None:
        first = name.parts[0]
        value = None if name.rooted else self.values.get(first.ident)
        if value is None:
            try:
                return self._from_outside(name)
            except Fault as problem:
                if problem.diagnostic is not None:
                    self.report.add(problem.diagnostic)
                return None
        if len(name.parts) > 1:
            self.report.add(
                error("names/unknown", f"`{first.ident}` is a value and has no part of this name", name.span)
            )
            return None
        if first.subscripts is not None:
            from bglang.elaborate.subscripts import positions, select

            places = positions(first.subscripts, value.shape, self, self.report, first.ident, first.span)
            if places is None:
                return None
            value = select(value, places)
        if self.stack and UNSET in value.items:
            self.report.add(_unassigned(name))
            return None
        return value

    def _from_outside(self, name: ast.Name) -> Value | None:
        value = self.inner.resolve(self._without_locals(name))
        if self.stack and value is not None and not value.known:
            raise impure(f"`{'.'.join(part.ident for part in name.parts)}`", self.stack[-1], name.span)
        return value

    def function(self, name: ast.Name) -> ast.Class | None:
        return self.inner.function(name)

    def functions(self) -> Iterable[str]:
        return self.inner.functions()

    def function_scope(self, function: ast.Class) -> Scope:
        return self.inner.function_scope(function)

    def value_type(self, name: ast.Name) -> TypeInfo | None:
        return self.inner.value_type(name)

    def constant(self, value: Value, span: Span) -> Value | None:
        return (self.caller or self.inner).constant(value, span)

    def add_table(self, table: Table) -> str:
        return (self.caller or self.inner).add_table(table)

    def path(self, file: str, span: Span) -> Path | None:
        return self.inner.path(file, span)

    def _without_locals(self, name: ast.Name) -> ast.Name:
        """The inner scope does not know the local names that stand in subscripts (`x[i]`): they become numbers."""
        if not self.values or all(part.subscripts is None for part in name.parts):
            return name
        parts = tuple(
            part if part.subscripts is None else replace(part, subscripts=tuple(map(self._replaced, part.subscripts)))
            for part in name.parts
        )
        return replace(name, parts=parts)

    def _replaced(self, e: ast.Expression) -> ast.Expression:
        match e:
            case ast.Name():
                value = None if e.rooted else self.values.get(e.parts[0].ident)
                if value is None:
                    return self._without_locals(e)
                resolved = self.resolve(e)
                if resolved is None:
                    raise Fault(None)
                return _literal(resolved, e)
            case ast.Unary():
                return replace(e, operand=self._replaced(e.operand))
            case ast.Binary():
                return replace(e, left=self._replaced(e.left), right=self._replaced(e.right))
            case ast.Range():
                step = None if e.step is None else self._replaced(e.step)
                return replace(e, start=self._replaced(e.start), step=step, stop=self._replaced(e.stop))
            case ast.Call():
                args = tuple(a if a.value is None else replace(a, value=self._replaced(a.value)) for a in e.args)
                return replace(e, args=args)
            case ast.IfExpression():
                branches = tuple((self._replaced(c), self._replaced(v)) for c, v in e.branches)
                return replace(e, branches=branches, otherwise=self._replaced(e.otherwise))
            case ast.ArrayList():
                return replace(e, items=tuple(map(self._replaced, e.items)))
            case _:
                return e


def _literal(value: Value, name: ast.Name) -> ast.Expression:
    if not value.known or not value.numeric or len(value.shape) > 1:
        raise fault(
            "expressions/not-constant",
            f"the subscript `{name.parts[0].ident}` is not known at compile time",
            name.span,
            reason="Which item is meant must not change during a run.",
            hint="use `table` to look up a value that depends on a variable, or `if`.",
        )
    numbers = tuple(ast.Number(item, value.type == "Integer", name.span) for item in value.items)
    return ast.ArrayList(numbers, name.span) if value.shape else numbers[0]


def _unassigned(name: ast.Name) -> Diagnostic:
    spelled = name.parts[0].ident
    message = f"`{spelled}` is read before it has a value"
    return error("functions/unassigned", message, name.span, hint=f"assign `{spelled} := …;` first.")


def impure(what: str, function: ast.Class, span: Span) -> Fault:
    """A function reads something that is neither its input nor a constant."""
    return fault(
        "functions/impure",
        f"the function `{function.ident}` cannot use {what}",
        span,
        reason="A function sees its inputs and constants only.",
        hint="make it an input of the function, or a `constant`.",
    )


def stack_of(scope: Scope) -> tuple[ast.Class, ...]:
    """The functions being executed where this scope belongs."""
    while isinstance(scope, Locals):
        if scope.stack:
            return scope.stack
        scope = scope.inner
    return ()


def quiet(scope: Scope) -> bool:
    """Whether relations make no events here."""
    while isinstance(scope, Locals):
        if scope.quiet:
            return True
        scope = scope.inner
    return False


def end_of(scope: Scope) -> int | None:
    """What `end` stands for."""
    while isinstance(scope, Locals):
        if scope.end is not None:
            return scope.end
        scope = scope.inner
    return None
