"""Transformers and gyrators that would be divided by where that can be avoided.

Masses that hang on one angle through sines and cosines: one is independent, and the angle's rate would follow from it
by a division that fails where its own sine is zero, although the others still move with the angle.  There the law is
multiplied out: the common flow is an unknown, 0 = f2 - m*f1 its equation.  The effort on the other side is the rate of
the independent storage, less what else acts there; put into 0 = e1 - m*e2 it makes the balance that gives the storage
its rate together with those that depend on it.  This is regular wherever the storages together are.

Likewise where the variable takes part in an algebraic loop: springs with dampers that hold a massless crank by its sine
and cosine determine its rate together, and a law multiplied out is one equation of that loop.

Where neither holds, the division is what the model says; it stays.
"""

from collections import deque
from typing import Any

from bglang.equations.draft import Draft, Key, Quotient
from bglang.equations.maker import keys_of
from bglang.equations.order import components
from bglang.equations.system import Row
from bglang.expr import Expr, call
from bglang.expr.invert import linear_in
from bglang.expr.walk import leaf_set, rewrite, tree_size

LARGEST = 2000
"""Leaves of an effort written out in terms of a rate; a larger one stays an unknown."""


def avoid_divisions(draft: Draft) -> None:
    """Multiplies quotients out where rates of dependent storages pass them, or loops."""
    if not draft.quotients:
        return
    needs = _needs(draft)
    rated, looped = _rated(draft, needs), _looped(needs)
    passed = {q.element for q in draft.quotients if q.key in rated or q.key in looped}
    chosen = [q for q in draft.quotients if q.element in passed]
    for quotient in chosen:
        del draft.values[quotient.key]
    elimination = _Elimination(draft)
    for quotient in chosen:
        if quotient.key not in rated or not elimination.solve(quotient):
            element = draft.graph.elements[quotient.element]
            draft.add_algebraic(quotient.key, quotient.product, element.name, element.span)
            draft.multiplied.add(quotient.key)


def _needs(draft: Draft) -> dict[Key, list[Key]]:
    """What each variable is made of, or determined together with."""
    found = {key: keys_of(value) for key, value in draft.values.items()}
    for key, leaf in draft.leaves.items():
        row = draft.rows[leaf[1]]
        if leaf[0] == "y" and row is not None:
            found[key] = keys_of(row.residual)
    return found


def _users(needs: dict[Key, list[Key]]) -> dict[Key, list[Key]]:
    users: dict[Key, list[Key]] = {}
    for key, others in needs.items():
        for other in others:
            users.setdefault(other, []).append(key)
    return users


def _looped(needs: dict[Key, list[Key]]) -> set[Key]:
    """The variables that depend on themselves."""
    return {key for part in components(needs) if len(part) > 1 or part[0] in needs[part[0]] for key in part}


def _rated(draft: Draft, needs: dict[Key, list[Key]]) -> set[Key]:
    """The variables that depend on the rate of a dependent storage."""
    users = _users(needs)
    found = {key for key, value in draft.values.items() if any(leaf[0] == "d" for leaf in leaf_set(value))}
    waiting = list(found)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in found:
                found.add(user)
                waiting.append(user)
    return found


class _Elimination:
    """Solves the rates of states for the efforts and flows that make them."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.users = _users({key: keys_of(value) for key, value in draft.values.items()})

    def solve(self, quotient: Quotient) -> bool:
        """The variable in terms of a rate to which it adds with a constant factor, if there is one."""
        draft = self.draft
        inside = self._dependent_on(quotient.key)
        for key in inside:
            if not (isinstance(key, tuple) and key[0] == "rate" and draft.rows[key[1]] is None):
                continue
            written = self._expand(key, inside)
            linear = None if written is None else linear_in(written, ("v", quotient.key))
            if linear is None or not _is_constant(linear[0]):
                continue
            number = key[1]
            value = call("/", call("-", ("v", key), linear[1]), linear[0])
            self._settle(quotient, number, value)
            return True
        return False

    def _settle(self, quotient: Quotient, number: int, value: Expr) -> None:
        """The product is now the equation of the state, whose rate is a leaf."""
        draft = self.draft
        draft.values[quotient.key] = value
        for key in keys_of(value):
            self.users.setdefault(key, []).append(quotient.key)
        del draft.values["rate", number]
        draft.leaves["rate", number] = ("d", number)
        draft.rows[number] = Row(
            quotient.product, True, draft.unknowns[number].name.rpartition(".")[0], draft.unknowns[number].span
        )

    def _dependent_on(self, key: Key) -> dict[Key, None]:
        """Everything that its value goes into, nearest first."""
        found: dict[Key, None] = {}
        waiting: deque[Key] = deque([key])
        while waiting:
            for user in self.users.get(waiting.popleft(), ()):
                if user not in found and user in self.draft.values:
                    found[user] = None
                    waiting.append(user)
        return found

    def _expand(self, key: Key, inside: dict[Key, None]) -> Expr | None:
        """The value of a variable with everything inside put in; None where it is a loop or too large."""
        values, done, active = self.draft.values, dict[Key, Expr](), set[Key]()
        stack = [key]
        while stack:
            top = stack[-1]
            if top in done:
                stack.pop()
                continue
            missing = [k for k in dict.fromkeys(keys_of(values[top])) if k in inside and k not in done]
            if not missing:
                done[top] = rewrite(values[top], lambda leaf: _put(leaf, done))
                active.discard(top)
                stack.pop()
            elif top in active and any(k in active for k in missing):
                return None
            else:
                active.add(top)
                stack.extend(missing)
        return done[key] if tree_size(done[key]) <= LARGEST else None


def _put(leaf: tuple[Any, ...], done: dict[Key, Expr]) -> Expr:
    return done.get(leaf[1], leaf) if leaf[0] == "v" else leaf


def _is_constant(factor: Expr) -> bool:
    return factor != 0.0 and all(leaf[0] == "p" for leaf in leaf_set(factor))
