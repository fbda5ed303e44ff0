"""Expressions made readable: like terms gathered, factors cancelled, branches recognised.

For people, not for solvers: cancelling x/x forgets that x may be zero.  Terms and factors keep the order in which they
first appear.
"""

from typing import Any

from bglang.expr.core import Expr, call, neg, product, total
from bglang.expr.walk import rebuild, rewrite

Node = tuple[Any, ...]


def tidy(e: Expr) -> Expr:
    """An equal expression that is shorter to read."""
    return rewrite(e, lambda leaf: leaf, lambda node, args: _simple(rebuild(node, args)))


def _simple(e: Expr) -> Expr:
    if not isinstance(e, tuple):
        return e
    op = e[0]
    if op in ("+", "-", "neg"):
        return _from_terms(_terms(e))
    if op in ("*", "/") or (op == "^" and not isinstance(e[2], tuple)):
        return _from_factors(*_factors(e))
    if op == "if":
        return _choice(e)
    if op == "not" and isinstance(e[1], tuple):
        return _negated(e)
    if op == "noEvent":
        return e[1] if not isinstance(e[1], tuple) or e[1][0] not in ("if", "max", "min", "abs") else e
    return e


# --- sums -------------------------------------------------------------------------------------------------------------


def _terms(e: Expr) -> dict[Expr, float]:
    """A sum as numbers times terms; the term 1.0 is the constant."""
    found: dict[Expr, float] = {}
    stack: list[tuple[Expr, float]] = [(e, 1.0)]
    while stack:
        part, sign = stack.pop()
        op = part[0] if isinstance(part, tuple) else ""
        if op == "+":
            stack.extend((a, sign) for a in reversed(part[1:]))  # type: ignore[index]
        elif op == "-":
            stack.extend([(part[2], -sign), (part[1], sign)])  # type: ignore[index]
        elif op == "neg":
            stack.append((part[1], -sign))  # type: ignore[index]
        else:
            coefficient, term = _coefficient(part)
            found[term] = found.get(term, 0.0) + sign * coefficient
    return found


def _coefficient(e: Expr) -> tuple[float, Expr]:
    if not isinstance(e, tuple):
        return e, 1.0
    if e[0] == "*" and not isinstance(e[1], tuple):
        return e[1], product(e[2:])
    if e[0] == "/" and isinstance(e[1], tuple):
        coefficient, top = _coefficient(e[1])
        return coefficient, call("/", top, e[2])
    if e[0] == "/":
        return e[1], ("/", 1.0, e[2])
    return 1.0, e


def _from_terms(terms: dict[Expr, float]) -> Expr:
    parts = []
    for term, coefficient in terms.items():
        if coefficient == 0.0:
            continue
        if isinstance(term, tuple) and term[0] == "/" and term[1] == 1.0:
            parts.append(call("/", coefficient, term[2]))
        elif isinstance(term, tuple) and term[0] == "/":
            parts.append(_signed(coefficient, call("/", _times(abs(coefficient), term[1]), term[2])))
        else:
            parts.append(_times(coefficient, term))
    if len(parts) > 1:  # a sum reads better when it does not begin with a minus
        first = next((k for k, p in enumerate(parts) if not _is_negative(p)), 0)
        parts.insert(0, parts.pop(first))
    return total(parts)


def _times(number: float, e: Expr) -> Expr:
    return product([number, *e[1:]]) if isinstance(e, tuple) and e[0] == "*" else product([number, e])


def _signed(sign: float, e: Expr) -> Expr:
    return neg(e) if sign < 0.0 else e


def _is_negative(e: Expr) -> bool:
    if not isinstance(e, tuple):
        return e < 0.0
    return e[0] == "neg" or (e[0] in ("*", "/") and not isinstance(e[1], tuple) and e[1] < 0.0)


# --- products ---------------------------------------------------------------------------------------------------------


def _factors(e: Expr) -> tuple[float, dict[Expr, float]]:
    """A product as a number times powers."""
    number, found = 1.0, dict[Expr, float]()
    stack: list[tuple[Expr, float]] = [(e, 1.0)]
    while stack:
        part, exponent = stack.pop()
        if not isinstance(part, tuple):
            if part == 0.0 and exponent < 0.0:
                found[part] = found.get(part, 0.0) + exponent
            else:
                number *= part**exponent
        elif part[0] == "*":
            stack.extend((a, exponent) for a in reversed(part[1:]))
        elif part[0] == "/":
            stack.extend([(part[2], -exponent), (part[1], exponent)])
        elif part[0] == "neg" and exponent == int(exponent):
            number *= (-1.0) ** int(exponent)
            stack.append((part[1], exponent))
        elif part[0] == "^" and not isinstance(part[2], tuple) and _combines(part[2], exponent):
            stack.append((part[1], exponent * part[2]))
        else:
            found[part] = found.get(part, 0.0) + exponent
    return number, found


def _combines(inner: float, outer: float) -> bool:
    """(x^a)^b is x^(a*b) for whole numbers; else only where b is 1."""
    return outer == 1.0 or (inner == int(inner) and outer == int(outer))


def _from_factors(number: float, powers: dict[Expr, float]) -> Expr:
    top = [call("^", base, n) for base, n in powers.items() if n > 0.0]
    bottom = [call("^", base, -n) for base, n in powers.items() if n < 0.0]
    if not bottom:
        return product([number, *top])
    above = product([abs(number), *top])
    return _signed(number, call("/", above, product(bottom)))


# --- branches ---------------------------------------------------------------------------------------------------------

_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def _negated(e: Node) -> Expr:
    inner: Node = e[1]
    if inner[0] in _OPPOSITE:
        return (_OPPOSITE[inner[0]], *inner[1:])
    made: Expr = inner[1] if inner[0] == "not" else e
    return made


def _choice(e: Node) -> Expr:
    """`if x >= 0 then x else -x` is abs(x), `if a >= b then a else b` is max(a, b), ..."""
    condition: Expr = e[1]
    yes: Expr = e[2]
    no: Expr = e[3]
    if yes == no:
        return yes
    if not isinstance(condition, tuple) or condition[0] not in ("<", "<=", ">", ">="):
        return e
    op, a, b = condition
    if op in ("<", "<="):
        a, b, yes, no = a, b, no, yes  # now: yes where a >= b
    if b == 0.0 and yes == a and no == _simple(("neg", a)):
        return ("abs", a)
    if yes == 1.0 and isinstance(no, tuple) and b == 0.0:
        return ("sign", a) if no == ("if", ("<", a, 0.0), -1.0, 0.0) else e
    if (yes, no) == (a, b):
        return ("max", a, b)
    return ("min", a, b) if (yes, no) == (b, a) else e
