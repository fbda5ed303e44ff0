"""What may take the place of a replaceable declaration."""

from bglang.diagnostics import Label, Report, error
from bglang.elaborate.bodies import Member, basic_names, body_of
from bglang.elaborate.definitions import BROKEN, Builtin, Definition, Target
from bglang.records import replace


def redeclared(before: Member, member: Member) -> Member:
    """The new declaration, with the modifications that its constraint prescribes."""
    constraint = before.component.constrainedby
    inherited = ((constraint.args, before.definition),) if constraint is not None and constraint.args else ()
    component = member.component
    if component.subscripts is None and member.declarator.subscripts is None:
        declarator = replace(member.declarator, subscripts=before.declarator.subscripts)
        member = replace(member, declarator=declarator)
    if "replaceable" in before.component.prefixes and "replaceable" not in component.prefixes:
        # a redeclared member may be redeclared again from further outside
        component = replace(component, prefixes=component.prefixes | {"replaceable"})
    keep = before.component.prefixes & {"port", "parameter", "constant", "input", "output", "discrete"}
    component = replace(component, prefixes=component.prefixes | keep, constrainedby=before.component.constrainedby)
    return replace(member, component=component, inherited=inherited, protected=before.protected, plan=None)


def check_replaceable(before: Member, member: Member, report: Report) -> bool:
    """Only replaceable declarations may be redeclared, and only by something that fits the constraint."""
    if "replaceable" not in before.component.prefixes:
        report.add(
            error(
                "classes/not-replaceable",
                f"`{member.ident}` cannot be redeclared",
                member.declarator.span,
                label="redeclared here",
                related=[Label(before.declarator.span, "declared without `replaceable`")],
                hint=f"write `replaceable {before.component.type.span.text} {member.ident}` there.",
            )
        )
        return False
    return fits_constraint(before, member, report)


def fits_constraint(before: Member, member: Member, report: Report) -> bool:
    """The new type must have everything that the constraining type offers."""
    use = before.component.constrainedby
    wanted = before.definition.find(use.type if use else before.component.type, report)
    given = member.resolve_type(report)
    return fits(wanted, given, member, report)


def fits(wanted: Target, given: Target, member: Member, report: Report) -> bool:
    if BROKEN in (wanted, given):
        return given is not BROKEN
    missing = missing_names(wanted, given, report)
    if missing is None:
        return True
    if isinstance(given, Definition) and given.node.short is not None:
        given = given.find(given.node.short.type, report)  # what stands behind `redeclare element D = Cube`
    report.add(
        error(
            "classes/constraint",
            f"`{given.name}` cannot take the place of `{wanted.name}`",
            member.component.type.span,
            label=missing,
            reason=f"Whatever is declared in the place of `{member.ident}` must offer what `{wanted.name}` does.",
            hint=f"let `{given.name}` extend `{wanted.name}`, or loosen the constraint with `constrainedby`.",
        )
    )
    return False


def missing_names(wanted: Target, given: Target, report: Report) -> str | None:
    """What a type lacks of another one, in words; None when it fits."""
    if isinstance(wanted, Builtin) or isinstance(given, Builtin):
        if wanted is given or (isinstance(given, Definition) and body_of(given, report).basic is wanted):
            return None
        return "is another kind of thing"
    if any(definition.node is wanted.node for definition in given.lineage()):
        return None
    want, have = body_of(wanted, report), body_of(given, report)
    public = [m for m in want.members.values() if not m.protected]
    lacking = [m.ident for m in public if m.ident not in have.members and m.ident not in basic_names(have.basic)]
    if want.basic is not None and want.basic is not have.basic:
        return f"is no {want.basic.name}"
    return f"has no `{lacking[0]}`" if lacking else None
