"""Random bond graphs until the time is up: `python -m tests.soak --minutes 10 --seed 1`.
With `--fuzz`, spoiled sources instead: `python -m tests.soak --fuzz --minutes 10 --workers 2`.

Every failure is printed with its seed and its source, so that it can be minimised into a test."""

import argparse
import re
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from soak.checks import TooLong, check
from soak.fuzz import fuzz
from soak.minimise import minimise
from soak.physics import Model
from soak.random_models import random_model
from soak.writings import source


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--most", type=int, default=10**9, help="at most so many models")
    parser.add_argument("--minimise", action="store_true", help="print failing models as small as they can be made")
    parser.add_argument("--fuzz", action="store_true", help="spoiled sources instead of random models")
    parser.add_argument("--workers", type=int, default=1, help="processes of --fuzz")
    options = parser.parse_args()
    if options.fuzz:
        return spoil(options)
    end, seed, seen, failures = time.monotonic() + 60 * options.minutes, options.seed, Counter[str](), 0
    while time.monotonic() < end and seed - options.seed < options.most:
        model = random_model(seed)
        try:
            outcome = check(model, seed)
            seen["ran" if outcome.ran else outcome.code] += 1
        except (Exception, TooLong):
            failures += 1
            traceback.print_exc(limit=-4, file=sys.stdout)
            small = minimise(model, lambda m, seed=seed: failure(m, seed)) if options.minimise else model
            print(f"--- seed {seed}\n{source(small)}", flush=True)
        seed += 1
    print(f"{seed - options.seed} models from seed {options.seed}: {dict(seen)}")
    print(f"{seed - options.seed - failures} passed, {failures} failed")
    return 1 if failures else 0


def failure(model: Model, seed: int) -> str | None:
    """How a model fails, without its numbers."""
    try:
        check(model, seed)
    except (Exception, TooLong) as problem:
        return type(problem).__name__ + re.split(r"[:`\d]", str(problem))[0]
    return None


def spoil(options: argparse.Namespace) -> int:
    tried, seen, failures = fuzz(options.minutes, options.seed, options.most, options.workers)
    for failure in failures:
        print(f"--- seed {failure.seed}\n{failure.what}")
    print(f"{tried} spoiled sources from seed {options.seed}: {seen}")
    print(f"{tried - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
