"""Equations laid out: as text for a terminal, as LaTeX for a page that a teacher would hand out."""

import re
from collections.abc import Sequence

from bglang.equations.latex import escape, formula, matrix_formula, name_formula
from bglang.expr import Expr, call, product
from bglang.expr.gather import with_short_numbers
from bglang.expr.text import text
from bglang.records import dataclass

WIDTH = 100
PRINTED = 52
"""Characters of a formula in one line of a printed page, beside its origin."""
DIGITS, PRINTED_DIGITS = 7, 6
"""Digits of numbers that are no parameters; data for machines has them all."""
LARGEST = 400
"""Entries of a matrix that is shown as one."""
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

    @property
    def empty(self) -> bool:
        return all(e == 0.0 for row in self.entries for e in row)


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    lines: tuple[Line, ...] = ()
    remarks: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    table: tuple[tuple[str, str, str], ...] = ()
    """Symbols: a name, its value, what it is."""


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
            parts += _table_text(section.table)
        return "\n".join(parts)

    def latex(self) -> str:
        """A whole document, with packages that every LaTeX has."""
        body = [f"\\section*{{{escape(self.title)}}}", *(escape(h) + "\\par" for h in self.head)]
        for section in self.sections:
            body.append(f"\\subsection*{{{escape(section.title)}}}")
            body += [escape(remark) + "\\par" for remark in section.remarks]
            for first in range(0, len(section.lines), ALIGNED):
                rows = [_line_latex(line) for line in section.lines[first : first + ALIGNED]]
                body += ["\\begin{align*}", " \\\\\n".join(rows), "\\end{align*}"]
            body += _grids_latex(section.grids) + _table_latex(section.table)
        return _DOCUMENT.replace("BODY", "\n".join(body))

    def formulas(self) -> list[str]:
        """Every formula by itself, as LaTeX between dollars would take it."""
        return [f"{formula(line.left)} = {formula(line.right)}" for s in self.sections for line in s.lines]


def _line_text(line: Line) -> list[str]:
    left, right = text(line.left), with_short_numbers(line.right, DIGITS)
    origin = ", ".join(part for part in (line.origin, line.note) if part)
    shown = f"  {left} = {text(right)}"
    rows = [shown] if len(shown) <= WIDTH else _broken(f"  {left} =", right)
    if origin:
        rows[-1] += f"    // {origin}"
    return rows


def _broken(start: str, right: Expr) -> list[str]:
    """A long sum over several rows, broken between its terms; a long choice, each case in its own row."""
    if isinstance(right, tuple) and right[0] == "if":
        return [start, *_cases(right)]
    terms = list(right[1:]) if isinstance(right, tuple) and right[0] == "+" else [right]
    rows, current = list[str](), start
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


def _cases(e: Expr) -> list[str]:
    rows, word = list[str](), "if"
    while isinstance(e, tuple) and e[0] == "if":
        rows.append(f"      {word} {text(e[1])} then {text(e[2])}")
        word, e = "elseif", e[3]
    return [*rows, f"      else {text(e)}"]


def _table_text(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    if not rows:
        return []
    first, second = (min(30, max(len(row[k]) for row in rows)) for k in (0, 1))
    return [f"  {name:{first}}  {value:{second}}  {words}".rstrip() for name, value, words in rows]


def _grid_text(grid: Grid) -> list[str]:
    if grid.empty:
        return [f"  {grid.name} = 0"]
    if len(grid.rows) * len(grid.columns) > LARGEST:
        size = f"{len(grid.rows)} x {len(grid.columns)}"
        return [f"  {grid.name}, {size}: entries that are not 0", *(f"    {row}" for row in _entries(grid))]
    cells = [[text(with_short_numbers(e, DIGITS)) for e in row] for row in grid.entries]
    head = ["", *grid.columns]
    table = [head, *([name, *row] for name, row in zip(grid.rows, cells, strict=True))]
    widths = [max(len(row[k]) for row in table) for k in range(len(head))]
    shown = ["    " + "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in table]
    return [f"  {grid.name}", *shown]


def _entries(grid: Grid) -> list[str]:
    return [
        f"{row}, {column}: {text(with_short_numbers(e, DIGITS))}"
        for row, entries in zip(grid.rows, grid.entries, strict=True)
        for column, e in zip(grid.columns, entries, strict=True)
        if e != 0.0
    ]


def _line_latex(line: Line) -> str:
    pieces, current = list[str](), ""
    for piece in _pieces(with_short_numbers(line.right, PRINTED_DIGITS), first=True):
        if current and _width(current) + _width(piece) > PRINTED:
            pieces.append(current)
            current = ""
        current += (" " if current else "") + piece
    pieces.append(current)
    pieces = [f"\\fitted{{{piece}}}" if _width(piece) > PRINTED else piece for piece in pieces]
    origin = ", ".join(part for part in (_short(line.origin), line.note) if part)
    tag = f" \\tag*{{\\footnotesize {escape(origin)}}}" if origin else ""
    return f"{formula(line.left)} ={{}}& " + " \\\\\n & \\quad ".join(pieces) + tag


def _grids_latex(grids: Sequence[Grid]) -> list[str]:
    body = list[str]()
    for grid in grids:
        if grid.empty:
            body.append(f"\\[{name_formula(grid.name)} = 0\\]")
        elif len(grid.rows) * len(grid.columns) > LARGEST:
            body.append(f"{escape(grid.name)}, entries that are not 0:\\par")
            body += [escape(row) + "\\par" for row in _entries(grid)]
        else:
            body.append(f"\\[\\fitted{{{matrix_formula(grid.name, grid.rows, grid.columns, grid.entries)}}}\\]")
    return body


def _table_latex(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    if not rows:
        return []
    shown = [f"${name_formula(name)}$ & {escape(value)} & {escape(words)} \\\\" for name, value, words in rows]
    return ["\\begin{longtable}[l]{@{}lp{0.4\\linewidth}p{0.4\\linewidth}@{}}", *shown, "\\end{longtable}"]


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


_DOCUMENT = """\\documentclass[a4paper,11pt,fleqn]{article}
\\usepackage[utf8]{inputenc}
\\usepackage[margin=20mm]{geometry}
\\usepackage{amsmath,graphicx,longtable}
\\allowdisplaybreaks
\\setlength{\\parindent}{0pt}
\\setcounter{MaxMatrixCols}{1000}
\\newcommand{\\fitted}[1]{%
  \\resizebox{\\ifdim\\width>0.75\\linewidth 0.75\\linewidth\\else\\width\\fi}{!}{$\\displaystyle #1$}}
\\begin{document}
BODY
\\end{document}
"""

__all__ = ["Grid", "Line", "Page", "Section", "name_formula"]
