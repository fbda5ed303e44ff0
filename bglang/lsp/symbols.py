"""What a name means, found without elaborating anything: the classes at their places and what they declare."""

from collections.abc import Iterator
from typing import Any

from bglang.elaborate.definitions import Builtin, Definition, Target
from bglang.lsp.mentions import Mention
from bglang.records import dataclass
from bglang.source import Span
from bglang.syntax import ast


@dataclass(frozen=True, slots=True)
class Symbol:
    """A class, a component, a macro's parameter, a named bond, a loop's index, or a variable of a basic element.

    `type` is the class of a component; `owner` the class that declares it; `place` where: None if nobody wrote it."""

    name: str
    kind: str
    place: Span | None
    description: str = ""
    type: Target | None = None
    owner: Definition | None = None
    node: ast.Class | ast.Component | ast.MacroParameter | None = None
    declarator: ast.Declarator | None = None


VARIABLES = {"e": "effort", "f": "flow", "q": "displacement", "p": "momentum", "power": "power"}
PORTS = {"p1": "the port where power goes in", "p2": "the port where power goes out"}
MEMBERS: dict[str, tuple[str, ...]] = {
    "Se": ("e", "f", "power"), "Sf": ("e", "f", "power"), "R": ("e", "f", "power"), "C": ("e", "f", "q", "power"),
    "I": ("e", "f", "p", "power"), "TF": ("p1", "p2"), "GY": ("p1", "p2"), "J0": ("e", "p"), "J1": ("f", "q"),
}  # fmt: skip
ATTRIBUTES = {
    "start": "value at the start, or a guess", "fixed": "whether the start holds", "unit": "unit",
    "min": "least value", "max": "largest value", "nominal": "size, for the error control",
    "displayUnit": "unit for plots and tables",
}  # fmt: skip
SETTINGS: dict[str, dict[str, str]] = {
    "Se": {"e": "the effort that it sets"}, "Sf": {"f": "the flow that it sets"},
    "R": {"R": "resistance: e = R*f", "e": "law: effort by flow", "f": "law: flow by effort"},
    "C": {"C": "capacity: q = C*e", "e": "law: effort by displacement", "q": "law, or q(start = ...)"},
    "I": {"I": "inertia: p = I*f", "f": "law: flow by momentum", "p": "law, or p(start = ...)"},
    "TF": {"m": "modulus: e1 = m*e2, f2 = m*f1"}, "GY": {"r": "modulus: e1 = r*f2, e2 = r*f1"},
    "J0": {"p": "p(start = ...)"}, "J1": {"q": "q(start = ...)"},
    "Real": ATTRIBUTES, "Integer": ATTRIBUTES, "Boolean": ATTRIBUTES, "String": ATTRIBUTES,
}  # fmt: skip
"""What can be written in the parentheses after a basic element or a variable."""


def members(target: Target | None) -> Iterator[Symbol]:
    """Everything that can stand after a dot: components and classes of a class and its bases, variables of elements."""
    if isinstance(target, Builtin):
        for ident in MEMBERS.get(target.name, ()):
            yield Symbol(
                ident, "variable" if ident in VARIABLES else "port", None, VARIABLES.get(ident, PORTS.get(ident, ""))
            )
        return
    if target is None:
        return
    for definition in target.lineage():
        yield from declared(definition)
        for base in definition.bases():
            if isinstance(base.target, Builtin):
                yield from members(base.target)


def members_of(symbol: Symbol) -> Iterator[Symbol]:
    """What can stand after a dot behind a symbol.  A port's type is a domain, but it has effort and flow."""
    if symbol.kind in ("port", "bond", "node") or (symbol.declarator is not None and _is_domain(symbol.type)):
        for ident, description in VARIABLES.items():
            yield Symbol(ident, "variable", None, description)
    elif symbol.kind in ("parameter", "constant", "input", "output") and isinstance(symbol.type, Builtin):
        return
    else:
        yield from members(symbol.type)


def _is_domain(target: Target | None) -> bool:
    return isinstance(target, Definition) and target.node.kind == "domain"


