# ruff: noqa: E501  small models read better on one line
"""Models in models: ports, domains, signals, blocks."""

import pytest
from elaborating import bonds, element, equations, graph, law, messages, names, problems, show, starts, value

MOTOR = """
package Drives
  model DCMotor
    port Electrical pin;
    port Rotational shaft;
    parameter Real R(unit="ohm") = 1, L(unit="H") = 1e-3, K(unit="V.s/rad") = 0.05, J(unit="kg.m2") = 1e-4;
    J1 i;  J1 w;
    Electrical.Resistor r(R = R);
    Electrical.Inductor l(L = L);
    GY emf(r = K);
    Rotational.Inertia rotor(J = J);
  bonds
    pin -> i -> emf -> w -> shaft;
    i -> r, l;
    w -> rotor;
  end DCMotor;
end Drives;
block PI
  input Real u;  output Real y;
  parameter Real Kp = 1, Ti = 1;
  Real x(start = 0);
equation
  der(x) = u/Ti;
  y = Kp*(u + x);
end PI;
"""


def test_the_speed_loop_of_the_language_page() -> None:
    text = (
        MOTOR
        + """
        model SpeedLoop
          Drives.DCMotor motor;
          Se supply(e = ctrl.y);
          PI ctrl(u = 100 - motor.w.f);
        bonds
          supply -> motor.pin;
        end SpeedLoop;"""
    )
    assert problems(text) == ["ports/open"]
    g = graph(text)
    assert names(g) == ["motor.i", "motor.w", "motor.r", "motor.l", "motor.emf", "motor.rotor", "supply"]
    assert sorted(bonds(g)) == [
        "motor.emf.p2 -> motor.w",
        "motor.i -> motor.emf.p1",
        "motor.i -> motor.l",
        "motor.i -> motor.r",
        "motor.w -> motor.rotor",
        "supply -> motor.i",
    ]
    assert equations(g)[0] == "ctrl.u = -(100, motor.w.f)"
    assert "der(ctrl.x) = /(ctrl.u, ctrl.Ti)" in equations(g)
    assert value(g, "motor.l.I") == "motor.l.L" and value(g, "motor.l.L") == "motor.L"
    assert element(g, "motor.l").type_name == "Electrical.Inductor"
    assert g.frames == (("motor", "Drives.DCMotor"), ("ctrl", "PI"))


def test_outer_and_inner_bond_are_one_with_all_names() -> None:
    g = graph("""
        model Inner port Any p; C c(C = 1); J1 j; bonds p -> j -> c; end Inner;
        model Middle port Any p; Inner inner; bonds bond inside: p -> inner.p; end Middle;
        model M Se s(e = 1); Middle m; Real x = m.p.f + m.inner.p.e; bonds bond out: s -> m; end M;""")
    assert g.bonds[0].names == ("out", "m.p", "m.inside", "m.inner.p")
    assert bonds(g) == ["s -> m.inner.j", "m.inner.j -> m.inner.c"]


def test_the_neighbour_that_decides_a_sign_is_found_through_ports() -> None:
    g = graph("""
        model Load port Any p; R r(R = 1); bonds r -> p; end Load;
        model M J1 v; J0 u; Load a, b; bonds a -> v; b -> u; end M;""")
    assert bonds(g) == ["a.r[-e] -> v", "b.r[-f] -> u"]


def test_a_port_may_be_passed_through() -> None:
    g = graph("""
        model Wire port Any a; port Any b; bonds a -> b; end Wire;
        model M Se s(e = 1); Wire w; R r(R = 1); bonds s -> w.a; w.b -> r; end M;""")
    assert bonds(g) == ["s -> r"] and g.bonds[0].names == ("w.a", "w.b")


@pytest.mark.parametrize(
    ("inner", "outer", "codes"),
    [
        ("p -> j -> c", "s -> m.p; s2 -> m.p", ["bonds/port-taken"]),
        ("p -> j -> c; p -> j", "s -> m.p", ["bonds/port-taken"]),
        ("p -> j -> c", "m.p -> s", ["ports/direction"]),
        ("j -> c", "s -> m.p", ["ports/inside"]),
        ("p -> j -> c", "s -> m.j", ["bonds/inner"]),
        ("p -> j -> c", "s -> s2", ["ports/open"]),
        ("p ->| j; j -> c", "s |-> m.p", ["bonds/stroke"]),
    ],
)
def test_wrong_ports(inner: str, outer: str, codes: list[str]) -> None:
    text = f"""
        model Inner port Any p; J1 j; C c(C = 1); bonds {inner}; end Inner;
        model M Se s(e = 1), s2(e = 1); Inner m; bonds {outer}; end M;"""
    assert problems(text) == codes


def test_open_ports_say_what_they_mean_and_read_like_their_junction() -> None:
    one = "model A port Any p{}; J1 j; C c(C = 1); bonds p -> j -> c; end A; model M A a; Real x = a.p.f + a.p.e + a.p.q; end M;"
    assert "no effort" in messages(one.format(""))
    assert problems(one.format("(optional = true)")) == []
    g = graph(one.format("(optional = true)"))
    assert "x = +(a.j.f, a.j.q)" in equations(g) and bonds(g) == ["a.j -> a.c"]
    assert "no flow" in messages("model A port Any p; J0 j; C c(C = 1); bonds p -> j -> c; end A; model M A a; end M;")


