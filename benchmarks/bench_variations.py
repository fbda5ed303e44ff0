"""One more run of a compiled model: a thousand variations of a stiff model of seven states, beside pydiffsol.

python benchmarks/bench_variations.py

Equal accuracy: each program gets the loosest of its tolerances that keeps the error of the final state below LIMIT.
Rounds are interleaved, the least time counts; both run on one processor.
"""

import importlib.util
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import bglang

COUNT, ROUNDS, LIMIT = 1000, 5, 1e-6
RATES = np.linspace(50.0, 500.0, COUNT)
TOLERANCES = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7)

MODEL = """\
model Stiff
  parameter Real k = 100;
  Se u(e = 10);
  J1 i1; R r1(R = 0.1); I l1(I = 1e-5);
  J0 n1; C c1(C = 1e-4);
  J1 i2; R r2(R = 1); I l2(I = 1e-3);
  GY g(r = 0.05);
  J1 w1; I j1(I = 1e-4); R b1(R = 1e-4);
  J0 s; J1 dw; C shaft(C = 1/k); R d(R = 0.1);
  J1 w2; I j2(I = 1e-3); R load(e = 0.001*f + 1e-5*f*f*f);
  J1 branch; C store(C = 10); R film(R = 1e-5);
bonds
  u -> i1 -> r1, l1; i1 -> n1; n1 -> c1; n1 -> i2; i2 -> r2, l2; i2 -> g -> w1;
  w1 -> j1, b1; w1 -> s; s -> dw; dw -> shaft, d; s -> w2; w2 -> j2, load;
  n1 -> branch; branch -> store, film;
annotation(experiment(StopTime = 0.5));
end Stiff;
"""
STATES = ("l1.p", "c1.q", "l2.p", "j1.p", "shaft.q", "j2.p", "store.q")
DIFFSL = """in_i { k = 100 }
u_i { a = 0, b = 0, l = 0, j = 0, s = 0, m = 0, h = 0 }
F_i { -10000*a - 10000*b + 10, 100000*a - 1000*l - 1000000000*b + 10000*h, 10000*b - 1000*l - 500*j,
 50*l - j - k*s - 1000*j + 100*m, 10000*j - 1000*m, k*s + 1000*j - 100*m - m - 10000*m*m*m, 1000000000*b - 10000*h }
"""
Run = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def with_bglang(model: bglang.Model, tolerance: float) -> Run:
    def run(rates: NDArray[np.float64]) -> NDArray[np.float64]:
        swept = model.sweep({"k": rates}, vars=",".join(STATES), tol=tolerance)
        return np.column_stack([np.asarray(swept[name]) for name in STATES])

    return run


def with_pydiffsol(tolerance: float, solver: str) -> Run:
    import pydiffsol

    ode = pydiffsol.Ode(
        DIFFSL, matrix_type=pydiffsol.nalgebra_dense, linear_solver=pydiffsol.lu, ode_solver=getattr(pydiffsol, solver)
    )
    ode.rtol, ode.atol = tolerance, 1e-4 * tolerance

    def run(rates: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([ode.solve(np.array([rate]), 0.5).ys[:, -1] for rate in rates])

    return run


def main() -> None:
    model = bglang.loads(MODEL)
    few = RATES[:: COUNT // 10]
    reference = with_bglang(model, 1e-12)(few)
    size = np.abs(reference).max(axis=0)
    makers: dict[str, Callable[[float], Run]] = {"bglang": lambda tolerance: with_bglang(model, tolerance)}
    if importlib.util.find_spec("pydiffsol"):
        for solver in ("bdf", "esdirk34", "tr_bdf2"):
            makers[f"pydiffsol {solver}"] = lambda tolerance, solver=solver: with_pydiffsol(tolerance, solver)
    else:
        print("pydiffsol is absent: pip install pydiffsol")
    chosen = dict[str, tuple[Run, float, float]]()
    for name, make in makers.items():
        for tolerance in TOLERANCES:
            run = make(tolerance)
            error = float(np.max(np.abs(run(few) - reference) / size))
            if error < LIMIT:
                chosen[name] = (run, tolerance, error)
                break
    best = dict.fromkeys(chosen, np.inf)
    for _ in range(ROUNDS):
        for name, (run, _, _) in chosen.items():
            began = time.process_time()
            run(RATES)
            best[name] = min(best[name], time.process_time() - began)
    for name, (_, tolerance, error) in chosen.items():
        ratio = best["bglang"] / best[name]
        print(f"{name:20s} tolerance {tolerance:.0e}  error {error:.1e}  {best[name] / COUNT * 1e6:8.1f} us a run"
              f"  bglang/this {ratio:.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
