"""Commands that treat dependent storages: `reduce`, `augment`, `compare-forms`."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bglang.cli.common import GOOD, add_model_options, interactive, load_model, show
from bglang.diagnostics import UsageError
from bglang.reduce.reduce import Choice, Merger, Proposal

if TYPE_CHECKING:
    from bglang.api import Model
    from bglang.results import Result

HELP = {
    "reduce": """\
Merges storages in derivative causality into those that decide them: on a path with one equivalent parameter, on a
split path as a field with its matrix, through varying transformers as a field with its energy; and storages that
differ by a constant for ever.  On a terminal it asks which element stays and how its law is written; otherwise, and
with --all, the independent one stays in its own form.

examples:
  bglang reduce lever.bg                      asks, then prints the reduced model
  bglang reduce lever.bg -o reduced.bg        ... into a file
  bglang reduce lever.bg --keep i2 --as law   i2 stays, with its law written out
  bglang reduce lever.bg --dry-run            only tell what could be merged, and what not""",
    "augment": """\
Puts a stiff spring (for a dependent I) or a small resistance or inertia (for a dependent C) where a dependency enters,
so that every storage is independent.  The stiffness comes from the model's own frequencies and the wanted error.

examples:
  bglang augment coaster.bg -o stiff.bg
  bglang augment coaster.bg --error 1e-4            softer, and faster to run
  bglang augment coaster.bg --stiffness 1e7 --damping 100""",
    "compare-forms": """\
Runs the model with every treatment of dependent storages that applies, and compares.

