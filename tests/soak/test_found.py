"""Models that a soak found, with what was wrong."""

import pytest

from soak.checks import check
from soak.random_models import random_model

FOUND = {
    42: "multistep methods from rest, where a law's constants cancel to rounding",
    7373: "the energy balance of a structure that lets nothing move",
    100006: "rests that were doubted again after each event, with ever shorter steps",
    100016: "the multistep method took a slow start from rest for noise and was off by six percent",
    100040: "a step too small at the start, where a law's constants cancel",
    100065: "the energy balance where all efforts are zero",
    100095: "the energy balance of a charge that a ring of transformers holds",
}


@pytest.mark.parametrize("seed", FOUND)
def test_found(seed: int) -> None:
    check(random_model(seed), seed)
