"""Section 5 of the language and its rules for arrays: macros, loops, conditions, slices."""

import numpy as np
import pytest
from language_runs import close, codes, simulate
from scipy.linalg import expm

COUPLING = """macro Coupling(node a, node b, Real k, Real c = 0) "spring and damper between two velocities"
  J0 force; J1 dv; C spring(C = 1/k); if c > 0 then R damper(R = c); end if;
bonds
  a -> force -> b; force -> dv -> spring; if c > 0 then dv -> damper; end if;
end Coupling;
"""
DAMP = "macro Damp(node a, Real k = 1) R r(R = k); bonds a -> r; end Damp;"
MASS = "J1 v; I m(I = 1, p(start = 1));"


@pytest.mark.parametrize("c", [0.0, 0.3])
def test_chain_of_the_language_page(c: float) -> None:
    r = simulate(
        f"""{COUPLING}
        model Chain parameter Integer n = 3; J1 v[n]; I m[n](each I = 1.0, p(start = {{1, 0, 0}}));
          Real stretch = s[1].spring.q;
        bonds
          for i in 1:n loop v[i] -> m[i]; end for;
          for i in 1:n-1 loop Coupling s[i](v[i], v[i+1], k = 100, c = {c}); end for;
        end Chain;"""
    )
    d = np.array([[1, -1, 0], [0, 1, -1]])
    system = np.block([[-c * d.T @ d, -100 * d.T], [d, np.zeros((2, 2))]])
    expected = np.array([expm(system * t) @ [1, 0, 0, 0, 0] for t in r.time]).T
    for i in (1, 2, 3):
        close(r[f"v[{i}].f"], expected[i - 1], 1e-5)
    close(r["stretch"], expected[3], 1e-5)
    assert ("s[1].damper.e" in r.names) == (c > 0)


def test_macros_in_loops_in_conditions_are_hygienic() -> None:
    r = simulate(
        """macro Damp(node a, Real k) J1 v; J0 z; R r(R = k); bonds a -> z -> v -> r; end Damp;
        model M parameter Real k = 2; Real e = 3, f = 4; J1 v; R r(R = 1); I m(I = 1, p(start = 1));
        bonds v -> r, m;
          if k > 1 then for i in 1:2 loop Damp s[i](v, k = i*k); end for; Damp u(v, k = e*f);
          else Damp w(v, k = 1); end if;
        end M;"""
    )
    close(r["v.f"], np.exp(-(1 + 2 + 4 + 12) * r.time))
    close(r["s[2].r.e"], 4 * r["v.f"])


def test_arguments_are_never_captured() -> None:
    r = simulate(
        f"""macro Damp(node a, Real k) R r(e = k*f); bonds a -> r; end Damp;
        model M Real f = 4 + time; Real e = f; {MASS} bonds v -> m; Damp s(v, k = f/2 + e/2); end M;"""
    )
    close(r["v.f"], np.exp(-4 * r.time - r.time**2 / 2))


@pytest.mark.parametrize(
    "use",
    [
        "Damp s(v, 3);",
        "Damp s(v, k = 3);",
        "Damp s(k = 3, a = v);",
        "Outer s(v, 3);",
        "for i in 1:3 loop Damp s[i](v); end for;",
        "Damp s[3](v, each 1);",
        "Damp s[3](v, {0.5, 0.5, 2});",
        "Damp s(v, k = 3 + 0*v.f);",
        "Inner.Damp s(v);",
    ],
)
def test_ways_to_use_a_macro(use: str) -> None:
    text = f"""{DAMP} macro Outer(node b, Real g) bonds for i in 1:2 loop Damp s[i](b, g*i/3); end for; end Outer;
      package Inner constant Real three = 3; macro Damp(node a, Real k = three) R r(R = k);
      bonds a -> r; end Damp; end Inner;
      model M {MASS} bonds v -> m; {use} end M;"""
    r = simulate(text)
    close(r["v.f"], np.exp(-3 * r.time))


def test_bodies_see_their_place_and_inner_nodes_can_be_bonded() -> None:
    r = simulate(
        f"""model M parameter Real g = 4; macro Side(node a) J1 x; R r(R = g); Real y(start = 1);
          bonds a -> x -> r; equation der(y) = r.f; end Side;
          {MASS} Side s(v); R more(R = 2); Real z = s.y + s.r.f;
        bonds v -> m; s.x -> more; end M;"""
    )
    f = np.exp(-6 * r.time)
    close(r["v.f"], f)
    close(r["z"], 1 + (1 - f) / 6 + f)


def test_nodes_may_be_ports_transformers_and_arrays() -> None:
    r = simulate(
        """macro Join(node a, node b) J0 z; R r(R = 1); bonds z -> a; z -> b; z -> r; end Join;
        macro Row(node n[2], Real k[2]) R r[2](R = k); bonds n -> r; end Row;
        macro Between(node a, node b) J1 z; R r(R = 1); bonds a -> z -> b; z -> r; end Between;
        model S port Any p; J1 j; I i(I = 1, p(start = 1)); bonds p -> j -> i; end S;
        model M S x, y; Join s(x.p, y.p); J1 v[2]; I m[2](each I = 1, each p(start = 1)); Row w(v, {1, 2});
          J1 i; I l(I = 1, p(start = 1)); TF t(m = 2), u(m = 3); R load(R = 1);
        bonds v -> m; i -> l, t; Between b(t, u); u -> load; end M;"""
    )
    close(r["s.r.f"], -2 * np.exp(-2 * r.time))
    close(r["v[2].f"], np.exp(-2 * r.time))
    close(r["i.f"], np.exp(-(4 * 1 + 36) * r.time), 1e-5)


