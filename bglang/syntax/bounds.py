"""Limits and characters, checked on the tokens before anything is built from them."""

import unicodedata
from collections.abc import Iterator

from bglang.diagnostics import Diagnostic, error
from bglang.limits import Limits, raise_hint
from bglang.source import Source, Span
from bglang.syntax.lexer import Tokens
from bglang.syntax.tables import load_tables

_OPERATORS = frozenset(
    {"OR", "AND", "PLUS", "MINUS", "TIMES", "DIVIDE", "DOT_PLUS", "DOT_MINUS", "DOT_TIMES", "DOT_DIVIDE", "_JOIN"}
)
_OPEN, _CLOSE, _SEPARATE, _OPERATE = range(4)


def check_text(source: Source, limits: Limits) -> Diagnostic | None:
    """What is wrong with the text as a whole."""
    text = source.text
    if len(text) > limits.file_bytes:
        return error(
            "limits/file",
            f"the file has {len(text)} characters; at most {limits.file_bytes} are read",
            Span(source, 0, 0),
            hint=raise_hint("file_bytes", len(text)),
        )
    zero = text.find("\0")
    if zero >= 0:
        return error(
            "syntax/binary",
            "this is not a text file",
            Span(source, zero, zero + 1),
            label="a zero byte",
            reason="A source file is text in UTF-8.",
        )
    return None


def check_tokens(tokens: Tokens, limits: Limits) -> Iterator[Diagnostic]:
    """What is too long or nested too deeply, and characters that no name may have."""
    if max(map(len, tokens.texts)) > min(limits.identifier, limits.number, limits.string):
        yield from _lengths(tokens, limits)
    if not tokens.source.text.isascii():
        yield from _characters(tokens)
    yield from _nesting(tokens, limits)


def too_deep(tokens: Tokens, position: int, limits: Limits) -> Diagnostic:
    return error(
        "limits/nesting",
        f"this is nested more than {limits.nesting} deep",
        Span(tokens.source, tokens.starts[position], tokens.end(position)),
        hint=raise_hint("nesting", 2 * limits.nesting),
    )


def _lengths(tokens: Tokens, limits: Limits) -> Iterator[Diagnostic]:
    allowed = {
        "IDENT": ("limits/identifier", "a name", limits.identifier),
        "NUMBER": ("limits/number", "a number", limits.number),
        "STRING": ("limits/string", "a string", limits.string),
    }
    for i, text in enumerate(tokens.texts):
        code, what, limit = allowed.get(tokens.name(i), ("", "", len(text)))
        if len(text) > limit:
            start = tokens.starts[i]
            yield error(
                code,
                f"{what} of {len(text)} characters is too long; at most {limit} are allowed",
                Span(tokens.source, start, start + min(20, len(text))),
                hint=raise_hint(code.removeprefix("limits/"), len(text)),
            )
            return


def _characters(tokens: Tokens) -> Iterator[Diagnostic]:
    """Python's pattern for letters and digits takes more than names may have, such as `²`."""
    from bglang.syntax.errors_characters import strange_character

    ident = load_tables().terminals.index("IDENT")
    for i, kind in enumerate(tokens.kinds):
        text = tokens.texts[i]
        if kind != ident or text.isascii() or text[0] == "'":
            continue
        if not unicodedata.normalize("NFC", text).isidentifier():
            offset = next(j for j in range(len(text)) if not ("a" + text[: j + 1]).isidentifier())
            start = tokens.starts[i] + offset
            yield strange_character(text[offset], Span(tokens.source, start, start + 1))


def _roles() -> dict[int, int]:
    terminals = load_tables().terminals
    roles = {terminals.index(name): _OPERATE for name in _OPERATORS}
    roles |= {terminals.index(name): _OPEN for name in ("LPAR", "LSQB", "LBRACE")}
    roles |= {terminals.index(name): _CLOSE for name in ("RPAR", "RSQB", "RBRACE")}
    return roles | {terminals.index(name): _SEPARATE for name in ("COMMA", "SEMICOLON")}


def _nesting(tokens: Tokens, limits: Limits) -> Iterator[Diagnostic]:
    """Brackets inside each other, and operators in a row, which nest in the tree as well."""
    roles = _roles()
    outer: list[int] = []
    count = 0
    for i, kind in enumerate(tokens.kinds):
        role = roles.get(kind)
        if role is None:
            continue
        if role == _OPERATE:
            count += 1
            if count > limits.operators:
                yield error(
                    "limits/operators",
                    f"an expression with more than {limits.operators} operators in a row is too long",
                    Span(tokens.source, tokens.starts[i], tokens.end(i)),
                    hint=f"use `sum(...)`, or split it; {raise_hint('operators', 10 * limits.operators)}",
                )
                return
        elif role == _SEPARATE:
            count = 0
        elif role == _OPEN:
            outer.append(count)
            count = 0
            if len(outer) > limits.nesting:
                yield too_deep(tokens, i, limits)
                return
        elif outer:
            count = outer.pop()
