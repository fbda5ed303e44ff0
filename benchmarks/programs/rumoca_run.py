"""FILE STOP TOL MODEL VARIABLE [PARAMETER VALUE ...]."""

import json
import sys
import time

import rumoca

file, stop, tol, name, variable, *rest = sys.argv[1:]
model = rumoca.Session().load(file, model=name)
config = rumoca.SimConfig(rtol=float(tol), atol=float(tol))


def end(which: rumoca.Model) -> float:
    result = which.simulate(t=float(stop), config=config)
    return float(result[variable][-1] if hasattr(result, "__getitem__") else result.to_dict()[variable][-1])


begin = time.process_time()
if rest:
    value = sum(end(model.with_params(**{rest[0]: float(v)})) for v in rest[1:])
    solve = (time.process_time() - begin) / len(rest[1:])
else:
    value = end(model)
    solve = time.process_time() - begin
print(json.dumps({"value": value, "solve": solve}))
