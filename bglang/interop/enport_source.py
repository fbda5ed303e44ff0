"""An ENPORT model written as bglang source."""

from bglang.diagnostics import Report, error, warning
from bglang.interop.enport import Connector, EnportFile, Node, NodeEquation
from bglang.syntax.text import quoted as as_identifier

LETTERS = {"E": "e", "F": "f", "P": "p", "Q": "q"}
EXPERIMENT = "annotation(experiment(StopTime = 10));  // ENPORT keeps its run elsewhere: 10 s is only a default"

FUNCTIONS = {
    "CONST": "const", "LINEAR": "linear", "SIN": "sine", "COS": "cosine", "ASIN": "arcsine", "ACOS": "arccosine",
    "ABS2": "abs2", "ABSQRT": "absqrt", "EXP": "exponential", "ALOG": "logarithm", "DSIN": "reciprocal_sine",
    "DCOS": "reciprocal_cosine", "DASIN": "reciprocal_arcsine", "DACOS": "reciprocal_arccosine", "COULOM": "coulomb",
    "BRKPT": "breakpoint", "SATUR": "saturation", "ADJSAT": "adjustable_saturation", "RCPSQR": "reciprocal_square",
    "INVERS": "inverse",
}  # fmt: skip
"""The function types of ENPORT-6 under the names they have here; POLY, PWLIN and INTPLO take lists."""


def enport_source(model: EnportFile, report: Report) -> str:
    """The whole file as source text: fields as elements, connectors as named bonds."""
    writer = _Writer(model, report)
    return writer.text()


def quoted(name: str) -> str:
    """A name of the file as an identifier."""
    return "'time'" if name == "time" else as_identifier(name)


