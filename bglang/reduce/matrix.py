"""The matrix rule: several independent storages with those that follow them become one field.

S = T'*S_members*T with T the gains; the field has one port in place of each independent storage."""

import re
from typing import Literal

from bglang.causality.pivots import is_pivot
from bglang.expr import Expr, call, map_leaves, product, total, var
from bglang.expr.diff import diff
from bglang.graph.ir import Bond, Element, End, Equation, Law, Port, Reinit, Start
from bglang.records import dataclass, replace
from bglang.reduce.algebra import Matrix, adjugate, determinant, inverse, quotient
from bglang.reduce.edit import Edit
from bglang.reduce.fields import StorageField
from bglang.reduce.members import LARGEST_INVERSE, Member, storage_matrix
from bglang.reduce.motion import motion_at_start
from bglang.reduce.observe import define_branch, define_storage, keep_reactions
from bglang.reduce.polynomials import UNIT, Polynomial, multiply, to_expression
from bglang.reduce.pruning import remove_storage
from bglang.reduce.starts import at_start, equations_for_guesses, start_of
from bglang.reduce.trace import Tracer
from bglang.source import NOWHERE


@dataclass(frozen=True, slots=True)
class Plan:
    """The new field: its name and one port for every independent storage."""

    name: str
    ports: tuple[str, ...]

    def variable(self, k: int, letter: str) -> str:
        return f"{self.name}.{self.ports[k]}.{letter}"


def members_of(field: StorageField) -> tuple[Member, ...]:
    return (*field.independent, *field.dependent)


def rows_of(field: StorageField) -> list[list[Polynomial]]:
    """T: what every member gives in terms of the independent ones."""
    n = len(field.independent)
    units: list[list[Polynomial]] = [[UNIT if i == j else {} for j in range(n)] for i in range(n)]
    return units + [list(row) for row in field.gains]


def storage_blocks(field: StorageField) -> Matrix:
    """S of all members: diagonal, but for those of one field."""
    members = members_of(field)
    fields: dict[int, Matrix] = {}
    made: Matrix = [[0.0] * len(members) for _ in members]
    for a, one in enumerate(members):
        if one.element.kind != "field":
            assert one.parameter is not None
            made[a][a] = one.parameter
            continue
        if one.port[0] not in fields:
            found = storage_matrix(one.element)
            assert found is not None
            fields[one.port[0]] = found
        for b, two in enumerate(members):
            if two.port[0] == one.port[0]:
                made[a][b] = fields[one.port[0]][one.port[1]][two.port[1]]
    return made


def equivalent_matrix(field: StorageField) -> Matrix:
    rows, blocks = rows_of(field), storage_blocks(field)
    n = len(field.independent)
    made: Matrix = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            terms = [
                to_expression(multiply(rows[a][i], rows[b][j]), [blocks[a][b]])
                for a in range(len(rows))
                for b in range(len(rows))
                if blocks[a][b] != 0.0 and rows[a][i] and rows[b][j]
            ]
            made[i][j] = made[j][i] = total(terms)
    return made


def merge_matrix(edit: Edit, tracer: Tracer, field: StorageField) -> str:
    """Writes the field and takes all members away; the new element's name."""
    plan = plan_field(edit, field)
    matrix = equivalent_matrix(field)
    n = len(matrix)
    named = _named(plan, matrix)
    states = [var(plan.variable(k, m.state[-1])) for k, m in enumerate(field.independent)]
    driven = any(field.sources)
    energy = None
    if driven:
        laws = _driven_laws(field, tracer, named, states)
    elif n <= LARGEST_INVERSE:
        energy = quadratic(named, states)
        laws = gradient(field, plan, energy)
    else:
        given = [var(plan.variable(k, m.given[-1])) for k, m in enumerate(field.independent)]
        laws = tuple(
            Law(_letter(m.state), k, total(product(pair) for pair in zip(named[k], given, strict=True)), NOWHERE)
            for k, m in enumerate(field.independent)
        )
    for i, row in enumerate(matrix):
        for j, x in enumerate(row):
            edit.set_parameter(f"{plan.name}.S[{i + 1},{j + 1}]", x)
    ports = field_ports(edit, tracer, field, plan, matrix)
    put_field(edit, tracer, field, plan, (ports, laws, energy))
    change_reinits(edit, field, plan, named)
    return plan.name


def _named(plan: Plan, matrix: Matrix) -> Matrix:
    """The entries as parameters of the field."""
    return [
        [0.0 if x == 0.0 else ("p", f"{plan.name}.S[{i + 1},{j + 1}]") for j, x in enumerate(row)]
        for i, row in enumerate(matrix)
    ]


