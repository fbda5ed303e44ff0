"""Sections 2 and 3 of the language: laws in every direction, functions, tables, units, multiport fields."""

from pathlib import Path

import numpy as np
import pytest
from language_runs import close, codes, integrate, simulate
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.linalg import expm
from scipy.optimize import brentq

import bglang

ONE = "J1 v; I m(I = 1, p(start = 1));"
"""A mass that something brakes."""


@pytest.mark.parametrize("law", ["e = 2*f^3", "0 = e - 2*f^3", "0 = 2*f^3 - e", "0 = e/2 - f*f^2"])
def test_a_resistance_in_every_direction(law: str) -> None:
    r = simulate(f"model M {ONE} R r({law}); bonds v -> m, r; end M;")
    close(r["v.f"], 1 / np.sqrt(1 + 4 * r.time), 1e-5)


@pytest.mark.parametrize("law", ["p = 2*f + f^3", "0 = p - 2*f - f^3", "0 = (2*f + f^3) - p"])
def test_an_inertia_in_every_direction(law: str) -> None:
    r = simulate(f"model M J1 i; I l({law}); R r(R = 1); Se s(e = 1); bonds s -> i -> l, r; end M;")

    def flow(p: float) -> float:
        return brentq(lambda f: 2 * f + f**3 - p, -5, 5, xtol=1e-14)

    (p,) = integrate(lambda t, y: [1 - flow(y[0])], [0.0], r.time)
    close(r["l.p"], p)
    close(r["i.f"], [flow(x) for x in p])


@pytest.mark.parametrize("law", ["e = 2*q + q^3", "q = 2*e + e^3"])
def test_a_compliance_in_both_directions(law: str) -> None:
    r = simulate(f"model M J1 i; C c({law}); R r(R = 1); Se s(e = 1); bonds s -> i -> c, r; end M;")

    def effort(q: float) -> float:
        return 2 * q + q**3 if law.startswith("e") else brentq(lambda e: 2 * e + e**3 - q, -5, 5, xtol=1e-14)

    (q,) = integrate(lambda t, y: [1 - effort(y[0])], [0.0], r.time)
    close(r["c.q"], q)


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("Base r", 3.0),
        ("Base r(a = 2)", 2.0),
        ("Base r(R = 5)", 5.0),
        ("Base r(e = 7*f)", 7.0),
        ("Derived r", 4.0),
        ("Derived r(R = 1.5)", 1.5),
        ("Further r", 0.5),
    ],
)
def test_a_law_from_outside_or_derived_replaces_the_inherited_one(declaration: str, expected: float) -> None:
    r = simulate(
        f"""element Base extends R(R = a); parameter Real a = 3; end Base;
        element Derived extends Base(e = 4*f); end Derived;
        element Further extends Derived; equation f = 2*e; end Further;
        model M {ONE} {declaration}; bonds v -> m, r; end M;"""
    )
    close(r["v.f"], np.exp(-expected * r.time))


@pytest.mark.parametrize(
    ("element", "code"),
    [
        ("I x(I = 1, p = 2*f)", "laws/two"),
        ("R x(e = f, f = e)", "laws/two"),
        ("C x(e = q + f)", "laws/variable"),
        ("I x(p = f + e)", "laws/variable"),
        ("R x", "laws/missing"),
        ("TF x(e = 3)", "names/unknown"),
        ("C x(R = 3)", "names/unknown"),
        ("R x(R = true)", "types/mismatch"),
        ("R x(R = {1, 2})", "types/mismatch"),
    ],
)
def test_laws_that_are_wrong(element: str, code: str) -> None:
    found = codes(f"model M {ONE} Se s(e = 1); R d(R = 1); {element}; bonds s -> v -> m, x, d; end M;")
    assert found[:1] == [code] and len(found) == 1


def test_hiding_a_name_of_the_model_warns() -> None:
    text = f"model M parameter Real f = 50; {ONE} R r(e = 3*f); R x(R = f); bonds v -> m, r, x; end M;"
    assert codes(text) == ["names/hidden"]
    close(simulate(text)["r.e"], 3 * simulate(text)["v.f"])


def test_modifiers_see_the_enclosing_scope_only() -> None:
    r = simulate(
        """model M parameter Real R = 2, C = 0.5, q = 3, e = 4; J1 i; R r(R = R*e); C c(C = C, q(start = q));
        bonds i -> r, c; end M;"""
    )
    close(r["c.q"], 3 * np.exp(-r.time / 4))


