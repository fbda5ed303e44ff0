"""Lagrange's equations with multipliers, from the causality that the chosen velocities give (λLCAP).

The artificial sources of the procedure become real elements here: at a generalized junction a source of the velocity,
at a constraint junction a source of the multiplier.  Both are unknowns of the system.  What an artificial source must
not do is the equation that determines it: the effort of the one (the balance of efforts at its junction, Lagrange's
equation) and the flow of the other (the balance of flows, the constraint) are zero.  Storages that the velocities
determine are in derivative form, e = d/dt p(q, dq/dt), written out with all rates of the moduli.
"""

from collections.abc import Sequence

from bglang.causality.lagrange import Lagrange, assign_lagrange
from bglang.causality.result import Causality, PortKey, Reason, Stroke
from bglang.diagnostics import Report, SourceError, error
from bglang.equations.audit import list_audit
from bglang.equations.derivatives import define_derivatives
from bglang.equations.derive import assemble_rows, collector_paused
from bglang.equations.discrete import read_discrete
from bglang.equations.draft import Draft
from bglang.equations.eliminate import solve_linear
from bglang.equations.index import reduce_index
from bglang.equations.inline import Inliner
from bglang.equations.laws import add_laws
from bglang.equations.maker import Maker
from bglang.equations.names import INPUT, STATE, attach, read_names
from bglang.equations.outputs import list_outputs
from bglang.equations.prescribed import free_prescribed
from bglang.equations.signals import add_signals, solve_open
from bglang.equations.starts import read_initial, settle_starts
from bglang.equations.structure import add_structure
from bglang.equations.system import Row, System, Unknown
from bglang.equations.watched_tables import watch_tables
from bglang.expr import map_leaves, neg
from bglang.expr.walk import leaf_set
from bglang.graph.ir import (
    Action,
    Bond,
    BondGraph,
    Element,
    End,
    Equation,
    Kind,
    Law,
    Port,
    Reinit,
    Start,
    Variable,
    When,
)
from bglang.records import dataclass, replace
from bglang.source import Span

ARTIFICIAL = "artificial source of "


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A generalized coordinate at a junction.  `position`, `velocity`, `acceleration` are numbers of unknowns.

    The row of the acceleration is Lagrange's equation, the balance at the junction."""

    name: str
    junction: str
    position: int
    velocity: int
    acceleration: int
    span: Span


@dataclass(frozen=True, slots=True)
class Multiplier:
    """The effort of a constraint junction (a flow at a 1-junction); its row is the balance there."""

    name: str
    junction: str
    unknown: int
    span: Span


@dataclass(frozen=True, slots=True)
class LagrangeForm:
    """`system` is not stabilised: the rows of the multipliers are the constraints as the balances give them.

    `graph` has the junctions that had to be put in, without artificial sources."""

    graph: BondGraph
    system: System
    coordinates: tuple[Coordinate, ...]
    multipliers: tuple[Multiplier, ...]

    def constraint(self, multiplier: Multiplier) -> Row:
        return self.system.rows[multiplier.unknown]

    @property
    def kept(self) -> frozenset[int]:
        """Unknowns that the form is written in."""
        chosen = {n for c in self.coordinates for n in (c.position, c.velocity, c.acceleration)}
        return frozenset(chosen | {m.unknown for m in self.multipliers})


def derive_lagrange(
    graph: BondGraph, coordinates: Sequence[str], report: Report, strong: Sequence[str] = ()
) -> LagrangeForm:
    """Lagrange's equations for coordinates that the user chose by junction."""
    found = assign_lagrange(graph, coordinates, strong)
    _check_determined(found, report)
    report.raise_if_errors()
    return with_sources(found.graph, found.causality, found.coordinates, found.constraints, report)


def with_sources(
    graph: BondGraph,
    causality: Causality,
    coordinates: Sequence[int],
    constraints: Sequence[int],
    report: Report,
) -> LagrangeForm:
    """The form for given junctions and strokes."""
    graph, names = _with_positions(graph, coordinates)
    whens = _reinit_velocities(graph, coordinates)
    junctions = [*coordinates, *constraints]
    count = len(graph.bonds)
    sides: list[Stroke] = ["tail" if graph.elements[n].kind == "J1" else "head" for n in junctions]
    reasons = [Reason("artificial", len(graph.elements) + k) for k in range(len(junctions))]
    strokes = replace(
        causality,
        strokes=(*causality.strokes[:count], *sides),
        reasons=(*causality.reasons[:count], *reasons),
    )
    with collector_paused():
        augmented = replace(add_sources(graph, junctions), whens=whens)
        # a dependent storage of the other kind may close a loop when its rate is written out: then it stays implicit
        kinds = {"J1": "I", "J0": "C"}
        natural = frozenset(kinds[graph.elements[n].kind] for n in coordinates)
        try:
            first = _Deriver(graph, augmented, strokes, Report(), frozenset("IC"))
            found = first.derive(coordinates, names, constraints)
            report.extend(first.report)
            return found
        except SourceError as wrong:
            if natural == frozenset("IC") or all(d.code != "equations/derivative-loop" for d in wrong.diagnostics):
                report.extend(wrong.diagnostics)
                raise
        return _Deriver(graph, augmented, strokes, report, natural).derive(coordinates, names, constraints)


