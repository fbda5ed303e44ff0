"""Small models around one class of the library."""

import bglang
from bglang.results import Result


def run(nodes: str, bonds: str, stop: float, equations: str = "", points: int = 101, tol: float = 1e-9) -> Result:
    """Simulate a model with these declarations, bonds and equations; it must be free of warnings."""
    parts = [nodes, f"bonds {bonds}" if bonds else "", f"equation {equations}" if equations else ""]
    model = bglang.loads(f"model M {' '.join(parts)} annotation(experiment(StopTime = {stop})); end M;")
    assert not model.warnings, "\n".join(d.message for d in model.warnings)
    return model.simulate(points=points, tol=tol)
