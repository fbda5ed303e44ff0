"""The command `sweep`: ensembles."""

import argparse
import sys
import time
from typing import TYPE_CHECKING

from bglang.cli.common import GAVE_UP, GOOD, INTERRUPTED, MODEL_WRONG, add_model_options, load_model
from bglang.diagnostics import UsageError

if TYPE_CHECKING:
    from bglang.sweep import Sweep

EPILOG = """\
values, in the language's own constant expressions:
  linspace(1, 10, 100)             equally spaced, both ends included
  1:0.5:3   {1, 2, 5}   7          a range, a list, a single value
  geomspace(1, 1000, 4)            equal ratios between the ends; logspace(0, 3, 4) takes exponents of ten
  uniform(1, 2, 50, seed = 7)      samples; also normal(mean, deviation, count, seed) and
                                   lognormal(median, factor, count, seed); the same seed gives the same sample
  {"a", "b"}  {true, false}        other parameters; {{1, 2}, {3, 4}} for a parameter that is an array

examples:
  bglang sweep car.bg --vary 'k=linspace(1,10,100)' -o out.parquet
  bglang sweep car.bg --vary 'k={1,2,5}' --vary 'm=1:3' -o out.csv       a grid: 9 runs
  bglang sweep car.bg --vary 'k={1,2,5}' --vary 'm=1:3' --zip -o out.csv pairs: 3 runs
  bglang sweep car.bg --vary 'spring.q.start=linspace(0,1,9)' -o out.csv starts, too
  bglang sweep car.bg --vary 'k=normal(4,0.1,500)' --vars v.f --stats final,min,max --at 0.5,1 -o out.csv
  bglang sweep car.bg --vary 'k={1,2}' --trajectories --vars 'v.f' -o out.parquet   all rows of every run
  bglang sweep car.bg --vary 'n=2:50' -o out.csv                        a structural parameter: compiled for each value
  bglang sweep car.bg --vary 'k=linspace(1,9,10000)' --scheduler tcp://10.0.0.1:8786 -o out.parquet   a Dask cluster

One row a run: its number, what was varied, the time it reached, final values (`v.f`), `min(v.f)`, `max(v.f)`,
`v.f@0.5`, its status, the exit code that `run` would have given, and the message of a run that failed.
The file is written as the sweep goes.  Stop it with Ctrl-C, or lose the machine: the same command goes on where it
stopped, and runs nothing twice.  A model that was changed, or other options, begin anew.
Exit codes: 0 all runs are good, 3 (or 1) some failed, 130 interrupted."""


