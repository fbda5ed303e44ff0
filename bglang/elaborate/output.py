"""What flattening has written down so far, and where the ends of bonds are."""

from dataclasses import dataclass
from typing import Any

from bglang.elaborate.context import Context
from bglang.elaborate.wiring import Wire
from bglang.expr import Expr
from bglang.graph import ir


class Output:
    def __init__(self, ctx: Context):
        self.ctx = ctx
        self.report = ctx.report
        self.elements = list[ir.Element]()
        self.parameters = list[ir.Parameter]()
        self.variables = list[ir.Variable]()
        self.equations = list[ir.Equation]()
        self.initial = list[ir.Equation]()
        self.assertions = list[ir.Assertion]()
        self.guesses = list[tuple[str, Expr]]()
        self.inputs = list[str]()
        self.outputs = list[str]()
        self._ports = dict[tuple[str, Any, str | None], ir.Port]()

    def plain_port(self, name: str, kind: Any, domain: str | None) -> ir.Port:
        """A port about which nothing more is said; equal ones are one object."""
        key = (name, kind, domain)
        port = self._ports.get(key)
        if port is None:
            port = self._ports[key] = ir.Port(name, kind, domain)
        return port


@dataclass(slots=True)
class Places:
    """`at[e]` are the numbers of the bonds at element e; `tails` and `heads` the ports at which each bond ends."""

    at: list[list[int]]
    tails: list[int]
    heads: list[int]
    wires: list[Wire]
    domains: list[str | None]

    def domain(self, element: int, port: int) -> str | None:
        """The domain of the bond at a port."""
        for number in self.at[element]:
            wire = self.wires[number]
            if (wire.tail.number == element and self.tails[number] == port) or (
                wire.head.number == element and self.heads[number] == port
            ):
                return self.domains[number]
        return None
