"""`der` of what is no state: the exact derivative, from the equations that define it."""

from bglang.diagnostics import Diagnostic, error
from bglang.equations.draft import Draft, Key
from bglang.equations.maker import Maker
from bglang.expr.walk import leaf_set
from bglang.source import Span

HIGHEST = 6
"""An equation that defines a rate by itself would ask for derivatives of ever higher order."""


def define_derivatives(draft: Draft, maker: Maker) -> None:
    """Gives every key ("D", variable) that something uses its value.

    The derivative of an explicit variable is that of its value.  A variable that an implicit equation determines has
    a derivative that the differentiated equation determines.

    A law that reads the rate of what it sets would climb from order to order for ever: that is one mistake, and what
    else is missing on the way up is not worth a word."""
    missing, loops = list[Diagnostic](), list[Diagnostic]()
    while draft.derivatives:
        key = draft.derivatives.pop()
        if key in draft.values or key in draft.leaves:
            continue
        assert isinstance(key, tuple)
        inner: Key = key[1]
        if _order(key) > HIGHEST:
            loops.append(_loop(draft, key))
            draft.values[key] = 0.0
            continue
        leaf = draft.leaves.get(inner)
        if isinstance(inner, tuple) and inner[0] == "s":
            # while it sticks, friction is a reaction: its rate would need further derivatives
            missing.append(_missing(draft, key, inner))
            draft.values[key] = 0.0
        elif inner in draft.values:
            draft.values[key] = maker.rate(draft.values[inner])
        elif inner in draft.multiplied:  # its differentiated equation would hold rates, and be taken for a balance
            assert leaf is not None
            draft.values[key] = ("d", leaf[1])
        elif leaf is not None and leaf[0] == "y":
            row = draft.rows[leaf[1]]
            assert row is not None
            draft.add_algebraic(key, maker.rate(row.residual), row.component, row.span)
        elif isinstance(inner, tuple) and inner[0] == "D":
            draft.derivatives.extend((key, inner))  # the inner one first
        else:
            missing.append(_missing(draft, key, inner))
            draft.values[key] = 0.0
    for diagnostic in loops or missing:
        draft.report.add(diagnostic)


def _order(key: Key) -> int:
    order = 0
    while isinstance(key, tuple) and key[0] == "D":
        key, order = key[1], order + 1
    return order


def _loop(draft: Draft, key: Key) -> Diagnostic:
    """Named after the law that reads a rate, which closes the loop."""
    while _order(key) > 1:
        assert isinstance(key, tuple)
        key = key[1]
    assert isinstance(key, tuple)
    readers = [(k, leaf[1]) for k, e in draft.values.items() for leaf in leaf_set(e) if leaf[0] == "v"]
    inner, read = next(((k, rate) for k, rate in readers if _order(k) == 0 and _order(rate) == 1), (key[1], key))
    return error(
        "equations/derivative-loop",
        f"`{draft.describe(read)}` depends on itself",
        _place(draft, inner),
        reason=f"`{draft.describe(inner)}` reads this rate and sets what it is the rate of: each derivative needs the "
        "next higher one.",
        hint="filter it: a state x with `der(x) = (u - x)/T`, and (u - x)/T as the derivative",
    )


def _missing(draft: Draft, key: Key, inner: Key) -> Diagnostic:
    return error(
        "equations/no-derivative",
        f"`{draft.describe(key)}` is not known",
        _place(draft, inner),
        reason=f"It would need the derivative of `{draft.describe(inner)}`, which no equation gives.",
        hint="give the motion as a function of time whose derivative exists, or filter the signal.",
    )


def _place(draft: Draft, key: Key) -> Span:
    if isinstance(key, tuple) and key[0] == "rate":
        return draft.unknowns[key[1]].span
    if isinstance(key, tuple) and key[0] == "s":
        element: int = key[1][0]
        return draft.graph.elements[element].span
    if isinstance(key, int):
        return draft.graph.elements[draft.setters[key]].span if key in draft.setters else draft.graph.span
    return draft.graph.span
