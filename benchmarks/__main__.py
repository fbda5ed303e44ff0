"""Side by side in one run: `python -m benchmarks [CASE ...] [--repeat 3] [--python PATH]`.

Runs are interleaved and the smallest of several counts; what is compared are ratios of one run, never seconds of
different days.  Equal work means equal accuracy: every program runs with the loosest tolerance with which it reaches
the error that the case allows, and the error reached stands beside each time.  Nothing is installed: peers are found
in the interpreter given by --python (this one, unless told) and on the PATH."""

import argparse
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.measure import Table, measure_case
from benchmarks.peers import present
from benchmarks.report import plot, targets, text_of

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help=f"names or globs of {', '.join(CASES)} (default: all up to 10 000)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument("--python", default=sys.executable, metavar="PATH", help="the interpreter that has the peers")
    parser.add_argument("--only", default="", metavar="NAMES", help="programs by name, separated by commas")
    parser.add_argument("--no-phases", action="store_true", help="leave out the stages of the compiler")
    options = parser.parse_args()
    patterns = options.cases or ["*"]
    names = [name for name in CASES if any(fnmatch(name, pattern) for pattern in patterns)]
    if not options.cases:
        names = [name for name in names if not name.endswith("100000")]
    if not names:
        parser.error(f"no case fits {' '.join(patterns)}")
    with tempfile.TemporaryDirectory() as folder:
        peers, bench = present(options.python, Path(folder))
        here = [name for name, why in peers.items() if not why]
        if options.only:
            here = [name for name in here if name in options.only.split(",")]
        absent = [f"{name}: absent ({why})" for name, why in peers.items() if why]
        print("\n".join(absent))
        tables = list[Table]()
        for name in names:
            tables.append(measure_case(CASES[name](), here, options.repeat, bench, not options.no_phases))
            print("\n".join(text_of(tables[-1])), flush=True)
            keep(absent, tables)
    print("\n".join(targets(tables)))
    plot(tables, RESULTS / "latest.svg")
    return 0


def keep(absent: list[str], tables: list[Table]) -> None:
    """What was measured so far: a complete run takes long, and may be stopped."""
    RESULTS.mkdir(exist_ok=True)
    lines = [*absent, *(line for table in tables for line in text_of(table)), *targets(tables)]
    (RESULTS / "latest.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
