"""What `--vary` understands: the language's own constant expressions, samples and scales, nothing else."""

import numpy as np
import pytest

from bglang.diagnostics import SourceError, UsageError
from bglang.sweep.points import count, points
from bglang.sweep.vary import Variation, read_values, variation, variations


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("linspace(1, 10, 4)", (1, 4, 7, 10)),
        ("{1, 2, 5}", (1, 2, 5)),
        ("1:0.5:3", (1, 1.5, 2, 2.5, 3)),
        ("2:4", (2, 3, 4)),
        ("7", (7,)),
        ("-2^2", (-4,)),
        ("{pi, 2*pi}", (np.pi, 2 * np.pi)),
        ("Constants.g*{1, 2}", (9.80665, 2 * 9.80665)),
        ("{i^2 for i in 1:3}", (1, 4, 9)),
        ("logspace(0, 2, 3)", (1, 10, 100)),
        ("geomspace(1, 1000, 4)", (1, 10, 100, 1000)),
        ("geomspace(1, count = 3, high = 2^2)", (1, 2, 4)),
        ("{true, false}", (True, False)),
        ('{"steel", "brass"}', ("steel", "brass")),
        ("{{1, 2}, {3, 4}}", ("{1, 2}", "{3, 4}")),
        ("{Kind.fast, Kind.slow}", ("Kind.fast", "Kind.slow")),
    ],
)
def test_values(text: str, values: tuple[object, ...]) -> None:
    assert read_values(text) == pytest.approx(values) if isinstance(values[0], float) else read_values(text) == values


def test_samples_follow_from_their_seed() -> None:
    assert read_values("normal(5, 0.1, 4, seed = 3)") == pytest.approx(np.random.default_rng(3).normal(5, 0.1, 4))
    assert read_values("uniform(1, 2, 4)") == pytest.approx(np.random.default_rng(0).uniform(1, 2, 4))
    assert read_values("uniform(1, 2, 4)") != read_values("uniform(1, 2, 4, seed = 1)")
    sample = np.log(np.array(read_values("lognormal(3, 2, 4000)"), dtype=float))
    assert np.median(sample) == pytest.approx(np.log(3), abs=0.05) and sample.std() == pytest.approx(
        np.log(2), rel=0.05
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("k=linspace(1, 10", "not closed"),
        ("k=linspce(1, 10, 3)", "linspce"),
        ("k={1, x}", "no `x`"),
        ("k=__import__('os').system('true')", ""),
        ("k=1; end Vary; model X", ""),
        ("k=1 end Vary; model X Real y;", ""),
        ("k=uniform(1, 2)", "uniform(low, high, count, seed = 0)"),
        ("k=uniform(1, 2, 3, 4, 5)", "uniform(low, high, count, seed = 0)"),
        ("k=uniform(1, 2, 3, sede = 4)", "uniform(low, high, count, seed = 0)"),
        ("k=uniform(1, 2, {3, 4})", "one number"),
    ],
)
def test_wrong_texts_are_shown_with_their_place(text: str, says: str) -> None:
    with pytest.raises((SourceError, UsageError)) as failure:
        variation(text)
    assert says in str(failure.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("k", "NAME=VALUES"),
        ("k=", "NAME=VALUES"),
        ("k=uniform(1, 2, 2.5)", "whole number"),
        ("k=uniform(1, 2, 0)", "no values"),
        ("k=normal(1, -2, 4)", "deviation"),
        ("k=geomspace(-1, 2, 4)", "same sign"),
        ("k=logspace(1, 1000, 4)", "geomspace"),
    ],
)
def test_wrong_calls(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        variation(text)


def test_python_values() -> None:
    (k, on) = variations({"k": np.linspace(0, 1, 3), "on": [True, False]})
    assert k == Variation("k", (0.0, 0.5, 1.0)) and on.values == (True, False)
    assert variations({"k": "1:3"})[0].values == (1, 2, 3)
    assert variations({"K": [[1, 2], [3, 4]]})[0].values == ("{1.0, 2.0}", "{3.0, 4.0}")
    for wrong in ({"k": []}, {"k": None}, {"k": [object()]}, {}):
        with pytest.raises(UsageError):
            variations(wrong)
    with pytest.raises(UsageError, match="twice"):
        variations(["k=1", "k=2"])


def test_grid_and_pairs() -> None:
    both = variations(["a={1,2}", "b={1,2,3}"])
    assert [p.values for p in points(both, False, "")] == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]
    with pytest.raises(UsageError, match=r"`a` has 2, `b` has 3"):
        count(both, True)
    pairs = variations(["a={1,2,3}", "b={4,5,6}", "c=7"])
    assert [p.values for p in points(pairs, True, "")] == [(1, 4, 7), (2, 5, 7), (3, 6, 7)]
    keys = {p.key for p in points(both, False, "x")} | {p.key for p in points(both, False, "y")}
    assert len(keys) == 12
    with pytest.raises(UsageError, match="too many"):
        count([Variation("a", (1.0,) * 100_000), Variation("b", (1.0,) * 100_000)], False)