def test_modulated_by_another_displacement() -> None:
    r = simulate(
        """model M parameter Real c = 1, gap = 2; J1 w; J1 u; I m(I = 1, p(start = 1)); I x(I = 1, p(start = 0.5));
          R hold(R = 1); R film(e = c/(gap - w.q)^3*f);
        bonds w -> x, hold; u -> m, film; end M;"""
    )
    (q, p) = integrate(
        lambda t, y: [0.5 * np.exp(-t), -y[1] / (2 - y[0]) ** 3],
        [0.0, 1.0],
        r.time,
    )
    close(r["m.p"], p)
    close(r["w.q"], q)


FUNCTIONS = {
    "linear(x, 1, 2)": lambda x: 1 + 2 * x,
    "linear(x, c1 = 3)": lambda x: 3 * x,
    "const(x, 4)": lambda x: 4.0,
    "poly(x, {1, 2, 3})": lambda x: 1 + 2 * x + 3 * x * x,
    "abs2(-x, 3)": lambda x: -3 * x * x,
    "absqrt(-x)": lambda x: -np.sqrt(x),
    "breakpoint(x, 0.2, 1, 2, 3)": lambda x: 1 + 3 * (x - 0.2),
    "saturation(4*x)": lambda x: 1.0,
    "saturation(x, 0, 0, 2, 8)": lambda x: 4 * x,
    "adjustable_saturation(2*x + 1, c2 = 0.5)": lambda x: 1 + 0.5 * 2 * x,
    "pwlin(x, [0, 0; 1, 2; 2, 8])": lambda x: 2 * x,
    "interpolation(x, [0, 0; 1, 2; 2, 8])": lambda x: 2 * x * x,
    "reciprocal_square(x, 1, 2, 3)": lambda x: 1 + 2 / (1 + (x / 3) ** 2),
    "inverse(x)": lambda x: 1 / x,
    "sine(x, 2, c3 = 1)": lambda x: 2 * np.sin(x + 1),
    "cosine(x, 1, 2, 3, 4)": lambda x: np.cos(2 * x + 3) + 4,
    "arcsine(x)": np.arcsin,
    "arccosine(x, 2)": lambda x: 2 * np.arccos(x),
    "exponential(x, c4 = 1)": lambda x: np.exp(x) + 1,
    "logarithm(x, 1, 2)": lambda x: np.log(2 * x),
    "reciprocal_sine(x)": lambda x: 1 / np.sin(x),
    "reciprocal_cosine(x)": lambda x: 1 / np.cos(x),
    "reciprocal_arcsine(x)": lambda x: 1 / np.arcsin(x),
    "reciprocal_arccosine(x)": lambda x: 1 / np.arccos(x),
}


def test_functions_of_the_standard_library() -> None:
    equations = " ".join(f"y[{k}] = {call};" for k, call in enumerate(FUNCTIONS, 1))
    r = simulate(
        f"model M Sf s(f = 0.5); J1 w; R r(R = 1); Real x = w.f; Real y[{len(FUNCTIONS)}]; bonds s -> w -> r;"
        f"equation {equations} end M;"
    )
    for k, function in enumerate(FUNCTIONS.values(), 1):
        close(r[f"y[{k}]"][-1], function(0.5), 1e-12)


def test_tables_of_every_kind(tmp_path: Path) -> None:
    (tmp_path / "bh.csv").write_text("H,B\n0,0\n1,1\n2,4\n3,9\n", encoding="utf-8")
    (tmp_path / "m.bg").write_text(
        """function looked input Real x; output Real y; algorithm
          y := table(x, [0, 0; 1, 1; 2, 4; 3, 9], method = "pchip");
        end looked;
        model M parameter Real d[4, 2] = [0, 0; 1, 1; 2, 4; 3, 9]; Real x = 3.5*time;
          Real a = table(x, d), b = table(x, "bh.csv", method = "spline"), c = looked(x),
            l = table(x, d, outside = "linear"), n = table(x, d, method = "spline", ends = "natural");
        end M;""",
        encoding="utf-8",
    )
    r = bglang.load(tmp_path / "m.bg").simulate(stop=1, points=51, tol=1e-9)
    knots, heights = [0, 1, 2, 3], [0, 1, 4, 9]
    inside = np.minimum(r["x"], 3)
    close(r["a"], np.interp(r["x"], knots, heights))
    close(r["b"], CubicSpline(knots, heights)(inside))
    close(r["c"], PchipInterpolator(knots, heights)(inside))
    close(r["n"], CubicSpline(knots, heights, bc_type="natural")(inside))
    close(r["l"], np.where(r["x"] > 3, 9 + 5 * (r["x"] - 3), np.interp(r["x"], knots, heights)))


