"""Storage-field reduction: closed forms, examples, random graphs, and the source that is written."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

sys.path[:0] = [str(Path(__file__).parent)]

from reducing import EXAMPLES, column, difference, lasting, random_graph, run, sound  # noqa: E402

import bglang  # noqa: E402
from bglang.causality.assign import assign_causality  # noqa: E402
from bglang.diagnostics import SourceError, UsageError  # noqa: E402
from bglang.expr.text import text  # noqa: E402
from bglang.graph.ir import BondGraph  # noqa: E402
from bglang.graph.parameters import evaluate_parameters  # noqa: E402
from bglang.reduce.reduce import Reduction, reduce_storages  # noqa: E402
from bglang.reduce.write import write_source  # noqa: E402

NAMES = sorted(path.stem for path in EXAMPLES.glob("*.bg"))


def load(name: str) -> BondGraph:
    return bglang.load(EXAMPLES / f"{name}.bg").graph


def parsed(source: str) -> BondGraph:
    return bglang.loads(source).graph


def parameter(graph: BondGraph, name: str) -> str:
    found = next(p for p in graph.parameters if p.name == name)
    assert found.value is not None
    return text(found.value)


def after(made: Reduction) -> BondGraph:
    """The graph that its own source gives."""
    return bglang.loads(write_source(made.graph, "Reduced.", made.mergers)).graph


@pytest.mark.parametrize("name", NAMES)
def test_examples_keep_their_trajectories(name: str) -> None:
    graph = load(name)
    made = reduce_storages(graph)
    assert made.mergers and not made.refusals
    assert not assign_causality(made.graph).dependent
    exact, reduced, written = run(graph), run(made.graph), run(after(made))
    shared = {m.kept for m in made.mergers if m.shared}
    names = [n for n in lasting(graph) if n[:-2] not in shared]
    assert max(difference(exact, reduced, names).values()) < 2e-6
    assert max(difference(reduced, written, names).values()) < 1e-6


def test_lever_has_the_closed_form() -> None:
    made = reduce_storages(load("lever"))
    assert parameter(made.graph, "i1.I") == "m1 + (b/a)^2*m2"
    assert [e.name for e in made.graph.elements] == ["'1A'", "'1B'", "lever", "i1", "spring", "force"]
    values = evaluate_parameters(made.graph)
    assert values["i1.I"] == pytest.approx(3 + 4 * 0.5)


def test_lever_kept_at_the_other_end_divides_by_the_gain() -> None:
    graph = load("lever")
    made = reduce_storages(graph, keep=["i2"])
    assert parameter(made.graph, "i2.I") == "m2 + m1/(b/a)^2"
    names = lasting(graph)
    assert max(difference(run(graph), run(made.graph), names).values()) < 1e-6


def test_start_keeps_the_flow_not_the_momentum() -> None:
    made = reduce_storages(load("lever"))
    result = run(made.graph)
    flow = column(result, "i1.f")
    assert flow is not None and flow[0] == pytest.approx(1.5)


def test_a_start_of_the_dependent_one_decides_where_the_other_has_none() -> None:
    source = "model M J1 v; I a(I = 2), b(I = 3, p(start = 6)); C s(C = 1); bonds v -> a, b, s; end M;"
    graph = parsed(source)
    flows = [column(run(g), "v.f") for g in (graph, reduce_storages(graph).graph)]
    assert flows[0] is not None and flows[1] is not None
    assert flows[0][0] == pytest.approx(2.0) and np.allclose(flows[0], flows[1], atol=1e-7)


def test_form_of_the_law_is_a_separate_choice() -> None:
    made = reduce_storages(load("lever"), form="law")
    kept = next(e for e in made.graph.elements if e.name == "i1")
    assert kept.laws[0].gain is None and text(kept.laws[0].value) == "i1.p/(m1 + (b/a)^2*m2)"


def test_capacities_add_and_the_gyrator_branch_goes_as_a_whole() -> None:
    made = reduce_storages(load("gyrator_field"))
    assert parameter(made.graph, "i1.I") == "J + r^2*c"
    assert [e.name for e in made.graph.elements] == ["w", "i1", "friction", "shaft", "torque"]
    two = parsed("model M J0 u; C a(C = 2), b(C = 3); R r(R = 1); Sf s(f = 1); bonds u -> a, b, r; s -> u; end M;")
    assert parameter(reduce_storages(two).graph, "a.C") == "b.C + 2"


def test_split_path_gives_the_matrix_rule() -> None:
    made = reduce_storages(load("split_path"))
    values = evaluate_parameters(made.graph)
    found = [[values[f"i1_i2_field.S[{i},{j}]"] for j in (1, 2)] for i in (1, 2)]
    gains = np.array([[1.0, -1.0]])
    assert np.allclose(found, np.diag([1.0, 2.0]) + gains.T @ gains * 0.5)
    kinds = [e.kind for e in made.graph.elements if e.name.endswith("_field")]
    assert kinds == ["field", "field"]


def test_roller_coaster_against_its_differential_equation() -> None:
    """m(1 + y'^2) x'' + m y' y'' x'^2 = -m g y', written out by hand."""
    h, length, g = 2.0, 3.0, 9.81

    def rate(_t: float, s: np.ndarray) -> list[float]:  # type: ignore[type-arg]
        slope, bend = -h / length * np.sin(s[0] / length), -h / length**2 * np.cos(s[0] / length)
        return [s[1], -slope * (bend * s[1] ** 2 + g) / (1 + slope**2)]

    exact = solve_ivp(rate, (0, 10), [0.0, 5.0], rtol=1e-11, atol=1e-11).y[0, -1]
    made = reduce_storages(load("roller_coaster"))
    assert made.graph.elements[2].kind == "TF"
    result = run(made.graph, tol=1e-10)
    assert result["vx.q"][-1] == pytest.approx(exact, rel=1e-6)
    assert result.audit is not None and abs(result.audit.relative_error) < 1e-6


def test_one_storage_that_follows_many_with_varying_gains() -> None:
    source = """model M J1 v[5](q(start = {0.3, 0.2, 0.1, 0.4, 0.5})), w; J0 j;
    TF t[5](m = {2 + sin(v[1].q), 1 + v[2].q^2, cos(v[3].q), 1, exp(0.1*v[5].q)});
    I a[5](I = {1, 2, 3, 4, 5}, p(start = {1, -1, 0.5, 2, -0.3})), b(I = 2); C s[5](each C = 0.5);
    bonds v -> a; v -> s; v -> t; t -> j; j -> w -> b; end M;"""
    graph = parsed(source)
    made = reduce_storages(graph)
    assert not made.refusals and not assign_causality(made.graph).dependent
    exact = run(graph)
    assert max(difference(exact, run(made.graph), lasting(graph)).values()) < 1e-6
    assert max(difference(exact, run(after(made)), lasting(graph)).values()) < 1e-6


def test_a_constraint_that_cannot_be_integrated_is_refused() -> None:
    """vy = sin(angle)*vx + (0.5 + angle)*rate of the angle: no position y belongs to that."""
    source = """model M J1 vx, vy, w(q(start = 0.3)); J0 j; TF t(m = sin(w.q)), n(m = 0.5 + w.q);
    I ix(I = 1, p(start = 1)), iw(I = 0.5, p(start = 0.2)), iy(I = 2); C s(C = 1), k(C = 1);
    bonds vx -> ix, s; w -> iw, k; vx -> t -> j; w -> n -> j; j -> vy -> iy; end M;"""
    made = reduce_storages(parsed(source))
    assert [(r.obstacle, r.storage) for r in made.refusals] == [("modulated", "iy")]
    assert "not integrable" in made.refusals[0].diagnostic.reason


def test_elements_without_values_get_symbols() -> None:
    made = reduce_storages(parsed("model M J1 v; I a, b; C s; bonds v -> a, b, s; end M;"))
    assert parameter(made.graph, "a.I") == "a_I + b.I"


def test_zero_eigenvalue_keeps_unequal_starts_in_the_law() -> None:
    made = reduce_storages(load("zero_eigenvalue"))
    kept = next(e for e in made.graph.elements if e.name == "s1")
    assert text(kept.laws[0].value) == "(k1 + k2)*s1.q + k2*s2_offset"
    assert evaluate_parameters(made.graph)["s2_offset"] == pytest.approx(-0.3)
    assert len(assign_causality(made.graph).independent) == 2


def test_springs_without_starts_merge_into_one_parameter() -> None:
    graph = parsed("model M J1 v; I m(I = 1, p(start = 1)); C a(C = 2), b(C = 3); bonds v -> m, a, b; end M;")
    made = reduce_storages(graph)
    assert evaluate_parameters(made.graph)["a.C"] == pytest.approx(1 / (1 / 2 + 1 / 3))


def test_a_free_body_keeps_its_momentum_and_its_state() -> None:
    source = """model M J1 v1, v2; J0 f; I a(I = 1, p(start = 1)), b(I = 2); C s(C = 1);
    bonds v1 -> a; v2 -> b; v1 -> f -> v2; f -> s; end M;"""
    made = reduce_storages(parsed(source))
    assert not made.mergers


def test_bound_sums_become_a_field() -> None:
    """q3 = q1 + q2 + constant, with currents given from outside."""
    source = """model M J1 i1, i2, i3; J0 n; R r1(R = 1), r2(R = 2); Se s1(e = 1), s2(e = sin(3*time));
    C a(C = 0.5, q(start = 0.1)), b(C = 0.7, q(start = -0.2)), c(C = 0.9, q(start = 0.4));
    bonds s1 -> i1 -> a, r1; s2 -> i2 -> b, r2; i1 -> n; i2 -> n; n -> i3 -> c; end M;"""
    graph = parsed(source)
    made = reduce_storages(graph)
    assert len(made.mergers) == 1 and made.mergers[0].shared
    before, later = run(graph), run(made.graph)
    assert len(assign_causality(made.graph).independent) == 2
    assert max(difference(before, later, [*lasting(graph), "a.q", "b.q", "c.q"]).values()) < 1e-7


@pytest.mark.parametrize(("gear", "m"), [("n -> v2", 1.0), ("n -> t -> v2", 2.0)])
def test_the_storage_of_a_bound_sum_that_can_go_goes(gear: str, m: float) -> None:
    """q1 = q2/m + q3 + constant: only the first one, alone on its junction, can go.  Against scipy."""
    node = "TF t(m = 2); " if m == 2.0 else ""
    source = f"""model M J1 v1, v2, v3; J0 n; {node}I m2(I = 1, p(start = 1)), m3(I = 2); R r(R = 0.3);
    C k1(C = 0.2, q(start = 0.3)), k2(C = 0.5, q(start = -0.2)), k3(C = 0.1, q(start = 0.4));
    bonds v1 -> n, k1; {gear}; n -> v3; v2 -> m2, k2; v3 -> m3, k3, r;
    annotation(experiment(StopTime = 3)); end M;"""
    made = reduce_storages(parsed(source))
    later = after(made)
    assert [w.merged for w in made.mergers] == [("k1",)]
    assert len(assign_causality(later).independent) == 4

    def slope(_: float, y: np.ndarray) -> list[float]:
        q2, q3, f2, f3 = y
        e = (0.3 + (q2 + 0.2) / m + q3 - 0.4) / 0.2
        return [f2, f3, -q2 / 0.5 - e / m, (-q3 / 0.1 - 0.3 * f3 - e) / 2]

    result = run(later)
    exact = solve_ivp(slope, (0, 3), [-0.2, 0.4, 1, 0], t_eval=result.time, rtol=1e-11, atol=1e-12, method="DOP853").y
    for name, values in (
        ("v2.f", exact[2]),
        ("v3.f", exact[3]),
        ("'k1.q'", 0.3 + (exact[0] + 0.2) / m + exact[1] - 0.4),
    ):
        assert np.abs(result[name] - values).max() < 1e-7


def test_nonlinear_laws_merge_where_they_can_be_summed() -> None:
    source = """model M J0 u; C a(q = 0.1*e + 0.01*e^3, q(start = 0.5)), b(e = 3*q); R r(R = 2);
    bonds u -> a, b, r; end M;"""
    graph = parsed(source)
    made = reduce_storages(graph)
    assert not made.refusals and len(assign_causality(made.graph).independent) == 1
    assert max(difference(run(graph), run(made.graph), lasting(graph)).values()) < 1e-6


def test_sources_on_the_path_move_the_law_of_what_stays() -> None:
    source = """model M J1 v1, v2; J0 j; I i1(I = 2, p(start = 1)), i2(I = 3); Sf drive(f = sin(2*time));
    C s(C = 0.1); R d(R = 0.3); bonds v1 -> i1, s, d; v1 -> j -> v2 -> i2; drive -> j; end M;"""
    graph = parsed(source)
    made = reduce_storages(graph)
    before, later = run(graph, tol=1e-11), run(made.graph, tol=1e-11)
    names = [*lasting(graph), "drive.f", "drive.e", "v2.f", "j.e", "i2.e", "i2.p"]
    assert max(difference(before, later, names).values()) < 1e-6


def test_signals_that_read_merged_storages_still_work() -> None:
    source = """model M J1 v, w; TF t(m = 2); I a(I = 2, p(start = 1)), b(I = 3); C s(C = 0.1); Real x(start = 0);
    Real y = a.p + b.p; Real z = a.e; R film(e = (1 + b.p^2)*f);
    bonds v -> a, s, film; v -> t -> w -> b; equation der(x) = a.p - b.f; end M;"""
    graph = parsed(source)
    names = [*lasting(graph), "x", "y", "z", "b.p", "b.e", "b.power", "w.f", "t.p1.e", "t.p2.f"]
    made = reduce_storages(graph)
    assert made.mergers
    exact = run(graph)
    assert max(difference(exact, run(made.graph), names).values()) < 1e-6
    assert max(difference(exact, run(after(made)), names).values()) < 1e-6


def test_reinit_sets_what_the_merged_storage_gives() -> None:
    source = """model M J1 v; I a(I = 2, p(start = -1)), b(I = 3); Se g(e = -1); Real h(start = 1);
    bonds g -> v -> a, b; equation der(h) = v.f; when h < 0 then reinit(a.p, -0.8*a.p); end when; end M;"""
    graph = replace(parsed(source), experiment=replace(parsed(source).experiment, stop=4.0))
    made = reduce_storages(graph)
    assert max(difference(run(graph), run(made.graph), ["h", "v.f", "b.p"]).values()) < 1e-6


def test_linear_fields_are_members_too() -> None:
    source = """element F port Any a, b; equation a.e = 3*a.q + b.q; b.e = a.q + 2*b.q; end F;
    model M J0 u, w; F f(a.q(start = 0.3)); C c(C = 0.5), d(C = 2); R r(R = 1), p(R = 2);
    bonds u -> f.a, c, r; w -> f.b, d, p; end M;"""
    graph = parsed(source)
    made = reduce_storages(graph)
    assert made.mergers and not assign_causality(made.graph).dependent
    names = ["u.e", "w.e", *lasting(graph)]
    assert max(difference(run(graph), run(made.graph), names).values()) < 1e-6


def test_many_storages_on_one_junction_cost_one_round() -> None:
    masses = "".join(f"I m{k}(I = {k}); " for k in range(1, 301))
    graph = parsed(
        f"model M J1 v; {masses} C s(C = 1); bonds v -> {', '.join(f'm{k}' for k in range(1, 301))}, s; end M;"
    )
    made = reduce_storages(graph)
    assert len(made.mergers) == 1
    assert evaluate_parameters(made.graph)["m1.I"] == pytest.approx(300 * 301 / 2)


def test_contradictory_starts_are_told() -> None:
    source = "model M J1 v; I a(I = 2, p(start = 1)), b(I = 3, p(start = 6)); C s(C = 1); bonds v -> a, b, s; end M;"
    with pytest.raises(SourceError, match=r"the start of `b\.p` contradicts the starts of `a\.p`"):
        reduce_storages(parsed(source))


def test_unknown_names_are_told_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"no storage named `i3`; did you mean `i1`\?"):
        reduce_storages(load("lever"), keep=["i3"])


@pytest.mark.parametrize("seed", [s for s in range(160) if sound(random_graph(s))][:45])
def test_random_graphs_keep_their_trajectories(seed: int) -> None:
    graph = random_graph(seed)
    made = reduce_storages(graph)
    assert len(assign_causality(made.graph).dependent) == len(made.refusals)
    assert {r.obstacle for r in made.refusals} <= {"source"}
    if made.mergers:
        shared = {m.kept for m in made.mergers if m.shared}
        names = [n for n in lasting(graph) if n[:-2] not in shared]
        exact, reduced = run(graph), run(made.graph)
        assert max(difference(exact, reduced, names).values(), default=0.0) < 1e-6


FOUND = {
    "an offset of a law at rest": "J0 u; C a(C = 1), b(q = 1.48*e + 0.1); R r(R = 1); bonds u -> a, b, r;",
    "a start that needs a function": """J1 v; I a(I = 1, p(start = 1)); I b(p = 1.5*f + sine(f, 0.2, 1, 0.2, 0));
        R r(R = 1); bonds v -> a, b, r;""",
    "a port of a field that follows a storage": """J0 u; J1 v; C c(C = 1, q(start = 0.5)); R r(R = 1);
        F x(d[2].q(start = 0.3)); bonds u -> v, c, x.d[1]; v -> r, x.d[2];""",
    "a port of a field that a source holds": """J1 v; J0 u; C c(C = 1, q(start = 0.4)); Se s(e = 1); R r(R = 1); F x;
        bonds s -> x.d[1]; v -> r; u -> c, x.d[2], v;""",
    "a ring beside what is constant": """J1 a, f, g, h; J0 b, d; TF t(m = 2); C c1(C = 1, q(start = 1)), c2(C = 1);
        C c3(C = 1); R r(R = 1), s(R = 1); bonds a -> b -> d; b -> f -> g; b -> h; d -> t -> b; a -> c1, r, c2; g -> c3;
        h -> s;""",
}


@pytest.mark.parametrize("what", FOUND)
def test_random_models_that_failed_once(what: str) -> None:
    """Found by `python -m tests.soak`, made small: junctions keep their common variables."""
    field = "element F port Any d[2]; parameter Real A[2, 2] = [1.93, 1.1; 1.1, 2.01]; equation d.e = A*d.q; end F;"
    model = bglang.loads(f"{field} model M {FOUND[what]} end M;")
    implicit = model.simulate(stop=1, tol=1e-9, points=11)
    reduced = model.simulate(stop=1, tol=1e-9, points=11, dependent="reduce")
    names = [name for name in implicit.names if name in reduced and name.partition(".")[0] in ("u", "v", "a", "b")]
    assert names
    for name in [f"{j}.{x}" for j, x in (("u", "e"), ("v", "f"), ("b", "e"), ("a", "f")) if f"{j}.{x}" in names]:
        if f"{name[:-2]}.power" not in implicit:
            assert np.allclose(implicit[name], reduced[name], atol=1e-7), name
