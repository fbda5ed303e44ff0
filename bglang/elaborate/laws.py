"""Which law an element has: the parameter, explicit or implicit law, or energy that the outermost place gives."""

from collections.abc import Sequence
from typing import Any

from bglang.diagnostics import Label, error, warning
from bglang.elaborate.bodies import BodyItem, Level
from bglang.elaborate.context import Known
from bglang.elaborate.expressions import translate
from bglang.elaborate.mistyped import mistyped
from bglang.elaborate.modifications import Binding, Modification, read_modification, report_final
from bglang.elaborate.objects import OWN_LETTERS, PARAMETER_NAME, ElementObject, Missing, variable
from bglang.elaborate.scopes import InstanceScope, scope_of
from bglang.elaborate.values import CONSTANT, PARAMETER, Value
from bglang.expr import Expr, leaves
from bglang.records import dataclass
from bglang.source import Span

GROUPS: dict[str, tuple[str, ...]] = {
    "Se": ("e",),
    "Sf": ("f",),
    "R": ("R", "e", "f", "0"),
    "C": ("C", "e", "q", "0", "energy"),
    "I": ("I", "f", "p", "0", "energy"),
    "TF": ("m",),
    "GY": ("r",),
    "J0": (),
    "J1": (),
    "field": ("energy",),
}
"""What may give a law, by kind of element."""

FOREIGN = {"Se": "f", "Sf": "e", "C": "f", "I": "e"}
"""Variables that a law of this element cannot speak of."""


@dataclass(slots=True)
class Found:
    """Where the law of an element comes from.  `letter` is the key under which it was given, "" for equations."""

    letter: str
    binding: Binding | None
    equations: tuple[BodyItem, ...]
    span: Span


NOTHING = Found("", None, (), None)  # type: ignore[arg-type]


def sources(element: ElementObject) -> Sequence[Modification | Level]:
    """Places that may give a law or attributes, outermost first."""
    inner = element.inner
    if inner is None:
        return element.layers
    if element.storages is None:
        element.storages = list[Modification | Level](element.layers)
        for level in inner.body.levels:
            if level.equations:
                element.storages.append(level)
            elif level.args:
                # arguments for declared members of the class have been given to those
                args = [a for a in level.args if a.name is not None and a.name.parts[0].ident not in inner.body.members]
                if args:
                    scope = scope_of(inner, level.definition)
                    element.storages.append(read_modification(args, scope, args[0].span))
    found: list[Modification | Level] = element.storages
    return found


def find_law(element: ElementObject) -> Found:
    """The law that the outermost place gives."""
    if element.parameter is None:
        if element.inner is None:
            # members of an array share their modifications, and with them what these say
            key = (id(element.layers), element.kind)
            shared: Found | None = element.ctx.laws.get(key)
            if shared is None:
                shared = element.ctx.laws[key] = _search(element)
            element.parameter = shared
        else:
            element.parameter = NOTHING
            element.parameter = _search(element)
    found: Found = element.parameter
    return found


def _search(element: ElementObject) -> Found:
    ctx, group = element.ctx, GROUPS[element.kind]
    winner: Found | None = None
    members = element.inner.body.members if element.inner is not None else {}
    for source in sources(element):
        if isinstance(source, Level):
            here = [Found("", None, source.equations, source.equations[0].node.span)]
        else:
            here = []
            for key in group:
                child = source.children.get(key)
                if child is not None and child.binding is not None and key not in members:
                    here.append(Found(key, child.binding, (), child.binding.span))
            overruled = winner is not None and here and here[0].binding is not None and here[0].binding.final
            if overruled and winner is not None and winner.binding is not None:
                report_final(winner.binding, here[0].span, ctx.report)
        if winner is None and here:
            if len(here) > 1:
                report_two(element, here)
            winner = here[0]
    return winner or NOTHING


def report_two(element: ElementObject, here: list[Found]) -> None:
    names = " and ".join(f"`{found.letter}`" for found in here[:2])
    element.ctx.report.add(
        error(
            "laws/two",
            f"`{element.name}` is given both {names}",
            here[1].span,
            related=[Label(here[0].span, "the other one")],
            reason="An element has one law: a parameter stands for a linear one.",
            hint="remove one of them.",
        )
    )


# --- parameters ------------------------------------------------------------------------------------------------------


