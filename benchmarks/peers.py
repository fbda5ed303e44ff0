"""The programs that are measured.  One that is absent is said to be absent: nothing is installed here."""

import csv
import json
import os
import re
import resource
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
    """Seconds of processor time: `process` of the whole process from the shell, `solve` of the integration alone; None
    where there is none.  `wall` is what a clock on the wall said of the process."""

    process: float | None
    solve: float | None
    value: float
    wall: float | None = None
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


@dataclass(frozen=True)
class Spent:
    """What a process said and cost: seconds of processor time and on the wall, megabytes."""

    output: str
    processor: float
    wall: float
    memory: float


def run(words: list[str], environment: Mapping[str, str] | None = None) -> Spent:
    """RuntimeError with the last line of what a failing program said."""
    with tempfile.TemporaryDirectory() as folder:
        own = {**os.environ, **(environment or {})}
        own.pop("PYTHONDONTWRITEBYTECODE", None)  # nobody's daily Python compiles its sources at every start
        return _run(words, own, Path(folder) / "memory")


def _used() -> float:
    """Processor time of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _run(words: list[str], environment: Mapping[str, str], report: Path) -> Spent:
    timer = ["/usr/bin/time", "-f", "%M", "-o", str(report)]
    timed = [*(timer if Path(timer[0]).exists() else []), *words]
    begin, before = time.perf_counter(), _used()
    try:
        done = subprocess.run(timed, capture_output=True, text=True, env=environment, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"took more than {PATIENCE:.0f} s") from None
    wall, processor = time.perf_counter() - begin, _used() - before
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"exit code {done.returncode}")
    memory = float(report.read_text().split()[-1]) / 1024 if report.exists() else 0.0
    return Spent(done.stdout, processor, wall, memory)


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
        spent = run(words, {"BGLANG_CACHE": str(cache), **_libraries(case)})
    with out.open(newline="") as file:
        value = float(list(csv.reader(file))[-1][1])
    solve = None
    if warm:
        value, solve = _bglang_solve(case, tolerance, bench, "auto")
    return _measured(case, spent, value, solve)


def _measured(case: Case, spent: Spent, value: float, solve: float | None) -> Measured:
    """Of many variations no single process is told."""
    process, wall = (None, None) if case.variations else (spent.processor, spent.wall)
    return Measured(process, solve, value, wall, spent.memory)


def _libraries(case: Case) -> dict[str, str]:
    return {"BGLANG_PATH": os.pathsep.join(case.libraries)} if case.libraries else {}


def _bglang_solve(case: Case, tolerance: float, bench: Bench, method: str) -> tuple[float, float]:
    path = _model(case, bench, case.bg, ".bg")
    words = [sys.executable, str(PROGRAMS / "bglang_solve.py"), str(path), repr(case.stop), repr(tolerance)]
    return _answer(run([*words, case.variable, method, *_varied(case)], surroundings(case, bench)).output)


def surroundings(case: Case, bench: Bench) -> dict[str, str]:
    """For a process that imports this bglang and has the models that were compiled before."""
    path = os.pathsep.join(sys.path)
    return {"BGLANG_CACHE": str(bench.folder / "cache"), "PYTHONPATH": path, **_libraries(case)}


def _ida(case: Case, tolerance: float, bench: Bench) -> Measured | None:
    if case.variations:
        return None
    value, solve = _bglang_solve(case, tolerance, bench, "ida")
    return Measured(None, solve, value)


def _script(name: str, text: str, suffix: str) -> Callable[[Case, float, Bench, list[str]], Measured | None]:
    def measure(case: Case, tolerance: float, bench: Bench, more: list[str]) -> Measured | None:
        path = _model(case, bench, text, suffix)
        words = [bench.python, str(PROGRAMS / name), str(path), repr(case.stop), repr(tolerance), *more]
        spent = run(words)
        value, solve = _answer(spent.output)
        return _measured(case, spent, value, solve)

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
    spent = run(["ngspice", "-b", str(path)])
    rows = re.findall(r"^\d+\s+\S+\s+(\S+)\s*$", spent.output, re.M)
    return _measured(case, spent, float(rows[-1]), None)


def _c(case: Case, tolerance: float, bench: Bench) -> Measured | None:
    if not case.c:
        return None
    spent = run([str(bench.c), *case.c.split(), repr(case.stop), repr(tolerance)])
    value, solve = _answer(spent.output)
    return Measured(None, solve, value, None, spent.memory)


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
