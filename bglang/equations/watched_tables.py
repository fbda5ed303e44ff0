"""Tables that must not be left (`outside = "error"`) and that no equation reads: the run watches them all the same.

A table in a law has no value outside, which stops the integrator there.  A table that only an output reads stops
nobody, so its ends become relations of their own, located like any other, and an assertion that holds between them
wherever the table is read: not in a branch that is not taken."""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from bglang.equations.system import Assertion, Mode, Output, Row
from bglang.expr import Expr, call, leaves, product
from bglang.expr.core import LEAVES, WITH_KEY, operands
from bglang.graph.ir import Table
from bglang.kernels.tables import SLACK

Node = tuple[Any, ...]


def watch_tables(
    tables: Sequence[Table], rows: Iterable[Row], outputs: Sequence[Output], modes: tuple[Mode, ...]
) -> tuple[tuple[Mode, ...], tuple[Assertion, ...]]:
    """The modes with those of the ends of such tables behind them, and the assertions on these."""
    strict = {t.key: t for t in tables if t.outside == "error"}
    if not strict:
        return modes, ()
    seen = {read for row in rows for read in table_reads(row.residual, strict)}
    found, assertions = list(modes), list[Assertion]()
    for output in outputs:
        for read in table_reads(output.value, strict):
            if read not in seen:
                seen.add(read)
                assertions.append(_watch(found, read, output.name, strict[whole_key(read[0])]))
    return tuple(found), tuple(assertions)


def table_reads(e: Expr, tables: Container[str]) -> Iterator[tuple[Node, tuple[Expr, ...]]]:
    """Where such tables are read, each with the conditions of the branches that lead there."""
    seen = set[tuple[int, tuple[Expr, ...]]]()
    stack: list[tuple[Expr, tuple[Expr, ...]]] = [(e, ())]
    while stack:
        node, guards = stack.pop()
        if not isinstance(node, tuple) or node[0] in LEAVES or (id(node), guards) in seen:
            continue
        seen.add((id(node), guards))
        if node[0] in WITH_KEY and whole_key(node) in tables:
            yield node, guards
        if node[0] == "if":
            stack += [(node[1], guards), (node[2], (*guards, node[1])), (node[3], (*guards, ("not", node[1])))]
        else:
            stack += [(part, guards) for part in operands(node)]


def whole_key(node: Node) -> str:
    """The table as it was written: one that jumps is read in parts, of which each ends where the next begins."""
    return str(node[-1]).partition("[")[0]


def _watch(modes: list[Mode], read: tuple[Node, tuple[Expr, ...]], name: str, table: Table) -> Assertion:
    """An argument may lie outside by half of what the table itself allows for rounding."""
    (_, x, *_), guards = read
    first, last = table.x[0], table.x[-1]
    slack = product([0.5 * SLACK, call("-", last, first)])
    ends = (call("-", x, call("-", first, slack)), call("-", call("+", last, slack), x))
    inside: Expr = ("and", *(_relation(modes, end, name, table) for end in ends))
    for guard in guards:
        inside = ("or", ("not", guard), inside)
    numbers = f" {first:g} … {last:g}" if isinstance(first, float) and isinstance(last, float) else ""
    message = f'a table was left: what `{name}` looks up lies outside{numbers} (`outside = "error"`)'
    return Assertion(inside, message, "error", name.rpartition(".")[0], table.span)


def _relation(modes: list[Mode], root: Expr, name: str, table: Table) -> Expr:
    time_only = all(leaf[0] in ("t", "p", "z") for leaf in leaves(root))
    text = f"end of the table that `{name}` reads"
    modes.append(Mode("relation", (root,), (), "", text, name.rpartition(".")[0], table.span, time_only=time_only))
    return ("z", len(modes) - 1)
