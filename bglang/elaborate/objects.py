"""What names of an instance tree stand for: subsystems, elements, ports, bonds, and arrays of them.

These objects live during one elaboration.  Each knows its flat name and answers `attribute(ident)`: what a dot and a
name behind it mean, None when there is no such thing.
"""

from typing import TYPE_CHECKING, Any

from bglang.elaborate.modifications import Binding, Layers
from bglang.elaborate.values import CONTINUOUS, Shape, Value
from bglang.source import Span

if TYPE_CHECKING:
    from bglang.elaborate.bodies import Body, Member
    from bglang.elaborate.context import Context
    from bglang.elaborate.definitions import Definition
    from bglang.elaborate.scopes import InstanceScope


class Silent:
    """What stands for something whose mistake has been reported: nothing more is said about it."""

    __slots__ = ()


POISON = Silent()


class Absent:
    """A component whose condition is false."""

    __slots__ = ("name", "span")

    def __init__(self, name: str, span: Span):
        self.name = name
        self.span = span


class Missing:
    """Something that is no variable, with the reason to tell."""

    __slots__ = ("hint", "message")

    def __init__(self, message: str, hint: str = ""):
        self.message = message
        self.hint = hint


class Many:
    """Several things at once: a whole array of components or a slice of it."""

    __slots__ = ("items", "shape")

    def __init__(self, shape: Shape, items: list[Any]):
        self.shape = shape
        self.items = items


class NodeArray(Many):
    """The nodes that were handed to a macro as one array; a subscript chooses among them."""

    __slots__ = ()


class ArrayObject:
    """An array of components.  Those made one by one in a loop grow; their shape is that of the largest index."""

    __slots__ = ("_shape", "items", "name", "span")

    def __init__(self, name: str, span: Span, shape: Shape | None):
        self.name = name
        self.span = span
        self._shape = shape
        self.items: dict[Any, Any] = {}

    @property
    def shape(self) -> Shape:
        if self._shape is not None:
            return self._shape
        if not self.items:
            return (0,)
        first = next(iter(self.items))
        if isinstance(first, int):
            return (max(self.items),)
        return tuple(max(index[k] for index in self.items) for k in range(len(first)))

    def key(self, index: tuple[int, ...]) -> Any:
        """Indices are kept as plain numbers in one dimension."""
        return index[0] if len(index) == 1 else index


def variable(name: str) -> Value:
    return Value("Real", (), (("v", name),), CONTINUOUS)


class Instance:
    """A subsystem: an instance of a model, block or macro, or the inside of an element class.

    `lexical` is the instance around a macro that was defined inside a model; `nodes` and `values` are a macro's
    arguments."""

    __slots__ = (
        "body", "busy", "ctx", "definition", "description", "element", "layers", "lexical", "member", "name",
        "nodes", "objects", "order", "parent", "prefix", "scopes", "values",
    )  # fmt: skip

    def __init__(
        self,
        ctx: "Context",
        name: str,
        definition: "Definition",
        body: "Body",
        parent: "Instance | None",
        layers: Layers,
    ):
        self.ctx = ctx
        self.name = name
        self.prefix = name + "." if name else ""
        self.definition = definition
        self.body = body
        self.parent = parent
        self.layers = layers
        self.member: Member | None = None
        self.lexical: Instance | None = None
        self.nodes: dict[str, Any] | None = None
        self.values: dict[str, Any] | None = None
        self.objects: dict[str, Any] = {}
        self.order: list[Any] = []
        self.busy: set[str] = set()
        self.scopes: dict[int, InstanceScope] = {}
        self.description = ""
        self.element: ElementObject | None = None

    @property
    def macro(self) -> bool:
        return self.nodes is not None

    def attribute(self, ident: str) -> Any:
        found = self.objects.get(ident)
        if found is None:
            found = self.find(ident)
        if found is None and ident in PORT_LETTERS:
            port = self.only_port()
            if port is not None:
                return port.attribute(ident)
        return found

    def find(self, ident: str) -> Any:
        """A member by name, made now if it was not yet."""
        found = self.objects.get(ident)
        if found is not None:
            return found
        if self.nodes is not None and self.values is not None:
            if ident in self.nodes:
                return self.nodes[ident].thing()
            if ident in self.values:
                found = self.values[ident].read()
                return POISON if found is None else found
        member = self.body.members.get(ident)
        if member is None:
            part = self.body.bond_names.get(ident)
            return Absent(self.prefix + ident, part.span) if part is not None and self.ctx.complete else None
        if member.dynamic:
            return Absent(self.prefix + ident, member.declarator.span) if self.ctx.complete else None
        return self.ctx.create(self, member)

    def only_port(self) -> Any:
        """The port of a class that has exactly one, a scalar: it is bonded and read by its own name."""
        ports = self.body.ports()
        if len(ports) != 1:
            return None
        port = self.find(ports[0].ident)
        return port if isinstance(port, Port | ElementPort) else None

    def names(self) -> set[str]:
        """What can be named inside, for suggestions."""
        macro = {*self.nodes, *(self.values or {})} if self.nodes is not None else set()
        return self.body.names() | macro