def declared(definition: Definition) -> Iterator[Symbol]:
    """What one class declares itself."""
    for parameter in definition.node.head:
        kind = "node" if parameter.type is None else "parameter"
        found = definition.find_silently(parameter.type) if parameter.type is not None else None
        yield Symbol(parameter.ident, kind, parameter.span, parameter.description, found, definition, parameter)
    for section in definition.node.sections:
        yield from _items(section.items, definition)
    for ident, description in definition.node.literals or ():
        yield Symbol(ident, "literal", definition.node.name_span, description, None, definition)
    for ident in definition.class_names():
        inner = definition.own(ident)
        if isinstance(inner, Definition):
            yield class_symbol(inner)


def _items(items: tuple[ast.Item, ...], owner: Definition) -> Iterator[Symbol]:
    for item in items:
        if isinstance(item, ast.Component):
            found = owner.find_silently(item.type)
            kind = next(
                (p for p in ("parameter", "constant", "port", "input", "output") if p in item.prefixes), "component"
            )
            for d in item.declarators:
                yield Symbol(d.ident, kind, _ident_span(d), d.description, found, owner, item, d)
        elif isinstance(item, ast.BondChain) and item.name is not None:
            yield Symbol(item.name.ident, "bond", item.name.span, item.description, None, owner)
        elif isinstance(item, ast.IfBlock):
            for _, body in item.branches:
                yield from _items(body, owner)
            yield from _items(item.otherwise, owner)
        elif isinstance(item, ast.ForBlock):
            yield from _items(item.body, owner)


def _ident_span(d: ast.Declarator) -> Span:
    from bglang.lsp.mentions import ident_text

    return Span(d.span.source, d.span.start, d.span.start + len(ident_text(d.span, d.ident)))


def class_symbol(target: Target) -> Symbol:
    if isinstance(target, Builtin):
        return Symbol(target.name, "built-in", None, BUILT_IN.get(target.name, ""), target)
    node = target.node
    return Symbol(node.ident, node.kind, node.name_span, node.description, target, target, node)


BUILT_IN = {
    "Se": "effort source", "Sf": "flow source", "R": "resistance: e and f", "C": "storage of displacement: e and q",
    "I": "storage of momentum: f and p", "TF": "transformer: e1 = m*e2, f2 = m*f1",
    "GY": "gyrator: e1 = r*f2, e2 = r*f1",
    "J0": "0-junction: common effort, flows sum up to zero", "J1": "1-junction: common flow, efforts sum up to zero",
    "MCK": "mass, damping and stiffness matrices", "FMU": "a functional mock-up unit",
}  # fmt: skip


# --- lookup -----------------------------------------------------------------------------------------------------------


def member(target: Target | None, ident: str) -> Symbol | None:
    return next((s for s in members(target) if s.name == ident), None)


def lookup(scope: Definition, ident: str) -> Symbol | None:
    """A name in an expression: components of the class and of those around it (constants), then classes."""
    place: Any = scope
    while isinstance(place, Definition):
        found = member(place, ident)
        if found is not None:
            return found
        place = place.parent
    target = scope.lookup(ident)
    return class_symbol(target) if target is not None else None


def resolve(mention: Mention, part: int, top: Any) -> Symbol | None:
    """What the name means up to one of its parts."""
    idents = [p.ident for p in mention.name.parts[: part + 1]]
    if mention.how == "class":
        target = (
            top.path(idents) if mention.scope is None or mention.name.rooted else _class_path(mention.scope, idents)
        )
        return class_symbol(target) if target is not None else None
    if mention.how == "declared":
        assert mention.scope is not None
        node = mention.scope.node
        if mention.name.span.start == node.name_span.start:
            return class_symbol(mention.scope)
        return next((s for s in declared(mention.scope) if s.place and s.place.start == mention.name.span.start), None)
    if mention.how == "member":
        found = member(_modified(mention, top), idents[0])
    else:
        found = lookup(mention.scope, idents[0]) if mention.scope is not None else None
    for ident in idents[1:]:
        found = next((s for s in members_of(found) if s.name == ident), None) if found is not None else None
    return found


def _class_path(scope: Definition, idents: list[str]) -> Target | None:
    target = scope.lookup(idents[0])
    for ident in idents[1:]:
        target = target.inner(ident) if isinstance(target, Definition) else None
    return target


def _modified(mention: Mention, top: Any) -> Target | None:
    """The class in which the names of a modification are looked up."""
    base = mention.base
    if isinstance(base, ast.Name):
        return mention.scope.find_silently(base) if mention.scope is not None else None
    if base is None:
        return None
    found = resolve(base, len(base.name.parts) - 1, top)
    return found.type if found is not None else None
