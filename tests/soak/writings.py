"""The same physics, written otherwise: other order, other arrows, other names, subsystems, macros, arrays, parameters.

Each writing is a source text and the names under which the flat variables appear in its result."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import groupby

from soak.laws import references
from soak.physics import LINKS, Edge, Model, Node, node_of

Names = Callable[[str], str]


@dataclass(frozen=True)
class Writing:
    what: str
    text: str
    names: Names = lambda name: name
    """flat name of a variable -> its name in this writing's result"""
    turned: frozenset[str] = frozenset()
    """bonds drawn the other way: their variables change sign"""


def declaration(node: Node, text: str | None = None, name: str | None = None) -> str:
    """`C c3(C = 2, q(start = 0.3));`"""
    given = [text if text is not None else node.text] if node.text else []
    given += [f"{variable}(start = {value})" for variable, value in node.starts]
    return f"  {node.kind} {name or node.name}{_brackets(given)};"


def _brackets(given: list[str]) -> str:
    return f"({', '.join(given)})" if given else ""


def bond(edge: Edge, tail: str | None = None, head: str | None = None) -> str:
    return f"  bond {edge.name}: {tail or edge.tail} -> {head or edge.head};"


def definitions(model: Model) -> list[str]:
    return [n.definition for n in model.nodes if n.definition]


def source(model: Model, name: str = "M") -> str:
    lines = [*definitions(model), f"model {name}", *(declaration(n) for n in model.nodes)]
    return "\n".join([*lines, "bonds", *map(bond, model.edges), f"end {name};"]) + "\n"


def shuffled(model: Model, rng: random.Random) -> Writing:
    nodes, edges = list(model.nodes), list(model.edges)
    rng.shuffle(nodes)
    rng.shuffle(edges)
    return Writing("order", source(replace(model, nodes=tuple(nodes), edges=tuple(edges))))


def turned(model: Model, rng: random.Random) -> Writing:
    """Some arrows of passive elements the other way: the same physics."""
    edges = [_turn(model, e) if e.passive and rng.random() < 0.5 else e for e in model.edges]
    changed = frozenset(a.name for a, b in zip(model.edges, edges, strict=True) if a != b)
    return Writing("arrows", source(replace(model, edges=tuple(edges))), turned=changed)


def _turn(model: Model, e: Edge) -> Edge:
    """Two arrows into a transformer need the names of its ports."""
    return replace(e, tail=e.head, head=f"{e.tail}.p2" if model.by_name[e.tail].base in LINKS else e.tail)


def wrapped(model: Model, rng: random.Random) -> Writing:
    return Writing("wrapping", source(model, "Inner") + "model M\n  Inner x;\nend M;\n", lambda name: f"x.{name}")


def renamed(model: Model, rng: random.Random) -> Writing:
    """Other names, some of them quoted, some that look like keywords or library names."""
    odd = ["'a b'", "'1V1'", "e", "flow", "energy", "'x.y'", "Electrical", "node", "é1", "R", "_", "'->'", "M1", "q"]
    rng.shuffle(odd)
    fresh = {n.name: odd.pop() if odd and rng.random() < 0.4 else f"n{k}" for k, n in enumerate(model.nodes)}
    if any(n.kind.startswith(f"{word}.") for n in model.nodes for word in fresh.values()):
        fresh = {name: "el" if new == "Electrical" else new for name, new in fresh.items()}
    fresh |= {e.name: f"w{k}" for k, e in enumerate(model.edges)}

    def replaced(text: str) -> str:
        return re.sub(r"(?<![\w.])([a-z]+\d+)(?=\.)", lambda m: fresh.get(m.group(1), m.group(1)), text)

    def end(text: str) -> str:
        return fresh[node_of(text)] + text[len(node_of(text)) :]

    nodes = tuple(replace(n, name=fresh[n.name], text=replaced(n.text)) for n in model.nodes)
    edges = tuple(Edge(fresh[e.name], end(e.tail), end(e.head)) for e in model.edges)
    return Writing("renaming", source(replace(model, nodes=nodes, edges=edges)), lambda name: end(name))


