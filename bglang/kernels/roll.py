"""Rolling: equations of the same shape become one class with index arrays.

A shape is an expression whose leaves are slots: which variable, parameter, discrete quantity or table stands there
differs from instance to instance and is kept in index columns.  What is compiled is the shape, so the cost of compiling
follows the number of different laws and never the number of components.  Numbers that differ between instances would
keep shapes apart; they become entries of a block of constants behind the parameters.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bglang.expr import neg
from bglang.expr.core import WITH_KEY, Expr
from bglang.kernels.tape import SILENT, TRANSPARENT
from bglang.records import dataclass

Index: TypeAlias = npt.NDArray[np.int32]

WIDE = 12
"""A sum of more terms than this is rolled term by term: a junction of a thousand bonds is a sparse row, not code."""
MANY = 24
RARE = 4
"""With more than MANY shapes, sums whose shape has fewer than RARE instances are rolled term by term too."""

_KEPT = {value: f"#{value}" for value in (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)}
"""Numbers that stay in the shape: the compiler can do something with them."""
_NARY = frozenset({"+", "*", "min", "max", "and", "or"})


@dataclass(slots=True)
class Layout:
    """Where things lie in the vector p: parameters, blocks of tables, then numbers lifted out of shapes."""

    parameters: int
    tables: Mapping[str, int]
    base: int
    constants: dict[float, int]

    def constant(self, value: float) -> int:
        return self.constants.setdefault(value, self.base + len(self.constants))


@dataclass(frozen=True, slots=True)
class Shape:
    """All instances of one shape: `expression` over slots, and an index column per slot.

    `variables` serves y and d alike, so each (row, variable) pair of an instance is one slot.  `rows` says where each
    result goes; with `adds` it is added there, for terms of a sum that was taken apart."""

    expression: Expr
    variables: Index
    parameters: Index
    discrete: Index
    tables: Index
    rows: Index
    adds: bool


class _Group:
    """The instances found so far; the columns are kept flat, instance after instance."""

    __slots__ = ("discrete", "first", "parameters", "rows", "tables", "terms", "variables")

    def __init__(self, first: Expr) -> None:
        self.first = first
        self.terms = len(_terms(first))
        self.variables: list[int] = []
        self.parameters: list[int] = []
        self.discrete: list[int] = []
        self.tables: list[int] = []
        self.rows: list[int] = []


Groups: TypeAlias = dict[tuple[Any, ...], _Group]


def roll(equations: Sequence[Expr], layout: Layout) -> list[Shape]:
    """Group the expressions, row k being `equations[k]`.  Linear in their size, however deep they are or shared."""
    whole, parts = Groups(), Groups()
    for row, e in enumerate(equations):
        _sort_in(whole, e, row, layout)
    many = len(whole) > MANY
    kept = list[_Group]()
    for group in whole.values():
        if group.terms > WIDE or (many and group.terms > 2 and len(group.rows) < RARE):
            for row in group.rows:
                for term in _terms(equations[row]):
                    _sort_in(parts, term, row, layout)
        else:
            kept.append(group)
    return [_shape(g, layout, False) for g in kept] + [_shape(g, layout, True) for g in parts.values()]


def _terms(e: Expr) -> list[Expr]:
    """The terms of a sum, through nested sums, differences and signs.

    A sum that stands in several places is taken apart in the first one only: written out, a chain of shared sums would
    be exponentially long."""
    found = list[Expr]()
    opened = set[int]()
    stack: list[tuple[Expr, bool]] = [(e, False)]
    while stack:
        node, negative = stack.pop()
        if not isinstance(node, tuple) or node[0] not in ("+", "-", "neg") or id(node) in opened:
            found.append(neg(node) if negative else node)
            continue
        opened.add(id(node))
        if node[0] == "+":
            stack.extend((a, negative) for a in reversed(node[1:]))
        elif node[0] == "-":
            stack += [(node[2], not negative), (node[1], negative)]
        else:
            stack.append((node[1], not negative))
    return found


def _sort_in(groups: Groups, e: Expr, row: int, layout: Layout) -> None:
    """Walk one expression; its tokens, with leaves numbered in the order they appear, name its group."""
    variables: dict[int, int] = {}
    parameters: dict[int, int] = {}
    discrete: dict[int, int] = {}
    tables: dict[int, int] = {}
    seen: dict[int, int] = {}
    tokens: list[Any] = []
    append = tokens.append
    stack = [e]
    while stack:
        node = stack.pop()
        if type(node) is not tuple:
            kept: str | int | None = _KEPT.get(node)  # type: ignore[arg-type]
            if kept is None:
                constant = layout.constant(float(node))  # type: ignore[arg-type]
                kept = 4 * parameters.setdefault(constant, len(parameters)) + 2
            append(kept)
            continue
        op = node[0]
        # A leaf is one number; every other token that is a number stands behind an operation's name.
        if op == "y":
            append(4 * variables.setdefault(node[1], len(variables)))
        elif op == "p":
            append(4 * parameters.setdefault(node[1], len(parameters)) + 2)
        elif op == "d":
            append(4 * variables.setdefault(node[1], len(variables)) + 1)
        elif op == "z":
            append(4 * discrete.setdefault(node[1], len(discrete)) + 3)
        elif op == "t":
            append(op)
        else:
            append(op)
            before = seen.get(id(node))
            if before is not None:
                append(-1 - before)  # this very object again: walking it twice may cost exponential time
                continue
            seen[id(node)] = len(seen)
            if op in _NARY:
                append(len(node))
                stack.extend(node[:0:-1])
            elif op == "^" and type(node[2]) is not tuple:
                append(repr(float(node[2])))
                stack.append(node[1])
            elif op in WITH_KEY:
                append(tables.setdefault(layout.tables[node[-1]], len(tables)))
                stack.append(node[1])
            elif op in TRANSPARENT:
                stack.append(node[TRANSPARENT[op]])
            elif op not in SILENT:
                stack.extend(node[:0:-1])
    key = tuple(tokens)
    group = groups.get(key)
    if group is None:
        group = groups[key] = _Group(e)
    group.variables.extend(variables)
    group.parameters.extend(parameters)
    group.discrete.extend(discrete)
    group.tables.extend(tables)
    group.rows.append(row)


def _shape(group: _Group, layout: Layout, adds: bool) -> Shape:
    count = len(group.rows)

    def column(flat: Iterable[int]) -> Index:
        return np.array(flat, np.int32).reshape(count, -1).T.copy()

    return Shape(
        _slots(group, layout, count),
        column(group.variables),
        column(group.parameters),
        column(group.discrete),
        column(group.tables),
        np.array(group.rows, np.int32),
        adds,
    )


def _slots(group: _Group, layout: Layout, count: int) -> Expr:
    """The first instance with its leaves replaced by the slots they fill."""

    def numbered(flat: list[int]) -> dict[int, int]:
        return {index: slot for slot, index in enumerate(flat[: len(flat) // count])}

    variables, discrete = numbered(group.variables), numbered(group.discrete)
    slots = {"y": variables, "d": variables, "p": numbered(group.parameters), "z": discrete}
    tables = numbered(group.tables)
    done: dict[int, Expr] = {}
    stack = [group.first]
    while stack:
        e = stack[-1]
        if id(e) in done:
            stack.pop()
        elif not isinstance(e, tuple):
            kept = float(e) if e in _KEPT else ("p", slots["p"][layout.constant(float(e))])
            done[id(stack.pop())] = kept
        elif e[0] in slots:
            done[id(stack.pop())] = (e[0], slots[e[0]][e[1]])
        elif e[0] == "t" or e[0] in SILENT:
            done[id(stack.pop())] = e if e[0] == "t" else 0.0
        else:
            exponent = e[0] == "^" and not isinstance(e[2], tuple)
            if e[0] in TRANSPARENT:
                parts: tuple[Expr, ...] = (e[TRANSPARENT[e[0]]],)
            else:
                parts = e[1:2] if exponent or e[0] in WITH_KEY else e[1:]
            missing = [a for a in parts if id(a) not in done]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            new = [done[id(a)] for a in parts]
            if e[0] in TRANSPARENT:
                done[id(e)] = new[0]
            else:
                tail = (float(e[2]),) if exponent else (tables[layout.tables[e[-1]]],) if e[0] in WITH_KEY else ()
                done[id(e)] = (e[0], *new, *tail)
    return done[id(group.first)]
