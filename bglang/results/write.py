"""Files of results: csv grows with the run; parquet, mat, h5 and json are made at the end, beside a csv that grew.

A writer never leaves half a row: when the disk is full the file is cut back to the last complete row, and the error
says how far it goes.  What is made at the end is complete or not there.
"""

import json
import math
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bglang.diagnostics import UsageError
from bglang.results.record import Column
from bglang.results.values import Array

if TYPE_CHECKING:
    from bglang.results.result import Result

FORMATS = {".csv": "csv", ".parquet": "parquet", ".mat": "mat", ".h5": "h5", ".hdf5": "h5", ".json": "json"}
CHUNK = 4096


class Writer(Protocol):
    """Takes rows as the run makes them.  `path` is where they are to be found now."""

    path: Path
    rows: int

    def write(self, time: Array, values: Array) -> None: ...

    def close(self) -> None: ...


def format_of(path: str | PathLike[str]) -> str:
    """Which format an extension means."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        known = ", ".join(sorted({f".{f}" for f in FORMATS.values()}))
        raise UsageError(f"`{os.fspath(path)}`: results are written to {known}; the extension says which")
    return FORMATS[suffix]


def open_writer(path: str | PathLike[str], columns: Sequence[Column]) -> Writer:
    """A file that grows with the run.  For formats that cannot grow it is a csv beside the file, made into it at the
    end (`finish`), which survives if the run does not."""
    if format_of(path) == "csv":
        return CsvWriter(Path(path), columns)
    return CsvWriter(journal_of(path), columns)


def journal_of(path: str | PathLike[str]) -> Path:
    """Where rows are kept while a file that cannot grow is being computed."""
    target = Path(path)
    return target.with_name(target.name + ".part.csv")


def finish(writer: Writer, path: str | PathLike[str], result: "Result", names: Sequence[str]) -> None:
    """The end of a run: close, and turn a journal into the file that was asked for."""
    writer.close()
    if format_of(path) == "csv":
        return
    save(result, path, names)
    writer.path.unlink(missing_ok=True)


class CsvWriter:
    """Comma-separated, one header line, shortest numbers that read back exactly."""

    def __init__(self, path: Path, columns: Sequence[Column]):
        self.path, self.rows = path, 0
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115 - it stays open between calls
        self._good = 0
        self._put((",".join(csv_name(n) for n in ("time", *(c.name for c in columns))) + "\n").encode())

    def write(self, time: Array, values: Array) -> None:
        table = np.column_stack((time, values))
        for first in range(0, len(table), 64):
            rows = table[first : first + 64]
            self._put(_rows_as_text(rows))
            self.rows += len(rows)

    def close(self) -> None:
        self._file.close()

    def _put(self, text: bytes) -> None:
        data = memoryview(text)
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as failure:
            done = len(text) - len(data)
            whole = text.rfind(b"\n", 0, done) + 1 if self._good else 0
            self.rows += text.count(b"\n", 0, whole)
            with suppress(OSError):  # a device cannot be cut; the first failure is the one to report
                self._file.truncate(self._good + whole)
            failure.filename = os.fspath(self.path)
            raise
        self._good = self._file.tell()


def _rows_as_text(table: Array) -> bytes:
    """Lines of numbers.  Writing numbers is most of the time that a large result takes, and orjson's writer of numpy
    arrays takes a sixth of `repr`; it has no word for what is not finite."""
    import orjson

    if np.isfinite(table).all():
        text = orjson.dumps(np.ascontiguousarray(table), option=orjson.OPT_SERIALIZE_NUMPY)
        return text[2:-2].replace(b"],[", b"\n") + b"\n"
    return "".join(",".join(map(repr, row)) + "\n" for row in table.tolist()).encode()


def csv_name(name: str) -> str:
    """A name as a csv field."""
    if any(c in name for c in ',"\n\r'):
        return '"' + name.replace('"', '""') + '"'
    return name


def save(result: "Result", path: str | PathLike[str], names: Sequence[str]) -> None:
    """A whole result at once."""
    kind = format_of(path)
    if kind == "csv":
        columns = _columns(result, names)
        writer = open_writer(path, columns)
        try:
            step = max(1, 2_000_000 // max(1, len(names)))
            table = result.values(names)
            for first in range(0, len(result), step):
                writer.write(result.time[first : first + step], table[first : first + step])
        finally:
            writer.close()
    elif kind == "h5":
        _save_h5(result, path, names)
    elif kind == "parquet":
        _save_parquet(result, path, names)
    elif kind == "mat":
        _save_mat(result, path, names)
    else:
        _save_json(result, path, names)


def metadata(result: "Result") -> dict[str, Any]:
    """What goes beside the curves: plain data for json."""
    from dataclasses import asdict

    return {
        "model": result.model,
        "complete": result.complete,
        "ending": result.ending,
        "states": list(result.states),
        "events": [asdict(e) for e in result.events],
        "stats": result.stats.as_dict(),
        "audit": result.audit.as_dict() if result.audit else None,
    }


def _columns(result: "Result", names: Sequence[str]) -> list[Column]:
    known = {c.name: c for c in result.columns}
    return [known[n] for n in names]


def _save_h5(result: "Result", path: str | PathLike[str], names: Sequence[str]) -> None:
    """One data set a variable, named as the variable (a `/` becomes `∕`), unit and description as attributes."""
    table = result.values(names)

    def fill(file: Any) -> None:
        for order, column in enumerate((Column("time", "s"), *_columns(result, names))):
            values = result.time if order == 0 else table[:, order - 1]
            made = file.create_dataset(column.name.replace("/", "∕"), data=values, dtype="f8")
            made.attrs["name"], made.attrs["unit"] = column.name, column.unit
            made.attrs["description"], made.attrs["order"] = column.description, order
        file.attrs["bglang"] = json.dumps(_plain(metadata(result)))

    write_h5(path, fill)


def write_h5(path: str | PathLike[str], fill: Callable[[Any], None]) -> None:
    """An h5 file, made in memory: the library brings the process down when its own writing fails."""
    from bglang.results.result import needs

    options = {"libver": "latest", "driver": "core", "backing_store": False}
    with needs("h5py", "data").File("result.h5", "w", **options) as file:
        fill(file)
        file.flush()
        image = file.id.get_file_image()
    replace_file(path, lambda part: Path(part).write_bytes(image))


def _save_parquet(result: "Result", path: str | PathLike[str], names: Sequence[str]) -> None:
    from bglang.results.result import needs

    arrow = needs("pyarrow", "data")
    parquet = needs("pyarrow.parquet", "data")
    table = result.values(names)
    fields = [arrow.field("time", arrow.float64(), metadata={"unit": "s"})]
    fields += [
        arrow.field(c.name, arrow.float64(), metadata={"unit": c.unit, "description": c.description})
        for c in _columns(result, names)
    ]
    schema = arrow.schema(fields, metadata={"bglang": json.dumps(_plain(metadata(result)))})
    arrays = [result.time, *(np.ascontiguousarray(table[:, i]) for i in range(len(names)))]
    replace_file(
        path,
        lambda part: parquet.write_table(arrow.Table.from_arrays(list(map(arrow.array, arrays)), schema=schema), part),
    )


def _save_mat(result: "Result", path: str | PathLike[str], names: Sequence[str]) -> None:
    """`time`, `values` (rows x columns) and the cell arrays `names`, `units`, `descriptions`; `info` is json."""
    from scipy.io import savemat

    columns = _columns(result, names)

    def cells(texts: Sequence[str]) -> Any:
        made = np.empty((len(texts), 1), dtype=object)
        made[:, 0] = list(texts)
        return made

    content = {
        "time": result.time[:, None],
        "values": result.values(names),
        "names": cells([c.name for c in columns]),
        "units": cells([c.unit for c in columns]),
        "descriptions": cells([c.description for c in columns]),
        "info": json.dumps(_plain(metadata(result))),
    }
    replace_file(path, lambda part: savemat(part, content, appendmat=False, do_compression=True))


def _save_json(result: "Result", path: str | PathLike[str], names: Sequence[str]) -> None:
    table = result.values(names)
    variables = {
        c.name: {"unit": c.unit, "description": c.description, "values": table[:, i].tolist()}
        for i, c in enumerate(_columns(result, names))
    }
    content = _plain(metadata(result) | {"time": result.time.tolist(), "variables": variables})
    replace_file(path, lambda part: Path(part).write_text(json.dumps(content, ensure_ascii=False, allow_nan=False)))


def replace_file(path: str | PathLike[str], write: Any) -> None:
    """Write beside the file and rename: a reader sees the old file or the new one, never half of it."""
    target = Path(path)
    part = target.with_name(target.name + ".part")
    try:
        write(os.fspath(part))
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def _plain(value: Any) -> Any:
    """Data that json can hold: what is no number becomes null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value
