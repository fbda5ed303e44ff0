"""Constraints relaxed: a stiff spring and a damper where the multiplier was, as elements of the bond graph.

At a constraint 0-junction the imbalance of flows goes through a 1-junction with a C and an R: the effort of the
junction is k∫Σf dt + cΣf.  The dual, at a constraint 1-junction, is a 0-junction with an I and an R.  The result is an
ordinary bond graph: it is simulated like any other and can be written as source.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from bglang.equations.lagrange import LagrangeForm
from bglang.equations.lagrange_choice import LagrangeChoice
from bglang.equations.lagrange_constraints import Constraints, Numbers
from bglang.equations.lagrange_names import explicit_values, inline_explicit
from bglang.equations.lagrange_stabilise import Drift
from bglang.equations.names import STATE
from bglang.expr import Expr
from bglang.expr.diff import diff
from bglang.expr.evaluate import evaluate
from bglang.expr.walk import leaf_set
from bglang.graph.ir import Bond, BondGraph, Element, End, Kind, Law, Parameter, Port, PortKind, Start
from bglang.records import dataclass, replace
from bglang.source import Span

SHORT = 1e-5
"""Without a wish of the user's, the short time of the constraint, per length of the run."""


@dataclass(frozen=True, slots=True)
class Stiff:
    """What holds one constraint: k and c (of the dual: inverse inertia and conductance)."""

    junction: str
    stiffness: float
    damping: float


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A graph without constraints.  `drifts[k]` belongs to `stiff[k]`."""

    graph: BondGraph
    stiff: tuple[Stiff, ...]
    drifts: tuple[Drift, ...]


def choose_stiffness(form: LagrangeForm, constraints: Constraints, choice: LagrangeChoice) -> list[Stiff]:
    """Numbers for every constraint.

    Penalty takes the user's k and c.  What is not given follows from the mass that the constraint feels,
    m = 1/(A M⁻¹ Aᵀ), and the short time ε: k = m/ε², c = 2m/ε: a deviation dies out aperiodically within a few ε."""
    experiment = form.system.experiment
    length = experiment.stop - experiment.start
    epsilon = choice.epsilon if choice.epsilon else SHORT * (length if length > 0.0 else 1.0)
    masses = _felt_masses(form, constraints)
    made = []
    for c, mass in zip(constraints.all, masses, strict=True):
        k, damping = mass / epsilon**2, 2.0 * mass / epsilon
        if choice.stabilise == "penalty":
            k = choice.stiffness if choice.stiffness is not None else k
            damping = choice.damping if choice.damping is not None else 2.0 * float(np.sqrt(mass * k))
        made.append(Stiff(c.multiplier.junction, k, damping))
    return made


def _felt_masses(form: LagrangeForm, constraints: Constraints) -> list[float]:
    at = Numbers(form.system).at_start()
    column = {("y", c.acceleration): k for k, c in enumerate(form.coordinates)}
    values = explicit_values(form.system, form.kept)
    mass = np.zeros((len(column), len(column)))
    for i, c in enumerate(form.coordinates):
        row = inline_explicit(form.system.rows[c.acceleration].residual, values)
        for leaf in leaf_set(row):
            if leaf in column:
                mass[i, column[leaf]] = evaluate(diff(row, leaf), at)
    inverse = np.linalg.pinv(mass)
    found = []
    for constraint in constraints.all:
        slopes = np.array([evaluate(e, at) for e in constraint.row])
        size = float(slopes @ inverse @ slopes)
        found.append(1.0 / size if np.isfinite(size) and size > 1e-300 else 1.0)
    return found


def relax(form: LagrangeForm, stiff: Sequence[Stiff]) -> Relaxed:
    """The graph with a spring and a damper at every constraint junction."""
    builder = _Builder(form.graph)
    drifts = tuple(builder.add(s) for s in stiff)
    return Relaxed(builder.graph(), tuple(stiff), drifts)


def storage_names(graph: BondGraph) -> list[str]:
    """The states of all storages, dependent or not."""
    return [e.variable(k, STATE[p.kind]) for e in graph.elements for k, p in enumerate(e.ports) if p.kind in STATE]


def with_starts(graph: BondGraph, values: Mapping[str, float]) -> BondGraph:
    """The graph with other start values of storages, where they differ from what is written."""
    elements = []
    for e in graph.elements:
        ports = list(e.ports)
        for k, port in enumerate(e.ports):
            value = values.get(e.variable(k, STATE[port.kind])) if port.kind in STATE else None
            fits = port.start is not None and (port.start.written or value == port.start.value)
            if value is not None and not fits and value != 0.0:
                ports[k] = replace(port, start=Start(value, True, None, e.span))
        elements.append(replace(e, ports=tuple(ports)))
    return replace(graph, elements=tuple(elements))


def suffixed(name: str, ending: str) -> str:
    """A name made from another; quotes stay outside."""
    return f"{name[:-1]}{ending}'" if name.endswith("'") else name + ending


class _Builder:
    def __init__(self, graph: BondGraph) -> None:
        self.old = graph
        self.elements, self.bonds = list(graph.elements), list(graph.bonds)
        self.parameters = list(graph.parameters)
        self.numbers = {e.name: e.id for e in graph.elements}

    def graph(self) -> BondGraph:
        return replace(
            self.old, elements=tuple(self.elements), bonds=tuple(self.bonds), parameters=tuple(self.parameters)
        )

    def add(self, s: Stiff) -> Drift:
        at = self.old.elements[self.numbers[s.junction]]
        effort = at.kind == "J0"
        kind: Kind = "J1" if effort else "J0"
        gap = self._element(suffixed(at.name, "_gap"), kind, "", at.span)
        k = self._parameter(suffixed(at.name, "_k"), s.stiffness, at.span)
        c = self._parameter(suffixed(at.name, "_c"), s.damping, at.span)
        state, given = ("q", "f") if effort else ("p", "e")
        spring = self._storage(suffixed(at.name, "_spring"), "C" if effort else "I", ("/", 1.0, ("p", k)), at.span)
        loss: Expr = ("p", c) if effort else ("/", 1.0, ("p", c))
        damper = self._resistor(suffixed(at.name, "_damper"), loss, at.span)
        self._bond(at.id, gap, at.span)
        self._bond(gap, spring, at.span)
        self._bond(gap, damper, at.span)
        names = [self.elements[n].name for n in (damper, spring)]
        return Drift(at.name, f"{names[0]}.{given}", f"{names[1]}.{state}")

    def _storage(self, name: str, kind: Literal["C", "I"], size: Expr, span: Span) -> int:
        """e = q/C or f = p/I, as `C spring(C = 1/k)` means it."""
        gain = ("p", self._parameter(f"{name}.{kind}", size, span))
        letter, state = ("e", "q") if kind == "C" else ("f", "p")
        law = Law("e" if letter == "e" else "f", 0, ("/", ("v", f"{name}.{state}"), gain), span, gain)
        return self._element(name, kind, kind, span, law)

    def _resistor(self, name: str, size: Expr, span: Span) -> int:
        gain = ("p", self._parameter(f"{name}.R", size, span))
        return self._element(name, "R", "R", span, Law("e", 0, ("*", gain, ("v", f"{name}.f")), span, gain))

    def _element(self, name: str, kind: Kind, port: PortKind, span: Span, law: Law | None = None) -> int:
        number = len(self.elements)
        laws = () if law is None else (law,)
        ports = () if law is None else (Port("", port, None),)
        self.elements.append(Element(
            id=number, name=name, kind=kind, ports=ports, laws=laws, modulus=None, energy=None, symbolic=False,
            prefer=False, type_name=kind, description="holds a constraint", span=span,
        ))  # fmt: skip
        return number

    def _bond(self, tail: int, head: int, span: Span) -> None:
        ends = []
        for number in (tail, head):
            element = self.elements[number]
            ends.append(End(number, 0 if element.laws else self._next_port(number)))
        self.bonds.append(Bond(len(self.bonds), ends[0], ends[1], (), None, None, span))

    def _next_port(self, number: int) -> int:
        element = self.elements[number]
        self.elements[number] = replace(element, ports=(*element.ports, Port("", "", None)))
        return len(element.ports)

    def _parameter(self, name: str, value: Expr, span: Span) -> str:
        self.parameters.append(
            Parameter(name, value, "Real", "", "holds a constraint", False, False, True, None, None, span)
        )
        return name
