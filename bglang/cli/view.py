"""The command `view`: a live page."""

import argparse
import sys
from pathlib import Path

from bglang.cli.common import GOOD, add_model_options, color, interactive, request_of
from bglang.diagnostics import UsageError

EPILOG = """\
Opens a page in the browser: the bond graph, what is wrong with the model, its parameters and starts with sliders, plots
of chosen variables, events and the energy audit.  A change of a value or of the file runs the model again.

The page is served on 127.0.0.1 only, under an address with a random token that changes every time; it loads nothing
from anywhere else.  A run that a newer change has made useless is given up; one that lasts longer than --seconds is
stopped, and what there is of it is shown.  Ctrl-C ends it.

examples:
  bglang view car.bg
  bglang view car.bg --model Trailer --set m=1200
  bglang view car.bg --no-browser --port 8000       only print the address"""


def configure(name: str, parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add_model_options(parser)
    page = parser.add_argument_group("the page")
    page.add_argument("--port", type=int, default=0, metavar="N", help="port of the page (default: any that is free)")
    page.add_argument("--no-browser", action="store_true", help="print the address, open nothing")
    page.add_argument("--seconds", type=float, default=20.0, metavar="S", help="longest time of one run (default: 20)")


def run(name: str, options: argparse.Namespace) -> int:
    from bglang.live.server import LiveServer
    from bglang.live.session import Session

    if not Path(options.file).is_file():
        raise UsageError(f"there is no file `{options.file}`")
    if not 0 <= options.port < 65536:
        raise UsageError(f"there is no port {options.port}")
    if not options.seconds > 0:
        raise UsageError("`--seconds` must be a positive time")
    with LiveServer(Session(request_of(options), options.seconds), options.port) as server:
        server.start()
        bold, plain = ("\033[1m", "\033[0m") if color(sys.stdout.isatty()) else ("", "")
        print(f"{bold}{server.url}{plain}\nCtrl-C ends it", flush=True)
        if interactive() and not options.no_browser:
            import webbrowser

            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return GOOD
