# ruff: noqa: E501  small models read better on one line
"""The class system: inheritance, modifications, redeclaration, conditions, types, lookup."""

import pytest
from elaborating import bonds, element, equations, graph, law, messages, names, parameter, problems, show, starts, value


def test_inherited_parts_stand_at_their_extends() -> None:
    g = graph("""
        partial model Base J1 a; C c(C = 1); bonds a -> c; end Base;
        model M R r(R = 1); extends Base; I i(I = 1); bonds a -> r, i; end M;""")
    assert names(g) == ["r", "a", "c", "i"]
    assert bonds(g) == ["a -> c", "a -> r", "a -> i"]


def test_modifications_at_any_depth_and_the_outer_one_wins() -> None:
    g = graph("""
        model A parameter Real k = 1; R r(R = k); J1 j; bonds j -> r; end A;
        model B A a(k = 2); A b(r(R = 7)); end B;
        model M B x(a(k = 3)), y(a.k = 4, b.r.R = 8), z; end M;""")
    assert [value(g, n) for n in ("x.a.k", "y.a.k", "z.a.k")] == ["3", "4", "2"]
    assert [value(g, n) for n in ("x.b.r.R", "y.b.r.R")] == ["7", "8"]


def test_modifications_are_read_where_they_are_written() -> None:
    g = graph("""
        model A parameter Real k = 1; R r(R = k); J1 j; bonds j -> r; end A;
        model M parameter Real k = 5; A a(k = 2*k); end M;""")
    assert value(g, "a.k") == "*(2, k)" and value(g, "a.r.R") == "a.k"


def test_extends_with_modifications() -> None:
    g = graph("""
        model A parameter Real k = 1; R r(R = k); J1 j; bonds j -> r; end A;
        model B extends A(k = n, r.R = 3*k); parameter Real n = 9; end B;
        model M B b; B c(k = 4); end M;""")
    assert value(g, "b.k") == "b.n" and value(g, "b.r.R") == "*(3, b.k)" and value(g, "c.k") == "4"


def test_a_derived_law_replaces_the_inherited_one() -> None:
    g = graph("""
        element A extends R(R = k); parameter Real k = 1; end A;
        element B extends A(f = e/k^2); end B;
        element D extends A; equation e = k*f^3; end D;
        model M A a(e = 5*f); B b; B c(R = 2); D d; J1 j; bonds j -> a, b, c, d; end M;""")
    assert law(g, "a") == "e = *(5, a.f)" and law(g, "b") == "f = /(b.e, ^(b.k, 2))"
    assert law(g, "c") == "e = *(c.R, c.f)" and law(g, "d") == "e = *(d.k, ^(d.f, 3))"


def test_a_derived_energy_replaces_the_bases() -> None:
    g = graph("""
        element A port Any p; parameter Real k = 1; energy = k*p.q; end A;
        element B extends A; energy = k*p.q*3; end B;
        model M J1 j; B b; bonds j -> b; end M;""")
    assert show(element(g, "b").energy) == "*(b.k, b.p.q, 3)" or "3" in show(element(g, "b").energy)


def test_final_cannot_be_changed() -> None:
    base = "model A final parameter Real k = 1; R r(R = k); J1 j; bonds j -> r; end A; "
    assert problems(base + "model M A a(k = 2); end M;") == ["parameters/final"]
    base = "model A parameter Real k = 1; R r(R = k); J1 j; bonds j -> r; end A; model B A a(final k = 3); end B; "
    assert problems(base + "model M B b(a.k = 2); end M;") == ["parameters/final"]
    assert parameter(graph(base + "model M B b; end M;"), "b.a.k").final


def test_redeclare_components_and_classes() -> None:
    g = graph("""
        partial model Load port Any p; end Load;
        model Damper extends Load; parameter Real d = 1; R r(R = d); bonds p -> r; end Damper;
        model Mass extends Load; I i(I = 2); bonds p -> i; end Mass;
        model Rig replaceable Damper load(d = 3) constrainedby Load; Se s(e = 1); bonds s -> load; end Rig;
        model Two replaceable model L = Damper constrainedby Load; L a, b; Se s(e = 1), t(e = 1); bonds s -> a; t -> b; end Two;
        model M
          Rig x, y(redeclare Mass load);
          Two u, v(redeclare model L = Mass), w(redeclare model L = Damper(d = 5));
        end M;""")
    assert element(g, "x.load.r").kind == "R" and value(g, "x.load.d") == "3"
    assert element(g, "y.load.i").kind == "I"
    assert element(g, "u.a.r").kind == "R" and element(g, "v.a.i").kind == "I" and element(g, "v.b.i").kind == "I"
    assert value(g, "w.a.d") == "5" and value(g, "u.a.d") == "1"


