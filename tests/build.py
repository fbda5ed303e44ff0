"""Bond graphs made in Python, for tests that do not want the parser.

    g = Build()
    g.se("push", 10.0); g.j1("v"); g.i("mass", 2.0, start=0.5); g.r("loss", law=("e", ("abs2", ("v", "f"), 3.0)))
    g.bond("push", "v"); g.bond("v", "mass", "loss")          # one arrow into each: v -> mass, loss
    graph = g.graph()

Nodes get their numbers in the order of the calls, which is the declaration order.  Numbers and expressions without
variables become parameters ("mass.I"); an expression that mentions a variable modulates.  In laws a bare ("v", "f") is
the element's own variable, and ("v", "mag.q") that of its port `mag`.  Every call is one line of a made-up source, so
that diagnostics have lines to show.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, cast

from bglang.expr import Expr, leaves, map_leaves, par, product, var
from bglang.graph.ir import (
    Bond,
    BondGraph,
    Domain,
    Element,
    End,
    Equation,
    Experiment,
    Kind,
    Law,
    Parameter,
    Port,
    PortKind,
    Start,
    Table,
    Variable,
)
from bglang.source import Source, Span

LawText = tuple[str, Expr]
"""What stands on the left ("e", "f", "q", "p", or "" for `0 = …`) and the right side."""

_PASSIVE = ("R", "C", "I", "field")
_LETTERS = ("e", "f", "q", "p")


class Build:
    """Collects nodes and bonds; `graph()` numbers them and computes signs and spans."""

    def __init__(self, name: str = "Test") -> None:
        self.name = name
        self._lines: list[str] = [f"model {name}"]
        self._nodes: dict[str, dict[str, Any]] = {}
        self._bonds: list[dict[str, Any]] = []
        self._parameters: list[tuple[str, Expr | None, int]] = []
        self._variables: list[tuple[str, Expr, bool, str, int]] = []
        self._equations: list[tuple[Expr, Expr, int]] = []
        self._initial: list[tuple[Expr, Expr, int]] = []
        self._tables: list[dict[str, Any]] = []
        self.frames: list[tuple[str, str]] = []
        self.domains: tuple[Domain, ...] = ()
        self.experiment = Experiment()

    # nodes ----------------------------------------------------------------------------------------------------------

    def j0(self, *names: str) -> None:
        for name in names:
            self._node(name, "J0", [])

    def j1(self, *names: str) -> None:
        for name in names:
            self._node(name, "J1", [])

    def se(self, name: str, value: Expr = 1.0) -> None:
        self._node(name, "Se", [_port("")], laws=[("e", 0, self._value(f"{name}.e", value), None)])

    def sf(self, name: str, value: Expr = 1.0) -> None:
        self._node(name, "Sf", [_port("")], laws=[("f", 0, self._value(f"{name}.f", value), None)])

    def r(self, name: str, R: Expr | None = 1.0, *, law: LawText | None = None) -> None:
        self._one_port(name, "R", R, law, None)

    def c(self, name: str, C: Expr | None = 1.0, *, law: LawText | None = None, start: Expr | None = None) -> None:
        self._one_port(name, "C", C, law, start)

    def i(self, name: str, value: Expr | None = 1.0, *, law: LawText | None = None, start: Expr | None = None) -> None:
        self._one_port(name, "I", value, law, start)

    def prefer(self, *nodes: str) -> None:
        """`prefer = "independent"` on storages that exist already."""
        for node in nodes:
            self._nodes[node]["prefer"] = True

    def tf(self, name: str, m: Expr = 1.0) -> None:
        self._node(name, "TF", [_port("p1"), _port("p2")], modulus=self._value(f"{name}.m", m))

    def gy(self, name: str, r: Expr = 1.0) -> None:
        self._node(name, "GY", [_port("p1"), _port("p2")], modulus=self._value(f"{name}.r", r))

    def field(
        self,
        name: str,
        ports: Sequence[tuple[str, PortKind]],
        laws: Sequence[tuple[str, str, Expr]],
        *,
        energy: Expr | None = None,
        starts: dict[str, Expr] | None = None,
    ) -> None:
        """`ports` are (name, kind); `laws` are (port, letter, value), or ("", "", residual) for an implicit one."""
        names = [p for p, _ in ports]
        made = [(x, names.index(port) if port else -1, _own(name, names, value), None) for port, x, value in laws]
        made_ports = [_port(p, kind, (starts or {}).get(p)) for p, kind in ports]
        self._node(name, "field", made_ports, laws=made, energy=None if energy is None else _own(name, names, energy))

    def lock(self, node: str, causality: Literal["effort_in", "effort_out"], port: str = "") -> None:
        """Locks the causality of a port, seen from inside its element."""
        ports = self._nodes[node]["ports"]
        ports[_find(ports, port)]["lock"] = causality

    # bonds ----------------------------------------------------------------------------------------------------------

    def bond(self, tail: str, *heads: str, stroke: Literal["head", "tail"] | None = None, name: str = "") -> None:
        """`tail -> head` for each head.  Ends are nodes, or ports as in "t.p1", "gap.mag"."""
        arrow = {"head": "->|", "tail": "|->", None: "->"}[stroke]
        for head in heads:
            line = self._line(f"{'bond ' + name + ': ' if name else ''}{tail} {arrow} {head};")
            self._bonds.append({"tail": tail, "head": head, "stroke": stroke, "name": name, "line": line})

    def chain(self, *nodes: str) -> None:
        """`a -> b -> c`."""
        for tail, head in pairwise(nodes):
            self.bond(tail, head)

    # signals --------------------------------------------------------------------------------------------------------

    def parameter(self, name: str, value: Expr | None) -> Expr:
        self._parameters.append((name, value, self._line(f"parameter Real {name};")))
        return par(name)

    def variable(self, name: str, start: Expr | None = None, kind: str = "continuous") -> Expr:
        line = self._line(f"Real {name};")
        self._variables.append((name, 0.0 if start is None else start, start is not None, kind, line))
        return var(name)

    def equation(self, left: Expr, right: Expr, *, initial: bool = False) -> None:
        (self._initial if initial else self._equations).append((left, right, self._line("// equation")))

    def displacement(self, junction: str, letter: str = "q", start: Expr | None = None) -> Expr:
        """`J1.q` or `J0.p` on demand, as elaboration makes it."""
        name, rate = f"{junction}.{letter}", "f" if letter == "q" else "e"
        self.variable(name, start, "displacement")
        self.equation(("der", var(name)), var(f"{junction}.{rate}"))
        return var(name)

    def table(
        self, key: str, points: Sequence[tuple[float, float]], method: str = "linear", outside: str = "hold"
    ) -> str:
        self._tables.append({"key": key, "points": tuple(points), "method": method, "outside": outside})
        return key

    # making the graph -----------------------------------------------------------------------------------------------

    def graph(self) -> BondGraph:
        lines = [*self._lines, f"end {self.name};"]
        source = Source(f"{self.name}.bg", "\n".join(lines) + "\n")
        starts = source.line_starts()

        def span(line: int) -> Span:
            text = lines[line]
            indent = len(text) - len(text.lstrip())
            return Span(source, starts[line] + indent, starts[line] + len(text))

        numbers = {name: k for k, name in enumerate(self._nodes)}
        bonds, junction_ports = self._make_bonds(numbers, span)
        return BondGraph(
            name=self.name,
            description="",
            elements=tuple(
                self._make_element(k, name, junction_ports.get(name, 0), span) for name, k in numbers.items()
            ),
            bonds=tuple(bonds),
            parameters=tuple(
                Parameter(n, v, "Real", "", "", False, False, True, None, None, span(line))
                for n, v, line in self._parameters
            ),
            variables=tuple(self._make_variable(*v, span) for v in self._variables),
            equations=tuple(Equation(a, b, "", span(line)) for a, b, line in self._equations),
            initial_equations=tuple(Equation(a, b, "", span(line)) for a, b, line in self._initial),
            whens=(),
            assertions=(),
            tables=tuple(
                Table(
                    t["key"],
                    tuple(x for x, _ in t["points"]),
                    tuple(y for _, y in t["points"]),
                    t["method"],
                    t["outside"],
                    "not-a-knot",
                    span(0),
                )
                for t in self._tables
            ),
            domains=self.domains,
            experiment=self.experiment,
            frames=tuple(self.frames),
            dependencies=(),
            span=span(0),
        )

    def _make_variable(self, name: str, start: Expr, written: bool, kind: str, line: int, span: Any) -> Variable:
        place = span(line)
        made = Start(start, written, None, place)
        return Variable(name, cast(Any, kind), "Real", "", "", made, None, None, None, place)

    def _make_element(self, number: int, name: str, bond_count: int, span: Any) -> Element:
        node = self._nodes[name]
        place = span(node["line"])
        if node["kind"] in ("J0", "J1"):
            ports = tuple(Port("", "", None) for _ in range(bond_count))
        else:
            ports = tuple(
                Port(
                    p["name"],
                    p["kind"],
                    None,
                    Start(0.0 if p["start"] is None else p["start"], p["start"] is not None, None, place)
                    if p["kind"] in ("C", "I")
                    else None,
                    None,
                    p["lock"],
                )
                for p in node["ports"]
            )
        return Element(
            id=number,
            name=name,
            kind=node["kind"],
            ports=ports,
            laws=tuple(Law(cast(Any, gives), port, value, place, gain) for gives, port, value, gain in node["laws"]),
            modulus=node["modulus"],
            energy=node["energy"],
            symbolic=node["symbolic"],
            prefer=node["prefer"],
            type_name=node["kind"],
            description="",
            span=place,
        )

    def _make_bonds(self, numbers: dict[str, int], span: Any) -> tuple[list[Bond], dict[str, int]]:
        used: dict[str, int] = {}
        ends: list[list[tuple[str, int, str]]] = []
        for b in self._bonds:
            pair = []
            for side in ("tail", "head"):
                node, port_name = self._split(b[side])
                info = self._nodes[node]
                if info["kind"] in ("J0", "J1"):
                    port = used[node] = used.get(node, -1) + 1
                elif port_name or len(info["ports"]) == 1:
                    port = _find(info["ports"], port_name)
                else:
                    assert info["kind"] in ("TF", "GY"), f"name the port of {node}"
                    port = 0 if side == "head" else 1
                pair.append((node, port, side))
            ends.append(pair)
        bonds = []
        for k, (b, (tail, head)) in enumerate(zip(self._bonds, ends, strict=True)):
            bonds.append(
                Bond(
                    id=k,
                    tail=self._end(tail, head[0], numbers),
                    head=self._end(head, tail[0], numbers),
                    names=(b["name"],) if b["name"] else (),
                    stroke=b["stroke"],
                    domain=None,
                    span=span(b["line"]),
                )
            )
        return bonds, {node: count + 1 for node, count in used.items()}

    def _end(self, end: tuple[str, int, str], neighbour: str, numbers: dict[str, int]) -> End:
        node, port, side = end
        kind = self._nodes[node]["kind"]
        own_side = {"TF": ("head", "tail"), "GY": ("head", "tail")}.get(kind, ("head",) * (port + 1))[port]
        if (kind in _PASSIVE or kind in ("TF", "GY")) and side != own_side:
            turned = (-1, 1) if self._nodes[neighbour]["kind"] == "J1" else (1, -1)
            return End(numbers[node], port, *turned)
        return End(numbers[node], port)

    def _split(self, end: str) -> tuple[str, str]:
        """Longest node name that begins the text; the rest is the port."""
        if end in self._nodes:
            return end, ""
        node = end
        while "." in node:
            node = node.rpartition(".")[0]
            if node in self._nodes:
                return node, end[len(node) + 1 :]
        raise KeyError(end)

    def _one_port(
        self, name: str, kind: Literal["R", "C", "I"], gain: Expr | None, law: LawText | None, start: Expr | None
    ) -> None:
        port = _port("", kind, start)
        if law is not None:
            gives, value = law
            self._node(name, kind, [port], laws=[(gives, 0 if gives else -1, _own(name, [], value), None)])
            return
        g = self._value(f"{name}.{kind}", gain)
        f, q, p = (var(f"{name}.{letter}") for letter in ("f", "q", "p"))
        made = {"R": ("e", product([g, f])), "C": ("e", ("/", q, g)), "I": ("f", ("/", p, g))}[kind]
        self._node(name, kind, [port], laws=[(made[0], 0, made[1], g)], symbolic=gain is None)

    def _node(
        self,
        name: str,
        kind: Kind,
        ports: list[dict[str, Any]],
        *,
        laws: Sequence[tuple[str, int, Expr, Expr | None]] = (),
        modulus: Expr | None = None,
        energy: Expr | None = None,
        symbolic: bool = False,
    ) -> None:
        assert name not in self._nodes, name
        self._nodes[name] = {
            "kind": kind,
            "ports": ports,
            "laws": tuple(laws),
            "modulus": modulus,
            "energy": energy,
            "prefer": False,
            "symbolic": symbolic,
            "line": self._line(f"{kind} {name};"),
        }

    def _value(self, name: str, value: Expr | None) -> Expr:
        """A parameter named `name`, unless the value varies in time."""
        if value is not None and any(leaf[0] in ("v", "t") for leaf in leaves(value)):
            return value
        self._parameters.append((name, value, len(self._lines)))
        return par(name)

    def _line(self, text: str) -> int:
        self._lines.append("  " + text)
        return len(self._lines) - 1


def _port(name: str, kind: PortKind = "", start: Expr | None = None) -> dict[str, Any]:
    return {"name": name, "kind": kind, "start": start, "lock": None}


def _find(ports: list[dict[str, Any]], name: str) -> int:
    return next(k for k, p in enumerate(ports) if p["name"] == name)


def _own(element: str, ports: list[str], value: Expr) -> Expr:
    """The law with the element's own short names written out."""

    def full(leaf: tuple[Any, ...]) -> Expr:
        if leaf[0] == "v":
            port, _, letter = leaf[1].rpartition(".")
            if letter in _LETTERS and (port in ports if port else True):
                return var(f"{element}.{leaf[1]}")
        return leaf

    return map_leaves(value, full)
