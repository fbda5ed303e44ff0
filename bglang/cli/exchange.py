"""Commands `import` and `export`: models to and from other platforms."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bglang.cli.common import GOOD, add_model_options, load_model, show
from bglang.diagnostics import Report, SourceError, UsageError, error
from bglang.interop.mck import MckFile
from bglang.source import Source, Span

if TYPE_CHECKING:
    from bglang.api import Model
    from bglang.interop.mck_export import Exported

HELP = {
    "import": """\
Reads a model of another platform and writes it as bglang source.  A file that is wrong gives its line and a reason,
and nothing is written.

examples:
  bglang import mck beam.mck                             the expanded bond graph, printed
  bglang import mck beam.mck --form modal -o beam.bg     ... as modal oscillators, into a file
  bglang import mck beam.mck --dry-run                   only tell what the file holds
  bglang import mck --mass m.mtx --stiffness k.mtx       matrices in MatrixMarket files
  bglang import mck matrices.npz                         arrays M, K and C of numpy
  bglang import enport model.enp -o model.bg             a model of ENPORT/PC
  bglang import fmu valve.fmu -o valve.bg                a model that uses an FMU; none of its code runs""",
    "export": """\
Writes a model for another platform.

examples:
  bglang export c motor.bg -o motor                      a folder of C99 that runs the model, without other libraries
  bglang export fmu motor.bg -o motor.fmu                a unit for other simulators (FMI 2.0)
  bglang export modelica motor.bg -o Motor.mo            the flat equations as a Modelica model
  bglang export mck frame.bg -o frame.mck                M, C and K of a linear model""",
}


def configure(name: str, parser: argparse.ArgumentParser) -> None:
    parser.epilog = HELP[name]
    kinds = parser.add_subparsers(dest="kind", metavar="FORMAT", required=True)
    if name == "import":
        mck = kinds.add_parser("mck", help="mass, damping and stiffness matrices")
        mck.add_argument("file", nargs="?", metavar="FILE", help="an MCK file, or an .npz archive with M, K and C")
        mck.add_argument("--mass", metavar="M.mtx", help="the mass matrix, in a MatrixMarket file")
        mck.add_argument("--stiffness", metavar="K.mtx", help="the stiffness matrix")
        mck.add_argument("--damping", metavar="C.mtx", help="the damping matrix, if there is one")
        mck.add_argument("--form", choices=["multiport", "modal", "state"], default="multiport")
        mck.add_argument("--dry-run", action="store_true", help="only tell what was read")
        enport = kinds.add_parser("enport", help="a model file of ENPORT/PC")
        enport.add_argument("file", metavar="FILE", help="an .ENP file")
        enport.add_argument("--dry-run", action="store_true", help="only tell what was read")
        fmu = kinds.add_parser("fmu", help="a unit of FMI 2.0")
        fmu.add_argument("file", metavar="FILE", help="an .fmu file")
        fmu.add_argument("--dry-run", action="store_true", help="only tell what the unit offers")
        for each in (mck, enport, fmu):
            each.add_argument("-o", "--output", metavar="OUT.bg", help="where the source goes (default: printed)")
    else:
        from bglang.cli.exports import configure_exports

        configure_exports(kinds)
        mck = kinds.add_parser("mck", help="M, C and K of a linear model")
        add_model_options(mck)
        mck.add_argument("-o", "--output", metavar="OUT.mck", required=True, help="the file to write")
        mck.add_argument("--digits", type=int, default=17, metavar="N", help="digits of every number (default 17)")


def run(name: str, options: argparse.Namespace) -> int:
    actions: dict[tuple[str, str], Callable[[argparse.Namespace], int]] = {
        ("import", "mck"): _import_mck,
        ("import", "enport"): _import_enport,
        ("import", "fmu"): _import_fmu,
        ("export", "mck"): _export_mck,
    }
    if (name, options.kind) not in actions:
        from bglang.cli.exports import run_export

        return run_export(options)
    return actions[name, options.kind](options)


# --- import mck ------------------------------------------------------------------------------------------------------


def _import_mck(options: argparse.Namespace) -> int:
    from bglang.interop.mck_report import describe
    from bglang.interop.mck_source import mck_source
    from bglang.interop.modal import NotModal

    report = Report()
    model = _matrices(options, report)
    report.raise_if_errors()
    assert model is not None
    show(report)
    try:
        written = mck_source(model, options.form)
    except NotModal as why:
        place = Span(Source(str(options.file or options.mass), ""), 0, 0)
        reason = f"{str(why)[0].upper()}{str(why)[1:]}."
        problem = error("mck/form", f"this model has no {options.form} form", place, reason=reason)
        raise SourceError((problem,)) from None
    told = describe(model, options.form, written)
    print(told, file=sys.stdout if options.dry_run or options.output else sys.stderr)
    if not options.dry_run:
        _write(written.text, options.output)
    return GOOD


def _matrices(options: argparse.Namespace, report: Report) -> MckFile | None:
    from bglang.interop.matrix_files import read_matrix_market, read_npz
    from bglang.interop.mck import read_mck
    from bglang.interop.text_files import read_source

    given = {"M": options.mass, "C": options.damping, "K": options.stiffness}
    if options.file is None:
        if options.mass is None or options.stiffness is None:
            raise UsageError("give a FILE, or --mass and --stiffness")
        return read_matrix_market({key: _existing(path) for key, path in given.items() if path}, report)
    if any(given.values()):
        raise UsageError("the matrices come from FILE, or from --mass, --stiffness and --damping, not from both")
    path = _existing(options.file)
    if path.suffix.lower() == ".npz":
        return read_npz(path, report)
    source = read_source(path, report)
    return None if source is None else read_mck(source, report)


def _existing(path: str) -> Path:
    if not Path(path).is_file():
        raise UsageError(f"there is no file `{path}`")
    return Path(path)


# --- import enport ---------------------------------------------------------------------------------------------------


def _import_enport(options: argparse.Namespace) -> int:
    from bglang.interop.enport import read_enport
    from bglang.interop.enport_source import enport_source
    from bglang.interop.text_files import read_source

    report = Report()
    source = read_source(_existing(options.file), report)
    model = None if source is None else read_enport(source, report)
    report.raise_if_errors()
    assert model is not None
    text = enport_source(model, report)
    report.raise_if_errors()
    show(report)
    counts = f"{len(model.nodes)} nodes, {len(model.connectors)} connectors, {len(model.equations)} equations"
    told = f"{model.name}: {model.title}\n  read        {counts}"
    if model.remarks:
        told += f"\n  not kept    {len(model.remarks)} lines, which stand in the source as comments"
    print(told, file=sys.stdout if options.dry_run or options.output else sys.stderr)
    if not options.dry_run:
        _write(text, options.output)
    return GOOD


# --- import fmu ------------------------------------------------------------------------------------------------------


def _import_fmu(options: argparse.Namespace) -> int:
    from bglang.interop.fmu_file import WrongFmu, read_fmu
    from bglang.interop.fmu_source import describe, fmu_source

    path = _existing(options.file)
    try:
        fmu = read_fmu(path)
    except WrongFmu as problem:
        place = Span(Source(str(path), ""), 0, 0)
        raise SourceError((error("fmu/file", f"`{path.name}` cannot be used: {problem}", place),)) from None
    print(describe(fmu), file=sys.stdout if options.dry_run or options.output else sys.stderr)
    if not options.dry_run:
        _write(fmu_source(fmu, Path(options.output).parent if options.output else Path()), options.output)
    return GOOD


# --- export mck ------------------------------------------------------------------------------------------------------


def _export_mck(options: argparse.Namespace) -> int:
    from bglang.interop.mck import write_mck

    if not 1 <= options.digits <= 17:
        raise UsageError("`--digits` is a number from 1 to 17")
    made = matrices_of_model(load_model(options))
    _write(write_mck(made.file, options.digits), options.output)
    for i, coordinate in enumerate(made.coordinates, 1):
        print(f"  dof {i:<4} displacement of {coordinate}")
    return GOOD


def matrices_of_model(model: "Model") -> "Exported":
    """M, C and K; a `SourceError` says why there are none."""
    from bglang.interop.mck_export import NotLinear, export_mck

    try:
        return export_mck(model, model.name)
    except NotLinear as why:
        reason = f"{str(why)[0].upper()}{str(why)[1:]}."
        message = f"`{model.name}` cannot be written as M, C and K"
        raise SourceError((error("mck/export", message, model.graph.span, reason=reason),)) from None


def _write(text: str, path: str | None) -> None:
    if path is None:
        print(text, end="")
        return
    Path(path).write_text(text, encoding="utf-8")
    print(f"wrote {path}", file=sys.stderr)
