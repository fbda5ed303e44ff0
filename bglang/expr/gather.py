"""Sums written with the factors that their terms share in front of brackets, where that makes them shorter.

`simplify` multiplies out, which finds what cancels; `gather` goes the other way for whoever reads the result."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from bglang.expr.core import Expr, call, neg, product, total
from bglang.expr.simplify import Monomial, Polynomial, monomial_product, simplify, write
from bglang.expr.text import number, text
from bglang.expr.walk import rebuild, rewrite

MOST = 40
"""Terms of a sum in which shared factors are looked for."""
BRACKETS = 3

Term = tuple[Monomial, float]


def readable(e: Expr) -> Expr:
    """The expression simplified and gathered; a sum beside a choice goes into its cases where that is shorter."""
    simple = simplify(e)
    made = gather(simple)
    inside = _into_cases(simple)
    if inside is None:
        return made
    cases = call("if", inside[1], readable(inside[2]), readable(inside[3]))
    return min(made, cases, key=lambda x: len(text(x)))


def _into_cases(e: Expr) -> tuple[Any, ...] | None:
    if not isinstance(e, tuple) or e[0] != "+":
        return None
    choices = [k for k, term in enumerate(e) if isinstance(term, tuple) and _choice(term) is not None]
    if len(choices) != 1:
        return None
    k = choices[0]
    choice, sign = _choice(e[k]) or (e, 1.0)
    yes, no = (total([*e[1:k], part if sign > 0.0 else neg(part), *e[k + 1 :]]) for part in choice[2:])
    return "if", choice[1], yes, no


def _choice(term: Expr) -> tuple[tuple[Any, ...], float] | None:
    """The choice that a term of a sum is, and its sign."""
    if isinstance(term, tuple) and term[0] == "neg" and isinstance(term[1], tuple) and term[1][0] == "if":
        return term[1], -1.0
    return (term, 1.0) if isinstance(term, tuple) and term[0] == "if" else None


def shortest(given: Expr) -> Expr:
    """The expression as it was written, unless it can be said with less."""
    made = readable(given)
    return given if len(text(given)) <= len(text(made)) else made


def gather(e: Expr) -> Expr:
    """The simplified expression with shared factors in front of brackets, at every depth."""
    return rewrite(e, lambda leaf: leaf, _gathered)


def _gathered(node: tuple[Any, ...], args: list[Expr]) -> Expr:
    made = rebuild(node, args)
    if not isinstance(made, tuple) or made[0] not in ("+", "-") or len(made) > MOST:
        return made
    terms = [m for part in _terms(made) for m in part]
    return _written(terms) if 2 <= len(terms) <= MOST else made


def _terms(e: tuple[Any, ...]) -> Iterable[list[Term]]:
    parts = e[1:] if e[0] == "+" else (e[1], neg(e[2]))
    for part in parts:
        yield [_as_term(part)]


def _as_term(e: Expr) -> Term:
    """One term of a sum: sums inside it stay together."""
    powers: dict[Expr, int] = {}
    factor = 1.0
    stack: list[tuple[Expr, int]] = [(e, 1)]
    while stack:
        part, sign = stack.pop()
        if not isinstance(part, tuple):
            factor *= part**sign
        elif part[0] == "neg":
            factor = -factor
            stack.append((part[1], sign))
        elif part[0] == "*":
            stack += [(x, sign) for x in part[1:]]
        elif part[0] == "/":
            stack += [(part[1], sign), (part[2], -sign)]
        elif part[0] == "^" and part[2] in (2.0, 3.0, 4.0):
            powers[part[1]] = powers.get(part[1], 0) + sign * int(part[2])
        else:
            powers[part] = powers.get(part, 0) + sign
    made: Monomial = ()
    for atom, k in powers.items():
        made = monomial_product(made, ((atom, k),)) if k else made
    return made, factor


def _written(terms: Sequence[Term]) -> Expr:
    """The sum, its best shared factor first taken out, then that of what is left."""
    best = max(_candidates(terms), key=lambda c: c[0], default=None)
    if best is None:
        return total(_one(m, c) for m, c in terms)
    _, shared, scale, members = best
    inner: list[Term] = [(_over(terms[k][0], shared), terms[k][1] / scale) for k in members]
    if inner[0][1] < 0.0 and all(c < 0.0 for _, c in inner):
        inner, scale = [(m, -c) for m, c in inner], -scale
    positive = next((k for k, (_, c) in enumerate(inner) if c > 0.0), 0)
    inner = [inner[positive], *inner[:positive], *inner[positive + 1 :]]
    group = _times(shared, scale, _written(inner))
    rest = [term for k, term in enumerate(terms) if k not in members]
    first = min(members)
    before = [term for k, term in enumerate(terms) if k < first]
    made = [group] if not rest else [*_summands(_written(before) if before else 0.0), group]
    after = [term for term in rest if term not in before]
    return total([*made, *(_summands(_written(after)) if after else ())])


def _summands(e: Expr) -> tuple[Expr, ...]:
    return e[1:] if isinstance(e, tuple) and e[0] == "+" else (e,)


def _candidates(terms: Sequence[Term]) -> Iterable[tuple[int, Monomial, float, list[int]]]:
    """Shared factors: characters saved, the factor, its number, and which terms have it."""
    seen = set[tuple[Monomial, float]]()
    for i in range(len(terms)):
        for j in range(i + 1, len(terms)):
            shared = _shared(terms[i][0], terms[j][0])
            equal = abs(terms[i][1]) == abs(terms[j][1])
            for scale in {1.0, abs(terms[i][1]) if equal else 1.0}:
                if (shared, scale) in seen or not (shared or scale != 1.0):
                    continue
                seen.add((shared, scale))
                members = [k for k, (m, c) in enumerate(terms)
                           if _shared(m, shared) == shared and (scale == 1.0 or abs(c) == scale)]  # fmt: skip
                saved = (len(members) - 1) * (_length(shared, scale) + 1) - BRACKETS
                if saved > 0 or (saved >= -1 and all(isinstance(a, tuple) and a[0] == "p" for a, _ in shared)):
                    yield saved, shared, scale, members


def _length(m: Monomial, scale: float) -> int:
    known = [len(text(a)) + (2 if abs(k) > 1 else 0) for a, k in m]
    return sum(known) + max(0, len(known) - 1) + (0 if scale == 1.0 else len(number(scale)) + bool(known))


def _shared(m: Monomial, n: Monomial) -> Monomial:
    """What two monomials have in common; of denominators, too."""
    other = dict(n)
    found = []
    for atom, k in m:
        j = other.get(atom, 0)
        if (k > 0) == (j > 0) and j:
            found.append((atom, min(k, j) if k > 0 else max(k, j)))
    return tuple(found)


def _over(m: Monomial, shared: Monomial) -> Monomial:
    return monomial_product(m, tuple((a, -k) for a, k in shared))


def _one(m: Monomial, c: float) -> Expr:
    p: Polynomial = {m: c}
    return write(p)


def _times(m: Monomial, c: float, inner: Expr) -> Expr:
    """c * m * inner as one fraction."""
    above = [a if k == 1 else ("^", a, float(k)) for a, k in m if k > 0]
    below = [a if k == -1 else ("^", a, float(-k)) for a, k in m if k < 0]
    made = product([abs(c), *above, inner])
    if below:
        made = call("/", made, product(below))
    return neg(made) if c < 0.0 else made


# --- numbers ----------------------------------------------------------------------------------------------------------

PI = 3.141592653589793
LARGEST_DIVISOR = 999


def with_short_numbers(e: Expr, digits: int) -> Expr:
    """Numbers as one would write them: 2/3 for 0.6666666666666666, 2*pi for 6.283185307179586; others rounded."""
    spell: Callable[[Expr], Expr] = lambda x: x if isinstance(x, tuple) else _short(x, digits)  # noqa: E731

    def operation(node: tuple[Any, ...], args: list[Expr]) -> Expr:
        if node[0] == "^" and not isinstance(args[1], tuple):
            return ("^", spell(args[0]), args[1])
        tail = node[len(args) + 1 :]
        return (node[0], *(spell(a) for a in args), *tail)

    return spell(rewrite(e, lambda leaf: leaf, operation))


def _short(value: float, digits: int) -> Expr:
    if len(repr(abs(value)).replace(".", "").lstrip("0")) < 14:
        return float(f"{value:.{digits}g}") if value != int(value) else value
    for unit, name in ((1.0, None), (PI, ("v", "pi"))):
        found = Fraction(value / unit).limit_denominator(LARGEST_DIVISOR if name is None else 360)
        if found and abs(found.numerator) < 10_000 and abs(float(found) * unit - value) <= 4e-16 * abs(value):
            top, bottom = float(abs(found.numerator)), float(found.denominator)
            shown: Expr = top if name is None else product([top, name])
            shown = shown if bottom == 1.0 else ("/", shown, bottom)
            return neg(shown) if value < 0.0 else shown
    return float(f"{value:.{digits}g}")
