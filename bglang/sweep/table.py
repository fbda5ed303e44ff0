"""The table of a sweep: columns of numbers and texts; and the files that hold it."""

import csv
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bglang.diagnostics import UsageError
from bglang.records import dataclass
from bglang.results.result import needs
from bglang.results.values import Array
from bglang.results.write import csv_name, format_of, replace_file, write_h5

Cells: TypeAlias = Array | list[str]
TEXTS = ("status", "message", "point")
"""Columns of a sweep that hold text whatever they look like."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns by name, all of one length; `units` for those that have one."""

    columns: Mapping[str, Cells]
    units: Mapping[str, str]
    model: str = ""

    def __len__(self) -> int:
        return min((len(cells) for cells in self.columns.values()), default=0)


def csv_head(names: Iterable[str]) -> str:
    return ",".join(csv_name(name) for name in names) + "\n"


def csv_line(cells: Sequence[object]) -> str:
    """Shortest numbers that read back exactly; what is no number is empty."""
    return ",".join(map(_csv_cell, cells)) + "\n"


def _csv_cell(cell: object) -> str:
    if isinstance(cell, str):
        return csv_name(cell.replace("\r", " ").replace("\n", " "))
    if isinstance(cell, float):
        return "" if math.isnan(cell) else repr(int(cell) if cell.is_integer() and abs(cell) < 1e15 else cell)
    return str(cell)


def write_table(table: Table, path: str | PathLike[str]) -> None:
    """The whole table at once, in the format of the extension."""
    kind = format_of(path)
    writers: dict[str, Callable[[Table, str], None]] = {
        "csv": _write_csv, "parquet": _write_parquet, "h5": _write_h5, "json": _write_json, "mat": _write_mat,
    }  # fmt: skip
    replace_file(path, lambda part: writers[kind](table, part))


def read_table(path: str | PathLike[str]) -> Table:
    """What a sweep wrote; `UsageError` for anything else."""
    kind = format_of(path)
    readers = {"csv": read_csv, "parquet": _read_parquet, "h5": _read_h5, "json": _read_json, "mat": _read_mat}
    try:
        return readers[kind](os.fspath(path))
    except UsageError:
        raise
    except Exception as failure:  # readers of damaged files raise whatever they like
        why = str(failure).split("\n", 1)[0] or type(failure).__name__
        raise UsageError(f"`{os.fspath(path)}` is no {kind} table that can be read: {why}") from failure


def _is_text(cells: Cells) -> bool:
    return isinstance(cells, list)


# --- csv --------------------------------------------------------------------------------------------------------------


def _write_csv(table: Table, path: str) -> None:
    lists = [cells if isinstance(cells, list) else cells.tolist() for cells in table.columns.values()]
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(csv_head(table.columns))
        file.writelines(csv_line(row) for row in zip(*lists, strict=True))


def read_csv(path: str) -> Table:
    """A csv that may end in the middle of a line: that line does not count."""
    text = Path(path).read_bytes().decode("utf-8", "replace")
    rows = list(csv.reader(text[: text.rfind("\n") + 1].split("\n")[:-1]))
    if not rows:
        return Table({}, {})
    names = rows[0]
    body = [row for row in rows[1:] if len(row) == len(names)]
    texts = {name: [row[i] for row in body] for i, name in enumerate(names)}
    return Table({name: cells if name in TEXTS else _cells(cells) for name, cells in texts.items()}, {})


def _cells(texts: list[str]) -> Cells:
    try:
        return np.array([float(t) if t else math.nan for t in texts])
    except ValueError:
        return texts


# --- other formats ----------------------------------------------------------------------------------------------------


def _write_parquet(table: Table, path: str) -> None:
    arrow = needs("pyarrow", "data")
    parquet = needs("pyarrow.parquet", "data")
    fields, arrays = [], []
    for name, cells in table.columns.items():
        kind = arrow.string() if _is_text(cells) else arrow.float64()
        fields.append(arrow.field(name, kind, metadata={"unit": table.units.get(name, "")}))
        arrays.append(arrow.array(cells, kind))
    schema = arrow.schema(fields, metadata={"bglang": json.dumps({"model": table.model})})
    parquet.write_table(arrow.Table.from_arrays(arrays, schema=schema), path)


def _read_parquet(path: str) -> Table:
    arrow = needs("pyarrow", "data")
    found = needs("pyarrow.parquet", "data").read_table(path)
    columns = dict[str, Cells]()
    for name in found.column_names:
        text = arrow.types.is_string(found.schema.field(name).type)
        columns[name] = found[name].to_pylist() if text else np.asarray(found[name].to_numpy(), dtype=np.float64)
    return Table(columns, {})


def _write_h5(table: Table, path: str) -> None:
    h5py = needs("h5py", "data")

    def fill(file: Any) -> None:
        file.attrs["bglang"] = json.dumps({"model": table.model})
        for order, (name, cells) in enumerate(table.columns.items()):
            kind = h5py.string_dtype() if _is_text(cells) else "f8"
            made = file.create_dataset(
                name.replace("/", "∕"), data=np.array(cells, dtype=object if _is_text(cells) else None), dtype=kind
            )
            made.attrs["name"], made.attrs["unit"], made.attrs["order"] = name, table.units.get(name, ""), order

    write_h5(path, fill)


def _read_h5(path: str) -> Table:
    h5py = needs("h5py", "data")
    with h5py.File(path, "r") as file:
        made = sorted(file.values(), key=lambda d: d.attrs["order"])
        return Table(
            {d.attrs["name"]: list(d.asstr()[:]) if h5py.check_string_dtype(d.dtype) else d[:] for d in made}, {}
        )


def _write_json(table: Table, path: str) -> None:
    variables = {
        name: {"unit": table.units.get(name, ""), "values": cells if isinstance(cells, list) else _plain(cells)}
        for name, cells in table.columns.items()
    }
    Path(path).write_text(
        json.dumps({"model": table.model, "variables": variables}, ensure_ascii=False, allow_nan=False),
        encoding="utf-8",
    )


def _plain(cells: Array) -> list[float | None]:
    return [v if math.isfinite(v) else None for v in cells.tolist()]


def _read_json(path: str) -> Table:
    variables = json.loads(Path(path).read_text(encoding="utf-8"))["variables"]
    columns = dict[str, Cells]()
    for name, about in variables.items():
        text = any(isinstance(v, str) for v in about["values"]) or name in TEXTS
        columns[name] = about["values"] if text else np.array([math.nan if v is None else v for v in about["values"]])
    return Table(columns, {})


def _write_mat(table: Table, path: str) -> None:
    """`names` (a cell array) and `column1`, `column2`, ...: names with dots are no names in MATLAB."""
    from scipy.io import savemat

    def cells(texts: Sequence[str]) -> Any:
        made = np.empty((len(texts), 1), dtype=object)
        made[:, 0] = list(texts)
        return made

    content: dict[str, Any] = {"names": cells(list(table.columns)), "model": table.model}
    for i, values in enumerate(table.columns.values(), 1):
        content[f"column{i}"] = cells(values) if isinstance(values, list) else values[:, None]
    savemat(path, content, appendmat=False, do_compression=True)


def _read_mat(path: str) -> Table:
    from scipy.io import loadmat

    content = loadmat(path)
    columns = dict[str, Cells]()
    for i, name in enumerate(content["names"].ravel(), 1):
        values = content[f"column{i}"].ravel()
        text = values.dtype == object
        columns[str(name[0])] = [str(v[0]) if v.size else "" for v in values] if text else values.astype(np.float64)
    return Table(columns, {})
