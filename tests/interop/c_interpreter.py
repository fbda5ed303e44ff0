"""Runs the functions of an exported `model.c` without a compiler: a small interpreter of the C that bglang writes."""

import math
import operator
import re
from dataclasses import dataclass
from typing import Any

from pycparser import c_ast, c_parser

POINT = "double t, const double *y, const double *d, const double *p, const double *z, double *out"
_BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def _divide(a: float, b: float) -> float:
    if isinstance(a, int) and isinstance(b, int):
        return int(a / b)
    return a / b if b else math.nan if not a or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


@dataclass
class Pointer:
    """A place in an array."""

    array: Any
    offset: int = 0

    def __add__(self, other: int) -> "Pointer":
        return Pointer(self.array, self.offset + int(other))

    def __getitem__(self, k: int) -> Any:
        return self.array[self.offset + int(k)]

    def __setitem__(self, k: int, value: Any) -> None:
        self.array[self.offset + int(k)] = value


class _Return(Exception):
    pass


class Program:
    """The functions of a model by name: `program("model_residual", t, y, d, p, z, out)`."""

    def __init__(self, source: str) -> None:
        source = re.sub(r"/\*.*?\*/|^#.*?$", "", source, flags=re.S | re.M)
        source = source.replace("UNUSED_POINT;", "").replace("(POINT)", f"({POINT})")
        wanted = re.compile(
            r"^(?:enum \{.*?^\};|static const int \w+\[\] = \{.*?^\};|static inline [^\n]*\}$|static inline .*?^\}"
            r"|void model_\w+\(double t,.*?^\})",
            re.S | re.M,
        )
        tree = c_parser.CParser().parse("\n".join(m[0] for m in wanted.finditer(source)))
        self.globals: dict[str, Any] = {}
        self.functions: dict[str, c_ast.FuncDef] = {}
        for item in tree.ext:
            if isinstance(item, c_ast.FuncDef):
                self.functions[item.decl.name] = item
            elif isinstance(item.type, c_ast.Enum):
                for e in item.type.values.enumerators:
                    self.globals[e.name] = int(e.value.value)
            else:
                self.globals[item.name] = [int(e.value) for e in item.init.exprs]

    def __call__(self, name: str, *arguments: Any) -> Any:
        if name not in self.functions:
            return {"fabs": abs}.get(name, getattr(math, name, None))(*arguments)  # type: ignore[misc]
        function = self.functions[name]
        names = [p.name for p in function.decl.type.args.params]
        try:
            self._do(function.body, dict(zip(names, arguments, strict=True)))
        except _Return as result:
            return result.args[0]
        return None

    def _do(self, node: Any, env: dict[str, Any]) -> None:
        if isinstance(node, c_ast.Compound):
            for item in node.block_items or ():
                self._do(item, env)
        elif isinstance(node, c_ast.DeclList):
            for item in node.decls:
                self._do(item, env)
        elif isinstance(node, c_ast.Decl):
            env[node.name] = None if node.init is None else self._value(node.init, env)
        elif isinstance(node, c_ast.For):
            self._do(node.init, env)
            while self._value(node.cond, env):
                self._do(node.stmt, env)
                self._value(node.next, env)
        elif isinstance(node, c_ast.While):
            while self._value(node.cond, env):
                self._do(node.stmt, env)
        elif isinstance(node, c_ast.If):
            chosen = node.iftrue if self._value(node.cond, env) else node.iffalse
            if chosen is not None:
                self._do(chosen, env)
        elif isinstance(node, c_ast.Return):
            raise _Return(self._value(node.expr, env))
        else:
            self._value(node, env)

    def _value(self, node: Any, env: dict[str, Any]) -> Any:
        if isinstance(node, c_ast.Constant):
            return int(node.value) if node.type == "int" else float(node.value)
        if isinstance(node, c_ast.ID):
            special = {"NAN": math.nan, "INFINITY": math.inf}
            return env[node.name] if node.name in env else special.get(node.name, self.globals.get(node.name))
        if isinstance(node, c_ast.ArrayRef):
            return self._value(node.name, env)[self._value(node.subscript, env)]
        if isinstance(node, c_ast.Assignment):
            return self._assign(node, env)
        if isinstance(node, c_ast.BinaryOp):
            return self._binary(node, env)
        if isinstance(node, c_ast.UnaryOp):
            return self._unary(node, env)
        if isinstance(node, c_ast.TernaryOp):
            return self._value(node.iftrue if self._value(node.cond, env) else node.iffalse, env)
        if isinstance(node, c_ast.Cast):
            return int(self._value(node.expr, env))
        assert isinstance(node, c_ast.FuncCall), type(node)
        return self(node.name.name, *[self._value(a, env) for a in node.args.exprs])

    def _assign(self, node: Any, env: dict[str, Any]) -> Any:
        value, target = self._value(node.rvalue, env), node.lvalue
        if isinstance(target, c_ast.ID):
            env[target.name] = value
        elif isinstance(target, c_ast.UnaryOp):  # *s = ...
            name = self._value(target.expr, env)
            name[0][name[1]] = value
        else:
            array, k = self._value(target.name, env), int(self._value(target.subscript, env))
            array[k] = array[k] + value if node.op == "+=" else value
        return value

    def _binary(self, node: Any, env: dict[str, Any]) -> Any:
        left = self._value(node.left, env)
        if node.op in ("&&", "||"):
            return int(bool(left) and bool(self._value(node.right, env))) if node.op == "&&" else int(
                bool(left) or bool(self._value(node.right, env))
            )  # fmt: skip
        right = self._value(node.right, env)
        if node.op == "/":
            return _divide(left, right)
        made = _BINARY[node.op](left, right)
        return int(made) if isinstance(made, bool) else made

    def _unary(self, node: Any, env: dict[str, Any]) -> Any:
        if node.op == "&":
            return (env, node.expr.name)
        if node.op == "p++":
            env[node.expr.name] += 1
            return env[node.expr.name] - 1
        value = self._value(node.expr, env)
        return -value if node.op == "-" else int(not value)
