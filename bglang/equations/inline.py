"""All variables in terms of the unknowns: values are put into each other, loops are cut, large parts kept apart.

Cost stays proportional to the model: an intermediate that is large and used more than once is not copied, it becomes an
unknown with the equation 0 = y - value.
"""

from bglang.diagnostics import error
from bglang.equations.draft import Draft, Key, Leaf
from bglang.equations.maker import Maker, keys_of
from bglang.equations.order import components, cut
from bglang.equations.system import Row, Unknown
from bglang.expr import Expr, call, neg, product, total
from bglang.expr.core import LEAVES
from bglang.expr.invert import linear_in
from bglang.expr.walk import leaf_set, rewrite, tree_size
from bglang.records import replace
from bglang.source import Span

SMALL = 12
"""Variables in an intermediate that may be copied wherever equations use it."""
LARGE = 100
"""Variables in an expression that may be written out although something else uses it too."""


class Inliner:
    """Knows each variable's final expression, over unknowns, rates, parameters, modes and time."""

    def __init__(self, draft: Draft, maker: Maker, roots: list[Expr]) -> None:
        self.draft, self._maker = draft, maker
        self.done: dict[Key, Expr] = dict(draft.leaves)
        self.size: dict[Key, int] = dict.fromkeys(draft.leaves, 1)
        self.rates = self._rate_variables()
        needs = {key: keys_of(value) for key, value in draft.values.items()}
        order = self._ordered(needs)
        uses, mentioned = self._count(needs, roots)
        for key in order:
            self._settle(key, needs[key], uses.get(key, 0), key in mentioned)
        self._finish_cuts()

    # --- loops ------------------------------------------------------------------------------------------------------

    def _ordered(self, needs: dict[Key, list[Key]]) -> list[Key]:
        """Variables in an order in which they follow from each other; those that are cut become unknowns."""
        order: list[Key] = []
        self._cut: list[Key] = []
        for part in components(needs):
            if len(part) == 1 and part[0] not in needs[part[0]]:
                order.append(part[0])
                continue
            self._check_derivatives(part)
            cuts, rest = cut(part, needs, self._price)
            for key in cuts:
                self._cut_at(key)
            order.extend(rest)
        return order

    def _price(self, key: Key) -> int:
        """Where a loop is best cut: at resistive laws, then at signals, then anywhere."""
        setter = self.draft.setters.get(key)
        if setter is not None and self.draft.graph.elements[setter].kind in ("R", "field"):
            return 0
        return 1 if isinstance(key, str) else 2

    def _cut_at(self, key: Key) -> None:
        if isinstance(key, tuple) and key[0] == "rate":
            self.done[key] = ("d", key[1])
        else:
            number = self.draft.add_unknown(self._unknown(key))
            self.done[key] = ("y", number)
        self.size[key] = 1
        self._cut.append(key)

    def _finish_cuts(self) -> None:
        for key in self._cut:
            leaf = self.done[key]
            assert isinstance(leaf, tuple)
            if leaf[0] == "y":
                component, span = self._origin(key)
                law = self.draft.straighter.get(key)
                if law is None:
                    residual = call("-", leaf, self(self.draft.values[key]))
                else:
                    residual = self(self._maker.make(law.value, component, law.span))
                self.draft.rows[leaf[1]] = Row(residual, False, component, span)

    def _check_derivatives(self, part: list[Key]) -> None:
        """`der` of a bond's variable must not close a loop on itself.

        A signal may: where a constraint makes it follow from others, its rate is part of an ordinary loop."""
        derived = [key for key in part if isinstance(key, tuple) and key[0] == "D" and isinstance(key[1], int)]
        if derived and any(not (isinstance(key, tuple) and key[0] == "D") for key in part):
            name = self.draft.describe(derived[0])
            self.draft.report.add(
                error(
                    "equations/derivative-loop",
                    f"`{name}` depends on itself",
                    self._origin(derived[0])[1],
                    reason="The derivative of what is no state follows from the equations, but these use it to find "
                    "the very rates that it is made of.",
                    hint="filter it: a state x with `der(x) = (u - x)/T`, and (u - x)/T as the derivative",
                )
            )

    # --- sizes ------------------------------------------------------------------------------------------------------

    def _count(self, needs: dict[Key, list[Key]], roots: list[Expr]) -> tuple[dict[Key, int], set[Key]]:
        """How often equations need each variable, and which variables anything mentions."""
        mentioned = {key for keys in needs.values() for key in keys}
        waiting: list[Key] = [("rate", k) for k, u in enumerate(self.draft.unknowns) if u.kind == "state"]
        rows = [row.residual for row in self.draft.rows if row is not None]
        uses: dict[Key, int] = {}
        for e in [*rows, *roots]:
            for key in keys_of(e):
                uses[key] = uses.get(key, 0) + 1
                waiting.append(key)
        waiting.extend(self._cut)
        reached: set[Key] = set()
        while waiting:
            key = waiting.pop()
            if key not in reached and key in needs:
                reached.add(key)
                for other in needs[key]:
                    uses[other] = uses.get(other, 0) + 1
                    waiting.append(other)
        return uses, mentioned

    def _rate_variables(self) -> dict[Key, Leaf]:
        """Bond variables that are the rate of a state, up to sign: a large one can be read from there."""
        found: dict[Key, Leaf] = {}
        for number, unknown in enumerate(self.draft.unknowns):
            value = self.draft.values.get(("rate", number))
            if unknown.kind == "state" and isinstance(value, tuple):
                if value[0] == "v":
                    found[value[1]] = ("d", number)
                elif value[0] == "neg" and value[1][0] == "v":
                    found[value[1][1]] = ("neg", ("d", number))
        return found

    def _settle(self, key: Key, needs: list[Key], uses: int, mentioned: bool) -> None:
        value = self.draft.values[key]
        expression = self.done[key] = self(value)
        sizes = self.size
        size = sizes[key] = sum([sizes[k] for k in needs]) + (0 if needs else 1)
        if size <= SMALL or not isinstance(expression, tuple):
            return
        if uses > 1 or (size > LARGE and mentioned and key not in self.rates and not self._is_rate(key)):
            made = self._without_rates(key, expression) or self._keep(key, self._unknown(key), expression)
            self.done[key], self.size[key] = made, tree_size(made)

    def _keep(self, key: Key, unknown: Unknown, value: Expr) -> Leaf:
        """A further unknown with the equation 0 = y - value."""
        leaf = ("y", self.draft.add_unknown(unknown))
        component, span = self._origin(key)
        self.draft.rows[leaf[1]] = Row(call("-", leaf, value), False, component, span)
        return leaf

    def _without_rates(self, key: Key, e: Expr) -> Expr | None:
        """A large expression with rates, in which one rate is left; None where there are none or they cannot be summed.

        An unknown whose equation holds rates would be taken for a balance of what these rates belong to.  A sum of
        rates is the rate of a sum (the momentum of all masses behind a joint): that sum is an unknown with a law."""
        terms, rest = list[Expr](), e
        for leaf in sorted(leaf for leaf in leaf_set(e) if leaf[0] == "d"):
            linear = linear_in(rest, leaf)
            if linear is None or any(part[0] != "p" for part in leaf_set(linear[0])):
                return None
            terms.append(product([linear[0], ("y", leaf[1])]))
            rest = linear[1]
        if not terms:
            return None
        name = self.draft.describe(key)
        if tree_size(rest) > SMALL:
            rest = self._keep(key, replace(self._unknown(key), name=f"{name} at rest"), rest)
        sum_of = self._keep(
            key, replace(self._unknown(key), name=f"integral of {name}", kind="dependent"), total(terms)
        )
        return total([("d", sum_of[1]), rest])

    @staticmethod
    def _is_rate(key: Key) -> bool:
        return isinstance(key, tuple) and key[0] == "rate"

    # --- substitution -----------------------------------------------------------------------------------------------

    def __call__(self, e: Expr) -> Expr:
        """An expression over keys in terms of the unknowns."""
        if not isinstance(e, tuple):
            return e
        op = e[0]
        if op == "v":
            return self.done[e[1]]
        if op in LEAVES:
            return e
        args = []
        for a in e[1:]:
            if isinstance(a, tuple):
                if a[0] == "v":
                    a = self.done[a[1]]
                elif a[0] == "neg" and a[1][0] == "v":
                    a = neg(self.done[a[1][1]])
                elif a[0] not in LEAVES:
                    return rewrite(e, self._leaf)
            args.append(a)
        return call(op, *args)

    def _leaf(self, leaf: Leaf) -> Expr:
        return self.done[leaf[1]] if leaf[0] == "v" else leaf

    def output(self, e: Expr) -> Expr:
        """The same for results: a long sum that is the rate of a state is read from that rate."""
        sign = isinstance(e, tuple) and e[0] == "neg"
        leaf = e[1] if sign and isinstance(e, tuple) else e
        if isinstance(leaf, tuple) and leaf[0] == "v" and leaf[1] in self.rates and self.size[leaf[1]] > LARGE:
            rate = self.rates[leaf[1]]
            return call("neg", rate) if sign else rate
        return self(e)

    # --- origins ----------------------------------------------------------------------------------------------------

    def _unknown(self, key: Key) -> Unknown:
        return Unknown(self.draft.describe(key), "algebraic", 0.0, False, None, None, "", self._origin(key)[1])

    def _origin(self, key: Key) -> tuple[str, Span]:
        """The component that a variable belongs to, and its place in the source."""
        graph = self.draft.graph
        setter = self.draft.setters.get(key)
        if setter is not None:
            return graph.elements[setter].name, graph.elements[setter].span
        if isinstance(key, int):
            bond = graph.bonds[key // 2]
            return graph.elements[bond.tail.element].name, bond.span
        if isinstance(key, tuple) and key[0] in ("D", "rate"):
            return self._origin(key[1]) if key[0] == "D" else ("", self.draft.unknowns[key[1]].span)
        return next(((v.name, v.span) for v in graph.variables if v.name == key), ("", graph.span))
