"""Dry friction on flows and efforts that are prescribed, and relations whose sides become equal at an event."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bglang


def run(text: str, **options: float) -> bglang.Result:
    return bglang.loads(text).simulate(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parts", "bonds", "argument", "friction"),
    [
        ("Sf s(f = 2*cos(5*time + 0.1)); R r(e = coulomb(f, 3));", "s -> v -> r;", "r.f", "r.e"),
        ("Se s(e = 2*cos(5*time + 0.1)); R r(f = coulomb(e, 3));", "s -> v -> r;", "r.e", "r.f"),
        ("Sf s(f = 4*cos(5*time + 0.1)); TF t(m = 2); R r(e = coulomb(f, 3));", "s -> v -> t -> r;", "r.f", "r.e"),
        ("Real x(start = 2*cos(0.1)), y(start = 2*sin(0.1)); Sf s(f = x); R r(e = coulomb(f, 3)); "
         "equation der(x) = -5*y; der(y) = 5*x;", "s -> v -> r;", "r.f", "r.e"),
    ],
    ids=["flow", "effort", "transformer", "signal"],
)  # fmt: skip
def test_friction_on_what_is_prescribed_turns_without_sticking(
    parts: str, bonds: str, argument: str, friction: str
) -> None:
    result = run(f"model M J1 v; {parts} bonds {bonds} end M;", stop=3, tol=1e-9)
    zeros = [(math.pi / 2 + k * math.pi - 0.1) / 5 for k in range(5)]
    assert list(dict.fromkeys(e.time for e in result.events)) == pytest.approx(zeros, abs=1e-7)
    t = result.time[np.min(np.abs(result.time[:, None] - np.array(zeros)), axis=1) > 1e-6]
    size = np.abs(result.at(t, argument)).max()
    x = np.cos(5 * t + 0.1)
    assert result.at(t, argument) == pytest.approx(size * x / np.abs(x).max(), abs=1e-6)
    assert result.at(t, friction) == pytest.approx(3 * np.sign(x), abs=1e-12)


def test_friction_is_zero_while_its_flow_is_prescribed_as_zero() -> None:
    source = "if time < 1 then 0 else if time < 2 then 1 else if time < 3 then 0 else -1"
    result = run(f"model M Sf s(f = {source}); J1 v; R r(e = coulomb(f, 3) + f/2); bonds s -> v -> r; end M;", stop=4)
    assert result.at([0.5, 1.5, 2.5, 3.5], "r.e") == pytest.approx([0, 3.5, 0, -3.5], abs=1e-12)


def test_a_flow_that_touches_zero_slowly() -> None:
    result = run("model M Sf s(f = (time - 1)^3); J1 v; R r(e = coulomb(f, 3)); bonds s -> v -> r; end M;", stop=2)
    assert result.at([0.5, 0.9, 1.1, 1.5], "r.e") == pytest.approx([-3, -3, 3, 3], abs=1e-12)


def test_a_mass_on_a_belt_is_carried_along_until_its_spring_pulls_it_off() -> None:
    """It slips from rest until it has the speed of the belt, is carried, and is pulled off where the spring has the
    force of the friction; from there on it swings about q = 1 with an amplitude of the speed of the belt."""
    result = run(
        """model Belt
          Sf belt(f = 0.5); J1 m; J0 c; I mass(I = 1); C spring(C = 1); R r(e = coulomb(f, 1));
        bonds belt -> c -> m; c -> r; m -> mass, spring; end Belt;""",
        stop=3, tol=1e-9,
    )  # fmt: skip
    slip = math.asin(0.5)  # speed sin(t)
    stick = (1 - (1 - math.cos(slip))) / 0.5
    assert [e.time for e in result.events] == pytest.approx([slip, slip + stick], abs=1e-6)
    assert result.at(slip + 1, "r.e") == pytest.approx(1 - math.cos(slip) + 0.5, abs=1e-6)


def test_a_belt_that_turns_takes_the_mass_with_it() -> None:
    """A belt that swings faster than the friction can follow: the mass slips all the time, both ways."""
    result = run(
        """model Belt
          Sf belt(f = 10*cos(5*time)); J1 m; J0 c; I mass(I = 1); R r(e = coulomb(f, 1));
        bonds belt -> c -> m; c -> r; m -> mass; end Belt;""",
        stop=3, tol=1e-9,
    )  # fmt: skip

    def slips(t: float, v: list[float]) -> list[float]:
        return [math.copysign(1.0, 10 * math.cos(5 * t) - v[0])]

    exact = solve_ivp(slips, (0, 3), [0.0], max_step=1e-4, rtol=1e-8, atol=1e-9)
    assert result.at(3.0, "mass.p") == pytest.approx(exact.y[0, -1], abs=1e-4)
    assert all("sticks" not in (e.old, e.new) for e in result.events)


def test_relations_are_read_as_written_where_a_switch_makes_their_sides_equal() -> None:
    result = run(
        """model M Real u, x(start = 0); Boolean above, least;
        equation u = if time < 1 then 1 else if time < 2 then 0 else -1; above = u > 0; least = u >= 0;
          der(x) = if u > 0 then 1 else if u < 0 then -1 else 5; end M;""",
        stop=3, tol=1e-9,
    )  # fmt: skip
    assert result.at([0.5, 1.5, 2.5], "above").tolist() == [1, 0, 0]
    assert result.at([0.5, 1.5, 2.5], "least").tolist() == [1, 1, 0]
    assert result.at([1.0, 2.0, 3.0], "x") == pytest.approx([1, 6, 5], abs=1e-8)
