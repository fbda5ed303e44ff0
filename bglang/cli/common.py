"""What all commands share: options that name a model, loading it, and turning failures into messages and exit codes."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from bglang.diagnostics import BglangError, Diagnostic, SimulationError, SourceError, UsageError
from bglang.limits import Limits, with_settings

if TYPE_CHECKING:
    from bglang.api import Model
    from bglang.request import Request

GOOD, MODEL_WRONG, CALL_WRONG, GAVE_UP, INTERRUPTED = 0, 1, 2, 3, 130


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Options of every command that reads a model."""
    parser.add_argument("file", metavar="FILE", help="a .bg file")
    group = parser.add_argument_group("the model")
    group.add_argument("--model", metavar="NAME", help="which model of the file, if there are several")
    group.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[],
        help="another value for a parameter or start: --set k=3 --set spring.q.start=17",
    )  # fmt: skip
    group.add_argument("--lib", metavar="FOLDER", action="append", default=[], help="where to look for libraries, too")
    group.add_argument(
        "--units",
        choices=["error", "warn", "off"],
        default="error",
        help="what a mismatch of units is (default: error)",
    )
    group.add_argument("--allow-read", action="store_true", help="the model may name files outside its own folder")
    group.add_argument("--allow-native", action="store_true", help="the native code of FMUs may run")
    group.add_argument(
        "--limit", metavar="NAME=N", action="append", default=[], help="raise a limit, as the error that met it says"
    )


def settings(items: Iterable[str]) -> dict[str, str]:
    """`--set a.b=3` as a mapping."""
    pairs = dict[str, str]()
    for item in items:
        name, equals, value = item.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(f"`--set {item}` is not of the form NAME=VALUE, as in `--set k=3`")
        pairs[name.strip()] = value.strip()
    return pairs


def request_of(options: argparse.Namespace, demand: Iterable[str] = ()) -> "Request":
    """What the options ask to be compiled."""
    from bglang.request import Request

    return Request(
        Path(options.file), options.model, settings(options.set), options.lib, options.units, options.allow_read,
        _limits(options.limit), tuple(demand),
    )  # fmt: skip


def load_model(options: argparse.Namespace, demand: Iterable[str] = ()) -> "Model":
    """The model that the options name, with its warnings shown."""
    from bglang.api import load

    if options.file != "-" and not Path(options.file).exists():
        raise UsageError(f"there is no file `{options.file}`")
    for folder in options.lib:
        if not Path(folder).exists():
            raise UsageError(f"`--lib {folder}`: there is no such folder")
    model = load(
        options.file,
        model=options.model,
        set=settings(options.set),
        libraries=options.lib,
        units=options.units,
        allow_read=options.allow_read,
        allow_native=options.allow_native,
        limits=_limits(options.limit),
        demand=tuple(demand),
    )
    if not getattr(options, "json", False):
        show(model.warnings)
    return model


def _limits(items: Iterable[str]) -> Limits:
    try:
        return with_settings(Limits(), items)
    except ValueError as wrong:
        raise UsageError(str(wrong)) from None


def show(diagnostics: Iterable[Diagnostic]) -> None:
    """Diagnostics on the error stream, in colour on a terminal."""
    diagnostics = tuple(diagnostics)
    if diagnostics:
        from bglang.render import render_all

        print(render_all(diagnostics, color=color(sys.stderr.isatty())), file=sys.stderr)


def color(terminal: bool) -> bool:
    return terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def interactive() -> bool:
    """Without a terminal nothing asks: defaults are taken."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def only_settings(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether nothing is wrong but values that the caller gave."""
    return all(d.span.source.name.startswith(("--set ", "--vary ")) for d in diagnostics if d.severity == "error")


def guarded(run: Callable[[str, argparse.Namespace], int], name: str, options: argparse.Namespace) -> int:
    """Run a command; the model's, the caller's and the solver's failures become messages and exit codes."""
    try:
        return run(name, options)
    except SourceError as failure:
        if getattr(options, "json", False):
            from bglang.render import to_json

            print(to_json(failure.diagnostics))
        else:
            show(failure.diagnostics)
        return CALL_WRONG if only_settings(failure.diagnostics) else MODEL_WRONG
    except SimulationError as failure:
        print(failure, file=sys.stderr)
        return GAVE_UP
    except (UsageError, BglangError) as failure:
        print(f"bglang {name}: {failure}", file=sys.stderr)
        return CALL_WRONG
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `bglang ... | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GOOD
    except OSError as failure:
        where = f" `{failure.filename}`" if failure.filename else ""
        print(f"bglang {name}: cannot use{where}: {failure.strerror or failure}", file=sys.stderr)
        return CALL_WRONG
