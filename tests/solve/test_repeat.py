"""Many runs of one compiled model: the same bits as single runs, and counted work."""

import numpy as np
import pytest

import bglang
from bglang.solve import repeat
from bglang.solve.problem import Options, make_problem
from bglang.solve.repeat import Repeater, repeatable

STIFF = """\
model Stiff "a filter, a motor, two inertias: seven states over nine decades of time constants"
  parameter Real k = 100, c = 0.1, R = 0.1, J(min = 1e-6) = 1e-3;
  Se u(e = 10);
  J1 i1; R r1(R = R); I l1(I = 1e-5);
  J0 n1; C c1(C = 1e-4);
  J1 i2; R r2(R = 1); I l2(I = 1e-3);
  GY g(r = 0.05);
  J1 w1; I j1(I = 1e-4); R b1(R = 1e-4);
  J0 s; J1 dw; C shaft(C = 1/k); R d(R = c);
  J1 w2; I j2(I = J); R load(e = 0.001*f + 1e-5*f*f*f);
  J1 branch; C store(C = 10); R film(R = 1e-5);
bonds
  u -> i1 -> r1, l1; i1 -> n1; n1 -> c1; n1 -> i2; i2 -> r2, l2; i2 -> g -> w1;
  w1 -> j1, b1; w1 -> s; s -> dw; dw -> shaft, d; s -> w2; w2 -> j2, load;
  n1 -> branch; branch -> store, film;
annotation(experiment(StopTime = 0.1));
end Stiff;
"""
VANDERPOL = """\
model VanDerPol "not stiff at its start, stiff later"
  parameter Real mu = 1;
  Real x(start = 2), y;
equation
  der(x) = y;
  der(y) = mu*(1 - x^2)*y - x;
annotation(experiment(StopTime = 30));
end VanDerPol;
"""


def make(model: bglang.Model, points: int = 3, **options: object) -> Repeater:
    compiled = model.compiled()
    problem = make_problem(model.compile(), Options(points=points, **options), {}, compiled.model)  # type: ignore[arg-type]
    assert repeatable(problem, compiled)
    return Repeater(problem, compiled, np.linspace(problem.start, problem.stop, points))


@pytest.mark.parametrize("method", ["auto", "radau", "bdf"])
def test_stiff_runs_have_the_bits_of_single_runs(method: str) -> None:
    model = bglang.loads(STIFF)
    rates = np.linspace(50, 500, 5)
    states = [u.name for u in model.compile().unknowns]
    for rate, run in zip(rates, make(model, method=method).run({"k": rates}, 5), strict=True):
        single = model.simulate(k=float(rate), points=3, method=method)  # type: ignore[arg-type]
        assert (
            run is not None and np.array_equal(run.y, single.values(states)) and run.stats.steps == single.stats.steps
        )


def test_runs_that_turn_stiff_change_their_method() -> None:
    model = bglang.loads(VANDERPOL)
    values = np.array([0.5, 100.0, 3.0])
    made = make(model)
    for mu, run in zip(values, made.run({"mu": values}, 3), strict=True):
        single = model.simulate(mu=float(mu), points=3)
        assert run is not None and run.t.tolist() == [0, 15, 30]
        assert np.array_equal(run.y, single.values(["x", "y"]))
    assert set(made._integrators) == {"rk", "radau"}


