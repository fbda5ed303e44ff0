"""Antiderivatives of the expressions that kinematics is made of: powers, sines, cosines and exponentials of one angle.

What is found is exact; what is not known is None.  Callers check by differentiating."""

from bglang.expr import Expr, call, neg, product, total
from bglang.expr.invert import linear_in
from bglang.expr.simplify import Monomial, read
from bglang.expr.walk import depends


def antiderivative(e: Expr, leaf: Expr) -> Expr | None:
    """A function whose derivative by the leaf is e."""
    terms: list[Expr] = []
    for monomial, factor in read(e).items():
        inside = tuple((a, k) for a, k in monomial if depends(a, leaf))
        outside = [_raised(a, k) for a, k in monomial if not depends(a, leaf)]
        part = _monomial(inside, leaf)
        if part is None:
            return None
        terms.append(product([factor, *outside, part]))
    return total(terms)


def _raised(a: Expr, k: int) -> Expr:
    return call("^", a, float(k)) if k > 0 else call("/", 1.0, call("^", a, float(-k)))


def _monomial(m: Monomial, leaf: Expr) -> Expr | None:
    if not m:
        return leaf
    powers = dict(m)
    plain = powers.pop(leaf, 0)
    if not powers:
        return call("log", ("abs", leaf)) if plain == -1 else product([_raised(leaf, plain + 1), 1.0 / (plain + 1)])
    if len(powers) == 1:
        ((atom, k),) = powers.items()
        if plain == 0:
            return _single(atom, k, leaf)
        return _by_parts(atom, plain, leaf) if k == 1 and plain > 0 else None
    if len(powers) == 2 and plain == 0:
        return _sine_cosine(powers, leaf)
    return None


def _slope(u: Expr, leaf: Expr) -> Expr | None:
    linear = linear_in(u, leaf)
    return None if linear is None or depends(linear[0], leaf) else linear[0]


def _single(atom: Expr, k: int, leaf: Expr) -> Expr | None:
    """A power of one function of a linear argument."""
    assert isinstance(atom, tuple)
    if atom[0] in ("+", "-"):  # a sum kept as an atom, usually in a denominator
        a = _slope(atom, leaf)
        if a is None:
            return None
        return call("/", call("log", ("abs", atom)) if k == -1 else product([_raised(atom, k + 1), 1.0 / (k + 1)]), a)
    if len(atom) < 2 or not isinstance(atom[1], tuple):
        return None
    u = atom[1]
    a = _slope(u, leaf)
    if a is None:
        return None
    found: Expr | None = None
    match atom[0], k:
        case "sin", 1:
            found = neg(call("cos", u))
        case "cos", 1:
            found = call("sin", u)
        case "sin", 2:
            found = total([product([0.5, u]), product([-0.5, call("sin", u), call("cos", u)])])
        case "cos", 2:
            found = total([product([0.5, u]), product([0.5, call("sin", u), call("cos", u)])])
        case "cos", -2:
            found = call("/", call("sin", u), call("cos", u))
        case "tan", 1:
            found = neg(call("log", ("abs", call("cos", u))))
        case "exp", _ if k != 0:
            found = product([1.0 / k, call("^", atom, float(k)) if k != 1 else atom])
        case "sqrt", _ if k != -2:
            found = product([2.0 / (k + 2), call("^", u, (k + 2) / 2.0)])
        case "^", 1 if not isinstance(atom[2], tuple) and atom[2] != -1.0:
            found = product([1.0 / (atom[2] + 1.0), call("^", u, atom[2] + 1.0)])
        case "dtable", 1:
            found = ("table", u, atom[2])
        case "ddtable", 1:
            found = ("dtable", u, atom[2])
    return None if found is None else call("/", found, a)


def _by_parts(atom: Expr, n: int, leaf: Expr) -> Expr | None:
    """x^n times a function: the integral of x^n g' is x^n g - n times that of x^(n-1) g."""
    first = _single(atom, 1, leaf)
    if first is None:
        return None
    rest = antiderivative(product([float(n), _raised(leaf, n - 1), first]), leaf)
    return None if rest is None else total([product([_raised(leaf, n), first]), neg(rest)])


def _sine_cosine(powers: dict[Expr, int], leaf: Expr) -> Expr | None:
    """sin(u)^k cos(u) and cos(u)^k sin(u)."""
    for one, k in powers.items():
        for other, j in powers.items():
            if not (isinstance(one, tuple) and isinstance(other, tuple)) or j != 1 or one is other or k == -1:
                continue
            if {one[0], other[0]} == {"sin", "cos"} and one[1] == other[1]:
                a = _slope(one[1], leaf)
                sign = 1.0 if one[0] == "sin" else -1.0
                return None if a is None else call("/", product([sign / (k + 1), _raised(one, k + 1)]), a)
    return None
