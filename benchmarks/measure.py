"""One case on all programs: tolerances that fit, then interleaved runs."""

import json
import sys
from dataclasses import dataclass, field

from benchmarks.case import Case
from benchmarks.peers import PROGRAMS, RUNNERS, TUNABLE, Bench, Measured, run, surroundings

DECADES = tuple(10.0**-k for k in range(3, 11))


@dataclass
class Table:
    """What was measured of one case."""

    case: Case
    reference: float
    best: dict[str, Measured] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    tolerance: dict[str, float] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)

    def error(self, value: float) -> float:
        return abs(value - self.reference) / max(abs(self.reference), 1e-300)


def measure_case(case: Case, programs: list[str], repeat: int, bench: Bench, phases: bool) -> Table:
    table = Table(case, case.reference())
    for program in programs:
        if program in case.slow:
            table.failed[program] = "left out: it would take minutes"
        elif program in TUNABLE:
            _tune(table, program, bench)
    for _ in range(repeat):
        for program in programs:
            if program not in table.failed:
                _once(table, program, bench)
    if phases and not case.variations:
        table.phases = _phases(case, bench)
    return table


def _tune(table: Table, program: str, bench: Bench) -> None:
    """The loosest tolerance with which the program, and with the next one too, is as accurate as the case demands."""
    good = 0
    for tolerance in DECADES:
        try:
            found = RUNNERS[program](table.case, tolerance, bench)
        except Exception as problem:
            table.failed[program] = str(problem)[:90]
            if "took more" in str(problem):
                return
            good = 0
            continue  # it may succeed with another one
        if found is None:
            return
        table.failed.pop(program, None)
        good = good + 1 if table.error(found.value) <= table.case.accuracy else 0
        table.tolerance[program] = tolerance * 10 if good == 2 else tolerance
        if good == 2:
            return


def _once(table: Table, program: str, bench: Bench) -> None:
    like = "bglang warm" if program == "bglang cold" else program
    tolerance = table.tolerance.get(like, table.case.tolerance)
    if program in TUNABLE and program not in table.tolerance:
        return  # it has no text for this case
    try:
        found = RUNNERS[program](table.case, tolerance, bench)
    except Exception as problem:
        table.failed[program] = str(problem)[:90]
        return
    if found is None:
        return
    old = table.best.get(program, found)
    pairs = ((old.process, found.process), (old.solve, found.solve), (old.wall, found.wall))
    process, solve, wall = (None if None in pair else min(pair) for pair in pairs)  # type: ignore[type-var]
    table.best[program] = Measured(process, solve, found.value, wall, found.memory)


def _phases(case: Case, bench: Bench) -> dict[str, float]:
    """Stages of a compilation from scratch, with integrators that are there already."""
    path = bench.folder / f"{case.name}-bg" / f"{case.modelica_model or 'case'}.bg"
    words = [sys.executable, str(PROGRAMS / "bglang_phases.py"), str(path), repr(case.stop), repr(case.tolerance)]
    try:
        found: dict[str, float] = json.loads(run(words, surroundings(case, bench)).output.strip().splitlines()[-1])
    except Exception as problem:
        return {f"failed: {str(problem)[:60]}": float("nan")}
    return found
