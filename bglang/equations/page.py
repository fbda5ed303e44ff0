"""Equations laid out: as text for a terminal, as LaTeX for a page that a teacher would hand out."""

from dataclasses import dataclass

from bglang.equations.latex import escape, formula, matrix_formula, name_formula
from bglang.expr import Expr
from bglang.expr.text import text

WIDTH = 100


@dataclass(frozen=True, slots=True)
class Line:
    """left = right, and where it comes from."""

    left: Expr
    right: Expr
    origin: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix with names at its rows and columns."""

    name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: tuple[tuple[Expr, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    lines: tuple[Line, ...] = ()
    remarks: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    head: tuple[str, ...]
    sections: tuple[Section, ...]

    def text(self) -> str:
        parts = [self.title, *self.head]
        for section in self.sections:
            parts += ["", section.title, *(f"  {remark}" for remark in section.remarks)]
            parts += [row for line in section.lines for row in _line_text(line)]
            parts += [row for grid in section.grids for row in _grid_text(grid)]
        return "\n".join(parts)

    def latex(self) -> str:
        """A whole document that needs amsmath only."""
        body = [f"\\section*{{{escape(self.title)}}}", *(escape(h) + "\\par" for h in self.head)]
        for section in self.sections:
            body.append(f"\\subsection*{{{escape(section.title)}}}")
            body += [escape(remark) + "\\par" for remark in section.remarks]
            if section.lines:
                rows = [_line_latex(line) for line in section.lines]
                body += ["\\begin{align*}", " \\\\\n".join(rows), "\\end{align*}"]
            for grid in section.grids:
                body += ["\\[", matrix_formula(grid.name, grid.rows, grid.columns, grid.entries), "\\]"]
        return _DOCUMENT.replace("BODY", "\n".join(body))

    def formulas(self) -> list[str]:
        """Every formula by itself, as LaTeX between dollars would take it."""
        return [f"{formula(line.left)} = {formula(line.right)}" for s in self.sections for line in s.lines]


def _line_text(line: Line) -> list[str]:
    shown = f"  {text(line.left)} = {text(line.right)}"
    origin = (
        "    // " + ", ".join(part for part in (line.origin, line.note) if part) if line.origin or line.note else ""
    )
    if len(shown) <= WIDTH:
        return [shown + origin]
    rows = _broken(line)
    rows[-1] += origin
    return rows


def _broken(line: Line) -> list[str]:
    """A long sum over several rows, broken between its terms."""
    right = line.right
    terms = list(right[1:]) if isinstance(right, tuple) and right[0] == "+" else [right]
    rows, current = list[str](), f"  {text(line.left)} ="
    for k, term in enumerate(terms):
        # written as the second term of a sum, where signs and parentheses come right, and without the first
        piece = f" {text(term)}" if len(terms) == 1 else text(("+", ("v", ""), term))
        if k == 0 and len(terms) > 1:
            piece = f" {text(('+', term, ('v', ''))).removesuffix(' + ')}"
        if len(current) + len(piece) > WIDTH and current.strip():
            rows.append(current)
            current = "     "
        current += piece
    return [*rows, current]


def _grid_text(grid: Grid) -> list[str]:
    cells = [[text(e) for e in row] for row in grid.entries]
    head = ["", *grid.columns]
    table = [head, *([name, *row] for name, row in zip(grid.rows, cells, strict=True))]
    widths = [max(len(row[k]) for row in table) for k in range(len(head))]
    shown = ["    " + "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in table]
    return [f"  {grid.name}", *shown]


def _line_latex(line: Line) -> str:
    right = line.right
    terms = list(right[1:]) if isinstance(right, tuple) and right[0] == "+" else [right]
    pieces, current = list[str](), ""
    for k, term in enumerate(terms):
        shown = formula(term)
        if isinstance(term, tuple) and term[0] == "+":
            shown = f"\\left({shown}\\right)"
        piece = shown if not k or shown.startswith("-") else f"+ {shown}"
        if current and len(current) + len(piece) > 160:
            pieces.append(current)
            current = ""
        current += (" " if current else "") + piece
    pieces.append(current)
    origin = f" && \\text{{\\footnotesize {escape(line.origin)}}}" if line.origin else ""
    return f"{formula(line.left)} ={{}}& " + " \\\\\n & \\quad ".join(pieces) + origin


_DOCUMENT = """\\documentclass[a4paper,11pt]{article}
\\usepackage[utf8]{inputenc}
\\usepackage{amsmath}
\\allowdisplaybreaks
\\begin{document}
BODY
\\end{document}
"""

__all__ = ["Grid", "Line", "Page", "Section", "name_formula"]
