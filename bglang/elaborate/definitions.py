"""Classes at their places: where a definition stands decides what the names in it mean.

A `Definition` is a class of the syntax tree together with its surroundings.  Lookup goes outwards: the class itself
(its own classes, imports, inherited classes), the classes around it, the top (files and libraries), the built-in
types.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bglang.diagnostics import Report, error
from bglang.elaborate.hints import FOREIGN_CLASSES, did_you_mean
from bglang.records import dataclass
from bglang.source import Span
from bglang.suggest import suggest
from bglang.syntax import ast
from bglang.syntax.replaced import REPLACED

if TYPE_CHECKING:
    from bglang.elaborate.bodies import Body
    from bglang.elaborate.libraries import Libraries


@dataclass(frozen=True, slots=True)
class Builtin:
    """A type that every model knows.  "broken" stands for a class whose mistake has already been reported."""

    name: str
    kind: Literal["value", "element", "domain", "outside", "broken"]


BROKEN = Builtin("?", "broken")
ANY = Builtin("Any", "domain")
BUILTINS: dict[str, Builtin] = {
    **{name: Builtin(name, "value") for name in ("Real", "Integer", "Boolean", "String")},
    **{name: Builtin(name, "element") for name in ("Se", "Sf", "R", "C", "I", "TF", "GY", "J0", "J1")},
    **{"M" + name: Builtin(name, "element") for name in ("Se", "Sf", "R", "C", "I", "TF", "GY")},
    "Any": ANY,
    "MCK": Builtin("MCK", "outside"),
    "FMU": Builtin("FMU", "outside"),
}


@dataclass(frozen=True, slots=True)
class Base:
    """One `extends` of a class, or the right side of a short class."""

    target: "Target"
    args: tuple[ast.Argument, ...]
    protected: bool
    span: Span
    subscripts: tuple[ast.Expression, ...] | None = None


class Definition:
    """A class, where it stands, and which of its inner classes were redeclared from outside.

    `capture` is the scope in which the modifications of a redeclared class were written; without it they belong to the
    instance.  `folder` is set for packages that are folders of files."""

    __slots__ = (
        "_bases", "_children", "_classes", "_copies", "_imports", "_resolving", "body", "capture", "folder",
        "library", "name", "node", "overrides", "parent", "static",
    )  # fmt: skip

    def __init__(self, node: ast.Class, parent: "Definition | Top", overrides: Mapping[str, "Target"] | None = None):
        self.node = node
        self.parent = parent
        self.library: Libraries = parent.library
        around: str = parent.name
        self.name: str = f"{around}.{node.ident}" if around else node.ident
        self.overrides: Mapping[str, Target] = overrides or {}
        self.capture: Any = None
        self.folder: Any = None
        self.body: Body | None = None
        self.static: Any = None
        self._children: dict[str, Target | None] = {}
        self._classes: dict[str, ast.Class] | None = None
        self._imports: tuple[ast.Import, ...] | None = None
        self._bases: tuple[Base, ...] | None = None
        self._resolving = False
        self._copies: dict[tuple[tuple[str, int], ...], Definition] = {}

    def __repr__(self) -> str:
        return f"Definition({self.node.kind} {self.name})"

    # --- what stands directly in the class ---------------------------------------------------------------------------

    @property
    def classes(self) -> dict[str, ast.Class]:
        """The classes written inside this one."""
        if self._classes is None:
            self._classes = {}
            for section in self.node.sections:
                for item in section.items:
                    if isinstance(item, ast.Class):
                        self._add_class(self._classes, item)
        return self._classes

    def _add_class(self, classes: dict[str, ast.Class], item: ast.Class) -> None:
        if item.ident in classes:
            self.library.report.add(
                error(
                    "names/duplicate",
                    f"the class `{item.ident}` is declared twice in `{self.name}`",
                    item.name_span,
                    label="declared again here",
                )
            )
        else:
            classes[item.ident] = item

    def own(self, ident: str) -> "Target | None":
        """A class declared in this one: written inside, a file of its folder, or put in its place from outside."""
        if ident in self.overrides:
            return self.overrides[ident]
        if ident not in self._children:
            node = self.classes.get(ident)
            child: Target | None = Definition(node, self) if node else None
            if child is None and self.folder is not None:
                child = self.library.find_in(self.folder, ident, self)
            self._children[ident] = child
        return self._children[ident]

    @property
    def imports(self) -> tuple[ast.Import, ...]:
        if self._imports is None:
            items = (i for s in self.node.sections for i in s.items if isinstance(i, ast.Import))
            self._imports = (*items, *self.library.file_imports(self.node))
            for item in self._imports:
                self.library.check_import(item)
        return self._imports

    def bases(self) -> tuple[Base, ...]:
        """What this class extends, with redeclared classes handed down to where they were declared."""
        if self._bases is None:
            if self._resolving:
                return ()
            self._resolving = True
            self._bases = tuple(self._find_bases())
            self._resolving = False
        return self._bases

    def _find_bases(self) -> Iterator[Base]:
        if self.node.short is not None:
            use = self.node.short
            yield Base(self._base(use.type, use.args), use.args, False, use.span, use.subscripts)
            return
        for section in self.node.sections:
            for item in section.items:
                if isinstance(item, ast.Extends):
                    yield Base(self._base(item.base, item.args), item.args, item.protected, item.span)

    def _base(self, name: ast.Name, args: Iterable[ast.Argument]) -> "Target":
        """The base class, in which this class may have redeclared some inner classes."""
        target = self.find(name, self.library.report)
        if not isinstance(target, Definition):
            return target
        changed: dict[str, Target] = {
            ident: child for ident, child in self.overrides.items() if target.has_class(ident)
        }
        for ident, node in self.classes.items():
            if node.redeclared and target.has_class(ident):
                check_redeclared(node, target, self.library.report)
                changed.setdefault(ident, self.own(ident) or BROKEN)
        for argument in args:
            if isinstance(argument.redeclare, ast.Class):
                node = argument.redeclare
                check_redeclared(node, target, self.library.report)
                changed.setdefault(node.ident, Definition(node, self))
        return target.redeclared(changed)

    def redeclared(self, changed: Mapping[str, "Target"]) -> "Definition":
        """This class with other inner classes; equal changes give the same definition."""
        if not changed:
            return self
        key = tuple(sorted((ident, id(child)) for ident, child in changed.items()))
        if key not in self._copies:
            copy = Definition(self.node, self.parent, {**self.overrides, **changed})
            copy.name, copy.capture, copy.folder = self.name, self.capture, self.folder
            self._copies[key] = copy
        return self._copies[key]

    def has_class(self, ident: str) -> bool:
        return self.inner(ident) is not None

    # --- lookup ------------------------------------------------------------------------------------------------------

    def inner(self, ident: str) -> "Target | None":
        """A class that can be named with a dot after this one: its own or an inherited one."""
        found = self.own(ident)
        if found is not None:
            return found
        for base in self.bases():
            if isinstance(base.target, Definition) and base.target is not self:
                found = base.target.inner(ident)
                if found is not None:
                    return found
            elif base.target is BROKEN:
                return BROKEN
        return None

    def imported(self, ident: str) -> "Target | None":
        """A class that an import of this class brings in."""
        for item in self.imports:
            path = import_path(item, ident)
            if path is not None:
                found = self.library.top.path(path)
                if found is not None:
                    return found
                if self.library.is_broken(item) and not item.all:
                    return BROKEN
        return None

    def lookup(self, ident: str, libraries: bool = True) -> "Target | None":
        """What a class name means here; without `libraries` only the files at hand are asked."""
        place: Definition | Top = self
        while isinstance(place, Definition):
            found = place.own(ident) or place.imported(ident) or (None if place._resolving else place.inner(ident))
            if found is not None:
                return found
            if place.node.encapsulated:
                return BUILTINS.get(ident)
            place = place.parent
        if not libraries and ident not in place.files:
            return BUILTINS.get(ident)
        return place.own(ident) or BUILTINS.get(ident)

    def find_silently(self, name: ast.Name) -> "Target | None":
        """The class that a dotted name means here, if there is one."""
        first = name.parts[0].ident
        found = self.library.top.own(first) if name.rooted else self.lookup(first)
        for part in name.parts[1:]:
            if not isinstance(found, Definition):
                return found if found is BROKEN else None
            found = found.inner(part.ident)
        return found

    def find(self, name: ast.Name, report: Report) -> "Target":
        """The class that a dotted name means here; an unknown one is reported and broken."""
        found = self.find_silently(name)
        if found is None:
            report_unknown_class(self, name, report)
            return BROKEN
        return found

    def visible(self) -> set[str]:
        """Names of all classes that can be seen from here, for suggestions."""
        names = set(BUILTINS)
        place: Definition | Top = self
        while isinstance(place, Definition):
            names.update(place.class_names())
            for item in place.imports:
                names.update(item.names or ([item.alias or item.name.parts[-1].ident] if not item.all else []))
            place = place.parent
        return names | place.class_names()

    def class_names(self) -> set[str]:
        """Names of this class's own and inherited classes."""
        names = set(self.classes)
        if self.folder is not None:
            names |= self.library.names_in(self.folder)
        for base in self.bases():
            if isinstance(base.target, Definition):
                names |= base.target.class_names()
        return names

    def lineage(self) -> Iterator["Definition"]:
        """This class and everything it extends, depth first."""
        stack, seen = [self], set[int]()
        while stack:
            definition = stack.pop()
            if id(definition) in seen:
                continue
            seen.add(id(definition))
            yield definition
            stack.extend(b.target for b in reversed(definition.bases()) if isinstance(b.target, Definition))


