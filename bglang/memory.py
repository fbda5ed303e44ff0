"""Requests that were answered before: a model compiled once is not parsed, checked or compiled again.

The request is kept without those values that only fill numbers in; these are given to the compiled model when it runs,
so that `--set k=3` costs nothing either.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from bglang.diagnostics import Diagnostic
from bglang.kernels.store import Store, content_key, default_store

if TYPE_CHECKING:
    from bglang.equations.system import System
    from bglang.graph.ir import BondGraph
    from bglang.kernels.program import Program
    from bglang.kernels.serial import Stored
    from bglang.request import Request


def plain_number(value: object) -> float | None:
    """A value that is a number as it stands: 3, 2.5, "1e-3"; not an expression, list, text or truth value."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    try:
        return float(value) if isinstance(value, str) and value.strip()[-1:].isdigit() else None
    except ValueError:
        return None


class Memory:
    """What is kept of one request.  `overrides` are values of the request that the compiled model takes as numbers."""

    def __init__(self, request: "Request"):
        self.request = request
        self.overrides: dict[str, float] = {}
        self._store: Store = default_store()
        self._settable: frozenset[str] | None = None

    def recall(self) -> "Stored | None":
        """The compiled model; first without the values of the request that are plain numbers, then with all of them."""
        from bglang.kernels.recall import recall

        numbers = {name: n for name, v in self.request.set.items() if (n := plain_number(v)) is not None}
        if numbers:
            key = self._key(without=numbers)
            names = self._read_settable(key) if key else None
            if key and names is not None and all(name in names for name in numbers):
                found = recall(self._store, key)
                if found is not None:
                    self.overrides, self._settable = numbers, names
                    return found
        key = self._key()
        if key is None:
            return None
        found = recall(self._store, key)
        if found is not None:
            self._settable = self._read_settable(key)
        return found if self._settable is not None else None

    def remember(
        self, graph: "BondGraph", system: "System", program: "Program", diagnostics: Iterable[Diagnostic]
    ) -> None:
        """Keep a compiled model for the next process."""
        from bglang.elaborate.libraries import search_path
        from bglang.kernels.recall import remember
        from bglang.kernels.serial import Stored

        key = self._key()
        if key is None:
            return
        origin = self.request.origin
        beside = origin.resolve().parent if isinstance(origin, Path) else None
        files = [Path(name) for name in graph.dependencies]
        folders = [folder for folder in search_path(beside, self.request.libraries) if folder.is_dir()]
        if remember(self._store, key, Stored(system, program, tuple(diagnostics)), files, folders):
            names = sorted(self.settable(graph, system))
            self._store.write(_settable_key(key), json.dumps(names).encode())

    def settable(self, graph: "BondGraph | None", system: "System") -> frozenset[str]:
        """Names that can be given numbers without compiling: free parameters that shape nothing, and starts."""
        if self._settable is None:
            assert graph is not None
            free = {
                q.name
                for q in graph.parameters
                if not (q.structural or q.final or q.constant) and q.type in ("Real", "Integer")
            }
            named = {q.name for q in system.parameters if q.name}
            self._settable = frozenset((free & named) | {f"{u.name}.start" for u in system.unknowns})
        return self._settable

    def _read_settable(self, key: str) -> frozenset[str] | None:
        payload = self._store.read(_settable_key(key))
        return None if payload is None else frozenset(json.loads(payload))

    def _key(self, without: Iterable[str] = ()) -> str | None:
        """What was asked for; None if the main source cannot be read."""
        from bglang.kernels.recall import request_key

        r = self.request
        try:
            if isinstance(r.origin, Path) and r.origin.stat().st_size > r.limits.file_bytes:
                return None
            text = r.origin.read_bytes().decode("latin-1") if isinstance(r.origin, Path) else r.origin.text
        except OSError:
            return None
        main = str(r.origin) + "\0" + str(r.origin.resolve()) if isinstance(r.origin, Path) else r.origin.name
        left = {name: value for name, value in r.set.items() if name not in set(without)}

        settings = {
            "set": sorted((name, repr(value)) for name, value in left.items()),
            "libraries": [str(folder) for folder in r.libraries],
            "path": os.environ.get("BGLANG_PATH", ""),
            "units": r.units,
            "allow_read": r.allow_read,
            "allow_native": r.allow_native,
            "limits": repr(r.limits),
            "demand": list(r.demand),
        }
        return request_key(main, text, r.model, settings)


def _settable_key(key: str) -> str:
    return content_key("settable", key)
