"""FILE STOP TOL MODEL VARIABLE: pymoca translates, CasADi's IDAS integrates F(x', x, z) = 0 with x' as unknowns."""

import json
import sys
import time
from pathlib import Path

import casadi as ca
from pymoca.backends.casadi.api import transfer_model

file, stop, tol, name, variable = sys.argv[1:6]
model = transfer_model(str(Path(file).parent), name, {"expand_vectors": True, "replace_constant_values": True})
states = [v.symbol for v in model.states]
rates = [v.symbol for v in model.der_states]
algebraic = [v.symbol for v in model.alg_states]
parameters = [v.symbol for v in (*model.parameters, *model.constants)]
values = [float(v.value) for v in (*model.parameters, *model.constants)]
residual = ca.substitute([ca.vertcat(*model.equations)], parameters, [ca.MX(v) for v in values])[0]
fresh = [ca.MX.sym(f"d{k}") for k in range(len(states))]
residual = ca.substitute([residual], rates, fresh)[0]
dae = {"x": ca.vertcat(*states), "z": ca.vertcat(*fresh, *algebraic), "ode": ca.vertcat(*fresh), "alg": residual}
if not isinstance(model.time, float):
    dae["t"] = model.time
solver = ca.integrator("i", "idas", dae, 0.0, float(stop), {"reltol": float(tol), "abstol": float(tol)})
start = [float(v.start) if not isinstance(v.start, ca.MX) else 0.0 for v in model.states]
begin = time.process_time()
found = solver(x0=start, z0=[0.0] * (len(fresh) + len(algebraic)))
spent = time.process_time() - begin
names = [symbol.name() for symbol in states]
print(json.dumps({"value": float(found["xf"][names.index(variable)]), "solve": spent}))
