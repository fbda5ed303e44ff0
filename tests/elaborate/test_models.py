# ruff: noqa: E501  small models read better on one line
"""Models made of basic elements: parameters, laws, bonds and their signs."""

import pytest
from elaborating import (
    bonds,
    element,
    equations,
    graph,
    law,
    laws,
    messages,
    names,
    parameter,
    problems,
    show,
    starts,
    value,
)

import bglang


def test_the_oscillator_of_the_language_page() -> None:
    g = graph("""
        model Oscillator "Mass and spring with dry friction"
          parameter Real m(unit = "kg") = 1 "moving mass";
          parameter Real k(unit = "N/m") = 1;
          parameter Real Fc(unit = "N") = 1;
          J1 v "velocity of the mass";
          I mass(I = m);
          C spring(C = 1/k, q(start = 16.5));
          R friction(e = coulomb(f, Fc));
        bonds
          v -> mass, spring, friction;
        annotation(experiment(StopTime = 30, Tolerance = 1e-8));
        end Oscillator;""")
    assert names(g) == ["v", "mass", "spring", "friction"]
    assert bonds(g) == ["v -> mass", "v -> spring", "v -> friction"]
    assert law(g, "mass") == "f = /(mass.p, mass.I)"
    assert law(g, "spring") == "e = /(spring.q, spring.C)"
    assert law(g, "friction") == "e = coulomb(friction.f, Fc)"
    assert value(g, "mass.I") == "m" and value(g, "spring.C") == "/(1, k)"
    assert starts(g) == {"spring.q": "16.5"}
    assert parameter(g, "m").unit == "kg" and parameter(g, "m").description == "moving mass"
    assert (g.experiment.stop, g.experiment.tolerance) == (30, 1e-8)
    assert g.description == "Mass and spring with dry friction"
    assert element(g, "v").description == "velocity of the mass"


def test_types_and_components_have_separate_names() -> None:
    g = graph("model M parameter Real R = 3; R winding(R = R); J1 j; bonds j -> winding; end M;")
    assert value(g, "winding.R") == "R"


def test_own_variables_come_first_in_laws_only() -> None:
    g = graph("""
        model M
          parameter Real e = 2, q = 5;
          C c(C = e, q(start = q)); R r(R = q); J0 j;
        bonds j -> c, r;
        end M;""")
    assert value(g, "c.C") == "e" and value(g, "r.R") == "q" and starts(g) == {"c.q": "q"}


def test_hiding_a_name_of_the_model_is_a_warning() -> None:
    text = "model M parameter Real f = 50; R r(e = 2*f); J1 j; bonds j -> r; end M;"
    assert problems(text) == ["names/hidden"]
    assert law(graph(text), "r") == "e = *(2, r.f)"


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("R x(R = 10)", "e = *(x.R, x.f)"),
        ("R x(f = 2*exp(e/3))", "f = *(2, exp(/(x.e, 3)))"),
        ("R x(0 = e - 2*f)", "0 = -(x.e, *(2, x.f))"),
        ("R x(e = 2*f + 0.1*e)", "0 = -(x.e, +(*(2, x.f), *(0.1, x.e)))"),
        ("C x(e = 2*q + q^3)", "e = +(*(2, x.q), ^(x.q, 3))"),
        ("C x(q = 2*e)", "q = *(2, x.e)"),
        ("C x(C = 2)", "e = /(x.q, x.C)"),
        ("I x(p = 2*f)", "p = *(2, x.f)"),
        ("I x(f = p/3)", "f = /(x.p, 3)"),
        ("Se x(e = sin(time))", "e = sin(t())"),
        ("Sf x(f = 2)", "f = 2"),
        ("MR x(R = time + 1)", "e = *(+(t(), 1), x.f)"),
        ("C x(energy = 3*q^2/2)", "e = /(*(3, *(2, x.q)), 2)"),
    ],
)
def test_laws(declaration: str, expected: str) -> None:
    g = graph(f"model M {declaration}; J1 j; bonds j -> x; end M;")
    assert law(g, "x") == expected


