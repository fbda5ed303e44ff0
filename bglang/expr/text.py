"""Expressions as text in the language's own syntax, with no more parentheses than needed.

Reading the text back gives an expression of the same value, and the same text again."""

from collections.abc import Callable
from typing import Any

from bglang.expr.core import LEAVES, WITH_KEY, Expr, operands

_IF, _OR, _AND, _NOT, _RELATION, _SUM, _PRODUCT, _POWER, _PRIMARY = range(9)
"""How strongly an operation binds; `if` the least."""

_RELATIONS = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "==", "!=": "<>"}

Spelled = tuple[str, int]


def text(
    e: Expr,
    spell: Callable[[str], str] = lambda name: name,
    table: Callable[[str], str] = lambda key: key,
) -> str:
    """The expression as source.  `spell` writes the name of a variable or parameter, `table` what follows the argument
    of a table (its points and options).  No recursion: expressions may be deep."""
    known: dict[int, Spelled] = {}
    stack: list[tuple[Expr, bool]] = [(e, False)]
    while stack:
        node, ready = stack.pop()
        if not isinstance(node, tuple) or id(node) in known:
            continue
        if node[0] in LEAVES:
            known[id(node)] = _leaf(node, spell), _PRIMARY
        elif ready:
            args = [known[id(a)] if isinstance(a, tuple) else _number(a) for a in operands(node)]
            known[id(node)] = _operation(node, args, table)
        else:
            stack.append((node, True))
            stack.extend((a, False) for a in operands(node))
    return known[id(e)][0] if isinstance(e, tuple) else _number(e)[0]


def number(value: float) -> str:
    """A number so that it reads back exactly."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value))


def _number(value: float) -> Spelled:
    shown = number(value)
    return shown, _SUM if shown.startswith("-") else _PRIMARY


def _leaf(node: tuple[Any, ...], spell: Callable[[str], str]) -> str:
    if node[0] == "t":
        return "time"
    return spell(node[1]) if node[0] in ("v", "p") and isinstance(node[1], str) else f"{node[0]}[{node[1]}]"


def _wrap(part: Spelled, at_least: int) -> str:
    return part[0] if part[1] >= at_least else f"({part[0]})"


def _operation(node: tuple[Any, ...], args: list[Spelled], table: Callable[[str], str]) -> Spelled:
    op = node[0]
    if op == "+" or op == "-":
        return _sum(op, args), _SUM
    if op == "*":
        return _product(args)
    if op == "neg":
        return "-" + _wrap(args[0], _PRODUCT), _SUM
    if op == "/":
        return _product(args, "/")
    if op == "^":
        return f"{_wrap(args[0], _PRIMARY)}^{_wrap(args[1], _PRIMARY)}", _POWER
    if op in _RELATIONS:
        return f"{_wrap(args[0], _SUM)} {_RELATIONS[op]} {_wrap(args[1], _SUM)}", _RELATION
    if op == "and" or op == "or":
        level = _AND if op == "and" else _OR
        return f" {op} ".join(_wrap(a, level + 1) for a in args), level
    if op == "not":
        return f"not {_wrap(args[0], _RELATION)}", _NOT
    if op == "if":
        return _choice(node, args), _IF
    return _call(node, args, table), _PRIMARY


def _sum(op: str, args: list[Spelled]) -> str:
    parts = [_wrap(args[0], _SUM)]
    for arg in args[1:]:
        if op == "+" and arg[0].startswith("-") and _one_term(arg):
            parts.append(f" - {arg[0][1:]}")
        else:
            shown = _wrap(arg, _PRODUCT)
            parts.append(f" {op} {shown}")
    return "".join(parts)


def _one_term(part: Spelled) -> bool:
    """A text that begins with a minus belongs to it as a whole if it is no longer sum."""
    depth = 0
    for k, c in enumerate(part[0]):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and k and c == " ":
            return False
    return part[1] >= _SUM


def _product(args: list[Spelled], op: str = "*") -> Spelled:
    """A leading minus is the sign of the whole product."""
    first = args[0][0]
    negative = first.startswith("-") and _one_term(args[0])
    shown = first if negative else _wrap(args[0], _PRODUCT)
    rest = "".join(f"{op}{_wrap(a, _POWER)}" for a in args[1:])
    return shown + rest, _SUM if negative else _PRODUCT


def _choice(node: tuple[Any, ...], args: list[Spelled]) -> str:
    condition, then, otherwise = args
    word = "else"
    shown = otherwise[0]
    if isinstance(node[3], tuple) and node[3][0] == "if":
        word, shown = "elseif", shown[3:]
    return f"if {_wrap(condition, _OR)} then {_wrap(then, _OR)} {word} {shown}"


def _call(node: tuple[Any, ...], args: list[Spelled], table: Callable[[str], str]) -> str:
    op = node[0]
    parts = [a[0] for a in args]
    if op in WITH_KEY:
        parts.append(table(node[-1]))
    elif op == "poly":
        parts = [parts[0], f"{{{', '.join(parts[1:])}}}"]
    elif op in ("min", "max") and len(parts) > 2:
        parts = [f"{{{', '.join(parts)}}}"]
    return f"{op}({', '.join(parts)})"
