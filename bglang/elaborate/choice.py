"""Which model of a file is meant when nobody says it."""

from collections.abc import Iterator

from bglang.diagnostics import Report, UsageError, error
from bglang.elaborate.definitions import Definition
from bglang.elaborate.hints import did_you_mean
from bglang.elaborate.kinds import article
from bglang.elaborate.libraries import Libraries
from bglang.syntax import ast


def choose_model(
    file: ast.File, model: str | None, place: "Definition | None", library: Libraries, report: Report
) -> Definition | None:
    """The main model: the named one, else the only one at the top that no other one there uses."""
    if model is not None:
        return named_model(file, model, place, library)
    candidates = main_models(file)
    if not candidates and (circular := _in_a_circle(file)):
        candidates = [circular]  # there is no main model, and elaborating this one says why
    if len(candidates) == 1:
        found = place.own(candidates[0].ident) if place is not None else library.top.own(candidates[0].ident)
        assert isinstance(found, Definition)
        return found
    if candidates:
        names = ", ".join(f"`{node.ident}`" for node in candidates)
        raise UsageError(f"the file has several models: {names}; say which one with `--model`")
    report.add(
        error(
            "models/none",
            "there is no model to run in this file",
            file.classes[0].name_span if file.classes else file.span,
            label=_why_not(file.classes[0]) if file.classes else "",
            reason="A file needs a `model` at its top that is not partial and that no other model there uses.",
            hint="name one with `--model`, as in `--model Package.Model`."
            if file.classes
            else "write `model Name ... end Name;`.",
        )
    )
    return None


def _why_not(node: ast.Class) -> str:
    return "this model is partial" if node.kind == "model" and node.partial else f"this is {article(node.kind)}"


def named_model(file: ast.File, model: str, place: "Definition | None", library: Libraries) -> Definition:
    """The model that the caller names, in the file or in a library."""
    path = model.split(".")
    found = None
    if place is not None:
        start = place.own(path[0])
        found = start
        for ident in path[1:]:
            found = found.inner(ident) if isinstance(found, Definition) else None
    if found is None:
        found = library.top.path(path)
    if not isinstance(found, Definition):
        names = [node.ident for node in file.classes]
        hint = did_you_mean(model, names)
        listed = f"; the file has {', '.join(f'`{n}`' for n in names)}" if names else ""
        raise UsageError(f"there is no model `{model}`" + (f"; {hint}" if hint else listed))
    if found.node.kind not in ("model", "block", "class"):
        raise UsageError(f"`{model}` is a {found.node.kind}, not a model")
    if found.node.partial:
        raise UsageError(f"`{model}` is partial and cannot run by itself")
    return found


def main_models(file: ast.File) -> list[ast.Class]:
    """Models at the top of a file that are complete and unused there."""
    models = [node for node in file.classes if node.kind == "model" and not node.partial]
    used = {name for node in file.classes for name in used_names(node) if name != node.ident}
    return [node for node in models if node.ident not in used]


def _in_a_circle(file: ast.File) -> ast.Class | None:
    """A model that extends or contains itself through other models of the file."""
    models = {node.ident: node for node in file.classes if node.kind == "model" and not node.partial}
    uses = {ident: [name for name in used_names(node) if name in models] for ident, node in models.items()}
    for ident, node in models.items():
        reached, ahead = set[str](), list(uses[ident])
        while ahead:
            name = ahead.pop()
            if name == ident:
                return node
            if name not in reached:
                reached.add(name)
                ahead += uses[name]
    return None


def used_names(node: ast.Class) -> Iterator[str]:
    """First parts of the names of all classes that a class uses."""
    if node.short is not None:
        yield node.short.type.parts[0].ident
    for section in node.sections:
        yield from names_in(section.items)


def names_in(items: tuple[ast.Item, ...]) -> Iterator[str]:
    for item in items:
        if isinstance(item, ast.Component):
            yield item.type.parts[0].ident
            for declarator in item.declarators:
                yield from argument_names(declarator.args or ())
        elif isinstance(item, ast.Extends):
            yield item.base.parts[0].ident
            yield from argument_names(item.args)
        elif isinstance(item, ast.Class):
            yield from used_names(item)
        elif isinstance(item, ast.IfBlock):
            for _, inner in item.branches:
                yield from names_in(inner)
            yield from names_in(item.otherwise)
        elif isinstance(item, ast.ForBlock):
            yield from names_in(item.body)


def argument_names(args: tuple[ast.Argument, ...]) -> Iterator[str]:
    """Classes named in redeclarations."""
    for argument in args:
        node = argument.redeclare
        if isinstance(node, ast.Component):
            yield node.type.parts[0].ident
        elif isinstance(node, ast.Class):
            yield from used_names(node)
        yield from argument_names(argument.args or ())
