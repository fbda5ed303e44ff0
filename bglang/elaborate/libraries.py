"""Where classes come from: the model's file, files beside it, library folders, installed packages.

A library is a folder of `.bg` files.  A folder with a `package.bg` is a package: what that file declares and what
the other
files and folders beside it hold are its classes; each file holds the class of its own name.  Files are read when a name
asks for them.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from types import ModuleType

from bglang.diagnostics import Report, error
from bglang.elaborate.definitions import BROKEN, BUILTINS, LIBRARY_HINT, Definition, Target, Top
from bglang.elaborate.hints import did_you_mean
from bglang.limits import Limits
from bglang.source import Source, Span
from bglang.suggest import suggest
from bglang.syntax import ast
from bglang.syntax.read import read_source

SUFFIX = ".bg"
ENTRY_POINTS = "bglang.libraries"


def standard_library() -> Path:
    """The folder of the standard library: inside the installed package, or beside it in a source tree."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "stdlib"
    return inside if inside.is_dir() else package.parent / "stdlib"


def search_path(beside: Path | None, libraries: Sequence[str | os.PathLike[str]] = ()) -> list[Path]:
    """Where libraries are looked for, in this order; what is nearer hides what is farther."""
    named = [Path(folder) for folder in libraries]
    environment = [Path(f) for f in os.environ.get("BGLANG_PATH", "").split(os.pathsep) if f]
    return [*([beside] if beside else []), *named, *environment, standard_library()]


