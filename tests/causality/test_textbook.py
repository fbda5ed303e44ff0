"""Bond graphs with published causality.

KMR: Karnopp, Margolis and Rosenberg, System Dynamics: A Unified Approach.  McCalla 1991: storage-field reduction in
ENPORT.  Allen 1984: nonlinear ENPORT-6.  Hendriksma 1984: electromagnetic actuator.  Marquis-Favre and Scavarda 1999:
crank-slider.
"""

from build import Build
from crank_slider import crank_slider
from looking import look

from bglang.expr import Expr, var


def test_kmr_mass_spring_damper() -> None:
    g = Build()
    g.se("F")
    g.j1("v")
    g.i("m")
    g.c("k")
    g.r("b")
    g.bond("F", "v")
    g.bond("v", "m", "k", "b")
    found = look(g)
    assert (found.independent, found.dependent, found.data["loops"]) == (["m", "k"], [], [])
    assert [found.stroke(b) for b in ("F -> v", "v -> m", "v -> k", "v -> b")] == ["head", "head", "tail", "tail"]
    assert found.data["zero_eigenvalues"] == 0


def test_kmr_parallel_rlc_driven_by_a_current() -> None:
    g = Build()
    g.sf("i")
    g.j0("u")
    g.i("l")
    g.c("c")
    g.r("r")
    g.bond("i", "u")
    g.bond("u", "l", "c", "r")
    found = look(g)
    assert found.independent == ["l", "c"]
    assert [found.stroke(b) for b in ("i -> u", "u -> l", "u -> c", "u -> r")] == ["tail", "head", "tail", "head"]


def test_kmr_quarter_car_has_four_states() -> None:
    g = Build()
    g.sf("road")
    g.j0("tyre_force", "strut_force")
    g.j1("wheel", "body", "strut")
    g.c("tyre")
    g.i("wheel_mass")
    g.i("body_mass")
    g.c("spring")
    g.r("damper")
    g.se("weight")
    g.chain("road", "tyre_force", "wheel", "strut_force", "body", "body_mass")
    g.bond("tyre_force", "tyre")
    g.bond("wheel", "wheel_mass")
    g.chain("strut_force", "strut", "spring")
    g.bond("strut", "damper")
    g.bond("weight", "body")
    found = look(g)
    assert found.independent == ["tyre", "wheel_mass", "body_mass", "spring"]
    assert found.dependent == []


def test_kmr_dc_motor() -> None:
    g = Build()
    g.se("u")
    g.j1("i", "w")
    g.i("L")
    g.r("R")
    g.gy("K")
    g.i("J")
    g.r("b")
    g.chain("u", "i", "K", "w", "J")
    g.bond("i", "L", "R")
    g.bond("w", "b")
    found = look(g)
    assert found.independent == ["L", "J"]
    # flow into the gyrator on both sides: no stroke at it
    assert (found.stroke("i -> K"), found.stroke("K -> w")) == ("tail", "head")


def test_kmr_hydraulic_ram_through_a_transformer() -> None:
    g = Build()
    g.sf("pump")
    g.j0("p")
    g.c("oil")
    g.tf("area", 2.0)
    g.j1("v")
    g.i("mass")
    g.se("load")
    g.chain("pump", "p", "area", "v", "mass")
    g.bond("p", "oil")
    g.bond("v", "load")
    assert look(g).independent == ["oil", "mass"]


def test_kmr_two_resistances_leave_an_algebraic_loop() -> None:
    g = Build()
    g.se("E")
    g.j1("i")
    g.r("r1")
    g.j0("u")
    g.r("r2")
    g.chain("E", "i", "u", "r2")
    g.bond("i", "r1")
    found = look(g)
    (loop,) = found.data["loops"]
    assert (loop["kind"], loop["class"]) == ("resistive", 2)
    assert sorted(loop["closed_by"]) == ["r1", "r2"]
    assert set(loop["elements"]) == {"i", "r1", "u", "r2"}


def test_kmr_a_capacitor_across_a_voltage_source_depends_on_it() -> None:
    g = Build()
    g.se("E")
    g.j0("u")
    g.c("c")
    g.r("r")
    g.bond("E", "u")
    g.bond("u", "c", "r")
    found = look(g)
    assert (found.independent, found.dependent) == ([], ["c"])
    assert found.path("c", "E")["elements"] == ["c", "u", "E"]


def test_kmr_two_capacitors_in_parallel() -> None:
    g = Build()
    g.sf("i")
    g.j0("u")
    g.c("c1")
    g.c("c2")
    g.bond("i", "u")
    g.bond("u", "c1", "c2")
    found = look(g)
    assert (found.independent, found.dependent) == (["c1"], ["c2"])
    assert look(g, keep=["c2"]).independent == ["c2"]


