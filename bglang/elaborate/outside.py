"""Models from outside (`MCK`, `FMU`): another room turns a file or matrices into a class, which is used like any other.

The room offers `bglang.interop.<kind>_class.make_class(request) -> ast.Class | None`.  It gets an `OutsideRequest`
with the known
values of the settings, reports its own mistakes, and returns a model or element whose ports and parameters the
remaining modifications (start values) then reach."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from bglang.diagnostics import Report, error
from bglang.elaborate.bodies import Member
from bglang.elaborate.definitions import Builtin, Definition
from bglang.elaborate.modifications import Layers, Modification, children, outermost, overlay
from bglang.elaborate.objects import Instance
from bglang.elaborate.values import Value
from bglang.limits import Limits
from bglang.records import dataclass
from bglang.source import Span
from bglang.syntax import ast

SETTINGS = {"MCK": ("file", "form", "M", "C", "K"), "FMU": ("file",)}


@dataclass(frozen=True, slots=True)
class OutsideRequest:
    """What a declaration such as `MCK beam(file = "a.mck", form = "modal")` asks for.

    `values` are the settings that were given, known numbers and texts; `file` is checked against the sandbox."""

    name: str
    file: Path | None
    values: dict[str, Value]
    spans: dict[str, Span]
    span: Span
    report: Report
    limits: Limits
    started: bool = False
    """Something is said about its dofs: they may have starts."""
    allow_native: bool = False


def outside_class(
    instance: Instance, member: Member, target: Builtin, layers: Layers
) -> tuple[Definition, Layers] | None:
    """The class that stands for an outside model, and the modifications that are left for it; None after reporting."""
    request = read_request(instance, member, target, layers)
    if request is None:
        return None
    make_class = maker(target.name)
    node = make_class(request)
    if node is None:
        return None
    holders = declared(node) & {"stiffness", "at_start"}
    if holders:
        layers = tuple(with_starts(layer, "at_start" in holders) for layer in layers)
    return Definition(node, instance.definition), tuple(without(layer, SETTINGS[target.name]) for layer in layers)


def maker(kind: str) -> Callable[[OutsideRequest], ast.Class | None]:
    found: Callable[[OutsideRequest], ast.Class | None]
    found = import_module(f"bglang.interop.{kind.lower()}_class").make_class
    return found


def read_request(instance: Instance, member: Member, target: Builtin, layers: Layers) -> OutsideRequest | None:
    ctx = instance.ctx
    values, spans = dict[str, Value](), dict[str, Span]()
    for ident in SETTINGS[target.name]:
        binding = outermost(children(layers, ident), ctx.report)
        if binding is None:
            continue
        rank = 2 if ident in ("M", "C", "K") else 0
        value = binding.value(rank, ident)
        known = ctx.constant(value, binding.span) if value is not None else None
        if known is None:
            return None
        values[ident], spans[ident] = known, binding.span
    file = None
    if "file" in values:
        if values["file"].type != "String":
            ctx.report.add(error("types/mismatch", "`file` is a String", spans["file"]))
            return None
        file = ctx.library.named_file(str(values["file"].items[0]), spans["file"])
        if file is None:
            return None
    started = bool(children(layers, "dof"))
    name = f"{instance.name}.{member.ident}" if instance.name and target.name == "FMU" else member.ident
    return OutsideRequest(
        name, file, values, spans, member.declarator.span, ctx.report, ctx.limits, started, ctx.allow_native
    )


def without(layer: Modification, idents: tuple[str, ...]) -> Modification:
    """A modification without the settings that have been used up."""
    copy = Modification(layer.span, layer.each, layer.final)
    copy.strict, copy.indexed = layer.strict, layer.indexed
    copy.children = {ident: child for ident, child in layer.children.items() if ident not in idents}
    return copy


def declared(node: ast.Class) -> set[str]:
    """The components that a class declares itself."""
    items = [item for section in node.sections for item in section.items if isinstance(item, ast.Component)]
    return {d.ident for item in items for d in item.declarators}


def with_starts(layer: Modification, modal: bool) -> Modification:
    """Starts of displacements, `dof[5].q(start = 0.1)`, as modifications of what holds them.

    That is the stiffness field; in modal form they are parameters, from which the class finds those of the modes."""
    said = layer.children.get("dof")
    starts = None if said is None else starts_of(said, modal)
    if starts is None:
        return layer
    copy = without(layer, ())
    if modal:
        copy.children["at_start"] = starts
    else:
        held = Modification(starts.span)
        held.strict = layer.strict
        held.children["dof"] = starts
        if "stiffness" in copy.children:
            overlay(held, copy.children["stiffness"])
        copy.children["stiffness"] = held
    return copy


def starts_of(said: Modification, modal: bool) -> Modification | None:
    """What a modification of the dofs says about their displacements."""
    made = Modification(said.span, said.each, said.final)
    made.strict = said.strict
    displacement = said.children.get("q")
    if displacement is not None:
        start = displacement.children.get("start") if modal else displacement
        if start is not None:
            made.children["q"] = start
    for subscripts, scope, change in said.indexed:
        inner = starts_of(change, modal)
        if inner is not None:
            made.indexed.append((subscripts, scope, inner))
    return made if made.children or made.indexed else None
