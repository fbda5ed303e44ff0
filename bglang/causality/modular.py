"""Exact linear algebra for structure: numbers modulo a large prime.

Whether a ring of junctions is singular depends on products of moduli being exactly one.  Modulo a prime this is decided
without rounding; quantities that vary get fixed pseudo-random values, so that what holds here holds for almost all
values.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from zlib import crc32

from bglang.expr import Expr, leaves
from bglang.expr.core import LEAVES, operands
from bglang.expr.walk import postorder

PRIME = (1 << 61) - 1
Column = dict[int, int]


def inverse(a: int) -> int:
    return pow(a, PRIME - 2, PRIME)


def residue(x: float) -> int:
    """A decimal number as written, so that 0.1 times 10 is one."""
    try:
        fraction = Fraction(repr(float(x)))
    except (ValueError, OverflowError):
        return scatter("number", hash(x))
    return fraction.numerator % PRIME * inverse(fraction.denominator % PRIME) % PRIME


def scatter(word: str, *numbers: int) -> int:
    """The same pseudo-random residue for the same arguments, in every run."""
    state = crc32(word.encode()) + 1
    for n in (*numbers, 0x9E3779B97F4A7C15):
        state = (state * 6364136223846793005 + n + 1442695040888963407) % PRIME
        state = pow(state, 3, PRIME)
    return state or 1


class Residues:
    """Values of expressions modulo the prime; parameters have their values where these are known."""

    def __init__(self, parameters: Mapping[str, Expr | None]) -> None:
        self._parameters = parameters
        self._known: dict[str, int] = {}

    def modulus(self, value: Expr) -> int:
        """The value, never zero: a modulus that vanishes is told elsewhere and keeps its place in the structure."""
        return self.value(value) or scatter("zero")

    def value(self, value: Expr) -> int:
        if not isinstance(value, tuple):
            return residue(value)
        done: dict[int, int] = {}
        for node in postorder(value):
            done[id(node)] = self._node(node, done)
        return done[id(value)]

    def _node(self, node: tuple[object, ...], done: dict[int, int]) -> int:
        op = str(node[0])
        if op in LEAVES:
            if op == "p" and isinstance(node[1], str):
                return self._parameter(node[1])
            return scatter(op + str(node[1:]))
        args = [done[id(a)] if isinstance(a, tuple) else residue(a) for a in operands(node)]
        if op == "+":
            return sum(args) % PRIME
        if op == "*":
            result = 1
            for a in args:
                result = result * a % PRIME
            return result
        if op == "-":
            return (args[0] - args[1]) % PRIME
        if op == "neg":
            return -args[0] % PRIME
        if op == "/" and args[1]:
            return args[0] * inverse(args[1]) % PRIME
        power = node[2] if op == "^" else None
        if isinstance(power, float) and power == int(power) and (args[0] or power > 0):
            return pow(args[0], int(power), PRIME) if power > 0 else pow(inverse(args[0]), -int(power), PRIME)
        return scatter(op, *args)

    def _parameter(self, name: str) -> int:
        """Parameters may be given by others, in chains of any length."""
        stack = [name]
        while stack:
            top = stack[-1]
            value = self._parameters.get(top)
            wanted = [] if value is None else [x[1] for x in leaves(value) if x[0] == "p" and x[1] not in self._known]
            if top not in self._known:
                self._known[top] = scatter(top)  # also what a parameter in terms of itself would get
                if wanted:
                    stack.extend(wanted)
                    continue
            stack.pop()
            if value is not None:
                self._known[top] = self.value(value)
        return self._known[name]


def column_basis(columns: Sequence[Column]) -> tuple[list[bool], dict[int, Column]]:
    """Which columns are independent of those before them; for each other one the dependence, as column -> factor."""
    pivots: list[tuple[int, Column, Column]] = []  # row, column scaled to 1 there, how it was made
    pivot_of: dict[int, int] = {}
    chosen: list[bool] = []
    dependences: dict[int, Column] = {}
    for k, original in enumerate(columns):
        column, made = dict(original), {k: 1}
        waiting = [pivot_of[r] for r in column if r in pivot_of]
        waiting.sort()
        seen = set(waiting)
        while waiting:
            i = heappop(waiting)
            row, scaled, how = pivots[i]
            factor = column.get(row, 0)
            if not factor:
                continue
            _subtract(made, how, factor)
            for r in _subtract(column, scaled, factor):
                j = pivot_of.get(r)
                if j is not None and j not in seen:
                    seen.add(j)
                    heappush(waiting, j)
        chosen.append(bool(column))
        if not column:
            dependences[k] = made
            continue
        row = min(column)
        scale = inverse(column[row])
        pivot_of[row] = len(pivots)
        pivots.append((row, _scaled(column, scale), _scaled(made, scale)))
    return chosen, dependences


def _scaled(column: Column, scale: int) -> Column:
    return {r: x * scale % PRIME for r, x in column.items()}


def _subtract(column: Column, other: Column, factor: int) -> list[int]:
    """column -= factor * other; gives the rows that are new in column."""
    fresh: list[int] = []
    for r, x in other.items():
        before = column.get(r)
        value = ((before or 0) - factor * x) % PRIME
        if value:
            if before is None:
                fresh.append(r)
            column[r] = value
        elif before is not None:
            del column[r]
    return fresh
