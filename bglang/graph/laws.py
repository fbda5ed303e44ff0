"""Checks of constitutive laws: what they may mention, whether storage is conservative, whether losses can lose."""

from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Any

from bglang.diagnostics import Report, error, warning
from bglang.expr import Expr
from bglang.expr.diff import diff
from bglang.expr.numbers import NotANumber, evaluate, interpolate
from bglang.expr.walk import contains, leaf_set, postorder
from bglang.graph.ir import BondGraph, Element, Law

_RELATES = {"C": ("e", "q"), "I": ("f", "p"), "R": ("e", "f")}
_PORTS = 24
"""Fields with more ports are not probed: the number of pairs grows with the square."""


def check_laws(graph: BondGraph, values: dict[str, float], report: Report) -> None:
    """`values` are the parameters that have a number; laws that need another one are not probed."""
    states = _states(graph)
    probe = _Probe(graph, values)
    for element in graph.elements:
        if element.kind in _RELATES:
            for law in element.laws:
                if not _plain(element, law):
                    _relation(element, law, report)
                    _modulation(element, law, states, report)
        if element.kind == "field" and element.energy is None and 1 < len(element.ports) <= _PORTS:
            _reciprocity(element, probe, report)
            _passivity(element, probe, report)
        _signs(element, probe, report)


def _plain(element: Element, law: Law) -> bool:
    """A law with a constant parameter has nothing that could be wrong."""
    return law.gain is not None and (not isinstance(law.gain, tuple) or law.gain[0] == "p")


# --- what a law may mention -----------------------------------------------------------------------------------------


def _relation(element: Element, law: Law, report: Report) -> None:
    """Rule of the language: C relates e and q, I f and p, R e and f, besides modulation."""
    allowed = _RELATES[element.kind]
    own = {element.variable(0, letter): letter for letter in ("e", "f", "q", "p")}
    used = sorted({own[leaf[1]] for leaf in leaf_set(law.value) if leaf[0] == "v" and leaf[1] in own} | {law.gives})
    for letter in used:
        if letter and letter not in allowed:
            report.add(
                error(
                    "laws/variable",
                    f"the law of `{element.name}` cannot use its own `{letter}`",
                    law.span,
                    reason=f"{_A[element.kind]} relates `{allowed[0]}` and `{allowed[1]}`.",
                    hint=_WRONG.get((element.kind, letter), ""),
                    component=element.name,
                )
            )

    rates = [n for n in postorder(law.value) if n[0] == "der" and n[1][0] == "v" and n[1][1] in own]
    if rates:
        letter = own[rates[0][1][1]]
        report.add(
            error(
                "laws/variable",
                f"the law of `{element.name}` cannot use the rate of its own `{letter}`",
                law.span,
                reason=f"{_A[element.kind]} relates `{allowed[0]}` and `{allowed[1]}` themselves; with a rate it would "
                "be two elements in one.",
                hint=_RATES[letter],
                component=element.name,
            )
        )


_RATES = {
    "f": "an effort that grows with the rate of the flow is that of an I on the same J1.",
    "e": "a flow that grows with the rate of the effort is that of a C on the same J0.",
    "q": "the rate of `q` is the flow: a loss beside the storage is an R of its own on the same junction.",
    "p": "the rate of `p` is the effort: a loss beside the storage is an R of its own on the same junction.",
}
_A = {"C": "A C", "I": "An I", "R": "An R"}
_WRONG = {
    ("C", "f"): "a loss beside the storage is an R of its own on the same junction.",
    ("I", "e"): "a loss beside the storage is an R of its own on the same junction.",
    ("R", "q"): "a law of the displacement is that of a C.",
    ("R", "p"): "a law of the momentum is that of an I.",
}


