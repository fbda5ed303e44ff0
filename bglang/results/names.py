"""Choosing variables by name: `mass.p, cell[*].c.q, v?.f`.

Only `*` and `?` are special, so that `[1]` stays an index; a comma separates, except inside brackets and quotes.
"""

import re
from collections.abc import Iterable, Sequence

from bglang.diagnostics import UsageError


def split_patterns(text: str) -> list[str]:
    """The parts of a comma-separated list; the comma of `o[2,3]` or of `'a, b'.p` does not separate."""
    parts, depth, quoted, part = list[str](), 0, False, ""
    for character in text:
        if character == "'":
            quoted = not quoted
        elif not quoted:
            depth += (character == "[") - (character == "]")
        if character == "," and depth <= 0 and not quoted:
            parts.append(part)
            part = ""
        else:
            part += character
    parts.append(part)
    return [p.strip() for p in parts if p.strip()]


def _matcher(pattern: str) -> re.Pattern[str]:
    pieces = [".*" if c == "*" else "." if c == "?" else re.escape(c) for c in tight(pattern)]
    return re.compile("".join(pieces), re.DOTALL)


def tight(name: str) -> str:
    """A name as results write it: no blanks outside quotes (`o[2, 3]` is `o[2,3]`)."""
    if " " not in name:
        return name
    pieces = name.split("'")
    return "'".join(piece if i % 2 else piece.replace(" ", "") for i, piece in enumerate(pieces))


def select(names: Sequence[str], patterns: str | Iterable[str]) -> list[int]:
    """Numbers of the chosen names, each once: in the order of the patterns, within a pattern in the order of the
    model.

    A pattern that fits nothing is an error that proposes the nearest name."""
    wanted = [patterns] if isinstance(patterns, str) else list(patterns)
    chosen = dict[int, None]()
    position = {name: i for i, name in enumerate(names)}
    for pattern in (part for text in wanted for part in split_patterns(text)):
        exact = position.get(tight(pattern))
        if exact is not None:
            chosen[exact] = None
            continue
        found: list[int] = []
        if "*" in pattern or "?" in pattern:
            fits = _matcher(pattern).fullmatch
            found = [i for i, name in enumerate(names) if fits(name)]
        if not found:
            raise UsageError(unknown(pattern, names))
        chosen.update(dict.fromkeys(found))
    return list(chosen)


def unknown(name: str, names: Sequence[str]) -> str:
    """The message for a name that the result does not hold."""
    import difflib

    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    meant = f"; did you mean `{near[0]}`?" if near else ""
    what = "no variable fits" if "*" in name or "?" in name else "there is no variable"
    return f"{what} `{name}`{meant}"
