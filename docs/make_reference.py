"""Writes the generated pages: commands.md from the parsers, diagnostics.md from the golden cases, library.md
from the standard library.

    python docs/make_reference.py

A test compares the pages with what this script makes, so they are never out of date."""

import argparse
import ast as python
import re
from collections.abc import Iterator
from pathlib import Path

from bglang.advice import advice_for
from bglang.cli import COMMANDS, parser_for
from bglang.diagnostics import Report
from bglang.records import dataclass
from bglang.source import Span
from bglang.syntax import ast
from bglang.syntax.parse import parse
from bglang.syntax.read import read_source

DOCS = Path(__file__).parent
ROOT = DOCS.parent
MADE = "<!-- made by docs/make_reference.py: do not edit -->"


# --- commands ---------------------------------------------------------------------------------------------------------


def commands_page() -> str:
    rows = [f"| [`{name}`](#bglang-{name}) | {summary} |" for name, (_, summary) in COMMANDS.items()]
    head = f"""{MADE}

# Commands

`bglang COMMAND FILE`. Exit codes: 0 good, 1 the model is wrong, 2 the call is wrong, 3 the solver gave up (what was
computed until then is kept).

| command | does |
|---|---|
"""
    return head + "\n".join(rows) + "\n\n" + "\n".join(_command(name) for name in COMMANDS)


def _command(name: str) -> str:
    parser = parser_for(name)
    parts = [f"## bglang {name}\n\n{parser.description}\n"]
    shared = False
    for group in parser._action_groups:
        actions = [a for a in group._group_actions if a.help != argparse.SUPPRESS and "--help" not in a.option_strings]
        if group.title == "the model" and name != "run":
            shared = bool(actions)
        elif actions:
            title = group.title if group.title not in ("positional arguments", "options") else "option"
            parts.append(f"| {title} | |\n|---|---|\n" + "\n".join(_option(a) for a in actions) + "\n")
    if shared:
        parts.append(
            "Takes `--model`, `--set`, `--lib`, `--units`, `--allow-read` and `--limit` like [`run`](#bglang-run).\n"
        )
    if parser.epilog:
        parts.append(f"```text\n{parser.epilog.strip()}\n```\n")
    return "\n".join(parts)


def _option(action: argparse.Action) -> str:
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else ""
    value = action.metavar or choices or action.dest.upper()
    takes = action.nargs != 0
    names = ", ".join(action.option_strings)
    text = f"{names} {value if takes else ''}".strip()
    return f"| `{_cell(text)}` | {_cell(action.help or '')} |"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


# --- diagnostics ------------------------------------------------------------------------------------------------------

CLASSES = {
    "syntax": "The text cannot be read. The place is exact; look at it and just before it.",
    "limits": "A size or depth is beyond what an honest model needs. `--limit` raises it.",
    "files": "A file that the model names, or a library's own, is missing or misplaced.",
    "models": "Which model of the file is meant.",
    "names": "A name means nothing here, or two things.",
    "classes": "A class is used as what it is not.",
    "types": "A value has the wrong type or cannot stand there.",
    "arrays": "Sizes and subscripts do not fit.",
    "expressions": "An expression has no value, or none that is known early enough.",
    "functions": "Functions are pure, finite and give every output a value.",
    "tables": "Points of a table.",
    "parameters": "A parameter has no value, a wrong one, or may not be changed.",
    "parameter": "Values given for a run.",
    "experiment": "Times and tolerance of the run.",
    "bonds": "A bond leads to what cannot be bonded.",
    "ports": "Ports are transparent: one bond outside, one inside, one direction.",
    "domains": "A bond joins two domains; only TF, GY and multiports may.",
    "units": "Units do not fit. `--units warn` or `--units off` lets the model pass.",
    "graph": "The graph itself: lone nodes, junctions with one bond.",
    "laws": "The constitutive law of an element or field.",
    "causality": "Two elements want to set the same thing. See [causality](causality.md).",
    "starts": "Start values.",
    "equations": "The equations that follow from the graph.",
    "lagrange": "The Lagrange form and its coordinates.",
    "initial": "No consistent start was found. Exit code 1 if the model contradicts itself, 3 if the search failed.",
    "events": "Events that come too close together, or do not end.",
    "run": "Messages of a run.",
    "solve": "The solver gave up (exit code 3); results until then are kept.",
    "results": "Writing results.",
    "mck": "MCK files.",
    "enport": "ENPORT files.",
    "fmu": "FMU files.",
    "export": "What exporters cannot write.",
}
"""What the messages of each class are about, in the order of the compiler."""

