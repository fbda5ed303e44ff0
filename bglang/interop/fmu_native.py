"""The native code of an FMU (FMI 2.0, co-simulation), called through ctypes.

This is the only place where bglang runs code that came with a model; callers have been told to by the user."""

import ctypes
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
from pathlib import Path
from typing import Any

from bglang.interop.fmu_export import host
from bglang.interop.fmu_file import Fmu, FmuVariable, WrongFmu, check_members

_LOGGER = CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p)
_CALLOC = CFUNCTYPE(c_void_p, c_size_t, c_size_t)
_FREE = CFUNCTYPE(None, c_void_p)
_FINISHED = CFUNCTYPE(None, c_void_p, c_int)
WARNING = 1
"""Statuses up to this one are good."""


class _Callbacks(Structure):
    _fields_ = (("log", _LOGGER), ("allocate", _CALLOC), ("release", _FREE), ("finished", _FINISHED),
                ("environment", c_void_p))  # fmt: skip


class Library:
    """The binary of one archive, unpacked into a private folder and loaded."""

    def __init__(self, fmu: Fmu) -> None:
        self.fmu = fmu
        if "CoSimulation" not in fmu.identifiers:
            raise WrongFmu("it offers model exchange only; units for co-simulation can be used")
        self.folder = Path(tempfile.mkdtemp(prefix="bglang-fmu-"))  # readable for this user only
        try:
            self._native = ctypes.CDLL(str(self._unpack()))
        except OSError as problem:
            self.close()
            raise WrongFmu(f"its binary cannot be loaded: {problem}") from None
        except WrongFmu:
            self.close()
            raise

    def _unpack(self) -> Path:
        """The binary of this platform and the resources; nothing else is needed."""
        platform, ending = host()
        binary = f"binaries/{platform}/{self.fmu.identifiers['CoSimulation']}{ending}"
        with zipfile.ZipFile(self.fmu.path) as archive:
            check_members(self.fmu.path, archive)
            names = set(archive.namelist())
            if binary not in names:
                known = sorted({n.split("/")[1] for n in names if n.startswith("binaries/") and n.count("/") > 1})
                has = f"; it has one for {', '.join(known)}" if known else ""
                raise WrongFmu(f"it holds no binary for this platform, {platform}{has}")
            folder = f"binaries/{platform}/"
            for name in names:
                if name.startswith(("resources/", folder)):
                    archive.extract(name, self.folder)
        return self.folder / binary

    def function(self, name: str, *types: object, result: object = c_int) -> "ctypes._NamedFuncPointer":
        try:
            found = getattr(self._native, name)
        except AttributeError:
            raise WrongFmu(f"its binary has no function `{name}`") from None
        found.argtypes, found.restype = types, result
        return found  # type: ignore[no-any-return]

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class Unit:
    """One instance, from its start on."""

    def __init__(self, library: Library, name: str) -> None:
        self.library, self.name, self.messages = library, name, list[str]()
        self._inputs = {v.name: v for v in library.fmu.of("input", "parameter")}
        self._outputs = {v.name: v for v in library.fmu.of("output")}
        calls = ctypes.CDLL(None)
        self._callbacks = _Callbacks(
            _LOGGER(self._log), ctypes.cast(calls.calloc, _CALLOC), ctypes.cast(calls.free, _FREE), _FINISHED(), None
        )
        make = library.function(
            "fmi2Instantiate", c_char_p, c_int, c_char_p, c_char_p, POINTER(_Callbacks), c_int, c_int, result=c_void_p
        )
        resources = (library.folder / "resources").as_uri()
        self._c: int | None = make(
            name.encode(), 1, library.fmu.guid.encode(), resources.encode(), ctypes.byref(self._callbacks), 0, 0
        )
        if not self._c:
            raise WrongFmu(self._told("it cannot be instantiated"))

    def _log(self, _: object, __: object, status: int, category: bytes, text: bytes) -> None:
        if status > WARNING and len(self.messages) < 20:
            self.messages.append(text.decode("utf-8", "replace")[:300])

    def _told(self, what: str) -> str:
        said = [m for m in self.messages if m != "%s"]
        return f"{what}{f' ({said[-1]})' if said else ''}"

    def _call(self, name: str, *arguments: tuple[object, object]) -> None:
        function = self.library.function(name, c_void_p, *(kind for kind, _ in arguments))
        status = function(self._c, *(value for _, value in arguments))
        if status > WARNING:
            raise WrongFmu(self._told(f"`{name}` failed with status {status}"))

    def start(self, time: float, values: Mapping[str, float]) -> None:
        self._call("fmi2SetupExperiment", (c_int, 0), (c_double, 0.0), (c_double, time), (c_int, 0), (c_double, 0.0))
        self.set(values)
        self._call("fmi2EnterInitializationMode")
        self._call("fmi2ExitInitializationMode")

    def set(self, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            v = self._inputs[name]
            kind, convert = _TYPES[v.type]
            array = (kind * 1)(convert(value))
            self._call(f"fmi2Set{v.type}", *_references([v]), (c_size_t, 1), (POINTER(kind), array))

    def get(self, name: str) -> float:
        v = self._outputs[name]
        kind, _ = _TYPES[v.type]
        array = (kind * 1)()
        self._call(f"fmi2Get{v.type}", *_references([v]), (c_size_t, 1), (POINTER(kind), array))
        return float(array[0])

    def step(self, time: float, length: float) -> None:
        self._call("fmi2DoStep", (c_double, time), (c_double, length), (c_int, 1))

    def close(self) -> None:
        if self._c:
            self.library.function("fmi2FreeInstance", c_void_p, result=None)(self._c)
            self._c = None


def _references(variables: Sequence[FmuVariable]) -> list[tuple[object, object]]:
    return [(POINTER(c_uint), (c_uint * len(variables))(*(v.reference for v in variables)))]


_TYPES: dict[str, tuple[Any, Callable[[float], float]]] = {
    "Real": (c_double, float),
    "Integer": (c_int, round),
    "Boolean": (c_int, lambda x: int(x != 0.0)),
}
