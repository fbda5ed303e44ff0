"""Compiled models survive the way to disk and back; everything else than what was written is refused."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_cases import ladder, system

from bglang.diagnostics import Label, warning
from bglang.equations.system import (
    Assertion,
    Assign,
    AuditItem,
    Mode,
    Reinit,
    Row,
    System,
    SystemParameter,
    Terminate,
    Unknown,
    When,
    WhenBranch,
)
from bglang.expr import Expr
from bglang.expr.evaluate import Values, evaluate
from bglang.graph.ir import Experiment, Table
from bglang.kernels.check import check_program
from bglang.kernels.codec import BadData, Reader, Writer, pack, unpack
from bglang.kernels.facts import is_explicit
from bglang.kernels.load import load
from bglang.kernels.lower import lower
from bglang.kernels.parameters import parameter_vector, table_blocks
from bglang.kernels.recall import recall, remember, request_key
from bglang.kernels.serial import Stored, read_model, write_model
from bglang.source import Source, Span
from bglang.store import Store

SOURCE = Source("däs.bg", "model M\n  Real x;\nend M;\n")


def span(a: int, b: int) -> Span:
    return Span(SOURCE, a, b)


def rich() -> System:
    """One of everything."""
    y: Expr = ("y", 0)
    table = Table("t", (0.0, 1.0, ("p", 0)), (0.0, 2.0, 1.0), "pchip", "linear", "natural", span(3, 4))
    base = system([("-", ("d", 0), ("table", y, "t")), ("-", ("*", ("p", 1), ("y", 1)), ("^", y, 2.0))], tables=[table])
    shared: Expr = ("+", y, 1.0)
    for _ in range(60):
        shared = ("+", shared, shared)  # as a tree this would be enormous
    when = When(
        (
            WhenBranch(
                (("<", y, 0.0), ("initial",)),
                (
                    Reinit(0, ("*", -0.8, ("pre", y)), span(0, 5)),
                    Assign(1, ("+", ("pre", ("z", 1)), 1.0), span(1, 2)),
                    Terminate("enough", span(2, 3)),
                    Assertion(("noEvent", (">", y, 0.0)), "positive", "warning", "c", span(4, 6)),
                ),
                span(0, 9),
            ),
        ),
        "ball",
    )
    return replace(
        base,
        unknowns=(
            Unknown("mass.p", "state", ("*", 2.0, ("p", 0)), True, None, 3.0, "kg.m/s", span(0, 1)),
            Unknown("'odd name\n'", "algebraic", 0.25, False, True, None, "", span(1, 2)),
        ),
        rows=(
            replace(base.rows[0], span=span(5, 6)),
            Row(base.rows[1].residual, False, "law", span(6, 7), ("-", y, ("p", 0))),
        ),
        initial=(Row(("if", ("initial",), shared, 0.0), False, "", span(7, 8)),),
        parameters=(
            SystemParameter("k", 4.0, True, 0.0, None, span(8, 9)),
            SystemParameter("", ("sqrt", ("p", 0)), False, None, ("p", 0), span(8, 10)),
        ),
        modes=(
            Mode("relation", (("-", y, 1.0),), (), "m", "x > 1", "c", span(0, 2), True, False),
            Mode("discrete", (), (0.5,), "n", "n", "c", span(0, 3), time_only=True),
            Mode("floor", (("-", y, ("z", 2)), ("-", ("+", ("z", 2), 1.0), y)), (y,), "f", "floor(x)", "", span(0, 4)),
        ),
        whens=(when,),
        assertions=(Assertion((">", ("p", 0), 0.0), "k", "error", "", span(9, 10)),),
        audit=(
            AuditItem("mass", "Translational", "stored", ("*", y, ("d", 0)), ("*", 0.5, y, y)),
            AuditItem("spring", "", "stored", ("*", y, ("y", 1)), None, (("sin", y), 0)),
            AuditItem("damper", "", "dissipated", ("*", y, y)),
        ),
        experiment=Experiment(0.0, 5.0, 1e-8, 0.1, True, (("method", "radau"), ("alpha", 2.0), ("x", True))),
    )


def stored(case: System) -> Stored:
    found = warning(
        "law/odd", "odd", span(0, 4), label="here", related=[Label(span(1, 2), "there")], reason="r", hint="h"
    )
    return Stored(case, lower(case, range(len(case.outputs))), (found,))


def flat(value: Any) -> Any:
    """Anything as plain values that can be compared; expressions by what they are worth."""
    if isinstance(value, Span):
        return value.source.name, value.source.text, value.start, value.end
    if hasattr(value, "__dataclass_fields__"):
        return {name: flat(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, tuple) and value and isinstance(value[0], str) and value[0] not in ("method", "alpha", "x"):
        return "expression", worth(value)
    if isinstance(value, tuple):
        return tuple(flat(item) for item in value)
    return value


PROGRAM = lower(rich())
LONG = np.concatenate([[0.7, 0.2], np.linspace(0.1, 2.0, 1000)])
P = parameter_vector(PROGRAM)
LONG_P = np.concatenate([P, LONG])
AT = Values(t=0.3, y=LONG, d=LONG, p=LONG_P, z=[1.0, 2.0, 0.0], tables=table_blocks(PROGRAM, P), initial=True)


def worth(e: Expr) -> float:
    return evaluate(e, AT)


def test_a_system_comes_back_with_everything_it_had() -> None:
    case = rich()
    blob = write_model(stored(case))
    back = read_model(blob)
    for name in System.__slots__:
        expected, found = flat(getattr(case, name)), flat(getattr(back.system, name))
        assert json.dumps(found) == json.dumps(expected), name
    assert flat(back.diagnostics) == flat(stored(case).diagnostics)
    assert isinstance(back.system.rows[0], Row)
    assert replace(back.system.rows[0], component="other").component == "other"
    assert write_model(back) == write_model(read_model(write_model(back)))


def test_a_program_comes_back_and_runs(tmp_path: Path) -> None:
    case = ladder(3)
    before = stored(case)
    after = read_model(write_model(before)).program
    p = parameter_vector(after)
    assert np.array_equal(p, parameter_vector(before.program))
    y, d = np.linspace(0, 1, 6), np.linspace(1, 2, 6)
    first, second = (load(program, "llvm", Store(tmp_path)) for program in (before.program, after))
    assert second.compiled == 0
    assert np.array_equal(first.residual(0.5, y, d, p, np.zeros(1)), second.residual(0.5, y, d, p, np.zeros(1)))
    assert np.array_equal(first.jacobian(0.5, y, d, p, np.zeros(1)), second.jacobian(0.5, y, d, p, np.zeros(1)))


def test_a_wide_sum_comes_back_as_a_sum() -> None:
    terms = [("*", ("p", k), ("y", k)) for k in range(40)]
    case = system([("+", *terms), *[("d", k) for k in range(1, 40)]], [float(k) for k in range(40)])
    row = read_model(write_model(stored(case))).system.rows[0].residual
    y = np.linspace(1, 2, 40)
    assert evaluate(row, Values(y=y, p=np.arange(40.0))) == pytest.approx(float(np.arange(40) @ y))


def test_a_large_model_opens_without_making_its_records() -> None:
    case = ladder(200)
    back = read_model(write_model(stored(case))).system
    assert len(back.rows) == 400 and not isinstance(back.rows, tuple)
    for first, second in ((case.unknowns, back.unknowns), (case.rows, back.rows), (case.outputs, back.outputs)):
        assert second[-1] is second[len(second) - 1] and second[3:5] == (second[3], second[4])
        assert [flat(item) for item in second[390:]] == [flat(item) for item in first[390:]]
    assert [q.name for q in back.parameters] == [q.name for q in case.parameters]
    assert len(back.rows + case.rows) == len(case.rows + back.rows) == 800


def test_bytes_that_nobody_wrote_are_refused() -> None:
    blob = write_model(stored(rich()))
    for bad in (b"", b"{}\n", b"not json\n", blob[:100], blob[: len(blob) // 2], blob[:-8]):
        with pytest.raises(BadData):
            read_model(bad)


def test_programs_whose_indices_point_elsewhere_are_refused() -> None:
    program = lower(ladder(3))
    check_program(program, 1)
    kernel = program.kernels["residual"]
    for change in (
        {"index": kernel.index + 1000},
        {"index": kernel.index - 1000},
        {"size": 3},
        {"offsets": kernel.offsets + len(kernel.index)},
        {"counts": kernel.counts * 100},
    ):
        broken = replace(program, kernels={**program.kernels, "residual": replace(kernel, **change)})
        with pytest.raises(BadData):
            check_program(broken, 1)
    with pytest.raises(BadData):
        check_program(replace(program, p_size=program.p_size + 1), 1)
    pattern = program.patterns["jacobian"]
    wrong = {"jacobian": replace(pattern, indices=pattern.indices + 50)}
    with pytest.raises(BadData):
        check_program(replace(program, patterns={**program.patterns, **wrong}), 1)


def test_only_listed_classes_come_back() -> None:
    writer = Writer()
    head = {"value": writer.value(Label(span(0, 1), "x"))}
    head["shared"] = writer.finish()
    line, arrays = unpack(pack(head, writer.arrays))
    with pytest.raises(KeyError):
        Reader(line["shared"], arrays, {}).value(line["value"])


def test_explicit_models_are_known_as_such() -> None:
    assert is_explicit(lower(ladder(3)))
    assert not is_explicit(lower(rich()))
    assert not is_explicit(lower(system([("+", ("*", 2.0, ("d", 0)), ("y", 0))])))
    assert not is_explicit(lower(system([("d", 1), ("d", 0)])))
    assert not is_explicit(lower(system([("-", ("d", 0), ("d", 1)), ("d", 1)])))
    assert not is_explicit(lower(system([("+", ("d", 0), ("^", ("d", 0), 2.0))])))


def test_a_model_is_recalled_while_its_files_are_the_same(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache")
    assert store.folder is not None
    store.folder.mkdir(mode=0o700)
    library = tmp_path / "lib"
    library.mkdir()
    part = library / "Part.bg"
    part.write_text("package Part end Part;")
    key = request_key("m.bg", "model M end M;", None, {"n": 3})
    assert recall(store, key) is None
    assert remember(store, key, stored(rich()), [part, library / "missing.bg"], [library])
    assert recall(store, key) is not None
    assert request_key("m.bg", "model M end M; ", None, {"n": 3}) != key
    assert request_key("m.bg", "model M end M;", "M", {"n": 3}) != key
    assert request_key("m.bg", "model M end M;", None, {"n": 4}) != key
    (library / "notes.txt").write_text("no library")
    assert recall(store, key) is not None
    (library / "New.bg").write_text("package New end New;")
    assert recall(store, key) is None, "a new file might be found first"
    (library / "New.bg").unlink()
    assert recall(store, key) is not None
    part.write_text("package Part  end Part;")
    assert recall(store, key) is None
    part.unlink()
    assert recall(store, key) is None


def test_a_model_whose_outputs_were_not_lowered_is_remembered_with_them(tmp_path: Path) -> None:
    case = ladder(2)
    assert remember(Store(tmp_path), "k" * 64, Stored(case, lower(case, [])), [])
    back = recall(Store(tmp_path), "k" * 64)
    assert back is not None and len(back.program.output_numbers) == len(case.outputs)


def test_recalling_needs_no_parser_and_no_compiler(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o700)
    assert remember(Store(tmp_path), "k" * 64, stored(ladder(20)), [])
    script = (
        "import sys\nfrom pathlib import Path\nfrom bglang.kernels.recall import recall\n"
        "from bglang.store import Store\n"
        "model = recall(Store(Path(sys.argv[1])), 'k' * 64)\n"
        "print(len(model.system.rows), *sorted({'numba', 'scipy', 'sympy', 'lark', 'llvmlite'} & set(sys.modules)))\n"
    )
    out = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["40"]
