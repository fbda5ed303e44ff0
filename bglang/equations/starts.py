"""Start values of the unknowns, and the equations that hold at the start only.

Which starts give way to which equations is decided where numbers are known (`bglang.solve`): here `fixed` says what the
source says.  A start on a variable that is no unknown can be no more than a remark, unless it is fixed: then it is an
initial equation.
"""

from bglang.diagnostics import warning
from bglang.equations.draft import Draft, Equation
from bglang.equations.inline import Inliner
from bglang.equations.maker import Maker
from bglang.equations.system import Row, Unknown
from bglang.expr import call
from bglang.graph.ir import Variable
from bglang.records import replace


def read_initial(draft: Draft, maker: Maker) -> list[Equation]:
    """The initial equations over keys, with those that a fixed start makes."""
    found = []
    for equation in draft.graph.initial_equations:
        left = maker.make(equation.left, equation.component, equation.span)
        right = maker.make(equation.right, equation.component, equation.span)
        found.append(Equation(left, right, equation.component, equation.span))
    for variable in draft.graph.variables:
        start, name = variable.start, draft.names.get(variable.name)
        if start is None or not start.written or name != ("v", variable.name) or variable.name in draft.leaves:
            continue
        if start.fixed:
            found.append(Equation(name, maker.constant(start.value), variable.name, start.span))
        elif variable.type == "Real":
            _warn(draft, variable)
    return found


def _warn(draft: Draft, variable: Variable) -> None:
    assert variable.start is not None
    draft.report.add(
        warning(
            "equations/start-of-no-state",
            f"`{variable.name}` is not a state: its start has no effect",
            variable.start.span,
            reason="Its value follows from other variables at every instant, also at the start.",
            hint="give the start of a state, or write `fixed = true` to make it an initial equation",
            component=variable.name,
        )
    )


def settle_starts(
    draft: Draft, maker: Maker, inliner: Inliner, initial: list[Equation]
) -> tuple[tuple[Unknown, ...], tuple[Row, ...]]:
    """The unknowns with their starts as numbers and parameters, and the initial equations as rows."""
    variables = {v.name: v for v in draft.graph.variables}
    unknowns = []
    for unknown in draft.unknowns:
        variable = variables.get(unknown.name) if unknown.kind == "algebraic" else None
        if variable is not None:
            unknown = _guess(unknown, variable)
        if isinstance(unknown.start, tuple) or isinstance(unknown.nominal, tuple):
            nominal = None if unknown.nominal is None else maker.constant(unknown.nominal)
            unknown = replace(unknown, start=maker.constant(unknown.start), nominal=nominal)
        unknowns.append(unknown)
    rows = []
    for equation in initial:
        residual = call("-", inliner(equation.left), inliner(equation.right))
        rows.append(Row(residual, False, equation.component, equation.span))
    return tuple(unknowns), tuple(rows)


def _guess(unknown: Unknown, variable: Variable) -> Unknown:
    start = variable.start
    named = replace(unknown, nominal=variable.nominal, unit=variable.unit, span=variable.span)
    return named if start is None else replace(named, start=start.value, written=start.written, fixed=start.fixed)
