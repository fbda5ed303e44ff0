"""Friction, switches and sliding, written in the language, against closed forms and independent integrations."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import bglang


def run(text: str, **options: float) -> bglang.Result:
    return bglang.loads(text).simulate(**options)  # type: ignore[arg-type]


# --- dry friction -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("start", "end"), [(16.5, 0.5), (17.0, 1.0), (17.5, 0.5)])
def test_an_oscillator_with_dry_friction_comes_to_rest(start: float, end: float) -> None:
    """Each half swing loses 2 Fc/k; at 17 it ends exactly on the limit of the friction and stays."""
    result = run(
        f"model M J1 v; I m(I=1); C s(C=1, q(start={start})); R f(e=coulomb(f, 1)); bonds v -> m, s, f; end M;",
        stop=60, tol=1e-8,
    )  # fmt: skip
    assert result["s.q"][-1] == pytest.approx(end, abs=1e-6)
    assert result["f.e"][-1] == pytest.approx(-end, abs=1e-6)
    assert result.events[-1].new == "sticks"


def test_two_frictions_share_the_reaction_in_proportion() -> None:
    result = run(
        """model M J1 v; I m(I=1); Se F(e=2*time); R a(e=coulomb(f,1)); R b(e=coulomb(f,2));
        bonds F -> v -> m, a, b; end M;""",
        stop=3,
    )
    sticks = result.time < 1.49
    assert result["a.e"][sticks] == pytest.approx(2.0 * result.time[sticks] / 3.0, abs=1e-7)
    assert result["b.e"][sticks] == pytest.approx(4.0 * result.time[sticks] / 3.0, abs=1e-7)
    assert result["m.p"][-1] == pytest.approx(1.5**2, abs=1e-5)


@pytest.mark.parametrize("law", ["e = coulomb(f, 0.5)", "0 = e - min(0.5, max(-0.5, e + f))"])
def test_elasto_slip(law: str) -> None:
    """A spring in parallel with a slider: while it slips the charge is pinned."""
    result = run(f"model M J0 z; Sf s(f=2*cos(time)); C c(C=2); R f({law}); bonds s -> z -> c, f; end M;", stop=6)
    t = result.time
    pieces = [t < math.pi / 6, t < math.pi / 2, t < math.pi, t < 1.5 * math.pi]
    expected = np.select(
        pieces, [2 * np.sin(t), 1 + 0 * t, 1 + 2 * (np.sin(t) - 1), -1 + 0 * t], -1 + 2 * (np.sin(t) + 1)
    )
    assert result["c.q"] == pytest.approx(expected, abs=1e-5)


def test_stribeck_friction_with_abs_of_its_own_flow() -> None:
    """While it sticks, abs(f) sits on its own breakpoint; that is no event."""
    result = run(
        """model M J1 v; I m(I=1); C s(C=1); Sf b(f=0.1); J0 z;
        R f(e=coulomb(f, 1 + 0.5*exp(-10*abs(f))) + 0.05*f); bonds b -> z -> s; z -> v -> m, f; end M;""",
        stop=40,
    )

    def slips(_t: float, x: NDArray[np.float64]) -> list[float]:
        return [0.1 - x[1], x[0] - (1 + 0.5 * math.exp(-10 * abs(x[1])) + 0.05 * x[1])]

    def rests(_t: float, x: NDArray[np.float64]) -> float:
        return float(x[1])

    rests.terminal, rests.direction = True, -1  # type: ignore[attr-defined]
    reference = solve_ivp(slips, [15, 40], [1.5, 1e-14], rtol=1e-11, atol=1e-13, events=rests, method="Radau")
    changes = [e.time for e in result.events if e.kind == "coulomb"]
    assert changes[0] == pytest.approx(15.0, abs=1e-5)
    assert changes[1] == pytest.approx(reference.t_events[0][0], abs=1e-3)


def test_friction_on_masses_that_move_together() -> None:
    result = run(
        """model M J1 v; I m1(I=1, p(start=3)); I m2(I=2); TF t(m=0.5); J1 w; R f(e=coulomb(f,1));
        bonds v -> m1; v -> t -> w -> m2, f; end M;""",
        stop=10,
    )  # 1.5 kg seen at v, 0.5 N
    assert result["v.f"] == pytest.approx(np.maximum(3 - result.time / 3, 0.0), abs=1e-7)


def test_a_clutch_engages() -> None:
    result = run(
        """model M J1 a; J1 b; I ia(I=1, p(start=10)); I ib(I=2); R load(R=0.5); J0 z; J1 d; R cl(e=coulomb(f,3));
        bonds a -> ia; b -> ib, load; a -> z -> b; z -> d -> cl; end M;""",
        stop=8,
    )
    locks = brentq(lambda t: 10 - 3 * t - 6 * (1 - math.exp(-t / 4)), 0, 5)
    assert result["ib.f"][-1] == pytest.approx((10 - 3 * locks) * math.exp(-0.5 / 3 * (8 - locks)), abs=1e-5)
    assert [e.time for e in result.events] == pytest.approx([locks], abs=1e-5)


# --- switches -----------------------------------------------------------------------------------------------------

DIODE = "0 = if e + f > 0 then e else f"


def test_a_full_wave_rectifier_of_ideal_diodes() -> None:
    """At each crossing all four diodes change at once: the next pair takes over."""
    result = run(
        f"""model Bridge
          Se s(e = 10*sin(2*pi*time)); Se ground(e = 0); J0 a, b, p, g; J1 js, j1, j2, j3, j4, jl; R load(R = 10);
          R d1({DIODE}); R d2({DIODE}); R d3({DIODE}); R d4({DIODE});
        bonds
          b -> js; s -> js; js -> a;
          a -> j1 -> p; j1 -> d1;
          b -> j2 -> p; j2 -> d2;
          g -> j3 -> a; j3 -> d3;
          g -> j4 -> b; j4 -> d4;
          p -> jl -> g; jl -> load;
          ground -> g;
        end Bridge;""",
        stop=2,
    )
    assert result["load.e"] == pytest.approx(np.abs(10 * np.sin(2 * np.pi * result.time)), abs=1e-6)


def test_a_freewheeling_diode_takes_over_without_a_jump() -> None:
    result = run(
        f"""model M Se s(e=10); J0 z; J1 j; I l(I=1); R r(R=1); J1 js; J1 jd; Se g(e=0);
        R sw(0 = if time < 1 then e else f); R fw({DIODE});
        bonds s -> js -> sw; js -> z; g -> jd -> fw; jd -> z; z -> j -> l, r; end M;""",
        stop=3,
    )
    t, top = result.time, 10 * (1 - math.exp(-1))
    expected = np.where(t < 1, 10 * (1 - np.exp(-t)), top * np.exp(-(t - 1)))
    assert result["l.f"] == pytest.approx(expected, abs=1e-5)


# --- sliding ------------------------------------------------------------------------------------------------------


def test_sign_slides_and_leaves_again() -> None:
    """x' = t/2 - sign(x) reaches zero at 2 - sqrt(2), stays until the drive is 1, then rises."""
    result = run("model M Real x(start=0.5); equation der(x) = time/2 - sign(x); end M;", stop=4)
    t = result.time
    expected = np.select([t < 2 - math.sqrt(2), t < 2], [0.5 - t + t**2 / 4, 0 * t], (t - 2) ** 2 / 4)
    assert result["x"] == pytest.approx(expected, abs=1e-6)
    assert [(e.kind, e.new) for e in result.events] == [("sliding", "slides"), ("sliding", "above")]


