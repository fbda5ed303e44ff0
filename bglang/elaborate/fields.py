"""Laws of elements in flat form: of basic elements, and of fields with several ports."""

from bglang.diagnostics import Label, error
from bglang.elaborate.bodies import BodyItem
from bglang.elaborate.equations import Pair, all_pairs
from bglang.elaborate.expansion import is_law
from bglang.elaborate.expressions import translate
from bglang.elaborate.field_locals import local_values, solved, split_locals, write_out
from bglang.elaborate.laws import (
    NOTHING,
    Found,
    check_own,
    find_law,
    gain_of,
    law_value,
    mentions,
    own_variables,
    warn_hidden,
)  # fmt: skip
from bglang.elaborate.objects import PARAMETER_NAME, ElementObject, ElementPort
from bglang.elaborate.scopes import scope_of
from bglang.expr import Expr, call, leaves
from bglang.expr.diff import diff
from bglang.graph.ir import Equation, Law
from bglang.records import dataclass, field
from bglang.source import Span


@dataclass(slots=True)
class Laws:
    """What the source says about one element's behaviour."""

    laws: list[Law] = field(default_factory=list[Law])
    modulus: Expr | None = None
    energy: Expr | None = None
    symbolic: bool = False
    equations: list[Equation] = field(default_factory=list[Equation])
    broken: bool = False


def laws_of(element: ElementObject) -> Laws:
    if element.kind in ("J0", "J1"):
        return EMPTY
    if element.kind == "field":
        return field_laws(element)
    return basic_laws(element)


EMPTY = Laws()
BROKEN_LAWS = Laws(broken=True)


# --- basic elements --------------------------------------------------------------------------------------------------


def basic_laws(element: ElementObject) -> Laws:
    """The law of an element with the kind of a basic one."""
    kind, found = element.kind, find_law(element)
    if found.equations:
        return equation_laws(element, found)
    ident = PARAMETER_NAME.get(kind)
    if ident is not None and (found is NOTHING or found.letter == ident):
        body = element.inner.body if element.inner is not None else None
        if found is NOTHING and body is not None and body.energy is not None:
            return energy_laws(element, body.energy)
        return parameter_laws(element, found)
    if found is NOTHING:  # a source that says nothing
        letter = "e" if kind == "Se" else "f"
        name = f"{element.name}.{letter.upper()}"
        return Laws([Law(letter, 0, ("p", name), element.span, ("p", name))], symbolic=True)  # type: ignore[arg-type]
    if found.letter == "energy":
        value = law_value(element, found)
        return BROKEN_LAWS if value is None else gradient(element, value, found.span)
    value = law_value(element, found)
    if value is None:
        return BROKEN_LAWS
    return Laws([explicit(element, found.letter, value, found.span)])


def explicit(element: ElementObject, letter: str, value: Expr, span: Span) -> Law:
    """`e = value`, or an implicit law where the value speaks of what it gives."""
    if letter == "0":
        return Law("", -1, value, span)
    name = f"{element.name}.{letter}"
    if element.kind not in ("Se", "Sf") and mentions(value, name):
        return Law("", -1, call("-", ("v", name), value), span)
    return Law(letter, 0, value, span)  # type: ignore[arg-type]


def parameter_laws(element: ElementObject, found: Found) -> Laws:
    """A plain parameter stands for a linear law."""
    value = gain_of(element)
    if value is None:
        return BROKEN_LAWS
    gain: Expr = value.items[0]
    name, kind = element.name, element.kind
    span = element.span if found is NOTHING else found.span
    refined = element.inner is not None and PARAMETER_NAME[kind] in element.inner.body.members
    symbolic = found is NOTHING and not refined
    if kind in ("TF", "GY"):
        return Laws(modulus=gain, symbolic=symbolic)
    if kind == "R":
        law = Law("e", 0, ("*", gain, ("v", f"{name}.f")), span, gain)
    elif kind == "C":
        law = Law("e", 0, ("/", ("v", f"{name}.q"), gain), span, gain)
    else:
        law = Law("f", 0, ("/", ("v", f"{name}.p"), gain), span, gain)
    return Laws([law], symbolic=symbolic)


