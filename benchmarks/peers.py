"""The programs that are measured, each behind one function: seconds by phase, and the value that was reached.

A peer that is absent is said to be absent; nothing is installed here."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cases import Case


@dataclass(frozen=True)
class Measured:
    """`process` is the whole process from the shell, `solve` the integration alone; NaN where there is none."""

    process: float
    solve: float
    value: float


NAN = float("nan")
BGLANG = """
import sys, bglang
model = bglang.load(sys.argv[1])
result = model.simulate(stop=float(sys.argv[2]), tol=float(sys.argv[3]), points=2)
again = model.simulate(stop=float(sys.argv[2]), tol=float(sys.argv[3]), points=2)
seconds = again.stats.seconds
print("value", result[sys.argv[4]][-1], "solve", seconds.get("integration", 0) + seconds.get("events", 0))
"""
RUMOCA = """
import sys, time, rumoca
name, _, variable = sys.argv[4].partition(":")
model = rumoca.Session().load(sys.argv[1], model=name)
begin = time.perf_counter()
result = model.simulate(t=float(sys.argv[2]), config=rumoca.SimConfig(rtol=float(sys.argv[3]), atol=float(sys.argv[3])))
spent = time.perf_counter() - begin
print("value", list(result.to_dataframe()[variable])[-1], "solve", spent)
"""
DIFFSOL = """
import sys, time, numpy as np, pydiffsol as ds
ode = ds.Ode(open(sys.argv[1]).read(), matrix_type=ds.faer_sparse, linear_solver=ds.lu, ode_solver=ds.bdf)
ode.rtol = ode.atol = float(sys.argv[3])
begin = time.perf_counter()
ys = ode.solve(np.array([]), float(sys.argv[2])).ys
first = time.perf_counter()
ode.solve(np.array([]), float(sys.argv[2]))
print("value", ys[0, -1], "solve", time.perf_counter() - first)
"""


def present() -> dict[str, str]:
    """Every peer, with "" or the reason why it is absent."""
    modules = {"rumoca": "rumoca", "pydiffsol": "pydiffsol"}
    found = {"bglang cold": "", "bglang warm": ""}
    for name, module in modules.items():
        found[name] = "" if importlib.util.find_spec(module) else f"pip install {module}"
    found["ngspice"] = "" if shutil.which("ngspice") else "install the package ngspice"
    return found


def measure(peer: str, case: Case, folder: Path) -> Measured | None:
    """One run; None if the peer has no text for this case."""
    return _RUNNERS[peer](case, folder)


def _python(program: str, text: str, suffix: str, case: Case, variable: str, cache: Path | None) -> Measured | None:
    if not text:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"case{suffix}"
        path.write_text(text)
        return _process(program, path, case, variable, cache)


def _process(program: str, path: Path, case: Case, variable: str, cache: Path | None) -> Measured:
    words = [sys.executable, "-c", program, str(path), repr(case.stop), repr(case.tolerance), variable]
    environment = {**os.environ, **({"BGLANG_CACHE": str(cache)} if cache else {})}
    begin = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=300, check=False)
    spent = time.perf_counter() - begin
    match = re.search(r"value (\S+) solve (\S+)", done.stdout)
    if not match:
        lines = done.stderr.strip().splitlines()
        raise RuntimeError(lines[-1] if lines else "no answer")
    return Measured(spent, float(match[2]), float(match[1]))


def _bglang(case: Case, folder: Path, warm: bool) -> Measured:
    """One model file a case, so that a second run finds it in the cache; a cold one has an empty cache."""
    path = folder / f"{case.name}.bg"
    if not path.exists():
        path.write_text(case.bg)
    if warm:
        return _process(BGLANG, path, case, case.variable, folder / "cache")
    with tempfile.TemporaryDirectory() as cache:
        return _process(BGLANG, path, case, case.variable, Path(cache))


def _ngspice(case: Case, folder: Path) -> Measured | None:
    if not case.spice:
        return None
    path = folder / f"{case.name}.cir"
    path.write_text(case.spice)
    begin = time.perf_counter()
    done = subprocess.run(["ngspice", "-b", str(path)], capture_output=True, text=True, timeout=300, check=False)
    spent = time.perf_counter() - begin
    rows = re.findall(r"^\d+\s+\S+\s+(\S+)\s*$", done.stdout, re.M)
    return Measured(spent, NAN, float(rows[-1]) if rows else NAN)


_RUNNERS: dict[str, Callable[[Case, Path], Measured | None]] = {
    "bglang cold": lambda case, folder: _bglang(case, folder, warm=False),
    "bglang warm": lambda case, folder: _bglang(case, folder, warm=True),
    "rumoca": lambda case, folder: _python(
        RUMOCA, case.modelica, ".mo", case, f"{case.modelica_model}:{case.modelica_variable}", None
    ),
    "pydiffsol": lambda case, folder: _python(DIFFSOL, case.diffsl, ".diffsl", case, "", None),
    "ngspice": _ngspice,
}
