"""What happens at events: root functions of the modes, `when` clauses, assertions."""

from collections.abc import Callable

from bglang.diagnostics import Label, error
from bglang.equations import system
from bglang.equations.draft import Draft
from bglang.equations.latches import latch_whens
from bglang.equations.maker import Maker
from bglang.equations.system import Mode
from bglang.equations.words import in_words
from bglang.expr import Expr, var
from bglang.expr.expand import expand
from bglang.expr.walk import leaf_set
from bglang.graph import ir
from bglang.records import dataclass, replace

Change = Callable[[Expr], Expr]


@dataclass(frozen=True, slots=True)
class Discrete:
    """Modes, clauses and assertions over keys; `finish` puts them in terms of the unknowns."""

    modes: tuple[Mode, ...]
    whens: tuple[system.When, ...]
    assertions: tuple[system.Assertion, ...]

    def expressions(self) -> list[Expr]:
        """Everything that is computed while the model runs, apart from its equations."""
        found: list[Expr] = []

        def note(e: Expr) -> Expr:
            found.append(e)
            return e

        self.finish(note)
        return found

    def finish(self, change: Change) -> tuple[tuple[Mode, ...], tuple[system.When, ...], tuple[system.Assertion, ...]]:
        modes = tuple(_change_mode(mode, change) for mode in self.modes)
        whens = tuple(
            replace(when, branches=tuple(_change_branch(branch, change) for branch in when.branches))
            for when in self.whens
        )
        return modes, whens, tuple(replace(a, condition=change(a.condition)) for a in self.assertions)


def _change_mode(mode: Mode, change: Change) -> Mode:
    roots = tuple(change(root) for root in mode.roots)
    arguments = tuple(change(a) for a in mode.arguments)
    watched = roots or (arguments if mode.kind == "segment" else ())
    time_only = bool(watched) and all(leaf[0] in ("t", "p", "z") for root in watched for leaf in leaf_set(root))
    return replace(mode, roots=roots, arguments=arguments, time_only=time_only)


def _change_branch(branch: system.WhenBranch, change: Change) -> system.WhenBranch:
    actions: list[system.Reinit | system.Assign | system.Terminate | system.Assertion] = []
    for action in branch.actions:
        if isinstance(action, system.Reinit | system.Assign):
            actions.append(replace(action, value=change(action.value)))
        elif isinstance(action, system.Assertion):
            actions.append(replace(action, condition=change(action.condition)))
        else:
            actions.append(action)
    return replace(branch, conditions=tuple(change(c) for c in branch.conditions), actions=tuple(actions))


def read_discrete(draft: Draft, maker: Maker) -> Discrete:
    """Clauses and assertions of the model; then the modes, which all lowering so far has collected."""
    whens = (*latch_whens(draft, maker), *(_read_when(draft, maker, when) for when in draft.graph.whens))
    assertions = tuple(
        system.Assertion(_condition(maker, a.condition, a.component, a), a.message, a.level, a.component, a.span)
        for a in (*draft.graph.assertions, *_bounds(draft.graph))
    )
    modes = tuple(
        replace(
            mode,
            roots=tuple(maker.resolve(root) for root in mode.roots),
            arguments=tuple(maker.resolve(a) for a in mode.arguments),
        )
        for mode in maker.modes.modes
    )
    return Discrete(modes, whens, assertions)


def _bounds(graph: ir.BondGraph) -> list[ir.Assertion]:
    """A variable outside its `min` or `max` is a warning."""
    found = []
    for v in graph.variables:
        for bound, op, word in ((v.minimum, ">=", "below its minimum"), (v.maximum, "<=", "above its maximum")):
            if bound is not None and v.type != "String":
                message = f"`{v.name}` is {word} {in_words(bound)}"
                found.append(ir.Assertion((op, var(v.name), bound), message, "warning", v.name, v.span))
    return found


def _condition(maker: Maker, e: Expr, component: str, place: ir.Assertion | ir.WhenBranch) -> Expr:
    return maker.resolve_instant(maker.modes.lower(e, component, place.span))


def _read_when(draft: Draft, maker: Maker, when: ir.When) -> system.When:
    branches = []
    for branch in when.branches:
        conditions = tuple(_condition(maker, c, when.component, branch) for c in branch.conditions)
        actions = [_read_action(draft, maker, action) for action in branch.actions]
        branches.append(system.WhenBranch(conditions, tuple(a for a in actions if a is not None), branch.span))
    return system.When(tuple(branches), when.component)


def _read_action(
    draft: Draft, maker: Maker, action: ir.Action
) -> system.Reinit | system.Assign | system.Terminate | system.Assertion | None:
    """Values at an instant need no modes: relations in them are computed as they stand."""

    def value(e: Expr) -> Expr:
        return maker.resolve_instant(expand(e, maker.modes.tables))

    if isinstance(action, ir.Terminate):
        return system.Terminate(action.message, action.span)
    if isinstance(action, ir.Assertion):
        condition = value(action.condition)
        return system.Assertion(condition, action.message, action.level, action.component, action.span)
    target = draft.names.get(action.target)
    if isinstance(action, ir.Assign):
        assert isinstance(target, tuple) and target[0] == "z", f"{action.target} is assigned in a when"
        return system.Assign(target[1], value(action.value), action.span)
    if isinstance(target, tuple) and target[0] == "y" and draft.unknowns[target[1]].kind == "state":
        return system.Reinit(target[1], value(action.value), action.span)
    _report_reinit(draft, action, target)
    return None


def _report_reinit(draft: Draft, action: ir.Reinit, target: Expr | None) -> None:
    """`reinit` takes a state; of a dependent storage the message names the independent one."""
    graph, related, hint = (
        draft.graph,
        list[Label](),
        "reinit a state: the `q` of a C, the `p` of an I, an `x` of `der(x)`",
    )
    reason = f"`{action.target}` follows from the states, so it cannot be set."
    if isinstance(target, tuple) and target[0] == "y":
        port = next(key for key, number in draft.storages.items() if number == target[1])
        on = [d.on for d in draft.causality.dependent if d.port == port]
        masters = [key for keys in on for key in keys if key in draft.storages]
        names = [draft.unknowns[draft.storages[key]].name for key in masters]
        reason = f"`{action.target}` belongs to a dependent storage"
        reason += f": it follows from {' and '.join(f'`{n}`' for n in names)}." if names else "."
        related = [Label(graph.elements[key[0]].span, "independent") for key in masters]
        hint = f"reinit `{names[0]}` instead" if names else hint
    draft.report.add(
        error(
            "equations/reinit",
            f"`{action.target}` is not a state",
            action.span,
            label="cannot be reinitialised",
            related=related,
            reason=reason,
            hint=hint,
        )
    )
