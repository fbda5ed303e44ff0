"""Runs that tell how accurate they were; and errors against closed forms, within ten tolerances."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bglang
from bglang.cli import main
from bglang.solve.verify import HONEST

RC = "model M Se s(e = 1); J1 i; R r(R = 2); C c(C = 0.5); bonds s -> i -> r, c; end M;"
OSCILLATOR = "model M J1 v; I m(I = 1); C c(C = 1, q(start = 1)); bonds v -> m, c; end M;"
DAMPED = "model M J1 v; I m(I = 1); R r(R = 0.4); C c(C = 0.25, q(start = 1)); bonds v -> m, c, r; end M;"
FALL = "model M J1 v; I m(I = 2); Se g(e = 2*9.81); R air(e = 0.5*f*abs(f)); bonds g -> v -> m, air; end M;"
RAMP = "model M Sf s(f = time^2); J0 u; C c(C = 2); bonds s -> u -> c; end M;"
STIFF = "model M Se s(e = cos(time)); J1 i; R r(R = 1e-3); C c(C = 1); bonds s -> i -> r, c; end M;"
LINKED = "model M J1 v, w; I a(I = 1, p(start = 1)); I b(I = 3); TF t(m = 2); R r(R = 1); bonds v -> t -> w; v -> a, r; w -> b; end M;"  # noqa: E501
PENDULUM = "model M Real x(start = 1); equation der(x) = -x^2; end M;"

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
CLOSED: dict[str, tuple[str, str, float, Callable[[Array], Array]]] = {
    "charging": (RC, "c.q", 5.0, lambda t: 0.5 * (1 - np.exp(-t))),
    "oscillator": (OSCILLATOR, "c.q", 20.0, lambda t: np.cos(t)),
    "damped": (DAMPED, "c.q", 10.0, lambda t: np.exp(-0.2 * t) * (np.cos(W * t) + 0.2 / W * np.sin(W * t))),
    "falling": (FALL, "m.f", 5.0, lambda t: VT * np.tanh(9.81 * t / VT)),
    "ramp": (RAMP, "c.q", 3.0, lambda t: t**3 / 3),
    "stiff": (STIFF, "c.q", 10.0, lambda t: (np.cos(t) + 1e-3 * np.sin(t) - np.exp(-t / 1e-3)) / (1 + 1e-6)),
    "linked": (LINKED, "a.p", 20.0, lambda t: np.exp(-t / 13) * START),
    "rational": (PENDULUM, "x", 20.0, lambda t: 1 / (1 + t)),
}
W, VT, START = np.sqrt(4 - 0.04), np.sqrt(2 * 9.81 / 0.5), 1.0


CASES = [(name, method) for name in CLOSED for method in ("auto", "radau", "bdf")]


@pytest.mark.parametrize(("name", "method"), CASES)
@pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-8])
def test_the_error_is_within_ten_tolerances(name: str, tol: float, method: str) -> None:
    text, variable, stop, exact = CLOSED[name]
    result = bglang.loads(text).simulate(stop=stop, tol=tol, method=method, points=101)  # type: ignore[arg-type]
    expected = exact(result.time)
    error = float(np.max(np.abs(result[variable] - expected)) / np.max(np.abs(expected)))
    assert error <= HONEST * tol


def test_verify_names_the_worst_first() -> None:
    found = bglang.loads(DAMPED).verify(stop=10, tol=1e-5)
    sizes = [d.relative for d in found.deviations]
    assert sizes == sorted(sizes, reverse=True) and found.good and 0 < found.worst <= 1e-4
    assert {d.name for d in found.deviations} == set(found.result.names)
    first, second = found.methods
    assert first != second and found.checked_at == pytest.approx(1e-7)
    assert "in tolerances" in str(found) and "good" in str(found).splitlines()[-1]


def test_verify_sees_the_true_error() -> None:
    """The difference of the two runs is the error of the first, as the closed form knows it."""
    found = bglang.loads(OSCILLATOR).verify(stop=50, tol=1e-4, method="bdf")
    true = np.max(np.abs(found.result["c.q"] - np.cos(found.result.time)))
    seen = next(d for d in found.deviations if d.name == "c.q")
    assert seen.absolute == pytest.approx(true, rel=0.2)


def test_events_that_come_a_little_later_are_no_difference() -> None:
    text = "model M Real x(start = 1); discrete Real s(start = 1); equation der(x) = -s; when x < 0.3 then s = -1; end when; end M;"  # noqa: E501
    found = bglang.loads(text).verify(stop=2)
    assert found.good and found.events < 1e-6 and "times of events" in str(found)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.bg"
    path.write_text(RC)
    assert main(["run", str(path), "--verify", "--quiet", "-o", str(tmp_path / "out.csv")]) == 0
    said = capsys.readouterr().out
    assert "verified:" in said and "c.q" in said and "observed accuracy" in said
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 501, "the first run is the result"
