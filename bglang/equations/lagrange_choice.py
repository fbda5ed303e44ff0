"""What the user may choose about a Lagrange form; the rest comes from the experiment, or is automatic."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from bglang.causality.lagrange import default_coordinates
from bglang.diagnostics import UsageError
from bglang.equations.lagrange_stabilise import LEVELS, STABILISATIONS, Level, Rates, Stabilisation
from bglang.graph.ir import BondGraph, Experiment
from bglang.records import dataclass
from bglang.suggest import did_you_mean

T = TypeVar("T", bound=str)
NUMBERS = ("alpha", "beta", "stiffness", "damping", "epsilon")


@dataclass(frozen=True, slots=True)
class LagrangeChoice:
    """Coordinates are junctions by name.  alpha, beta: rates of ggl and baumgarte; stiffness, damping: of penalty;
    epsilon: the short time of the singular perturbation.  None: chosen from the model."""

    coordinates: tuple[str, ...]
    strong: tuple[str, ...] = ()
    level: Level = "position"
    stabilise: Stabilisation = "ggl"
    alpha: float | None = None
    beta: float | None = None
    stiffness: float | None = None
    damping: float | None = None
    epsilon: float | None = None

    @property
    def rates(self) -> Rates:
        return Rates(self.alpha, self.beta)

    @property
    def method(self) -> Literal["ggl", "baumgarte"]:
        return "baumgarte" if self.stabilise == "baumgarte" else "ggl"


def names_of(text: str | Sequence[str] | None) -> tuple[str, ...]:
    """`a,b` or a list of names; commas inside quotes and brackets belong to a name."""
    if text is None:
        return ()
    if not isinstance(text, str):
        return tuple(text)
    parts, depth, quoted, current = list[str](), 0, False, ""
    for c in text:
        quoted ^= c == "'"
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0 and not quoted:
            parts.append(current)
            current = ""
        else:
            current += c
    return tuple(part.strip() for part in [*parts, current] if part.strip())


def settle_choice(graph: BondGraph, given: Mapping[str, object], automatic: bool = True) -> LagrangeChoice:
    """The user's wishes, then those of the experiment, then (`automatic`) coordinates that the model suggests."""
    wishes = _experiment(graph.experiment) | {k: v for k, v in given.items() if v not in (None, (), "")}
    coordinates = names_of(_names(wishes.get("coordinates")))
    if not coordinates and automatic:
        coordinates = tuple(default_coordinates(graph))
    level = _one_of(wishes.get("constraints", "position"), LEVELS, "constraints")
    method = _one_of(wishes.get("stabilise", "ggl"), STABILISATIONS, "stabilise")
    numbers = {name: _positive(name, wishes[name]) for name in NUMBERS if name in wishes}
    return LagrangeChoice(
        coordinates, names_of(_names(wishes.get("strong"))), level, method,
        numbers.get("alpha"), numbers.get("beta"), numbers.get("stiffness"), numbers.get("damping"),
        numbers.get("epsilon"),
    )  # fmt: skip


def _names(value: object) -> str | Sequence[str] | None:
    if value is None or isinstance(value, str):
        return value
    assert isinstance(value, Sequence), value
    return [str(item) for item in value]


def _experiment(experiment: Experiment) -> dict[str, object]:
    found: dict[str, object] = dict(experiment.settings)
    if "stabilisation" in found:
        found.setdefault("stabilise", found["stabilisation"])
    return found


def _one_of(value: object, known: tuple[T, ...], what: str) -> T:
    for choice in known:
        if choice == value:
            return choice
    hint = did_you_mean(str(value), known)
    raise UsageError(f"{what}: `{value}` is none of {', '.join(known)}{'; ' + hint if hint else ''}")


def _positive(name: str, value: object) -> float:
    if not isinstance(value, int | float) or not 0.0 <= value < float("inf"):
        raise UsageError(f"{name}: `{value}` is not a positive number")
    return float(value)
