"""Tables, the targets, and a plot."""

import math
from pathlib import Path

from benchmarks.measure import Table

SMALL = ("oscillator", "drive", "pendulum", "ball", "rectifier", "robertson")
COMPILER = ("parse", "elaborate", "check", "causality", "derive", "compile", "load")


def text_of(table: Table) -> list[str]:
    """One case: rows of programs, with ratios to a warm bglang."""
    base = table.best.get("bglang warm")
    lines = [
        "",
        f"## {table.case.name}",
        "",
        "| program | process s | ratio | wall s | solve ms | ratio | MB | tolerance | error |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for program, m in table.best.items():
        process, solve = (None, None) if base is None else (base.process, base.solve)
        tolerance = table.tolerance.get("bglang warm" if program == "bglang cold" else program)
        cells = [
            program,
            _number(m.process, "{:.3f}"),
            _ratio(m.process, process),
            _number(m.wall, "{:.3f}"),
            _number(None if m.solve is None else 1e3 * m.solve, "{:.3g}"),
            _ratio(m.solve, solve),
            _number(m.memory or None, "{:.0f}"),
            _number(tolerance, "{:.0e}"),
            f"{table.error(m.value):.1e}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [f"| {program} | {why} | | | | | | | |" for program, why in table.failed.items()]
    if table.phases:
        lines += ["", "stages, ms: " + ", ".join(f"{k} {1e3 * v:.3g}" for k, v in table.phases.items())]
    return lines


def _number(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)


def _ratio(value: float | None, base: float | None) -> str:
    return "" if value is None or not base else f"{value / base:.2f}"


def targets(tables: list[Table]) -> list[str]:
    """What was aimed at, what came out."""
    lines = ["", "## Targets", "", "| target | wanted | reached |", "|---|---|---|"]
    by_name = {table.case.name: table for table in tables}

    def ratio(name: str, what: str, program: str, peer: str) -> float | None:
        best = by_name[name].best if name in by_name else {}
        ours, theirs = (getattr(best[p], what) if p in best else None for p in (program, peer))
        return ours / theirs if ours and theirs else None

    wanted = [(f"{n}, whole process, warm / rumoca", 1.0, ratio(n, "process", "bglang warm", "rumoca")) for n in SMALL]
    wanted += [(f"{n}, first run ever / rumoca", 4.0, ratio(n, "process", "bglang cold", "rumoca")) for n in SMALL]
    wanted += [
        ("ladder-1000, cold / rumoca", 0.05, ratio("ladder-1000", "process", "bglang cold", "rumoca")),
        ("ladder-1000, cold / ngspice", 10.0, ratio("ladder-1000", "process", "bglang cold", "ngspice")),
        ("ladder-10000, warm / ngspice", 2.0, ratio("ladder-10000", "process", "bglang warm", "ngspice")),
        ("robertson, integration / IDA in C", 0.5, ratio("robertson", "solve", "bglang warm", "sundials in C")),
        ("pendulum, integration / IDA in C", 0.5, ratio("pendulum", "solve", "bglang warm", "sundials in C")),
        ("variations, one more / pydiffsol", 0.5, ratio("variations", "solve", "bglang warm", "pydiffsol")),
        ("variations, one more / rumoca", 0.05, ratio("variations", "solve", "bglang warm", "rumoca")),
    ]
    for n in (1000, 10000):
        name = f"ladder-{n}"
        klu = ratio(name, "solve", "bglang warm", "sundials in C")
        wanted.append((f"{name}, integration / CVODE+KLU in C", 1.5, klu))
        wanted.append((f"{name}, integration / pydiffsol", 1.0, ratio(name, "solve", "bglang warm", "pydiffsol")))
    wanted.append(("compile time against N, exponent", 1.05, _exponent(tables)))
    if "ladder-100000" in by_name and "bglang cold" in by_name["ladder-100000"].best:
        memory = by_name["ladder-100000"].best["bglang cold"].memory
        wanted.append(("memory at N = 100 000, kB a section", 3.0, memory * 1024 / 100_000))
    for what, goal, reached in wanted:
        if reached is not None:
            lines.append(f"| {what} | <= {goal:g} | {reached:.3g}{' (missed)' if reached > goal else ''} |")
    return lines


def _exponent(tables: list[Table]) -> float | None:
    """How compile time grows between the smallest and the largest ladder from a thousand sections on."""
    seconds = {
        int(table.case.name.rsplit("-", 1)[1]): sum(table.phases.get(stage, 0.0) for stage in COMPILER)
        for table in tables
        if table.case.name.startswith("ladder-") and "flat" not in table.case.name and table.phases
    }
    large = sorted(n for n in seconds if n >= 1000 and seconds[n] > 0)
    if len(large) < 2:
        return None
    return math.log(seconds[large[-1]] / seconds[large[0]]) / math.log(large[-1] / large[0])


def plot(tables: list[Table], path: Path) -> None:
    """Whole processes, all programs, one group a case; left out where matplotlib is absent."""
    try:
        import matplotlib

        matplotlib.use("svg")
        from matplotlib import pyplot
    except ImportError:
        print("matplotlib is absent: no plot")
        return
    figure, axes = pyplot.subplots(2, 1, figsize=(max(6, 0.9 * len(tables)), 8), sharex=True)
    programs = list(dict.fromkeys(program for table in tables for program in table.best))
    for axis, what, title in ((axes[0], "process", "whole process, s"), (axes[1], "solve", "integration, s")):
        for k, program in enumerate(programs):
            points = [(i, getattr(t.best[program], what)) for i, t in enumerate(tables) if program in t.best]
            points = [(i, value) for i, value in points if value]
            if points:
                places = [i + 0.08 * (k - len(programs) / 2) for i, _ in points]
                axis.plot(places, [value for _, value in points], "o", label=program, markersize=5)
        axis.set_yscale("log")
        axis.set_ylabel(title)
        axis.grid(axis="y", alpha=0.3)
    axes[0].legend(fontsize=8, ncol=4)
    axes[1].set_xticks(range(len(tables)), [table.case.name for table in tables], rotation=60, ha="right")
    figure.tight_layout()
    figure.savefig(path)
