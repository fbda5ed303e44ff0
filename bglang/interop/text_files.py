"""Reading files of other platforms as text."""

from pathlib import Path

from bglang.diagnostics import Report, error
from bglang.elaborate.libraries import shown_path
from bglang.source import Source, Span


def read_source(path: Path, report: Report, span: Span | None = None) -> Source | None:
    """A file's text; old files come in old encodings.  None after reporting that it is no text."""
    raw = path.read_bytes()
    source = Source(str(shown_path(path)), "")
    if b"\0" in raw:
        report.add(error("files/text", f"`{path.name}` is no text file", span or Span(source, 0, 0)))
        return None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return Source(str(shown_path(path)), text)
