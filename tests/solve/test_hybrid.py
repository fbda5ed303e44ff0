"""Hybrid models as users write them: switching by time, ideal switches, frictions, against closed forms."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import bglang

Values = NDArray[np.float64]


def run(text: str, **options: float) -> bglang.Result:
    return bglang.loads(text).simulate(**options)  # type: ignore[arg-type]


# --- what time decides --------------------------------------------------------------------------------------------


def test_pulses_made_with_mod_go_on_at_each_period() -> None:
    """The end of a period is found a rounding error before it: the new period holds all the same."""
    result = run(
        """model M J1 j; I l(I=1e-3); R r(R=1); Se s(e=if mod(time,1e-4) < 0.3e-4 then 10 else 0);
        bonds s -> j -> l, r; end M;""",
        stop=0.02, tol=1e-8,
    )  # fmt: skip
    current = 0.0
    for _ in range(200):
        current = (10 + (current - 10) * math.exp(-0.03)) * math.exp(-0.07)
    assert result["l.f"][-1] == pytest.approx(current, abs=1e-6)


def test_steps_of_floor_ceil_and_mod_of_time() -> None:
    result = run(
        """model M Real x(start=0), y(start=0), z(start=0);
        equation der(x) = floor(2.5*time); der(y) = ceil(time^2); der(z) = mod(3*time, 2); end M;""",
        stop=3, tol=1e-9,
    )  # fmt: skip
    steps = sum((k + 1) * (math.sqrt(k + 1) - math.sqrt(k)) for k in range(9))
    assert result["x"][-1] == pytest.approx(0.4 * 21 + 7 * 0.2, abs=1e-7)
    assert result["y"][-1] == pytest.approx(steps, abs=1e-7)
    assert result["z"][-1] == pytest.approx(8 / 3 + 1 / 6, abs=1e-7)


# --- ideal switches and diodes ------------------------------------------------------------------------------------

DIODE = "0 = if e + f > 0 then e else f"
COMPLEMENTARY = "0 = min(f, -e)"


def filtered(t: float) -> float:
    """A rectified 10 V sine of 1 Hz on 0.1 F and 5 ohm: it follows until the source falls faster than the load."""
    w, tau = 2 * math.pi, 0.5
    leaves, half = (math.pi - math.atan(w * tau)) / w, 0
    while True:
        off = leaves + half / 2
        if t <= off:
            return abs(10 * math.sin(w * t))
        top, begin = abs(10 * math.sin(w * off)), (half + 1) / 2

        def below(s: float, top: float = top, off: float = off) -> float:
            return top * math.exp(-(s - off) / tau) - abs(10 * math.sin(w * s))

        if t <= brentq(below, begin, begin + 0.25):
            return top * math.exp(-(t - off) / tau)
        half += 1


@pytest.mark.parametrize("tol", [1e-5, 1e-6, 1e-8])
@pytest.mark.parametrize("diode", [DIODE, COMPLEMENTARY])
def test_an_ideal_bridge_straight_onto_a_capacitor(diode: str, tol: float) -> None:
    """While all diodes block, the source floats between the rails: one diode keeps it there without a current."""
    result = run(
        f"""model Bridge
          Se s(e = 10*sin(2*pi*time)); Se ground(e = 0); J0 a, b, p, g, z; J1 js, j1, j2, j3, j4, jl;
          R d1({diode}); R d2({diode}); R d3({diode}); R d4({diode}); R load(R = 5); C c(C = 0.1);
        bonds
          b -> js; s -> js; js -> a;
          a -> j1 -> p; j1 -> d1;  b -> j2 -> p; j2 -> d2;  g -> j3 -> a; j3 -> d3;  g -> j4 -> b; j4 -> d4;
          p -> jl -> g; jl -> z -> load, c; ground -> g;
        end Bridge;""",
        stop=3, tol=tol,
    )  # fmt: skip
    assert result["c.e"] == pytest.approx(np.array([filtered(t) for t in result.time]), abs=max(1e-5, 10 * tol))


@pytest.mark.parametrize("diode", [DIODE, COMPLEMENTARY])
def test_a_buck_converter_in_discontinuous_conduction(diode: str) -> None:
    """With both switches open the current is bound to zero; when the switch opens under current the diode takes it
    over rather than an impulse."""
    result = run(
        f"""model Buck Se s(e=10); Se g(e=0); J0 x, o; J1 jl, js, jd; I l(I=20e-6); C c(C=100e-6); R r(R=20);
          R sw(0 = if mod(time, 20e-6) < 6e-6 then e else f); R fw({diode});
        bonds s -> js -> sw; js -> x; g -> jd -> fw; jd -> x; x -> jl -> l; jl -> o -> c, r; end Buck;""",
        stop=4e-4, tol=1e-8,
    )  # fmt: skip

    def on(_t: float, x: Values) -> list[float]:
        return [(10 - x[1]) / 20e-6, (x[0] - x[1] / 20) / 100e-6]

    def freewheels(_t: float, x: Values) -> list[float]:
        return [-x[1] / 20e-6, (x[0] - x[1] / 20) / 100e-6]

    def empty(_t: float, x: Values) -> float:
        return float(x[0])

    empty.terminal, empty.direction = True, -1  # type: ignore[attr-defined]
    x = [0.0, 0.0]
    for k in range(20):
        t = k * 20e-6
        x = solve_ivp(on, [t, t + 6e-6], x, rtol=1e-10, atol=1e-12).y[:, -1]
        off = solve_ivp(freewheels, [t + 6e-6, t + 20e-6], x, rtol=1e-10, atol=1e-12, events=empty)
        x = off.y[:, -1]
        if off.status == 1:
            x = [0.0, x[1] * math.exp(-(t + 20e-6 - off.t[-1]) / 2e-3)]
    assert result["c.e"][-1] == pytest.approx(x[1], abs=1e-5)
    assert result["l.f"].min() > -1e-6
    assert not [e for e in result.events if e.kind == "impulse"]


def test_a_thyristor_that_rests_at_zero_current() -> None:
    """While it blocks, `l.f < 0` sits on its root: that is no event."""
    result = run(
        """model T Se s(e=10*sin(2*pi*time)); J1 j; R r(R=1); I l(I=0.05); discrete Boolean on(start=false);
          R th(0 = if on then e else f);
        bonds s -> j -> r, l, th;
        equation
          when mod(time, 1) > 0.15 and s.e > 0 then on = true; elsewhen l.f < 0 then on = false; end when; end T;""",
        stop=2, tol=1e-8,
    )  # fmt: skip
    w, z, phase = 2 * math.pi, math.hypot(1, 0.1 * math.pi), math.atan(0.1 * math.pi)

    def current(t: float) -> float:
        return 10 / z * (math.sin(w * t - phase) - math.sin(w * 0.15 - phase) * math.exp(-(t - 0.15) / 0.05))

    end = brentq(current, 0.4, 0.7)
    t = np.mod(result.time, 1.0)
    assert result["l.f"] == pytest.approx(np.where((t >= 0.15) & (t <= end), np.vectorize(current)(t), 0.0), abs=1e-5)


# --- frictions that bind each other -------------------------------------------------------------------------------


def test_two_frictions_on_the_sides_of_a_transformer() -> None:
    """Seen at v they hold 1 + 2 N together; at rest only that sum is determined."""
    result = run(
        """model M J1 v, w; I m(I=1, p(start=6)); TF t(m=2); R a(e=coulomb(f,1)), b(e=coulomb(f,1));
          Se F(e = if time < 5 then 0 else 4);
        bonds F -> v -> m, a; v -> t -> w -> b; end M;""",
        stop=8, tol=1e-9,
    )  # fmt: skip
    t = result.time
    assert result["v.f"] == pytest.approx(np.where(t < 5, np.maximum(6 - 3 * t, 0), t - 5), abs=1e-7)
    rests = (t > 2.01) & (t < 4.99)
    assert result["a.e"][rests] + 2 * result["b.e"][rests] == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("tol", [1e-5, 1e-7, 1e-9, 1e-11])
def test_a_mass_that_friction_holds_while_the_force_grows(tol: float) -> None:
    """What rounding does to a mass at rest says nothing about its size: the tolerance does not shrink with it."""
    result = run(
        """model M J1 v; I m(I=1); C s(C=1); Se F(e=2*sin(0.5*time)); R fr(e=coulomb(f,0.7)+0.3*f);
        bonds F -> v -> m, s, fr; end M;""",
        stop=60, tol=tol,
    )  # fmt: skip
    assert result.stats.steps < 3000

    def force(t: float, x: Values) -> float:
        return 2 * math.sin(0.5 * t) - float(x[0])

    t, x, mode, changes = 0.0, [0.0, 0.0], 0, list[float]()
    while True:

        def rates(t: float, x: Values, mode: int = mode) -> list[float]:
            return [x[1], force(t, x) - 0.7 * mode - 0.3 * x[1]] if mode else [0.0, 0.0]

        def changes_mode(t: float, x: Values, mode: int = mode) -> float:
            return mode * float(x[1]) if mode else 0.7 - abs(force(t, x))

        changes_mode.terminal, changes_mode.direction = True, -1  # type: ignore[attr-defined]
        piece = solve_ivp(rates, [t, 60], x, events=changes_mode, rtol=1e-11, atol=1e-13, max_step=0.05)
        t, x = float(piece.t[-1]), [float(piece.y[0, -1]), 0.0]
        if piece.status == 0:
            break
        changes.append(t)
        rest = force(t, np.array(x))
        mode = 0 if mode and abs(rest) <= 0.7 else int(np.sign(rest))
        x[1] = 1e-14 * mode
    times = [e.time for e in result.events if e.kind == "coulomb"]
    near = max(1e-6, 100 * tol)  # at the limit a mass may start, stop and start again within the accuracy of the run
    found = [t for t, after in pairwise([*times, math.inf]) if after - t > near]
    assert found == pytest.approx(changes, abs=near)
    assert result["s.q"][-1] == pytest.approx(x[0], abs=max(1e-6, 100 * tol))


# --- steady starts ------------------------------------------------------------------------------------------------


def test_a_pushed_mass_has_no_steady_state() -> None:
    """Nothing else reads its momentum, but it is a storage: its own law does."""
    with pytest.raises(bglang.SourceError, match=r"nothing holds `m\.p`"):
        run('model M J1 v; I m(I=1); Se F(e=6); bonds F -> v -> m; annotation(experiment(initial="steady")); end M;')


def test_a_steady_start_on_dry_friction_keeps_its_place() -> None:
    result = run(
        """model M J1 v; I m(I=1); C k(C=1, q(start=0.2)); R f(e=coulomb(f,1)); Se F(e=0.5);
        bonds F -> v -> m, k, f; annotation(experiment(initial="steady")); end M;"""
    )
    assert (result["k.q"][-1], result["f.e"][-1]) == pytest.approx((0.2, 0.3), abs=1e-8)


def test_whens_that_undo_each_other_stop_the_run() -> None:
    """Each fires once in an event; what would fire again at the same instant is not lost silently."""
    with pytest.raises(bglang.SimulationError, match="chatters") as caught:
        run(
            """model M Real x(start=1); discrete Real u(start=-1); equation der(x) = u;
            when x < 0 then u = 1; end when; when x > 0 then u = -1; end when; end M;""",
            stop=2,
        )
    assert caught.value.time == pytest.approx(1.0, abs=1e-9)