def equation_laws(element: ElementObject, found: Found) -> Laws:
    """An element class that extends a basic element and writes its law as an equation."""
    assert element.inner is not None
    inner, own = element.inner, own_variables(element)
    items = []
    scopes = []
    for item in found.equations:
        scope = scope_of(inner, item.definition).with_own(own)
        scopes.append((scope, item))
        items.append((item.node, scope))
    pairs = all_pairs(items)
    seen = set[str]()
    for scope, item in scopes:
        seen |= scope.seen or set()
        warn_hidden(element, scope, scope_of(inner, item.definition), item.node.span)
    if not pairs or not check_own(element, seen, found.span):
        return BROKEN_LAWS
    result = Laws()
    rest = split_locals(element, pairs, 1, result.equations)
    if len(rest) != 1:
        report_count(element, len(rest), 1, found.span)
        return BROKEN_LAWS
    letters = {"R": "ef", "C": "eq", "I": "fp", "Se": "e", "Sf": "f"}.get(element.kind, "")
    names = {f"{element.name}.{letter}": (letter, 0) for letter in letters}
    if element.kind in ("TF", "GY"):
        text = f"`{element.name}` is a {element.kind}: its law is fixed"
        element.ctx.report.add(
            error("laws/fixed", text, found.span, hint=f"give its `{PARAMETER_NAME[element.kind]}`.")
        )
        return BROKEN_LAWS
    result.laws = [as_law(rest[0], names)]
    return result


def energy_laws(element: ElementObject, item: BodyItem) -> Laws:
    """`energy = ...` in a class that extends C or I."""
    assert element.inner is not None
    from bglang.syntax import ast

    node = item.node
    assert isinstance(node, ast.Equation)
    scope = scope_of(element.inner, item.definition).with_own(own_variables(element))
    value = translate(node.right, scope, element.ctx.report)
    if value is None or value.shape:
        return BROKEN_LAWS
    return gradient(element, value.items[0], node.span)


def gradient(element: ElementObject, energy: Expr, span: Span) -> Laws:
    gives, state = ("e", "q") if element.kind == "C" else ("f", "p")
    slope = diff(energy, ("v", f"{element.name}.{state}"))
    return Laws([Law(gives, 0, slope, span)], energy=energy)  # type: ignore[arg-type]


# --- fields ----------------------------------------------------------------------------------------------------------


def field_laws(element: ElementObject) -> Laws:
    """Laws of an element with ports of its own; decides what kind each port has."""
    inner = element.inner
    assert inner is not None
    result = Laws()
    items = [i for i in inner.body.items if isinstance(i, BodyItem) and is_law(i)]
    pairs = all_pairs((i.node, scope_of(inner, i.definition)) for i in items)
    energy_span = read_energy(element, result)
    if result.broken or (items and not pairs):
        return BROKEN_LAWS
    ports = element.ports()
    if not ports:
        text = f"the element `{element.type_name}` has no port"
        element.ctx.report.add(
            error("laws/count", text, inner.definition.node.name_span, hint="declare one, as in `port Any p;`.")
        )
        return BROKEN_LAWS
    in_energy = energy_ports(element, result.energy)
    rest = split_locals(element, pairs, len(ports) - len(in_energy), result.equations)
    find_kinds(element, rest, result.energy)
    if energy_span is not None and result.energy is not None:
        for port in in_energy:
            gives, state = ("e", "q") if port.kind == "C" else ("f", "p")
            slope = diff(result.energy, ("v", f"{port.full_name}.{state}"))
            result.laws.append(Law(gives, port.number, slope, energy_span))  # type: ignore[arg-type]
    names = {f"{p.full_name}.{letter}": (letter, p.number) for p in ports for letter in LETTERS[p.kind]}
    result.laws += [as_law(pair, names) for pair in rest]
    if len(result.laws) != len(ports):
        if inner.body.broken:
            return BROKEN_LAWS
        report_count(element, len(result.laws), len(ports), rest[-1].span if rest else inner.definition.node.name_span)
        return BROKEN_LAWS
    return result


