"""How the names and expressions of a flat graph are written in a source that declares everything at one level."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from bglang.expr import Expr
from bglang.expr.core import LEAVES, operands
from bglang.expr.text import text
from bglang.expr.walk import rewrite
from bglang.graph.ir import BondGraph, Element, Parameter, Table
from bglang.syntax.text import literal, quoted

_SUBSCRIPT = re.compile(r"(.+)\[(\d+(?:,\d+)*)\]")
_TRUE, _FALSE = ("v", "\0true"), ("v", "\0false")
_LOGICAL = frozenset(
    {"and", "or", "not", "<", "<=", ">", ">=", "==", "!=", "edge", "change", "sample", "initial", "terminal"}
)
GAINS = {"R": "R", "C": "C", "I": "I", "TF": "m", "GY": "r"}


def split_index(name: str) -> tuple[str, tuple[int, ...]] | None:
    """`K[1,2]` as its array and place."""
    found = _SUBSCRIPT.fullmatch(name)
    return None if found is None else (found[1], tuple(map(int, found[2].split(","))))


def arrays(names: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Names that together are a full array, by array name with its shape."""
    members: dict[str, set[tuple[int, ...]]] = {}
    for name in names:
        found = split_index(name)
        if found is not None:
            members.setdefault(found[0], set()).add(found[1])
    full = dict[str, tuple[int, ...]]()
    for base, places in members.items():
        shape = tuple(map(max, zip(*places, strict=True))) if len({len(p) for p in places}) == 1 else ()
        size = 1
        for n in shape:
            size *= n
        if shape and size == len(places):
            full[base] = shape
    return full


class Spelling:
    """Writes names and expressions of one graph."""

    def __init__(self, graph: BondGraph):
        self.graph = graph
        self.elements = {e.name: e for e in graph.elements}
        self.bonds = {name: bond.names[0] for bond in graph.bonds for name in bond.names}
        self.booleans = {v.name for v in graph.variables if v.type == "Boolean"}
        self.booleans |= {p.name for p in graph.parameters if p.type == "Boolean"}
        self.tables = {t.key: t for t in graph.tables}
        self.owned = dict[str, tuple[str, str]]()
        self.arrays = dict[str, tuple[int, ...]]()
        self.plain = {v.name for v in graph.variables if v.kind != "displacement"} | {p.name for p in graph.parameters}
        self.own: Element | None = None
        self.bound: dict[tuple[str, str], str] = {}
        self.constant_tables: dict[str, str] = {}
        self.captured: dict[str, str] = {}
        self.taken = {*self.plain, *self.elements, *self.bonds}

    def fresh(self, wish: str) -> str:
        """A name that nothing has yet."""
        name, k = wish, 1
        while name in self.taken:
            k += 1
            name = f"{wish}_{k}"
        self.taken.add(name)
        return name

    @contextmanager
    def inside(self, element: Element, bound: dict[tuple[str, str], str] | None = None) -> Iterator[None]:
        """While a law of the element is written: its own variables are short, `bound` are names that it is given."""
        self.own, self.bound = element, bound or {}
        try:
            yield
        finally:
            self.own, self.bound = None, {}

    def captured_declarations(self) -> Iterator[str]:
        """Second names for what an element's own `e`, `f`, `q`, `p` would hide in its law."""
        for flat, alias in self.captured.items():
            prefix = "parameter " if any(p.name == flat for p in self.graph.parameters) else ""
            yield f"{prefix}Real {quoted(alias)} = {quoted(flat)};"

    # --- names ------------------------------------------------------------------------------------------------------

    def name(self, flat: str) -> str:
        """The name of a variable or parameter as it is reached from the top of the model."""
        if flat == _TRUE[1] or flat == _FALSE[1]:
            return flat[1:]
        if self.own is not None:
            mine = self._own_name(flat)
            if mine is not None:
                return mine
            if self.own.kind != "field" and flat in ("e", "f", "q", "p"):
                if flat not in self.captured:
                    self.captured[flat] = self.fresh(f"{flat}_outside")
                return quoted(self.captured[flat])
        if flat in self.owned:
            element, rest = self.owned[flat]
            return f"{quoted(element)}.{self.indexed(rest)}"
        found = split_index(flat)
        if found is not None and found[0] in self.arrays:
            return self.indexed(flat)
        if flat in self.plain:
            return quoted(flat)
        return self._of_node(flat)

    def indexed(self, name: str) -> str:
        """A member of an array that is declared as one."""
        found = split_index(name)
        if found is None:
            return quoted(name)
        return f"{quoted(found[0])}[{', '.join(map(str, found[1]))}]"

    def _own_name(self, flat: str) -> str | None:
        assert self.own is not None
        for key in (("v", flat), ("p", flat)):
            if key in self.bound:
                return self.bound[key]
        start = f"{self.own.name}."
        if not flat.startswith(start):
            return None
        rest = flat[len(start) :]
        if self.own.kind != "field":
            return rest if rest in ("e", "f", "q", "p") else None
        port, _, letter = rest.rpartition(".")
        return f"{self.port(port)}.{letter}" if any(p.name == port for p in self.own.ports) else None

    def port(self, name: str) -> str:
        found = split_index(name)
        return quoted(name) if found is None else self.indexed(name)

    def _of_node(self, flat: str) -> str:
        """A variable of an element, junction or bond: the longest name that is one of these, then the rest."""
        head = flat
        while "." in head:
            head, _, _ = head.rpartition(".")
            if head in self.elements or head in self.bonds:
                rest = flat[len(head) + 1 :]
                parts = rest.split(".")
                port = ".".join(parts[:-1])
                shown = quoted(self.bonds.get(head, head))
                return f"{shown}.{self.port(port) + '.' if port else ''}{parts[-1]}"
        return quoted(flat)

    # --- expressions ------------------------------------------------------------------------------------------------

    def expression(self, e: Expr, *, boolean: bool = False) -> str:
        return text(self._with_booleans(e, boolean), self.name, self._table)

    def _with_booleans(self, e: Expr, boolean: bool) -> Expr:
        """Numbers that stand for truth are written as such."""
        if not isinstance(e, tuple):
            return (_TRUE if e else _FALSE) if boolean else e
        return _truth(rewrite(e, lambda leaf: leaf, self._operation)) if boolean else rewrite(e, _same, self._operation)

    def _operation(self, node: tuple[Any, ...], args: list[Expr]) -> Expr:
        op = node[0]
        if op in ("and", "or", "not"):
            args = [_truth(a) for a in args]
        elif op == "if":
            args[0] = _truth(args[0])
            if any(self.is_boolean(a) for a in args[1:]):
                args = [args[0], _truth(args[1]), _truth(args[2])]
        elif op in ("==", "!=") and any(self.is_boolean(a) for a in args):
            args = [_truth(a) for a in args]
        if all(a is b for a, b in zip(args, operands(node), strict=True)):
            return node
        return (op, *args, *node[1 + len(args) :])

    def is_boolean(self, e: Expr) -> bool:
        if not isinstance(e, tuple):
            return False
        if e[0] in ("v", "p"):
            return e[1] in self.booleans or e in (_TRUE, _FALSE)
        if e[0] in ("noEvent", "pre"):
            return self.is_boolean(e[1])
        return e[0] in _LOGICAL or (e[0] == "if" and self.is_boolean(e[2]))

    def _table(self, key: str) -> str:
        table = self.tables[key]
        data = quoted(self.constant_tables[key]) if key in self.constant_tables else self.points(table)
        shown = [data]
        for name, value, default in (
            ("method", table.method, "linear"),
            ("outside", table.outside, "hold"),
            ("ends", table.ends, "not-a-knot"),
        ):
            if value != default:
                shown.append(f"{name} = {literal(value)}")
        return ", ".join(shown)

    def points(self, table: Table) -> str:
        rows = (f"{self.expression(x)}, {self.expression(y)}" for x, y in zip(table.x, table.y, strict=True))
        return f"[{'; '.join(rows)}]"


