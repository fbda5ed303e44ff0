"""What is algebraic taken out of a system by formula, so that rates of states are functions of states and time.

Rows without rates come first: laws that give a variable are put in, linear loops are solved.  A row that fixes its
variable only together with rates (the force of a friction that sticks) is kept for the second stage, in which rates
are solved for.  Where a row is one thing or another according to a mode, every case is solved by itself.
"""

from collections.abc import Sequence
from typing import Any

from bglang.equations.draft import Key
from bglang.equations.eliminate import LIMIT, solve_linear
from bglang.equations.order import components
from bglang.equations.system import System
from bglang.expr import Expr, map_leaves
from bglang.expr.diff import choose, time_derivative
from bglang.expr.invert import invert
from bglang.expr.walk import leaf_set, postorder, rebuild, rewrite, tree_size

Leaf = tuple[Any, ...]

CASES = 5
"""Conditions that are taken apart in one loop: each doubles the work."""
LONGEST = 20_000
"""Operations in a formula that is still written; what is longer nobody reads."""


class Elimination:
    """Algebraic variables in terms of states; then the rates of the states."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.values: dict[Leaf, Expr] = {}
        self.left: list[Leaf] = []
        """What cannot be solved for, as leaves."""
        self._late: list[int] = []

    def rates(self) -> dict[int, Expr] | None:
        """The rate of every state over states, parameters, modes and time; None where something is left over."""
        unknowns, rows = self.system.unknowns, self.system.rows
        if not self._solve_algebraic():
            return None
        if not self._differentiate_dependent():
            return None
        states = [n for n, u in enumerate(unknowns) if u.kind == "state"]
        wanted: dict[Leaf, int] = {("d", n): n for n in states} | {("y", n): n for n in self._late}
        equations = {leaf: self.put_in(rows[n].residual) for leaf, n in wanted.items()}
        needs = {leaf: [x for x in leaf_set(e) if x in wanted] for leaf, e in equations.items()}
        for part in _parts(needs):
            found = solve_by_cases([self.put_in(equations[leaf]) for leaf in part], part)
            if found is None:
                self.left += part
                return None
            self._add(part, found)
        made = {n: self.put_in(self.values["d", n]) for n in states}
        return made if all(tree_size(e) <= LONGEST for e in made.values()) else None

    def _solve_algebraic(self) -> bool:
        """Rows without rates first; rows that hold rates define variables that can be put in as they stand."""
        unknowns, rows = self.system.unknowns, self.system.rows
        others: dict[Leaf, int] = {("y", n): n for n, u in enumerate(unknowns) if u.kind != "state"}
        needs = {leaf: [x for x in leaf_set(rows[n].residual) if x in others] for leaf, n in others.items()}
        for part in _parts(needs):
            residuals = [self.put_in(rows[leaf[1]].residual) for leaf in part]
            found = solve_by_cases(residuals, part)
            if found is not None:
                self._add(part, found)
            elif any(x[0] == "d" for e in residuals for x in leaf_set(e)):
                self._late += [leaf[1] for leaf in part]
            else:
                self.left += part
                return False
        return True

    def _differentiate_dependent(self) -> bool:
        for n, u in enumerate(self.system.unknowns):
            if u.kind != "dependent":
                continue
            value = self.put_in(self.values.get(("y", n), ("y", n)))
            if any(x[0] == "y" and self.system.unknowns[x[1]].kind != "state" for x in leaf_set(value)):
                self.left.append(("y", n))  # its rate would need the rate of something that is solved for later
                return False
            self._add([("d", n)], [time_derivative(value, lambda leaf: ("d", leaf[1]) if leaf[0] == "y" else 0.0)])
        return True

    def _add(self, part: Sequence[Leaf], found: Sequence[Expr]) -> None:
        for leaf, value in zip(part, found, strict=True):
            self.values[leaf] = value

    def put_in(self, e: Expr) -> Expr:
        """Known values instead of leaves, again until none is left."""
        while any(leaf in self.values for leaf in leaf_set(e)):
            e = map_leaves(e, self._value)
        return e

    def _value(self, leaf: Leaf) -> Expr:
        return self.values.get(leaf, leaf)


def _parts(needs: dict[Leaf, list[Leaf]]) -> list[list[Leaf]]:
    """What depends on each other, dependencies first."""
    graph: dict[Key, list[Key]] = {n: [*others] for n, others in needs.items()}
    return [[n for n in part if isinstance(n, tuple)] for part in components(graph)]


def solve_by_cases(residuals: Sequence[Expr], leaves: Sequence[Leaf], cases: int = CASES) -> list[Expr] | None:
    """The values of some leaves from 0 = residual for each, case by case where rows are; None where there is no
    formula."""
    if len(leaves) > LIMIT:
        return None
    if len(leaves) == 1:
        value = invert(residuals[0], leaves[0], 0.0)
        if value is not None:
            return [value]
    found = solve_linear(residuals, leaves)
    if found is not None:
        return found
    condition = _condition(residuals, leaves)
    if condition is None or cases == 0:
        return None
    yes, no = (
        solve_by_cases([_taken(e, condition, branch) for e in residuals], leaves, cases - 1) for branch in (2, 3)
    )
    if yes is None or no is None:
        return None
    return [choose(condition, a, b) for a, b in zip(yes, no, strict=True)]


def _condition(residuals: Sequence[Expr], leaves: Sequence[Leaf]) -> Expr | None:
    """A condition, itself known, that decides how some of the leaves enter."""
    wanted = set(leaves)
    for e in residuals:
        for node in postorder(e):
            if node[0] == "if" and wanted.isdisjoint(leaf_set(node[1])) and not wanted.isdisjoint(leaf_set(node)):
                condition: Expr = node[1]
                return condition
    return None


def _taken(e: Expr, condition: Expr, branch: int) -> Expr:
    """The expression in one case of a condition."""

    def operation(node: Leaf, args: list[Expr]) -> Expr:
        return args[branch - 1] if node[0] == "if" and node[1] == condition else rebuild(node, args)

    return rewrite(e, lambda leaf: leaf, operation)
