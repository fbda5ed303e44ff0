"""Points of a sweep: one value for each parameter that varies, and a name that follows from all that matters."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from bglang import __version__
from bglang.diagnostics import UsageError
from bglang.solve.problem import Method
from bglang.sweep.vary import Value, Variation

if TYPE_CHECKING:
    from bglang.api import Model

MOST = 100_000_000


@dataclass(frozen=True, slots=True)
class Spec:
    """What is asked of every run.

    `columns` are the variables that are recorded, `statistics` what of them ("final", "min", "max"), `at` times at
    which they are; `trajectories`: all their rows instead."""

    names: tuple[str, ...]
    columns: tuple[str, ...]
    statistics: tuple[str, ...] = ("final",)
    at: tuple[float, ...] = ()
    trajectories: bool = False
    start: float | None = None
    stop: float | None = None
    tol: float | None = None
    points: int | None = None
    method: Method = "auto"
    max_step: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One run: its number from 1, its values in the order of the names, and its name."""

    number: int
    values: tuple[Value, ...]
    key: str


def count(variations: Sequence[Variation], pairs: bool) -> int:
    """How many points there are."""
    if pairs:
        lengths = {v.name: len(v.values) for v in variations if len(v.values) > 1}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"`{name}` has {n}" for name, n in lengths.items())
            raise UsageError(f"only variations of equal length can be paired: {listed}")
        return max(lengths.values(), default=1)
    total = 1
    for v in variations:
        total *= len(v.values)
    if total > MOST:
        raise UsageError(f"the grid has {total} points; that is too many (pair the variations with `--zip`?)")
    return total


def points(variations: Sequence[Variation], pairs: bool, identity: str) -> Iterator[Point]:
    """All points: a grid, the last variation fastest, or pairs (a single value goes with all)."""
    total = count(variations, pairs)
    if pairs:
        rows: Iterator[tuple[Value, ...]] = zip(
            *(v.values * total if len(v.values) == 1 else v.values for v in variations), strict=True
        )
    else:
        rows = product(*(v.values for v in variations))
    for number, values in enumerate(rows, 1):
        yield Point(number, tuple(values), digest(identity, repr(values)))


def identity(model: "Model", spec: Spec) -> str:
    """The name of a model and of what is asked of it: texts of all its files, values, options, version."""
    request, graph = model.request, model.graph
    origin = request.origin
    files = {Path(name) for name in graph.dependencies}
    if isinstance(origin, Path):
        files.add(origin.resolve())
    texts = sorted(_file_digest(path) for path in files)
    own = "" if isinstance(origin, Path) else origin.text
    settings = sorted((name, repr(value)) for name, value in request.set.items())
    asked = json.dumps([graph.name, settings, request.units, asdict(spec)], default=str)
    return digest(__version__, own, *texts, asked)


def _file_digest(path: Path) -> str:
    try:
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return f"gone: {path.name}"


def digest(*texts: str) -> str:
    made = hashlib.blake2b(digest_size=12)
    for text in texts:
        made.update(text.encode())
        made.update(b"\0")
    return made.hexdigest()
