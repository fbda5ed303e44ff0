"""Mistakes that come from other languages: braces, words in capitals, decimal commas, lists of inputs, derivatives."""

from bglang.diagnostics import Diagnostic, error
from bglang.source import Span
from bglang.syntax.failure import CLASSES, HEADINGS, Failure
from bglang.syntax.text import RESERVED, quoted

_MEANT = {
    "equations": "equation", "parameters": "parameter", "params": "parameter", "constants": "constant",
    "algorithms": "algorithm", "const": "constant", "param": "parameter", "endif": "end if", "endfor": "end for",
    "endwhen": "end when", "endwhile": "end while", "endmodel": "end", "inputs": "input", "outputs": "output",
    "ports": "port", "extend": "extends", "imports": "import", "submodel": "model",
}  # fmt: skip
_PREFIXES = frozenset({"PARAMETER", "CONSTANT", "DISCRETE", "INPUT", "OUTPUT"})
_ENDS_EXPRESSION = frozenset({"IDENT", "NUMBER", "STRING", "RPAR", "RSQB", "RBRACE", "TRUE", "FALSE"})


def right_word(word: str) -> str:
    """The reserved word that a misspelt one stands for; empty if there is none."""
    small = word.lower()
    if word in RESERVED or not word.isidentifier():
        return ""
    return small if small in RESERVED else _MEANT.get(small, "")


def _word(f: Failure) -> Diagnostic | None:
    """`Model M`, `Bonds`, `equations`, `endif;`: a name at the beginning of a line that nearly is a word."""
    for back in (0, 1, 2, 3):
        at = f.position - back
        if at < 0 or f.tokens.name(at) != "IDENT" or not _begins(f, at):
            continue
        span, meant = f.token_span(-back), right_word(f.tokens.texts[at])
        if meant:
            text = f"`{span.text}` is not a word of the language"
            return error("syntax/keyword", text, span, hint=f"write `{meant}`.")
    return None


def _begins(f: Failure, at: int) -> bool:
    between = f.tokens.source.text[f.tokens.end(at - 1) : f.tokens.starts[at]]
    return at == 0 or "\n" in between or f.tokens.texts[at - 1] in (";", "then", "loop", "else")


def _braces(f: Failure) -> Diagnostic | None:
    """`model M {` … `}`: a class begins with its name and ends with `end`."""
    opening = f.innermost
    if opening is not None and opening.word in CLASSES and f.text == "}" and opening.name:
        name = quoted(opening.name)
        label = f.opening_label(opening, f"this `{opening.word}` is still open")
        text = f"a {opening.word} is not ended by `}}`"
        return error("syntax/wrong-end", text, f.span, related=(label,), hint=f"write `end {name};`.")
    heads = [o for o in f.openings if o.word == "{"]
    if not heads:
        return None
    at = f.tokens.starts.index(heads[0].start)
    if at > 1 and f.tokens.texts[at - 2] in CLASSES and f.tokens.name(at - 1) == "IDENT":
        kind, name, span = f.tokens.texts[at - 2], f.tokens.texts[at - 1], f.token_span(at - f.position)
        return error(
            "syntax/head", f"a {kind} has no braces", span, hint=f"leave them out, and end it with `end {name};`."
        )
    return None


def _end_of_class(f: Failure) -> Diagnostic | None:
    """`end model;`"""
    opening = f.innermost
    if f.before != "end" or f.text not in CLASSES or opening is None or opening.word not in CLASSES:
        return None
    span, name = f.token_span(-1).to(f.span), quoted(opening.name)
    label = f.opening_label(opening, f"this `{opening.word}` is still open")
    text = f"`{span.text}` does not say which {opening.word} ends"
    return error("syntax/wrong-end", text, span, related=(label,), hint=f"write `end {name};`.")


def _head(f: Failure) -> Diagnostic | None:
    """`model M(…)`, `function f(Real x)`, and a semicolon behind the head."""
    names_class = f.tokens.name(f.position - 1) == "IDENT" and f.tokens.texts[f.position - 2] in CLASSES
    if f.text == ";" and names_class and f.position > 1:
        hint = "leave it out; the class goes on until its `end`."
        return error("syntax/superfluous", "no semicolon follows the head of a class", f.span, hint=hint)
    bracket = next((o for o in f.openings if o.word == "("), None)
    if bracket is None:
        return None
    at = f.tokens.starts.index(bracket.start)
    if at < 2 or f.tokens.texts[at - 2] not in CLASSES or f.tokens.texts[at - 2] in ("macro", "domain"):
        return None
    kind, span = f.tokens.texts[at - 2], f.token_span(at - f.position)
    hint = "its parameters are declared inside: `parameter Real k;`."
    if kind == "function":
        hint = "its inputs and outputs are declared inside: `input Real x; output Real y;`."
    return error("syntax/head", f"a {kind} has no list after its name", span, hint=hint)


