"""One logical line: blanks between its tokens, and breaks where it is too long."""

from collections.abc import Callable

from bglang.records import dataclass
from bglang.syntax.lexer import Tokens
from bglang.syntax.text import RESERVED

WIDTH = 100
CONTINUATION = "    "
_TIGHT = frozenset({"*", "/", "^"})
_SPACED = frozenset(
    {"+", "-", ".+", ".-", ".*", "./", ".^", "<", "<=", ">", ">=", "==", "<>", "=", ":=", "->", "->|", "|->"}
)
_OPERATORS = _TIGHT | _SPACED
_OPEN, _CLOSE = frozenset({"(", "[", "{"}), frozenset({")", "]", "}"})
_LIKE_FUNCTIONS = frozenset({"annotation", "enumeration"})
_NEVER = 1_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A token or a comment, the blank before it, and how welcome a line break before it is (`depth`: small is good)."""

    text: str
    gap: str
    depth: int
    forced: bool = False
    """a break must stand before it"""
    ends_line: bool = False
    """a break must follow it: a comment up to the end of the line"""

    @classmethod
    def comment(cls, text: str, own_line: bool) -> "Piece":
        return cls(text, " ", _NEVER, own_line, text.startswith("//"))


def make_pieces(tokens: Tokens, first: int, last: int, comments: Callable[[int], list[Piece]]) -> list[Piece]:
    """The tokens of a logical line with everything that is known about the places between them."""
    pieces: list[Piece] = []
    brackets: list[str] = []
    in_head = False
    for i in range(first, last + 1):
        text = tokens.texts[i]
        if i > first:
            pieces += comments(i)
        if text in _CLOSE and brackets:
            brackets.pop()
        before = tokens.texts[i - 1] if i > first else ""
        tight = bool(brackets and brackets[-1] == "subscript") or in_head
        gap = _gap(tokens, first, i, tight) if i > first else ""
        depth = _break_depth(text, before, len(brackets), tight)
        pieces.append(Piece(text, gap, depth, _is_row(tokens, i, before, brackets)))
        if text in _OPEN:
            brackets.append("subscript" if text == "[" and _is_value_end(tokens, i - 1, first) else text)
        in_head = (in_head or text == "in") and text != "loop" and not (text == "," and not brackets)
    return pieces


def _gap(tokens: Tokens, first: int, i: int, tight: bool) -> str:
    """The blank between token i and the one before it."""
    text, before = tokens.texts[i], tokens.texts[i - 1]
    if before in _OPEN or text in _CLOSE or text in (",", ";"):
        return ""
    if text == "." or before == ".":
        return "" if before == "." or _is_value_end(tokens, i - 1, first) else _blank_before_value(tokens, i, first)
    if before in (",", ";"):
        return " "
    if text == ":":
        return ""
    if before == ":":
        return " " if tokens.texts[first] == "bond" and tokens.texts[first + 1 : i - 1].count(":") == 0 else ""
    if text in ("(", "[") and (_is_value_end(tokens, i - 1, first) or before in _LIKE_FUNCTIONS):
        return ""
    if text == "{" and before == ".":
        return ""
    if text in _OPERATORS and not _is_unary(tokens, i, first):
        if _ends_with_dot(tokens, i - 1):
            return " "
        is_import = text == ".*" and tokens.texts[first] == "import"
        return "" if is_import or text in _TIGHT or (tight and text in "+-") else " "
    return _blank_before_value(tokens, i, first, tight)


def _blank_before_value(tokens: Tokens, i: int, first: int, tight: bool = False) -> str:
    """The blank after the previous token, which is an operator or a word."""
    before = tokens.texts[i - 1]
    if before in _OPERATORS:
        is_tight = before in _TIGHT and not _ends_with_dot(tokens, i - 2)
        return "" if is_tight or _is_unary(tokens, i - 1, first) or (tight and before in "+-") else " "
    return " "


def _ends_with_dot(tokens: Tokens, i: int) -> bool:
    """`2. * x` needs its blank: `2.*x` is something else."""
    return tokens.name(i) == "NUMBER" and tokens.texts[i][-1] == "."


def _is_value_end(tokens: Tokens, i: int, first: int) -> bool:
    """Whether a name, a number or a bracket ends with this token, so that an operator or a subscript may follow."""
    if i < first:
        return False
    text = tokens.texts[i]
    return text in _CLOSE or tokens.name(i) in ("IDENT", "NUMBER", "STRING", "END_VALUE") or text in ("true", "false")


def _is_unary(tokens: Tokens, i: int, first: int) -> bool:
    return tokens.texts[i] in ("+", "-", ".+", ".-") and not _is_value_end(tokens, i - 1, first)


def _break_depth(text: str, before: str, depth: int, tight: bool) -> int:
    """How deep inside brackets a break before this token would be; `_NEVER` where there is no good place."""
    if before == "," or (before == ";" and depth):
        return 2 * depth
    if text in ("and", "or", "then", "else", "elseif", "if") or before in ("->", "->|", "|->", "=", ":="):
        return 2 * depth + 1
    if text in ("+", "-") and not tight and before not in _OPERATORS | _OPEN and before not in RESERVED:
        return 2 * depth + 1
    if text.startswith('"') and before not in _OPERATORS | _OPEN:
        return 2 * depth
    return _NEVER


def _is_row(tokens: Tokens, i: int, before: str, brackets: list[str]) -> bool:
    """Whether the author began a row of a matrix or of a nested array on a new line here."""
    if not brackets or brackets[-1] not in ("[", "{"):
        return False
    between_rows = before == ";" or (before == "," and tokens.texts[i - 2] in _CLOSE and tokens.texts[i] in ("{", "["))
    return between_rows and "\n" in tokens.source.text[tokens.end(i - 1) : tokens.starts[i]]


# --- breaking ---------------------------------------------------------------------------------------------------------


def lay_out(pieces: list[Piece], indent: str) -> str:
    """The logical line as text, in as few lines as the width allows."""
    lines: list[str] = []
    start = 0
    for i in range(1, len(pieces) + 1):
        if i == len(pieces) or pieces[i].forced or pieces[i - 1].ends_line:
            lines += _wrap(pieces[start:i], indent if not lines else indent + CONTINUATION, indent + CONTINUATION)
            start = i
    return "\n".join(lines)


def _wrap(pieces: list[Piece], first_indent: str, next_indent: str) -> list[str]:
    """Break greedily: as late as possible at the shallowest place that keeps the line short enough."""
    lines: list[str] = []
    indent = first_indent
    while pieces:
        count = _fitting(pieces, len(indent))
        text = "".join((piece.gap if i else "") + piece.text for i, piece in enumerate(pieces[:count]))
        lines.append(indent + text)
        pieces, indent = pieces[count:], next_indent
    return lines


def _fitting(pieces: list[Piece], column: int) -> int:
    """How many pieces go on the line that begins at this column."""
    best, best_depth = 0, _NEVER
    for i, piece in enumerate(pieces):
        if i and piece.depth < _NEVER:
            if column > WIDTH and best:
                break
            if piece.depth <= best_depth or column > WIDTH:
                best, best_depth = i, piece.depth
        column += len(piece.gap if i else "") + len(piece.text.split("\n", 1)[0])
        if column > WIDTH and best:
            return best
    return len(pieces)
