"""Systems written by hand, for tests of the solver that need no compiler."""

from collections.abc import Sequence
from dataclasses import replace

from bglang.equations.system import (
    AuditItem,
    Mode,
    Output,
    Row,
    System,
    SystemParameter,
    Unknown,
    When,
)  # fmt: skip
from bglang.expr import Expr
from bglang.graph.ir import Experiment
from bglang.source import Source, Span

TEXT = "model M\n  one;\n  two;\n  three;\nend M;\n"
SOURCE = Source("m.bg", TEXT)
SPAN = Span(SOURCE, 10, 13)


def y(i: int) -> Expr:
    return ("y", i)


def d(i: int) -> Expr:
    return ("d", i)


def z(k: int) -> Expr:
    return ("z", k)


T: Expr = ("t",)


def state(name: str, start: Expr = 0.0, *, written: bool = True, fixed: bool | None = None, unit: str = "") -> Unknown:
    return Unknown(name, "state", start, written, fixed, None, unit, SPAN)


def dependent(name: str, start: Expr = 0.0, *, written: bool = False) -> Unknown:
    return Unknown(name, "dependent", start, written, None, None, "", SPAN)


def algebraic(name: str, start: Expr = 0.0, *, written: bool = False, fixed: bool | None = None) -> Unknown:
    return Unknown(name, "algebraic", start, written, fixed, None, "", SPAN)


def balance(residual: Expr, component: str = "a") -> Row:
    return Row(residual, True, component, SPAN)


def law(residual: Expr, component: str = "b") -> Row:
    return Row(residual, False, component, SPAN)


def pinned(residual: Expr, position: Expr, component: str = "friction") -> Row:
    return Row(residual, True, component, SPAN, position)


def relation(g: Expr, text: str = "", *, strict: bool = True, time_only: bool = False) -> Mode:
    return Mode("relation", (g,), (), text, text or "g > 0", "c", SPAN, strict, time_only)


def discrete(name: str, start: Expr = 0.0) -> Mode:
    return Mode("discrete", (), (start,), name, name, "c", SPAN)


def sample(start: Expr, interval: Expr) -> Mode:
    return Mode("sample", (), (start, interval), "sample", "sample", "c", SPAN)


def coulomb(k: int, x: Expr, s: Expr, level: Expr) -> Mode:
    """The mode k of a friction s = level*sign(x) that sticks."""
    upper = ("if", ("==", z(k), 0.0), ("-", level, s), ("*", x, z(k)))
    lower = ("if", ("==", z(k), 0.0), ("+", level, s), 1.0)
    return Mode("coulomb", (upper, lower), (x, s, level), "coulomb", "coulomb(v, Fc)", "friction", SPAN)


def parameter(name: str, value: Expr, *, fixed: bool = True) -> SystemParameter:
    return SystemParameter(name, value, fixed, None, None, SPAN)


def system(
    unknowns: Sequence[Unknown],
    rows: Sequence[Row],
    *,
    initial: Sequence[Row] = (),
    parameters: Sequence[SystemParameter] = (),
    modes: Sequence[Mode] = (),
    whens: Sequence[When] = (),
    outputs: Sequence[Output] = (),
    audit: Sequence[AuditItem] = (),
    experiment: Experiment | None = None,
) -> System:
    named = [Output(u.name, ("y", i), u.unit, "") for i, u in enumerate(unknowns)]
    return System(
        "M", tuple(unknowns), tuple(rows), tuple(initial), tuple(parameters), tuple(modes), tuple(whens), (),
        (*named, *outputs), tuple(audit), (), experiment or Experiment(),
    )  # fmt: skip


def lasting(stop: float, tolerance: float = 1e-8, **more: object) -> Experiment:
    return replace(Experiment(stop=stop, tolerance=tolerance), **more)  # type: ignore[arg-type]
