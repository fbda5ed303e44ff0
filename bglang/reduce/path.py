"""The path rule: one independent storage takes in those that follow it with constant gain.

X = X_i(z) + sum of g*X_d(g*z + source): for linear storages S = S_i + sum of g^2*S_d.  Exact for nonlinear laws too,
where they can be written as the stored quantity."""

from typing import Literal

from bglang.expr import Expr, call, map_leaves, product, total, var
from bglang.expr.invert import invert
from bglang.graph.ir import Element, Equation, Law, Reinit, Start
from bglang.records import replace
from bglang.reduce.algebra import quotient
from bglang.reduce.edit import Edit
from bglang.reduce.fields import StorageField
from bglang.reduce.members import Member
from bglang.reduce.observe import define_branch, define_storage, keep_reactions
from bglang.reduce.polynomials import multiply, to_expression
from bglang.reduce.pruning import remove_storage
from bglang.reduce.starts import at_start, equations_for_guesses, from_dependent, start_of
from bglang.reduce.trace import Tracer

Form = Literal["parameter", "law"]


def equivalent(field: StorageField) -> Expr | None:
    """The equivalent parameter of a linear field on one path."""
    kept = field.independent[0]
    terms = [kept.parameter]
    for member, gains in zip(field.dependent, field.gains, strict=True):
        s = member.parameter
        terms.append(None if s is None else to_expression(multiply(gains[0], gains[0]), [s]))
    known = [t for t in terms if t is not None]
    return total(known) if len(known) == len(terms) else None


def own_form(member: Member) -> Form:
    """How the source writes the storage's law."""
    return "parameter" if member.element.laws and member.element.laws[0].gain is not None else "law"


def merge_path(edit: Edit, tracer: Tracer, field: StorageField, form: Form) -> None:
    """Puts the equivalent storage in place of the independent one and takes the others away."""
    kept = settled(edit, field.independent[0])
    field = replace(field, independent=(kept,))
    linear = equivalent(field)
    driven = any(field.sources)
    content = _content(field, tracer)
    if driven or linear is None:
        element = _with_law(kept, content)
    else:
        element = with_parameter(edit, kept, linear, form)
    _start(edit, tracer, field, element, content, linear if not driven else None)
    edit.reads[("v", kept.state)] = kept.holds(var(kept.given))
    _reinits(edit, kept, content)
    take_away(edit, tracer, field)


def take_away(edit: Edit, tracer: Tracer, field: StorageField) -> None:
    """The dependent storages with their branches; their variables stay defined."""
    before = len(edit.removed)
    bonds = []
    for d, member in enumerate(field.dependent):
        define_storage(edit, member, field.follows(d, tracer), member.holds(var(member.given)))
        bonds += remove_storage(edit, member.port[0], {0: tracer.output_letter(member.port)})
    storages = {m.port[0] for m in field.dependent}
    define_branch(edit, tracer, [e for e in edit.removed[before:] if e.id not in storages], bonds)
    keep_reactions(edit, tracer, list(field.dependent))


def _content(field: StorageField, tracer: Tracer) -> Expr:
    """X of the equivalent storage as a function of what it gives."""
    kept = field.independent[0]
    terms = [kept.holds(var(kept.given))]
    for d, member in enumerate(field.dependent):
        terms.append(product([to_expression(field.gains[d][0]), member.holds(field.follows(d, tracer))]))
    return total(terms)


def with_parameter(edit: Edit, kept: Member, value: Expr, form: Form) -> Element:
    """The kept element, linear, with another parameter."""
    element = kept.element
    letter = element.kind
    state = var(kept.state)
    span = element.laws[0].span
    if form == "law":
        return replace(element, laws=(Law(_letter(kept.given), 0, _divided(state, value), span),), symbolic=False)
    name = f"{element.name}.{letter}"
    edit.set_parameter(name, value)
    law = Law(_letter(kept.given), 0, ("/", state, ("p", name)), span, ("p", name))
    return replace(element, laws=(law,), symbolic=False)