def test_a_parameter_that_varies_modulates() -> None:
    g = graph("""
        model M
          J1 w; C c(C = 1); TF t(m = 2*cos(w.q)); GY g(r = c.q); R r(R = c.e^2); J1 a, b;
        bonds
          w -> c; w -> t -> a -> g -> b -> r;
        end M;""")
    assert show(element(g, "t").modulus) == "*(2, cos(w.q))"
    assert show(element(g, "g").modulus) == "c.q"
    assert law(g, "r") == "e = *(^(c.e, 2), r.f)"
    assert [p.name for p in g.parameters] == ["c.C"]
    assert equations(g) == ["der(w.q) = w.f"]
    assert [(v.name, v.kind) for v in g.variables] == [("w.q", "displacement")]


def test_a_value_may_ask_for_the_integral_of_a_junction_declared_before_it() -> None:
    g = graph(
        """block B input Real u; Real y = 2*u; end B;
        model M J0 a; J1 w; C c(C = 1); I i(I = 1); B b(u = a.p); Real x = w.q; bonds a -> w -> i; a -> c; end M;"""
    )
    assert {"der(w.q) = w.f", "der(a.p) = a.e", "b.u = a.p", "x = w.q"} <= set(equations(g))


def test_an_element_without_law_is_symbolic() -> None:
    g = graph("model M R r; C c; I i; TF t; GY y; J1 a, b, d; bonds a -> r, c, i; a -> t -> b -> y -> d; end M;")
    assert all(element(g, n).symbolic for n in ("r", "c", "i", "t", "y"))
    assert value(g, "r.R") == "-" and value(g, "t.m") == "-" and show(element(g, "y").modulus) == "y.r"


@pytest.mark.parametrize(
    ("declaration", "code"),
    [
        ("I x(I = 1, p = f)", "laws/two"),
        ("R x(R = 1, e = f)", "laws/two"),
        ("C x(e = q + f)", "laws/variable"),
        ("I x(f = p + e)", "laws/variable"),
        ("R x(e = q)", "names/unknown"),
        ("R x(r = 1)", "names/unknown"),
        ("R x(R = {1, 2})", "types/mismatch"),
        ("R x(R = true)", "types/mismatch"),
        ("C x(C = 1, q(begin = 2))", "names/unknown"),
        ("C x(C = 1, q(start = time))", "types/variability"),
        ('C x(C = 1, prefer = "nothing")', "types/choice"),
        ("Resistor x(R = 1)", "names/unknown"),
        ("R x(3)", "types/argument"),
        ("R x(R = 1, R = 2)", "names/duplicate"),
    ],
)
def test_wrong_elements(declaration: str, code: str) -> None:
    assert problems(f"model M {declaration}; J1 j; bonds j -> x; end M;") == [code]


def test_starts_on_what_is_no_state() -> None:
    text = "model M I m(I = 1, f(start = 2)); J1 j; bonds j -> m; end M;"
    assert problems(text) == ["starts/no-state"]
    g = graph("model M I m(I = 1, f(start = 2, fixed = true)); J1 j; bonds j -> m; end M;")
    assert [(show(q.left), show(q.right)) for q in g.initial_equations] == [("m.f", "2")]


def test_start_attributes() -> None:
    g = graph(
        'model M C c(C = 1, q(start = 3, fixed = true, nominal = 10), prefer = "independent"); J1 j; bonds j -> c; end M;'
    )
    port = element(g, "c").ports[0]
    assert port.start is not None and port.start.fixed is True and port.start.written
    assert port.nominal == 10 and element(g, "c").prefer


# --- arrows ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [
        ("v -> r", "v -> r"),
        ("r -> v", "r[-e] -> v"),
        ("r -> u", "r[-f] -> u"),
        ("r -> c", "r[-f] -> c"),
        ("s -> v", "s -> v"),
        ("v -> s", "v -> s"),
        ("v -> t", "v -> t.p1"),
        ("t -> v", "t.p2 -> v"),
        ("t.p1 -> v", "t.p1[-e] -> v"),
        ("t.p1 -> u", "t.p1[-f] -> u"),
        ("v -> t.p2", "v -> t.p2[-e]"),
        ("u -> t.p2", "u -> t.p2[-f]"),
        ("s -> r", "s -> r"),
        ("r -> t", "r[-f] -> t.p1"),
    ],
)
def test_signs(drawn: str, expected: str) -> None:
    g = graph(f"model M J1 v; J0 u; R r(R = 1); C c(C = 1); Se s(e = 1); TF t(m = 1); bonds {drawn}; end M;")
    assert bonds(g) == [expected]


