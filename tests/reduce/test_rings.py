"""Links in a closed chain: what follows goes round a ring of junctions, and no single gain describes it."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bglang
from bglang.reduce.augment import augment
from bglang.reduce.write import write_source

CHAIN = """
model Chain "three links that keep sum(r*cos(w)) and sum(r*sin(w))"
  parameter Real a = 0.2, b = 0.7, c = 0.5;
  J1 w1(q(start = 1)), w2(q(start = 0.55)), w3(q(start = 1.5));
  J0 fx, fy;
  I j1(I = 0.05FIRST), j2(I = 0.1), j3(I = 0.08LAST);
  TF x1(m = -a*sin(w1.q)), x2(m = -b*sin(w2.q)), x3(m = -c*sin(w3.q));
  TF y1(m = a*cos(w1.q)), y2(m = b*cos(w2.q)), y3(m = c*cos(w3.q));
  R bearing(R = 0.05);
  Se drive(e = 0.3);
bonds
  drive -> w1 -> j1;
  w2 -> j2;
  w3 -> j3, bearing;
  w1 -> x1 -> fx;
  w2 -> x2 -> fx;
  w3 -> x3 -> fx;
  w1 -> y1 -> fy;
  w2 -> y2 -> fy;
  w3 -> y3 -> fy;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end Chain;
"""
LENGTHS, INERTIAS = np.array([0.2, 0.7, 0.5]), np.diag([0.05, 0.1, 0.08])
STARTS = {"FIRST": ("j1", 0.2), "LAST": ("j3", 0.08)}


def chain(where: str) -> str:
    text = CHAIN
    for place, (_, p) in STARTS.items():
        text = text.replace(place, f", p(start = {p})" if place == where else "")
    return text


def constraint(q: np.ndarray) -> np.ndarray:
    return np.array([-LENGTHS * np.sin(q), LENGTHS * np.cos(q)])


def trajectory(where: str, times: np.ndarray) -> np.ndarray:
    """M q'' + A' lambda = Q and A q'' = -dA/dt q', from the motion that A q' = 0 allows."""

    def slope(_: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:3], y[3:]
        a = constraint(q)
        change = np.array([-LENGTHS * np.cos(q) * v, -LENGTHS * np.sin(q) * v])
        whole = np.block([[INERTIAS, a.T], [a, np.zeros((2, 2))]])
        return np.concatenate([v, np.linalg.solve(whole, [0.3, 0, -0.05 * v[2], *(-change @ v)])[:3]])

    q = np.array([1.0, 0.55, 1.5])
    direction = np.linalg.svd(constraint(q))[2][-1]
    k = int(STARTS[where][0][1]) - 1
    v = direction / direction[k] * STARTS[where][1] / INERTIAS[k, k]
    found = solve_ivp(slope, (0, 1), [*q, *v], t_eval=times, rtol=1e-11, atol=1e-12, method="DOP853")
    assert found.success
    return np.asarray(found.y)


@pytest.mark.parametrize("where", list(STARTS))
@pytest.mark.parametrize("treatment", ["implicit", "augment", "lambda", "written"])
def test_a_closed_chain_starts_and_moves_the_same_in_every_form(treatment: str, where: str) -> None:
    """Only one of the links has a start; the others begin as the ring lets them, also where springs hold them."""
    model = bglang.loads(chain(where))
    if treatment == "written":
        model = bglang.loads(write_source(augment(model.graph).graph, "Augmented.", ()))
    result = model.simulate(dependent="implicit" if treatment == "written" else treatment, points=41)
    exact = trajectory(where, result.time)
    close = 1e-4 if treatment in ("augment", "written") else 1e-6
    for k in range(3):
        assert np.abs(result[f"w{k + 1}.q"] - exact[k]).max() < close
        assert np.abs(result[f"w{k + 1}.f"] - exact[3 + k]).max() < close * max(1.0, np.abs(exact[3 + k]).max())