def _divided(state: Expr, value: Expr) -> Expr:
    """`k*q` where the parameter is 1/k, else `q/C`."""
    if isinstance(value, tuple) and value[0] == "/" and value[1] == 1.0:
        return product([value[2], state])
    return call("/", state, value)


def _letter(name: str) -> Literal["e", "f", "q", "p"]:
    letter = name[-1]
    assert letter in ("e", "f", "q", "p")
    return letter  # type: ignore[return-value]


def _with_law(kept: Member, content: Expr) -> Element:
    solved = invert(content, var(kept.given), var(kept.state))
    span = kept.element.laws[0].span
    if solved is not None:
        law = Law(_letter(kept.given), 0, solved, span)
    else:
        law = Law(_letter(kept.state), 0, content, span)
    return replace(kept.element, laws=(law,), symbolic=False)


def _start(
    edit: Edit, tracer: Tracer, field: StorageField, element: Element, content: Expr, linear: Expr | None
) -> None:
    """The flow of the pair is kept: p = S_eq/S_i*p_start."""
    kept, number = field.independent[0], field.independent[0].port[0]
    edit.own.add(number)
    start = start_of(kept)
    given = None if start is None else kept.gives_for(start.value)
    if start is None:
        given = from_dependent(field)
        moved = linear is None or any(field.sources)  # by an offset of a law, or by the source
        if given is None and moved and all(start_of(m) is None for m in field.dependent):
            given = kept.gives_for(0.0)
    value = None
    if given is not None:
        whole = _at(content, kept, given) if linear is None else scaled(linear, kept, start, given)
        value = at_start(tracer, whole)
    if value is not None and (start is not None or value != 0.0):
        made = Start(value, True, None if start is None else start.fixed, element.span)
        element = replace(element, ports=(replace(element.ports[0], start=made),))
    elif start is not None:  # no closed form: what the kept one alone would hold decides, as an equation of the start
        edit.initial.append(Equation(var(kept.state), start.value, "", element.span))
        element = replace(element, ports=(replace(element.ports[0], start=replace(start, written=False)),))
    else:
        equations_for_guesses(edit, field, tracer)
    edit.elements[number] = element


def scaled(linear: Expr, kept: Member, start: Start | None, given: Expr) -> Expr:
    """S_eq*z with z = p_start/S_i, written without dividing where the start is a multiple of S_i."""
    if start is None or kept.parameter is None:
        return product([linear, given])
    short = quotient(start.value, kept.parameter)
    if not (isinstance(short, tuple) and short[0] == "/"):
        return product([linear, short])
    return product([call("/", linear, kept.parameter), start.value])


def _at(content: Expr, kept: Member, given: Expr) -> Expr:
    return map_leaves(content, lambda leaf: given if leaf == ("v", kept.given) else leaf)


def settled(edit: Edit, kept: Member) -> Member:
    """The kept storage in terms of what its parameter was given, because the parameter itself gets another value.

    Who else reads the parameter means the one it had.  A parameter without value gets another name."""
    name = f"{kept.element.name}.{kept.element.kind}"
    if not kept.element.laws or kept.element.laws[0].gain != ("p", name) or name not in edit.parameters:
        return kept
    before = edit.parameters[name].value
    if before is None:
        other = edit.fresh(name.replace("'", "").replace(".", "_"))
        edit.set_parameter(other, None, edit.parameters[name])
        before = ("p", other)
    edit.reads[("p", name)] = before
    own, meant = ("p", name), before

    def change(e: Expr | None) -> Expr | None:
        return None if e is None else map_leaves(e, lambda leaf: meant if leaf == own else leaf)

    return replace(kept, parameter=change(kept.parameter), content=change(kept.content))


def _reinits(edit: Edit, kept: Member, content: Expr) -> None:
    """`reinit` of the kept storage sets what it gives; the merged one follows."""

    def changed(action: Reinit) -> Reinit:
        if action.target != kept.state:
            return action
        given = kept.gives_for(action.value)
        return action if given is None else replace(action, value=_at(content, kept, given))

    edit.change_reinits(changed)
