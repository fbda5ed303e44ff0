"""MCK files, the standard description of linear mechanical models: M z'' + C z' + K z = E.

Text, line oriented; keywords in capitals, of which the first four letters decide.  The format was printed with fixed
columns, of which no two prints agree, so it is read free-format and written in columns.  A file is read whole or not at
all: every problem is a diagnostic with its line, and nothing half-read is handed on.
"""

import math
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bglang.diagnostics import Report, error, warning
from bglang.records import dataclass, field
from bglang.source import Source, Span

Matrix = NDArray[np.float64]

COMMANDS = {
    "HEAD": "HEADING",
    "DIME": "DIMENSION",
    "FORC": "FORCE INFORMATION",
    "MASS": "MASS MATRIX",
    "STIF": "STIFFNESS MATRIX",
    "DAMP": "DAMPING MATRIX",
    "END-": "END-FILE",
}
HEADINGS = {"FILE": "FILE", "NAME": "NAME", "TITL": "TITLE", "DESC": "DESCRIPTION"}
SECOND_WORDS = {"FORC": "INFO", "MASS": "MATR", "STIF": "MATR", "DAMP": "MATR"}
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class MckFile:
    """What an MCK file says.  `forces[i]` is None where dof i has no source, else its constant value."""

    name: str
    title: str
    description: tuple[str, ...]
    mass: Matrix
    damping: Matrix | None
    stiffness: Matrix
    forces: tuple[float | None, ...] | None

    @property
    def dimension(self) -> int:
        return len(self.mass)


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    span: Span
    indent: int

    @property
    def word(self) -> str:
        return self.text.split()[0] if self.text.split() else ""


@dataclass(slots=True)
class _Reader:
    """The lines that count, one after the other."""

    source: Source
    report: Report
    limit: int
    lines: list[_Line] = field(default_factory=list[_Line])
    at: int = 0
    failed: bool = False

    def fail(self, code: str, message: str, span: Span, reason: str = "", hint: str = "") -> None:
        self.failed = True
        self.report.add(error(f"mck/{code}", message, span, reason=reason, hint=hint))

    def peek(self) -> _Line | None:
        return self.lines[self.at] if self.at < len(self.lines) else None

    def next(self) -> _Line | None:
        line = self.peek()
        self.at += 1
        return line

    @property
    def here(self) -> Span:
        line = self.lines[min(self.at, len(self.lines) - 1)] if self.lines else None
        return line.span if line else Span(self.source, 0, 0)


def _lines(source: Source) -> Iterator[_Line]:
    offset = 0
    for raw in source.text.splitlines(keepends=True):
        text = raw.rstrip()
        stripped = text.lstrip()
        indent = len(text) - len(stripped)
        if stripped and not stripped.startswith("*"):
            yield _Line(stripped, Span(source, offset + indent, offset + len(text)), indent)
        offset += len(raw)


def _command(line: _Line) -> str | None:
    """The keyword that the line is, by its first four letters; data lines never begin with capitals like these."""
    words = line.text.split()
    key = words[0][:4]
    if key not in COMMANDS or not re.fullmatch(r"[A-Z-]+", words[0]):
        return None
    second = SECOND_WORDS.get(key)
    return key if second is None or (len(words) > 1 and words[1][:4] == second) or len(words) == 1 else None


def read_mck(source: Source, report: Report, limit: int = 2000) -> MckFile | None:
    """Read a file; None after problems, which are in the report."""
    reader = _Reader(source, report, limit, list(_lines(source)))
    first = reader.peek()
    if first is None:
        reader.fail("empty", "this MCK file is empty", Span(source, 0, 0))
        return None
    if _command(first) != "HEAD":
        reader.fail("heading", f"an MCK file begins with HEADING, not with `{first.word}`", first.span)
        return None
    reader.next()
    name, title, description = _heading(reader)
    found: dict[str, object] = {}
    dimension = 0
    while not reader.failed:
        line = reader.next()
        if line is None:
            reader.fail("end", "the file stops without END-FILE", reader.here, hint="write END-FILE as the last line")
            break
        key = _command(line)
        if key == "END-":
            break
        if key is None or key == "HEAD":
            known = ", ".join(COMMANDS.values())
            reader.fail("keyword", f"`{line.word}` is not a keyword of MCK files", line.span, hint=f"known are {known}")
            break
        if key in found:
            reader.fail("twice", f"{COMMANDS[key]} stands twice in the file", line.span)
            break
        if key == "DIME":
            dimension = _dimension(reader)
            found[key] = dimension
        elif not dimension:
            reader.fail("order", f"DIMENSION must stand before {COMMANDS[key]}", line.span)
        elif key == "FORC":
            found[key] = _forces(reader, dimension)
        else:
            found[key] = _matrix(reader, dimension, COMMANDS[key], optional=key == "DAMP")
    for key in ("DIME", "MASS", "STIF"):
        if key not in found and not reader.failed:
            reader.fail("missing", f"the file has no {COMMANDS[key]}", reader.here)
    if reader.failed:
        return None
    rest = reader.peek()
    if rest is not None:
        report.add(warning("mck/after-end", "text after END-FILE is ignored", rest.span))
    return _checked(reader, name, title, description, found)


