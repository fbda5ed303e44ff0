"""The protocol: what editors send and get, by pygls over standard input and output."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from bglang import __version__
from bglang.diagnostics import Diagnostic, SourceError
from bglang.lsp.changes import Fix, fixes, new_name, references
from bglang.lsp.completion import complete
from bglang.lsp.hover import definition, hover
from bglang.lsp.outline import Entry, outline
from bglang.lsp.project import Findings, Instance, Project, View, file_of
from bglang.source import Source, Span
from bglang.syntax.format import format_source

PAUSE = 0.25
"""Seconds without typing after which a text is checked."""
STACK = 64 << 20

SEVERITY = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}
KINDS = {
    "class": lsp.CompletionItemKind.Class, "model": lsp.CompletionItemKind.Class, "block": lsp.CompletionItemKind.Class,
    "element": lsp.CompletionItemKind.Class, "package": lsp.CompletionItemKind.Module,
    "domain": lsp.CompletionItemKind.Module, "function": lsp.CompletionItemKind.Function,
    "macro": lsp.CompletionItemKind.Function, "type": lsp.CompletionItemKind.Class,
    "parameter": lsp.CompletionItemKind.Property, "constant": lsp.CompletionItemKind.Constant,
    "port": lsp.CompletionItemKind.Interface, "keyword": lsp.CompletionItemKind.Keyword,
    "literal": lsp.CompletionItemKind.EnumMember, "built-in": lsp.CompletionItemKind.Class,
}  # fmt: skip
OUTLINE = {
    "package": lsp.SymbolKind.Package, "domain": lsp.SymbolKind.Namespace, "function": lsp.SymbolKind.Function,
    "macro": lsp.SymbolKind.Function, "parameter": lsp.SymbolKind.Property, "constant": lsp.SymbolKind.Constant,
    "port": lsp.SymbolKind.Interface, "component": lsp.SymbolKind.Field,
}  # fmt: skip


class Server(LanguageServer):
    """Texts, what was found in them, and checks that wait for a pause in typing."""

    def __init__(self) -> None:
        super().__init__("bglang", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.project = Project()
        self.instances: dict[Path, Instance] = {}
        self.older: dict[Path, View] = {}
        self._shown: dict[Path, dict[Path, list[Diagnostic]]] = {}
        self._waiting: dict[Path, asyncio.TimerHandle] = {}
        threading.stack_size(STACK)  # models may be nested deeply
        self._checker = ThreadPoolExecutor(1, "check")

    # --- checking -----------------------------------------------------------------------------------------------------

    def changed(self, path: Path, text: str, pause: float = PAUSE) -> None:
        """A text is new: check it, and the others that are open, after a pause."""
        if path in self.project.texts:
            self._keep_older(path)
        self.project.open(path, text)
        for other in (path, *(p for p in self.project.texts if p != path)):
            self._check_later(other, pause if other == path else 2 * pause)

    def _keep_older(self, path: Path) -> None:
        view = self.project.view(path)
        if view.file is not None:
            self.older[path] = view

    def _check_later(self, path: Path, pause: float) -> None:
        waiting = self._waiting.pop(path, None)
        if waiting is not None:
            waiting.cancel()
        loop = asyncio.get_running_loop()
        self._waiting[path] = loop.call_later(pause, lambda: asyncio.ensure_future(self._check(path)))

    async def _check(self, path: Path) -> None:
        self._waiting.pop(path, None)
        texts = dict(self.project.texts)
        if path not in texts:
            return
        snapshot = Project(self.project.libraries, texts)  # the texts may go on changing meanwhile
        try:
            findings = await asyncio.get_running_loop().run_in_executor(self._checker, snapshot.check, path)
        except OSError:
            return
        if self.project.texts.get(path) == texts[path]:
            self._publish(path, findings)

    def _publish(self, path: Path, findings: Findings) -> None:
        if findings.instance is not None:
            self.instances[path] = findings.instance
        before = self._shown.get(path, {})
        self._shown[path] = findings.diagnostics
        for about in {*before, *findings.diagnostics}:
            self._show(about)

    def _show(self, about: Path) -> None:
        """All that any text has to say about a file."""
        found = dict[tuple[str, int, str], Diagnostic]()
        for diagnostics in self._shown.values():
            for d in diagnostics.get(about, ()):
                found.setdefault((d.code, d.span.start, d.message), d)
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(_uri(about), [_diagnostic(d) for d in found.values()])
        )

    def closed(self, path: Path) -> None:
        self.project.close(path)
        for about in self._shown.pop(path, {}):
            self._show(about)

    def found(self, path: Path) -> list[Diagnostic]:
        """What was found in a file."""
        return [d for diagnostics in self._shown.values() for d in diagnostics.get(path, ())]

    def folders(self) -> list[Path]:
        return [_path(uri) for uri in self.workspace.folders]


# --- places -----------------------------------------------------------------------------------------------------------


def _path(uri: str) -> Path:
    return Path(to_fs_path(uri) or uri).resolve()


def _uri(path: Path) -> str:
    return from_fs_path(str(path)) or str(path)


def _position(source: Source, offset: int) -> lsp.Position:
    """Lines from 0, columns in units of UTF-16, as the protocol has it."""
    line, column = source.position(min(max(offset, 0), len(source.text)))
    before = source.line(line)[: column - 1]
    return lsp.Position(line - 1, len(before.encode("utf-16-le")) // 2)


def _offset(source: Source, position: lsp.Position) -> int:
    starts = source.line_starts()
    if position.line >= len(starts):
        return len(source.text)
    line = source.line(position.line + 1).encode("utf-16-le")
    return starts[position.line] + len(line[: 2 * position.character].decode("utf-16-le", "ignore"))


def _range(span: Span) -> lsp.Range:
    return lsp.Range(_position(span.source, span.start), _position(span.source, span.end))


def _diagnostic(d: Diagnostic) -> lsp.Diagnostic:
    text = "\n".join(filter(None, [d.message, d.label, d.reason, d.hint and f"Hint: {d.hint}"]))
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(_uri(path), _range(label.span)), label.text or d.message)
        for label in d.related
        if (path := file_of(label.span)) is not None
    ]
    return lsp.Diagnostic(
        _range(d.span), text, SEVERITY[d.severity], d.code, source="bglang", related_information=related or None
    )


# --- requests ---------------------------------------------------------------------------------------------------------


def make_server() -> Server:
    """A server with all its features."""
    server = Server()
    _synchronise(server)
    _read(server)
    _write(server)
    return server


def _synchronise(server: Server) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        options = params.initialization_options
        libraries = options.get("libraries", ()) if isinstance(options, dict) else ()
        server.project.libraries = tuple(str(folder) for folder in libraries)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.changed(_path(params.text_document.uri), params.text_document.text, pause=0.0)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        document = server.workspace.get_text_document(params.text_document.uri)
        server.changed(_path(params.text_document.uri), document.source)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        document = server.workspace.get_text_document(params.text_document.uri)
        server.changed(_path(params.text_document.uri), document.source, pause=0.0)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.closed(_path(params.text_document.uri))


def _read(server: Server) -> None:
    project = server.project

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def on_hover(params: lsp.HoverParams) -> lsp.Hover | None:
        path = _path(params.text_document.uri)
        view = project.view(path)
        found = hover(view, _offset(view.source, params.position), server.instances.get(path))
        if found is None:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found[0]), _range(found[1]))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def on_definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        view = project.view(_path(params.text_document.uri))
        found = definition(view, _offset(view.source, params.position))
        return lsp.Location(_uri(found[0]), _range(found[1])) if found is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["."]))
    def on_completion(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        path = _path(params.text_document.uri)
        view = project.view(path)
        proposals = complete(view, server.older.get(path), _offset(view.source, params.position))
        return [
            lsp.CompletionItem(
                p.text, kind=KINDS.get(p.kind, lsp.CompletionItemKind.Variable), detail=p.detail or p.kind
            )
            for p in proposals
        ]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def on_outline(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        path = _path(params.text_document.uri)
        view = project.view(path)
        file = view.file or (server.older[path].file if path in server.older else None)
        return [_symbol(entry) for entry in outline(file)] if file is not None else []

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def on_references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        view = project.view(_path(params.text_document.uri))
        found = references(project, view, _offset(view.source, params.position), server.folders())
        places = found[1] if found is not None else {}
        return [lsp.Location(_uri(path), _range(span)) for path, spans in places.items() for span in spans]


def _symbol(entry: Entry) -> lsp.DocumentSymbol:
    kind = OUTLINE.get(entry.kind, lsp.SymbolKind.Class)
    children = [_symbol(child) for child in entry.children]
    return lsp.DocumentSymbol(
        entry.name, kind, _range(entry.span), _range(entry.name_span), entry.detail, children=children
    )


def _write(server: Server) -> None:
    project = server.project

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def on_format(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        path = _path(params.text_document.uri)
        source = project.view(path).source
        try:
            new = format_source(source.text, str(path))
        except SourceError:
            return []  # a text that cannot be read stays as it is; its mistakes are shown already
        return [] if new == source.text else [lsp.TextEdit(_range(Span(source, 0, len(source.text))), new)]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def on_prepare(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        view = project.view(_path(params.text_document.uri))
        found = view.at(_offset(view.source, params.position))
        symbol = view.symbol(*found) if found is not None else None
        if found is None or symbol is None or symbol.place is None or _is_foreign(server, symbol.place):
            return None
        return _range(found[0].name.parts[found[1]].span)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def on_rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        view = project.view(_path(params.text_document.uri))
        name = new_name(params.new_name)
        found = references(project, view, _offset(view.source, params.position), server.folders())
        if found is None or name is None or found[0].place is None or _is_foreign(server, found[0].place):
            return None
        changes = {_uri(path): [lsp.TextEdit(_range(s), name) for s in spans] for path, spans in found[1].items()}
        return lsp.WorkspaceEdit(changes=changes)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION)
    def on_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        path = _path(params.text_document.uri)
        found = list[lsp.CodeAction]()
        for d in server.found(path):
            place = _range(d.span)
            if place.start.line <= params.range.end.line and place.end.line >= params.range.start.line:
                found += [_action(fix, d, path) for fix in fixes(d.code, d.hint, d.span)]
        return found


def _is_foreign(server: Server, place: Span) -> bool:
    """Whether a name belongs to a file outside of what is being edited: the standard library, for one."""
    path = file_of(place)
    folders = server.folders()
    return path is None or not (path in server.project.texts or any(path.is_relative_to(f) for f in folders))


def _action(fix: Fix, d: Diagnostic, path: Path) -> lsp.CodeAction:
    edit = lsp.TextEdit(_range(Span(d.span.source, fix.start, fix.end)), fix.text)
    return lsp.CodeAction(
        fix.title, lsp.CodeActionKind.QuickFix, [_diagnostic(d)], is_preferred=True,
        edit=lsp.WorkspaceEdit(changes={_uri(path): [edit]}),
    )  # fmt: skip
