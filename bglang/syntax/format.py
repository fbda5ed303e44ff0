"""The formatter: one canonical layout for every source, made from its tokens so that nothing is lost.

Two spaces per level, one statement a line, headings and `end` at the level of their class, blank lines kept (one at
most), comments kept where they stand: on lines of their own, or behind what they follow.  Line breaks inside of
statements are made anew where a line would be too long; only rows of matrices and of nested arrays stay where their
author broke them.
"""

import re
from collections.abc import Iterator

from bglang.diagnostics import Report
from bglang.records import dataclass
from bglang.source import Source
from bglang.syntax.format_lines import Piece, lay_out, make_pieces
from bglang.syntax.lexer import Tokens, lex
from bglang.syntax.parse import parse

INDENT = "  "
_COMMENT = re.compile(r"//[^\n]*|/\*[\s\S]*?\*/")
_BLOCKS = frozenset({"if", "for", "when", "while"})
_HEADINGS = frozenset({"PUBLIC", "PROTECTED", "BONDS", "EQUATION", "ALGORITHM", "INITIAL"})
_KINDS = frozenset(
    {"MODEL", "ELEMENT", "BLOCK", "MACRO", "PACKAGE", "DOMAIN", "FUNCTION", "TYPE", "CLASS", "CONNECTOR", "RECORD"}
)
_CLASS_PREFIXES = frozenset({"FINAL", "REPLACEABLE", "REDECLARE", "PARTIAL", "ENCAPSULATED"})
_OPEN, _CLOSE = frozenset({"(", "[", "{"}), frozenset({")", "]", "}"})


@dataclass(frozen=True, slots=True)
class Comment:
    text: str
    own_line: bool
    blank_before: bool


@dataclass(frozen=True, slots=True)
class Unit:
    """What becomes one logical line: the tokens `first` to `last`, and what it does to the level of what follows."""

    first: int
    last: int
    level: int
    opens: bool


def format_source(text: str, name: str = "<text>") -> str:
    """The text in canonical layout; SourceError where it cannot be parsed."""
    source = Source(name, text)
    report = Report()
    parse(source, report)
    report.raise_if_errors()
    return _Writer(lex(source)).write()


class _Writer:
    def __init__(self, tokens: Tokens):
        self.tokens = tokens
        self.lines: list[str] = []

    def write(self) -> str:
        for unit in _units(self.tokens):
            self._comments_before(unit)
            pieces = make_pieces(self.tokens, unit.first, unit.last, self._comments_inside)
            self._add(lay_out(pieces, INDENT * unit.level))
        return "\n".join(line.rstrip() for line in self.lines).strip("\n") + "\n"

    def _add(self, text: str) -> None:
        self.lines.append(text)

    def _comments_before(self, unit: Unit) -> None:
        """Comments between this unit and the one before: behind that one, or on lines of their own."""
        comments, blank = trivia(self.tokens, unit.first)
        ends = self.tokens.name(unit.first) in ("END", "$END")
        for comment in comments:
            if not comment.own_line and self.lines and unit.first > 0:
                self.lines[-1] += f"  {comment.text}"
                continue
            if comment.blank_before:
                self._blank()
            inner = unit.level + 1 if ends and unit.first < len(self.tokens) - 1 else unit.level
            self._add(INDENT * inner + comment.text)
        if blank:
            self._blank()

    def _blank(self) -> None:
        if self.lines and self.lines[-1]:
            self._add("")

    def _comments_inside(self, index: int) -> list[Piece]:
        """Comments before a token in the middle of a statement."""
        return [Piece.comment(comment.text, comment.own_line) for comment in trivia(self.tokens, index)[0]]


def trivia(tokens: Tokens, index: int) -> tuple[list[Comment], bool]:
    """The comments between a token and the one before it, and whether a blank line stands before the token itself."""
    text = tokens.source.text
    start = tokens.end(index - 1) if index else (1 if text.startswith("\ufeff") else 0)
    between = text[start : tokens.starts[index]]
    comments: list[Comment] = []
    at = 0
    for found in _COMMENT.finditer(between):
        newlines = between.count("\n", at, found.start())
        own_line = newlines > 0 or (index == 0 and not comments) or (bool(comments) and comments[-1].text[:2] == "//")
        comments.append(Comment(_clean(found[0]), own_line, newlines > 1))
        at = found.end()
    return comments, between.count("\n", at) > 1


def _clean(comment: str) -> str:
    return "\n".join(line.rstrip() for line in comment.split("\n"))


def _units(tokens: Tokens) -> Iterator[Unit]:
    """The logical lines of a file in their order, the end of the file being the last."""
    level, at = 0, 0
    while True:
        name = tokens.name(at)
        if name == "$END":
            yield Unit(at, at, 0, False)
            return
        unit = _unit(tokens, at, name, level)
        yield unit
        level = unit.level + 1 if unit.opens else unit.level
        at = unit.last + 1


def _unit(tokens: Tokens, at: int, name: str, level: int) -> Unit:
    if name == "END":
        return Unit(at, _statement_end(tokens, at), level - 1, False)
    if name in _HEADINGS:
        return Unit(at, at + 1 if name == "INITIAL" else at, level - 1, True)
    if name == "ELSE":
        return Unit(at, at, level - 1, True)
    if name in ("ELSEIF", "ELSEWHEN"):
        return Unit(at, _block_head_end(tokens, at + 1), level - 1, True)
    if tokens.texts[at] in _BLOCKS:
        return Unit(at, _block_head_end(tokens, at + 1), level, True)
    head_end = _class_head_end(tokens, at)
    if head_end is not None:
        return Unit(at, head_end, level, True)
    return Unit(at, _statement_end(tokens, at), level, False)


def _statement_end(tokens: Tokens, at: int) -> int:
    depth = 0
    while True:
        text = tokens.texts[at]
        if text in _OPEN:
            depth += 1
        elif text in _CLOSE:
            depth -= 1
        elif text == ";" and depth == 0:
            return at
        at += 1


def _block_head_end(tokens: Tokens, at: int) -> int:
    """The `then` or `loop` that ends the head of a block; an `if` in the condition has a `then` of its own."""
    inner = 0
    while True:
        name = tokens.name(at)
        if name in ("IF", "ELSEIF"):
            inner += 1
        elif name == "LOOP" or (name == "THEN" and inner == 0):
            return at
        elif name == "THEN":
            inner -= 1
        at += 1


def _class_head_end(tokens: Tokens, at: int) -> int | None:
    """The last token of `partial model A "words"` or `macro M(node a) "words"`; None if no long class begins here."""
    while tokens.name(at) in _CLASS_PREFIXES:
        at += 1
    if tokens.name(at) not in _KINDS or tokens.texts[at + 2] == "=":
        return None
    at += 1
    if tokens.texts[at + 1] == "(" and tokens.texts[at - 1] in ("macro", "domain"):
        depth = 0
        while True:
            at += 1
            depth += (tokens.texts[at] in _OPEN) - (tokens.texts[at] in _CLOSE)
            if depth == 0:
                break
    if tokens.name(at + 1) == "STRING":
        at += 1
        while tokens.name(at + 1) == "_JOIN":
            at += 2
    return at
