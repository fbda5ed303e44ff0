"""How diagnostics look: for people (excerpts of the source with carets) and for machines (JSON)."""

import json
from collections.abc import Iterable
from typing import Any

from bglang.diagnostics import LIMIT, Diagnostic, Severity
from bglang.excerpt import Excerpt, Mark, excerpts
from bglang.source import BUILTIN, Span
from bglang.suggest import suggest

__all__ = ["render", "render_all", "suggest", "to_json"]

_COLORS: dict[str, str] = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m"}
_BOLD, _DIM, _HELP, _PLAIN = "\x1b[1m", "\x1b[34m", "\x1b[32m", "\x1b[0m"


def render_all(diagnostics: Iterable[Diagnostic], color: bool = False) -> str:
    """All messages, at most `LIMIT` of them, and a line that counts them."""
    everything = tuple(diagnostics)
    if not everything:
        return ""
    shown = _chosen(everything)
    blocks = [render(diagnostic, color) for diagnostic in shown]
    if len(shown) < len(everything):
        blocks.append(f"... and {len(everything) - len(shown)} more")
    blocks.append(_count(everything))
    return "\n\n".join(blocks)


def render(diagnostic: Diagnostic, color: bool = False) -> str:
    """One message: what, where, why, what to do."""
    paint = _painter(color)
    tint = _COLORS[diagnostic.severity]
    title = paint(f"{diagnostic.severity}[{diagnostic.code}]", tint)
    lines = [f"{title}: {paint(diagnostic.message, _BOLD)}"]
    found = excerpts(_marks(diagnostic))
    width = max((len(str(row.number)) for e in found for row in e.rows if row.number), default=1)
    for i, excerpt in enumerate(found):
        lines += _excerpt_lines(excerpt, width, diagnostic.component if i == 0 else "", paint, tint)
    if not found and diagnostic.component:
        lines.append(f"in {diagnostic.component}")
    if diagnostic.reason:
        lines.append(diagnostic.reason)
    if diagnostic.hint:
        lines.append(f"{paint('Hint:', _HELP)} {diagnostic.hint}")
    return "\n".join(lines)


def to_json(diagnostics: Iterable[Diagnostic]) -> str:
    """A list of objects, one a message; lines and columns are counted from 1, ends are exclusive."""
    return json.dumps([_as_object(diagnostic) for diagnostic in diagnostics], indent=2, ensure_ascii=False)


# --- parts ------------------------------------------------------------------------------------------------------------


def _chosen(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """The first `LIMIT` messages, errors before others, in their order."""
    errors = [i for i, d in enumerate(diagnostics) if d.severity == "error"]
    others = [i for i, d in enumerate(diagnostics) if d.severity != "error"]
    return tuple(diagnostics[i] for i in sorted((errors + others)[:LIMIT]))


def _count(diagnostics: tuple[Diagnostic, ...]) -> str:
    kinds: tuple[Severity, ...] = ("error", "warning", "note")
    numbers = {kind: sum(d.severity == kind for d in diagnostics) for kind in kinds}
    return ", ".join(f"{n} {kind}{'' if n == 1 else 's'}" for kind, n in numbers.items() if n)


def _marks(diagnostic: Diagnostic) -> list[Mark]:
    marks = [Mark(diagnostic.span, diagnostic.label, "^")]
    marks += [Mark(label.span, label.text, "-") for label in diagnostic.related]
    return [mark for mark in marks if mark.span.source is not BUILTIN]


def _excerpt_lines(excerpt: Excerpt, width: int, component: str, paint: "_Painter", tint: str) -> list[str]:
    blank = " " * width
    where = f"{excerpt.place}, in {component}" if component else f"{excerpt.place}"
    lines = [f"{blank} {paint('┌─', _DIM)} {where}", f"{blank} {paint('│', _DIM)}"]
    for row in excerpt.rows:
        if row.sign:
            text = paint(row.text, tint if row.sign == "^" else _DIM)
            lines.append(f"{blank} {paint('│', _DIM)} {text}".rstrip())
        elif row.number is None:
            lines.append(f"{blank} {paint('·', _DIM)}")
        else:
            number = paint(f"{row.number:>{width}} │", _DIM)
            lines.append(f"{number} {row.text}".rstrip())
    return lines


class _Painter:
    def __call__(self, text: str, code: str) -> str:
        return f"{code}{text}{_PLAIN}"


class _NoPainter(_Painter):
    def __call__(self, text: str, code: str) -> str:
        return text


def _painter(color: bool) -> _Painter:
    return _Painter() if color else _NoPainter()


def _as_object(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "severity": diagnostic.severity,
        "code": diagnostic.code,
        "message": diagnostic.message,
        **_place(diagnostic.span),
        "label": diagnostic.label,
        "related": [{**_place(label.span), "text": label.text} for label in diagnostic.related],
        "reason": diagnostic.reason,
        "hint": diagnostic.hint,
        "component": diagnostic.component,
    }


def _place(span: Span) -> dict[str, Any]:
    if span.source is BUILTIN:
        return {"file": None, "line": None, "column": None, "end_line": None, "end_column": None}
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {"file": span.source.name, "line": line, "column": column, "end_line": end_line, "end_column": end_column}
