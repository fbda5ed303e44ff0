"""Redeclarations: other components and classes in the place of replaceable ones, given from outside."""

from bglang.elaborate.bodies import Member
from bglang.elaborate.constraints import check_replaceable, fits, redeclared
from bglang.elaborate.context import Context
from bglang.elaborate.definitions import Definition, Target, check_redeclared
from bglang.elaborate.modifications import Layers, Modification, for_member, read_modification
from bglang.elaborate.objects import Instance
from bglang.elaborate.scopes import scope_of
from bglang.syntax import ast


def redeclared_layers(
    instance: Instance, member: Member, layer: Modification, outer: list[Modification]
) -> tuple[Layers, Member]:
    """A declaration given from outside takes the member's place, modifications of the old one go."""
    assert layer.redeclare is not None
    component, place = layer.redeclare
    assert isinstance(component, ast.Component)
    declarator = next(d for d in component.declarators if d.ident == member.ident)
    new = Member(member.ident, component, declarator, place.definition)
    layers = [m for m in outer if m is not layer]
    if not check_replaceable(member, new, instance.ctx.report):
        return tuple(layers), member  # without the modifications, which are meant for the other type
    if declarator.args:
        layers.append(for_member(declarator.args, place, declarator.span, layer))
    new = redeclared(member, new)
    for args, definition in new.inherited:
        layers.append(read_modification(args, scope_of(instance, definition), args[0].span))
    return tuple(layers), new


def with_redeclared_classes(target: Definition, layers: Layers, ctx: Context) -> Definition:
    """The class with those inner classes that modifications put into the place of replaceable ones."""
    changed = dict[str, Target]()
    for layer in layers:
        for ident, child in layer.children.items():
            if child.redeclare is None or ident in changed:
                continue
            node, scope = child.redeclare
            if isinstance(node, ast.Class):
                key = (id(node), id(scope))
                if key not in ctx.redeclared:
                    check_redeclared(node, target, ctx.report)
                    found = Definition(node, scope.definition)
                    found.capture = scope
                    ctx.redeclared[key] = found
                    check_class_constraint(node, target.inner(ident), found, ctx)
                changed[ident] = ctx.redeclared[key]
    return target.redeclared(changed)


def check_class_constraint(node: ast.Class, old: Target | None, new: Definition, ctx: Context) -> None:
    """A redeclared class must offer what the replaceable one does, or what its constraint asks for."""
    if not isinstance(old, Definition):
        return
    use = old.node.constrainedby
    wanted = old.find(use.type, ctx.report) if use is not None else old
    component = ast.Component(
        frozenset(), node.short.type if node.short is not None else name_of(node), None, (), None, False, node.span
    )
    declarator = ast.Declarator(node.ident, None, None, None, None, "", (), node.span)
    fits(wanted, new, Member(node.ident, component, declarator, new), ctx.report)


def name_of(node: ast.Class) -> ast.Name:
    return ast.Name((ast.Part(node.ident, None, node.name_span),), False, node.name_span)
