"""A placed scene as plain shapes: lines, rectangles and texts.  Every format is written from these."""

import math

from bglang.records import dataclass
from bglang.views.draw_layout import Box, Layout, text_width
from bglang.views.draw_net import BOND
from bglang.views.draw_scene import MARKS, Mark, Scene

INK, SOFT, FAINT = "#1a1a1a", "#6b6b6b", "#9aa4ad"
COLOURS: dict[Mark, str] = {
    "": INK,
    "dependent": "#D55E00",
    "loop": "#0072B2",
    "conflict": "#C2185B",
    "artificial": "#00875A",
}
"""Told apart by people who see colours differently, too."""

BORDER = 18.0


@dataclass(frozen=True, slots=True)
class Path:
    """Straight through its points; through three points bent, if `curved`."""

    points: tuple[tuple[float, float], ...]
    colour: str
    width: float
    dashed: bool = False
    curved: bool = False
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Rectangle:
    x: float
    y: float
    width: float
    height: float
    colour: str
    fill: str
    round: float = 0.0
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """`anchor` says which point of the text stands at x: "middle" or "start"; y is its vertical middle."""

    x: float
    y: float
    text: str
    size: float
    colour: str
    bold: bool = False
    anchor: str = "middle"


Shape = Path | Rectangle | Text


@dataclass(frozen=True, slots=True)
class Picture:
    width: float
    height: float
    shapes: tuple[Shape, ...]


def make_picture(scene: Scene, layout: Layout) -> Picture:
    """Frames first, then signals, bonds and nodes, and the legend below."""
    shapes: list[Shape] = []
    for name in sorted(layout.frames, key=lambda f: f.count(".")):
        shapes += _frame(name, scene.frames[name], layout.frames[name])
    for signal in scene.signals:
        shapes += _signal(layout.nodes[signal.source], layout.nodes[signal.target])
    for (k, count), line in zip(_lanes(scene), scene.lines, strict=True):
        offset = (k - (count - 1) / 2) * 9.0
        shapes += _bond(
            layout.nodes[line.tail], layout.nodes[line.head], line.stroke, line.label, COLOURS[line.mark], offset
        )
    for node, box in zip(scene.nodes, layout.nodes, strict=True):
        colour = COLOURS[node.mark]
        if node.box:
            shapes.append(
                Rectangle(box.x - box.width, box.y - box.height, 2 * box.width, 2 * box.height, colour, "#ffffff", 4.0)
            )
        shapes.append(Text(box.x, box.y - 5.5, node.symbol, 15.0, colour, bold=True))
        shapes.append(Text(box.x, box.y + 8.5, node.name, 9.5, SOFT if node.mark == "" else colour))
    legend, width, height = _legend(scene, layout)
    return Picture(width + 2 * BORDER, height + 2 * BORDER, tuple(_moved(x) for x in (*shapes, *legend)))


def _lanes(scene: Scene) -> list[tuple[int, int]]:
    """Which of how many bonds between the same two nodes this is."""
    total: dict[tuple[int, int], int] = {}
    places: list[tuple[tuple[int, int], int]] = []
    for line in scene.lines:
        key = (min(line.tail, line.head), max(line.tail, line.head))
        places.append((key, total.get(key, 0)))
        total[key] = total.get(key, 0) + 1
    return [(k, total[key]) for key, k in places]


def _edge(box: Box, dx: float, dy: float, gap: float = 5.0) -> float:
    """How far from the middle of a box its border lies in a direction."""
    across = (box.width + gap) / abs(dx) if dx else math.inf
    up = (box.height + gap) / abs(dy) if dy else math.inf
    return min(across, up)


def _bond(tail: Box, head: Box, stroke: str, label: str, colour: str, offset: float) -> list[Shape]:
    length = math.hypot(head.x - tail.x, head.y - tail.y)
    if length == 0.0:
        return []
    dx, dy = (head.x - tail.x) / length, (head.y - tail.y) / length
    nx, ny = -dy, dx
    start, end = _edge(tail, dx, dy), length - _edge(head, dx, dy)
    if end - start < 10.0:  # boxes that nearly touch still show a bond
        middle = (start + end) / 2
        start, end = middle - 5.0, middle + 5.0
    x0, y0 = tail.x + offset * nx, tail.y + offset * ny

    def at(along: float, aside: float = 0.0) -> tuple[float, float]:
        return x0 + along * dx + aside * nx, y0 + along * dy + aside * ny

    shapes: list[Shape] = [Path((at(start), at(end)), colour, 1.5)]
    shapes.append(Path((at(end - 9.0, 5.5), at(end)), colour, 1.5))
    if stroke:
        place = end + 0.8 if stroke == "head" else start - 0.8
        shapes.append(Path((at(place, -6.5), at(place, 6.5)), colour, 2.2))
    elif colour == COLOURS["conflict"]:
        shapes.append(Text(*at((start + end) / 2, -9.0), "?", 11.0, colour, bold=True))
    if label:
        shapes.append(Text(*at((start + end) / 2, -8.0), label, 8.5, SOFT))
    return shapes