def _heading(reader: _Reader) -> tuple[str, str, tuple[str, ...]]:
    """FILE, NAME, TITLE and DESCRIPTION; only a line indented no deeper than a command ends a description."""
    parts: dict[str, list[str]] = {}
    while (line := reader.peek()) is not None:
        key = line.word[:4]
        if key not in HEADINGS or not line.word.isupper():
            break
        reader.next()
        content = list[str]()
        while (data := reader.peek()) is not None:
            plain = data.word[:4] in HEADINGS and data.word.isupper() and data.indent <= line.indent
            command = _command(data) is not None and data.indent <= line.indent and key not in ("FILE", "NAME")
            if plain or command:  # a name may be any word, DAMPED too
                break
            content.append(data.text)
            reader.next()
            if key != "DESC":
                break
        parts[key] = content
    name = (parts.get("NAME") or [""])[0].split()
    description = parts.get("DESC", [])
    if len(description) > 10:
        reader.report.add(
            warning("mck/description", "a DESCRIPTION has at most 10 lines in other programs", reader.here)
        )
    return name[0] if name else "", " ".join(parts.get("TITL", [])), tuple(description)


def _dimension(reader: _Reader) -> int:
    line = reader.next()
    while line is not None and line.text.startswith("("):
        line = reader.next()
    if line is None or not re.fullmatch(r"\d+", line.word):
        span = line.span if line else reader.here
        reader.fail("dimension", "DIMENSION needs a whole number on the next line", span)
        return 0
    value = int(line.word) if len(line.word) < 12 else reader.limit + 1
    if not 1 <= value <= reader.limit:
        reader.fail("dimension", f"a dimension of {line.word} is not between 1 and {reader.limit}", line.span)
        return 0
    return value


def _number(reader: _Reader, text: str, span: Span, what: str) -> float:
    if not NUMBER.fullmatch(text):
        reader.fail("number", f"`{text}` in {what} is not a number", span)
        return 0.0
    return float(re.sub("[dD]", "e", text))


def _open(reader: _Reader, what: str) -> bool:
    line = reader.peek()
    if line is None or not line.text.startswith("["):
        reader.fail("delimiter", f"the data of {what} must begin with `[`", line.span if line else reader.here)
        return False
    return True


def _bracketed(reader: _Reader, what: str) -> list[tuple[str, Span]]:
    """The words between `[` and `]`, with `;` as a word of its own."""
    words = list[tuple[str, Span]]()
    if not _open(reader, what):
        return words
    begin = reader.here
    first = True
    while (line := reader.next()) is not None:
        if not first and _command(line) is not None:
            break
        for match in re.finditer(r"[\[\];]|[^\s\[\];]+", line.text):
            word = match.group()
            span = Span(line.span.source, line.span.start + match.start(), line.span.start + match.end())
            if word == "]":
                return words
            if word == "[" and not first:
                reader.fail("delimiter", f"a second `[` inside {what}", span)
                return words
            if word != "[":
                words.append((word, span))
            first = False
    reader.fail("delimiter", f"the `]` that ends {what} is missing", begin)
    return words


def _forces(reader: _Reader, dimension: int) -> tuple[float | None, ...]:
    begin = reader.here
    words = _bracketed(reader, "FORCE INFORMATION")
    if reader.failed:
        return ()
    forces = list[float | None]()
    for (flag, span), (value, value_span) in zip(words[0::2], words[1::2], strict=False):
        if flag not in ("0", "1"):
            reader.fail("force", f"`{flag}` should be 0 (no source) or 1 (a source)", span)
            return ()
        number = _number(reader, value, value_span, "FORCE INFORMATION")
        if math.isinf(number):
            reader.fail("number", f"`{value}` in FORCE INFORMATION is too large", value_span)
        forces.append(number if flag == "1" else None)
    if len(words) != 2 * dimension and not reader.failed:
        reader.fail("dimension", f"FORCE INFORMATION needs {dimension} lines of `0` or `1` and a number", begin)
    return tuple(forces)


def _matrix(reader: _Reader, dimension: int, what: str, optional: bool) -> Matrix | None:
    begin = reader.here
    words = _bracketed(reader, what)
    if reader.failed or (optional and not words):
        return None
    rows, row = list[list[float]](), list[float]()
    for word, span in words:
        if word == ";":
            if len(row) != dimension:
                reader.fail(
                    "dimension", f"row {len(rows) + 1} of {what} has {len(row)} numbers instead of {dimension}", span
                )
                return None
            rows.append(row)
            row = []
        else:
            row.append(_number(reader, word, span, what))
    if row and not reader.failed:
        reader.fail("delimiter", f"the last row of {what} does not end with `;`", words[-1][1])
    elif len(rows) != dimension and not reader.failed:
        reader.fail("dimension", f"{what} has {len(rows)} rows instead of {dimension}", begin)
    return None if reader.failed else np.array(rows)