def test_redeclare_in_a_derived_class() -> None:
    g = graph("""
        element A extends R(R = 1); end A;
        element B extends R(R = 2); end B;
        model Base replaceable A x; replaceable model Inner R r(R = 1); J1 j; bonds j -> r; end Inner; Inner n; J1 j; bonds j -> x; end Base;
        model Other R r(R = 7); J1 j; C c(C = 1); bonds j -> r, c; end Other;
        model M extends Base(redeclare B x); redeclare model Inner = Other; end M;""")
    assert element(g, "x").type_name == "B" and "n.c" in names(g)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("model A J1 j; end A; model M extends A; J1 j; end M;", "names/duplicate"),
        ("model A extends B; end A; model B extends A; end B; model M A a; end M;", "classes/cyclic-inheritance"),
        ("model M M m; end M;", "classes/recursion"),
        ("model A B b; end A; model B A a; end B; model M A a; end M;", "classes/recursion"),
        ("partial model A end A; model M A a; end M;", "classes/partial"),
        ("model A end A; model M A a(k = 1); end M;", "names/unknown"),
        ("model A end A; model M extends A(k = 1); end M;", "names/unknown"),
        ("model A protected parameter Real k = 1; end A; model M A a(k = 2); end M;", "classes/protected"),
        (
            "model A R r(R = 1); J1 j; bonds j -> r; end A; element B extends I(I = 1); end B; model M A a(redeclare B r); end M;",
            "classes/not-replaceable",
        ),
        (
            "model A parameter Real k = 1; end A; model B end B; model C replaceable A a; end C; model M C c(redeclare B a); end M;",
            "classes/constraint",
        ),
        ("model M parameter Real a = b, b = a; end M;", "parameters/cyclic"),
        ("model M parameter Real a = a; end M;", "parameters/cyclic"),
        ("model M parameter Integer n = m; parameter Integer m = n; J1 j[n]; end M;", "parameters/cyclic"),
        ("model M parameter Integer n; J1 j[n]; end M;", "parameters/no-value"),
        ("model M parameter Real x = true; end M;", "types/mismatch"),
        ("model M parameter Integer x = 1.5; end M;", "types/mismatch"),
        ("model M parameter Real x[3] = {1, 2}; end M;", "arrays/shape"),
        ("model M Electrical e; end M;", "types/not-a-component"),
        ("model M Constants c; end M;", "types/not-a-component"),
        ("model M Electrical.Resistr r; end M;", "names/unknown"),
        ("model A extends R(R = 1); end A; model M A a; end M;", "classes/kind"),
        ("block A J1 j; end A; model M A a; end M;", "classes/section"),
        ("model M Real time; end M;", "names/reserved"),
        ("model M J1 v; R r(R = v); bonds v -> r; end M;", "types/not-a-value"),
    ],
)
def test_wrong_classes(text: str, code: str) -> None:
    assert code in problems(text, model="M")
    assert len(problems(text, model="M")) == 1, messages(text, model="M")


def test_conditional_components() -> None:
    text = """
        model M
          parameter Real c = 0; parameter Boolean on = c > 0;
          J1 v; I i(I = 1); R d(R = c) if on; {}
        bonds v -> i, d;
        end M;"""
    assert names(graph(text.format(""))) == ["v", "i"]
    g = graph(text.format(""), set={"c": 2})
    assert names(g) == ["v", "i", "d"] and parameter(g, "on").structural and parameter(g, "c").structural
    assert problems(text.format("Real x = d.e;")) == ["names/absent"]


def test_conditional_declarations_in_blocks() -> None:
    text = """
        model M
          parameter Integer kind = {};
          J1 v; I i(I = 1);
          if kind == 1 then R d(R = 1); elseif kind == 2 then C d(C = 1); end if;
        bonds
          v -> i;
          if kind > 0 then v -> d; end if;
        end M;"""
    assert [element(graph(text.format(k)), "d").kind for k in (1, 2)] == ["R", "C"]
    assert names(graph(text.format(0))) == ["v", "i"]


