"""Storage fields: dependent storages, the independent ones that decide them, and the gains in between."""

from collections.abc import Sequence

from bglang.causality.pivots import is_pivot
from bglang.causality.result import Causality, Dependence, PortKey
from bglang.expr import Expr, leaves, total
from bglang.graph.ir import BondGraph, Element
from bglang.records import dataclass
from bglang.reduce.live import live_reactions
from bglang.reduce.members import Member, describe, storage_matrix
from bglang.reduce.polynomials import Polynomial, leaves_of, to_expression
from bglang.reduce.refusals import Refusal, refuse
from bglang.reduce.trace import Combination, Ring, Tracer


@dataclass(frozen=True, slots=True)
class StorageField:
    """`gains[d][i]`: what the independent storage i gives enters the dependent one d with this factor; `sources[d]` the
    sources that enter it too; `moduli` those that vary in time."""

    independent: tuple[Member, ...]
    dependent: tuple[Member, ...]
    gains: tuple[tuple[Polynomial, ...], ...]
    sources: tuple[tuple[tuple[PortKey, Polynomial], ...], ...]
    moduli: tuple[Expr, ...]
    paths: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(m.name for m in (*self.independent, *self.dependent) if not is_pivot(m.element))

    @property
    def single(self) -> bool:
        """One independent one-port: the path rule applies."""
        ports = (*self.independent, *self.dependent)
        return len(self.independent) == 1 and all(m.element.kind != "field" for m in ports)

    def gain(self, d: int, i: int) -> Expr:
        return to_expression(self.gains[d][i])

    def follows(self, d: int, tracer: Tracer) -> Expr:
        """What a dependent storage receives, in terms of what the independent ones and the sources give."""
        z = [to_expression(g, [("v", m.given)]) for g, m in zip(self.gains[d], self.independent, strict=True)]
        return total([*z, *(to_expression(g, [("v", tracer.gives(key))]) for key, g in self.sources[d])])


@dataclass(frozen=True, slots=True)
class _Dependent:
    member: Member
    on: dict[PortKey, Polynomial]
    sources: dict[PortKey, Polynomial]
    path: tuple[str, ...]


def find_fields(
    graph: BondGraph, causality: Causality, tracer: Tracer
) -> tuple[tuple[StorageField, ...], tuple[Refusal, ...]]:
    """The fields that may be merged, in declaration order, and the dependent storages that may not."""
    accepted, refused = dict[PortKey, _Dependent](), list[Refusal]()
    live = live_reactions(graph, tracer, [d.port for d in causality.dependent])
    independent = frozenset(causality.independent)
    for dependence in causality.dependent:
        found = _examine(graph, independent, tracer, dependence, live.get(dependence.port))
        if isinstance(found, Refusal):
            refused.append(found)
        else:
            accepted[dependence.port] = found
    fields = list[StorageField]()
    for group in _components(graph, accepted):
        made = _field(graph, independent, tracer, [accepted[port] for port in group])
        if isinstance(made, Refusal):
            refused.append(made)
        else:
            fields.append(made)
    return tuple(fields), tuple(refused)


def _examine(
    graph: BondGraph,
    independent: frozenset[PortKey],
    tracer: Tracer,
    dependence: Dependence,
    reader: tuple[Element, str] | None,
) -> _Dependent | Refusal:
    port = dependence.port
    element = graph.elements[port[0]]
    member = describe(graph, tracer, port)
    try:
        combination = tracer.input(port)
    except Ring as ring:
        return refuse(
            element, member.name, "split path", ring.element,
            f"The path runs round a ring of junctions at `{ring.element.name}`, so no single gain describes it.",
        )  # fmt: skip
    on = {key: gain for key, gain in combination.items() if key in independent}
    sources = {key: g for key, g in combination.items() if graph.elements[key[0]].kind in ("Se", "Sf")}
    obstacle = _obstacle(graph, element, member, combination, {*on, *sources}) or _alone(
        graph, element, member, on, sources
    )
    if obstacle is not None:
        return obstacle
    if reader is not None:
        return refuse(
            element, member.name, "modulating signal", reader[0],
            f"`{reader[0].name}` reads `{reader[1]}`, which lies between the storages and changes when they merge.",
        )  # fmt: skip
    return _law_obstacle(graph, tracer, element, member, on) or _Dependent(
        member, on, sources, _path(graph, dependence)
    )


def _obstacle(
    graph: BondGraph, element: Element, member: Member, combination: Combination, good: set[PortKey]
) -> Refusal | None:
    for key in combination:
        if key not in good:
            end = graph.elements[key[0]]
            word = (
                "is itself in derivative causality"
                if end.kind in ("C", "I", "field")
                else "decides the causality there"
            )
            return refuse(
                element, member.name, "resistor", end,
                f"The path from `{member.name}` ends at `{end.name}`, which {word}; it is no independent storage.",
            )  # fmt: skip
    return None


