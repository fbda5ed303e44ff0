"""Equations laid out: as text for a terminal, as LaTeX for a page that a teacher would hand out."""

import re

from bglang.equations.latex import escape, formula, matrix_formula, name_formula
from bglang.expr import Expr, call, product
from bglang.expr.text import text
from bglang.records import dataclass

WIDTH = 100
PRINTED = 62
"""Characters of a formula in one line of a printed page, beside its origin."""
ALIGNED = 40
"""Equations that are aligned with each other: more at once are slow to set."""


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
        """A whole document, with packages that every LaTeX has."""
        body = [f"\\section*{{{escape(self.title)}}}", *(escape(h) + "\\par" for h in self.head)]
        for section in self.sections:
            body.append(f"\\subsection*{{{escape(section.title)}}}")
            body += [escape(remark) + "\\par" for remark in section.remarks]
            if section.lines:
                for first in range(0, len(section.lines), ALIGNED):
                    rows = [_line_latex(line) for line in section.lines[first : first + ALIGNED]]
                    body += ["\\begin{align*}", " \\\\\n".join(rows), "\\end{align*}"]
            for grid in section.grids:
                body.append(f"\\[\\fitted{{{matrix_formula(grid.name, grid.rows, grid.columns, grid.entries)}}}\\]")
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
    pieces, current = list[str](), ""
    for piece in _pieces(line.right, first=True):
        if current and _width(current) + _width(piece) > PRINTED:
            pieces.append(current)
            current = ""
        current += (" " if current else "") + piece
    pieces.append(current)
    pieces = [f"\\fitted{{{piece}}}" if _width(piece) > PRINTED else piece for piece in pieces]
    origin = f" && \\text{{\\footnotesize {escape(_short(line.origin))}}}" if line.origin else ""
    return f"{formula(line.left)} ={{}}& " + " \\\\\n & \\quad ".join(pieces) + origin


def _pieces(e: Expr, first: bool) -> list[str]:
    """A formula in parts between which a line may end: the terms of a sum, also of one above or beside a long factor,
    which then stands before brackets."""
    made = list[str]()
    for term in e[1:] if isinstance(e, tuple) and e[0] == "+" else (e,):
        shown = formula(term)
        if isinstance(term, tuple) and term[0] == "+":
            shown = f"\\left({shown}\\right)"
        sign = "" if (first and not made) or shown.startswith("-") else "+ "
        parts = _split(term) if _width(shown) > PRINTED else None
        if parts is None:
            made.append(sign + shown)
        else:
            before, inner, below = parts
            made += _bracketed(f"{sign}{before}", inner)
            made += [] if below is None else _bracketed("\\big/", below)
    return made


def _bracketed(before: str, e: Expr) -> list[str]:
    inside = _pieces(e, first=True)
    inside[0] = f"{before} \\bigl( {inside[0]}".strip()
    inside[-1] += " \\bigr)"
    return inside


def _split(term: Expr) -> tuple[str, Expr, Expr | None] | None:
    """A long product or quotient as a factor, the sum beside it, and a divisor that is long, too; None where there is
    no sum of several terms."""
    if not isinstance(term, tuple) or term[0] not in ("*", "/"):
        return None
    top, below = (term[1], term[2]) if term[0] == "/" else (term, None)
    factors = list(top[1:]) if isinstance(top, tuple) and top[0] == "*" else [top]
    sums = [f for f in factors if isinstance(f, tuple) and f[0] == "+" and len(f) > 2]
    if not sums:
        return None
    inner = max(sums, key=lambda f: len(text(f)))
    factors.remove(inner)
    rest: Expr = product(factors)
    if below is not None and _width(formula(below)) <= PRINTED:
        return formula(call("/", rest, below)), inner, None
    return "" if rest == 1.0 else formula(rest), inner, below


def _width(shown: str) -> int:
    """About how many characters a formula shows."""
    return len(re.sub(r"\\(?:left|right|mathrm|d?dot|bigl|bigr|frac|,|quad)|[{}_^\\ ]", "", shown))


def _short(origin: str) -> str:
    """A place in the source by its line: the file has the page's name."""
    return re.sub(r"(?:^|(?<=, ))(?:[^,]*[/\\])?[^,/\\]*:(\d+):\d+", r"line \1", origin)


_DOCUMENT = """\\documentclass[a4paper,11pt]{article}
\\usepackage[utf8]{inputenc}
\\usepackage[margin=20mm]{geometry}
\\usepackage{amsmath,graphicx}
\\allowdisplaybreaks
\\setcounter{MaxMatrixCols}{1000}
\\newcommand{\\fitted}[1]{%
  \\resizebox{\\ifdim\\width>0.75\\linewidth 0.75\\linewidth\\else\\width\\fi}{!}{$\\displaystyle #1$}}
\\begin{document}
BODY
\\end{document}
"""

__all__ = ["Grid", "Line", "Page", "Section", "name_formula"]