UNNAMED = -1
"""A bond to an element that does not say to which of its ports."""

OWN_LETTERS = {"Se": "ef", "Sf": "ef", "R": "ef", "C": "efq", "I": "efp"}
PORT_LETTERS = frozenset({"e", "f", "q", "p", "power", "energy"})


class Port:
    """A port of a model: one bond outside and one inside are one bond.

    `alias` says what its variables are when it is open.  Ports of outside models are `passive`: they take arrows either
    way and are free when open; `displacement` says what their q is."""

    __slots__ = (
        "alias", "ctx", "demanded", "displacement", "domain", "inner", "layers", "lock", "member", "name", "optional",
        "outer", "owner", "passive", "span",
    )  # fmt: skip

    def __init__(self, ctx: "Context", name: str, owner: Instance, member: "Member", layers: Layers):
        self.ctx = ctx
        self.name = name
        self.owner = owner
        self.member = member
        self.layers = layers
        self.span = member.declarator.span
        self.domain: str | None = None
        self.lock: str | None = None
        self.optional = False
        self.passive = False
        self.displacement: Binding | None = None
        self.inner: int | None = None
        self.outer: int | None = None
        self.alias: dict[str, Any] | None = None
        self.demanded: dict[str, Span] = {}

    def attribute(self, ident: str) -> Any:
        if ident not in PORT_LETTERS:
            return None
        if self.alias is not None:
            return self.alias[ident](ident) if ident in self.alias else None
        if ident in ("q", "p", "energy") and (ident != "q" or self.displacement is None):
            self.demanded[ident] = self.span
        return variable(f"{self.name}.{ident}")

    def names(self) -> set[str]:
        return set(PORT_LETTERS)


class NamedBond:
    """A bond with a name, whose variables count along its arrow."""

    __slots__ = ("alias", "demanded", "name", "span")

    def __init__(self, name: str, span: Span):
        self.name = name
        self.span = span
        self.alias: dict[str, Any] | None = None
        self.demanded: dict[str, Span] = {}

    def attribute(self, ident: str) -> Any:
        if ident not in PORT_LETTERS:
            return None
        if self.alias is not None:
            return self.alias[ident](ident) if ident in self.alias else None
        if ident in ("q", "p", "energy"):
            self.demanded[ident] = self.span
        return variable(f"{self.name}.{ident}")

    def names(self) -> set[str]:
        return set(PORT_LETTERS)


