"""Making elements, junctions and ports from their declarations."""

from typing import Any

from bglang.diagnostics import error
from bglang.elaborate.bodies import Body, Member, basic_names
from bglang.elaborate.checking import check_names, wrong_place
from bglang.elaborate.definitions import ANY, Builtin, Definition, Target
from bglang.elaborate.expressions import translate_constant
from bglang.elaborate.hints import did_you_mean
from bglang.elaborate.modifications import Binding, Layers, children, outermost
from bglang.elaborate.objects import POISON, ElementObject, ElementPort, Instance, Port

LOCKS = ("effort_in", "effort_out")
PORT_NAMES = {"optional", "causality", "e", "f", "q", "p"}
OUTSIDE_PORT_NAMES = {"passive", "displacement"}
"""Attributes that only the classes of outside models give to their ports."""


def make_element(instance: Instance, member: Member, target: Builtin, name: str, layers: Layers) -> Any:
    """A basic element or junction declared as such."""
    ctx = instance.ctx
    if instance.definition.node.kind == "block":
        return wrong_place(instance, member, "a block holds no nodes", "use a `model`.")
    known = NAMES[target.name]
    if layers:
        check_names(layers, known, name, ctx, lambda: SETTABLE[target.name], hint=LAW_HINTS[target.name])
        check_letters(target.name, layers, name)
    element = ElementObject(ctx, name, target.name, instance, member, layers, None)
    element.type_name = target.name
    return element


NAMES = {name: basic_names(Builtin(name, "element")) for name in ("Se", "Sf", "R", "C", "I", "TF", "GY", "J0", "J1")}


SETTABLE = {"Se": {"e"}, "Sf": {"f"}} | {kind: NAMES[kind] - {"0"} for kind in NAMES if kind not in ("Se", "Sf")}
LAW_HINTS = {
    "Se": "its effort is `e = …`.",
    "Sf": "its flow is `f = …`.",
    "R": "give it `R = …` or a law such as `e = …`.",
    "C": "give it `C = …` (a stiffness k is `C = 1/k`) or a law such as `e = …`; its start is `q(start = …)`.",
    "I": "give it `I = …` (a mass or an inductance) or a law such as `f = …`; its start is `p(start = …)`.",
    "TF": "its modulus is `m = …`, with e1 = m*e2.",
    "GY": "its modulus is `r = …`, with e1 = r*f2.",
    "J0": "its momentum starts at `p(start = …)`.",
    "J1": "its displacement starts at `q(start = …)`.",
}
"""What to say about a name that a basic element does not have and that is like none it has."""


def make_class_element(
    instance: Instance, member: Member, target: Definition, body: Body, name: str, layers: Layers
) -> Any:
    """An element of a class: one that extends a basic element, or a field with ports of its own."""
    from bglang.elaborate.expansion import expand

    ctx = instance.ctx
    basic = body.basic
    known = basic_names(basic)
    check_names(layers, known, name, ctx, lambda: body.names() | known, body)
    kind = basic.name if basic is not None else "field"
    if basic is not None:
        check_letters(kind, layers, name)
    inner = Instance(ctx, name, target, body, instance, layers)
    inner.member = member
    element = ElementObject(ctx, name, kind, instance, member, layers, inner)
    element.type_name = target.name
    inner.element = element
    ctx.count(1, member.declarator.span)
    expand(inner)
    return element


def make_port(instance: Instance, member: Member, target: Target, name: str, layers: Layers) -> Any:
    """A port of a model or of an element."""
    ctx = instance.ctx
    domain = domain_name(target)
    if domain is None and target is not ANY:
        ctx.report.add(
            error(
                "types/not-a-domain",
                f"`{target.name}` is no domain",
                member.component.type.span,
                label="the type of a port is a domain",
                hint=did_you_mean(target.name, domain_names(member.definition)) or "`port Any p` fits every domain.",
            )
        )
        return POISON
    check_names(layers, PORT_NAMES | OUTSIDE_PORT_NAMES, name, ctx, lambda: PORT_NAMES)
    check_port_values(layers, name)
    if instance.element is not None:
        return element_port(instance.element, member, name, domain, layers)
    port = Port(ctx, name, instance, member, layers)
    port.domain = domain
    port.lock = text_attribute(layers, "causality", LOCKS)
    port.optional = bool(attribute(layers, "optional"))
    port.passive = bool(attribute(layers, "passive"))
    port.displacement = outermost(children(layers, "displacement"), ctx.report)
    return port


GIVES = {"Se": "e", "Sf": "f", "R": "ef", "C": "eq", "I": "fp", "J0": "", "J1": "", "TF": "", "GY": ""}
"""Variables that a law of each kind may give."""