def _states(graph: BondGraph) -> set[str]:
    """Names of displacements, momenta and variables with a `der`: what stored energy can depend on."""
    found = {v.name for v in graph.variables if v.kind == "displacement"}
    for equation in graph.equations:
        for side in (equation.left, equation.right):
            if isinstance(side, tuple) and side[0] == "der" and side[1][0] == "v":
                found.add(side[1][1])
    for element in graph.elements:
        for k, port in enumerate(element.ports):
            if port.kind in ("C", "I"):
                found.add(element.variable(k, "q" if port.kind == "C" else "p"))
    return found


def _modulation(element: Element, law: Law, states: set[str], report: Report) -> None:
    if element.kind not in ("C", "I"):
        return
    own = f"{element.name}."
    for leaf in sorted(leaf for leaf in leaf_set(law.value) if leaf[0] == "v"):
        if leaf[1] in states and not leaf[1].startswith(own):
            report.add(
                warning(
                    "laws/modulated-storage",
                    f"the storage `{element.name}` depends on `{leaf[1]}`, which is not its own",
                    law.span,
                    reason="Changing it changes the stored energy, but no bond carries that power: energy is not "
                    "conserved.  The energy audit shows it as modulation.",
                    hint="an `element` with a port for each and one `energy` is conservative by construction.",
                    component=element.name,
                )
            )
            return


# --- probing --------------------------------------------------------------------------------------------------------


class _Probe:
    """Values of laws at points chosen at random, always the same ones."""

    def __init__(self, graph: BondGraph, values: dict[str, float]):
        self.values = values
        self.tables = {t.key: t for t in graph.tables}

    def points(self, variables: list[str]) -> Iterator[dict[str, float]]:
        source = Random(1)
        for size in (1.0, 0.1, 0.01, 1.0, 10.0, 0.3, 3.0, 1.0):
            yield {name: source.uniform(-size, size) for name in variables}

    def value(self, e: Expr, point: dict[str, float]) -> float | None:
        """None where the law has no value there or needs a parameter without one."""

        def leaf(node: tuple[Any, ...]) -> float:
            if node[0] == "t":
                return 0.5
            found = self.values.get(node[1]) if node[0] == "p" else point.get(node[1])
            if found is None:
                raise NotANumber(str(node[1]))
            return found

        def table(op: str, key: str, at: float) -> float:
            t = self.tables[key]
            x, y = [evaluate(a, leaf) for a in t.x], [evaluate(a, leaf) for a in t.y]
            return interpolate(op, (x, y), (t.method, t.outside, t.ends), at)

        try:
            return evaluate(e, leaf, table)
        except NotANumber:
            return None


def _variables(element: Element) -> list[str]:
    return sorted({leaf[1] for law in element.laws for leaf in leaf_set(law.value) if leaf[0] == "v"})


def _reciprocity(element: Element, probe: _Probe, report: Report) -> None:
    """Maxwell: the efforts of a conservative field are a gradient, so their mixed slopes are equal."""
    laws = dict[int, Law]()
    for law in element.laws:
        if law.port >= 0 and element.ports[law.port].kind in ("C", "I"):
            laws[law.port] = law
    storage = [k for k, port in enumerate(element.ports) if port.kind in ("C", "I")]
    for forward in (True, False):
        given = {"C": "e", "I": "f"} if forward else {"C": "q", "I": "p"}
        taken = {"C": "q", "I": "p"} if forward else {"C": "e", "I": "f"}
        ports = [k for k in storage if k in laws and laws[k].gives == given[element.ports[k].kind]]
        for i, j in combinations(ports, 2):
            a = diff(laws[i].value, ("v", element.variable(j, taken[element.ports[j].kind])))
            b = diff(laws[j].value, ("v", element.variable(i, taken[element.ports[i].kind])))
            if _differ(a, b, element, probe):
                _not_reciprocal(element, (i, j), (given, taken), laws[j], report)


def _differ(a: Expr, b: Expr, element: Element, probe: _Probe) -> bool:
    if not isinstance(a, tuple) and not isinstance(b, tuple):
        return abs(a - b) > 1e-9 * (abs(a) + abs(b))
    for point in probe.points(_variables(element)):
        x, y = probe.value(a, point), probe.value(b, point)
        if x is not None and y is not None and abs(x - y) > 1e-6 * (abs(x) + abs(y)):
            return True
    return False


