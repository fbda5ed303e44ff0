"""Section 1 of the language: nodes, bonds, signs, transformers and gyrators, displacements, against closed forms."""

import numpy as np
import pytest
from language_runs import close, codes, integrate, simulate


def test_named_bonds_have_e_f_power_and_integrals_on_demand() -> None:
    r = simulate(
        """model M
          J1 v; I mass(I = 2, p(start = 1)); R d(R = 1); Real x = drive.power, y = drive.energy;
        bonds bond drive: v -> mass; v -> d;
        end M;""",
        demand=("drive.q", "drive.p"),
    )
    v = 0.5 * np.exp(-r.time / 2)
    close(r["drive.f"], v)
    close(r["drive.e"], -v)
    close(r["drive.power"], -(v**2))
    close(r["x"], r["drive.power"])
    close(r["y"], v**2 - 0.25, 1e-5)
    close(r["drive.q"], 1 - 2 * v)
    close(r["drive.p"], 2 * v - 1)


@pytest.mark.parametrize("bonds", ["for i in 1:3 loop bond b[i]: v[i] -> m[i]; end for;", "bond b: v -> m;"])
def test_arrays_of_named_bonds(bonds: str) -> None:
    r = simulate(
        f"""model M
          J1 v[3]; I m[3](each I = 2, p(start = {{1, 2, 3}})); R d[3](R = {{1, 2, 3}}); Real e2 = b[2].e;
        bonds {bonds} v -> d;
        end M;"""
    )
    for i in (1, 2, 3):
        close(r[f"b[{i}].f"], i / 2 * np.exp(-i * r.time / 2))
    close(r["e2"], -2 * np.exp(-r.time))


def test_synonyms_for_modulated_elements() -> None:
    r = simulate(
        """model M
          MSe s(e = 1); J1 j; MR r(R = 1 + time); MI l(I = 1); MTF t(m = 2); J1 k; MR r2(R = 1); MGY g(r = 2); J0 z;
          MC c(C = 1);
        bonds s -> j -> r, l; j -> t -> k -> r2; k -> g -> z -> c;
        end M;"""
    )
    # k.f = 2 j.f; the gyrator's flow is k.e_g / 2, its effort z.e = 2*k.f fixes q of c, so c depends on l:
    # q = 2*k.f = 4*j.f, effort back at k is 2*dq/dt = 8*dj/dt; (1 + 16) dj/dt = 1 - (1 + t) j - 2*(2 j)
    (j,) = integrate(lambda t, y: [(1 - (5 + t) * y[0]) / 17], [0.0], r.time)
    close(r["j.f"], j)


def test_types_and_components_have_separate_names() -> None:
    r = simulate(
        "model M parameter Real R = 3; Se s(e = 6); J1 i; R winding(R = R); I l(I = R); "
        "bonds s -> i -> winding, l; end M;"
    )
    close(r["i.f"], 2 * (1 - np.exp(-r.time)))


@pytest.mark.parametrize(
    "bonds",
    [
        "s -> a -> t -> b -> i, r;",
        "s -> a; a -> t.p1; t.p2 -> b; b -> i, r;",
        "s -> a; t.p1 -> a; b -> t.p2; b -> i, r;",
        "s -> a; t.p1 -> a; t.p2 -> b; i -> b; r -> b;",
    ],
)
def test_transformer_whichever_way_its_bonds_are_drawn(bonds: str) -> None:
    r = simulate(
        f"""model M
          Se s(e = 1); J1 a; TF t(m = 2); J1 b; I i(I = 1); R r(R = 3);
        bonds {bonds}
        end M;"""
    )
    # e1 = m*e2, f2 = m*f1: db/dt = 1/2 - 3 b
    b = (1 - np.exp(-3 * r.time)) / 6
    close(r["b.f"], b)
    close(r["a.f"], b / 2)
    close(r["t.p1.e"], np.ones_like(b))
    close(r["t.p2.e"], np.full_like(b, 0.5))
    close(r["t.p1.power"], b / 2)
    close(r["t.p2.power"], b / 2)


