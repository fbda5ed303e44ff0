"""Gains of causal paths: sums of products of moduli.

Kept as polynomials in the moduli until the end, so that a modulus that is crossed twice cancels or becomes a square,
and the equivalent parameter reads as one would write it by hand."""

from collections.abc import Iterable
from typing import TypeAlias

from bglang.expr import Expr, call, neg, product, total

Monomial: TypeAlias = tuple[tuple[Expr, int], ...]
"""Factors with their powers, in the order in which they were met."""

Polynomial: TypeAlias = dict[Monomial, int]
"""Monomials with whole factors; no entry is zero."""

UNIT: Polynomial = {(): 1}


def factor(sign: int, modulus: Expr | None, power: int) -> Polynomial:
    """The gain of one step."""
    return {(): sign} if modulus is None else {((modulus, power),): sign}


def add(a: Polynomial, b: Polynomial) -> Polynomial:
    made = dict(a)
    for monomial, count in b.items():
        key = next((m for m in made if _same(m, monomial)), monomial)
        made[key] = made.get(key, 0) + count
        if not made[key]:
            del made[key]
    return made


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    made: Polynomial = {}
    for one, m in a.items():
        for two, n in b.items():
            made = add(made, {_times(one, two): m * n})
    return made


def _times(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(a)
    for base, power in b:
        powers[base] = powers.get(base, 0) + power
    return tuple((base, power) for base, power in powers.items() if power)


def _same(a: Monomial, b: Monomial) -> bool:
    return len(a) == len(b) and dict(a) == dict(b)


def to_expression(a: Polynomial, further: Iterable[Expr] = ()) -> Expr:
    """The polynomial times further factors, as an expression."""
    rest = list(further)
    return total(_written(monomial, count, rest) for monomial, count in a.items())


def _written(monomial: Monomial, count: int, further: list[Expr]) -> Expr:
    """Positive powers as factors, negative ones as one divisor: `(b/a)^2*m2`, `m1/n^2`."""
    above = [_power(base, power) for base, power in monomial if power > 0]
    below = [_power(base, -power) for base, power in monomial if power < 0]
    top = product([*above, *further])
    value = call("/", top, product(below)) if below else top
    return neg(value) if count == -1 else product([float(count), value])


def _power(base: Expr, power: int) -> Expr:
    return base if power == 1 else call("^", base, float(power))


def leaves_of(a: Polynomial) -> list[Expr]:
    """The moduli in it."""
    return [base for monomial in a for base, _ in monomial]
