"""Expressions made shorter: sums of products, like terms gathered, factors cancelled.

An expression is read as a polynomial in its atoms: leaves, and operations that are no sums or products (`sin(x)`,
1/(a + b)).  Exponents are whole numbers and may be negative.  sin^2 + cos^2 and the sine and cosine of a difference are
recognised.  Where writing out the products would give more than `TERMS` terms, they are left as they stand."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from bglang.expr.core import LEAVES, WITH_KEY, Expr, call, neg, operands, product, total
from bglang.expr.walk import postorder

Monomial: TypeAlias = tuple[tuple[Expr, int], ...]
Polynomial: TypeAlias = dict[Monomial, float]

TERMS = 400


def simplify(e: Expr) -> Expr:
    """An expression of the same value, gathered and cancelled."""
    return write(_unite_angles(_settled(read(e))))


def _settled(p: Polynomial) -> Polynomial:
    """Sums that were kept as atoms while they stood in a denominator are multiplied out once they are above."""
    for _ in range(3):
        if not any(_unsettled(atom, k) for m in p for atom, k in m):
            break
        again = read(write(p))
        if again == p:
            break
        p = again
    return p


def _unsettled(atom: Expr, k: int) -> bool:
    if not isinstance(atom, tuple):
        return False
    if atom[0] == "sqrt" and abs(k) > 1:
        return True
    inner = atom[1:] if atom[0] == "+" else ()
    return (k > 0 and atom[0] == "+") or any(
        isinstance(part, tuple) and part[0] == "^" and isinstance(part[1], tuple) and part[1][0] == "sqrt"
        for part in inner
    )


def collect(e: Expr, leaves: Sequence[Expr]) -> Expr:
    """The simplified expression as a sum, with the coefficient of each leaf gathered: a*x + b*y + rest."""
    rest = _settled(read(e))
    terms: list[Expr] = []
    for leaf in leaves:
        inside = {m: c for m, c in rest.items() if (leaf, 1) in m}
        rest = {m: c for m, c in rest.items() if m not in inside}
        if inside:
            terms.append(product([write(_unite_angles({_without(m, leaf): c for m, c in inside.items()})), leaf]))
    if rest:
        terms.append(write(_unite_angles(rest)))
    return flat_sum(terms)


def flat_sum(terms: Iterable[Expr]) -> Expr:
    made: list[Expr] = []
    for term in terms:
        made.extend(term[1:] if isinstance(term, tuple) and term[0] == "+" else [term])
    return total(made)


def read(e: Expr) -> Polynomial:
    """The expression as a polynomial in its atoms."""
    if not isinstance(e, tuple):
        return {(): e} if e != 0.0 else {}
    known: dict[int, Polynomial] = {}
    for node in postorder(e):
        if node[0] in LEAVES:
            known[id(node)] = {((node, 1),): 1.0}
        else:
            args = [known[id(a)] if isinstance(a, tuple) else _number(a) for a in operands(node)]
            known[id(node)] = _unite_squares(_operation(node, args))
    return known[id(e)]


def write(p: Polynomial) -> Expr:
    """The polynomial as an expression; the terms stand in the order in which they came.

    Terms over the same sum are put over it together."""
    if len(p) == 1:
        return total(_term(m, c) for m, c in p.items())
    groups: dict[Monomial, Polynomial] = {}
    for m, c in p.items():
        below: Monomial = tuple((a, k) for a, k in m if k < 0 and isinstance(a, tuple) and a[0] == "+")
        groups.setdefault(below, {})[tuple(x for x in m if x not in below) if below else m] = c
    terms: list[Expr] = []
    for below, part in groups.items():
        if not below:
            terms.extend(_term(m, c) for m, c in part.items())
            continue
        part, below = _reduced(part, below)
        if len(part) == 1 or not below:
            terms.extend(_term(monomial_product(m, below), c) for m, c in part.items())
        else:
            bottom = product(_raised(a, -k) for a, k in below)
            terms.append(call("/", write(part), bottom))
    return total(terms)


# --- reading ----------------------------------------------------------------------------------------------------------


def _operation(node: tuple[Any, ...], args: list[Polynomial]) -> Polynomial:
    op = node[0]
    if op == "+":
        return _sum(args)
    if op == "-":
        return _sum([args[0], _scaled(args[1], -1.0)])
    if op == "neg":
        return _scaled(args[0], -1.0)
    if op == "*":
        made = args[0]
        for other in args[1:]:
            made = _times(made, other)
        return made
    if op == "/":
        return _quotient(args[0], args[1])
    if op == "^":
        return _power(args[0], args[1])
    if op in ("sin", "cos", "tan", "abs") and _is_negative(args[0]):
        turned = _atom((op, write(_scaled(args[0], -1.0))))
        return turned if op in ("cos", "abs") else _scaled(turned, -1.0)
    tail = node[-1:] if op in WITH_KEY else ()
    return _constant_or_atom(call(op, *(write(a) for a in args), *tail))


def _number(value: float) -> Polynomial:
    return {(): value} if value != 0.0 else {}


def _constant_or_atom(e: Expr) -> Polynomial:
    return _atom(e) if isinstance(e, tuple) else ({(): e} if e != 0.0 else {})


def _atom(e: Expr) -> Polynomial:
    return {((e, 1),): 1.0}


def _sum(parts: Iterable[Polynomial]) -> Polynomial:
    made: Polynomial = {}
    for part in parts:
        for m, c in part.items():
            made[m] = made.get(m, 0.0) + c
    scale = max((abs(c) for part in parts for c in part.values()), default=0.0)
    return {m: c for m, c in made.items() if abs(c) > 1e-14 * scale}


def _scaled(p: Polynomial, factor: float) -> Polynomial:
    return {m: factor * c for m, c in p.items()}


def _times(p: Polynomial, q: Polynomial) -> Polynomial:
    if len(p) * len(q) > TERMS:
        return _product_of([write(p), write(q)])
    made: Polynomial = {}
    for m, c in p.items():
        for n, d in q.items():
            key = monomial_product(m, n)
            made[key] = made.get(key, 0.0) + c * d
    return {m: c for m, c in made.items() if c != 0.0}


def _product_of(factors: list[Expr]) -> Polynomial:
    made: Polynomial = {(): 1.0}
    for factor in factors:
        if isinstance(factor, tuple):
            made = {monomial_product(m, ((factor, 1),)): c for m, c in made.items()}
        else:
            made = _scaled(made, factor)
    return made


def monomial_product(m: Monomial, n: Monomial) -> Monomial:
    if not m:
        return n
    if not n:
        return m
    powers = dict(m)
    for atom, k in n:
        powers[atom] = powers.get(atom, 0) + k
    return tuple(sorted(((a, k) for a, k in powers.items() if k), key=_rank))


def _without(m: Monomial, leaf: Expr) -> Monomial:
    return tuple(item for item in m if item != (leaf, 1))


def _reduced(p: Polynomial, below: Monomial) -> tuple[Polynomial, Monomial]:
    """p over sums, divided by those of them that it holds as a factor."""
    left: list[tuple[Expr, int]] = []
    for atom, k in below:
        divisor = read(atom)
        while k < 0 and (quotient := _divided(p, divisor)) is not None:
            p, k = quotient, k + 1
        if k:
            left.append((atom, k))
    return p, tuple(left)


def _divided(p: Polynomial, q: Polynomial) -> Polynomial | None:
    """p/q where that leaves nothing over; the largest terms first, by the powers of their atoms."""
    if len(p) < len(q) or len(q) < 2 or len(p) > TERMS:
        return None
    atoms = sorted({a for m in (*p, *q) for a, _ in m}, key=repr)

    def order(m: Monomial) -> list[int]:
        powers = dict(m)
        return [powers.get(a, 0) for a in atoms]

    lead = max(q, key=order)
    inverse = tuple((a, -k) for a, k in lead)
    lowest = [min(order(m)[i] for m in p) for i in range(len(atoms))]
    scale = max(abs(c) for c in p.values())
    rest: Polynomial = dict(p)
    made: Polynomial = {}
    while rest and len(made) <= len(p):
        top = max(rest, key=order)
        factor = monomial_product(top, inverse)
        if any(k < min(0, low) for k, low in zip(order(factor), lowest, strict=True)):
            return None
        c = made[factor] = rest[top] / q[lead]
        for m, d in q.items():
            key = monomial_product(factor, m)
            rest[key] = rest.get(key, 0.0) - c * d
        rest = {m: d for m, d in rest.items() if abs(d) > 1e-13 * scale}
    return None if rest else made


def _quotient(p: Polynomial, q: Polynomial) -> Polynomial:
    if len(q) == 1:
        ((m, c),) = q.items()
        return _times(p, {tuple((a, -k) for a, k in m): 1.0 / c})
    if not q:
        return _atom(("/", write(p), 0.0))
    below = _denominators(q)
    if below:
        return _quotient(_times(p, {below: 1.0}), _times(q, {below: 1.0}))
    ratio = _ratio(p, q)
    if ratio is not None:
        return {(): ratio} if ratio else {}
    lead = next(iter(q.values()))
    common = _common(q)
    inner = write({monomial_product(m, tuple((a, -k) for a, k in common)): c / lead for m, c in q.items()})
    inverse: Monomial = monomial_product(((inner, -1),), tuple((a, -k) for a, k in common))
    return _times(p, {inverse: 1.0 / lead})


def _denominators(p: Polynomial) -> Monomial:
    """The smallest product of atoms that frees all terms from denominators."""
    powers: dict[Expr, int] = {}
    for m in p:
        for atom, k in m:
            if k < 0:
                powers[atom] = max(powers.get(atom, 0), -k)
    return tuple(sorted(powers.items(), key=_rank))


def _common(p: Polynomial) -> Monomial:
    """The factors that all terms share."""
    shared: dict[Expr, int] | None = None
    for m in p:
        powers = dict(m)
        if shared is None:
            shared = powers
        else:
            shared = {a: min(k, powers[a]) for a, k in shared.items() if a in powers}
    return tuple(sorted(((a, k) for a, k in (shared or {}).items() if k > 0), key=_rank))


def _ratio(p: Polynomial, q: Polynomial) -> float | None:
    """The number by which two polynomials differ."""
    if p.keys() != q.keys():
        return None
    first = next(iter(q))
    ratio = p[first] / q[first]
    return ratio if all(math.isclose(p[m], ratio * q[m], rel_tol=1e-14) for m in q) else None


def _power(p: Polynomial, exponent: Polynomial) -> Polynomial:
    k = exponent.get((), 0.0) if set(exponent) <= {()} else None
    if k is not None and k == int(k) and abs(k) <= 6:
        if len(p) == 1:
            ((m, c),) = p.items()
            if c != 0.0:
                return {tuple((a, n * int(k)) for a, n in m) if k else (): c ** int(k)}
        if k >= 0 and len(p) ** k <= TERMS / 4:
            made: Polynomial = {(): 1.0}
            for _ in range(int(k)):
                made = _times(made, p)
            return made
    return _constant_or_atom(call("^", write(p), write(exponent)))


def _is_negative(p: Polynomial) -> bool:
    return bool(p) and next(iter(p.values())) < 0.0


def _unite_squares(p: Polynomial) -> Polynomial:
    """c*sin(u)^2 + c*cos(u)^2 is c."""
    if len(p) < 2:
        return p
    for m, c in list(p.items()):
        for atom, k in m:
            if k < 2 or not isinstance(atom, tuple) or atom[0] != "sin" or m not in p:
                continue
            rest = monomial_product(m, ((atom, -2),))
            partner = monomial_product(rest, ((("cos", atom[1]), 2),))
            if partner in p and math.isclose(p[partner], c, rel_tol=1e-12):
                made = {(rest if n == m else n): d for n, d in p.items() if n != partner and n != rest}
                made[rest] = c + p.get(rest, 0.0)
                return _unite_squares({n: d for n, d in made.items() if d != 0.0})
    return p


def _unite_angles(p: Polynomial) -> Polynomial:
    """c*cos(a)*cos(b) + c*sin(a)*sin(b) is c*cos(a - b); c*sin(a)*cos(b) - c*cos(a)*sin(b) is c*sin(a - b)."""
    if not 2 <= len(p) <= TERMS:
        return p
    for m, c in list(p.items()):
        waves = [(a, k) for a, k in m if isinstance(a, tuple) and a[0] in ("sin", "cos") and k == 1]
        for i, (one, _) in enumerate(waves):
            for two, _ in waves[i + 1 :]:
                found = _difference(p, m, c, one, two)
                if found is not None:
                    return _unite_angles(found)
    return p


_OTHER = {"sin": "cos", "cos": "sin"}


def _difference(p: Polynomial, m: Monomial, c: float, one: Any, two: Any) -> Polynomial | None:
    if one[1] == two[1]:
        return None
    rest = monomial_product(m, ((one, -1), (two, -1)))
    turned = ((_OTHER[one[0]], one[1]), (_OTHER[two[0]], two[1]))
    partner = monomial_product(rest, tuple(sorted(((a, 1) for a in turned), key=_rank)))
    wanted = c if one[0] == two[0] else -c
    if partner not in p or not math.isclose(p[partner], wanted, rel_tol=1e-12):
        return None
    sign = 1.0
    first, second = (one[1], two[1])
    if one[0] == "cos" and two[0] == "sin":  # sin(first)*cos(second) - cos(first)*sin(second)
        first, second = second, first
    if repr(first) > repr(second):
        first, second = second, first
        sign = 1.0 if one[0] == two[0] else -1.0
    op = "cos" if one[0] == two[0] else "sin"
    united = monomial_product(rest, (((op, write(read(("-", first, second)))), 1),))
    made = {(united if n == m else n): d for n, d in p.items() if n not in (partner, united)}
    made[united] = sign * c + p.get(united, 0.0)
    return {n: d for n, d in made.items() if d != 0.0}


# --- writing ----------------------------------------------------------------------------------------------------------


def _rank(item: tuple[Expr, int]) -> tuple[int, str]:
    """Parameters first, then functions, then variables, rates last."""
    atom = item[0]
    op = atom[0] if isinstance(atom, tuple) else ""
    place = {"p": 0, "v": 3, "y": 3, "t": 2, "der": 4, "d": 4}.get(op, 1)
    if op == "der" and isinstance(atom, tuple) and isinstance(atom[1], tuple) and atom[1][0] == "der":
        place = 5
    return place, repr(atom)


def _term(m: Monomial, c: float) -> Expr:
    c = _tidy(c)
    m = _branch_by_branch(m)
    above = [_raised(a, k) for a, k in m if k > 0]
    below = [_raised(a, -k) for a, k in m if k < 0]
    top = product([abs(c), *above])
    if below:
        bottom = product(below)
        top = call("/", top, bottom)
    return neg(top) if c < 0.0 else top


def _branch_by_branch(m: Monomial) -> Monomial:
    """(if z then a else b)/(if z then c else d) is if z then a/c else b/d."""
    for one, k in m:
        for two, j in m:
            if (k, j) != (1, -1) or not isinstance(one, tuple) or not isinstance(two, tuple):
                continue
            if one[0] == two[0] == "if" and one[1] == two[1]:
                joined = ("if", one[1], *(simplify(("/", a, b)) for a, b in zip(one[2:], two[2:], strict=True)))
                rest = tuple(item for item in m if item not in ((one, k), (two, j)))
                return _branch_by_branch(monomial_product(rest, ((joined, 1),)))
    return m


def _tidy(c: float) -> float:
    """0.14185499999999998 is 0.141855: what rounding added is not worth reading."""
    short = float(f"{c:.15g}")
    return short if len(repr(short)) < len(repr(c)) - 3 else c


def _raised(atom: Expr, k: int) -> Expr:
    if isinstance(atom, tuple) and atom[0] == "sqrt" and k % 2 == 0:
        return _raised(atom[1], k // 2)
    return atom if k == 1 else ("^", atom, float(k))