def plan_field(edit: Edit, field: StorageField) -> Plan:
    clean = [re.sub(r"\W+", "_", m.name).strip("_") or "s" for m in field.independent]
    names = list[str]()
    for wish in clean:
        wish = wish if wish[0].isalpha() else f"s{wish}"
        k, name = 1, wish
        while name in names:
            k += 1
            name = f"{wish}_{k}"
        names.append(name)
    title = "_".join(names) if len(names) <= 3 else f"{names[0]}_to_{names[-1]}"
    return Plan(edit.fresh(f"{title}_field"), tuple(names))


def quadratic(matrix: Matrix, states: list[Expr]) -> Expr:
    """Half of X'*S^-1*X."""
    upper, n = adjugate(matrix), len(matrix)
    terms = list[Expr]()
    for i in range(n):
        if upper[i][i] != 0.0:
            terms.append(product([upper[i][i], call("^", states[i], 2.0)]))
        for j in range(i + 1, n):
            if upper[i][j] != 0.0:
                terms.append(product([2.0, upper[i][j], states[i], states[j]]))
    return call("/", total(terms), product([2.0, determinant(matrix)]))


def of_few_followers(field: StorageField, states: list[Expr]) -> Expr:
    """The same for many independent storages with few dependent ones: half of X'*D^-1*X - u'*M^-1*u, with
    u = G*D^-1*X and M = S_d^-1 + G*D^-1*G', which has a row for each dependent storage only."""
    own = [m.parameter for m in field.independent]
    assert all(s is not None for s in own)
    few, n = range(len(field.dependent)), range(len(own))
    gains = [[field.gain(d, i) for i in n] for d in few]
    mixed = [total(product([gains[d][i], call("/", states[i], own[i])]) for i in n) for d in few]
    inner: Matrix = []
    for a in few:
        row = [total(call("/", product([gains[a][i], gains[b][i]]), own[i]) for i in n) for b in few]
        row[a] = total([quotient(1.0, field.dependent[a].parameter or 1.0), row[a]])
        inner.append(row)
    alone = total(call("/", call("^", states[i], 2.0), product([2.0, own[i] or 1.0])) for i in n)
    return call("-", alone, quadratic(inner, mixed))


def gradient(field: StorageField, plan: Plan, energy: Expr) -> tuple[Law, ...]:
    return tuple(
        Law(_letter(m.given), k, diff(energy, ("v", plan.variable(k, m.state[-1]))), NOWHERE)
        for k, m in enumerate(field.independent)
    )


def source_terms(field: StorageField, tracer: Tracer) -> list[Expr]:
    """What sources on the paths add to the stored quantities: T'*S*s."""
    rows, blocks, n = rows_of(field), storage_blocks(field), len(field.independent)
    sources: list[Expr] = [0.0] * n
    sources += [total(to_expression(g, [var(tracer.gives(k))]) for k, g in s) for s in field.sources]
    return [
        total(
            product([to_expression(rows[a][i]), blocks[a][b], sources[b]])
            for a in range(len(rows))
            for b in range(len(rows))
            if rows[a][i] and blocks[a][b] != 0.0 and sources[b] != 0.0
        )
        for i in range(n)
    ]


def _driven_laws(field: StorageField, tracer: Tracer, named: Matrix, states: list[Expr]) -> tuple[Law, ...]:
    """With a source on the path: z = S^-1*(X - T'*S*s)."""
    stiffness = inverse(named)
    free = [call("-", x, c) for x, c in zip(states, source_terms(field, tracer), strict=True)]
    return tuple(
        Law(_letter(m.given), k, total(product(pair) for pair in zip(stiffness[k], free, strict=True)), NOWHERE)
        for k, m in enumerate(field.independent)
    )


def _letter(name: str) -> Literal["e", "f", "q", "p"]:
    letter = name[-1]
    assert letter in ("e", "f", "q", "p")
    return letter  # type: ignore[return-value]


# --- starts ---------------------------------------------------------------------------------------------------------


def field_ports(edit: Edit, tracer: Tracer, field: StorageField, plan: Plan, matrix: Matrix) -> tuple[Port, ...]:
    """Ports with start values that keep what the storages give; equations of the start where no formula is known."""
    given: list[Expr] | None = None
    if any(start_of(m) is not None for m in members_of(field)):
        given = motion_at_start(tracer, field, {m.port for m in field.independent})
        if given is None:
            equations_for_guesses(edit, field, tracer)
    elif any(field.sources):
        given = [0.0] * len(field.independent)
    moved = source_terms(field, tracer)
    made = list[Port]()
    for k, m in enumerate(field.independent):
        old = m.element.ports[m.port[1]]
        start: Start | None = old.start
        if given is not None:
            held = [product(pair) for pair in zip(matrix[k], given, strict=True)]
            value = at_start(tracer, total([*held, moved[k]]))
            if value is not None:
                start = Start(value, True, None if start is None else start.fixed, m.element.span)
            else:
                edit.initial.append(Equation(var(plan.variable(k, m.given[-1])), given[k], "", m.element.span))
        made.append(replace(old, name=plan.ports[k], start=start, lock=None))
    return tuple(made)


