"""Helpers: graphs with start values, runs of graphs, and what must agree after a rewrite."""

import random
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "causality")]

from random_graphs import random_build  # noqa: E402

from bglang.causality.assign import assign_causality  # noqa: E402
from bglang.diagnostics import Report  # noqa: E402
from bglang.graph.ir import BondGraph, Experiment, Start  # noqa: E402
from bglang.reduce.forms import Prepared  # noqa: E402
from bglang.results import Result  # noqa: E402
from bglang.solve.problem import Options  # noqa: E402

EXAMPLES = Path(__file__).parents[2] / "examples" / "reduction"
Rows = npt.NDArray[np.float64]


def random_graph(seed: int, rings: int = 0) -> BondGraph:
    """A random linear graph whose independent storages have start values."""
    graph = random_build(seed, junctions=6, rings=rings).graph()
    draw = random.Random(seed)
    independent = set(assign_causality(graph).independent)
    values = {p.name: p.value for p in graph.parameters}
    elements = list(graph.elements)
    for k, e in enumerate(elements):
        if e.kind in ("Se", "Sf"):  # a plain number in the law, as elaboration writes it
            law = e.laws[0]
            assert isinstance(law.value, tuple)
            elements[k] = replace(e, laws=(replace(law, value=values.pop(law.value[1]) or 0.0),))
        elif (e.id, 0) in independent:
            start = Start(round(draw.uniform(-1, 1), 3), True, None, e.span)
            elements[k] = replace(e, ports=(replace(e.ports[0], start=start),))
    kept = tuple(p for p in graph.parameters if p.name in values)
    return replace(graph, elements=tuple(elements), parameters=kept, experiment=Experiment(stop=0.5))


def sound(graph: BondGraph) -> bool:
    """Can the graph be run at all, and has it something to merge?"""
    found = assign_causality(graph)
    return not found.conflicts and bool(found.dependent)


def run(graph: BondGraph, tol: float = 1e-9, points: int = 21) -> Result:
    report = Report()
    prepared = Prepared(graph, report)
    report.raise_if_errors()
    return prepared.run(Options(tol=tol, points=points))


def column(result: Result, name: str) -> Rows | None:
    """A variable under its name, or under the one that stands for it after a rewrite."""
    plain = {known.replace("'", ""): known for known in result.names}
    found = plain.get(name.replace("'", ""))
    return None if found is None else np.asarray(result[found])


def difference(a: Result, b: Result, names: list[str]) -> dict[str, float]:
    """The largest difference of each variable, over its size (at least one)."""
    found: dict[str, float] = {}
    for name in names:
        one, two = column(a, name), column(b, name)
        assert one is not None, name
        assert two is not None, f"{name} is not defined any more"
        found[name] = float(np.max(np.abs(one - two)) / max(1.0, float(np.max(np.abs(one)))))
    return found


def lasting(graph: BondGraph) -> list[str]:
    """Variables that mean the same before and after every treatment: losses, and what storages give."""
    names = list[str]()
    for e in graph.elements:
        if e.kind == "R":
            names += [f"{e.name}.e", f"{e.name}.f"]
        elif e.kind in ("C", "I"):
            names.append(f"{e.name}.{'e' if e.kind == 'C' else 'f'}")
    return names
