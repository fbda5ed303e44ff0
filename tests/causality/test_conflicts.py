"""Contradictions: each names both causes with their lines, and its hint works when followed."""

from collections.abc import Callable

import pytest
from build import Build
from looking import look

from bglang.diagnostics import Diagnostic, UsageError
from bglang.expr import var


def only(g: Build) -> Diagnostic:
    found = look(g)
    (conflict,) = found.causality.conflicts
    assert found.diagnostics == [conflict.diagnostic]
    assert "" in found.causality.strokes
    return conflict.diagnostic


def lines(d: Diagnostic) -> set[str]:
    return {d.span.text, *(label.span.text for label in d.related)}


def two_efforts(series: bool) -> Build:
    g = Build()
    g.se("battery")
    g.se("charger")
    g.j0("bus")
    g.r("lamp")
    g.bond("battery", "bus")
    if series:
        g.j1("i")
        g.r("wire")
        g.chain("charger", "i", "bus")
        g.bond("i", "wire")
    else:
        g.bond("charger", "bus")
    g.bond("bus", "lamp")
    return g


def two_flows(parallel: bool) -> Build:
    g = Build()
    g.sf("left")
    g.sf("right")
    g.j1("w")
    g.r("bearing")
    g.bond("left", "w")
    if parallel:
        g.j0("u")
        g.r("slip")
        g.chain("right", "u", "w")
        g.bond("u", "slip")
    else:
        g.bond("right", "w")
    g.bond("w", "bearing")
    return g


def pushed(resistance: bool) -> Build:
    g = Build()
    g.se("left")
    g.se("right")
    g.j1("v")
    g.bond("left", "v")
    g.bond("right", "v")
    if resistance:
        g.r("added")
        g.bond("v", "added")
    return g


def both_sides(series: bool) -> Build:
    g = Build()
    g.se("a")
    g.se("b")
    g.tf("t", 2.0)
    g.bond("a", "t")
    if series:
        g.j1("i")
        g.r("added")
        g.chain("t", "i", "b")
        g.bond("i", "added")
    else:
        g.bond("t", "b")
    return g


def face_to_face(series: bool) -> Build:
    g = Build()
    g.se("a")
    g.se("b")
    if series:
        g.j1("i")
        g.r("added")
        g.chain("a", "i", "b")
        g.bond("i", "added")
    else:
        g.bond("a", "b")
    return g


def drawn_against(plain: bool) -> Build:
    g = Build()
    g.se("F")
    g.j1("v")
    g.i("m")
    g.bond("F", "v", stroke=None if plain else "tail")
    g.bond("v", "m")
    return g


def ring(opened: bool) -> Build:
    g = Build()
    g.j0("a", "b", "c")
    g.c("tank")
    g.r("leak")
    g.chain("a", "b", "c")
    if not opened:
        g.bond("c", "a")
    g.bond("a", "tank")
    g.bond("b", "leak")
    return g


def ring_of_ones(opened: bool) -> Build:
    g = Build()
    g.j1("a", "b", "c")
    g.i("mass")
    g.r("loss")
    g.chain("a", "b", "c")
    if not opened:
        g.bond("c", "a")
    g.bond("a", "mass")
    g.bond("b", "loss")
    return g


def floating(grounded: bool) -> Build:
    g = Build()
    g.j0("a", "b")
    g.j1("i1", "i2")
    g.r("r1")
    g.r("r2")
    g.chain("a", "i1", "b")
    g.chain("a", "i2", "b")
    g.bond("i1", "r1")
    g.bond("i2", "r2")
    if grounded:
        g.se("ground", 0.0)
        g.bond("ground", "a")
    return g


def short_circuit(series: bool) -> Build:
    """A resistance of zero across a source."""
    g = Build()
    g.se("E")
    g.r("wire", 0.0)
    g.j0("u")
    g.bond("E", "u")
    if series:
        g.j1("i")
        g.r("added")
        g.chain("u", "i", "wire")
        g.bond("i", "added")
    else:
        g.bond("u", "wire")
    return g


