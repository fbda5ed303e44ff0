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


def run_export(options: argparse.Namespace) -> int:
    actions: dict[str, Callable[[argparse.Namespace], int]] = {"c": _export_c}
    return actions[options.kind](options)


def _export_c(options: argparse.Namespace) -> int:
    from bglang.interop.c_export import export_c

    folder = Path(options.output)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`{folder}` is a file; `-o` names a folder")
    written = export_c(load_model(options), folder)
    print(f"wrote {len(written)} files to {folder}; in there, `{COMPILE}` makes the program")
    return GOOD
