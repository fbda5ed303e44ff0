"""Whole runs against closed forms: smooth, with jumps, friction, impacts, switches, samples."""

import math

import numpy as np
import pytest
from solve.solve_systems import (
    SPAN,
    T,
    algebraic,
    balance,
    coulomb,
    d,
    dependent,
    discrete,
    lasting,
    law,
    pinned,
    relation,
    sample,
    state,
    system,
    y,
    z,
)  # fmt: skip

from bglang.diagnostics import SimulationError
from bglang.equations.system import (
    Assertion,
    Assign,
    AuditItem,
    Output,
    Reinit,
    System,
    Terminate,
    When,
    WhenBranch,
)  # fmt: skip
from bglang.results import Result
from bglang.solve.problem import Options, make_problem
from bglang.solve.run import simulate

G = 9.81


def run(model: System, **options: object) -> Result:
    return simulate(make_problem(model, Options(**options)))  # type: ignore[arg-type]


def when(condition: object, *actions: object) -> When:
    return When((WhenBranch((condition,), actions, SPAN),), "c")  # type: ignore[arg-type]


# --- smooth ---------------------------------------------------------------------------------------------------------


def test_charging_a_capacitor() -> None:
    model = system(
        [state("c.q", 0.0)],
        [balance(("-", d(0), ("-", 1.0, y(0))))],
        audit=[
            AuditItem("source", "E", "supplied", d(0)),
            AuditItem("c", "E", "stored", ("*", y(0), d(0)), ("*", 0.5, ("^", y(0), 2.0))),
            AuditItem("r", "E", "dissipated", ("^", d(0), 2.0)),
        ],
        experiment=lasting(5.0),
    )
    result = run(model, points=101)
    assert len(result.time) == 101
    assert result.time[0] == 0.0 and result.time[-1] == 5.0
    exact = 1.0 - np.exp(-result.time)
    assert result["c.q"] == pytest.approx(exact, abs=1e-7)
    assert result.at(1.2345, "c.q") == pytest.approx(1.0 - math.exp(-1.2345), abs=1e-7)
    audit = result.audit
    assert audit is not None
    assert audit.relative_error < 1e-7
    assert audit.supplied == pytest.approx(1.0 - math.exp(-5.0), rel=1e-7)
    assert audit.dissipated == pytest.approx((1.0 - math.exp(-10.0)) / 2.0, rel=1e-7)


def oscillator(stop: float = 20.0) -> System:
    return system(
        [state("p", 0.0), state("q", 1.0)],
        [balance(("+", d(0), y(1))), balance(("-", d(1), y(0)))],
        audit=[
            AuditItem("mass", "T", "stored", ("*", y(0), d(0)), ("*", 0.5, ("^", y(0), 2.0))),
            AuditItem("spring", "T", "stored", ("*", y(1), d(1)), None, (y(1), 1)),
        ],
        experiment=lasting(stop),
    )


@pytest.mark.parametrize("method", ["auto", "radau"])
def test_oscillator(method: str) -> None:
    result = run(oscillator(), method=method)
    assert result["q"] == pytest.approx(np.cos(result.time), abs=3e-7)
    assert result["p"] == pytest.approx(-np.sin(result.time), abs=3e-7)
    assert result.audit is not None and result.audit.relative_error < 1e-6
    times = np.linspace(0.1, 19.9, 77)
    assert result.at(times, "q") == pytest.approx(np.cos(times), abs=1e-6)


def test_audit_finds_what_a_wrong_energy_hides() -> None:
    """A spring whose stored energy is not the integral of its effort."""
    model = oscillator()
    wrong = [model.audit[0], AuditItem("spring", "T", "stored", ("*", y(1), d(1)), ("^", y(1), 2.0))]
    result = run(system(model.unknowns, model.rows, audit=wrong, experiment=lasting(2.0)))
    assert result.audit is not None and result.audit.worst == "spring"
    assert any("spring" in w.reason for w in result.warnings)


