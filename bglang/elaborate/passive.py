"""Ports of outside models: they behave like ports of a passive element, not like plain openings of a subsystem.

An arrow drawn against such a port turns one sign (language rule 4), and a port that nothing is bonded to is free.  Both
are a junction put at the port: with two outgoing bonds a J1 keeps the flow and turns the effort, a J0 keeps the effort
and turns the flow; with a single bond a J1 says that no effort acts."""

from bglang.elaborate.bonds import INNER, OUTER, RawBond
from bglang.elaborate.objects import UNNAMED, ElementObject, Port
from bglang.elaborate.output import Output
from bglang.graph import ir


def settle_passive(ports: list[Port], bonds: list[RawBond]) -> list[ElementObject]:
    """Put junctions at passive ports that are open or drawn against; returns them, the new bonds are added."""
    joints = list[ElementObject]()
    for port in ports:
        if not port.passive or port.inner is None:
            continue
        if port.outer is None:
            joints.append(add_joint(port, "J1", "free", bonds))
        elif drawn_against(port, bonds):
            number = port.outer
            joint = add_joint(port, "J1" if leads_to_flow(port, bonds) else "J0", "turned", bonds)
            bonds[number].tail, bonds[number].tail_port = joint, UNNAMED
            joint.bonds.append(number)
            joints.append(joint)
    return joints


def drawn_against(port: Port, bonds: list[RawBond]) -> bool:
    """Power goes into an outside model: inside, bonds lead from the port to its nodes."""
    assert port.outer is not None
    return bonds[port.outer].tail is port


def leads_to_flow(port: Port, bonds: list[RawBond]) -> bool:
    """Whether what lies outside, found through other ports, is a 1-junction."""
    here, number = port, port.outer
    while number is not None:
        bond = bonds[number]
        forward = bond.tail is here
        end, side = (bond.head, bond.head_port) if forward else (bond.tail, bond.tail_port)
        if isinstance(end, ElementObject):
            return end.kind == "J1"
        here, number = end, (end.outer if side == INNER else end.inner)
    return False


def add_joint(port: Port, kind: str, word: str, bonds: list[RawBond]) -> ElementObject:
    """A junction outside of a port, with its bond into the port."""
    joint = ElementObject(port.ctx, f"{port.name}.{word}", kind, port.owner, port.member, (), None)
    joint.type_name = "MCK"
    span = port.owner.member.declarator.span if port.owner.member is not None else port.span
    bond = RawBond(joint, UNNAMED, port, OUTER, None, span)
    port.outer = len(bonds)
    joint.bonds.append(port.outer)
    bonds.append(bond)
    return joint


def write_displacements(ports: list[Port], output: Output) -> None:
    """The displacement of a port whose class says what it is: a result, not a state of its own."""
    for port in ports:
        if port.displacement is None:
            continue
        value = port.displacement.value(0, "displacement")
        if value is None:
            continue
        name, span = f"{port.name}.q", port.owner.member.declarator.span if port.owner.member else port.span
        output.variables.append(
            ir.Variable(name, "continuous", "Real", "", "displacement", None, None, None, None, span)
        )
        output.equations.append(ir.Equation(("v", name), value.items[0], port.name, span))
