"""Too many or too few equations: found before anything is solved, in the user's names."""

from collections.abc import Iterable, Sequence

from bglang.diagnostics import Label, Report, error
from bglang.expr import Expr
from bglang.expr.walk import leaf_set
from bglang.graph.ir import Assign, BondGraph, Element, Equation, Variable
from bglang.graph.matching import match, shortage, surplus


def check_counts(graph: BondGraph, report: Report) -> None:
    """Signals: as many equations as unknowns, in every part.  Fields: a law for every port."""
    _signals(graph, report)
    for element in graph.elements:
        if element.kind == "field" and element.energy is None:
            _field(element, report)


def _signals(graph: BondGraph, report: Report) -> None:
    assigned = {
        action.target
        for when in graph.whens
        for branch in when.branches
        for action in branch.actions
        if isinstance(action, Assign)
    }
    unknowns = [v for v in graph.variables if v.name not in assigned]
    index = {v.name: k for k, v in enumerate(unknowns)}
    edges = [_mentioned(equation, index) for equation in graph.equations]
    column_of, row_of = match(edges, len(unknowns))
    for rows, columns in surplus(edges, column_of, row_of):
        _too_many([graph.equations[r] for r in rows], [unknowns[c].name for c in columns], assigned, report)
    for rows, columns in shortage(edges, column_of, row_of):
        _too_few([graph.equations[r] for r in rows], [unknowns[c] for c in columns], report)


def _mentioned(equation: Equation, index: dict[str, int]) -> list[int]:
    """The unknowns of an equation; one that stands alone on the left, also as `der(x)`, comes first."""
    found = dict[int, None]()
    first = equation.left
    if isinstance(first, tuple) and first[0] == "der":
        first = first[1]
    if isinstance(first, tuple) and first[0] == "v" and first[1] in index:
        found[index[first[1]]] = None
    for side in (equation.left, equation.right):
        found.update(dict.fromkeys(sorted(_unknowns(side, index))))
    return list(found)


def _unknowns(e: Expr, index: dict[str, int]) -> set[int]:
    return {index[leaf[1]] for leaf in leaf_set(e) if leaf[0] == "v" and leaf[1] in index}


def _too_many(equations: Sequence[Equation], names: Sequence[str], assigned: set[str], report: Report) -> None:
    last = equations[-1]
    if not names:
        known = sorted(leaf[1] for e in (last.left, last.right) for leaf in leaf_set(e) if leaf[0] == "v")
        when = [name for name in known if name in assigned]
        reason = "Everything in it follows from the bond graph already."
        if when:
            reason = f"`{when[0]}` is assigned in a `when` already."
        elif not known:
            reason = "No variable stands in it."
        report.add(
            error(
                "equations/too-many",
                "this equation has nothing to determine",
                last.span,
                reason=reason,
                hint="`assert` checks a condition; a source element imposes an effort or a flow." * (not when),
                component=last.component,
            )
        )
        return
    report.add(
        error(
            "equations/too-many",
            f"{len(equations)} equations for {len(names)} unknown{'s' * (len(names) > 1)}: {_listed(names)}",
            last.span,
            label="one of them",
            related=[Label(e.span, "another one") for e in equations[:-1][:4]],
            reason="Each of these equations would have to determine one of these unknowns.",
            hint="remove one of the equations, or declare what it should determine.",
            component=last.component,
        )
    )


def _too_few(equations: Sequence[Equation], variables: Sequence[Variable], report: Report) -> None:
    names = [v.name for v in variables]
    needed = [v for v in variables if v.use is not None]
    if len(needed) == len(variables) - len(equations):
        for v in needed:
            _no_input(v, report)
        return
    if len(variables) == 1:
        message = f"no equation determines `{names[0]}`"
        discrete = variables[0].kind == "discrete"
        hint = f"give it a value where it is declared, or an equation `{names[0]} = …;`."
        hint = f"assign it in a `when`: `{names[0]} = …;`." if discrete else hint
        reason = ""
    else:
        plural = f"equation{'s' * (len(equations) != 1)}"
        message = f"{len(equations)} {plural} for {len(names)} unknowns: {_listed(names)}"
        reason = "So many unknowns need as many equations."
        hint = "one of them needs an equation more, or a value where it is declared."
    report.add(
        error(
            "equations/too-few",
            message,
            variables[0].span,
            related=[Label(e.span, "used here") for e in equations[:4]],
            reason=reason,
            hint=hint,
            component=names[0],
        )
    )


def _no_input(variable: Variable, report: Report) -> None:
    """An input that nothing gives, told where its block is declared."""
    assert variable.use is not None
    owner, _, ident = variable.name.rpartition(".")
    report.add(
        error(
            "equations/too-few",
            f"the input `{variable.name}` is given no value",
            variable.use,
            related=[Label(variable.span, "the input")],
            reason="Inputs are given where a block or subsystem is declared, or by an equation.",
            hint=f"write `{owner.rpartition('.')[2]}({ident} = …)`.",
            component=variable.name,
        )
    )


def _listed(names: Iterable[str]) -> str:
    shown = list(names)
    text = ", ".join(f"`{name}`" for name in shown[:8])
    return text + f" and {len(shown) - 8} more" * (len(shown) > 8)


# --- fields ---------------------------------------------------------------------------------------------------------


def _field(element: Element, report: Report) -> None:
    """Each port takes one of the laws that mention it."""
    owner = {element.variable(k, letter): k for k in range(len(element.ports)) for letter in ("e", "f", "q", "p")}
    edges = list[list[int]]()
    for law in element.laws:
        ports = {owner[leaf[1]] for leaf in leaf_set(law.value) if leaf[0] == "v" and leaf[1] in owner}
        first = [law.port] if law.port >= 0 else []
        edges.append(first + sorted(ports - set(first)))
    column_of, row_of = match(edges, len(element.ports))
    for rows, columns in surplus(edges, column_of, row_of):
        names = [element.ports[c].name for c in columns]
        plural = "s" * (len(names) != 1)
        report.add(
            error(
                "laws/too-many",
                f"`{element.name}` has {len(rows)} laws for {len(names)} port{plural}: {_listed(names)}"
                if names
                else f"this law of `{element.name}` mentions none of its ports",
                element.laws[rows[-1]].span,
                related=[Label(element.laws[r].span, "another law") for r in rows[:-1][:4]],
                reason="A field has one law for each port.",
                component=element.name,
            )
        )
    for rows, columns in shortage(edges, column_of, row_of):
        names = [element.ports[c].name for c in columns]
        report.add(
            error(
                "laws/too-few",
                f"`{element.name}` has no law for {_listed(names)}"
                if not rows
                else f"`{element.name}` has {len(rows)} law{'s' * (len(rows) != 1)} for its ports {_listed(names)}",
                element.span,
                related=[Label(element.laws[r].span, "a law of these ports") for r in rows[:4]],
                reason="A field has one law for each port, or an `energy` for all.",
                component=element.name,
            )
        )
