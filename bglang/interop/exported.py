"""A model made ready for another platform: equations whose free inputs are discrete quantities, and a consistent start.

An input of the main model that nothing drives changes only when somebody sets it, so it is a discrete variable: between
two settings it is constant, and each setting is an event."""

from typing import TYPE_CHECKING

from bglang.diagnostics import Diagnostic, Report, SourceError, error
from bglang.equations.system import System
from bglang.expr import leaves
from bglang.expr.walk import postorder
from bglang.graph.ir import BondGraph, Start
from bglang.kernels.program import Floats, Program
from bglang.records import dataclass, replace
from bglang.source import Span

if TYPE_CHECKING:
    from bglang.api import Model
    from bglang.solve.consistent import Instant


@dataclass(frozen=True, slots=True)
class Ready:
    """What exporters write down.  `restarts`: other parameters and starts can be solved for with the laws alone;
    `tied` are the numbers of parameters that tables are made of, `held` those of unknowns whose start holds."""

    graph: BondGraph
    system: System
    program: Program
    p: Floats
    at: "Instant"
    nominal: Floats
    restarts: bool
    tied: frozenset[int]
    held: frozenset[int]


def with_free_inputs(graph: BondGraph) -> BondGraph:
    """The graph with its undriven inputs as discrete variables."""
    free = set(graph.inputs)
    if not free:
        return graph
    given = {e.left[1]: e.right for e in graph.equations if isinstance(e.left, tuple) and e.left[1] in free}
    variables = tuple(
        replace(v, kind="discrete", start=Start(given[v.name], True, None, v.span)) if v.name in free else v
        for v in graph.variables
    )
    equations = tuple(
        e for e in graph.equations if not (isinstance(e.left, tuple) and e.left[0] == "v" and e.left[1] in free)
    )
    return replace(graph, variables=variables, equations=equations)


def prepare(model: "Model") -> Ready:
    """Everything that an exporter needs; raises `SourceError` for a model that cannot be run or written."""
    from bglang.graph.checks import check_values
    from bglang.graph.parameters import evaluate_parameters
    from bglang.pipeline import causal, equations
    from bglang.solve.initialise import initialise
    from bglang.solve.native_model import Compiled
    from bglang.solve.problem import make_problem
    from bglang.solve.starts import plan_starts

    report = Report()
    check_values(model.graph, report)
    evaluate_parameters(model.graph, report=report)
    report.raise_if_errors()
    graph = with_free_inputs(model.graph)
    system = equations(graph, causal(graph, report), report)
    refused = _refusals(system)
    if refused:
        raise SourceError(refused)
    compiled = Compiled(system)
    problem = make_problem(system, None, {}, compiled.model)
    plan = plan_starts(problem)
    started = initialise(problem)
    restarts = not (plan.equations or plan.parameters or problem.steady or plan.checked)
    whole = compiled.model(started.problem.p).whole
    tied, held = _tied(system), frozenset(plan.held)
    return Ready(graph, system, compiled.program, whole, started.at, problem.nominal, restarts, tied, held)


def _refusals(system: System) -> list[Diagnostic]:
    found = list[Diagnostic]()
    for row in system.rows:
        if row.position is not None and any(leaf[0] == "d" for leaf in leaves(row.residual)):
            found.append(
                _cannot(
                    f"`{row.component}` cannot be exported",
                    row.span,
                    "When it sticks, its force follows from rates of several storages at once, which the solver that "
                    "is exported with the model cannot do.",
                )
            )
    for when in system.whens:
        for branch in when.branches:
            for action in branch.actions:
                value = getattr(action, "value", getattr(action, "condition", 0.0))
                if isinstance(value, tuple) and any(node[0] == "external" for node in postorder(value)):
                    found.append(
                        _cannot(
                            f"`{when.component}` cannot be exported",
                            branch.span,
                            "It is an FMU: its program is not part of what is written.",
                        )
                    )
                    break
                if isinstance(value, tuple) and any(node[0] == "sample" for node in postorder(value)):
                    found.append(
                        _cannot(
                            "`sample` in an action of a `when` cannot be exported",
                            action.span,
                            "There is no event of its own that it could belong to.",
                        )
                    )
    return found


def _cannot(message: str, span: Span, reason: str) -> Diagnostic:
    return error("export/unsupported", message, span, reason=reason)


def _tied(system: System) -> frozenset[int]:
    """Parameters that points of tables are computed from, at once or by way of others."""
    stack = [e for table in system.tables for e in (*table.x, *table.y) if isinstance(e, tuple)]
    found = set[int]()
    while stack:
        for leaf in leaves(stack.pop()):
            if leaf[0] == "p" and leaf[1] not in found:
                found.add(leaf[1])
                value = system.parameters[leaf[1]].value
                if isinstance(value, tuple):
                    stack.append(value)
    return frozenset(found)
