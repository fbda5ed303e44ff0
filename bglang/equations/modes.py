"""Relations and branches become modes: discrete quantities z that are constant between events.

Expressions here still have the names of the model.  `abs(x)` becomes `if z then x else -x` with z the mode of x >= 0;
its root function x goes into the table of modes.  Equal relations share one mode, and a relation shares that of its
opposite.  Inside `noEvent` and `smooth` no modes are made: the operations stay as they are.  What depends on parameters
and discrete quantities alone is constant between events anyway and stays too.
"""

from collections.abc import Callable
from typing import Any

from bglang.diagnostics import Report, warning
from bglang.equations.system import Mode
from bglang.equations.words import in_words
from bglang.expr import Expr, call, neg, product
from bglang.expr.core import LEAVES, operands
from bglang.expr.expand import ENPORT, expand
from bglang.expr.invert import INVERSE_MARK, inverse_table
from bglang.expr.odd import continuous
from bglang.expr.walk import is_flat, leaf_set, postorder, rebuild, rewrite, tree_size
from bglang.graph.ir import BondGraph, Table
from bglang.records import replace
from bglang.source import Span

Node = tuple[Any, ...]
RELATIONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
ROUNDING = frozenset({"floor", "ceil", "integer", "mod", "div", "rem"})
MODAL = RELATIONS | ROUNDING | {"abs", "sign", "min", "max", "table", "coulomb", "sample", "noEvent", "smooth"}
SHARING_LIMIT = 500
"""Relations larger than this are not compared with each other."""


