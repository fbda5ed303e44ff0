"""Draws a picture of every class of the standard library: its bond graph, or an icon with its ports and signals.

Run it as `python docs/library_pictures.py`, with names of classes for some of them only."""

import sys
from pathlib import Path

from make_reference import Library, PortRow

import bglang
from bglang.diagnostics import Report
from bglang.pipeline import causal
from bglang.records import replace
from bglang.syntax import ast
from bglang.views.draw import Drawing
from bglang.views.draw_layout import place, text_width
from bglang.views.draw_scene import build_scene
from bglang.views.draw_shapes import INK, SOFT, Picture, Rectangle, Shape, Text, make_picture
from bglang.views.draw_shapes import Path as Line

FOLDER = Path(__file__).parent / "pictures" / "library"
STEP, BOX = 22.0, 40.0


def picture(name: str, library: Library) -> Drawing:
    """The graph of a model; an icon of everything else."""
    node = library.classes[name]
    ports = library.ports(node)
    if node.kind == "model" and ports:
        return graph(name, node, ports, library)
    short = name.rpartition(".")[2]
    inputs, outputs = library.named(node, "input"), library.named(node, "output")
    left = [(p.name, "bond") for p in ports if p.inward] + [(n, "signal") for n in inputs]
    right = [(p.name, "bond") for p in ports if not p.inward] + [(n, "signal") for n in outputs]
    basic = library.basic(node)
    if basic in ("Se", "Sf"):
        right.append(("", "bond"))
    elif basic in ("TF", "GY"):
        left, right = [("p1", "bond"), *left], [("p2", "bond"), *right]
    elif basic:
        left.append(("", "bond"))
    return Drawing(name, icon(basic, short, left, right))


def icon(symbol: str, name: str, left: list[tuple[str, str]], right: list[tuple[str, str]]) -> Picture:
    """A box with its symbol and name, what comes in at the left, what goes out at the right."""
    width = max(2 * BOX, text_width(name, 11.0) + 18)
    height = max(2 * BOX, STEP * max(len(left), len(right)) + 14)
    margins = [max([text_width(n, 9.5) for n, _ in side] or [0.0]) + 46 if side else 10.0 for side in (left, right)]
    x, y = margins[0], 10.0
    shapes: list[Shape] = [Rectangle(x, y, width, height, "#b6c2cb", "#f3f7fa", 4.0)]
    middle = y + height / 2
    if symbol:
        shapes.append(Text(x + width / 2, middle - 9, symbol, 17.0, INK, bold=True))
    shapes.append(Text(x + width / 2, middle + (11 if symbol else 0), name, 11.0, SOFT if symbol else INK))
    for side, begin, sign in ((left, x - 36, 1), (right, x + width + 2, 1)):
        for k, (label, kind) in enumerate(side):
            at = middle + (k - (len(side) - 1) / 2) * STEP
            shapes += _arrow(begin, at, 34.0 * sign, kind)
            place_of = begin - 6 - text_width(label, 9.5) if side is left else begin + 40
            shapes.append(Text(place_of, at, label, 9.5, SOFT, anchor="start"))
    return Picture(sum(margins) + width, height + 20, tuple(shapes))


def _arrow(x: float, y: float, length: float, kind: str) -> list[Shape]:
    """A power bond has half an arrow head, a signal a whole one and a thin line."""
    end = x + length
    if kind == "bond":
        return [Line(((x, y), (end, y), (end - 9, y + 6)), INK, 1.6)]
    return [
        Line(((x, y), (end, y)), SOFT, 1.0),
        Line(((end, y), (end - 7, y - 3), (end - 7, y + 3)), SOFT, 1.0, filled=True),
    ]


def graph(name: str, node: ast.Class, ports: list[PortRow], library: Library) -> Drawing:
    """The bond graph of a model, its ports as circles outside; they leave the causality open, as far as it can be."""
    values = {"Boolean": "false", "Real": "0.5"}
    inputs = ", ".join(f"{n} = {values[library.type_of(node, n)]}" for n in library.named(node, "input"))
    short = name.rpartition(".")[2]
    bonds = [f"'{p.name}' -> '{short}'.{p.name};" if p.inward else f"'{short}'.{p.name} -> '{p.name}';" for p in ports]
    nodes = ", ".join(f"'{p.name}'" for p in ports)
    model = bglang.loads(f"model Picture {name} '{short}'({inputs}); R {nodes}; bonds {' '.join(bonds)} end Picture;")
    scene = build_scene(model.graph, causal(model.graph, Report()), None)
    outside = {p.name for p in ports}
    nodes = [replace(n, symbol="○" if n.name in outside else n.symbol, mark="") for n in scene.nodes]
    scene = replace(scene, nodes=nodes, lines=[replace(line, mark="") for line in scene.lines])  # loops are outside
    return Drawing(name, make_picture(scene, place(scene)))


def main(names: list[str]) -> None:
    library = Library()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or library.pictured():
        (FOLDER / f"{name}.svg").write_text(picture(name, library).svg(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
