"""The energy audit: the power of every element, and the energy that storages hold.

The energy of a storage is known in closed form where its law is linear or it has an `energy`; for a nonlinear one-port
it is the integral of the law over its state.  Where a law is modulated, energy also comes through the modulation: that
power is the change of the energy at constant state.  What is left out: pseudo domains, whose e*f is no power.
"""

from bglang.equations.draft import Draft, Leaf
from bglang.equations.inline import Inliner
from bglang.equations.maker import Maker
from bglang.equations.names import CO, STATE
from bglang.equations.outputs import Powers
from bglang.equations.system import AuditItem, AuditKind
from bglang.expr import Expr, product, total, var
from bglang.expr.diff import derivative, diff
from bglang.expr.expand import expand
from bglang.expr.invert import invert, linear_in
from bglang.expr.walk import depends, leaf_set
from bglang.graph.ir import Element


def list_audit(draft: Draft, maker: Maker, inliner: Inliner, powers: Powers) -> tuple[AuditItem, ...]:
    lister = _Lister(draft, maker, inliner, powers)
    for element in draft.graph.elements:
        if element.kind in ("Se", "Sf", "R", "C", "I", "field"):
            lister.add(element)
    return tuple(lister.items)


class _Lister:
    def __init__(self, draft: Draft, maker: Maker, inliner: Inliner, powers: Powers) -> None:
        self.draft, self.maker, self.inliner, self.powers = draft, maker, inliner, powers
        self.pseudo = {d.name for d in draft.graph.domains if d.pseudo}
        self.items: list[AuditItem] = []

    def add(self, element: Element) -> None:
        if element.kind in ("Se", "Sf"):
            self._add_power(element, [0], "supplied")
            return
        ports = range(len(element.ports))
        loss = [k for k in ports if element.ports[k].kind not in STATE]
        stores = [k for k in ports if element.ports[k].kind in STATE]
        if loss:
            self._add_power(element, loss, "dissipated")
        if stores:
            self._add_storage(element, stores)

    def _power(self, element: Element, ports: list[int]) -> Expr | None:
        """Power into the element (out of a source) through some of its ports; None in pseudo domains."""
        if self.pseudo and any(self._domain(element, k) in self.pseudo for k in ports):
            return None
        return total(self.powers[element.id, k] for k in ports)

    def _domain(self, element: Element, port: int) -> str:
        place = self.draft.attachments[element.id][port]
        return element.ports[port].domain or self.draft.graph.bonds[place.bond].domain or ""

    def _add_power(self, element: Element, ports: list[int], kind: AuditKind) -> None:
        power = self._power(element, ports)
        if power is not None:
            self.items.append(AuditItem(element.name, self._domain(element, ports[0]), kind, power))

    # --- storages ---------------------------------------------------------------------------------------------------

    def _add_storage(self, element: Element, ports: list[int]) -> None:
        power = self._power(element, ports)
        if power is None:
            return
        domain = self._domain(element, ports[0])
        gain = element.laws[0].gain if element.laws and len(element.ports) == 1 else None
        if isinstance(gain, tuple) and gain[0] == "p":  # the common case, made straight
            state = ("y", self.draft.storages[element.id, 0])
            size = self.maker.resolve(gain)
            energy: Expr | None = ("/", ("*", 0.5, state, state), size)
            if self.maker.parameters.has_zero_branch(size):
                energy = ("if", self.maker.parameters.hoist(("==", size, 0.0)), 0.0, energy)
            self.items.append(AuditItem(element.name, domain, "stored", power, energy))
            return
        own = {("y", self.draft.storages[element.id, k]) for k in ports}
        energy = self._energy(element, ports)
        modulation: Expr | None = 0.0
        if energy is not None:
            energy = self.inliner(self._resolved(energy, element))
            modulation = self._modulation(energy, own)
        integral = self._integral(element, ports) if energy is None else None
        if modulation is None:  # how the modulation changes is not known: leave it at the power
            energy = None
        self.items.append(AuditItem(element.name, domain, "stored", power, energy, integral))
        if modulation is not None and modulation != 0.0:
            self.items.append(AuditItem(element.name, domain, "modulation", self.maker.parameters.hoist(modulation)))

    def _resolved(self, e: Expr, element: Element) -> Expr:
        """Over keys; relations stay as they are, for the audit makes no events."""
        quiet = ("noEvent", expand(e, self.maker.modes.tables))
        return self.maker.resolve(self.maker.modes.lower(quiet, element.name, element.span))

    def _energy(self, element: Element, ports: list[int]) -> Expr | None:
        """The stored energy by the names of the model."""
        if element.energy is not None:
            return element.energy
        states = [var(element.variable(k, STATE[element.ports[k].kind])) for k in ports]
        given = [self._given(element, k) for k in ports]
        known = [law for law in given if law is not None]
        if len(known) < len(ports):
            return None
        terms: list[Expr] = []
        for i, (state, law) in enumerate(zip(states, known, strict=True)):
            linear = linear_in(law, state)
            if linear is None:
                return None
            if len(ports) == 1:
                terms = [product([0.5, linear[0], state, state]), product([linear[1], state])]
                return None if self._mentions_own(element, linear) else total(terms)
            terms.append(product([0.5, state, law]))
            for other, other_law in zip(states[:i], known[:i], strict=True):
                if diff(law, other) != diff(other_law, state):
                    return None  # not reciprocal: there is no energy
        return total(terms) if self._homogeneous(states, known) else None

    def _given(self, element: Element, port: int) -> Expr | None:
        """The law of a port as a function of its state."""
        kind = element.ports[port].kind
        z, x = var(element.variable(port, CO[kind])), var(element.variable(port, STATE[kind]))
        tables = self.maker.modes.tables
        for law in element.laws:
            if law.port == port and law.gives == CO[kind]:
                return law.value
            if law.port == port and law.gives == STATE[kind]:
                return invert(law.value, z, x, tables)
            if not law.gives and len(element.laws) == 1:
                return invert(law.value, z, 0.0, tables)
        return None

    def _mentions_own(self, element: Element, parts: tuple[Expr, Expr]) -> bool:
        names = {var(element.variable(0, letter)) for letter in "ef"}
        return any(leaf in names for part in parts for leaf in leaf_set(part))

    def _homogeneous(self, states: list[Expr], laws: list[Expr]) -> bool:
        """Is each law a sum of states times what does not depend on them?"""
        for law in laws:
            rest = law
            for state in states:
                linear = linear_in(rest, state)
                if linear is None or any(depends(linear[0], other) for other in states):
                    return False
                rest = linear[1]
            if rest != 0.0:
                return False
        return True

    def _integral(self, element: Element, ports: list[int]) -> tuple[Expr, int] | None:
        """The law of a nonlinear one-port as a function of its state alone."""
        if len(ports) != 1 or len(element.ports) != 1:
            return None
        law = self._given(element, 0)
        number = self.draft.storages[element.id, 0]
        if law is None:
            return None
        effort = self.inliner(self._resolved(law, element))
        if any(leaf[0] != "p" and leaf != ("y", number) for leaf in leaf_set(effort)):
            return None
        return effort, number

    def _modulation(self, energy: Expr, own: set[Leaf]) -> Expr | None:
        """The change of the energy while the element's own states rest; None where a rate is not known."""
        unknown = False

        def seed(leaf: Leaf) -> Expr:
            nonlocal unknown
            if leaf in own or leaf[0] in ("p", "z"):
                return 0.0
            if leaf[0] == "t":
                return 1.0
            if leaf[0] != "y" or self.draft.unknowns[leaf[1]].kind != "state":
                unknown = True
                return 0.0
            return ("d", leaf[1])

        power = derivative(energy, seed)
        return None if unknown else power
