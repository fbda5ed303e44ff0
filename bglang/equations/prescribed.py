"""Dry friction on a flow that time alone prescribes cannot stick: nothing in the model could hold that flow at zero.

Such a term is level*sign(x), with two relations for its three values.  While the flow is prescribed as zero, any
friction up to the level would do; 0 is taken.
"""

from typing import Any

from bglang.equations.system import Mode, System
from bglang.expr import Expr, call, neg
from bglang.expr.walk import leaf_set, rebuild, rewrite
from bglang.records import replace


def free_prescribed(made: System) -> System:
    """The system with a plain switch for each friction whose argument is prescribed."""
    modes = list(made.modes)
    values = dict[Expr, Expr]()
    for k, mode in enumerate(made.modes):
        if mode.kind == "coulomb" and all(leaf[0] in ("t", "p", "z") for leaf in leaf_set(mode.arguments[0])):
            forward, backward = _switches(mode)
            values["z", k] = call("-", ("z", k), ("z", len(modes)))
            modes[k] = forward
            modes.append(backward)
    if not values:
        return made

    def operation(node: tuple[Any, ...], args: list[Expr]) -> Expr:
        """What sticks in the friction's own row goes: only slip is left, and 0 on a flow that is prescribed as zero."""
        if node[0] == "if" and node[1][0] == "==" and node[1][1] in values:
            return args[2]
        return rebuild(node, args)

    def freed(e: Expr) -> Expr:
        return rewrite(e, lambda leaf: values.get(leaf, leaf), operation)

    rows = tuple(
        replace(row, residual=freed(row.residual), position=None if row.position is None else freed(row.position))
        for row in made.rows
    )
    return replace(made, rows=rows, modes=tuple(modes))


def _switches(mode: Mode) -> tuple[Mode, Mode]:
    """x > 0 and x < 0."""
    x = mode.arguments[0]
    time_only = any(leaf[0] == "t" for leaf in leaf_set(x))
    forward = replace(mode, kind="relation", roots=(x,), arguments=(), strict=True, time_only=time_only)
    name = mode.name.removesuffix(".slip")
    return (
        replace(forward, name=f"{name}.forward", text=f"{mode.text} forward"),
        replace(forward, roots=(neg(x),), name=f"{name}.backward", text=f"{mode.text} backward"),
    )
