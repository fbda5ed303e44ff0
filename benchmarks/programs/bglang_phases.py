"""Seconds of processor time in every stage of a compilation from scratch: FILE STOP TOL."""

import json
import sys
import time
from pathlib import Path

from bglang.diagnostics import Report
from bglang.elaborate import load_model
from bglang.graph.checks import check, check_values
from bglang.graph.parameters import evaluate_parameters
from bglang.kernels.load import load
from bglang.kernels.lower import lower
from bglang.pipeline import causal, equations
from bglang.solve.native_model import Compiled
from bglang.solve.problem import Options, make_problem
from bglang.solve.run import simulate
from bglang.source import Source
from bglang.syntax import store
from bglang.syntax.parse import parse

time.perf_counter = time.process_time  # what a run tells of its phases: the machine may have other work
file, stop, tol = sys.argv[1:4]
clock, seconds = time.process_time, {}
store.SMALL = 1 << 60  # parsed trees are not kept: every stage does its work
parse(Source("warm", "model A end A;"), Report())
began = clock()


def lap(name: str) -> None:
    global began
    seconds[name] = clock() - began
    began = clock()


report = Report()
parse(Source(file, Path(file).read_text(encoding="utf-8")), report)
lap("parse")
graph = load_model(Path(file), report=report)
lap("elaborate")
seconds["elaborate"] -= seconds["parse"]
check(graph, report, units="error", numbers=False)
check_values(graph, report)
evaluate_parameters(graph, report=report)
lap("check")
causality = causal(graph, report)
lap("causality")
system = equations(graph, causality, report)
lap("derive")
program = lower(system)
lap("compile")
kernels = load(program)
lap("load")
options = Options(stop=float(stop), tol=float(tol), points=2)
result = simulate(make_problem(system, options, {}, Compiled(system, program).model))
seconds["initialise"], seconds["integrate"] = (
    result.stats.seconds.get("initialisation", 0.0),
    result.stats.seconds.get("integration", 0.0) + result.stats.seconds.get("events", 0.0),
)
began = clock()
result.save(Path(file).with_suffix(".csv"), names=result.states[:100] or None)
lap("write")
print(json.dumps(seconds))
