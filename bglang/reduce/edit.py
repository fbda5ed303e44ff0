"""A graph being rewritten: nodes and bonds go and come, then a new graph is made in one piece."""

from collections.abc import Callable
from functools import partial
from typing import Any

from bglang.causality.pivots import is_pivot
from bglang.expr import Expr, map_leaves, var
from bglang.graph.ir import (
    Action,
    Assertion,
    Assign,
    Bond,
    BondGraph,
    Element,
    End,
    Equation,
    Parameter,
    Port,
    Reinit,
    Start,
    Terminate,
    Variable,
    When,
)
from bglang.graph.used import used_parameters
from bglang.records import replace
from bglang.source import NOWHERE, Span

Substitution = Callable[[tuple[Any, ...]], Expr]


class Edit:
    """The only mutable thing of a rewrite.  Numbers of old nodes and bonds stay valid until `graph()`."""

    def __init__(self, graph: BondGraph):
        self.old = graph
        self.elements: dict[int, Element] = {e.id: e for e in graph.elements}
        self.bonds: dict[int, Bond] = {b.id: b for b in graph.bonds}
        self.parameters: dict[str, Parameter] = {p.name: p for p in graph.parameters}
        self.variables: list[Variable] = list(graph.variables)
        self.equations: list[Equation] = list(graph.equations)
        self.initial: list[Equation] = list(graph.initial_equations)
        self.whens: list[When] = list(graph.whens)
        self.reads: dict[tuple[str, str], Expr] = {}
        """What stands, outside of the changed elements' own laws, for a variable or parameter whose meaning changed."""
        self.own: set[int] = set()
        """Elements whose laws and starts are already in the new meaning."""
        self.definitions: dict[str, tuple[Expr, str]] = {}
        self.removed: list[Element] = []
        self._after: dict[int, list[int]] = {}
        self._at: dict[int, set[int]] = {}
        for b in graph.bonds:
            for end in (b.tail, b.head):
                self._at.setdefault(end.element, set()).add(b.id)
        self._names = {e.name for e in graph.elements} | {v.name for v in graph.variables}
        self._names |= {name for b in graph.bonds for name in b.names} | set(self.parameters)
        self._next_element, self._next_bond = len(graph.elements), len(graph.bonds)

    # --- looking ----------------------------------------------------------------------------------------------------

    def bonds_at(self, element: int) -> list[Bond]:
        return [self.bonds[b] for b in sorted(self._at.get(element, ()))]

    def far_end(self, bond: Bond, element: int) -> End:
        return bond.head if bond.tail.element == element else bond.tail

    def surviving(self) -> set[str]:
        """Names of elements and bonds that are left."""
        return {e.name for e in self.elements.values()} | {n for b in self.bonds.values() for n in b.names}

    def fresh(self, wish: str) -> str:
        name, k = wish, 1
        while name in self._names:
            k += 1
            name = f"{wish}_{k}"
        self._names.add(name)
        return name

    # --- changing ---------------------------------------------------------------------------------------------------

    def remove_bond(self, bond: int) -> None:
        gone = self.bonds.pop(bond)
        for end in (gone.tail, gone.head):
            self._at[end.element].discard(bond)

    def remove_element(self, element: int) -> None:
        """The element alone: its bonds must have been dealt with."""
        self.removed.append(self.elements.pop(element))

    def remove_pivots(self) -> None:
        """Those that no field took in."""
        for number in [e.id for e in self.elements.values() if is_pivot(e)]:
            for bond in self.bonds_at(number):
                self.remove_bond(bond.id)
            self.remove_element(number)

    def add_element(self, make: Callable[[int], Element], after: int) -> int:
        number = self._next_element
        self._next_element += 1
        self.elements[number] = make(number)
        self._after.setdefault(after, []).append(number)
        self._at[number] = set()
        return number

    def add_bond(self, tail: End, head: End, *, span: Span = NOWHERE, domain: str | None = None) -> int:
        number = self._next_bond
        self._next_bond += 1
        self.put_bond(Bond(number, tail, head, (), None, domain, span))
        return number

    def put_bond(self, bond: Bond) -> None:
        """A bond as it is now, in place of the one with its number."""
        before = self.bonds.get(bond.id)
        if before is not None:
            for end in (before.tail, before.head):
                self._at[end.element].discard(bond.id)
        self.bonds[bond.id] = bond
        for end in (bond.tail, bond.head):
            self._at.setdefault(end.element, set()).add(bond.id)

    def set_parameter(self, name: str, value: Expr | None, like: Parameter | None = None) -> None:
        """A parameter with this value, new or as it was otherwise."""
        known = self.parameters.get(name)
        if known is None:
            known = Parameter(
                name, None, "Real", like.unit if like else "", "", False, False, True, None, None, NOWHERE
            )
        self.parameters[name] = replace(known, value=value)

    def define(self, name: str, value: Expr, description: str = "") -> None:
        """A variable under the name that the gone one had, so that those who read that read it still."""
        self.definitions.setdefault(name, (value, description))

    def change_reinits(self, change: Callable[[Reinit], Reinit | tuple[Reinit, ...]]) -> None:
        """Every `reinit` by what it becomes."""
        self.whens = [
            replace(w, branches=tuple(replace(b, actions=_changed(b.actions, change)) for b in w.branches))
            for w in self.whens
        ]

    # --- the new graph ----------------------------------------------------------------------------------------------

    def graph(self) -> BondGraph:
        surviving = self.surviving()
        lost = {
            v.name for v in self.variables if v.kind == "displacement" and v.name.rpartition(".")[0] not in surviving
        }
        self._settle()
        order = self._order()
        number = {old: new for new, old in enumerate(order)}
        bonds, ports = self._renumbered_bonds(number)
        elements = tuple(self._element(old, number[old], ports.get(old)) for old in order)
        variables, equations = self._definitions()
        made = replace(
            self.old,
            elements=elements,
            bonds=bonds,
            parameters=tuple(self.parameters.values()),
            variables=tuple(self._variable(v, v.name in lost) for v in self.variables) + variables,
            equations=tuple(self._equation(e) for e in self.equations) + equations,
            initial_equations=tuple(self._equation(e) for e in self.initial),
            whens=tuple(self._when(w) for w in self.whens),
            assertions=tuple(replace(a, condition=self.rewritten(a.condition)) for a in self.old.assertions),
        )
        return self._with_parameters(made)

    def rewritten(self, e: Expr) -> Expr:
        """An expression with what changed its meaning replaced."""
        return map_leaves(e, self._leaf) if self.reads else e

    def _leaf(self, leaf: tuple[Any, ...]) -> Expr:
        return self.reads.get((leaf[0], leaf[1]), leaf) if leaf[0] in ("v", "p") else leaf

    def _settle(self) -> None:
        """Replacements speak of things that were replaced themselves: once through each other, never through itself."""
        before = dict(self.reads)

        def through(leaf: tuple[Any, ...], own: tuple[str, str]) -> Expr:
            return leaf if leaf[:2] == own else before.get((leaf[0], leaf[-1]), leaf)

        for key, e in before.items():
            self.reads[key] = map_leaves(e, partial(through, own=key))

    def _order(self) -> list[int]:
        order = list[int]()

        def put(number: int) -> None:
            if number in self.elements:
                order.append(number)
            for following in self._after.get(number, ()):
                put(following)

        for e in self.old.elements:
            put(e.id)
        return order

    def _renumbered_bonds(self, number: dict[int, int]) -> tuple[tuple[Bond, ...], dict[int, list[Port]]]:
        """Bonds in their order; the ports of a junction follow its bonds."""
        ports: dict[int, list[Port]] = {}
        made = list[Bond]()
        for new, old in enumerate(sorted(self.bonds)):
            bond = self.bonds[old]
            ends = list[End]()
            for end in (bond.tail, bond.head):
                element = self.elements[end.element]
                if element.kind in ("J0", "J1"):
                    mine = ports.setdefault(end.element, [])
                    known = element.ports[end.port] if 0 <= end.port < len(element.ports) else Port("", "", bond.domain)
                    mine.append(known)
                    end = replace(end, port=len(mine) - 1)
                ends.append(replace(end, element=number[end.element]))
            made.append(replace(bond, id=new, tail=ends[0], head=ends[1]))
        return tuple(made), ports

    def _element(self, old: int, new: int, ports: list[Port] | None) -> Element:
        element = self.elements[old]
        if element.kind in ("J0", "J1"):
            return replace(element, id=new, ports=tuple(ports or ()))
        own = f"{element.name}." if old in self.own else ""

        def changed(e: Expr) -> Expr:
            if not own:
                return self.rewritten(e)
            return map_leaves(e, lambda leaf: leaf if str(leaf[-1]).startswith(own) else self._leaf(leaf))

        def start(known: Start | None) -> Start | None:
            return None if known is None else replace(known, value=changed(known.value))

        return replace(
            element,
            id=new,
            laws=tuple(
                replace(w, value=changed(w.value), gain=None if w.gain is None else changed(w.gain))
                for w in element.laws
            ),
            modulus=None if element.modulus is None else changed(element.modulus),
            energy=None if element.energy is None else changed(element.energy),
            ports=tuple(replace(p, start=start(p.start)) for p in element.ports),
        )

    def _start(self, start: Start | None) -> Start | None:
        return None if start is None else replace(start, value=self.rewritten(start.value))

    def _variable(self, v: Variable, lost: bool) -> Variable:
        """The displacement of a junction that went is a variable of its own from now on."""
        made = replace(v, start=self._start(v.start))
        return replace(made, kind="continuous") if lost else made

    def _equation(self, e: Equation) -> Equation:
        return replace(e, left=self.rewritten(e.left), right=self.rewritten(e.right))

    def _when(self, when: When) -> When:
        return replace(
            when,
            branches=tuple(
                replace(
                    branch,
                    conditions=tuple(self.rewritten(c) for c in branch.conditions),
                    actions=tuple(self._action(a) for a in branch.actions),
                )
                for branch in when.branches
            ),
        )

    def _action(self, action: Action) -> Action:
        if isinstance(action, Terminate):
            return action
        if isinstance(action, Assertion):
            return replace(action, condition=self.rewritten(action.condition))
        assert isinstance(action, Assign | Reinit)
        return replace(action, value=self.rewritten(action.value))

    def _definitions(self) -> tuple[tuple[Variable, ...], tuple[Equation, ...]]:
        variables, equations = list[Variable](), list[Equation]()
        for name, (right, description) in self.definitions.items():
            variables.append(Variable(name, "continuous", "Real", "", description, None, None, None, None, NOWHERE))
            equations.append(Equation(var(name), self.rewritten(right), "", NOWHERE))
        return tuple(variables), tuple(equations)

    def _with_parameters(self, graph: BondGraph) -> BondGraph:
        """Parameters of gone elements stay only where something reads them."""
        used = used_parameters(graph)
        names = {e.name for e in graph.elements}
        gone = {e.name for e in self.old.elements} - names | {self.elements[k].name for k in self.own}
        kept = tuple(
            replace(p, value=None if p.value is None else self.rewritten(p.value))
            for p in graph.parameters
            if p.name in used or p.name.rpartition(".")[0] not in gone
        )
        return replace(graph, parameters=kept)


def _changed(
    actions: tuple[Action, ...], change: Callable[[Reinit], Reinit | tuple[Reinit, ...]]
) -> tuple[Action, ...]:
    made = list[Action]()
    for action in actions:
        new = change(action) if isinstance(action, Reinit) else action
        made.extend(new) if isinstance(new, tuple) else made.append(new)
    return tuple(made)