def test_model_without_states() -> None:
    model = system([algebraic("x", 1.0)], [law(("-", ("^", y(0), 3.0), ("sin", T)))], experiment=lasting(3.0))
    result = run(model, points=31)
    assert result["x"] == pytest.approx(np.cbrt(np.sin(result.time)), abs=1e-6)
    assert result.stats.method == "algebraic"


def test_model_without_unknowns() -> None:
    model = system([], [], outputs=[Output("s", ("sin", T), "", "")], experiment=lasting(3.0))
    result = run(model, points=11)
    assert result["s"] == pytest.approx(np.sin(result.time))


def test_algebraic_variables_are_as_good_between_steps_as_at_their_ends() -> None:
    """w^3 + w = sin(50 t) beside a slow state, which alone decides the steps."""
    model = system(
        [state("x", 1.0), algebraic("w")],
        [balance(("+", d(0), y(0))), law(("-", ("+", ("^", y(1), 3.0), y(1)), ("sin", ("*", 50.0, T))))],
        experiment=lasting(5.0, 1e-6),
    )
    result = run(model)
    assert result["w"] ** 3 + result["w"] == pytest.approx(np.sin(50.0 * result.time), abs=1e-12)


# --- jumps ----------------------------------------------------------------------------------------------------------


def test_dependent_storage_jumps_when_its_source_steps() -> None:
    """Two capacitors in series with a source on the path: q1 - q2 is continuous, q1/C1 + q2/C2 = U jumps with U.

    Row: the node between them carries no other current.  C1 = 1, C2 = 3; U steps from 0 to 8 at t = 1."""
    u = ("if", ("!=", z(0), 0.0), 8.0, 0.0)
    model = system(
        [state("one.q", 0.0), dependent("two.q")],
        [balance(("-", d(0), d(1))), law(("-", ("+", y(0), ("/", y(1), 3.0)), u))],
        modes=[relation(("-", T, 1.0), "time >= 1", strict=False, time_only=True)],
        audit=[AuditItem("one", "E", "stored", ("*", y(0), d(0)), ("*", 0.5, ("^", y(0), 2.0))),
               AuditItem("two", "E", "stored", ("/", ("*", y(1), d(1)), 3.0), ("/", ("^", y(1), 2.0), 6.0)),
               AuditItem("source", "E", "supplied", ("*", u, d(0)))],
        experiment=lasting(2.0),
    )  # fmt: skip
    result = run(model, points=21)
    before, after = result.time < 1.0, result.time >= 1.0
    assert result["one.q"][before] == pytest.approx(0.0, abs=1e-12)
    assert result["one.q"][after] == pytest.approx(6.0)
    assert result["two.q"][after] == pytest.approx(6.0)
    impulses = [e for e in result.events if e.kind == "impulse"]
    assert {e.component for e in impulses} == {"one.q", "two.q"}
    assert all(e.time == 1.0 for e in impulses)
    assert result.audit is not None
    assert result.audit.jumps == 0.0
    supplied = {e.element: e for e in result.audit.entries}["source"]
    assert supplied.jumps == pytest.approx(24.0)  # 6^2/2 + 6^2/6: the source paid for what is stored
    assert result.audit.supplied == pytest.approx(24.0)
    assert result.audit.relative_error < 1e-9


def test_time_step_is_located_exactly_and_its_row_is_the_value_after() -> None:
    model = system(
        [state("x", 0.0)],
        [balance(("-", d(0), ("if", ("!=", z(0), 0.0), 1.0, 0.0)))],
        modes=[relation(("-", T, 0.3), "time > 0.3", time_only=True)],
        experiment=lasting(1.0),
    )
    result = run(model, points=11, events=True)
    assert [e.time for e in result.events] == [0.3]
    assert result["x"][-1] == pytest.approx(0.7, abs=1e-12)
    assert np.sum(result.time == 0.3) == 2
    assert (result.events[0].old, result.events[0].new, result.events[0].direction) == ("false", "true", "up")


