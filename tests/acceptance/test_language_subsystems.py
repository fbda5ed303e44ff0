"""Section 4 of the language: ports, domains, modifications, redeclarations, conditions, arrays of subsystems."""

import numpy as np
import pytest
from language_runs import close, codes, integrate, simulate
from scipy.linalg import expm

MOTOR = """package Drives
  model DCMotor
    port Electrical pin; port Rotational shaft;
    parameter Real R(unit = "ohm") = 1, L(unit = "H") = 1e-3, K(unit = "V.s/rad") = 0.05, J(unit = "kg.m2") = 1e-4;
    J1 i; J1 w; Electrical.Resistor r(R = R); Electrical.Inductor l(L = L);
    GY emf(r = K); Rotational.Inertia rotor(J = J);
  bonds
    pin -> i -> emf -> w -> shaft; i -> r, l; w -> rotor;
  end DCMotor;
end Drives;
"""


def test_motor_of_the_language_page() -> None:
    r = simulate(
        MOTOR
        + """model D Drives.DCMotor motor(J = 2e-4); Se supply(e = 12); Rotational.Damper load(d = 1e-3);
        bonds supply -> motor.pin; motor.shaft -> load; end D;""",
        stop=0.3,
    )
    i, w = integrate(
        lambda t, y: [(12 - y[0] - 0.05 * y[1]) / 1e-3, (0.05 * y[0] - 1e-3 * y[1]) / 2e-4], [0.0, 0.0], r.time
    )
    close(r["motor.i.f"], i)
    close(r["motor.w.f"], w)
    close(r["motor.l.p"], 1e-3 * i)
    close(r["motor.pin.power"], 12 * i)
    close(r["motor.shaft.f"], w)
    close(r["load.f"], w)


LEAF = "model A port Any a; J1 j; R r(R = 1); I m(I = 1); bonds {0}; j -> r, m; end A;"
MIDDLE = "model B port Any a; A i; bonds {1}; end B;"
TOP = "model T port Any p; B m; bonds {2}; end T; model M T o; J1 x; Se s(e = 1); bonds s -> x; {3}; end M;"
INWARD = ("a -> j", "a -> i.a", "p -> m.a", "x -> o.p")
OUTWARD = ("j -> a", "i.a -> a", "m.a -> p", "o.p -> x")


@pytest.mark.parametrize(("arrows", "sign"), [(INWARD, 1.0), (OUTWARD, -1.0)])
def test_ports_through_three_levels(arrows: tuple[str, ...], sign: float) -> None:
    r = simulate((LEAF + MIDDLE + TOP).format(*arrows))
    v = 1 - np.exp(-r.time)
    close(r["o.m.i.j.f"], v)
    close(r["x.f"], v)
    for port in ("o.p", "o.m.a", "o.m.i.a"):
        close(r[f"{port}.power"], sign * v)


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_an_arrow_against_the_others_is_an_error(level: int) -> None:
    arrows = list(INWARD)
    arrows[level] = OUTWARD[level]
    found = codes((LEAF + MIDDLE + TOP).format(*arrows))
    assert set(found) == {"ports/direction"} and len(found) <= 2


@pytest.mark.parametrize("junction", ["J1", "J0"])
def test_the_neighbour_is_found_through_ports(junction: str) -> None:
    rest = "I s(I = 1); Se u(e = 1)" if junction == "J1" else "C s(C = 1); Sf u(f = 1)"
    r = simulate(
        f"""model Valve port Any a; R d(f = exp(e) - 1); bonds d -> a; end Valve;
        model M Valve o; {junction} x; {rest}; bonds u -> x -> s; o.a -> x; end M;"""
    )
    if junction == "J1":
        (f,) = integrate(lambda t, y: [1 - np.log(1 + y[0])], [0.0], r.time)
        close(r["o.d.f"], f)
    else:
        (e,) = integrate(lambda t, y: [2 - np.exp(y[0])], [0.0], r.time)
        close(r["o.d.e"], e)


