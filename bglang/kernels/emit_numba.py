"""Tapes as functions for numba: a second way to native code, independent of the first.

A tape becomes a Python function by way of a syntax tree that is put together node by node; no text is ever parsed or
executed, so nothing that a model contains can become Python.  The function has the signature of `bglang.kernels.emit`.
"""

import ast
import math
import types
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import numba

from bglang.kernels.native import Image
from bglang.kernels.numba_build import build_with_numba
from bglang.kernels.program import Code
from bglang.kernels.tape import FUNCTIONS, INDEXED, LOGICAL, TABLES, Tape, columns, operands, read_tape

_numba: Any = numba  # its annotations do not cover what is used here
nb = _numba.types
REAL, INDEX = nb.CPointer(nb.float64), nb.CPointer(nb.int32)
SIGNATURE = nb.void(nb.float64, REAL, REAL, REAL, REAL, INDEX, nb.int64, REAL)
Reals: TypeAlias = Sequence[float]
_ARGUMENTS = ("t", "y", "d", "p", "z", "index", "n", "out")

_BINARY: dict[str, type[ast.operator]] = {"+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div}
_COMPARE: dict[str, type[ast.cmpop]] = {
    "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq,
}  # fmt: skip


Function = TypeVar("Function", bound=Callable[..., Any])


def _jit(function: Function) -> Function:
    compiled: Function = _numba.njit(error_model="numpy", _nrt=False)(function)
    return compiled


# --- what the functions call ----------------------------------------------------------------------------------------


@_jit
def _sign(x: float) -> float:
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x)


@_jit
def _least(a: float, b: float) -> float:
    return b if b < a else a


@_jit
def _most(a: float, b: float) -> float:
    return b if b > a else a


@_jit
def _power(a: float, b: float) -> float:
    return math.pow(a, b)


@_jit
def _floor(x: float) -> float:
    """`math.floor` gives a whole number, which overflows; this stays a double."""
    if not abs(x) < 4503599627370496.0:
        return x
    whole = float(int(x))
    return whole - 1.0 if whole > x else whole


@_jit
def _ceil(x: float) -> float:
    return -_floor(-x)


@_jit
def _trunc(x: float) -> float:
    return _ceil(x) if x < 0.0 else _floor(x)


@_jit
def _piece(p: Reals, base: int, x: float) -> int:
    n = int(p[base])
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if p[base + middle + 1] <= x:
            low = middle + 1
        else:
            high = middle
    return n - 1 if n > 1 and p[base + n] == x else low


@_jit
def _distance(p: Reals, base: int, piece: int, x: float) -> float:
    return x - p[base + (piece if piece > 1 else 1)]


@_jit
def _table(p: Reals, base: int, x: float) -> float:
    k = _piece(p, base, x)
    s, at = _distance(p, base, k, x), base + 1 + int(p[base]) + 4 * k
    return p[at] + s * (p[at + 1] + s * (p[at + 2] + s * p[at + 3]))


@_jit
def _dtable(p: Reals, base: int, x: float) -> float:
    k = _piece(p, base, x)
    s, at = _distance(p, base, k, x), base + 1 + int(p[base]) + 4 * k
    return p[at + 1] + s * (2.0 * p[at + 2] + s * (3.0 * p[at + 3]))


@_jit
def _ddtable(p: Reals, base: int, x: float) -> float:
    k = _piece(p, base, x)
    s, at = _distance(p, base, k, x), base + 1 + int(p[base]) + 4 * k
    return 2.0 * p[at + 2] + s * (6.0 * p[at + 3])


@_jit
def _dddtable(p: Reals, base: int, x: float) -> float:
    return 6.0 * p[base + 1 + int(p[base]) + 4 * _piece(p, base, x) + 3]


_SCOPE: dict[str, Any] = {
    "range": range,
    "sign": _sign,
    "min": _least,
    "max": _most,
    "^": _power,
    "floor": _floor,
    "ceil": _ceil,
    "trunc": _trunc,
    "table": _table,
    "dtable": _dtable,
    "ddtable": _ddtable,
    "dddtable": _dddtable,
    "abs": abs,
    **{name: getattr(math, name) for name in ("sqrt", *FUNCTIONS) if name != "^"},
}


# --- syntax trees ---------------------------------------------------------------------------------------------------


def _name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())


def _assign(text: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(text, ast.Store())], value)


def _call(function: str, *args: ast.expr) -> ast.expr:
    return ast.Call(_name(function), list(args), [])


