"""Source texts and places in them.

A `Span` is how everything in bglang remembers where it came from: AST nodes, elements, bonds, equations and kernel
rows all hold one, so that a failure at any stage can show the line of source that is responsible.
"""

from bisect import bisect_right

from bglang.records import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One source text and the name under which it is shown to the user."""

    name: str
    text: str
    _line_starts: list[int] = field(default_factory=list[int], repr=False)

    def line_starts(self) -> list[int]:
        """Offset of the first character of every line, computed when first needed."""
        if not self._line_starts:
            self._line_starts.append(0)
            self._line_starts.extend(i + 1 for i, c in enumerate(self.text) if c == "\n")
        return self._line_starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        starts = self.line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line (counted from 1), without its end."""
        starts = self.line_starts()
        end = starts[number] if number < len(starts) else len(self.text) + 1
        return self.text[starts[number - 1] : end - 1].rstrip("\r")


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """The characters `start` to `end` (exclusive) of a source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def to(self, other: "Span") -> "Span":
        """The span from the beginning of this one to the end of another one in the same source."""
        return Span(self.source, self.start, max(self.end, other.end))

    def __str__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"


BUILTIN = Source("<bglang>", "")
"""The source of what no user wrote; spans into it are never shown as excerpts."""

NOWHERE = Span(BUILTIN, 0, 0)
