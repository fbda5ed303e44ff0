"""From an expression of the model to one over keys: branches become modes, names become keys, parameters numbers."""

from typing import Any

from bglang.equations.draft import Draft, Key
from bglang.equations.modes import ModeTable
from bglang.equations.names import rate_of
from bglang.equations.parameters import VARYING, ParameterVector
from bglang.expr import Expr, call, neg, product
from bglang.expr.core import LEAVES, operands
from bglang.expr.diff import time_derivative
from bglang.expr.expand import elementary
from bglang.expr.walk import is_flat, postorder, rebuild, rewrite
from bglang.source import Span

Node = tuple[Any, ...]
INSTANT = frozenset({"pre", "edge", "change"})


class Maker:
    """Prepares expressions for one model."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.modes = ModeTable(draft.graph, draft.report)
        self.parameters = ParameterVector(draft.graph)

    def make(self, e: Expr, component: str, span: Span) -> Expr:
        """An expression of an equation that holds all the time."""
        return self.resolve(self.modes.lower(e, component, span))

    def resolve(self, e: Expr) -> Expr:
        """Names replaced by what they stand for, in an equation that holds all the time.

        Between events `pre(x)` is x, and nothing has just changed."""
        if not isinstance(e, tuple):
            return e
        if e[0] in LEAVES:
            return self._leaf(e)
        if is_flat(e) and e[0] not in VARYING:
            return self._resolve_flat(e)
        return self.parameters.hoist(rewrite(e, self._leaf, self._operation))

    def constant(self, e: Expr) -> Expr:
        """An expression of parameters alone: a start, a nominal value."""
        return self.resolve(elementary(e, self.modes.tables))

    def _resolve_flat(self, e: Node) -> Expr:
        args = [self._leaf(a) if isinstance(a, tuple) else a for a in e[1:]]
        made = call(e[0], *args)
        if all(a[0] == "p" for a in args if isinstance(a, tuple)):
            return self.parameters.hoist(made)
        return made

    def resolve_instant(self, e: Expr) -> Expr:
        """The same for what is computed at events: `pre` goes down to the leaves, `edge`, `change` are written out."""
        return self.parameters.hoist(rewrite(e, self._leaf, self._instant_operation))

    def _leaf(self, leaf: Node) -> Expr:
        kind = leaf[0]
        if kind == "v":
            return leaf if not isinstance(leaf[1], str) else self._variable(leaf[1])
        if kind == "p" and isinstance(leaf[1], str):
            return self.parameters.leaf(leaf[1])
        return leaf

    def _variable(self, name: str) -> Expr:
        """What a name stands for; powers are made when somebody reads them."""
        known = self.draft.names.get(name)
        if known is None:
            owner, _, last = name.rpartition(".")
            assert last == "power" and f"{owner}.e" in self.draft.names, f"{name} is a variable of the model"
            known = product([self.draft.names[f"{owner}.e"], self.draft.names[f"{owner}.f"]])
            known = self.draft.names[name] = neg(known) if owner in self.draft.turned else known
        return known

    def _operation(self, node: Node, args: list[Expr]) -> Expr:
        op = node[0]
        if op == "der":
            return self.rate(args[0])
        if op == "pre":
            return args[0]
        return 0.0 if op in INSTANT else rebuild(node, args)

    def _instant_operation(self, node: Node, args: list[Expr]) -> Expr:
        op = node[0]
        if op == "der":
            return self.rate(args[0])
        if op not in INSTANT:
            return rebuild(node, args)
        before = push_pre(args[0])
        if op == "pre":
            return before
        return ("and", args[0], ("not", before)) if op == "edge" else ("!=", args[0], before)

    def rate(self, e: Expr) -> Expr:
        """The time derivative of an expression over keys; derivatives of variables become keys of their own."""

        def leaf_rate(leaf: Node) -> Expr:
            if leaf[0] == "y":
                return rate_of(self.draft, leaf[1])
            if leaf[0] == "d":
                return self.derivative_of(("rate", leaf[1]))
            assert leaf[0] == "v", leaf
            return self.derivative_of(leaf[1])

        return self.parameters.hoist(time_derivative(e, leaf_rate))

    def derivative_of(self, key: Key) -> Expr:
        made = ("D", key)
        if made not in self.draft.values and made not in self.draft.leaves:
            self.draft.derivatives.append(made)
        return ("v", made)


def push_pre(e: Expr) -> Expr:
    """`pre` of an expression: of each of its variables."""
    return rewrite(e, lambda leaf: leaf if leaf[0] in ("p", "t") else ("pre", leaf))


def keys_of(e: Expr) -> list[Key]:
    """The keys that an expression uses, once for each place where they stand."""
    if not isinstance(e, tuple):
        return []
    if e[0] == "v":
        return [e[1]]
    found: list[Key] = []
    for a in e[1:]:
        if isinstance(a, tuple):
            if a[0] == "v":
                found.append(a[1])
            elif a[0] == "neg" and a[1][0] == "v":
                found.append(a[1][1])
            elif a[0] not in LEAVES:
                nodes = [node for node in postorder(e) if node[0] not in LEAVES]
                return [a[1] for node in nodes for a in operands(node) if isinstance(a, tuple) and a[0] == "v"]
    return found