def _checked(
    reader: _Reader, name: str, title: str, description: tuple[str, ...], found: dict[str, object]
) -> MckFile | None:
    mass, stiffness, damping = found["MASS"], found["STIF"], found.get("DAMP")
    assert isinstance(mass, np.ndarray) and isinstance(stiffness, np.ndarray)
    matrices = {"MASS MATRIX": mass, "STIFFNESS MATRIX": stiffness}
    if isinstance(damping, np.ndarray):
        matrices["DAMPING MATRIX"] = damping
    problem = matrix_problem(matrices)
    if problem:
        reader.fail("matrix", problem.message, _entry(reader, problem, len(mass)))
        return None
    forces = found.get("FORC")
    return MckFile(
        name, title, description, mass, damping if isinstance(damping, np.ndarray) else None, stiffness,
        forces if isinstance(forces, tuple) else None,
    )  # fmt: skip


def _entry(reader: _Reader, problem: "MatrixProblem", dimension: int) -> Span:
    """Where the number stands that is wrong; the file's matrices were read, so they are there."""
    key = problem.matrix[:4]
    reader.at = next(k for k, line in enumerate(reader.lines) if _command(line) == key) + 1
    numbers = [span for word, span in _bracketed(reader, problem.matrix) if word != ";"]
    return numbers[problem.row * dimension + problem.column]


@dataclass(frozen=True, slots=True)
class MatrixProblem:
    """What is wrong with one of the matrices, and with which of its entries (counted from 0)."""

    message: str
    matrix: str
    row: int
    column: int


def matrix_problem(matrices: dict[str, Matrix], mass_name: str = "MASS MATRIX") -> MatrixProblem | None:
    """Why these cannot be the matrices of a passive structure: not symmetric, not finite, indefinite mass."""
    for what, matrix in matrices.items():
        wrong = np.argwhere(~np.isfinite(matrix))
        if len(wrong):
            return MatrixProblem(f"{what} holds a number that is not finite", what, int(wrong[0][0]), int(wrong[0][1]))
        scale = np.abs(matrix).max() or 1.0
        worst = np.unravel_index(np.abs(matrix - matrix.T).argmax(), matrix.shape)
        difference = abs(matrix[worst] - matrix.T[worst])
        if difference > 1e-4 * scale:
            i, j = sorted(int(k) + 1 for k in worst)
            upper, lower = matrix[i - 1, j - 1], matrix[j - 1, i - 1]
            text = f"{what} is not symmetric: [{i},{j}] = {upper:g} but [{j},{i}] = {lower:g}"
            return MatrixProblem(text, what, j - 1, i - 1)
    mass = matrices[mass_name]
    values, motions = np.linalg.eigh((mass + mass.T) / 2)
    if values[0] < -1e-9 * np.abs(mass).max():
        moved = int(np.abs(motions[:, 0]).argmax())
        text = f"{mass_name} is indefinite: its lowest eigenvalue is {values[0]:g}, mostly of dof {moved + 1}"
        return MatrixProblem(f"{text}, so a motion would have negative energy", mass_name, moved, moved)
    return None


# --- writing ----------------------------------------------------------------------------------------------------------


def write_mck(model: MckFile, digits: int = 17) -> str:
    """The file's text, in columns, five numbers a line."""
    lines = [" HEADING", "   FILE", f"      {model.name}.MCK", "   NAME", f"      {model.name[:8]}"]
    lines += ["   TITLE", f"      {model.title or model.name}", "   DESCRIPTION"]
    lines += [f"      {text}" for text in (model.description or ("-",))[:10]]
    lines += [" DIMENSION", f"      {model.dimension:04d}"]
    if model.forces is not None:
        lines += [" FORCE INFORMATION", "  ["]
        lines += [f"      {int(f is not None)}          {f or 0.0:.{digits - 1}E}" for f in model.forces]
        lines.append("  ]")
    empty = np.zeros((0, 0))
    parts = {
        "MASS": model.mass,
        "STIFFNESS": model.stiffness,
        "DAMPING": empty if model.damping is None else model.damping,
    }
    for word, matrix in parts.items():
        lines += [f" {word} MATRIX", "  ["]
        for row in matrix:
            numbers = [f"{value: .{digits - 1}E}" for value in row]
            chunks = [" ".join(numbers[i : i + 5]) for i in range(0, len(numbers), 5)]
            lines += [f"     {chunk}" for chunk in chunks[:-1]] + [f"     {chunks[-1]};"]
        lines.append("  ]")
    return "\n".join([*lines, " END-FILE", ""])
