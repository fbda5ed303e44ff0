"""Mass, damping and stiffness matrices from the files that finite-element programs write: MatrixMarket and numpy."""

import re
import warnings
import zipfile
from pathlib import Path

import numpy as np

from bglang.diagnostics import Report, error
from bglang.elaborate.libraries import shown_path
from bglang.interop.mck import Matrix, MckFile, matrix_problem
from bglang.source import Source, Span

LIMIT = 2000
"""Largest dimension."""
NAMES = {"M": "MASS MATRIX", "C": "DAMPING MATRIX", "K": "STIFFNESS MATRIX"}


def read_npz(path: Path, report: Report) -> MckFile | None:
    """An archive with arrays M, K and, with damping, C."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(item.file_size for item in archive.infolist()) > 3 * 8 * LIMIT**2 + 10_000:
                _fail(path, f"its matrices are larger than {LIMIT} by {LIMIT}", report)
                return None
        with np.load(path, allow_pickle=False) as stored:
            found = {key: np.asarray(stored[key]) for key in ("M", "C", "K") if key in stored.files}
            known = ", ".join(stored.files) or "nothing"
    except (zipfile.BadZipFile, ValueError, OSError) as why:
        _fail(path, f"this is no archive of numbers ({_plain(why)})", report)
        return None
    for key in ("M", "K"):
        if key not in found:
            _fail(path, f"there is no array `{key}` in it, only {known}", report)
            return None
    return _made(dict.fromkeys(found, path), found, report)


def read_matrix_market(paths: dict[str, Path], report: Report) -> MckFile | None:
    """A file for each of M, K and, with damping, C."""
    found = dict[str, Matrix]()
    for key, path in paths.items():
        values = _market(path, report)
        if values is None:
            return None
        found[key] = values
    return _made(paths, found, report)


def _market(path: Path, report: Report) -> Matrix | None:
    from scipy.io import mminfo, mmread

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows, columns, _, _, kind, _ = mminfo(str(path))
            if rows != columns or not 1 <= rows <= LIMIT or kind in ("complex", "pattern"):
                what = f"{rows} by {columns}, {kind}"
                _fail(
                    path, f"a square matrix of real numbers, at most {LIMIT} by {LIMIT}, is needed, not {what}", report
                )
                return None
            values = mmread(str(path))
    except (ValueError, OverflowError, OSError) as why:
        _fail(path, _plain(why), report)
        return None
    dense = values.toarray() if hasattr(values, "toarray") else values
    return np.asarray(dense, dtype=np.float64)


def _made(paths: dict[str, Path], found: dict[str, Matrix], report: Report) -> MckFile | None:
    size = found["M"].shape[0] if found["M"].ndim == 2 else 0
    for key, values in found.items():
        if values.ndim != 2 or values.shape != (size, size) or not 1 <= size <= LIMIT or values.dtype.kind not in "fiu":
            shape = " by ".join(map(str, values.shape)) or "a scalar"
            wanted = f"{size} by {size} like the mass matrix" if key != "M" and size else "a square matrix"
            kind = "" if values.dtype.kind in "fiu" else f" of {values.dtype}"
            what = NAMES[key].lower()
            _fail(paths[key], f"the {what} is {shape}{kind}, not {wanted}{' of real numbers' if kind else ''}", report)
            return None
    found = {key: np.asarray(values, dtype=np.float64) for key, values in found.items()}
    problem = matrix_problem({NAMES[key]: values for key, values in found.items()})
    if problem:
        key = next(key for key, name in NAMES.items() if name == problem.matrix)
        _fail(paths[key], problem.message, report, entry=(problem.row + 1, problem.column + 1))
        return None
    path = paths["M"]
    name = re.sub(r"\W", "_", path.stem) or "Imported"
    return MckFile(name, f"Matrices from {path.name}", (), found["M"], found.get("C"), found["K"], None)


def _plain(why: Exception) -> str:
    return str(why).strip().splitlines()[0] if str(why).strip() else type(why).__name__


def _fail(path: Path, reason: str, report: Report, entry: tuple[int, int] | None = None) -> None:
    """Report with the line that the reader named, or with that of an entry of a sparse matrix."""
    line = re.search(r"[Ll]ine (\d+)", reason)
    text = path.read_text("latin-1") if path.suffix.lower() == ".mtx" else ""
    source = Source(str(shown_path(path)), text)
    starts = source.line_starts()
    at = min(int(line.group(1)), len(starts)) if line else 1
    if entry and text.startswith("%%MatrixMarket matrix coordinate"):
        either = [[str(k) for k in pair] for pair in (entry, entry[::-1])]  # of a pair one may be absent, or implied
        at = next((k for k in range(2, len(starts) + 1) if source.line(k).split()[:2] in either), at)
    span = Span(source, starts[at - 1], starts[at - 1] + len(source.line(at)))
    report.add(error("mck/matrix-file", f"`{path.name}` cannot be read as a matrix: {reason}", span))
