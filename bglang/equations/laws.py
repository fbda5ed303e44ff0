"""Constitutive laws in the direction that causality wants: as given, inverted, or kept implicit.

Where a law with dry friction (`bglang.equations.friction`) still gives the wanted variable, the friction is an unknown
of the system.  Where it does not (the law is wanted the other way round: flow from effort), the law gives the friction,
and the wanted variable is the unknown.
"""

from bglang.equations.draft import Attachment, Draft
from bglang.equations.friction import Friction, Frictions
from bglang.equations.maker import Maker
from bglang.equations.matching import FREE, match
from bglang.equations.names import CO, STATE, is_integral
from bglang.equations.structure import leave_open
from bglang.equations.system import Row
from bglang.expr import Expr, call, neg, product, var
from bglang.expr.invert import invert
from bglang.expr.odd import has_root
from bglang.expr.walk import depends, leaf_set
from bglang.graph.ir import Element, Law
from bglang.records import replace

SOURCES = {"Se": "e", "Sf": "f"}


def add_laws(draft: Draft, maker: Maker) -> None:
    frictions = Frictions(draft, maker)
    for element in draft.graph.elements:
        if element.kind in SOURCES:
            _add_source(draft, maker, element)
        elif element.laws and not _add_plain(draft, maker, element):
            _Oriented(draft, maker, element, frictions).add()


def _add_plain(draft: Draft, maker: Maker, element: Element) -> bool:
    """The common case made straight: a one-port with a plain parameter (e = R*f, e = q/C, f = p/I), not dependent."""
    gain = element.laws[0].gain
    if len(element.ports) != 1 or not isinstance(gain, tuple) or gain[0] != "p":
        return False
    (place,) = draft.attachments[element.id]
    kind = element.ports[0].kind
    if place.sets_effort is None or (kind in STATE and not is_integral(kind, place)):
        return False
    parameter = maker.parameters.leaf(gain[1])
    letter = "e" if place.sets_effort else "f"
    if (kind in STATE or letter == "f") and maker.parameters.has_zero_branch(parameter):
        return False
    value: Expr
    if kind in STATE:
        value = ("/", ("y", draft.storages[element.id, 0]), parameter)
    elif letter == "e":
        value = ("*", parameter, place.own("f"))
    else:
        value = ("/", place.own("e"), parameter)
    key = 2 * place.bond + (letter == "f")
    draft.values[key] = value if place.sign(letter) > 0 else ("neg", value)
    draft.setters[key] = element.id
    return True


def _add_source(draft: Draft, maker: Maker, element: Element) -> None:
    (place,) = draft.attachments[element.id]
    (law,) = element.laws
    letter = SOURCES[element.kind]
    assert law.gives == letter, f"{element.name} is a source of {letter}"
    value = maker.make(law.value, element.name, law.span)
    if place.sets_effort is (letter == "e"):
        draft.values[place.leaf(letter)[1]] = value
        draft.setters[place.leaf(letter)[1]] = element.id
    else:
        leave_open(draft, element, [place], [(place.leaf(letter), value)])


