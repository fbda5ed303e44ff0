"""A small, fixed part of the soak: random bond graphs against the tableau, another integrator and other ways to write
them."""

import pytest

from soak.checks import check
from soak.random_models import random_model

SEEDS = range(25)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_models(seed: int) -> None:
    check(random_model(seed), seed)


def test_most_random_models_run() -> None:
    assert sum(check(random_model(seed), seed).ran for seed in range(40, 48)) >= 4
