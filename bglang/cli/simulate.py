"""The command `run`: compile, simulate, summarise, plot, write."""

import argparse
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bglang.cli.common import GAVE_UP, GOOD, add_model_options, color, load_model, show
from bglang.cli.equations import add_lagrange_options, lagrange_wish
from bglang.diagnostics import Diagnostic, SimulationError

if TYPE_CHECKING:
    from bglang.api import Model
    from bglang.results import Result
    from bglang.solve.problem import Method

EPILOG = """\
examples:
  bglang run car.bg                                   as the model's experiment says
  bglang run car.bg --stop 10 --tol 1e-9              longer, more accurate
  bglang run car.bg --set k=3 --set spring.q.start=17 other parameters and start values
  bglang run car.bg -o out.csv --vars 'mass.*,v.f'    results into csv, parquet, mat, h5 or json by the ending
  bglang run car.bg --plot v.f,spring.q               curves in the terminal
  bglang run car.bg --plot v.f --plot-to car.png      ... or as png, svg, pdf; --plot-to window opens one
  bglang run car.bg --verify                          how accurate is it really?
  bglang run crank.bg --form lagrange --coordinates w1,w2 --plot fyB.e    with multipliers

A run that fails keeps and names what was computed until then (exit code 3)."""


def configure(name: str, parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add_model_options(parser)
    run = parser.add_argument_group("the run")
    run.add_argument("--start", type=float, metavar="T", help="start time")
    run.add_argument("--stop", type=float, metavar="T", help="stop time")
    run.add_argument("--tol", type=float, metavar="X", help="relative tolerance")
    run.add_argument("--points", type=int, metavar="N", help="equally spaced rows of the result (default 500)")
    run.add_argument(
        "--method", choices=["auto", "radau", "bdf", "adams", "rk", "ida"], default="auto",
        help="integrator (default: auto chooses, and the summary says why; ida needs `bglang[sundials]`)",
    )  # fmt: skip
    run.add_argument("--max-step", type=float, metavar="H", help="largest step")
    run.add_argument("--step", type=float, metavar="H", help="fixed step, to repeat old sessions")
    run.add_argument(
        "--form", choices=["state", "lagrange"], help="run Lagrange's equations in chosen coordinates (default: state)"
    )
    run.add_argument(
        "--dependent", choices=["implicit", "reduce", "augment", "lambda"],
        help="storages in derivative causality: solved as they are, merged, held by stiff elements, or by multipliers",
    )  # fmt: skip
    run.add_argument(
        "--verify", action="store_true",
        help="run again with another integrator at a hundredth of the tolerance, and show how far each variable is off",
    )  # fmt: skip
    add_lagrange_options(parser)
    out = parser.add_argument_group("results")
    out.add_argument("-o", "--output", metavar="FILE", help="write results: .csv .parquet .mat .h5 .json")
    out.add_argument("--vars", metavar="GLOBS", default="", help="which variables, names and globs: 'mass.*,v.f'")
    out.add_argument("--events", action="store_true", help="rows before and after each event, too")
    out.add_argument("--events-log", metavar="FILE", help="write the events as csv")
    out.add_argument("--plot", metavar="NAMES", nargs="?", const="", help="plot these variables (default: the states)")
    out.add_argument("--plot-to", metavar="FILE", help="png, svg or pdf file, or `window` (default: the terminal)")
    out.add_argument("--quiet", action="store_true", help="no summary")


def run(name: str, options: argparse.Namespace) -> int:
    from bglang.results.names import select, split_patterns

    mentioned = [*split_patterns(options.vars), *split_patterns(options.plot or "")]
    model = load_model(options, [word for word in mentioned if "*" not in word and "?" not in word])
    if options.plot and not options.form and not options.dependent:  # a misspelt name is told before the run
        select([output.name for output in model.compile().outputs], options.plot)
    status = GOOD
    try:
        result = model.simulate(
            stop=options.stop,
            tol=options.tol,
            points=options.points,
            method=options.method,
            start=options.start,
            vars=options.vars,
            events=options.events,
            max_step=options.max_step,
            step=options.step,
            output=options.output,
            progress=_Progress() if sys.stderr.isatty() and not options.quiet else None,
            form=options.form,
            dependent=options.dependent,
            **lagrange_wish(options),
        )
    except SimulationError as failure:
        print(failure, file=sys.stderr)
        if failure.result is None:
            return GAVE_UP
        result, status = failure.result, GAVE_UP
        if failure.diagnostic.code == "results/write":
            options.output = None  # the message says what was written
    _after(model.warnings, result, options)
    if options.dependent == "augment" and not options.quiet:
        from bglang.cli.reduction import show_deflections

        show_deflections(model, result)
    if options.verify and status == GOOD:
        _verify(model, result, options)
    return status


def _verify(model: "Model", result: "Result", options: argparse.Namespace) -> None:
    """The same run again, otherwise; what was computed first stays the result."""
    from bglang.solve.verify import verify

    def again(tighter: float | None, method: "Method") -> "Result":
        if tighter is None:
            return result
        return model.simulate(
            stop=options.stop, tol=tighter, points=options.points, method=method, start=options.start,
            vars=options.vars, events=options.events, max_step=options.max_step, form=options.form,
            dependent=options.dependent, **lagrange_wish(options),
        )  # fmt: skip

    asked = model.compile().experiment.tolerance if options.tol is None else options.tol
    print(verify(again, asked, options.method))


def _after(seen: Sequence[Diagnostic], result: "Result", options: argparse.Namespace) -> None:
    from bglang.views.summary import summary

    show(found for found in result.warnings if found not in seen)
    if not options.quiet:
        print(summary(result, color=color(sys.stdout.isatty())))
    if options.output:
        print(f"wrote {options.output}", file=sys.stderr)
    if options.events_log:
        from bglang.results.events import write_events

        write_events(result, options.events_log)
    if options.plot is not None:
        from bglang.cli.results import show_plot

        show_plot([result], options.plot, options.plot_to)


class _Progress:
    """One line that is written over again, with the time that is left."""

    def __init__(self) -> None:
        self.begun = self.shown = time.monotonic()
        self.used = False

    def __call__(self, now: float, start: float, stop: float) -> None:
        clock = time.monotonic()
        if clock - self.shown < 0.2:
            return
        self.shown, self.used = clock, True
        part = (now - start) / (stop - start) if stop > start else 1.0
        left = (clock - self.begun) * (1 - part) / part if part > 0 else float("inf")
        eta = f"{left:.0f} s left" if left < 1e6 else ""
        bar = "█" * int(30 * part)
        end = "\r\033[K" if part >= 1 else ""
        sys.stderr.write(f"\r\033[K{bar:░<30} {100 * part:5.1f} %  t = {now:g}  {eta}{end}")
        sys.stderr.flush()


__all__ = ["configure", "run", "show"]
