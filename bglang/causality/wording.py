"""Names, lists and expressions as the user would write them."""

from collections.abc import Sequence
from typing import Any

from bglang.causality.gains import Gain
from bglang.causality.result import PortKey
from bglang.expr import Expr
from bglang.expr.core import operands
from bglang.expr.walk import postorder
from bglang.graph.ir import Bond, BondGraph

_INFIX = {
    "+": 1,
    "-": 1,
    "*": 2,
    "/": 2,
    "^": 4,
    "<": 0,
    "<=": 0,
    ">": 0,
    ">=": 0,
    "==": 0,
    "!=": 0,
    "and": -1,
    "or": -2,
}
_ATOM = 9


def port_name(graph: BondGraph, key: PortKey) -> str:
    """`car.ix`, `gap.mag`"""
    e = graph.elements[key[0]]
    name = e.ports[key[1]].name if key[1] < len(e.ports) else ""
    return f"{e.name}.{name}" if name else e.name


def bond_name(graph: BondGraph, bond: Bond) -> str:
    """The name given in the source, else the two ends."""
    if bond.names:
        return bond.names[0]
    return f"{end_name(graph, bond, 0)} -> {end_name(graph, bond, 1)}"


def end_name(graph: BondGraph, bond: Bond, side: int) -> str:
    """An end as one would write it: p1 and p2 of a TF or GY only where the arrow does not say which one it is."""
    end = bond.head if side else bond.tail
    e = graph.elements[end.element]
    if e.kind in ("TF", "GY") and end.port == 1 - side:
        return e.name
    return port_name(graph, (end.element, end.port))


def listed(items: Sequence[str], most: int = 6) -> str:
    """a, b and c"""
    shown = list(items) if len(items) <= most else [*items[: most - 1], f"{len(items) - most + 1} more"]
    return "".join(shown) if len(shown) < 2 else ", ".join(shown[:-1]) + " and " + shown[-1]


def gain_text(gain: Gain) -> str:
    sign = "-" if gain.sign < 0 else ""
    if gain.modulus is None:
        return f"{sign}1"
    text, level = _write(gain.modulus)
    if gain.power < 0:
        return f"{sign}1/{text if level > 2 else f'({text})'}"
    return sign + (text if level >= 2 else f"({text})")


def expression_text(value: Expr) -> str:
    return _write(value)[0]


def _write(value: Expr) -> tuple[str, int]:
    """Text and the strength of its outermost operator."""
    if not isinstance(value, tuple):
        return _number(value)
    done: dict[int, tuple[str, int]] = {}
    for node in postorder(value):
        done[id(node)] = _node(node, [done[id(a)] if isinstance(a, tuple) else _number(a) for a in _arguments(node)])
    return done[id(value)]


def _arguments(node: tuple[Any, ...]) -> tuple[Any, ...]:
    return () if node[0] in ("v", "p", "t", "y", "d", "z") else operands(node)


def _number(value: float) -> tuple[str, int]:
    text = f"{value:.12g}"
    return text, _ATOM if value >= 0 else 1


def _node(node: tuple[Any, ...], args: list[tuple[str, int]]) -> tuple[str, int]:
    op = node[0]
    if op in ("v", "p"):
        return str(node[1]), _ATOM
    if op == "t":
        return "time", _ATOM
    if op == "neg":
        return "-" + _wrap(args[0], 2), 1
    if op in _INFIX:
        level = _INFIX[op]
        parts = [_wrap(args[0], level)] + [_wrap(a, level + (op in "-/^")) for a in args[1:]]
        gap = " " if level < 2 else ""
        return f"{gap}{op}{gap}".join(parts), level
    if op == "not":
        return "not " + _wrap(args[0], 0), -1
    if op == "if":
        return f"if {args[0][0]} then {args[1][0]} else {args[2][0]}", -3
    names = [a for a, _ in args]
    if op in ("table", "dtable", "pwlin", "interpolation"):
        names.append(str(node[-1]))
    return f"{op}({', '.join(names)})", _ATOM


def _wrap(part: tuple[str, int], level: int) -> str:
    return part[0] if part[1] >= level else f"({part[0]})"
