"""Variables that no equation reads and that have no value somewhere: the run goes on, and says so once."""

from collections.abc import Iterator

import numpy as np

from bglang.diagnostics import Diagnostic, warning
from bglang.equations.system import System
from bglang.expr import Expr, leaves
from bglang.expr.core import operands
from bglang.expr.evaluate import Values, evaluate_array
from bglang.expr.walk import postorder
from bglang.solve.explain import culprit, named_leaves, spell
from bglang.solve.model import DENSE, Model
from bglang.solve.recorder import Rows
from bglang.source import NOWHERE

PARTIAL = frozenset({"sqrt", "log", "log10", "asin", "acos", "exp", "sinh", "cosh", "tan"})
"""Functions without a finite value for some arguments."""
SHOWN = 5


def values_lost(model: Model, rows: Rows) -> list[Diagnostic]:
    """One warning for each operation that has no value, with the first variable that shows it.  The outputs of large
    models are not even looked at unless somebody asks for them."""
    system, found, known = model.system, list[Diagnostic](), set[int]()
    if len(system.unknowns) > DENSE or not rows.count:
        return found
    at = Values(t=rows.t, y=rows.y.T, d=rows.d.T, p=model.p, z=rows.z.T, tables=model.tables)
    for name, value in _partial(system):
        with np.errstate(all="ignore"):
            away = np.flatnonzero(~np.isfinite(evaluate_array(value, at) * np.ones(rows.count)))
        if not len(away):
            continue
        k = int(away[0])
        here = model.values(float(rows.t[k]), rows.y[k], rows.d[k], rows.z[k])
        cause = culprit(value, here)
        if cause is None or id(cause[0]) in known:
            continue
        known.add(id(cause[0]))
        lasts = len(away) == rows.count - k
        found.append(_lost(system, name, cause, here, f"from t = {here.t:.6g} on" if lasts else f"at t = {here.t:.6g}"))
        if len(found) == SHOWN:
            break
    return found


def _partial(system: System) -> Iterator[tuple[str, Expr]]:
    for output in system.outputs:
        if isinstance(output.value, tuple) and any(_may_fail(node) for node in postorder(output.value)):
            yield output.name, output.value


def _may_fail(node: tuple[object, ...]) -> bool:
    """Divisions by parameters and whole powers have values."""
    if node[0] in PARTIAL:
        return True
    if node[0] not in ("/", "^"):
        return False
    _, second = operands(node)
    if node[0] == "^":
        return isinstance(second, tuple) or second != int(second) or second < 0
    return any(leaf[0] != "p" for leaf in leaves(second))


def _lost(
    system: System, name: str, cause: tuple[tuple[object, ...], list[float]], here: Values, when: str
) -> Diagnostic:
    given = named_leaves(cause[0], system, here)
    return warning(
        "run/no-value",
        f"`{name}` has no finite value {when}",
        NOWHERE,
        reason=f"`{spell(*cause)}` comes up there{' with ' + given if given else ''}.",
        component=name,
    )
