"""Initialisation: what holds, what gives way, what is an error, and whose fault it is."""

import numpy as np
import pytest
from solve.solve_systems import (
    algebraic,
    balance,
    d,
    dependent,
    lasting,
    law,
    parameter,
    relation,
    state,
    system,
    y,
    z,
)  # fmt: skip

import bglang
from bglang.diagnostics import SimulationError, SourceError
from bglang.equations.system import System
from bglang.solve.initialise import Started, initialise
from bglang.solve.native_model import Compiled
from bglang.solve.newton import Factors
from bglang.solve.problem import Options, ReferenceBuilder, make_problem


def started(model: System, **options: object) -> Started:
    """The start, computed with the reference evaluator and compared with compiled kernels."""
    reference = initialise(make_problem(model, Options(**options), build=ReferenceBuilder(model)))  # type: ignore[arg-type]
    native = initialise(make_problem(model, Options(**options), build=Compiled(model).model))  # type: ignore[arg-type]
    np.testing.assert_allclose(reference.at.y, native.at.y, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(reference.at.d, native.at.d, rtol=1e-9, atol=1e-10)
    return native


def test_states_hold_and_rates_follow() -> None:
    s = started(system([state("q", 2.0)], [balance(("+", d(0), ("*", 3.0, y(0))))]))
    assert s.at.y[0] == 2.0
    assert s.at.d[0] == pytest.approx(-6.0)


def test_algebraic_variables_are_solved_from_their_guess() -> None:
    model = system(
        [state("q", 4.0), algebraic("x", -3.0, written=True)],
        [balance(("-", d(0), y(1))), law(("-", ("^", y(1), 2.0), y(0)))],
    )
    s = started(model)
    assert s.at.y[1] == pytest.approx(-2.0, abs=1e-12)
    assert s.at.d[1] == pytest.approx(-2.0 / (2 * -2.0))  # 2 x x' = q'


def two_masses(start_1: float, written_1: bool, start_2: float, written_2: bool) -> System:
    """Two masses on one velocity: p1/m1 = p2/m2 with m1 = 1, m2 = 3, pushed by a force of 8."""
    return system(
        [state("one.p", start_1, written=written_1), dependent("two.p", start_2, written=written_2)],
        [balance(("-", ("+", d(0), d(1)), 8.0)), law(("-", ("/", y(1), 3.0), y(0)), "two")],
    )


def test_dependent_storage_follows() -> None:
    s = started(two_masses(2.0, True, 0.0, False))
    assert s.at.y == pytest.approx([2.0, 6.0])
    assert s.at.d == pytest.approx([2.0, 6.0])


def test_unwritten_start_gives_way_to_a_written_one() -> None:
    s = started(two_masses(0.0, False, 6.0, True))
    assert s.at.y == pytest.approx([2.0, 6.0])


def test_contradicting_written_starts_are_an_error_that_names_them() -> None:
    with pytest.raises(SourceError) as caught:
        started(two_masses(2.0, True, 5.0, True))
    [found] = caught.value.diagnostics
    assert found.code == "initial/contradiction"
    assert "`two.p`" in found.message and "`one.p`" in found.message
    assert "6" in found.label


def test_typed_starts_may_be_off_by_a_millionth() -> None:
    assert started(two_masses(2.0, True, 6.000005, True)).at.y == pytest.approx([2.0, 6.0])


def test_initial_equation_frees_the_last_state_that_it_mentions() -> None:
    model = system(
        [state("a", 1.0), state("b", 2.0)],
        [balance(("-", d(0), y(1))), balance(("+", d(1), y(0)))],
        initial=[law(("-", ("+", y(0), y(1)), 10.0))],
    )
    assert started(model).at.y == pytest.approx([1.0, 9.0])


def test_fixed_true_protects_a_state() -> None:
    model = system(
        [state("a", 1.0), state("b", 2.0, fixed=True)],
        [balance(("-", d(0), y(1))), balance(("+", d(1), y(0)))],
        initial=[law(("-", ("+", y(0), y(1)), 10.0))],
    )
    assert started(model).at.y == pytest.approx([8.0, 2.0])


def test_initial_equation_on_a_rate() -> None:
    model = system(
        [state("x", 1.0)],
        [balance(("-", d(0), ("-", 6.0, ("*", 2.0, y(0)))))],
        initial=[law(d(0))],
    )
    s = started(model)
    assert s.at.y[0] == pytest.approx(3.0)
    assert s.at.d[0] == pytest.approx(0.0, abs=1e-12)


def test_too_many_initial_equations() -> None:
    model = system(
        [state("x", 1.0, fixed=True)], [balance(("+", d(0), y(0)))], initial=[law(("-", y(0), 5.0))]
    )  # fmt: skip
    with pytest.raises(SourceError, match="initial/over-determined"):
        started(model)


def test_fixed_false_without_an_equation_names_the_state() -> None:
    model = system([state("x", 1.0, fixed=False)], [balance(("+", d(0), y(0)))])
    with pytest.raises(SourceError) as caught:
        started(model)
    assert caught.value.diagnostics[0].code == "initial/under-determined"
    assert "`x`" in caught.value.diagnostics[0].message


def test_parameter_is_found_by_an_initial_equation() -> None:
    """The stiffness at which the rate is -12 at x = 3."""
    model = system(
        [state("x", 3.0, fixed=True)],
        [balance(("+", d(0), ("*", ("p", 0), y(0))))],
        initial=[law(("+", d(0), 12.0))],
        parameters=[parameter("k", 1.0, fixed=False), parameter("", ("*", 2.0, ("p", 0)))],
    )
    s = started(model)
    assert s.problem.p == pytest.approx([4.0, 8.0])


def test_fixed_algebraic_start_is_an_initial_equation() -> None:
    model = system(
        [state("p", 0.0), algebraic("f", 2.0, written=True, fixed=True)],
        [balance(("+", d(0), y(1))), law(("-", y(1), ("/", y(0), 5.0)))],
    )
    assert started(model).at.y == pytest.approx([10.0, 2.0])


def test_division_by_zero_names_the_law() -> None:
    model = system(
        [state("q", 0.0), algebraic("e", 1.0)], [balance(("+", d(0), y(1))), law(("-", y(1), ("/", 1.0, y(0))), "gap")]
    )
    with pytest.raises(SimulationError) as caught:
        started(model)
    found = caught.value.diagnostic
    assert "division by zero" in found.message and "`gap`" in found.message
    assert "q = 0" in found.reason
    assert found.span.line == 2


def test_no_solution_is_the_solvers_failure() -> None:
    model = system(
        [state("q", 1.0), algebraic("x", 1.0)], [balance(("+", d(0), y(1))), law(("+", ("^", y(1), 2.0), y(0)), "odd")]
    )
    with pytest.raises(SimulationError) as caught:
        started(model)
    assert caught.value.diagnostic.code == "initial/no-convergence"
    assert caught.value.component == "odd"


def test_homotopy_reaches_what_newton_does_not() -> None:
    """atan(10 x) is flat far out: Newton's undamped steps explode from there."""
    model = system(
        [state("q", 0.0), algebraic("x", 30.0)],
        [
            balance(("+", d(0), y(1))),
            law(("+", ("atan", ("*", 10.0, ("-", y(1), 2.0))), ("*", 1e-4, ("-", y(1), 2.0)))),
        ],
    )
    assert started(model).at.y[1] == pytest.approx(2.0)


def test_modes_at_the_start_agree_with_what_they_lead_to() -> None:
    """A diode (conducts if u > 0) in series with a source and a resistor: 0 = if on then u else i."""
    for volts, current in ((5.0, 5.0), (-5.0, 0.0)):
        model = system(
            [state("q", 0.0), algebraic("u"), algebraic("i")],
            [
                balance(("-", d(0), y(2))),
                law(("-", ("-", volts, y(2)), y(1))),
                law(("if", ("!=", z(0), 0.0), y(1), y(2)), "diode"),
            ],
            modes=[relation(("if", ("!=", z(0), 0.0), y(2), y(1)), "diode conducts")],
        )
        s = started(model)
        assert s.at.y[2] == pytest.approx(current)
        assert s.at.z[0] == float(current > 0)


def test_steady_state_with_a_conserved_sum() -> None:
    """Two capacitors joined by a resistor: charge is conserved, voltages meet."""
    model = system(
        [state("a.q", 3.0), state("b.q", 0.0)],
        [balance(("+", d(0), ("-", y(0), ("/", y(1), 2.0)))), balance(("-", d(1), ("-", y(0), ("/", y(1), 2.0))))],
        experiment=lasting(1.0, steady=True),
    )
    s = started(model)
    assert s.at.y == pytest.approx([1.0, 2.0])


def test_steady_state_leaves_unread_states_alone() -> None:
    """A mass with drag driven by a force; its displacement is read by nothing and goes on moving."""
    model = system(
        [state("p", 1.0), state("x", 7.0)],
        [balance(("-", d(0), ("-", 6.0, ("*", 2.0, y(0))))), balance(("-", d(1), y(0)))],
        experiment=lasting(1.0, steady=True),
    )
    s = started(model)
    assert s.at.y == pytest.approx([3.0, 7.0])
    assert s.at.d == pytest.approx([0.0, 3.0], abs=1e-9)


def test_no_steady_state_by_structure_is_the_models_fault() -> None:
    """A constant force on a free mass, whose velocity is read."""
    model = system(
        [state("m.p", 0.0), state("x", 0.0)],
        [balance(("-", d(0), 4.0)), balance(("-", d(1), y(0)))],
        experiment=lasting(1.0, steady=True),
    )
    with pytest.raises(SourceError) as caught:
        started(model)
    assert "`m.p`" in caught.value.diagnostics[0].message


def test_no_steady_state_by_numbers_is_the_solvers() -> None:
    model = system(
        [state("x", 0.5)],
        [balance(("-", d(0), ("+", 1.0, ("^", y(0), 2.0))))],
        experiment=lasting(1.0, steady=True),
    )
    with pytest.raises(SimulationError) as caught:
        started(model)
    assert "`x`" in caught.value.message


def test_pseudo_transient_finds_a_far_steady_state() -> None:
    """tanh-like saturation: Newton from 50 overshoots; following the model does not."""
    model = system(
        [state("x", 50.0)],
        [balance(("+", d(0), ("atan", ("-", y(0), 2.0))))],
        experiment=lasting(1.0, steady=True),
    )
    assert started(model).at.y[0] == pytest.approx(2.0)


FLUX = """
model Flux "Leakage splits the flux of a core; a limiter bounds the voltage of its coil"
  parameter Real N = 20;
  Sf wanted(f = 10);
  J0 u;
  R limiter(0 = e - min(12.5, max(-45, e + f)));
  J1 i, core, arm;
  R winding(R = 0.3), eddy(R = 35), eddy2(R = 100);
  GY coil(r = N);
  J0 leaking;
  C iron(e = q/table(abs(q), [0, 1e-7; 2e-4, 4e-6; 4e-4, 1e-6; 6e-4, 2e-8], method = "spline", outside = "error"));
  C leak(C = 2e-7), gap(C = 1e-6);
bonds
  wanted -> u -> limiter;
  u -> i -> winding;
  i -> coil -> core -> eddy, iron;
  core -> leaking -> arm -> eddy2, gap;
  leaking -> leak;
  annotation(experiment(StopTime = 1e-3, initial = "steady"));
end Flux;
"""


def test_steady_state_of_small_fluxes_with_a_conserved_sum() -> None:
    """In Wb everything is small, the iron's table ends soon, and the sum iron - leak - gap of fluxes is conserved."""
    result = bglang.loads(FLUX).simulate()
    iron, leak, gap = (float(result[f"{name}.q"][-1]) for name in ("iron", "leak", "gap"))
    assert iron == pytest.approx(leak + gap, rel=1e-9)
    assert leak / 2e-7 == pytest.approx(gap / 1e-6, rel=1e-9)
    assert result["iron.e"][-1] + leak / 2e-7 == pytest.approx(20 * 10, rel=1e-9)
    assert result["i.f"] == pytest.approx(10.0)


def test_an_unknown_that_was_tiny_does_not_hide_a_solution() -> None:
    """Columns of very different size are no lack of rank: a diode that blocked so far takes the whole current."""
    matrix = np.array([[1.0, 1e-16], [1.0, 3e-16]])
    factors = Factors(matrix, np.ones(2))
    assert not factors.singular
    assert factors(matrix @ np.array([2.0, 5e16])) == pytest.approx([2.0, 5e16])
