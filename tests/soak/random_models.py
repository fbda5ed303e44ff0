"""Random bond graphs as source text: connected, all nine elements, modulation, fields, loops, dependent storages.

A model is kept as data, so that the same physics can be written in many ways: other order, other arrows, other names,
inside a subsystem.  Everything follows from the seed."""

import random
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Node:
    name: str
    kind: str
    text: str = ""
    """what stands in the parentheses of the declaration"""


@dataclass(frozen=True)
class Edge:
    tail: str
    head: str
    passive: bool = False
    """one end is a passive one-port: its arrow may be turned"""


@dataclass(frozen=True)
class Model:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    elements: tuple[str, ...] = ()
    """definitions of multiport elements"""

    def source(self, name: str = "M") -> str:
        lines = [*self.elements, f"model {name}"]
        lines += [f"  {n.kind} {n.name}{f'({n.text})' if n.text else ''};" for n in self.nodes]
        lines += ["bonds", *(f"  {e.tail} -> {e.head};" for e in self.edges), f"end {name};"]
        return "\n".join(lines) + "\n"

    def shuffled(self, rng: random.Random) -> "Model":
        nodes, edges = list(self.nodes), list(self.edges)
        rng.shuffle(nodes)
        rng.shuffle(edges)
        return replace(self, nodes=tuple(nodes), edges=tuple(edges))

    def turned(self, rng: random.Random) -> "Model":
        """Some arrows of passive elements the other way: the same physics."""
        edges = [Edge(e.head, e.tail, True) if e.passive and rng.random() < 0.5 else e for e in self.edges]
        return replace(self, edges=tuple(edges))

    def wrapped(self) -> str:
        return self.source("Inner") + "model M\n  Inner x;\nend M;\n"


@dataclass
class _Maker:
    rng: random.Random
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    elements: list[str] = field(default_factory=list)
    count: int = 0

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def number(self, low: float = 0.3, high: float = 3.0) -> str:
        return f"{self.rng.uniform(low, high):.3g}"

    def junctions(self, n: int) -> list[str]:
        made = list[str]()
        for _ in range(n):
            name = self.name("j")
            self.nodes.append(Node(name, self.rng.choice(["J0", "J1"])))
            if made:
                self.join(self.rng.choice(made), name)
            made.append(name)
        if n > 2 and self.rng.random() < 0.25:
            self.join(*self.rng.sample(made, 2))
        return made

    def join(self, a: str, b: str) -> None:
        how = self.rng.random()
        if how < 0.5:
            self.edges.append(Edge(a, b))
            return
        kind, letter = ("TF", "m") if how < 0.8 else ("GY", "r")
        modulus = self.number()
        ones = [n.name for n in self.nodes if n.kind == "J1"]
        if self.rng.random() < 0.25:
            driver = f"{self.rng.choice(ones)}.q" if ones and self.rng.random() < 0.5 else "time"
            modulus = f"{modulus} + 0.2*sin({driver})"
        name = self.name("t" if kind == "TF" else "g")
        self.nodes.append(Node(name, kind, f"{letter} = {modulus}"))
        self.edges += [Edge(a, name), Edge(name, b)]

    def one_port(self, junction: str) -> None:
        r = self.rng.random()
        if r < 0.36:
            self.passive(junction, "R", self.loss())
        elif r < 0.62:
            self.passive(junction, "C", self.spring())
        elif r < 0.88:
            self.passive(junction, "I", self.mass())
        else:
            self.source(junction)

    def passive(self, junction: str, kind: str, text: str) -> None:
        name = self.name(kind.lower())
        self.nodes.append(Node(name, kind, text))
        self.edges.append(Edge(junction, name, True))

    def loss(self) -> str:
        a, b = self.number(), self.number(0.05, 0.5)
        return self.rng.choice(
            [f"R = {a}"] * 4
            + [f"e = {a}*f + {b}*f^3", f"f = {a}*e + {b}*e^3"]
            + [f"0 = e - {a}*f - {b}*tanh(f)", f"f = {a}*e + {b}*sinh(e)"]
        )

    def spring(self) -> str:
        a, b = self.number(), self.number(0.05, 0.5)
        return self.rng.choice([f"C = {a}"] * 4 + [f"e = {a}*q + {b}*q^3", f"e = {a}*q + {b}*sinh(q)"])

    def mass(self) -> str:
        a, b = self.number(), self.number(0.05, 0.3)
        return self.rng.choice([f"I = {a}"] * 5 + [f"f = {a}*p + {b}*p^3"])

    def source(self, junction: str) -> None:
        kind, letter = self.rng.choice([("Se", "e"), ("Sf", "f")])
        value = self.rng.choice([self.number(), f"{self.number()}*sin({self.number()}*time)"])
        name = self.name("s")
        self.nodes.append(Node(name, kind, f"{letter} = {value}"))
        self.edges.append(Edge(name, junction))

    def two_port(self, a: str, b: str) -> None:
        """A reciprocal, positive 2-port storage or loss."""
        x, y, z = (self.rng.uniform(0.5, 2) for _ in range(3))
        m = f"[{x + z:.3g}, {z:.3g}; {z:.3g}, {y + z:.3g}]"
        give, take = self.rng.choice([("e", "q"), ("f", "p"), ("e", "f")])
        kind, name = self.name("Field"), self.name("x")
        self.elements.append(
            f"element {kind}\n  port Any d[2];\n  parameter Real A[2, 2] = {m};\n"
            f"equation\n  d.{give} = A*d.{take};\nend {kind};"
        )
        self.nodes.append(Node(name, kind))
        self.edges += [Edge(a, f"{name}.d[1]", True), Edge(b, f"{name}.d[2]", True)]


def random_model(seed: int) -> Model:
    maker = _Maker(random.Random(seed))
    junctions = maker.junctions(maker.rng.randint(1, 6))
    for junction in junctions:
        for _ in range(maker.rng.randint(1, 3)):
            maker.one_port(junction)
        if maker.rng.random() < 0.7:
            maker.passive(junction, "R", maker.loss())
    if len(junctions) > 1 and maker.rng.random() < 0.3:
        maker.two_port(*maker.rng.sample(junctions, 2))
    return Model(tuple(maker.nodes), tuple(maker.edges), tuple(maker.elements))
