"""FMUs in a run: co-simulation at communication points.

Each instance steps from one communication point to the next with the inputs that it was given at the first one; its
outputs stay as they are in between.  A run that begins anew begins with new instances."""

import json
from collections.abc import Sequence
from pathlib import Path

from bglang.diagnostics import SimulationError, UsageError, error
from bglang.interop.fmu_file import WrongFmu, read_fmu
from bglang.interop.fmu_native import Library, Unit
from bglang.records import dataclass
from bglang.source import Source, Span


def key_of(name: str, path: Path, output: str, inputs: Sequence[str], parameters: Sequence[str]) -> str:
    """What an expression says about the unit and the output that it means."""
    return json.dumps([name, str(path), output, list(inputs), list(parameters)])


@dataclass(slots=True)
class _Instance:
    unit: Unit
    time: float
    outputs: dict[str, float]


class FmuPool:
    """The units of one model; `allowed` is the user's word that their native code may run."""

    def __init__(self, allowed: bool) -> None:
        self._allowed = allowed
        self._libraries: dict[str, Library] = {}
        self._instances: dict[str, _Instance] = {}

    def __call__(self, key: str, values: Sequence[float]) -> float:
        """The value of an output at time values[0]; the inputs and parameters follow."""
        name, path, output, inputs, parameters = json.loads(key)
        if not self._allowed:
            raise UsageError(f"`{name}` runs the native code of {path}: allow it with --allow-native")
        time = float(values[0])
        fed = dict(zip(inputs, map(float, values[1:]), strict=False))
        try:
            instance = self._instances.get(name)
            if instance is None or time < instance.time:
                fixed = dict(zip(parameters, map(float, values[1 + len(inputs) :]), strict=True))
                instance = self._begin(name, path, time, fed | fixed)
            elif time > instance.time:
                instance.unit.step(instance.time, time - instance.time)
                instance.unit.set(fed)
                instance.time, instance.outputs = time, {}
            if output not in instance.outputs:
                instance.outputs[output] = instance.unit.get(output)
        except WrongFmu as problem:
            span = Span(Source(path, ""), 0, 0)
            raise SimulationError(error("fmu/run", f"`{name}` failed: {problem}", span, component=name), time) from None
        return instance.outputs[output]

    def _begin(self, name: str, path: str, time: float, values: dict[str, float]) -> _Instance:
        before = self._instances.pop(name, None)
        if before is not None:
            before.unit.close()
        if path not in self._libraries:
            self._libraries[path] = Library(read_fmu(Path(path)))
        unit = Unit(self._libraries[path], name)
        unit.start(time, values)
        self._instances[name] = _Instance(unit, time, {})
        return self._instances[name]

    def close(self) -> None:
        for instance in self._instances.values():
            instance.unit.close()
        self._instances.clear()
        for library in self._libraries.values():
            library.close()
        self._libraries.clear()
