"""A flat graph written back as source.

Everything is declared at one level under its flat name, quoted where that is needed (`'a.mass'`); parameters stay
symbolic.  Elaborating the text gives the same graph again."""

from collections.abc import Iterator

from bglang.expr import Expr
from bglang.expr.text import number
from bglang.graph.emit_fields import FieldClasses
from bglang.graph.ir import (
    Assertion,
    Assign,
    Bond,
    BondGraph,
    Domain,
    Element,
    Equation,
    Parameter,
    Reinit,
    Start,
    Variable,
    When,
)
from bglang.graph.spelling import GAINS, Spelling, arrays, attributes, matrix, parameter_value, split_index
from bglang.graph.used import used_parameters
from bglang.syntax.text import literal, quoted

_CLASSES = {"R": "Loss", "C": "Capacity", "I": "Inertance", "Se": "EffortSource", "Sf": "FlowSource"}
"""How the basic elements are called inside an emitted domain."""


def emit(graph: BondGraph, name: str | None = None) -> str:
    """The graph as the source of a model, under another name if one is given."""
    return _Emitter(graph, name or graph.name).source()


class _Emitter:
    def __init__(self, graph: BondGraph, name: str):
        self.graph = graph
        self.title = name
        self.spelling = Spelling(graph)
        self.parameters = {p.name: p for p in graph.parameters}
        self.fields = FieldClasses(graph, self.spelling)
        self._own_parameters()
        self._table_names()

    def source(self) -> str:
        body = list(self._model())
        blocks = [*self._domains(), *self.fields.classes(), "\n".join(body)]
        return "\n\n".join(blocks) + "\n"

    # --- preparation ------------------------------------------------------------------------------------------------

    def _own_parameters(self) -> None:
        """Parameters that an element's declaration makes are written there, not on their own."""
        for element in self.graph.elements:
            letter = GAINS.get(element.kind)
            if letter is not None:
                name = f"{element.name}.{letter}"
                if name in self.parameters and self._gain(element) == ("p", name):
                    self.spelling.owned[name] = (element.name, letter)
            elif element.kind == "field":
                for parameter in self.fields.parameters(element):
                    self.spelling.owned[parameter.name] = (element.name, parameter.name[len(element.name) + 1 :])

    def _gain(self, element: Element) -> Expr | None:
        if element.kind in ("TF", "GY"):
            return element.modulus
        return element.laws[0].gain if element.laws else None

    def _table_names(self) -> None:
        """Tables of plain numbers become constants; others are written where they are used."""
        for table in self.graph.tables:
            if not any(isinstance(e, tuple) for e in (*table.x, *table.y)):
                self.spelling.constant_tables[table.key] = self.spelling.fresh(table.key)

    # --- the model --------------------------------------------------------------------------------------------------

    def _model(self) -> Iterator[str]:
        graph = self.graph
        yield f"model {quoted(self.title)}{_description(graph.description)}"
        yield from self._parameters()
        for table in graph.tables:
            if table.key in self.spelling.constant_tables:
                name = quoted(self.spelling.constant_tables[table.key])
                yield f"  constant Real {name}[{len(table.x)}, 2] = {self.spelling.points(table)};"
        for variable in graph.variables:
            if variable.kind != "displacement":
                yield f"  {self._variable(variable)}"
        yield from self._aliases()
        elements = [self._element(element) for element in graph.elements]
        yield from (f"  {line}" for line in (*self.spelling.captured_declarations(), *elements))
        yield "bonds"
        yield from self._bonds()
        equations = [*self._equations(graph.equations), *self._events()]
        if equations:
            yield "equation"
            yield from (f"  {line}" for line in equations)
        if graph.initial_equations:
            yield "initial equation"
            yield from (f"  {line}" for line in self._equations(graph.initial_equations))
        experiment = self._experiment()
        if experiment:
            yield f"annotation(experiment({experiment}));"
        yield f"end {quoted(self.title)};"

    def _domains(self) -> Iterator[str]:
        used: dict[str, set[str]] = {}
        for element in self.graph.elements:
            for port in element.ports:
                if port.domain:
                    used.setdefault(port.domain, set()).add(element.kind)
        for domain in self.graph.domains:
            if domain.name in used:
                yield _domain(domain, used[domain.name])

    # --- declarations -----------------------------------------------------------------------------------------------

    def _parameters(self) -> Iterator[str]:
        used = used_parameters(self.graph)
        wanted = [
            p
            for p in self.graph.parameters
            if p.name not in self.spelling.owned and (p.name in used or not (p.structural or p.constant))
        ]
        groups = arrays(p.name for p in wanted)
        members: dict[str, list[Parameter]] = {}
        for parameter in wanted:
            found = split_index(parameter.name)
            if found is not None and found[0] in groups:
                members.setdefault(found[0], []).append(parameter)
        for base, group in list(members.items()):
            if len({_kind(p) for p in group}) > 1 or any(p.value is None for p in group):
                del members[base]
        self.spelling.arrays.update({base: groups[base] for base in members})
        for parameter in wanted:
            found = split_index(parameter.name)
            if found is None or found[0] not in members:
                yield f"  {self._parameter(parameter, parameter.name, '', parameter_value(parameter, self.spelling))}"
            elif parameter is members[found[0]][0]:
                yield f"  {self._array(found[0], members[found[0]], groups[found[0]])}"

    def _array(self, base: str, group: list[Parameter], shape: tuple[int, ...]) -> str:
        ordered = sorted(group, key=lambda p: (split_index(p.name) or ("", ()))[1])
        items = [parameter_value(p, self.spelling) for p in ordered]
        sizes = f"[{', '.join(map(str, shape))}]"
        return self._parameter(group[0], base, sizes, matrix(items, shape))

    def _parameter(self, parameter: Parameter, name: str, sizes: str, value: str) -> str:
        kind = "Integer" if parameter.type == "enumeration" else parameter.type
        prefix = "constant" if parameter.constant else "final parameter" if parameter.final else "parameter"
        shown = f" = {value}" if value else ""
        each = "each " if sizes else ""
        attributes_ = self._parameter_attributes(parameter, each)
        return f"{prefix} {kind} {quoted(name)}{sizes}{attributes_}{shown}{_description(parameter.description)};"

    def _parameter_attributes(self, parameter: Parameter, each: str = "") -> str:
        pairs = [
            (f"{each}unit", literal(parameter.unit) if parameter.unit else ""),
            (f"{each}displayUnit", literal(parameter.display_unit) if parameter.display_unit else ""),
            (f"{each}min", self._optional(parameter.minimum)),
            (f"{each}max", self._optional(parameter.maximum)),
            (f"{each}fixed", "" if parameter.fixed else "false"),
        ]
        return attributes(pairs)

    def _optional(self, e: Expr | None) -> str:
        return "" if e is None else self.spelling.expression(e)

    def _variable(self, variable: Variable) -> str:
        kind = "Integer" if variable.type == "enumeration" else variable.type
        prefix = "discrete " if variable.kind == "discrete" else ""
        boolean = variable.type == "Boolean"
        pairs = [
            *self._start(variable.start, boolean),
            ("nominal", self._optional(variable.nominal)),
            ("min", self._optional(variable.minimum)),
            ("max", self._optional(variable.maximum)),
            ("unit", literal(variable.unit) if variable.unit else ""),
            ("displayUnit", literal(variable.display_unit) if variable.display_unit else ""),
        ]
        return f"{prefix}{kind} {quoted(variable.name)}{attributes(pairs)}{_description(variable.description)};"

    def _start(self, start: Start | None, boolean: bool = False) -> list[tuple[str, str]]:
        if start is None or not start.written:
            return []
        fixed = "" if start.fixed is None else "true" if start.fixed else "false"
        return [("start", self.spelling.expression(start.value, boolean=boolean)), ("fixed", fixed)]

    def _aliases(self) -> Iterator[str]:
        """A bond has one name in the source; further ones become variables of their own."""
        for bond in self.graph.bonds:
            for name in bond.names[1:]:
                for letter in ("e", "f", "power"):
                    yield f"  Real {quoted(f'{name}.{letter}')} = {quoted(bond.names[0])}.{letter};"

    # --- elements ---------------------------------------------------------------------------------------------------

    def _element(self, element: Element) -> str:
        if element.kind == "field":
            return self.fields.declaration(element, _description(element.description))
        parts = list[str]()
        if element.kind in ("J0", "J1"):
            parts.extend(self._displacement(element))
        elif element.kind in ("TF", "GY"):
            parts.extend(self._gain_argument(element, element.modulus))
        else:
            parts.extend(self._law(element))
            parts.extend(self._port(element))
        if element.prefer:
            parts.append('prefer = "independent"')
        shown = f"({', '.join(parts)})" if parts else ""
        return f"{self._type(element)} {quoted(element.name)}{shown}{_description(element.description)};"

    def _type(self, element: Element) -> str:
        domain = element.ports[0].domain if element.ports and element.kind in _CLASSES else None
        return f"{quoted(domain)}.{_CLASSES[element.kind]}" if domain else element.kind

    def _displacement(self, element: Element) -> Iterator[str]:
        letter = "q" if element.kind == "J1" else "p"
        found = self.fields.displacements.get(f"{element.name}.{letter}")
        if found is not None:
            pairs = [*self._start(found.start), ("nominal", self._optional(found.nominal))]
            shown = attributes(pairs)
            if shown:
                yield f"{letter}{shown}"

    def _law(self, element: Element) -> Iterator[str]:
        for law in element.laws:
            if law.gain is not None:
                yield from self._gain_argument(element, law.gain)
            else:
                with self.spelling.inside(element):
                    yield f"{law.gives or '0'} = {self.spelling.expression(law.value)}"

    def _gain_argument(self, element: Element, gain: Expr | None) -> Iterator[str]:
        letter = GAINS[element.kind]
        if gain is None:
            return
        if gain != ("p", f"{element.name}.{letter}") or gain[1] not in self.parameters:
            yield f"{letter} = {self.spelling.expression(gain)}"
            return
        parameter = self.parameters[gain[1]]
        value = parameter_value(parameter, self.spelling)
        shown = f"{letter}{self._parameter_attributes(parameter)}"
        if value:
            yield f"{'final ' * parameter.final}{shown} = {value}"
        elif shown != letter:
            yield shown

    def _port(self, element: Element) -> Iterator[str]:
        port = element.ports[0]
        pairs = [*self._start(port.start), ("nominal", self._optional(port.nominal))]
        shown = attributes(pairs)
        if shown:
            yield f"{'q' if port.kind == 'C' else 'p'}{shown}"

    # --- bonds ------------------------------------------------------------------------------------------------------

    def _bonds(self) -> Iterator[str]:
        run, tail = list[str](), ""
        for bond in self.graph.bonds:
            plain = not bond.names and bond.stroke is None
            start, end = self._end(bond, "tail"), self._end(bond, "head")
            if run and (not plain or start != tail):
                yield f"  {tail} -> {', '.join(run)};"
                run = []
            if plain:
                tail = start
                run.append(end)
            else:
                arrow = {"head": "->|", "tail": "|->", None: "->"}[bond.stroke]
                name = f"bond {quoted(bond.names[0])}: " if bond.names else ""
                yield f"  {name}{start} {arrow} {end};"
        if run:
            yield f"  {tail} -> {', '.join(run)};"

    def _end(self, bond: Bond, side: str) -> str:
        end = bond.tail if side == "tail" else bond.head
        element = self.graph.elements[end.element]
        name = quoted(element.name)
        if element.kind in ("TF", "GY"):
            usual = end.port == (0 if side == "head" else 1)
            return name if usual else f"{name}.{element.ports[end.port].name}"
        if element.kind == "field":
            return f"{name}.{self.spelling.port(element.ports[end.port].name)}"
        return name

    # --- equations and events ---------------------------------------------------------------------------------------

    def _equations(self, equations: tuple[Equation, ...]) -> Iterator[str]:
        for equation in equations:
            left = equation.left
            if equations is self.graph.equations and self._defines_displacement(left):
                continue
            boolean = any(self.spelling.is_boolean(e) for e in (left, equation.right))
            sides = [self.spelling.expression(e, boolean=boolean) for e in (left, equation.right)]
            shown = f"({sides[0]})" if sides[0].startswith("if ") else sides[0]
            yield f"{shown} = {sides[1]};"

    def _defines_displacement(self, left: Expr) -> bool:
        """`der(w.q) = w.f` is there because something mentions `w.q`."""
        return isinstance(left, tuple) and left[0] == "der" and left[1][-1] in self.fields.displacements

    def _events(self) -> Iterator[str]:
        for when in self.graph.whens:
            yield from self._when(when)
        for assertion in self.graph.assertions:
            yield self._assertion(assertion)

    def _when(self, when: When) -> Iterator[str]:
        word = "when"
        for branch in when.branches:
            conditions = [self.spelling.expression(c, boolean=True) for c in branch.conditions]
            shown = conditions[0] if len(conditions) == 1 else f"{{{', '.join(conditions)}}}"
            yield f"{word} {shown} then"
            for action in branch.actions:
                if isinstance(action, Reinit):
                    yield f"  reinit({self.spelling.name(action.target)}, {self.spelling.expression(action.value)});"
                elif isinstance(action, Assign):
                    boolean = action.target in self.spelling.booleans
                    value = self.spelling.expression(action.value, boolean=boolean)
                    yield f"  {self.spelling.name(action.target)} = {value};"
                elif isinstance(action, Assertion):
                    yield f"  {self._assertion(action)}"
                else:
                    yield f"  terminate({literal(action.message)});"
            word = "elsewhen"
        yield "end when;"

    def _assertion(self, assertion: Assertion) -> str:
        level = ", AssertionLevel.warning" if assertion.level == "warning" else ""
        condition = self.spelling.expression(assertion.condition, boolean=True)
        return f"assert({condition}, {literal(assertion.message)}{level});"

    def _experiment(self) -> str:
        e = self.graph.experiment
        pairs = [
            ("StartTime", number(e.start) if e.start else ""),
            ("StopTime", number(e.stop) if e.stop != 1 else ""),
            ("Tolerance", number(e.tolerance) if e.tolerance != 1e-6 else ""),
            ("Interval", "" if e.interval is None else number(e.interval)),
            ("initial", literal("steady") if e.steady else ""),
        ]
        for key, value in e.settings:
            shown = literal(value) if isinstance(value, str) else number(float(value))
            pairs.append((key, shown))
        return ", ".join(f"{key} = {value}" for key, value in pairs if value)


def _description(text: str) -> str:
    return f" {literal(text)}" if text else ""


def _kind(p: Parameter) -> tuple[object, ...]:
    return (p.type, p.unit, p.display_unit, p.final, p.constant, p.fixed, p.minimum, p.maximum, p.type == "String")


def _domain(domain: Domain, kinds: set[str]) -> str:
    """A domain with classes for the basic elements that the model has in it."""
    names = {
        "effort": domain.effort,
        "flow": domain.flow,
        "effort_name": domain.effort_name,
        "flow_name": domain.flow_name,
        "q_name": domain.q_name,
        "q_unit": domain.q_unit,
        "p_name": domain.p_name,
        "p_unit": domain.p_unit,
    }
    shown = [f"{key} = {literal(value)}" for key, value in names.items() if value]
    if domain.pseudo:
        shown.append("pseudo = true")
    lines = [f"domain {quoted(domain.name)}({', '.join(shown)})"]
    for kind, name in _CLASSES.items():
        if kind in kinds:
            lines.append(f"  element {name} extends {kind}; end {name};")
    lines.append(f"end {quoted(domain.name)};")
    return "\n".join(lines)
