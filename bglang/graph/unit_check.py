"""Units are followed through every expression of the graph; parts that do not fit are reported.

A plain number, a name without unit and `time` have an unknown unit: it fits anything in a sum and makes a product
unknown.  Every place of the source is reported once, however often it is used."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

from bglang.diagnostics import Diagnostic, Report, error, warning
from bglang.expr import Expr
from bglang.expr.core import LEAVES, operands
from bglang.graph.ir import Assertion, Assign, BondGraph, Element, Equation, Parameter, Reinit, Start, When
from bglang.graph.unit_table import UnitTable
from bglang.graph.units import JOULE, ONE, SECOND, Unit, factor_hint, spell
from bglang.source import Span

Mode = Literal["error", "warn", "off"]

_SAME = frozenset({"neg", "abs", "noEvent", "pre", "floor", "ceil", "const"})
_SUM = frozenset({"+", "-", "min", "max", "mod", "rem"})
_RELATION = frozenset({"<", "<=", ">", ">=", "==", "!="})
_PLAIN_ARGUMENT = frozenset(
    {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "log10"}
)


def check_units(graph: BondGraph, report: Report, mode: Mode) -> None:
    """Adds a diagnostic for every place whose units do not fit."""
    if mode == "off":
        return
    table = UnitTable(graph, report)
    checker = _Checker(table, report, mode)
    if not table.anything:
        return
    checker.parameters(graph.parameters)
    for element in graph.elements:
        checker.element(element)
    for equation in (*graph.equations, *graph.initial_equations):
        checker.equation(equation)
    for variable in graph.variables:
        checker.start(variable.start, table.unit(("v", variable.name)), variable.name)
    for when in graph.whens:
        checker.when(when)
    for assertion in graph.assertions:
        checker.inside(assertion.condition, assertion.span)


class _Checker:
    """Infers units and reports what does not fit."""

    def __init__(self, table: UnitTable, report: Report, mode: Mode):
        self.table = table
        self.report = report
        self.make: Callable[..., Diagnostic] = error if mode == "error" else warning
        self.reported: set[tuple[int, int, int]] = set()
        self.span: Span | None = None

    # --- what is checked --------------------------------------------------------------------------------------------

    def parameters(self, parameters: Iterable[Parameter]) -> None:
        for p in parameters:
            unit = self.table.unit(("p", p.name))
            given = p.value_span or p.span
            for value, span in ((p.value, given), (p.minimum, p.span), (p.maximum, p.span)):
                if isinstance(value, tuple):
                    self._against(unit, value, span, p.name, self.table.written(("p", p.name)))

    def element(self, element: Element) -> None:
        domains = [self.table.domain_of_port.get((element.id, k), port.domain) for k, port in enumerate(element.ports)]
        if element.kind in ("TF", "GY"):
            self._modulus(element, domains)
            return
        if element.energy is not None:
            pseudo = any(d in self.table.domains and self.table.domains[d].pseudo for d in domains if d)
            unit = JOULE if any(domains) and not pseudo else None
            self._against(unit, element.energy, element.span, "energy", "J")
        else:
            for law in element.laws:
                if law.gain is not None:
                    self._gain(element, law.gain, law.span, domains[law.port])
                    continue
                name = element.variable(law.port, law.gives) if law.gives else ""
                unit = self.table.unit(("v", name)) if name else None
                self._against(unit, law.value, law.span, name, self.table.written(("v", name)))
        for k, port in enumerate(element.ports):
            if port.start is not None and port.kind in ("C", "I"):
                letter = "q" if port.kind == "C" else "p"
                self.start(port.start, self.table.of_domain(domains[k], letter), element.variable(k, letter))

    def _gain(self, element: Element, gain: Expr, span: Span, domain: str | None) -> None:
        """R, C or I: what it must be follows from the domain."""
        over, under = {"R": ("e", "f"), "C": ("q", "e"), "I": ("p", "f")}.get(element.kind, ("", ""))
        if not over or domain is None:
            return
        a, b = self.table.of_domain(domain, over), self.table.of_domain(domain, under)
        if a is not None and b is not None:
            self._factor(a / b, gain, span, f"{element.name}.{element.kind}")

    def _factor(self, wanted: Unit, gain: Expr, span: Span, name: str) -> None:
        """A parameter of a basic element has the unit of its value where it has none of its own."""
        if isinstance(gain, tuple) and gain[0] == "p" and self.table.unit(gain) is None:
            parameter = self.table.parameters.get(gain[1])
            if parameter is not None and parameter.value is not None:
                gain = parameter.value
        if isinstance(gain, tuple):
            self._against(wanted, gain, span, name, spell(wanted))

    def _modulus(self, element: Element, domains: list[str | None]) -> None:
        if element.modulus is None or len(domains) < 2:
            return
        second = "e" if element.kind == "TF" else "f"
        a, b = self.table.of_domain(domains[0], "e"), self.table.of_domain(domains[1], second)
        name = f"{element.name}.{'m' if element.kind == 'TF' else 'r'}"
        if a is not None and b is not None:
            self._factor(a / b, element.modulus, element.span, name)
        else:
            self.inside(element.modulus, element.span)

    def equation(self, equation: Equation) -> None:
        self.span = equation.span
        if isinstance(equation.left, tuple) and equation.left[0] == "v":
            name = equation.left[1]
            unit, text = self.table.unit(equation.left), self.table.written(("v", name))
            self._against(unit, equation.right, equation.span, name, text)
            return
        left, right = self.infer(equation.left), self.infer(equation.right)
        if left is not None and right is not None and not left.fits(right):
            a, b = self._text(equation.left, left), self._text(equation.right, right)
            self._report(f"the left side has the unit `{a}`, the right side `{b}`", left, right, (a, b))

    def start(self, start: Start | None, unit: Unit | None, name: str) -> None:
        if start is not None and isinstance(start.value, tuple):
            self._against(unit, start.value, start.span, f"{name}.start", self.table.written(("v", name)))

    def when(self, when: When) -> None:
        for branch in when.branches:
            for condition in branch.conditions:
                self.inside(condition, branch.span)
            for action in branch.actions:
                if isinstance(action, Reinit | Assign):
                    leaf = ("v", action.target)
                    unit = self.table.unit(leaf)
                    self._against(unit, action.value, action.span, action.target, self.table.written(leaf))
                elif isinstance(action, Assertion):
                    self.inside(action.condition, action.span)

    def inside(self, e: Expr, span: Span) -> None:
        self.span = span
        self.infer(e)

    def _against(self, wanted: Unit | None, value: Expr, span: Span, name: str, text: str) -> None:
        self.span = span
        found = self.infer(value)
        if wanted is not None and found is not None and not wanted.fits(found):
            a, b = text or spell(wanted), self._text(value, found)
            if a == b:
                a, b = spell(wanted), spell(found)
            self._report(f"`{name}` has the unit `{a}`, but this has `{b}`", wanted, found, (a, b))

    def _text(self, e: Expr, unit: Unit) -> str:
        """The unit as the user wrote it, where a name stands alone."""
        return (self.table.written(e) if isinstance(e, tuple) else "") or spell(unit)

    def _report(self, message: str, wanted: Unit, found: Unit, texts: tuple[str, str]) -> None:
        assert self.span is not None
        key = (id(self.span.source), self.span.start, self.span.end)
        if key in self.reported:
            return
        self.reported.add(key)
        hint = factor_hint(wanted, found, texts[0], texts[1])
        if not hint:
            hint = "check the formula, and the units its names are declared with."
        reason = "Known units must fit where values are added, compared or set equal."
        self.report.add(self.make("units/mismatch", message, self.span, reason=reason, hint=hint))

    # --- inference --------------------------------------------------------------------------------------------------

    def infer(self, e: Expr) -> Unit | None:
        """The unit of an expression, None if it is unknown; no recursion, shared parts once."""
        if not isinstance(e, tuple):
            return None
        if e[0] in LEAVES:
            return self.table.unit(e)
        known: dict[int, Unit | None] = {}
        stack: list[tuple[tuple[Any, ...], bool]] = [(e, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in known:
                continue
            if node[0] in LEAVES:
                known[id(node)] = self.table.unit(node)
            elif ready:
                args = operands(node)
                units = [known[id(a)] if isinstance(a, tuple) else None for a in args]
                known[id(node)] = self._operation(node, args, units)
            else:
                stack.append((node, True))
                stack.extend((a, False) for a in operands(node) if isinstance(a, tuple))
        return known[id(e)]

    def _operation(self, node: tuple[Any, ...], args: tuple[Any, ...], units: list[Unit | None]) -> Unit | None:
        op = node[0]
        if op in _SUM:
            return self._agree(args, units, "the parts of a sum" if op in "+-" else f"the arguments of `{op}`")
        if op == "*":
            return self._product(units)
        if op in _SAME:
            return units[0]
        if op == "/":
            a, b = units
            return None if a is None or b is None else a / b
        if op == "if":
            return self._agree(args[1:], units[1:], "the branches of an `if`")
        if op in _RELATION:
            self._agree(args, units, "the sides of a relation")
            return None
        return self._function(op, args, units)

    def _function(self, op: str, args: tuple[Any, ...], units: list[Unit | None]) -> Unit | None:
        if op == "^":
            return units[0] ** args[1] if units[0] is not None and not isinstance(args[1], tuple) else None
        if op == "sqrt":
            return None if units[0] is None else units[0] ** 0.5
        if op in _PLAIN_ARGUMENT:
            self._plain(op, args[0], units[0])
            return None
        if op == "atan2":
            self._agree(args, units, "the arguments of `atan2`")
            return None
        if op == "der":
            return None if units[0] is None else Unit(units[0].dimension, units[0].scale) / SECOND
        if op == "smooth" or op == "coulomb":
            return units[1]
        return None

    def _product(self, units: list[Unit | None]) -> Unit | None:
        result = ONE
        for unit in units:
            if unit is None:
                return None
            result = result * unit
        return result

    def _agree(self, args: tuple[Any, ...], units: list[Unit | None], what: str) -> Unit | None:
        first: tuple[Any, Unit] | None = None
        for arg, unit in zip(args, units, strict=True):
            if unit is None:
                continue
            if first is None:
                first = (arg, unit)
            elif not first[1].fits(unit):
                a, b = self._text(first[0], first[1]), self._text(arg, unit)
                self._report(f"{what} have the units `{a}` and `{b}`", first[1], unit, (a, b))
                return None
        return None if first is None else first[1]

    def _plain(self, op: str, argument: Expr, unit: Unit | None) -> None:
        if unit is None or unit.fits(ONE):
            return
        assert self.span is not None
        hint = (
            "angles are in rad here; nothing is converted." if unit.plain else "divide it by a reference value first."
        )
        message = f"the argument of `{op}` has the unit `{self._text(argument, unit)}`"
        self.report.add(warning("units/argument", message, self.span, hint=hint))
