"""Checks of the flat graph: each mistake once, in the model's words; sound models are silent."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from build import Build

from bglang.diagnostics import Report
from bglang.expr import Expr, par, var
from bglang.graph.checks import check
from bglang.graph.ir import BondGraph, Domain

ELECTRICAL = Domain("Electrical", "V", "A", q_unit="C", p_unit="Wb")
MECHANICAL = Domain("Translational", "N", "m/s", q_unit="m", p_unit="N.s")


def codes(graph: BondGraph, *, numbers: bool = True) -> list[str]:
    report = Report()
    check(graph, report, numbers=numbers)
    return [d.code for d in report]


def messages(graph: BondGraph) -> list[str]:
    report = Report()
    check(graph, report)
    return [d.message for d in report]


def oscillator() -> Build:
    build = Build()
    build.j1("v")
    build.i("mass", 2.0)
    build.c("spring", 0.5)
    build.bond("v", "mass", "spring")
    return build


def test_a_sound_model_is_silent() -> None:
    assert codes(oscillator().graph()) == []


# --- structure ------------------------------------------------------------------------------------------------------


def test_lone_nodes() -> None:
    build = oscillator()
    build.r("loose", 1.0)
    build.tf("lever", 2.0)
    build.bond("v", "lever")
    build.j0("island")
    build.field("gap", [("a", "C"), ("b", "C")], [("a", "e", var("a.q")), ("b", "e", var("b.q"))])
    build.bond("v", "gap.a")
    assert messages(build.graph()) == [
        "`loose` has no bond",
        "the transformer `lever` needs two bonds, but has 1",
        "the junction `island` has no bond",
        "nothing is bonded to `b` of `gap`",
    ]


def test_a_junction_with_one_bond_is_a_warning() -> None:
    build = oscillator()
    build.j1("end")
    build.bond("v", "end")
    assert codes(build.graph()) == ["graph/dangling-junction"]


def with_domains(build: Build, domains: dict[str, str]) -> BondGraph:
    graph = replace(build.graph(), domains=(ELECTRICAL, MECHANICAL))
    elements = tuple(
        replace(e, ports=tuple(replace(p, domain=domains.get(e.name)) for p in e.ports)) for e in graph.elements
    )
    return replace(graph, elements=elements)


def test_domains_meet_at_a_junction() -> None:
    graph = with_domains(oscillator(), {"mass": "Electrical", "spring": "Translational"})
    assert codes(graph) == ["domains/mismatch"]
    assert codes(with_domains(oscillator(), {"mass": "Electrical", "spring": "Electrical"})) == []


def test_effort_times_flow_is_a_power() -> None:
    thermal = Domain("Heat", "K", "W")
    assert codes(replace(oscillator().graph(), domains=(thermal,))) == ["graph/no-power"]
    assert codes(replace(oscillator().graph(), domains=(replace(thermal, pseudo=True),))) == []


# --- laws -----------------------------------------------------------------------------------------------------------


def one(kind: str, law: tuple[str, Expr]) -> BondGraph:
    build = oscillator()
    getattr(build, kind)("x", law=law)
    build.bond("v", "x")
    return build.graph()


@pytest.mark.parametrize(
    ("kind", "law", "expected"),
    [
        ("c", ("e", ("+", var("q"), var("f"))), ["laws/variable"]),
        ("i", ("f", ("+", var("p"), var("e"))), ["laws/variable"]),
        ("c", ("e", ("*", var("q"), var("q"))), []),
        ("c", ("e", ("*", var("q"), var("mass.p"))), ["laws/modulated-storage"]),
        ("r", ("e", ("*", 3.0, ("sign", var("f")))), ["laws/sign"]),
        ("r", ("e", ("*", ("^", var("f"), 2.0), ("sign", var("f")))), []),
        ("r", ("e", ("coulomb", var("f"), 3.0)), []),
    ],
)
def test_laws_of_one_ports(kind: str, law: tuple[str, Expr], expected: list[str]) -> None:
    assert codes(one(kind, law)) == expected


def field(kinds: str, laws: list[tuple[str, str, Expr]], energy: Expr | None = None) -> BondGraph:
    build = oscillator()
    names = "abcdef"[: len(kinds)]
    build.field("x", [(n, k) for n, k in zip(names, kinds, strict=True)], laws, energy=energy)  # type: ignore[misc]
    for name in names:
        build.bond("v", f"x.{name}")
    return build.graph()


def coupled(k12: Expr, k21: Expr) -> list[tuple[str, str, Expr]]:
    a, b = var("a.q"), var("b.q")
    return [("a", "e", ("+", a, ("*", k12, b))), ("b", "e", ("+", ("*", k21, a), b))]


def test_reciprocity() -> None:
    assert codes(field("CC", coupled(0.5, 0.5))) == []
    assert codes(field("CC", coupled(0.5, 0.4))) == ["laws/not-reciprocal"]
    assert codes(field("CC", coupled(var("a.q"), 0.5))) == ["laws/not-reciprocal"]
    # energy = a^2*b: the gradient is reciprocal without being linear
    a, b = var("a.q"), var("b.q")
    gradient: list[tuple[str, str, Expr]] = [("a", "e", ("*", 2.0, a, b)), ("b", "e", ("^", a, 2.0))]
    assert codes(field("CC", gradient)) == []


def test_reciprocity_of_mixed_storage() -> None:
    # energy = p^2/(2 m(q)) with m = 1 + q^2
    q, p = var("a.q"), var("b.p")
    m: Expr = ("+", 1.0, ("^", q, 2.0))
    force: Expr = ("neg", ("/", ("*", ("^", p, 2.0), q), ("^", m, 2.0)))
    assert codes(field("CI", [("a", "e", force), ("b", "f", ("/", p, m))])) == []
    assert codes(field("CI", [("a", "e", 0.0), ("b", "f", ("/", p, m))])) == ["laws/not-reciprocal"]


def test_passivity() -> None:
    def laws(r12: float, r21: float) -> list[tuple[str, str, Expr]]:
        a, b = var("a.f"), var("b.f")
        return [("a", "e", ("+", a, ("*", r12, b))), ("b", "e", ("+", ("*", r21, a), b))]

    assert codes(field("RR", laws(0.5, 0.5))) == []
    assert codes(field("RR", laws(5.0, -5.0))) == []  # a gyrating part does no work
    assert codes(field("RR", laws(5.0, 5.0))) == ["laws/active-resistance"]


def test_a_field_has_a_law_for_each_port() -> None:
    a = var("a.q")
    assert codes(field("CC", [("a", "e", a)])) == ["laws/too-few"]
    assert codes(field("CC", [("a", "e", a), ("a", "e", ("*", 2.0, a))])) == ["laws/too-many", "laws/too-few"]
    assert codes(field("C", [("a", "e", a), ("", "", ("-", a, var("a.e")))])) == ["laws/too-many"]


# --- values ---------------------------------------------------------------------------------------------------------


def test_symbolic_elements_need_a_law_for_numbers() -> None:
    build = oscillator()
    build.r("loss", None)
    build.bond("v", "loss")
    assert codes(build.graph()) == ["laws/missing"]
    assert codes(build.graph(), numbers=False) == []


def test_parameters_need_a_value_where_they_are_used() -> None:
    build = oscillator()
    build.parameter("k", None)
    build.parameter("unused", 3.0)
    build.c("other", ("/", 1.0, par("k")))
    build.bond("v", "other")
    assert codes(build.graph()) == ["parameters/no-value", "parameters/unused"]
    assert codes(build.graph(), numbers=False) == ["parameters/unused"]


# --- counting -------------------------------------------------------------------------------------------------------


def signals(make: Callable[[Build], None]) -> list[str]:
    build = oscillator()
    make(build)
    return messages(build.graph())


def test_balanced_signals() -> None:
    def make(build: Build) -> None:
        x, y = build.variable("x"), build.variable("y")
        build.equation(("der", x), var("v.f"))
        build.equation(("+", x, y), 3.0)

    assert signals(make) == []


def test_too_few_equations() -> None:
    def make(build: Build) -> None:
        x, y, z = (build.variable(n) for n in "xyz")
        build.variable("alone")
        build.equation(x, var("v.f"))
        build.equation(("+", x, y, z), 3.0)

    assert signals(make) == ["1 equation for 2 unknowns: `y`, `z`", "no equation determines `alone`"]


def test_too_many_equations() -> None:
    def make(build: Build) -> None:
        x, y = build.variable("x"), build.variable("y")
        build.equation(x, var("v.f"))
        build.equation(y, 1.0)
        build.equation(x, 2.0)
        build.equation(var("v.f"), 3.0)

    assert signals(make) == ["2 equations for 1 unknown: `x`", "this equation has nothing to determine"]