CASES: list[tuple[Callable[[bool], Build], str, str, str, set[str]]] = [
    (two_efforts, "causality/conflict", "`battery` and `charger` are both effort sources", "in series",
     {"battery -> bus;", "charger -> bus;"}),
    (two_flows, "causality/conflict", "`left` and `right` are both flow sources", "in parallel",
     {"left -> w;", "right -> w;"}),
    (pushed, "causality/unset", "`left` and `right` are both effort sources", "bond a resistance",
     {"left -> v;", "right -> v;"}),
    (both_sides, "causality/conflict", "`t` is a transformer", "in series with `b`", {"a -> t;", "t -> b;"}),
    (face_to_face, "causality/conflict", "bonded to each other", "in series with `b`", {"a -> b;"}),
    (drawn_against, "causality/locked", "`F` is an effort source", "plain `->`", {"F |-> v;", "Se F;"}),
    (ring, "causality/ring", "goes round in the ring", "remove one", {"a -> b;", "b -> c;", "c -> a;"}),
    (ring_of_ones, "causality/ring", "goes round in the ring", "remove one", {"a -> b;", "b -> c;", "c -> a;"}),
    (floating, "causality/open", "depend on each other only", "bond an `Se(e = 0)` to `a`", {"J0 a;", "J0 b;"}),
    (short_circuit, "causality/conflict", "`wire` is an element with R = 0", "in series", {"E -> u;", "u -> wire;"}),
]  # fmt: skip


@pytest.mark.parametrize(("build", "code", "reason", "hint", "shown"), CASES, ids=[c[0].__name__ for c in CASES])
def test_a_conflict_shows_both_causes_and_its_hint_works(
    build: Callable[[bool], Build], code: str, reason: str, hint: str, shown: set[str]
) -> None:
    told = only(build(False))
    assert told.severity == "error"
    assert told.code == code
    assert reason in told.reason
    assert hint in told.hint
    assert shown <= lines(told)
    mended = look(build(True))
    assert not mended.causality.conflicts
    assert not mended.diagnostics


def test_causes_are_found_behind_transformers_and_junctions() -> None:
    g = Build()
    g.se("a")
    g.se("b")
    g.j0("u", "v")
    g.tf("t", 2.0)
    g.r("r")
    g.chain("a", "u", "t", "v", "r")
    g.bond("b", "v")
    told = only(g)
    assert "`a` and `b`" in told.reason
    assert lines(told) == {"t -> v;", "b -> v;"}


def test_a_source_that_follows_a_signal_may_still_have_a_solution() -> None:
    g = Build()
    g.se("a")
    g.se("b", ("*", 2.0, var("r.f")))
    g.j0("u")
    g.r("r")
    g.bond("a", "u")
    g.bond("b", "u")
    g.bond("u", "r")
    found = look(g)
    (conflict,) = found.causality.conflicts
    assert conflict.solvable
    assert conflict.diagnostic.severity == "warning"


def test_two_drawn_strokes_that_contradict_each_other() -> None:
    g = Build()
    g.j0("u")
    g.c("c1")
    g.c("c2")
    g.r("r")
    g.bond("u", "c1", "c2", stroke="tail")
    g.bond("u", "r")
    told = only(g)
    assert told.code == "causality/locked"
    assert lines(told) == {"u |-> c1;", "u |-> c2;"}


def test_a_fixed_law_is_a_demand() -> None:
    """A constant effort cannot be turned round; a resistance that only saturates can, implicitly."""
    g = Build()
    g.se("E")
    g.j0("u")
    g.r("brake", law=("e", ("const", 3.0)))
    g.bond("E", "u")
    g.bond("u", "brake")
    assert only(g).code == "causality/conflict"

    h = Build()
    h.se("E")
    h.j0("u")
    h.r("brake", law=("e", ("saturation", var("f"), -1.0, -1.0, 1.0, 1.0)))
    h.bond("E", "u")
    h.bond("u", "brake")
    assert not look(h).causality.conflicts


def test_junctions_with_one_bond_say_zero() -> None:
    g = Build()
    g.j1("v")
    g.i("m")
    g.j0("end")
    g.bond("v", "m", "end")
    found = look(g)
    # no flow passes the 0-junction, so the mass is held
    assert (found.independent, found.dependent) == ([], ["m"])


def test_keeping_what_does_not_exist_is_a_wrong_call() -> None:
    with pytest.raises(UsageError, match="no storage named `spring`"):
        look(two_efforts(True), keep=["spring"])
