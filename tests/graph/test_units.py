"""Unit texts: known values, algebra, and texts made from units that read back as themselves."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bglang
from bglang.graph.units import ONE, Unit, UnknownUnit, factor_hint, parse_unit, spell


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("N.m/rad", "kg.m2/s2"),
        ("V.s/rad", "Wb"),
        ("ohm", "V/A"),
        ("Hz", "1/s"),
        ("kg.m2", "N.m.s2"),
        ("J/(kg.K)", "m2/(s2.K)"),
        ("N*m", "J"),
        ("m^2", "m2"),
        ("s^-1", "1/s"),
        ("s-1", "1/s"),
        ("H", "Wb/A"),
        ("F", "C/V"),
        ("kOhm", "1000.ohm"),
        ("l/min", "0.001.m3/(60.s)"),
        ("rad/s", "1/s"),
        ("m^(1/2)", "m^0.5"),
        ("Pa", "N/m2"),
        ("A.turns", "A"),
    ],
)
def test_equal_units(a: str, b: str) -> None:
    assert parse_unit(a).fits(parse_unit(b))


@pytest.mark.parametrize(
    ("text", "scale"), [("mm", 1e-3), ("uF", 1e-6), ("rpm", math.pi / 30), ("bar", 1e5), ("min", 60.0)]
)
def test_scales(text: str, scale: float) -> None:
    assert parse_unit(text).scale == pytest.approx(scale, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "foo",
        "N.",
        "m//s",
        "(m",
        "m^",
        "m^x",
        "kg.m2)",
        "m^99",
        "^2",
        "." * 300,
        "m/0",
        "0",
        "Ym20",
        "1e300.1e300",
        "s/1e400",
        "0^-1",
        "(0)^0.5",
    ],
)
def test_wrong_units(text: str) -> None:
    with pytest.raises(UnknownUnit):
        parse_unit(text)


def test_degrees_celsius_count_from_another_zero() -> None:
    celsius, kelvin = parse_unit("degC"), parse_unit("K")
    assert not celsius.fits(kelvin)
    assert "different zeros" in factor_hint(kelvin, celsius, "K", "degC")
    assert (celsius / ONE).fits(kelvin)  # a difference of temperatures


def test_the_hint_names_the_factor() -> None:
    assert "1 mm is 0.001 m" in factor_hint(parse_unit("m"), parse_unit("mm"), "m", "mm")
    assert factor_hint(parse_unit("m"), parse_unit("s"), "m", "s") == ""


exponents = st.tuples(*[st.integers(-4, 4)] * 7)


@given(exponents)
def test_spelled_units_read_back(dimension: tuple[int, ...]) -> None:
    unit = Unit(dimension)
    assert parse_unit(spell(unit)).fits(unit)


names = st.sampled_from(["m", "kg", "s", "N", "V", "ohm", "mm", "kW", "rad", "Pa", "mol", "deg"])


@given(st.lists(st.tuples(names, st.integers(-3, 3).filter(bool)), min_size=1, max_size=5))
def test_products_multiply(factors: list[tuple[str, int]]) -> None:
    text = ".".join(f"{name}{power}" for name, power in factors)
    expected = ONE
    for name, power in factors:
        expected = expected * parse_unit(name) ** power
    assert parse_unit(text).fits(expected)
    assert parse_unit(f"1/({text})").fits(ONE / expected)


@pytest.mark.parametrize("law", ["1*f", "f*1", "f/1", "1^2*f", "-1*f", "2*f/2"])
def test_a_plain_number_makes_a_product_fit_whatever_it_is(law: str) -> None:
    """Rule 1 of the language: also a one, which changes no value."""
    text = "model A Electrical.Capacitor c(C = 1); J1 i; R r(e = LAW); bonds i -> c, r; end A;"
    bglang.loads(text.replace("LAW", law)).compile()
    with pytest.raises(bglang.SourceError, match="unit"):
        bglang.loads(text.replace("LAW", "f")).compile()
