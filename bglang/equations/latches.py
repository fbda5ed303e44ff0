"""Latches: discrete variables given by an equation that reads their own past, `on = set or pre(on) and not reset`.

Between events `pre(on)` is `on`: as an equation for a number this would determine nothing, or two values at once.  The
variable is discrete: it keeps its value until, at an event, its equation gives another one, and then takes that.  A
`when` says just this, and all that handles these does for latches too:

    when {initial(), value <> on} then on = value;        with `on` for `pre(on)` in the value

Each new value is the past of the next look at the equation, until nothing changes.
"""

from typing import Any

from bglang.equations import system
from bglang.equations.draft import Draft, Latch
from bglang.equations.maker import Maker
from bglang.expr import Expr, var
from bglang.expr.walk import leaf_set, postorder, rebuild, rewrite
from bglang.graph.ir import BondGraph

PAST = "past"


def find_latches(graph: BondGraph) -> tuple[Latch, ...]:
    """Equations `v = …` of discrete variables whose `pre(v)` some equation or law reads."""
    discrete = {v.name for v in graph.variables if v.type in ("Boolean", "Integer") or v.kind == "discrete"}
    if not discrete:
        return ()
    sides = [side for e in graph.equations for side in (e.left, e.right)]
    sides += [law.value for element in graph.elements for law in element.laws]
    past = {leaf[1] for e in sides for node in postorder(e) if node[0] == "pre"
            for leaf in leaf_set(node[1]) if leaf[0] == "v"} & discrete  # fmt: skip
    found = dict[str, Latch]()
    for equation in graph.equations if past else ():
        for side, value in ((equation.left, equation.right), (equation.right, equation.left)):
            if isinstance(side, tuple) and side[0] == "v" and side[1] in past - found.keys() and not _now(value, side):
                found[side[1]] = Latch(side[1], value, equation)
                break
    return tuple(found.values())


def _now(e: Expr, variable: Expr) -> bool:
    """Does an expression read the present value of a variable?"""
    hidden = rewrite(e, lambda leaf: leaf, lambda node, args: 0.0 if node[0] == "pre" else rebuild(node, args))
    return variable in leaf_set(hidden)


def latch_whens(draft: Draft, maker: Maker) -> list[system.When]:
    """What happens to the latches of a model at events."""
    values = {latch.name: _mark_past(latch.value, {latch.name for latch in draft.latches}) for latch in draft.latches}
    made = list[system.When]()
    for latch in draft.latches:
        place, component = latch.equation.span, latch.equation.component
        z = draft.names[latch.name]
        assert isinstance(z, tuple) and z[0] == "z"
        present = _read_past(_inlined(values[latch.name], values, (latch.name,)))
        value = maker.resolve_instant(maker.modes.lower(present, component, place))
        assign = system.Assign(z[1], value, place, latch=True)
        branch = system.WhenBranch((("initial",), ("!=", value, z)), (assign,), place)
        made.append(system.When((branch,), component))
    return made


def _mark_past(e: Expr, latched: set[str]) -> Expr:
    """The value with leaves of their own for what latches were."""

    def operation(node: tuple[Any, ...], args: list[Expr]) -> Expr:
        past = args[0] if node[0] == "pre" else None
        return (PAST, past[1]) if isinstance(past, tuple) and past[1] in latched else rebuild(node, args)

    return rewrite(e, lambda leaf: leaf, operation)


def _inlined(e: Expr, values: dict[str, Expr], inside: tuple[str, ...]) -> Expr:
    """With the new values of other latches where an equation reads what they are, not what they were."""

    def leaf_value(leaf: tuple[Any, ...]) -> Expr:
        if leaf[0] != "v" or leaf[1] not in values or leaf[1] in inside:
            return leaf
        return _inlined(values[leaf[1]], values, (*inside, leaf[1]))

    return rewrite(e, leaf_value)


def _read_past(e: Expr) -> Expr:
    return rewrite(e, lambda leaf: leaf, lambda node, args: var(node[1]) if node[0] == PAST else rebuild(node, args))
