"""What Lagrange forms say: residuals against the literature, constraints, freedom, names, mistakes."""

import json
import math
import random
import sys
from pathlib import Path

import pytest

sys.path[:0] = [
    str(Path(__file__).parent),
    str(Path(__file__).parents[1]),
    str(Path(__file__).parents[1] / "causality"),
]

from lagrange_models import EXAMPLES, GEARS, NODES, SLED, TWICE, example, number  # noqa: E402

import bglang  # noqa: E402
from bglang.api import Model  # noqa: E402
from bglang.diagnostics import SourceError, UsageError  # noqa: E402
from bglang.equations.lagrange_text import LagrangeEquations  # noqa: E402


def lagrange(model: Model, **wish: object) -> LagrangeEquations:
    made = model.equations("lagrange", **wish)  # type: ignore[arg-type]
    assert isinstance(made, LagrangeEquations)
    return made


def point(seed: int) -> dict[str, float]:
    rnd = random.Random(seed)
    names = ["theta1", "theta2", "l1", "l2", "J1", "J2", "m2", "f", "Cm", "fyB.e"]
    names += [f"der(theta{k})" for k in (1, 2)] + [f"der(der(theta{k}))" for k in (1, 2)]
    return {name: rnd.uniform(-1.5, 1.5) for name in names}


@pytest.mark.parametrize("seed", range(5))
def test_crank_slider_has_the_published_equations(seed: int) -> None:
    """Marquis-Favre and Scavarda (1999), equations 3 to 5."""
    made = lagrange(example("crank_slider"), coordinates=["w1", "w2"])
    v = point(seed)
    a1, a2, d1, d2 = v["theta1"], v["theta2"], v["der(theta1)"], v["der(theta2)"]
    dd1, dd2 = v["der(der(theta1))"], v["der(der(theta2))"]
    l1, l2, m, f, lam = v["l1"], v["l2"], v["m2"], v["f"], v["fyB.e"]
    first = (
        (v["J1"] + m * l1**2) * dd1 + m * l1 * l2 / 2 * (math.cos(a1 - a2) * dd2 + math.sin(a1 - a2) * d2**2)
        + f * l1**2 * math.sin(a1) ** 2 * d1 + f * l1 * l2 * math.sin(a1) * math.sin(a2) * d2
        + l1 * math.cos(a1) * lam - v["Cm"]
    )  # fmt: skip
    second = (
        (v["J2"] + m * l2**2 / 4) * dd2 + m * l1 * l2 / 2 * (math.cos(a1 - a2) * dd1 - math.sin(a1 - a2) * d1**2)
        + f * l2**2 * math.sin(a2) ** 2 * d2 + f * l1 * l2 * math.sin(a1) * math.sin(a2) * d1
        + l2 * math.cos(a2) * lam
    )  # fmt: skip
    assert number(made.equations[0].residual, v) == pytest.approx(first, abs=1e-12)
    assert number(made.equations[1].residual, v) == pytest.approx(second, abs=1e-12)
    third = l1 * math.cos(a1) * d1 + l2 * math.cos(a2) * d2
    assert number(made.constraints[0].residual, v) == pytest.approx(third, abs=1e-12)


def test_json_has_the_agreed_shape() -> None:
    made = lagrange(example("crank_slider"), coordinates="w1,w2").to_dict()
    assert made["coordinates"] == [{"name": "theta1", "junction": "w1"}, {"name": "theta2", "junction": "w2"}]
    assert made["multipliers"] == [{"name": "fyB.e", "junction": "fyB"}]
    assert [e["junction"] for e in made["equations"]] == ["w1", "w2"]
    assert all("der(der(theta1))" in e["residual"] for e in made["equations"])
    assert made["constraints"] == [
        {
            "junction": "fyB",
            "residual": "l1*cos(theta1)*der(theta1) + l2*cos(theta2)*der(theta2)",
            "holonomic": True,
        }
    ]
    assert made["degrees_of_freedom"] == 1
    assert json.loads(json.dumps(made)) == made


def test_constraints_at_all_three_levels() -> None:
    v = point(3)
    model = example("crank_slider")
    at = {level: lagrange(model, coordinates="w1,w2", constraints=level).constraints[0].residual for level in
          ("position", "velocity", "acceleration")}  # fmt: skip
    step = 1e-6
    moved = dict(v)
    for k in (1, 2):
        speed, rate = v[f"der(theta{k})"], v[f"der(der(theta{k}))"]
        moved[f"theta{k}"] += step * speed + step**2 / 2 * rate
        moved[f"der(theta{k})"] += step * rate
    slope = (number(at["position"], moved) - number(at["position"], v)) / step
    assert slope == pytest.approx(number(at["velocity"], v), rel=1e-4)
    bend = (number(at["velocity"], moved) - number(at["velocity"], v)) / step
    assert bend == pytest.approx(number(at["acceleration"], v), rel=1e-4)


def test_coordinates_may_be_automatic_or_in_the_experiment() -> None:
    assert [j for _, j in lagrange(example("crank_slider")).coordinates] == ["w1", "w2"]
    text = GEARS.replace("experiment(", 'experiment(coordinates = "w2", ')
    assert lagrange(bglang.loads(text)).coordinates == (("w2.q", "w2"),)


def test_one_coordinate_is_enough_where_the_structure_determines_the_rest() -> None:
    made = lagrange(example("crank_slider"), coordinates=["w1"])
    assert made.degrees_of_freedom == 1 and not made.constraints and len(made.equations) == 1


