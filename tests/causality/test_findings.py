"""Choices, dependences, loops and what zero values do."""

import pytest
from build import Build
from looking import look

from bglang.expr import var


def test_prefer_keep_and_declaration_order() -> None:
    def build(prefer: str = "") -> Build:
        g = Build()
        g.j1("v")
        for name in ("a", "b", "c"):
            g.i(name)
        g.bond("v", "a", "b", "c")
        if prefer:
            g.prefer(prefer)
        return g

    assert look(build()).independent == ["a"]
    assert look(build("b")).independent == ["b"]
    assert look(build("b"), keep=["c"]).independent == ["c"]
    assert look(build("b"), keep=["c", "a"]).independent == ["c"]
    assert [r["rule"] for r in look(build("b")).data["bonds"] if r["name"] == "v -> b"] == ["kept"]


def test_a_drawn_stroke_wins_over_a_preference() -> None:
    g = Build()
    g.j1("v")
    g.i("a")
    g.i("b")
    g.prefer("a")
    g.bond("v", "a", stroke="tail")
    g.bond("v", "b")
    assert look(g).independent == ["b"]


def test_a_locked_port_is_honoured() -> None:
    g = Build()
    g.j0("u")
    g.c("c1")
    g.c("c2")
    g.lock("c1", "effort_in")
    g.bond("u", "c1", "c2")
    found = look(g)
    assert (found.independent, found.dependent) == (["c2"], ["c1"])
    assert found.stroke("u -> c1") == "head"


def test_a_resistance_that_cannot_be_inverted_does_not_cost_a_state() -> None:
    """Sf, C and R(e = φ(f)) on one J0: the C stays a state, the law is solved as it stands."""
    g = Build()
    g.sf("pump")
    g.j0("p")
    g.c("tank")
    g.r("valve", law=("e", ("+", var("f"), ("^", var("f"), 3.0), ("sin", var("f")))))
    g.bond("pump", "p")
    g.bond("p", "tank", "valve")
    found = look(g)
    assert found.independent == ["tank"]
    assert found.stroke("p -> valve") == "head"
    assert not found.causality.conflicts


@pytest.mark.parametrize(("written", "stroke"), [("e", "tail"), ("f", "head")])
def test_resistances_keep_the_direction_of_their_law_where_they_may(written: str, stroke: str) -> None:
    g = Build()
    g.j0("u")
    other = var("f" if written == "e" else "e")
    g.r("r1", law=(written, ("+", other, ("^", other, 3.0))))
    g.r("r2", law=("", ("-", var("e"), ("*", 2.0, var("f")))))
    g.sf("i")
    g.bond("u", "r1", "r2")
    g.bond("i", "u")
    assert look(g).stroke("u -> r1") == stroke


def test_a_split_dependence_names_all_its_causes() -> None:
    g = Build()
    g.j1("x", "y", "z")
    g.j0("sum")
    for name in ("x", "y", "z"):
        g.i(f"m{name}")
        g.bond(name, f"m{name}")
    g.bond("x", "sum")
    g.bond("y", "sum")
    g.bond("sum", "z")
    found = look(g)
    (entry,) = found.data["dependences"]
    assert (entry["name"], entry["on"], entry["split"]) == ("mz", ["mx", "my"], False)
    assert [p["gain"] for p in entry["paths"]] == ["1", "1"]


def test_arrows_turn_the_sign_of_a_gain() -> None:
    g = Build()
    g.j1("x", "y")
    g.j0("equal")
    g.i("a")
    g.i("b")
    g.bond("x", "a", "equal")
    g.bond("y", "b", "equal")
    assert look(g).path("b", "a")["gain"] == "-1"


def test_one_resistance_with_a_field_behind_it_closes_on_itself() -> None:
    """An R-field with crossed laws: the path returns to the field."""
    g = Build()
    g.se("E")
    g.j1("i", "k")
    g.field(
        "amplifier",
        [("a", "R"), ("b", "R")],
        [("a", "e", ("*", 2.0, var("b.f"))), ("b", "e", ("+", var("b.f"), ("*", 3.0, var("a.f"))))],
    )
    g.r("r")
    g.r("s")
    g.bond("E", "i")
    g.bond("i", "r", "amplifier.a")
    g.bond("k", "s", "amplifier.b")
    found = look(g)
    assert not found.causality.conflicts
    assert {n for loop in found.data["loops"] for n in loop["closed_by"]} >= {"amplifier"}


def test_a_ring_with_a_gain_is_a_closed_path_of_class_four() -> None:
    g = Build()
    g.j0("a", "b")
    g.tf("t", 3.0)
    g.c("c")
    g.bond("a", "b")
    g.chain("b", "t", "a")
    g.bond("a", "c")
    found = look(g)
    (loop,) = found.data["loops"]
    assert (loop["kind"], loop["class"]) == ("junction", 4)
    # the ring holds the effort at zero, whatever is stored
    assert found.dependent == ["c"]


