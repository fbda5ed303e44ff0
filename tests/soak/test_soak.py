"""A small, fixed part of the soak, and random models as hypothesis makes and shrinks them."""

import random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import bglang
from bglang.syntax.format import format_source
from soak.checks import check
from soak.minimise import minimise
from soak.physics import Model
from soak.random_models import Maker, random_model
from soak.tableau import Curves, Tableau
from soak.writings import ALL, source

models = st.randoms(use_true_random=False).map(lambda rng: Maker(rng).model())
"""Bond graphs as data, for any test that wants them."""


@pytest.mark.parametrize("seed", range(12))
def test_random_models(seed: int) -> None:
    check(random_model(seed), seed)


@settings(max_examples=15, deadline=None, derandomize=True, phases=[Phase.generate, Phase.shrink])
@given(models, st.randoms(use_true_random=False))
def test_writings_of_one_model_have_one_graph(model: Model, rng: random.Random) -> None:
    plain = bglang.loads(source(model)).graph
    kinds = sorted(e.kind for e in plain.elements)
    for write in ALL:
        text = write(model, rng).text
        graph = bglang.loads(text).graph
        assert sorted(e.kind for e in graph.elements) == kinds and len(graph.bonds) == len(plain.bonds)
        formatted = format_source(text)
        assert format_source(formatted) == formatted


def test_most_random_models_run() -> None:
    """A sample of a soak.  SECURITY.md tells what long ones still find."""
    assert sum(check(random_model(seed), seed).ran for seed in (39, 40, 41, 42, 43, 45, 46, 47, 48)) >= 8


def test_every_feature_is_made() -> None:
    made = set().union(*(random_model(seed).features for seed in range(300)))
    enport = {"linear", "poly", "abs2", "absqrt", "coulomb", "breakpoint", "saturation", "adjustable_saturation",
              "pwlin", "interpolation", "reciprocal_square", "inverse", "sine", "cosine", "arcsine", "arccosine",
              "exponential", "logarithm", "reciprocal_sine", "reciprocal_cosine", "reciprocal_arcsine",
              "reciprocal_arccosine", "const", "table", "min", "max", "abs"}  # fmt: skip
    kinds = {"TF", "GY", "mesh", "step", "library", "implicit law", "matrix_field", "energy_field", "inertial_field"}
    kinds |= {f"modulated by {x}" for x in ("time", "q", "p", "e", "f")} | {"modulated R", "modulated C", "modulated I"}
    assert enport | kinds <= made | {"min", "max"}  # those stand inside other terms


def test_the_tableau_sees_what_is_wrong() -> None:
    """The other opinion is one: a result of other numbers, or moved by a millionth, is not taken."""
    model = random_model(3)
    good = Curves(bglang.loads(source(model)).simulate(stop=1, tol=1e-9, points=201, events=True))
    tableau = Tableau(model)
    assert tableau.worst(good)[0] < 1e-9 and tableau.integrate(good)[0] < 1e-6
    name = next(name for name in tableau.rates if abs(good[name][-1]) > 1e-3)
    good.values[name] = good.values[name] * (1 + 1e-4 * good.time)
    assert tableau.worst(good)[0] > 1e-7


def test_failing_models_become_small() -> None:
    model = next(m for m in map(random_model, range(50)) if any(n.base == "GY" for n in m.nodes) and len(m.nodes) > 12)
    small = minimise(model, lambda m: "has a gyrator" if any(n.base == "GY" for n in m.nodes) else None)
    assert 1 <= len(small.nodes) <= 3