def _check_determined(found: Lagrange, report: Report) -> None:
    elements = found.graph.elements
    if not found.coordinates:
        report.add(error(
            "lagrange/no-coordinates", "the model has nothing that a coordinate could describe", found.graph.span,
            reason="There is no storage whose flow (of an inertia) or effort (of a compliance) could be chosen.",
            hint="name junctions with `--coordinates`, or use another form",
        ))  # fmt: skip
    chosen = ", ".join(f"`{elements[n].name}`" for n in found.coordinates)
    for number, port in found.undetermined if chosen else ():
        element = elements[number]
        name = element.variable(port, "f" if element.ports[port].kind == "I" else "e")
        report.add(error(
            "lagrange/undetermined", f"the coordinates {chosen} do not determine the motion of `{element.name}`",
            element.span, label=f"`{name}` follows from none of the chosen velocities",
            reason="Lagrange's equations need every inertia's velocity in terms of the generalized velocities.",
            hint=f"choose the junction of `{element.name}` as a coordinate, too", component=element.name,
        ))  # fmt: skip


# --- the graph with its artificial sources ----------------------------------------------------------------------------


def _with_positions(graph: BondGraph, junctions: Sequence[int]) -> tuple[BondGraph, list[str]]:
    """Names of the coordinates: the variable whose `der` is the junction's flow, else `w.q`, made if it is missing."""
    known: dict[str, str] = {}
    kinds = {v.name: v.kind for v in graph.variables}
    for kind in ("continuous", "displacement"):
        for e in graph.equations:
            if isinstance(e.left, tuple) and e.left[0] == "der" and isinstance(e.right, tuple) and e.right[0] == "v":
                name = e.left[1][1] if e.left[1][0] == "v" else ""
                if kinds.get(name) == kind:
                    known.setdefault(e.right[1], name)
    variables, equations, names = list[Variable](), list[Equation](), list[str]()
    for n in junctions:
        element = graph.elements[n]
        flow, integral = (f"{element.name}.f", "q") if element.kind == "J1" else (f"{element.name}.e", "p")
        if flow not in known:
            name = known[flow] = f"{element.name}.{integral}"
            start = Start(0.0, False, None, element.span)
            variables.append(
                Variable(name, "displacement", "Real", "", "", start, None, None, None, element.span)
            )  # fmt: skip
            equations.append(Equation(("der", ("v", name)), ("v", flow), element.name, element.span))
        names.append(known[flow])
    made = replace(
        graph, variables=(*graph.variables, *variables), equations=(*graph.equations, *equations)
    )  # fmt: skip
    return made, names


def _reinit_velocities(graph: BondGraph, junctions: Sequence[int]) -> tuple[When, ...]:
    """`reinit(mass.p, …)` of an inertia at a coordinate sets the velocity: the momentum follows from it here."""
    targets: dict[str, tuple[str, Element, int]] = {}
    for bond in graph.bonds if graph.whens else ():
        for end, other in ((bond.tail, bond.head), (bond.head, bond.tail)):
            element, junction = graph.elements[end.element], graph.elements[other.element]
            kind, letter = ("I", "f") if junction.kind == "J1" else ("C", "e")
            law = element.laws[0] if element.kind == kind and element.laws else None
            if other.element in junctions and law is not None and law.gives == letter:
                sign = end.f_sign if letter == "f" else end.e_sign
                targets[element.variable(0, STATE[kind])] = ARTIFICIAL + junction.name, element, sign

    def turned(action: Action) -> Action:
        if not isinstance(action, Reinit) or action.target not in targets:
            return action
        target, element, sign = targets[action.target]
        flow = map_leaves(element.laws[0].value, lambda leaf: action.value if leaf == ("v", action.target) else leaf)
        return replace(action, target=target, value=flow if sign > 0 else neg(flow))

    return tuple(
        replace(w, branches=tuple(replace(b, actions=tuple(turned(a) for a in b.actions)) for b in w.branches))
        for w in graph.whens
    )


