"""Runs what the pages of the guide show: their files are written, their commands called, their outputs compared.

In a page a block with a title (```bg title="hoist.bg") is a file, and a ```console block is a session: lines that begin
with `$` are commands, what follows them is their output.  `…` in an output stands for anything within its line, a line
that is only `…` for any lines.  The blocks of one page share a folder, from top to bottom."""

import io
import math
import os
import re
import runpy
import shlex
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bglang.cli import main

DOCS = Path(__file__).parent.parent.parent / "docs"
BLOCK = re.compile(
    r"^```(?P<kind>\w+)(?: title=\"(?P<title>[^\"]+)\")?[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
VARYING = (
    (re.compile(r"^(  (?:time|steps) +).*$", re.MULTILINE), r"\1…"),
    (re.compile(r"^(  method +)rk.*$", re.MULTILINE), r"\1rk… (the equations are explicit…)"),
    (re.compile(r"error \S+ J \(\S+\)"), "error … J (…)"),
)
"""What differs between machines, and what a page says instead."""
CURVE = "┤"
MEASURED = re.compile(r"-?(?<![\w.])\d+\.\d+(?:e[-+]\d+)?(?![\w.]*[\w])")


@dataclass(slots=True)
class Session:
    """A folder in which the blocks of a page are tried one after the other."""

    folder: Path

    def run(self, command: str) -> str:
        """Output and errors of one command, as a terminal shows them."""
        words = shlex.split(command)
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(out), chdir(self.folder):
            match words[0]:
                case "bglang":
                    main(words[1:])
                case "python":
                    runpy.run_path(words[1], run_name="__main__")
                case "cd":
                    self.folder = self.folder / words[1]
                case "cat":
                    print(Path(words[1]).read_text(encoding="utf-8"), end="")
                case "ls":
                    print("\n".join(sorted(os.listdir(words[1] if len(words) > 1 else "."))))
                case other:
                    raise AssertionError(f"the runner of the pages does not know the command `{other}`")
        return "\n".join(line.rstrip() for line in out.getvalue().splitlines())

    def write(self, title: str, text: str) -> None:
        path = self.folder / title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def calls(text: str) -> Iterator[tuple[str, str]]:
    """Commands of a console block, each with the output that the page shows."""
    command, output = "", list[str]()
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, "\n".join(output)
            command, output = line[2:], []
        else:
            output.append(line)
    if command:
        yield command, "\n".join(output)


def agrees(shown: str, found: str) -> bool:
    """Does the output fit what the page shows?  Ellipses fit anything, measured numbers to three digits."""
    pattern = "".join(_line_pattern(line) for line in shown.strip("\n").splitlines())
    match = re.fullmatch(pattern, found.strip("\n") + "\n" if found.strip("\n") else "")
    if match is None:
        return False
    meant = [float(n) for line in shown.splitlines() if CURVE not in line for n in MEASURED.findall(line)]
    return all(math.isclose(a, float(b), rel_tol=2e-3) for a, b in zip(meant, match.groups(), strict=True))


def _line_pattern(line: str) -> str:
    if line.strip() == "…":
        return r"(?:[^\n]*\n)*?"
    if CURVE in line:  # a curve may differ by a dot
        return r"[^\n]*" + CURVE + r"[^\n]*\n"
    pieces = (_number_pattern(piece) for piece in line.rstrip().split("…"))
    return r"[^\n]*?".join(pieces) + r" *\n"


def _number_pattern(text: str) -> str:
    """Numbers with a decimal point are measured; columns may be as wide as their numbers."""
    plain = MEASURED.split(text)
    spaced = (re.sub(r"(?:\\ ){2,}", r"(?:\\ )+", re.escape(part)) for part in plain)
    return r"(-?\d+(?:\.\d+)?(?:e[-+]\d+)?)".join(spaced)


def try_page(page: Path, folder: Path, update: bool) -> list[str]:
    """Every output of a page that is not what the command says; `update` writes the true ones into the page."""
    session = Session(folder)
    text, wrong = page.read_text(encoding="utf-8"), list[str]()
    fresh, end = list[str](), 0
    for block in BLOCK.finditer(text):
        if block["title"]:
            session.write(block["title"], block["text"])
        elif block["kind"] == "console":
            lines = list[str]()
            for command, shown in calls(block["text"]):
                found = session.run(command)
                good = agrees(shown, found)
                if not good:
                    wrong.append(f"{page.name}: $ {command}\n{found}\n--- the page says\n{shown}")
                lines += [f"$ {command}", *(shown if good else shorten(found)).splitlines()]
            fresh += [text[end : block.start()], "```console\n", "\n".join(lines), "\n```"]
            end = block.end()
    if update:
        page.write_text("".join(fresh) + text[end:], encoding="utf-8")
        return []
    return wrong


def shorten(output: str) -> str:
    """An output as a page shows it."""
    for pattern, instead in VARYING:
        output = pattern.sub(instead, output)
    return output


def quiet_terminal(monkeypatch: Any) -> None:
    """The same width everywhere, no colours."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setenv("NO_COLOR", "1")
