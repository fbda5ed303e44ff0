"""`der` of what is no state: the exact derivative, from the equations that define it."""

from bglang.diagnostics import error
from bglang.equations.draft import Draft, Key
from bglang.equations.maker import Maker
from bglang.source import Span

HIGHEST = 6
"""An equation that defines a rate by itself would ask for derivatives of ever higher order."""


def define_derivatives(draft: Draft, maker: Maker) -> None:
    """Gives every key ("D", variable) that something uses its value.

    The derivative of an explicit variable is that of its value.  A variable that an implicit equation determines has
    a derivative that the differentiated equation determines."""
    while draft.derivatives:
        key = draft.derivatives.pop()
        if key in draft.values or key in draft.leaves:
            continue
        assert isinstance(key, tuple)
        inner: Key = key[1]
        if _order(key) > HIGHEST:
            _report(draft, key, inner)
            draft.values[key] = 0.0
            continue
        leaf = draft.leaves.get(inner)
        if isinstance(inner, tuple) and inner[0] == "s":
            _report(
                draft, key, inner
            )  # while it sticks, friction is a reaction: its rate would need further derivatives
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
            _report(draft, key, inner)
            draft.values[key] = 0.0


def _order(key: Key) -> int:
    order = 0
    while isinstance(key, tuple) and key[0] == "D":
        key, order = key[1], order + 1
    return order


def _report(draft: Draft, key: Key, inner: Key) -> None:
    draft.report.add(
        error(
            "equations/no-derivative",
            f"`{draft.describe(key)}` is not known",
            _place(draft, inner),
            reason=f"It would need the derivative of `{draft.describe(inner)}`, which no equation gives.",
            hint="give the motion as a function of time whose derivative exists, or filter the signal.",
        )
    )


def _place(draft: Draft, key: Key) -> Span:
    if isinstance(key, tuple) and key[0] == "rate":
        return draft.unknowns[key[1]].span
    if isinstance(key, tuple) and key[0] == "s":
        element: int = key[1][0]
        return draft.graph.elements[element].span
    return draft.graph.span
