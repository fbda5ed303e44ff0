"""Every diagnostic, as the user sees it.

A case is `tests/errors/<code>.bg` with the slash of the code replaced by a hyphen (`syntax-missing-end.bg`; further
cases of one code have a hyphen and a word or number more) and beside it the expected text, `.txt`, which
`--update-golden` writes.  A first line like `// golden: --limit nesting=5 --set n=3 --units warn --model M --lib L`
gives the case those options, `--causality` stops before numbers are needed, `--form field` makes the equations in
that form, `--export` makes it ready for an exporter, `--run` simulates the model.
The code must be among the messages of its case.
"""

import argparse
import ast
import re
import shlex
from contextlib import suppress
from pathlib import Path

import pytest

from bglang.diagnostics import Diagnostic, Report, SimulationError, SourceError
from bglang.equations.system import System
from bglang.limits import Limits, with_settings
from bglang.render import render_all
from bglang.source import Source
from bglang.syntax.parse import parse
from bglang.syntax.read import read_source

FOLDER = Path(__file__).parent / "errors"
FILES = {path.stem: path.name for kind in ("bg", "mck", "enp") for path in FOLDER.glob(f"*.{kind}")}
CASES = sorted(FILES)
PACKAGE = Path(__file__).parent.parent / "bglang"


def options_of(text: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--units", default="error")
    parser.add_argument("--model")
    parser.add_argument("--lib", action="append", default=[])
    parser.add_argument("--causality", action="store_true", help="stop before numbers are needed")
    parser.add_argument("--form", default="", help="the equations in this form, not those of the solver")
    parser.add_argument("--allow-native", action="store_true", help="FMUs may be used")
    parser.add_argument("--export", choices=["c", "mck"], help="what exporters refuse, too")
    parser.add_argument("--run", action="store_true", help="simulate it")
    found = re.match(r"// golden: (.*)", text)
    return parser.parse_args(shlex.split(found[1]) if found else [])


def diagnose(path: Path) -> list[Diagnostic]:
    """All messages of a file, from as many stages as it gets through."""
    report = Report()
    if path.suffix != ".bg":
        import_file(path, report)
        return report.diagnostics
    options = options_of(path.read_bytes()[:400].decode("utf-8", "replace"))
    limits = with_settings(Limits(), options.limit)
    source = read_source(path, report, limits)
    if source is None or parse(source, report, limits) is None:
        return report.diagnostics
    with suppress(SourceError):  # its diagnostics are the report's
        compile_model(path, options, limits, report)
    return report.diagnostics


def import_file(path: Path, report: Report) -> None:
    """Messages of the importers."""
    from bglang.interop import enport, enport_source, mck, text_files

    source = text_files.read_source(path, report)
    assert source is not None
    if path.suffix == ".mck":
        mck.read_mck(source, report)
    elif (model := enport.read_enport(source, report)) is not None:
        enport_source.enport_source(model, report)


def compile_model(path: Path, options: argparse.Namespace, limits: Limits, report: Report) -> None:
    from bglang import pipeline
    from bglang.equations.forms import STATES, make_equations

    request = pipeline.Request(
        path,
        model=options.model,
        set=dict(setting.split("=", 1) for setting in options.set),
        libraries=options.lib,
        units=options.units,
        limits=limits,
        allow_native=options.allow_native,
    )
    graph = pipeline.front(request, report, numbers=not options.causality)
    if options.form:
        make_equations(graph, options.form, {}, STATES[0], False, report)
        return
    causality = pipeline.causal(graph, report)
    if not options.causality:
        system = pipeline.equations(graph, causality, report)
        if options.run:
            simulate_model(system, report)
    if options.export == "c":
        from bglang.api import load
        from bglang.interop.exported import prepare

        try:
            prepare(load(path))
        except SourceError as refused:
            report.extend(refused.diagnostics)
    elif options.export == "mck":
        from bglang.api import load
        from bglang.cli.exchange import matrices_of_model

        try:
            matrices_of_model(load(path))
        except SourceError as refused:
            report.extend(refused.diagnostics)


def simulate_model(system: System, report: Report) -> None:
    """Messages of the start and of the run."""
    from bglang.solve.problem import make_problem
    from bglang.solve.run import simulate

    try:
        report.diagnostics.extend(simulate(make_problem(system)).warnings)
    except SourceError as wrong:
        report.diagnostics.extend(wrong.diagnostics)
    except SimulationError as failure:
        report.diagnostics.append(failure.diagnostic)


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, update_golden: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    found = diagnose(Path(FILES[name]))
    text = render_all(found) + "\n"
    expected = Path(f"{name}.txt")
    if update_golden:
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")
    assert all(d.hint for d in found), "every message says what to do"
    codes = {d.code.replace("/", "-") for d in found}
    assert any(name == code or name.startswith(f"{code}-") for code in codes), f"{name} does not produce its code"


def codes_in_source() -> set[str]:
    """Every text in the package that looks like a code."""
    nodes = (node for path in PACKAGE.rglob("*.py") for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {text for text in texts if re.fullmatch(r"[a-z]+/[a-z][a-z0-9-]*", text)}


ROOMS = [
    "arrays", "bonds", "classes", "domains", "equations", "events", "experiment", "export", "expressions", "functions",
    "enport", "graph", "initial", "laws", "limits", "mck", "models", "names", "outside", "parameters", "ports",
    "starts", "syntax", "tables", "types", "units",
]  # fmt: skip


@pytest.mark.parametrize("room", ROOMS)
def test_every_code_has_a_case(room: str) -> None:
    codes = {code for code in codes_in_source() if code.startswith(f"{room}/")}
    missing = {
        c for c in codes if not any(n == c.replace("/", "-") or n.startswith(c.replace("/", "-") + "-") for n in CASES)
    }
    assert not missing


def test_the_source_is_shown_by_the_name_it_was_read_under(tmp_path: Path) -> None:
    report = Report()
    parse(Source("dir/m.bg", "model M"), report)
    assert "dir/m.bg:1:8" in render_all(report)
