"""What all parts of one elaboration share: the report, the libraries, tables, and the values of parameters."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from bglang.diagnostics import Report, error
from bglang.elaborate.values import CONSTANT, CONTINUOUS, PARAMETER, TypeInfo, Value
from bglang.expr import Expr, leaves
from bglang.graph.ir import Table
from bglang.limits import Limits, raise_hint
from bglang.records import replace
from bglang.source import NOWHERE, Span

if TYPE_CHECKING:
    from bglang.elaborate.bodies import Member
    from bglang.elaborate.definitions import Definition
    from bglang.elaborate.libraries import Libraries
    from bglang.elaborate.macros import MacroNode
    from bglang.elaborate.objects import Instance
    from bglang.elaborate.scopes import InstanceScope
    from bglang.syntax import ast


class Holder(Protocol):
    """What knows the expressions of parameters."""

    @property
    def span(self) -> Span: ...

    def expression(self, place: int) -> Expr | None: ...

    def given(self) -> bool:
        """Whether the source gives a value, right or wrong."""
        ...


class Known:
    """A parameter whose expression is at hand."""

    __slots__ = ("_expression", "span")

    def __init__(self, expression: Expr | None, span: Span):
        self._expression = expression
        self.span = span

    def expression(self, place: int) -> Expr | None:
        return self._expression

    def given(self) -> bool:
        return self._expression is not None


class LimitReached(Exception):
    """The model is larger than the limits allow; already reported."""


class Context:
    def __init__(
        self, report: Report, limits: Limits, library: "Libraries", create: "Callable[[Instance, Member], Any]"
    ):
        self.report = report
        self.limits = limits
        self.library = library
        self.create = create
        self.allow_native = False
        """The native code of FMUs may run."""
        self.slots: dict[str, tuple[Holder, int]] = {}
        self.structural: set[str] = set()
        self.expanded = 0
        self.worked = 0
        self.drawn: list[tuple[ast.BondChain, InstanceScope]] = []
        self.equations: list[tuple[ast.Item, str, InstanceScope]] = []
        self.handed: list[MacroNode] = []
        """Nodes that uses of macros are given, mentioned there or not."""
        self.frames: list[tuple[str, str]] = []
        self.laws: dict[tuple[int, str], Any] = {}
        self.macro_types: dict[int, TypeInfo | None] = {}
        self.words: dict[int, frozenset[str]] = {}
        self.loop_values: dict[tuple[int, int], Value | None] = {}
        self.complete = False
        """All components exist: what is not there now is absent."""
        self.redeclared: dict[tuple[int, int], Definition] = {}
        self._numbers: dict[str, float | None] = {}
        self._evaluating: list[str] = []
        self._tables: dict[Table, str] = {}
        self._table_spans: dict[str, Span] = {}
        self._blocks: dict[str, Any] = {}

    def count(self, number: int, span: Span) -> None:
        """Count what is expanded; beyond the limit elaboration stops."""
        self.expanded += number
        if self.expanded > self.limits.expansion:
            self.report.add(
                error(
                    "limits/expansion",
                    f"the model has more than {self.limits.expansion} components, bonds and equations",
                    span,
                    label="while expanding this",
                    hint=raise_hint("expansion"),
                )
            )
            raise LimitReached

    def work(self, number: int, span: Span) -> None:
        """Count what is computed: calls inside calls and loops inside loops multiply, whatever each of them costs."""
        self.worked += number
        if self.worked > self.limits.evaluation:
            text = f"compiling this model takes more than {self.limits.evaluation} statements and items"
            found = error("limits/evaluation", text, span, label="while computing this", hint=raise_hint("evaluation"))
            self.report.add(found)
            raise LimitReached

    # --- tables ------------------------------------------------------------------------------------------------------

    def add_table(self, table: Table) -> str:
        plain = replace(table, key="", span=NOWHERE)
        if plain not in self._tables:
            self._tables[plain] = f"table{len(self._tables) + 1}"
            self._table_spans[self._tables[plain]] = table.span
        return self._tables[plain]

    def tables(self) -> Iterator[Table]:
        for table, key in self._tables.items():
            yield replace(table, key=key, span=self._table_spans[key])

    # --- numbers -----------------------------------------------------------------------------------------------------

    def constant(self, value: Value, span: Span) -> Value | None:
        """A value as numbers; the parameters that it needs have shaped the model from now on."""
        if value.variability == CONSTANT:
            return value
        if value.variability > PARAMETER:
            self.report.add(
                error(
                    "types/variability",
                    "this must be known before the run",
                    span,
                    label="varies in time" if value.variability == CONTINUOUS else "changes at events",
                    reason="Sizes, conditions around declarations and bonds, and bounds of loops shape the model.",
                )
            )
            return None
        items = []
        for item in value.items:
            number = self.evaluate(item, span, structural=True)
            if number is None:
                return None
            items.append(number)
        return Value(value.type, value.shape, tuple(items), CONSTANT, value.enum)

    def evaluate(self, expression: Expr, span: Span, structural: bool) -> float | None:
        """The number of a parameter expression; None after reporting a parameter without value or a circle."""
        if not isinstance(expression, tuple):
            return expression
        known = dict[str, float]()
        for leaf in leaves(expression):
            if leaf[0] != "p":
                return None
            number = self.number(leaf[1], span, structural)
            if number is None:
                return None
            known[leaf[1]] = number
        if expression[0] == "p":
            return known[expression[1]]
        from bglang.expr.evaluate import Values, evaluate

        return evaluate(expression, Values(parameter=known.__getitem__, tables=self._table_blocks(expression)))

    def number(self, name: str, span: Span, structural: bool) -> float | None:
        """The number of a parameter by its flat name."""
        if structural:
            self.structural.add(name)
        if name in self._numbers:
            if structural:
                self._mark_sources(name)
            return self._numbers[name]
        if name in self._evaluating:
            self.report_cycle(self._evaluating[self._evaluating.index(name) :])
            return None
        holder, place = self.slots[name]
        self._evaluating.append(name)
        expression = holder.expression(place)
        number = None
        if expression is None:
            if structural and not holder.given():  # a wrong value has been reported
                self._report_no_value(name, span)
        else:
            number = self.evaluate(expression, holder.span, structural)
        self._evaluating.pop()
        if number is not None or structural:
            self._numbers[name] = number
        return number

    def _mark_sources(self, name: str) -> None:
        """A parameter that became structural makes those structural from which it follows."""
        stack, seen = [name], {name}
        while stack:
            holder, place = self.slots[stack.pop()]
            expression = holder.expression(place)
            for leaf in leaves(expression) if isinstance(expression, tuple) else ():
                if leaf[0] == "p" and leaf[1] not in seen:
                    seen.add(leaf[1])
                    self.structural.add(leaf[1])
                    stack.append(leaf[1])

    def report_cycle(self, names: list[str], span: Span | None = None) -> None:
        chain = " needs ".join(f"`{name}`" for name in [*names, names[0]])
        self.report.add(
            error(
                "parameters/cyclic",
                f"the value of `{names[0]}` depends on itself"
                if len(names) == 1
                else "these parameters need each other",
                span or self.slots[names[0]][0].span,
                reason=f"{chain}.",
                hint="give one of them a value of its own.",
            )
        )

    def _report_no_value(self, name: str, needed: Span) -> None:
        self.report.add(
            error(
                "parameters/no-value",
                f"`{name}` has no value",
                needed,
                label="needed here",
                reason="It decides what the model consists of.",
                hint=f"give it a value where it is declared, or with `--set {name}=...`.",
            )
        )

    def _table_blocks(self, expression: Expr) -> dict[str, Any]:
        """Coefficients of the tables that an expression uses."""
        if not has_table(expression):
            return {}
        from bglang.kernels.tables import make_block

        for table in self.tables():
            if table.key not in self._blocks:
                x = [self.evaluate(v, table.span, True) for v in table.x]
                y = [self.evaluate(v, table.span, True) for v in table.y]
                if None not in x and None not in y:
                    block = make_block(x, y, table.method, table.outside, table.ends)  # type: ignore[arg-type]
                    self._blocks[table.key] = block
        return self._blocks


def has_table(expression: Expr) -> bool:
    stack = [expression]
    while stack:
        e = stack.pop()
        if isinstance(e, tuple):
            if e[0] in ("table", "dtable", "pwlin", "interpolation"):
                return True
            stack.extend(a for a in e[1:] if isinstance(a, tuple))
    return False
