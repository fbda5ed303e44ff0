"""Syntax errors that teach: from the place where the parser stopped to what the author probably meant.

Each rule looks at a `Failure` and either knows the mistake or passes.  The first that knows it wins; the last one only
says what could have stood there.
"""

from collections.abc import Callable

from bglang.diagnostics import Diagnostic, error
from bglang.syntax.errors_characters import bad_token
from bglang.syntax.errors_habits import HABIT_RULES
from bglang.syntax.errors_structure import STRUCTURE_RULES
from bglang.syntax.errors_words import WORD_RULES
from bglang.syntax.failure import Failure

_NAMES = {
    "IDENT": "a name",
    "NUMBER": "a number",
    "STRING": "a string",
    "ARROW": "`->`",
    "$END": "the end of the file",
    "SEMICOLON": "`;`",
    "COMMA": "`,`",
    "RPAR": "`)`",
    "LPAR": "`(`",
    "RSQB": "`]`",
    "LSQB": "`[`",
    "RBRACE": "`}`",
    "EQUAL": "`==`",
    "COLON": "`:`",
    "DOT": "`.`",
    "THEN": "`then`",
    "LOOP": "`loop`",
    "ELSE": "`else`",
    "END": "`end`",
    "IN": "`in`",
    "FOR": "`for`",
    "IF": "`if`",
    "WHEN": "`when`",
    "WHILE": "`while`",
}
_VALUE = frozenset({"IDENT", "NUMBER", "STRING", "LPAR", "LBRACE"})
_OPERATORS = frozenset({"PLUS", "TIMES"})


def explain(failure: Failure) -> Diagnostic:
    """The message for the token that does not fit."""
    rules: tuple[Callable[[Failure], Diagnostic | None], ...] = (*HABIT_RULES, bad_token, *WORD_RULES, *STRUCTURE_RULES)
    for rule in rules:
        found = rule(failure)
        if found is not None:
            return found
    return _unexpected(failure)


def _unexpected(failure: Failure) -> Diagnostic:
    what = "the end of the file" if failure.kind == "$END" else f"`{shortened(failure.text)}`"
    after = f" after `{shortened(failure.before)}`" if failure.before else ""
    return error(
        "syntax/unexpected",
        f"{what} cannot stand here{after}",
        failure.span,
        label=f"expected {expectation(failure)}",
    )


def expectation(failure: Failure) -> str:
    """What could stand here, in words, the likeliest first; not everything."""
    expected = failure.expected
    words: list[str] = []
    if expected >= _VALUE:
        words.append("a value")
    elif "IDENT" in expected:
        words.append("a name")
    for name in ("SEMICOLON", "COMMA", "RPAR", "RSQB", "RBRACE", "ARROW", "COLON", "THEN", "LOOP", "IN", "ELSE", "END"):
        if name in expected:
            words.append(_NAMES[name])
    if expected >= _OPERATORS and not expected >= _VALUE:
        words.append("an operator")
    if not words:
        words = sorted(_NAMES.get(name, f"`{name.lower()}`") for name in expected)
    words = words[:5]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def shortened(text: str) -> str:
    line = text.split("\n", 1)[0]
    return line if len(line) <= 40 and line == text else f"{line[:37]}…"