def test_kmr_two_capacitors_in_series_leave_a_zero_eigenvalue() -> None:
    g = Build()
    g.j1("i")
    g.c("c1")
    g.c("c2")
    g.r("r")
    g.bond("i", "c1", "c2", "r")
    found = look(g)
    assert found.independent == ["c1", "c2"]
    assert found.data["zero_eigenvalues"] == 1


def test_kmr_geared_inertias() -> None:
    g = Build()
    g.se("torque")
    g.j1("w1", "w2")
    g.i("J1")
    g.i("J2")
    g.tf("gear", 0.2)
    g.chain("torque", "w1", "gear", "w2", "J2")
    g.bond("w1", "J1")
    found = look(g)
    assert (found.independent, found.dependent) == (["J1"], ["J2"])
    assert found.path("J2", "J1")["gain"] == "gear.m"
    assert look(g, keep=["J2"]).path("J1", "J2")["gain"] == "1/gear.m"


def test_mccalla_two_masses_at_one_velocity() -> None:
    g = Build()
    g.j1("v")
    g.i("ma")
    g.i("mb")
    g.bond("v", "ma", "mb")
    found = look(g)
    assert (found.independent, found.dependent) == (["ma"], ["mb"])
    assert found.path("mb", "ma")["gain"] == "1"


def test_mccalla_lever() -> None:
    """Figure 11: the path that ENPORT prints is I2 1B TF 1A I1, with the flow gain b/a."""
    g = Build()
    g.se("SE")
    g.j1("1A", "1B")
    g.i("I1")
    g.tf("TF", ("/", g.parameter("b", 2.0), g.parameter("a", 1.0)))
    g.i("I2")
    g.c("C")
    g.chain("SE", "1A", "TF", "1B", "C")
    g.bond("1A", "I1")
    g.bond("1B", "I2")
    found = look(g)
    assert (found.independent, found.dependent) == (["I1", "C"], ["I2"])
    assert found.path("I2", "I1")["elements"] == ["I2", "1B", "TF", "1A", "I1"]
    assert found.path("I2", "I1")["gain"] == "TF.m"


def test_mccalla_inertia_and_compliance_through_a_gyrator() -> None:
    """Figure 13: C1 is in derivative causality because of I1."""
    g = Build()
    g.se("SE")
    g.j1("1A")
    g.i("I1")
    g.gy("GY", 3.0)
    g.j0("0A")
    g.c("C1")
    g.r("R1")
    g.chain("SE", "1A", "GY", "0A", "C1")
    g.bond("1A", "I1")
    g.bond("1A", "R1")
    found = look(g)
    assert (found.independent, found.dependent) == (["I1"], ["C1"])
    assert found.path("C1", "I1")["gain"] == "GY.r"


def test_mccalla_split_path() -> None:
    """Figure 8: the dependent C hangs on a 1-junction to which two efforts lead."""
    g = Build()
    g.j0("0A", "0B", "0C")
    g.c("C2")
    g.c("C3")
    g.c("C1")
    g.j1("1A")
    g.r("R2")
    g.r("R3")
    g.bond("0A", "C2", "R2")
    g.bond("0B", "C3", "R3")
    g.bond("0A", "1A")
    g.bond("0B", "1A")
    g.bond("1A", "0C")
    g.bond("0C", "C1")
    found = look(g)
    assert (found.independent, found.dependent) == (["C2", "C3"], ["C1"])
    (entry,) = found.data["dependences"]
    assert sorted(entry["on"]) == ["C2", "C3"]


def roller_coaster(order: str) -> Build:
    """Horizontal and vertical velocity of one mass, joined by the slope of the track."""
    g = Build()
    g.j1("vx", "vy")
    for name in order.split():
        g.i(name)
    g.se("weight")
    slope: Expr = ("cos", g.displacement("vx"))
    g.tf("track", slope)
    g.chain("vx", "track", "vy", "I2")
    g.bond("vx", "I1")
    g.bond("weight", "vy")
    return g


def test_mccalla_roller_coaster() -> None:
    """Figure 2: derivative causality on I2, the vertical one."""
    found = look(roller_coaster("I1 I2"))
    assert (found.independent, found.dependent) == (["I1"], ["I2"])
    assert found.path("I2", "I1")["gain"] == "cos(vx.q)"


def test_a_modulated_slope_is_not_divided_by_whatever_is_declared_first() -> None:
    assert look(roller_coaster("I2 I1")).independent == ["I1"]
    assert look(roller_coaster("I2 I1"), keep=["I2"]).independent == ["I2"]


