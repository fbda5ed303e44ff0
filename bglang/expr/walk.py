"""Walking and rewriting expressions that may be deep or share parts: iterative, every shared part visited once.

Parts are told apart by identity, not by value: hashing a tuple costs its whole size, and a chain of shared parts would
cost exponentially much.
"""

from collections.abc import Callable
from typing import Any

from bglang.expr.core import LEAVES, WITH_KEY, Expr, call, operands

Memo = dict[int, tuple[Expr, Expr]]
"""From the identity of a node to the node (kept alive, so that the identity stays its own) and its result."""


def is_flat(e: tuple[Any, ...]) -> bool:
    """Is the expression one operation on leaves and numbers?  Most laws are; they deserve short ways."""
    return all(not isinstance(a, tuple) or a[0] in LEAVES for a in e[1:])


def postorder(e: Expr) -> list[tuple[Any, ...]]:
    """Every part of the expression once, operands before operations; numbers are left out."""
    if not isinstance(e, tuple):
        return []
    done: set[int] = set()
    order: list[tuple[Any, ...]] = []
    stack: list[tuple[tuple[Any, ...], bool]] = [(e, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif id(node) not in done:
            done.add(id(node))
            if node[0] in LEAVES:
                order.append(node)
                continue
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(operands(node)) if isinstance(a, tuple) and id(a) not in done)
    return order


def rebuild(node: tuple[Any, ...], args: list[Expr]) -> Expr:
    """The operation with other operands, folded; the node itself where nothing changed."""
    if all(a is b for a, b in zip(args, operands(node), strict=True)):
        return node
    return call(node[0], *args, node[-1]) if node[0] in WITH_KEY else call(node[0], *args)


def rewrite(
    e: Expr,
    leaf: Callable[[tuple[Any, ...]], Expr],
    operation: Callable[[tuple[Any, ...], list[Expr]], Expr] = rebuild,
    memo: Memo | None = None,
) -> Expr:
    """The expression rebuilt from below: `leaf` replaces leaves, `operation` makes a node from its new operands.

    With a `memo` that is kept between calls, parts shared by several expressions stay shared and are done once."""
    if not isinstance(e, tuple):
        return e
    if e[0] in LEAVES:
        return leaf(e)
    memo = {} if memo is None else memo
    stack: list[tuple[tuple[Any, ...], bool]] = [(e, False)]
    while stack:
        node, ready = stack.pop()
        if id(node) in memo:
            continue
        if node[0] in LEAVES:
            memo[id(node)] = (node, leaf(node))
        elif ready:
            args = [memo[id(a)][1] if isinstance(a, tuple) else a for a in operands(node)]
            memo[id(node)] = (node, operation(node, args))
        else:
            stack.append((node, True))
            stack.extend((a, False) for a in operands(node) if isinstance(a, tuple) and id(a) not in memo)
    return memo[id(e)][1]


def depends(e: Expr, leaf: Expr) -> bool:
    """Does the expression contain the leaf?"""
    if isinstance(e, tuple) and is_flat(e):
        return e == leaf or leaf in e[1:]
    return any(node == leaf for node in postorder(e) if node[0] in LEAVES)


def leaf_set(e: Expr) -> set[tuple[Any, ...]]:
    """The leaves of an expression, each once."""
    return {node for node in postorder(e) if node[0] in LEAVES}


def contains(e: Expr, operations: frozenset[str]) -> bool:
    """Does one of the operations occur?"""
    return any(node[0] in operations for node in postorder(e))


def tree_size(e: Expr) -> int:
    """How many leaves the expression has when written out in full."""
    sizes: dict[int, int] = {}
    for node in postorder(e):
        if node[0] in LEAVES:
            sizes[id(node)] = 1
        else:
            sizes[id(node)] = sum(sizes[id(a)] if isinstance(a, tuple) else 1 for a in operands(node))
    return sizes[id(e)] if isinstance(e, tuple) else 1