def _at(array: str, place: ast.expr, context: ast.expr_context | None = None) -> ast.Subscript:
    return ast.Subscript(_name(array), place, context or ast.Load())


def _index(column: int) -> ast.expr:
    """index[column*n + m]"""
    begin = ast.BinOp(ast.Constant(column), ast.Mult(), _name("n"))
    return _at("index", ast.BinOp(begin, ast.Add(), _name("m")))


class _Writer:
    """Statements of the loop's body, one for each instruction; branches of `if` are computed only when taken."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        y, p, z, tables = columns(tape)
        self.offset = {"y": 0, "d": 0, "p": y, "z": y + p, "table": y + p + z}
        self.width = y + p + z + tables

    def block(self, roots: Sequence[int], known: frozenset[int]) -> list[ast.stmt]:
        """Statements for what the roots need and what is not known yet."""
        wanted, stack = set[int](), [r for r in roots if r not in known]
        while stack:
            k = stack.pop()
            if k not in wanted:
                wanted.add(k)
                code = self.tape.code[k]
                parts = operands(code)[:1] if code[0] == "if" else operands(code)
                stack.extend(a for a in parts if a not in known)
        body = list[ast.stmt]()
        for k in sorted(wanted):
            op, *a = self.tape.code[k]
            if op == "if":
                inside = known | {j for j in wanted if j < k}
                branches = [
                    [*self.block([branch], inside), _assign(f"v{k}", self.real(branch))] for branch in (a[1], a[2])
                ]
                body.append(ast.If(self.truth(a[0]), *branches))
            else:
                body.append(_assign(f"v{k}", self.value(op, a)))
        return body

    def value(self, op: str, a: list[Any]) -> ast.expr:
        if op == "c":
            return ast.Constant(float.fromhex(a[0]))
        if op == "t":
            return _name("t")
        if op in INDEXED:
            return _at(op, _index(self.offset[op] + a[0]))
        if op in TABLES:
            return _call(op, _name("p"), _index(self.offset["table"] + a[1]), self.real(a[0]))
        if op in _COMPARE:
            return ast.Compare(self.real(a[0]), [_COMPARE[op]()], [self.real(a[1])])
        if op in ("and", "or"):
            return ast.BoolOp(ast.And() if op == "and" else ast.Or(), [self.truth(x) for x in a])
        if op == "not":
            return ast.UnaryOp(ast.Not(), self.truth(a[0]))
        if op == "neg":
            return ast.UnaryOp(ast.USub(), self.real(a[0]))
        values = [self.real(x) for x in a]
        if op in _BINARY or op in ("min", "max"):
            result = values[0]
            for x in values[1:]:
                result = ast.BinOp(result, _BINARY[op](), x) if op in _BINARY else _call(op, result, x)
            return result
        return _call(op, *values)

    def real(self, k: int) -> ast.expr:
        if self.tape.code[k][0] in LOGICAL:
            return ast.IfExp(_name(f"v{k}"), ast.Constant(1.0), ast.Constant(0.0))
        return _name(f"v{k}")

    def truth(self, k: int) -> ast.expr:
        if self.tape.code[k][0] in LOGICAL:
            return _name(f"v{k}")
        return ast.Compare(_name(f"v{k}"), [ast.NotEq()], [ast.Constant(0.0)])

    def stores(self, adds: bool) -> list[ast.stmt]:
        body = list[ast.stmt]()
        for k, result in enumerate(self.tape.results):
            value = self.real(result)
            if adds:
                value = ast.BinOp(_at("out", _index(self.width + k)), ast.Add(), value)
            body.append(ast.Assign([_at("out", _index(self.width + k), ast.Store())], value))
        return body


def make_function(tape: Tape, adds: bool) -> types.FunctionType:
    """The Python function of a tape."""
    writer = _Writer(tape)
    body = [*writer.block(tape.results, frozenset()), *writer.stores(adds)]
    loop = ast.For(ast.Name("m", ast.Store()), _call("range", _name("n")), body, [])
    arguments = ast.arguments([], [ast.arg(name) for name in _ARGUMENTS], None, [], [], None, [])
    function = ast.FunctionDef("kernel", arguments, [loop], [])
    module = ast.fix_missing_locations(ast.Module([function], []))
    code = compile(module, "<kernel>", "exec")
    body_code = next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return types.FunctionType(body_code, dict(_SCOPE), "kernel")


def compile_with_numba(symbol: str, code: Code) -> Image:
    """Object code of one function."""
    return build_with_numba({symbol: (make_function(read_tape(code.text), code.adds), SIGNATURE)})
