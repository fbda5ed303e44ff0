"""All checks of a flat graph before anything is computed with it."""

from typing import Any

from bglang.diagnostics import Diagnostic, Report, error, warning
from bglang.expr.numbers import NotANumber, evaluate, unordered
from bglang.graph.counting import check_counts
from bglang.graph.ir import BondGraph, Element, Parameter
from bglang.graph.laws import check_laws
from bglang.graph.parameters import evaluate_parameters
from bglang.graph.structure import check_structure
from bglang.graph.unit_check import Mode, check_units
from bglang.graph.used import used_parameters


def check(graph: BondGraph, report: Report, *, units: Mode = "error", numbers: bool = True) -> None:
    """Adds to the report whatever is wrong or doubtful.

    `numbers`: the model is going to be computed, so every element needs a law and every parameter a value; `causality`,
    `draw` and `equations` do without."""
    check_structure(graph, report)
    check_counts(graph, report)
    values: dict[str, float]
    if numbers:
        used = check_values(graph, report)
        values = evaluate_parameters(graph, report=report)
        check_tables(graph, values, report)
    else:
        used = used_parameters(graph)
        values = evaluate_parameters(graph, report=Report())
    check_laws(graph, values, report)
    check_units(graph, report, units)
    check_unused(graph, used, report)


# --- values ---------------------------------------------------------------------------------------------------------


def check_values(graph: BondGraph, report: Report) -> set[str]:
    """Elements without law and parameters without value cannot be computed with; returns the parameters in use."""
    silent = set[str]()
    for element in graph.elements:
        if element.symbolic:
            report.add(_without_law(element))
            gains = [law.gain for law in element.laws if law.gain is not None]
            if element.modulus is not None:
                gains.append(element.modulus)
            silent.update(g[1] for g in gains if isinstance(g, tuple) and g[0] == "p")
    used = used_parameters(graph)
    for parameter in graph.parameters:
        missing = parameter.value is None and parameter.fixed and parameter.type != "String"
        if missing and parameter.name in used and parameter.name not in silent:
            report.add(
                error(
                    "parameters/no-value",
                    f"the parameter `{parameter.name}` has no value",
                    parameter.span,
                    hint=f"write `{_last(parameter.name)} = …` where it is declared or used, "
                    f"or run with `--set {parameter.name}=…`.",
                    component=parameter.name,
                )
            )
    return used


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


_LAWS = {
    "R": "`R = …` or a law such as `e = …`",
    "C": "`C = …` or a law such as `e = …`",
    "I": "`I = …` or a law such as `f = …`",
    "Se": "`e = …`",
    "Sf": "`f = …`",
    "TF": "`m = …`",
    "GY": "`r = …`",
}


def _without_law(element: Element) -> Diagnostic:
    given = _LAWS.get(element.kind, "laws for its ports")
    return error(
        "laws/missing",
        f"`{element.name}` has no law",
        element.span,
        reason="It is linear with a symbolic parameter, which is enough for its causality but not for numbers.",
        hint=f"give it {given}.",
        component=element.name,
    )


def check_tables(graph: BondGraph, values: dict[str, float], report: Report) -> None:
    """The x of a table whose points are parameters must increase for the values that these have."""

    def leaf(node: tuple[Any, ...]) -> float:
        if node[1] not in values:
            raise NotANumber(node[1])
        return values[node[1]]

    for table in graph.tables:
        if not any(isinstance(x, tuple) for x in table.x):
            continue
        try:
            xs = [evaluate(x, leaf) for x in table.x]
        except NotANumber:
            continue  # a parameter without value, which is reported there
        problem = unordered(xs, jumps=table.method == "linear")
        if problem is not None:
            row = problem[0]
            a, b = xs[row - 1], xs[row]
            message = f"x must increase, but in rows {row} and {row + 1} of this table it goes from {a:.6g} to {b:.6g}"
            report.add(error("tables/order", message, table.span, hint="check the parameters that its points use."))


# --- use ------------------------------------------------------------------------------------------------------------


def check_unused(graph: BondGraph, used: set[str], report: Report) -> None:
    """A parameter of the model's own file that nothing reads; one declaration that is read anywhere is in use."""
    declared: dict[int, list[Parameter]] = {}
    for parameter in graph.parameters:
        if parameter.span.source is graph.span.source:
            declared.setdefault(parameter.span.start, []).append(parameter)
    for group in declared.values():
        first = group[0]
        plain = first.type in ("Real", "Integer") and not first.constant and not any(p.structural for p in group)
        if plain and first.fixed and not any(p.name in used for p in group):
            report.add(
                warning(
                    "parameters/unused",
                    f"the parameter `{first.name.split('[')[0] if len(group) > 1 else first.name}` is not used",
                    first.span,
                    hint="remove it, or use it in a law.",
                    component=first.name,
                )
            )