class _Writer:
    """Holds what the parts of the text need to know of each other: whose connector is whose port."""

    def __init__(self, model: EnportFile, report: Report):
        self.model, self.report = model, report
        self.kinds = {node.name: node.kind for node in model.nodes}
        self.dropped = {n.name for n in model.nodes if n.kind == "TF" and self._modulus_value(n.name) == 0.0}
        taken = {n.name for n in model.nodes} | {c.name for c in model.connectors}
        self.prefix = "P_" if any(name[:1] == "P" and name[1:].isdigit() for name in taken) else "P"
        self.ports: dict[tuple[str, str], int] = {}
        self.own: dict[str, set[str]] = {n.name: set() for n in model.nodes}
        for c in model.connectors:
            self.own[c.tail].add(c.name)
            self.own[c.head].add(c.name)
        for name, equation in model.equations.items():
            if self._is_field(name):
                for k, y in enumerate(equation.y, 1):
                    self.ports[name, y[1:]] = k

    def text(self) -> str:
        fields = [self._field(n) for n in self.model.nodes if self._is_field(n.name)]
        lines = [f"// {line}" for line in (self.model.title, *self.model.description) if line]
        lines += [f"// not kept: {remark}" for remark in self.model.remarks]
        body = [f'model {quoted(self.model.name)} "{self._plain(self.model.title)}"']
        body += [f"  parameter Real {self.prefix}{k} = {v!r};" for k, v in sorted(self._named_parameters().items())]
        body += [f"  {self._declaration(n)}" for n in self.model.nodes if n.name not in self.dropped]
        body += [
            f"  // {name}: a transformer of modulus 0 transmits nothing and is left out"
            for name in sorted(self.dropped)
        ]
        body.append("bonds")
        body += [f"  {self._bond(c)}" for c in self.model.connectors if not {c.tail, c.head} & self.dropped]
        body += [f"  {EXPERIMENT}", f"end {quoted(self.model.name)};"]
        return "\n\n".join(part for part in ["\n".join(lines), *fields, "\n".join(body)] if part) + "\n"

    def _plain(self, text: str) -> str:
        return text.replace("\\", "/").replace('"', "'")

    def _named_parameters(self) -> dict[int, float]:
        return {p.index: p.value for e in self.model.equations.values() for p in e.parameters if p.index > 0}

    def _is_field(self, name: str) -> bool:
        equation = self.model.equations.get(name)
        return equation is not None and self.kinds.get(name) in ("R", "C", "I") and len(equation.y) > 1

    def _modulus_value(self, name: str) -> float | None:
        equation = self.model.equations.get(name)
        return equation.parameters[0].value if equation and equation.function == "CON" else None

    # --- declarations ---

    def _declaration(self, node: Node) -> str:
        name, place = quoted(node.name), f"annotation(position = {{{node.x:g}, {node.y:g}}})"
        if node.kind in ("J0", "J1"):
            return f"{node.kind} {name} {place};"
        if self._is_field(node.name):
            return f"{quoted(node.name + '_field')} {name} {place};"
        equation = self.model.equations[node.name]
        value = self._value(equation, node)
        if value is None:
            given = ", ".join([*equation.x, *(f"{p.value:g}" for p in equation.parameters)])
            return f"{node.kind} {name} {place};  // no law: {equation.y[0]} = {equation.function}({given})"
        if node.kind == "TF":
            into = next(c.name for c in self.model.connectors if c.head == node.name)
            if equation.first not in ("", into):
                return f"TF {name}(m = {value}) {place};  // ENPORT: f2 = M*f1, e1 = M*e2"
            return f"TF {name}(m = 1/({value})) {place};  // ENPORT: f1 = M*f2, e2 = M*e1, so m = 1/M"
        if node.kind == "GY":
            return f"GY {name}(r = {value}) {place};"
        return f"{node.kind} {name}({self._letter(equation.y[0])} = {value}) {place};"

    def _letter(self, variable: str) -> str:
        return LETTERS.get(variable[:1], "e")

    def _variable(self, text: str, node: Node) -> str | None:
        """`EVISPG` seen from a node: its own e, or the e of a named bond; `TIME`."""
        if text == "TIME":
            return "time"
        letter, connector = text[:1], text[1:]
        if letter == "M" and connector in self.kinds:
            return f"(1/{quoted(connector)}.m)" if self.kinds[connector] == "TF" else f"{quoted(connector)}.r"
        if letter not in LETTERS or all(connector != c.name for c in self.model.connectors):
            about = f"`{text}` is no variable of this graph, so `{node.name}` has no law"
            self.report.add(warning("enport/variable", about, self.model.equations[node.name].span))
            return None
        if connector in self.own[node.name] and node.kind not in ("TF", "GY"):
            return LETTERS[letter]
        return f"{quoted(connector)}.{LETTERS[letter]}"

    def _value(self, equation: NodeEquation, node: Node) -> str | None:
        """What Y is; None where the file has no meaning here, which has been said."""
        found = [self._variable(v, node) for v in equation.x]
        x = [v for v in found if v is not None]
        if len(x) < len(found) or not equation.known:
            return None
        p = [f"{self.prefix}{q.index}" if q.index > 0 else repr(q.value) for q in equation.parameters]
        function = equation.function
        if function == "CON" or (function == "CONST" and not x):
            return p[0]
        if function == "GAIN":
            return f"{p[0]}*{x[0]}"
        if function == "ATT":
            return f"{x[0]}/{p[0]}"
        if function == "SIN" and len(p) == 2:
            return f"{p[0]}*sin({p[1]}*{x[0]})"
        if function == "SUM":
            return " + ".join(f"{a}*{b}" for a, b in zip(p, x, strict=True))
        if function == "POLY":
            return f"poly({x[0]}, {{{', '.join(p)}}})"
        if function in ("PWLIN", "INTPLO"):
            rows = "; ".join(f"{a}, {b}" for a, b in zip(p[0::2], p[1::2], strict=True))
            return f"{'pwlin' if function == 'PWLIN' else 'interpolation'}({x[0]}, [{rows}])"
        return f"{FUNCTIONS[function]}({', '.join([*x, *p])})"

    def _field(self, node: Node) -> str:
        equation = self.model.equations[node.name]
        n, y, x = len(equation.y), self._letter(equation.y[0]), self._letter(equation.x[0])
        order = [self.ports.get((node.name, v[1:]), 0) for v in equation.x]
        one = len({v[:1] for v in equation.y}) == len({v[:1] for v in equation.x}) == 1
        if equation.function != "MATRIX" or sorted(order) != list(range(1, n + 1)) or not one:
            text = f"`{node.name}` has {n} outputs, which only a square MATRIX of one kind of variable may have"
            self.report.add(error("enport/function", text, equation.span))
            return ""
        columns = [order.index(k) for k in range(1, n + 1)]  # X may stand in another order than Y
        rows = ";\n    ".join(", ".join(repr(row[k]) for k in columns) for row in equation.matrix)
        name = quoted(f"{node.name}_field")
        return (
            f"element {name}\n  port Any dof[{n}];\n  parameter Real A[{n}, {n}] = [\n    {rows}];\n"
            f"equation\n  dof.{y} = A*dof.{x};\nend {name};"
        )

    # --- bonds ---

    def _end(self, node: str, connector: str, tail: bool) -> str:
        port = self.ports.get((node, connector))
        if port is not None:
            return f"{quoted(node)}.dof[{port}]"
        if self.kinds[node] in ("TF", "GY"):
            return f"{quoted(node)}.{'p2' if tail else 'p1'}"
        return quoted(node)

    def _bond(self, c: Connector) -> str:
        return f"bond {quoted(c.name)}: {self._end(c.tail, c.name, True)} -> {self._end(c.head, c.name, False)};"
