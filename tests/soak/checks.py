"""What must hold for every model, however it was made."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import bglang
from bglang.diagnostics import SimulationError, SourceError
from bglang.graph.ir import BondGraph
from bglang.syntax.format import format_source
from soak.random_models import Model

STOP, POINTS, TOLERANCE = 1.0, 201, 1e-8
REFUSED = ("causality/", "equations/", "initial/", "solve/")
"""Rooms that may refuse a random model: its structure has no solution, or it runs away."""


class Wrong(AssertionError):
    """A property does not hold."""


@dataclass(frozen=True)
class Outcome:
    """How one model went: ran, or was refused with a diagnostic."""

    ran: bool
    code: str = ""


def check(model: Model, seed: int) -> Outcome:
    rng = random.Random(seed + 1)
    try:
        loaded = bglang.loads(model.source())
        starts = random_starts(loaded, rng)
        result = run(loaded, "radau", starts)
    except SourceError as refused:
        code = refused.diagnostics[0].code if refused.diagnostics else ""
        errors = [d.code for d in refused.diagnostics if d.severity == "error"]
        if not all(c.startswith(REFUSED) for c in errors):
            raise Wrong(f"refused with {errors}") from refused
        return Outcome(False, code)
    except SimulationError as failed:
        return Outcome(False, failed.diagnostic.code)
    power_is_conserved(loaded.graph, result)
    tableau_holds(loaded.graph, result)
    if not result.audit.relative_error <= 1e-6:
        raise Wrong(f"energy audit off by {result.audit.relative_error:.1e}")
    same(result, run(loaded, "bdf", starts), "radau and bdf differ", 1e-5)
    same(result, run(bglang.loads(format_source(model.source())), "radau", starts), "fmt changes the result", 1e-9)
    other_ways(model, loaded, result, starts, rng)
    return Outcome(True)


def random_starts(loaded: "bglang.Model", rng: random.Random) -> dict[str, float]:
    """Non-zero starts for the independent storages of half of the models."""
    if rng.random() < 0.5:
        return {}
    system = loaded.compile()
    return {f"{u.name}.start": rng.uniform(-1, 1) for u in system.unknowns if u.kind == "state" and u.name[0] in "cix"}


def run(loaded: "bglang.Model", method: str, starts: dict[str, float]) -> "bglang.Result":
    return loaded.simulate(stop=STOP, tol=TOLERANCE, points=POINTS, method=method, set=starts)


def same(a: "bglang.Result", b: "bglang.Result", what: str, tolerance: float, prefix: str = "") -> None:
    for name in a.names:
        if prefix + name not in b:
            raise Wrong(f"{what}: `{name}` is missing")
        x, y = a[name], b[prefix + name]
        scale = max(1.0, float(np.max(np.abs(x))))
        gap = float(np.max(np.abs(x - y)))
        if not gap <= tolerance * scale * (100 if name.endswith(("power", ".e", ".f")) else 1):
            raise Wrong(f"{what}: `{name}` by {gap:.1e} of {scale:.1e}")


def other_ways(
    model: Model, loaded: "bglang.Model", result: "bglang.Result", starts: dict[str, float], rng: random.Random
) -> None:
    """The same physics, written otherwise."""
    wrapped = bglang.loads(model.wrapped())
    same(result, run(wrapped, "radau", {f"x.{k}": v for k, v in starts.items()}), "a subsystem differs", 1e-9, "x.")
    for what, text in (("order", model.shuffled(rng).source()), ("arrows", model.turned(rng).source())):
        again = bglang.loads(text)
        if set(again.causality().independent) == set(loaded.causality().independent) or not starts:
            same(result, run(again, "radau", starts), f"the {what} matters", 1e-6)


# --- the tableau: every equation of the graph, on the trajectories ----------------------------------------------------


def power_is_conserved(graph: BondGraph, result: "bglang.Result") -> None:
    """What sources deliver goes into losses and storages, in every instant, to rounding."""
    total, size = np.zeros(len(result.time)), np.zeros(len(result.time))
    for element in graph.elements:
        if element.kind in ("J0", "J1", "TF", "GY"):
            continue
        for k in range(len(element.ports)):
            power = result[element.variable(k, "power")]
            total += -power if element.kind in ("Se", "Sf") else power
            size = np.maximum(size, np.abs(power))
    worst = float(np.max(np.abs(total) / np.maximum(size, 1e-6)))
    if not worst <= 1e-6:
        raise Wrong(f"power of the junction structure is off by {worst:.1e}")


def tableau_holds(graph: BondGraph, result: "bglang.Result") -> None:
    """Laws from the graph, evaluated by the plain evaluator on the result; rates integrated by Simpson's rule."""
    from bglang.expr import par
    from bglang.expr.evaluate import Values, evaluate
    from bglang.graph.parameters import evaluate_parameters

    numbers = evaluate_parameters(graph)
    for k in (0, POINTS // 3, POINTS - 1):
        at = Values(t=result.time[k], variable=lambda name, k=k: result[name][k], parameter=lambda name: numbers[name])
        for element, what, expected, value in equations(graph):
            left = evaluate(expected, at) if isinstance(expected, tuple) else expected
            right = evaluate(value, at)
            if not abs(left - right) <= 1e-5 * max(1.0, abs(left), abs(right)):
                raise Wrong(f"{what} of `{element}` does not hold at t = {at.t:g}: {left:g} is not {right:g}")
    assert par is not None
    h = STOP / (POINTS - 1)
    for element in graph.elements:
        for p, port in enumerate(element.ports):
            if port.kind in ("C", "I"):
                state, rate = ("q", "f") if port.kind == "C" else ("p", "e")
                x, f = result[element.variable(p, state)], result[element.variable(p, rate)]
                simpson = h / 3 * (f[0] + f[-1] + 4 * f[1:-1:2].sum() + 2 * f[2:-1:2].sum())
                if not abs(x[-1] - x[0] - simpson) <= 1e-3 * max(1.0, np.abs(x).max(), np.abs(f).max() * 0.05):
                    raise Wrong(f"`{element.name}` moves by {x[-1] - x[0]:g}, its rate says {simpson:g}")


def equations(graph: BondGraph) -> Iterator[tuple[str, str, object, object]]:
    """(element, what, left, right) for laws, transformers and gyrators."""
    for element in graph.elements:
        for law in element.laws:
            if element.kind in ("Se", "Sf"):
                continue
            left = ("v", element.variable(law.port, law.gives)) if law.gives else 0.0
            yield element.name, "the law", left, law.value
        if element.kind in ("TF", "GY"):
            e1, f1, e2, f2 = (("v", f"{element.name}.{v}") for v in ("p1.e", "p1.f", "p2.e", "p2.f"))
            m = element.modulus
            one, two = ((e1, e2), (f2, f1)) if element.kind == "TF" else ((e1, f2), (e2, f1))
            yield element.name, "the modulus", one[0], ("*", m, one[1])
            yield element.name, "the modulus", two[0], ("*", m, two[1])