SUB = (
    "model S port Translational a; port Translational b{0}; J1 j; R r(R = 1); I m(I = 1); "
    "bonds a -> j -> r, m; j -> b; end S;"
)


@pytest.mark.parametrize(("option", "expected"), [("", ["ports/open"]), ("(optional = true)", [])])
def test_open_ports(option: str, expected: list[str]) -> None:
    text = SUB.format(option) + "model M S s; Se e(e = 1); Real x = s.b.f, y = s.b.e; bonds e -> s.a; end M;"
    assert codes(text) == expected
    r = simulate(text)
    close(r["s.j.f"], 1 - np.exp(-r.time))
    close(r["x"], r["s.j.f"])
    close(r["y"], np.zeros(len(r.time)))


@pytest.mark.parametrize(
    ("inside", "outside", "code"),
    [
        ("a -> j", "e -> s.a; f -> s.a", "bonds/port-taken"),
        ("a -> j; a -> r", "e -> s.a", "bonds/port-taken"),
        ("", "e -> s.a", "ports/inside"),
        ("a -> j", "e -> s.j", "bonds/inner"),
        ("a -> j", "e -> s.b", "names/unknown"),
        ("a -> j", "e -> s.k", "bonds/not-a-node"),
    ],
)
def test_wrong_uses_of_ports(inside: str, outside: str, code: str) -> None:
    text = f"""model S port Any a; parameter Real k = 1; J1 j; R r(R = 1); R r2(R = k); I m(I = 1, p(start = 1));
      bonds {inside}; j -> m, r2; {"" if "r" in inside else "j -> r;"} end S;
      model M S s; Se e(e = 1), f(e = 1); J1 z; R h(R = 1); bonds {outside}; f -> z -> h; end M;"""
    if "f -> s" in outside:
        text = text.replace("f -> z -> h", "z -> h")
    assert codes(text.replace("bonds ;", "bonds"))[:1] == [code]


@pytest.mark.parametrize(("lock", "expected"), [("effort_in", []), ("effort_out", ["causality/locked"])])
def test_locked_ports(lock: str, expected: list[str]) -> None:
    text = f"""model S port Any a(causality = "{lock}"); J1 j; R r(R = 1); I m(I = 1); bonds a -> j -> r, m; end S;
      model T port Any p; S s; bonds p -> s.a; end T;
      model M T t; Se e(e = 1); bonds e -> t.p; end M;"""
    assert codes(text) == expected


def test_domains() -> None:
    text = """domain Acoustic(effort = "Pa", flow = "m3/s", q_unit = "m3", p_unit = "Pa.s")
      element Cavity extends C(C = V); parameter Real V(unit = "m3/Pa") = 2; end Cavity; end Acoustic;
      model M Acoustic.Cavity c; Sf s(f = 1); J0 p; R r(R = 1); {0} bonds s -> p -> c, r; {1} end M;"""
    assert codes(text.format("", "")) == []
    r = simulate(text.format("", ""))
    close(r["p.e"], 1 - np.exp(-r.time / 2))
    assert codes(text.format("Electrical.Resistor x(R = 1);", "p -> x;")) == ["domains/mismatch"]
    assert codes(text.format("TF t(m = 1); Electrical.Resistor x(R = 1);", "p -> t -> x;")) == []
    assert codes(text.replace('"m3/s"', '"m/s"').format("", ""))[:1] == ["graph/no-power"]
    assert codes(text.replace('"m3/s"', '"m/s", pseudo = true').replace('(unit = "m3/Pa")', "").format("", "")) == []


LADDER = """model Cell port Electrical a; port Electrical b; parameter Real R = 1, C = 1; J1 i; J0 v;
  Electrical.Resistor r(R = R); Electrical.Capacitor c(C = C); bonds a -> i -> v -> b; i -> r; v -> c; end Cell;"""