def check_letters(kind: str, layers: Layers, name: str) -> None:
    """Variables that an element does not set cannot be given a value."""
    if kind in ("TF", "GY"):
        for port in ("p1", "p2"):
            check_port_values(children(layers, port), f"{name}.{port}")
        return
    for letter in "efqp":
        if letter in GIVES[kind] or letter not in NAMES[kind]:
            continue
        for layer in children(layers, letter):
            if layer.binding is not None and layer.strict:
                report_letter(kind, letter, layer.binding, name)


def report_letter(kind: str, letter: str, binding: Binding, name: str) -> None:
    report = binding.scope.ctx.report
    if kind in ("J0", "J1"):
        text, reason = f"`{letter}` of the junction `{name}` cannot be given a value", "It follows from its bonds."
        source = "Sf s(f = …)" if kind == "J1" else "Se s(e = …)"
        start = f"; `{letter}(start = …)` gives a start" if letter in "qp" else ""
        hint = f"bond a source to it: `{source}`{start}."
        report.add(error("types/not-a-value", text, binding.span, reason=reason, hint=hint))
        return
    if kind in ("Se", "Sf"):
        reason = f"An {kind} sets the {'effort' if kind == 'Se' else 'flow'} of its bond."
        hint = f"write `{GIVES[kind]} = …`, or use an {'Sf' if kind == 'Se' else 'Se'}."
    else:
        reason = (
            f"A law of {'an' if kind in ('I', 'R') else 'a'} {kind} relates "
            + " and ".join(f"`{x}`" for x in GIVES[kind])
            + "."
        )
        hint = f"write `{GIVES[kind][0]} = …` or `{GIVES[kind][1]} = …`."
    text = f"the {kind} `{name}` cannot be given its `{letter}`"
    report.add(error("laws/variable", text, binding.span, reason=reason, hint=hint))


def check_port_values(layers: Layers, name: str) -> None:
    """What passes through a port follows from the model; only starts can be given."""
    for letter in ("e", "f", "q", "p"):
        for layer in children(layers, letter):
            if layer.binding is not None and layer.strict:
                layer.binding.scope.ctx.report.add(
                    error(
                        "types/not-a-value",
                        f"`{letter}` of the port `{name}` cannot be given a value",
                        layer.binding.span,
                        reason="What passes through a port follows from what is bonded to it.",
                        hint="bond a source to it: `Se s(e = …)` or `Sf s(f = …)`.",
                    )
                )


def element_port(element: ElementObject, member: Member, name: str, domain: str | None, layers: Layers) -> Any:
    """A port of a field; an element that extends TF or GY may name the domains of `p1` and `p2` so."""
    short = name[len(element.name) + 1 :]
    if element.kind in ("TF", "GY") and short in ("p1", "p2"):
        port = element.ports()[0 if short == "p1" else 1]
    elif element.kind == "field":
        port = ElementPort(element, len(element.ports()), short)
        element.ports().append(port)
    else:
        text = f"`{element.type_name}` extends `{element.kind}` and has that element's ports"
        element.ctx.report.add(error("classes/section", text, member.component.span, hint="remove this port."))
        return POISON
    port.domain, port.layers, port.member = domain, layers, member
    port.lock = text_attribute(layers, "causality", LOCKS)
    return port


def domain_name(target: Target) -> str | None:
    """The full name of a domain; an alias (`domain E = Electrical`) means the same."""
    while isinstance(target, Definition):
        if target.node.kind == "domain" and target.node.short is None:
            return target.name
        bases = target.bases()
        if target.node.short is None or not bases:
            return None
        target = bases[0].target
    return None


def domain_names(definition: Definition) -> set[str]:
    found = set[str]()
    for name in definition.visible():
        target = definition.lookup(name)
        if target is not None and (domain_name(target) or target is ANY):
            found.add(name)
    return found


def attribute(layers: Layers, ident: str) -> Any:
    """A known attribute of a port or element, None when it is not given."""
    found = children(layers, ident)
    if not found:
        return None
    ctx = None
    binding = None
    for layer in found:
        if layer.binding is not None:
            ctx = layer.binding.scope.ctx
            binding = outermost(found, ctx.report)
            break
    if binding is None or ctx is None:
        return None
    if not binding.levels:
        value = translate_constant(binding.expression, binding.scope, ctx.report)
    else:
        value = binding.value(0, ident)
    if value is None or value.shape:
        return None
    return value.items[0]


def text_attribute(layers: Layers, ident: str, choices: tuple[str, ...]) -> str | None:
    """An attribute that is one of several texts."""
    text = attribute(layers, ident)
    if text is None:
        return None
    if text not in choices:
        binding = next(m.binding for m in children(layers, ident) if m.binding is not None)
        listed = " or ".join(f'`"{choice}"`' for choice in choices)
        binding.scope.ctx.report.add(error("types/choice", f"`{ident}` is {listed}", binding.span, label="not this"))
        return None
    return str(text)
