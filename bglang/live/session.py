"""The model behind the page: read again when its files change, run with other values, one run at a time."""

import json
import math
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bglang.api import Model
from bglang.diagnostics import BglangError, Diagnostic, SimulationError, SourceError, UsageError
from bglang.memory import plain_number
from bglang.records import dataclass, field, replace
from bglang.render import render
from bglang.request import Request
from bglang.results.result import Result
from bglang.solve.problem import make_problem

POINTS = 800
"""Rows of a run: more than a page has pixels for are of no use."""
CURVES = 24
EVENTS = 200
"""So many events are listed."""
KEPT = 4
"""So many variants with other structural parameters are kept compiled."""


class Superseded(Exception):
    """A newer request has come: this run is of no use any more."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the page wants to see."""

    values: Mapping[str, str] = field(default_factory=dict[str, str])
    names: tuple[str, ...] = ()
    stop: float | None = None
    tol: float | None = None

    @staticmethod
    def read(data: object) -> "Wish":
        """From JSON; anything else than a wish is a `UsageError`."""
        if not isinstance(data, dict):
            raise UsageError("a wish is an object")
        values, names = data.get("set", {}), data.get("vars", [])
        if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
            raise UsageError("`set` maps names to texts")
        if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
            raise UsageError("`vars` is a list of names")
        return Wish(dict(values), tuple(names[:CURVES]), _number(data, "stop"), _number(data, "tol"))


def _number(data: Mapping[str, object], name: str) -> float | None:
    value = data.get(name)
    if value is None or value == "":
        return None
    number = plain_number(value)
    if number is None:
        raise UsageError(f"`{name}` must be a number, not `{value}`")
    return number