def _signal(source: Box, target: Box) -> list[Shape]:
    """A bent dashed arrow, so that it does not lie on a bond between the same nodes."""
    length = math.hypot(target.x - source.x, target.y - source.y)
    if length == 0.0:
        return []
    dx, dy = (target.x - source.x) / length, (target.y - source.y) / length
    bend = min(0.16 * length, BOND)
    control = ((source.x + target.x) / 2 - dy * bend, (source.y + target.y) / 2 + dx * bend)
    start = _toward(source, control)
    end = _toward(target, control)
    back = math.atan2(control[1] - end[1], control[0] - end[0])
    tips = [(end[0] + 6.0 * math.cos(back + t), end[1] + 6.0 * math.sin(back + t)) for t in (0.35, -0.35)]
    return [
        Path((start, control, end), FAINT, 0.9, dashed=True, curved=True),
        Path((tips[0], end, tips[1]), FAINT, 0.9, filled=True),
    ]


def _toward(box: Box, point: tuple[float, float]) -> tuple[float, float]:
    length = math.hypot(point[0] - box.x, point[1] - box.y) or 1.0
    dx, dy = (point[0] - box.x) / length, (point[1] - box.y) / length
    reach = _edge(box, dx, dy, 1.0)
    return box.x + reach * dx, box.y + reach * dy


def _frame(name: str, kind: str, box: Box) -> list[Shape]:
    title = f"{name.rpartition('.')[2]} : {kind.rpartition('.')[2]}" if kind else name.rpartition(".")[2]
    fill = "#f4f7f9" if name.count(".") % 2 == 0 else "#e9eff3"
    left, upper = box.x - box.width, box.y - box.height
    return [
        Rectangle(left, upper, 2 * box.width, 2 * box.height, "#b8c4cc", fill, 6.0),
        Text(left + 8.0, upper + 11.0, title, 10.0, SOFT, anchor="start"),
    ]


def _legend(scene: Scene, layout: Layout) -> tuple[list[Shape], float, float]:
    """What the signs and colours mean, in rows below the drawing."""
    entries: list[tuple[str, str]] = [
        ("half arrow", "power counts positive this way"),
        ("stroke", "this end gets the effort"),
    ]
    if scene.signals:
        entries.append(("signal", "modulation"))
    entries += [(mark, MARKS[mark]) for mark in scene.marks]
    width = max(layout.width, 240.0)
    x, y = 0.0, layout.height + 30.0
    shapes: list[Shape] = []
    for key, text in entries:
        need = 34.0 + text_width(text, 9.0) + 22.0
        if x > 0 and x + need > width + 22.0:
            x, y = 0.0, y + 16.0
        shapes += _legend_sign(key, x, y)
        shapes.append(Text(x + 34.0, y, text, 9.0, SOFT, anchor="start"))
        x += need
    return shapes, width, y + 8.0


def _legend_sign(key: str, x: float, y: float) -> list[Shape]:
    if key == "half arrow":
        return [Path(((x, y), (x + 26, y)), INK, 1.5), Path(((x + 18, y + 5), (x + 26, y)), INK, 1.5)]
    if key == "stroke":
        return [Path(((x, y), (x + 26, y)), INK, 1.5), Path(((x + 26, y - 6), (x + 26, y + 6)), INK, 2.2)]
    if key == "signal":
        return [Path(((x, y), (x + 26, y)), FAINT, 0.9, dashed=True)]
    colour = next(c for m, c in COLOURS.items() if m == key)
    return [Rectangle(x + 8, y - 5, 12, 10, colour, colour, 2.0)]


def _moved(shape: Shape) -> Shape:
    """Inside the border."""
    if isinstance(shape, Path):
        points = tuple((x + BORDER, y + BORDER) for x, y in shape.points)
        return Path(points, shape.colour, shape.width, shape.dashed, shape.curved, shape.filled)
    if isinstance(shape, Rectangle):
        return Rectangle(
            shape.x + BORDER, shape.y + BORDER, shape.width, shape.height, shape.colour, shape.fill, shape.round
        )
    return Text(shape.x + BORDER, shape.y + BORDER, shape.text, shape.size, shape.colour, shape.bold, shape.anchor)
