"""Units are followed through laws, parameters, equations, starts and moduli."""

from dataclasses import replace

import pytest
from build import Build

from bglang.diagnostics import Report
from bglang.expr import Expr, par, var
from bglang.graph.ir import BondGraph, Domain
from bglang.graph.unit_check import Mode, check_units

ELECTRICAL = Domain("Electrical", "V", "A", q_unit="C", p_unit="Wb")
ROTATIONAL = Domain("Rotational", "N.m", "rad/s")


def found(graph: BondGraph, mode: Mode = "error") -> list[tuple[str, str]]:
    report = Report()
    check_units(graph, report, mode)
    return [(d.severity, d.message) for d in report]


def dressed(build: Build, units: dict[str, str], domain: str | dict[str, str] | None = None) -> BondGraph:
    graph = replace(build.graph(), domains=(ELECTRICAL, ROTATIONAL))
    parameters = tuple(replace(p, unit=units.get(p.name, "")) for p in graph.parameters)
    variables = tuple(replace(v, unit=units.get(v.name, "")) for v in graph.variables)
    graph = replace(graph, parameters=parameters, variables=variables)
    if isinstance(domain, str):
        graph = replace(graph, bonds=tuple(replace(b, domain=domain) for b in graph.bonds))
    elif domain is not None:
        of = domain
        bonds = tuple(
            replace(
                b, domain=of.get(graph.elements[b.tail.element].name) or of.get(graph.elements[b.head.element].name)
            )
            for b in graph.bonds
        )
        graph = replace(graph, bonds=bonds)
    return graph


def sums(value: Expr, units: dict[str, str]) -> list[tuple[str, str]]:
    build = Build()
    for name in units:
        if name != "y":
            build.parameter(name, 1.0)
    build.parameter("y", value)
    return found(dressed(build, units))


A_B = {"a": "m", "b": "mm"}


@pytest.mark.parametrize(
    ("value", "units", "expected"),
    [
        (("+", par("a"), par("b")), A_B, "the parts of a sum have the units `m` and `mm`"),
        (("+", par("a"), 3.0), A_B, ""),
        (("*", 2.0, par("a")), {"a": "m", "y": "kg"}, ""),  # a number makes a product unknown
        (("*", par("a"), par("b")), {"a": "m", "b": "N", "y": "J"}, ""),
        (("*", par("a"), par("b")), {"a": "m", "b": "N", "y": "W"}, "`y` has the unit `W`, but this has `J`"),
        (("/", par("a"), par("b")), {"a": "V", "b": "A", "y": "ohm"}, ""),
        (("sqrt", ("*", par("a"), par("a"))), {"a": "m", "y": "m"}, ""),
        (("^", par("a"), 2.0), {"a": "m", "y": "m"}, "`y` has the unit `m`, but this has `m2`"),
        (("if", (">", par("a"), par("b")), 1.0, 2.0), A_B, "the sides of a relation have the units `m` and `mm`"),
        (("sin", par("a")), {"a": "rad", "y": "1"}, ""),
        (("sin", par("a")), {"a": "deg"}, "the argument of `sin` has the unit `deg`"),
        (("neg", par("a")), {"a": "m", "y": "m"}, ""),
        (par("a"), {"a": "degC", "y": "K"}, "`y` has the unit `K`, but this has `degC`"),
    ],
)
def test_expressions(value: Expr, units: dict[str, str], expected: str) -> None:
    assert [message for _, message in sums(value, units)] == ([expected] if expected else [])


def test_arguments_only_warn() -> None:
    assert [severity for severity, _ in sums(("exp", par("a")), {"a": "V"})] == ["warning"]


def circuit(**values: Expr) -> Build:
    build = Build()
    for name in ("Rw", "Lw"):
        build.parameter(name, 1.0)
    build.j1("i")
    build.r("r", values.get("R", par("Rw")))
    build.i("l", values.get("L", par("Lw")), start=values.get("start"))
    build.bond("i", "r", "l")
    return build


def test_parameters_of_elements_fit_their_domain() -> None:
    right = {"Rw": "ohm", "Lw": "H"}
    assert found(dressed(circuit(), right, "Electrical")) == []
    wrong = {"Rw": "ohm", "Lw": "mH"}
    assert found(dressed(circuit(), wrong, "Electrical")) == [
        ("error", "`l.I` has the unit `H`, but this has `mH`"),
    ]
    assert found(dressed(circuit(), wrong, "Electrical"), "warn")[0][0] == "warning"
    assert found(dressed(circuit(), wrong, "Electrical"), "off") == []
    assert found(dressed(circuit(), wrong)) == []  # no domain, nothing is known


def test_starts_and_laws() -> None:
    graph = dressed(circuit(start=par("Rw")), {"Rw": "A"}, "Electrical")
    assert [m for _, m in found(graph)] == [
        "`r.R` has the unit `ohm`, but this has `A`",
        "`l.p.start` has the unit `Wb`, but this has `A`",
    ]
    build = Build()
    build.j1("i")
    build.parameter("k", 1.0)
    build.r("r", law=("e", ("*", par("k"), var("f"), var("f"))))
    build.bond("i", "r")
    assert [m for _, m in found(dressed(build, {"k": "ohm"}, "Electrical"))] == [
        "`r.e` has the unit `V`, but this has `W`"
    ]
    assert found(dressed(build, {"k": "ohm/A"}, "Electrical")) == []


def test_moduli_join_domains() -> None:
    build = Build()
    build.parameter("K", 1.0)
    build.j1("i", "w")
    build.gy("emf", par("K"))
    build.chain("i", "emf", "w")
    both = {"i": "Electrical", "w": "Rotational"}
    assert found(dressed(build, {"K": "V.s/rad"}, both)) == []
    assert found(dressed(build, {"K": "N.m/A"}, both)) == []
    assert [m for _, m in found(dressed(build, {"K": "N.m"}, both))] == [
        "`emf.r` has the unit `Wb`, but this has `N.m`"
    ]


def test_equations_and_derivatives() -> None:
    build = Build()
    x = build.variable("x")
    build.parameter("v", 1.0)
    build.equation(("der", x), par("v"))
    assert found(dressed(build, {"x": "m", "v": "m/s"})) == []
    assert [m for _, m in found(dressed(build, {"x": "m", "v": "m"}))] == [
        "the left side has the unit `m/s`, the right side `m`"
    ]


def test_an_unknown_unit_is_a_warning() -> None:
    assert sums(par("a"), {"a": "furlong", "y": "m"})[0][0] == "warning"
