"""Bonds of the flat graph: a port is transparent, so the bonds on its two sides are one; then signs, strokes and
ports."""

from typing import Any, TypeAlias

from bglang.diagnostics import Label, Report, error, warning
from bglang.elaborate.bonds import INNER, RawBond, Stroke
from bglang.elaborate.objects import ElementObject, Port, variable
from bglang.elaborate.values import CONSTANT, Value
from bglang.graph.ir import End
from bglang.source import Span

Wire: TypeAlias = RawBond
"""A bond of the flat graph: both of its ends are elements."""


def connect(bonds: list[RawBond], ports: list[Port], report: Report, complete: bool) -> list[Wire]:
    """Join raw bonds through ports.  Open ports leave nothing; what their variables mean then is noted in them."""
    check_ports(ports, bonds, report, complete)
    wires = list[Wire]()
    done = [False] * len(bonds)
    for number, bond in enumerate(bonds):
        if done[number]:
            continue
        if type(bond.tail) is ElementObject and type(bond.head) is ElementObject:
            wires.append(bond)
            continue
        wire_or_none = follow(number, bonds, done, report)
        if wire_or_none is not None:
            wires.append(wire_or_none)
    return wires


def follow(number: int, bonds: list[RawBond], done: list[bool], report: Report) -> Wire | None:
    """The whole bond that a piece belongs to, from the tail to the head; None if it ends in an open port."""
    pieces: list[RawBond | Port] = [bonds[number]]
    done[number] = True
    for backwards in (True, False):
        piece = bonds[number]
        while True:
            end = piece.tail if backwards else piece.head
            if not isinstance(end, Port):
                break
            side = piece.tail_port if backwards else piece.head_port
            other = end.outer if side == INNER else end.inner
            pieces.insert(0, end) if backwards else pieces.append(end)
            if other is None or done[other]:
                break
            done[other] = True
            piece = bonds[other]
            pieces.insert(0, piece) if backwards else pieces.append(piece)
    if isinstance(pieces[0], Port) or isinstance(pieces[-1], Port):
        open_chain(pieces)
        return None
    first, last = pieces[0], pieces[-1]
    wire = RawBond(first.tail, first.tail_port, last.head, last.head_port, None, innermost(pieces))
    for piece_or_port in pieces:
        if isinstance(piece_or_port, Port):
            wire.names = (*wire.names, piece_or_port)
            wire.ports = (*wire.ports, piece_or_port)
        else:
            wire.names = (*wire.names, *piece_or_port.names)
            add_stroke(wire, piece_or_port.stroke, piece_or_port.span, report)
    for port in wire.ports:
        add_stroke(wire, locked_stroke(port, bonds), port.span, report)
    return wire


def innermost(pieces: list[RawBond | Port]) -> Span:
    """The span of the piece that the outermost model draws; messages point there."""
    spans = [piece.span for piece in pieces if isinstance(piece, RawBond)]
    outer = [
        piece.span
        for piece in pieces
        if isinstance(piece, RawBond)
        and all(
            not isinstance(end, Port) or side != INNER
            for end, side in ((piece.tail, piece.tail_port), (piece.head, piece.head_port))
        )
    ]
    return (outer or spans)[0]


def locked_stroke(port: Port, bonds: list[RawBond]) -> Stroke:
    """The stroke that a port's locked causality means; it lies at the end that receives the effort."""
    if port.lock is None or port.inner is None:
        return None
    inside_at_head = bonds[port.inner].tail is port
    return "head" if (port.lock == "effort_in") == inside_at_head else "tail"


def add_stroke(wire: Wire, stroke: Stroke, span: Span, report: Report) -> None:
    if stroke is None:
        return
    if wire.stroke is not None and wire.stroke != stroke:
        report.add(
            error(
                "bonds/stroke",
                "this bond has two different causal strokes",
                span,
                related=[Label(wire.span, "the other one belongs to this part of the bond")],
                reason="The bond outside and the bond inside of a port are one bond.",
                hint="remove one of the strokes or the port's locked causality.",
            )
        )
    wire.stroke = stroke


# --- ports -----------------------------------------------------------------------------------------------------------


def check_ports(ports: list[Port], bonds: list[RawBond], report: Report, complete: bool) -> None:
    """`complete`: no bond was wrong, so a port without bond is really meant."""
    for port in ports:
        if port.inner is None:
            if not port.optional and complete:
                report.add(
                    error(
                        "ports/inside",
                        f"the port `{port.member.ident}` of `{port.owner.definition.name}` has no bond inside",
                        port.span,
                        reason="A port is where a bond passes through; it needs exactly one bond inside.",
                        hint=f"bond it in `{port.owner.definition.name}`, or remove it.",
                    )
                )
        elif port.outer is not None:
            check_direction(port, bonds, report)
        elif not port.optional and complete:
            warn_open(port, bonds, report)


