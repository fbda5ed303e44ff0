"""Storages whose rates are bound to each other for ever: X_n = sum of g*X_i + constant, whatever the laws are.

Two springs on one flow, two inertias on one effort, and sums of these.  One of them needs no state of its own: it
follows the others, and the difference of the start values stands in the law of what is kept, where it belongs to
the stored energy.  A constant sum that merely says that a free body keeps its momentum is left alone: merging it would
change the flow of a junction that the user has drawn."""

from collections.abc import Iterator, Sequence
from typing import Literal, TypeVar

from bglang.causality.modular import PRIME, Residues, inverse
from bglang.causality.result import Causality, PortKey
from bglang.causality.structure import J0, J1
from bglang.expr import Expr, call, leaves, map_leaves, neg, product, total, var
from bglang.expr.diff import diff
from bglang.expr.text import text
from bglang.graph.ir import BondGraph, Element, Law, Reinit
from bglang.graph.used import expressions
from bglang.records import dataclass, replace
from bglang.reduce.algebra import quotient, square
from bglang.reduce.edit import Edit
from bglang.reduce.fields import StorageField
from bglang.reduce.live import signals_of
from bglang.reduce.matrix import plan_field
from bglang.reduce.members import Member, describe
from bglang.reduce.observe import define_branch
from bglang.reduce.path import own_form, settled, with_parameter
from bglang.reduce.polynomials import Polynomial, leaves_of, to_expression
from bglang.reduce.pruning import remove_storage
from bglang.reduce.trace import Combination, Ring, Tracer
from bglang.source import NOWHERE

K = TypeVar("K")

LARGEST = 400
"""Sums of more than two are looked for among so many storages at most."""


@dataclass(frozen=True, slots=True)
class Constant:
    """`gone` holds sum of gains*kept plus a constant."""

    gone: Member
    kept: tuple[Member, ...]
    gains: tuple[Expr, ...]


def find_constants(
    graph: BondGraph, causality: Causality, tracer: Tracer, wanted: Sequence[str]
) -> tuple[Constant, ...]:
    """Bound storages, those that share none with each other; the first declared stays unless another one is wanted."""
    if graph.initial_equations or graph.experiment.steady:
        return ()  # the constant would not be known before the start is solved
    rows = _rows(graph, causality, tracer)
    found = _pairs(graph, rows) if rows else []
    if not found and rows and len(rows) <= LARGEST:
        found = _sums(graph, rows)
    if not found:
        return ()
    read = _readers(graph, tracer)
    made, used = list[Constant](), set[PortKey]()
    for constant in found:
        ports = {m.port for m in (constant.gone, *constant.kept)}
        if ports & used:
            continue
        turns = _turned(_preferred(constant, wanted), wanted)
        chosen = next((turn for turn in turns if _harmless(graph, tracer, turn, read)), None)
        if chosen is not None:
            used |= ports
            made.append(chosen)
    return tuple(made)


def _rows(graph: BondGraph, causality: Causality, tracer: Tracer) -> list[tuple[Member, Combination]]:
    """What each independent one-port receives, where all gains are constant and its law can be used."""
    reset = {a.target for w in graph.whens for b in w.branches for a in b.actions if isinstance(a, Reinit)}
    made = list[tuple[Member, Combination]]()
    for port in causality.independent:
        element = graph.elements[port[0]]
        start = element.ports[port[1]].start
        if element.kind == "field" or (start is not None and start.fixed is False):
            continue
        try:
            row = tracer.input(port)
        except Ring:
            continue
        member = describe(graph, tracer, port)
        fixed = not any(_varies(base) for gain in row.values() for base in leaves_of(gain))
        if (
            row
            and fixed
            and not member.modulated
            and member.state not in reset
            and member.gives_for(var("x")) is not None
        ):
            made.append((member, row))
    return made


def _varies(e: Expr) -> bool:
    return any(leaf[0] != "p" for leaf in leaves(e))


def _number(gain: Polynomial, values: Residues) -> int:
    whole = 0
    for monomial, count in gain.items():
        term = count % PRIME
        for base, power in monomial:
            m = values.modulus(base)
            term = term * pow(m if power > 0 else inverse(m), abs(power), PRIME) % PRIME
        whole = (whole + term) % PRIME
    return whole