class ModeTable:
    """Makes modes out of the expressions it is given, and remembers them."""

    def __init__(self, graph: BondGraph, report: Report) -> None:
        self.modes: list[Mode] = []
        self.tables: dict[str, Table] = {t.key: t for t in graph.tables}
        self._report = report
        self._known: dict[Any, Expr] = {}
        self._discrete = {v.name for v in graph.variables if v.kind == "discrete" or v.type != "Real"}
        self._component, self._span = "", graph.span

    def lower(self, e: Expr, component: str, span: Span) -> Expr:
        """The expression with elementary operations only, its branches chosen by modes."""
        if not isinstance(e, tuple) or e[0] in LEAVES:
            return e
        if is_flat(e) and e[0] not in MODAL and e[0] not in ENPORT:
            return e
        operations = {node[0] for node in postorder(e)}
        if not operations.isdisjoint(("table", "pwlin")):
            self._need_inverse_tables(e)
        if not operations.isdisjoint(ENPORT):
            e = expand(e, self.tables)
            operations = {node[0] for node in postorder(e)}
        if operations.isdisjoint(MODAL):
            return e
        self._component, self._span = component, span
        e = continuous(e)
        return self._walk(guard_branches(e) if "sqrt" in operations and "if" in operations else e)

    def add(self, mode: Mode) -> Node:
        """A further mode; its leaf."""
        self.modes.append(mode)
        return ("z", len(self.modes) - 1)

    def _need_inverse_tables(self, e: Expr) -> None:
        for node in postorder(e):
            if node[0] in ("table", "pwlin") and node[2] not in self.tables:
                made = inverse_table(self.tables[node[2].removesuffix(INVERSE_MARK)])
                assert made is not None
                self.tables[node[2]] = made

    def _walk(self, root: Expr) -> Expr:
        """From below, with the knowledge whether events are wanted: parts may be seen once each way."""
        done: dict[tuple[int, bool], Expr] = {}
        stack: list[tuple[Expr, bool, bool]] = [(root, True, False)]
        while stack:
            node, events, ready = stack.pop()
            if not isinstance(node, tuple) or (id(node), events) in done:
                continue
            if node[0] in LEAVES:
                done[id(node), events] = node
                continue
            inner = events and node[0] not in ("noEvent", "smooth")
            if not ready:
                stack.append((node, events, True))
                stack.extend((a, inner, False) for a in operands(node))
                continue
            args = [done[id(a), inner] if isinstance(a, tuple) else a for a in operands(node)]
            if events and _is_root(node) and isinstance(node[1], tuple) and node[1][0] == "abs":
                args[0] = ("abs", done.get((id(node[1][1]), True), node[1][1]))
            if node[0] in ("noEvent", "smooth"):
                done[id(node), events] = args[-1]
            elif events and node[0] in MODAL:
                done[id(node), events] = self._modal(node, args)
            elif node[0] == "coulomb":
                done[id(node), events] = product([args[1], ("sign", args[0])])
            else:
                done[id(node), events] = rebuild(node, args)
        return done[id(root), True] if isinstance(root, tuple) else root

    def _modal(self, node: Node, args: list[Expr]) -> Expr:
        op = node[0]
        if op == "coulomb":
            self._warn_coulomb(node)
        elif op == "table":
            return self._table(args[0], node[2])
        elif op == "sample":
            return self._shared(("sample", *args), lambda: self._mode("sample", (), tuple(args), node))
        if self._constant(args):
            return product([args[1], ("sign", args[0])]) if op == "coulomb" else rebuild(node, args)
        if op in RELATIONS:
            return self._relation(op, args[0], args[1], node)
        return _BRANCHES[op](self, node, args)

    def _constant(self, args: list[Expr]) -> bool:
        """Do the operands change at events only?"""
        return all(
            leaf[0] in ("p", "z") or (leaf[0] == "v" and leaf[1] in self._discrete)
            for a in args
            for leaf in leaf_set(a)
        )

    def _relation(self, op: str, a: Expr, b: Expr, node: Node) -> Expr:
        if op == "==":
            return ("and", self._relation("<=", a, b, node), self._relation(">=", a, b, node))
        if op == "!=":
            return ("not", self._relation("==", a, b, node))
        if op in ("<", "<="):
            a, b = b, a
        strict = op in ("<", ">")
        opposite = self._find(("relation", b, a, not strict))
        if opposite is not None:
            return ("not", opposite)
        return self._shared(
            ("relation", a, b, strict), lambda: self._mode("relation", (call("-", a, b),), (), node, strict=strict)
        )

    def _find(self, key: Node) -> Expr | None:
        return self._known.get(key) if tree_size(("key", *_expressions(key))) <= SHARING_LIMIT else None

    def _shared(self, key: Node, make: Callable[[], Expr]) -> Expr:
        if tree_size(("key", *_expressions(key))) > SHARING_LIMIT:
            return make()
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = make()
        return known

    def _mode(
        self, kind: Any, roots: tuple[Expr, ...], arguments: tuple[Expr, ...], node: Node, *, strict: bool = False
    ) -> Node:
        table = node[-1] if kind == "segment" else ""
        text = in_words(node)
        return self.add(Mode(kind, roots, arguments, "", text, self._component, self._span, strict, False, table))

    # --- operations with branches -----------------------------------------------------------------------------------

    def _abs(self, node: Node, args: list[Expr]) -> Expr:
        return call("if", self._relation(">=", args[0], 0.0, node), args[0], neg(args[0]))

    def _sign(self, node: Node, args: list[Expr]) -> Expr:
        below = call("if", self._relation("<", args[0], 0.0, node), -1.0, 0.0)
        return call("if", self._relation(">", args[0], 0.0, node), 1.0, below)

    def _coulomb(self, node: Node, args: list[Expr]) -> Expr:
        return product([args[1], self._sign(node, args)])

    def _extreme(self, node: Node, args: list[Expr]) -> Expr:
        relation = "<=" if node[0] == "min" else ">="
        value = args[-1]
        for a in reversed(args[:-1]):
            value = call("if", self._relation(relation, a, value, node), a, value)
        return value

    def _floor_of(self, x: Expr, node: Node) -> Expr:
        if not isinstance(x, tuple):
            return call("floor", x)

        def make() -> Node:
            z = ("z", len(self.modes))
            return self._mode("floor", (call("-", x, z), call("-", ("+", z, 1.0), x)), (x,), node)

        return self._shared(("floor", x), make)

    def _floor(self, node: Node, args: list[Expr]) -> Expr:
        return self._floor_of(args[0], node)

    def _ceil(self, node: Node, args: list[Expr]) -> Expr:
        return neg(self._floor_of(neg(args[0]), node))

    def _mod(self, node: Node, args: list[Expr]) -> Expr:
        return call("-", args[0], product([args[1], self._floor_of(call("/", *args), node)]))

    def _div(self, node: Node, args: list[Expr]) -> Expr:
        ratio = call("/", *args)
        up = neg(self._floor_of(neg(ratio), node))
        return call("if", self._relation(">=", ratio, 0.0, node), self._floor_of(ratio, node), up)

    def _rem(self, node: Node, args: list[Expr]) -> Expr:
        return call("-", args[0], product([args[1], self._div(node, args)]))

    def _table(self, x: Expr, key: str) -> Expr:
        """A linear table has a breakpoint at each of its points; where two have the same x, it jumps."""
        table = self.tables[key]
        node = ("table", x, key)
        if table.method != "linear" or self._constant([x]):
            return node
        for k in range(len(table.x) - 1):
            if table.x[k] == table.x[k + 1]:
                left, right = self._part(table, 0, k + 1), self._part(table, k + 1, len(table.x))
                above = self._relation(">=", x, table.x[k], node)
                return call("if", above, self._table(x, right), self._table(x, left))
        if len(table.x) > 1:
            self._shared(("segment", x, key), lambda: self._segment(x, table, node))
        return node

    def _segment(self, x: Expr, table: Table, node: Node) -> Expr:
        """The roots need the points as a function of their number: a further table, read at whole numbers only."""
        z, count = ("z", len(self.modes)), len(table.x)
        key = f"{table.key}#x"
        numbers = tuple(float(k) for k in range(count))
        points = Table(key, numbers, table.x, "linear", "hold", table.ends, table.span)
        self.tables.setdefault(key, points)
        above = call("if", ("<", z, 0.5), 1.0, call("-", x, ("table", call("-", z, 1.0), key)))
        below = call("if", (">", z, count - 0.5), 1.0, call("-", ("table", z, key), x))
        return self._mode("segment", (above, below), (x,), node)

    def _part(self, table: Table, first: int, last: int) -> str:
        key = f"{table.key}[{first + 1}:{last}]"
        self.tables.setdefault(key, replace(table, key=key, x=table.x[first:last], y=table.y[first:last]))
        return key

    def _warn_coulomb(self, node: Node) -> None:
        self._report.add(
            warning(
                "equations/coulomb",
                f"`{in_words(node)}` does not stick here",
                self._span,
                label="taken as level*sign(x)",
                reason="`coulomb` is set-valued only as a term of a resistive law, with an argument that is the "
                "element's own flow or effort; anywhere else it is a plain switch.",
                hint="write it in the law of an R: `R friction(e = coulomb(f, level))`",
                component=self._component,
            )
        )


