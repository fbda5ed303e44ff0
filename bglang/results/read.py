"""Reading results back, and tables that other programs measured."""

import csv
import json
import os
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bglang.diagnostics import UsageError
from bglang.results.record import Audit, Column, EnergyEntry, Event, Stats
from bglang.results.result import Result, needs
from bglang.results.values import Array, Stored
from bglang.results.write import format_of


def load(path: str | PathLike[str]) -> Result:
    """A stored result, by extension."""
    kind = format_of(path)
    if not Path(path).exists():
        raise UsageError(f"there is no file `{os.fspath(path)}`")
    try:
        return {"csv": _csv, "parquet": _parquet, "mat": _mat, "h5": _h5, "json": _json}[kind](Path(path))
    except UsageError:
        raise
    except Exception as failure:  # readers of damaged files raise whatever they like, h5py a RuntimeError
        why = str(failure).split("\n", 1)[0] or type(failure).__name__
        raise UsageError(f"`{os.fspath(path)}` is no {kind} result that can be read: {why}") from failure


def _result(info: Mapping[str, Any], name: str, time: Array, columns: Sequence[Column], values: Array) -> Result:
    time = np.asarray(time, dtype=np.float64)
    if not len(time):
        raise ValueError("it has no rows")
    if not np.all(np.isfinite(time)):
        raise ValueError(f"row {int(np.argmin(np.isfinite(time))) + 1} has no time")
    if np.any(np.diff(time) < 0):
        raise ValueError(f"time goes back after row {int(np.argmax(np.diff(time) < 0)) + 1}")
    audit = info.get("audit")
    stats = {k: v for k, v in info.get("stats", {}).items() if k != "evaluations"}
    return Result(
        info.get("model", name),
        Stored(time, columns, np.asarray(values, dtype=np.float64)),
        events=[Event(**e) for e in info.get("events", ())],
        stats=Stats(**stats),
        audit=_audit(audit) if audit else None,
        states=info.get("states", ()),
        complete=info.get("complete", True),
        ending=info.get("ending", ""),
    )


def _audit(data: Mapping[str, Any]) -> Audit:
    fields = {k: v for k, v in data.items() if k not in ("relative_error", "entries")}
    return Audit(entries=tuple(EnergyEntry(**e) for e in data["entries"]), **fields)


def _csv(path: Path) -> Result:
    """Our own files, and measurements: other separators, a decimal comma, a time column that is not the first, no
    header."""
    text = path.read_text(encoding="utf-8-sig")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise UsageError(f"`{path}` is empty")
    separator = next((s for s in ("\t", ";", ",") if s in lines[0]), ",")
    rows = list(csv.reader(lines, delimiter=separator))
    header = rows[0]
    if all(_number(cell, separator) is not None for cell in header):
        header, body = ["time", *(f"column[{i}]" for i in range(1, len(header)))], rows
    else:
        body = rows[1:]
    if body and len(body[-1]) < len(header):
        body.pop()  # the last line of a run that was killed while writing it
    table = np.full((len(body), len(header)), np.nan)
    for i, row in enumerate(body):
        if len(row) != len(header):
            raise UsageError(f"`{path}`: line {i + 2} has {len(row)} fields, the header has {len(header)}")
        for k, cell in enumerate(row):
            value = _number(cell, separator)
            table[i, k] = np.nan if value is None else value
    at = next((i for i, name in enumerate(header) if name.strip().lower() in ("time", "t", "time [s]", "t [s]")), 0)
    others = [i for i in range(len(header)) if i != at]
    columns = [Column(header[i].strip()) for i in others]
    return _result({}, path.stem, table[:, at], columns, table[:, others])


def _number(cell: str, separator: str) -> float | None:
    text = cell.strip()
    if separator != ",":
        text = text.replace(",", ".")
    if not text:
        return np.nan
    try:
        return float(text)
    except ValueError:
        return None


def _parquet(path: Path) -> Result:
    table = needs("pyarrow.parquet", "data").read_table(path)
    names = [n for n in table.column_names if n != "time"]
    info = json.loads((table.schema.metadata or {}).get(b"bglang", b"{}"))
    columns = list[Column]()
    for name in names:
        about = table.schema.field(name).metadata or {}
        columns.append(Column(name, about.get(b"unit", b"").decode(), about.get(b"description", b"").decode()))
    values = np.column_stack([table[n].to_numpy() for n in names]) if names else np.empty((table.num_rows, 0))
    return _result(info, path.stem, table["time"].to_numpy(), columns, values)


def _mat(path: Path) -> Result:
    from scipy.io import loadmat

    content = loadmat(path)
    texts = [[str(c[0]) if c.size else "" for c in content[key].ravel()] for key in ("names", "units", "descriptions")]
    columns = [Column(*of) for of in zip(*texts, strict=True)]
    info = json.loads(str(content["info"][0])) if content.get("info") is not None and content["info"].size else {}
    return _result(info, path.stem, content["time"].ravel(), columns, content["values"])


def _h5(path: Path) -> Result:
    with needs("h5py", "data").File(path, "r") as file:
        made = sorted(file.values(), key=lambda d: d.attrs.get("order", 0))
        rows = min(len(d) for d in made)  # a run that was killed may have written some columns further than others
        time = next(d[:rows] for d in made if d.attrs.get("name") == "time")
        others = [d for d in made if d.attrs.get("name") != "time"]
        columns = [Column(d.attrs["name"], d.attrs["unit"], d.attrs["description"]) for d in others]
        values = np.column_stack([d[:rows] for d in others]) if others else np.empty((rows, 0))
        info = json.loads(file.attrs.get("bglang", "{}"))
    return _result(info, path.stem, time, columns, values)


def _json(path: Path) -> Result:
    content = json.loads(path.read_text(encoding="utf-8"))
    variables = content["variables"]
    columns = [Column(name, about["unit"], about["description"]) for name, about in variables.items()]
    time = np.array(content["time"], dtype=np.float64)
    values = np.empty((len(time), len(columns)))
    for i, about in enumerate(variables.values()):
        values[:, i] = [np.nan if v is None else v for v in about["values"]]
    return _result(content, path.stem, time, columns, values)
