"""Commands that look at a model without running it: `check`, `params`, `causality`, `dump`, `draw`."""

import argparse
import json
import sys
from pathlib import Path
from typing import Literal

from bglang.cli.common import GOOD, MODEL_WRONG, add_model_options, load_model, show
from bglang.diagnostics import UsageError

HELP = {
    "check": """\
Reads the model, checks names, types, units, domains, bonds, counts of equations and causality, and reports up to 20
mistakes with line, reason and hint.

examples:
  bglang check car.bg
  bglang check car.bg --json        the same for machines""",
    "params": """\
examples:
  bglang params car.bg              every parameter: value, unit, where it comes from
  bglang params car.bg 'motor.*'    those of one component""",
    "causality": """\
Which bond has its stroke where, which storages are independent (states) and which are dependent, algebraic loops, and
the reason for each.

examples:
  bglang causality car.bg
  bglang causality car.bg --explain spring     the chain of reasons for one element or bond
  bglang causality car.bg --keep rotor         prefer this storage to stay independent
  bglang causality car.bg --json               for machines""",
    "dump": """\
examples:
  bglang dump car.bg --after parse        the syntax tree
  bglang dump car.bg --after elaborate    the flat bond graph
  bglang dump car.bg --after causality    the strokes
  bglang dump car.bg --after derive       the equations F(t, y, dy/dt) = 0
  bglang dump car.bg --after lower        the classes of equations that become native code""",
    "draw": """\
Half arrows, strokes, names, subsystems as frames; dependent storages and loops in colour.

examples:
  bglang draw car.bg -o car.svg
  bglang draw car.bg -o car.png --depth 1     subsystems below the first level as one node""",
}


def configure(name: str, parser: argparse.ArgumentParser) -> None:
    parser.epilog = HELP[name]
    add_model_options(parser)
    if name in ("check", "params", "causality"):
        parser.add_argument("--json", action="store_true", help="output for machines")
    if name == "params":
        parser.add_argument("globs", metavar="GLOB", nargs="*", help="only these, * and ? allowed")
    if name in ("causality", "draw", "dump"):
        parser.add_argument(
            "--keep", metavar="NAME", action="append", default=[], help="prefer this storage independent"
        )
    if name == "causality":
        parser.add_argument(
            "--explain", metavar="NAME", action="append", default=[], help="why? for an element or bond"
        )
        parser.add_argument(
            "--procedure", choices=["scap", "mscap", "lcap", "lambda"], default="scap",
            help="a procedure of the literature on the same graph (default: scap)",
        )  # fmt: skip
    if name == "dump":
        parser.add_argument(
            "--after", choices=["parse", "elaborate", "causality", "derive", "lower"], default="elaborate"
        )
    if name == "draw":
        parser.add_argument(
            "--form",
            choices=["scap", "lagrange"],
            default="scap",
            help="strokes of the state equations (default), or of Lagrange's with artificial sources and constraints",
        )
        parser.add_argument(
            "-o", "--output", metavar="FILE", help=".svg, .png or .pdf (default: the model's name, .svg)"
        )
        parser.add_argument("--depth", type=int, metavar="N", help="collapse subsystems below this level")


def run(name: str, options: argparse.Namespace) -> int:
    return {"check": _check, "params": _params, "causality": _causality, "dump": _dump, "draw": _draw}[name](options)


def _check(options: argparse.Namespace) -> int:
    model = load_model(options)
    model.compile()
    if options.json:
        from bglang.render import to_json

        print(to_json(model.warnings))
    else:
        graph = model.graph
        nodes, bonds = len(graph.elements), len(graph.bonds)
        print(f"{graph.name}: good ({nodes} nodes, {bonds} bonds, {len(model.warnings)} warnings)")
    return GOOD


def _params(options: argparse.Namespace) -> int:
    from bglang.results.names import select

    model = load_model(options)
    rows = model.parameters()
    if options.globs:
        rows = [rows[i] for i in select([row.name for row in rows], options.globs)]
    if options.json:
        print(json.dumps([row.as_dict() for row in rows], indent=2))
        return GOOD
    if not rows:
        print("no parameters")
        return GOOD
    columns = [[r.name, r.value_text, r.unit, r.origin, r.description] for r in rows]
    _print_columns(["name", "value", "unit", "origin", "description"], columns)
    return GOOD


def _print_columns(head: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _causality(options: argparse.Namespace) -> int:
    model = load_model(options)
    view = model.causality(keep=options.keep, procedure=options.procedure)
    if options.json:
        print(json.dumps(view.to_dict(), indent=2))
    elif options.explain:
        print("\n\n".join(view.explain(name) for name in options.explain))
    else:
        print(view)
        show(view.unsolvable)
    return MODEL_WRONG if view.unsolvable else GOOD


def _dump(options: argparse.Namespace) -> int:
    from bglang.dump import dump_model, dump_syntax

    if options.after == "parse":
        from bglang.source import Source

        path = Path(options.file)
        if not path.exists():
            raise UsageError(f"there is no file `{options.file}`")
        print(dump_syntax(Source(options.file, path.read_bytes().decode("utf-8-sig", "replace"))))
        return GOOD
    print(dump_model(load_model(options), options.after, options.keep))
    return GOOD


def _draw(options: argparse.Namespace) -> int:
    model = load_model(options)
    target = options.output or f"{model.graph.name}.svg"
    procedure: Literal["scap", "lambda"] = "lambda" if options.form == "lagrange" else "scap"
    drawing = model.draw(depth=options.depth, keep=options.keep, procedure=procedure)
    drawing.save(target)
    print(f"wrote {target}", file=sys.stderr)
    return GOOD