LETTERS = {"C": "eq", "I": "fp", "R": "ef"}


def as_law(pair: Pair, names: dict[str, tuple[str, int]]) -> Law:
    """An equation as a law: explicit where one of the element's variables stands alone."""
    for left, right in ((pair.left, pair.right), (pair.right, pair.left)):
        if isinstance(left, tuple) and left[0] == "v" and left[1] in names and not mentions(right, left[1]):
            letter, port = names[left[1]]
            return Law(letter, port, right, pair.span)  # type: ignore[arg-type]
    return Law("", -1, call("-", pair.right, pair.left) if pair.left != 0.0 else pair.right, pair.span)


def read_energy(element: ElementObject, result: Laws) -> Span | None:
    """The energy of a field, with declared locals written out."""
    assert element.inner is not None
    from bglang.syntax import ast

    item = element.inner.body.energy
    if item is None:
        return None
    node = item.node
    assert isinstance(node, ast.Equation)
    value = translate(node.right, scope_of(element.inner, item.definition), element.ctx.report)
    if value is None or value.shape or not value.numeric:
        if value is not None:
            element.ctx.report.add(error("types/mismatch", "the energy is a number", node.span))
        result.broken = True
        return None
    result.energy = write_out(value.items[0], solved(local_values(element.inner)))
    return node.span


def energy_ports(element: ElementObject, energy: Expr | None) -> list[ElementPort]:
    """Ports whose q or p the energy depends on."""
    if energy is None:
        return []
    names = {leaf[1] for leaf in leaves(energy) if leaf[0] == "v"}
    return [p for p in element.ports() if f"{p.full_name}.q" in names or f"{p.full_name}.p" in names]


def find_kinds(element: ElementObject, pairs: list[Pair], energy: Expr | None) -> None:
    """Its q makes a port a C, its p an I, unless its own law has the other variable, too."""
    rows = [({leaf[1] for side in (p.left, p.right) for leaf in leaves(side) if leaf[0] == "v"}, p) for p in pairs]
    every = set().union(*(names for names, _ in rows)) if rows else set[str]()
    if energy is not None:
        every |= {leaf[1] for leaf in leaves(energy) if leaf[0] == "v"}
    for port in element.ports():
        q, p, e, f = (f"{port.full_name}.{letter}" for letter in "qpef")
        own = [names for names, pair in rows if gives_port(pair, port, names)]
        with_flow = any(q in names and f in names for names in own)
        with_effort = any(p in names and e in names for names in own)
        if q in every and not with_flow:
            port.kind = "C"
        elif p in every and not with_effort:
            port.kind = "I"
        else:
            port.kind = "R"


def gives_port(pair: Pair, port: ElementPort, names: set[str]) -> bool:
    """Whether an equation is a port's own law: its effort or flow stands alone, or it is implicit and speaks of it."""
    for side in (pair.left, pair.right):
        if isinstance(side, tuple) and side[0] == "v":
            return bool(side[1].rpartition(".")[0] == port.full_name)
    return any(f"{port.full_name}.{letter}" in names for letter in "ef")


def report_count(element: ElementObject, laws: int, ports: int, span: Span) -> None:
    element.ctx.report.add(
        error(
            "laws/count",
            f"`{element.name}` has {counted(ports, 'port')} but {counted(laws, 'law')}",
            span,
            related=[Label(element.span, "declared here")],
            reason="Every port of an element needs exactly one scalar law.",
            hint="remove a law." if laws > ports else "write a law for each port, or an `energy`.",
        )
    )


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
