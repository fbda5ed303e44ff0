"""Odd powers: c*sign(u)*abs(u)^n, however they are written.

Laws of orifices and of creep are roots and powers that keep the sign of their argument.  People write them as
`sign(e)*sqrt(abs(e)/2)`, as `u*sqrt(abs(u))` or as `if e > 0 then sqrt(e) else -sqrt(-e)`.  They are continuous at
zero, and there the branches of `sign` and `abs` end together with the domain of the root: a branch held a little beyond
its end has no value, and `sign` alone would hold a law at zero for ever.  So they are recognised as one function, which
has an inverse and needs no event.
"""

from typing import Any

from bglang.expr.core import Expr, call, neg, operands, product, total
from bglang.expr.walk import postorder, rebuild, rewrite
from bglang.records import dataclass

Node = tuple[Any, ...]
SIGNS = frozenset({"sign", "abs", "if"})
ROOTS = frozenset({"sqrt", "^", "sign"})


@dataclass(frozen=True, slots=True)
class OddPower:
    """`factor` * sign(u)*abs(u)^n; for negative u with a factor of its own where `below` is not None."""

    u: Expr
    n: Expr
    factor: Expr
    below: Expr | None = None


def odd_power(e: Expr) -> OddPower | None:
    """The expression as an odd power, where it is written as one with `sign`, `abs` or `if`."""
    if not isinstance(e, tuple):
        return None
    if e[0] == "if":
        return _from_branches(e)
    return _from_product(e) if e[0] in ("*", "/", "neg") else None


def has_root(e: Expr) -> bool:
    """Does the expression hold a root, whose slope is infinite at zero?"""
    return any(
        node[0] in ("sqrt", "absqrt") or (node[0] == "^" and not isinstance(node[2], tuple) and 0.0 < node[2] < 1.0)
        for node in postorder(e)
    )


def root_of(r: Expr, n: float) -> Expr:
    """u from sign(u)*abs(u)^n = r."""
    exponent = 1.0 / n
    if abs(exponent - round(exponent)) < 1e-12:
        exponent = float(round(exponent))
    if exponent == 1.0:
        return r
    if exponent == 0.5:
        return ("absqrt", r, 1.0)
    if exponent % 2.0 == 1.0:
        return call("^", r, exponent)
    if exponent % 2.0 == 0.0:
        return product([("abs2", r, 1.0), call("^", r, exponent - 2.0)])
    return product([("sign", r), call("^", ("abs", r), exponent)])


def continuous(e: Expr) -> Expr:
    """The expression with its roots written without events: each by the sign that its argument has at the moment.

    Powers above one keep their events, since their curvature jumps or has a pole there: u*abs(u) is smooth in either
    branch, beyond its end too; other powers are zero beyond the end of a branch."""
    operations = {node[0] for node in postorder(e)}
    if operations.isdisjoint(SIGNS) or operations.isdisjoint(ROOTS):
        return e

    def operation(node: Node, args: list[Expr]) -> Expr:
        made = rebuild(node, args)
        found = odd_power(made)
        return made if found is None else _written(found)

    return rewrite(e, lambda leaf: leaf, operation)


def _written(power: OddPower) -> Expr:
    u, n, below = power.u, power.n, power.below
    if n == 1.0 and below is None:
        return product([power.factor, u])
    if n == 2.0 and below is None:
        return product([power.factor, u, ("abs", u)])
    steep = isinstance(n, tuple) or n < 1.0
    positive, negative = (u, neg(u)) if steep else (_not_negative(u), _not_negative(neg(u)))
    up = product([power.factor, _root(positive, n)])
    down = neg(product([power.factor if below is None else below, _root(negative, n)]))
    chosen = call("if", ("<", u, 0.0), down, up)
    return ("noEvent", chosen) if steep else chosen


def _not_negative(u: Expr) -> Expr:
    return ("noEvent", ("max", u, 0.0))


def _root(u: Expr, n: Expr) -> Expr:
    return call("sqrt", u) if n == 0.5 else call("^", u, n)


# --- products ---------------------------------------------------------------------------------------------------------


def _from_product(e: Node) -> OddPower | None:
    for u in _signed(e):
        found = _Factors(u)
        if found.take(e, 1.0) and found.odd and found.marked and _is_positive(found.n):
            power = OddPower(u, found.n, product(found.rest))
            if power.n != 2.0 or found.by_sign:
                return power
    return None


def _signed(e: Node) -> list[Expr]:
    """What `sign` and `abs` are taken of, in the factors of a product."""
    found: dict[Expr, None] = {}
    stack: list[Expr] = [e]
    while stack:
        part = stack.pop()
        if not isinstance(part, tuple):
            continue
        if part[0] in ("sign", "abs"):
            found[part[1]] = None
        elif part[0] in ("*", "/", "neg", "sqrt", "^"):
            stack.extend(operands(part))
    return list(found)


def _is_positive(n: Expr) -> bool:
    return isinstance(n, tuple) or n > 0.0


