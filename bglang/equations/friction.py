"""Dry friction: a term `coulomb(x, level)` of a resistive law is set-valued and has three modes.

    slip    s = z*level, z = +1 or -1        stick    x = 0, whatever s that takes

The term becomes a variable s of its own.  Several frictions whose x is the flow of one 1-junction would leave their
share of the reaction open when they stick: they slip and stick as one, and share it in proportion to their levels.
"""

from collections.abc import Callable
from typing import Any

from bglang.diagnostics import Label, warning
from bglang.equations.draft import Draft, Leaf
from bglang.equations.maker import Maker
from bglang.equations.system import Mode
from bglang.equations.words import in_words
from bglang.expr import Expr, call, product, total, var
from bglang.expr.invert import linear_in
from bglang.expr.walk import leaf_set, postorder, rebuild, rewrite
from bglang.graph.ir import Element, Law
from bglang.records import dataclass

TermKey = tuple[int, int]
"""Element, and which of its friction terms."""


@dataclass(frozen=True, slots=True)
class Friction:
    """A friction term: its own variable, its argument and level by the model's names, and its mode."""

    leaf: Leaf
    x: Expr
    level: Expr
    mode: Leaf


@dataclass(frozen=True, slots=True)
class Term:
    """`coulomb(x, level)` in a law of an element."""

    key: TermKey
    x: Expr
    level: Expr
    law: Law

    @property
    def leaf(self) -> Leaf:
        return ("v", ("s", self.key))


@dataclass(frozen=True, slots=True)
class Group:
    """Frictions that act on one flow; `turned` are those that count it the other way than the first one."""

    terms: tuple[Term, ...]
    turned: tuple[bool, ...]

    @property
    def leaf(self) -> Leaf:
        return ("v", ("s", (self.terms[0].key[0], -1)))

    @property
    def level(self) -> Expr:
        return total(term.level for term in self.terms)


class Frictions:
    """All friction terms of a model."""

    def __init__(self, draft: Draft, maker: Maker) -> None:
        self.draft, self.maker = draft, maker
        self._groups: dict[TermKey, Group] = {}
        self._group_terms()

    def take(self, element: Element, law: Law) -> tuple[Expr, list[Friction]]:
        """The law with a variable in place of each friction, and the frictions that still need an equation."""
        value, terms = self._read(element, law)
        made: list[Friction] = []
        for term in terms:
            group = self._groups.get(term.key)
            if group is None:
                made.append(self._friction(element, term, term.leaf, term.level))
                continue
            self._share(element, term, group)
            if term.key == group.terms[0].key:
                made.append(self._friction(element, term, group.leaf, group.level))
        return value, made

    def residual(self, friction: Friction) -> Expr:
        slips = call("-", friction.leaf, product([friction.mode, friction.level]))
        return ("if", ("==", friction.mode, 0.0), friction.x, slips)

    def _read(self, element: Element, law: Law) -> tuple[Expr, list[Term]]:
        if law.gain is not None or not any(node[0] == "coulomb" for node in postorder(law.value)):
            return law.value, []
        own = {
            var(element.variable(k, x)) for k, port in enumerate(element.ports) if port.kind == "R" for x in ("e", "f")
        }
        first = sum(1 for other in element.laws[: element.laws.index(law)] for node in postorder(other.value)
                    if node[0] == "coulomb")  # fmt: skip
        terms: list[Term] = []

        def operation(node: tuple[Any, ...], args: list[Expr]) -> Expr:
            if node[0] != "coulomb" or own.isdisjoint(leaf_set(args[0])):
                return rebuild(node, args)
            terms.append(Term((element.id, first + len(terms)), args[0], args[1], law))
            return terms[-1].leaf

        value = rewrite(law.value, lambda leaf: leaf, operation)
        if any(linear_in(value, term.leaf) is None for term in terms):
            return law.value, []
        return value, terms

    def _friction(self, element: Element, term: Term, s: Leaf, given_level: Expr) -> Friction:
        modes, name, span = self.maker.modes, element.name, term.law.span
        x, level = modes.lower(term.x, name, span), modes.lower(given_level, name, span)
        z = ("z", len(modes.modes))
        sticks = ("==", z, 0.0)
        upper = ("if", sticks, call("-", level, s), product([x, z]))
        lower = ("if", sticks, ("+", level, s), 1.0)
        text = in_words(("coulomb", term.x, given_level))
        modes.add(Mode("coulomb", (upper, lower), (x, s, level), f"{name}.slip", text, name, span))
        return Friction(s, term.x, given_level, z)

    # --- several frictions on one flow ------------------------------------------------------------------------------

    def _share(self, element: Element, term: Term, group: Group) -> None:
        """The part of the common friction that one of its terms gets."""
        whole = ("noEvent", ("max", group.level, 1e-300))  # without any friction there is nothing to share
        part = product([group.leaf, call("/", term.level, whole)])
        turned = group.turned[group.terms.index(term)]
        value = self.maker.make(call("neg", part) if turned else part, element.name, term.law.span)
        self.draft.values[term.leaf[1]] = value

    def _group_terms(self) -> None:
        found: dict[int, list[tuple[Term, int]]] = {}
        root = self._common_flows()
        for element in self.draft.graph.elements:
            if element.kind != "R" or len(element.ports) != 1:
                continue
            (place,) = self.draft.attachments[element.id]
            bond = self.draft.graph.bonds[place.bond]
            other = bond.head.element if place.at_tail else bond.tail.element
            if not place.sets_effort or self.draft.graph.elements[other].kind != "J1":
                continue
            for law in element.laws:
                for term in self._read(element, law)[1] if law.gives == "e" else ():
                    if term.x == var(element.variable(0, "f")):
                        found.setdefault(root(other), []).append((term, place.end.f_sign))
        for members in found.values():
            if len(members) > 1:
                turned = tuple(sign != members[0][1] for _, sign in members)
                group = Group(tuple(term for term, _ in members), turned)
                self._groups.update((term.key, group) for term in group.terms)
                self._warn(group)

    def _common_flows(self) -> Callable[[int], int]:
        """1-junctions bonded to each other have one flow: a representative of each set."""
        elements = self.draft.graph.elements
        parent: dict[int, int] = {}

        def root(k: int) -> int:
            while parent.get(k, k) != k:
                k = parent[k]
            return k

        for bond in self.draft.graph.bonds:
            a, b = bond.tail.element, bond.head.element
            if elements[a].kind == "J1" and elements[b].kind == "J1":
                parent[root(a)] = root(b)
        return root

    def _warn(self, group: Group) -> None:
        elements = self.draft.graph.elements
        names = list(dict.fromkeys(elements[term.key[0]].name for term in group.terms))
        listed = " and ".join(f"`{name}`" for name in names)
        self.draft.report.add(
            warning(
                "equations/shared-friction",
                f"{listed} stick and slip together",
                group.terms[0].law.span,
                related=[Label(term.law.span, "acts on the same flow") for term in group.terms[1:]],
                reason="They rub on one flow: while that rests, only the sum of their forces is determined. "
                "It is shared in proportion to their levels.",
                component=names[0],
            )
        )
