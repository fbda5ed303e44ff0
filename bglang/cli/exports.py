"""The formats of `bglang export` that hold whole models: C, FMU, Modelica."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bglang.cli.common import GOOD, add_model_options, load_model
from bglang.diagnostics import UsageError

COMPILE = "cc -std=c99 -O2 -o model *.c -lm"


def configure_exports(kinds: Any) -> None:
    c = kinds.add_parser("c", help="C99 that runs the model, without other libraries")
    add_model_options(c)
    c.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder to write")
    fmu = kinds.add_parser("fmu", help="a unit for other simulators (FMI 2.0)")
    add_model_options(fmu)
    fmu.add_argument("-o", "--output", metavar="OUT.fmu", required=True, help="the file to write")
    fmu.add_argument("--no-binary", action="store_true", help="sources only, even if there is a compiler")
    modelica = kinds.add_parser("modelica", help="the flat equations as a Modelica model")
    add_model_options(modelica)
    modelica.add_argument("-o", "--output", metavar="OUT.mo", help="where the text goes (default: printed)")
    modelica.add_argument("--energy", action="store_true", help="with powers and stored energies")


def run_export(options: argparse.Namespace) -> int:
    actions: dict[str, Callable[[argparse.Namespace], int]] = {
        "c": _export_c,
        "fmu": _export_fmu,
        "modelica": _export_modelica,
    }
    return actions[options.kind](options)


def _export_c(options: argparse.Namespace) -> int:
    from bglang.interop.c_export import export_c

    folder = Path(options.output)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`{folder}` is a file; `-o` names a folder")
    written = export_c(load_model(options), folder)
    print(f"wrote {len(written)} files to {folder}; in there, `{COMPILE}` makes the program")
    return GOOD


def _export_fmu(options: argparse.Namespace) -> int:
    from bglang.interop.fmu_export import export_fmu

    made = export_fmu(load_model(options), Path(options.output), binary=not options.no_binary)
    binary = f"a binary for {made.platform}" if made.platform else f"no binary: {made.reason}"
    print(f"wrote {options.output}: {made.variables} variables, sources, {binary}")
    return GOOD


def _export_modelica(options: argparse.Namespace) -> int:
    from bglang.interop.modelica import export_modelica

    text = export_modelica(load_model(options), options.energy)
    if options.output is None:
        print(text, end="")
    else:
        Path(options.output).write_text(text, encoding="utf-8")
        print(f"wrote {options.output}")
    return GOOD
