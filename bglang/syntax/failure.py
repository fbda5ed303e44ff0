"""What is known where the parser cannot go on: the token that does not fit, what would fit, what is still open."""

from functools import cached_property

from bglang.diagnostics import Label
from bglang.records import dataclass
from bglang.source import Span
from bglang.syntax.lexer import Tokens
from bglang.syntax.machine import Machine
from bglang.syntax.tables import Tables, load_tables
from bglang.syntax.text import identifier

BRACKETS = {"(": ")", "[": "]", "{": "}"}
BLOCKS = frozenset({"if", "for", "when", "while"})
CLASSES = frozenset({"model", "element", "block", "macro", "package", "domain", "function", "type", "class"})
HEADINGS = frozenset({"public", "protected", "bonds", "equation", "algorithm", "initial"})
STARTERS = HEADINGS | CLASSES
STARTERS |= {"end", "extends", "import", "annotation", "bond", "when", "while", "break", "parameter", "constant"}
STARTERS |= {"discrete", "input", "output", "port", "final", "replaceable", "redeclare", "partial", "encapsulated"}
"""Words that only begin something new, so that what stands before them must be complete."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Something that is not closed yet: a bracket, a block or a class (with its name)."""

    word: str
    start: int
    level: int
    """its place on the parser's stack"""
    name: str = ""


class Failure:
    """A snapshot of the parser at the token that does not fit."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.tokens: Tokens = machine.tokens
        self.position = machine.position
        self.text = self.tokens.texts[self.position]
        self.kind = self.tokens.name(self.position)
        self.before = self.tokens.texts[self.position - 1] if self.position else ""
        self.before_kind = self.tokens.name(self.position - 1) if self.position else ""

    def token_span(self, index: int) -> Span:
        """A token's place; negative numbers count back from the one that does not fit, as does 0."""
        at = max(0, self.position + index)
        return Span(self.tokens.source, self.tokens.starts[at], self.tokens.end(at))

    @property
    def span(self) -> Span:
        return self.token_span(0)

    @property
    def after_previous(self) -> Span:
        """The place right after the previous token, where a missing one belongs."""
        end = self.tokens.end(self.position - 1)
        return Span(self.tokens.source, end, end)

    def following(self, count: int) -> str:
        """The text of a token further on, or nothing after the end."""
        at = self.position + count
        return self.tokens.texts[at] if 0 <= at < len(self.tokens) else ""

    @cached_property
    def starts_line(self) -> bool:
        """Whether the token stands on a later line than the one before it."""
        between = self.tokens.source.text[self.tokens.end(self.position - 1) : self.span.start]
        return self.position == 0 or "\n" in between or self.kind == "$END"

    @cached_property
    def touches(self) -> bool:
        """Whether nothing stands between the token and the one before it."""
        return self.position > 0 and self.tokens.end(self.position - 1) == self.span.start

    @cached_property
    def expected(self) -> frozenset[str]:
        """The terminals that could stand here."""
        tables = load_tables()
        row = tables.actions[self.machine.states[-1]]
        return frozenset(tables.terminals[kind] for kind in row if accepts(tables, self.machine.states, kind))

    @cached_property
    def openings(self) -> list[Opening]:
        """What is still open, the innermost last."""
        return openings(self.machine, 0)

    @property
    def innermost(self) -> Opening | None:
        return self.openings[-1] if self.openings else None

    def opening_label(self, opening: Opening, text: str) -> Label:
        end = opening.start + len(opening.word)
        return Label(Span(self.tokens.source, opening.start, end), text)


def openings(machine: Machine, above: int) -> list[Opening]:
    """What has been opened on the stack above a level and is not closed.

    The text at a value's place tells the word `if` from a description that happens to be "if"."""
    text = machine.tokens.source.text
    found: list[Opening] = []
    for level in range(above, len(machine.values)):
        word, start = machine.values[level], machine.starts[level]
        if not isinstance(word, str) or not text.startswith(word, start):
            continue
        if word in BRACKETS or (word in BLOCKS and may_begin_item(machine.states[level])):
            found.append(Opening(word, start, level))
        elif word in CLASSES:
            found.append(Opening(word, start, level, _class_name(machine, level + 1)))
        elif word in BRACKETS.values() and found and BRACKETS.get(found[-1].word) == word:
            found.pop()
    return found


def _class_name(machine: Machine, level: int) -> str:
    """The name after the word that begins a class: the builder's value, a bare token, or not there yet."""
    if level >= len(machine.values):
        return ""
    value = machine.values[level]
    return value[0] if isinstance(value, tuple) else identifier(value)


def may_begin_item(state: int) -> bool:
    """Whether an item (a declaration, a bond, an equation, a block) can begin in this state."""
    tables = load_tables()
    return tables.words["bond"] in tables.actions[state]


def accepts(tables: Tables, states: list[int], kind: int) -> bool:
    """Whether a token can really be shifted: LALR tables allow reductions before they notice that it cannot."""
    stack = list(states)
    while (action := tables.actions[stack[-1]].get(kind)) is not None:
        if action >= 0:
            return True
        rule = tables.rules[~action]
        del stack[len(stack) - rule.length :]
        stack.append(tables.gotos[stack[-1]][rule.symbol])
        if stack[-1] == tables.accept and kind == 0:
            return True
    return False