def test_sliding_mode_control() -> None:
    """On v + x = 0 the rest of the way is x' = -x, whatever disturbs it."""
    result = run(
        "model M Real x(start=1); Real v(start=0); equation der(x)=v; der(v)=-2*sign(v+x)+0.5*sin(time); end M;",
        stop=6, tol=1e-8,
    )  # fmt: skip
    first = result.events[0].time
    after = result.time > first
    assert result["v"][after] + result["x"][after] == pytest.approx(0.0, abs=1e-7)
    decay = result["x"][after] * np.exp(result.time[after])
    assert decay == pytest.approx(decay[0], rel=1e-5)


def test_sides_of_a_switch_are_mixed_as_filippov_says() -> None:
    """Down with 1, up with 2: a share of 2/3 keeps it at zero, and what else the switch drives gets that share."""
    result = run(
        """model M Real x(start=1); Real y(start=0);
        equation der(x) = if x > 0 then -1 else 2; der(y) = if x > 0 then 1 else 0; end M;""",
        stop=4,
    )
    assert result["y"][-1] == pytest.approx(1 + 3 * 2 / 3, abs=1e-7)


def test_friction_by_sign_balances_its_energy_while_it_slides() -> None:
    result = run(
        "model M J1 v; I m(I=1, p(start=2)); Se F(e=0.5); R f(e=sign(f)); bonds F -> v -> m, f; end M;", stop=6
    )
    assert result["f.e"][-1] == pytest.approx(0.5, abs=1e-9)
    assert result.audit is not None and result.audit.relative_error < 1e-9