def test_relations_of_time_are_never_stepped_over() -> None:
    """A pulse of width 1e-3 in a run of 100 s: the integral counts them all."""
    pulse = ("-", ("sin", ("*", 2 * math.pi, T)), math.cos(math.pi * 1e-3))
    model = system(
        [state("x", 0.0)],
        [balance(("-", d(0), ("if", ("!=", z(0), 0.0), 1.0, 0.0)))],
        modes=[relation(pulse, "pulse", time_only=True)],
        experiment=lasting(20.0),
    )
    result = run(model)
    assert result["x"][-1] == pytest.approx(20 * 1e-3, rel=1e-6)
    assert result.stats.events == 40


def test_events_at_the_start_keep_the_first_row() -> None:
    """`time > 0` and `sin(time) > 0` are false at 0 and true behind it, one after the other."""
    on = [("if", ("!=", z(k), 0.0), 1.0, 0.0) for k in (0, 1)]
    model = system(
        [state("x", 0.0)],
        [balance(("-", d(0), ("+", *on)))],
        modes=[
            relation(T, "time > 0", time_only=True),
            relation(("-", ("sin", T), ("*", 1e-3, ("-", 1.0, z(0)))), "sin(time) > 0", time_only=True),
        ],
        experiment=lasting(1.0),
    )
    result = run(model, points=11)
    assert result.time == pytest.approx(np.linspace(0.0, 1.0, 11))
    assert result["x"] == pytest.approx(2.0 * result.time, abs=1e-12)


# --- friction -------------------------------------------------------------------------------------------------------


def friction(q0: float, stop: float = 40.0) -> System:
    """The mass on a spring with dry friction: m = k = Fc = 1."""
    sticks = ("==", z(0), 0.0)
    return system(
        [state("mass.p", 0.0), state("spring.q", q0), algebraic("friction.e")],
        [
            balance(("+", d(0), y(1), y(2))),
            balance(("-", d(1), y(0))),
            pinned(("if", sticks, d(0), ("-", y(2), z(0))), ("if", sticks, y(0), ("-", y(2), z(0)))),
        ],
        modes=[coulomb(0, y(0), y(2), 1.0)],
        audit=[
            AuditItem("mass", "T", "stored", ("*", y(0), d(0)), ("*", 0.5, ("^", y(0), 2.0))),
            AuditItem("spring", "T", "stored", ("*", y(1), d(1)), ("*", 0.5, ("^", y(1), 2.0))),
            AuditItem("friction", "T", "dissipated", ("*", y(0), y(2))),
        ],
        experiment=lasting(stop, 1e-9),
    )


def test_friction_loses_two_a_half_cycle_and_sticks() -> None:
    """16.5, -14.5, 12.5, ..., 0.5 at multiples of pi; there the spring cannot move it any more."""
    result = run(friction(16.5))
    modes = [e for e in result.events if e.kind == "coulomb"]
    assert [e.time for e in modes] == pytest.approx([k * math.pi for k in range(1, 9)], abs=1e-7)
    assert modes[-1].new == "sticks"
    assert result["spring.q"][-1] == pytest.approx(0.5, abs=1e-6)
    assert result["mass.p"][-1] == 0.0
    assert result["friction.e"][-1] == pytest.approx(-0.5, abs=1e-6)
    assert result.audit is not None and result.audit.relative_error < 1e-7


def test_friction_that_ends_exactly_on_its_limit() -> None:
    """From 17 it comes to rest at 1, where the spring just equals the limit: it stays."""
    result = run(friction(17.0, 60.0))
    assert result["spring.q"][-1] == pytest.approx(1.0, abs=1e-6)
    assert abs(result["mass.p"][-1]) < 1e-6
    assert len(result.events) < 20


