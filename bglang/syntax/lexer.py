"""From text to tokens: one pattern made from the grammar, one pass over the text."""

import re
from collections.abc import Callable, Iterator
from functools import cache

from bglang.records import dataclass
from bglang.source import Source
from bglang.syntax.tables import BAD_TOKEN, load_tables


@dataclass(frozen=True, slots=True)
class Tokens:
    """All tokens of a source, as columns, the last one being the end of the file."""

    source: Source
    kinds: list[int]
    starts: list[int]
    texts: list[str]

    def end(self, index: int) -> int:
        """Where a token ends; for -1, the token before the first, the start of the file."""
        return self.starts[index] + len(self.texts[index]) if index >= 0 else 0

    def name(self, index: int) -> str:
        """The grammar's name of a token's kind."""
        kind = self.kinds[index]
        return "BAD" if kind == BAD_TOKEN else load_tables().terminals[kind]

    def __len__(self) -> int:
        return len(self.kinds)


@cache
def _finder() -> Callable[[str, int], Iterator[re.Match[str]]]:
    return re.compile(load_tables().pattern).finditer


def lex(source: Source) -> Tokens:
    """All tokens; what is none becomes a `BAD_TOKEN` of one or two characters, which no rule of the grammar accepts."""
    tables = load_tables()
    groups, words = tables.groups, tables.words
    ident, end_of_file = tables.terminals.index("IDENT"), 0
    kinds: list[int] = []
    starts: list[int] = []
    texts: list[str] = []
    text = source.text
    for match in _finder()(text, 1 if text.startswith("\ufeff") else 0):
        group = match.lastindex
        assert group is not None
        kind = groups[group]
        word = match[group]
        if kind == ident:
            kind = words.get(word, ident)
        kinds.append(kind)
        starts.append(match.start(group))
        texts.append(word)
        if kind == end_of_file:
            break
        if kind == BAD_TOKEN and word == "/*":  # a comment without end: the rest of the text is comment
            kinds.append(end_of_file)
            starts.append(len(text))
            texts.append("")
            break
    return Tokens(source, kinds, starts, texts)
