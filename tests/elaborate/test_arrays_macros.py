# ruff: noqa: E501  small models read better on one line
"""Arrays of anything, loops, and macros."""

import pytest
from elaborating import bonds, element, equations, graph, law, messages, names, problems, show, starts, value

COUPLING = """
    macro Coupling(node a, node b, Real k, Real c = 0) "spring and damper between two velocities"
      J0 force;  J1 dv;
      C spring(C = 1/k);
      if c > 0 then R damper(R = c); end if;
    bonds
      a -> force -> b;
      force -> dv -> spring;
      if c > 0 then dv -> damper; end if;
    end Coupling;
"""


def test_arrays_with_each_and_with_values() -> None:
    g = graph("""
        model M
          parameter Integer n = 3; parameter Real k[n] = {1, 2, 3};
          R r[n](R = k), s[n](each R = 5), t[n](R = {10*i for i in 1:n}); J1 j;
          C c[2](each C = 1, q(start = {7, 8}));
        bonds j -> r, s, t, c;
        end M;""")
    assert [value(g, f"r[{i}].R") for i in (1, 2, 3)] == ["k[1]", "k[2]", "k[3]"]
    assert value(g, "s[3].R") == "5" and value(g, "t[2].R") == "20"
    assert starts(g) == {"c[1].q": "7", "c[2].q": "8"}
    assert len(g.bonds) == 11


def test_laws_of_arrays() -> None:
    g = graph(
        "model M parameter Real k[2] = {1, 2}; R r[2](e = k*f), s[2](each e = 3*f); J1 j; bonds j -> r, s; end M;"
    )
    assert law(g, "r[2]") == "e = *(k[2], r[2].f)" and law(g, "s[1]") == "e = *(3, s[1].f)"


def test_nested_arrays() -> None:
    g = graph("""
        model Cell parameter Real a = 1; R r[2](each R = a); J1 j; bonds j -> r; end Cell;
        model M Cell c[2](a = {3, 4}), d[2](each r(R = {5, 6})), e[2](r(R = [1, 2; 3, 4])), f[2](r(each R = 9)); end M;""")
    assert value(g, "c[2].a") == "4" and value(g, "c[2].r[1].R") == "c[2].a"
    assert value(g, "d[2].r[1].R") == "5" and value(g, "e[2].r[1].R") == "3" and value(g, "f[1].r[2].R") == "9"


def test_modifications_of_single_members() -> None:
    g = graph("""
        model Cell parameter Real k[3] = {1, 2, 3}; C c(C = 1); J1 j; bonds j -> c; end Cell;
        model M Cell x[2](each k = {4, 5, 6}), y(k[2] = 9); Cell z[3](c.q(start = {1, 2, 3}), each k[1] = 8); end M;""")
    assert value(g, "x[2].k[3]") == "6" and [value(g, f"y.k[{i}]") for i in (1, 2, 3)] == ["1", "9", "3"]
    assert starts(g) == {"z[1].c.q": "1", "z[2].c.q": "2", "z[3].c.q": "3"}
    assert value(g, "z[2].k[1]") == "8"


def test_matrices_of_components_count_the_last_index_fastest() -> None:
    g = graph("model M J1 o[2,3]; R r[2,3](each R = 1); bonds o -> r; end M;")
    assert names(g)[:6] == ["o[1,1]", "o[1,2]", "o[1,3]", "o[2,1]", "o[2,2]", "o[2,3]"]
    assert bonds(g)[3] == "o[2,1] -> r[2,1]"


def test_slices_bond() -> None:
    g = graph("""
        model Cell port Any a; port Any b; J0 u; C c(C = 1); bonds a -> u -> b; u -> c; end Cell;
        model M
          parameter Integer n = 4; Cell cell[n]; Se s(e = 1); R r(R = 1); J1 i;
        bonds
          s -> i -> cell[1].a; cell[1:n-1].b -> cell[2:n].a; cell[end].b -> r;
        end M;""")
    assert {"i -> cell[1].u", "cell[1].u -> cell[2].u", "cell[3].u -> cell[4].u", "cell[4].u -> r"} <= set(bonds(g))
    assert len(g.bonds) == 10


