"""Mistakes of structure: what is not closed, not ended, or not separated."""

from bglang.diagnostics import Diagnostic, error
from bglang.source import Span
from bglang.syntax.failure import BLOCKS, BRACKETS, CLASSES, STARTERS, Failure, Opening
from bglang.syntax.text import quoted

_CLOSERS = {closing: opening for opening, closing in BRACKETS.items()}
_VALUE = frozenset({"IDENT", "NUMBER", "LPAR"})


def _closer(f: Failure) -> Diagnostic | None:
    """`)` without `(`, or against `[`."""
    if f.text not in _CLOSERS:
        return None
    bracket = next((o for o in reversed(f.openings) if o.word in BRACKETS), None)
    if bracket is None:
        return error("syntax/unbalanced", f"this `{f.text}` closes nothing", f.span, hint="leave it out, or open it.")
    if BRACKETS[bracket.word] != f.text:
        return error(
            "syntax/unbalanced",
            f"`{f.text}` cannot close `{bracket.word}`",
            f.span,
            label=f"expected `{BRACKETS[bracket.word]}`",
            related=(f.opening_label(bracket, "opened here"),),
        )
    return None


def _unclosed_bracket(f: Failure) -> Diagnostic | None:
    """A statement ends, or a new one begins, while a bracket is open."""
    bracket = f.innermost
    if bracket is None or bracket.word not in BRACKETS:
        return None
    closing = BRACKETS[bracket.word]
    if f.text == ";" and _closes_soon(f, closing):
        message = f"`;` cannot stand between `{bracket.word}` and `{closing}`"
        return error("syntax/separator", message, f.span, hint="write `,` between arguments or elements.")
    if not (f.kind == "$END" or f.text == ";" or f.text in STARTERS):
        return None
    return error(
        "syntax/unbalanced",
        f"this `{bracket.word}` is not closed",
        f.opening_label(bracket, "").span,
        label="opened here",
        related=(f.opening_label(Opening(f.text or " ", f.span.start, 0), f"still open here: expected `{closing}`"),),
    )


def _closes_soon(f: Failure, closing: str) -> bool:
    """Whether the bracket is closed on the same line after all."""
    source = f.tokens.source
    end = source.text.find("\n", f.span.end)
    rest = source.text[f.span.end : end if end >= 0 else len(source.text)]
    return rest.count(closing) > rest.count(_CLOSERS[closing])


def _end_of_file(f: Failure) -> Diagnostic | None:
    opening = f.innermost
    if f.kind != "$END" or opening is None or (opening.word in CLASSES and not opening.name):
        return None
    ending = _ending(opening)
    what = f"{opening.word} {quoted(opening.name)}" if opening.name else opening.word
    return error(
        "syntax/missing-end",
        f"the file ends before `{what}` does",
        f.after_previous,
        label=f"expected `{ending}`",
        related=(f.opening_label(opening, f"this `{opening.word}` is still open"),),
    )


def _ending(opening: Opening) -> str:
    return f"end {quoted(opening.name)};" if opening.word in CLASSES else f"end {opening.word};"


def _after_end(f: Failure) -> Diagnostic | None:
    """`end` is followed by the wrong thing."""
    if f.before != "end" or f.innermost is None:
        return None
    opening = f.innermost
    ending = _ending(opening)
    labels = (f.opening_label(opening, f"this `{opening.word}` is still open"),)
    if f.text == ";" or f.kind == "$END":
        message = f"`end` needs to say what it ends: `{ending}`"
        return error("syntax/missing-end", message, f.token_span(-1), related=labels)
    if opening.word in BLOCKS:
        written = f"end {f.text}"
        return error(
            "syntax/missing-end",
            f"`{opening.word}` is not ended before `{written}`",
            f.token_span(-1).to(f.span),
            label=f"expected `{ending}`",
            related=labels,
        )
    if f.text in BLOCKS:
        return error(
            "syntax/wrong-end",
            f"`end {f.text}` ends nothing",
            f.token_span(-1).to(f.span),
            label=f"no `{f.text}` is open",
            related=labels,
        )
    return None