def test_friction_at_rest_reports_its_reaction_and_breaks_away() -> None:
    """A force that grows as t pushes a mass with limit 2: it leaves at t = 2."""
    sticks, slips = ("==", z(0), 0.0), ("-", y(1), ("*", 2.0, z(0)))
    model = system(
        [state("p", 0.0), algebraic("s")],
        [
            balance(("-", ("+", d(0), y(1)), T)),
            pinned(("if", sticks, d(0), slips), ("if", sticks, y(0), slips)),
        ],
        modes=[coulomb(0, y(0), y(1), 2.0)],
        experiment=lasting(4.0),
    )
    result = run(model, points=41)
    still = result.time < 2.0
    assert result["s"][still] == pytest.approx(result.time[still], abs=1e-9)
    assert result["p"][still] == pytest.approx(0.0, abs=1e-12)
    assert [e.time for e in result.events] == pytest.approx([2.0], abs=1e-8)
    assert result["p"][-1] == pytest.approx(2.0, abs=1e-7)


def test_slipping_spring_pins_its_charge_and_the_slip_ends_on_time() -> None:
    """A flow cos(t) into a spring beside a friction of limit 1/2 (both on one effort): the spring stores sin(t) up to
    1/2, then the friction takes the flow, until that turns at pi/2; and so on.  While it slips the order is zero."""
    slips = ("!=", z(0), 0.0)
    model = system(
        [state("q", 0.0), algebraic("f")],
        [
            balance(("-", d(0), ("-", ("cos", T), y(1)))),
            pinned(("if", slips, ("-", ("cos", T), y(1)), y(1)), ("if", slips, ("-", y(0), ("*", 0.5, z(0))), y(1))),
        ],
        modes=[coulomb(0, y(1), y(0), 0.5)],
        experiment=lasting(5.0),
    )
    result = run(model)
    exact = [math.pi / 6, math.pi / 2, math.pi, 3 * math.pi / 2]
    assert [e.time for e in result.events] == pytest.approx(exact, abs=1e-7)
    slipping = (result.time > math.pi / 6) & (result.time < math.pi / 2)
    assert result["q"][slipping] == pytest.approx(0.5, abs=1e-12)
    assert result["f"][slipping] == pytest.approx(np.cos(result.time[slipping]), abs=1e-9)


# --- impacts ---------------------------------------------------------------------------------------------------------


def ball(restitution: float, stop: float) -> System:
    return system(
        [state("m.p", 0.0), state("h", 1.0)],
        [balance(("+", d(0), G)), balance(("-", d(1), y(0)))],
        modes=[relation(("neg", y(1)), "h < 0")],
        whens=[when(z(0), Reinit(0, ("*", -restitution, y(0)), SPAN))],
        experiment=lasting(stop, 1e-9),
    )


def test_bouncing_ball_hits_when_it_should() -> None:
    result = run(ball(0.8, 2.9))
    fall = math.sqrt(2.0 / G)
    exact = [fall + 2.0 * fall * sum(0.8**i for i in range(1, k + 1)) for k in range(12)]
    hits = [e.time for e in result.events if e.kind == "reinit"]
    assert hits[:4] == pytest.approx([t for t in exact if t < 2.9][:4], abs=1e-8)
    assert len(hits) == len([t for t in exact if t < 2.9])
    assert result["h"].min() > -1e-9


def test_zeno_stops_with_the_time_of_accumulation() -> None:
    with pytest.raises(SimulationError) as caught:
        run(ball(0.5, 5.0))
    fall = math.sqrt(2.0 / G)
    limit = fall + 2.0 * fall * 0.5 / (1.0 - 0.5)
    assert caught.value.time == pytest.approx(limit, abs=1e-6)
    assert "h < 0" in caught.value.message
    kept = caught.value.result
    assert kept is not None and not kept.complete
    assert kept.time[-1] == pytest.approx(limit, abs=1e-4)


