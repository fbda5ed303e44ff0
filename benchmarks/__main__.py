"""Side by side in one run: `python -m benchmarks [CASE ...] [--repeat 3]`.

Runs are interleaved and the smallest of several counts; what is compared are ratios in this table, never seconds of
different days.  Equal work means equal accuracy: the error that was reached stands beside each time."""

import argparse
import math
import sys
import tempfile
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.peers import Measured, measure, present

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)} (default: all)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each (default: 3)")
    options = parser.parse_args()
    unknown = [name for name in options.cases if name not in CASES]
    if unknown:
        parser.error(f"there is no case {', '.join(unknown)}")
    peers = present()
    lines = [f"{name}: absent ({why})" for name, why in peers.items() if why]
    here = [name for name, why in peers.items() if not why]
    with tempfile.TemporaryDirectory() as folder:
        for name in options.cases or CASES:
            lines += table(name, here, options.repeat, Path(folder))
    text = "\n".join(lines) + "\n"
    print(text, end="")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "latest.md").write_text(text)
    return 0


def table(name: str, peers: list[str], repeat: int, folder: Path) -> list[str]:
    """One case: rows of peers, with ratios to a warm bglang."""
    case = CASES[name]()
    best: dict[str, Measured] = {}
    failed: dict[str, str] = {}
    for _ in range(repeat):
        for peer in peers:
            if peer in failed:
                continue
            try:
                found = measure(peer, case, folder)
            except Exception as problem:
                failed[peer] = str(problem)[:100]
                continue
            if found is not None and (peer not in best or found.process < best[peer].process):
                solve = min(found.solve, best[peer].solve) if peer in best else found.solve
                best[peer] = Measured(found.process, solve, found.value)
    reference = case.reference()
    base = best.get("bglang warm")
    lines = [
        "",
        f"## {name}",
        "",
        "| program | process s | ratio | solve ms | ratio | error |",
        "|---|---|---|---|---|---|",
    ]
    for peer, m in best.items():
        error = abs(m.value - reference) / max(abs(reference), 1e-300)
        ratio = m.process / base.process if base else math.nan
        solve = m.solve / base.solve if base and base.solve else math.nan
        lines.append(f"| {peer} | {m.process:.3f} | {ratio:.2f} | {1e3 * m.solve:.2f} | {solve:.2f} | {error:.1e} |")
    return lines + [f"| {peer} | failed: {why} | | | | |" for peer, why in failed.items()]


if __name__ == "__main__":
    sys.exit(main())
