"""Commands about stored results: `plot`, `table`, `compare`."""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bglang.cli.common import GOOD, MODEL_WRONG, color
from bglang.diagnostics import UsageError

if TYPE_CHECKING:
    from bglang.results import Result

HELP = {
    "plot": """\
examples:
  bglang plot out.csv --vars 'v.f,spring.q'            curves in the terminal
  bglang plot out.csv --vars v.f --from 1 --to 2       a part of the run
  bglang plot a.csv b.csv --vars v.f -o both.png       overlaid, as a picture""",
    "table": """\
examples:
  bglang table out.csv --vars 'mass.*' --from 1 --to 2
  bglang table out.csv --every 10""",
    "compare": """\
Puts both on one time grid and lists the largest difference of each variable that both have.

examples:
  bglang compare a.csv b.parquet
  bglang compare run.csv measured.csv --tol 1e-2       exit code 1 if a variable differs by more than 1 %""",
}


def configure(name: str, parser: argparse.ArgumentParser) -> None:
    parser.epilog = HELP[name]
    if name == "compare":
        parser.add_argument("a", metavar="A", help="a result")
        parser.add_argument("b", metavar="B", help="another result, or measurements as csv")
        parser.add_argument("--tol", type=float, metavar="X", help="largest relative difference that is good")
    elif name == "plot":
        parser.add_argument("results", metavar="RESULT", nargs="+", help="stored results")
        parser.add_argument("-o", "--output", metavar="FILE", help="png, svg or pdf file, or `window`")
    else:
        parser.add_argument("result", metavar="RESULT", help="a stored result")
        parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth row")
    if name != "compare":
        parser.add_argument("--from", dest="begin", type=float, default=-math.inf, metavar="T", help="first time")
        parser.add_argument("--to", dest="end", type=float, default=math.inf, metavar="T", help="last time")
    parser.add_argument("--vars", metavar="GLOBS", default="", help="which variables")


def run(name: str, options: argparse.Namespace) -> int:
    if name == "plot":
        span = (options.begin, options.end)
        show_plot([_load(path) for path in options.results], options.vars, options.output, span)
        return GOOD
    return _table(options) if name == "table" else _compare(options)


def _load(path: str) -> "Result":
    from bglang.results import Result

    if not Path(path).exists():
        raise UsageError(f"there is no file `{path}`")
    return Result.load(path)


def show_plot(
    results: Sequence["Result"], names: str, target: str | None, span: tuple[float, float] = (-math.inf, math.inf)
) -> None:
    """Curves in the terminal, in a file or in a window."""
    from bglang.views.plot import plot

    text = plot(results, names or None, to=target, span=span, color=color(sys.stdout.isatty()))
    if text:
        print(text)
    elif target and target != "window":
        print(f"wrote {target}", file=sys.stderr)


def _table(options: argparse.Namespace) -> int:
    result = _load(options.result)
    names = result.select(options.vars) if options.vars else list(result.default_names())
    time = result.time
    rows = [k for k in range(len(time)) if options.begin <= time[k] <= options.end][:: max(1, options.every)]
    values = result.values(names)
    head = ["time", *names]
    cells = [[f"{time[k]:.8g}", *(f"{v:.8g}" for v in values[k])] for k in rows]
    widths = [max(len(row[i]) for row in [head, *cells]) for i in range(len(head))]
    for row in [head, *cells]:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    return GOOD


def _compare(options: argparse.Namespace) -> int:
    from bglang.results.comparison import compare

    comparison = compare(_load(options.a), _load(options.b), options.vars or None)
    print(comparison)
    if options.tol is not None and not comparison.within(options.tol):
        return MODEL_WRONG
    return GOOD
