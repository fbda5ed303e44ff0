"""Data as bytes without pickle: one line of JSON, then arrays.

Records (frozen dataclasses) are kept column by column.  Every other value is JSON, in which a list is a tuple; tuples
that hold tuples are kept in a pool and named by number, so that deep and shared expressions cost what they hold.  Only
classes that the caller lists can come back.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bglang.source import Source, Span

Array: TypeAlias = npt.NDArray[Any]
Classes: TypeAlias = Mapping[str, type]

_KINDS = {"i4": np.int32, "i8": np.int64, "f8": np.float64, "u1": np.uint8}


class BadData(Exception):
    """Bytes that this version did not write."""


# --- the container ----------------------------------------------------------------------------------------------------


def pack(head: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """One line that says what follows, then the arrays, each at a multiple of eight bytes."""
    places, blobs, at = {}, list[bytes](), 0
    for name, array in arrays.items():
        kind = array.dtype.str.lstrip("<|=")
        assert kind in _KINDS, f"{name} is {array.dtype}"
        blob = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        places[name] = [kind, len(array), at]
        blobs.append(blob + bytes(-len(blob) % 8))
        at += len(blobs[-1])
    line = json.dumps({"head": head, "arrays": places}, separators=(",", ":")).encode() + b"\n"
    return line + b" " * (-len(line) % 8) + b"".join(blobs)


def unpack(blob: bytes) -> tuple[Any, dict[str, Array]]:
    """The head, and the arrays as read-only views of the bytes."""
    end = blob.find(b"\n") + 1
    try:
        line = json.loads(blob[:end])
        begin = end + -end % 8
        arrays = {}
        for name, (kind, count, at) in line["arrays"].items():
            if at < 0 or count < 0:
                raise BadData(name)
            arrays[name] = np.frombuffer(blob, _KINDS[kind], count, begin + at)
        return line["head"], arrays
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadData(str(error)) from None


# --- values -----------------------------------------------------------------------------------------------------------


class Writer:
    """Turns values and records into JSON and arrays."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._strings: dict[str, int] = {}
        self._sources: dict[int, int] = {}
        self._source_list: list[Source] = []
        self._spans: dict[int, int] = {}
        self._span_list: list[tuple[int, int, int]] = []
        self._pool: list[list[Any]] = []
        self._pooled: dict[int, int] = {}
        self._alive: list[Any] = []

    def value(self, value: Any) -> Any:
        """Any value as JSON."""
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, Span):
            return {"@": self.span(value)}
        if isinstance(value, tuple):
            return {"x": self._tuple(value)}
        names = getattr(value, "__match_args__", None)
        assert names is not None, f"{type(value)} cannot be stored"
        return {"c": type(value).__name__, "f": [self.value(getattr(value, name)) for name in names]}

    def _tuple(self, root: tuple[Any, ...]) -> int:
        stack: list[tuple[Any, ...]] = [root]
        while stack:
            node = stack[-1]
            if id(node) in self._pooled:
                stack.pop()
                continue
            missing = [a for a in node if isinstance(a, tuple) and id(a) not in self._pooled]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            items = [{"x": self._pooled[id(a)]} if isinstance(a, tuple) else self.value(a) for a in node]
            self._alive.append(node)
            self._pooled[id(node)] = len(self._pool)
            self._pool.append(items)
        return self._pooled[id(root)]

    def span(self, span: Span) -> int:
        found = self._spans.get(id(span))
        if found is None:
            source = self._sources.get(id(span.source))
            if source is None:
                source = self._sources[id(span.source)] = len(self._source_list)
                self._source_list.append(span.source)
            found = self._spans[id(span)] = len(self._span_list)
            self._span_list.append((source, span.start, span.end))
            self._alive.append(span)
        return found

    def records(self, name: str, records: Sequence[Any], leave_out: Sequence[str] = ()) -> dict[str, Any]:
        """A table of records of one class; fields that are left out come back from elsewhere."""
        cls = type(records[0]) if records else None
        names: tuple[str, ...] = getattr(cls, "__match_args__", ())
        columns = {}
        for field in names:
            if field not in leave_out:
                columns[field] = self._column(f"{name}.{field}", [getattr(r, field) for r in records])
        return {"count": len(records), "columns": columns}

    def _column(self, name: str, values: list[Any]) -> Any:
        if all(isinstance(v, str) for v in values):
            strings = self._strings
            self.arrays[name] = np.array([strings.setdefault(v, len(strings)) for v in values], np.int32)
            return "strings"
        if all(v is None or isinstance(v, bool) for v in values):
            self.arrays[name] = np.array([2 if v is None else int(v) for v in values], np.uint8)
            return "flags"
        if all(isinstance(v, Span) for v in values):
            self.arrays[name] = np.array([self.span(v) for v in values], np.int32)
            return "spans"
        return [self.value(v) for v in values]

    def finish(self) -> dict[str, Any]:
        """What a `Reader` needs besides the arrays."""
        spans = np.array(self._span_list, np.int64).reshape(-1, 3)
        for k, word in enumerate(("source", "start", "end")):
            self.arrays[f"span.{word}"] = spans[:, k].copy()
        sources = [[source.name, source.text] for source in self._source_list]
        blobs = [word.encode("utf-8", "surrogatepass") for word in self._strings]
        self.arrays["string.bytes"] = np.frombuffer(b"".join(blobs), np.uint8)
        self.arrays["string.ends"] = np.cumsum([len(blob) for blob in blobs], dtype=np.int64)
        return {"sources": sources, "pool": self._pool}


