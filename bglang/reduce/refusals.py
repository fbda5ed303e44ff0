"""Why a dependent storage is not merged: the class of the obstacle, who it is, and what to do."""

from typing import Literal, TypeAlias

from bglang.diagnostics import Diagnostic, Label, warning
from bglang.graph.ir import Element
from bglang.records import dataclass

Obstacle: TypeAlias = Literal[
    "split path", "nonlinear", "modulated", "source", "resistor", "modulating signal", "multiport", "singular"
]  # fmt: skip

HINTS: dict[Obstacle, str] = {
    "split path": "`bglang augment` breaks the dependency with a stiff element; `bglang run` solves it as it is.",
    "nonlinear": "write the law as the stored quantity (`p = …`, `q = …`), or let `bglang run` solve it implicitly.",
    "modulated": "`bglang augment` breaks the dependency with a stiff element; `bglang run` solves it as it is.",
    "source": "`bglang augment` puts a small element between them; `bglang run` differentiates the source.",
    "resistor": "write the law of the resistance in the other direction, so that it does not decide the causality.",
    "modulating signal": "let the signal read a storage's flow or displacement instead, or leave it to `bglang run`.",
    "multiport": "write the field's laws linear, with constants, or use `bglang augment`.",
    "singular": "change the parameters: with these no effort could accelerate the pair, or any could at once.",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Refusal:
    """A dependent storage that stays; `at` is the element responsible."""

    storage: str
    obstacle: Obstacle
    at: str
    diagnostic: Diagnostic


def refuse(storage: Element, name: str, obstacle: Obstacle, at: Element, reason: str) -> Refusal:
    related = [Label(at.span, obstacle)] if at is not storage and at.span.source is storage.span.source else []
    return Refusal(
        name,
        obstacle,
        at.name,
        warning(
            f"reduce/{obstacle.replace(' ', '-')}",
            f"`{name}` stays as it is: {obstacle}" + (f" at `{at.name}`" if at is not storage else ""),
            storage.span,
            label="in derivative causality",
            related=related,
            reason=reason,
            hint=HINTS[obstacle],
            component=name,
        ),
    )
