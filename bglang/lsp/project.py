"""Open texts and what is known about them."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from bglang.causality.result import Causality
from bglang.diagnostics import Diagnostic, Report, SourceError, UsageError
from bglang.elaborate.choice import main_models
from bglang.elaborate.definitions import Definition
from bglang.elaborate.libraries import Libraries, search_path
from bglang.elaborate.load import place_file
from bglang.graph.checks import check_values
from bglang.graph.ir import BondGraph
from bglang.graph.parameters import evaluate_parameters
from bglang.limits import Limits
from bglang.lsp.mentions import Mention, mentions
from bglang.lsp.symbols import Symbol, resolve
from bglang.pipeline import causal, equations, front
from bglang.records import dataclass, field
from bglang.request import Request
from bglang.source import Source, Span
from bglang.syntax import ast
from bglang.syntax.parse import parse_partly
from bglang.syntax.store import parse_cached

DERIVED = 3000
"""Larger models are checked up to causality while they are written."""
TRIED = 20
"""So many models of one file are checked."""


@dataclass(slots=True)
class View:
    """One text: its tree as far as it could be read, and the classes around it."""

    path: Path
    source: Source
    file: ast.File | None
    problems: list[Diagnostic]
    library: Libraries
    place: Definition | None
    _mentions: list[Mention] | None = None

    def mentions(self) -> list[Mention]:
        if self._mentions is None:
            self._mentions = list(mentions(self.file, self.place, self.library.top)) if self.file is not None else []
        return self._mentions

    def at(self, offset: int) -> tuple[Mention, int] | None:
        """The name at an offset, and which of its parts."""
        for mention in self.mentions():
            part = mention.part_at(offset)
            if part is not None:
                return mention, part
        return None

    def symbol(self, mention: Mention, part: int) -> Symbol | None:
        return resolve(mention, part, self.library.top)


@dataclass(frozen=True, slots=True)
class Instance:
    """A model of a file, elaborated."""

    graph: BondGraph
    causality: Causality | None
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong with a text, by file, and the model that it makes, if it makes one."""

    diagnostics: dict[Path, list[Diagnostic]]
    instance: Instance | None


@dataclass(slots=True)
class Project:
    """All open texts.  `libraries` are folders to look in, as with `--lib`."""

    libraries: tuple[str, ...] = ()
    texts: dict[Path, str] = field(default_factory=dict[Path, str])
    _views: dict[Path, tuple[str, View]] = field(default_factory=dict[Path, tuple[str, View]])

    def open(self, path: Path, text: str) -> None:
        self.texts[path] = text
        self._views.clear()  # a text may be a library of another one

    def close(self, path: Path) -> None:
        self.texts.pop(path, None)
        self._views.clear()

    def text(self, path: Path) -> str:
        found = self.texts.get(path)
        return path.read_bytes().decode("utf-8-sig", "replace") if found is None else found

    def view(self, path: Path) -> View:
        text = self.text(path)
        kept = self._views.get(path)
        if kept is None or kept[0] != text:
            kept = (text, self._look(path, text))
            self._views[path] = kept
        return kept[1]

    def _look(self, path: Path, text: str) -> View:
        source = Source(str(path), text)
        file, problems = parse_partly(source)
        library = Libraries(
            search_path(path.parent, self.libraries),
            Report(),
            lambda s, r: parse_cached(s, r),
            Limits(),
            texts=self.texts,
        )
        library.main_folder = path.parent
        place = None
        if file is not None:
            library.add_file(file, path)
            place = place_file(file, path, library)
        return View(path, source, file, problems, library, place)

    # --- what is wrong ------------------------------------------------------------------------------------------------

    def check(self, path: Path) -> Findings:
        """All that the compiler finds in the models of a text."""
        view = self.view(path)
        found = dict[Path, list[Diagnostic]]({path: []})
        if view.problems or view.file is None:
            found[path] = view.problems
            return Findings(found, None)
        mains = [node.ident for node in main_models(view.file) if not _has_ports(node)] if not view.file.within else []
        instance: Instance | None = None
        for name in (mains or list(_models(view.file.classes)))[:TRIED]:
            made, diagnostics = self._elaborate(path, name, numbers=bool(mains))
            instance = instance or made
            _sort_in(found, path, diagnostics if mains else (d for d in diagnostics if d.severity == "error"))
        return Findings(found, instance)

    def _elaborate(self, path: Path, name: str, *, numbers: bool) -> tuple[Instance | None, list[Diagnostic]]:
        report = Report()
        instance: Instance | None = None
        try:
            request = Request(path, name, libraries=self.libraries, units="error", texts=dict(self.texts))
            graph = front(request, report, numbers=False)
            values = dict(evaluate_parameters(graph, report=report if numbers else Report()))
            instance = Instance(graph, None, values)
            if numbers:
                check_values(graph, report)
                report.raise_if_errors()
            causality = causal(graph, report)
            instance = Instance(graph, causality, values)
            if numbers and len(graph.elements) <= DERIVED:
                equations(graph, causality, report)
        except SourceError as failure:
            return instance, list(failure.diagnostics)
        except (UsageError, OSError):
            return None, list(report)
        return instance, list(report)


def _has_ports(node: ast.Class) -> bool:
    """Whether a model is made to be a part of others: then its open ports are no mistake."""
    items = (item for section in node.sections for item in section.items)
    return any(isinstance(item, ast.Component) and "port" in item.prefixes for item in items)


def _models(classes: Iterable[ast.Class], around: str = "") -> Iterator[str]:
    """Models of a library's file: they are looked at one by one."""
    for node in classes:
        name = f"{around}{node.ident}"
        if node.kind == "model" and not node.partial:
            yield name
        elif node.kind in ("package", "domain"):
            inner = (item for section in node.sections for item in section.items if isinstance(item, ast.Class))
            yield from _models(inner, f"{name}.")


def _sort_in(found: dict[Path, list[Diagnostic]], path: Path, diagnostics: Iterable[Diagnostic]) -> None:
    """To the files they are about; what stands in several models is told once."""
    for d in diagnostics:
        where = file_of(d.span) or path
        known = found.setdefault(where, [])
        if not any(k.code == d.code and k.span.start == d.span.start and k.message == d.message for k in known):
            known.append(d)


def file_of(span: Span) -> Path | None:
    """The file that a span lies in."""
    name = span.source.name
    return Path(name).resolve() if name and not name.startswith(("<", "--")) else None
