"""Error weights: tolerance times (|y| + nominal), where the nominal value may be the size that was shown so far.

A variable that is still at rest takes the size of its likes (its group).  Where a whole group rests, the first steps
that are tried show how large it becomes; a relative tolerance that began at zero would ask for ever smaller steps.
"""

from bglang.solve.native.intrinsics import Reals, Table, ints, jit, reals, root
from bglang.solve.native.layout import (
    BASE,
    DOUBTS,
    GIVEN,
    GROUP,
    GROUP_SIZE,
    LARGEST,
    NGROUPS,
    NOISE,
    REALS,
    RESTING,
    RTOL,
    SIZE,
    WEIGHT,
    N,
)

EPS = 2.0**-52
# A variable's own size counts down to this part of its likes' size: below it is noise of a variable that should rest.
SMALLEST_PART = 1e-6
NOISE_MARGIN = 20.0  # weights stay this far above what rounding errors do
MOST_DOUBTS = 8
NOTICEABLE = 1.05  # growth of a group before its members' weights are found anew
# A variable that is smaller than this part of the largest one rests, and a group counts as that large: less is what an
# iteration leaves where zero is the solution (rounding errors of rounding errors), in whatever units.
TINY = 1e-28


@jit
def _find_groups(c: Table) -> None:
    """The largest size in each group, whether some group rests, and what follows for the weights."""
    size, group, largest = reals(c, SIZE), ints(c, GROUP), reals(c, GROUP_SIZE)
    for g in range(c[NGROUPS]):
        largest[g] = 0.0
    overall = 0.0
    for i in range(c[N]):
        if size[i] > largest[group[i]]:
            largest[group[i]] = size[i]
            overall = max(overall, size[i])
    c[RESTING] = 0
    for g in range(c[NGROUPS]):
        if largest[g] == 0.0:
            c[RESTING] = 1
        else:
            largest[g] = max(largest[g], TINY * overall)
    _find_bases(c)


@jit
def _moves(c: Table, i: int, now: float) -> bool:
    """Whether a variable that was at rest has a size, or is only shaken by rounding."""
    r, noise = reals(c, REALS), reals(c, NOISE)
    return NOISE_MARGIN * noise[i] < now < 1e300 and now > TINY * r[LARGEST]


@jit
def _note_largest(c: Table, y: Reals) -> None:
    r, size = reals(c, REALS), reals(c, SIZE)
    largest = r[LARGEST]
    for i in range(c[N]):
        now = max(abs(y[i]), size[i])
        if largest < now < 1e300:
            largest = now
    r[LARGEST] = largest


@jit
def _find_bases(c: Table) -> None:
    size, group, base, largest = reals(c, SIZE), ints(c, GROUP), reals(c, BASE), reals(c, GROUP_SIZE)
    part = max(SMALLEST_PART, 1000 * EPS / reals(c, REALS)[RTOL])
    for i in range(c[N]):
        likes = largest[group[i]]
        if likes == 0.0:
            likes = 1.0
        base[i] = likes if size[i] == 0.0 else max(size[i], part * likes)


@jit
def begin_sizes(c: Table, y: Reals) -> None:
    """At a new start."""
    note_sizes(c, y)
    _find_groups(c)


@jit
def note_sizes(c: Table, y: Reals) -> None:
    """Remember how large the variables have been.  Groups are looked at again when they have grown noticeably.

    What rounding does to a variable that rests (a mass held by dry friction) says nothing about its size."""
    size, given, base = reals(c, SIZE), ints(c, GIVEN), reals(c, BASE)
    group, largest = ints(c, GROUP), reals(c, GROUP_SIZE)
    again = False
    _note_largest(c, y)
    for i in range(c[N]):
        now = abs(y[i])
        if now > size[i] and given[i] == 0 and now < 1e300 and (size[i] > 0.0 or _moves(c, i, now)):
            again = again or size[i] == 0.0 or now > NOTICEABLE * largest[group[i]]
            size[i] = now
            base[i] = max(base[i], now)
    if again:
        _find_groups(c)


@jit
def learn_sizes(c: Table, y: Reals, step: Reals, factor: float, err: Reals) -> bool:
    """Let resting variables show their size in a step that is tried; True if that woke a whole group.

    Only values that are larger than twice their estimated error and than what rounding may do count."""
    size, group, largest = reals(c, SIZE), ints(c, GROUP), reals(c, GROUP_SIZE)
    woke = False
    for i in range(c[N]):
        if size[i] == 0.0:
            now = abs(y[i] + factor * step[i])
            if 2.0 * abs(err[i]) <= now and _moves(c, i, now):
                size[i] = now
                woke = woke or largest[group[i]] == 0.0
    _find_groups(c)
    return woke


@jit
def set_weights(c: Table, y: Reals, rtol: float) -> None:
    base, noise, weight = reals(c, BASE), reals(c, NOISE), reals(c, WEIGHT)
    for i in range(c[N]):
        wanted, least = rtol * (abs(y[i]) + base[i]), NOISE_MARGIN * noise[i]
        weight[i] = wanted if wanted > least else least


@jit
def doubt_resting(c: Table, rtol: float, err: Reals) -> None:
    """Variables of resting groups whose movement is not larger than its error make the step fail, but only so often:

    what moves like a high power of time looks like that in every first step, however short."""
    group, largest, weight = ints(c, GROUP), reals(c, GROUP_SIZE), reals(c, WEIGHT)
    doubtful = False
    for i in range(c[N]):
        if largest[group[i]] == 0.0 and _moves(c, i, abs(err[i])):
            doubtful = True
            weight[i] = 1e300 if c[DOUBTS] >= MOST_DOUBTS else rtol * abs(err[i])
    if doubtful:
        c[DOUBTS] += 1


@jit
def mean_size(square: float, fourth: float) -> float:
    """From the sums of e^2 and e^4: the root mean square over those entries that matter.

    Dividing by the number of all variables would let errors hide in a large model of which only a part moves; with
    sum(e^4) / sum(e^2) entries count by their own share: n equal ones have their size, a single one has its own."""
    if square == 0.0:
        return 0.0
    if not square < 1e100:  # also NaN
        return root(square)
    return root(fourth / square)


@jit
def weighted_size(c: Table, v: Reals) -> float:
    """The size of v in weights.  Two sums of each kind, so that one addition need not wait for the other."""
    weight, n = reals(c, WEIGHT), c[N]
    square, fourth, square_odd, fourth_odd = 0.0, 0.0, 0.0, 0.0
    for i in range(0, n - 1, 2):
        e, f = v[i] / weight[i], v[i + 1] / weight[i + 1]
        e, f = e * e, f * f
        square, square_odd = square + e, square_odd + f
        fourth, fourth_odd = fourth + e * e, fourth_odd + f * f
    if n % 2 == 1:
        e = v[n - 1] / weight[n - 1]
        e *= e
        square += e
        fourth += e * e
    return mean_size(square + square_odd, fourth + fourth_odd)
