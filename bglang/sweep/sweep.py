"""A sweep: from what is varied to a table, going on where an earlier one stopped."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from typing import TYPE_CHECKING

from bglang.diagnostics import SourceError, UsageError
from bglang.records import dataclass, replace
from bglang.results.names import select
from bglang.results.result import needs
from bglang.solve.problem import Method
from bglang.sweep.journal import Journal, make_table, value_names
from bglang.sweep.points import Point, Spec, identity, points
from bglang.sweep.runner import Done, plain
from bglang.sweep.table import Cells, Table, write_table
from bglang.sweep.vary import Variation, variations
from bglang.sweep.workers import run_points

if TYPE_CHECKING:
    import pandas

    from bglang.api import Model

STATISTICS = ("final", "min", "max")
Progress = Callable[[int, int, int], None]
"""Called with the points that are done, all points, and those that failed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A point that has no result: its number, its values, the exit code that `run` would have given, and why."""

    run: int
    values: Mapping[str, object]
    code: int
    message: str


class Sweep:
    """The table of a sweep: `sweep["k"]`, `sweep["v.f"]`, `sweep["max(v.f)"]` are arrays beside each other.

    `failures` lists the points that have no result, `reused` counts those that an earlier sweep had done; `complete` is
    False when the sweep was interrupted."""

    def __init__(self, table: Table, failures: Sequence[Failure], total: int, reused: int, complete: bool):
        self.table = table
        self.failures = tuple(failures)
        self.total, self.reused, self.complete = total, reused, complete

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.table.columns)

    def __getitem__(self, name: str) -> Cells:
        try:
            return self.table.columns[name]
        except KeyError:
            raise UsageError(f"the sweep has no column `{name}`; it has {', '.join(self.names)}") from None

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"<Sweep of {self.table.model}: {self.total} runs{failed}, {len(self)} rows>"

    def to_dataframe(self) -> "pandas.DataFrame":
        """A pandas DataFrame; units in `.attrs["units"]`."""
        frame = needs("pandas", "data").DataFrame(dict(self.table.columns))
        frame.attrs["units"] = dict(self.table.units)
        return frame

    def save(self, path: str | PathLike[str]) -> None:
        """Write to csv, parquet, mat, h5 or json, by extension."""
        write_table(self.table, path)


def sweep(
    model: "Model",
    varied: Mapping[str, object] | Iterable[str],
    *,
    pairs: bool = False,
    vars: str | Sequence[str] = (),
    statistics: Sequence[str] = ("final",),
    at: Sequence[float] = (),
    trajectories: bool = False,
    start: float | None = None,
    stop: float | None = None,
    tol: float | None = None,
    points_: int | None = None,
    method: Method = "auto",
    max_step: float | None = None,
    workers: int | None = 1,
    scheduler: str | None = None,
    output: str | PathLike[str] | None = None,
    retry: bool = False,
    progress: Progress | None = None,
) -> Sweep:
    """Run the model for all values.  See `Model.sweep`."""
    variety = variations(varied)
    for statistic in statistics:
        if statistic not in STATISTICS:
            raise UsageError(f"there is no statistic `{statistic}`; there are {', '.join(STATISTICS)}")
    spec = Spec(
        tuple(v.name for v in variety), _columns(model, vars), tuple(dict.fromkeys(statistics)), tuple(at),
        trajectories, start, stop, tol, points_, method, max_step,
    )  # fmt: skip
    check_names(model, variety)
    key = identity(model, spec)
    wanted = {point.key: point for point in points(variety, pairs, key)}
    journal = Journal(output, spec, wanted, retry=retry) if output is not None else None
    done = [(wanted[k], d) for k, d in journal.finished.items()] if journal is not None else []
    reused = len(done)
    finished = {point.key for point, _ in done}
    rest = [point for point in wanted.values() if point.key not in finished]
    complete = _run(model, spec, rest, key, workers, scheduler, journal, done, len(wanted), progress)
    table = make_table(done, spec, _units(model, spec), model.name)
    if journal is not None and complete:
        journal.finish(table)
    return Sweep(table, _failures(done, spec), len(wanted), reused, complete)


def _run(
    model: "Model", spec: Spec, rest: Sequence[Point], key: str, workers: int | None, scheduler: str | None,
    journal: Journal | None, done: list[tuple[Point, Done]], total: int, progress: Progress | None,
) -> bool:  # fmt: skip
    """Run what is left; False when it was interrupted: what was done is kept."""
    failed = sum(1 for _, d in done if d.code)
    count = (os.cpu_count() or 1) if workers is None else workers
    if count < 1:
        raise UsageError(f"a sweep needs at least one worker, not {count}")
    try:
        for point, d in run_points(model, spec, rest, key, count, scheduler) if rest else ():
            done.append((point, d))
            failed += bool(d.code)
            if journal is not None:
                journal.write(point, d)
            if progress is not None:
                progress(len(done), total, failed)
    except KeyboardInterrupt:
        return False
    finally:
        if journal is not None:
            journal.close()
    return True


def check_names(model: "Model", variety: Sequence[Variation]) -> None:
    """Every varied name must be a parameter or a start: better told now than once for every point."""
    first = {v.name: plain(v.values[0]) for v in variety}
    if model.numbers(first) is None:
        from bglang.api import Model

        with suppress(SourceError):  # the value may be wrong; the name is not
            Model(replace(model.request, set={**model.request.set, **first}))


def recompiled(model: "Model", variety: Sequence[Variation]) -> list[str]:
    """Those variations that need the model to be compiled for each of their values."""
    return [v.name for v in variety if any(model.numbers({v.name: value}) is None for value in v.values)]


def _columns(model: "Model", patterns: str | Sequence[str]) -> tuple[str, ...]:
    system = model.compile()
    names = [o.name for o in system.outputs]
    if patterns:
        return tuple(names[i] for i in select(names, patterns))
    states = {u.name for u in system.unknowns if u.kind == "state"}
    return tuple(name for name in names if name in states) or tuple(names)


def _units(model: "Model", spec: Spec) -> dict[str, str]:
    system = model.compile()
    unit = {o.name: o.unit for o in system.outputs}
    found = {"time": "s"}
    names = value_names(spec)
    for i, name in enumerate(names):
        found[name] = unit.get(spec.columns[i % len(spec.columns)], "")
    return found


def _failures(done: Iterable[tuple[Point, Done]], spec: Spec) -> list[Failure]:
    failed = sorted(((p, d) for p, d in done if d.code), key=lambda pair: pair[0].number)
    return [Failure(p.number, dict(zip(spec.names, p.values, strict=True)), d.code, d.message) for p, d in failed]
