"""The field form: storages, losses and sources around a junction structure.

    dXi/dt = JS11 Zi + JS12 dXd/dt + JS13 Do + JS14 U
    Zd     = JS21 Zi + JS22 dXd/dt + JS23 Do + JS24 U
    Di     = JS31 Zi + JS32 dXd/dt + JS33 Do + JS34 U

Xi are the independent storages, Xd the dependent ones, Zi what the independent ones give, Zd what the dependent ones
are given, Di what goes into the losses and Do what comes out of them, U the sources.
"""

from typing import Any

from bglang.causality.result import Causality
from bglang.diagnostics import Report, error
from bglang.equations.draft import Attachment, Draft, Key
from bglang.equations.forms_events import event_lines
from bglang.equations.forms_laws import Direction, Named, law_directions, output_letter, prepare
from bglang.equations.maker import keys_of
from bglang.equations.names import CO, INPUT, STATE, is_integral
from bglang.equations.order import components
from bglang.equations.page import Grid, Line, Page, Section
from bglang.equations.structure import add_structure
from bglang.expr import Expr, map_leaves, neg, product, total
from bglang.expr.gather import readable
from bglang.expr.invert import linear_in
from bglang.expr.text import text
from bglang.graph.ir import BondGraph
from bglang.records import dataclass

Combination = dict[Key, Expr]

ROWS = ("independent", "dependent", "loss")
COLUMNS = ("independent", "dependent", "loss", "source")


@dataclass(frozen=True, slots=True)
class Terminal:
    """A port of the fields: what it takes from the junction structure and what it gives to it.

    A rate stands for what a storage takes: `der(mass.p)` for the effort of an I."""

    group: str
    takes: Expr
    gives: Expr
    take_key: int
    take_sign: int
    give_key: int
    give_sign: int


@dataclass(frozen=True, slots=True)
class FieldForm:
    model: str
    terminals: tuple[Terminal, ...]
    equations: tuple[tuple[Expr, Expr, str], ...]
    laws: tuple[Direction, ...]
    signals: tuple[Line, ...]
    events: tuple[str, ...]
    blocks: tuple[tuple[str, Grid], ...]
    show_matrices: bool

    def vectors(self) -> dict[str, list[str]]:
        """The vectors of the form by the document's names."""

        def names(group: str, side: str) -> list[str]:
            return [text(getattr(t, side)) for t in self.terminals if t.group == group]

        return {
            "dXi": names("independent", "takes"),
            "Zi": names("independent", "gives"),
            "Zd": names("dependent", "takes"),
            "dXd": names("dependent", "gives"),
            "Di": names("loss", "takes"),
            "Do": names("loss", "gives"),
            "U": names("source", "gives"),
        }

    def to_dict(self) -> dict[str, Any]:
        made: dict[str, Any] = {
            "model": self.model,
            "form": "field",
            "vectors": self.vectors(),
            "equations": [{"left": text(left), "right": text(right), "group": g} for left, right, g in self.equations],
            "laws": [law.to_dict() for law in self.laws],
            "signals": [{"left": text(x.left), "right": text(x.right), "origin": x.origin} for x in self.signals],
            "events": list(self.events),
        }
        if self.show_matrices:
            made["matrices"] = {
                name: {
                    "rows": list(g.rows),
                    "columns": list(g.columns),
                    "entries": [[text(e) for e in row] for row in g.entries],
                }
                for name, g in self.blocks
            }
        return made

    def page(self) -> Page:
        vectors = self.vectors()
        head = tuple(f"{name} = ({', '.join(items)})" for name, items in vectors.items() if items)
        titles = {"independent": "Rates of the independent storages", "dependent": "Dependent storages are given",
                  "loss": "Losses are given"}  # fmt: skip
        sections = [
            Section(title, tuple(Line(left, right) for left, right, g in self.equations if g == group))
            for group, title in titles.items()
            if any(g == group for _, _, g in self.equations)
        ]
        sections.append(Section("Laws in their assigned direction", tuple(law.line() for law in self.laws)))
        if self.signals:
            sections.append(Section("Signals and displacements", self.signals))
        if self.events:
            sections.append(Section("Events", remarks=self.events))
        if self.show_matrices:
            sections.append(Section("Junction structure", grids=tuple(g for _, g in self.blocks)))
        return Page(f"{self.model}: field form", head, tuple(sections))

    def __str__(self) -> str:
        return self.page().text()

    def latex(self) -> str:
        return self.page().latex()


def field_form(graph: BondGraph, causality: Causality, report: Report, matrices: bool) -> FieldForm:
    draft, maker = prepare(graph, causality)
    add_structure(draft, maker)
    named = Named(draft, maker)
    terminals = [t for e in graph.elements if e.kind not in ("J0", "J1", "TF", "GY")
                 for p in draft.attachments[e.id] for t in [_terminal(draft, e.id, p)]]  # fmt: skip
    solver = _Structure(draft, {t.give_key for t in terminals}, report)
    equations, entries = list[tuple[Expr, Expr, str]](), dict[tuple[int, int], Expr]()
    for i, t in enumerate(terminals):
        if t.group == "source":
            continue
        combination = solver.combination(t.take_key)
        terms = []
        for j, other in enumerate(terminals):
            coefficient = combination.get(other.give_key, 0.0)
            if coefficient != 0.0:
                sign = t.take_sign * other.give_sign
                entry = entries[i, j] = named(coefficient if sign > 0 else neg(coefficient))
                terms.append(product([entry, other.gives]))
        equations.append((t.takes, total(terms), t.group))
    report.raise_if_errors()
    order = {group: [k for k, t in enumerate(terminals) if t.group == group] for group in COLUMNS}
    blocks = tuple(
        (f"JS{a + 1}{b + 1}", _grid(f"JS{a + 1}{b + 1}", terminals, order[row], order[column], entries))
        for a, row in enumerate(ROWS)
        for b, column in enumerate(COLUMNS)
        if order[row] and order[column]
    )
    return FieldForm(
        graph.name,
        tuple(terminals),
        tuple(equations),
        law_directions(graph, causality),
        _signals(graph, draft, named, solver, terminals),
        event_lines(graph),
        blocks,
        matrices,
    )