Target: TypeAlias = Definition | Builtin


class Top:
    """The outermost place: classes of the model's file, then libraries."""

    __slots__ = ("_children", "files", "library", "name")

    def __init__(self, library: "Libraries"):
        self.library = library
        self.name = ""
        self.files: dict[str, ast.Class] = {}
        self._children: dict[str, Target | None] = {}

    def own(self, ident: str) -> Target | None:
        if ident not in self._children:
            node = self.files.get(ident)
            self._children[ident] = Definition(node, self) if node else self.library.find_library(ident)
        return self._children[ident]

    def path(self, idents: Iterable[str]) -> Target | None:
        """A class by its full name."""
        found: Target | None = None
        for number, ident in enumerate(idents):
            if number == 0:
                found = self.own(ident) or BUILTINS.get(ident)
            elif isinstance(found, Definition):
                found = found.inner(ident)
            else:
                return found if found is BROKEN else None
        return found

    def class_names(self) -> set[str]:
        return set(self.files) | self.library.library_names()


def import_path(item: ast.Import, ident: str) -> list[str] | None:
    """The full name that an import gives to `ident`, if it speaks of it."""
    path = [part.ident for part in item.name.parts]
    if item.all or ident in item.names:
        return [*path, ident]
    if not item.names and ident == (item.alias or path[-1]):
        return path
    return None


