"""What is written between quotes, and how it is written back."""

import re

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ESCAPED = re.compile(r"\\([\s\S])")
_PLAIN_NAME = re.compile(r"[^\W\d][\w\u0300-\u036f]*")
_QUOTED_NAME = re.compile(r"'([^'\\\n]|\\.)+'")

RESERVED = frozenset(
    """algorithm and annotation block bond bonds break class connector constant constrainedby discrete domain
    each element else elseif elsewhen encapsulated end enumeration equation extends false final for function if
    import in input loop macro model not or output package parameter partial port protected public record
    redeclare replaceable return then true type when while within""".split()  # noqa: SIM905
)


def string_value(literal: str) -> str:
    """The text of a string literal, quotes removed and escapes carried out."""
    return _unescape(literal[1:-1]) if "\\" in literal else literal[1:-1]


def identifier(text: str) -> str:
    """The name that an identifier token stands for: quotes are no part of it."""
    return _unescape(text[1:-1]) if text[0] == "'" else text


def quoted(name: str) -> str:
    """A name as it must be written in a source: in quotes where it is no plain identifier and has none yet."""
    if _QUOTED_NAME.fullmatch(name):
        return name
    if _PLAIN_NAME.fullmatch(name) and name not in RESERVED and (name.isascii() or name.isidentifier()):
        return name
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def literal(value: str) -> str:
    """A string as it is written in a source."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), text)