def test_a_ring_with_one_gyrator_passes_efforts_and_flows() -> None:
    g = Build()
    g.j1("a", "b")
    g.gy("t", 3.0)
    g.i("m")
    g.bond("a", "b")
    g.chain("b", "t", "a")
    g.bond("a", "m")
    found = look(g)
    assert found.independent == ["m"]
    assert not found.causality.conflicts


def test_a_gain_of_one_is_seen_through_parameters() -> None:
    """m and 1/m in a ring: singular whatever m is, and the compliance is free."""

    def build(second: float) -> Build:
        g = Build()
        g.j0("a", "b")
        g.tf("t1", g.parameter("m", 3.0))
        g.tf("t2", ("/", second, ("p", "m")))
        g.c("c")
        g.chain("a", "t1", "b", "t2", "a")
        g.bond("a", "c")
        return g

    assert look(build(1.0)).data["conflicts"][0]["code"] == "causality/ring"
    assert look(build(2.0)).dependent == ["c"]


def test_modulation_by_an_algebraic_variable_closes_a_loop() -> None:
    g = Build()
    g.se("E")
    g.j1("i")
    g.i("l")
    g.r("r", law=("e", ("*", var("E2.f"), var("f"))))
    g.se("E2")
    g.j1("k")
    g.r("s", law=("f", ("*", var("r.e"), var("e"))))
    g.bond("E", "i")
    g.bond("i", "l", "r")
    g.bond("E2", "k")
    g.bond("k", "s")
    (loop,) = look(g).data["loops"]
    assert set(loop["closed_by"]) == {"r", "s"}


def test_a_resistance_of_zero_joins_two_compliances() -> None:
    def build(value: float) -> Build:
        g = Build()
        g.j0("a", "b")
        g.j1("i")
        g.c("c1")
        g.c("c2")
        g.r("wire", value)
        g.chain("a", "i", "b")
        g.bond("a", "c1")
        g.bond("b", "c2")
        g.bond("i", "wire")
        return g

    assert look(build(1.0)).independent == ["c1", "c2"]
    assert (look(build(0.0)).independent, look(build(0.0)).dependent) == (["c1"], ["c2"])


def test_a_mass_of_zero_is_no_state() -> None:
    g = Build()
    g.j1("v")
    g.i("ghost", 0.0)
    g.i("m")
    g.bond("v", "ghost", "m")
    found = look(g)
    assert found.independent == ["m"]
    assert "I = 0" in found.data["reasons"]["ghost"]


def test_a_modulus_of_zero_is_not_divided_by() -> None:
    g = Build()
    g.j1("a", "b")
    g.i("m1")
    g.i("m2")
    g.tf("t", 0.0)
    g.bond("b", "m2")
    g.bond("a", "m1")
    g.chain("a", "t", "b")
    assert look(g, keep=["m2"]).independent == ["m1"]


def test_fields_have_a_causality_at_every_port() -> None:
    """An IC-field: one port is held by a source, the other stays a state."""
    g = Build()
    g.sf("drive")
    g.field("f", [("a", "C"), ("b", "I")], [("a", "e", var("a.q")), ("b", "f", ("+", var("b.p"), var("a.q")))])
    g.j1("x", "y")
    g.r("r")
    g.bond("x", "f.a")
    g.bond("drive", "y")
    g.bond("y", "f.b")
    g.bond("x", "r")
    found = look(g)
    assert (found.independent, found.dependent) == (["f.a"], ["f.b"])
    assert found.path("f.b", "drive")["elements"] == ["f", "y", "drive"]
    assert found.data["states"] == ["f.a.q"]


def test_two_elements_bonded_directly() -> None:
    g = Build()
    g.c("c")
    g.r("r")
    g.bond("c", "r")
    found = look(g)
    assert found.independent == ["c"]
    assert found.stroke("c -> r") == "head"


def test_disconnected_parts_are_assigned_each() -> None:
    g = Build()
    for k in "ab":
        g.j1(f"v{k}")
        g.i(f"m{k}")
        g.c(f"k{k}")
        g.bond(f"v{k}", f"m{k}", f"k{k}")
    assert look(g).independent == ["ma", "ka", "mb", "kb"]


def test_a_chain_of_rigid_masses_has_paths_that_are_traced_on_demand() -> None:
    from bglang.causality.explain import explain

    n = 700
    g = Build()
    for k in range(n):
        g.j1(f"v{k}")
        g.i(f"m{k}")
        g.bond(f"v{k}", f"m{k}")
        if k:
            g.tf(f"t{k}", 2.0)
            g.chain(f"v{k - 1}", f"t{k}", f"v{k}")
    found = look(g)
    assert found.independent == ["m0"]
    assert len(found.dependent) == n - 1
    assert found.causality.dependent[-1].paths == ()
    text = explain(found.graph, found.causality, f"m{n - 1}")
    assert f"causal path to `m0`: m{n - 1} - v{n - 1} - t{n - 1} - " in text