# --- into the graph -------------------------------------------------------------------------------------------------


def put_field(
    edit: Edit,
    tracer: Tracer,
    field: StorageField,
    plan: Plan,
    parts: tuple[tuple[Port, ...], tuple[Law, ...], Expr | None],
    further: tuple[Element, ...] = (),
) -> None:
    """The new field on the bonds of the independent storages, with further ports bonded to the junctions given; the
    rest of the members goes."""
    ports, laws, energy = parts
    first = field.independent[0].element
    number = edit.add_element(
        lambda k: Element(
            k, plan.name, "field", ports, laws, None, energy, False, False, "StorageField",
            f"in place of {', '.join(_replaced(field))}", first.span,
        ),
        after=first.id,
    )  # fmt: skip
    edit.own.add(number)
    for k, m in enumerate(field.independent):
        bond = next(b for b in edit.bonds_at(m.port[0]) if (m.port[0], m.port[1]) in _ends(b))
        if (bond.tail.element, bond.tail.port) == m.port:
            edit.put_bond(replace(bond, tail=replace(bond.tail, element=number, port=k)))
        else:
            edit.put_bond(replace(bond, head=replace(bond.head, element=number, port=k)))
    for k, junction in enumerate(further):
        edit.add_bond(End(junction.id, -1), End(number, len(field.independent) + k), span=junction.span)
    _define_members(edit, tracer, field, plan)
    _take_away(edit, tracer, field)


def _replaced(field: StorageField) -> tuple[str, ...]:
    """The storages whose ports the field has; all that are in it where pivots took their part."""
    own = tuple(m.name for m in field.independent if not is_pivot(m.element))
    return own if len(own) == len(field.independent) else field.names


def _ends(bond: Bond) -> tuple[tuple[int, int], tuple[int, int]]:
    return (bond.tail.element, bond.tail.port), (bond.head.element, bond.head.port)


def _define_members(edit: Edit, tracer: Tracer, field: StorageField, plan: Plan) -> None:
    blocks, members = storage_blocks(field), members_of(field)
    n = len(field.independent)
    for a, m in enumerate(members):
        if is_pivot(m.element):
            continue
        given: Expr = var(plan.variable(a, m.given[-1])) if a < n else field.follows(a - n, tracer)
        content = total(product([s, var(members[b].given)]) for b, s in enumerate(blocks[a]) if s != 0.0)
        define_storage(edit, m, given, content)


def _take_away(edit: Edit, tracer: Tracer, field: StorageField) -> None:
    before, bonds = len(edit.removed), []
    storages = dict.fromkeys(m.port[0] for m in members_of(field))
    for number in storages:
        ports = {m.port[1]: tracer.output_letter(m.port) for m in field.dependent if m.port[0] == number}
        if ports:
            bonds += remove_storage(edit, number, ports)
        else:
            edit.remove_element(number)
    define_branch(edit, tracer, [e for e in edit.removed[before:] if e.id not in storages], bonds)
    keep_reactions(edit, tracer, list(field.dependent))


def change_reinits(edit: Edit, field: StorageField, plan: Plan, matrix: Matrix) -> None:
    """`reinit` of one member sets what it gives; all ports of the field follow."""
    places = {m.state: k for k, m in enumerate(field.independent) if m.element.kind != "field"}

    def changed(action: Reinit) -> Reinit | tuple[Reinit, ...]:
        k = places.get(action.target)
        if k is None:
            return action
        given: list[Expr] = [var(plan.variable(j, m.given[-1])) for j, m in enumerate(field.independent)]
        new = field.independent[k].gives_for(action.value)
        assert new is not None
        step = call("-", new, given[k])
        return tuple(
            replace(
                action,
                target=plan.variable(j, m.state[-1]),
                value=total([var(plan.variable(j, m.state[-1])), product([matrix[j][k], step])]),
            )
            for j, m in enumerate(field.independent)
            if matrix[j][k] != 0.0
        )

    edit.change_reinits(changed)


def localise(edit: Edit, plan: Plan, e: Expr) -> Expr:
    """An expression with the model's parameters as parameters of the field, under their own last names."""
    names: dict[str, str] = {}

    def own(leaf: tuple[object, ...]) -> Expr:
        if leaf[0] != "p":
            return leaf
        flat = str(leaf[1])
        if flat not in names:
            clean = re.sub(r"\W+", "_", flat).strip("_") or "parameter"
            name = f"{plan.name}.{clean}"
            if name not in edit.parameters:
                edit.set_parameter(name, ("p", flat), edit.parameters.get(flat))
            names[flat] = name
        return ("p", names[flat])

    return map_leaves(e, own)
