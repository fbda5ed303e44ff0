"""Displacements, momenta and energies that exist because somebody asks for them: integrals of flows, efforts,
powers."""

from bglang.elaborate.attributes import Attributes, letter_layers, scalar_attributes
from bglang.elaborate.modifications import Layers
from bglang.elaborate.objects import ElementObject, ElementPort, NamedBond, Port
from bglang.elaborate.output import Output
from bglang.elaborate.values import Value
from bglang.graph import ir
from bglang.records import replace
from bglang.source import Span


def write_integral(name: str, rate: str, attributes: Attributes, span: Span, output: Output) -> None:
    output.variables.append(
        ir.Variable(
            name, "displacement", "Real", attributes.unit, "", attributes.start, attributes.nominal, attributes.minimum,
            attributes.maximum, span, attributes.display_unit,
        )
    )  # fmt: skip
    output.equations.append(ir.Equation(("der", ("v", name)), ("v", rate), name.rpartition(".")[0], span))


def write_junction_integral(element: ElementObject, output: Output) -> None:
    """The displacement of a J1 or the momentum of a J0, where something speaks of it."""
    letter, common = ("q", "f") if element.kind == "J1" else ("p", "e")
    layers = letter_layers(element.layers, letter)
    if layers or element.demanded:
        attributes = scalar_attributes(layers, element.ctx)
        write_integral(f"{element.name}.{letter}", f"{element.name}.{common}", attributes, element.span, output)


def port_letter_layers(port: ElementPort, letter: str) -> Layers:
    """What is said about a variable of a field's port; of an only port also under the element's own name."""
    layers = letter_layers(port.layers, letter)
    inner = port.element.inner
    if len(port.element.ports()) == 1 and inner is not None and letter not in inner.body.members:
        layers = (*letter_layers(port.element.layers, letter), *layers)
    return tuple(layer for layer in layers if layer.children)


def write_port_integrals(element: ElementObject, output: Output) -> None:
    """q or p of a field's port that does not store them: an integral, as of any junction."""
    for port in element.ports():
        state = {"C": "q", "I": "p"}.get(port.kind, "")
        for letter in sorted(port.reads - {state}):
            rate = "f" if letter == "q" else "e"
            attributes = scalar_attributes(port_letter_layers(port, letter), element.ctx)
            write_integral(f"{port.full_name}.{letter}", f"{port.full_name}.{rate}", attributes, element.span, output)


def write_demanded(thing: Port | NamedBond, output: Output) -> None:
    """q, p and energy of a named bond or port, where something speaks of them."""
    layers = thing.layers if isinstance(thing, Port) else ()
    if not layers and not thing.demanded:
        return
    for letter, rate in (("q", "f"), ("p", "e"), ("energy", "power")):
        if letter == "q" and isinstance(thing, Port) and thing.displacement is not None:
            continue  # the class says what it is, and has taken its start
        said = letter_layers(layers, letter)
        if letter in thing.demanded or said:
            attributes = scalar_attributes(said, output.ctx)
            write_integral(f"{thing.name}.{letter}", f"{thing.name}.{rate}", attributes, thing.span, output)


def write_port_starts(ports: list[Port], output: Output) -> None:
    """Starts given to an open port belong to the junction behind it."""
    for port in ports:
        if port.alias is None or not port.layers:
            continue
        for letter in "qp":
            layers = letter_layers(port.layers, letter)
            value = port.attribute(letter) if layers else None
            if isinstance(value, Value) and isinstance(value.items[0], tuple):
                name = value.items[0][1]
                attributes = scalar_attributes(layers, output.ctx)
                place = next((k for k, v in enumerate(output.variables) if v.name == name), None)
                if place is None:
                    rate = name[:-1] + ("f" if letter == "q" else "e")
                    write_integral(name, rate, attributes, port.span, output)
                elif attributes.start is not None:
                    output.variables[place] = replace(output.variables[place], start=attributes.start)
