"""The bond graph as a picture: half arrows, strokes, symbols, frames, and colours for what deserves a look."""

from html import escape
from pathlib import Path as FilePath

from bglang.causality.result import Causality
from bglang.diagnostics import UsageError
from bglang.graph.ir import BondGraph
from bglang.views.draw_layout import place
from bglang.views.draw_scene import build_scene
from bglang.views.draw_shapes import Path, Picture, Rectangle, Shape, make_picture


def draw(graph: BondGraph, causality: Causality, depth: int | None = None) -> "Drawing":
    """`depth`: how many levels of subsystems are drawn open; deeper ones are single nodes.  None: all of them."""
    scene = build_scene(graph, causality, depth)
    return Drawing(scene.title, make_picture(scene, place(scene)))


class Drawing:
    """A finished drawing.  Notebooks show it by themselves."""

    def __init__(self, title: str, picture: Picture) -> None:
        self.title, self.picture = title, picture

    def svg(self) -> str:
        """The drawing as an SVG document."""
        width, height = self.picture.width, self.picture.height
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.1f} {height:.1f}" font-family="Helvetica, Arial, sans-serif">',
            f"<title>{escape(self.title)}</title>",
            f'<rect width="{width:.1f}" height="{height:.1f}" fill="#ffffff"/>',
            *(_svg_shape(shape) for shape in self.picture.shapes),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def save(self, path: str | FilePath) -> None:
        """Writes svg, or (through matplotlib) png or pdf, by the ending of the name."""
        target = FilePath(path)
        ending = target.suffix.lower()
        if ending == ".svg":
            target.write_text(self.svg(), encoding="utf-8")
        elif ending in (".png", ".pdf"):
            from bglang.views.draw_paint import paint

            paint(self.picture, target)
        else:
            raise UsageError(f"a drawing can be saved as .svg, .png or .pdf, not as `{target.name}`")

    def _repr_svg_(self) -> str:
        return self.svg()


def _svg_shape(shape: Shape) -> str:
    if isinstance(shape, Path):
        return _svg_path(shape)
    if isinstance(shape, Rectangle):
        return (
            f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" height="{shape.height:.1f}" '
            f'rx="{shape.round:.1f}" fill="{shape.fill}" stroke="{shape.colour}"/>'
        )
    weight = ' font-weight="bold"' if shape.bold else ""
    return (
        f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size:.1f}" fill="{shape.colour}"{weight} '
        f'text-anchor="{shape.anchor}" dominant-baseline="central">{escape(shape.text)}</text>'
    )


def _svg_path(path: Path) -> str:
    points = [f"{x:.1f} {y:.1f}" for x, y in path.points]
    if path.curved:
        data = f"M{points[0]} Q{points[1]} {points[2]}"
    else:
        data = "M" + " L".join(points) + (" Z" if path.filled else "")
    dash = ' stroke-dasharray="4 3"' if path.dashed else ""
    fill = path.colour if path.filled else "none"
    return f'<path d="{data}" fill="{fill}" stroke="{path.colour}" stroke-width="{path.width}"{dash}/>'