def test_one_junction_is_bonded_to_each_member() -> None:
    g = graph("model M J1 v; J0 u[3]; R r[3](each R = 1); bonds v -> r; u -> v; end M;")
    assert len(g.bonds) == 6


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("R r[3](R = 1); J1 j; bonds j -> r;", "arrays/each"),
        ("R r[3](R = {1, 2}); J1 j; bonds j -> r;", "arrays/shape"),
        ("Real x[3](start = 1); equation for i in 1:3 loop der(x[i]) = 1; end for;", "arrays/each"),
        ("R r[3](each R = 1); J1 j[2]; bonds j -> r;", "bonds/shape"),
        ("R r[3](each R = 1); TF t(m = 1); bonds t -> r;", "bonds/shape"),
        ("R r[3](each R = 1); J1 j; bonds j -> r[4];", "arrays/index"),
        ("J1 j[-1];", "arrays/size"),
        ("J1 j[1.5];", "types/mismatch"),
        ("J1 j[:];", "arrays/size"),
        ("parameter Real x[:];", "arrays/size"),
        ("J1 j; bonds for i in 1:2 loop R r(R = 1); end for;", "names/duplicate"),
        ("R r[2](each e = k*f); J1 j; parameter Real k[2] = {1, 2}; bonds j -> r;", "types/mismatch"),
    ],
)
def test_wrong_arrays(text: str, code: str) -> None:
    found = problems(f"model M {text} end M;")
    assert found and set(found) == {code}, messages(f"model M {text} end M;")


def test_an_empty_array_draws_nothing() -> None:
    g = graph(
        "model M parameter Integer n = 0; J1 j; R r[n](each R = 1); bonds j -> r; for i in 1:n loop j -> r[i]; end for; end M;"
    )
    assert names(g) == ["j"] and not g.bonds


def test_declarations_in_loops_make_members() -> None:
    g = graph("""
        model M
          J1 v[3];
        bonds
          for i in 1:3 loop
            R r[i](R = 10*i);
            bond b[i]: v[i] -> r[i];
          end for;
        equation
        end M;""")
    assert names(g) == ["v[1]", "v[2]", "v[3]", "r[1]", "r[2]", "r[3]"]
    assert [b.names for b in g.bonds] == [("b[1]",), ("b[2]",), ("b[3]",)]
    assert value(g, "r[3].R") == "30"


def test_named_bonds_of_arrays() -> None:
    g = graph("model M J1 v[2]; R r[2](each R = 1); Real s = sum(b.power); bonds bond b: v -> r; end M;")
    assert equations(g) == ["s = +(b[1].power, b[2].power)"]


def test_arrays_in_equations() -> None:
    g = graph("""
        model M
          C c[2](each C = 1); J1 j[2]; Real x[2] = c.q, y[2], z;
        bonds j -> c;
        equation
          for i in 1:2 loop y[i] = j[i].f*i; end for;
          z = c.e*x;
        end M;""")
    assert equations(g) == [
        "x[1] = c[1].q",
        "x[2] = c[2].q",
        "y[1] = *(1, j[1].f)",
        "y[2] = *(2, j[2].f)" if "y[2] = *(2, j[2].f)" in equations(g) else "y[2] = *(j[2].f, 2)",
        "z = +(*(c[1].e, x[1]), *(c[2].e, x[2]))",
    ]


# --- macros ----------------------------------------------------------------------------------------------------------


def test_the_chain_of_the_language_page() -> None:
    g = graph(
        COUPLING
        + """
        model Chain
          parameter Integer n = 4;
          J1 v[n];
          I m[n](each I = 1.0);
          Real x = s[1].spring.q;
        bonds
          for i in 1:n loop v[i] -> m[i]; end for;
          for i in 1:n-1 loop Coupling s[i](v[i], v[i+1], k = 100, c = 0.1); end for;
        end Chain;"""
    )
    assert names(g)[8:13] == ["s[1].force", "s[1].dv", "s[1].spring", "s[1].damper", "s[2].force"]
    assert "v[2] -> s[2].force" in bonds(g) and "s[1].force -> v[2]" in bonds(g)
    assert value(g, "s[1].spring.C") == "0.01" and value(g, "s[3].damper.R") == "0.1"
    assert equations(g) == ["x = s[1].spring.q"]


def test_macros_without_the_optional_part_and_by_name() -> None:
    g = graph(COUPLING + "model M parameter Real kk = 2; J1 x, y; Coupling s(b = y, a = x, k = kk); end M;")
    assert names(g) == ["x", "y", "s.force", "s.dv", "s.spring"]
    assert value(g, "s.spring.C") == "/(1, kk)" and bonds(g)[:2] == ["x -> s.force", "s.force -> y"]