class Session:
    """One model.  `version` counts how often its files have changed."""

    def __init__(self, request: Request, seconds: float):
        self.request, self.seconds = request, seconds
        self.version = 0
        self._changed = threading.Condition()
        self._running = threading.Lock()
        self._newest = 0
        self._variants: dict[str, Model] = {}
        self._model: Model | None = None
        self._problems: tuple[Diagnostic, ...] = ()
        self._wrong = ""
        self._stamps: dict[Path, float] = {}
        self.reload()

    # --- the files ----------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Read the model anew."""
        with self._running:
            self._variants.clear()
            try:
                self._model = Model(self.request)
                self._model.compile()
                self._problems, self._wrong = self._model.warnings, ""
            except SourceError as failure:
                self._problems, self._wrong = failure.diagnostics, "the model is wrong"
            except (BglangError, OSError) as failure:
                self._problems, self._wrong = (), str(failure)
            self._stamps = {path: _stamp(path) for path in self._files()}
        with self._changed:
            self.version += 1
            self._changed.notify_all()

    def _files(self) -> set[Path]:
        origin = self.request.origin
        files = {origin} if isinstance(origin, Path) else set[Path]()
        if self._model is not None:
            try:
                files |= {Path(name) for name in self._model.graph.dependencies}
            except BglangError:  # the text is wrong now; what it used before may be still of interest
                files |= set(self._stamps)
        return files

    def look(self) -> None:
        """Reload if a file has changed."""
        if any(_stamp(path) != stamp for path, stamp in self._stamps.items()):
            self.reload()

    def wait(self, version: int, seconds: float) -> int:
        """The version, as soon as it is another one, or after some seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self.version != version, seconds)
            return self.version

    # --- what the page shows ------------------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """The model: parameters, starts, variables, what is wrong with it."""
        problems = [{"severity": d.severity, "code": d.code, "text": render(d)} for d in self._problems]
        about: dict[str, Any] = {
            "version": self.version, "file": str(self.request.origin), "problems": problems, "wrong": self._wrong,
        }  # fmt: skip
        model = self._model
        if model is None or self._wrong:
            return about
        system = model.compile()
        states = [u.name for u in system.unknowns if u.kind == "state"]
        outputs = [{"name": o.name, "unit": o.unit, "description": o.description} for o in system.outputs]
        return about | {
            "model": model.name,
            "experiment": {"stop": system.experiment.stop, "tol": system.experiment.tolerance},
            "parameters": [*_parameters(model), *_starts(model)],
            "variables": outputs,
            "chosen": states[:6] or [o["name"] for o in outputs[:6]],
        }

    def picture(self) -> str:
        """The bond graph as svg."""
        if self._model is None:
            raise UsageError("there is no model to draw")
        return self._model.draw().svg()

    # --- runs ---------------------------------------------------------------------------------------------------------

    def run(self, wish: Wish) -> dict[str, Any]:
        """Simulate.  `Superseded` if a newer wish came meanwhile: it gets the processor."""
        with self._changed:
            self._newest += 1
            mine = self._newest
        began = time.monotonic()
        late = False

        def look_up(*times: float) -> None:
            nonlocal late
            if mine != self._newest:
                raise Superseded
            if time.monotonic() - began > self.seconds:
                late = True
                raise KeyboardInterrupt  # a run that is interrupted keeps what it has

        with self._running:
            if mine != self._newest:
                raise Superseded
            began = time.monotonic()
            if self._model is None or self._wrong:
                raise UsageError(self._wrong or "there is no model to run")
            try:
                result = self._variant(wish).simulate(
                    wish.stop, wish.tol, POINTS, set=wish.values, progress=look_up, vars=()
                )
                trouble = f"stopped after {self.seconds:g} s of computing" if late else ""
            except SimulationError as failure:
                if failure.result is None:
                    return {"version": self.version, "failed": str(failure)}
                result, trouble = failure.result, str(failure)
            except SourceError as failure:
                return {"version": self.version, "failed": str(failure)}
            return _answer(result, wish.names) | {"version": self.version, "failed": trouble}

    def _variant(self, wish: Wish) -> Model:
        """The compiled model that takes these values as numbers: structural ones have a model of their own."""
        model = self._model
        assert model is not None
        numbers = {name: plain_number(text) for name, text in wish.values.items()}
        if (
            model.numbers({name: n for name, n in numbers.items() if n is not None}) is not None
            and None not in numbers.values()
        ):
            return model
        shaping = {n: text for n, text in wish.values.items() if model.numbers({n: text}) is None}
        key = json.dumps(sorted(shaping.items()))
        if key not in self._variants:
            while len(self._variants) >= KEPT:
                self._variants.pop(next(iter(self._variants)))
            self._variants[key] = Model(replace(self.request, set={**self.request.set, **shaping}))
        return self._variants[key]


def _stamp(path: Path) -> float:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0.0


def _parameters(model: Model) -> list[dict[str, Any]]:
    return [
        {"name": row.name, "value": row.value_text, "unit": row.unit, "description": row.description,
         "group": "parameters" if "." not in row.name else "inside", "number": row.type in ("Real", "Integer"),
         "whole": row.type == "Integer", "structural": row.structural}
        for row in model.parameters()
        if not row.final and row.value is not None
    ]  # fmt: skip


def _starts(model: Model) -> list[dict[str, Any]]:
    system = model.compile()
    starts = make_problem(system, None, model.numbers({}) or {}, model.compiled().model).starts
    return [
        {"name": f"{u.name}.start", "value": f"{float(start):.10g}", "unit": u.unit, "description": "",
         "group": "starts", "number": True, "whole": False, "structural": False}
        for u, start in zip(system.unknowns, starts, strict=True)
        if u.kind == "state"
    ]  # fmt: skip


def _answer(result: Result, names: Sequence[str]) -> dict[str, Any]:
    """Curves with both sides of events, the events, and the energy audit."""
    curves = list[dict[str, Any]]()
    for name in names:
        if name in result:
            t, y = result.curve(name)
            unit = result.units.get(name, "")
            curves.append({"name": name, "unit": unit, "t": _plain(t.tolist()), "y": _plain(y.tolist())})
    audit = result.audit
    return {
        "curves": curves,
        "events": [{"time": e.time, "text": str(e)} for e in result.events[:EVENTS]],
        "count": len(result.events),
        "audit": None if audit is None else {
            "supplied": audit.supplied, "stored": audit.stored, "dissipated": audit.dissipated,
            "modulation": audit.modulation, "jumps": audit.jumps, "error": _finite(audit.error),
            "relative": _finite(audit.relative_error),
            "entries": [{"element": e.element, "kind": e.kind, "energy": _finite(e.energy)} for e in audit.entries],
        },
        "stats": {"method": result.stats.method, "reason": result.stats.reason, "steps": result.stats.steps,
                  "seconds": sum(result.stats.seconds.values())},
        "warnings": [render(d) for d in result.warnings],
    }  # fmt: skip


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _plain(values: Sequence[float]) -> list[float | None]:
    return [float(f"{v:.7g}") if math.isfinite(v) else None for v in values]
