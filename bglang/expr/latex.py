r"""Expressions as LaTeX (amsmath).  `mass.p` becomes p_{\mathrm{mass}}, `der(x)` a dot, quotients fractions."""

import re
from typing import Any

from bglang.expr.core import LEAVES, WITH_KEY, Expr, operands
from bglang.expr.walk import postorder

_SUM, _PRODUCT, _POWER, _PRIMARY = range(4)
_FUNCTIONS = frozenset(("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "min", "max"))
_NAMES = {"asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan", "log": r"\ln"}
_RELATIONS = {"<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "==": "=", "!=": r"\ne", "and": r"\wedge", "or": r"\vee"}
_ESCAPES = {"_": r"\_", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$", "{": r"\{", "}": r"\}", "^": r"\^{}",
            "~": r"\~{}", "\\": r"\backslash "}  # fmt: skip

Spelled = tuple[str, int]


def latex(e: Expr) -> str:
    """The expression for a displayed formula."""
    if not isinstance(e, tuple):
        return _number(e)
    known: dict[int, Spelled] = {}
    for node in postorder(e):
        if node[0] in LEAVES:
            known[id(node)] = _leaf(node), _PRIMARY
        else:
            args = [known[id(a)] if isinstance(a, tuple) else (_number(a), _PRIMARY) for a in operands(node)]
            known[id(node)] = _operation(node, args)
    return known[id(e)][0]


def latex_name(name: str) -> str:
    """A dotted name: the last part is the symbol, the rest its index."""
    if name.startswith("der(") and name.endswith(")"):
        return rf"\dot{{{latex_name(name[4:-1])}}}"
    path, _, last = name.rpartition(".")
    match = re.fullmatch(r"(.*?)\[(.*)\]", last)
    indices = [match.group(2)] if match else []
    symbol = match.group(1) if match else last
    shown = symbol if len(symbol) == 1 else rf"\mathrm{{{escape(symbol)}}}"
    subscript = ", ".join([*([rf"\mathrm{{{escape(path)}}}"] if path else []), *indices])
    return f"{shown}_{{{subscript}}}" if subscript else shown


def escape(text: str) -> str:
    return "".join(_ESCAPES.get(c, c) for c in text)


def _number(value: float) -> str:
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    shown = f"{value:.10g}"
    if "e" in shown:
        mantissa, exponent = shown.split("e")
        return rf"{mantissa}\cdot 10^{{{int(exponent)}}}"
    return shown


def _leaf(node: tuple[Any, ...]) -> str:
    if node[0] == "t":
        return "t"
    return latex_name(node[1]) if isinstance(node[1], str) else f"{node[0]}_{{{node[1]}}}"


def _wrap(part: Spelled, at_least: int) -> str:
    return part[0] if part[1] >= at_least and not part[0].startswith("-") else rf"\left({part[0]}\right)"


def _operation(node: tuple[Any, ...], args: list[Spelled]) -> Spelled:
    op = node[0]
    if op in ("+", "-"):
        return _sum(op, args), _SUM
    if op == "neg":
        return "-" + _wrap(args[0], _PRODUCT), _SUM
    if op == "*":
        return r" \, ".join(
            a[0] if k == 0 and a[1] >= _PRODUCT else _wrap(a, _PRODUCT) for k, a in enumerate(args)
        ), _PRODUCT
    if op == "/":
        return rf"\frac{{{args[0][0]}}}{{{args[1][0]}}}", _PRODUCT
    if op == "^":
        return f"{{{_wrap(args[0], _PRIMARY)}}}^{{{args[1][0]}}}", _POWER
    if op == "sqrt":
        return rf"\sqrt{{{args[0][0]}}}", _PRIMARY
    if op == "abs":
        return rf"\left|{args[0][0]}\right|", _PRIMARY
    if op == "der":
        return rf"\dot{{{args[0][0]}}}", _PRIMARY
    if op == "floor":
        return rf"\left\lfloor {args[0][0]} \right\rfloor", _PRIMARY
    if op in _RELATIONS:
        return f" {_RELATIONS[op]} ".join(a[0] for a in args), _SUM
    if op == "not":
        return rf"\neg\left({args[0][0]}\right)", _PRIMARY
    if op == "if":
        rows = rf"{args[1][0]} & \text{{if }} {args[0][0]} \\ {args[2][0]} & \text{{otherwise}}"
        return rf"\begin{{cases}} {rows} \end{{cases}}", _PRIMARY
    return _call(node, args), _PRIMARY


def _sum(op: str, args: list[Spelled]) -> str:
    shown = args[0][0]
    for part in args[1:]:
        if op == "+" and part[0].startswith("-"):
            shown += f" - {part[0][1:]}"
        else:
            shown += f" {op} {part[0] if op == '+' else _wrap(part, _PRODUCT)}"
    return shown


def _call(node: tuple[Any, ...], args: list[Spelled]) -> str:
    op = node[0]
    name = _NAMES.get(op) or (rf"\{op}" if op in _FUNCTIONS else rf"\operatorname{{{escape(op)}}}")
    if op in WITH_KEY:
        name = rf"\operatorname{{{escape(node[-1])}}}{chr(39) * op.count('d')}"
    return rf"{name}\left({', '.join(a[0] for a in args)}\right)"
