"""State equations in closed form, where they exist: every other unknown is solved for and put in.

Algebraic unknowns and dependent storages are solved from their rows; the rate of a dependent storage is then the
derivative of its value, which makes the rows of the states linear in their rates: these are solved last.
"""

from typing import Any

from bglang.equations.system import System
from bglang.expr import Expr, call
from bglang.expr.diff import time_derivative
from bglang.expr.invert import invert
from bglang.expr.tidy import tidy
from bglang.expr.walk import leaf_set, rewrite, tree_size
from bglang.records import dataclass

LONGEST = 2000
"""Leaves of an expression beyond which nobody would read on."""

Leaf = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Explicit:
    """The rate of each state and the value of each other unknown, by number; or why there is no such form."""

    rates: dict[int, Expr]
    values: dict[int, Expr]
    obstacle: str = ""


def solve_states(system: System) -> Explicit:
    """dx/dt = f(t, x) and the other unknowns as functions of t and x."""
    values: dict[Leaf, Expr] = {}
    others = [k for k, u in enumerate(system.unknowns) if u.kind != "state"]
    pinned = [row for row in system.rows if row.position is not None]
    if pinned:
        return Explicit({}, {}, f"`{pinned[0].component}` pins states in some of its modes")
    dependent = [k for k in others if system.unknowns[k].kind == "dependent"]
    for k in [*dependent, *(k for k in others if k not in dependent)]:
        if not _solve(system, k, ("y", k), values):
            return Explicit({}, {}, f"`{system.unknowns[k].name}` follows from an equation without a closed solution")
    for k in dependent:
        values["d", k] = _put(time_derivative(values["y", k], lambda leaf: ("d", leaf[1])), values)
    rates: dict[Leaf, Expr] = {}
    states = [k for k, u in enumerate(system.unknowns) if u.kind == "state"]
    for k in states:
        if not _solve(system, k, ("d", k), values, rates):
            return Explicit({}, {}, f"the rate of `{system.unknowns[k].name}` has no closed form")
    for k in others:
        values["y", k] = tidy(_put(values["y", k], rates))
    found = Explicit({k: rates["d", k] for k in states}, {k: values["y", k] for k in others})
    longest = max((tree_size(e) for e in (*found.rates.values(), *found.values.values())), default=0)
    return Explicit({}, {}, "written out they would be too long to read") if longest > LONGEST else found


def _solve(
    system: System, k: int, leaf: Leaf, values: dict[Leaf, Expr], solved: dict[Leaf, Expr] | None = None
) -> bool:
    """One row solved for one leaf and put into all that was solved before."""
    target = values if solved is None else solved
    residual = _put(_put(system.rows[k].residual, values), target)
    if tree_size(residual) > LONGEST:
        return False
    answer = invert(residual, leaf, 0.0)
    if answer is None:
        return False
    answer = tidy(answer)
    for other, value in target.items():
        if leaf in leaf_set(value):
            target[other] = tidy(_put(value, {leaf: answer}))
    target[leaf] = answer
    return True


def _put(e: Expr, values: dict[Leaf, Expr]) -> Expr:
    return rewrite(e, lambda leaf: values.get(leaf, leaf)) if values else e


def with_relations(e: Expr, system: System) -> Expr:
    """Modes replaced by the relations that define them, so that `if` and `abs` look as in the source."""

    def leaf(node: Leaf) -> Expr:
        if node[0] != "z":
            return node
        mode = system.modes[node[1]]
        if mode.kind == "floor":
            return ("floor", with_relations(mode.arguments[0], system))
        if mode.kind == "relation":
            root = with_relations(mode.roots[0], system)
            a, b = (root[1], root[2]) if isinstance(root, tuple) and root[0] == "-" else (root, 0.0)
            if all(part[0] == "p" for part in leaf_set(a)):  # what varies comes first, as people write it
                return ("<" if mode.strict else "<=", b, a)
            return (">" if mode.strict else ">=", a, b)
        return node

    return rewrite(e, leaf)


def residual_sides(residual: Expr) -> tuple[Expr, Expr]:
    """An equation for the eye: what stands alone goes to the left."""
    if isinstance(residual, tuple) and residual[0] == "-":
        return residual[1], residual[2]
    return 0.0, call("neg", residual) if isinstance(residual, tuple) and residual[0] == "neg" else residual