def test_user_functions_in_laws() -> None:
    r = simulate(
        f"""function drag input Real v; input Real c[2] = {{1, 0.5}}; output Real F; protected Real x;
        algorithm F := 0; x := v; for k in 1:2 loop F := F + c[k]*x; x := x*abs(v); end for; end drag;
        function two input Real x; output Real y; output Real z; algorithm y := x^2; z := x^3; end two;
        model M {ONE} R r(e = drag(f)); R s(e = drag(f, c = {{0, 2}})); Real a, b; bonds v -> m, r, s;
        equation (a, b) = two(v.f); end M;"""
    )
    (v,) = integrate(lambda t, y: [-y[0] - 2.5 * y[0] * abs(y[0])], [1.0], r.time)
    close(r["v.f"], v)
    close(r["a"], v**2)
    close(r["b"], v**3)


@pytest.mark.parametrize(
    ("declarations", "expected"),
    [
        ('parameter Real a(unit = "m") = 1, b(unit = "mm") = 1; parameter Real c = a + b;', ["units/mismatch"]),
        ('parameter Real a(unit = "m") = 1, b(unit = "s") = 1; parameter Real c(unit = "m/s") = a/b;', []),
        ('parameter Real a(unit = "m") = 1; parameter Real c(unit = "s") = 2*a;', []),
        ('parameter Real a(unit = "m") = 1; parameter Real c(unit = "s") = 1 + a;', ["units/mismatch"]),
        ('parameter Real a(unit = "Hz") = 1; parameter Real c(unit = "rad/s") = a;', []),
        ('parameter Real a(unit = "N.m") = 1; parameter Real c(unit = "J") = a;', []),
        ('parameter Real a(unit = "m") = 1; Real c = sin(a);', ["units/argument"]),
        ('parameter Real a(unit = "m2") = 1; parameter Real c(unit = "m") = sqrt(a);', []),
        ('parameter Real a(unit = "V") = 1; Electrical.Resistor r(R = a);', ["units/mismatch"]),
        ('Real x(unit = "m"); Real w(unit = "m") = der(x);', ["units/mismatch"]),
        ('parameter Real a(unit = "furlong") = 1;', ["units/unknown"]),
    ],
)
def test_units(declarations: str, expected: list[str]) -> None:
    equation = "equation der(x) = 1;" if "der(x)" in declarations else ""
    resistor = "v -> r;" if "Resistor" in declarations else ""
    text = f"model M {ONE} R d(R = 1); {declarations} bonds v -> m, d; {resistor} {equation} end M;"
    assert [c for c in codes(text) if c != "parameters/unused"] == expected
    assert [c for c in codes(text, units="off") if c.startswith("units/")] == []


# --- fields -----------------------------------------------------------------------------------------------------------

GAP = """element AirGap port Magnetic mag; port Translational mech; parameter Real g0, area;
  energy = (g0 - mech.q)/(Constants.mu0*area)*mag.q^2/2; end AirGap;"""


def test_energy_of_a_field_gives_its_efforts() -> None:
    r = simulate(
        f"""{GAP}
        model M parameter Real x0 = 1e-4;
          AirGap gap(g0 = 1e-3, area = 1e-4, mag.q(start = 1e-6), mech(q(start = x0)));
          Se mmf(e = 100); R eddy(R = 1e6); J1 flux, v; Translational.Mass m(m = 0.1); Translational.Spring s(k = 1e5);
        bonds mmf -> flux -> eddy, gap.mag; v -> m, s, gap.mech; end M;""",
        stop=0.01,
    )
    k = 1 / (1.25663706212e-6 * 1e-4)

    def rate(t: float, y: np.ndarray) -> list[float]:
        phi, x, p, spring = y
        return [(100 - (1e-3 - x) * k * phi) / 1e6, p / 0.1, -1e5 * spring + k * phi**2 / 2, p / 0.1]

    phi, x, _, _ = integrate(rate, [1e-6, 1e-4, 0.0, 0.0], r.time)
    close(r["gap.mag.q"], phi, 1e-5)
    close(r["gap.mech.q"], x, 1e-5)


BEAM = """element Beam parameter Integer n = 2; port Translational dof[n]; parameter Real K[n, n];
  equation dof.e = K*dof.q; end Beam;"""


