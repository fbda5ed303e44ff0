"""From a file's bytes to a source text: encodings, sizes, and files that are no text at all."""

from pathlib import Path

from bglang.diagnostics import Diagnostic, Report, error
from bglang.limits import Limits, raise_hint
from bglang.source import Source, Span

DEFAULT_LIMITS = Limits()
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def read_source(path: Path, report: Report, limits: Limits = DEFAULT_LIMITS) -> Source | None:
    """The text of a file, shown to the user under the path as given; None if it is no source text.

    A file that is missing or may not be read raises OSError: what that means, the caller knows."""
    size = path.stat().st_size
    if size > limits.file_bytes:
        report.add(
            error(
                "limits/file",
                f"the file has {size} bytes; at most {limits.file_bytes} are read",
                Span(Source(str(path), ""), 0, 0),
                hint=raise_hint("file_bytes", size),
            )
        )
        return None
    return decode(str(path), path.read_bytes(), report)


def decode(name: str, data: bytes, report: Report) -> Source | None:
    """A source from UTF-8 bytes; a byte-order mark at the start is no part of the text."""
    encoding = next((found for mark, found in _MARKS.items() if data.startswith(mark)), None)
    if encoding:
        report.add(
            error(
                "syntax/encoding",
                f"this file is in {encoding}",
                Span(Source(name, ""), 0, 0),
                reason="A source file is text in UTF-8.",
                hint="save it as UTF-8.",
            )
        )
        return None
    try:
        return Source(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as wrong:
        source = Source(name, data.decode("utf-8-sig", "replace"))
        place = len(data[: wrong.start].decode("utf-8-sig", "replace"))
        report.add(_not_utf8(source, place, data[wrong.start], is_text=b"\0" not in data))
        return None


def _not_utf8(source: Source, place: int, byte: int, *, is_text: bool) -> Diagnostic:
    span = Span(source, place, place + 1)
    reason = "A source file is text in UTF-8."
    if not is_text:
        return error("syntax/binary", "this is not a text file", span, label=f"the byte 0x{byte:02X}", reason=reason)
    return error(
        "syntax/encoding",
        "this file is not in UTF-8",
        span,
        label=f"the byte 0x{byte:02X} begins no character",
        reason=reason,
        hint="save it as UTF-8; it may be in Latin-1 or Windows-1252 now.",
    )
