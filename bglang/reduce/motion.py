"""What the storages of a field give at the start: the motion that all written start values agree with.

Those of the independent ones hold.  Where these have none, the starts of dependent ones decide, and of what is left the
storages declared first stay at rest."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from bglang.causality.pivots import is_pivot
from bglang.causality.result import PortKey
from bglang.diagnostics import Diagnostic, error
from bglang.expr import Expr, call, map_leaves, product, total
from bglang.reduce.algebra import Matrix, inverse, numbers, value
from bglang.reduce.fields import StorageField
from bglang.reduce.members import LARGEST_INVERSE, Member, storage_matrix
from bglang.reduce.polynomials import to_expression
from bglang.reduce.starts import at_start, start_of
from bglang.reduce.trace import Tracer


def motion_at_start(tracer: Tracer, field: StorageField, first: Collection[PortKey]) -> list[Expr] | None:
    """What each independent storage gives, in terms of parameters.  None where this is not known in closed form.

    `first`: those whose starts count before others'; the independent ones, unless pivots took their part."""
    size = len(field.independent)
    units = [[1.0 if i == k else 0.0 for i in range(size)] for k in range(size)]
    gives: list[_Gives] = [(list[Expr | None](unit), 0.0) for unit in units]
    for d in range(len(field.dependent)):
        moved = total(to_expression(g, [("v", tracer.gives(key))]) for key, g in field.sources[d])
        gives.append(([at_start(tracer, field.gain(d, i)) for i in range(size)], at_start(tracer, moved)))
    members = [*field.independent, *field.dependent]
    by_port = dict(zip((m.port for m in members), gives, strict=True))
    order = [known for m in members if (known := _known(m, by_port)) is not None]
    order.sort(key=lambda c: (start_of(c.member) is None, c.member.port not in first))
    return _solve(order, size, numbers(tracer.graph))


_Gives = tuple[list[Expr | None], Expr | None]
"""What a storage gives: gains from the independent ones, and what sources add."""
_UNKNOWN: _Gives = ([], None)


class _Known:
    """A storage whose start is known: row*z = given."""

    def __init__(self, member: Member, row: list[Expr], given: Expr):
        self.member, self.row, self.given = member, row, given


def _known(member: Member, gives: Mapping[PortKey, _Gives]) -> _Known | None:
    start = start_of(member)
    if is_pivot(member.element) and start is None:
        return None
    given: Expr | None = 0.0 if start is None else start.value
    if member.element.kind == "field":
        row, moved = _content(member, gives)
    else:
        row, moved = gives[member.port]
        given = 0.0 if start is None else member.gives_for(start.value)
    gains = [e for e in row if e is not None]
    if given is None or moved is None or not gains or len(gains) < len(row):
        return None
    return _Known(member, gains, given if moved == 0.0 else call("-", given, moved))


def _content(member: Member, gives: Mapping[PortKey, _Gives]) -> _Gives:
    """What one port of a field holds: of all that its ports give, also where some of them follow other storages."""
    matrix, (number, port) = storage_matrix(member.element), member.port
    ports = [gives.get((number, k), _UNKNOWN) for k in range(len(member.element.ports))]
    if matrix is None or any(moved is None or None in row for row, moved in ports):
        return _UNKNOWN

    def held(values: Iterable[Expr | None]) -> Expr:
        return total(product([s, v or 0.0]) for s, v in zip(matrix[port], values, strict=True))

    return [held(column) for column in zip(*(row for row, _ in ports), strict=True)], held(moved for _, moved in ports)


def _solve(order: Sequence[_Known], size: int, values: dict[str, float]) -> list[Expr] | None:
    chosen, rows = list[_Known](), list[list[float]]()
    for known in order:
        row = [x for e in known.row if (x := value(e, values)) is not None]
        if len(row) == size and np.linalg.matrix_rank(np.array([*rows, row])) > len(rows):
            chosen.append(known)
            rows.append(row)
            if len(chosen) == size:
                break
    if len(chosen) < size:
        return None
    if all(sum(x != 0.0 for x in row) == 1 and 1.0 in row for row in rows):  # each says what one of them gives
        return [next(c.given for c, row in zip(chosen, rows, strict=True) if row[k]) for k in range(size)]
    if size <= LARGEST_INVERSE:
        matrix: Matrix = [c.row for c in chosen]
        return [total(product([x, c.given]) for x, c in zip(row, chosen, strict=True)) for row in inverse(matrix)]
    given = [x for c in chosen if (x := value(c.given, values)) is not None]
    return None if len(given) < size else [float(x) for x in np.linalg.solve(np.array(rows), np.array(given))]


def contradictions(field: StorageField, tracer: Tracer, values: dict[str, float]) -> list[Diagnostic]:
    """Written starts of dependent storages that are not what the written starts of the others make of them."""
    wrong = list[Diagnostic]()
    written = [m for m in (*field.independent, *field.dependent) if start_of(m) and not is_pivot(m.element)]
    motion = motion_at_start(tracer, field, {m.port for m in field.independent}) if len(written) > 1 else None
    if motion is None:
        return wrong
    given = {m.given: z for m, z in zip(field.independent, motion, strict=True)}
    for d, member in enumerate(field.dependent):
        if start_of(member) is None or member.content is None:
            continue
        follows = map_leaves(field.follows(d, tracer), lambda leaf: given.get(leaf[-1], leaf))
        others = [m.state for m in written if m is not member]
        found = disagreement(member, at_start(tracer, follows), motion, others, values)
        if found is not None:
            wrong.append(found)
    return wrong


def disagreement(
    member: Member, follows: Expr | None, motion: Iterable[Expr], others: Sequence[str], values: dict[str, float]
) -> Diagnostic | None:
    """What is wrong with the written start of a storage that gives `follows` at the start; `motion` is what the others
    give that it follows, `others` are their states."""
    start = start_of(member)
    if start is None or follows is None:
        return None
    said, expected = value(start.value, values), value(member.holds(follows), values)
    if expected is None or said is None:
        return None
    # cos(pi/2) is not quite zero: beside what the storage would hold with a gain of one, that is nothing
    whole = max((abs(value(member.holds(z), values) or 0.0) for z in motion), default=0.0)
    if abs(said - expected) <= max(1e-6 * max(abs(said), abs(expected)), 1e-14 * whole):
        return None
    what = f"the starts of {' and '.join(f'`{name}`' for name in others)}" if others else "the model"
    return error(
        "initial/contradiction",
        f"the start of `{member.state}` contradicts {what}",
        start.span,
        label=f"{said:.6g} is given, {expected:.6g} follows",
        reason=f"`{member.state}` is a dependent storage: its value follows from the others.",
        hint=f"Leave this start out, or give {expected:.6g}.",
        component=member.name,
    )
