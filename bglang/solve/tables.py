"""Tables that a run has left: told once, with the rule that applied outside."""

import numpy as np

from bglang.diagnostics import Diagnostic, warning
from bglang.expr import Expr
from bglang.expr.core import WITH_KEY
from bglang.expr.evaluate import Values, evaluate_array
from bglang.expr.walk import postorder
from bglang.kernels.tables import range_text
from bglang.results.result import MANY_COLUMNS
from bglang.solve.model import Model
from bglang.solve.recorder import Rows

RULES = {"hold": "its last value is held", "linear": "it goes on as a straight line", "error": "that ends the run"}


def table_arguments(model: Model) -> dict[str, list[tuple[Expr, str]]]:
    """Arguments with which each table is read, and by which component."""
    system = model.system
    found = dict[str, list[tuple[Expr, str]]]()
    for mode in system.modes:
        if mode.table:
            found.setdefault(mode.table, []).append((mode.arguments[0], mode.component))
    seen = set[tuple[int, str]]()
    readers = [(row.residual, row.component) for row in system.rows]
    if len(system.outputs) <= MANY_COLUMNS:
        readers += [(o.value, o.name.rpartition(".")[0]) for o in system.outputs]
    for expression, component in readers:
        for node in postorder(expression):
            if node[0] in WITH_KEY and (id(node[1]), node[-1]) not in seen:
                seen.add((id(node[1]), node[-1]))
                found.setdefault(node[-1], []).append((node[1], component))
    return found


def tables_left(model: Model, rows: Rows) -> list[Diagnostic]:
    """One warning for each table whose range was left."""
    found = list[Diagnostic]()
    arguments = table_arguments(model)
    at = Values(t=rows.t, y=rows.y.T, d=rows.d.T, p=model.p, z=rows.z.T, tables=model.tables)
    for table in model.system.tables:
        block = model.tables[table.key]
        low, high = float(block[1]), float(block[int(block[0])])
        slack = 1e-9 * max(abs(low), abs(high), high - low)
        for argument, component in arguments.get(table.key, ()):
            x = evaluate_array(argument, at) * np.ones(rows.count)
            outside = np.flatnonzero((x < low - slack) | (x > high + slack))
            if not len(outside):
                continue
            k = int(outside[0])
            found.append(
                warning(
                    "run/table",
                    f"a table of `{component}` was left at t = {rows.t[k]:.6g}: "
                    f"{x[k]:.6g} lies outside {range_text(block)}",
                    table.span,
                    reason=f'There {RULES[table.outside]} (`outside = "{table.outside}"`).',
                    component=component,
                )
            )
            break
    return found