def test_ladder_of_subsystems_with_slices() -> None:
    r = simulate(
        LADDER
        + """model M parameter Integer n = 4; Cell c[n](R = {k for k in 1:n}, each C = 0.1); Se s(e = 1);
          Electrical.Resistor load(R = 10); Real last = c[n].v.e, all = sum(c.v.e);
        bonds s -> c[1].a; c[1:n-1].b -> c[2:n].a; c[n].b -> load; end M;"""
    )

    def rate(t: float, e: np.ndarray) -> np.ndarray:
        before = np.array([1.0, *e[:-1]])
        flow = (before - e) / np.arange(1, 5)
        return (flow - np.array([*flow[1:], e[-1] / 10])) / 0.1

    e = integrate(rate, [0.0] * 4, r.time)
    close(r["last"], e[-1])
    close(r["all"], e.sum(axis=0))


def test_arrays_of_subsystems_with_arrays_of_ports() -> None:
    r = simulate(
        """model Cell parameter Integer k = 2; port Any a[k]; port Any b[k]; J1 j[k];
          I m[k](each I = 1); R r[k](each R = 1);
        bonds a -> j -> b; j -> m; j -> r; end Cell;
        model M parameter Integer n = 3; Cell c[n]; Se s[2](e = {1, 2}); R load[2](each R = 1); J0 u[n-1, 2];
          C cc[n-1, 2](each C = 1);
        bonds s -> c[1].a; c[1:n-1].b -> u -> c[2:n].a; u -> cc; c[n].b -> load; end M;"""
    )
    # states f1 q1 f2 q2 f3
    a = np.zeros((5, 5))
    for f in (0, 2, 4):
        a[f, f] = -1 if f < 4 else -2
        if f > 0:
            a[f, f - 1], a[f - 1, f] = 1, -1
        if f < 4:
            a[f, f + 1], a[f + 1, f] = -1, 1
    last = np.linalg.solve(a, (expm(a * r.time[-1]) - np.eye(5)) @ [1, 0, 0, 0, 0])
    for j in (1, 2):
        for cell in (1, 2, 3):
            close(r[f"c[{cell}].j[{j}].f"][-1], j * last[2 * cell - 2])


def test_members_of_different_size() -> None:
    r = simulate(
        """model Cell parameter Integer k = 2; J1 j[k]; I m[k](each I = 1, each p(start = k)); R r[k](each R = 1);
        bonds j -> m; j -> r; end Cell;
        model M Cell c[3](k = {1, 3, 2}); end M;"""
    )
    assert sum(name.endswith(".p") for name in r.names) == 6
    close(r["c[2].m[3].p"], 3 * np.exp(-r.time))


UNIT = "model U J1 v; I m(I = 1, p(start = 1)); R r(R = 1); bonds v -> m, r; end U; model P U c[2]; end P;"


@pytest.mark.parametrize(
    ("declaration", "resistances"),
    [
        ("P b[2](c(r(R = {{1, 2}, {3, 4}})))", [1, 2, 3, 4]),
        ("P b[2](each c(r(R = {1, 2})))", [1, 2, 1, 2]),
        ("P b[2](c(each r(R = 5)))", [5, 5, 5, 5]),
        ("P b[2](each c(each r(R = 5)))", [5, 5, 5, 5]),
        ("P b[2](each c(r.R = {6, 7}))", [6, 7, 6, 7]),
        ("Q b[2]", [9, 9, 9, 9]),
        ("Q b[2](c(r(R = {{1, 2}, {3, 4}})))", [1, 2, 3, 4]),
    ],
)
def test_modifications_through_extends_and_arrays(declaration: str, resistances: list[float]) -> None:
    r = simulate(f"{UNIT} model Q extends P(c(each r(R = 9), m(I = {{1, 1}}))); end Q; model M {declaration}; end M;")
    for k, value in enumerate(resistances):
        close(r[f"b[{k // 2 + 1}].c[{k % 2 + 1}].v.f"], np.exp(-value * r.time))


