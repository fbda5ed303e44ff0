"""FILE STOP TOL [PARAMETER VALUE ...]."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pydiffsol as ds

file, stop, tol, *rest = sys.argv[1:]
ode = ds.Ode(Path(file).read_text(), matrix_type=ds.faer_sparse, linear_solver=ds.lu, ode_solver=ds.bdf)
ode.rtol = ode.atol = float(tol)
inputs = [np.array([float(v)]) for v in rest[1:]] or [np.array([])]
value = float(ode.solve(inputs[0], float(stop)).ys[0, -1])
if len(inputs) > 1:
    begin = time.process_time()
    value = sum(float(ode.solve(each, float(stop)).ys[0, -1]) for each in inputs)
    print(json.dumps({"value": value, "solve": (time.process_time() - begin) / len(inputs)}))
else:
    spent = []
    for _ in range(3):
        begin = time.process_time()
        ode.solve(inputs[0], float(stop))
        spent.append(time.process_time() - begin)
    print(json.dumps({"value": value, "solve": min(spent)}))