def _pairs(graph: BondGraph, rows: list[tuple[Member, Combination]]) -> list[Constant]:
    """Rows that are multiples of each other, found by their ratios modulo a prime: exact, and as long as the model."""
    values = Residues({p.name: p.value for p in graph.parameters})
    known: dict[tuple[tuple[PortKey, int], ...], tuple[Member, Combination]] = {}
    made = list[Constant]()
    for member, row in rows:
        figures = {key: _number(gain, values) for key, gain in row.items()}
        first = next((figures[key] for key in sorted(figures) if figures[key]), 0)
        if not first:
            continue
        shape = tuple((key, figures[key] * inverse(first) % PRIME) for key in sorted(figures) if figures[key])
        if shape not in known:
            known[shape] = member, row
            continue
        other, its_row = known[shape]
        made.append(Constant(member, (other,), (_ratio(row, its_row),)))
    return made


def _ratio(row: Combination, other: Combination) -> Expr:
    """The factor between two rows, from the entry where it is shortest."""
    best: Expr | None = None
    for key, gain in row.items():
        if key not in other or not other[key]:
            continue
        if gain == other[key]:
            return 1.0
        if {m: -c for m, c in gain.items()} == other[key]:
            return -1.0
        candidate = quotient(to_expression(gain), to_expression(other[key]))
        best = candidate if best is None or len(text(candidate)) < len(text(best)) else best
    assert best is not None
    return best


def _sums(graph: BondGraph, rows: list[tuple[Member, Combination]]) -> list[Constant]:
    """Rows that are sums of others, by elimination modulo a prime.  The factors are -1 and 1, which is what junctions
    give, or the ratio of two gains, where a transformer lies between."""
    values = Residues({p.name: p.value for p in graph.parameters})
    basis: list[tuple[PortKey, dict[PortKey, int], dict[int, int]]] = []
    made = list[Constant]()
    for k, (_, row) in enumerate(rows):
        left = {key: x for key, gain in row.items() if (x := _number(gain, values))}
        parts = {k: 1}
        for pivot, other, others in basis:
            if pivot in left:
                times = left[pivot]
                left = _minus(left, other, times)
                parts = _minus(parts, others, times)
        if left:
            pivot = min(left)
            scale = inverse(left[pivot])
            basis.append((pivot, {key: x * scale % PRIME for key, x in left.items()},
                          {key: x * scale % PRIME for key, x in parts.items()}))  # fmt: skip
            continue
        made.extend(_constant(rows, parts))
    return made


def _minus(a: dict[K, int], b: dict[K, int], times: int) -> dict[K, int]:
    made = dict(a)
    for key, x in b.items():
        new = (made.get(key, 0) - times * x) % PRIME
        if new:
            made[key] = new
        else:
            made.pop(key, None)
    return made


def _constant(rows: list[tuple[Member, Combination]], parts: dict[int, int]) -> list[Constant]:
    """A sum of rows that is zero, read from the last one whose factors are known as expressions; none if there is
    none."""
    for k in sorted(parts, reverse=True):
        scale = inverse(PRIME - parts[k])
        others = {j: x * scale % PRIME for j, x in sorted(parts.items()) if j != k}
        gains = [_factor(rows, k, j, others) for j in others]
        if gains and all(g is not None for g in gains):
            return [Constant(rows[k][0], tuple(rows[j][0] for j in others), tuple(g for g in gains if g is not None))]
    return []


def _factor(rows: list[tuple[Member, Combination]], k: int, j: int, others: dict[int, int]) -> Expr | None:
    """The factor of row j in row k as an expression: what enters j alone of those that k sums up tells it."""
    if others[j] in (1, PRIME - 1):
        return 1.0 if others[j] == 1 else -1.0
    row, own = rows[k][1], rows[j][1]
    alone = [key for key in own if key in row and not any(key in rows[i][1] for i in others if i != j)]
    return _ratio(row, {key: own[key] for key in alone}) if alone else None


def _preferred(constant: Constant, wanted: Sequence[str]) -> Constant:
    """With the storage that the user wants kept in the other place."""
    if len(constant.kept) == 1 and constant.gone.name in wanted and constant.kept[0].name not in wanted:
        return Constant(constant.kept[0], (constant.gone,), (quotient(1.0, constant.gains[0]),))
    return constant


def _turned(constant: Constant, wanted: Sequence[str]) -> Iterator[Constant]:
    """A sum read from each of its storages, those that shall not stay first: which of them may go is a matter of what
    is bonded to it."""
    if len(constant.kept) == 1:
        yield constant
        yield Constant(constant.kept[0], (constant.gone,), (quotient(1.0, constant.gains[0]),))
        return
    made = [constant]
    for m, g in zip(constant.kept, constant.gains, strict=True):
        rest = [(o, neg(quotient(x, g))) for o, x in zip(constant.kept, constant.gains, strict=True) if o is not m]
        pairs = sorted([(constant.gone, quotient(1.0, g)), *rest], key=lambda pair: pair[0].port)
        made.append(Constant(m, tuple(o for o, _ in pairs), tuple(x for _, x in pairs)))
    yield from sorted(made, key=lambda turn: turn.gone.name in wanted)