def check_direction(port: Port, bonds: list[RawBond], report: Report) -> None:
    """Outside and inside are one bond: the arrows must agree."""
    assert port.inner is not None and port.outer is not None
    inner, outer = bonds[port.inner], bonds[port.outer]
    if (inner.head is port and inner.head_port == INNER) != (outer.head is port and outer.head_port != INNER):
        return
    report.add(
        error(
            "ports/direction",
            f"the arrows outside and inside of `{port.name}` disagree",
            outer.span,
            label="drawn this way outside",
            related=[Label(inner.span, "and this way inside")],
            reason="A port is transparent: the bond outside and the bond inside are one bond with one arrow.",
            hint="turn the arrow outside.",
        )
    )
    port.outer = None  # the two pieces are not joined; one mistake is one message
    port.optional = True
    if outer.tail is port:
        outer.tail = Port(port.ctx, port.name, port.owner, port.member, ())
    else:
        outer.head = Port(port.ctx, port.name, port.owner, port.member, ())


def neighbour(port: Port, bonds: list[RawBond]) -> ElementObject | Port | None:
    """What the bond inside an open port leads to."""
    seen = 0
    number = port.inner
    here: Port = port
    while number is not None and seen < 1000:
        bond = bonds[number]
        end = bond.head if bond.tail is here else bond.tail
        if isinstance(end, ElementObject):
            return end
        side = bond.head_port if bond.tail is here else bond.tail_port
        here, number = end, (end.outer if side == INNER else end.inner)
        seen += 1
    return None


def warn_open(port: Port, bonds: list[RawBond], report: Report) -> None:
    end = neighbour(port, bonds)
    if not isinstance(end, ElementObject):
        return
    if not end.junction:
        report_open(port, end, report)
        return
    meaning = "no effort acts there" if end.kind == "J1" else "no flow passes there"
    report.add(
        warning(
            "ports/open",
            f"the port `{port.name}` is open: {meaning}",
            port.owner.member.declarator.span if port.owner.member is not None else port.span,
            reason=f"Inside it leads to the {'1' if end.kind == 'J1' else '0'}-junction `{end.name}`.",
            hint="bond it, or declare it with `(optional = true)` if that is meant.",
            component=port.name,
        )
    )


def report_open(port: Port, end: ElementObject, report: Report) -> None:
    """An element has its bond only through this port."""
    report.add(
        error(
            "ports/open",
            f"nothing is bonded to the port `{port.name}`",
            port.owner.member.declarator.span if port.owner.member is not None else port.span,
            related=[Label(end.span, "the element that it leads to")],
            reason=f"Inside it leads to `{end.name}`, which takes part only through its bond.",
            hint="bond it: `Se(e = 0)` at the port lets it move freely, `Sf(f = 0)` holds it.",
            component=port.name,
        )
    )


def open_chain(pieces: list[RawBond | Port]) -> None:
    """A bond that ends in an open port is none.  Its port still reads like the node it leads to."""
    element: ElementObject | None = None
    for piece in pieces:
        if isinstance(piece, RawBond):
            for end, place in ((piece.tail, piece.tail_port), (piece.head, piece.head_port)):
                if isinstance(end, ElementObject):
                    element = end
                    release(end, place)
    for piece in pieces:
        if isinstance(piece, Port):
            piece.alias = aliases(element)
        else:
            for name in piece.names:
                name.alias = aliases(element)


def release(element: ElementObject, place: int) -> None:
    """An element loses the bond that is none."""
    if not element.junction:
        if element.kind in ("TF", "GY", "field"):
            element.bonds[place] = -1
        else:
            element.bonds.clear()


ZERO = Value("Real", (), (0.0,), CONSTANT)


def aliases(element: ElementObject | None) -> dict[str, Any]:
    """Variables of an open port: the common variable of its junction, zero for the other."""
    if element is None or not element.junction:
        return {}
    common, other, integral, lost = ("f", "e", "q", "p") if element.kind == "J1" else ("e", "f", "p", "q")
    name = element.name
    return {
        common: lambda _: variable(f"{name}.{common}"),
        other: lambda _: ZERO,
        "power": lambda _: ZERO,
        "energy": lambda _: ZERO,
        integral: lambda letter: element.demand(letter),
        lost: lambda _: ZERO,
    }


# --- signs -----------------------------------------------------------------------------------------------------------


def end_of(element: ElementObject, port: int, at_head: bool, other: ElementObject) -> End:
    """How the port's own e and f follow from the bond's."""
    kind = element.kind
    if kind in FOLLOW_THE_ARROW:
        return End(element.number, port)
    if at_head if port == 0 or (kind != "TF" and kind != "GY") else not at_head:
        return End(element.number, port)
    return End(element.number, port, -1, 1) if other.kind == "J1" else End(element.number, port, 1, -1)


FOLLOW_THE_ARROW = frozenset({"J1", "J0", "Se", "Sf"})