def test_a_junction_is_put_in_where_velocities_meet() -> None:
    made = lagrange(bglang.loads(GEARS), coordinates="w1,w2")
    assert made.inserted == ("'mesh:w2'",)
    assert made.multipliers == (("'mesh:w2'.e", "'mesh:w2'"),)
    assert made.degrees_of_freedom == 1
    assert lagrange(bglang.loads(GEARS), coordinates="w1,w2").inserted == made.inserted


def test_redundant_constraints_are_named() -> None:
    made = lagrange(bglang.loads(TWICE), coordinates="vx,vy")
    assert made.redundant == ("second",) and made.degrees_of_freedom == 1
    assert "Redundant: the constraints of second" in str(made)
    with pytest.raises(SourceError) as caught:
        bglang.loads(TWICE).simulate(form="lagrange", coordinates="vx,vy")
    assert "the constraint of `second` follows from those of `first`" in str(caught.value)


def test_holonomic_is_frobenius_not_exactness() -> None:
    sled = lagrange(bglang.loads(SLED), coordinates="vx,vy,w", constraints="position")
    assert [c.holonomic for c in sled.constraints] == [False]
    assert sled.degrees_of_freedom == 2
    assert [w.code for w in sled.warnings] == ["lagrange/no-position"]
    divided = (
        (EXAMPLES / "lagrange" / "pendulum.bg").read_text().replace("rx(m = x), ry(m = y)", "rx(m = x/y), ry(m = 1)")
    )
    made = lagrange(bglang.loads(divided), coordinates="vx,vy", constraints="position")
    assert [c.holonomic for c in made.constraints] == [True] and not made.warnings


def test_efforts_may_be_the_velocities() -> None:
    made = lagrange(bglang.loads(NODES), coordinates="a,b")
    assert made.coordinates == (("a.p", "a"), ("b.p", "b"))
    assert made.multipliers == (("tie.f", "tie"),)
    values = {"C1": 2.0, "C2": 3.0, "R1": 5.0, "R2": 7.0, "E": 11.0, "tie.f": 0.3, "der(a.p)": 1.1, "der(b.p)": -0.4,
              "der(der(a.p))": 0.7, "der(der(b.p))": 0.9}  # fmt: skip
    assert number(made.equations[0].residual, values) == pytest.approx(2 * 0.7 + 1.1 / 5 + 0.3)
    assert number(made.equations[1].residual, values) == pytest.approx(3 * 0.9 - 0.4 / 7 - 0.3)
    assert abs(number(made.constraints[0].residual, values)) == pytest.approx(abs(1.1 + 0.4 - 11))


def test_massless_coordinates_are_legal() -> None:
    made = lagrange(example("cam_follower"), coordinates="w,a,v")
    assert made.degrees_of_freedom == 1 and len(made.constraints) == 2
    assert made.to_dict()["auxiliary"] == [{"name": "spring.q", "residual": "der(spring.q) - der(y)"}]


def test_step_four_is_the_users() -> None:
    model = example("crank_slider")
    plain = lagrange(model, coordinates="w1,w2")
    chosen = lagrange(model, coordinates="w1,w2", strong="fxB:vxB,fxG")
    assert [b.junction for b in chosen.constraints] == [b.junction for b in plain.constraints]
    with pytest.raises(UsageError, match="no junction named `fxC`; did you mean"):
        lagrange(model, coordinates="w1,w2", strong="fxC")


def test_wrong_coordinates_are_named() -> None:
    model = bglang.load(EXAMPLES / "double_pendulum.bg")
    with pytest.raises(SourceError) as caught:
        lagrange(model, coordinates="w1")
    assert "the coordinates `w1` do not determine the motion of" in str(caught.value)
    with pytest.raises(UsageError, match="no junction named `w3`; did you mean `w1`"):
        lagrange(model, coordinates="w1,w3")
    with pytest.raises(UsageError, match="`ax` is a TF"):
        lagrange(model, coordinates="ax")
    with pytest.raises(UsageError, match="form: `lagrang` is none of"):
        model.equations("lagrang")
    with pytest.raises(UsageError, match=r"stabilise: `glg` is none of .* did you mean `ggl`"):
        model.simulate(form="lagrange", stabilise="glg")


def test_a_model_without_inertia_moves_in_the_dual_way() -> None:
    made = lagrange(bglang.load(EXAMPLES / "tanks.bg")).to_dict()
    found = made["coordinates"]
    assert isinstance(found, list) and found
    assert all(c["name"] == f"{c['junction']}.p" for c in found)


def test_a_model_without_storages_has_no_lagrange_form() -> None:
    with pytest.raises(SourceError) as caught:
        lagrange(bglang.loads("model M Se s(e = 1); J1 v; R r(R = 2), q(R = 1); bonds s -> v -> r, q; end M;"))
    assert "nothing that a coordinate could describe" in str(caught.value)


def test_a_common_flow_that_is_on_its_way_is_no_contradiction() -> None:
    """Gears in subsystems: junctions bonded to each other, with masses on each of them."""
    source = """model M J1 a, b, c; TF t(m = 3); I ma(I = 1), mb(I = 2), mc(I = 3); Se s(e = 1);
    bonds s -> b -> mb; b -> a; a -> ma, t; t -> c -> mc; end M;"""
    model = bglang.loads(source)
    assert lagrange(model, coordinates="a").to_dict()["degrees_of_freedom"] == 1
    result = model.simulate(form="lagrange", coordinates="a", stop=2, points=3)
    assert result["a.f"][-1] == pytest.approx(2 / (1 + 2 + 9 * 3), rel=1e-6)
