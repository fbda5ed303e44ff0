"""The table, the chains of reasons and the form for machines."""

import json

import pytest
from build import Build
from looking import look

from bglang.causality.explain import explain, table, to_json
from bglang.diagnostics import UsageError


def lever() -> Build:
    g = Build("Lever")
    g.se("F")
    g.j1("a", "b")
    g.i("m1")
    g.i("m2")
    g.tf("t", 2.0)
    g.c("spring")
    g.chain("F", "a", "t", "b", "spring")
    g.bond("a", "m1")
    g.bond("b", "m2")
    return g


TABLE = """\
Lever: 6 bonds, order 2
  states           m1.p, spring.q
  inputs           F.e
  dependent        m2 on m1   path m2 - b - t - a - m1, gain t.m

  F ->| a       F is an effort source
  a |-> t       a has its flow from a -> m1 already
  t |-> b       t is a transformer, and a -> t brings the effort or the flow on its other side
  b |-> spring  b has its flow from t -> b already
  a ->| m1      m1 is a storage, which takes integral causality where it can
  b |-> m2      b has its flow from t -> b already"""

PASSED = "`t` is a transformer, and `a -> t` brings the effort or the flow on its other side"
CHAIN = f"""\
`m2` is dependent (line 6): it is in derivative causality because `m1` decides it.
  causal path to `m1`: m2 - b - t - a - m1, gain t.m
  `b -> m2` (line 14, stroke at the tail): `b` has its flow from `t -> b` already
  `t -> b` (line 11, stroke at the tail): {PASSED}
  `a -> t` (line 10, stroke at the tail): `a` has its flow from `a -> m1` already
  `a -> m1` (line 13, stroke at the head): `m1` is a storage, which takes integral causality where it can"""


def test_the_table_is_short() -> None:
    found = look(lever())
    assert table(found.graph, found.causality) == TABLE


def test_the_chain_of_reasons_ends_at_a_decision() -> None:
    found = look(lever())
    assert explain(found.graph, found.causality, "m2") == CHAIN


def test_junctions_bonds_and_independent_storages_are_explained_too() -> None:
    found = look(lever())
    assert "`a` is a 1-junction (line 3)." in explain(found.graph, found.causality, "a")
    assert "m1.p is a state" in explain(found.graph, found.causality, "m1")
    assert explain(found.graph, found.causality, "a -> m1").startswith("  `a -> m1` (line 13, stroke at the head)")


def test_an_unknown_name_gets_a_suggestion() -> None:
    found = look(lever())
    with pytest.raises(UsageError, match="did you mean `spring`"):
        explain(found.graph, found.causality, "sprnig")


def test_the_form_for_machines_is_stable() -> None:
    found = look(lever())
    data = to_json(found.graph, found.causality)
    assert json.loads(json.dumps(data)) == data
    assert {
        "bonds", "independent", "dependent", "loops", "conflicts", "reasons", "inputs", "states", "order",
        "zero_eigenvalues", "procedure", "dependences", "zero_order_paths",
    } <= set(data)  # fmt: skip
    assert data["independent"] == ["m1", "spring"]
    assert data["dependent"] == ["m2"]
    assert data["zero_order_paths"] == [{"class": 1, "elements": ["m2", "m1"]}]
    assert data["bonds"][1] == {
        "name": "a -> t",
        "names": [],
        "tail": "a",
        "head": "t.p1",
        "stroke": "tail",
        "rule": "junction",
        "element": "a",
        "because": ["a -> m1"],
        "reason": "`a` has its flow from `a -> m1` already",
        "line": 10,
    }
    assert data["reasons"]["m2"].startswith("dependent on `m1`")


def test_conflicts_are_told_to_machines_with_lines() -> None:
    g = Build()
    g.se("a")
    g.se("b")
    g.j0("u")
    g.bond("a", "u")
    g.bond("b", "u")
    (conflict,) = look(g).data["conflicts"]
    assert conflict["code"] == "causality/conflict"
    assert conflict["lines"] == [5, 6]
    assert conflict["solvable"] is False


def test_named_bonds_and_long_lists() -> None:
    g = Build()
    g.j0("u")
    g.c("c")
    for k in range(9):
        g.r(f"r{k}")
        g.bond("u", f"r{k}")
    g.bond("u", "c", name="feed")
    found = look(g)
    assert "feed: u |-> c" in table(found.graph, found.causality)
    assert "`u` has its effort from `feed` already" in explain(found.graph, found.causality, "r3")


@pytest.mark.parametrize("procedure", ["scap", "mscap", "lcap", "lambda"])
def test_every_procedure_says_its_name(procedure: str) -> None:
    found = look(lever(), procedure=procedure)  # type: ignore[arg-type]
    assert found.data["procedure"] == procedure
    assert table(found.graph, found.causality)


def test_relaxed_causality_keeps_all_storages_integral() -> None:
    found = look(lever(), procedure="mscap")
    assert found.independent == ["m1", "m2", "spring"]
    assert found.data["artificial_efforts"] == ["b"]
    assert found.data["conflicts"][0]["solvable"]


def test_lagrangian_causality_puts_inertias_in_derivative_causality() -> None:
    found = look(lever(), procedure="lcap")
    assert found.data["artificial_flows"] == ["a"]
    assert found.independent == ["spring"]
    assert (found.stroke("a -> m1"), found.stroke("b -> m2")) == ("tail", "tail")