# --- whens --------------------------------------------------------------------------------------------------------


def test_all_reinits_of_an_event_see_the_values_before_it() -> None:
    result = run(
        """model M Real x(start=0); Real y(start=1); Real z(start=5); equation der(x)=1; der(y)=0; der(z)=0;
        when x > 1 then reinit(y, z + pre(x)); reinit(z, y); reinit(x, 0); end when; end M;""",
        stop=2.5,
    )
    assert (result["x"][-1], result["y"][-1], result["z"][-1]) == pytest.approx((0.5, 2.0, 6.0), abs=1e-6)


def test_a_reinit_may_fire_another_when() -> None:
    result = run(
        """model M Real x(start=0); Real y(start=0); equation der(x)=1; der(y)=0;
        when x > 1 then reinit(y, 2); end when; when y > 1 then reinit(x, -5); end when; end M;""",
        stop=2,
    )
    assert (result["x"][-1], result["y"][-1]) == pytest.approx((-4.0, 2.0), abs=1e-6)


def test_what_terminal_changes_is_in_the_last_row_only() -> None:
    result = run(
        """model M discrete Real a(start=0); Real x(start=2); equation der(x)=-x;
        when terminal() then a = x; end when; end M;""",
        stop=1,
    )
    assert len(result.time) == 500
    assert result["a"][-1] == pytest.approx(2 * math.exp(-1), abs=1e-5)
    assert (result["a"][:-1] == 0.0).all()


def test_a_thermostat_switches_once_at_each_limit() -> None:
    result = run(
        """model M discrete Boolean on(start=false); Real T(start=20); equation der(T) = if on then 5 else -2;
        when T < 18 then on = true; elsewhen T > 22 then on = false; end when; end M;""",
        stop=10,
    )
    switched = [e.time for e in result.events if e.kind == "discrete"]
    assert switched == pytest.approx([1, 1.8, 3.8, 4.6, 6.6, 7.4, 9.4], abs=1e-7)


def test_two_sources_that_contradict_at_an_event_end_the_run() -> None:
    """What time has decided is not taken back to make the model go on."""
    with pytest.raises(bglang.SimulationError) as caught:
        run(
            """model M Se a(e = 1), b(e = 2); R s(0 = if time < 0.5 then f else e); J1 j;
            bonds a -> j -> s; j -> b; end M;"""
        )
    assert caught.value.time == 0.5


def test_balls_that_touch_pass_their_blow_on_in_one_event() -> None:
    """What rounding leaves between balls at rest is no further blow."""
    result = bglang.loads(
        """model M J1 a, b, c; I m1(I=1, p(start=1)), m2(I=1), m3(I=1); Real x1(start=0), x2(start=1), x3(start=1);
        discrete Integer blows(start=0);
        bonds a -> m1; b -> m2; c -> m3;
        equation der(x1) = a.f; der(x2) = b.f; der(x3) = c.f;
        when x1 > x2 then reinit(m1.p, m2.p); reinit(m2.p, m1.p); blows = pre(blows) + 1; end when;
        when x2 > x3 then reinit(m2.p, m3.p); reinit(m3.p, m2.p); end when; end M;"""
    ).simulate(stop=4, tol=1e-9)
    assert result["blows"][-1] == 1
    assert result["m3.p"][-1] == pytest.approx(1.0, rel=1e-12)
    assert result["x2"][-1] == pytest.approx(1.0, rel=1e-9)


# --- jumps --------------------------------------------------------------------------------------------------------


def entries(result: bglang.Result) -> dict[str, tuple[float, float]]:
    assert result.audit is not None
    assert result.audit.relative_error < 1e-8 and result.audit.jumps == 0.0
    return {e.element: (e.energy, e.jumps) for e in result.audit.entries}