def _is_root(node: Node) -> bool:
    """Has the operation no value for negative arguments?

    A branch that is held until its event is located is computed a little beyond its end: the root of an `abs` must
    not be taken of a branch, but of the true `abs`."""
    return node[0] in ("sqrt", "log", "log10") or (
        node[0] == "^" and not isinstance(node[2], tuple) and node[2] != int(node[2])
    )


def guard_branches(e: Expr) -> Expr:
    """In `if x > 0 then sqrt(x) else -sqrt(-x)` each root stays defined a little beyond its branch: it is 0 there."""

    def operation(node: Node, args: list[Expr]) -> Expr:
        made = rebuild(node, args)
        if not isinstance(made, tuple) or made[0] != "if" or not isinstance(made[1], tuple):
            return made
        op, *sides = made[1]
        if op not in ("<", "<=", ">", ">="):
            return made
        large, small = sides if op in (">", ">=") else reversed(sides)
        return ("if", made[1], _guard(made[2], large, small), _guard(made[3], small, large))

    return rewrite(e, lambda leaf: leaf, operation)


def _guard(e: Expr, large: Expr, small: Expr) -> Expr:
    """Roots of what the condition large > small makes positive."""
    positive: list[Expr] = [("-", large, small)]
    if small == 0.0:
        positive.append(large)
    if large == 0.0:
        positive += [("neg", small), ("*", -1.0, small)]

    def operation(node: Node, args: list[Expr]) -> Expr:
        if node[0] == "sqrt" and args[0] in positive:
            return ("sqrt", ("noEvent", ("max", args[0], 0.0)))
        return rebuild(node, args)

    return rewrite(e, lambda leaf: leaf, operation)


def _expressions(key: Node) -> list[Expr]:
    return [part for part in key[1:] if isinstance(part, tuple)]


_BRANCHES: dict[str, Callable[[ModeTable, Node, list[Expr]], Expr]] = {
    "abs": ModeTable._abs,
    "sign": ModeTable._sign,
    "coulomb": ModeTable._coulomb,
    "min": ModeTable._extreme,
    "max": ModeTable._extreme,
    "floor": ModeTable._floor,
    "integer": ModeTable._floor,
    "ceil": ModeTable._ceil,
    "mod": ModeTable._mod,
    "div": ModeTable._div,
    "rem": ModeTable._rem,
}