def test_types_with_attributes_and_enumerations() -> None:
    g = graph("""
        type Length = Real(unit = "m", min = 0);
        type Vector = Length[3];
        type Gear = enumeration(low "first", high);
        model M
          parameter Length a = 1, b(min = -1) = 2; parameter Vector v = {1, 2, 3};
          parameter Gear gear = Gear.high; parameter Boolean fast = gear == Gear.high; parameter String name = "x" + "y";
          Real x(start = 2, unit = "m"); Length y = 2*x; constant Integer n = 2*3; J1 j[n];
        equation der(x) = 1;
        end M;""")
    assert parameter(g, "a").unit == "m" and parameter(g, "a").minimum == 0 and parameter(g, "b").minimum == -1
    assert [value(g, f"v[{k}]") for k in (1, 2, 3)] == ["1", "2", "3"]
    assert value(g, "gear") == "2" and parameter(g, "gear").type == "enumeration"
    assert parameter(g, "name").text == "xy" and len(g.elements) == 6
    assert parameter(g, "n").constant and starts(g) == {"x": "2"}
    assert equations(g)[0] == "y = *(2, x)"


def test_imports_and_lookup() -> None:
    g = graph("""
        package P
          constant Real k = 2;
          package Q
            constant Real k = 3;
            element A extends R(R = k); end A;
          end Q;
          element B extends R(R = k); end B;
        end P;
        model M
          import P.Q; import E = P.B; import P.Q.*; import Constants.g; import Constants.{c, mu0};
          Q.A a; E b; A d; R r(R = g), s(R = c), t(R = P.Q.k), u(R = .P.k); J1 j;
        bonds j -> a, b, d, r, s, t, u;
        end M;""")
    assert [value(g, f"{n}.R") for n in "abdrtu"] == ["3", "2", "3", "9.80665", "3", "2"]


def test_encapsulated_sees_only_what_it_imports() -> None:
    text = """
        package P
          constant Real k = 2;
          encapsulated model E {} R r(R = k); J1 j; bonds j -> r; end E;
        end P;
        model M P.E e; end M;"""
    assert problems(text.format("")) == ["names/unknown"]
    assert problems(text.format("import P.k;")) == []


def test_nearer_names_hide_built_in_types() -> None:
    g = graph("element R extends C(C = 2); end R; model M R r; J1 j; bonds j -> r; end M;")
    assert element(g, "r").kind == "C"


def test_short_classes() -> None:
    g = graph("""
        model A parameter Real k = 1; R r(R = k); J1 j; bonds j -> r; end A;
        model B = A(k = 4);
        element D = Electrical.Resistor(R = 6);
        model M B b, c(k = 5); D d; J1 j; bonds j -> d; end M;""")
    assert [value(g, n) for n in ("b.k", "c.k", "d.R")] == ["4", "5", "6"]
    assert element(g, "d").ports[0].domain == "Electrical"


def test_an_element_class_may_declare_the_basic_parameter_itself() -> None:
    g = graph("""
        element Resistor extends R; parameter Real R(unit = "ohm") = 3; end Resistor;
        model M Resistor a, b(R = 4); J1 j; bonds j -> a, b; end M;""")
    assert parameter(g, "a.R").unit == "ohm" and value(g, "b.R") == "4" and law(g, "a") == "e = *(a.R, a.f)"


def test_experiments() -> None:
    g = graph("""
        model A J1 j; annotation(experiment(StopTime = 5, Tolerance = 1e-3)); end A;
        model M extends A; parameter Real T = 3; annotation(experiment(StopTime = 2*T, initial = "steady", method = "radau", Colour = 1)); end M;""")
    assert g.experiment.stop == 6 and g.experiment.tolerance == 1e-6 and g.experiment.steady
    assert g.experiment.settings == (("method", "radau"),)
    text = "model M J1 j; annotation(experiment(StopTme = 5)); end M;"
    assert problems(text) == ["experiment/unknown"] and "StopTime" in messages(text)


def test_descriptions_and_order_of_parameters() -> None:
    g = graph("model M parameter Real a = 2*b, b = 3*c, c = 1; end M;")
    assert [p.name for p in g.parameters] == ["c", "b", "a"]


def test_parameters_found_by_initial_equations() -> None:
    g = graph(
        "model M parameter Real a(fixed = false, start = 2); Real x(start = 1); initial equation x = 2*a; equation der(x) = -a*x; end M;"
    )
    assert not parameter(g, "a").fixed and value(g, "a") == "2"
    assert [show(q.right) for q in g.initial_equations] == ["*(2, a)"]


def test_names_in_quotes_keep_them_in_flat_names() -> None:
    g = graph("model M J1 'm/2'; I 'a.b'(I = 2); Real x = 'a.b'.p; bonds bond 'b 1': 'm/2' -> 'a.b'; end M;")
    assert names(g) == ["'m/2'", "'a.b'"] and value(g, "'a.b'.I") == "2"
    assert g.bonds[0].names == ("'b 1'",) and equations(g) == ["x = 'a.b'.p"]
    assert value(graph("model M I 'a.b'(I = 2); J1 j; bonds j -> 'a.b'; end M;", set={"'a.b'.I": 5}), "'a.b'.I") == "5"