class Libraries:
    """All files of one elaboration, read once each."""

    def __init__(
        self,
        roots: Sequence[Path],
        report: Report,
        parse: Callable[[Source, Report], ast.File | None],
        limits: Limits,
        allow_read: bool = False,
        texts: Mapping[Path, str] | None = None,
    ):
        self.roots = list(roots)
        self.report = report
        self.limits = limits
        self.allow_read = allow_read
        self.top = Top(self)
        self.main_folder: Path | None = None
        self.dependencies: list[str] = []
        self.functions: dict[int, Definition] = {}
        self._parse = parse
        self._texts = texts or {}
        self._files: dict[Path, ast.File | None] = {}
        self._paths: dict[int, Path] = {}
        self._imports: dict[int, tuple[ast.Import, ...]] = {}
        self._checked: dict[int, ast.Import] = {}
        self._broken_imports: set[int] = set()
        self._held: dict[str, set[str]] | None = None
        self._installed: list[Path] | None = None
        self._sources: list[Source] = []  # keeps the ids in `_paths` alive

    # --- files -------------------------------------------------------------------------------------------------------

    def add_file(self, file: ast.File, path: Path | None) -> None:
        """Take a file that was already parsed."""
        source = file.span.source
        self._sources.append(source)
        if path is not None:
            self._files[path] = file
            self._paths[id(source)] = path
            self.dependencies.append(str(path))
        for node in file.classes:
            self._imports[id(node)] = file.imports

    def read(self, path: Path) -> ast.File | None:
        """A file of a library; None after its mistakes were reported."""
        path = path.resolve()
        if path not in self._files:
            self._files[path] = None
            text, shown = self._texts.get(path), shown_path(path)
            source = read_source(shown, self.report, self.limits) if text is None else Source(str(shown), text)
            file = self._parse(source, self.report) if source else None
            if file is not None:
                self.add_file(file, path)
        return self._files[path]

    def file_imports(self, node: ast.Class) -> tuple[ast.Import, ...]:
        """The imports at the top of the file in which a class stands."""
        return self._imports.get(id(node), ())

    def check_import(self, item: ast.Import) -> None:
        """An import must name something; one that does not is reported once, and what it would bring in is broken."""
        if id(item) in self._checked:
            return
        self._checked[id(item)] = item
        path = [part.ident for part in item.name.parts]
        for wanted in [[*path, ident] for ident in item.names] or [path]:
            problem = self._missing(wanted)
            if problem is not None:
                self._broken_imports.add(id(item))
                self._report_import(item, wanted, problem)

    def _missing(self, path: list[str]) -> int | None:
        """Which part of a full name is unknown: classes, and a constant at the end."""
        for number in range(len(path)):
            if self.top.path(path[: number + 1]) is not None:
                continue
            around = self.top.path(path[:number])
            if number == len(path) - 1 and isinstance(around, Definition) and has_constant(around, path[number]):
                return None
            return number
        return None

    def _report_import(self, item: ast.Import, path: list[str], number: int) -> None:
        ident = path[number]
        span = item.name.parts[number].span if number < len(item.name.parts) else item.span
        if number == 0:
            text, hint = f"there is no library `{ident}`", did_you_mean(ident, self.top.class_names()) or LIBRARY_HINT
        else:
            around = self.top.path(path[:number])
            text = f"there is no `{ident}` in `{'.'.join(path[:number])}`"
            hint = did_you_mean(ident, around.class_names()) if isinstance(around, Definition) else ""
            hint = hint or "remove the import, or name something that is there."
        self.report.add(error("names/unknown", text, span, hint=hint))

    def is_broken(self, item: ast.Import) -> bool:
        return id(item) in self._broken_imports

    def similar(self, ident: str) -> list[str]:
        """Full names of classes in the packages at the top of the libraries, for a name without its package.

        Their files are read apart: the model names none of them, so mistakes in them are no news to its reader."""
        if self._held is None:
            apart = Libraries(self.roots, Report(), self._parse, self.limits, texts=self._texts)
            packages = ((name, apart.top.own(name)) for name in sorted(self.library_names()))
            self._held = {name: package.class_names() for name, package in packages if isinstance(package, Definition)}
        held = self._held
        every = set().union(*held.values())
        meant = ident if ident in every else suggest(ident, every)
        return [f"{name}.{meant}" for name, classes in held.items() if meant in classes]

    def folder_of(self, span: Span) -> Path | None:
        """The folder of the file that a span lies in."""
        path = self._paths.get(id(span.source))
        return path.parent if path else self.main_folder

    # --- packages and libraries --------------------------------------------------------------------------------------

    def find_library(self, ident: str) -> Target | None:
        """A class or package at the top of some library."""
        for root in self.roots:
            found = self.find_in(root, ident, self.top)
            if found is not None:
                return found
        if ident in BUILTINS:
            return None
        for root in self._installed_roots():
            found = self.find_in(root, ident, self.top)
            if found is not None:
                return found
        return None

    def find_in(self, folder: Path, ident: str, parent: "Definition | Top") -> Target | None:
        """The class of this name in a folder: a file, or a folder that is a package."""
        if not is_plain(ident):
            return None
        if isinstance(parent, Top):
            if folder.is_file():
                return self._class_in(folder, ident, parent, None)
            if folder.name == ident and (folder / f"package{SUFFIX}").is_file():
                return self._class_in(folder / f"package{SUFFIX}", ident, parent, folder)
        package = folder / ident / f"package{SUFFIX}"
        if package.is_file():
            return self._class_in(package, ident, parent, folder / ident)
        file = folder / f"{ident}{SUFFIX}"
        if file.is_file() and ident != "package":
            return self._class_in(file, ident, parent, None)
        return None

    def _class_in(self, path: Path, ident: str, parent: "Definition | Top", folder: Path | None) -> Target | None:
        file = self.read(path)
        if file is None:
            return BROKEN
        within = ".".join(p.ident for p in file.within.parts) if file.within is not None else ""
        if within != parent.name and file.within is not None:
            if isinstance(parent, Top):
                return None  # it belongs to a package and is found through it
            self._report_within(file, parent)
        for node in file.classes:
            if node.ident == ident:
                found = Definition(node, parent)
                found.folder = folder
                return found
        return None

    def _report_within(self, file: ast.File, parent: "Definition | Top") -> None:
        assert file.within is not None
        self.report.add(
            error(
                "files/within",
                f"this file stands in the folder of `{parent.name}`",
                file.within.span,
                label="but says something else",
                hint=f"write `within {parent.name};`.",
            )
        )

    def names_in(self, folder: Path) -> set[str]:
        """Names of the classes that a folder holds."""
        if folder.is_file():
            return {folder.stem}
        if not folder.is_dir():
            return set()
        names = {entry.stem for entry in folder.glob(f"*{SUFFIX}")}
        names |= {entry.parent.name for entry in folder.glob(f"*/package{SUFFIX}")}
        return names - {"package"}

    def library_names(self) -> set[str]:
        roots = [*self.roots, *self._installed_roots()]
        return set().union(*(self.names_in(root) for root in roots), (r.name for r in roots if is_package(r)))

    def _installed_roots(self) -> list[Path]:
        """Folders that installed Python packages advertise; looked up only when nothing else knows a name."""
        if self._installed is None:
            self._installed = []
            for entry in metadata.entry_points(group=ENTRY_POINTS):
                self._installed.extend(advertised(entry.load()))
        return self._installed

    # --- files that a model names ------------------------------------------------------------------------------------

    def named_file(self, file: str, span: Span) -> Path | None:
        """A file named in the source, relative to it; only below the model's folder or a library, unless allowed."""
        folder = self.folder_of(span) or Path.cwd()
        try:
            path = (folder / file).resolve()
            exists = path.is_file()
        except (OSError, ValueError):  # too long, a circle of links, or with a zero in it: no name of a file
            hint = "a short path, relative to the file that names it, is understood everywhere."
            self.report.add(error("files/missing", f"`{file[:60]!r}` cannot be the name of a file", span, hint=hint))
            return None
        allowed = [folder, *([self.main_folder] if self.main_folder else []), *self.roots, *(self._installed or [])]
        if not self.allow_read and not any(path.is_relative_to(f.resolve()) for f in allowed):
            self.report.add(
                error(
                    "files/outside",
                    f"the model may not read `{file}`",
                    span,
                    reason="A model reads files below its own folder or a library's only.",
                    hint="move the file beside the model, or allow it with `--allow-read`.",
                )
            )
            return None
        if not exists:
            hint = "paths are relative to the file that names them."
            self.report.add(error("files/missing", f"there is no file `{file}`", span, hint=hint))
            return None
        self.dependencies.append(str(path))
        return path


def shown_path(path: Path) -> Path:
    """The path under which a file is shown: relative where it lies below the working folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def advertised(thing: object) -> Iterable[Path]:
    """Folders behind an entry point: a package, a path, or a function that returns one or several."""
    if callable(thing) and not isinstance(thing, ModuleType):
        thing = thing()
    if isinstance(thing, ModuleType):
        return [Path(folder) for folder in getattr(thing, "__path__", [])]
    if isinstance(thing, str | os.PathLike):
        return [Path(thing)]
    if isinstance(thing, Iterable):
        return [Path(folder) for folder in thing]
    return []


def is_plain(ident: str) -> bool:
    """Only names that are names of files, never paths."""
    return ident.isidentifier()


def is_package(folder: Path) -> bool:
    return (folder / f"package{SUFFIX}").is_file()


def has_constant(definition: Definition, ident: str) -> bool:
    """Whether a class or one of its bases declares this constant."""
    return any(
        declarator.ident == ident
        for place in definition.lineage()
        for section in place.node.sections
        for item in section.items
        if isinstance(item, ast.Component) and "constant" in item.prefixes
        for declarator in item.declarators
    )
