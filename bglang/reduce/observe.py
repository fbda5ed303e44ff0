"""What went stays observable: its variables are defined by what is left."""

from bglang.expr import Expr, call, product, total, var
from bglang.graph.ir import Bond, Element
from bglang.reduce.edit import Edit
from bglang.reduce.live import signals_of
from bglang.reduce.members import Member
from bglang.reduce.polynomials import to_expression
from bglang.reduce.trace import Combination, Tracer


def written(tracer: Tracer, combination: Combination) -> Expr:
    """A combination in terms of what the elements give."""
    return total(to_expression(gain, [var(tracer.gives(port))]) for port, gain in combination.items())


def define_storage(edit: Edit, member: Member, given: Expr, content: Expr) -> None:
    """f, p, e and power of a storage that went (e, q, f of a C)."""
    rate = member.state[:-1] + ("f" if member.given.endswith("e") else "e")
    edit.define(member.given, given)
    edit.define(member.state, content)
    edit.define(rate, ("der", var(member.state)))
    edit.define(f"{member.name}.power", product([var(f"{member.name}.e"), var(f"{member.name}.f")]))


def define_branch(edit: Edit, tracer: Tracer, nodes: list[Element], bonds: list[Bond]) -> None:
    """Junctions, transformers, gyrators and named bonds that went with a storage."""
    for node in nodes:
        if node.kind in ("J0", "J1"):
            letter = "f" if node.kind == "J1" else "e"
            edit.define(
                f"{node.name}.{letter}", written(tracer, tracer.variable(tracer.place[node.id, 0][0].id, letter))
            )
        elif node.kind in ("TF", "GY"):
            for k in (0, 1):
                _define_port(edit, tracer, node, k)
        elif node.kind in ("Se", "Sf"):
            _define_source(edit, tracer, node, tracer.place[node.id, 0][0])
    for bond in bonds:
        for name in bond.names:
            for letter in ("e", "f"):
                edit.define(f"{name}.{letter}", written(tracer, tracer.variable(bond.id, letter)))
            edit.define(f"{name}.power", product([var(f"{name}.e"), var(f"{name}.f")]))


def _define_source(edit: Edit, tracer: Tracer, node: Element, bond: Bond) -> None:
    """What it sets, and what it meets; its power counts what it delivers, along the arrow where it drives."""
    given, met = ("e", "f") if node.kind == "Se" else ("f", "e")
    edit.define(f"{node.name}.{given}", node.laws[0].value)
    edit.define(f"{node.name}.{met}", written(tracer, tracer.variable(bond.id, met)))
    power = product([var(f"{node.name}.e"), var(f"{node.name}.f")])
    edit.define(f"{node.name}.power", power if bond.tail.element == node.id else call("neg", power))


def _define_port(edit: Edit, tracer: Tracer, node: Element, port: int) -> None:
    bond, end = tracer.place[node.id, port]
    for letter, sign in (("e", end.e_sign), ("f", end.f_sign)):
        value = written(tracer, tracer.variable(bond.id, letter))
        edit.define(node.variable(port, letter), call("neg", value) if sign < 0 else value)
    edit.define(node.variable(port, "power"), product([var(node.variable(port, "e")), var(node.variable(port, "f"))]))


def keep_reactions(edit: Edit, tracer: Tracer, merged: list[Member]) -> None:
    """Those who look at a reaction that the merger changes see the old one: the new one and what the merged storages
    gave.  (Only equations to look at may do so; others were refused before.)"""
    touched = signals_of(tracer.graph, tracer, tracer.read) if tracer.read else {}
    if not touched:
        return
    survivors = edit.surviving()
    for member in merged:
        for signal in tracer.reaction(member.port):
            name = touched.get(signal)
            if name is None or name.rpartition(".")[0] not in survivors or name.endswith(".power"):
                continue
            gain = tracer.variable(signal >> 1, "f" if signal & 1 else "e").get(member.port)
            if gain:
                before = edit.reads.get(("v", name), var(name))
                edit.reads[("v", name)] = total([before, to_expression(gain, [var(tracer.gives(member.port))])])