def test_a_jump_of_a_source_is_booked_to_it() -> None:
    """6 V step onto 1 F in series with 2 F: 4 C at 3 V in the mean, which both capacitors hold."""
    result = bglang.loads(
        """model M Se s(e=if time<1 then 0 else 6); J1 j; J0 m; C c1(C=1), c2(C=2); R r(R=1);
        bonds s -> j -> c1; j -> m -> c2, r; end M;"""
    ).simulate(stop=3, tol=1e-9)
    after = np.asarray(result.time) >= 1
    expected = np.where(after, 2 * np.exp(-(np.asarray(result.time) - 1) / 3), 0.0)
    assert np.abs(result["c2.e"] - expected).max() < 1e-8
    found = entries(result)
    assert found["s"][1] == pytest.approx(12.0, rel=1e-12)
    charge = 2 * (1 - np.exp(-2 / 3))  # what c1 takes as the voltage of c2 falls
    assert found["s"][0] == pytest.approx(12.0 + 6 * charge, rel=1e-8)


def test_what_capacitors_lose_when_they_are_joined_is_booked_to_the_switch() -> None:
    result = bglang.loads(
        """model M J0 a, b; J1 j; C c1(C=1, q(start=1)), c2(C=1); R r1(R=10), r2(R=10);
        R sw(0 = if time<1 then f else e); bonds a -> c1, r1; a -> j -> b; j -> sw; b -> c2, r2; end M;"""
    ).simulate(stop=2, tol=1e-9)
    lost = (np.exp(-0.1) / 2) ** 2  # half of what was left
    assert entries(result)["sw"] == (pytest.approx(lost, rel=1e-7), pytest.approx(lost, rel=1e-7))


DIODE_ONTO_C = """model M Se s(e=5); J1 j; R d(0 = {law}); J0 n; C c(C=1{start}); R l(R=1);
    bonds s -> j -> d; j -> n -> c, l; end M;"""


@pytest.mark.parametrize("law", ["min(f, -e)", "if e + f > 0 then e else f"])
def test_an_ideal_diode_charges_an_empty_capacitor_at_the_start(law: str) -> None:
    result = bglang.loads(DIODE_ONTO_C.format(law=law, start="")).simulate(stop=2)
    assert np.abs(result["c.e"] - 5.0).max() < 1e-9
    assert [e.component for e in result.events if e.kind == "impulse"] == ["c.q"]
    found = entries(result)  # of the 25 J of the source half is stored, half is lost in the diode
    assert found["s"] == (pytest.approx(25.0 + 50.0), pytest.approx(25.0))
    assert found["d"] == (pytest.approx(12.5), pytest.approx(12.5))


def test_a_written_start_that_an_ideal_diode_cannot_keep_is_an_error() -> None:
    with pytest.raises(bglang.SourceError, match=r"With the starts of `c\.q`"):
        bglang.loads(DIODE_ONTO_C.format(law="min(f, -e)", start=", q(start=1)")).simulate(stop=2)


def test_friction_whose_flow_starts_as_rounding_sticks() -> None:
    result = bglang.loads(
        """model M J1 a, b, rel; J0 j; I m1(I=1, p(start=0.1+0.2)), m2(I=1, p(start=0.3)); R c(e=coulomb(f, 1));
        Se s(e=1); bonds s -> a -> m1; a -> j -> b -> m2; j -> rel -> c; end M;"""
    ).simulate(stop=1)
    assert [e.old or e.new for e in result.modes] == ["sticks"]
    assert not result.events
    assert np.abs(result["a.f"] - (0.3 + np.asarray(result.time) / 2)).max() < 1e-9
    assert np.abs(result["c.e"] - 0.5).max() < 1e-9


def test_a_friction_that_turns_as_the_last_time_is_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an event led to is tried first the next time; a stick in between is still found."""
    from bglang.solve.consistent import Consistency

    solved = list[float]()
    values = Consistency.values

    def counted(self: Consistency, left, z, held):  # type: ignore[no-untyped-def]
        solved.append(left.t)
        return values(self, left, z, held)

    monkeypatch.setattr(Consistency, "values", counted)
    result = bglang.loads(
        """model M J1 v; I m(I=1); C k(C=0.1); Se s(e=6*sin(3*time)); R fr(e=coulomb(f, 2)); R d(R=0.05);
        bonds s -> v -> m, k, fr, d; end M;"""
    ).simulate(stop=100)
    assert result.stats.events > 90
    assert len(solved) < 1.2 * result.stats.events
