"""Building, walking and rewriting expressions."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

Expr: TypeAlias = float | tuple[Any, ...]
"""See the package's docstring for the grammar of these trees."""

ZERO, ONE = 0.0, 1.0
TIME: Expr = ("t",)
LEAVES = frozenset({"v", "p", "t", "y", "d", "z", "cj"})
WITH_KEY = frozenset(
    {"table", "dtable", "ddtable", "dddtable", "pwlin", "external"}
    | {"interpolation", "dinterpolation", "ddinterpolation", "dddinterpolation"}
)
"""Operations whose last item is the name of a table or outside model, not an expression."""


def var(name: str) -> Expr:
    return ("v", name)


def par(name: str) -> Expr:
    return ("p", name)


def total(terms: Iterable[Expr]) -> Expr:
    """A sum; numbers are gathered and zeros dropped."""
    constant, rest = 0.0, list[Expr]()
    for term in terms:
        if isinstance(term, tuple):
            rest.append(term)
        else:
            constant += term
    if constant != 0.0 or not rest:
        rest.append(constant)
    return rest[0] if len(rest) == 1 else ("+", *rest)


def product(factors: Iterable[Expr]) -> Expr:
    """A product; numbers are gathered, ones dropped, and a zero wins."""
    constant, rest = 1.0, list[Expr]()
    for factor in factors:
        if isinstance(factor, tuple):
            rest.append(factor)
        else:
            constant *= factor
    if constant == 0.0 or not rest:
        return constant
    if constant == -1.0:
        return neg(rest[0] if len(rest) == 1 else ("*", *rest))
    if constant != 1.0:
        rest.insert(0, constant)
    return rest[0] if len(rest) == 1 else ("*", *rest)


def neg(a: Expr) -> Expr:
    if not isinstance(a, tuple):
        return -a
    return a[1] if a[0] == "neg" else ("neg", a)


def call(op: str, *args: Any) -> Expr:
    """Any operation, folded where that is exact: numbers are computed, neutral operands dropped."""
    if op == "+":
        return total(args)
    if op == "*":
        return product(args)
    if op == "neg":
        return neg(args[0])
    if op in ("-", "/"):
        return _difference(*args) if op == "-" else _quotient(*args)
    if op == "^":
        base: Expr = args[0]
        if args[1] == 0.0:
            return 1.0
        return base if args[1] == 1.0 else _number_or(lambda: math.pow(args[0], args[1]), op, args)
    if op in _UNARY:
        return _number_or(lambda: _UNARY[op](args[0]), op, args)
    if op == "if" and not isinstance(args[0], tuple):
        chosen: Expr = args[1] if args[0] != 0.0 else args[2]
        return chosen
    return (op, *args)


def _difference(a: Expr, b: Expr) -> Expr:
    if b == 0.0:
        return a
    if isinstance(a, tuple) or isinstance(b, tuple):
        if not isinstance(b, tuple) and b < 0.0:
            return total([a, -b])
        return neg(b) if a == 0.0 else ("-", a, b)
    return a - b


def _quotient(a: Expr, b: Expr) -> Expr:
    if b == 1.0:
        return a
    if a == 0.0 and b != 0.0:
        return 0.0
    return ("/", a, b) if isinstance(a, tuple) or isinstance(b, tuple) or b == 0.0 else a / b


_UNARY: dict[str, Callable[[float], float]] = {
    f.__name__: f
    for f in (
        *(math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.sinh, math.cosh, math.tanh),
        *(math.exp, math.log, math.log10, math.sqrt),
    )
}


def _numbers(args: tuple[Any, ...]) -> bool:
    return not any(isinstance(a, tuple) for a in args)


def _number_or(compute: Callable[[], float], op: str, args: tuple[Any, ...]) -> Expr:
    if _numbers(args):
        try:
            return float(compute())
        except (ValueError, OverflowError, ZeroDivisionError):
            pass  # left as it stands: evaluating it at run time gives the message with a place
    return (op, *args)


def operands(e: tuple[Any, ...]) -> tuple[Any, ...]:
    """The sub-expressions of a node that is not a leaf."""
    return e[1:-1] if e[0] in WITH_KEY else e[1:]


def leaves(e: Expr) -> Iterator[tuple[Any, ...]]:
    """All leaves from left to right, with repetition."""
    stack = [e]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            if node[0] in LEAVES:
                yield node
            else:
                stack.extend(reversed(operands(node)))


def map_leaves(e: Expr, change: Callable[[tuple[Any, ...]], Expr]) -> Expr:
    """The expression with every leaf replaced; parts that do not change are shared, parts that fold are folded.

    Parts that occur several times are done once and stay shared: written out they could be exponentially many."""
    if not isinstance(e, tuple):
        return e
    made: dict[int, Expr] = {}
    stack: list[tuple[Any, ...]] = [e]
    while stack:
        node = stack[-1]
        if id(node) in made:
            stack.pop()
            continue
        if node[0] in LEAVES:
            made[id(node)] = change(node)
            stack.pop()
            continue
        before = operands(node)
        waiting = [a for a in before if isinstance(a, tuple) and id(a) not in made]
        if waiting:
            stack.extend(reversed(waiting))
            continue
        stack.pop()
        after = [made[id(a)] if isinstance(a, tuple) else a for a in before]
        if all(a is b for a, b in zip(after, before, strict=True)):
            made[id(node)] = node
        else:
            tail = node[-1:] if node[0] in WITH_KEY else ()
            made[id(node)] = call(node[0], *after, *tail)
    return made[id(e)]