def test_a_switch_that_is_driven_back_from_both_sides_slides() -> None:
    """x' = -sign(x) + 1/3: from x = 0 on the switch takes the mean value that keeps it there."""
    switch = ("if", ("!=", z(0), 0.0), 1.0, -1.0)
    model = system(
        [state("x", 1.0)],
        [balance(("+", d(0), switch, -1.0 / 3.0))],
        modes=[relation(y(0), "x > 0")],
        outputs=[Output("u", switch, "", "")],
        experiment=lasting(3.0),
    )
    result = run(model)
    assert result.complete
    assert result["x"] == pytest.approx(np.maximum(1.0 - 2.0 / 3.0 * result.time, 0.0), abs=1e-9)
    assert result["u"] == pytest.approx(np.where(result.time < 1.5, 1.0, 1.0 / 3.0), abs=1e-9)
    assert [w.code for w in result.warnings] == ["events/sliding"] and "x > 0" in result.warnings[0].message
    assert [(e.kind, e.new) for e in result.events] == [("sliding", "slides")]


# --- switches, samples, discrete ------------------------------------------------------------------------------------


def test_ideal_diode_rectifies() -> None:
    """sin(t) through an ideal diode and 1 ohm into 1 farad: it charges while the source is higher."""
    on = ("!=", z(0), 0.0)
    model = system(
        [state("q", 0.0), algebraic("u"), algebraic("i")],
        [
            balance(("-", d(0), y(2))),
            law(("-", ("-", ("-", ("sin", T), y(0)), y(2)), y(1))),
            law(("if", on, y(1), y(2)), "diode"),
        ],
        modes=[relation(("if", on, y(2), y(1)), "diode conducts")],
        experiment=lasting(6.0, 1e-9),
    )
    result = run(model)
    # while it conducts: q' = sin t - q, q(0) = 0
    off = next(e.time for e in result.events if e.new == "false")
    t = result.time[result.time < off]
    assert result["q"][: len(t)] == pytest.approx((np.sin(t) - np.cos(t) + np.exp(-t)) / 2.0, abs=1e-7)
    assert result["i"].min() > -1e-8
    peak = (math.sin(off) - math.cos(off) + math.exp(-off)) / 2.0
    assert peak == pytest.approx(math.sin(off), abs=1e-7)  # it opens when the current is zero
    assert result["q"][-1] == pytest.approx(peak, abs=1e-7)


def test_sampled_controller() -> None:
    """u = -x sampled at 0, 0.5, 1, ...; x' = u: x halves in each period.  The first sample is at the start."""
    model = system(
        [state("x", 1.0)],
        [balance(("-", d(0), z(1)))],
        modes=[sample(0.0, 0.5), discrete("u", 0.0)],
        whens=[when(z(0), Assign(1, ("neg", y(0)), SPAN))],
        outputs=[Output("u", z(1), "", "")],
        experiment=lasting(2.0),
    )
    result = run(model, points=5)
    assert result["x"] == pytest.approx([1.0, 0.5, 0.25, 0.125, 0.0625], abs=1e-9)
    assert result["u"] == pytest.approx([-1.0, -0.5, -0.25, -0.125, -0.0625], abs=1e-9)


