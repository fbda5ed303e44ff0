"""A canvas of braille characters: two by four dots a character, with one colour for each."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


class Canvas:
    """Draws curves into a grid of characters; `x` and `y` are the ranges that it spans."""

    def __init__(self, width: int, height: int, x: tuple[float, float], y: tuple[float, float]):
        self.width, self.height, self.x, self.y = width, height, x, y
        self._dots = np.zeros((4 * height, 2 * width), dtype=bool)
        self._owner = np.full((height, width), -1)

    def curve(self, x: NDArray[np.float64], y: NDArray[np.float64], number: int) -> None:
        """A line through all points; where values are missing the line breaks."""
        with np.errstate(over="ignore", invalid="ignore"):  # ranges as large as numbers are show nothing
            columns = (x - self.x[0]) / (self.x[1] - self.x[0]) * (2 * self.width - 1)
            rows = (self.y[1] - y) / (self.y[1] - self.y[0]) * (4 * self.height - 1)
        good = np.isfinite(columns) & np.isfinite(rows)
        for k in range(len(x)):
            if not good[k]:
                continue
            if k and good[k - 1]:
                self._line(columns[k - 1], rows[k - 1], columns[k], rows[k], number)
            else:
                self._dot(columns[k], rows[k], number)

    def _line(self, x0: float, y0: float, x1: float, y1: float, number: int) -> None:
        farthest = 8 * sum(self._dots.shape)  # most of a longer line lies outside of the canvas
        count = int(min(max(abs(x1 - x0), abs(y1 - y0)), farthest)) + 2
        for s in np.linspace(0.0, 1.0, count):
            self._dot(x0 + s * (x1 - x0), y0 + s * (y1 - y0), number)

    def _dot(self, x: float, y: float, number: int) -> None:
        column, row = round(x), round(y)
        if 0 <= row < self._dots.shape[0] and 0 <= column < self._dots.shape[1]:
            self._dots[row, column] = True
            self._owner[row // 4, column // 2] = number

    def rows(self, colors: Sequence[int] | None) -> list[str]:
        """The lines of text, coloured by curve if colours are given."""
        lines = list[str]()
        for r in range(self.height):
            line, active = "", -1
            for c in range(self.width):
                block = self._dots[4 * r : 4 * r + 4, 2 * c : 2 * c + 2]
                code = int((DOTS * block).sum())
                owner = int(self._owner[r, c])
                if colors is not None and code and owner != active:
                    line += f"\033[{colors[owner % len(colors)]}m"
                    active = owner
                line += chr(0x2800 + code) if code else " "
            lines.append(line + ("\033[0m" if active >= 0 else ""))
        return lines