def _separators(f: Failure) -> Diagnostic | None:
    """`;;`, `bonds;`, `bonds:`, `v -> m c`, `J1 v, I m(…)`, `x = 1 else`"""
    if f.text in (";", ":") and f.before in ("bonds", "equation", "algorithm", "public", "protected"):
        return error("syntax/superfluous", f"nothing follows the heading `{f.before}`", f.span, hint="leave it out.")
    if f.text == ";" and f.before == ";":
        return error("syntax/superfluous", "one semicolon is enough", f.span, hint="leave this one out.")
    if (
        f.text in ("else", "elseif", "elsewhen", "end")
        and "SEMICOLON" in f.expected
        and f.before_kind in _ENDS_EXPRESSION
    ):
        return error("syntax/missing-semicolon", "a semicolon is missing", f.after_previous, label="expected `;`")
    if f.kind != "IDENT" or f.before_kind != "IDENT" or f.starts_line:
        return None
    if f.following(-2) in (",", "->") and "->" in _statement(f) and f.following(1) in (",", ";", ".", "[", "->"):
        text = f"a comma is missing before `{f.text}`"
        return error(
            "syntax/separator", text, f.after_previous, label="expected `,`", hint=f"write `{f.before}, {f.text}`."
        )
    if f.following(-2) == "," and "SEMICOLON" in f.expected:
        span = f.token_span(-2)
        text = "declarations of different types are separated by semicolons"
        return error("syntax/separator", text, span, hint=f"write `;` before `{f.before} {f.text}`.")
    return None


def _statement(f: Failure) -> list[str]:
    """The tokens of the statement before the one that does not fit."""
    at = f.position
    while at > 0 and f.tokens.texts[at - 1] not in (";", "bonds", "then", "loop"):
        at -= 1
    return f.tokens.texts[at : f.position]


def _numbers(f: Failure) -> Diagnostic | None:
    """`1,5`, `2e`, `3k`, `0x10`, `Real 2k`"""
    pair = Span(f.span.source, f.token_span(-1).start, f.span.end)
    comma = f.kind == "NUMBER" and f.before == "," and f.touches and f.tokens.name(f.position - 2) == "NUMBER"
    if comma and "NUMBER" not in f.expected:
        span = Span(f.span.source, f.token_span(-2).start, f.span.end)
        hint = f"write `{span.text.replace(',', '.')}`."
        return error("syntax/number", "a number has a decimal point, not a comma", span, hint=hint)
    if f.kind == "NUMBER" and f.before_kind == "IDENT" and "IDENT" in f.expected and "NUMBER" not in f.expected:
        following = f.following(1) if f.tokens.name(f.position + 1) == "IDENT" else ""
        name = f.text + following
        span = Span(f.span.source, f.span.start, f.span.start + len(name))
        hint = f"choose another name, or write it in quotes: `'{name}'`."
        return error("syntax/number", "a name does not begin with a digit", span, hint=hint)
    if f.before_kind != "NUMBER" or f.kind != "IDENT" or not f.touches:
        return None
    hint = ""
    if f.text in ("e", "E"):
        hint = f"digits follow the `e` of an exponent: `{f.before}e3`."
    elif f.text in _SCALES:
        hint = f"write `{f.before}e{_SCALES[f.text]}`."
    elif f.before == "0" and f.text[0] in "xXbBoO":
        hint = "write the number with decimal digits."
    elif f.text == "J" and f.before in ("0", "1"):
        hint = f"the {f.before}-junction is `J{f.before}`."
    return error("syntax/number", f"`{pair.text}` is neither a number nor a name", pair, hint=hint) if hint else None


_SCALES = {"k": 3, "M": 6, "G": 9, "m": -3, "u": -6, "µ": -6, "n": -9, "p": -12}