def add_sources(graph: BondGraph, junctions: Sequence[int]) -> BondGraph:
    """The graph with an artificial source at each of some junctions: of its common variable."""
    elements, bonds = list(graph.elements), list(graph.bonds)
    for n in junctions:
        junction = graph.elements[n]
        kind: Kind = "Sf" if junction.kind == "J1" else "Se"
        name = ARTIFICIAL + junction.name
        law = Law("f" if kind == "Sf" else "e", 0, ("v", name), junction.span)
        number, bond = len(elements), len(bonds)
        elements.append(Element(
            id=number, name=name, kind=kind, ports=(Port("", "", None),), laws=(law,), modulus=None, energy=None,
            symbolic=False, prefer=False, type_name=kind, description="", span=junction.span,
        ))  # fmt: skip
        bonds.append(Bond(bond, End(number, 0), End(n, len(junction.ports)), (), None, None, junction.span))
    return replace(graph, elements=tuple(elements), bonds=tuple(bonds))


# --- derivation -------------------------------------------------------------------------------------------------------


class _Deriver:
    """The passes of derivation, with velocities and multipliers as unknowns."""

    def __init__(
        self, plain: BondGraph, augmented: BondGraph, causality: Causality, report: Report, derived: frozenset[str]
    ) -> None:
        self.plain, self.report = plain, report
        self.draft = Draft(augmented, causality, report)
        self.first_bond = len(plain.bonds)
        self.derived = derived

    def derive(self, coordinates: Sequence[int], names: Sequence[str], constraints: Sequence[int]) -> LagrangeForm:
        draft, report = self.draft, self.report
        draft.attachments = attach(draft.graph, draft.causality)
        read_names(draft)
        for number in self._derived_storages():
            del draft.leaves["rate", number]
        bond = self.first_bond
        velocities = [self._add_velocity(n, bond + k) for k, n in enumerate(coordinates)]
        bond += len(coordinates)
        multipliers = [self._add_multiplier(n, bond + k) for k, n in enumerate(constraints)]
        maker = Maker(draft)
        add_signals(draft, maker)
        add_structure(draft, maker)
        add_laws(draft, maker)
        self._write_rates(maker)
        solve_open(draft, maker)
        report.raise_if_errors()
        system = self._finish(maker, frozenset(multipliers) | {a for _, a in velocities})
        elements = self.plain.elements
        own = _with_own_law(system, multipliers)
        return LagrangeForm(
            self.plain,
            system,
            tuple(
                Coordinate(name, elements[n].name, draft.signal_states[name], v, a, elements[n].span)
                for name, n, (v, a) in zip(names, coordinates, velocities, strict=True)
            ),
            tuple(
                Multiplier(system.unknowns[m].name, elements[n].name, m, elements[n].span)
                for n, m in zip(constraints, multipliers, strict=True)
                if m not in own
            ),
        )

    def _add_velocity(self, junction: int, bond: int) -> tuple[int, int]:
        """The common variable of a junction as a state, and its rate, which the balance there determines."""
        element, draft = self.draft.graph.elements[junction], self.draft
        letter, other = ("f", 0) if element.kind == "J1" else ("e", 1)
        name = f"{element.name}.{letter}"
        velocity = draft.add_unknown(Unknown(name, "state", 0.0, False, None, None, "", element.span))
        balance = Row(("v", 2 * bond + other), False, element.name, element.span)
        rate = Unknown(f"der({name})", "algebraic", 0.0, False, None, None, "", element.span)
        acceleration = draft.add_unknown(rate, balance)
        draft.leaves["rate", velocity] = ("y", acceleration)
        draft.leaves["rate", acceleration] = ("d", acceleration)
        draft.names[ARTIFICIAL + element.name] = ("y", velocity)
        return velocity, acceleration

    def _add_multiplier(self, junction: int, bond: int) -> int:
        element, draft = self.draft.graph.elements[junction], self.draft
        letter, other = ("f", 0) if element.kind == "J1" else ("e", 1)
        unknown = Unknown(f"{element.name}.{letter}", "algebraic", 0.0, False, None, None, "", element.span)
        number = draft.add_unknown(unknown, Row(("v", 2 * bond + other), False, element.name, element.span))
        draft.leaves["rate", number] = ("d", number)
        draft.names[ARTIFICIAL + element.name] = ("y", number)
        return number

    def _derived_storages(self) -> dict[int, PortKey]:
        """Dependent storages whose rates are written out; others stay as they are."""
        draft, elements = self.draft, self.draft.graph.elements
        return {
            n: key
            for key, n in draft.storages.items()
            if draft.unknowns[n].kind == "dependent" and elements[key[0]].ports[key[1]].kind in self.derived
        }

    def _write_rates(self, maker: Maker) -> None:
        """Storages in derivative form: their rates follow from the differentiated laws."""
        draft = self.draft
        dependent = self._derived_storages()
        for group in _groups({n: draft.rows[n] for n in dependent}):
            equations = []
            for n in group:
                row = draft.rows[n]
                assert row is not None
                equations.append(maker.rate(row.residual))
            rates = solve_linear(equations, [("v", ("rate", n)) for n in group])
            for k, n in enumerate(group):
                element, port = draft.graph.elements[dependent[n][0]], dependent[n][1]
                draft.unknowns[n] = replace(draft.unknowns[n], kind="algebraic", written=False)
                place = draft.attachments[element.id][port]
                letter = INPUT[element.ports[port].kind]
                if rates is None:
                    self._report_coupled(element)
                else:
                    draft.values["rate", n] = maker.parameters.hoist(rates[k])
                rate = ("v", ("rate", n))
                draft.values[place.leaf(letter)[1]] = rate if place.sign(letter) > 0 else ("neg", rate)

    def _report_coupled(self, element: Element) -> None:
        self.report.add(error(
            "lagrange/storage", f"the law of `{element.name}` cannot be brought into derivative form", element.span,
            reason="Its momentum does not follow from its flow: the law is singular.",
            hint="choose coordinates so that it stays independent, or another form", component=element.name,
        ))  # fmt: skip

    def _finish(self, maker: Maker, multipliers: frozenset[int]) -> System:
        draft, report = self.draft, self.report
        initial = read_initial(draft, maker)
        discrete = read_discrete(draft, maker)
        define_derivatives(draft, maker)
        report.raise_if_errors()
        sides = [side for e in initial for side in (e.left, e.right)]
        inliner = Inliner(draft, maker, [*discrete.expressions(), *sides])
        report.raise_if_errors()
        rows = reduce_index(draft, maker, assemble_rows(draft, inliner), multipliers | {-1})
        unknowns, first = settle_starts(draft, maker, inliner, initial)
        outputs, powers = list_outputs(draft, inliner)
        audit = list_audit(draft, maker, inliner, powers)
        modes, whens, assertions = discrete.finish(inliner)
        tables = tuple(maker.parameters.renumber_table(table) for table in maker.modes.tables.values())
        modes, watched = watch_tables(tables, rows, outputs, modes)
        made = System(
            name=draft.graph.name,
            unknowns=unknowns,
            rows=tuple(rows),
            initial=first,
            parameters=tuple(maker.parameters.entries),
            modes=modes,
            whens=whens,
            assertions=(*assertions, *watched),
            outputs=tuple(o for o in outputs if not o.name.startswith(ARTIFICIAL)),
            audit=tuple(item for item in audit if not item.element.startswith(ARTIFICIAL)),
            tables=tables,
            experiment=draft.graph.experiment,
        )
        return free_prescribed(made)


def _with_own_law(system: System, multipliers: Sequence[int]) -> set[int]:
    """Multipliers that occur in their own balance: a law there gives them, so that nothing is constrained."""
    found = set[int]()
    for m in multipliers:
        seen, waiting = {m}, [system.rows[m].residual]
        while waiting:
            for leaf in leaf_set(waiting.pop()):
                if leaf == ("y", m):
                    found.add(m)
                elif leaf[0] == "y" and system.unknowns[leaf[1]].kind == "algebraic" and leaf[1] not in seen:
                    seen.add(leaf[1])
                    if leaf[1] not in multipliers:
                        waiting.append(system.rows[leaf[1]].residual)
    return found


def _groups(rows: dict[int, Row | None]) -> list[list[int]]:
    """Storages whose laws mention each other's states belong together."""
    owner = {n: n for n in rows}

    def root(n: int) -> int:
        while owner[n] != n:
            n = owner[n]
        return n

    for n, row in rows.items():
        assert row is not None
        for leaf in leaf_set(row.residual):
            if leaf[0] == "y" and leaf[1] in rows:
                owner[root(leaf[1])] = root(n)
    made: dict[int, list[int]] = {}
    for n in rows:
        made.setdefault(root(n), []).append(n)
    return list(made.values())