def configure(name: str, parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add_model_options(parser)
    what = parser.add_argument_group("what varies")
    what.add_argument(
        "--vary", metavar="NAME=VALUES", action="append", default=[],
        help="a parameter or start and its values; several make a grid, the last one fastest",
    )  # fmt: skip
    what.add_argument("--zip", action="store_true", help="pair the values of several --vary instead of a grid")
    run = parser.add_argument_group("each run")
    run.add_argument("--start", type=float, metavar="T", help="start time")
    run.add_argument("--stop", type=float, metavar="T", help="stop time")
    run.add_argument("--tol", type=float, metavar="X", help="relative tolerance")
    run.add_argument(
        "--points", type=int, metavar="N", help="rows of a run, for min, max and trajectories (default 500)"
    )
    run.add_argument(
        "--method", choices=["auto", "radau", "bdf", "adams", "rk"], default="auto", help="integrator (default: auto)"
    )
    run.add_argument("--max-step", type=float, metavar="H", help="largest step")
    where = parser.add_argument_group("where")
    where.add_argument(
        "--workers", type=int, metavar="N", help="at most so many processes (default: as many as there are processors)"
    )
    where.add_argument("--scheduler", metavar="ADDR", help="run on a Dask cluster: tcp://HOST:8786")
    out = parser.add_argument_group("results")
    out.add_argument("-o", "--output", metavar="FILE", help="the table: .csv .parquet .mat .h5 .json")
    out.add_argument("--vars", metavar="GLOBS", default="", help="which variables (default: the states)")
    out.add_argument("--stats", metavar="LIST", default="final", help="what of them: final,min,max (default: final)")
    out.add_argument("--at", metavar="TIMES", default="", help="their values at these times, too: --at 0.5,1")
    out.add_argument("--trajectories", action="store_true", help="all rows of every run instead")
    out.add_argument("--retry", action="store_true", help="run points again that failed in an earlier sweep")
    out.add_argument("--quiet", action="store_true", help="no summary")


def run(name: str, options: argparse.Namespace) -> int:
    from bglang.results.names import split_patterns
    from bglang.results.write import format_of
    from bglang.sweep.points import count
    from bglang.sweep.sweep import check_names, recompiled
    from bglang.sweep.vary import variations

    if options.output is None:
        raise UsageError("say where the table goes, as in `-o out.csv` (.csv .parquet .mat .h5 .json)")
    if options.workers is not None and options.scheduler is not None:
        raise UsageError("`--workers` are processes here, `--scheduler` is a cluster elsewhere: give one of them")
    format_of(options.output)
    variety = variations(options.vary)
    total = count(variety, options.zip)
    wanted = [word for word in split_patterns(options.vars) if "*" not in word and "?" not in word]
    model = load_model(options, wanted)
    check_names(model, variety)
    again = recompiled(model, variety)
    if again and not options.quiet:
        names = ", ".join(f"`{name}`" for name in again)
        print(f"{names}: the model is compiled again for each value", file=sys.stderr)
    progress = _Progress() if sys.stderr.isatty() and not options.quiet else None
    began = time.perf_counter()
    swept = model.sweep(
        {v.name: v.values for v in variety},
        pairs=options.zip,
        vars=options.vars,
        statistics=[word.strip() for word in options.stats.split(",") if word.strip()],
        at=_times(options.at),
        trajectories=options.trajectories,
        start=options.start,
        stop=options.stop,
        tol=options.tol,
        points=options.points,
        method=options.method,
        max_step=options.max_step,
        workers=options.workers,
        scheduler=options.scheduler,
        output=options.output,
        retry=options.retry,
        progress=progress,
    )
    if progress is not None:
        progress.clear()
    return _tell(swept, total, time.perf_counter() - began, options)


def _times(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",") if word.strip()]
    except ValueError:
        raise UsageError(f"`--at {text}` is no list of times, as in `--at 0.5,1`") from None


SHOWN = 5
"""So many failures are listed; the file has all of them."""


def _tell(swept: "Sweep", total: int, seconds: float, options: argparse.Namespace) -> int:
    failed = swept.failures
    if not swept.complete:
        done = len(set(swept.table.columns["run"]))
        print(f"interrupted: {done} of {total} runs are done; the same command goes on from there", file=sys.stderr)
        return INTERRUPTED
    if not options.quiet:
        new = total - swept.reused
        reused = f", {swept.reused} were there already" if swept.reused else ""
        print(f"{swept.table.model}: {total} runs{reused}, {len(failed)} failed")
        if new:
            print(f"  time      {seconds:.3g} s, {seconds / new * 1e3:.3g} ms a run")
        print(f"  wrote     {options.output}, {len(swept)} rows")
        for failure in failed[:SHOWN]:
            values = ", ".join(
                f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}" for k, v in failure.values.items()
            )
            print(f"  failed    run {failure.run} ({values}), code {failure.code}: {failure.message}")
        if len(failed) > SHOWN:
            print(f"            ... and {len(failed) - SHOWN} more, in the column `message`")
    if not failed:
        return GOOD
    return GAVE_UP if any(failure.code == GAVE_UP for failure in failed) else MODEL_WRONG


class _Progress:
    """One line on a terminal: how many, how fast, how long still."""

    def __init__(self) -> None:
        self._began = self._told = time.monotonic()
        self._first: int | None = None

    def __call__(self, done: int, total: int, failed: int) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = done - 1
        if now - self._told < 0.2:
            return
        self._told = now
        rate = (done - self._first) / (now - self._began)
        left = int((total - done) / rate) if rate > 0 else 0
        wrong = f"  {failed} failed" if failed else ""
        line = f"{done}/{total}  {100 * done // total} %  {rate:.3g}/s{wrong}  still {left // 60}:{left % 60:02d}"
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