def parameter_value(element: ElementObject) -> Any:
    """What `r1.R` means: a parameter, or the expression that modulates the element."""
    ident = PARAMETER_NAME[element.kind]
    found = find_law(element)
    if found.letter == ident or (found is NOTHING and not has_refined_parameter(element)):
        gain = gain_of(element)
        if gain is not None and gain.variability == PARAMETER:
            value = found.binding.value(0, ident) if found.binding is not None else None
            known = Known(value.items[0] if value is not None else None, element.span)
            element.ctx.slots.setdefault(f"{element.name}.{ident}", (known, 0))
        return gain
    return Missing(f"`{element.name}` has no `{ident}`: its law is written out", "read `e` and `f` instead.")


def has_refined_parameter(element: ElementObject) -> bool:
    """An element class may declare the basic parameter itself, to give it a unit or a default."""
    return element.inner is not None and PARAMETER_NAME.get(element.kind, "") in element.inner.body.members


def gain_of(element: ElementObject) -> Value | None:
    """R, C, I, m or r as a value: a parameter of the run, or an expression that varies; None after reporting."""
    ident = PARAMETER_NAME[element.kind]
    found = find_law(element)
    if has_refined_parameter(element) and element.inner is not None:
        thing = element.inner.find(ident)
        read = getattr(thing, "read", None)
        return read() if read is not None else None
    name = f"{element.name}.{ident}"
    if found.binding is None:
        return Value("Real", (), (("p", name),), PARAMETER)
    value = scalar(found.binding, f"{element.name}.{ident}", element)
    if value is None:
        return None
    if value.variability > PARAMETER:
        return value
    return Value("Real", (), (("p", name),), PARAMETER)


def scalar(binding: Binding, what: str, element: ElementObject) -> Value | None:
    """A single number or numeric expression; None after reporting."""
    value = binding.value(0, what.rsplit(".", 1)[-1])
    if value is None:
        return None
    if value.shape or not value.numeric:
        report_not_scalar(value, what, binding.span, element)
        return None
    return value


def report_not_scalar(value: Value, what: str, span: Span, element: ElementObject) -> None:
    element.ctx.report.add(mistyped(f"`{what}` is a number", "Real", value, span))


# --- laws ------------------------------------------------------------------------------------------------------------


def own_variables(element: ElementObject) -> dict[str, Value]:
    """The element's variables, which come first in its law."""
    return {letter: variable(f"{element.name}.{letter}") for letter in OWN_LETTERS.get(element.kind, "")}


def law_value(element: ElementObject, found: Found) -> Expr | None:
    """The right side of a law given as `e = ...`, `0 = ...` and so on; None after reporting."""
    binding = found.binding
    assert binding is not None
    scope = binding.scope.with_own(own_variables(element))
    value = translate(binding.expression, scope, element.ctx.report)
    if value is None:
        return None
    if binding.levels:
        value = binding.pick(value, 0, found.letter)
        if value is None:
            return None
    if value.shape or not value.numeric:
        report_not_scalar(value, f"{element.name}.{found.letter}", found.span, element)
        return None
    warn_hidden(element, scope, binding.scope, found.span)
    if not check_own(element, scope.seen or set(), found.span):
        return None
    item: Expr = value.items[0]
    return item


def check_own(element: ElementObject, seen: set[str], span: Span) -> bool:
    """A C relates e and q, an I f and p, besides modulation."""
    foreign = FOREIGN.get(element.kind, "")
    if foreign not in seen or element.kind in ("Se", "Sf"):
        return True
    pair = "`e` and `q`" if element.kind == "C" else "`f` and `p`"
    element.ctx.report.add(
        error(
            "laws/variable",
            f"the law of the {element.kind} `{element.name}` speaks of its own `{foreign}`",
            span,
            reason=f"{'An' if element.kind in 'RI' else 'A'} {element.kind} relates {pair}.",
            hint="put an R beside it for what depends on the flow."
            if element.kind == "C"
            else "put an R beside it for what depends on the effort.",
        )
    )
    return False


def warn_hidden(element: ElementObject, scope: InstanceScope, outer: InstanceScope, span: Span) -> None:
    """The element's own variables hide names of the model."""
    for letter in sorted(scope.seen or ()):
        instance = outer.instance
        hidden = instance is not None and (letter in instance.body.members or letter in (instance.values or {}))
        if hidden and instance is not None:
            element.ctx.report.add(
                warning(
                    "names/hidden",
                    f"`{letter}` in this law is the element's own variable",
                    span,
                    reason=f"It hides the `{letter}` of `{instance.definition.name}`.",
                    hint=f"rename the other `{letter}` if that one was meant.",
                    component=element.name,
                )
            )


def mentions(expression: Expr, name: str) -> bool:
    return any(leaf[0] == "v" and leaf[1] == name for leaf in leaves(expression))


def constant_zero() -> Value:
    return Value("Real", (), (0.0,), CONSTANT)
