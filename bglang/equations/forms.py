"""The equations of a model in the form that somebody wants to read."""

from collections.abc import Mapping
from typing import Any, Protocol

from bglang.causality.assign import assign_causality
from bglang.diagnostics import Report, UsageError
from bglang.graph.ir import BondGraph
from bglang.suggest import did_you_mean

FORMS = ("state", "dae", "field", "lagrange")
STATES = ("energy", "coenergy")


class Equations(Protocol):
    """What every form can do."""

    def to_dict(self) -> dict[str, Any]: ...

    def latex(self) -> str: ...

    def __str__(self) -> str: ...


def make_equations(
    graph: BondGraph, form: str, wish: Mapping[str, object], states: str, matrices: bool, report: Report
) -> Equations:
    """The equations of a graph in one of the `FORMS`; `wish` is what is asked of the Lagrange form."""
    for value, known, what in ((form, FORMS, "form"), (states, STATES, "states")):
        if value not in known:
            hint = did_you_mean(value, known)
            raise UsageError(f"{what}: `{value}` is none of {', '.join(known)}{'; ' + hint if hint else ''}")
    if form == "lagrange":
        return _lagrange(graph, wish, report)
    causality = assign_causality(graph, report=report)
    report.raise_if_errors()
    if form == "field":
        from bglang.equations.forms_field import field_form

        return field_form(graph, causality, report, matrices)
    from bglang.equations.derive import derive
    from bglang.equations.forms_state import written_form

    return written_form(graph, causality, derive(graph, causality, report), form == "state", states == "coenergy")


def _lagrange(graph: BondGraph, wish: Mapping[str, object], report: Report) -> Equations:
    from bglang.equations.lagrange import derive_lagrange
    from bglang.equations.lagrange_choice import settle_choice
    from bglang.equations.lagrange_text import lagrange_equations

    choice = settle_choice(graph, wish)
    made = lagrange_equations(derive_lagrange(graph, choice.coordinates, report, choice.strong), choice.level)
    report.extend(made.warnings)
    return made
