"""Linear models against matrices written by hand."""

from typing import Any

import numpy as np
import pytest

import bglang
from bglang.diagnostics import UsageError
from bglang.equations.zeros import invariant_zeros
from bglang.views.linear import frequencies, report

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


@pytest.mark.parametrize("seed", range(60))
def test_invariant_zeros_of_random_models(seed: int) -> None:
    """There the system matrix loses rank, and there are as many as its determinant has roots, if it has any."""
    rnd = np.random.default_rng(seed)
    n, m = rnd.integers(1, 7), rnd.integers(1, 4)

    def sparse(rows: int, columns: int, share: float) -> Any:
        return rnd.normal(size=(rows, columns)) * (rnd.random((rows, columns)) < share)

    a, b, c, d = sparse(n, n, 0.6), sparse(n, m, 0.6), sparse(m, n, 0.6), sparse(m, m, 0.2)
    zeros = invariant_zeros(a, b, c, d)

    def pencil(s: complex) -> Any:
        return np.block([[a - s * np.eye(n), b], [c, d]])

    around = 1.3 * np.exp(2j * np.pi * np.arange(32) / 32)
    polynomial = np.fft.fft([np.linalg.det(pencil(s)) for s in around]) / 32 / 1.3 ** np.arange(32)
    size = np.abs(polynomial).max()
    if size > 1e-12:
        assert len(zeros) == max(k for k in range(n + 1) if abs(polynomial[k]) > 1e-9 * size)
    usual = np.linalg.matrix_rank(pencil(0.37 + 0.61j), tol=1e-9)
    for s in zeros:
        assert np.linalg.svd(pencil(s), compute_uv=False)[usual - 1] < 1e-5 * (1 + abs(s))


def test_zeros_of_a_fast_circuit_are_not_taken_for_infinite_ones() -> None:
    """A branch in resonance holds its node: s = +-i/sqrt(L2 C2), some 2e10 per second."""
    text = "model M\n Se u(e = 0); J1 a; R r(R = 1e3); I l(I = 1e-9); J0 o; C c(C = 1e-12); R rl(R = 1e6); J1 b;\n"
    text += " I l2(I = 1e-9); C c2(C = 2e-12);\nbonds\n u -> a -> r, l; a -> o -> c, rl, b; b -> l2, c2;\nend M;"
    m = bglang.loads(text.replace("a -> o -> c, rl, b", "a -> o; o -> c, rl, b")).linearize(outputs=["c.e", "c2.e"])
    w = 1 / np.sqrt(2e-21)
    assert np.allclose(sorted(m.zeros(0).imag / w), [-1, 1], rtol=1e-9) and np.allclose(m.zeros(0).real / w, 0)
    assert not len(m.zeros(1))


def test_the_page_names_point_rows_and_columns() -> None:
    m = bglang.loads(RLC).linearize(inputs=["u"], outputs=["i.f"], at="steady")
    page = report(m)
    assert page.startswith("linear model at the steady state")
    assert m.steady and dict(m.point) == {"l.p": pytest.approx(0.0), "c.q": pytest.approx(0.1)}
    assert "der(l.p)" in page and "u -> i.f: zeros 0; static gain 0" in page


def test_an_integrator_elsewhere_does_not_make_a_gain_infinite() -> None:
    text = RLC.replace("J1 i;", "J1 i(q(start = 0));").replace("c(C = C);", "c(C = C); Real x(start = 0);")
    m = bglang.loads(text.replace("end RLC", "equation\n der(x) = 1;\nend RLC")).linearize(outputs=["c.e", "i.f"])
    assert any(abs(p) < 1e-12 for p in m.poles())
    assert "u -> c.e" in report(m) and "infinite" not in report(m)


def test_frequencies_are_dense_where_a_resonance_is_sharp() -> None:
    """A circle in the Nyquist picture has no corner: neighbours are near each other beside its size."""
    m = bglang.loads(RLC.replace("R = 2", "R = 0.001")).linearize(outputs=["i.f"])
    response = np.array([m.gain(1j * w)[0, 0] for w in frequencies(m)])
    assert np.abs(response).max() == pytest.approx(1000.0, rel=1e-3)
    assert np.abs(np.diff(response)).max() < 0.06 * np.abs(response).max()
