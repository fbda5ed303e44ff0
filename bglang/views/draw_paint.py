"""Drawings as png and pdf, painted by matplotlib."""

from pathlib import Path as FilePath
from typing import Any

from bglang.diagnostics import UsageError
from bglang.views.draw_shapes import Path, Picture, Rectangle, Shape, Text

DOTS = 144
"""Dots per inch of a png; a picture unit is a seventy-second of an inch."""
LARGEST = 30_000
"""No side of a png has more dots than this."""


def paint(picture: Picture, target: FilePath) -> None:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("png and pdf need the package matplotlib: pip install 'bglang[plot]'; svg does not") from None
    figure = Figure(figsize=(picture.width / 72, picture.height / 72), facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, picture.width)
    axes.set_ylim(picture.height, 0)
    axes.set_axis_off()
    for order, shape in enumerate(picture.shapes):
        _paint_shape(axes, shape, order)
    dots = min(DOTS, int(LARGEST / (max(picture.width, picture.height) / 72)))
    figure.savefig(target, dpi=dots, metadata={"Creator": "bglang"} if target.suffix.lower() == ".pdf" else None)


def _paint_shape(axes: Any, shape: Shape, order: int) -> None:
    from matplotlib.patches import FancyBboxPatch

    if isinstance(shape, Text):
        axes.text(
            shape.x,
            shape.y,
            shape.text.replace("$", r"\$"),
            fontsize=shape.size * 0.9,  # the font that comes with matplotlib is wide
            color=shape.colour,
            fontweight="bold" if shape.bold else "normal",
            ha="center" if shape.anchor == "middle" else "left",
            va="center_baseline",
            zorder=order,
        )
    elif isinstance(shape, Rectangle):
        corner = (shape.x + shape.round, shape.y + shape.round)
        size = (shape.width - 2 * shape.round, shape.height - 2 * shape.round)
        style = f"round,pad={shape.round}"
        axes.add_patch(
            FancyBboxPatch(
                corner, *size, boxstyle=style, facecolor=shape.fill, edgecolor=shape.colour, linewidth=1.0, zorder=order
            )
        )
    else:
        _paint_path(axes, shape, order)


def _paint_path(axes: Any, path: Path, order: int) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    codes = [Outline.MOVETO] + [Outline.CURVE3 if path.curved else Outline.LINETO] * (len(path.points) - 1)
    axes.add_patch(
        PathPatch(
            Outline(list(path.points), codes),
            facecolor=path.colour if path.filled else "none",
            edgecolor=path.colour,
            linewidth=path.width,
            linestyle=(0, (4, 3)) if path.dashed else "solid",
            zorder=order,
        )
    )
