"""A chain of point masses: every force is a sum of the rates of all masses behind it."""

import time

import numpy as np

import bglang
from bglang.causality.assign import assign_causality
from bglang.diagnostics import Report
from bglang.equations.derive import derive
from bglang.expr.walk import leaf_set, tree_size

CHAIN = """
model Chain "n point masses on n rods"
  parameter Integer n = 12;
  parameter Real l = 1/n, m = 1/n;
  J1 w[n](q(start = linspace(1.2, 0.4, n)));
  J1 x[n], y[n];
  J0 fx[n-1], fy[n-1];
  TF ax[n](m = {l*cos(w[i].q) for i in 1:n}), ay[n](m = {l*sin(w[i].q) for i in 1:n});
  I mx[n](each I = m), my[n](each I = m);
  Se g[n](each e = -m*Constants.g);
bonds
  for i in 1:n loop x[i] -> mx[i]; y[i] -> my[i]; g[i] -> y[i]; end for;
  w[1] -> ax[1] -> x[1]; w[1] -> ay[1] -> y[1];
  for i in 2:n loop
    x[i-1] -> fx[i-1] -> x[i]; y[i-1] -> fy[i-1] -> y[i];
    w[i] -> ax[i] -> fx[i-1]; w[i] -> ay[i] -> fy[i-1];
  end for;
end Chain;
"""


def test_forces_at_the_start_are_those_of_the_accelerations() -> None:
    n = 12
    result = bglang.loads(CHAIN).simulate(stop=0.01, tol=1e-8, points=3)
    q = np.linspace(1.2, 0.4, n)
    below = np.tril(np.ones((n, n)))
    jx, jy = below * np.cos(q) / n, below * np.sin(q) / n
    mass = (jx.T @ jx + jy.T @ jy) / n
    turning = np.linalg.solve(mass, jy.T @ np.full(n, -9.80665 / n))
    forces = np.cumsum((jx @ turning / n)[::-1])[::-1]
    found = [result[f"ax[{i + 1}].p2.e"][0] for i in range(n)]
    assert np.allclose(found, forces, rtol=1e-8)
    assert np.allclose([result[f"my[{i + 1}].e"][0] for i in range(n)], jy @ turning / n, rtol=1e-8)


def test_unknowns_with_rates_in_their_equation_are_storages() -> None:
    graph = bglang.loads(CHAIN).graph
    system = derive(graph, assign_causality(graph), Report())
    for unknown, row in zip(system.unknowns, system.rows, strict=True):
        if unknown.kind == "algebraic":
            assert not any(leaf[0] == "d" for leaf in leaf_set(row.residual))


def test_rows_do_not_grow_with_the_chain() -> None:
    sizes = []
    for n in (30, 60):
        graph = bglang.loads(CHAIN, set={"n": n}).graph
        started = time.perf_counter()
        system = derive(graph, assign_causality(graph), Report())
        assert time.perf_counter() - started < 10.0
        sizes.append(max(tree_size(row.residual) for row in system.rows))
    assert sizes[0] == sizes[1]
