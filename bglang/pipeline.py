"""The pipeline, as straight calls.  This page is the only list of the stages.

parse       text -> `syntax.ast.File`.  Every node knows its place in the text; no name has a meaning yet.
elaborate   files -> `graph.ir.BondGraph`.  Classes, arrays, macros, ports and modifications are gone: what is left are
            elements, bonds, parameters, variables and equations with dotted names.
check       the same graph, looked at: units, domains, lone nodes, counts of equations, reciprocity.  Afterwards the
            model makes sense, whatever its numbers.
assign      BondGraph -> `causality.result.Causality`: a stroke and a reason for every bond.
derive      BondGraph + Causality -> `equations.system.System`: F(t, y, dy/dt, p, z) = 0 with modes, starts and outputs.
lower       System -> `kernels.program.Program`: equations of one shape are one class with index arrays.
load        Program -> `kernels.load.Kernels`: native code, from the cache or made now.
solve       Problem -> `results.Result`: consistent start, integration, events, energy audit.

Each stage reads only what the stage before it made; a stage that finds mistakes adds them to the report and the model
goes no further.  `bglang dump FILE --after STAGE` prints what comes out of any of them.
"""

from collections.abc import Sequence

from bglang.causality.assign import assign_causality
from bglang.causality.result import Causality
from bglang.diagnostics import Report
from bglang.elaborate import load_model
from bglang.equations.derive import derive
from bglang.equations.system import System
from bglang.graph.checks import check
from bglang.graph.ir import BondGraph
from bglang.request import Request

STAGES = ("parse", "elaborate", "causality", "derive", "lower")


def front(request: Request, report: Report, *, numbers: bool) -> BondGraph:
    """Text to checked graph.  `numbers`: every parameter needs a value (not for causality, drawings and equations)."""
    graph = load_model(
        request.origin,
        model=request.model,
        set=request.set,
        libraries=request.libraries,
        demand=request.demand,
        allow_read=request.allow_read,
        allow_native=request.allow_native,
        report=report,
        limits=request.limits,
    )
    check(graph, report, units=request.units, numbers=numbers)
    report.raise_if_errors()
    return graph


def causal(graph: BondGraph, report: Report, keep: Sequence[str] = ()) -> Causality:
    """Strokes; conflicts that cannot be solved are errors."""
    causality = assign_causality(graph, keep=keep, report=report)
    report.raise_if_errors()
    return causality


def equations(graph: BondGraph, causality: Causality, report: Report) -> System:
    """The equations that the solver gets."""
    system = derive(graph, causality, report)
    report.raise_if_errors()
    return system
