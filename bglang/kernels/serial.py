"""A compiled model as bytes: its program, and everything the solver wants to know about its system.

Equations are kept once, in rolled form; the system that comes back shows them when somebody looks (`rebuild`).  Reading
needs neither the parser nor a compiler, and takes a few milliseconds.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import accumulate
from typing import Any

from bglang.diagnostics import Diagnostic, Label
from bglang.equations import system as kinds
from bglang.equations.system import AuditItem, Mode, Output, Row, System, SystemParameter, Unknown
from bglang.graph.ir import Experiment, Table
from bglang.kernels.check import check_program
from bglang.kernels.codec import Array, BadData, Reader, Writer, pack, unpack
from bglang.kernels.lazy import Later, lazy_class, make_records
from bglang.kernels.program import Code, Kernel, Pattern, Program, TableLayout
from bglang.kernels.rebuild import Given, Rebuilder
from bglang.records import dataclass

_CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        *(kinds.Reinit, kinds.Assign, kinds.Terminate, kinds.Assertion, kinds.WhenBranch, kinds.When, kinds.Row),
        *(Table, Experiment, Diagnostic, Label),
    )
}
_LAZY: dict[str, tuple[str, ...]] = {
    "unknowns": ("start", "nominal"),
    "rows": ("residual", "position"),
    "parameters": ("value",),
    "modes": ("roots",),
    "outputs": ("value",),
    "audit": ("power", "energy", "integral"),
}
"""Fields that come back from the program."""
_ARRAYS = ("codes", "counts", "offsets", "index", "levels")


@dataclass(frozen=True, slots=True)
class Stored:
    """A model as it was compiled.  `diagnostics` are the warnings that go with it."""

    system: System
    program: Program
    diagnostics: tuple[Diagnostic, ...] = ()


def write_model(stored: Stored) -> bytes:
    """All outputs must have been lowered, or they could not be shown again."""
    system, program = stored.system, stored.program
    assert len(program.output_numbers) == len(system.outputs)
    writer = Writer()
    head = {
        "name": system.name,
        "program": _program_head(program, writer),
        "tables": {name: writer.records(name, getattr(system, name), leave_out) for name, leave_out in _LAZY.items()},
        "roots": [len(mode.roots) for mode in system.modes],
        "integrals": [-1 if item.integral is None else item.integral[1] for item in system.audit],
        "energies": [item.energy is not None for item in system.audit],
        "rest": {
            name: writer.value(getattr(system, name))
            for name in ("initial", "whens", "assertions", "tables", "experiment")
        },
        "diagnostics": writer.value(stored.diagnostics),
    }
    head["shared"] = writer.finish()
    return pack(head, writer.arrays)


def read_model(blob: bytes) -> Stored:
    """The model; `BadData` for bytes that `write_model` of this version did not write."""
    head, arrays = unpack(blob)
    try:
        program = _read_program(head["program"], arrays)
        check_program(program, head["tables"]["modes"]["count"])
        reader = Reader(head["shared"], arrays, _CLASSES)
        parts: dict[str, Any] = {name: _records(name, head, program, reader) for name in _LAZY}
        rest = {name: reader.value(item) for name, item in head["rest"].items()}
        system = System(name=head["name"], **parts, **rest)
        return Stored(system, program, reader.value(head["diagnostics"]))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise BadData(str(error)) from None


# --- programs ---------------------------------------------------------------------------------------------------------


def _program_head(program: Program, writer: Writer) -> dict[str, Any]:
    arrays = writer.arrays
    for name, kernel in program.kernels.items():
        arrays.update({f"kernel.{name}.{part}": getattr(kernel, part) for part in _ARRAYS})
    for name, pattern in program.patterns.items():
        arrays[f"pattern.{name}.indptr"], arrays[f"pattern.{name}.indices"] = pattern.indptr, pattern.indices
    for name in program.defaults:
        arrays[f"default.{name}"], arrays[f"computed.{name}"] = program.defaults[name], program.computed[name]
    arrays["constants"] = program.constants
    arrays["position_rows"], arrays["output_numbers"] = program.position_rows, program.output_numbers
    return {
        "numbers": [program.n, program.parameters, program.p_size, program.constants_base],
        "codes": [[code.text, code.adds] for code in program.codes],
        "kernels": {name: kernel.size for name, kernel in program.kernels.items()},
        "patterns": {name: [pattern.rows, pattern.columns] for name, pattern in program.patterns.items()},
        "defaults": list(program.defaults),
        "tables": [[getattr(table, name) for name in TableLayout.__match_args__] for table in program.tables],
    }


def _read_program(head: Any, arrays: Mapping[str, Array]) -> Program:
    n, parameters, p_size, constants_base = head["numbers"]
    return Program(
        n=n,
        parameters=parameters,
        p_size=p_size,
        constants_base=constants_base,
        constants=arrays["constants"],
        tables=tuple(TableLayout(*items) for items in head["tables"]),
        codes=tuple(Code(text, adds) for text, adds in head["codes"]),
        kernels={
            name: Kernel(size, *[arrays[f"kernel.{name}.{part}"] for part in _ARRAYS])
            for name, size in head["kernels"].items()
        },
        patterns={
            name: Pattern(rows, columns, arrays[f"pattern.{name}.indptr"], arrays[f"pattern.{name}.indices"])
            for name, (rows, columns) in head["patterns"].items()
        },
        defaults={name: arrays[f"default.{name}"] for name in head["defaults"]},
        computed={name: arrays[f"computed.{name}"] for name in head["defaults"]},
        position_rows=arrays["position_rows"],
        output_numbers=arrays["output_numbers"],
    )


# --- records whose expressions are made when somebody looks -----------------------------------------------------------


_RECORDS: dict[str, Any] = {
    name: lazy_class(cls, _LAZY[name])
    for name, cls in (
        ("unknowns", Unknown),
        ("rows", Row),
        ("parameters", SystemParameter),
        ("modes", Mode),
        ("outputs", Output),
        ("audit", AuditItem),
    )
}


def _records(name: str, head: Any, program: Program, reader: Reader) -> tuple[Any, ...]:
    """The records of one table; those of large models are made when somebody looks at them."""
    table, cls = head["tables"][name], _RECORDS[name]
    names: tuple[str, ...] = cls.__match_args__
    if not table["count"]:
        return ()
    columns: dict[str, Callable[[int], Any]] = {**reader.columns(name, table), **_later(name, head, program)}
    present = [field for field in names if field in columns]
    getters = [columns[field] for field in present]
    if len(present) == len(names):
        return make_records(table["count"], lambda k: cls(*[get(k) for get in getters]), columns)
    # A field that is missing takes its default.
    from dataclasses import fields

    columns |= {f.name: partial(_constant, f.default) for f in fields(cls) if f.name not in columns}
    return make_records(
        table["count"], lambda k: cls(**{field: get(k) for field, get in zip(present, getters, strict=True)}), columns
    )


def _constant(value: Any, k: int) -> Any:
    return value


def _later(name: str, head: Any, program: Program) -> dict[str, Callable[[int], Any]]:
    """The lazy fields of a record by its number."""

    def kernel(which: str) -> Callable[[int], Any]:
        return Rebuilder(program, program.kernels[which]).expression

    if name == "unknowns":
        start, nominal = Given(program, "starts"), Given(program, "nominals")
        return {
            "start": lambda k: Later(start.expression, k),
            "nominal": lambda k: Later(nominal.expression, k) if nominal.exists(k) else None,
        }
    if name == "rows":
        residual, position = kernel("residual"), kernel("position")
        places = {row: k for k, row in enumerate(program.position_rows.tolist())}
        return {
            "residual": lambda k: Later(residual, k),
            "position": lambda k: Later(position, places[k]) if k in places else None,
        }
    if name == "modes":
        root, ends = kernel("roots"), list(accumulate(head["roots"], initial=0))
        return {"roots": lambda k: Later(lambda span: tuple(map(root, span)), range(ends[k], ends[k + 1]))}
    if name == "audit":
        return _audit(head, *[kernel(which) for which in ("powers", "energies", "efforts")])
    value = Given(program, "parameters").expression if name == "parameters" else kernel("outputs")
    return {"value": lambda k: Later(value, k)}


def _audit(
    head: Any, power: Callable[[int], Any], energy: Callable[[int], Any], effort: Callable[[int], Any]
) -> dict[str, Callable[[int], Any]]:
    def integral(k: int) -> Any:
        unknown = head["integrals"][k]
        return None if unknown < 0 else Later(lambda k: (effort(k), unknown), k)

    return {
        "power": lambda k: Later(power, k),
        "energy": lambda k: Later(energy, k) if head["energies"][k] else None,
        "integral": integral,
    }