@pytest.mark.parametrize(
    "beam",
    ["K = {{{2, 1}, {1, 2}}, {{3, 0}, {0, 5}}}, dof[1].q(start = {0.1, 0.2})", None],
)
def test_arrays_of_fields_with_matrices(beam: str | None) -> None:
    arguments = beam or "each K = {{2, 1}, {1, 2}}, each dof(q(start = {0.1, 0.2}))"
    r = simulate(
        f"{BEAM} model M Beam b[2]({arguments}); J1 v[2, 2]; I m[2, 2](each I = 1); bonds v -> m; v -> b.dof; end M;"
    )
    first = np.array([[2, 1], [1, 2]])
    matrices = [first, np.diag([3, 5])] if beam else [first, first]
    starts = [[0.1, 0], [0.2, 0]] if beam else [[0.1, 0.2], [0.1, 0.2]]
    for i, (k, q0) in enumerate(zip(matrices, starts, strict=True), 1):
        system = np.block([[np.zeros((2, 2)), np.eye(2)], [-k, np.zeros((2, 2))]])
        last = expm(system * r.time[-1]) @ [*q0, 0, 0]
        for j in (1, 2):
            close(r[f"b[{i}].dof[{j}].q"][-1], last[j - 1])
            close(r[f"v[{i},{j}].f"][-1], last[j + 1])


@pytest.mark.parametrize(
    ("law", "kind"),
    [
        ("d.e = A*d.q", "C"),
        ("d.p = A*d.f", "I"),
        ("d.f = solve(A, d.p)", "I"),
        ("d.e = A*d.f", "R"),
        ("d.f = inv(A)*d.e", "R"),
    ],
)
def test_kind_of_a_port_follows_from_its_law(law: str, kind: str) -> None:
    other = {
        "C": "I x[2](each I = 1, p(start = {1, 0}))",
        "I": "R x[2](each R = 1)",
        "R": "I x[2](each I = 1, p(start = {1, 0}))",
    }
    start = "(d[1].p(start = 1))" if kind == "I" else ""
    r = simulate(
        f"""element F port Any d[2]; parameter Real A[2, 2] = [2, 1; 1, 2]; equation {law}; end F;
        model M F f{start}; J1 v[2]; {other[kind]}; bonds v -> x; v -> f.d; end M;"""
    )
    a = np.array([[2.0, 1.0], [1.0, 2.0]])
    if kind == "R":
        expected = np.array([expm(-a * t) @ [1, 0] for t in r.time]).T
    elif kind == "I":
        expected = np.array([np.linalg.solve(a, expm(-np.linalg.inv(a) * t) @ [1, 0]) for t in r.time]).T
    else:
        system = np.block([[np.zeros((2, 2)), np.eye(2)], [-a, np.zeros((2, 2))]])
        expected = np.array([(expm(system * t) @ [0, 0, 1, 0])[2:] for t in r.time]).T
    close(r["v[1].f"], expected[0])
    close(r["v[2].f"], expected[1])


def test_mixed_field_and_one_port_fields() -> None:
    r = simulate(
        """partial element Base port Any p; parameter Real k = 2; end Base;
        element Z extends Base; Real force = k*p.q; equation p.e = force + 3*p.f; end Z;
        element IC port Any a; port Any b; energy = a.p^2/2*(1 + b.q^2) + b.q^2/2; end IC;
        model M Z z(k = 5); J1 v; I m(I = 1, p(start = 1)); Real copy = z.e;
          IC f(a.p(start = 1), b.q(start = 0.2)); J1 i, w; R d(R = 1); I n(I = 1);
        bonds v -> m, z; i -> d, f.a; w -> n, f.b; end M;"""
    )
    p, q, n = integrate(
        lambda t, y: [-y[0] * (1 + y[1] ** 2), y[2], -(y[0] ** 2) * y[1] - y[1]], [1.0, 0.2, 0.0], r.time
    )
    close(r["f.a.p"], p)
    close(r["f.b.q"], q)
    close(r["n.p"], n)
    momentum, _ = integrate(lambda t, y: [-5 * y[1] - 3 * y[0], y[0]], [1.0, 0.0], r.time)
    close(r["v.f"], momentum)
    close(r["copy"], r["z.p.e"])


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ("a.e = 2*a.q + b.q; b.e = 3*b.q;", ["laws/not-reciprocal"]),
        ("a.e = 2*a.q + b.q; b.e = 3*b.q + a.q;", []),
        ("a.e = -2*a.f; b.e = 3*b.f;", ["laws/active-resistance"]),
        ("a.e = 2*a.f - b.f; b.e = 3*b.f + a.f;", []),
        ("a.e = a.q;", ["laws/count"]),
        ("a.e = a.q; b.e = b.q; a.f = b.f;", ["laws/count"]),
    ],
)
def test_fields_that_are_checked(element: str, expected: list[str]) -> None:
    text = f"""element F port Any a; port Any b; equation {element} end F;
      model M F f; J1 v, w; I m(I = 1, p(start = 1)), n(I = 1); bonds v -> m, f.a; w -> n, f.b; end M;"""
    assert codes(text) == expected