def _incomplete(f: Failure) -> Diagnostic | None:
    """A value is missing: an operator, `=` or a comma is followed by the end of the statement."""
    may_begin_statement = "BOND" in f.expected
    if not f.expected >= _VALUE or may_begin_statement:
        return None
    ends = f.text in (";", ")", "]", "}", ",", "then", "loop", "else", "elseif", "=") or f.kind == "$END"
    if not ends and not (f.text in STARTERS and f.starts_line):
        return None
    message = f"a value is missing after `{f.before}`"
    return error("syntax/missing-value", message, f.after_previous, label="expected a value")


def _missing_semicolon(f: Failure) -> Diagnostic | None:
    begins = f.starts_line or f.text in STARTERS or _begins_declaration(f)
    if "SEMICOLON" not in f.expected or not begins:
        return None
    return error(
        "syntax/missing-semicolon",
        "a semicolon is missing",
        f.after_previous,
        label="expected `;`",
    )


def _begins_declaration(f: Failure) -> bool:
    """`I m(I = 1) C s(C = 1);` on one line: a type and a name after what is complete."""
    return f.kind == "IDENT" and f.tokens.name(min(f.position + 1, len(f.tokens) - 1)) == "IDENT"


def _semicolon_before_if(f: Failure) -> Diagnostic | None:
    """`Real x` and on the next line `if c then`: that reads as a conditional declaration until `then`."""
    if f.text != "then" or "SEMICOLON" not in f.expected:
        return None
    at = f.position - 1
    while at > 0 and f.tokens.texts[at] not in ("if", ";"):
        at -= 1
    end = f.tokens.end(at - 1)
    if f.tokens.texts[at] != "if" or "\n" not in f.tokens.source.text[end : f.tokens.starts[at]]:
        return None
    place = Span(f.tokens.source, end, end)
    return error("syntax/missing-semicolon", "a semicolon is missing", place, label="expected `;`")


def _missing_else(f: Failure) -> Diagnostic | None:
    if not {"ELSE", "ELSEIF"} <= f.expected or "SEMICOLON" in f.expected or "END" in f.expected:
        return None
    return error(
        "syntax/if-expression",
        "an `if` expression needs an `else`",
        f.after_previous,
        label="expected `else`",
        reason="An expression must have a value whether the condition holds or not.",
    )


def _missing_word(f: Failure) -> Diagnostic | None:
    """`then`, `loop` or `in` is missing."""
    for terminal, word in (("THEN", "then"), ("LOOP", "loop"), ("IN", "in")):
        if terminal in f.expected and f.before_kind != "END":
            return error("syntax/missing-word", f"`{word}` is missing", f.after_previous, label=f"expected `{word}`")
    return None


def _outside(f: Failure) -> Diagnostic | None:
    """A class head that is incomplete, or an end too many."""
    if f.text == "end" and not f.openings:
        return error(
            "syntax/wrong-end",
            "this `end` ends nothing",
            f.span,
            reason="Every class and block before it is already ended.",
        )
    head = f.innermost
    if head is not None and head.word in ("macro", "domain") and "LPAR" in f.expected and f.expected <= {"LPAR"}:
        example = "(node a, node b, Real k)" if head.word == "macro" else '(effort = "V", flow = "A")'
        name = quoted(head.name)
        return error(
            "syntax/head",
            f"a {head.word} has a list in parentheses after its name",
            f.after_previous,
            label="expected `(`",
            hint=f"write `{head.word} {name}{example}`.",
        )
    return None


STRUCTURE_RULES = (
    _after_end,
    _closer,
    _incomplete,
    _missing_else,
    _unclosed_bracket,
    _semicolon_before_if,
    _missing_semicolon,
    _end_of_file,
    _missing_word,
    _outside,
)