HEADER = re.compile(r"^(error|warning|note)\[([a-z]+/[a-z0-9-]+)\]", re.MULTILINE)


def diagnostics_page() -> str:
    examples = _examples()
    codes = sorted(_codes() | set(examples))
    assert {c.partition("/")[0] for c in codes} <= set(CLASSES), "every class of messages is explained"
    parts = [
        f"""{MADE}

# Diagnostics

Every message has a code, `class/what`, the place, the reason and a hint. `bglang check FILE --json` gives them to
machines. Each example below is a file of the tests, with what the command prints about it.
"""
    ]
    parts += [f"- [{kind}](#{kind}): {text}" for kind, text in CLASSES.items() if any(_is(c, kind) for c in codes)]
    for kind, text in CLASSES.items():
        own = [c for c in codes if _is(c, kind)]
        if own:
            parts.append(f"\n## {kind}\n\n{text}")
            parts += [_diagnostic(code, examples.get(code)) for code in own]
    return "\n".join(parts) + "\n"


def _is(code: str, kind: str) -> bool:
    return code.startswith(f"{kind}/")


def _diagnostic(code: str, example: tuple[str, str] | None) -> str:
    if example is None:
        advice = advice_for(code)
        said = " ".join(filter(None, [advice.reason, f"Hint: {advice.hint}" if advice.hint else ""]))
        return f"\n### {code}\n\n{said or 'Its reason and hint are made from the model.'}"
    return f"\n### {code}\n\n```text\n{example[0].rstrip()}\n```\n\n```text\n{example[1].rstrip()}\n```"


def _examples() -> dict[str, tuple[str, str]]:
    """The simplest golden case of each code: source, and the messages."""
    found = dict[str, tuple[str, str]]()
    for path in sorted((ROOT / "tests" / "errors").glob("*.txt"), key=lambda p: (len(p.stem), p.stem)):
        text = path.read_text(encoding="utf-8")
        source = next(path.with_suffix(s) for s in (".bg", ".mck", ".enp") if path.with_suffix(s).exists()).read_bytes()
        for _, code in HEADER.findall(text):
            stem = code.replace("/", "-")
            if (path.stem == stem or path.stem.startswith(stem + "-")) and code not in found and _short(source):
                found[code] = (source.decode("utf-8").replace("```", "'''"), text.replace("```", "'''"))
    return found


def _short(source: bytes) -> bool:
    """Files that show something to a reader, not the machine-made ones."""
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return text.isprintable() or (len(text) < 1500 and all(c.isprintable() or c in "\n\t" for c in text))


def _codes() -> set[str]:
    """Every text in the package that is a code: of a known class, and no unit such as m/s."""
    found = set[str]()
    for path in sorted((ROOT / "bglang").rglob("*.py")):
        for node in python.walk(python.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, python.Constant) and isinstance(node.value, str):
                match = re.fullmatch(r"([a-z]+)/[a-z][a-z0-9-]*", node.value)
                if match and match[1] in CLASSES:
                    found.add(node.value)
    return found


# --- library ----------------------------------------------------------------------------------------------------------


