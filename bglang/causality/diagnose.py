"""Contradictions told in the words of the model: both causes with their lines, and a hint that works when followed."""

from bglang.causality.degenerate import Undetermined
from bglang.causality.propagate import Clash, Strokes
from bglang.causality.result import Conflict, Reason
from bglang.causality.structure import J0, J1, OTHER, TF, Structure
from bglang.causality.wording import listed
from bglang.diagnostics import Diagnostic, Label, error, warning
from bglang.expr import leaves
from bglang.graph.ir import Element
from bglang.records import dataclass
from bglang.source import Span

COMMON = {J0: "effort", J1: "flow"}
KIND_NAME = {J0: "0-junction", J1: "1-junction"}
STORE = {J0: "a compliance", J1: "an inertia"}


@dataclass(frozen=True, slots=True)
class Cause:
    """Where a stroke comes from in the end: the bond that was decided, and why (element -1: a drawn stroke)."""

    bond: int
    reason: Reason


def cause_of(strokes: Strokes, bond: int) -> Cause:
    """Follows the reasons back to a decision."""
    seen: set[int] = set()
    while bond not in seen:
        seen.add(bond)
        reason = strokes.reason[bond]
        assert reason is not None
        if not reason.because:
            return Cause(bond, reason)
        bond = reason.because[0]
    return Cause(bond, Reason("arbitrary", -1))


def explain_clash(s: Structure, strokes: Strokes, clash: Clash) -> Conflict:
    """The diagnostic of one contradiction."""
    clash = _normal(s, strokes, clash)
    if clash.how == "never":
        return _never(s, strokes, clash)
    causes = [cause_of(strokes, clash.first), cause_of(strokes, clash.second)]
    if clash.second in strokes.refused:
        causes[1] = Cause(clash.second, strokes.refused[clash.second])
    locked = next((c for c in reversed(causes) if c.reason.rule == "locked"), None)
    if locked is not None:
        return _locked(s, clash, causes, locked)
    if clash.how == "twice":
        return _twice(s, clash, causes)
    return _opposite(s, clash, causes)


def _normal(s: Structure, strokes: Strokes, clash: Clash) -> Clash:
    """A demand that came too late is a contradiction at the node from which the present stroke came."""
    if clash.how != "demand":
        return clash
    reason = strokes.reason[clash.second]
    assert reason is not None
    if not reason.because:
        return clash
    n = reason.element
    if s.kind[n] in (J0, J1):
        if strokes.strong[n] >= 0 and strokes.strong[n] != clash.second:
            return Clash(n, "twice", strokes.strong[n], clash.second)
        return Clash(n, "never", reason.because[0], clash.second)
    return Clash(n, "opposite", reason.because[0], clash.second)


def _twice(s: Structure, clash: Clash, causes: list[Cause]) -> Conflict:
    n, what = clash.node, COMMON[s.kind[clash.node]]
    name = s.graph.elements[n].name
    series = "in series with" if what == "effort" else "in parallel with"
    made = _make(
        s,
        causes,
        "causality/conflict",
        f"two elements both set the {what} of `{name}`",
        _bond_span(s, clash.second),
        label="would set it a second time",
        related=(Label(_bond_span(s, clash.first), f"already sets the {what} of `{name}`"),),
        reason=f"{_both(s, causes)}, and `{name}` is a {KIND_NAME[s.kind[n]]}, "
        f"which takes its {what} from exactly one bond.",
        hint=f"put a resistance {series} one of them.",
        component=name,
    )
    return Conflict(n, (clash.first, clash.second), _signal_driven(s, causes), made)


def _never(s: Structure, strokes: Strokes, clash: Clash) -> Conflict:
    n, kind = clash.node, s.kind[clash.node]
    what, name = COMMON[kind], s.graph.elements[n].name
    bonds = list(dict.fromkeys(h >> 1 for h in s.halves[n]))
    causes = [Cause(b, strokes.refused[b]) if b in strokes.refused else cause_of(strokes, b) for b in bonds]
    locked = next((c for c in causes if c.reason.rule == "locked"), None)
    if locked is not None:
        return _locked(s, clash, causes, locked)
    other = "effort" if what == "flow" else "flow"
    last = bonds[-1]
    made = _make(
        s,
        causes,
        "causality/unset",
        f"nothing sets the {what} of `{name}`",
        s.graph.elements[n].span,
        label=f"takes its {what} from exactly one bond",
        related=tuple(Label(_bond_span(s, b), f"brings the {other}") for b in bonds[:6]),
        reason=f"{_both(s, causes)}, and `{name}` is a {KIND_NAME[kind]}: one of its bonds has to bring the {what}.",
        hint=f"bond a resistance or {STORE[kind]} to `{name}`.",
        component=name,
    )
    return Conflict(n, tuple(bonds) if clash.second < 0 else (last,), _signal_driven(s, causes), made)


