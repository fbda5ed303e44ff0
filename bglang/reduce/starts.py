"""Start values of merged storages: what the storages give is kept, not what they hold."""

from bglang.expr import Expr, map_leaves
from bglang.expr.walk import leaf_set
from bglang.graph.ir import Equation, Start
from bglang.reduce.algebra import quotient
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


def at_start(tracer: Tracer, e: Expr) -> Expr | None:
    """An expression at the start: displacements by their start values, time by the start time; None where it reads
    something else."""
    starts, begin = tracer.starts, tracer.graph.experiment.start
    for _ in range(3):  # a source may read a displacement
        if any(leaf[0] == "v" and leaf[1] not in starts for leaf in leaf_set(e)):
            return None
        e = map_leaves(e, lambda leaf: starts[leaf[1]] if leaf[0] == "v" else begin if leaf[0] == "t" else leaf)
    return None if any(leaf[0] == "v" for leaf in leaf_set(e)) else e
