"""Characters that begin no token: what they look like, and what to write instead."""

import unicodedata

from bglang.diagnostics import Diagnostic, error
from bglang.source import Span
from bglang.syntax.failure import Failure

_INSTEAD = {
    "→": "->",
    "⇀": "->",
    "⟶": "->",
    "×": "*",
    "·": "*",
    "⋅": "*",
    "∙": "*",
    "∗": "*",
    "÷": "/",
    "∕": "/",
    "–": "-",
    "—": "-",
    "−": "-",
    "‐": "-",
    "≤": "<=",
    "≥": ">=",
    "≠": "<>",
    "＝": "=",
    "≔": ":=",
    "“": '"',
    "”": '"',
    "„": '"',
    "«": '"',
    "»": '"',
    "‘": "'",
    "’": "'",
    "√": "sqrt(...)",
    "∞": "a large number, or `Constants.inf`",
    "，": ",",
    "；": ";",
    "（": "(",
    "）": ")",
}
_ASCII = {
    "#": ("`#` does not begin a comment", "a comment begins with `//`, or stands between `/*` and `*/`."),
    "%": ("`%` is not an operator", "a remainder is `mod(a, b)`; a comment begins with `//`."),
    "&": ("`&` is not an operator", "write `and`."),
    "|": ("`|` is not an operator", "write `or`; a causal stroke is part of an arrow: `->|`, `|->`."),
    "~": ("`~` is not an operator", "write `not` before a condition, `<>` for unequal."),
    "@": ("`@` is not an operator", "a matrix product is `A*B`."),
    "?": ("`?` is not an operator", "a choice is written `if c then a else b`."),
    "$": ("`$` cannot stand in a name", "a name with other characters is written in quotes: `'a$b'`."),
    "`": ("a backquote has no meaning", "a name with other characters is written in quotes: `'a b'`."),
    "\\": ("a backslash has a meaning only inside strings", "a statement goes on on the next line by itself."),
}
_INVISIBLE = {
    "\u00a0": "a no-break space",
    "\u200b": "a zero-width space",
    "\u202f": "a narrow no-break space",
    "\u2060": "a word joiner",
    "\ufeff": "a byte-order mark in the middle of the text",
    "\u3000": "an ideographic space",
}


def bad_token(failure: Failure) -> Diagnostic | None:
    if failure.kind != "BAD":
        return None
    text = failure.text
    if text == "/*":
        return _endless("syntax/unterminated-comment", "comment", ("/*", "*/"), failure.span)
    if text == '"':
        return suspect_string(failure, 4) or _endless("syntax/unterminated-string", "string", ('"', '"'), failure.span)
    if text == "'":
        return _endless("syntax/unterminated-name", "quoted name", ("'", "'"), failure.span)
    if text == "!":
        return _exclamation(failure)
    if text in _ASCII:
        twice = failure.following(1) == text and text in "&|"
        span = Span(failure.span.source, failure.span.start, failure.span.start + (2 if twice else 1))
        message, hint = _ASCII[text]
        return error("syntax/character", message.replace(text, text * 2) if twice else message, span, hint=hint)
    return strange_character(text, failure.span)


def suspect_string(f: Failure, back: int) -> Diagnostic | None:
    """A forgotten quote turns everything up to the next quote into a string: is there such a one just before?"""
    for at in range(f.position, max(-1, f.position - back), -1):
        text, start = f.tokens.texts[at], f.tokens.starts[at]
        if f.tokens.name(at) == "STRING" and "\n" in text:
            return error(
                "syntax/unterminated-string",
                "this string runs over several lines, and what follows it does not fit",
                Span(f.tokens.source, start, f.tokens.source.text.index("\n", start)),
                label="begins here",
                hint='is a closing `"` missing on this line?',
            )
    return None


def _endless(code: str, what: str, marks: tuple[str, str], span: Span) -> Diagnostic:
    return error(
        code,
        f"this {what} has no end",
        span,
        label=f"begins with `{marks[0]}` here",
        reason="A quoted name stands on one line." if marks[0] == "'" else "",
        hint=f"close it with `{marks[1]}`.",
    )


def _exclamation(failure: Failure) -> Diagnostic:
    if failure.following(1) in ("=", "=="):
        span = Span(failure.span.source, failure.span.start, failure.tokens.end(failure.position + 1))
        return error("syntax/character", "`!=` is not an operator", span, hint="unequal is `<>`.")
    return error("syntax/character", "`!` is not an operator", failure.span, hint="write `not`.")


def strange_character(character: str, span: Span) -> Diagnostic:
    """A character that no name, number or operator has."""
    if character in _INVISIBLE:
        message = f"{_INVISIBLE[character]} (U+{ord(character):04X}) stands here"
        return error("syntax/character", message, span, hint="replace it by a plain space.")
    name = unicodedata.name(character, "a control character").lower()
    shown = f"`{character}` ({name}, U+{ord(character):04X})" if character.isprintable() else f"U+{ord(character):04X}"
    hint = "a name with other characters than letters, digits and `_` is written in quotes: `'any text'`."
    if character in _INSTEAD:
        instead = _INSTEAD[character]
        hint = f"write {instead}." if " " in instead else f"write `{instead}`."
    elif not character.isprintable():
        hint = "remove it; is this really a text file?"
    return error("syntax/character", f"{shown} has no meaning here", span, hint=hint)
