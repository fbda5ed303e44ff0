"""Expressions as LaTeX formulas: dots for derivatives, fractions, Greek letters, indices."""

import re
from collections.abc import Sequence
from typing import Any

from bglang.expr import Expr
from bglang.expr.core import LEAVES, WITH_KEY, operands
from bglang.expr.text import number, text
from bglang.expr.walk import postorder

GREEK = frozenset((
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi",
    "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
))  # fmt: skip
FUNCTIONS = frozenset(["sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "min", "max"])
NAMED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "log": "ln"}
RELATIONS = {"<": "<", "<=": "\\leq", ">": ">", ">=": "\\geq", "==": "=", "!=": "\\neq"}
DIGITS = 6
"""Digits of a number that is no parameter: what a page needs; the other forms show all."""
_SUM, _PRODUCT, _POWER, _ATOM = range(4)

Spelled = tuple[str, int]


def formula(e: Expr) -> str:
    """One expression, to stand in mathematics."""
    if not isinstance(e, tuple):
        return _number(e)[0]
    known: dict[int, Spelled] = {}
    for node in postorder(e):
        if node[0] in LEAVES:
            known[id(node)] = _leaf(node), _ATOM
        else:
            args = [known[id(a)] if isinstance(a, tuple) else _number(a) for a in operands(node)]
            known[id(node)] = _operation(node, args)
    return known[id(e)][0]


def name_formula(name: str) -> str:
    """A dotted name: `mass.p` is p with the index mass, `theta1` is theta with the index 1."""
    owner, _, last = name.rpartition(".")
    if owner and len(last) <= 2:
        return f"{_word(last)}_{{\\mathrm{{{_plain(owner)}}}}}"
    found = re.fullmatch(r"([A-Za-z]+?)_?(\d+|_[A-Za-z0-9]+)?", name)
    if found is None:
        return f"\\mathrm{{{_plain(name)}}}"
    head, index = found.group(1), (found.group(2) or "").lstrip("_")
    if len(head) > 1 and head not in GREEK and not index:
        small = re.fullmatch(r"([A-Z])([a-z]{1,2})|([a-z])([A-Z]{1,2})", head)
        letters = [part for part in small.groups() if part] if small else []
        return f"{letters[0]}_{{\\mathrm{{{letters[1]}}}}}" if letters else f"\\mathrm{{{head}}}"
    return f"{_word(head)}_{{{index}}}" if index else _word(head)


def matrix_formula(name: str, rows: Sequence[str], columns: Sequence[str], entries: Sequence[Sequence[Expr]]) -> str:
    """A matrix between the names of its rows and columns."""
    left = "\\begin{pmatrix}" + " \\\\ ".join(_label(r) for r in rows) + "\\end{pmatrix}"
    right = "\\begin{pmatrix}" + " \\\\ ".join(_label(c) for c in columns) + "\\end{pmatrix}"
    body = " \\\\ ".join(" & ".join(formula(e) for e in row) for row in entries)
    label = f"\\mathrm{{{_plain(name)}}}:\\quad "
    return f"{label}{left} \\leftarrow \\begin{{pmatrix}}{body}\\end{{pmatrix}} {right}"


def _label(name: str) -> str:
    """A name at the edge of a matrix, or the rate of one."""
    if name.startswith("der(") and name.endswith(")"):
        return formula(("der", ("v", name[4:-1])))
    return name_formula(name)


def escape(words: str) -> str:
    """Text for a LaTeX page."""
    made = words.replace("\\", "\\textbackslash ")
    made = re.sub(r"([&%$#_{}])", r"\\\1", made)
    return (
        made.replace("~", "\\textasciitilde{}")
        .replace("^", "\\textasciicircum{}")
        .replace("λ", "$\\lambda$")
        .replace(">", "$>$")
        .replace("<", "$<$")
    )


def _plain(word: str) -> str:
    return re.sub(r"([&%$#_{}])", r"\\\1", word.strip("'")).replace("^", "").replace("~", "").replace("\\\\", "")


def _word(word: str) -> str:
    if word in GREEK:
        return f"\\{word}"
    return word if len(word) == 1 else f"\\mathrm{{{_plain(word)}}}"


def _leaf(node: tuple[Any, ...]) -> str:
    return "t" if node[0] == "t" else name_formula(str(node[1]))


def _number(value: float) -> Spelled:
    shown = number(float(f"{value:.{DIGITS}g}"))
    if "e" in shown:
        mantissa, exponent = shown.split("e")
        shown = f"{mantissa} \\cdot 10^{{{int(exponent)}}}"
    return shown, _SUM if shown.startswith("-") else _ATOM


def _wrap(part: Spelled, at_least: int) -> str:
    return part[0] if part[1] >= at_least else f"\\left({part[0]}\\right)"


def _operation(node: tuple[Any, ...], args: list[Spelled]) -> Spelled:
    op = node[0]
    if op in ("+", "-"):
        return _sum(op, args), _SUM
    if op == "*":
        parts = [_wrap(a, _PRODUCT) if k == 0 else _wrap(a, _POWER) for k, a in enumerate(args)]
        return " \\, ".join(parts), _SUM if parts[0].startswith("-") else _PRODUCT
    if op == "/":
        return f"\\frac{{{args[0][0]}}}{{{args[1][0]}}}", _PRODUCT
    if op == "neg":
        return f"-{_wrap(args[0], _PRODUCT)}", _SUM
    if op == "^":
        return _raised(node, args), _POWER
    if op == "der":
        return _dotted(node, args[0][0]), _ATOM
    if op == "sqrt":
        return f"\\sqrt{{{args[0][0]}}}", _ATOM
    if op == "abs":
        return f"\\left|{args[0][0]}\\right|", _ATOM
    if op in RELATIONS:
        return f"{args[0][0]} {RELATIONS[op]} {args[1][0]}", _SUM
    if op in ("noEvent", "smooth"):
        return args[-1]
    return _call(node, args), _ATOM


def _sum(op: str, args: list[Spelled]) -> str:
    made = _wrap(args[0], _SUM)
    for arg in args[1:]:
        if op == "+":
            made += f" - {arg[0][1:]}" if arg[0].startswith("-") and _single(arg[0]) else f" + {arg[0]}"
        else:
            made += f" - {_wrap(arg, _PRODUCT)}"
    return made


def _single(shown: str) -> bool:
    """Is a text that begins with a minus one term?"""
    depth = 0
    for k, c in enumerate(shown):
        depth += (c in "({") - (c in ")}")
        if k and depth == 0 and c in "+-" and shown[k - 1] == " ":
            return False
    return True


def _raised(node: tuple[Any, ...], args: list[Spelled]) -> str:
    base = node[1]
    if isinstance(base, tuple) and base[0] in ("sin", "cos", "tan") and not isinstance(node[2], tuple):
        return f"\\{base[0]}^{{{args[1][0]}}}\\left({formula(base[1])}\\right)"
    return f"{{{_wrap(args[0], _ATOM)}}}^{{{args[1][0]}}}"


def _dotted(node: tuple[Any, ...], inner: str) -> str:
    """One or two dots over the letter, not over its index."""
    if isinstance(node[1], tuple) and node[1][0] == "der":
        name = formula(node[1][1])
        head, mark, index = name.partition("_{")
        return f"\\ddot{{{head}}}{mark}{index}"
    if not (isinstance(node[1], tuple) and node[1][0] == "v"):
        return f"\\frac{{d}}{{dt}}\\left({inner}\\right)"
    head, mark, index = inner.partition("_{")
    return f"\\dot{{{head}}}{mark}{index}"


def _call(node: tuple[Any, ...], args: list[Spelled]) -> str:
    op = node[0]
    if op == "if":
        return _cases(node, args)
    parts = ", ".join(a[0] for a in args)
    if op in WITH_KEY:
        parts += f", \\mathrm{{{_plain(str(node[-1]))}}}"
    word = NAMED.get(op, op)
    shown = f"\\{word}" if op in FUNCTIONS or op in NAMED else f"\\mathrm{{{_plain(word)}}}"
    return f"{shown}\\left({parts}\\right)" if args else f"\\mathrm{{{_plain(text(node))}}}"


def _cases(node: tuple[Any, ...], args: list[Spelled]) -> str:
    """One row for each case; an `else if` continues the list."""
    rows = [f"{args[1][0]} & \\text{{if }} {args[0][0]}"]
    inner = args[2][0]
    if isinstance(node[3], tuple) and node[3][0] == "if":
        rows.append(inner.removeprefix("\\begin{cases} ").removesuffix(" \\end{cases}"))
    else:
        rows.append(f"{inner} & \\text{{otherwise}}")
    return "\\begin{cases} " + " \\\\ ".join(rows) + " \\end{cases}"
