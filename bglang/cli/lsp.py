"""The command `lsp`: the language server that editors start."""

import argparse
import sys

from bglang.cli.common import GOOD

EPILOG = """\
Editors start this command and talk to it over standard input and output; there is nothing to see in a terminal.
It shows mistakes while you type (of texts that are not saved yet, too), what a name is (description, unit, value,
domain, causality), where it is declared and used, what could be written, the outline; it formats, renames, and puts in
what a message proposes.

  pip install 'bglang[lsp]'

The page "Editors" of the guide has settings for VS Code, Neovim, Emacs and Helix.  `initializationOptions` may name
library folders: {"libraries": ["/path/to/lib"]}; BGLANG_PATH works as well.

example:
  bglang lsp"""


def configure(name: str, parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument(
        "--stdio", action="store_true", help="talk over standard input and output (that is what it does)"
    )


def run(name: str, options: argparse.Namespace) -> int:
    from bglang.results.result import needs

    needs("pygls", "lsp")
    if sys.stdin.isatty():
        print("bglang lsp: an editor starts this; `bglang lsp --help` says how (Ctrl-C ends it)", file=sys.stderr)
    from bglang.lsp.server import make_server

    make_server().start_io()
    return GOOD