def _harmless(graph: BondGraph, tracer: Tracer, constant: Constant, read: dict[int, set[str]]) -> bool:
    """Would only bonds between the storages change, no surviving junction's common variable, and nothing that is read?

    What only the bound storage takes part in goes with it and stays defined."""
    values = tracer.residues
    factors = [values.value(g) for g in constant.gains]
    gone = set(tracer.reaction(constant.gone.port))
    kept = set[int]().union(*(tracer.reaction(m.port) for m in constant.kept))
    changed = set[int]()
    for signal in kept:
        try:
            parts = tracer.variable(signal >> 1, "f" if signal & 1 else "e")
        except Ring:  # what goes round in a ring cannot be told from the storages
            return False
        own = _number(parts.get(constant.gone.port, {}), values) if signal in gone else 0
        shares = (f * _number(parts.get(m.port, {}), values) for f, m in zip(factors, constant.kept, strict=True))
        if (own - sum(shares)) % PRIME:
            changed.add(signal)
    s = tracer.structure
    for signal in changed:
        common = J1 if signal & 1 else J0
        if any(s.kind[s.node[2 * (signal >> 1) + side]] == common for side in (0, 1)):
            return False
    own_names = {m.given for m in (constant.gone, *constant.kept)}
    return all(read.get(signal, set()) <= own_names for signal in changed)


def _readers(graph: BondGraph, tracer: Tracer) -> dict[int, set[str]]:
    """Names under which signals of the junction structure are read."""
    found: dict[int, set[str]] = {}
    for name in _all_reads(graph, tracer):
        for signal in signals_of(graph, tracer, (name,)) if name.rpartition(".")[2] in ("e", "f", "power") else ():
            found.setdefault(signal, set()).add(name)
    return found


def _all_reads(graph: BondGraph, tracer: Tracer) -> set[str]:
    found = set[str]()
    for element in graph.elements:
        start = f"{element.name}."
        for e in (element.modulus, *(w.value for w in element.laws)):
            if e is not None:
                found |= {x[1] for x in leaves(e) if x[0] == "v" and not x[1].startswith(start)}
    rest = replace(graph, elements=())
    for e in expressions(rest):
        if isinstance(e, tuple):
            found |= {x[1] for x in leaves(e) if x[0] == "v"}
    return found | tracer.read


# --- merging --------------------------------------------------------------------------------------------------------


def merge_constant(edit: Edit, tracer: Tracer, constant: Constant) -> tuple[str, str]:
    """Takes the bound storage away and gives its law to what is kept; the name of that, and what happened."""
    offset = _offset(edit, constant)
    follows = total([*(product([g, var(m.state)]) for g, m in zip(constant.gains, constant.kept, strict=True)), offset])
    gone = constant.gone
    law = gone.gives_for(follows)
    assert law is not None
    if len(constant.kept) == 1:
        kept, words = constant.kept[0].name, _into_one(edit, constant, law, offset)
    else:
        kept = _into_field(edit, constant, follows)
        words = f"{kept} stands for {', '.join(m.name for m in (*constant.kept, gone))}"
    _define(edit, tracer, constant, follows, law)
    return kept, f"{words}; {gone.state} = {text(follows)}"


def _offset(edit: Edit, constant: Constant) -> Expr:
    """The constant by which the start values differ, as a parameter; zero where none is written."""
    terms = list[Expr]()
    for m, g in ((constant.gone, -1.0), *zip(constant.kept, constant.gains, strict=True)):
        start = m.element.ports[m.port[1]].start
        if start is not None and start.written and start.value != 0.0:
            terms.append(neg(product([g, start.value])))
    if not terms or (len(terms) == 2 and terms[0] == neg(terms[1])):
        return 0.0
    name = edit.fresh(f"{constant.gone.name.replace(chr(39), '')}_offset".replace(".", "_"))
    whole = terms[0]
    for term in terms[1:]:  # not folded: the start values shall be read off
        whole = ("-", whole, neg(term)) if _negative(term) else ("+", whole, term)
    edit.set_parameter(name, whole)
    return ("p", name)


def _negative(e: Expr) -> bool:
    return e[0] == "neg" if isinstance(e, tuple) else e < 0


