"""Values that the caller gives (`--set a.b=3`): the outermost modifications of the model."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bglang.diagnostics import BglangError, Report, UsageError
from bglang.elaborate.components import ValueComponent
from bglang.elaborate.context import Context
from bglang.elaborate.definitions import Definition
from bglang.elaborate.laws import NOTHING, find_law
from bglang.elaborate.modifications import Modification, add_argument
from bglang.elaborate.objects import (
    PARAMETER_NAME,
    Absent,
    ArrayObject,
    ElementObject,
    ElementPort,
    Instance,
    Many,
    NamedBond,
    Port,
    Silent,
)  # fmt: skip
from bglang.elaborate.scopes import InstanceScope
from bglang.source import NOWHERE, Source
from bglang.suggest import suggest
from bglang.syntax import ast

Parse = Callable[[Source, Report], ast.File | None]
ATTRIBUTES = frozenset({"start", "fixed", "nominal", "min", "max"})


def settings_layer(settings: Mapping[str, object], definition: Definition, ctx: Context, parse: Parse) -> Modification:
    """All settings as one modification of the model."""
    top = Modification(NOWHERE)
    scope = SettingScope(ctx, None, definition)
    for name, value in settings.items():
        path = parse_name(name, parse)
        expression = parse_value(name, value, parse)
        argument = ast.Argument(path, None, expression, True, False, None, False, "", expression.span)
        add_argument(top, argument, scope)
    relax(top)
    return top


class SettingScope(InstanceScope):
    """Where the caller's values are read: constants are known, components are not."""

    __slots__ = ()

    @property
    def setting(self) -> bool:
        return True


def relax(modification: Modification) -> None:
    """What the caller says may reach everything; names are checked afterwards, as a whole."""
    modification.strict = False
    for child in modification.children.values():
        relax(child)
    for _, _, change in modification.indexed:
        relax(change)


def parse_name(name: str, parse: Parse) -> ast.Name:
    expression = parse_expression(name, parse)
    if not isinstance(expression, ast.Name):
        raise UsageError(f"`{name}` is not the name of a parameter")
    return expression


def parse_value(name: str, value: object, parse: Parse) -> ast.Expression:
    """A value given as text of the language, or as a Python number, text, truth value or nested list."""
    if isinstance(value, str):
        expression = parse_expression(value, parse, shown=f"{name}={value}")
        if expression is None:
            return ast.String(value, NOWHERE)
        return expression
    return literal(name, value)


def literal(name: str, value: object) -> ast.Expression:
    if isinstance(value, bool):
        return ast.Bool(value, NOWHERE)
    if isinstance(value, int):
        return signed(float(value), True)
    if isinstance(value, float):
        return signed(value, False)
    item = getattr(value, "tolist", None)
    if item is not None:
        return literal(name, item())
    if isinstance(value, Iterable):
        return ast.ArrayList(tuple(literal(name, entry) for entry in value), NOWHERE)
    raise UsageError(f"`{name}` cannot be set to {value!r}")


def signed(value: float, integer: bool) -> ast.Expression:
    number = ast.Number(abs(value), integer, NOWHERE)
    return ast.Unary("-", number, NOWHERE) if value < 0 else number


def parse_expression(text: str, parse: Parse, shown: str = "") -> ast.Expression | None:
    """An expression in the language's own syntax; None if it is none."""
    # the text stands on a line of its own, which is what messages show
    source = Source(f"--set {shown or text}", f"model m parameter Real x =\n{text}\n; end m;")
    try:
        file = parse(source, Report())
    except BglangError:
        return None
    if file is None or len(file.classes) != 1:
        return None
    items = [item for section in file.classes[0].sections for item in section.items]
    if len(items) != 1 or not isinstance(items[0], ast.Component):
        return None
    declarators = items[0].declarators
    if len(declarators) != 1 or declarators[0].condition is not None or declarators[0].description:
        return None
    return declarators[0].value


# --- afterwards ------------------------------------------------------------------------------------------------------


def check_settings(settings: Mapping[str, object], root: Instance, parse: Parse) -> None:
    """Every name that was set must be a parameter that is not final, or a start value."""
    for name in settings:
        path = parse_name(name, parse)
        problem = problem_of(name, path, root)
        if problem:
            raise UsageError(problem)


def problem_of(name: str, path: ast.Name, root: Instance) -> str:
    """What is wrong with setting this name; empty when nothing is."""
    if path.parts[-1].ident in ATTRIBUTES and len(path.parts) > 1:
        shorter = path.parts[:-1]
        owner = reach(ast.Name(shorter[:-1], False, path.span), root) if len(shorter) > 1 else root
        thing = reach(ast.Name(shorter, False, path.span), root)
        if isinstance(thing, ValueComponent | Port | ElementPort | NamedBond) or (
            thing is not None and not isinstance(thing, str)
        ):
            return ""
        return unknown(name, shorter[-1].ident, owner, root)
    thing = reach(path, root)
    if isinstance(thing, Many) and thing.items:
        thing = thing.items[0]
    if isinstance(thing, Silent):
        return ""
    if isinstance(thing, ValueComponent):
        return parameter_problem(name, thing)
    if isinstance(thing, Absent):
        return f"`{name}` is not there: its condition is false"
    owner = reach(ast.Name(path.parts[:-1], False, path.span), root) if len(path.parts) > 1 else root
    for element in owner.items if isinstance(owner, Many) else [owner]:
        if isinstance(element, ElementObject) and path.parts[-1].ident == PARAMETER_NAME.get(element.kind):
            found = find_law(element)
            if found is NOTHING or found.letter == PARAMETER_NAME[element.kind]:
                return ""
    if thing is not None:
        return f"`{name}` is not a parameter"
    return unknown(name, path.parts[-1].ident, owner, root)


def parameter_problem(name: str, component: ValueComponent) -> str:
    if component.role == "parameter" and "final" not in component.member.component.prefixes:
        return ""
    if component.role in ("parameter", "constant"):
        return f"`{name}` is {'final' if component.role == 'parameter' else 'a constant'} and cannot be set"
    return f"`{name}` is a variable, not a parameter; `{name}.start` sets its start value"


def unknown(name: str, ident: str, owner: Any, root: Instance) -> str:
    thing = owner.items[0] if isinstance(owner, Many) and owner.items else owner
    names = thing.names() if thing is not None and hasattr(thing, "names") else root.names()
    meant = suggest(ident, names)
    before = name.rpartition(".")[0]
    return f"there is no parameter `{name}`" + (
        f"; did you mean `{before + '.' if before and owner is not None else ''}{meant}`?" if meant else ""
    )


def reach(path: ast.Name, root: Instance) -> Any:
    """The thing behind a name, looked for silently from the root; a component before its value is taken."""
    scope = InstanceScope(root.ctx, root, root.definition)
    loud, root.ctx.report = root.ctx.report, Report()
    try:
        thing: Any = root
        for part in path.parts:
            if isinstance(thing, ArrayObject):
                thing = scope.all_of(thing, NOWHERE)
            if isinstance(thing, Many):
                items = [item.attribute(part.ident) if hasattr(item, "attribute") else None for item in thing.items]
                thing = None if any(i is None for i in items) else Many(thing.shape, items)
            else:
                thing = thing.attribute(part.ident) if hasattr(thing, "attribute") else None
            if part.subscripts is not None and isinstance(thing, ArrayObject):
                thing = scope.subscripted(thing, part)
            if thing is None:
                return None
        return thing
    finally:
        root.ctx.report = loud
