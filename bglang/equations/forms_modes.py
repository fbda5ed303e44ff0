"""Modes shown as what they stand for: relations, floors, and the operations that were split into branches."""

from collections.abc import Container, Sequence
from typing import Any

from bglang.equations.system import Mode
from bglang.expr import Expr, call, neg
from bglang.expr.diff import SLOPE_LIMIT
from bglang.expr.walk import leaf_set, rebuild

_WORDS = {"coulomb": "slip", "segment": "segment", "sample": "tick"}
_TURNED = {">": "<", ">=": "<="}


def mode_expression(mode: Mode, number: int) -> Expr:
    """The value of a mode as an expression over the leaves of its roots."""
    if mode.kind == "relation":
        return _relation(mode)
    if mode.kind == "floor":
        return ("floor", mode.arguments[0])
    if mode.kind == "discrete":
        return ("v", mode.name)
    return ("v", mode_name(mode, number))


def mode_name(mode: Mode, number: int) -> str:
    """A name in the style of the model's own, which no source text can have written."""
    owner = (mode.component or mode.kind).replace("'", "")
    return f"'{owner}:{_WORDS.get(mode.kind, 'mode')}{number}'"


def mode_remarks(modes: Sequence[Mode], names: Container[str]) -> list[str]:
    """What the modes mean that are shown by name."""
    texts = {
        "coulomb": "is -1 or 1 while it slips, 0 while it sticks",
        "segment": "is the number of the segment of its table",
        "sample": "is 1 in the instants of its sample only",
    }
    shown = [(mode_name(m, k), texts.get(m.kind)) for k, m in enumerate(modes)]
    return [f"{name} {meaning}." for name, meaning in shown if meaning is not None and name in names]


def _relation(mode: Mode) -> Expr:
    op = ">" if mode.strict else ">="
    root = mode.roots[0]
    if isinstance(root, tuple) and root[0] == "-":
        a, b = root[1], root[2]
    elif isinstance(root, tuple) and root[0] == "neg":
        a, b = 0.0, root[1]
    else:
        a, b = root, 0.0
    if all(leaf[0] == "p" for leaf in leaf_set(a)):  # the variable stands on the left
        return (_TURNED[op], b, a)
    return (op, a, b)


def rejoin(node: tuple[Any, ...], args: list[Expr]) -> Expr:
    """abs, sign, min and max again where branches say just that; guards of slopes are left out."""
    if node[0] == "noEvent":
        inner = args[0]
        guarded = isinstance(inner, tuple) and inner[0] == "max" and inner[-1] == SLOPE_LIMIT
        return inner[1] if guarded and isinstance(inner, tuple) else inner
    made = rebuild(node, args)
    if not isinstance(made, tuple) or made[0] != "if" or not isinstance(made[1], tuple):
        return made
    condition, yes, no = made[1:]
    if condition[0] in ("<", "<="):
        condition = (">" if condition[0] == "<" else ">=", condition[2], condition[1])
    if condition[0] not in (">", ">="):
        return made
    a, b = condition[1:]
    if b == 0.0 and yes == a and no == neg(a):
        return ("abs", a)
    if b == 0.0 and yes == 1.0 and _below(no, a):
        return ("sign", a)
    if yes == a and no == b:
        return call("max", a, b)
    return call("min", a, b) if yes == b and no == a else made


def _below(e: Expr, a: Expr) -> bool:
    """if a < 0 then -1 else 0"""
    if not isinstance(e, tuple) or e[0] != "if" or e[2:] != (-1.0, 0.0):
        return False
    return e[1] in (("<", a, 0.0), (">", 0.0, a), (">", neg(a), 0.0))