class Reader:
    """The way back."""

    def __init__(self, head: Any, arrays: Mapping[str, Array], classes: Classes) -> None:
        self.arrays, self._classes = arrays, classes
        self._strings = Strings(arrays["string.bytes"], arrays["string.ends"])
        self._sources = [Source(name, text) for name, text in head["sources"]]
        self._spans = [arrays[f"span.{word}"] for word in ("source", "start", "end")]
        self._made: dict[int, Span] = {}
        self._pool = list[tuple[Any, ...]]()
        for items in head["pool"]:
            self._pool.append(tuple(self.value(item) for item in items))

    def value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            if isinstance(data, list):
                raise BadData("a list that is no tuple")
            return data
        if "x" in data:
            return self._pool[data["x"]]
        if "@" in data:
            return self.span(data["@"])
        return self._classes[data["c"]](*[self.value(item) for item in data["f"]])

    def span(self, number: int) -> Span:
        found = self._made.get(number)
        if found is None:
            source, start, end = (int(column[number]) for column in self._spans)
            found = self._made[number] = Span(self._sources[source], start, end)
        return found

    def columns(self, name: str, table: Any) -> dict[str, "Column"]:
        """The stored fields of a table of records, each a function of the record's number."""
        found = dict[str, Column]()
        for field, kind in table["columns"].items():
            data = kind if isinstance(kind, list) else self.arrays[f"{name}.{field}"]
            if len(data) != table["count"]:
                raise BadData(f"{name}.{field}")
            found[field] = Column(data, self._decoder(kind))
        return found

    def _decoder(self, kind: Any) -> Callable[[Any], Any]:
        if kind == "strings":
            return self._strings.word
        if kind == "flags":
            return (False, True, None).__getitem__
        if kind == "spans":
            return lambda number: self.span(int(number))
        return self.value


class Column:
    """One field of a table of records: by number, or of all records at once."""

    __slots__ = ("_data", "_decode")

    def __init__(self, data: Array | list[Any], decode: Callable[[Any], Any]) -> None:
        self._data, self._decode = data, decode

    def __call__(self, k: int) -> Any:
        return self._decode(self._data[k])

    def all(self) -> list[Any]:
        data = self._data if isinstance(self._data, list) else self._data.tolist()
        known = dict[Any, Any]()  # units, kinds and descriptions repeat
        if isinstance(self._data, list):
            return list(map(self._decode, data))
        return [known[key] if key in known else known.setdefault(key, self._decode(key)) for key in data]


class Strings:
    """Words that are read when somebody asks for them, each once."""

    def __init__(self, data: Array, ends: Array) -> None:
        self._data, self._ends = data.tobytes(), ends
        self._made: dict[int, str] = {}

    def word(self, number: int) -> str:
        found = self._made.get(number)
        if found is None:
            begin = int(self._ends[number - 1]) if number else 0
            found = str(self._data[begin : int(self._ends[number])], "utf-8", "surrogatepass")
            self._made[int(number)] = found
        return found