@pytest.mark.parametrize(
    ("text", "values", "options"),
    [
        (STIFF, [{"k": 70.0}, {"J": 2e-3, "c": 0.2}, {"l1.p.start": 1e-4}, {}], {}),
        (STIFF, [{"k": 70.0}, {"k": 80.0}], {"method": "bdf", "points": 7}),
        (VANDERPOL, [{"mu": 100.0}, {"mu": 1.0, "y.start": 0.5}], {"stop": 40.0}),
        (VANDERPOL, [{"mu": 2.0}], {"method": "rk", "step": 0.01, "stop": 1.0}),
    ],
)
def test_a_second_run_is_the_first_one_in_every_bit(
    text: str, values: list[dict[str, float]], options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows, values between them, energy audit, counts and reasons: as a model has them that never ran before."""
    model = bglang.loads(text)
    model.simulate(**options)  # type: ignore[arg-type]
    for given in values:
        whole = bglang.loads(text).simulate(set=given, **options)  # type: ignore[arg-type]
        with monkeypatch.context() as patch:
            patch.setattr("bglang.solve.run.Run.__init__", None)
            found = model.simulate(set=given, **options)  # type: ignore[arg-type]
            assert np.array_equal(found.time, whole.time) and np.array_equal(found.values(), whole.values())
            between = np.linspace(whole.time[0], whole.time[-1], 17)
            for name in whole.states:
                assert np.array_equal(found.at(between, name), whole.at(between, name))
                assert all(map(np.array_equal, found.curve(name), whole.curve(name)))
            assert found.audit == whole.audit and (found.audit is not None) == (text == STIFF)
            assert found.warnings == whole.warnings and found.states == whole.states and found.complete
            ours, theirs = found.stats.as_dict(), whole.stats.as_dict()
            assert {**ours, "seconds": {}} == {**theirs, "seconds": {}}


def test_what_a_run_alone_would_say_is_still_said() -> None:
    """Parameters out of range, runs that fail, other options and several threads go the whole way."""
    from concurrent.futures import ThreadPoolExecutor

    model = bglang.loads(STIFF)
    expected = {k: bglang.loads(STIFF).simulate(k=k)["shaft.q"][-1] for k in (60.0, 90.0, 120.0)}
    model.simulate()
    model.simulate()
    with pytest.raises(bglang.SourceError, match="J"):
        model.simulate(J=1e-7)
    with pytest.raises(bglang.UsageError, match="nothing"):
        model.simulate(nothing=1)
    assert model.simulate(audit=False).audit is None
    assert model.simulate(points=11).time.shape == (11,)
    with ThreadPoolExecutor(4) as pool:
        jobs = [(k, pool.submit(model.simulate, k=k)) for k in list(expected) * 10]
        assert all(job.result()["shaft.q"][-1] == expected[k] for k, job in jobs)


def test_a_bad_balance_is_told_also_of_repeated_runs() -> None:
    text = """
model M
  J1 v; I m(I = 1, p(start = 1)); C c(e = q + 0*v.q); R r(R = 1e-3);
bonds
  v -> m, c, r;
annotation(experiment(StopTime = 20));
end M;
"""
    whole = bglang.loads(text).simulate(tol=1e-2)
    model = bglang.loads(text)
    model.simulate(tol=1e-2)
    found = model.simulate(tol=1e-2)
    assert found.warnings == whole.warnings and found.audit == whole.audit


def test_starts_and_outputs() -> None:
    made = make(bglang.loads(VANDERPOL), points=2)
    runs = [run for run in made.run({"x.start": np.array([1.0, 2.0])}, 2) if run is not None]
    names = [o.name for o in made.system.outputs]
    values = made.outputs(runs, [names.index("y"), names.index("x")])
    assert values.shape == (4, 2) and values[[0, 2]].tolist() == [[0, 1], [0, 2]]
    assert np.array_equal(values[:, ::-1], np.concatenate([run.y for run in runs]))


def test_out_of_the_ordinary_runs_are_left_to_the_whole_solver() -> None:
    made = make(bglang.loads(STIFF))
    runs = list(made.run({"J": np.array([1e-3, 1e-7, np.nan, 2e-3])}, 4))
    assert [run is None for run in runs] == [False, True, True, False]
    blown = bglang.loads("model M Real x(start = 1); equation der(x) = x^2; end M;")
    assert list(make(blown).run({"x.start": np.array([0.1, 5.0])}, 2))[1] is None


def test_one_integrator_serves_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted work: per run one call into the compiled loop, and none of what starts a single run."""
    made = make(bglang.loads(STIFF), points=2)
    calls = list[str]()
    original = repeat.make_integrator

    def counted(*arguments: object) -> object:
        calls.append("made")
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(repeat, "make_integrator", counted)
    monkeypatch.setattr("bglang.solve.run.Run.__init__", None)
    assert None not in list(made.run({"k": np.linspace(50, 500, 50)}, 50))
    assert calls == ["made"]


@pytest.mark.parametrize(
    "text",
    [
        "model M Real x(start = 1); equation der(x) = if x > 0.5 then -1 else 0; end M;",
        "model M Real x(start = 1), z; equation der(x) = -z; z = x + z^3; end M;",
        "model M Real x(start = 1, fixed = false); initial equation x = 2; equation der(x) = -x; end M;",
        'model M Real x(start = 1); equation der(x) = -x; assert(x > -1, "no"); end M;',
    ],
)
def test_runs_with_a_story_are_not_repeated(text: str) -> None:
    model = bglang.loads(text)
    problem = make_problem(model.compile(), Options(), {}, model.compiled().model)
    assert not repeatable(problem, model.compiled())