def test_counter_uses_pre_and_simultaneous_assignments() -> None:
    model = system(
        [state("x", 0.0)],
        [balance(("-", d(0), 1.0))],
        modes=[sample(1.0, 1.0), discrete("n", 0.0), discrete("twice", 0.0)],
        whens=[when(z(0), Assign(2, ("*", 2.0, z(1)), SPAN), Assign(1, ("+", ("pre", z(1)), 1.0), SPAN))],
        outputs=[Output("n", z(1), "", ""), Output("twice", z(2), "", "")],
        experiment=lasting(3.5),
    )
    result = run(model, points=8)
    assert result["n"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert result["twice"].tolist() == [0, 0, 2, 2, 4, 4, 6, 6]


def test_condition_true_at_the_start_does_not_fire_and_initial_does() -> None:
    model = system(
        [state("x", 1.0)],
        [balance(("-", d(0), 1.0))],
        modes=[relation(y(0), "x > 0"), discrete("a", 0.0), discrete("b", 0.0)],
        whens=[when(z(0), Assign(1, 1.0, SPAN)), when(("initial",), Assign(2, 1.0, SPAN))],
        outputs=[Output("a", z(1), "", ""), Output("b", z(2), "", "")],
        experiment=lasting(1.0),
    )
    result = run(model)
    assert result["a"][-1] == 0.0
    assert result["b"][-1] == 1.0


def test_reinits_of_one_event_act_together() -> None:
    model = system(
        [state("a", 1.0), state("b", 2.0)],
        [balance(d(0)), balance(d(1))],
        modes=[sample(0.5, 10.0)],
        whens=[when(z(0), Reinit(0, y(1), SPAN), Reinit(1, y(0), SPAN))],
        experiment=lasting(1.0),
    )
    result = run(model)
    assert (result["a"][-1], result["b"][-1]) == (2.0, 1.0)


def test_terminate_ends_well_and_assert_does_not() -> None:
    def model(action: object) -> System:
        return system(
            [state("x", 0.0)],
            [balance(("-", d(0), 1.0))],
            modes=[relation(("-", y(0), 0.25), "x > 0.25")],
            whens=[when(z(0), action)],
            experiment=lasting(1.0),
        )

    result = run(model(Terminate("far enough", SPAN)))
    assert result.time[-1] == pytest.approx(0.25)
    assert result.complete and "far enough" in result.ending
    with pytest.raises(SimulationError, match="too far") as caught:
        run(model(Assertion(0.0, "too far", "error", "c", SPAN)))
    assert caught.value.result is not None
    assert caught.value.result.time[-1] == pytest.approx(0.25)
    warned = run(model(Assertion(0.0, "too far", "warning", "c", SPAN)))
    assert [w.message for w in warned.warnings] == ["too far"]


def test_two_roots_in_one_step_come_in_order() -> None:
    model = system(
        [state("x", 0.0)],
        [balance(("-", d(0), 1.0))],
        modes=[relation(("-", y(0), 0.51), "x > 0.51"), relation(("-", y(0), 0.5), "x > 0.5")],
        experiment=lasting(1.0),
    )
    result = run(model)
    assert [e.relation for e in result.events] == ["x > 0.5", "x > 0.51"]
    assert [e.time for e in result.events] == pytest.approx([0.5, 0.51], abs=1e-10)


# --- failures ---------------------------------------------------------------------------------------------------------


def test_law_without_value_is_named_with_its_argument() -> None:
    """sqrt(1 - x) with x' = 1: nothing beyond t = 1."""
    model = system(
        [state("x", 0.0), state("w", 0.0)],
        [balance(("-", d(0), 1.0)), balance(("-", d(1), ("sqrt", ("-", 1.0, y(0)))), "orifice")],
        experiment=lasting(2.0),
    )
    with pytest.raises(SimulationError) as caught:
        run(model)
    assert caught.value.component == "orifice"
    assert "sqrt(" in caught.value.diagnostic.label + caught.value.diagnostic.reason
    assert caught.value.time == pytest.approx(1.0, abs=1e-3)
    assert caught.value.result is not None and len(caught.value.result) > 200


def test_pole_is_reported_with_the_state_that_runs_away() -> None:
    model = system([state("x", 1.0)], [balance(("-", d(0), ("^", y(0), 2.0)))], experiment=lasting(2.0))
    with pytest.raises(SimulationError) as caught:
        run(model)
    assert caught.value.time == pytest.approx(1.0, abs=1e-3)
    assert "x" in caught.value.message


def test_interruption_keeps_what_there_is() -> None:
    seen = list[float]()

    def stop_early(now: float, start: float, stop: float) -> None:
        seen.append(now)
        if now > 1.0:
            raise KeyboardInterrupt

    model = system(
        [state("x", 0.0)],
        [balance(("-", d(0), ("sin", ("*", 3000.0, T))))],
        experiment=lasting(1e6),
    )
    result = run(model, progress=stop_early, points=1001, max_step=1e-3)
    assert not result.complete and "interrupted" in result.ending
    assert result.time[-1] < 1e6