def _signals(
    graph: BondGraph, draft: Draft, named: Named, solver: "_Structure", terminals: list[Terminal]
) -> tuple[Line, ...]:
    """Equations beside the bonds; what they read of a bond is put in terms of what the fields give."""
    givers: dict[Key, Terminal] = {t.give_key: t for t in terminals}
    known = {text(side) for t in terminals for side in (t.takes, t.gives)}

    def value(leaf: tuple[Any, ...]) -> Expr:
        meant = draft.names.get(leaf[1]) if leaf[0] == "v" and leaf[1] not in known else None
        key, sign = (meant[1], -1.0) if isinstance(meant, tuple) and meant[0] == "neg" else (meant, 1.0)
        if not isinstance(key, tuple) or key[0] != "v" or not isinstance(key[1], int) or key[1] not in solver.known:
            return leaf
        combination = solver.combination(key[1])
        return product([sign, total(
            product([float(givers[k].give_sign), named(c), givers[k].gives]) for k, c in combination.items()
        )])  # fmt: skip

    return tuple(
        Line(e.left, readable(map_leaves(e.right, value)), f"{e.component}, {e.span}" if e.component else str(e.span))
        for e in graph.equations
    )


def _grid(
    name: str, terminals: list[Terminal], rows: list[int], columns: list[int], entries: dict[tuple[int, int], Expr]
) -> Grid:
    return Grid(
        name,
        tuple(text(terminals[i].takes) for i in rows),
        tuple(text(terminals[j].gives) for j in columns),
        tuple(tuple(entries.get((i, j), 0.0) for j in columns) for i in rows),
    )


def _terminal(draft: Draft, number: int, place: Attachment) -> Terminal:
    element = draft.graph.elements[number]
    port = place.end.port
    kind = element.ports[port].kind
    letter = output_letter(element, kind, place)
    other = "f" if letter == "e" else "e"
    takes: Expr = ("v", element.variable(port, other))
    gives: Expr = ("v", element.variable(port, letter))
    group = "source" if element.kind in ("Se", "Sf") else "loss"
    if kind in STATE:
        rate: Expr = ("der", ("v", element.variable(port, STATE[kind])))
        if is_integral(kind, place):
            group, takes, gives = "independent", rate, ("v", element.variable(port, CO[kind]))
        else:
            group, takes, gives = "dependent", ("v", element.variable(port, CO[kind])), rate
            assert letter == INPUT[kind]
    return Terminal(
        group, takes, gives,
        place.leaf(other)[1], place.sign(other), place.leaf(letter)[1], place.sign(letter),
    )  # fmt: skip


class _Structure:
    """Bond variables as linear combinations of what the fields give."""

    def __init__(self, draft: Draft, given: set[int], report: Report) -> None:
        self.known: dict[Key, Combination] = {key: {key: 1.0} for key in given}
        values = {k: v for k, v in draft.values.items() if k not in given and isinstance(k, int)}
        needs: dict[Key, list[Key]] = {k: [n for n in keys_of(v) if isinstance(n, int)] for k, v in values.items()}
        for part in components(needs):
            if len(part) > 1 or part[0] in needs[part[0]]:
                self._report_ring(draft, report, [int(k) for k in part if isinstance(k, int)])
                self.known.update({k: {} for k in part})
            elif part[0] in values:
                self.known[part[0]] = self._combine(values[part[0]], needs[part[0]])
        if draft.open_equations and any(isinstance(k, int) for k in draft.open_variables):
            self._report_ring(draft, report, [k for k in draft.open_variables if isinstance(k, int)])

    def combination(self, key: int) -> Combination:
        return self.known.get(key, {})

    def _combine(self, value: Expr, keys: list[Key]) -> Combination:
        made: Combination = {}
        rest = value
        for key in dict.fromkeys(keys):
            linear = linear_in(rest, ("v", key))
            assert linear is not None, "a junction structure is linear in its bonds"
            factor, rest = linear
            for source, coefficient in self.known.get(key, {}).items():
                made[source] = total([made.get(source, 0.0), product([factor, coefficient])])
        return made

    @staticmethod
    def _report_ring(draft: Draft, report: Report, keys: list[int]) -> None:
        names = sorted({draft.describe(k) for k in keys})[:6]
        bond = draft.graph.bonds[keys[0] // 2]
        report.add(error(
            "equations/no-field-form", "the junction structure has a loop of its own", bond.span,
            reason=f"{', '.join(f'`{n}`' for n in names)} follow only from each other: what the fields are given is no "
            "explicit combination of what they give.",
            hint="use `--form dae`",
        ))  # fmt: skip