def check_redeclared(node: ast.Class, base: Definition, report: Report) -> None:
    """A class may take another one's place only where that one is replaceable."""
    old = base.inner(node.ident)
    if old is None:
        report.add(
            error(
                "names/unknown",
                f"`{base.name}` has no class `{node.ident}` to redeclare",
                node.name_span,
                hint=did_you_mean(node.ident, base.class_names()),
            )
        )
    elif isinstance(old, Definition) and not old.node.replaceable and not old.node.redeclared:
        report.add(
            error(
                "classes/not-replaceable",
                f"`{old.name}` cannot be redeclared",
                node.name_span,
                label="redeclared here",
                reason="Only what is declared `replaceable` may be put in the place of.",
                hint=f"write `replaceable {old.node.kind} {node.ident} ...` in `{base.name}`.",
            )
        )


def report_unknown_first(part: ast.Part, dotted: bool, place: Definition, report: Report) -> None:
    """The first part of a class name is unknown: it may live in a library, be misspelt, or its library be missing."""
    ident = part.ident
    text, hint = f"there is no class `{ident}`", REPLACED.get(ident, "")
    if hint:
        text = f"`{ident}` is not in the language"
    hint = hint or FOREIGN_CLASSES.get(ident.lower(), "") or closest(ident, place)
    similar = [] if dotted or hint else place.library.similar(ident)
    if similar:
        hint = "did you mean " + " or ".join(f"`{name}`" for name in similar[:4]) + "?"
    if not hint:
        hint = LIBRARY_HINT if dotted else "declare it in this file, or import the library that has it."
    report.add(error("names/unknown", text, part.span, hint=hint))


def closest(ident: str, place: Definition) -> str:
    """A class that can be seen from here with a similar name, unless a library has one of this very name."""
    hint = did_you_mean(ident, place.visible())
    same = place.library.similar(ident) if hint and len(ident) > 3 else []
    return "" if any(name.endswith(f".{ident}") for name in same) else hint


LIBRARY_HINT = "libraries are looked for beside the model, in the folders of `--lib` and of BGLANG_PATH."


def report_unknown_class(place: Definition, name: ast.Name, report: Report) -> None:
    """Say which part of a dotted class name is unknown, and what may have been meant."""
    parts = name.parts
    found: Target | None = place.library.top.own(parts[0].ident) if name.rooted else place.lookup(parts[0].ident)
    if found is None:
        report_unknown_first(parts[0], len(parts) > 1, place, report)
        return
    for part in parts[1:]:
        inner = found.inner(part.ident) if isinstance(found, Definition) else None
        if inner is None:
            where = found.name
            hint = _likely_class(part.ident, found) if isinstance(found, Definition) else ""
            report.add(error("names/unknown", f"there is no class `{part.ident}` in `{where}`", part.span, hint=hint))
            return
        found = inner


def _likely_class(ident: str, package: Definition) -> str:
    """A class of the package with a similar name; else one of a package inside it, or one that shares a word."""
    names = package.class_names()
    if hint := did_you_mean(ident, names):
        return hint
    inside = {
        f"{package.name}.{name}.{inner}": inner
        for name in sorted(names)
        if isinstance(found := package.inner(name), Definition) and found.node.kind in ("package", "domain")
        for inner in sorted(found.class_names())
    }
    meant = ident if ident in inside.values() else suggest(ident, inside.values())
    likely = [name for name, inner in inside.items() if inner == meant]
    if not likely:
        words = {word.lower() for word in _WORDS.findall(ident) if len(word) > 3}
        own = {f"{package.name}.{name}": name for name in sorted(names)}
        likely = [full for full, name in (own | inside).items() if words & {w.lower() for w in _WORDS.findall(name)}]
    return "did you mean " + " or ".join(f"`{name}`" for name in likely[:4]) + "?" if likely else ""


_WORDS = re.compile("[A-Z]+[a-z]*|[a-z]+")
