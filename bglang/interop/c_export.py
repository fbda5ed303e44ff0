"""`bglang export c`: a folder with the model and everything that runs it, in C99 without other libraries."""

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from bglang.interop.c_model import c_model
from bglang.interop.exported import Ready, prepare

if TYPE_CHECKING:
    from bglang.api import Model

RUNTIME = ("interface.h", "linear.h", "linear.c", "solver.h", "solver.c", "radau.c", "consistent.c", "events.c")
"""The parts that are the same for every model."""

README = """\
# {name}

{description}The model as C99, written by bglang. It needs a compiler and nothing else:

    cc -std=c99 -O2 -o model *.c -lm
    ./model > result.csv

`./model --list` shows parameters and starts, and
`./model k=3 spring.q.start=0.1 --stop 20 --points 500 --tol 1e-8 -o out.csv` runs with others.

| file | holds |
|---|---|
| `model.c`, `model.h` | the equations F(t, y, dy/dt, p, z) = 0, Jacobian, root functions, outputs, parameters, start |
| `interface.h` | what each function of `model.c` is for |
| `radau.c` | one step of Radau IIA(5) with its error estimate |
| `consistent.c`, `events.c` | values and modes after an event, `when` |
| `solver.c`, `solver.h` | start, steps, locating events |
| `linear.c`, `linear.h` | sparse LU |
| `main.c` | the command |

{limits}Steps end at every output point, so `--points` also bounds their length. Events of time alone are looked for at
32 places a step. Sliding on a switch (chattering) is not resolved: the run fails there and says so.
"""


def runtime_text(name: str) -> str:
    return files("bglang.interop").joinpath("runtime", name).read_text(encoding="utf-8")


def c_files(ready: Ready) -> dict[str, str]:
    """The files by name, without the command."""
    header, source = c_model(ready)
    return {"model.h": header, "model.c": source, **{name: runtime_text(name) for name in RUNTIME}}


def export_c(model: "Model", folder: Path) -> list[str]:
    """Write the folder; the names of the files."""
    ready = prepare(model)
    limits = "" if ready.restarts else (
        "The start of this model follows from initial equations that bglang has solved: parameters and starts cannot\n"
        "be changed here; export again with `--set`.\n\n"
    )  # fmt: skip
    description = f"{ready.graph.description}.\n\n" if ready.graph.description else ""
    made = c_files(ready) | {"main.c": runtime_text("main.c")}
    made["README.md"] = README.format(name=ready.system.name, description=description, limits=limits)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in made.items():
        (folder / name).write_text(content, encoding="utf-8")
    return list(made)
