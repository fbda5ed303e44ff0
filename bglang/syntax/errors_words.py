"""Mistakes that a few neighbouring tokens give away: operators and words of other languages, numbers, arrows."""

from bglang.diagnostics import Diagnostic, error
from bglang.source import Span
from bglang.syntax.errors_characters import suspect_string
from bglang.syntax.failure import HEADINGS, STARTERS, Failure
from bglang.syntax.replaced import PREFIX_WORDS, REPLACED
from bglang.syntax.text import RESERVED

_RELATIONS = frozenset({"LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "UNEQUAL"})
_INNER_WORDS = frozenset({"then", "else", "elseif", "loop", "end", "for", "and", "or", "in"})
_CLOSES_VALUE = frozenset({"IDENT", "NUMBER", "STRING", "RPAR", "RSQB", "RBRACE", "TRUE", "FALSE"})


def _multiline_string(f: Failure) -> Diagnostic | None:
    return None if f.kind == "$END" else suspect_string(f, 2)


def _power(f: Failure) -> Diagnostic | None:
    pair = Span(f.span.source, f.token_span(-1).start, f.span.end)
    if f.kind == "TIMES" and f.before == "*" and f.touches:
        return error("syntax/operator", "`**` is not an operator", pair, hint="a power is `a^b`.")
    if f.kind in ("POWER", "DOT_POWER") and f.before_kind in _CLOSES_VALUE:
        return error(
            "syntax/power",
            "powers do not chain",
            f.span,
            reason="`a^b^c` could mean `(a^b)^c` or `a^(b^c)`, which differ.",
            hint="write parentheses.",
        )
    return None


def _number(f: Failure) -> Diagnostic | None:
    pair = Span(f.span.source, f.token_span(-1).start, f.span.end)
    if f.kind == "NUMBER" and f.before == "." and f.touches:
        hint = f"write `0.{f.text}`."
        return error("syntax/number", "a number begins with a digit", pair, hint=hint)
    if f.before_kind == "NUMBER" and f.kind == "IDENT" and f.touches:
        return error(
            "syntax/number",
            f"`{pair.text}` is neither a number nor a name",
            pair,
            hint=f"a product is `{f.before}*{f.text}`; a name that begins with a digit is written in quotes: "
            f"`'{pair.text}'`.",
        )
    return None


def _neighbours(f: Failure) -> Diagnostic | None:
    """`3 f`, `R(R = 1 q(start = 2))`: two values side by side in an expression or a list of arguments."""
    if f.kind != "IDENT" or f.before_kind not in _CLOSES_VALUE or "TIMES" not in f.expected or f.starts_line:
        return None
    if "COMMA" in f.expected and f.following(1) in ("=", "("):
        message = f"a comma is missing before `{f.text}`"
        return error("syntax/separator", message, f.after_previous, label="expected `,`", hint="write `,` here.")
    if f.before_kind in ("NUMBER", "RPAR"):
        message = f"an operator is missing before `{f.text}`"
        hint = f"a product is `{f.before}*{f.text}`." if f.before_kind == "NUMBER" else "a product is written with `*`."
        return error("syntax/operator", message, f.after_previous, label="expected an operator", hint=hint)
    return None


def _assignment(f: Failure) -> Diagnostic | None:
    hint = "a value is given with `=`; only algorithms of functions assign with `:=`."
    if f.text == ":=":
        return error("syntax/assignment", "`:=` cannot stand here", f.span, hint=hint)
    if f.text == "=" and f.before == ":":
        pair = Span(f.span.source, f.token_span(-1).start, f.span.end)
        return error("syntax/assignment", "`: =` cannot stand here", pair, hint=hint)
    if f.text == "=" and f.before_kind in ("PLUS", "MINUS", "TIMES", "DIVIDE") and f.touches:
        pair = Span(f.span.source, f.token_span(-1).start, f.span.end)
        return error("syntax/operator", f"`{pair.text}` is not an operator", pair, hint="write it out: `x := x + 1;`.")
    return None


def _relation(f: Failure) -> Diagnostic | None:
    if f.kind not in _RELATIONS:
        return None
    if f.kind == "EQUAL" and "EQUAL" not in f.expected and "DIVIDE" not in f.expected:
        return error("syntax/comparison", "`==` compares; a value is given with `=`", f.span, hint="write `=`.")
    if f.before_kind in _CLOSES_VALUE and "PLUS" in f.expected:
        return error(
            "syntax/relation",
            "relations do not chain",
            f.span,
            hint="`a < b < c` is written `a < b and b < c`.",
        )
    return None


def _arrow(f: Failure) -> Diagnostic | None:
    if f.text == ">" and f.before == "=" and f.touches:
        pair = Span(f.span.source, f.token_span(-1).start, f.span.end)
        return error("syntax/arrow", "`=>` is not an arrow", pair, hint="a bond is `a -> b`.")
    if f.kind != "ARROW":
        return None
    if f.before in ("-", "=") and f.touches:
        pair = Span(f.span.source, f.token_span(-1).start, f.span.end)
        return error("syntax/arrow", f"`{pair.text}` is not an arrow", pair, hint="a bond is `a -> b`.")
    if "COMMA" in f.expected and "SEMICOLON" in f.expected and _statement_has(f, ","):
        return error(
            "syntax/bond-list",
            "a list of nodes ends a chain",
            f.span,
            label="no arrow can follow the list",
            reason="`a -> b, c;` draws two bonds from `a`; which of them `-> d` would go on from is not clear.",
            hint="write two statements: `a -> b, c;` and `c -> d;`.",
        )
    return None


def _bond_name(f: Failure) -> Diagnostic | None:
    if "COLON" not in f.expected or "bond" not in f.machine.values:
        return None
    return error(
        "syntax/bond-name",
        "a named bond needs a colon after its name",
        f.after_previous,
        label="expected `:`",
        hint=f"write `bond {f.before}: a -> b;`; the heading of the section is `bonds`.",
    )


def _statement_has(f: Failure, text: str) -> bool:
    """Whether a token with this text stands in the same statement before the one that does not fit."""
    at = f.position - 1
    while at >= 0 and f.tokens.texts[at] != ";":
        if f.tokens.texts[at] == text:
            return True
        at -= 1
    return False


def _replaced_word(f: Failure) -> Diagnostic | None:
    """`inner Real x`: a word that is a name here, and a prefix elsewhere."""
    for back in (1, 2, 3):
        at = f.position - back
        word = f.tokens.texts[at] if at >= 0 else ""
        if not (
            word[:1].isalpha() or word[:1] == '"'
        ):  # prefixes and types are words; anything else begins another phrase
            return None
        fits = f.kind in ("IDENT", "STRING") or f.text in RESERVED
        if fits and word in PREFIX_WORDS and f.tokens.name(at) == "IDENT":
            return error(
                "syntax/not-in-language",
                f"`{word}` is not in the language",
                f.token_span(-back),
                hint=REPLACED[word],
            )
    return None


def _foreign_keyword(f: Failure) -> Diagnostic | None:
    """Words of other languages where a part of an `if` was expected."""
    for back in (0, -1, -2):
        if f.following(back) in ("elif", "elsif", "elseIf"):
            span = f.token_span(back)
            return error("syntax/keyword", f"`{span.text}` is not a word of the language", span, hint="write `elseif`.")
    if f.before == "else" and f.text == ":":
        return error("syntax/keyword", "no colon follows `else`", f.span, hint="leave it out.")
    if f.text == ":" and "THEN" in f.expected:
        return error("syntax/keyword", "a condition is followed by `then`", f.span, hint="write `then`.")
    return None


def _reserved(f: Failure) -> Diagnostic | None:
    """A reserved word where a name is needed."""
    if f.text not in RESERVED or "IDENT" not in f.expected or f.before == "end":
        return None
    needs_name = "NUMBER" not in f.expected
    if f.text == "if" and not needs_name:
        return error(
            "syntax/if-expression",
            "an `if` inside an expression needs parentheses",
            f.span,
            hint="write `a + (if c then x else y)`.",
        )
    begins_item = f.text in STARTERS | HEADINGS and f.starts_line
    if begins_item or (f.text in _INNER_WORDS and not needs_name):
        return None
    return error(
        "syntax/reserved-word",
        f"`{f.text}` is a reserved word and cannot be a name",
        f.span,
        hint=f"choose another name, or write it in quotes: `'{f.text}'`.",
    )


WORD_RULES = (
    _multiline_string,
    _power,
    _number,
    _assignment,
    _arrow,
    _neighbours,
    _relation,
    _bond_name,
    _replaced_word,
    _foreign_keyword,
    _reserved,
)