def library_page() -> str:
    parts = [
        f"""{MADE}

# Standard library

Every class with its picture, law, ports, inputs, outputs and parameters, from `stdlib/` itself.

One-port elements extend a basic element: `Electrical.Inductor l` has `l.p`, `l.e`, `l.f`, and is bonded as `i -> l`.
The arrow of a port is the one to draw outside: `supply -> motor.pin`, `motor.shaft -> load`. Power counts **into** the
ports of elements; an arrow drawn the other way turns one sign ([which](language.md)). In the pictures, half arrows are
power bonds, thin whole arrows are signals, and circles are ports.

Parameters and signals without a unit fit any.
"""
    ]
    tops = sorted({*(ROOT / "stdlib").glob("*.bg"), *(ROOT / "stdlib").glob("*/package.bg")}, key=_package_name)
    parts += [f"- [{_package_name(path)}](#{_package_name(path).lower()})" for path in tops]
    for path in tops:
        inner = sorted(p for p in path.parent.glob("*.bg") if p != path) if path.name == "package.bg" else []
        for file in (path, *inner):
            prefix = "" if file is path else f"{_package_name(path)}."
            for node in _read(file).classes:
                parts += _class(node, prefix)
    return "\n".join(parts) + "\n"


def _package_name(path: Path) -> str:
    return path.parent.name if path.name == "package.bg" else path.stem


def _read(path: Path) -> ast.File:
    report = Report()
    source = read_source(path, report)
    tree = parse(source, report) if source else None
    report.raise_if_errors()
    assert tree is not None
    return tree


def _class(node: ast.Class, prefix: str) -> Iterator[str]:
    full = prefix + node.ident
    if node.kind in ("package", "domain"):
        yield f"\n{'##' if not prefix else '###'} {full}\n"
        if node.description:
            yield f"{node.description}.\n"
        if node.attributes:
            yield ", ".join(f"{_span(a.span)}" for a in node.attributes).replace('"', "") + ".\n"
        constants = [r for c in _components(node) if "constant" in c.prefixes for r in _rows(c)]
        if constants:
            yield from _table("constant", constants)
        for item in _items(node):
            if isinstance(item, ast.Class):
                yield from _class(item, f"{full}.")
        return
    partial = "partial " if node.partial else ""
    yield f"\n#### {full}\n\n{partial}{node.kind}. {_sentence(node.description)}".rstrip() + "\n"
    if node.kind in PICTURED:
        yield f"![{full}](pictures/library/{full}.svg)\n"
    yield from (f"`{_span(item.span).rstrip(';')}`\n" for item in _items(node) if isinstance(item, ast.Extends))
    ports = Library.ports(node)
    if ports:
        yield "| port | domain | arrow | |\n|---|---|---|---|"
        for port in ports:
            row = (f"`{port.title}`", port.domain, "into it" if port.inward else "out of it", port.description)
            yield f"| {' | '.join(map(_cell, row))} |"
        yield ""
    for prefix_word in ("input", "output", "parameter"):
        found = [c for c in _components(node) if prefix_word in c.prefixes and not c.protected]
        rows = [r for c in found if "final" not in c.prefixes for r in _rows(c)]
        if prefix_word == "parameter":
            rows = [*_inherited(node), *rows]
        if rows:
            yield from _table(prefix_word, rows)


PICTURED = ("model", "element", "block")
BASIC = ("Se", "Sf", "R", "C", "I", "TF", "GY")


@dataclass(frozen=True, slots=True)
class PortRow:
    """A port as the page shows it; `inward`: its arrow outside leads to it."""

    name: str
    title: str
    domain: str
    inward: bool
    description: str


