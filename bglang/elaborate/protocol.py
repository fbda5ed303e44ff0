"""What the translation of expressions asks of its surroundings, and how it says that something is wrong."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from bglang.diagnostics import Diagnostic, error
from bglang.elaborate.values import TypeInfo, Value
from bglang.graph.ir import Table
from bglang.limits import Limits
from bglang.source import Span
from bglang.syntax import ast


class Scope(Protocol):
    """What names mean at one place of the source; elaboration implements it."""

    @property
    def limits(self) -> Limits:
        """How large things may be."""
        ...

    def work(self, number: int, span: Span) -> None:
        """Count statements and items that are computed while compiling; beyond the limit elaboration stops."""
        ...

    def resolve(self, name: ast.Name) -> Value | None:
        """A component, parameter, constant, enumeration literal or loop variable as a value; arrays, slices too.

        Subscripts are found with `subscripts.positions`.  Before reporting an unknown name the scope falls back to
        `builtins.NAMES` (`pi`, `time`).  None after the scope has reported the problem itself."""
        ...

    def function(self, name: ast.Name) -> ast.Class | None:
        """A function that a user or a library wrote; None if there is none (perhaps a built-in).  Reports nothing."""
        ...

    def functions(self) -> Iterable[str]:
        """Names of the functions that can be seen from here, for suggestions."""
        ...

    def function_scope(self, function: ast.Class) -> "Scope":
        """Where the constants, functions and types that a function uses are looked up."""
        ...

    def value_type(self, name: ast.Name) -> TypeInfo | None:
        """What a type name (`Real`, `Units.Length`, an enumeration) stands for; None after reporting."""
        ...

    def constant(self, value: Value, span: Span) -> Value | None:
        """The value of parameter expressions, known at compile time; marks the parameters used as structural."""
        ...

    def add_table(self, table: Table) -> str:
        """Registers a table and returns its key (equal tables share one; `table.key` is ignored)."""
        ...

    def path(self, file: str, span: Span) -> Path | None:
        """A file that the source names, checked against the sandbox; None after reporting."""
        ...


class Fault(Exception):
    """A mistake in the source found inside a translation; carried up to the next expression, reported there."""

    def __init__(self, diagnostic: Diagnostic | None):
        super().__init__(diagnostic)
        self.diagnostic = diagnostic
        """None: it was already reported."""


def fault(code: str, message: str, span: Span, *, label: str = "", reason: str = "", hint: str = "") -> Fault:
    return Fault(error(code, message, span, label=label, reason=reason, hint=hint))
