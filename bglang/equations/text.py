"""Equations for people: state or DAE form in the model's own names, with the origin of every line.

`list_equations` makes a listing, which prints as text, as LaTeX and as data for JSON.  The state form is written out
where it exists in closed form; where it does not, the listing is the DAE form and says why.
"""

from typing import Any, Literal

from bglang.causality.result import Causality
from bglang.equations.explicit import residual_sides, solve_states, with_relations
from bglang.equations.names import CO, STATE, attach, is_integral
from bglang.equations.readable import named
from bglang.equations.system import Row, System
from bglang.expr import Expr, call, var
from bglang.expr.invert import invert
from bglang.expr.latex import escape, latex
from bglang.expr.text import text
from bglang.expr.tidy import tidy
from bglang.expr.walk import depends
from bglang.graph.ir import BondGraph, Element, Law
from bglang.records import dataclass
from bglang.source import Span

Form = Literal["state", "dae"]


@dataclass(frozen=True, slots=True)
class Line:
    """left = right, the component it comes from, and how it was made."""

    left: Expr
    right: Expr
    component: str
    span: Span
    note: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """`equations` give the rates of the states, `algebraic` the other unknowns, `laws` the elements as oriented."""

    model: str
    form: Form
    obstacle: str
    states: tuple[str, ...]
    equations: tuple[Line, ...]
    algebraic: tuple[Line, ...]
    laws: tuple[Line, ...]


def list_equations(graph: BondGraph, causality: Causality, system: System, form: Form = "state") -> Listing:
    states = tuple(u.name for u in system.unknowns if u.kind == "state")
    laws = oriented_laws(graph, causality)
    explicit = solve_states(system) if form == "state" else None
    if explicit is not None and not explicit.obstacle:
        equations = [_line(system, ("d", k), value, system.rows[k]) for k, value in explicit.rates.items()]
        algebraic = [_line(system, ("y", k), value, system.rows[k]) for k, value in explicit.values.items()]
        return Listing(graph.name, "state", "", states, tuple(equations), tuple(algebraic), laws)
    rows = [(_residual_line(system, row), system.unknowns[k].kind) for k, row in enumerate(system.rows)]
    equations = [line for line, kind in rows if kind == "state"]
    algebraic = [line for line, kind in rows if kind != "state"]
    obstacle = "" if explicit is None else explicit.obstacle
    return Listing(graph.name, "dae", obstacle, states, tuple(equations), tuple(algebraic), laws)


def _line(system: System, left: Expr, right: Expr, row: Row, note: str = "") -> Line:
    shown = tidy(named(with_relations(right, system), system))
    return Line(tidy(named(with_relations(left, system), system)), shown, row.component, row.span, note)


def _residual_line(system: System, row: Row) -> Line:
    left, right = residual_sides(row.residual)
    note = (
        ""
        if row.position is None
        else "differentiated: it also holds that "
        + text(tidy(named(with_relations(row.position, system), system)))
        + " = 0"
    )
    return _line(system, left, right, row, note)


# --- laws in their direction -----------------------------------------------------------------------------------------


def oriented_laws(graph: BondGraph, causality: Causality) -> tuple[Line, ...]:
    """Every law in the direction that causality gives it: as given, inverted, or implicit."""
    places = attach(graph, causality)
    tables = {t.key: t for t in graph.tables}
    lines: list[Line] = []
    for element in graph.elements:
        for law in element.laws:
            port = law.port if law.port >= 0 else 0
            place = places[element.id][port]
            kind = element.ports[port].kind
            letter = "e" if place.sets_effort else "f"
            if kind in STATE:
                letter = CO[kind] if is_integral(kind, place) else STATE[kind]
            lines.append(_oriented(element, law, element.variable(port, letter), tables))
    return tuple(lines)


def _oriented(element: Element, law: Law, wanted: str, tables: Any) -> Line:
    given = var(element.variable(law.port, law.gives)) if law.gives else 0.0
    leaf = var(wanted)
    if given == leaf and not depends(law.value, leaf):
        return Line(leaf, tidy(law.value), element.name, law.span, "as given")
    target = law.value if given == 0.0 else call("-", law.value, given)
    inverse = invert(law.value, leaf, given, tables) if given != leaf else invert(target, leaf, 0.0, tables)
    if inverse is not None:
        return Line(leaf, tidy(inverse), element.name, law.span, "inverted")
    return Line(given, tidy(law.value), element.name, law.span, f"implicit for {wanted}")


# --- printing --------------------------------------------------------------------------------------------------------


def _sections(listing: Listing) -> list[tuple[str, tuple[Line, ...]]]:
    titles = {
        "state": ("State equations", "Other unknowns"),
        "dae": ("Differential equations", "Algebraic equations"),
    }[listing.form]
    found = [(titles[0], listing.equations), (titles[1], listing.algebraic), ("Laws", listing.laws)]
    return [(title, lines) for title, lines in found if lines]


def _origin(line: Line) -> str:
    shown = []
    if line.component:
        shown.append(line.component)
    if line.span.source.text:
        shown.append(f"{line.span.source.name}:{line.span.line}")
    return ", ".join([*shown, *([line.note] if line.note else [])])


def as_text(listing: Listing) -> str:
    """A page of plain text; origins stand in a column of their own."""
    out = [f"{listing.model}: " + (f"states {', '.join(listing.states)}" if listing.states else "no states")]
    if listing.obstacle:
        out.append(f"There is no explicit state form: {listing.obstacle}.")
    for title, lines in _sections(listing):
        out += ["", title]
        shown = [(f"  {text(line.left)} = {text(line.right)}", _origin(line)) for line in lines]
        width = min(72, max(len(equation) for equation, _ in shown))
        out += [f"{equation:<{width}}  // {origin}".rstrip() for equation, origin in shown]
    return "\n".join(out) + "\n"


def as_latex(listing: Listing) -> str:
    """A document that compiles as it stands."""
    out = [r"\documentclass{article}", r"\usepackage{amsmath}", r"\allowdisplaybreaks", r"\begin{document}"]
    out.append(rf"\section*{{{escape(listing.model)}}}")
    if listing.obstacle:
        out.append(f"There is no explicit state form: {escape(listing.obstacle)}.")
    for title, lines in _sections(listing):
        out += [rf"\subsection*{{{title}}}", r"\begin{align*}"]
        rows = [rf"  {latex(line.left)} &= {latex(line.right)} && \text{{{escape(_origin(line))}}}" for line in lines]
        out += [row + r" \\" for row in rows[:-1]] + rows[-1:] + [r"\end{align*}"]
    return "\n".join([*out, r"\end{document}"]) + "\n"


def as_data(listing: Listing) -> dict[str, Any]:
    """The listing for JSON; expressions in the language's own syntax."""

    def entry(line: Line) -> dict[str, Any]:
        place = line.span.line if line.span.source.text else None
        return {
            "left": text(line.left), "right": text(line.right), "component": line.component, "line": place,
            "note": line.note,
        }  # fmt: skip

    return {
        "model": listing.model,
        "form": listing.form,
        "obstacle": listing.obstacle,
        "states": list(listing.states),
        "equations": [entry(line) for line in listing.equations],
        "algebraic": [entry(line) for line in listing.algebraic],
        "laws": [entry(line) for line in listing.laws],
    }
