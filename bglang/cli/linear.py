"""The command `linearize`."""

import argparse
import json
import sys

from bglang.cli.common import GOOD, add_model_options, load_model
from bglang.diagnostics import UsageError

EPILOG = """\
Exact derivatives at an operating point: the start, a time (the run goes there first), or the steady state.

examples:
  bglang linearize car.bg                                     eigenvalues, damping, participation, matrices
  bglang linearize car.bg --at 2.5 --in push --out v.f
  bglang linearize car.bg --at steady --in supply --out motor.w.f --bode bode.png
  bglang linearize car.bg --json                              states, inputs, outputs, A, B, C, D, poles, zeros"""


def configure(name: str, parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add_model_options(parser)
    parser.add_argument("--at", default="start", metavar="T|steady", help="operating point (default: the start)")
    parser.add_argument("--in", dest="inputs", metavar="NAMES", help="inputs: sources (default: all)")
    parser.add_argument("--out", dest="outputs", metavar="NAMES", default="", help="outputs: any variables")
    parser.add_argument("--json", action="store_true", help="output for machines")
    for kind in ("bode", "nyquist", "step", "poles"):
        parser.add_argument(f"--{kind}", metavar="FILE", help=f"a {kind} picture (png, svg, pdf)")


def run(name: str, options: argparse.Namespace) -> int:
    from bglang.results.names import split_patterns
    from bglang.views.linear import PICTURES, draw, report

    outputs = split_patterns(options.outputs)
    model = load_model(options, outputs)
    inputs = None if options.inputs is None else split_patterns(options.inputs)
    linear = model.linearize(at=_at(options.at), inputs=inputs, outputs=outputs)
    print(json.dumps(linear.to_dict(), indent=2) if options.json else report(linear))
    for kind in PICTURES:
        path = getattr(options, kind)
        if path:
            if kind != "poles" and not (linear.inputs and linear.outputs):
                raise UsageError(f"a {kind} picture needs an input and an output: --in NAME --out NAME")
            draw(linear, kind, path)
            print(f"wrote {path}", file=sys.stderr)
    return GOOD


def _at(text: str) -> float | str:
    if text in ("start", "steady"):
        return text
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"`--at {text}` is not a time, `start` or `steady`") from None