def test_arguments_are_never_captured() -> None:
    g = graph("""
        macro Damper(node a, Real k) R r(e = k*f); bonds a -> r; end Damper;
        model M parameter Real f = 3, e = 4; J1 v; Damper d(v, f + e); end M;""")
    assert law(g, "d.r") == "e = *(+(f, e), d.r.f)"


def test_values_of_macros_may_vary_in_time() -> None:
    g = graph(
        "macro D(node a, Real k) R r(R = k); bonds a -> r; end D; model M J1 v; C c(C = 1); D d(v, c.q^2); bonds v -> c; end M;"
    )
    assert law(g, "d.r") == "e = *(^(c.q, 2), d.r.f)"


def test_nodes_may_be_elements_ports_and_inner_nodes() -> None:
    g = graph(
        COUPLING
        + """
        macro Tap(node a, node x) J1 j; bonds a -> j -> x; end Tap;
        model Sub port Any p; J0 u; R r(R = 1); Tap t(p, r); bonds t.j -> u; end Sub;
        model M
          J0 j; C c(C = 1); TF tf(m = 2); Sub sub; J1 k;
          Tap t(j, c), t2(j, tf); Coupling s(t.j, k, k = 1);
        bonds
          j -> sub; tf -> k;
        end M;"""
    )
    assert {"j -> t.j", "t.j -> c", "t2.j -> tf.p1", "j -> sub.t.j", "sub.t.j -> sub.r", "t.j -> s.force"} <= set(
        bonds(g)
    )


def test_bonds_may_go_to_inner_nodes_of_a_use() -> None:
    g = graph(COUPLING + "model M J1 x, y; Coupling s(x, y, k = 1); R extra(R = 2); bonds s.dv -> extra; end M;")
    assert "s.dv -> extra" in bonds(g)


def test_arrays_of_uses() -> None:
    g = graph(COUPLING + "model M J1 v[3]; Coupling s[2](v[1:2], v[2:3], k = {5, 6}, each c = 0); end M;")
    assert [value(g, f"s[{i}].spring.C") for i in (1, 2)] == ["0.2", "0.166667"]
    assert "v[2] -> s[2].force" in bonds(g) and "s[2].force -> v[3]" in bonds(g)


def test_macros_of_macros_and_loops_in_macros() -> None:
    g = graph(
        COUPLING
        + """
        macro Many(node a[:], Integer n, Real k) for i in 1:n-1 loop Coupling s[i](a[i], a[i+1], k = k*i); end for; end Many;
        model M J1 v[3]; Many c(v, 3, 2); end M;"""
    )
    assert value(g, "c.s[2].spring.C") == "0.25" and "v[2] -> c.s[2].force" in bonds(g)


def test_a_macro_sees_the_model_in_which_it_is_defined() -> None:
    g = graph("model M parameter Real k = 2; J1 v; macro D(node a) R r(R = k); bonds a -> r; end D; D d(v); end M;")
    assert value(g, "d.r.R") == "k"


@pytest.mark.parametrize(
    ("use", "code"),
    [
        ("Coupling s(x, y)", "types/argument"),
        ("Coupling s(x, k = 1)", "types/argument"),
        ("Coupling s(x, y, k = 1, d = 2)", "names/unknown"),
        ("Coupling s(x, y, 1, 2, 3)", "types/argument"),
        ("Coupling s(x, z, k = 1)", "names/unknown"),
        ("Coupling s(x, 2*y, k = 1)", "types/argument"),
        ("Coupling s(x, y, k = true)", "types/mismatch"),
        ("Coupling s(x, y, k = 1, c = v.f)", "expressions/not-constant"),
    ],
)
def test_wrong_uses(use: str, code: str) -> None:
    text = COUPLING + f"model M J1 x, y, v; {use}; end M;"
    found = set(problems(text))
    assert code in found, messages(text)


def test_recursion_of_macros() -> None:
    assert problems("macro A(node a) A b(a); end A; model M J1 j; A x(j); end M;") == ["classes/recursion"]


def test_fields_sized_by_parameters() -> None:
    g = graph("""
        element Springs
          parameter Integer n = 2; parameter Real k[n] = fill(3, n); port Any p[n];
        equation
          for i in 1:n loop p[i].e = k[i]*p[i].q; end for;
        end Springs;
        model M J1 j[3]; Springs s(n = 3); bonds j -> s.p; end M;""")
    assert len(element(g, "s").ports) == 3 and show(element(g, "s").laws[2].value) == "*(s.k[3], s.p[3].q)"
