"""Checks of declarations: names that do not exist, classes that cannot be used so, recursion."""

from collections.abc import Callable, Iterable, Set

from bglang.diagnostics import Label, error
from bglang.elaborate.bodies import Body, Member, basic_names
from bglang.elaborate.context import Context
from bglang.elaborate.definitions import ANY, Definition, Target
from bglang.elaborate.hints import did_you_mean, listed
from bglang.elaborate.kinds import article
from bglang.elaborate.modifications import Layers, Modification
from bglang.elaborate.objects import POISON, Instance, Silent
from bglang.limits import raise_hint
from bglang.source import Span
from bglang.syntax import ast


def recursive(instance: Instance, target: Definition, member: Member) -> bool:
    """Report a class that contains itself, or components nested too deep."""
    ctx, place, depth = instance.ctx, instance, 0
    while True:
        if place.definition.node is target.node:
            ctx.report.add(
                error(
                    "classes/recursion",
                    f"`{target.name}` contains itself",
                    member.component.type.span,
                    label=f"`{member.ident}` is a `{target.name}` again",
                    reason="Expanding it would never end.",
                    hint="use an array of components, or a loop.",
                )
            )
            return True
        if place.parent is None:
            break
        place, depth = place.parent, depth + 1
    if depth > ctx.limits.depth:
        text = f"components are nested more than {ctx.limits.depth} deep"
        ctx.report.add(error("limits/depth", text, member.declarator.span, hint=raise_hint("depth")))
        return True
    return False


# --- names ----------------------------------------------------------------------------------------------------------


def check_names(
    layers: Layers,
    known: Set[str],
    what: str,
    ctx: Context,
    names: Callable[[], Iterable[str]],
    body: Body | None = None,
    hint: str = "",
) -> None:
    """Every modified name must exist; looked at once per written modification.  `hint` is for names like no other."""
    for layer in layers:
        if layer.checked:
            continue
        layer.checked = True
        for ident, child in layer.children.items():
            if ident in known or (body is not None and knows(body, ident, child)):
                continue
            if not layer.strict:
                continue  # names given by the caller are checked as a whole
            ctx.report.add(
                error(
                    "names/unknown",
                    f"`{what}` has no `{ident}`",
                    child.span,
                    hint=did_you_mean(ident, names()) or hint or listed(names()),
                )
            )


def knows(body: Body, ident: str, child: Modification) -> bool:
    if ident in body.members or ident in basic_names(body.basic):
        return True
    if child.redeclare is not None and isinstance(child.redeclare[0], ast.Class):
        return True  # reported where it is put in place
    return ident in ("e", "f", "q", "p") and len(body.ports()) == 1


def check_no_value(member: Member, layers: Layers, ctx: Context) -> None:
    """A component that is no value cannot be given one as a whole."""
    value = member.declarator.value
    spans = [layer.binding.span for layer in layers if layer.binding is not None and layer.strict]
    for span in [*spans, *([] if value is None else [value.span])]:
        ctx.report.add(
            error(
                "types/not-a-value",
                f"`{member.ident}` is a component, not a value",
                span,
                related=[Label(member.component.type.span, "its type")],
                reason="Only parameters, constants and variables have a value.",
                hint=f"say which part of it is meant: `{member.ident}(name = …)`.",
            )
        )


def report_protected(member: Member, span: Span, ctx: Context, verb: str) -> None:
    ctx.report.add(
        error(
            "classes/protected",
            f"`{member.ident}` is protected and cannot be {verb} from outside",
            span,
            related=[Label(member.declarator.span, "declared protected here")],
            hint="move its declaration before `protected`, or change a public parameter instead.",
        )
    )


def wrong_type(instance: Instance, member: Member, target: Target) -> Silent:
    span = member.component.type.span
    kind = target.node.kind if isinstance(target, Definition) else target.kind
    if kind == "domain" or target is ANY:
        text = f"`{target.name}` is a domain"
        hint = f"write `port {target.name} {member.ident}` for a port."
        instance.ctx.report.add(
            error("types/not-a-component", text, span, label="only a port can have it as type", hint=hint)
        )
    else:
        text = f"`{target.name}` is {article(kind)}, of which there are no components"
        instance.ctx.report.add(error("types/not-a-component", text, span))
    return POISON


def wrong_place(instance: Instance, member: Member, message: str, hint: str) -> Silent:
    instance.ctx.report.add(error("classes/section", message, member.component.span, hint=hint))
    return POISON


def partial_class(instance: Instance, member: Member, target: Definition) -> Silent:
    instance.ctx.report.add(
        error(
            "classes/partial",
            f"`{target.name}` is partial: there can be no component of it",
            member.component.type.span,
            related=[Label(target.node.name_span, "declared partial here")],
            hint=f"use a class that extends `{target.name}`, or `redeclare {member.ident}`.",
        )
    )
    return POISON
