"""Signals: which variables are states, and which equation determines which variable.

`der(x)` makes x a state, whose rate an equation has to give.  Where the equations determine x itself (`x = sin(time)`),
it is no state, and `der(x)` is its exact derivative.  Equations that give a variable explicitly become its value, the
others stay implicit: the variable is then an unknown of the system.
"""

from collections.abc import Sequence
from typing import Any

from bglang.diagnostics import Label, error
from bglang.equations.draft import Draft, Equation, Key
from bglang.equations.latches import find_latches
from bglang.equations.maker import Maker, keys_of
from bglang.equations.matching import FREE, Matching, match, overdetermined, underdetermined
from bglang.equations.system import Mode, Unknown
from bglang.equations.words import listed
from bglang.expr import Expr, call
from bglang.expr.expand import elementary
from bglang.expr.invert import invert
from bglang.expr.walk import leaf_set, postorder
from bglang.graph import ir
from bglang.graph.ir import Assign, BondGraph, Variable

Incidence = list[list[int]]


def add_signals(draft: Draft, maker: Maker) -> None:
    """Names of signals, their states and discrete variables, and their equations."""
    graph = draft.graph
    if not graph.variables and not graph.equations:
        return
    assigned = {a.target for w in graph.whens for b in w.branches for a in b.actions if isinstance(a, Assign)}
    draft.latches = tuple(latch for latch in find_latches(graph) if latch.name not in assigned)
    assigned.update(latch.name for latch in draft.latches)
    kept = {id(latch.equation) for latch in draft.latches}
    equations = [e for e in graph.equations if id(e) not in kept]
    solved = {leaf[1] for e in equations for side in (e.left, e.right) for leaf in leaf_set(side) if leaf[0] == "v"}
    states = _choose_states(graph, equations, assigned)
    for variable in graph.variables:
        if variable.type == "String":
            continue
        if variable.name in states:
            _add_state(draft, variable)
        elif variable.name in assigned or (variable.kind == "discrete" and variable.name not in solved):
            _add_discrete(draft, maker, variable)
        else:
            draft.names[variable.name] = ("v", variable.name)
            draft.open_variables[variable.name] = None
    for equation in equations:
        left = maker.make(equation.left, equation.component, equation.span)
        right = maker.make(equation.right, equation.component, equation.span)
        draft.open_equations.append(Equation(left, right, equation.component, equation.span))


def _add_state(draft: Draft, variable: Variable) -> None:
    start = variable.start
    unknown = Unknown(
        variable.name,
        "state",
        0.0 if start is None else start.value,
        start is not None and start.written,
        None if start is None else start.fixed,
        variable.nominal,
        variable.unit,
        variable.span,
    )
    number = draft.add_unknown(unknown)
    draft.signal_states[variable.name] = number
    draft.names[variable.name] = ("y", number)
    draft.open_variables["rate", number] = None


def _add_discrete(draft: Draft, maker: Maker, variable: Variable) -> None:
    start = 0.0 if variable.start is None else elementary(variable.start.value, maker.modes.tables)
    mode = Mode("discrete", (), (start,), variable.name, variable.name, "", variable.span)
    draft.names[variable.name] = maker.modes.add(mode)


def _choose_states(graph: BondGraph, equations: Sequence[ir.Equation], assigned: set[str]) -> set[str]:
    """The variables under `der`, except those that the equations determine themselves: of several that would do, one
    without a written start, and the last declared, gives way."""
    variables = {v.name for v in graph.variables if v.type != "String" and v.name not in assigned}
    continuous = {v.name for v in graph.variables if v.kind != "discrete"} & variables
    sides = [e for equation in equations for e in (equation.left, equation.right)]
    sides += [law.value for element in graph.elements for law in element.laws]
    candidates = {name for e in sides for name in _under_der(e) if name in continuous}
    places = {v.name: (v.start is not None and v.start.written, -k) for k, v in enumerate(graph.variables)}
    while candidates:
        names = [name for name in sorted(variables) if name not in candidates]
        keys: list[Any] = [*names, *(("der", name) for name in sorted(candidates))]
        yielding = sorted(candidates, key=places.__getitem__)
        columns = {key: k for k, key in enumerate([*keys, *yielding])}
        rows = [_raw_incidence((e.left, e.right), columns) for e in equations]
        found = match([[c for c in row if c < len(keys)] for row in rows], len(keys))
        determined = set[str]()
        for root in found.free_rows():
            part, _ = overdetermined([[c for c in row if c < len(keys)] for row in rows], found, root)
            inside = {c for r in part for c in rows[r] if c >= len(keys)}
            if inside:
                determined.add(yielding[min(inside) - len(keys)])
        if not determined:
            break
        candidates -= determined
    return candidates


def _under_der(e: Expr) -> list[str]:
    return [n[1][1] for n in postorder(e) if n[0] == "der" and isinstance(n[1], tuple) and n[1][0] == "v"]


