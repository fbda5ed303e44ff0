"""Hydraulic, magnetic, thermal and chemical classes, sensors and signal blocks."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.signal import impulse, lti, ss2tf
from using import run

MU0 = 1.25663706212e-6
SIGMA = 5.670374419e-8
HYDRAULIC = "Hydraulic.Components."


def test_linear_hydraulics() -> None:
    """Resistance, compliance and inertance in a row: the step of a second-order lag."""
    result = run(
        """Se p(e = 4); J1 q; Hydraulic.Resistance r(R = 2); Hydraulic.Inertance i(I = 0.5);
        Hydraulic.Compliance c(C = 0.1);""",
        "p -> q -> r, i, c;",
        3.0,
    )
    assert result["c.e"] == pytest.approx(4 * lti([20], [1, 4, 20]).step(T=result.time)[1], abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("Orifice r(Cd = 0.6, A = 1e-5, rho = 870)", lambda e: np.sign(e) * 0.6e-5 * np.sqrt(2 * np.abs(e) / 870)),
        (
            "Valve r(opening = 0.25, Cd = 0.6, A = 1e-5, rho = 870)",
            lambda e: np.sign(e) * 0.25 * 0.6e-5 * np.sqrt(2 * np.abs(e) / 870),
        ),
        ("CheckValve r(p0 = 100, Ron = 10, Goff = 1e-3)", lambda e: np.where(e > 100, (e - 100) / 10 + 0.1, 1e-3 * e)),
        ("ReliefValve r(p0 = 100, Ron = 10)", lambda e: np.maximum(0, e - 100) / 10),
    ],
)
def test_valves(kind: str, law: object) -> None:
    result = run(f"Se p(e = 500*cos(5*time + 0.1)); J1 q; {HYDRAULIC}{kind};", "p -> q -> r;", 2.0)
    assert callable(law)
    assert result["r.f"] == pytest.approx(law(result["r.e"]), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("OpenTank c(A = 2, rho = 1000)", lambda v: 1000 * 9.80665 * v / 2),
        ("Accumulator c(p0 = 1e6, V0 = 1, n = 1.4)", lambda v: 1e6 * (1 / (1 - v)) ** 1.4),
        ("Volume c(V0 = 2, B = 1e9)", lambda v: 1e9 * v / 2),
    ],
)
def test_stores_that_are_filled(kind: str, law: object) -> None:
    result = run(f"Sf q(f = 0.3); J0 p; {HYDRAULIC}{kind};", "q -> p -> c;", 2.0)
    assert callable(law)
    assert result["c.e"] == pytest.approx(law(0.3 * result.time), rel=1e-8, abs=1e-6)


def test_pipe() -> None:
    result = run(
        f"Se a(e = 1e5); J1 n; R load(R = 1e6); {HYDRAULIC}Pipe p(length = 2, diameter = 0.02, rho = 870, mu = 0.03);",
        "a -> p.a; p.b -> n -> load;",
        0.5,
    )
    loss, inertia = 128 * 0.03 * 2 / (np.pi * 0.02**4) + 1e6, 4 * 870 * 2 / (np.pi * 0.02**2)
    expected = 1e5 / loss * (1 - np.exp(-loss / inertia * result.time))
    assert result["p.Q.f"] == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_pumps() -> None:
    nodes, bonds = "Sf w(f = 100); J1 n; R load(R = 1e9);", "w -> p.shaft; p.out -> n -> load;"
    pump = run(f"{nodes} {HYDRAULIC}Pump p(D = 1e-6);", bonds, 1.0)
    assert pump["load.e"][-1] == pytest.approx(1e5) and pump["w.e"][-1] == pytest.approx(0.1)
    leaky = run(f"{nodes} {HYDRAULIC}LeakyPump p(D = 1e-6, d = 1e-3, G = 1e-9);", bonds, 1.0)
    assert leaky["load.e"][-1] == pytest.approx(1e-4 / 2e-9)
    assert leaky["w.e"][-1] == pytest.approx(0.1 + 1e-6 * 5e4)


def test_cylinders() -> None:
    one = run(f"Se p(e = 1e5); J1 v; R load(R = 50); {HYDRAULIC}Cylinder c(A = 1e-3);",
              "p -> c.chamber; c.rod -> v -> load;", 1.0)  # fmt: skip
    assert one["v.f"][-1] == pytest.approx(1e5 * 1e-3 / 50)
    two = run(f"Se a(e = 1e5), b(e = 4e4); J1 v; R load(R = 50); {HYDRAULIC}DoubleCylinder c(Aa = 1e-3, Ab = 5e-4);",
              "a -> c.a; c.b -> b; c.rod -> v -> load;", 1.0)  # fmt: skip
    assert two["v.f"][-1] == pytest.approx((1e5 * 1e-3 - 4e4 * 5e-4) / 50)


def test_servo_valve() -> None:
    """Supply over one edge, through a load, back over the other edge: both edges take half of what the load leaves."""
    result = run(
        f"""Se supply(e = 1e7), tank(e = 0); {HYDRAULIC}ServoValve v(opening = 0.5, area = 1e-5);
        J1 q; R load(R = 1e10); TF back(m = -1) "what leaves A comes back to B";""",
        "supply -> v.P; v.T -> tank; v.A -> q -> load; q -> back.p1; v.B -> back.p2;",
        1.0,
    )
    flow, edge = result["load.f"][-1], 0.5 * 0.62 * 1e-5
    assert 1e10 * flow + 2 * 870 / 2 * (flow / edge) ** 2 == pytest.approx(1e7, rel=1e-8)


def test_magnetic_circuit() -> None:
    """Winding, reluctance, permeance and eddy loss: a current source magnetises with one time constant."""
    result = run(
        """Sf i(f = 2); J1 c; Magnetic.Components.Winding w(N = 50); J1 path;
        Magnetic.Reluctance a(Rm = 2e6); Magnetic.Permeance b(P = 1e-6); Magnetic.EddyLoss e(G = 10);""",
        "i -> c -> w.pin; w.core -> path -> a, b, e;",
        2e-5,
    )
    expected = 100 / 3e6 * (1 - np.exp(-3e6 / 10 * result.time))
    assert result["a.q"] == pytest.approx(expected, abs=1e-6 * expected.max())


def test_air_gap_pulls_with_half_the_square_of_the_flux() -> None:
    result = run(
        "Sf flux(f = 1e-4), still(f = 0); Magnetic.Components.AirGap g(g0 = 2e-3, area = 1e-4, mech.q(start = 5e-4));",
        "flux -> g.mag; still -> g.mech;",
        1.0,
    )
    q = 1e-4 * result.time
    assert result["g.mag.e"] == pytest.approx(1.5e-3 / (MU0 * 1e-4) * q, rel=1e-7, abs=1e-9)
    assert result["g.mech.e"] == pytest.approx(-(q**2) / (2 * MU0 * 1e-4), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("b", "h"), [(0.5, 100), (1.0, 250), (1.3, 700), (-1.3, -700)])
def test_iron_and_permanent_magnet(b: float, h: float) -> None:
    """At the points of the table, odd; the magnet lies on its straight line."""
    result = run(
        f"""Sf flux(f = {b}e-4); J1 path; Magnetic.Components.Iron i(length = 0.2, area = 1e-4);
        Magnetic.Components.PermanentMagnet m(Br = 1.2, mur = 1.05, length = 5e-3, area = 1e-4);""",
        "flux -> path -> i, m;",
        1.0,
    )
    assert result["i.e"][-1] == pytest.approx(0.2 * h, rel=1e-6)
    assert result["m.e"][-1] == pytest.approx((b - 1.2) * 5e-3 / (1.05 * MU0), rel=1e-6)


def test_roters_permeances() -> None:
    result = run(
        """Real a = Magnetic.Roters.parallel_faces(2e-4, 1e-3), b = Magnetic.Roters.half_cylinder(0.1),
        c = Magnetic.Roters.half_annulus(0.1, 0.02, 0.01), d = Magnetic.Roters.quarter_cylinder(0.1),
        e = Magnetic.Roters.quarter_annulus(0.1, 0.02, 0.01), g = Magnetic.Roters.sphere_quadrant(0.01),
        h = Magnetic.Roters.shell_quadrant(0.02), i = Magnetic.Roters.circular_path(0.1, pi/2, 0.01, 0.03);""",
        "",
        1.0,
    )
    expected = {
        "a": 0.2, "b": 0.026, "c": 0.1 / np.pi * np.log(5), "d": 0.052, "e": 0.2 / np.pi * np.log(3),
        "g": 0.00077, "h": 0.005, "i": 0.2 / np.pi * np.log(3),
    }  # fmt: skip
    for name, value in expected.items():
        assert result[name][-1] == pytest.approx(MU0 * value)


def test_two_bodies_exchange_heat() -> None:
    """True bond graph: temperatures meet as with heat flows, and entropy grows."""
    result = run(
        "Thermal.Capacity a(Cth = 10, T0 = 400), b(Cth = 20, T0 = 300); J0 ta, tb; Thermal.Conduction g(G = 2);",
        "ta -> a; tb -> b; ta -> g.hot; tb -> g.cold;",
        20.0,
    )
    rest, rate = (10 * 400 + 20 * 300) / 30, 2 * (1 / 10 + 1 / 20)
    assert result["a.e"] == pytest.approx(rest + (400 - rest) * np.exp(-rate * result.time), rel=1e-7)
    assert result["b.e"] == pytest.approx(rest + (300 - rest) * np.exp(-rate * result.time), rel=1e-7)
    assert np.all(np.diff(result["a.q"] + result["b.q"]) > 0)


def test_radiation_and_heaters() -> None:
    """A heater warms a body that radiates to the surroundings."""
    result = run(
        """Sf i(f = 3); J1 c; Thermal.HotResistor r(R = 10, alpha = 1e-3, Tref = 300); J0 t;
        Thermal.Capacity body(Cth = 5, T0 = 300); Thermal.Radiation rad(A = 0.05, eps = 0.9);
        Thermal.Temperature out(T = 300);""",
        "i -> c -> r.pin; t -> r.heat; t -> body; t -> rad.hot; out -> rad.cold;",
        60.0,
    )

    def rate(t: float, y: np.ndarray) -> list[float]:
        return [(10 * (1 + 1e-3 * (y[0] - 300)) * 9 - 0.9 * SIGMA * 0.05 * (y[0] ** 4 - 300**4)) / 5]

    expected = solve_ivp(rate, (0, 60), [300], "DOP853", result.time, rtol=1e-11).y[0]
    assert result["t.e"] == pytest.approx(expected, rel=1e-7)


def test_damper_that_gets_warm() -> None:
    """What the mass loses the body gains."""
    result = run(
        """J1 v; I m(I = 2, p(start = 20)); Thermal.HotDamper d(d = 1); J0 t;
        Thermal.Capacity body(Cth = 4, T0 = 300);""",
        "v -> m; v -> d.tip; t -> d.heat; t -> body;",
        5.0,
    )
    assert result["t.e"] == pytest.approx(300 + (100 - result["v.f"] ** 2) / 4, rel=1e-7)


def test_pseudo_bond_graph_of_heat() -> None:
    result = run(
        """Thermal.Pseudo.Capacity c(C = 10, q(start = 3000)); J0 t; J1 h, k; Se out(e = 280), cold(e = 280);
        Thermal.Pseudo.Resistance r(R = 2); Thermal.Pseudo.Conductance g(G = 0.5);""",
        "t -> c; t -> h -> r; h -> out; t -> k -> g; k -> cold;",
        10.0,
    )
    assert result["t.e"] == pytest.approx(280 + 20 * np.exp(-result.time / 10), rel=1e-8)


def test_reaction_with_stoichiometry() -> None:
    """A becomes 2 B: mass action, v = kappa*(KA*a - (KB*b)^2); A flows in."""
    result = run(
        """Chemical.Species A(K = 1, q(start = 1)), B(K = 0.5, q(start = 0.2)); Chemical.Reaction r(kappa = 0.3);
        Chemical.Stoichiometry two(n = 1/2); J0 a, b; Chemical.Influx feed(v = 0.05);""",
        "feed -> a; a -> A; b -> B; a -> r.forward; b -> two -> r.reverse;",
        5.0,
    )

    def rate(t: float, y: np.ndarray) -> list[float]:
        v = 0.3 * (y[0] - (0.5 * y[1]) ** 2)
        return [0.05 - v, 2 * v]

    expected = solve_ivp(rate, (0, 5), [1, 0.2], "DOP853", result.time, rtol=1e-11).y
    assert result["A.q"] == pytest.approx(expected[0], abs=1e-7)
    assert result["B.q"] == pytest.approx(expected[1], abs=1e-7)


def test_sensors() -> None:
    result = run(
        """Se u(e = 6); J1 j, k; R r(R = 2), s(R = 1);
        Sensors.Flow f; Sensors.Effort e; Sensors.Displacement d(y0 = 1);""",
        "u -> j -> r; j -> f.a; f.b -> e.a; e.b -> d.a; d.b -> k -> s;",
        2.0,
    )
    assert result["f.y"] == pytest.approx(2) and result["f.power"] == pytest.approx(4)
    assert result["e.y"] == pytest.approx(2)
    assert result["d.y"] == pytest.approx(1 + 2 * result.time)


U = "3*sin(4*time)"
STATIC = {
    f"Gain b(u = {U}, k = 2)": lambda u: 2 * u,
    f"Add b(u1 = {U}, u2 = 1, k1 = 2, k2 = -3)": lambda u: 2 * u - 3,
    f"Product b(u1 = {U}, u2 = {U})": lambda u: u * u,
    f"Limiter b(u = {U}, lower = -1, upper = 2)": lambda u: np.clip(u, -1, 2),
    f"DeadZone b(u = {U}, lower = -1, upper = 2)": lambda u: u - np.clip(u, -1, 2),
    f"Selector b(choose = {U} > 1, u1 = 5, u2 = 7)": lambda u: np.where(u > 1, 5, 7),
}
DYNAMIC = {
    "Integrator b(u = {u}, k = 2)": ([2], [1, 0]),
    "FirstOrder b(u = {u}, k = 2, T = 0.3)": ([2], [0.3, 1]),
    "SecondOrder b(u = {u}, k = 2, w = 5, D = 0.4)": ([50], [1, 4, 25]),
    "PI b(u = {u}, Kp = 2, Ti = 0.5)": ([2, 4], [1, 0]),
    "PID b(u = {u}, Kp = 2, Ti = 0.5, Td = 0.2, N = 5)": (
        2 * np.polyadd(np.polymul([0.5, 1], [0.04, 1]), np.polymul([0.5 * 0.2, 0], [1, 0])),
        np.polymul([0.5, 0], [0.04, 1]),
    ),
    "Derivative b(u = {u}, T = 0.1)": ([1, 0], [0.1, 1]),
    "LeadLag b(u = {u}, k = 2, T1 = 0.5, T2 = 0.1)": ([1, 2], [0.1, 1]),
    "TransferFunction b(u = {u}, b = {{1, 3, 2}}, a = {{2, 3, 4}})": ([1, 3, 2], [2, 3, 4]),
    "StateSpace b(u = {{{u}}}, A = [-1, 2; -3, -4], B = [1; 0], C = [1, 1])": None,
}


@pytest.mark.parametrize("text", STATIC)
def test_static_blocks(text: str) -> None:
    result = run(f"Signal.{text};", "", 2.0)
    assert result["b.y"] == pytest.approx(STATIC[text](3 * np.sin(4 * result.time)))


@pytest.mark.parametrize("text", DYNAMIC)
def test_dynamic_blocks(text: str) -> None:
    """The answer to 3 sin(4 t), an impulse response with 12 / (s^2 + 16) in series: by matrix exponentials."""
    result = run(f"Signal.{text.format(u=U)};", "", 2.0, points=2001)
    found = DYNAMIC[text]
    if found is None:
        tops, bottom = ss2tf([[-1.0, 2.0], [-3.0, -4.0]], [[1.0], [0.0]], [[1.0, 1.0]], [[0.0]])
        found = np.trim_zeros(tops[0], "f"), bottom
    expected = impulse((12 * np.asarray(found[0]), np.polymul(found[1], [1, 0, 16])), T=result.time)[1]
    name = "b.y[1]" if DYNAMIC[text] is None else "b.y"
    assert result[name] == pytest.approx(expected, abs=2e-8)


def test_table_of_a_signal() -> None:
    result = run("Signal.Table b(u = time^2, data = [0, 1; 1.7, 0; 4, 2]);", "", 1.9)
    assert result["b.y"] == pytest.approx(np.interp(result.time**2, [0, 1.7, 4], [1, 0, 2]))


def test_rate_limiter_hysteresis_and_sampler() -> None:
    result = run(
        """Signal.RateLimiter r(u = if time < 1 then 1 else 0, rising = 2, falling = 4, T = 1e-4);
        Signal.Hysteresis h(u = sin(6*time), low = -0.5, high = 0.5); Signal.Sampler s(u = time, period = 0.3);
        Signal.DiscretePI p(u = 1, Kp = 2, Ti = 0.5, period = 0.1);""",
        "",
        2.0,
        points=134,
        tol=1e-8,
    )
    t = result.time
    assert result["r.y"] == pytest.approx(
        np.where(t < 1, np.minimum(1, 2 * t), np.maximum(0, 1 - 4 * (t - 1))), abs=3e-4
    )
    phase = np.mod(6 * t, 2 * np.pi)
    assert result["h.y"].tolist() == ((phase > np.pi / 6) & (phase < 7 * np.pi / 6)).astype(float).tolist()
    assert result["s.y"] == pytest.approx(0.3 * np.floor(t / 0.3 + 1e-9), abs=1e-9)
    assert result["p.y"] == pytest.approx(2 * (1 + (np.floor(t / 0.1 + 1e-9) + 1) * 0.1 / 0.5), abs=1e-9)