def _same(leaf: tuple[Any, ...]) -> Expr:
    return leaf


def _truth(e: Expr) -> Expr:
    if isinstance(e, tuple):
        return ("if", e[1], _truth(e[2]), _truth(e[3])) if e[0] == "if" else e
    return _TRUE if e else _FALSE


def matrix(items: list[str], shape: tuple[int, ...]) -> str:
    """Items in row-major order as an array of a shape."""
    if len(shape) == 2:
        rows = [", ".join(items[i : i + shape[1]]) for i in range(0, len(items), shape[1])]
        return f"[{'; '.join(rows)}]"
    if len(shape) <= 1:
        return f"{{{', '.join(items)}}}"
    step = len(items) // shape[0]
    return f"{{{', '.join(matrix(items[i : i + step], shape[1:]) for i in range(0, len(items), step))}}}"


def attributes(pairs: Iterable[tuple[str, str]]) -> str:
    shown = ", ".join(f"{name} = {value}" for name, value in pairs if value)
    return f"({shown})" if shown else ""


def all_leaves(expressions: Iterable[Expr | None]) -> Iterator[tuple[Any, ...]]:
    """Every leaf of several expressions, each once."""
    seen = dict[tuple[Any, ...], None]()
    for e in expressions:
        stack = [e]
        while stack:
            node = stack.pop()
            if isinstance(node, tuple):
                if node[0] in LEAVES:
                    seen[node] = None
                else:
                    stack.extend(reversed(operands(node)))
    yield from seen


def parameter_value(parameter: Parameter, spelling: Spelling) -> str:
    if parameter.type == "String":
        return literal(parameter.text)
    if parameter.value is None:
        return ""
    return spelling.expression(parameter.value, boolean=parameter.type == "Boolean")
