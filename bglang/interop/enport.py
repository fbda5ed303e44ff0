"""ENPORT/PC model files (.ENP): node and connector tables, then one equation block a node.

The format is read as its prints show it, with blanks or tabs between fields.  What is not understood is reported by
line and kept as a comment in the source that is written; a file with errors gives nothing.
"""

import re
import sys
from itertools import pairwise

from bglang.diagnostics import Report, error, warning
from bglang.records import dataclass, field
from bglang.source import Source, Span

KINDS = {
    "E": "Se",
    "F": "Sf",
    "0": "J0",
    "O": "J0",
    "1": "J1",
    "I": "I",
    "C": "C",
    "R": "R",
    "T": "TF",
    "G": "GY",
    "Y": "GY",
}
"""The second letter of a node's TYPE (`MIGV`); O for 0 is a common error of scanned prints."""

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?")
SECTIONS = ("HEADING", "TITLE", "DESCRIPTION", "SYSTEM GRAPH DESCRIPTION", "NODE EQUATIONS", "END-FILE")


FOUR = range(5)
FUNCTIONS: dict[str, tuple[range | None, range | None]] = {
    "CON": (range(1), range(1, 2)), "CONST": (range(2), range(1, 2)), "GAIN": (range(1, 2), range(1, 2)),
    "ATT": (range(1, 2), range(1, 2)), "LINEAR": (range(1, 2), range(3)), "INVERS": (range(1, 2), range(1)),
    **dict.fromkeys(("ABS2", "ABSQRT", "COULOM"), (range(1, 2), range(2))),
    **dict.fromkeys(("SIN", "COS", "ASIN", "ACOS", "EXP", "ALOG"), (range(1, 2), FOUR)),
    **dict.fromkeys(("DSIN", "DCOS", "DASIN", "DACOS", "BRKPT", "SATUR"), (range(1, 2), FOUR)),
    "ADJSAT": (range(1, 2), range(7)), "RCPSQR": (range(1, 2), range(4)),
    **dict.fromkeys(("POLY", "PWLIN", "INTPLO"), (range(1, 2), None)), "SUM": (None, None), "MATRIX": (None, None),
}  # fmt: skip
"""The functions that are known, each with the counts of X and of P that it may have; None where others count too."""


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    kind: str
    x: float
    y: float
    span: Span


