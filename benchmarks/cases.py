"""All cases by name."""

from collections.abc import Callable
from functools import partial

from benchmarks.case import Case
from benchmarks.ladders import ladder, rlc
from benchmarks.small import (
    actuator,
    arm,
    ball,
    chain,
    coulomb,
    drive,
    oscillator,
    pendulum,
    rectifier,
    robertson,
    variations,
)

CASES_OF_THEIR_OWN = (oscillator, drive, pendulum, ball, rectifier, coulomb, robertson, actuator, chain, arm)
SIZES = (10, 100, 1_000, 10_000, 100_000)
CASES: dict[str, Callable[[], Case]] = {
    **{f.__name__: f for f in CASES_OF_THEIR_OWN},
    "variations": variations,
    **{f"ladder-{n}": partial(ladder, n) for n in SIZES},
    **{f"ladder-flat-{n}": partial(ladder, n, True) for n in SIZES},
    **{f"rlc-{n}": partial(rlc, n) for n in SIZES},
}
