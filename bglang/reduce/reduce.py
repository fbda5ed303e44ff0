"""Storage-field reduction: dependent storages are merged into the independent ones until none is left.

Every round looks at the causality anew, merges every field that the rules allow, and takes the graph that comes out as
the next one.  What is refused stays and is told; the other fields are merged all the same."""

from collections.abc import Callable, Sequence

from bglang.causality.assign import assign_causality
from bglang.causality.result import Causality
from bglang.diagnostics import SourceError, UsageError
from bglang.expr import Expr, product, total
from bglang.expr.text import text
from bglang.graph.ir import BondGraph
from bglang.records import dataclass
from bglang.reduce.algebra import numbers, singular
from bglang.reduce.edit import Edit
from bglang.reduce.fields import StorageField, find_fields
from bglang.reduce.matrix import equivalent_matrix, merge_matrix
from bglang.reduce.modulated import check_modulated, merge_modulated
from bglang.reduce.motion import contradictions
from bglang.reduce.path import Form, equivalent, merge_path, own_form
from bglang.reduce.pivots import with_useful_pivots
from bglang.reduce.refusals import Refusal, refuse
from bglang.reduce.trace import Tracer
from bglang.reduce.zero import Constant, find_constants, merge_constant
from bglang.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Proposal:
    """A field that can be merged: who is in it, by which path, with which result, and what may be chosen.

    `choices` are the storages that may stay (the first one unless another is named); none where a field takes the place
    of several."""

    kind: str
    members: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...]
    gains: tuple[str, ...]
    result: str
    choices: tuple[str, ...]
    form: Form


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user wants: which storage stays, how its law is written, or that the field is left alone."""

    keep: str = ""
    form: Form | None = None
    skip: bool = False


Choose = Callable[[Proposal], Choice]


@dataclass(frozen=True, slots=True)
class Merger:
    """What was done, for the comments of the written source and for the report.

    `shared`: the kept storage now gives what both gave (the other one follows by a constant)."""

    kept: str
    merged: tuple[str, ...]
    text: str
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Reduction:
    graph: BondGraph
    mergers: tuple[Merger, ...]
    refusals: tuple[Refusal, ...]


def take_defaults(proposal: Proposal) -> Choice:
    """The independent storage stays, its law in its own form."""
    return Choice()


def reduce_storages(
    graph: BondGraph, keep: Sequence[str] = (), choose: Choose = take_defaults, form: Form | None = None
) -> Reduction:
    """The graph with its storage fields merged, as far as that is exact."""
    check_names(graph, keep)
    mergers, decided = list[Merger](), dict[frozenset[str], Choice]()
    wanted = list(keep)
    while True:
        refusals, made, new = _round(graph, wanted, choose, decided, form)
        if new is None:
            return Reduction(graph, tuple(mergers), tuple(refusals))
        graph = new
        mergers += made
        names = _storages(graph)
        wanted = [name for name in wanted if name in names]


def check_names(graph: BondGraph, keep: Sequence[str]) -> None:
    names = _storages(graph)
    for name in keep:
        if name not in names:
            meant = did_you_mean(name, names)
            raise UsageError(f"the model has no storage named `{name}`" + (f"; {meant}" if meant else ""))


def _storages(graph: BondGraph) -> list[str]:
    found = list[str]()
    for e in graph.elements:
        kinds = [p for p in e.ports if p.kind in ("C", "I")]
        if kinds:
            found.append(e.name)
            found.extend(f"{e.name}.{p.name}" for p in kinds if p.name)
    return found


def _round(
    graph: BondGraph, wanted: list[str], choose: Choose, decided: dict[frozenset[str], Choice], form: Form | None
) -> tuple[list[Refusal], list[Merger], BondGraph | None]:
    causality, tracer, fields, refusals = _decide(with_useful_pivots(graph, wanted), wanted, choose, decided)
    edit = Edit(tracer.graph)
    mergers, values = list[Merger](), numbers(graph)
    for field in fields:
        choice = decided[frozenset(field.names)]
        if choice.skip:
            continue
        refusal = _impossible(tracer.graph, tracer, field, values)
        if refusal is not None:
            refusals.append(refusal)
            continue
        wrong = contradictions(field, tracer, values)
        if wrong:
            raise SourceError(wrong)
        mergers.append(_merge(edit, tracer, field, choice.form or form))
    if not mergers:
        mergers = _constants(causality, tracer, edit, _Asked(wanted, choose, decided))
        if not mergers:
            return refusals, [], None
    edit.remove_pivots()
    return refusals, mergers, edit.graph()


def _decide(
    graph: BondGraph, wanted: list[str], choose: Choose, decided: dict[frozenset[str], Choice]
) -> tuple[Causality, Tracer, tuple[StorageField, ...], list[Refusal]]:
    """Asks about every field once; a storage that shall stay instead of another one changes the causality."""
    while True:
        causality = assign_causality(graph, keep=wanted)
        tracer = Tracer(graph, causality)
        fields, refused = find_fields(graph, causality, tracer)
        again = False
        for field in fields:
            key = frozenset(field.names)
            if key in decided:
                continue
            proposal = propose(field, tracer)
            choice = decided[key] = choose(proposal)
            if choice.keep and choice.keep not in (m.name for m in field.independent):
                wanted.insert(0, choice.keep)
                again = True
                break
        if not again:
            return causality, tracer, fields, list(refused)


def propose(field: StorageField, tracer: Tracer) -> Proposal:
    gains = tuple(f"{m.given} = {text(field.follows(d, tracer))}" for d, m in enumerate(field.dependent))
    if field.moduli:
        kind, result = "modulated", "a field with its energy"
    elif field.single:
        kind = "path"
        value = equivalent(field)
        result = "a law of both" if value is None else f"{field.independent[0].element.kind} = {text(value)}"
    else:
        kind, result = "matrix", f"a field of {len(field.independent)} ports"
    choices = field.names if kind == "path" else ()
    form: Form = own_form(field.independent[0]) if field.single else "law"
    return Proposal(kind, field.names, field.paths, gains, result, choices, form)


def _impossible(graph: BondGraph, tracer: Tracer, field: StorageField, values: dict[str, float]) -> Refusal | None:
    if field.moduli:
        return check_modulated(graph, tracer, field, values)
    matrix: list[list[Expr]]
    if field.single:
        value = equivalent(field)
        if value is None:
            return None
        matrix = [[value]]
        terms = [[m.parameter] for m in (*field.independent, *field.dependent)]
        small = _vanishes(value, [t[0] for t in terms if t[0] is not None], values)
    else:
        matrix = equivalent_matrix(field)
        small = False
    if small or singular(matrix, values):
        first = field.dependent[0]
        others = ", ".join(f"`{m.name}`" for m in field.independent)
        return refuse(
            first.element, first.name, "singular", field.independent[0].element,
            f"The equivalent storage of `{first.name}` and {others} is zero: with these parameters they cancel.",
        )  # fmt: skip
    return None


def _vanishes(total: Expr, parts: Sequence[Expr], values: dict[str, float]) -> bool:
    from bglang.reduce.algebra import value

    sum_, terms = value(total, values), [value(p, values) for p in parts]
    if sum_ is None or any(t is None for t in terms):
        return False
    return abs(sum_) <= 1e-13 * sum(abs(t) for t in terms if t is not None)


def _merge(edit: Edit, tracer: Tracer, field: StorageField, form: Form | None) -> Merger:
    merged = tuple(m.name for m in field.dependent)
    if field.moduli:
        name = merge_modulated(edit, tracer, field)
        return Merger(name, field.names, _words(tracer, field, f"{name} holds the energy of {_list(field.names)}"))
    if field.single:
        kept = field.independent[0]
        merge_path(edit, tracer, field, form or own_form(kept))
        value = equivalent(field)
        law = f": {kept.element.kind} = {text(value)}" if value is not None and not any(field.sources) else ""
        return Merger(kept.name, merged, _words(tracer, field, f"{_list(merged)} merged into {kept.name}{law}"))
    name = merge_matrix(edit, tracer, field)
    return Merger(name, field.names, _words(tracer, field, f"{name} stands for {_list(field.names)}"))


def _words(tracer: Tracer, field: StorageField, first: str) -> str:
    """What was merged and how the merged storages follow; the latter only where that is short."""
    if len(field.dependent) > 3:
        return first
    follows = (f"{m.given} = {text(field.follows(d, tracer))}" for d, m in enumerate(field.dependent))
    return f"{first}; {', '.join(follows)}"


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


@dataclass(frozen=True, slots=True)
class _Asked:
    """Who decides, and what is decided already; `wanted` grows by what shall stay."""

    wanted: list[str]
    choose: Choose
    decided: dict[frozenset[str], Choice]


def _constants(causality: Causality, tracer: Tracer, edit: Edit, asked: _Asked) -> list[Merger]:
    """Storages that differ by a constant for ever: one state less for each."""
    made = list[Merger]()
    for constant in _decided(causality, tracer, asked):
        kept, words = merge_constant(edit, tracer, constant)
        made.append(Merger(kept, (constant.gone.name,), words, shared=True))
    return made


def _decided(causality: Causality, tracer: Tracer, asked: _Asked) -> list[Constant]:
    """Those that shall be merged; the other one of a pair may be wanted to stay."""
    while True:
        found = list[Constant]()
        for constant in find_constants(tracer.graph, causality, tracer, asked.wanted):
            names = (*(m.name for m in constant.kept), constant.gone.name)
            key = frozenset(names)
            if key not in asked.decided:
                choice = asked.decided[key] = asked.choose(_bound(constant, names))
                if choice.keep == constant.gone.name:
                    asked.wanted.insert(0, choice.keep)
                    break
            if not asked.decided[key].skip:
                found.append(constant)
        else:
            return found


def _bound(constant: Constant, names: tuple[str, ...]) -> Proposal:
    parts = (product([g, ("v", m.state)]) for g, m in zip(constant.gains, constant.kept, strict=True))
    bound = f"{constant.gone.state} = {text(total(parts))} + constant"
    single = len(constant.kept) == 1
    result = "a law of both" if single else f"a field of {len(constant.kept)} ports"
    return Proposal("constant", names, (), (bound,), result, names if single else (), "law")
