"""Fields written back as source: each becomes a class of its own, equal ones share one."""

import re
from collections.abc import Iterator

from bglang.expr import Expr
from bglang.graph.ir import BondGraph, Element, Parameter
from bglang.graph.spelling import Spelling, all_leaves, arrays, attributes, matrix, parameter_value, split_index
from bglang.syntax.text import literal, quoted


class FieldClasses:
    """Classes of the fields of one graph, made as they are declared."""

    def __init__(self, graph: BondGraph, spelling: Spelling):
        self.graph = graph
        self.spelling = spelling
        self.displacements = {v.name: v for v in graph.variables if v.kind == "displacement"}
        self.made: dict[str, str] = {}
        self.names: set[str] = set()
        self.of_element: dict[str, list[Parameter]] = {}
        fields = {e.name for e in graph.elements if e.kind == "field"}
        for parameter in graph.parameters:
            owner = _owner(parameter.name, fields)
            if owner is not None:
                self.of_element.setdefault(owner, []).append(parameter)

    def parameters(self, element: Element) -> list[Parameter]:
        """The field's own parameters, as far as its laws read them."""
        read = {leaf[1] for leaf in all_leaves(_formulas(element)) if leaf[0] == "p"}
        return [p for p in self.of_element.get(element.name, ()) if p.name in read]

    def classes(self) -> Iterator[str]:
        for text, name in self.made.items():
            yield text.replace("\0", quoted(name))

    def declaration(self, element: Element, description: str) -> str:
        """The instance; its class is made if there is none like it."""
        own = self.parameters(element)
        start = len(element.name) + 1
        groups = _groups(own, start)
        outside = self._outside(element)
        text = self._class(element, groups, outside)
        if text not in self.made:
            self.made[text] = self._class_name(element.type_name)
        arguments = [f"{self._declared(base)} = {self._value(base, members)}" for base, members in groups.items()]
        arguments += [f"{name} = {self.spelling.name(leaf)}" for (_, leaf), name in outside.items()]
        arguments += self._starts(element)
        shown = f"({', '.join(arguments)})" if arguments else ""
        return f"{quoted(self.made[text])} {quoted(element.name)}{shown}{description};"

    def _class_name(self, wish: str) -> str:
        base = re.sub(r"\W", "_", wish) or "Field"
        name, k = base, 1
        while name in self.names or name == self.graph.name or any(d.name == name for d in self.graph.domains):
            k += 1
            name = f"{base}_{k}"
        self.names.add(name)
        return name

    def _outside(self, element: Element) -> dict[tuple[str, str], str]:
        """What the laws read beyond the field: given to the class as parameters, which may vary in time."""
        own = {p.name for p in self.parameters(element)}
        mine = {element.variable(k, x) for k in range(len(element.ports)) for x in ("e", "f", "q", "p", "power")}
        found = dict[tuple[str, str], str]()
        for leaf in all_leaves(_formulas(element)):
            if leaf[0] in ("v", "p") and leaf[1] not in own and leaf[1] not in mine:
                found[leaf[0], leaf[1]] = f"u{len(found) + 1}"
        return found

    def _class(self, element: Element, groups: dict[str, list[Parameter]], outside: dict[tuple[str, str], str]) -> str:
        lines = [f"element \0{' ' + literal(element.description) if element.description else ''}"]
        lines += [f"  {line}" for line in _ports(element)]
        bound = dict(outside)
        start = len(element.name) + 1
        for base, members in groups.items():
            first = members[0]
            sizes = _shape(base, members, start)
            pairs = [("each unit" if sizes else "unit", literal(first.unit) if first.unit else "")]
            kind = "Integer" if first.type == "enumeration" else first.type
            lines.append(f"  parameter {kind} {quoted(base)}{sizes}{attributes(pairs)};")
            for member in members:
                bound["p", member.name] = self.spelling.indexed(member.name[start:]) if sizes else quoted(base)
        lines += [f"  parameter Real {name};" for name in outside.values()]
        with self.spelling.inside(element, bound):
            if element.energy is not None:
                lines.append(f"  energy = {self.spelling.expression(element.energy)};")
            else:
                lines.append("equation")
                lines += [f"  {line}" for line in self._laws(element)]
        lines.append("end \0;")
        return "\n".join(lines)

    def _laws(self, element: Element) -> Iterator[str]:
        for law in element.laws:
            value = self.spelling.expression(law.value)
            if law.gives:
                yield f"{self.spelling.name(element.variable(law.port, law.gives))} = {value};"
            else:
                yield f"0 = {value};"

    def _declared(self, base: str) -> str:
        return quoted(base)

    def _value(self, base: str, members: list[Parameter]) -> str:
        items = [parameter_value(p, self.spelling) for p in members]
        found = split_index(members[0].name)
        if found is None or not members[0].name.endswith("]") or (len(members) == 1 and not found[0].endswith(base)):
            return items[0]
        shape = arrays(p.name for p in members).get(found[0])
        return items[0] if shape is None else matrix(items, shape)

    def _starts(self, element: Element) -> Iterator[str]:
        for port in element.ports:
            if port.start is not None and port.start.written:
                letter = "q" if port.kind == "C" else "p"
                fixed = "" if port.start.fixed is None else "true" if port.start.fixed else "false"
                nominal = "" if port.nominal is None else self.spelling.expression(port.nominal)
                pairs = [("start", self.spelling.expression(port.start.value)), ("fixed", fixed), ("nominal", nominal)]
                yield f"{self.spelling.port(port.name)}.{letter}{attributes(pairs)}"


def _owner(name: str, fields: set[str]) -> str | None:
    head = name
    while "." in head:
        head = head.rpartition(".")[0]
        if head in fields:
            return head
    return None


def _formulas(element: Element) -> list[Expr | None]:
    if element.energy is not None:
        return [element.energy]
    return [law.value for law in element.laws]


def _groups(parameters: list[Parameter], start: int) -> dict[str, list[Parameter]]:
    """Parameters by the name they are declared under; a full array is one declaration."""
    full = arrays(p.name[start:] for p in parameters)
    groups: dict[str, list[Parameter]] = {}
    for parameter in parameters:
        rest = parameter.name[start:]
        found = split_index(rest)
        groups.setdefault(found[0] if found is not None and found[0] in full else rest, []).append(parameter)
    return groups


def _shape(base: str, members: list[Parameter], start: int) -> str:
    shape = arrays(p.name[start:] for p in members).get(base)
    return "" if shape is None else f"[{', '.join(map(str, shape))}]"


def _ports(element: Element) -> Iterator[str]:
    full = arrays(p.name for p in element.ports)
    done = set[str]()
    for port in element.ports:
        found = split_index(port.name)
        grouped = found is not None and found[0] in full
        name = found[0] if found is not None and grouped else port.name
        if name in done:
            continue
        done.add(name)
        sizes = f"[{', '.join(map(str, full[name]))}]" if grouped else ""
        each = "each " if grouped else ""
        lock = attributes([(f"{each}causality", literal(port.lock) if port.lock else "")])
        yield f"port {quoted(port.domain) if port.domain else 'Any'} {quoted(name)}{sizes}{lock};"
