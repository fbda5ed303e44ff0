"""Random bond graphs: connected, all nine elements, modulation, fields, laws in both directions, loops, dependent
storages, steps, components of the standard library.  Everything follows from the random numbers it is given."""

import random
import re
from dataclasses import dataclass, field

from soak.laws import ROUGH, SMOOTH, STEEP, STICKING
from soak.physics import JUNCTIONS, Edge, Model, Node

LIBRARY = {
    "Electrical": {"R": ("Resistor", "R = {a}"), "C": ("Capacitor", "C = {a}"), "I": ("Inductor", "L = {a}")},
    "Translational": {"R": ("Damper", "d = {a}"), "C": ("Spring", "k = 1/{a}"), "I": ("Mass", "m = {a}")},
    "Rotational": {"R": ("Damper", "d = {a}"), "C": ("Spring", "k = 1/{a}"), "I": ("Inertia", "J = {a}")},
    "Hydraulic": {"R": ("Resistance", "R = {a}"), "C": ("Compliance", "C = {a}"), "I": ("Inertance", "I = {a}")},
}
LINEAR = {"R": ("e", "{a}*f"), "C": ("e", "q/{a}"), "I": ("f", "p/{a}")}


@dataclass
class Maker:
    rng: random.Random
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    features: set[str] = field(default_factory=set)
    smooth: bool = True
    steps: bool = False
    sticks: bool = False
    domain: str = ""
    wild: float = 0.3
    """how likely a law is not linear"""
    count: int = 0

    def model(self) -> Model:
        rng = self.rng
        self.wild = rng.choice([0.0, 0.2, 0.5])
        if rng.random() < 0.3:
            self.domain = rng.choice(list(LIBRARY))
            self.features.add("library")
        junctions = self.junctions(rng.randint(1, 6))
        for junction in junctions:
            for _ in range(rng.randint(1, 3)):
                self.one_port(junction)
            if rng.random() < 0.6:
                self.passive(junction, "R")
        if len(junctions) > 1 and rng.random() < 0.3:
            self.field_between(rng.sample(junctions, 2))
        if rng.random() < 0.1:
            self.source_on_element()
        return Model(tuple(self.nodes), tuple(self.edges), self.smooth, self.steps, frozenset(self.features))

    # --- small parts --------------------------------------------------------------------------------------------------

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def number(self, low: float = 0.3, high: float = 3.0) -> str:
        return f"{self.rng.uniform(low, high):.3g}"

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def edge(self, tail: str, head: str, passive: bool = False) -> None:
        self.edges.append(Edge(f"b{len(self.edges) + 1}", tail, head, passive))

    def driver(self) -> str:
        """Something that varies and may modulate: time, a displacement, a state, an effort or a flow."""
        found = ["time"]
        for n in self.nodes:
            match n.base:
                case "J1":
                    found += [f"{n.name}.q", f"{n.name}.f"]
                case "J0":
                    found += [f"{n.name}.p", f"{n.name}.e"]
                case "C":
                    found += [f"{n.name}.q", f"{n.name}.e"]
                case "I":
                    found += [f"{n.name}.p", f"{n.name}.f"]
        chosen = self.rng.choice(found)
        self.features.add("modulated by " + ("time" if chosen == "time" else chosen[-1]))
        return chosen

    def modulated(self, value: str, p: float) -> str:
        return f"{value} + 0.2*sin({self.driver()})" if self.chance(p) else value

    # --- junctions and links ------------------------------------------------------------------------------------------

    def junctions(self, n: int) -> list[str]:
        made = list[str]()
        for _ in range(n):
            name, kind = self.name("j"), self.rng.choice(JUNCTIONS)
            self.nodes.append(Node(name, kind, kind))
            if made:
                self.join(self.rng.choice(made), name)
            made.append(name)
        if n > 2 and self.chance(0.25):
            self.features.add("mesh")
            self.join(*self.rng.sample(made, 2))
        return made

    def join(self, a: str, b: str) -> None:
        for _ in range(self.rng.choice([0, 0, 0, 1, 1, 1, 2])):
            a = self.link(a)
        self.edge(a, b)

    def link(self, a: str) -> str:
        """A transformer or gyrator behind `a`; its name."""
        kind, letter = self.rng.choice([("TF", "m"), ("TF", "m"), ("GY", "r")])
        modulus = self.modulated(self.number(), 0.3)
        name = self.name("t" if kind == "TF" else "g")
        self.nodes.append(Node(name, kind, kind, f"{letter} = {modulus}", (("m", modulus),)))
        self.features.add(kind)
        self.edge(a, name)
        return name

    # --- elements -----------------------------------------------------------------------------------------------------

    def one_port(self, junction: str) -> None:
        kind = self.rng.choices(["R", "C", "I", "source"], [0.34, 0.27, 0.27, 0.12])[0]
        if kind == "source":
            self.source(junction)
            return
        self.passive(self.link(junction) if self.chance(0.1) else junction, kind)

    def passive(self, place: str, kind: str) -> None:
        name = self.name(kind.lower())
        node = self.curved(name, kind) if self.chance(self.wild) else self.linear(name, kind)
        self.nodes.append(node)
        self.edge(place, name, True)

    def linear(self, name: str, kind: str) -> Node:
        a = self.number()
        states = {"C": ("q",), "I": ("p",)}.get(kind, ())
        left, right = LINEAR[kind]
        if self.domain and self.chance(0.5):
            word, text = LIBRARY[self.domain][kind]
            given = text.format(a=a)
            return Node(name, f"{self.domain}.{word}", kind, given, ((left, right.format(a=a)),), (), "", states)
        value = self.modulated(a, 0.15 if kind == "R" else 0.03)
        if value != a:
            self.features.add(f"modulated {kind}")
        law = (left, right.format(a=f"({value})"))
        return Node(name, kind, kind, f"{kind} = {value}", (law,), (), "", states)

    def curved(self, name: str, kind: str) -> Node:
        """A nonlinear law, in either direction, now and then implicit."""
        x, y = {"R": ("f", "e"), "C": ("q", "e"), "I": ("p", "f")}[kind]
        if self.chance(0.5):
            x, y = y, x
        curve = self.rng.choices([SMOOTH, ROUGH, STEEP if kind == "R" else SMOOTH], [0.7, 0.27, 0.03])[0]
        sticks = kind == "R" and self.chance(0.08) and not self.sticks  # two may leave only their sum determined
        if sticks:
            self.sticks, curve = True, STICKING
        self.smooth &= curve is SMOOTH
        b = self.rng.uniform(0.05, 0.29)
        text = self.rng.choice(curve).format(a=self.number(0.3 if curve is not STEEP else 1), b=f"{b:.3g}")
        self.features.add(text.split("(")[0].split("*")[-1].split(" ")[-1] if "(" in text else "polynomial")
        law = re.sub(r"\bx\b", x, text)
        states = {"C": ("q",), "I": ("p",)}.get(kind, ())
        level = (1.5 if "1.5" in text else 1.0) * float(f"{b:.3g}") if sticks else 0.0
        if self.chance(0.15) and not law.startswith("if") and not sticks:
            self.features.add("implicit law")
            return Node(name, kind, kind, f"0 = {y} - ({law})", ((y, law),), (), "", states)
        return Node(name, kind, kind, f"{y} = {law}", ((y, law),), (), "", states, level)

    def source(self, place: str) -> None:
        kind, letter = self.rng.choice([("Se", "e"), ("Sf", "f")])
        a, b = self.number(), self.number()
        value = self.rng.choice([a, f"{a}*sin({b}*time)", f"{a}*cos({b}*time)"])
        if self.chance(0.15):
            self.steps = True
            self.features.add("step")
            value = f"if time < {self.number(0.2, 0.8)} then {a} else {b}"
        name = self.name("s")
        self.nodes.append(Node(name, kind, kind, f"{letter} = {value}", ((letter, value),)))
        self.edge(name, place)

    def source_on_element(self) -> None:
        """An island: a source and a loss bonded without a junction."""
        self.source(name := self.name("r"))
        self.nodes.append(self.linear(name, "R"))
        self.edges[-1] = Edge(self.edges[-1].name, self.edges[-1].tail, name, False)

    # --- fields -------------------------------------------------------------------------------------------------------

    def field_between(self, places: list[str]) -> None:
        x, y, z = (round(self.rng.uniform(0.5, 2), 2) for _ in range(3))
        make = self.rng.choice([self.matrix_field, self.energy_field, self.inertial_field])
        kind, name = self.name("Field"), self.name("x")
        self.nodes.append(make(name, kind, x, y, z))
        self.features.add(make.__name__)
        for k, place in enumerate(places, 1):
            self.edge(place, f"{name}.d[{k}]", True)

    def matrix_field(self, name: str, kind: str, x: float, y: float, z: float) -> Node:
        """A reciprocal, positive storage or loss."""
        give, take = self.rng.choice([("e", "q"), ("f", "p"), ("e", "f"), ("f", "e")])
        rows = ((x + z, z), (z, y + z))
        text = "; ".join(", ".join(f"{v:.3g}" for v in row) for row in rows)
        body = f"  port Any d[2];\n  parameter Real A[2, 2] = [{text}];\nequation\n  d.{give} = A*d.{take};\n"
        laws = tuple(
            (f"d[{i}].{give}", " + ".join(f"{v:.3g}*{name}.d[{j}].{take}" for j, v in enumerate(row, 1)))
            for i, row in enumerate(rows, 1)
        )
        states = ("d[1]." + take, "d[2]." + take) if take in "qp" else ()
        return Node(name, kind, "field", "", laws, (), f"element {kind}\n{body}end {kind};", states)

    def energy_field(self, name: str, kind: str, x: float, y: float, z: float) -> Node:
        """A nonlinear two-port spring or mass, given by its energy."""
        s, other = self.rng.choice([("q", "e"), ("p", "f")])
        one, two = f"d[1].{s}", f"d[2].{s}"
        body = f"  port Any d[2];\n  energy = {x}*{one}^2/2 + {y}*{two}^4/4 + {z}*({one} - {two})^2/2;\n"
        o, t = f"{name}.{one}", f"{name}.{two}"
        laws = (
            (f"d[1].{other}", f"{x}*{o} + {z}*({o} - {t})"),
            (f"d[2].{other}", f"{y}*{t}^3 - {z}*({o} - {t})"),
        )
        return Node(name, kind, "field", "", laws, (), f"element {kind}\n{body}end {kind};", (one, two))

    def inertial_field(self, name: str, kind: str, x: float, y: float, z: float) -> Node:
        """A mass that depends on a position, and a spring on that: an IC field."""
        body = f"  port Any d[2];\n  energy = d[1].p^2/(2*({x} + d[2].q^2)) + {y}*d[2].q^2/2;\n"
        p, q = f"{name}.d[1].p", f"{name}.d[2].q"
        laws = (("d[1].f", f"{p}/({x} + {q}^2)"), ("d[2].e", f"{y}*{q} - {p}^2*{q}/({x} + {q}^2)^2"))
        return Node(name, kind, "field", "", laws, (), f"element {kind}\n{body}end {kind};", ("d[1].p", "d[2].q"))


def random_model(seed: int) -> Model:
    return Maker(random.Random(seed)).model()
