"""Source lines with marks under them, for terminals: tabs, wide characters and endless lines included."""

import unicodedata
from itertools import groupby

from bglang.records import dataclass
from bglang.source import Source, Span

TAB = 4
WIDTH = 150
"""Longer lines are shown around their marks only."""
NEAR = 12
"""Places further apart than so many lines get excerpts of their own."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place to point at: `sign` is `^` for the place that is wrong and `-` for those that take part."""

    span: Span
    text: str
    sign: str


@dataclass(frozen=True, slots=True)
class Row:
    """One line of an excerpt: a source line (with its number), marks (with their sign), or a gap (neither)."""

    number: int | None
    text: str
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Neighbouring lines of one source; `place` is the mark that names it."""

    place: Span
    rows: tuple[Row, ...]


def excerpts(marks: list[Mark]) -> list[Excerpt]:
    """The excerpt with the first mark first, then those of marks that are far from it or in other sources."""
    result: list[Excerpt] = []
    rest = list(marks)
    while rest:
        lead = rest[0]
        group = _near(lead, rest)
        rest = [mark for mark in rest if mark not in group]
        result.append(Excerpt(lead.span, tuple(_rows(lead.span.source, group))))
    return result


def _near(lead: Mark, marks: list[Mark]) -> list[Mark]:
    """Marks that belong into one excerpt with `lead`: each at most `NEAR` lines from another one of them."""
    group, lines = [lead], list(_line_range(lead.span))
    others = [mark for mark in marks if mark is not lead and mark.span.source is lead.span.source]
    for mark in sorted(others, key=lambda m: min(abs(line - lines[0]) for line in _line_range(m.span))):
        first, last = _line_range(mark.span)
        if first <= lines[1] + NEAR and last >= lines[0] - NEAR:
            group.append(mark)
            lines = [min(lines[0], first), max(lines[1], last)]
    return group


def _line_range(span: Span) -> tuple[int, int]:
    first = span.source.position(span.start)[0]
    last = span.source.position(max(span.start, span.end - 1))[0]
    return first, last


@dataclass(frozen=True, slots=True)
class _Piece:
    """The part of a mark on one line: columns counted from 0, the end excluded."""

    line: int
    start: int
    end: int
    sign: str
    text: str


def _rows(source: Source, marks: list[Mark]) -> list[Row]:
    pieces = sorted((piece for mark in marks for piece in _pieces(mark)), key=lambda p: (p.line, p.start))
    rows: list[Row] = []
    before: int | None = None
    for line, on_line in groupby(pieces, key=lambda piece: piece.line):
        if before is not None and line == before + 2:
            rows.append(Row(before + 1, _displayed(source.line(before + 1), 0)[0]))
        elif before is not None and line > before + 2:
            rows.append(Row(None, ""))
        rows.extend(_marked_line(line, source.line(line), list(on_line)))
        before = line
    return rows


def _pieces(mark: Mark) -> list[_Piece]:
    """A mark over several lines is shown on its first and its last one; the words stand under the last."""
    source = mark.span.source
    (first, column), last = source.position(mark.span.start), _line_range(mark.span)[1]
    if first == last:
        end = min(column - 1 + max(1, mark.span.end - mark.span.start), max(column, len(source.line(first))))
        return [_Piece(first, column - 1, end, mark.sign, mark.text)]
    last_end = source.position(mark.span.end - 1)[1]
    text = source.line(last)
    indent = len(text) - len(text.lstrip())
    return [
        _Piece(first, column - 1, max(column, len(source.line(first))), mark.sign, ""),
        _Piece(last, min(indent, last_end - 1), last_end, mark.sign, mark.text),
    ]


def _marked_line(number: int, text: str, pieces: list[_Piece]) -> list[Row]:
    left = max(0, pieces[0].start - 30) if len(text) > WIDTH else 0
    shown, columns = _displayed(text, left)
    rows = [Row(number, shown)]
    for piece in pieces:
        start = columns[min(max(piece.start - left, 0), len(columns) - 1)]
        end = columns[min(max(piece.end - left, 0), len(columns) - 1)]
        marks = " " * start + piece.sign * max(1, end - start)
        rows.append(Row(None, f"{marks} {piece.text}".rstrip(), piece.sign))
    return rows


def _displayed(text: str, left: int) -> tuple[str, list[int]]:
    """A line as a terminal shows it, from character `left` on, and the column of each character and of the end."""
    shown: list[str] = ["…"] if left else []
    column = len(shown)
    columns: list[int] = []
    cropped = text[left : left + WIDTH] if len(text) > WIDTH else text
    for character in cropped:
        columns.append(column)
        if character == "\t":
            piece, width = " " * (TAB - column % TAB), TAB - column % TAB
        elif unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character == "\ufeff":
            piece, width = "\N{REPLACEMENT CHARACTER}", 1
        else:
            piece, width = character, _width(character)
        shown.append(piece)
        column += width
    columns.append(column)
    if left + WIDTH < len(text):
        shown.append("…")
    return "".join(shown), columns


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
