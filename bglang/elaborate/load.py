"""The stages of elaboration, one after the other."""

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bglang.diagnostics import Report
from bglang.elaborate.bodies import body_of
from bglang.elaborate.choice import choose_model
from bglang.elaborate.context import Context, LimitReached
from bglang.elaborate.definitions import Definition
from bglang.elaborate.expansion import expand
from bglang.elaborate.flatten import flatten
from bglang.elaborate.instances import create_member
from bglang.elaborate.libraries import Libraries, search_path
from bglang.elaborate.objects import Instance
from bglang.elaborate.redeclaring import with_redeclared_classes
from bglang.elaborate.settings import check_settings, parse_name, settings_layer
from bglang.graph.ir import BondGraph
from bglang.limits import Limits
from bglang.source import Source
from bglang.syntax import ast
from bglang.syntax.parse import parse
from bglang.syntax.read import read_source
from bglang.syntax.store import parse_cached

RECURSION = 20_000
"""Nested instances and expressions are walked recursively; their depth is limited by `Limits`."""


@dataclass(frozen=True, slots=True)
class Options:
    libraries: Sequence[str | os.PathLike[str]] = ()
    demand: Sequence[str] = ()
    allow_read: bool = False
    limits: Limits = field(default_factory=Limits)
    allow_native: bool = False


def elaborate(
    origin: Path | Source, model: str | None, set: Mapping[str, object], options: Options, report: Report
) -> BondGraph | None:
    """The flat graph; None after errors, which are in the report."""
    path = None if isinstance(origin, Source) else origin.resolve()
    source = origin if isinstance(origin, Source) else read_source(origin, report, options.limits)

    def parse_file(text: Source, into: Report) -> ast.File | None:
        return parse_cached(text, into, options.limits)

    file = parse_file(source, report) if source is not None else None
    if file is None:
        return None
    folder = path.parent if path is not None else None
    library = Libraries(search_path(folder, options.libraries), report, parse_file, options.limits, options.allow_read)
    library.main_folder = folder
    library.add_file(file, path)
    place = place_file(file, path, library)
    definition = choose_model(file, model, place, library, report)
    if definition is None:
        return None
    ctx = Context(report, options.limits, library, create_member)
    ctx.allow_native = options.allow_native
    demand = [parse_name(name, parse_file) for name in options.demand if is_name(name)]
    before, collecting = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(max(before, RECURSION))
    gc.disable()  # what is made here stays: looking for garbage meanwhile would only cost time
    try:
        root = instantiate(definition, set, ctx)
        check_settings(set, root, parse_file)
        graph = flatten(root, demand)
    except LimitReached:
        return None
    finally:
        sys.setrecursionlimit(before)
        if collecting:
            gc.enable()
    return None if report.errors else graph


def is_name(text: str) -> bool:
    """Globs and commas are the caller's business."""
    return bool(text) and not any(c in text for c in "*?, ")


def place_file(file: ast.File, path: Path | None, library: Libraries) -> Definition | None:
    """Put the classes of the main file where they belong: to the top, or into the package named by `within`."""
    within = [part.ident for part in file.within.parts] if file.within is not None else []
    if not within or path is None:
        for node in file.classes:
            library.top.files.setdefault(node.ident, node)
        if path is not None and path.name == "package.bg" and file.classes:
            found = library.top.own(file.classes[0].ident)
            if isinstance(found, Definition):
                found.folder = path.parent
        return None
    levels = len(within) + (1 if path.name == "package.bg" else 0)
    if levels <= len(path.parents):
        library.roots.insert(0, path.parents[levels])
    found = library.top.path(within)
    if isinstance(found, Definition):
        return found
    for node in file.classes:
        library.top.files.setdefault(node.ident, node)
    return None


def instantiate(definition: Definition, set: Mapping[str, object], ctx: Context) -> Instance:
    """The instance tree of the main model."""

    def parse_text(text: Source, into: Report) -> ast.File | None:
        return parse(text, into, ctx.limits)

    layers = (settings_layer(set, definition, ctx, parse_text),) if set else ()
    definition = with_redeclared_classes(definition, layers, ctx)
    root = Instance(ctx, "", definition, body_of(definition, ctx.report), None, layers)
    expand(root)
    return root
