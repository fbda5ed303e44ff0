"""Lagrange forms and multipliers at dependent storages on random graphs, against the ordinary form."""

import random
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "causality")]

from random_graphs import random_build  # noqa: E402

from bglang.causality.assign import assign_causality  # noqa: E402
from bglang.diagnostics import Report, SimulationError, SourceError  # noqa: E402
from bglang.equations.lagrange_choice import settle_choice  # noqa: E402
from bglang.graph.ir import BondGraph, Start  # noqa: E402
from bglang.results import Result  # noqa: E402
from bglang.solve.lagrange import Ordinary, prepare_dependent, prepare_lagrange  # noqa: E402
from bglang.solve.problem import Options, make_problem  # noqa: E402
from bglang.solve.run import simulate  # noqa: E402

POINTS = Options(points=5)


def started(seed: int, junctions: int | None = None, rings: int = 0) -> BondGraph:
    """A random graph whose storages do not start at rest."""
    built = random_build(seed) if junctions is None else random_build(seed, junctions=junctions, rings=rings)
    graph, rnd = built.graph(), random.Random(seed)
    elements = []
    for e in graph.elements:
        ports = [
            replace(p, start=Start(rnd.uniform(-1, 1), False, None, e.span)) if p.kind in ("C", "I") else p
            for p in e.ports
        ]
        elements.append(replace(e, ports=tuple(ports)))
    experiment = replace(graph.experiment, stop=0.5, tolerance=1e-8)
    return replace(graph, elements=tuple(elements), experiment=experiment)


def ordinary(graph: BondGraph) -> Result | None:
    """The reference; None where the graph has no solution."""
    if any(not c.solvable for c in assign_causality(graph).conflicts):
        return None
    try:
        base = Ordinary.of(graph, Report())
        return simulate(make_problem(base.system, POINTS, {}, base.compiled.model))
    except (SourceError, SimulationError):
        return None


@pytest.mark.parametrize("seed", range(24))
def test_all_forms_agree(seed: int) -> None:
    graph = started(seed)
    reference = ordinary(graph)
    if reference is None:
        return
    results = [prepare_dependent(graph, settle_choice(graph, {}, automatic=False), Report()).run(POINTS, {})]
    try:
        results.append(prepare_lagrange(graph, settle_choice(graph, {}), Report()).run(POINTS, {}))
    except SourceError as refused:
        codes = {d.code for d in refused.diagnostics if d.severity == "error"}
        assert codes == {"lagrange/no-coordinates"}, codes
    for result in results:
        for name in reference.names:
            size = max(float(np.abs(reference[name]).max()), 1.0)
            assert result[name] == pytest.approx(reference[name], abs=1e-3 * size), name


@pytest.mark.parametrize("seed", [109, 197, *range(2000, 2016)])
def test_multipliers_on_rings_of_junctions(seed: int) -> None:
    """Where paths run round and efforts cancel to what rounding leaves, which no start contradicts."""
    graph = started(seed, 6, rings=1 + seed // 1000)
    reference = ordinary(graph)
    if reference is None:
        return
    result = prepare_dependent(graph, settle_choice(graph, {}, automatic=False), Report()).run(POINTS, {})
    for name in reference.names:
        size = max(float(np.abs(reference[name]).max()), 1.0)
        assert result[name] == pytest.approx(reference[name], abs=1e-5 * size), name
