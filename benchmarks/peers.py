"""The programs that are measured.  One that is absent is said to be absent: nothing is installed here."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.case import Case

PROGRAMS = Path(__file__).parent / "programs"
PATIENCE = 300.0
"""Seconds after which a run is given up."""
SUNDIALS = ("cvode", "ida", "nvecserial", "sunmatrixsparse", "sunmatrixdense", "sunlinsolklu", "sunlinsoldense")


@dataclass(frozen=True)
class Measured:
    """`process` is the whole process from the shell, `solve` the integration alone; None where there is none."""

    process: float | None
    solve: float | None
    value: float
    memory: float = 0.0
    """Megabytes that the process took at most."""


@dataclass(frozen=True)
class Bench:
    """Where things are: a folder to work in, the interpreter that has the peers, the compiled C program."""

    folder: Path
    python: str
    c: Path | None


Run = Callable[[Case, float, Bench], Measured | None]


def present(python: str, folder: Path) -> tuple[dict[str, str], Bench]:
    """Every program, with "" or the reason why it is absent."""
    modules = {"rumoca": ["rumoca"], "pymoca": ["pymoca", "casadi"], "pydiffsol": ["pydiffsol"]}
    wanted = sorted({name for names in modules.values() for name in names})
    question = f"import importlib.util as u; print(*[m for m in {wanted!r} if u.find_spec(m)])"
    there = subprocess.run([python, "-c", question], capture_output=True, text=True, check=False).stdout.split()
    found = {"bglang cold": "", "bglang warm": ""}
    for name, names in modules.items():
        missing = [module for module in names if module not in there]
        found[name] = f"pip install {' '.join(missing)}" if missing else ""
    found["ngspice"] = "" if shutil.which("ngspice") else "install the package ngspice"
    program, why = _compile(folder)
    found["sundials in C"] = why
    import importlib.util

    found["ida of scikit-sundae"] = "" if importlib.util.find_spec("sksundae") else "pip install scikit-sundae"
    return found, Bench(folder, python, program)


def _compile(folder: Path) -> tuple[Path | None, str]:
    if not shutil.which("gcc"):
        return None, "there is no gcc"
    program = folder / "sundials"
    libraries = [f"-lsundials_{name}" for name in SUNDIALS]
    words = ["gcc", "-O3", "-march=native", str(PROGRAMS / "sundials.c"), "-I/usr/include/suitesparse"]
    done = subprocess.run([*words, "-o", str(program), *libraries, "-lm"], capture_output=True, text=True, check=False)
    return (program, "") if done.returncode == 0 else (None, "install the packages libsundials-dev, libsuitesparse-dev")


# --- processes --------------------------------------------------------------------------------------------------------


def run(words: list[str], environment: Mapping[str, str] | None = None) -> tuple[str, float, float]:
    """Output, seconds, megabytes; RuntimeError with the last line of what a failing program said."""
    with tempfile.TemporaryDirectory() as folder:
        return _run(words, {**os.environ, **(environment or {})}, Path(folder) / "memory")


def _run(words: list[str], environment: Mapping[str, str], report: Path) -> tuple[str, float, float]:
    timer = ["/usr/bin/time", "-f", "%M", "-o", str(report)]
    timed = [*(timer if Path(timer[0]).exists() else []), *words]
    begin = time.perf_counter()
    try:
        done = subprocess.run(timed, capture_output=True, text=True, env=environment, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"took more than {PATIENCE:.0f} s") from None
    spent = time.perf_counter() - begin
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"exit code {done.returncode}")
    return done.stdout, spent, float(report.read_text().split()[-1]) / 1024 if report.exists() else 0.0


def _answer(output: str) -> tuple[float, float]:
    data = json.loads(output.strip().splitlines()[-1])
    return float(data["value"]), float(data["solve"])


def _model(case: Case, bench: Bench, text: str, suffix: str) -> Path:
    """A file in a folder of its own: some programs read all that lie beside it."""
    folder = bench.folder / f"{case.name}{suffix.replace('.', '-')}"
    folder.mkdir(exist_ok=True)
    path = folder / f"{case.modelica_model or 'case'}{suffix}"
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    return path


def _varied(case: Case) -> list[str]:
    return [case.varied, *map(repr, case.variations)] if case.variations else []


# --- programs ---------------------------------------------------------------------------------------------------------


def _bglang(case: Case, tolerance: float, bench: Bench, warm: bool) -> Measured | None:
    """The command, with an empty cache or one that knows the model; the integration in a process of its own."""
    if case.variations and not warm:
        return None
    path, out = _model(case, bench, case.bg, ".bg"), bench.folder / "out.csv"
    words = [sys.executable, "-m", "bglang", "run", str(path), "--stop", repr(case.stop), "--tol", repr(tolerance)]
    words += ["--points", str(case.points), "--vars", case.variable, "-o", str(out), "--quiet"]
    with tempfile.TemporaryDirectory() as empty:
        cache = bench.folder / "cache" if warm else Path(empty)
        cache.mkdir(mode=0o700, exist_ok=True)
        _, spent, memory = run(words, {"BGLANG_CACHE": str(cache)})
    with out.open(newline="") as file:
        value = float(list(csv.reader(file))[-1][1])
    solve = None
    if warm:
        value, solve = _bglang_solve(case, tolerance, bench, "auto")
    return Measured(None if case.variations else spent, solve, value, memory)


def _bglang_solve(case: Case, tolerance: float, bench: Bench, method: str) -> tuple[float, float]:
    path = _model(case, bench, case.bg, ".bg")
    words = [sys.executable, str(PROGRAMS / "bglang_solve.py"), str(path), repr(case.stop), repr(tolerance)]
    own = {"BGLANG_CACHE": str(bench.folder / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    return _answer(run([*words, case.variable, method, *_varied(case)], own)[0])


def _ida(case: Case, tolerance: float, bench: Bench) -> Measured | None:
    if case.variations:
        return None
    value, solve = _bglang_solve(case, tolerance, bench, "ida")
    return Measured(None, solve, value)


def _script(name: str, text: str, suffix: str) -> Callable[[Case, float, Bench, list[str]], Measured | None]:
    def measure(case: Case, tolerance: float, bench: Bench, more: list[str]) -> Measured | None:
        path = _model(case, bench, text, suffix)
        words = [bench.python, str(PROGRAMS / name), str(path), repr(case.stop), repr(tolerance), *more]
        output, spent, memory = run(words)
        value, solve = _answer(output)
        return Measured(None if case.variations else spent, solve, value, memory)

    return measure


def _modelica(name: str) -> Run:
    def measure(case: Case, tolerance: float, bench: Bench) -> Measured | None:
        if not case.modelica or (case.variations and name != "rumoca_run.py"):
            return None
        more = [case.modelica_model, case.modelica_variable, *_varied(case)]
        return _script(name, case.modelica, ".mo")(case, tolerance, bench, more)

    return measure


def _diffsol(case: Case, tolerance: float, bench: Bench) -> Measured | None:
    if not case.diffsl:
        return None
    return _script("diffsol_run.py", case.diffsl, ".diffsl")(case, tolerance, bench, _varied(case))


def _ngspice(case: Case, tolerance: float, bench: Bench) -> Measured | None:
    if not case.spice:
        return None
    path = _model(case, bench, case.spice, ".cir")
    output, spent, memory = run(["ngspice", "-b", str(path)])
    rows = re.findall(r"^\d+\s+\S+\s+(\S+)\s*$", output, re.M)
    return Measured(spent, None, float(rows[-1]), memory)


def _c(case: Case, tolerance: float, bench: Bench) -> Measured | None:
    if not case.c:
        return None
    output, _, memory = run([str(bench.c), *case.c.split(), repr(case.stop), repr(tolerance)])
    value, solve = _answer(output)
    return Measured(None, solve, value, memory)


RUNNERS: dict[str, Run] = {
    "bglang cold": lambda case, tolerance, bench: _bglang(case, tolerance, bench, warm=False),
    "bglang warm": lambda case, tolerance, bench: _bglang(case, tolerance, bench, warm=True),
    "rumoca": _modelica("rumoca_run.py"),
    "pymoca": _modelica("pymoca_run.py"),
    "pydiffsol": _diffsol,
    "ngspice": _ngspice,
    "sundials in C": _c,
    "ida of scikit-sundae": _ida,
}
TUNABLE = ("bglang warm", "rumoca", "pymoca", "pydiffsol", "sundials in C", "ida of scikit-sundae")
"""Programs whose tolerance can be chosen; a cold bglang takes that of a warm one, ngspice that of its text."""