def _into_one(edit: Edit, constant: Constant, law: Expr, offset: Expr) -> str:
    g = constant.gains[0]
    kept = settled(edit, constant.kept[0])
    own = kept.gives_for(var(kept.state))
    assert own is not None
    number = kept.port[0]
    edit.own.add(number)
    if kept.parameter is not None and constant.gone.parameter is not None:
        s1, s2 = kept.parameter, constant.gone.parameter
        if offset == 0.0:
            series = call("/", product([s1, s2]), total([s2, product([square(g), s1])]))
            edit.elements[number] = with_parameter(edit, kept, series, own_form(kept))
            edit.reads[("v", kept.given)] = own
            return f"{constant.gone.name} merged into {kept.name}: {kept.element.kind} = {text(series)}"
        stiffness = total([quotient(1.0, s1), product([square(g), quotient(1.0, s2)])])
        whole = total([product([stiffness, var(kept.state)]), product([g, quotient(1.0, s2), offset])])
    else:
        whole = total([own, product([g, law])])
    made = Law(_letter(kept.given), 0, whole, kept.element.laws[0].span)
    edit.elements[number] = replace(kept.element, laws=(made,), symbolic=False)
    edit.reads[("v", kept.given)] = own
    return f"{constant.gone.name} merged into {kept.name}"


def _letter(name: str) -> Literal["e", "f"]:
    return "e" if name.endswith("e") else "f"


def _into_field(edit: Edit, constant: Constant, follows: Expr) -> str:
    """Several kept storages become a field: each keeps its law, and gets its share of the bound one's.  Its name."""
    empty: tuple[tuple[Polynomial, ...], ...] = ()
    plan = plan_field(edit, StorageField(constant.kept, (), empty, (), (), ()))
    states = {m.state: var(plan.variable(k, m.state[-1])) for k, m in enumerate(constant.kept)}
    inside = map_leaves(follows, lambda leaf: states.get(leaf[1], leaf) if leaf[0] == "v" else leaf)
    shared = constant.gone.gives_for(inside)
    assert shared is not None
    laws, ports = list[Law](), []
    for k, (m, g) in enumerate(zip(constant.kept, constant.gains, strict=True)):
        own = m.gives_for(states[m.state])
        assert own is not None
        laws.append(Law(_letter(m.given), k, total([own, product([g, shared])]), NOWHERE))
        ports.append(replace(m.element.ports[m.port[1]], name=plan.ports[k], lock=None))
    energy = _energy(constant, states, inside)
    if energy is not None:
        laws = [Law(w.gives, k, diff(energy, ("v", plan.variable(k, m.state[-1]))), NOWHERE)
                for k, (w, m) in enumerate(zip(laws, constant.kept, strict=True))]  # fmt: skip
    first = constant.kept[0].element
    number = edit.add_element(
        lambda k: Element(
            k, plan.name, "field", tuple(ports), tuple(laws), None, energy, False, False, "StorageField",
            f"in place of {', '.join(m.name for m in constant.kept)}", first.span,
        ),
        after=first.id,
    )  # fmt: skip
    edit.own.add(number)
    for k, m in enumerate(constant.kept):
        bond = edit.bonds_at(m.port[0])[0]
        if bond.tail.element == m.port[0]:
            edit.put_bond(replace(bond, tail=replace(bond.tail, element=number, port=k)))
        else:
            edit.put_bond(replace(bond, head=replace(bond.head, element=number, port=k)))
        edit.remove_element(m.port[0])
        own = m.gives_for(var(m.state))
        assert own is not None
        edit.define(m.state, var(plan.variable(k, m.state[-1])))
        edit.define(m.given, own)
        edit.define(_rate(m), ("der", var(m.state)))
        edit.define(f"{m.name}.power", product([var(f"{m.name}.e"), var(f"{m.name}.f")]))
    return plan.name


def _energy(constant: Constant, states: dict[str, Expr], follows: Expr) -> Expr | None:
    """The stored energy where all laws are linear."""
    terms = list[Expr]()
    for m, x in ((constant.gone, follows), *((m, states[m.state]) for m in constant.kept)):
        if m.parameter is None:
            return None
        terms.append(quotient(call("^", x, 2.0), product([2.0, m.parameter])))
    return total(terms)


def _rate(m: Member) -> str:
    return m.state[:-1] + ("f" if m.given.endswith("e") else "e")


def _define(edit: Edit, tracer: Tracer, constant: Constant, follows: Expr, law: Expr) -> None:
    gone = constant.gone
    rate = [product([g, var(_rate(m))]) for g, m in zip(constant.gains, constant.kept, strict=True)]
    edit.define(gone.state, follows)
    edit.define(gone.given, law)
    edit.define(_rate(gone), total(rate))
    edit.define(f"{gone.name}.power", product([var(f"{gone.name}.e"), var(f"{gone.name}.f")]))
    before = len(edit.removed)
    bonds = remove_storage(edit, gone.port[0], {0: tracer.output_letter(gone.port)})
    define_branch(edit, tracer, [e for e in edit.removed[before:] if e.id != gone.port[0]], bonds)