def _alone(
    graph: BondGraph,
    element: Element,
    member: Member,
    on: dict[PortKey, Polynomial],
    sources: dict[PortKey, Polynomial],
) -> Refusal | None:
    """Only sources decide it: there is nothing to merge it with."""
    if on:
        return None
    at = graph.elements[next(iter(sources))[0]] if sources else element
    held = f"`{at.name}` alone" if sources else "nothing that moves"
    return refuse(
        element, member.name, "source", at,
        f"The path from `{member.name}` ends at {held}, so there is no storage that could take it in.",
    )  # fmt: skip


def _law_obstacle(
    graph: BondGraph, tracer: Tracer, element: Element, member: Member, on: dict[PortKey, Polynomial]
) -> Refusal | None:
    for m in (member, *(describe(graph, tracer, key) for key in on)):
        if m.element.kind == "field":
            if storage_matrix(m.element) is None:
                return refuse(
                    element, member.name, "multiport", m.element,
                    f"`{m.element.name}` is a field whose laws are not linear with constants, or has too many ports.",
                )  # fmt: skip
        elif m.modulated:
            return refuse(
                element, member.name, "modulated", m.element,
                f"The law of `{m.element.name}` reads `{m.modulated}`: the storage by itself is not conservative.",
            )  # fmt: skip
        elif m.content is None:
            x, z = m.state[-1], m.given[-1]
            return refuse(
                element, member.name, "nonlinear", m.element,
                f"The law of `{m.element.name}` has no closed form {x} = …({z}), which the sum of the two needs.",
            )  # fmt: skip
    return None


def _components(graph: BondGraph, accepted: dict[PortKey, _Dependent]) -> list[list[PortKey]]:
    """Dependent storages that share an independent one, or a field, belong together."""
    root: dict[object, object] = {}

    def find(x: object) -> object:
        while root.setdefault(x, x) != x:
            root[x] = root[root[x]]
            x = root[x]
        return x

    def node(key: PortKey) -> object:
        return ("field", key[0]) if graph.elements[key[0]].kind == "field" else key

    for port, dependent in accepted.items():
        for key in dependent.on:
            root[find(node(key))] = find(node(port))
    groups: dict[object, list[PortKey]] = {}
    for port in accepted:
        groups.setdefault(find(node(port)), []).append(port)
    return list(groups.values())


def _field(
    graph: BondGraph, independent: frozenset[PortKey], tracer: Tracer, dependents: Sequence[_Dependent]
) -> StorageField | Refusal:
    keys = dict.fromkeys(key for d in dependents for key in d.on)
    for number in dict.fromkeys(d.member.port[0] for d in dependents) | dict.fromkeys(k[0] for k in keys):
        if graph.elements[number].kind == "field":  # all ports of a field come along
            keys.update(
                (k, None) for k in ((number, p) for p in range(len(graph.elements[number].ports))) if k in independent
            )
    order = sorted(keys)
    members = tuple(describe(graph, tracer, key) for key in order)
    varying = dict.fromkeys(
        base
        for d in dependents
        for gain in (*d.on.values(), *d.sources.values())
        for base in leaves_of(gain)
        if _varies(base)
    )
    field = StorageField(
        members,
        tuple(d.member for d in dependents),
        tuple(tuple(d.on.get(key, {}) for key in order) for d in dependents),
        tuple(tuple(d.sources.items()) for d in dependents),
        tuple(varying),
        tuple(d.path for d in dependents),
    )
    return _partial(field) or _nonlinear(graph, tracer, field) or field


def _partial(field: StorageField) -> Refusal | None:
    """A multiport is merged as a whole: none of its ports may be held by something else, such as a source."""
    ports = {m.port for m in (*field.independent, *field.dependent)}
    first = field.dependent[0]
    for m in (*field.independent, *field.dependent):
        for k, port in enumerate(m.element.ports):
            if (m.port[0], k) not in ports:
                return refuse(
                    first.element, first.name, "multiport", m.element,
                    f"The port `{m.element.name}.{port.name}` does not follow the same storages, and a field is merged "
                    "as a whole.",
                )  # fmt: skip
    return None


def _nonlinear(graph: BondGraph, tracer: Tracer, field: StorageField) -> Refusal | None:
    """Several independent storages, or a varying gain, need linear laws."""
    if field.single and not field.moduli:
        return None
    bent = next(
        (m for m in (*field.independent, *field.dependent) if m.parameter is None and m.element.kind != "field"), None
    )
    if bent is None:
        return None
    first = field.dependent[0]
    why = "the gain varies" if field.moduli else f"`{first.name}` follows {len(field.independent)} storages"
    return refuse(
        first.element,
        first.name,
        "nonlinear",
        bent.element,
        f"The law of `{bent.element.name}` is not linear, and {why}.",
    )


def _varies(e: Expr) -> bool:
    return any(leaf[0] in ("v", "t") for leaf in leaves(e))


def _path(graph: BondGraph, found: Dependence) -> tuple[str, ...]:
    return tuple(graph.elements[s.element].name for s in found.paths[0]) if found.paths else ()
