"""Suggestions for misspelt names, as hints of diagnostics."""

from collections.abc import Iterable

from bglang.suggest import did_you_mean

__all__ = ["did_you_mean", "listed"]


FOREIGN_CLASSES = {
    **dict.fromkeys(("double", "float", "single", "number", "var", "variable"), "the type of numbers is `Real`."),
    **dict.fromkeys(("int", "uint", "long"), "the type of whole numbers is `Integer`."),
    **dict.fromkeys(("bool", "logical"), "the type of conditions is `Boolean`."),
    **dict.fromkeys(("str", "text", "char"), "the type of texts is `String`."),
    **dict.fromkeys(
        ("onejunction", "one_junction", "junction1", "junction_1", "one", "j_1", "seriesjunction"),
        "the 1-junction is `J1`.",
    ),
    **dict.fromkeys(
        ("zerojunction", "zero_junction", "junction0", "junction_0", "zero", "j_0", "paralleljunction"),
        "the 0-junction is `J0`.",
    ),
    **dict.fromkeys(
        ("ground", "earth"), "nothing is grounded in a bond graph: leave it out; `Se(e = 0)` is a zero effort."
    ),
    **dict.fromkeys(("fixed", "wall", "frame"), "what does not move is a flow of zero: `Sf wall(f = 0);`."),
    **dict.fromkeys(
        ("torque", "force", "voltage", "voltagesource", "constantvoltage", "pressuresource", "effortsource"),
        "a source of effort is `Se s(e = …);`.",
    ),
    **dict.fromkeys(
        ("current", "currentsource", "flowsource", "velocitysource", "speedsource"),
        "a source of flow is `Sf s(f = …);`.",
    ),
}
"""Classes of other tools that have another name here, in small letters."""


def listed(names: Iterable[str]) -> str:
    """What there is, where that is short enough to be read."""
    found = sorted(name for name in names if name != "0")
    return f"it has {', '.join(f'`{name}`' for name in found)}." if 0 < len(found) <= 8 else ""