def test_strokes_and_chains() -> None:
    g = graph("model M Se s(e = 1); J1 v; R r(R = 1); C c(C = 1); bonds s ->| v; v |-> r, c; end M;")
    assert [b.stroke for b in g.bonds] == ["head", "tail", "tail"]
    g = graph("model M Se s(e = 1); J1 a, b; R r(R = 1); bonds s -> a -> b -> r; end M;")
    assert bonds(g) == ["s -> a", "a -> b", "b -> r"]


def test_named_bonds() -> None:
    g = graph("""
        model M
          J1 v; R r(R = 1); Se s(e = b.f + b.e + b.power + b.q + b.energy);
        bonds bond b: v -> r; s -> v;
        end M;""")
    assert g.bonds[0].names == ("b",)
    assert sorted(equations(g)) == ["der(b.energy) = b.power", "der(b.q) = b.f"]


@pytest.mark.parametrize(
    ("drawn", "code"),
    [
        ("v -> r; v -> r", "bonds/port-taken"),
        ("v -> t; v2 -> t", "bonds/port-taken"),
        ("v -> v", "bonds/self"),
        ("v -> x", "names/unknown"),
        ("v -> k", "bonds/not-a-node"),
        ("bond b: v -> v2 -> r", "bonds/named"),
        ("bond r: v -> v2", "names/duplicate"),
        ("bond b: v -> r; bond b: v -> v2", "names/duplicate"),
        ("v -> vs.f", "bonds/not-a-node"),
    ],
)
def test_wrong_bonds(drawn: str, code: str) -> None:
    text = f"model M parameter Real k = 1; J1 v, v2; R r(R = 1); TF t(m = 1); J1 vs; bonds {drawn}; end M;"
    assert problems(text) == [code]


def test_reading_what_a_junction_does_not_have() -> None:
    text = "model M J1 v; Se s(e = v.e); bonds s -> v; end M;"
    assert problems(text) == ["names/unknown"]
    assert "1-junction" in messages(text)
    assert "p1" in messages("model M TF t(m = 1); J1 v; Se s(e = t.e); bonds s -> v -> t; end M;")


def test_several_mistakes_are_reported_at_once_and_each_once() -> None:
    text = """
        model M
          Resistr r(R = 1); J1 v; C c(C = kk); Real x = r.e + 1;
        bonds
          v -> r, c, d;
        end M;"""
    assert sorted(problems(text)) == ["names/unknown"] * 3


def test_did_you_mean() -> None:
    assert "did you mean `spring`" in messages(
        "model M C spring(C = 1); J1 v; Se s(e = sprng.e); bonds s -> v -> spring; end M;"
    )
    assert "did you mean `stiffness`" in messages(
        "model M parameter Real stiffness = 1; C c(C = stifness); J1 v; bonds v -> c; end M;"
    )


def test_fields_from_matrices() -> None:
    g = graph("""
        element Beam
          port Translational dof[2];
          parameter Real K[2,2] = [2, -1; -1, 2];
        equation
          dof.e = K*dof.q;
        end Beam;
        model M J1 a, b; Beam beam(dof[2].q(start = 0.1)); bonds a -> beam.dof[1]; b -> beam.dof[2]; end M;""")
    beam = element(g, "beam")
    assert beam.kind == "field" and [(p.name, p.kind, p.domain) for p in beam.ports] == [
        ("dof[1]", "C", "Translational"),
        ("dof[2]", "C", "Translational"),
    ]
    assert laws(g, "beam")[0] == "dof[1].e = +(*(beam.K[1,1], beam.dof[1].q), *(beam.K[1,2], beam.dof[2].q))"
    assert starts(g) == {"beam.dof[2].q": "0.1"}
    assert bonds(g) == ["a -> beam.dof[1]", "b -> beam.dof[2]"]
    assert [d.name for d in g.domains] == ["Translational"]