@dataclass(frozen=True, slots=True)
class Connector:
    name: str
    tail: str
    head: str
    span: Span


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of an equation; `index` > 0 says that it is the value of that named parameter."""

    value: float
    index: int


@dataclass(frozen=True, slots=True)
class NodeEquation:
    """Y = FUNC(X, P).  For MATRIX, `matrix` holds a row for each Y; of a transformer, F<first> = M * F<second>."""

    node: str
    function: str
    y: tuple[str, ...]
    x: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    matrix: tuple[tuple[float, ...], ...]
    span: Span
    first: str = ""

    @property
    def known(self) -> bool:
        return self.function in FUNCTIONS


@dataclass(frozen=True, slots=True)
class EnportFile:
    name: str
    title: str
    description: tuple[str, ...]
    nodes: tuple[Node, ...]
    connectors: tuple[Connector, ...]
    equations: dict[str, NodeEquation]
    remarks: tuple[str, ...]


@dataclass(slots=True)
class _Reader:
    source: Source
    report: Report
    lines: list[tuple[str, Span]]
    remarks: list[str] = field(default_factory=list[str])

    def fail(self, code: str, message: str, span: Span, hint: str = "") -> None:
        self.report.add(error(f"enport/{code}", message, span, hint=hint))

    def keep(self, code: str, message: str, span: Span) -> None:
        """Not understood: said, and kept as a comment."""
        self.report.add(warning(f"enport/{code}", message, span))
        self.remarks.append(f"{span.source.name}:{span.line}: {message}: {span.text.strip()}")


def read_enport(source: Source, report: Report) -> EnportFile | None:
    """Read a file; None after problems, which are in the report."""
    before = len(report.errors)
    reader = _Reader(source, report, _lines(source))
    parts = _sections(reader)
    if len(report.errors) > before:
        return None
    drawn, joined = _graph(reader, parts["SYSTEM GRAPH DESCRIPTION"])
    equations = _equations(reader, parts["NODE EQUATIONS"])
    nodes, connectors = _repair(reader, drawn, joined, equations)
    if len(report.errors) > before:
        return None
    for node in nodes:
        if node.kind not in ("J0", "J1") and node.name not in equations:
            reader.fail("equation", f"node `{node.name}` has no equation", node.span)
        if node.kind in ("TF", "GY"):
            _check_passage(reader, node, connectors)
    _check_parameters(reader, equations)
    if len(report.errors) > before:
        return None
    title = " ".join(text.strip() for text, _ in parts["TITLE"] if text.strip())
    description = tuple(text.strip() for text, _ in parts["DESCRIPTION"] if text.strip())
    name = next((m.group(1) for text, _ in parts["HEADING"] if (m := re.search(r"(\w+)\.ENP", text))), "Model")
    return EnportFile(name, title, description, nodes, connectors, equations, tuple(reader.remarks))


def _lines(source: Source) -> list[tuple[str, Span]]:
    result, offset = list[tuple[str, Span]](), 0
    for raw in source.text.splitlines(keepends=True):
        text = raw.rstrip("\r\n")
        result.append((text, Span(source, offset, offset + len(text))))
        offset += len(raw)
    return result


def _sections(reader: _Reader) -> dict[str, list[tuple[str, Span]]]:
    parts: dict[str, list[tuple[str, Span]]] = {name: [] for name in SECTIONS}
    current: str | None = None
    for text, span in reader.lines:
        word = text.strip()
        if word in SECTIONS:
            current = word
            if word == "END-FILE":
                break
        elif current is not None:
            parts[current].append((text, span))
        elif word:
            reader.fail("heading", f"an ENPORT file begins with HEADING, not with `{word.split()[0]}`", span)
            return parts
    whole = Span(reader.source, 0, min(len(reader.source.text), 1))
    if current is None:
        reader.fail("empty", "this ENPORT file is empty", whole)
    elif current != "END-FILE":
        reader.fail("end", "the file stops without END-FILE", reader.lines[-1][1])
    for name in ("SYSTEM GRAPH DESCRIPTION", "NODE EQUATIONS"):
        if current == "END-FILE" and not any(text.strip() == name for text, _ in reader.lines):
            reader.fail("graph", f"the file has no {name}", whole, "the word stands alone on its line.")
    return parts


def _graph(reader: _Reader, lines: list[tuple[str, Span]]) -> tuple[list[Node], list[Connector]]:
    nodes, connectors, table, good = list[Node](), list[Connector](), "", True
    for text, span in lines:
        words = text.split()
        if not words:
            continue
        if words[:2] in (["NODE", "TYPE"], ["CONNECTOR", "TYPE"]):
            table, good = words[0], True
        elif not good:
            continue  # one wrong row says enough about a table
        elif table == "NODE":
            node = _node(reader, words, span)
            good = node is not None
            if node:
                nodes.append(node)
        elif table == "CONNECTOR":
            if len(words) < 5 or words[1] != "BG":
                reader.fail("connector", "a row of the CONNECTOR table is: name, `BG V`, from, to", span)
                good = False
            else:
                connectors.append(Connector(words[0], words[3], words[4], span))
        else:
            reader.fail("graph", "expected the table that begins with `NODE TYPE`", span)
            break
    for what, rows in (("node", nodes), ("connector", connectors)):
        seen = set[str]()
        for row in rows:
            if row.name in seen:
                reader.fail("twice", f"{what} `{row.name}` stands twice", row.span)
            seen.add(row.name)
    return nodes, connectors


def real(word: str) -> float:
    """A number as Fortran writes it, `1D5` too; one that is too large becomes the largest there is."""
    value = float(re.sub("[dD]", "e", word))
    return max(-sys.float_info.max, min(sys.float_info.max, value))


def _node(reader: _Reader, words: list[str], span: Span) -> Node | None:
    kind = words[1][1:2].upper() if len(words) > 1 and re.fullmatch(r"M\wGV", words[1]) else ""
    if len(words) < 5 or not NUMBER.fullmatch(words[2]) or not NUMBER.fullmatch(words[3]):
        reader.fail("node", "a row of the NODE table is: name, type, x, y, T", span)
        return None
    if kind not in KINDS:
        reader.fail(
            "node",
            f"`{words[1]}` is not a node type that bglang knows",
            span,
            "known are M?GV with ? one of E F 0 1 I C R T G Y",
        )
        return None
    if words[4] != "T":
        reader.keep("inactive", f"node `{words[0]}` is not active (ACT = {words[4]}) and is read as if it were", span)
    if len(words) > 5:
        reader.keep("macro", f"node `{words[0]}` belongs to macro `{words[5]}`, which is not kept", span)
    return Node(words[0], KINDS[kind], real(words[2]), real(words[3]), span)


def _equations(reader: _Reader, lines: list[tuple[str, Span]]) -> dict[str, NodeEquation]:
    equations: dict[str, NodeEquation] = {}
    announced, found, node, first, at, good = -1, 0, "", "", 0, True
    while at < len(lines):
        text, span = lines[at]
        at += 1
        if match := re.search(r"Number of outputs:\s*(\d+)", text):
            announced = int(match.group(1))
        if match := re.search(r"Node:\s*(\S+)", text):
            node, first = match.group(1), ""
        elif match := re.search(r"Equation:\s*Y\s*=\s*(\w+)\s*\(\s*X\s*,\s*P\s*\)\s*(\d+)\s+(\d+)\s+(\d+)", text):
            end = at
            while end < len(lines) and not re.search(r"Node:|Equation:", lines[end][0]):
                end += 1
            counts = (int(match.group(2)), int(match.group(3)), int(match.group(4)))
            equation = _equation(reader, node, match.group(1), counts, lines[at:end], span, first)
            if equation and node in equations:
                reader.fail("twice", f"node `{node}` has two equations", span)
            if equation:
                found += len(equation.y)
                equations[node] = equation
            good = good and equation is not None
            at = end
        elif match := re.search(r"F(\S+)\s*=\s*M\S*\s*\*\s*F\S", text):
            first = match.group(1)
        elif text.strip() and not re.search(r"Named.?_parameters|Number of outputs|=\s*M\S*\s*\*", text):
            reader.keep("unknown", "this line is not understood", span)
    if good and announced >= 0 and announced != found:
        span = lines[0][1] if lines else Span(reader.source, 0, 0)
        reader.fail("outputs", f"the file announces {announced} outputs, but its equations give {found}", span)
    return equations


def _equation(
    reader: _Reader,
    node: str,
    function: str,
    counts: tuple[int, int, int],
    rows: list[tuple[str, Span]],
    span: Span,
    first: str,
) -> NodeEquation | None:
    if function == "MATRIX":
        return _matrix(reader, node, counts, rows, span)
    y, x, parameters = list[str](), list[str](), list[Parameter]()
    for text, row_span in rows:
        words = text.split()
        if not words or re.match(r"Y[_ ]list", text.strip()):
            continue
        names = [w for w in words if not NUMBER.fullmatch(w)]
        numbers = [w for w in words if NUMBER.fullmatch(w)]
        if len(y) < counts[0] and names:
            y.append(names.pop(0))
        x += names
        if len(numbers) not in (0, 2):
            reader.fail("row", "a parameter needs a number and an index", row_span)
            return None
        if numbers:
            parameters.append(Parameter(real(numbers[0]), int(real(numbers[1]))))
    if (len(y), len(x), len(parameters)) != counts:
        got = f"{len(y)}, {len(x)} and {len(parameters)}"
        reader.fail(
            "counts",
            f"the equation of `{node}` announces {counts[0]} Y, {counts[1]} X, {counts[2]} P, but has {got}",
            span,
        )
        return None
    made = NodeEquation(node, function, tuple(y), tuple(x), tuple(parameters), (), span, first)
    return made if _fits(reader, made) else None


def _fits(reader: _Reader, equation: NodeEquation) -> bool:
    """Whether a function has the inputs and parameters that it needs; an unknown one is kept as a comment."""
    x, p = len(equation.x), len(equation.parameters)
    if not equation.known:
        text = f"function `{equation.function}` of node `{equation.node}` is not known, so the node has no law"
        reader.keep("function", text, equation.span)
        return True
    inputs, parameters = FUNCTIONS[equation.function]
    good = (inputs is None or x in inputs) and (parameters is None or p in parameters)
    match equation.function:
        case "SUM":
            good = x == p > 0
        case "POLY":
            good = good and p > 0
        case "PWLIN" | "INTPLO":
            good = good and p >= 4 and p % 2 == 0
    if not good:
        reader.fail("counts", f"`{equation.function}` does not take {x} X and {p} P", equation.span)
    elif equation.function in ("PWLIN", "INTPLO"):
        points = [q.value for q in equation.parameters[0::2]]
        good = all(a < b or (a == b and equation.function == "PWLIN") for a, b in pairwise(points))
        if not good:
            reader.fail("order", f"the points of `{equation.node}` do not go upwards", equation.span)
    return good


def _check_passage(reader: _Reader, node: Node, connectors: tuple[Connector, ...]) -> None:
    """Power goes through a TF or GY: one connector leads in, one out."""
    heads = sum(c.head == node.name for c in connectors)
    tails = sum(c.tail == node.name for c in connectors)
    if (heads, tails) != (1, 1):
        text = f"one connector leads into `{node.name}` and one out of it, not {heads} and {tails}"
        reader.fail("connector", text, node.span, "turn one of them round in the CONNECTOR table.")


def _check_parameters(reader: _Reader, equations: dict[str, NodeEquation]) -> None:
    """A named parameter has one value, wherever it stands."""
    values = dict[int, float]()
    for equation in equations.values():
        for p in equation.parameters:
            if p.index > 0 and values.setdefault(p.index, p.value) != p.value:
                text = f"the named parameter {p.index} is {values[p.index]:g} elsewhere and {p.value:g} here"
                reader.fail("parameter", text, equation.span)


def _matrix(
    reader: _Reader, node: str, counts: tuple[int, int, int], rows: list[tuple[str, Span]], span: Span
) -> NodeEquation | None:
    """Blocks of at most three columns: a head row of X names, then a row for each Y."""
    x, values = list[str](), dict[str, list[float]]()
    for text, row_span in rows:
        words = text.split()
        if not words:
            continue
        numbers = [NUMBER.fullmatch(w) is not None for w in words]
        if not any(numbers):
            x += words
        elif not numbers[0] and all(numbers[1:]):
            values.setdefault(words[0], []).extend(real(w) for w in words[1:])
        else:
            reader.fail("number", "a row of a matrix is a name and numbers", row_span)
            return None
    if len(values) != counts[0] or len(x) != counts[1] or any(len(row) != len(x) for row in values.values()):
        reader.fail("matrix", f"the matrix of `{node}` is not {counts[0]} by {counts[1]}", span)
        return None
    return NodeEquation(node, "MATRIX", tuple(values), tuple(x), (), tuple(tuple(row) for row in values.values()), span)


def _repair(
    reader: _Reader, nodes: list[Node], connectors: list[Connector], equations: dict[str, NodeEquation]
) -> tuple[tuple[Node, ...], tuple[Connector, ...]]:
    """Undo what scanning does: `M1GV` with an equation is an I (junctions have none), O and 0 are mixed in names."""
    used = {name for c in connectors for name in (c.tail, c.head)} | set(equations)
    fixed = list[Node]()
    for node in nodes:
        kind, name = node.kind, node.name
        if name not in used:
            twin = next((u for u in used if u.replace("O", "0") == name.replace("O", "0")), None)
            if twin:
                reader.report.add(warning("enport/scan", f"node `{name}` is read as `{twin}`", node.span))
                name = twin
        if kind == "J1" and name in equations:
            reader.report.add(
                warning("enport/scan", f"node `{name}` has an equation, so it is an I and no junction", node.span)
            )
            kind = "I"
        fixed.append(Node(name, kind, node.x, node.y, node.span))
    known = {node.name for node in fixed}
    joined = {name for c in connectors for name in (c.tail, c.head)}
    for node in fixed:
        if node.name not in joined:
            message = f"no connector leads to node `{node.name}`"
            reader.fail("connector", message, node.span, hint="check the CONNECTOR table: it says what is joined.")
    for c in connectors:
        for name in (c.tail, c.head):
            if name not in known:
                reader.fail("connector", f"connector `{c.name}` names a node `{name}` that does not exist", c.span)
    return tuple(fixed), tuple(connectors)