def test_gyrator() -> None:
    r = simulate(
        """model M
          Se s(e = 1); J1 a; R ra(R = 1); GY g(r = 2); J1 b; I i(I = 1); R r(R = 3);
        bonds s -> a -> g -> b -> i, r; a -> ra;
        end M;"""
    )
    b = 2 / 7 * (1 - np.exp(-7 * r.time))
    close(r["b.f"], b)
    close(r["g.p1.e"], 2 * b)
    close(r["g.p2.e"], 2 * r["a.f"])


def test_two_bonds_into_a_transformer_need_port_names() -> None:
    text = "model M Se s(e = 1); J1 a, b; TF t(m = 2); R r(R = 3); bonds s -> a -> t; b -> t; b -> r; end M;"
    assert codes(text) == ["bonds/port-taken"]


@pytest.mark.parametrize("bond", ["c -> m", "m -> c", "c -> t -> m", "m -> t -> c"])
def test_every_bond_is_legal(bond: str) -> None:
    """A bond between two elements means what it would with a J0 in between."""
    tf = "TF t(m = 1);" if "t" in bond else ""
    r = simulate(f"model M C c(C = 1, q(start = 1)); I m(I = 1); {tf} bonds {bond}; end M;")
    close(np.abs(r["c.q"]), np.abs(np.cos(r.time)))
    close(np.abs(r["m.p"]), np.sin(r.time))


@pytest.mark.parametrize("arrow", ["u -> d", "d -> u"])
@pytest.mark.parametrize("kind", ["J0", "J1"])
def test_a_diode_never_turns_round(kind: str, arrow: str) -> None:
    source, storage = ("Sf s(f = 1)", "C c(C = 1)") if kind == "J0" else ("Se s(e = 1)", "I c(I = 1)")
    r = simulate(f"model M {source}; {kind} u; {storage}; R d(f = exp(e) - 1); bonds s -> u -> c; {arrow}; end M;")
    if kind == "J0":  # de/dt = 1 - (exp(e) - 1)
        (e,) = integrate(lambda t, y: [2 - np.exp(y[0])], [0.0], r.time)
        close(r["d.e"], e)
        close(r["d.f"], np.exp(e) - 1)
    else:  # df/dt = 1 - log(1 + f)
        (f,) = integrate(lambda t, y: [1 - np.log(1 + y[0])], [0.0], r.time)
        close(r["d.f"], f)
        close(r["d.e"], np.log(1 + f))
    close(r["d.power"], r["d.e"] * r["d.f"])


def test_displacement_of_a_junction_modulates() -> None:
    r = simulate(
        """model M
          parameter Real l = 1.5;
          J1 w(q(start = 0.3)); TF t(m = l*cos(w.q)); J1 v; I i(I = 1); I j(I = 2); Se g(e = -1); Real x(start = 0.3);
        bonds w -> t -> v -> i; w -> j; g -> v;
        equation der(x) = w.f;
        end M;"""
    )

    def rate(t: float, y: np.ndarray) -> list[float]:
        angle, w = y
        m, dm = 1.5 * np.cos(angle), -1.5 * np.sin(angle) * w
        return [w, (-m - m * dm * w) / (2 + m**2)]

    angle, w = integrate(rate, [0.3, 0.0], r.time)
    close(r["w.q"], angle)
    close(r["w.f"], w)
    close(r["x"], angle)


def test_momentum_of_a_0_junction() -> None:
    r = simulate(
        "model M J0 u(p(start = 0.3)); C c(C = 1, q(start = 1)); R r(R = 1); bonds u -> c, r; end M;", demand=("u.p",)
    )
    close(r["u.p"], 1.3 - np.exp(-r.time))


def test_drawn_strokes_are_honoured() -> None:
    r = simulate(
        """model M Sf pump(f = 1); J0 p; C tank(C = 2); R outlet(R = 1);
        bonds pump |-> p; p |-> tank; p ->| outlet; end M;"""
    )
    close(r["p.e"], 1 - np.exp(-r.time / 2))
    wrong = "model M Sf s(f = 1); J0 p; C t(C = 2); R r(R = 1); bonds s ->| p; p -> t, r; end M;"
    assert codes(wrong) == ["causality/locked"]