def _opposite(s: Structure, clash: Clash, causes: list[Cause]) -> Conflict:
    """Both ends of a TF, a GY or a bond between two elements are decided."""
    second = s.graph.bonds[clash.second]
    n = clash.node
    bonds = (clash.first, clash.second) if clash.first != clash.second else (clash.second,)
    efforts = [c for c in causes if _brings_effort(s, c)]
    how = "in series with" if efforts else "in parallel with"
    hint = f"put a resistance {how} `{_who(s, (efforts or causes)[-1])}`."
    if s.kind[n] == OTHER:
        one, two = (s.graph.elements[end.element].name for end in (second.tail, second.head))
        message = f"`{one}` and `{two}` both set the {'effort' if efforts else 'flow'} of one bond"
        tail = "and they are bonded to each other."
    else:
        word = "transformer" if s.kind[n] == TF else "gyrator"
        message = f"both sides of `{s.graph.elements[n].name}` are set"
        tail = f"and `{s.graph.elements[n].name}` is a {word}: what one side brings decides the other."
    made = _make(
        s,
        causes,
        "causality/conflict",
        message,
        _bond_span(s, clash.second),
        label="comes in from this side",
        related=(Label(_bond_span(s, clash.first), "and from this one"),) if clash.first != clash.second else (),
        reason=f"{_both(s, causes)}, {tail}",
        hint=hint,
        component=s.graph.elements[n].name if n >= 0 else "",
    )
    return Conflict(n, bonds, _signal_driven(s, causes), made)


def _locked(s: Structure, clash: Clash, causes: list[Cause], locked: Cause) -> Conflict:
    others = [c for c in causes if c is not locked]
    bond = s.graph.bonds[locked.bond]
    drawn = bond.stroke is not None and locked.reason.element < 0 and "|" in bond.span.text  # `->|`, not a port's lock
    ports = " or ".join(f"`{name}`" for name in bond.names)
    what = "the causal stroke drawn here" if drawn else f"the causality given to the port {ports}".rstrip()
    related = tuple(Label(_cause_span(s, c), _short(s, c)) for c in others[:4])
    listed = _both(s, others) if others else "The rules of its junction"
    made = error(
        "causality/locked",
        f"{what} cannot hold",
        bond.span,
        label="asks for an effort " + ("at the head" if _side(s, locked) else "at the tail"),
        related=related,
        reason=f"{listed}: {'that decides' if len(others) == 1 else 'together they decide'} this bond the other way.",
        hint="draw a plain `->` here." if drawn else "leave the causality of the port open.",
        component=s.graph.elements[clash.node].name if clash.node >= 0 else "",
    )
    return Conflict(clash.node, (locked.bond,), False, made)


def explain_open(s: Structure, found: Undetermined) -> Conflict:
    """A singular ring: what goes round in it, or what all of it has in common, is not determined."""
    elements = s.graph.elements
    if found.junctions:
        names = [f"`{elements[n].name}`" for n in found.junctions]
        efforts = [n for n in found.junctions if s.kind[n] == J0]
        first = elements[(efforts or list(found.junctions))[0]]
        what = COMMON[s.kind[first.id]]
        mixed = len({s.kind[n] for n in found.junctions}) > 1
        message = f"nothing determines {'efforts and flows' if mixed else f'the {what}s'} of {listed(names)}"
        if len(names) == 1:
            message = f"nothing determines the {what} of {names[0]}"
        reason = (
            "They depend on each other only, so that all of them may change together and every equation still holds."
            if len(names) > 1
            else "Everything around it holds whatever it is."
        )
        level = "Se(e = 0)" if what == "effort" else "Sf(f = 0)"
        hint = f"bond an `{level}` to `{first.name}`, to say from where {what}s are counted, or a resistance."
        spans = [elements[n].span for n in found.junctions]
        made = error(
            "causality/open",
            message,
            spans[0],
            label="is not determined",
            related=tuple(Label(x, "nor is this") for x in spans[1:6]),
            reason=reason,
            hint=hint,
            component=first.name,
        )
        return Conflict(first.id, found.bonds, False, made)
    nodes = list(dict.fromkeys(s.node[h] for b in found.bonds for h in (2 * b, 2 * b + 1)))
    junctions = [n for n in nodes if s.kind[n] in (J0, J1)]
    kind = s.kind[junctions[0]]
    other = "flow" if kind == J0 else "effort"
    same = all(s.kind[n] == kind for n in nodes)
    ring = f"a ring of {KIND_NAME[kind]}s" if same else "a ring with a loop gain of 1"
    spans = [_bond_span(s, b) for b in found.bonds]
    made = error(
        "causality/ring",
        f"{listed([f'`{elements[n].name}`' for n in junctions])} form {ring}",
        spans[-1],
        label="closes the ring",
        related=tuple(Label(x, "belongs to it") for x in spans[:-1][:5]),
        reason=f"A {other} that goes round in the ring changes nothing outside it, so nothing determines it.",
        hint="remove one of these bonds.",
        component=elements[junctions[0]].name,
    )
    return Conflict(junctions[0], found.bonds, False, made)