def _not_reciprocal(
    element: Element, pair: tuple[int, int], letters: tuple[dict[str, str], dict[str, str]], law: Law, report: Report
) -> None:
    (i, j), (given, taken) = pair, letters
    ports = element.ports

    def slope(k: int, by: int) -> str:
        return f"∂{ports[k].name}.{given[ports[k].kind]}/∂{ports[by].name}.{taken[ports[by].kind]}"

    report.add(
        warning(
            "laws/not-reciprocal",
            f"the ports `{ports[i].name}` and `{ports[j].name}` of `{element.name}` are not reciprocal",
            law.span,
            reason=f"{slope(i, j)} and {slope(j, i)} differ, so going round in a circle would gain or lose energy.",
            hint="an `energy` makes a field conservative by construction.",
            component=element.name,
        )
    )


def _passivity(element: Element, probe: _Probe, report: Report) -> None:
    """The resistive ports of a field together must not give power away."""
    resistive = [law for law in element.laws if law.port >= 0 and element.ports[law.port].kind == "R"]
    count = sum(port.kind == "R" for port in element.ports)
    if not resistive or len(resistive) != count or any(law.gives not in ("e", "f") for law in resistive):
        return
    names = set(_variables(element))
    others = [element.variable(law.port, "f" if law.gives == "e" else "e") for law in resistive]
    for point in probe.points(sorted(names | set(others))):
        powers = list[float]()
        for law, other in zip(resistive, others, strict=True):
            value = probe.value(law.value, point)
            if value is None:
                break
            powers.append(value * point[other])
        else:
            if sum(powers) < -1e-9 * sum(map(abs, powers)):
                _active(element, resistive[0], report)
                return


def _active(element: Element, law: Law, report: Report) -> None:
    report.add(
        warning(
            "laws/active-resistance",
            f"the resistive field `{element.name}` can produce power",
            law.span,
            reason="For some values of its variables the sum of e*f over its ports is negative.",
            hint="check the signs of its laws; coupling terms must be opposite (gyrating) or outweighed by the losses.",
            component=element.name,
        )
    )


# --- sign -----------------------------------------------------------------------------------------------------------


def _signs(element: Element, probe: _Probe, report: Report) -> None:
    """`sign` of a resistance's own variable jumps at zero and never sticks."""
    for law in element.laws:
        kind = element.kind if element.kind != "field" else element.ports[law.port].kind if law.port >= 0 else "R"
        if kind != "R" or law.gain is not None or not contains(law.value, frozenset({"sign"})):
            continue
        own = {element.variable(k, letter) for k in range(len(element.ports)) for letter in ("e", "f")}
        for node in postorder(law.value):
            if node[0] == "sign" and isinstance(node[1], tuple) and node[1][0] == "v" and node[1][1] in own:
                if _jumps(law.value, node[1][1], probe):
                    _sign_warning(element, law, node[1][1], report)
                break


def _jumps(value: Expr, name: str, probe: _Probe) -> bool:
    """Whether the law itself jumps where its variable passes zero; `f^2*sign(f)` does not."""
    names = sorted({leaf[1] for leaf in leaf_set(value) if leaf[0] == "v"} - {name})
    point = next(probe.points(names))
    at = [probe.value(value, {**point, name: x}) for x in (1e-9, -1e-9, 1.0, -1.0)]
    if None in at:
        return True
    up, down, right, left = (x or 0.0 for x in at)
    return abs(up - down) > 1e-3 * (abs(right) + abs(left))


def _sign_warning(element: Element, law: Law, name: str, report: Report) -> None:
    letter = name.rsplit(".", 1)[1]
    report.add(
        warning(
            "laws/sign",
            f"`sign` in the law of `{element.name}` never sticks",
            law.span,
            reason="Its value jumps at zero, where a real friction takes whatever value holds it there.",
            hint=f"`coulomb({letter}, level)` sticks.",
            component=element.name,
        )
    )