def _raw_incidence(sides: tuple[Expr, Expr], columns: dict[Any, int]) -> list[int]:
    """The columns that an equation by names mentions; `der(x)` does not mention x, and determines nothing unless x is a
    state."""
    found: dict[int, None] = {}
    stack = [*sides]
    while stack:
        e = stack.pop()
        if not isinstance(e, tuple):
            continue
        key: Any = None
        if e[0] == "v":
            key = e[1]
        elif e[0] == "der" and isinstance(e[1], tuple) and e[1][0] == "v":
            key = ("der", e[1][1])
        if key is None:
            stack.extend(a for a in e[1:] if isinstance(a, tuple))
        elif key in columns:
            found[columns[key]] = None
    return list(found)


def solve_open(draft: Draft, maker: Maker) -> None:
    """Finds for each open variable the equation that determines it."""
    variables = list(draft.open_variables)
    if not variables and not draft.open_equations:
        return
    columns = {key: k for k, key in enumerate(variables)}
    incidence: Incidence = []
    first: list[int] = []
    taken: set[int] = set()
    for equation in draft.open_equations:
        used = {k: None for side in (equation.left, equation.right) for k in keys_of(side) if k in columns}
        incidence.append([columns[k] for k in used])
        choice = _explicit(equation, columns)
        first.append(FREE if choice in taken else choice)
        taken.add(choice)
    found = match(incidence, len(variables), first)
    if not _pair_constraints(draft, found):
        _report_singular(draft, variables, incidence, found)
    for equation, column in zip(draft.open_equations, found.column_of, strict=True):
        if column != FREE:
            _determine(draft, maker, variables[column], equation)


def _pair_constraints(draft: Draft, found: Matching) -> bool:
    """Constraints on states determine a reaction through their derivative: each takes a variable that is left over.

    Which one does not matter, for index reduction looks at all rows together."""
    rows, columns = found.free_rows(), found.free_columns()
    if len(rows) != len(columns):
        return False
    for r in rows:
        equation = draft.open_equations[r]
        if not any(node[0] in ("y", "v") for side in (equation.left, equation.right) for node in leaf_set(side)):
            return False
    for r, c in zip(rows, columns, strict=True):
        found.column_of[r], found.row_of[c] = c, r
    return True


def _explicit(equation: Equation, columns: dict[Key, int]) -> int:
    """The column of the variable that stands alone on the left."""
    for side, other in ((equation.left, equation.right), (equation.right, equation.left)):
        if isinstance(side, tuple) and side[0] == "v" and side[1] in columns and side[1] not in keys_of(other):
            return columns[side[1]]
    return FREE


def _determine(draft: Draft, maker: Maker, key: Key, equation: Equation) -> None:
    value = _solved(equation.left, equation.right, ("v", key))
    if value is not None:
        draft.values[key] = maker.parameters.hoist(value)
        return
    residual = call("-", equation.left, equation.right)
    if isinstance(key, tuple) and key[0] == "rate":
        draft.leaves[key] = ("d", key[1])
        draft.set_row(key[1], residual, equation)
    else:
        draft.add_algebraic(key, residual, equation.component, equation.span)


def _solved(left: Expr, right: Expr, leaf: tuple[Any, ...]) -> Expr | None:
    in_left, in_right = leaf[1] in keys_of(left), leaf[1] in keys_of(right)
    if left == leaf and not in_right:
        return right
    if right == leaf and not in_left:
        return left
    if in_left and not in_right:
        return invert(left, leaf, right)
    if in_right and not in_left:
        return invert(right, leaf, left)
    return invert(call("-", left, right), leaf, 0.0)


def _report_singular(draft: Draft, variables: list[Key], rows: Incidence, found: Matching) -> None:
    """Too many or too few equations, with the smallest part in which that is so."""
    for root in found.free_rows():
        part, columns = overdetermined(rows, found, root)
        equation = draft.open_equations[root]
        names = listed([draft.describe(variables[c]) for c in columns])
        others = [draft.open_equations[r] for r in part if r != root]
        reason = (
            f"{len(part)} equations determine only {len(columns)} variables: {names}."
            if columns
            else "All its variables are determined elsewhere."
        )
        draft.report.add(
            error(
                "equations/too-many",
                "there is one equation too many",
                equation.span,
                label="nothing is left for this one to determine",
                related=[Label(e.span, "takes part") for e in others[:4]],
                reason=reason,
                hint="remove one of them, or make a variable of what it sets",
                component=equation.component,
            )
        )
    for root in found.free_columns():
        part, columns = underdetermined(rows, found, root)
        names = listed([draft.describe(variables[c]) for c in columns])
        draft.report.add(
            error(
                "equations/too-few",
                f"no equation determines `{draft.describe(variables[root])}`",
                _place_of(draft, variables[root]),
                related=[Label(draft.open_equations[r].span, "takes part") for r in part[:4]],
                reason=f"{len(part)} equations are there for {len(columns)} variables: {names}." if part else "",
                hint="add an equation for it",
            )
        )


def _place_of(draft: Draft, key: Key) -> Any:
    if isinstance(key, int):
        return draft.graph.bonds[key // 2].span
    if isinstance(key, tuple) and key[0] == "rate":
        return draft.unknowns[key[1]].span
    return next((v.span for v in draft.graph.variables if v.name == key), draft.graph.span)
