"""The command `bglang`: one module a group of subcommands, imported only when its command is called.

Exit codes: 0 good, 1 the model is wrong, 2 the call is wrong, 3 the solver gave up (what was computed is kept).
"""

import argparse
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from bglang import __version__

COMMANDS = {
    "run": ("simulate", "compile and simulate a model, print a summary with the energy audit"),
    "sweep": ("sweep", "run a model for many values of its parameters, here or on a cluster"),
    "check": ("inspect", "find the mistakes in a model without running it"),
    "params": ("inspect", "list parameters with value, unit and origin"),
    "causality": ("inspect", "strokes, states, dependent storages, loops, and why"),
    "dump": ("inspect", "show any stage of the compiler"),
    "draw": ("inspect", "draw the bond graph"),
    "equations": ("equations", "the equations for people: state, dae, field, Lagrange; text, LaTeX or JSON"),
    "reduce": ("reduction", "merge dependent storages into those they follow, and write the model as source"),
    "augment": ("reduction", "hold dependent storages by stiff elements, and write the model as source"),
    "compare-forms": ("reduction", "run every treatment of dependent storages, and compare"),
    "linearize": ("linear", "state matrices, eigenvalues, transfer functions at an operating point"),
    "view": ("view", "a live page: the graph, sliders for parameters, plots, events and energy"),
    "plot": ("results", "show a stored result as curves"),
    "table": ("results", "show a stored result as a table"),
    "compare": ("results", "compare two results, or a result with measurements"),
    "import": ("exchange", "read a model of another platform and write it as source: mck, enport, fmu"),
    "export": ("exchange", "write a model for another platform: c, fmu, modelica, mck"),
    "fmt": ("files", "format source files"),
    "new": ("files", "make a starter project"),
    "lsp": ("lsp", "the language server that editors start"),
    "completion": ("files", "print a completion script for your shell"),
}
"""Command: the module of this package that holds it, and what it does in one line."""

INTRODUCTION = "bglang: a language, compiler and runtime for bond graphs."

EXAMPLES = """\
examples:
  bglang new pendulum                        a starter project that runs
  bglang check car.bg                        is the model right? where not, and why?
  bglang run car.bg --stop 10 --plot v.f     simulate and plot in the terminal
  bglang run car.bg --set m=1200 -o out.csv  another mass, results into a file
  bglang causality car.bg                    which states are real, where loops hide
  bglang draw car.bg -o car.svg              the bond graph as a picture

`bglang COMMAND --help` teaches each command.  Exit codes: 0 good, 1 the model is wrong, 2 the call is wrong,
3 the solver gave up (what was computed until then is kept)."""


class Parser(argparse.ArgumentParser):
    """One that says what is wrong with a call in a line or two; `--help` says the rest."""

    def error(self, message: str) -> NoReturn:
        from bglang.suggest import did_you_mean

        chosen = re.fullmatch(r"(.*)invalid choice: '(.*)' \(choose from (.*)\)", message)
        unknown = re.fullmatch(r"unrecognized arguments: (.*)", message)
        meant = ""
        if chosen:
            known = re.findall(r"'([^']*)'", chosen[3])
            meant = did_you_mean(chosen[2], known)
            message = f"{chosen[1]}there is no `{chosen[2]}`, only {', '.join(f'`{k}`' for k in known)}"
        elif unknown:
            first = unknown[1].split()[0].partition("=")[0]
            meant = did_you_mean(first, self._option_string_actions)
            message = f"`{unknown[1]}` is too much" if not first.startswith("-") else f"there is no option `{first}`"
        message = re.sub(r"invalid (?:int|float) value: ", "needs a number, not ", message)
        print(f"{self.prog}: {message}" + (f"; {meant}" if meant else ""), file=sys.stderr)
        print(f"`{self.prog} --help` teaches it.", file=sys.stderr)
        self.exit(2)


def parser_for(name: str) -> argparse.ArgumentParser:
    """The parser of one command, made by the module that holds it."""
    module, summary = COMMANDS[name]
    parser = Parser(
        prog=f"bglang {name}",
        description=summary[0].upper() + summary[1:] + ".",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    import_module(f"bglang.cli.{module}").configure(name, parser)
    return parser


def _overview() -> str:
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {summary}" for name, (_, summary) in COMMANDS.items())
    return f"{INTRODUCTION}\n\nusage: bglang COMMAND [options]\n\ncommands:\n{rows}\n\n{EXAMPLES}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help", "help"):
        if len(words) > 1 and words[0] == "help" and words[1] in COMMANDS:
            words = [words[1], "--help"]
        else:
            print(_overview(), end="")
            return 0 if words else 2
    if words[0] in ("-V", "--version", "version"):
        print(f"bglang {__version__}")
        return 0
    if words[0] not in COMMANDS:
        from bglang.suggest import suggest

        meant = suggest(words[0], COMMANDS)
        print(
            f"bglang: there is no command `{words[0]}`" + (f"; did you mean `{meant}`?" if meant else ""),
            file=sys.stderr,
        )
        print("`bglang --help` lists the commands.", file=sys.stderr)
        return 2
    return _dispatch(words[0], words[1:])


def _dispatch(name: str, words: list[str]) -> int:
    from bglang.cli.common import guarded

    try:
        options = parser_for(name).parse_args(words)
    except SystemExit as stop:  # argparse has already printed its message
        return int(stop.code or 0)
    command = import_module(f"bglang.cli.{COMMANDS[name][0]}")
    return guarded(command.run, name, options)
