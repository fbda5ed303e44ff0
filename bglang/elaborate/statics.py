"""What belongs to a class itself and not to its instances: constants, also those that an import brings in."""

from typing import TYPE_CHECKING, Any

from bglang.elaborate.bodies import body_of
from bglang.elaborate.definitions import Definition
from bglang.elaborate.objects import Instance

if TYPE_CHECKING:
    from bglang.elaborate.context import Context


def static_constant(ctx: "Context", definition: Definition, ident: str) -> Any:
    """A constant of a class itself."""
    body = body_of(definition, ctx.report)
    member = body.members.get(ident)
    if member is None or "constant" not in member.component.prefixes:
        return None
    if definition.static is None:
        definition.static = Instance(ctx, definition.name, definition, body, None, ())
    return definition.static.find(ident)


def imported_constant(ctx: "Context", place: Definition, ident: str) -> Any:
    """`import Constants.g;` and `import Constants.*;` bring constants in, too."""
    for item in place.imports:
        path = [p.ident for p in item.name.parts]
        if item.all or ident in item.names:
            package, inner = ctx.library.top.path(path), ident
        elif ident == (item.alias or path[-1]) and len(path) > 1 and not item.names:
            package, inner = ctx.library.top.path(path[:-1]), path[-1]
        else:
            continue
        if isinstance(package, Definition):
            found = static_constant(ctx, package, inner)
            if found is not None:
                return found
    return None


def hides(ctx: "Context", definition: Definition, ident: str) -> bool:
    """Whether a class around this one declares the name as something that belongs to its instances."""
    place = definition.parent
    while isinstance(place, Definition):
        if ident in body_of(place, ctx.report).members:
            return True
        place = place.parent
    return False
