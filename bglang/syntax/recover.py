"""Going on after a syntax error where that is safe, so that one run shows several mistakes and never a cascade.

A forgotten semicolon is put in.  Any other bad statement is dropped: the parser goes back to the place where the
statement began and on to the next one.  Where a class or a block would lose its head that way, nothing after it could
be trusted, and parsing ends.
"""

from bisect import bisect_left

from bglang.diagnostics import Diagnostic
from bglang.syntax.errors_habits import right_word
from bglang.syntax.failure import BLOCKS, BRACKETS, CLASSES, HEADINGS, accepts, may_begin_item, openings
from bglang.syntax.machine import Machine
from bglang.syntax.tables import load_tables
from bglang.syntax.text import RESERVED
from bglang.syntax.tree_expressions import ExpressionBuilder

_FINAL = frozenset(
    {
        "syntax/missing-end",
        "syntax/unterminated-comment",
        "syntax/unterminated-string",
        "syntax/unterminated-name",
        "syntax/wrong-end",
        "syntax/head",
    }
)
_CLOSERS = frozenset(BRACKETS.values())
_STOPS = HEADINGS | {"end"}


def recover(machine: Machine, builder: ExpressionBuilder, found: Diagnostic) -> bool:
    """Bring the parser into a state from which it can go on; False where it cannot."""
    if found.code == "syntax/missing-semicolon":
        _insert_semicolon(machine, builder, found.span.start)
        return True
    if found.code == "syntax/keyword":  # read as a name it may have been a mistake of another kind
        builder.problems[:] = [other for other in builder.problems if other.span.start != found.span.start]
    if found.code == "syntax/keyword" and _replace_word(
        machine, builder, found.span.start, right_word(found.span.text)
    ):
        return True
    if found.code == "syntax/superfluous":
        _drop_token(machine)
        return True
    if found.code in _FINAL or machine.tokens.kinds[machine.position] == 0:
        return False
    if machine.tokens.texts[machine.position] == "#":
        _drop_line(machine)
        return True
    return _drop_statement(machine, builder)


def _insert_semicolon(machine: Machine, builder: ExpressionBuilder, place: int) -> None:
    """Where it is missing; if that is further back, the statement is read again."""
    tokens = machine.tokens
    at = bisect_left(tokens.starts, place)
    if at < machine.position:
        level = _statement_level(machine)
        machine.position = bisect_left(tokens.starts, machine.starts[level])
        _cut(machine, builder, level)
    tokens.kinds.insert(at, load_tables().terminals.index("SEMICOLON"))
    tokens.starts.insert(at, place)
    tokens.texts.insert(at, "")


def _drop_token(machine: Machine) -> None:
    """One that is too much."""
    tokens, at = machine.tokens, machine.position
    del tokens.kinds[at], tokens.starts[at], tokens.texts[at]


def _replace_word(machine: Machine, builder: ExpressionBuilder, place: int, word: str) -> bool:
    """Read a misspelt word as the one that was meant, from the beginning of its statement."""
    if word not in RESERVED:
        return False
    tokens, level = machine.tokens, _statement_level(machine)
    at = bisect_left(tokens.starts, place)
    if at < machine.position:
        first = bisect_left(tokens.starts, machine.starts[level]) if level >= 0 else machine.position
        if first > at:
            return False
        machine.position = first
        _cut(machine, builder, level)
    tokens.kinds[at], tokens.texts[at] = load_tables().words[word], word
    return True


def _drop_line(machine: Machine) -> None:
    """What was meant as a comment."""
    tokens, at = machine.tokens, machine.position
    line_end = tokens.source.text.find("\n", tokens.starts[at])
    last = at + 1
    while tokens.kinds[last] != 0 and (line_end < 0 or tokens.starts[last] < line_end):
        last += 1
    del tokens.kinds[at:last], tokens.starts[at:last], tokens.texts[at:last]


def _drop_statement(machine: Machine, builder: ExpressionBuilder) -> bool:
    level = _statement_level(machine)
    dropped = openings(machine, level)
    if level < 0 or any(opening.word in CLASSES or opening.word in BLOCKS for opening in dropped):
        return False
    inside_if = "if" in machine.values[level:]
    _cut(machine, builder, level)
    before, after = machine.position, _next_statement(machine, len(dropped), inside_if)
    machine.position = before if after is None else after
    if after is None:
        return False
    return after > before or accepts(load_tables(), machine.states, machine.tokens.kinds[before])


def _statement_level(machine: Machine) -> int:
    """The height of the stack where the current statement began; -1 if no statement can stand here at all."""
    level = len(machine.states) - 1
    while level >= 0 and not may_begin_item(machine.states[level]):
        level -= 1
    return level


def _cut(machine: Machine, builder: ExpressionBuilder, level: int) -> None:
    """Forget the statement that began at this height, with what was doubtful in it."""
    if level < len(machine.starts):
        start = machine.starts[level]
        builder.open_ends[:] = [span for span in builder.open_ends if span.start < start]
        for place in [place for place in builder.doubtful if place >= start]:
            del builder.doubtful[place]
    del machine.states[level + 1 :], machine.values[level:], machine.starts[level:]


def _next_statement(machine: Machine, depth: int, inside_if: bool) -> int | None:
    """After the semicolon that ends the bad statement, or before a word that cannot be inside of one.

    None if it holds the head of a block, so that what follows is the block's inside."""
    texts, kinds, at = machine.tokens.texts, machine.tokens.kinds, machine.position
    while kinds[at] != 0:
        text = texts[at]
        if text in BRACKETS:
            depth += 1
        elif text in _CLOSERS:
            depth -= 1
        elif text in _STOPS and machine.tokens.name(at) not in ("IDENT", "END_VALUE"):
            return at
        elif text == "if":
            inside_if = True
        elif text == "loop" or (text == "then" and not inside_if):
            return None
        elif text == ";" and (depth <= 0 or _ends_line(machine, at)):
            return at + 1
        at += 1
    return at


def _ends_line(machine: Machine, at: int) -> bool:
    """A semicolon at the end of a line ends a statement even if a bracket is open."""
    text, end = machine.tokens.source.text, machine.tokens.starts[at] + 1
    return text[end : machine.tokens.starts[at + 1]].lstrip(" \t\r").startswith(("\n", "//"))
