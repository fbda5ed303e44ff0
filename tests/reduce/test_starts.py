"""Start values and jumps mean the same in every treatment, wherever the source writes them."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bglang
from bglang.diagnostics import SourceError
from bglang.reduce.reduce import reduce_storages

END = "  annotation(experiment(StopTime = 1, Tolerance = 1e-9));\nend M;\n"
RING = """model M
  J1 a, b, c, d;
  J0 n1, n2;
  I ma(I = 1MA), mb(I = 2MB), mc(I = 3MC), md(I = 1.5MD);
  R r(R = 0.2);
  C k(C = 0.2);
bonds
  a -> n1 -> b, c;
  b -> n2;
  c -> n2 -> d;
  a -> ma, k;
  b -> mb;
  c -> mc;
  d -> md, r;
"""
LEVER = """model M
  J1 v1, v2;
  TF t(m = 3);
  I i1(I = 2I1), i2(I = 3I2), i3(I = 4I3);
  C k(C = 0.1, q(start = 0.2));
  R r(R = 0.5);
bonds
  v1 -> i1, k, t;
  t -> v2 -> i2, i3, r;
"""


def with_starts(text: str, starts: dict[str, float]) -> bglang.Model:
    for place in ("MA", "MB", "MC", "MD", "I1", "I2", "I3"):
        value = starts.get(place)
        text = text.replace(f"{place})", ")" if value is None else f", p(start = {value}))")
    return bglang.loads(text + END)


CASES = [
    (RING, {"MA": 1.0, "MB": 0.4}),
    (RING, {"MA": 1.0, "MC": 0.2}),
    (RING, {"MB": 1.0, "MC": 0.2}),
    (RING, {"MD": 1.0, "MC": 0.2}),
    (RING, {"MC": 1.5}),
    (LEVER, {"I1": 0.7}),
    (LEVER, {"I2": 0.7}),
    (LEVER, {"I3": 0.7}),
]


@pytest.mark.parametrize(("text", "starts"), CASES)
@pytest.mark.parametrize("treatment", ["reduce", "augment", "lambda"])
def test_written_starts_hold_whoever_is_dependent(text: str, starts: dict[str, float], treatment: str) -> None:
    model = with_starts(text, starts)
    exact = model.simulate(points=21)
    result = model.simulate(points=21, dependent=treatment)
    junctions = ("a", "b", "c", "d") if text is RING else ("v1", "v2")
    size = max(np.abs(exact[f"{j}.f"]).max() for j in junctions)
    assert size > 0.1
    for name in (f"{j}.f" for j in junctions):
        plain = {known.replace("'", ""): known for known in result.names}
        found = result[plain[name]]
        # at the very start an inserted damper still takes up its load
        assert np.abs(found[1:] - exact[name][1:]).max() < (1e-6 if treatment == "augment" else 1e-8) * size, name


def test_starts_that_contradict_through_a_ring_are_told() -> None:
    model = with_starts(RING, {"MA": 1.0, "MC": 0.2, "MD": 2.0})
    with pytest.raises(bglang.SourceError, match=r"`md\.p` contradicts the starts of `ma\.p` and `mc\.p`"):
        reduce_storages(model.graph)


@pytest.mark.parametrize("treatment", ["reduce", "augment", "lambda"])
def test_a_jump_carries_along_what_was_dependent(treatment: str) -> None:
    text = LEVER.replace("I1", ", p(start = 2)").replace("I2", "").replace("I3", "")
    jump = "equation\n  when k.q > 0.3 then reinit(i1.p, -0.5*i1.p); end when;\n"
    model = bglang.loads(text + jump + END)
    exact = model.simulate(points=21)
    assert exact.events and exact["v1.f"].min() < -0.1
    result = model.simulate(points=21, dependent=treatment)
    assert np.abs(result["v1.f"] - exact["v1.f"])[1:].max() < 1e-6


CROSSWISE = """model M
  parameter Real l = 1.2, m = 2;
  J1 w(q(start = pi/2)), x, y;
  I wheel(I = 0.1, p(start = 0.13)), mx(I = m, p(start = MX)), my(I = m);
  TF tx(m = l*cos(w.q)), ty(m = l*sin(w.q));
  Se g(e = -m*9.81);
bonds
  w -> wheel;
  w -> tx -> x -> mx;
  w -> ty -> y -> my;
  g -> y;
"""


@pytest.mark.parametrize("treatment", ["implicit", "reduce", "augment", "lambda"])
def test_a_start_of_zero_agrees_with_what_rounding_leaves_of_it(treatment: str) -> None:
    """l*cos(pi/2) is 7e-17; the rod swings as w'' = -m*g*l*sin(w)/(J + m*l^2)."""
    result = bglang.loads(CROSSWISE.replace("MX", "0") + END).simulate(dependent=treatment, points=21)

    def slope(_: float, y: np.ndarray) -> list[float]:
        return [y[1], -2 * 9.81 * 1.2 * np.sin(y[0]) / (0.1 + 2 * 1.2**2)]

    exact = solve_ivp(slope, (0, 1), [np.pi / 2, 1.3], t_eval=result.time, rtol=1e-11, atol=1e-12, method="DOP853").y
    assert np.abs(result["w.q"] - exact[0]).max() < (1e-5 if treatment == "augment" else 1e-7)
    with pytest.raises(SourceError, match=r"the start of `mx\.p` contradicts"):
        bglang.loads(CROSSWISE.replace("MX", "0.001") + END).simulate(dependent=treatment)