def with_parameters(model: Model, rng: random.Random) -> Writing:
    """Numbers as parameters that depend on each other."""
    lines, nodes, count = list[str](), list[Node](), 0
    for n in model.nodes:
        letter, equals, value = n.text.partition(" = ")
        if equals and re.fullmatch(r"[\d.]+", value):
            count += 1
            lines += [f"  parameter Real k{count} = h{count}/4;", f"  parameter Real h{count} = 2*{value} + 2*{value};"]
            n = replace(n, text=f"{letter} = k{count}")
        if n.starts:
            count += 1
            lines.append(f"  parameter Real k{count} = -({n.starts[0][1]});")
            n = replace(n, starts=((n.starts[0][0], f"-k{count}"), *n.starts[1:]))
        nodes.append(n)
    rng.shuffle(lines)
    text = source(replace(model, nodes=tuple(nodes)))
    return Writing("parameters", text.replace("model M\n", "model M\n" + "".join(f"{x}\n" for x in lines), 1))


def arrays(model: Model, rng: random.Random) -> Writing:
    """Neighbours of one kind, given in one way, as one array."""

    def likeness(n: Node) -> tuple[object, ...]:
        letter, equals, _ = n.text.partition(" = ")
        if n.base == "field" or n.starts or letter == "0":
            return ("", n.name)
        return (n.kind, letter, equals)

    fresh, lines = dict[str, str](), list[str]()
    groups = [list(group) for _, group in groupby(model.nodes, likeness)]
    for k, group in enumerate(groups):
        fresh |= {n.name: f"v{k}[{i}]" if len(group) > 1 else n.name for i, n in enumerate(group, 1)}

    def replaced(text: str) -> str:
        return re.sub(r"(?<![\w.])([a-z]+\d+)(?=\.)", lambda m: fresh.get(m.group(1), m.group(1)), text)

    def end(text: str) -> str:
        return fresh.get(node_of(text), node_of(text)) + text[len(node_of(text)) :]

    for k, group in enumerate(groups):
        if len(group) == 1:
            lines.append(declaration(replace(group[0], text=replaced(group[0].text))))
            continue
        letter, _, _ = group[0].text.partition(" = ")
        values = ", ".join(replaced(n.text.partition(" = ")[2]) for n in group)
        given = f"({letter} = {{{values}}})" if letter else ""
        lines.append(f"  {group[0].kind} v{k}[{len(group)}]{given};")
    bonds = [bond(e, end(e.tail), end(e.head)) for e in model.edges]
    text = "\n".join([*definitions(model), "model M", *lines, "bonds", *bonds, "end M;"]) + "\n"
    return Writing("arrays", text, end)


# --- subsystems and macros --------------------------------------------------------------------------------------------


@dataclass
class Part:
    """A subsystem or a macro with what it holds; the outermost is the model."""

    name: str
    macro: bool
    nodes: list[Node]
    parts: list["Part"] = field(default_factory=list)
    bonds: list[str] = field(default_factory=list)
    head: list[str] = field(default_factory=list)
    """ports and inputs of a subsystem, parameters of a macro"""
    given: list[str] = field(default_factory=list)
    """what the use of it gives"""