def test_locked_causality_is_a_stroke() -> None:
    text = 'model A port Any p(causality = "{}"); J1 j; I i(I = 1); bonds {}; j -> i; end A; model M A a; Se s(e = 1); bonds {}; end M;'
    assert graph(text.format("effort_in", "p -> j", "s -> a")).bonds[0].stroke == "head"
    assert graph(text.format("effort_out", "p -> j", "s -> a")).bonds[0].stroke == "tail"
    assert graph(text.format("effort_in", "j -> p", "a -> s")).bonds[0].stroke == "tail"
    assert problems(text.format("sideways", "p -> j", "s -> a")) == ["types/choice"]


def test_domains_spread_through_junctions() -> None:
    g = graph("""
        model M
          Electrical.Resistor r; J1 i; J0 u; Se s(e = 1); C c(C = 1); GY g(r = 1); J1 w; R d(R = 1);
        bonds s -> i -> u -> c; i -> r; u -> g -> w -> d;
        end M;""")
    assert [b.domain for b in g.bonds] == ["Electrical"] * 5 + [None, None]


def test_domains_must_agree() -> None:
    text = "model M Electrical.Resistor r; Rotational.Inertia j; J1 i; bonds i -> r, j; end M;"
    assert problems(text) == ["domains/mismatch"]


def test_own_domains() -> None:
    g = graph("""
        domain Acoustic(effort = "Pa", flow = "m3/s", effort_name = "pressure")
          element Hole extends R(R = r); parameter Real r = 1; end Hole;
        end Acoustic;
        model M Acoustic.Hole h; J1 j; bonds j -> h; end M;""")
    assert g.domains[0].effort_name == "pressure" and g.bonds[0].domain == "Acoustic"


def test_model_ports_take_starts() -> None:
    g = graph("""
        model A port Any p; J1 j; I i(I = 1); bonds p -> j -> i; end A;
        model M A a(p.q(start = 3)); Se s(e = 1); bonds s -> a; end M;""")
    assert starts(g) == {"a.p.q": "3"} and equations(g) == ["der(a.p.q) = a.p.f"]


def test_starts_of_open_ports_belong_to_the_junction() -> None:
    g = graph("""
        model A port Any p(optional = true); J1 j; I i(I = 1); bonds p -> j -> i; end A;
        model M A a(p.q(start = 3)); end M;""")
    assert starts(g) == {"a.j.q": "3"}


def test_inputs_of_the_main_model_stay_at_their_start() -> None:
    g = graph("model M input Real u(start = 2); Se s(e = u); J1 j; bonds s -> j; end M;")
    assert equations(g) == ["u = 2"]


def test_elements_with_signals() -> None:
    g = graph("""
        model M
          Electrical.Semiconductors.Switch s(closed = time > 1); J1 j; Se e(e = 1);
        bonds e -> j -> s;
        end M;""")
    assert equations(g) == ["s.closed = >(t(), 1)"]
    assert "if(s.closed" in law(g, "s")


def test_element_parameters_may_vary_but_those_of_models_not() -> None:
    g = graph("model M Electrical.Inductor l(L = 1 + time); J1 j; bonds j -> l; end M;")
    assert law(g, "l") == "f = /(l.p, +(t(), 1))" or law(g, "l") == "f = /(l.p, +(1, t()))"
    text = "model A parameter Real k = 1; Real y = k; end A; model M A a(k = time); end M;"
    assert problems(text) == ["parameters/variability"]


def test_all_library_classes_have_bodies_that_make_sense() -> None:
    g = graph("model M Planar.PointMass m; J1 x, y; bonds x -> m.x; y -> m.y; end M;")
    assert [p.kind for p in element(g, "m").ports] == ["I", "I"]
    assert show(element(g, "m").laws[0].value) == "/(m.x.p, m.m)"


def test_named_bonds_at_open_ports_read_like_their_junction() -> None:
    g = graph("""
        model M
          Sensors.Flow s; Se src(e = 1); R r(R = 1);
        bonds src -> s.a;
        end M;""")
    assert "s.power = s.through.power" in equations(g)
    g = graph(
        "model A port Any p(optional = true); J1 j; I i(I = 1); Real x = b.f + b.e; bonds bond b: p -> j; j -> i; end A; model M A a; end M;"
    )
    assert equations(g) == ["a.x = a.j.f"]


def test_energy_is_a_name_like_any_other_in_models() -> None:
    g = graph("model M J1 v; I m(I = 1); Real energy; bonds v -> m; equation energy = m.p^2/2; end M;")
    assert equations(g) == ["energy = /(^(m.p, 2), 2)"]


def test_inputs_are_listed() -> None:
    assert graph("model M input Real u; Se s(e = u); J1 j; bonds s -> j; end M;").inputs == ("u",)


def test_a_port_cannot_be_joined_with_itself() -> None:
    assert "bonds/self" in problems("model A port Any p; bonds p -> p; end A; model M A a; end M;", model="M")


def test_single_members_of_absent_arrays_vanish_with_their_bonds() -> None:
    g = graph(
        "model M parameter Boolean on = false; J1 v; I m(I = 1); C c[2](each C = 1) if on; bonds v -> m; v -> c[1]; end M;"
    )
    assert bonds(g) == ["v -> m"]