def robot_arm(springs: bool) -> Build:
    """A pinned arm and a second one at its end: joint velocities x and y, second mass in x and y."""
    g = Build()
    g.j1("w1", "w2")
    g.i("arm1")
    g.i("arm2")
    g.bond("w1", "arm1")
    g.bond("w2", "arm2")
    q1, q2 = g.displacement("w1"), g.displacement("w2")
    for axis, function in (("x", "sin"), ("y", "cos")):
        g.j0(f"f{axis}")
        g.j1(f"v{axis}")
        g.i(f"m{axis}")
        g.tf(f"a{axis}", (function, q1))
        g.tf(f"b{axis}", (function, q2))
        g.bond("w1", f"a{axis}")
        if springs:
            g.j0(f"k{axis}")
            g.c(f"stiff{axis}")
            g.j1(f"u{axis}")
            g.chain(f"a{axis}", f"k{axis}", f"u{axis}", f"f{axis}")
            g.bond(f"k{axis}", f"stiff{axis}")
        else:
            g.bond(f"a{axis}", f"f{axis}")
        g.bond("w2", f"b{axis}")
        g.bond(f"b{axis}", f"f{axis}")
        g.chain(f"f{axis}", f"v{axis}", f"m{axis}")
    return g


def test_mccalla_robot_arm_has_two_dependent_inertias() -> None:
    found = look(robot_arm(springs=False))
    assert (found.independent, found.dependent) == (["arm1", "arm2"], ["mx", "my"])


def test_mccalla_springs_at_the_joint_make_the_arm_explicit() -> None:
    found = look(robot_arm(springs=True))
    assert found.dependent == []
    assert set(found.independent) == {"arm1", "arm2", "mx", "my", "stiffx", "stiffy"}


def test_crank_slider_has_one_state() -> None:
    found = look(crank_slider())
    assert (found.independent, found.dependent) == (["crank"], ["rod", "mx", "my"])


def test_allen_coulomb_oscillator() -> None:
    g = Build()
    g.j1("v")
    g.i("mass")
    g.c("spring", start=17.0)
    g.r("friction", law=("e", ("coulomb", var("f"), 1.0)))
    g.bond("v", "mass", "spring", "friction")
    found = look(g)
    assert found.data["states"] == ["mass.p", "spring.q"]
    assert found.stroke("v -> friction") == "tail"


def test_allen_sprung_pendulum() -> None:
    """A mass on a spring: its velocities are states, the spring gets their part along itself."""
    g = Build()
    g.j1("vx", "vy")
    g.i("mx")
    g.i("my")
    g.se("weight")
    x, y = g.displacement("vx", start=1.0), g.displacement("vy")
    length: Expr = ("sqrt", ("+", ("^", x, 2.0), ("^", y, 2.0)))
    g.tf("cx", ("/", x, length))
    g.tf("cy", ("/", y, length))
    g.j0("force")
    g.c("spring")
    g.bond("vx", "mx", "cx")
    g.bond("vy", "my", "cy")
    g.bond("weight", "vy")
    g.bond("cx", "force")
    g.bond("cy", "force")
    g.bond("force", "spring")
    found = look(g)
    assert (found.independent, found.dependent) == (["mx", "my", "spring"], [])
    assert found.data["signal_states"] == ["vx.q", "vy.q"]


def test_hendriksma_gap_field_joins_coil_and_armature() -> None:
    """The 2-port C-field of the working gap: both ports in integral causality, the coil without inductance."""
    g = Build()
    g.se("supply")
    g.j1("coil")
    g.r("wire", 0.27446)
    g.gy("winding", 100.0)
    g.j1("core")
    g.c("iron", law=("e", ("*", 3.0, var("q"))))
    flux, gap = var("mag.q"), var("mech.q")
    g.field(
        "gap",
        [("mag", "C"), ("mech", "C")],
        [("mag", "e", ("*", ("-", 1.0, gap), flux)), ("mech", "e", ("*", -0.5, ("^", flux, 2.0)))],
        energy=("*", 0.5, ("-", 1.0, gap), ("^", flux, 2.0)),
    )
    g.j1("v")
    g.i("armature")
    g.r("film")
    g.chain("supply", "coil", "winding", "core", "gap.mag")
    g.bond("coil", "wire")
    g.bond("core", "iron")
    g.bond("v", "armature", "film", "gap.mech")
    found = look(g)
    assert found.independent == ["iron", "gap.mag", "gap.mech", "armature"]
    assert found.data["states"] == ["iron.q", "gap.mag.q", "gap.mech.q", "armature.p"]
    assert found.data["zero_eigenvalues"] == 1  # iron and gap carry the same flux


def test_kmr_bridge_of_resistances_is_one_loop() -> None:
    g = Build()
    g.se("E")
    g.j0("a", "b", "c")
    g.j1("ie", "i1", "i2", "i3", "i4", "i5")
    for k in ("s", "1", "2", "3", "4", "5"):
        g.r(f"r{k}")
    g.chain("E", "ie", "a")
    g.bond("ie", "rs")
    g.bond("a", "i1", "i2")
    g.bond("i1", "b")
    g.bond("i2", "c")
    g.bond("b", "i3", "i5")
    g.bond("i5", "c")
    g.bond("c", "i4")
    for k in range(1, 6):
        g.bond(f"i{k}", f"r{k}")
    found = look(g)
    (loop,) = found.data["loops"]
    assert loop["class"] == 2
    assert len(loop["closed_by"]) == 6