def test_energy_gives_the_laws() -> None:
    g = graph("""
        element AirGap
          port Magnetic mag; port Translational mech;
          parameter Real g0 = 1, area = 2;
          energy = (g0 - mech.q)/(Constants.mu0*area) * mag.q^2/2;
        end AirGap;
        model M J1 a, b; AirGap gap(mag.q(start = 0.5), mech(q(start = 0.1))); bonds a -> gap.mag; b -> gap.mech; end M;""")
    gap = element(g, "gap")
    assert [p.kind for p in gap.ports] == ["C", "C"] and gap.energy is not None
    assert [(w.gives, w.port) for w in gap.laws] == [("e", 0), ("e", 1)]
    assert starts(g) == {"gap.mag.q": "0.5", "gap.mech.q": "0.1"}


def test_kinds_of_field_ports() -> None:
    g = graph("""
        element F
          port Any c; port Any i; port Any r; port Any rq;
        equation
          c.e = 2*c.q; i.f = i.p/3 + c.q; r.e = 2*r.f; rq.e = rq.q + rq.f;
        end F;
        model M J1 a, b, d, e; F x(rq.q(start = 4)); bonds a -> x.c; b -> x.i; d -> x.r; e -> x.rq; end M;""")
    assert [p.kind for p in element(g, "x").ports] == ["C", "I", "R", "R"]
    assert equations(g) == ["der(x.rq.q) = x.rq.f"]
    assert starts(g) == {"x.rq.q": "4"}


def test_an_element_with_one_port_is_bonded_by_its_own_name() -> None:
    g = graph("""
        element Spring port Any p; parameter Real k = 1; equation p.e = k*p.q; end Spring;
        model M J1 v; Spring s(k = 3, q(start = 2)); Se src(e = s.e + s.q); bonds src -> v -> s; end M;""")
    assert bonds(g)[1] == "v -> s.p" and law(g, "src") == "e = +(s.p.e, s.p.q)" and starts(g) == {"s.p.q": "2"}


def test_locals_of_elements() -> None:
    g = graph("""
        element Filter
          port Any p; Real x(start = 1); Real y = 2*x;
        equation
          der(x) = p.f - x; p.e = x + y;
        end Filter;
        model M J1 v; Filter s; bonds v -> s; end M;""")
    assert laws(g, "s") == ["p.e = +(s.x, *(2, s.x))"]
    assert sorted(equations(g)) == ["der(s.x) = -(s.p.f, s.x)", "s.y = *(2, s.x)"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("port Any a; port Any b; equation a.e = b.f;", "laws/count"),
        ("port Any a; equation a.e = a.f; a.f = 2;", "laws/count"),
        ("equation 1 = 2;", "laws/count"),
        ("port Any a; R r(R = 1); equation a.e = a.f;", "classes/section"),
        ("port Real a; equation a.e = a.f;", "types/not-a-domain"),
        ("port Any a; bonds a -> a;", "classes/section"),
    ],
)
def test_wrong_elements_classes(body: str, code: str) -> None:
    assert code in problems(f"element X {body} end X; model M X x; end M;")


def test_locals_of_an_element_see_its_own_variables() -> None:
    """An element that extends a basic one inherits its `e` and `f`: in its locals as well as in its law."""
    result = bglang.loads(
        """
        element Hot
          extends R(e = R0*(1 + rise/300)*f);
          parameter Real R0(unit = "ohm") = 2, Rth(unit = "K/W") = 3;
          Real rise(unit = "K") = Rth*R0*f^2;
          Real loss(unit = "W") = e*f;
        end Hot;
        model M
          Electrical.Sources.ConstantCurrent s(I0 = 5); J0 n; Hot r;
        bonds
          s -> n -> r;
        end M;
        """
    ).simulate(points=2)
    assert result["r.rise"][-1] == pytest.approx(3 * 2 * 25)
    assert result["r.loss"][-1] == pytest.approx(2 * (1 + 150 / 300) * 25)
