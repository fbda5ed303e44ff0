"""Carrying out class bodies: members are made, loops unrolled, conditions decided, bonds and equations noted."""

from bglang.diagnostics import error
from bglang.elaborate.bodies import BodyItem, Member
from bglang.elaborate.instances import build
from bglang.elaborate.objects import POISON, ArrayObject, Instance
from bglang.elaborate.scopes import Frame, InstanceScope, scope_of
from bglang.elaborate.sizes import condition, iterations, sizes
from bglang.syntax import ast


def expand(instance: Instance) -> None:
    """Make all components of an instance, and note its bonds and equations, in the order of the text."""
    element = instance.element is not None
    if not element and instance.name:
        instance.ctx.frames.append((instance.name, instance.definition.name))
    for item in instance.body.items:
        if isinstance(item, Member):
            thing = instance.find(item.ident)
            instance.order.append(thing)
        elif not element or not is_law(item):
            carry_out(instance, item.node, item.section, scope_of(instance, item.definition))


def is_law(item: BodyItem) -> bool:
    """Equations of an element are its laws, apart from events and initial equations."""
    return item.section == "equation" and isinstance(item.node, ast.Equation | ast.ForBlock | ast.IfBlock)


def carry_out(instance: Instance, node: ast.Item, section: str, scope: InstanceScope) -> None:
    ctx = instance.ctx
    if section in ("equation", "initial equation"):
        ctx.equations.append((node, section, scope))
    elif isinstance(node, ast.BondChain):
        ctx.drawn.append((node, scope))
    elif isinstance(node, ast.ForBlock):
        loop(instance, node, section, scope)
    elif isinstance(node, ast.IfBlock):
        for item in chosen(node, scope):
            carry_out(instance, item, section, scope)
    elif isinstance(node, ast.Component):
        for declarator in node.declarators:
            declare(instance, instance.body.dynamic[id(declarator)], scope)
    else:
        ctx.report.add(error("classes/section", "equations stand in an `equation` section", node.span))


def chosen(node: ast.IfBlock, scope: InstanceScope) -> tuple[ast.Item, ...]:
    """The items of the branch whose condition is true."""
    for test, items in node.branches:
        truth = condition(test, scope)
        if truth is None:
            return ()
        if truth:
            return items
    return node.otherwise


def loop(instance: Instance, node: ast.ForBlock, section: str, scope: InstanceScope, depth: int = 0) -> None:
    iterator = node.iterators[depth]
    values = iterations(iterator, scope)
    if values is None:
        return
    instance.ctx.count(len(values), node.span)
    inner = depth + 1 < len(node.iterators)
    for value in values:
        place = scope.with_frame(Frame(iterator.ident, value, scope.frame))
        if inner:
            loop(instance, node, section, place, depth + 1)
        else:
            for item in node.body:
                carry_out(instance, item, section, place)


def declare(instance: Instance, member: Member, scope: InstanceScope) -> None:
    """A declaration inside `if` or `for`; in a loop its subscript says which member is made."""
    ctx, ident, declarator = instance.ctx, member.ident, member.declarator
    if not member.looped or declarator.subscripts is None:
        if ident in instance.objects:
            hint = f"write `{ident}[...]` with the loop variable." if member.looped else ""
            ctx.report.add(
                error("names/duplicate", f"`{instance.prefix}{ident}` is declared twice", declarator.span, hint=hint)
            )
            return
        thing = build(instance, member, scope, None)
        instance.objects[ident] = thing
        instance.order.append(thing)
        return
    index = list[int]()
    for subscript in declarator.subscripts:
        number = scope.index(subscript)
        if number is None:
            found = sizes((subscript,), scope)
            if found is None or found[0] is None:
                instance.objects.setdefault(ident, POISON)
                return
            number = found[0]
        index.append(number)
    array = instance.objects.get(ident)
    if array is None:
        array = instance.objects[ident] = ArrayObject(instance.prefix + member.shown, declarator.span, None)
    if not isinstance(array, ArrayObject):
        return
    place = tuple(index)
    if min(place) < 1 or array.key(place) in array.items:
        text = f"`{instance.prefix}{ident}[{','.join(map(str, place))}]`"
        problem = f"{text} is declared twice" if min(place) >= 1 else f"{text}: members count from 1"
        ctx.report.add(error("names/duplicate" if min(place) >= 1 else "arrays/index", problem, declarator.span))
        return
    thing = build(instance, member, scope, place)
    array.items[array.key(place)] = thing
    instance.order.append(thing)
