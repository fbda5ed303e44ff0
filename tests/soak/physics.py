"""A bond graph as plain data: what the generator makes, what the tableau solves, what the writings write down.

Names are flat. Every bond has a name, so that its effort and flow are in the result; arrows point into passive elements
and through transformers and gyrators, so that an element's variables are its bond's."""

from dataclasses import dataclass, field, replace
from functools import cached_property

JUNCTIONS, PASSIVE, SOURCES, LINKS = ("J0", "J1"), ("R", "C", "I", "field"), ("Se", "Sf"), ("TF", "GY")


@dataclass(frozen=True)
class Node:
    name: str
    kind: str
    """the type as declared: `R`, `Electrical.Resistor`, `Field7`"""
    base: str
    """what it is: a basic kind, or "field\""""
    text: str = ""
    """what stands in the parentheses of the declaration"""
    laws: tuple[tuple[str, str], ...] = ()
    """(left side, right side) in the element's own letters; of a TF or GY ("m", modulus)"""
    starts: tuple[tuple[str, str], ...] = ()
    """(own variable, value): ("q", "0.3"), ("d[1].q", "0.3")"""
    definition: str = ""
    """the class of a field"""
    states: tuple[str, ...] = ()
    """own letters of the storages: ("q",), ("d[1].q", "d[2].p")"""
    sticks: float = 0.0
    """level of a set-valued term; 0 if there is none"""


@dataclass(frozen=True)
class Edge:
    name: str
    tail: str
    head: str
    passive: bool = False
    """one end is a passive port: its arrow may be turned"""


@dataclass(frozen=True)
class Model:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    smooth: bool = True
    steps: bool = False
    """a source steps: what depends on it may jump"""
    features: frozenset[str] = field(default=frozenset())

    @cached_property
    def by_name(self) -> dict[str, Node]:
        return {n.name: n for n in self.nodes}

    def with_starts(self, starts: dict[str, float]) -> "Model":
        """`starts` by flat name of the variable: {"c3.q": 0.3}."""
        made = []
        for n in self.nodes:
            own = [(name[len(n.name) + 1 :], f"{x:.4g}") for name, x in starts.items() if node_of(name) == n.name]
            made.append(replace(n, starts=tuple(own)))
        return replace(self, nodes=tuple(made))


def node_of(end: str) -> str:
    return end.partition(".")[0]