def _junction(f: Failure) -> Diagnostic | None:
    """`1 v;`, `0-junction n;`"""
    at = f.position - 1
    while at > 0 and f.tokens.texts[at] in ("junction", "-", "_"):
        at -= 1
    digit = f.tokens.texts[at] if at >= 0 else ""
    if digit not in ("0", "1") or not _begins(f, at) or f.kind != "IDENT" or f.following(1) not in (";", ",", "("):
        return None
    span = Span(f.span.source, f.tokens.starts[at], f.token_span(-1).end)
    hint = f"the {digit}-junction is `J{digit} {f.text};`."
    return error("syntax/number", f"`{span.text}` is no type", span, hint=hint)


def _derivative(f: Failure) -> Diagnostic | None:
    """`x' = …`, `d/dt x = …`"""
    if f.kind == "BAD" and f.text == "'" and f.touches and f.before_kind == "IDENT":
        pair = Span(f.span.source, f.token_span(-1).start, f.span.end)
        return error("syntax/operator", "a prime is no derivative", pair, hint=f"write `der({f.before})`.")
    if f.before in ("dt", "dot") and f.kind == "IDENT" and f.following(-2) == "/":
        span = Span(f.span.source, f.token_span(-3).start, f.span.end)
        return error("syntax/operator", f"`{span.text}` is no derivative", span, hint=f"write `der({f.text})`.")
    return None


def _loops(f: Failure) -> Diagnostic | None:
    """`for i = 1:n`, `for (int i = 0; …)`"""
    if f.text == "=" and "IN" in f.expected:
        return error("syntax/missing-word", "a loop says `in`, not `=`", f.span, hint="write `for i in 1:n loop`.")
    if f.before == "for" and f.text == "(":
        return error(
            "syntax/missing-word", "no bracket follows `for`", f.span, hint="write `for i in 1:n loop … end for;`."
        )
    return None


def _attribute(f: Failure) -> Diagnostic | None:
    """`p(start 3)`"""
    inside = f.innermost is not None and f.innermost.word == "("
    if not inside or f.before_kind != "IDENT" or f.kind not in ("NUMBER", "TRUE", "FALSE", "STRING") or f.starts_line:
        return None
    if f.following(-2) not in ("(", ",", "each", "final"):
        return None
    text = f"`=` is missing between `{f.before}` and `{f.text}`"
    hint = f"write `{f.before} = {f.text}`."
    return error("syntax/missing-word", text, f.after_previous, label="expected `=`", hint=hint)


def _nodes(f: Failure) -> Diagnostic | None:
    """`v -> , c`, `v -> 3`, `-> m`"""
    if f.before_kind == "ARROW" and "IDENT" in f.expected and f.text not in RESERVED:
        hint = "write the name of a junction, an element or a port."
        return error(
            "syntax/missing-value", f"a node is missing after `{f.before}`", f.span, label="expected a name", hint=hint
        )
    if f.kind == "ARROW" and f.before == ";":
        hint = "a bond is `a -> b;`."
        return error("syntax/missing-value", f"a node is missing before `{f.text}`", f.span, hint=hint)
    return None


def _declarations(f: Failure) -> Diagnostic | None:
    """`parameter k = 3`, `parameter Real = 4`, a description in single quotes."""
    if f.text == "=" and f.before_kind == "IDENT" and f.tokens.name(f.position - 2) in _PREFIXES:
        prefix = f.following(-2)
        if f.before in ("Real", "Integer", "Boolean", "String"):
            text, hint = f"a name is missing after `{f.before}`", f"write `{prefix} {f.before} name = …`."
        else:
            text, hint = f"the type of `{f.before}` is missing", f"write `{prefix} Real {f.before} = …`."
        return error("syntax/missing-word", text, f.token_span(-1), hint=hint)
    if f.kind == "IDENT" and f.text[0] == "'" and f.before_kind in _ENDS_EXPRESSION and "SEMICOLON" in f.expected:
        hint = f'write `"{f.text[1:-1]}"`.'
        return error("syntax/separator", "a description stands in double quotes", f.span, hint=hint)
    return None


def _outside(f: Failure) -> Diagnostic | None:
    """`bonds` without a class around it."""
    if f.text not in HEADINGS or f.openings:
        return None
    hint = "begin with `model Name` and end with `end Name;`."
    return error("syntax/outside-class", f"`{f.text}` stands outside of a class", f.span, hint=hint)


HABIT_RULES = (
    _outside,
    _braces,
    _end_of_class,
    _head,
    _word,
    _attribute,
    _numbers,
    _junction,
    _derivative,
    _loops,
    _nodes,
    _declarations,
    _separators,
)
