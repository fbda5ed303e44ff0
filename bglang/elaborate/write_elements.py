"""Writing down elements, junctions and fields with their ports, starts and parameters."""

from bglang.diagnostics import warning
from bglang.elaborate.attributes import PLAIN, Attributes, letter_layers, scalar_attributes
from bglang.elaborate.domains import port_domain
from bglang.elaborate.elements import text_attribute
from bglang.elaborate.fields import Laws
from bglang.elaborate.laws import NOTHING, find_law, has_refined_parameter, sources
from bglang.elaborate.modifications import Layers, Modification
from bglang.elaborate.objects import OWN_LETTERS, PARAMETER_NAME, ElementObject, ElementPort
from bglang.elaborate.output import Output, Places
from bglang.elaborate.write_integrals import port_letter_layers, write_junction_integral, write_port_integrals
from bglang.graph import ir
from bglang.source import Span

STATES = {"C": "q", "I": "p"}


def write_element(element: ElementObject, laws: Laws, places: Places, output: Output) -> None:
    kind, number = element.kind, element.number
    prefer = False
    bonds = places.at[number]
    plain = element.inner is None and says_little(element.layers)
    if kind == "J0" or kind == "J1":
        domain = places.domains[bonds[0]] if bonds else None
        ports: tuple[ir.Port, ...] = (output.plain_port("", "", domain),) * len(bonds)
        write_junction(element, output)
    elif kind == "field":
        ports = tuple(field_port(port, places.domain(number, port.number), output) for port in element.ports())
        write_port_integrals(element, output)
    elif kind == "TF" or kind == "GY":
        ports = tuple(two_port(port, places.domain(number, port.number)) for port in element.ports())
    else:
        domain = (places.domains[bonds[0]] if bonds else None) or port_domain(element, 0)
        if plain:
            ports = (output.plain_port("", PORT_KINDS[kind], domain),)
        else:
            ports = (one_port(element, domain, output),)
            prefer = prefers(element)
    if kind != "J0" and kind != "J1" and kind != "field":
        write_parameter(element, laws, plain, output)
    if laws.equations:
        output.equations += laws.equations
    output.elements.append(
        ir.Element(
            number, element.name, kind, ports, tuple(laws.laws), laws.modulus, laws.energy, laws.symbolic, prefer,  # type: ignore[arg-type]
            element.type_name, element.member.declarator.description, element.member.declarator.span,
        )
    )  # fmt: skip


PORT_KINDS = {"R": "R", "C": "C", "I": "I", "Se": "", "Sf": ""}


def says_little(layers: Layers) -> bool:
    """Whether nothing is said about an element's variables, only a law or parameter given."""
    for layer in layers:
        for ident, child in layer.children.items():
            if child.children or ident == "prefer":
                return False
    return True


def prefers(element: ElementObject) -> bool:
    """`prefer = "independent"`"""
    if element.kind not in ("C", "I"):
        return False
    layers = tuple(s for s in sources(element) if isinstance(s, Modification))
    return text_attribute(layers, "prefer", ("independent",)) is not None


def two_port(port: ElementPort, domain: str | None) -> ir.Port:
    return ir.Port(port.name, "", domain or port.domain, lock=port.lock)  # type: ignore[arg-type]


def one_port(element: ElementObject, domain: str | None, output: Output) -> ir.Port:
    state = STATES.get(element.kind, "")
    found = PLAIN
    places = sources(element)
    for letter in OWN_LETTERS[element.kind]:
        layers = tuple(layer for layer in letter_layers(places, letter) if layer.children)
        if not layers:
            continue
        attributes = scalar_attributes(layers, element.ctx)
        name = f"{element.name}.{letter}"
        if letter == state:
            found = attributes
        else:
            write_guess(name, attributes, output)
        write_bounds(name, attributes, element.name, layers[0].span, output)
    kind = PORT_KINDS[element.kind]
    if found is PLAIN:
        return output.plain_port("", kind, domain)
    return ir.Port("", kind, domain, found.start, found.nominal)  # type: ignore[arg-type]


def field_port(port: ElementPort, domain: str | None, output: Output) -> ir.Port:
    element = port.element
    state = STATES.get(port.kind, "")
    found = PLAIN
    for letter in "efqp":
        layers = port_letter_layers(port, letter)
        if not layers:
            continue
        attributes = scalar_attributes(layers, element.ctx)
        if letter == state:
            found = attributes
        elif letter in "ef":
            write_guess(f"{port.full_name}.{letter}", attributes, output)
        else:
            port.reads.add(letter)
        write_bounds(f"{port.full_name}.{letter}", attributes, element.name, layers[0].span, output)
    kind = port.kind or "R"
    return ir.Port(port.name, kind, domain or port.domain, found.start, found.nominal, port.lock)  # type: ignore[arg-type]


def write_junction(element: ElementObject, output: Output) -> None:
    """A junction's integral, and guesses for its common variable."""
    if element.layers:
        common = "f" if element.kind == "J1" else "e"
        for layer in letter_layers(element.layers, common):
            write_guess(f"{element.name}.{common}", scalar_attributes((layer,), element.ctx), output)
    if element.layers or element.demanded:
        write_junction_integral(element, output)


def write_guess(name: str, attributes: Attributes, output: Output) -> None:
    """A start on what is no state: a guess, or an initial equation where it is fixed."""
    start = attributes.start
    if start is None:
        return
    if start.fixed:
        output.initial.append(ir.Equation(("v", name), start.value, name.rpartition(".")[0], start.span))
        return
    output.guesses.append((name, start.value))
    output.report.add(
        warning(
            "starts/no-state",
            f"`{name}` is no state: its start is only a guess",
            start.span,
            hint="give the start of a state, or add `fixed = true` to make it an initial equation.",
            component=name,
        )
    )


def write_bounds(name: str, attributes: Attributes, component: str, span: Span, output: Output) -> None:
    """`min` and `max` of an element's variable only warn."""
    for bound, op, word in ((attributes.minimum, ">=", "below its min"), (attributes.maximum, "<=", "above its max")):
        if bound is not None:
            text = f"`{name}` is {word}"
            output.assertions.append(ir.Assertion((op, ("v", name), bound), text, "warning", component, span))


def write_parameter(element: ElementObject, laws: Laws, plain: bool, output: Output) -> None:
    """R, C, I, m or r of an element as a parameter of the run."""
    gain = laws.modulus if element.kind in ("TF", "GY") else laws.laws[0].gain if laws.laws else None
    if not isinstance(gain, tuple) or gain[0] != "p" or has_refined_parameter(element):
        return
    found = find_law(element)
    ident = PARAMETER_NAME.get(element.kind) or ("E" if element.kind == "Se" else "F")
    name = gain[1]
    if name != f"{element.name}.{ident}":
        return  # the modulation itself is another parameter
    binding = found.binding
    value = None
    if binding is not None:
        bound = binding.value(0, ident)
        value = bound.items[0] if bound is not None else None
    attributes = PLAIN if plain else scalar_attributes(letter_layers(sources(element), ident), output.ctx)
    span = element.span if found is NOTHING else found.span
    output.parameters.append(
        ir.Parameter(
            name, value, "Real", attributes.unit, "", binding is not None and binding.final,
            name in output.ctx.structural, True, attributes.minimum, attributes.maximum, span, "",
            attributes.display_unit,
        )
    )  # fmt: skip
