"""Tables that a run has left: told once, with the rule that applied outside."""

from typing import TypeAlias

import numpy as np

from bglang.diagnostics import Diagnostic, warning
from bglang.equations.watched_tables import table_reads, whole_key
from bglang.expr import Expr
from bglang.expr.evaluate import Values, evaluate_array
from bglang.kernels.tables import range_text
from bglang.results.result import MANY_COLUMNS
from bglang.solve.model import Model
from bglang.solve.recorder import Rows

RULES = {"hold": "its last value is held", "linear": "it goes on as a straight line"}


Read: TypeAlias = tuple[Expr, tuple[Expr, ...], str]
"""An argument, the conditions under which it is looked up, and by which component."""


def reads_of(model: Model, keys: set[str]) -> dict[str, list[Read]]:
    """Where each of some tables is read."""
    system = model.system
    found = dict[str, list[Read]]()
    readers = [(row.residual, row.component) for row in system.rows]
    if len(system.outputs) <= MANY_COLUMNS:
        readers += [(o.value, o.name.rpartition(".")[0]) for o in system.outputs]
    owners = {mode.table: mode.component for mode in system.modes}
    seen = set[tuple[int, str]]()
    for expression, component in readers:
        for node, guards in table_reads(expression, keys):
            if (id(node[1]), node[-1]) not in seen or guards:
                seen.add((id(node[1]), node[-1]))
                found.setdefault(whole_key(node), []).append((node[1], guards, owners.get(node[-1], component)))
    return found


def tables_left(model: Model, rows: Rows) -> list[Diagnostic]:
    """One warning for each table whose range was left.  Where that ends a run, the end itself says so."""
    found = list[Diagnostic]()
    kept = {t.key: t for t in model.system.tables if t.outside != "error"}
    reads = reads_of(model, {*kept})
    at = Values(t=rows.t, y=rows.y.T, d=rows.d.T, p=model.p, z=rows.z.T, tables=model.tables)
    for table in kept.values():
        block = model.tables[table.key]
        low, high = float(block[1]), float(block[int(block[0])])
        slack = 1e-9 * max(abs(low), abs(high), high - low)
        for argument, guards, component in reads.get(table.key, ()):
            x = evaluate_array(argument, at) * np.ones(rows.count)
            away = (x < low - slack) | (x > high + slack)
            for guard in guards:
                away &= evaluate_array(guard, at) != 0.0
            outside = np.flatnonzero(away)
            if not len(outside):
                continue
            k = int(outside[0])
            of = f" of `{component}`" if component else ""
            found.append(
                warning(
                    "run/table",
                    f"a table{of} was left at t = {rows.t[k]:.6g}: {x[k]:.6g} lies outside {range_text(block)}",
                    table.span,
                    reason=f'There {RULES[table.outside]} (`outside = "{table.outside}"`).',
                    component=component,
                )
            )
            break
    return found
