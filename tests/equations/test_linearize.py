"""Linear models against matrices written by hand."""

import numpy as np
import pytest

import bglang
from bglang.diagnostics import UsageError

RLC = """
model RLC
  parameter Real R = 2, L = 0.5, C = 0.1;
  Se u(e = 1); J1 i; R r(R = R); I l(I = L); C c(C = C);
bonds
  u -> i -> r, l, c;
end RLC;
"""


def test_matrices_poles_and_zeros_of_a_resonant_circuit() -> None:
    m = bglang.loads(RLC).linearize(inputs=["u"], outputs=["i.f", "c.e"])
    assert m.states == ("l.p", "c.q")
    assert np.allclose(m.A, [[-4, -10], [2, 0]])
    assert np.allclose(m.B, [[1], [0]]) and np.allclose(m.C, [[2, 0], [0, 10]]) and np.allclose(m.D, 0)
    assert np.allclose(sorted(m.poles(), key=lambda p: p.imag), [-2 - 4j, -2 + 4j])
    assert np.allclose(m.zeros(0, 0), [0]) and len(m.zeros(1, 0)) == 0
    s = 0.3 + 2j
    assert np.allclose(m.gain(s)[1, 0], 1 / (0.05 * s * s + 0.2 * s + 1))


def test_dependent_storages_and_algebraic_loops_are_eliminated() -> None:
    m = bglang.loads("""
        model M
          Se u(e = 1); J1 a, b; TF t(m = 3); I i1(I = 2), i2(I = 5); R d(R = 7);
        bonds
          u -> a -> i1; a -> t -> b -> i2; b -> d;
        end M;""").linearize(outputs=["a.f", "i2.e"])
    mass = 2 + 9 * 5
    # i1.p = 2 f, and the whole force moves 47: der(p) = 2/47 (u - 63 p/2)
    assert np.allclose(m.A, [[-63 / mass]]) and np.allclose(m.B, [[2 / mass]])
    assert np.allclose(m.C, [[0.5], [15 * -63 / mass / 2]]) and np.allclose(m.D, [[0], [15 / mass]])


def test_operating_point_of_a_nonlinear_law() -> None:
    text = """
        model M
          Se u(e = 8); J1 v; I m(I = 1); R d(e = f^3);
        bonds
          u -> v -> m, d;
        end M;"""
    model = bglang.loads(text)
    assert np.allclose(model.linearize(at="start").A, [[0]])
    assert np.allclose(model.linearize(at="steady").A, [[-12]], atol=1e-6)
    v = model.simulate(stop=0.1, tol=1e-10)["v.f"][-1]
    assert np.allclose(model.linearize(at=0.1).A, [[-3 * v * v]], rtol=1e-4)


def test_a_source_on_a_dependent_storage_moves_the_state_at_once() -> None:
    """Two capacitors and a source in a loop: what stays continuous is the charge that cannot move."""
    m = bglang.loads("""
        model M
          Se u(e = 0); J1 i; C c1(C = 1); J0 n; C c2(C = 2); R r(R = 4);
        bonds
          u -> i -> c1; i -> n -> c2; n -> r;
        end M;""").linearize(outputs=["n.e"])
    assert m.jumps
    s = 0.7j
    # u - e = (1/s) i, i = (2 s + 1/4) e
    assert np.allclose(m.gain(s)[0, 0], 1 / (1 + (2 * s + 0.25) / s))


def test_the_dictionary_for_machines_and_control() -> None:
    m = bglang.loads(RLC).linearize(outputs=["i.f"])
    data = m.to_dict()
    assert list(data)[:7] == ["states", "inputs", "outputs", "A", "B", "C", "D"]
    assert np.allclose(sorted(p[1] for p in data["poles"]), [-4, 4]) and np.allclose(data["zeros"], [[0, 0]])
    control = pytest.importorskip("control")
    assert np.allclose(sorted(control.poles(m.to_control()).imag), [-4, 4])


def test_an_input_may_be_named_by_what_it_gives() -> None:
    model = bglang.loads(RLC)
    one, other = model.linearize(inputs=["u"], outputs=["c.e"]), model.linearize(inputs=["u.e"], outputs=["c.e"])
    assert other.inputs == ("u.e",) and np.array_equal(one.B, other.B) and one.B.any()
    with pytest.raises(UsageError, match="same input"):
        model.linearize(inputs=["u", "u.e"], outputs=["c.e"])


def test_unknown_inputs_and_outputs_are_named() -> None:
    model = bglang.loads(RLC)
    with pytest.raises(UsageError, match="`r` is no source"):
        model.linearize(inputs=["r"])
    with pytest.raises(UsageError, match=r"c\.ee"):
        model.linearize(outputs=["c.ee"])


def test_steady_state_of_two_springs_that_share_a_displacement() -> None:
    text = """model S
  J1 v;
  C a(e = 3*q + q^3, q(start = 1)), b(C = 0.5, q(start = -0.3));
  I m(I = 1);
  R r(R = 0.4);
  Se F(e = 2);
bonds
  F -> v -> a, b, m, r;
end S;
"""
    m = bglang.loads(text).linearize(at="steady", inputs=["F"], outputs=["a.q"])
    # a.q - b.q stays 1.3: 3q + q^3 + 2(q - 1.3) = 2
    q = next(x.real for x in np.roots([1, 0, 5, -4.6]) if abs(x.imag) < 1e-9)
    expected = [*np.roots([1, 0.4, 5 + 3 * q**2]), 0.0]
    assert np.allclose(np.sort_complex(m.poles()), np.sort_complex(np.array(expected)), atol=1e-9)
