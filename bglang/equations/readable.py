"""Expressions of a system in the model's own names and the language's own syntax."""

from typing import Any

from bglang.equations.system import System
from bglang.expr import Expr, map_leaves
from bglang.expr.text import text


def named(e: Expr, system: System) -> Expr:
    """Numbers of unknowns, parameters and modes replaced by what they stand for."""

    def change(leaf: tuple[Any, ...]) -> Expr:
        kind = leaf[0]
        if kind == "y":
            return ("v", system.unknowns[leaf[1]].name)
        if kind == "d":
            return ("der", ("v", system.unknowns[leaf[1]].name))
        if kind == "p":
            parameter = system.parameters[leaf[1]]
            return ("p", parameter.name) if parameter.name else map_leaves(parameter.value, change)
        if kind == "z":
            mode = system.modes[leaf[1]]
            return ("v", mode.name or mode.text or f"mode {leaf[1]}")
        return leaf

    return map_leaves(e, change)


def readable(e: Expr, system: System) -> str:
    """The text of an expression, as the user would have written it."""
    return text(named(e, system))