@pytest.mark.parametrize(
    ("use", "code"),
    [
        ("Damp s;", "types/argument"),
        ("Damp s(v, 1, 2);", "types/argument"),
        ("Damp s(v, kk = 1);", "names/unknown"),
        ("Damp s(3, k = 1);", "types/argument"),
        ("Damp s(v, k = v);", "types/not-a-value"),
        ("Damp s(w, k = 1);", "names/unknown"),
        ("Damp s(v, k = true);", "types/mismatch"),
        ("Again s(v);", "classes/recursion"),
    ],
)
def test_uses_that_are_wrong(use: str, code: str) -> None:
    again = "macro Again(node a) R r(R = 1); bonds a -> r; Again s(a); end Again;"
    assert codes(f"{DAMP} {again} model M {MASS} R d(R = 1); bonds v -> m, d; {use} end M;") == [code]


@pytest.mark.parametrize(
    "bonds",
    [
        "a -> m; a -> r;",
        "a -> m, r;",
        "for i in 1:5 loop a[i] -> m[i], r[i]; end for;",
        "a[1:2:5] -> r[1:2:5]; for i in 4:-2:2 loop a[i] -> r[i]; end for; a -> m;",
        "a[1] -> r[1]; a[2:end] -> r[2:end]; a[{1, 3, 2}] -> m[{1, 3, 2}]; a[4:5] -> m[4:5];",
        "m -> a; a -> r;",
    ],
)
def test_bonds_between_arrays_and_slices(bonds: str) -> None:
    r = simulate(
        f"model M J1 a[5]; I m[5](each I = 1, p(start = 1:5)); R r[5](R = linspace(1, 5, 5)); bonds {bonds} end M;"
    )
    for i in range(1, 6):
        close(r[f"a[{i}].f"], i * np.exp(-i * r.time))


def test_one_junction_is_bonded_to_each_member_and_empty_arrays_draw_nothing() -> None:
    r = simulate(
        """model M parameter Integer n = 0; J1 w, v[n]; I k(I = 1, p(start = 1)); R r[3](R = {1, 2, 3});
          I m[n](each I = 1);
        bonds w -> k, r, m; v -> m; for i in 1:n loop v[i] -> w; end for; end M;"""
    )
    close(r["w.f"], np.exp(-6 * r.time))


def test_matrices_of_components_and_shadowed_loop_variables() -> None:
    r = simulate(
        """model M parameter Integer i = 7; J1 a[2, 2];
          I m[2, 2](I = [1, 2; 3, 4], p(start = {{10*k + j for j in 1:2} for k in 1:2}));
          R r[2, 2](each R = i); Real x[2] = {i*i for i in 2:3};
        bonds a -> m; for i in 1:2 loop a[i, :] -> r[i, :]; end for; end M;"""
    )
    close(r["a[2,1].f"], 21 / 3 * np.exp(-7 / 3 * r.time))
    close(r["x[2]"], np.full(len(r.time), 9))


@pytest.mark.parametrize(
    ("declarations", "bonds", "code"),
    [
        ("J1 v[3]; I m[3](I = 1);", "v -> m;", "arrays/each"),
        ("J1 v[3]; I m[3](each I = 1, p(start = 1));", "v -> m;", "arrays/each"),
        ("J1 v[3]; I m[3](I = {1, 2});", "v -> m;", "arrays/shape"),
        ("J1 v[3]; I m[2](each I = 1);", "v -> m;", "bonds/shape"),
        ("J0 v[3]; I m(I = 1);", "m -> v;", "bonds/shape"),
        ("J1 v[3]; I m[3](each I = 1);", "v -> m; v[4] -> m[1];", "arrays/index"),
        ("J1 v[2.5]; I m[3](each I = 1);", "v -> m;", "types/mismatch"),
        ("J1 v[-1]; I m[3](each I = 1);", "v -> m;", "arrays/size"),
        ("J1 v; I m(I = 1); R d(R = 1);", "bond b: v -> m, d;", "bonds/named"),
        ("J1 v; I m(I = 1); R d(R = 1);", "bond b[2]: v -> m; v -> d;", "bonds/shape"),
        ("J1 v; I m(I = 1); R d(R = 1);", "v -> m; v -> v; v -> d;", "bonds/self"),
        ("J1 v; I m(I = 1); R d(R = 1);", "v -> m; v -> d; bond m: v -> d;", "names/duplicate"),
    ],
)
def test_arrays_that_do_not_fit(declarations: str, bonds: str, code: str) -> None:
    assert codes(f"model M {declarations} bonds {bonds} end M;")[:1] == [code]
