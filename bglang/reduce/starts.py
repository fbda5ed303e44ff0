"""Start values of merged storages: what the storages give is kept, not what they hold."""

from typing import Any

from bglang.causality.pivots import is_pivot
from bglang.diagnostics import Diagnostic, error
from bglang.expr import Expr, map_leaves
from bglang.expr.walk import leaf_set
from bglang.graph.ir import Equation, Start
from bglang.reduce.algebra import quotient, value
from bglang.reduce.edit import Edit
from bglang.reduce.fields import StorageField
from bglang.reduce.members import Member
from bglang.reduce.polynomials import to_expression
from bglang.reduce.trace import Tracer
from bglang.source import NOWHERE


def start_of(member: Member) -> Start | None:
    """The start that the source gives to a storage, if it gives one."""
    start = member.element.ports[member.port[1]].start
    return start if start is not None and start.written else None


def from_dependent(field: StorageField) -> Expr | None:
    """What a single independent storage gives at the start where only the dependent one has a start value."""
    if len(field.independent) != 1 or start_of(field.independent[0]) is not None or field.moduli:
        return None
    for d, member in enumerate(field.dependent):
        start = start_of(member)
        if start is not None and not field.sources[d]:
            given = member.gives_for(start.value)
            if given is not None:
                return quotient(given, to_expression(field.gains[d][0]))
    return None


def equations_for_guesses(edit: Edit, field: StorageField, tracer: Tracer) -> None:
    """Starts of dependent storages beside independent ones without: they decide, as equations of the start."""
    if all(start_of(m) is not None for m in field.independent):
        return
    for d, member in enumerate(field.dependent):
        start = start_of(member)
        if start is None:
            continue
        given = member.gives_for(start.value) if member.element.kind != "field" else None
        if given is not None:
            edit.initial.append(Equation(field.follows(d, tracer), given, "", NOWHERE))


def contradictions(field: StorageField, tracer: Tracer, values: dict[str, float]) -> list[Diagnostic]:
    """Written starts of dependent storages that are not what the written starts of the others make of them."""
    wrong = list[Diagnostic]()
    if any(start_of(m) is None or m.element.kind == "field" for m in field.independent):
        return wrong
    pivots = any(is_pivot(m.element) for m in field.independent)
    given = {m.given: m.gives_for(start.value) for m in field.independent if (start := start_of(m)) is not None}
    for d, member in enumerate(field.dependent):
        start = start_of(member)
        if start is None or member.content is None or any(g is None for g in given.values()):
            continue
        follows = map_leaves(field.follows(d, tracer), lambda leaf: _known(leaf, given))
        held = at_start(tracer, member.holds(follows))
        expected = None if held is None else value(held, values)
        said = value(start.value, values)
        if expected is None or said is None or abs(said - expected) <= 1e-6 * max(abs(said), abs(expected)):
            continue
        known = [m for m in field.dependent if start_of(m) and m is not member] if pivots else field.independent
        others = " and ".join(f"`{m.state}`" for m in known)
        wrong.append(
            error(
                "initial/contradiction",
                f"the start of `{member.state}` contradicts the starts of {others}",
                start.span,
                label=f"{said:.6g} is given, {expected:.6g} follows",
                reason=f"`{member.state}` is a dependent storage: its value follows from the others.",
                hint=f"Leave this start out, or give {expected:.6g}.",
                component=member.name,
            )
        )
    return wrong


def _known(leaf: tuple[Any, ...], given: dict[str, Expr | None]) -> Expr:
    found = given.get(leaf[1]) if leaf[0] == "v" else None
    return leaf if found is None else found


def at_start(tracer: Tracer, e: Expr) -> Expr | None:
    """An expression at the start: displacements by their start values, time by the start time; None where it reads
    something else."""
    starts, begin = tracer.starts, tracer.graph.experiment.start
    for _ in range(3):  # a source may read a displacement
        if any(leaf[0] == "v" and leaf[1] not in starts for leaf in leaf_set(e)):
            return None
        e = map_leaves(e, lambda leaf: starts[leaf[1]] if leaf[0] == "v" else begin if leaf[0] == "t" else leaf)
    return None if any(leaf[0] == "v" for leaf in leaf_set(e)) else e
