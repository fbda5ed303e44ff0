"""The command `equations`."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bglang.cli.common import GOOD, add_model_options, load_model, show
from bglang.diagnostics import Report, UsageError

if TYPE_CHECKING:
    from bglang.api import Model
    from bglang.graph.ir import BondGraph

EPILOG = """\
state      der(x) = ... for every state, where that exists; otherwise as dae
dae        differential and algebraic equations, as they are solved
field      storages, losses and sources around the junction structure; --matrices shows its blocks
lagrange   Lagrange's equations with multipliers: at every coordinate's junction a balance of efforts, at every
           constraint junction a balance of flows; a multiplier is the effort of its junction

examples:
  bglang equations car.bg
  bglang equations car.bg --form field --matrices
  bglang equations crank.bg --form lagrange --coordinates w1,w2
  bglang equations crank.bg --form lagrange --coordinates w1,w2 --constraints position --latex -o crank.tex
  bglang equations crank.bg --form lagrange --coordinates w1,w2 --stabilise penalty -o soft.bg
  bglang run crank.bg --form lagrange --coordinates w1,w2 --plot fyB.e

Without --coordinates the command asks on a terminal; otherwise the model's own displacements are taken."""


def configure(name: str, parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add_model_options(parser)
    parser.add_argument("--form", choices=["state", "dae", "field", "lagrange"], default="state")
    parser.add_argument("--states", choices=["energy", "coenergy"], default="energy",
                        help="states: momenta and displacements, or flows and efforts")  # fmt: skip
    parser.add_argument("--matrices", action="store_true", help="the blocks of the junction structure (field)")
    add_lagrange_options(parser)
    out = parser.add_mutually_exclusive_group()
    out.add_argument("--latex", action="store_true", help="a page that LaTeX compiles")
    out.add_argument("--json", action="store_true", help="output for machines")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="write it there; a .bg file takes the model with relaxed constraints")  # fmt: skip


def add_lagrange_options(parser: argparse.ArgumentParser) -> None:
    """What may be chosen about the Lagrange form, in `equations` and in `run`."""
    group = parser.add_argument_group("the Lagrange form")
    group.add_argument("--coordinates", metavar="NAMES", default="", help="junctions whose flows are the velocities")
    group.add_argument("--strong", metavar="NAMES", default="",
                       help="junctions to determine first where the velocities leave a choice: a, or a:b")  # fmt: skip
    group.add_argument("--constraints", choices=["position", "velocity", "acceleration"],
                       help="level of the constraints (default: velocity to read, position to run)")  # fmt: skip
    group.add_argument("--stabilise", choices=["ggl", "baumgarte", "penalty", "perturbation"],
                       help="how constraints are held in a run (default: ggl)")  # fmt: skip
    for name, text in (("alpha", "rate at which errors die out"), ("beta", "Baumgarte's rate for positions"),
                       ("stiffness", "of penalty"), ("damping", "of penalty"),
                       ("epsilon", "short time of the singular perturbation")):  # fmt: skip
        group.add_argument(f"--{name}", type=float, metavar="X", help=text)


def lagrange_wish(options: argparse.Namespace) -> dict[str, Any]:
    """The options that were given, by name."""
    names = ("coordinates", "strong", "constraints", "stabilise", "alpha", "beta", "stiffness", "damping", "epsilon")
    return {name: value for name in names if (value := getattr(options, name)) not in (None, "")}


def run(name: str, options: argparse.Namespace) -> int:
    model = load_model(options)
    if options.form == "lagrange" and not options.coordinates and sys.stdin.isatty() and sys.stdout.isatty():
        options.coordinates = ask_coordinates(model.graph)
    if options.output and options.output.endswith(".bg"):
        return _write_source(model, options)
    before = len(model.warnings)
    made = model.equations(
        options.form,
        coordinates=options.coordinates,
        strong=options.strong,
        constraints=options.constraints or "velocity",
        states=options.states,
        matrices=options.matrices,
    )
    if not options.json:
        show(model.warnings[before:])
    import json

    shown = json.dumps(made.to_dict(), indent=2) if options.json else made.latex() if options.latex else str(made)
    if options.output:
        Path(options.output).write_text(shown + "\n", encoding="utf-8")
        print(f"wrote {options.output}", file=sys.stderr)
    else:
        print(shown)
    return GOOD


def ask_coordinates(graph: "BondGraph") -> str:
    """The user's choice; a wrong answer is asked again with the choices."""
    from bglang.causality.lagrange import default_coordinates
    from bglang.equations.lagrange_choice import names_of

    junctions = [e.name for e in graph.elements if e.kind in ("J0", "J1")]
    default = ",".join(default_coordinates(graph))
    known = {e.name for e in graph.elements if e.kind in ("J0", "J1", "I", "C")}
    while True:
        answer = input(f"coordinates (junctions, separated by commas) [{default}]: ").strip() or default
        unknown = [name for name in names_of(answer) if name not in known]
        if not unknown and answer:
            return answer
        print(
            f"there is no {', '.join(f'`{n}`' for n in unknown) or 'such junction'}; there are {', '.join(junctions)}"
        )


def _write_source(model: "Model", options: argparse.Namespace) -> int:
    """Constraints as springs and dampers, written as a model."""
    from bglang.equations.lagrange_choice import settle_choice
    from bglang.equations.lagrange_relax import with_starts
    from bglang.graph.emit import emit
    from bglang.solve.lagrange import RelaxedRun, loaded_starts, prepare_lagrange
    from bglang.solve.problem import Options

    choice = settle_choice(model.graph, lagrange_wish(options))
    if options.form != "lagrange" or choice.stabilise not in ("penalty", "perturbation"):
        raise UsageError(
            "a .bg file takes relaxed constraints only: --form lagrange with --stabilise penalty or perturbation"
        )
    prepared = prepare_lagrange(model.graph, choice, Report())
    assert isinstance(prepared, RelaxedRun)
    graph = prepared.relaxed.graph
    if prepared.rigid is not None:
        graph = with_starts(graph, loaded_starts(prepared.relaxed, prepared.rigid, Options(), {}))
    Path(options.output).write_text(emit(graph), encoding="utf-8")
    print(f"wrote {options.output}", file=sys.stderr)
    return GOOD