def _make(
    s: Structure,
    causes: list[Cause],
    code: str,
    message: str,
    span: Span,
    *,
    label: str,
    related: tuple[Label, ...],
    reason: str,
    hint: str,
    component: str,
) -> Diagnostic:
    """An error; a warning where a source follows a signal, because then the equations may have a solution."""
    make = warning if _signal_driven(s, causes) else error
    if make is warning:
        reason += " One of these sources follows other variables, so the equations are kept and solved together."
    return make(code, message, span, label=label, related=related, reason=reason, hint=hint, component=component)


def _signal_driven(s: Structure, causes: list[Cause]) -> bool:
    """Does one of the sources read other variables?  Then its value may fit what the others set."""
    for c in causes:
        if c.reason.element >= 0 and c.reason.rule in ("source", "fixed"):
            e = s.graph.elements[c.reason.element]
            own = "" if e.kind in ("Se", "Sf") else e.name + "."
            reads = [leaf[1] for law in e.laws for leaf in leaves(law.value) if leaf[0] == "v"]
            if any(not own or not name.startswith(own) for name in reads):
                return True
    return False


def _brings_effort(s: Structure, cause: Cause) -> bool:
    if cause.reason.element < 0:
        return False
    e = s.graph.elements[cause.reason.element]
    return e.kind == "Se" or (e.kind in ("R", "C") and any(law.gives == "e" for law in e.laws))


def _who(s: Structure, cause: Cause) -> str:
    if cause.reason.element >= 0:
        return s.graph.elements[cause.reason.element].name
    bond = s.graph.bonds[cause.bond]
    return s.graph.elements[bond.tail.element].name


def _what(e: Element) -> str:
    if e.kind == "Se":
        return "an effort source"
    if e.kind == "Sf":
        return "a flow source"
    if e.kind in ("J0", "J1"):
        return "a junction with one bond"
    gain = next((law.gain for law in e.laws if law.gain is not None), e.modulus)
    if gain is not None:
        letter = {"TF": "m", "GY": "r"}.get(e.kind, e.kind)
        return f"an element with {letter} = 0"
    given = next((law.gives for law in e.laws if law.gives), "e")
    return f"an element whose law gives its {'effort' if given == 'e' else 'flow'} whatever comes"


def _short(s: Structure, cause: Cause) -> str:
    if cause.reason.element < 0:
        return "a stroke is drawn here"
    return f"`{_who(s, cause)}` is {_what(s.graph.elements[cause.reason.element])}"


def _both(s: Structure, causes: list[Cause]) -> str:
    """`a` and `b` are both effort sources; or each by itself."""
    unique = list({(c.reason.element, c.bond if c.reason.element < 0 else -1): c for c in causes}.values())
    kinds = {_what(s.graph.elements[c.reason.element]) if c.reason.element >= 0 else "stroke" for c in unique}
    names = [f"`{_who(s, c)}`" for c in unique]
    if len(unique) > 1 and len(kinds) == 1 and kinds <= {"an effort source", "a flow source"}:
        word = kinds.pop().split(" ", 1)[1] + "s"
        return f"{listed(names)} are {'both' if len(names) == 2 else 'all'} {word}"
    return listed([_short(s, c) for c in unique])


def _bond_span(s: Structure, bond: int) -> Span:
    return s.graph.bonds[bond].span


def _cause_span(s: Structure, cause: Cause) -> Span:
    if cause.reason.element >= 0:
        return s.graph.elements[cause.reason.element].span
    return s.graph.bonds[cause.bond].span


def _side(s: Structure, cause: Cause) -> bool:
    bond = s.graph.bonds[cause.bond]
    if bond.stroke is not None and cause.reason.element < 0:
        return bond.stroke == "head"
    for end, head in ((bond.tail, False), (bond.head, True)):
        if end.element == cause.reason.element:
            lock = s.graph.elements[end.element].ports[end.port].lock
            return head if lock == "effort_in" else not head
    return True
