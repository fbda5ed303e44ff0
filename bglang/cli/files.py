"""Commands about files: `fmt`, `new`, `completion`."""

import argparse
import difflib
import re
import sys
from pathlib import Path

from bglang.cli.common import CALL_WRONG, GOOD, MODEL_WRONG
from bglang.diagnostics import SourceError, UsageError

FMT = """\
Rewrites the files in bglang's one style; comments are kept, meaning never changes.

examples:
  bglang fmt car.bg lib/          rewrite files, and all .bg files below a folder
  bglang fmt --check .            only say which files would change (exit code 1)
  bglang fmt --diff car.bg        show what would change
  bglang fmt - < car.bg           from standard input to standard output"""

NEW = """\
Makes a folder with a model, a small library of your own and a README, which runs as it is:

  bglang new pendulum && cd pendulum && bglang run pendulum.bg --plot"""

COMPLETION = """\
examples:
  bglang completion bash > ~/.local/share/bash-completion/completions/bglang
  bglang completion zsh > ~/.zfunc/_bglang
  bglang completion fish > ~/.config/fish/completions/bglang.fish"""


def configure(name: str, parser: argparse.ArgumentParser) -> None:
    if name == "fmt":
        parser.description, parser.epilog = FMT.split("\n\n", 1)
        parser.add_argument("paths", metavar="PATH", nargs="+", help="files or folders; - is standard input")
        parser.add_argument(
            "--check", action="store_true", help="change nothing; exit code 1 if a file is not formatted"
        )
        parser.add_argument("--diff", action="store_true", help="change nothing; show the differences")
    elif name == "new":
        parser.description = NEW
        parser.add_argument("name", metavar="NAME", help="name of the project, its folder and its model")
    else:
        parser.epilog = COMPLETION
        parser.add_argument("shell", choices=["bash", "zsh", "fish"])


def run(name: str, options: argparse.Namespace) -> int:
    if name == "fmt":
        return _format(options)
    if name == "new":
        return _new(options.name)
    from bglang.cli.completion import script

    print(script(options.shell), end="")
    return GOOD


# --- fmt --------------------------------------------------------------------------------------------------------------


def _format(options: argparse.Namespace) -> int:
    from bglang.cli.common import show
    from bglang.syntax.format import format_source

    changed = wrong = 0
    for path in _sources(options.paths):
        text = sys.stdin.read() if path is None else path.read_bytes().decode("utf-8-sig")
        title = "<stdin>" if path is None else str(path)
        try:
            new = format_source(text, title)
        except SourceError as failure:
            show(failure.diagnostics)
            wrong += 1
            continue
        if options.diff:
            sys.stdout.writelines(
                difflib.unified_diff(text.splitlines(True), new.splitlines(True), title, f"{title} (formatted)")
            )
        if path is None and not (options.diff or options.check):
            print(new, end="")
        elif new != text:
            changed += 1
            if options.check:
                print(f"would reformat {title}")
            elif not options.diff and path is not None:
                path.write_text(new, encoding="utf-8")
                print(f"reformatted {title}")
    if wrong or (options.check and changed):
        return MODEL_WRONG
    return GOOD


def _sources(paths: list[str]) -> list[Path | None]:
    found = list[Path | None]()
    for word in paths:
        path = Path(word)
        if word == "-":
            found.append(None)
        elif path.is_dir():
            found.extend(sorted(path.rglob("*.bg")))
        elif path.exists():
            found.append(path)
        else:
            raise UsageError(f"there is no file or folder `{word}`")
    return found


# --- new --------------------------------------------------------------------------------------------------------------

MODEL = """\
// Run me:   bglang run {folder}.bg --plot v.f
// Vary me:  bglang run {folder}.bg --set k=400 --set c=2
// See me:   bglang draw {folder}.bg -o {folder}.svg

model {model} "A mass on a spring and a damper, pushed for a moment"
  parameter Real m(unit = "kg") = 1 "mass";
  parameter Real k(unit = "N/m") = 100 "spring rate";
  parameter Real c(unit = "N.s/m") = 1 "damping";

  J1 v "velocity of the mass";
  Se push(e = if time < 0.1 then 10 else 0) "the push";
  I mass(I = m);
  Parts.Suspension suspension(k = k, c = c);

bonds
  push -> v -> mass;
  v -> suspension.tip;

  annotation(experiment(StopTime = 5));
end {model};
"""

PACKAGE = """\
package Parts "Components of your own"
end Parts;
"""

PART = """\
within Parts;

model Suspension "Spring and damper in parallel"
  port Translational tip;
  parameter Real k(unit = "N/m") = 100 "spring rate";
  parameter Real c(unit = "N.s/m") = 1 "damping";

  J1 dv "velocity of the tip";
  C spring(C = 1/k);
  R damper(R = c);

bonds
  tip -> dv -> spring, damper;
end Suspension;
"""

README = """\
# {model}

    bglang check {folder}.bg
    bglang run {folder}.bg --plot v.f
    bglang causality {folder}.bg
    bglang draw {folder}.bg -o {folder}.svg

`Parts/` is a library: every `.bg` file in it is a class that models in this folder can use.
"""


def _new(name: str) -> int:
    folder = Path(name)
    words = re.findall(r"[^\W\d_]\w*", folder.name)
    if not words:
        print(f"bglang new: `{name}` has no letters to make a model's name of", file=sys.stderr)
        return CALL_WRONG
    if folder.exists():
        print(f"bglang new: `{name}` exists already", file=sys.stderr)
        return CALL_WRONG
    model = "".join(word[0].upper() + word[1:] for word in words)
    texts = {f"{folder.name}.bg": MODEL, "Parts/package.bg": PACKAGE, "Parts/Suspension.bg": PART, "README.md": README}
    for path, text in texts.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            text.replace("{folder}", folder.name).replace("{model}", model if model != "Parts" else "PartsModel"),
            encoding="utf-8",
        )
    print(f"made {folder}/ with a model and a library\n\n  cd {folder}\n  bglang run {folder.name}.bg --plot v.f")
    return GOOD
