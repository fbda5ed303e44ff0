"""What must hold for every random model."""

import random
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

import numpy as np

import bglang
from bglang.diagnostics import BglangError, SimulationError, SourceError
from bglang.graph.emit import emit
from bglang.syntax.format import format_source
from soak.physics import Model
from soak.tableau import Curves, NoSolution, Tableau, power
from soak.writings import ALL, Writing, source

STOP, POINTS, TOLERANCE = 1.0, 201, 1e-8
REFUSED = ("causality/", "equations/", "initial/", "solve/", "starts/")
"""Rooms that may refuse a random model: its structure has no solution, or it runs away."""
SECONDS = 30
"""Processor time for all that is done with one model; most take a second."""


class Wrong(AssertionError):
    """A property does not hold."""


class TooLong(BaseException):
    """Nothing takes so long that ends."""


@dataclass(frozen=True)
class Outcome:
    """How one model went: ran, or was refused with a diagnostic."""

    ran: bool
    code: str = ""


def check(model: Model, seed: int) -> Outcome:
    with limited():
        return _check(model, random.Random(seed + 1))


@contextmanager
def limited() -> Iterator[None]:
    def over(number: int, frame: FrameType | None) -> None:
        raise TooLong(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _check(model: Model, rng: random.Random) -> Outcome:
    try:
        loaded = bglang.loads(source(model))
        model = random_starts(model, loaded, rng)
        loaded = bglang.loads(source(model))
        found = simulate(loaded)
    except SourceError as refused:
        errors = [d.code for d in refused.diagnostics if d.severity == "error"]
        if not all(c.startswith(REFUSED) for c in errors):
            raise Wrong(f"refused with {errors}") from refused
        return Outcome(False, errors[0])
    except SimulationError as failed:
        return Outcome(False, failed.diagnostic.code)
    result = Curves(found)
    equations_hold(model, result)
    if not found.audit.relative_error <= 1e-6:
        raise Wrong(f"energy audit off by {found.audit.relative_error:.1e}")
    for method in ("bdf", rng.choice(["ida", "auto", "adams"])):
        same(result, run(loaded, method), Writing(f"the integrator ({method})", ""), 1e-5)
    other_writings(model, loaded, result, rng)
    other_forms(model, loaded, result)
    return Outcome(True)


def random_starts(model: Model, loaded: "bglang.Model", rng: random.Random) -> Model:
    """Non-zero starts for the independent storages and the integrals of three models in four."""
    if rng.random() < 0.25:
        return model
    known = {f"{n.name}.{state}" for n in model.nodes for state in n.states}
    states = [u.name for u in loaded.compile().unknowns if u.kind == "state"]
    junctions = {f"{n.name}.{x}" for n in model.nodes for b, x in (("J1", "q"), ("J0", "p")) if n.base == b}
    return model.with_starts({name: rng.uniform(-1, 1) for name in states if name in known | junctions})


def run(loaded: "bglang.Model", method: str = "radau", **how: str) -> Curves:
    return Curves(simulate(loaded, method, **how))


def simulate(loaded: "bglang.Model", method: str = "radau", **how: str) -> "bglang.Result":
    return loaded.simulate(stop=STOP, tol=TOLERANCE, points=POINTS, method=method, events=True, **how)  # type: ignore


def equations_hold(model: Model, result: Curves) -> None:
    """The tableau on the trajectories, the balance of power, and the tableau integrated by itself."""
    off = power(model, result)
    # moduli that read efforts and flows are found by iteration: the balance is as good as that
    if not off <= (1e-9 if model.features & {"modulated by e", "modulated by f"} else 1e-12):
        raise Wrong(f"power of the junction structure is off by {off:.1e}")
    tableau = Tableau(model)
    gap, where = tableau.worst(result)
    if not gap <= 1e-7:
        raise Wrong(f"an equation does not hold: {where} is off by {gap:.1e}")
    try:
        if any(n.sticks for n in model.nodes):
            raise NoSolution
        gap, where = tableau.integrate(result)
        if not gap <= 1e-5:
            raise Wrong(f"the tableau goes elsewhere: {where} ({gap:.1e})")
    except NoSolution:
        gap, where = tableau.drift(result)
        if not gap <= 1e-3:
            raise Wrong(f"a state does not follow its rate: {where} is off by {gap:.1e}") from None


def same(a: Curves, b: Curves, other: Writing, tolerance: float, names: Sequence[str] | None = None) -> None:
    """Every variable of `a` (or those that are named) in `b`, at the rows between events."""
    times, rows_a, rows_b = np.intersect1d(_alone(a.time), _alone(b.time), return_indices=True)
    events = np.array([*a.events, *b.events, -1.0])
    calm = np.array([np.min(np.abs(events - t)) > 1e-3 for t in times])
    rows_a, rows_b = rows_a[calm], rows_b[calm]
    for name in a.names if names is None else names:
        if name.split(".")[0] in other.turned:
            continue
        mine = other.names(name)
        if mine not in b:
            raise Wrong(f"{other.what}: `{name}` is missing, which should be `{mine}`")
        x, y = a[name][rows_a], b[mine][rows_b]
        scale = max(1.0, float(np.max(np.abs(x), initial=0.0)))
        gap = float(np.max(np.abs(x - y), initial=0.0))
        if not gap <= tolerance * scale * (1 if name.endswith((".q", ".p")) else 100):
            raise Wrong(f"{other.what} matters: `{name}` by {gap:.1e} of {scale:.1e}")


def _alone(time: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Times that occur once; the others, at events, become different from everything."""
    found = np.array(time)
    double = np.flatnonzero(np.diff(found) == 0)
    found[double] = -1 - double
    found[double + 1] = -1 - double
    return found


def other_writings(model: Model, loaded: "bglang.Model", result: Curves, rng: random.Random) -> None:
    """The same physics, written otherwise."""
    independent = set(loaded.causality().independent)
    for write in rng.sample(ALL, 4):
        writing = write(model, rng)
        try:
            again = bglang.loads(writing.text)
            named = {writing.names(name) for name in independent}
            if set(again.causality().independent) != named:
                continue  # another storage is the independent one, whose start holds
            same(result, run(again), writing, 1e-6)
        except BglangError as problem:
            raise Wrong(f"{writing.what} is refused: {problem}\n{writing.text}") from problem
        except Wrong as wrong:
            raise Wrong(f"{wrong}\n{writing.text}") from wrong
    formatted = format_source(source(model))
    if format_source(formatted) != formatted:
        raise Wrong("formatting again changes the text")
    same(result, run(bglang.loads(formatted)), Writing("fmt", ""), 1e-9)
    same(result, run(bglang.loads(emit(loaded.graph))), Writing("writing the graph as source", ""), 1e-6)


def other_forms(model: Model, loaded: "bglang.Model", result: Curves) -> None:
    """Dependent storages merged, and held by multipliers, where that applies: junctions keep their meaning."""
    if not loaded.causality().dependent:
        return
    kept = [f"{n.name}.{x}" for n in model.nodes for base, x in (("J1", "f"), ("J0", "e")) if n.base == base]
    for dependent in ("reduce", "lambda"):
        try:
            other = run(loaded, dependent=dependent)
        except (SourceError, SimulationError):
            continue
        same(result, other, Writing(f"--dependent {dependent}", ""), 1e-5, [name for name in kept if name in other])