examples:
  bglang compare-forms lever.bg
  bglang compare-forms lever.bg --stop 20 --tol 1e-8""",
}


def configure(name: str, parser: argparse.ArgumentParser) -> None:
    parser.epilog = HELP[name]
    add_model_options(parser)
    if name == "reduce":
        parser.add_argument("--keep", metavar="NAMES", action="append", default=[], help="storages that shall stay")
        parser.add_argument(
            "--as", dest="form", choices=["parameter", "law"],
            help="how the law of the storage that stays is written (default: as it was)",
        )  # fmt: skip
        parser.add_argument("--all", action="store_true", help="merge everything without asking")
        parser.add_argument("--dry-run", action="store_true", help="only tell what would be done")
    if name == "augment":
        _stiffness(parser)
        parser.add_argument("--loops", action="store_true", help="end algebraic loops of resistances, too")
    if name == "compare-forms":
        parser.add_argument("--start", type=float, metavar="T", help="start time")
        parser.add_argument("--stop", type=float, metavar="T", help="stop time")
        parser.add_argument("--tol", type=float, metavar="X", help="relative tolerance")
    else:
        parser.add_argument("-o", "--output", metavar="OUT.bg", help="where the source goes (default: printed)")


def _stiffness(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stiffness", type=float, metavar="K", help="of every inserted spring")
    parser.add_argument("--damping", type=float, metavar="D", help="of every inserted spring (default: half critical)")
    parser.add_argument("--dual", choices=["R", "I"], default="R", help="what a dependent C gets (default: R)")
    parser.add_argument("--parasitic", type=float, metavar="X", help="parameter of every inserted R or I")
    parser.add_argument(
        "--error", type=float, default=1e-6, metavar="X",
        help="relative error that the stiffness is chosen for (default 1e-6)",
    )  # fmt: skip


def run(name: str, options: argparse.Namespace) -> int:
    return {"reduce": _reduce, "augment": _augment, "compare-forms": _compare}[name](options)


# --- reduce ---------------------------------------------------------------------------------------------------------


def _reduce(options: argparse.Namespace) -> int:
    from bglang.reduce.reduce import reduce_storages, take_defaults
    from bglang.reduce.write import write_source

    model = load_model(options)
    keep = [name.strip() for item in options.keep for name in item.split(",") if name.strip()]
    asks = interactive() and not options.all and not options.dry_run
    choose = Asking(input, _say) if asks else take_defaults
    made = reduce_storages(model.graph, keep, choose, options.form)
    show(refusal.diagnostic for refusal in made.refusals)
    _unheard(keep, made.mergers)
    for merger in made.mergers:
        print(merger.text, file=sys.stderr)
    if not made.mergers:
        declined = isinstance(choose, Asking) and choose.asked
        print("nothing was merged" if made.refusals or declined else "no dependent storage was found", file=sys.stderr)
    if not options.dry_run:
        _write(write_source(made.graph, f"Reduced from {model.graph.name}.", made.mergers), options.output)
    return GOOD


def _unheard(keep: list[str], mergers: tuple[Merger, ...]) -> None:
    """A storage that shall stay and did not: its causality is fixed by something stronger."""
    for merger in mergers:
        lost = [name for name in keep if name in merger.merged and merger.kept not in keep]
        if lost and merger.kept not in merger.merged:
            raise UsageError(f"`{lost[0]}` cannot stay: nothing but `{merger.kept}` can decide what it gives")


def _say(text: str) -> None:
    print(text)


class Asking:
    """Asks about each field in turn; an answer that is none of the choices is asked for again."""

    def __init__(self, read: Callable[[str], str], say: Callable[[str], None]):
        self.read, self.say = read, say
        self.asked = False

    def __call__(self, proposal: Proposal) -> Choice:
        self.asked = True
        for path in proposal.paths:
            self.say(f"The path contains these elements:  {'  '.join(path)}")
        for gain in proposal.gains:
            self.say(f"  {gain}")
        self.say(f"  together: {proposal.result}")
        if not proposal.choices:
            return Choice(skip=self.ask("Merge them", ("yes", "no"), "yes") == "no")
        kept = self.ask("Which element stays", (*proposal.choices, "none"), proposal.choices[0])
        if kept == "none":
            return Choice(skip=True)
        if proposal.kind == "constant":  # unequal starts leave one way to write it
            return Choice(kept)
        form = self.ask(f"How is the law of {kept} written", ("parameter", "law"), proposal.form)
        return Choice(kept, "law" if form == "law" else "parameter")

    def ask(self, question: str, choices: tuple[str, ...], default: str) -> str:
        shown = f"{', '.join(choices[:-1])} or {choices[-1]}"
        while True:
            answer = self.read(f"{question}? {shown} ({default}): ").strip()
            if not answer:
                return default
            found = [c for c in choices if c == answer] or [c for c in choices if c.casefold() == answer.casefold()]
            if len(found) == 1:
                return found[0]
            self.say(f"`{answer}` is none of the choices: {shown}.")


# --- augment --------------------------------------------------------------------------------------------------------


def _augment(options: argparse.Namespace) -> int:
    from bglang.reduce.augment import Augmentation, Stiff, augment
    from bglang.reduce.forms import estimate
    from bglang.reduce.loops import break_loops
    from bglang.reduce.write import write_source

    model = load_model(options)
    stiff = Stiff(options.stiffness, options.damping, options.parasitic, options.dual, options.error)
    made = augment(model.graph, stiff)
    expected = estimate(model.graph, made) if made.insertions else {}
    if options.loops:
        broken = break_loops(made.graph, stiff)
        made = Augmentation(broken.graph, (*made.insertions, *broken.insertions))
    notes = list[Merger]()
    for i in made.insertions:
        parasite = i.bond < 0 and i.name.endswith("_parasite")
        size = f"stiffness {1 / i.size:g}" if i.kind == "C" and not parasite else f"{i.kind} = {i.size:g}"
        hope = f"; it should give way by {expected[i.name]:.2g} at most" if i.name in expected else ""
        does = f"ends an algebraic loop at {i.held}" if parasite else f"holds {i.held} to what it follows"
        notes.append(Merger(i.name, (i.held,), f"{i.name} {does}, {size}{hope}"))
        print(notes[-1].text, file=sys.stderr)
    if not made.insertions:
        print("no dependent storage was found", file=sys.stderr)
    _write(write_source(made.graph, f"Augmented from {model.graph.name}.", notes), options.output)
    return GOOD


def show_deflections(model: "Model", result: "Result") -> None:
    """What inserted elements gave way in a run, beside what was to be expected."""
    from bglang.reduce.forms import PreparedAugmented

    prepared = model.treated("augment")
    assert isinstance(prepared, PreparedAugmented)
    for d in prepared.deflections(result):
        hope = "" if d.estimate is None else f" (estimated {d.estimate:.2g})"
        print(f"  inserted  {d.name}: largest deflection {d.largest:.2g}{hope}")


def _write(text: str, path: str | None) -> None:
    if path is None:
        print(text, end="")
        return
    Path(path).write_text(text, encoding="utf-8")
    print(f"wrote {path}", file=sys.stderr)


# --- compare-forms --------------------------------------------------------------------------------------------------


def _compare(options: argparse.Namespace) -> int:
    from bglang.reduce.forms import compare_forms
    from bglang.solve.problem import Options

    model = load_model(options)
    rows = compare_forms(model, Options(start=options.start, stop=options.stop, tol=options.tol))
    print(f"{'treatment':<10} {'unknowns':>8} {'steps':>7} {'time':>9} {'deviation':>10} {'drift':>9}")
    for row in rows:
        if row.failure:
            print(f"{row.treatment:<10} {row.failure}")
        else:
            drift = "-" if row.drift is None else f"{row.drift:.1e}"
            apart = "reference" if row.deviation is None else f"{row.deviation:.1e}"
            time = f"{1e3 * row.seconds:.1f} ms"
            print(f"{row.treatment:<10} {row.unknowns:>8} {row.steps:>7} {time:>9} {apart:>10} {drift:>9}")
    return GOOD