class _Oriented:
    """The laws of one element, turned in the direction of its strokes."""

    def __init__(self, draft: Draft, maker: Maker, element: Element, frictions: Frictions) -> None:
        self.draft, self.maker, self.element, self.frictions = draft, maker, element, frictions
        self.places = draft.attachments[element.id]
        self.wanted = [self._wanted(place) for place in self.places]
        self.tables = maker.modes.tables

    def _wanted(self, place: Attachment) -> str:
        """The letter of the variable that a port has to give: e, f, or its state in derivative causality."""
        kind = self.element.ports[place.end.port].kind
        if kind not in STATE:
            return "e" if place.sets_effort else "f"
        return CO[kind] if is_integral(kind, place) else STATE[kind]

    def add(self) -> None:
        element = self.element
        if any(place.sets_effort is None for place in self.places):
            leave_open(self.draft, element, self.places, [self._sides(law) for law in element.laws])
            return
        rest: list[Law] = []
        missing = dict.fromkeys(range(len(self.places)))
        for law in element.laws:
            if law.gives and law.port in missing and self.wanted[law.port] == law.gives:
                del missing[law.port]
                self._orient(law, law.port)
            else:
                rest.append(law)
        if not rest:
            return
        ports = list(missing)
        incidence = [[k for k, port in enumerate(ports) if self._mentions(law, port)] for law in rest]
        found = match(incidence, len(ports)).column_of
        spare = [k for k in range(len(ports)) if k not in found]
        for law, column in zip(rest, found, strict=True):
            self._orient(law, ports[spare.pop() if column == FREE else column])

    def _mentions(self, law: Law, port: int) -> bool:
        return depends(law.value, var(self._name(port)))

    def _name(self, port: int, letter: str = "") -> str:
        return self.element.variable(port, letter or self.wanted[port])

    def _sides(self, law: Law) -> tuple[Expr, Expr]:
        value = self.maker.make(law.value, self.element.name, law.span)
        return (self.draft.names[self._name(law.port, law.gives)] if law.gives else 0.0), value

    def _orient(self, law: Law, port: int) -> None:
        """One law, which has to give the wanted variable of one port."""
        value, frictions = self.frictions.take(self.element, law)
        wanted = var(self._name(port))
        given = var(self._name(law.port, law.gives)) if law.gives else None
        if self.wanted[port] in ("q", "p"):
            residual = value if given is None else call("-", value, given)
            self._set_row(port, self._multiplied(law) if self._divides_by_zero(law) else residual, law)
        elif self._divides_by_zero(law):
            self._keep_implicit(port, self._multiplied(law), law)
        else:
            solved = self._solve(value, given, wanted)
            if solved is None and frictions:
                self._solve_for_friction(value, given, port, frictions.pop(0), law)
            elif solved is None:
                self._keep_implicit(port, value if given is None else call("-", value, given), law)
            else:
                self._set_value(port, solved, law)
                self._look_for_straighter(port, solved, law)
        for friction in frictions:
            self._add_friction(friction, law)

    def _rate_of_something(self, rate: Expr, gain: Expr) -> Expr:
        """A storage of size zero holds nothing: seen as a rate, its effort or flow would be taken for an unknown
        impulse at the start.  The size is asked for in every run, for it may be set anew."""
        if all(leaf[0] == "p" for leaf in leaf_set(gain)) and self.maker.parameters.has_zero_branch(gain):
            return call("if", self.maker.parameters.hoist(("==", gain, 0.0)), 0.0, rate)
        return rate

    def _divides_by_zero(self, law: Law) -> bool:
        """Would the wanted variable follow by a division by a parameter that is zero, now or in a branch?"""
        if law.gain is None or (self.wanted[law.port] == law.gives == "e" and not self._stores(law)):
            return False
        return self.maker.parameters.has_zero_branch(self.maker.make(law.gain, self.element.name, law.span))

    def _stores(self, law: Law) -> bool:
        return self.element.ports[law.port].kind in STATE

    def _multiplied(self, law: Law) -> Expr:
        """A law with a plain parameter without division: e - R*f, q - C*e, p - I*f."""
        assert law.gain is not None
        kind = self.element.ports[law.port].kind
        left, right = (STATE[kind], CO[kind]) if kind in STATE else ("e", "f")
        return call("-", var(self._name(law.port, left)), product([law.gain, var(self._name(law.port, right))]))

    def _solve(self, value: Expr, given: Expr | None, wanted: Expr) -> Expr | None:
        if given == wanted and not depends(value, wanted):
            return value
        if given is None:
            return invert(value, wanted, 0.0, self.tables)
        if depends(value, given) or given == wanted:
            return invert(call("-", value, given), wanted, 0.0, self.tables)
        return invert(value, wanted, given, self.tables)

    def _set_value(self, port: int, value: Expr, law: Law) -> None:
        made = self.maker.make(value, self.element.name, law.span)
        place, letter = self.places[port], self.wanted[port]
        key = place.leaf(letter)[1]
        self.draft.values[key] = made if place.sign(letter) > 0 else neg(made)
        self.draft.setters[key] = self.element.id

    def _look_for_straighter(self, port: int, value: Expr, law: Law) -> None:
        """The law the other way round, where that has no root: what an algebraic loop through it is solved with."""
        if not has_root(value) or self.element.ports[port].kind in STATE:
            return
        wanted = var(self._name(port))
        for letter in "ef":
            other = var(self._name(port, letter))
            if other != wanted and depends(value, other):
                found = invert(value, other, wanted, self.tables)
                if found is not None and not has_root(found):
                    key = self.places[port].leaf(self.wanted[port])[1]
                    self.draft.straighter[key] = replace(law, value=("noEvent", call("-", other, found)))

    def _keep_implicit(self, port: int, residual: Expr, law: Law) -> None:
        key = self.places[port].leaf(self.wanted[port])[1]
        self.draft.setters[key] = self.element.id
        made = self.maker.make(residual, self.element.name, law.span)
        self.draft.add_algebraic(key, made, self.element.name, law.span)

    def _set_row(self, port: int, residual: Expr, law: Law) -> None:
        """A dependent storage: its law is the equation of its state, its rate is what the bond gets."""
        place = self.places[port]
        number = self.draft.storages[self.element.id, port]
        made = self.maker.make(residual, self.element.name, law.span)
        self.draft.rows[number] = Row(made, False, self.element.name, law.span)
        letter = "f" if self.wanted[port] == "q" else "e"
        rate: Expr = ("d", number)
        if law.gain is not None:
            rate = self._rate_of_something(rate, self.maker.make(law.gain, self.element.name, law.span))
        self.draft.values[place.leaf(letter)[1]] = rate if place.sign(letter) > 0 else neg(rate)

    # --- dry friction -----------------------------------------------------------------------------------------------

    def _add_friction(self, friction: Friction, law: Law) -> None:
        residual = self.maker.make(self.frictions.residual(friction), self.element.name, law.span)
        self.draft.add_algebraic(friction.leaf[1], residual, self.element.name, law.span)

    def _solve_for_friction(self, value: Expr, given: Expr | None, port: int, friction: Friction, law: Law) -> None:
        """The law gives the friction, and the wanted variable is whatever the modes of the friction ask for."""
        residual = value if given is None else call("-", value, given)
        s = invert(residual, friction.leaf, 0.0, self.tables)
        assert s is not None, "a friction is a linear term of its law"
        self.draft.values[friction.leaf[1]] = self.maker.make(s, self.element.name, law.span)
        self._keep_implicit(port, self.frictions.residual(friction), law)
