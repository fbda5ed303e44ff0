"""Constraints on states alone: they determine nothing until they are differentiated.

A row without algebraic unknowns pins states (dry friction that sticks, a limiter that holds a capacitor): the reaction
that keeps it there is found from the row's time derivative, and `Row.position` keeps the row itself.  This is done
branch by branch: a mode may pin what another mode leaves free.  What is singular afterwards is reported by name.
"""

from typing import Any

from bglang.diagnostics import Label, error
from bglang.equations.draft import Draft, Leaf
from bglang.equations.maker import Maker
from bglang.equations.matching import FREE, match, overdetermined, underdetermined
from bglang.equations.system import Row
from bglang.equations.words import listed
from bglang.expr import Expr
from bglang.expr.diff import choose, time_derivative
from bglang.expr.invert import linear_in
from bglang.expr.walk import leaf_set, postorder, rebuild, rewrite, tree_size
from bglang.records import replace

CONDITIONS = 6
"""Rows with more conditions than this are not looked at branch by branch."""
RATE_SIZE = 60
"""Rates larger than this are referred to, not copied."""


def reduce_index(draft: Draft, maker: Maker, rows: list[Row], constraints: frozenset[int] = frozenset()) -> list[Row]:
    """The rows, with constraints on states differentiated; `differential` tells whether rates occur.

    `constraints` are rows that somebody else differentiates: they stay, and so does what is singular without them."""
    reducer = _Reducer(draft, rows)
    made = []
    for number, row in enumerate(rows):
        if draft.unknowns[number].kind == "state" or number in constraints:
            made.append(row)
            continue
        residual = reducer.reduce(row.residual)
        changed = residual is not row.residual
        final = maker.parameters.hoist(residual) if changed else residual
        differential = any(node[0] == "d" for node in postorder(final))
        made.append(replace(row, residual=final, differential=differential, position=row.residual if changed else None))
    if not constraints:
        _check_structure(draft, made)
    return made


class _Reducer:
    def __init__(self, draft: Draft, rows: list[Row]) -> None:
        self.draft, self.rows = draft, rows
        self.free = {("y", k) for k, u in enumerate(draft.unknowns) if u.kind != "state"}
        self.known: dict[Leaf, Expr] = {}
        """Unknowns that are mere names for functions of the states."""
        for number, row in enumerate(rows):
            explicit = _explicit(row.residual, ("y", number))
            if draft.unknowns[number].kind == "algebraic" and explicit is not None and self.pins(explicit):
                self.known["y", number] = explicit

    def pins(self, e: Expr) -> bool:
        """Does an expression depend on states alone (and on at least one)?"""
        states = False
        for leaf in leaf_set(e):
            if leaf[0] == "d" or (leaf in self.free and leaf not in self.known):
                return False
            states = states or leaf[0] == "y"
        return states

    def reduce(self, e: Expr) -> Expr:
        if ("y" not in {leaf[0] for leaf in leaf_set(e)}) or (self._own_row(e)):
            return e
        conditions = _conditions(e)
        if len(conditions) > CONDITIONS:
            return e
        return self._by_branch(e, conditions)

    def _own_row(self, e: Expr) -> bool:
        return isinstance(e, tuple) and e[0] == "-" and e[1] in self.known

    def _by_branch(self, e: Expr, conditions: list[Expr]) -> Expr:
        if not conditions:
            constraint = self._cancelled(e)
            return time_derivative(constraint, self._rate) if self.pins(constraint) else e
        yes, no = (_specialise(e, conditions[0], side) for side in (True, False))
        made = [self._by_branch(part, _conditions(part)) for part in (yes, no)]
        if made[0] is yes and made[1] is no:
            return e
        return choose(conditions[0], made[0], made[1])

    def _cancelled(self, e: Expr) -> Expr:
        """Without unknowns that cancel: of `0 = e - max(0, e + f)`, where it holds, only `0 = -f` is left."""
        for leaf in leaf_set(e):
            if leaf in self.free and leaf not in self.known:
                linear = linear_in(e, leaf)
                if linear is not None and linear[0] == 0.0:
                    e = linear[1]
        return e

    def _rate(self, leaf: Leaf) -> Expr:
        if leaf in self.known:
            return time_derivative(self.known[leaf], self._rate)
        number = leaf[1]
        explicit = _explicit(self.rows[number].residual, ("d", number))
        if explicit is None or tree_size(explicit) > RATE_SIZE:
            return ("d", number)
        return explicit


def _explicit(residual: Expr, leaf: Leaf) -> Expr | None:
    """The value, where a row is leaf - value."""
    if isinstance(residual, tuple) and residual[0] == "-" and residual[1] == leaf:
        return residual[2] if leaf not in leaf_set(residual[2]) else None
    return 0.0 if residual == leaf else None


def _conditions(e: Expr) -> list[Expr]:
    """Conditions over modes that choose between parts of the expression, outermost first, each once."""
    found: list[Expr] = []
    for node in reversed(postorder(e)):
        if node[0] == "if" and all(leaf[0] in ("z", "p") for leaf in leaf_set(node[1])) and node[1] not in found:
            found.append(node[1])
    return found


def _specialise(e: Expr, condition: Expr, side: bool) -> Expr:
    def operation(node: tuple[Any, ...], args: list[Expr]) -> Expr:
        if node[0] == "if" and node[1] == condition:
            return args[1] if side else args[2]
        return rebuild(node, args)

    return rewrite(e, lambda leaf: leaf, operation)


# --- structure --------------------------------------------------------------------------------------------------------


def _check_structure(draft: Draft, rows: list[Row]) -> None:
    """Every algebraic unknown and dependent storage needs an equation of its own."""
    numbers = [k for k, u in enumerate(draft.unknowns) if u.kind != "state"]
    column = {k: c for c, k in enumerate(numbers)}
    incidence = []
    for k in numbers:
        used = sorted({column[leaf[1]] for leaf in leaf_set(rows[k].residual) if leaf[0] == "y" and leaf[1] in column})
        incidence.append(used)
    found = match(incidence, len(numbers), [r if r in incidence[r] else FREE for r in range(len(numbers))])
    free_rows = found.free_rows()
    if not free_rows:
        return
    part, columns = overdetermined(incidence, found, free_rows[0])
    under, loose = underdetermined(incidence, found, found.free_columns()[0])
    row = rows[numbers[free_rows[0]]]
    too_many = listed([draft.unknowns[numbers[c]].name for c in columns])
    too_few = listed([draft.unknowns[numbers[c]].name for c in loose])
    places = {rows[numbers[r]].span: rows[numbers[r]].component for r in [*part, *under]}
    places.pop(row.span)
    draft.report.add(
        error(
            "equations/singular",
            f"nothing determines {too_few}",
            row.span,
            label="constrains what is fixed already",
            related=[Label(span, f"`{component}` takes part") for span, component in list(places.items())[:6]],
            reason=f"{_surplus(too_many if columns else '', row)}, while {too_few} could have any value.",
            hint="add the compliance, mass or resistance that the parts really have, or remove a redundant constraint.",
            component=row.component,
        )
    )


def _surplus(too_many: str, row: Row) -> str:
    """What is wrong with the equation that has nothing to determine."""
    if too_many:
        return f"The equations here fix {too_many} more than once"
    if any(leaf[0] == "y" for leaf in leaf_set(row.residual)):
        return "An equation here fixes states, and acts only through its derivatives"
    return "All that an equation here relates is given already"