DAMPERS = """partial element D extends R; end D;
  element Lin extends D(R = k); parameter Real k = 1; end Lin;
  element Cub extends D(e = k*f^3); parameter Real k = 1; end Cub;
  model A port Any p; J1 j; replaceable Lin s constrainedby D; bonds p -> j -> s; end A;
  model B port Any p; J1 v; A a[2]; I m(I = 1, p(start = 1)); bonds p -> v -> m; v -> a.p; end B;
  model G replaceable element E = Lin(k = 1) constrainedby D; J1 v; I m(I = 1, p(start = 1)); E x, y;
  bonds v -> m, x, y; end G;
"""


@pytest.mark.parametrize(
    ("declaration", "cubic"),
    [
        ("B o(a(redeclare Cub s(k = {1, 2})))", 3),
        ("B o(a(each redeclare Cub s(k = 2)))", 4),
        ("B o(a(redeclare each Cub s(k = 2)))", 4),
        ("B o", None),
        ("G o", None),
        ("G o(redeclare element E = Cub(k = 3))", 6),
    ],
)
def test_redeclared_components_and_classes_at_depth(declaration: str, cubic: float | None) -> None:
    source = "Se z(e = 0); bonds z -> o.p;" if declaration.startswith("B") else ""
    r = simulate(f"{DAMPERS} model M {declaration}; {source} end M;")
    expected = np.exp(-2 * r.time) if cubic is None else 1 / np.sqrt(1 + 2 * cubic * r.time)
    close(r["o.v.f"], expected)


@pytest.mark.parametrize(
    ("declaration", "code"),
    [
        ("U b(redeclare R r(R = 2))", "classes/not-replaceable"),
        ("G o(redeclare element E = I)", "classes/constraint"),
        ("G o(redeclare element F = Cub)", "names/unknown"),
        ("U b(x = 2)", "names/unknown"),
        ("U b(r(RR = 2))", "names/unknown"),
        ("F b(k = 2)", "parameters/final"),
        ("H b(k = 2)", "parameters/final"),
        ("K b(k = 2)", "classes/protected"),
        ("D b", "classes/partial"),
        ("P b(c(r(R = 1)))", "arrays/each"),
        ("P b(c(r(R = {1, 2, 3})))", "arrays/shape"),
        ("U b[2](r = 3)", "types/not-a-value"),
    ],
)
def test_modifications_that_are_wrong(declaration: str, code: str) -> None:
    text = f"""{UNIT} {DAMPERS}
      model F extends U(r(R = k)); final parameter Real k = 1; end F;
      model W extends U(r(R = k)); parameter Real k = 1; end W; model H extends W(final k = 3); end H;
      model K extends U(r(R = k)); protected parameter Real k = 1; end K;
      model M {declaration}; end M;"""
    found = codes(text, model="M")
    assert found == [code]


def test_conditional_components_and_ports() -> None:
    text = """model S parameter Boolean h = false; port Any p; port Any q if h; J1 j; R r(R = 1);
      bonds p -> j -> r; j -> q; end S;
      model M parameter Boolean h = false; J1 v; I m(I = 1, p(start = 1)); S s(h = h);
      R z(R = 2) if h; R x(R = 4) if not h;
      bonds v -> m, s.p, x; s.q -> z; end M;"""
    close(simulate(text)["v.f"], np.exp(-5 * simulate(text).time))
    r = simulate(text, set={"h": "true"})
    close(r["v.f"], np.exp(-3 * r.time))
    assert codes(text.replace("R z(", "Real y = x.e; R z("), set={"h": "true"}) == ["names/absent"]
    assert codes(text.replace("R(R = 2) if h", "R(R = 2) if v.f > 0").replace("z(R = 2) if h", "z(R = 2) if v.f > 0"))[
        :1
    ] == ["expressions/not-constant"]


def test_protected_may_be_read() -> None:
    r = simulate(
        """model S J1 j; I m(I = 1, p(start = 1)); protected R r(R = 1); bonds j -> m, r; end S;
        model M S s; Real x = s.r.e; end M;"""
    )
    close(r["x"], np.exp(-r.time))
