"""Single findings in words: why a bond has its stroke, what a path multiplies by, what closes a loop."""

from bglang.causality.result import Causality, Loop, PortKey, Reason
from bglang.causality.wording import bond_name, listed
from bglang.graph.ir import BondGraph, Element

STORED = {"C": "q", "I": "p"}
CLASS_TEXT = {
    1: "through a dependent storage",
    2: "between resistive ports",
    3: "from a resistive port back to itself",
    4: "inside the junction structure",
    5: "inside the junction structure, over efforts and flows of the same bonds",
}


def state_names(graph: BondGraph, causality: Causality) -> list[str]:
    """The stored variable of every independent storage: `mass.p`, `gap.mag.q`."""
    return [state_name(graph, key) for key in causality.independent]


def input_names(graph: BondGraph) -> list[str]:
    return [f"{e.name}.{'e' if e.kind == 'Se' else 'f'}" for e in graph.elements if e.kind in ("Se", "Sf")]


def signal_states(graph: BondGraph) -> list[str]:
    """Variables that are states because an equation gives their `der`."""
    found: dict[str, None] = {}
    for eq in graph.equations:
        for side in (eq.left, eq.right):
            if isinstance(side, tuple) and side[0] == "der" and isinstance(side[1], tuple) and side[1][0] == "v":
                found[side[1][1]] = None
    return list(found)


def state_name(graph: BondGraph, key: PortKey) -> str:
    e = graph.elements[key[0]]
    return e.variable(key[1], STORED[e.ports[key[1]].kind])


def bond_line(graph: BondGraph, bond: int) -> str:
    span = graph.bonds[bond].span
    return f"line {span.line}" if span.source.text else "not written in the source"


def element_line(e: Element) -> str:
    return f"line {e.span.line}" if e.span.source.text else "not written in the source"


def reason_text(graph: BondGraph, causality: Causality, bond: int) -> str:
    """Why this bond has its stroke, in one sentence."""
    reason = causality.reasons[bond]
    e = graph.elements[reason.element] if reason.element >= 0 else None
    if reason.rule == "locked":
        return (
            "the source draws this stroke" if e is None else f"the source gives the port of `{e.name}` this causality"
        )
    if reason.rule == "conflict":
        return "no stroke fits: see the conflict" + (f" at `{e.name}`" if e is not None else "")
    if reason.rule == "artificial" and e is not None:
        return f"an artificial source is attached to `{e.name}`"
    if e is None:
        return "nothing decides it; either end would do"
    if reason.rule in ("junction", "transformer", "gyrator"):
        return _followed(graph, causality, reason, e)
    return _decided(e, reason)


def _decided(e: Element, reason: Reason) -> str:
    if reason.rule == "source":
        return f"`{e.name}` is {'an effort' if e.kind == 'Se' else 'a flow'} source"
    if reason.rule == "fixed":
        if e.kind in ("TF", "GY"):
            return f"the modulus of `{e.name}` is 0, and only this direction does not divide by it"
        if any(law.gain is not None for law in e.laws):
            return f"`{e.name}` has {e.kind} = 0, and only this direction does not divide by it"
        return f"the law of `{e.name}` cannot be used in the other direction"
    if reason.rule == "kept":
        return f"`{e.name}` is to stay independent, in integral causality"
    if reason.rule == "preferred":
        return f"`{e.name}` is a storage, which takes integral causality where it can"
    return f"nothing else decides it, and the law of `{e.name}` is written in this direction"


def _followed(graph: BondGraph, causality: Causality, reason: Reason, e: Element) -> str:
    names = [f"`{bond_name(graph, graph.bonds[b])}`" for b in reason.because]
    if reason.rule == "transformer":
        if not names:
            return f"the modulus of `{e.name}` varies, and in this direction it need not be divided by"
        return f"`{e.name}` is a transformer, and {names[0]} brings the effort or the flow on its other side"
    if reason.rule == "gyrator":
        if not names:
            return f"the modulus of `{e.name}` varies, and in this direction it need not be divided by"
        return f"`{e.name}` is a gyrator, which has both strokes at itself or none, like {names[0]}"
    what = "effort" if e.kind == "J0" else "flow"
    if not names:
        return f"it is the only bond of `{e.name}`, which needs its {what} from somewhere"
    if len(names) == 1 and _claims(graph, causality, reason.because[0], e):
        return f"`{e.name}` has its {what} from {names[0]} already"
    do = "does" if len(names) == 1 else "do"
    return f"`{e.name}` needs its {what} from one bond, and {listed(names, 4)} {do} not bring it"


def _claims(graph: BondGraph, causality: Causality, bond: int, junction: Element) -> bool:
    """Does this bond set the common variable of the junction?"""
    b = graph.bonds[bond]
    if not causality.strokes[bond]:
        return True  # it did, before a second one came
    at_junction = causality.strokes[bond] == ("head" if b.head.element == junction.id else "tail")
    return at_junction == (junction.kind == "J0")


def path_gain(gains: list[str]) -> str:
    """The product of the steps: signs are counted, factors are written one behind the other."""
    sign = sum(g.startswith("-") for g in gains) % 2
    top: list[str] = []
    bottom: list[str] = []
    for g in (g.removeprefix("-") for g in gains):
        if g.startswith("1/"):
            bottom.append(g[2:])
        elif g != "1":
            top.append(g)
    text = "*".join(top) or "1"
    if bottom:
        text += "/" + (bottom[0] if len(bottom) == 1 else f"({'*'.join(bottom)})")
    return ("-" if sign else "") + text


def loop_text(graph: BondGraph, loop: Loop) -> str:
    names = listed([graph.elements[n].name for n in loop.elements], 12)
    text = f"{CLASS_TEXT[loop.zero_order_class]}: {names}"
    if loop.closed_by:
        text += "; closed by the law" + ("s" if len(loop.closed_by) > 1 else "") + " of "
        text += listed([graph.elements[n].name for n in loop.closed_by])
    return text
