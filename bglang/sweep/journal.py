"""Rows of a sweep on disk while it goes on: a csv that grows, read again when the sweep is called again."""

import csv
import os
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from bglang.diagnostics import UsageError
from bglang.results.values import Array
from bglang.results.write import format_of, journal_of
from bglang.sweep.points import Point, Spec
from bglang.sweep.runner import Done
from bglang.sweep.table import TEXTS, Cells, Table, csv_head, csv_line, read_csv, read_table, write_table
from bglang.sweep.vary import Value

TAIL = ("status", "code", "message", "steps", "seconds", "rows", "point")


def value_names(spec: Spec) -> tuple[str, ...]:
    """Names of the recorded numbers: `v.f` at the end of the run, `min(v.f)`, `max(v.f)`, `v.f@0.5`."""
    if spec.trajectories:
        return spec.columns
    named = [name if s == "final" else f"{s}({name})" for s in spec.statistics for name in spec.columns]
    return (*named, *(f"{name}@{t:g}" for t in spec.at for name in spec.columns))


def column_names(spec: Spec) -> tuple[str, ...]:
    return ("run", *spec.names, "time", *value_names(spec), *TAIL)


def make_table(done: Sequence[tuple[Point, Done]], spec: Spec, units: Mapping[str, str], model: str) -> Table:
    """All points as one table, in the order of their numbers."""
    done = sorted(done, key=lambda pair: pair[0].number)
    repeat = [len(_filled(d)[1]) for _, d in done]
    columns = dict[str, Cells]()
    columns["run"] = np.repeat(np.array([float(p.number) for p, _ in done]), repeat)
    for i, name in enumerate(spec.names):
        columns[name] = _spread([p.values[i] for p, _ in done], repeat)
    columns["time"] = np.concatenate([_filled(d)[1] for _, d in done]) if done else np.empty(0)
    values = value_names(spec)
    rows = np.concatenate([_filled(d)[0] for _, d in done]) if done else np.empty((0, len(values)))
    columns |= {name: np.ascontiguousarray(rows[:, i]) for i, name in enumerate(values)}
    tails = [_tail(p, d) for p, d in done]
    for i, name in enumerate(TAIL):
        columns[name] = _spread([tail[i] for tail in tails], repeat)
    return Table(columns, units, model)


def _filled(d: Done) -> tuple[Array, Array]:
    """A run that failed before its first row has one without numbers."""
    if len(d.times):
        return d.rows, d.times
    return np.full((1, d.rows.shape[1]), np.nan), np.full(1, np.nan)


def _tail(point: Point, d: Done) -> tuple[Value, ...]:
    status = "ok" if d.code == 0 else "failed"
    rows = float(len(_filled(d)[1]))
    return status, float(d.code), d.message, float(d.steps), round(d.seconds, 9), rows, point.key


def _spread(values: Sequence[Value], repeat: Sequence[int]) -> Cells:
    if any(isinstance(v, str) for v in values):
        return [v if isinstance(v, str) else _text(v) for v, n in zip(values, repeat, strict=True) for _ in range(n)]
    return np.repeat(np.array([float(v) for v in values]), repeat)


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Journal:
    """The growing file.  `finished` are the points that it held already, by key."""

    def __init__(self, output: str | PathLike[str], spec: Spec, points: Mapping[str, Point], *, retry: bool):
        self.output, self.spec = Path(output), spec
        self.path = self.output if format_of(output) == "csv" else journal_of(output)
        self.finished = self._read(points, retry)
        self._in_order = True
        self._last = 0
        self._begin(points)

    def _read(self, points: Mapping[str, Point], retry: bool) -> dict[str, Done]:
        """Complete runs of this very sweep; anything else that the file may hold is of no use."""
        found = dict[str, Done]()
        for path in dict.fromkeys((self.output, self.path)):
            if not path.exists():
                continue
            try:
                table = read_csv(os.fspath(path)) if path == self.path else read_table(path)
                found |= completed(table, self.spec, points)
            except (UsageError, ValueError, OSError, csv.Error):
                continue
        return {key: d for key, d in found.items() if not (retry and d.code)}

    def _begin(self, points: Mapping[str, Point]) -> None:
        """The file anew with what counts, so that half a line of a killed sweep is gone."""
        kept = sorted(((points[key], d) for key, d in self.finished.items()), key=lambda pair: pair[0].number)
        part = self.path.with_name(self.path.name + ".new")
        with open(part, "w", encoding="utf-8", newline="") as file:
            file.write(csv_head(column_names(self.spec)))
            for point, d in kept:
                file.write(self._lines(point, d))
        os.replace(part, self.path)
        self._last = kept[-1][0].number if kept else 0
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115 - it stays open between calls

    def write(self, point: Point, d: Done) -> None:
        """One point more; on disk when this returns."""
        self._in_order &= point.number > self._last
        self._last = point.number
        data = memoryview(self._lines(point, d).encode())
        while data:
            data = data[self._file.write(data) :]

    def close(self) -> None:
        self._file.close()

    def finish(self, table: Table) -> None:
        """The file that was asked for."""
        self._file.close()
        if self.path != self.output:
            write_table(table, self.output)
            self.path.unlink(missing_ok=True)
        elif not self._in_order:
            write_table(table, self.output)

    def _lines(self, point: Point, d: Done) -> str:
        tail = _tail(point, d)
        head = [float(point.number), *(float(v) if isinstance(v, bool) else v for v in point.values)]
        rows, times = _filled(d)
        return "".join(csv_line([*head, t, *row, *tail]) for t, row in zip(times.tolist(), rows.tolist(), strict=True))


def completed(table: Table, spec: Spec, points: Mapping[str, Point]) -> dict[str, Done]:
    """The points that a table holds completely."""
    columns = table.columns
    names = value_names(spec)
    if not all(name in columns for name in column_names(spec)) or not len(table):
        return {}
    keys = columns["point"]
    keys = keys if isinstance(keys, list) else [str(key) for key in keys]
    where = dict[str, list[int]]()
    for i, key in enumerate(keys):
        if key in points:
            where.setdefault(key, []).append(i)
    numbers = {name: np.asarray(columns[name], dtype=np.float64)
               for name in ("time", *names, *(n for n in TAIL if n not in TEXTS))}  # fmt: skip
    rows = np.column_stack([numbers[name] for name in names]) if names else np.empty((len(keys), 0))
    messages = columns["message"]
    found = dict[str, Done]()
    for key, at in where.items():
        first = at[0]
        if len(at) != int(numbers["rows"][first]):
            continue
        message = messages[first] if isinstance(messages, list) else ""
        found[key] = Done(
            points[key].number, rows[at], numbers["time"][at], int(numbers["code"][first]), message,
            int(numbers["steps"][first]), float(numbers["seconds"][first]),
        )  # fmt: skip
    return found