class _Hierarchy:
    def __init__(self, model: Model, rng: random.Random):
        self.model, self.rng, self.count = model, rng, 0
        self.root = Part("", False, list(model.nodes))
        self._divide(self.root, rng.choice([1, 2, 3]))
        self.path = dict[str, tuple[Part, ...]]()
        self._paths(self.root, ())
        self.orders = {e.name: k for k, e in enumerate(model.edges)}
        self.scopes = dict[str, str]()
        """where each bond is drawn"""

    def _divide(self, part: Part, depth: int) -> None:
        """Move neighbours of a random node into a part of their own."""
        if depth == 0 or len(part.nodes) < 2:
            return
        size = self.rng.randint(1, len(part.nodes) - 1)
        inside = {self.rng.choice(part.nodes).name}
        known = {n.name for n in part.nodes}
        for _ in range(20):
            for e in self.model.edges:
                ends = {node_of(e.tail), node_of(e.head)}
                if len(inside) < size and ends & inside and ends <= known:
                    inside |= ends
        self.count += 1
        macro = self.rng.random() < 0.5
        child = Part(f"u{self.count}", macro, [n for n in part.nodes if n.name in inside])
        part.nodes = [n for n in part.nodes if n.name not in inside]
        part.parts.append(child)
        self._divide(self.rng.choice([child, part]), depth - 1)

    def _paths(self, part: Part, above: tuple[Part, ...]) -> None:
        for n in part.nodes:
            self.path[n.name] = (*above, part)
        for child in part.parts:
            self._paths(child, (*above, part))

    def full(self, name: str) -> str:
        """The name of a node, or of what belongs to it, seen from the model."""
        node = node_of(name)
        return "".join(f"{p.name}." for p in self.path[node][1:]) + name

    def text(self) -> str:
        for e in self.model.edges:
            self._bond(e)
        texts = {n.name: self._signals(n) for n in self.model.nodes}
        lines = definitions(self.model)
        self._classes(self.root, texts, lines)
        return "\n".join(lines) + "\n"

    def _bond(self, e: Edge) -> None:
        a, b = self.path[node_of(e.tail)], self.path[node_of(e.head)]
        common = next((k for k, (p, q) in enumerate(zip(a, b, strict=False)) if p is not q), min(len(a), len(b)))
        scope = a[common - 1]
        self.scopes[e.name] = "".join(f"{p.name}." for p in a[1:common])
        if self._as_argument(e, a[common:], b[common:]):
            return
        tail = self._climb(e, e.tail, a[common:], True)
        head = self._climb(e, e.head, b[common:], False)
        scope.bonds.append(bond(e, tail, head))

    def _as_argument(self, e: Edge, a: tuple[Part, ...], b: tuple[Part, ...]) -> bool:
        """Between a node inside a macro and one beside it the bond may be drawn inside: the macro takes the node."""
        if sorted([len(a), len(b)]) != [0, 1] or not (a or b)[0].macro or self.rng.random() < 0.5:
            return False
        (part,) = a or b
        word = f"n{self.orders[e.name]}"
        part.head.append(f"node {word}")
        part.given.append(f"{word} = {e.head if a else e.tail}")
        part.bonds.append(bond(e, head=word) if a else bond(e, tail=word))
        self.scopes[e.name] += f"{part.name}."
        return True

    def _climb(self, e: Edge, end: str, parts: tuple[Part, ...], tail: bool) -> str:
        """Make ports from the inside out; macros are transparent for names.  What the end is called outside."""
        for part in reversed(parts):
            if part.macro:
                end = f"{part.name}.{end}"
                continue
            port = f"p{self.orders[e.name]}{'t' if tail else 'h'}"
            part.head.append(f"  port Any {port};")
            part.bonds.append(f"  {end} -> {port};" if tail else f"  {port} -> {end};")
            end = f"{part.name}.{port}"
        return end

    def _signals(self, n: Node) -> str:
        """The text of a node with its references as they are called where it stands."""
        text = n.text
        for name in references(text):
            if node_of(name) in self.path:
                seen = self._signal(n, name)
                text = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", seen, text)
        return text

    def _signal(self, n: Node, name: str) -> str:
        a, b = self.path[n.name], self.path[node_of(name)]
        common = next((k for k, (p, q) in enumerate(zip(a, b, strict=False)) if p is not q), min(len(a), len(b)))
        if len(a) == common:
            return "".join(f"{p.name}." for p in b[common:]) + name
        self.count += 1
        word = f"z{self.count}"
        outside = "".join(f"{p.name}." for p in b[common:]) + name
        for part in a[common:]:
            part.head.append(f"Real {word}" if part.macro else f"  input Real {word};")
            part.given.append(f"{word} = {outside}")
            outside = word
        return word

    def _classes(self, part: Part, texts: dict[str, str], lines: list[str]) -> None:
        for child in part.parts:
            self._classes(child, texts, lines)
        body = [declaration(n, texts[n.name]) for n in part.nodes]
        uses = [f"  {p.name.upper()} {p.name}{_brackets(p.given) or '()' * p.macro};" for p in part.parts]
        place = self.rng.random() < 0.5 and all(p.macro for p in part.parts)
        body, bonds = (body, [*uses, *part.bonds]) if place else ([*body, *uses], part.bonds)
        if part.macro:
            start = f"macro {part.name.upper()}({', '.join(part.head)})"
        else:
            start = "\n".join([f"model {part.name.upper() or 'M'}", *part.head])
        lines += [start, *body, "bonds", *bonds, f"end {part.name.upper() or 'M'};"]


def divided(model: Model, rng: random.Random) -> Writing:
    """Subsystems with ports and inputs, and macros, inside each other."""
    made = _Hierarchy(model, rng)
    text = made.text()

    def name(flat: str) -> str:
        first = node_of(flat)
        return f"{made.scopes[first]}{flat}" if first in made.scopes else made.full(flat)

    return Writing("subsystems and macros", text, name)


ALL = (shuffled, turned, wrapped, renamed, with_parameters, arrays, divided)
