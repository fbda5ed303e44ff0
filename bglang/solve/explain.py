"""Failures in the words of the model: which law, with what argument, at what time, on which line."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bglang.diagnostics import Diagnostic, Label, error
from bglang.equations.system import Row, System
from bglang.expr import Expr, leaves
from bglang.expr.core import WITH_KEY, operands
from bglang.expr.evaluate import Values, evaluate
from bglang.expr.walk import postorder
from bglang.kernels.tables import range_text
from bglang.solve.model import Array
from bglang.source import NOWHERE, Span

INFIX = frozenset({"+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!="})


def culprit(e: Expr, values: Values) -> tuple[tuple[Any, ...], list[float]] | None:
    """The first operation whose operands are numbers while its result is none, and those operands."""
    for node in postorder(e):
        if not operands(node) or node[0] in ("y", "d", "p", "z", "t", "v", "if"):
            continue
        args = [evaluate(a, values) for a in operands(node)]
        if all(map(math.isfinite, args)) and not math.isfinite(evaluate(node, values)):
            return node, args
    return None


def spell(node: tuple[Any, ...], args: Sequence[float]) -> str:
    shown = [f"{a:.6g}" if a >= 0 or len(args) == 1 else f"({a:.6g})" for a in args]
    if node[0] in INFIX:
        return f" {node[0]} ".join(shown)
    return f"{node[0]}({', '.join(shown)})"


def named_leaves(e: Expr, system: System, values: Values, limit: int = 4) -> str:
    """`x = 3.2, v = -1`: the variables of an expression and what they are."""
    shown = dict[str, float]()
    for leaf in leaves(e):
        if leaf[0] == "y":
            shown[system.unknowns[leaf[1]].name] = float(values.y[leaf[1]])
    return ", ".join(f"{name} = {value:.6g}" for name, value in list(shown.items())[:limit])


def not_finite(system: System, values: Values, when: str) -> Diagnostic | None:
    """A law that has no finite value: which, where, when, with what argument."""
    for row in system.rows:
        if math.isfinite(evaluate(row.residual, values)):
            continue
        found = culprit(row.residual, values)
        if found is not None and found[0][0] in WITH_KEY:
            return _table_left(system, row, found[0][-1], found[1][0], values, when)
        operation = spell(*found) if found else ""
        given = named_leaves(row.residual, system, values)
        what = "a division by zero" if " / " in operation and operation.endswith(" 0") else "no finite value"
        reason = f"There {given}." if given else ""
        if operation:
            reason = f"`{operation}` comes up there{' with ' + given if given else ''}."
        component, span = _culprit_of(system, row, found[0] if found else 0.0)
        return error(
            "solve/not-finite",
            f"{_whose(component)} has {what} {when}",
            span,
            label=f"{operation} is not a number" if operation else "",
            reason=reason,
            hint="Give starts inside the range in which the law is defined, or limit its argument.",
            component=component,
        )
    return None


def _culprit_of(system: System, row: Row, part: Expr) -> tuple[str, Span]:
    """Whose law fails: that of the one element whose variables stand in the failing part, else the row's own."""
    owners = {system.unknowns[leaf[1]].name.rpartition(".")[0]: leaf[1] for leaf in leaves(part) if leaf[0] == "y"}
    if len(owners) == 1:
        [(name, number)] = owners.items()
        if name and name != row.component:
            return name, system.unknowns[number].span
    return row.component, row.span


def _table_left(system: System, row: Row, key: str, x: float, values: Values, when: str) -> Diagnostic:
    span = next((t.span for t in system.tables if t.key == key), row.span)
    return error(
        "solve/table-left",
        f"a table was left {when}: {x:.6g} lies outside {range_text(values.tables[key])}",
        span,
        reason='The table says `outside = "error"`.',
        hint='Give it more points, or `outside = "hold"` or `"linear"`.',
        component=row.component,
    )


def worst_rows(system: System, residual: Sequence[float] | Array, limit: int = 3) -> list[int]:
    """Rows with the largest residuals."""
    size = np.abs(np.asarray(residual, dtype=float))
    size[~np.isfinite(size)] = np.inf
    order = np.argsort(-size, kind="stable")
    return [int(i) for i in order[:limit] if size[i] > 0.0]


def labels(rows: Iterable[Row], text: str = "") -> tuple[Label, ...]:
    """Places of some rows, each once."""
    seen, found = set[tuple[int, int]](), list[Label]()
    for row in rows:
        key = (id(row.span.source), row.span.start)
        if row.span.source.text and key not in seen:
            seen.add(key)
            found.append(Label(row.span, text))
    return tuple(found)


def _whose(component: str) -> str:
    return f"the law of `{component}`" if component else "an equation"


def first_span(spans: Iterable[Span]) -> Span:
    """The first place that can be shown."""
    return next((s for s in spans if s.source.text), NOWHERE)


def those_of(names: Sequence[str]) -> str:
    """The components that some equations belong to, or the model as a whole."""
    return listed(names) if names else "the model"


def listed(names: Sequence[str], limit: int = 6) -> str:
    """`a`, `b` and `c`; long lists are cut and counted."""
    shown = [f"`{n}`" for n in names[:limit]]
    if len(names) > limit:
        shown.append(f"{len(names) - limit} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1] if shown else "nothing"