class ElementObject:
    """An element or junction of the flat graph.

    `inner` holds the parameters, ports and locals of an element class.  `bonds` are filled when bonds are drawn:
    numbers of raw bonds, one per port; a junction's grow."""

    __slots__ = (
        "bonds", "ctx", "demanded", "end", "inner", "kind", "layers", "member", "name", "number", "owner", "parameter",
        "port_list", "storages", "type_name",
    )  # fmt: skip

    def __init__(
        self,
        ctx: "Context",
        name: str,
        kind: str,
        owner: Instance,
        member: "Member",
        layers: Layers,
        inner: Instance | None,
    ):
        self.ctx = ctx
        self.name = name
        self.kind = kind
        self.owner = owner
        self.member = member
        self.layers = layers
        self.inner = inner
        self.type_name = ""
        self.number = -1
        self.parameter: Any = None
        self.bonds: list[int] = []
        self.demanded: dict[str, Span] | None = None
        self.port_list: list[ElementPort] | None = None
        self.storages: Any = None
        self.end: NodeArgument | None = None

    @property
    def junction(self) -> bool:
        return self.kind == "J1" or self.kind == "J0"

    @property
    def span(self) -> Span:
        return self.member.declarator.span

    def attribute(self, ident: str) -> Any:
        kind = self.kind
        if self.inner is not None and (kind == "field" or ident in self.inner.body.members):
            return self.inner.attribute(ident)
        if ident in OWN[kind]:
            return variable(f"{self.name}.{ident}")
        if ident in ON_DEMAND[kind]:
            return self.demand(ident)
        if kind in ("TF", "GY") and ident in ("p1", "p2"):
            return self.ports()[0 if ident == "p1" else 1]
        if ident == PARAMETER_NAME.get(kind):
            from bglang.elaborate.laws import parameter_value

            value = parameter_value(self)
            return POISON if value is None else value
        return self.explain(ident)

    def as_end(self) -> "NodeArgument":
        """This element as the end of a bond that names no port."""
        if self.end is None:
            self.end = NodeArgument(self, (self, UNNAMED))
        return self.end

    def inner_attribute(self, ident: str) -> Any:
        """What the class of an element sees of it: its own variables, ports of TF and GY, those of an only port."""
        if ident in OWN_LETTERS.get(self.kind, ""):
            return variable(f"{self.name}.{ident}")
        if self.kind in ("TF", "GY") and ident in ("p1", "p2"):
            return self.ports()[0 if ident == "p1" else 1]
        if self.kind == "field" and ident in PORT_LETTERS and self.inner is not None:
            port = self.inner.only_port()
            return port.attribute(ident) if port is not None else None
        return None

    def demand(self, ident: str) -> Value:
        """The displacement of a J1 or momentum of a J0 exists because someone asks for it."""
        if self.demanded is None:
            self.demanded = {}
        self.demanded[ident] = self.span
        return variable(f"{self.name}.{ident}")

    def explain(self, ident: str) -> Missing | None:
        """Why an element does not have what was asked for, where a bond-graph user may expect it."""
        if self.kind == "J1" and ident == "e":
            return Missing(
                f"the 1-junction `{self.name}` has no effort of its own",
                "its bonds have efforts: name a bond, `bond b: ...`.",
            )
        if self.kind == "J0" and ident == "f":
            return Missing(
                f"the 0-junction `{self.name}` has no flow of its own",
                "its bonds have flows: name a bond, `bond b: ...`.",
            )
        if self.kind in ("TF", "GY") and ident in ("e", "f", "power", "e1", "e2", "f1", "f2"):
            return Missing(
                f"`{self.name}` has two ports", f"write `{self.name}.p1.{ident[0]}` or `{self.name}.p2.{ident[0]}`."
            )
        if ident in ("q", "p") and self.kind in ("R", "Se", "Sf", "C", "I"):
            return Missing(
                f"`{self.name}` is {'a' if self.kind == 'C' else 'an'} {self.kind} and has no `{ident}`",
                "a named bond has `q` and `p`: `bond b: ...` and `b.q`.",
            )
        return None

    def ports(self) -> "list[ElementPort]":
        """The ports of a TF, GY or field, in order."""
        if self.port_list is None:
            if self.kind in ("TF", "GY"):
                self.port_list = [ElementPort(self, 0, "p1"), ElementPort(self, 1, "p2")]
            else:
                self.port_list = []
        return self.port_list

    def names(self) -> set[str]:
        names = {*OWN[self.kind], *ON_DEMAND[self.kind]} | ({"p1", "p2"} if self.kind in ("TF", "GY") else set())
        if self.inner is not None:
            names |= self.inner.names()
        if self.kind in PARAMETER_NAME:
            names.add(PARAMETER_NAME[self.kind])
        return names


PARAMETER_NAME = {"R": "R", "C": "C", "I": "I", "TF": "m", "GY": "r"}
OWN: dict[str, tuple[str, ...]] = {
    "Se": ("e", "f", "power"),
    "Sf": ("e", "f", "power"),
    "R": ("e", "f", "power"),
    "C": ("e", "f", "q", "power"),
    "I": ("e", "f", "p", "power"),
    "TF": (),
    "GY": (),
    "J0": ("e",),
    "J1": ("f",),
    "field": (),
}
"""Variables of an element, read with a dot behind its name."""

ON_DEMAND: dict[str, tuple[str, ...]] = {**dict.fromkeys(OWN, ()), "J0": ("p",), "J1": ("q",)}


class ElementPort:
    """A port of a TF, GY or field.  `reads` collects which of its storage variables are mentioned."""

    __slots__ = ("domain", "element", "kind", "layers", "lock", "member", "name", "number", "reads")

    def __init__(self, element: ElementObject, number: int, name: str):
        self.element = element
        self.number = number
        self.name = name
        self.domain: str | None = None
        self.lock: str | None = None
        self.kind = ""
        self.layers: Layers = ()
        self.member: Member | None = None
        self.reads: set[str] = set()

    @property
    def full_name(self) -> str:
        return f"{self.element.name}.{self.name}"

    def attribute(self, ident: str) -> Any:
        if ident in ("e", "f", "power"):
            return variable(f"{self.element.name}.{self.name}.{ident}")
        if ident in ("q", "p") and self.element.kind == "field":
            self.reads.add(ident)
            return variable(f"{self.element.name}.{self.name}.{ident}")
        return None

    def names(self) -> set[str]:
        return {"e", "f", "power"} | ({"q", "p"} if self.element.kind == "field" else set())


class NodeArgument:
    """What a macro's node parameter stands for: an end that was found where the macro is used."""

    __slots__ = ("end", "object")

    def __init__(self, object: Any, end: Any):
        self.object = object
        self.end = end

    def attribute(self, ident: str) -> Any:
        return self.object.attribute(ident)

    def names(self) -> set[str]:
        names: set[str] = self.object.names()
        return names