class Library:
    """The classes of the standard library by their full names."""

    def __init__(self) -> None:
        self.classes: dict[str, ast.Class] = {}
        for path in sorted((ROOT / "stdlib").rglob("*.bg")):
            parents = path.parent.relative_to(ROOT / "stdlib").parts
            inside = parents[:-1] if path.name == "package.bg" else parents
            for node in _read(path).classes:
                self._add(node, "".join(f"{part}." for part in inside))

    def _add(self, node: ast.Class, prefix: str) -> None:
        self.classes[prefix + node.ident] = node
        if node.kind in ("package", "domain"):
            for item in _items(node):
                if isinstance(item, ast.Class):
                    self._add(item, f"{prefix}{node.ident}.")

    def pictured(self) -> list[str]:
        return [name for name, node in self.classes.items() if node.kind in PICTURED]

    @staticmethod
    def basic(node: ast.Class) -> str:
        """The basic element that a class extends, if it does."""
        bases = (_span(i.base.span) for i in _items(node) if isinstance(i, ast.Extends))
        return next((base for base in bases if base in BASIC), "")

    @staticmethod
    def ports(node: ast.Class) -> list[PortRow]:
        """Ports with the direction of their arrow: as drawn inside a model, into an element."""
        chains = [i for i in _items(node) if isinstance(i, ast.BondChain)]
        outward = {n.parts[0].ident for chain in chains for n in chain.last if len(n.parts) == 1}
        return [
            PortRow(d.ident, title[1:-1], domain, d.ident not in outward, description)
            for c in _components(node) if "port" in c.prefixes
            for d, (title, domain, _, _, description) in zip(c.declarators, _rows(c), strict=True)
        ]  # fmt: skip

    @staticmethod
    def named(node: ast.Class, prefix: str) -> list[str]:
        return [d.ident for c in _components(node) if prefix in c.prefixes for d in c.declarators]

    @staticmethod
    def type_of(node: ast.Class, name: str) -> str:
        return next(_span(c.type.span) for c in _components(node) for d in c.declarators if d.ident == name)


def _inherited(node: ast.Class) -> Iterator[tuple[str, ...]]:
    """Parameters of the basic element that a class gives a number: `extends R(R(unit = "ohm") = 1)`."""
    for item in _items(node):
        for a in item.args if isinstance(item, ast.Extends) else ():
            if a.name is not None and isinstance(a.value, ast.Number):
                units = [u.value.value for u in a.args or () if isinstance(u.value, ast.String) and _is_unit(u)]
                yield f"`{_span(a.name.span)}`", "Real", "".join(units), f"`{_span(a.value.span)}`", ""


def _sentence(text: str) -> str:
    return text if not text or text.endswith(".") else f"{text}."


def _table(title: str, rows: list[tuple[str, ...]]) -> Iterator[str]:
    kind = "type" if title == "parameter" else "domain or type"
    yield f"| {title} | {kind} | unit | default | |\n|---|---|---|---|---|"
    yield from (f"| {' | '.join(map(_cell, row))} |" for row in rows)
    yield ""


def _rows(component: ast.Component) -> Iterator[tuple[str, ...]]:
    for d in component.declarators:
        sizes = d.subscripts or component.subscripts or ()
        size = "[" + ", ".join(_span(s.span) for s in sizes) + "]" if sizes else ""
        units = [a.value.value for a in d.args or () if isinstance(a.value, ast.String) and _is_unit(a)]
        value = f"`{_span(d.value.span)}`" if d.value is not None else ""
        yield f"`{d.ident}{size}`", _span(component.type.span), "".join(units), value, d.description


def _is_unit(argument: ast.Argument) -> bool:
    return argument.name is not None and _span(argument.name.span) == "unit"


def _components(node: ast.Class) -> Iterator[ast.Component]:
    return (item for item in _items(node) if isinstance(item, ast.Component))


def _items(node: ast.Class) -> Iterator[ast.Item]:
    return (item for section in node.sections for item in section.items)


def _span(span: Span) -> str:
    return re.sub(r"\s+", " ", span.source.text[span.start : span.end])


PAGES = {"commands.md": commands_page, "diagnostics.md": diagnostics_page, "library.md": library_page}

if __name__ == "__main__":
    for name, make in PAGES.items():
        (DOCS / name).write_text(make(), encoding="utf-8")
        print(f"wrote docs/{name}")