class _Factors:
    """The factors of a product as a power of |u|, whether they change their sign with u, and the rest."""

    def __init__(self, u: Expr) -> None:
        self.u, self.turned = u, (neg(u), ("*", -1.0, u))
        self.n: Expr = 0.0
        self.odd = self.marked = self.by_sign = False
        self.rest: list[Expr] = []

    def take(self, e: Expr, power: float) -> bool:
        """e^power becomes part; `power` is a whole number."""
        if e == self.u:
            self.n = total([self.n, power])
            self.odd ^= power % 2.0 == 1.0
        elif e == ("sign", self.u):
            self.odd ^= power % 2.0 == 1.0
            self.marked = self.by_sign = True
            return power > 0.0
        elif not isinstance(e, tuple):
            self.rest.append(e**power if e or power > 0.0 else ("/", 1.0, e))
        elif e == ("abs", self.u) or e[0] == "sqrt":
            return self._root(e, power)
        elif e[0] == "*":
            return all(self.take(a, power) for a in e[1:])
        elif e[0] == "/":
            return self.take(e[1], power) and self.take(e[2], -power)
        elif e[0] == "neg":
            self.rest.append(-1.0 if power % 2.0 == 1.0 else 1.0)
            return self.take(e[1], power)
        elif e[0] == "^" and not isinstance(e[2], tuple) and e[2] == int(e[2]):
            return self.take(e[1], power * e[2])
        elif e[0] == "^" and self._has_root(e[1]):
            return self._root(e, power)
        else:
            self._keep(e, power)
        return True

    def _has_root(self, e: Expr) -> bool:
        return any(node == ("abs", self.u) or node == self.u for node in postorder(e))

    def _root(self, e: Expr, power: Expr) -> bool:
        """e^power where e is not negative: |u|, or a root, under which products of squares, |u| and others stand."""
        if e == ("abs", self.u):
            self.n = total([self.n, power])
            self.marked = True
            return True
        if not isinstance(e, tuple) or e[0] not in ("sqrt", "^"):
            self._keep(e, power)
            return True
        inner = _Factors(self.u)
        outer = product([power, 0.5 if e[0] == "sqrt" else e[2]])
        if not inner.take(e[1], 1.0) or inner.odd:
            self._keep(e, power)
            return not self._has_root(e)
        self.n = total([self.n, product([inner.n, outer])])
        self.marked = self.marked or inner.n != 0.0
        rest = product(inner.rest)
        self.rest.append(call("sqrt", rest) if outer == 0.5 else call("^", rest, outer))
        return True

    def _keep(self, e: Expr, power: Expr) -> None:
        self.rest.append(call("/", 1.0, e) if power == -1.0 else call("^", e, power))


# --- branches ---------------------------------------------------------------------------------------------------------


def _from_branches(e: Node) -> OddPower | None:
    """`if u > 0 then c*sqrt(u) else -c*sqrt(-u)`, also with another factor, or none, in the other branch."""
    condition, yes, no = e[1:]
    if not isinstance(condition, tuple) or condition[0] not in ("<", "<=", ">", ">="):
        return None
    op, a, b = condition
    if op in ("<", "<="):
        yes, no = no, yes
    u = call("-", a, b)
    if not isinstance(u, tuple):
        return None
    turned = ("-", b, a) if b != 0.0 else neg(a)
    above, below = _monomial(yes, u, turned), _monomial(no, turned, u)
    if above is None or below is None:
        return None
    n = above[1] or below[1]
    if any(c != 0.0 and k != n for c, k in (above, below)) or n <= 0.0 or n == int(n):
        return None
    down = neg(below[0])
    return OddPower(u, n, above[0], None if down == above[0] else down)


def _monomial(e: Expr, u: Expr, turned: Expr) -> tuple[Expr, float] | None:
    """(c, n) with e = c*u^n for positive u = -turned; c does not contain u."""
    if not isinstance(e, tuple):
        return e, 0.0
    if e in (u, ("abs", u), ("abs", turned)):
        return 1.0, 1.0
    if e == turned:
        return -1.0, 1.0
    if e[0] not in ("*", "/", "neg", "sqrt", "^") or (e[0] == "^" and isinstance(e[2], tuple)):
        return None if any(node in (u, turned) for node in postorder(e)) else (e, 0.0)
    parts = [_monomial(a, u, turned) for a in operands(e)[: 1 if e[0] == "^" else None]]
    known = [part for part in parts if part is not None]
    if len(known) != len(parts):
        return None
    (c, n), last = known[0], known[-1]
    if e[0] == "*":
        return product(part[0] for part in known), sum(part[1] for part in known)
    if e[0] == "/":
        return call("/", c, last[0]), n - last[1]
    if e[0] == "neg":
        return neg(c), n
    power = 0.5 if e[0] == "sqrt" else e[2]
    if not isinstance(c, tuple) and c < 0.0 and power != int(power):
        return None
    return (call("sqrt", c) if e[0] == "sqrt" else call("^", c, power)), n * power
