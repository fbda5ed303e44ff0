"""Parameters that are zero where the causality would divide by them: the laws are multiplied out."""

import numpy as np
import pytest

import bglang

TIMES = np.linspace(0, 1, 11)


def simulate(text: str, **options: float) -> "bglang.Result":
    return bglang.loads(text).simulate(stop=1, tol=1e-9, points=11, **options)


def rlc(r: float, inertia: float) -> str:
    return (
        f"model M Se s(e = 1); J1 v; I m(I = {inertia}); R r(R = {r}), loss(R = 2); C c(C = 0.5); "
        "bonds s -> v -> m, r, loss, c; end M;"
    )


def test_a_resistance_of_zero_is_a_wire() -> None:
    assert np.allclose(
        simulate(rlc(0, 1))["c.q"], simulate(rlc(0, 1).replace("r(R = 0), ", "").replace("r, ", ""))["c.q"]
    )


def test_an_inertia_of_zero_is_none() -> None:
    found = simulate(rlc(0, 0))
    assert np.allclose(found["v.f"], 0.5 * np.exp(-TIMES), atol=1e-7)
    assert np.all(found["m.e"] == 0.0)
    assert np.all(found["m.p"] == 0.0)
    assert abs(found.audit.error) < 1e-7


def test_a_compliance_of_zero_is_stiff() -> None:
    text = (
        "model M Se s(e = 3); J1 v; J0 u; R r(R = 1), r2(R = 2); C c(C = 0); bonds s -> v -> r; v -> u -> c, r2; end M;"
    )
    found = simulate(text)
    assert np.allclose(found["u.e"], 2.0)
    assert np.allclose(found["c.f"], 0.0)


def test_a_zero_may_be_set_to_something() -> None:
    """One compiled model serves all values."""
    model = bglang.loads(
        "model M parameter Real k = 0; Se s(e = 1); J1 v; I a(I = k); C c(C = 1); R r(R = 1); "
        "bonds s -> v -> a, c, r; end M;"
    )
    none = model.simulate(stop=2, tol=1e-9, points=11)
    some = model.simulate(stop=2, tol=1e-9, points=11, k=1.0)
    s = np.sqrt(0.75)
    assert np.allclose(none["v.f"], np.exp(-none.time), atol=1e-7)
    assert np.allclose(some["v.f"], np.exp(-some.time / 2) * np.sin(s * some.time) / s, atol=1e-7)


def test_a_switch_without_resistance() -> None:
    text = (
        "model M Se s(e = 1); J1 v; R load(R = 1); R switch(R = if time < 0.45 then 0 else 9); "
        "bonds s -> v -> load, switch; end M;"
    )
    assert np.allclose(simulate(text)["v.f"], np.where(TIMES < 0.45, 1.0, 0.1))


@pytest.mark.parametrize(
    ("two_port", "side"),
    [("TF t(m = 0)", "w -> load"), ("GY t(r = 0)", "w -> load"), ("TF t(m = k*(k - 1))", "w -> load")],
)
def test_a_modulus_of_zero_parts_the_sides(two_port: str, side: str) -> None:
    found = simulate(
        f"model M parameter Real k = 1; Se s(e = 1); J1 v, w; {two_port}; I a(I = 1), b(I = 1); R load(R = 1); "
        f"bonds s -> v -> a; v -> t -> w -> b; {side}; end M;"
    )
    assert np.allclose(found["v.f"], TIMES)


def test_where_nothing_else_is_possible_it_is_told() -> None:
    with pytest.raises(bglang.SourceError, match="`m` is an element with I = 0"):
        simulate("model M Se s(e = 1); J1 v; I m(I = 0); bonds s -> v -> m; end M;")
    with pytest.raises(bglang.SourceError, match="`b` is an element with R = 0"):
        simulate("model M Sf s(f = 1); J0 u; R a(R = 0), b(R = 0); bonds s -> u -> a, b; end M;")
    with pytest.raises(bglang.SimulationError, match="the law of `m` has a division by zero"):
        simulate("model M parameter Real k = 1; J1 v; I m(I = k); R r(R = 1); bonds v -> m, r; end M;", k=0.0)
