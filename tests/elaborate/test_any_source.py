# ruff: noqa: E501  small models read better on one line
"""Whatever stands in a source, the answer is a graph or diagnostics; and one thing can be said in many ways."""

import random
import re
from pathlib import Path

import pytest
from elaborating import bonds, graph, names, show, value
from hypothesis import given, settings
from hypothesis import strategies as st

from bglang.diagnostics import SourceError, UsageError
from bglang.elaborate import load_model
from bglang.elaborate import outside as outside_room
from bglang.elaborate.outside import OutsideRequest
from bglang.graph.ir import BondGraph
from bglang.source import Source
from bglang.syntax import ast

EXAMPLES = sorted(p for p in (Path(__file__).parents[2] / "examples").glob("*.bg") if p.stem != "transmission_line")
WORDS = [
    "1",
    "0",
    "R",
    "C",
    "J1",
    "TF",
    "e",
    "q",
    "time",
    "Real",
    "Any",
    "true",
    "-1",
    "1.5",
    "{1,2}",
    "v.f",
    "x[1]",
    "M",
]


def spoiled(text: str, rng: random.Random) -> str:
    """The text with some words exchanged."""
    for _ in range(rng.choice([1, 2, 3])):
        places = [m.span() for m in re.finditer(r"[A-Za-z_0-9]+", text)]
        start, end = rng.choice(places)
        other = rng.choice(places)
        text = text[:start] + rng.choice([text[slice(*other)], rng.choice(WORDS)]) + text[end:]
    return text


@pytest.mark.parametrize("seed", range(3))
def test_spoiled_sources_give_diagnostics(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        text = spoiled(rng.choice(EXAMPLES).read_text(encoding="utf-8"), rng)
        try:
            assert isinstance(load_model(Source("spoiled.bg", text)), BondGraph)
        except SourceError as problem:
            assert any(d.severity == "error" for d in problem.diagnostics)
        except UsageError:
            pass


SECTION = """
    macro Section(node a, node b, Real k) J1 i; R r(R = k); C c(C = 2*k); bonds a -> i -> b; i -> r; b -> c; end Section;
    model Cell port Any a; port Any b; parameter Real k; J1 i; J0 u; R r(R = k); C c(C = 2*k); bonds a -> i -> u -> b; i -> r; u -> c; end Cell;
"""


@settings(max_examples=15, deadline=None)
@given(n=st.integers(2, 6))
def test_loops_arrays_macros_and_models_say_the_same(n: int) -> None:
    head = f"parameter Integer n = {n}; Se s(e = 1); R load(R = 1);"
    arrays = f"""model M {head} J0 u[n]; J1 i[n]; R r[n](R = {{k for k in 1:n}}); C c[n](C = {{2*k for k in 1:n}});
        bonds s -> i[1]; i -> u; u[1:n-1] -> i[2:n]; i -> r; u -> c; u[n] -> load; end M;"""
    loops = f"""model M {head} J0 u[n]; J1 i[n];
        bonds s -> i[1]; for k in 1:n loop R r[k](R = k); C c[k](C = 2*k); i[k] -> u[k]; i[k] -> r[k]; u[k] -> c[k]; end for;
        for k in 2:n loop u[k-1] -> i[k]; end for; u[n] -> load; end M;"""
    macros = (
        SECTION
        + f"""model M {head} J0 u[n]; J0 u0;
        bonds s -> u0; Section first(u0, u[1], 1); for k in 2:n loop Section rest[k](u[k-1], u[k], k = k); end for; u[n] -> load; end M;"""
    )
    models = (
        SECTION
        + f"""model M {head} Cell cell[n](k = {{k for k in 1:n}});
        bonds s -> cell[1].a; cell[1:n-1].b -> cell[2:n].a; cell[n].b -> load; end M;"""
    )
    counts = [numbers(graph(text, model="M")) for text in (arrays, loops, macros, models)]
    assert counts[0] == counts[1] == counts[3]
    assert counts[2][0] == counts[0][0] and counts[2][1] == counts[0][1] + 1  # one junction more
    assert sorted(bonds(graph(arrays))) == sorted(bonds(graph(loops)))
    assert sorted(names(graph(arrays))) == sorted(names(graph(loops)))


def numbers(g: BondGraph) -> tuple[list[float], int]:
    """The values of all gains, and how many bonds there are."""
    known = {p.name: p.value for p in g.parameters}

    def number(e: object) -> float:
        if isinstance(e, tuple):
            if e[0] == "p":
                return number(known[e[1]])
            if e[0] == "*":
                result = 1.0
                for a in e[1:]:
                    result *= number(a)
                return result
            raise AssertionError(show(e))
        assert isinstance(e, float)
        return e

    gains = sorted(number(w.gain) for e in g.elements for w in e.laws if w.gain is not None)
    return gains, len(g.bonds)


def test_outside_models_are_classes_made_by_another_room(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[OutsideRequest]()

    def make_class(request: OutsideRequest) -> ast.Class | None:
        from bglang.syntax.parse import parse

        seen.append(request)
        text = """element Body port Any dof[2]; parameter Real k = 3; equation dof.e = k*dof.q; end Body;"""
        file = parse(Source("made", text), request.report)
        return file.classes[0] if file is not None else None

    monkeypatch.setattr(outside_room, "maker", lambda kind: make_class if kind == "MCK" else None)
    g = graph("""
        model M
          MCK beam(K = [1, 2; 2, 5], form = "modal", dof[2].q(start = 0.1)); J1 a, b;
        bonds a -> beam.dof[1]; b -> beam.dof[2];
        end M;""")
    assert seen[0].values["K"].items == (1.0, 2.0, 2.0, 5.0) and seen[0].values["form"].items == ("modal",)
    assert bonds(g) == ["a -> beam.dof[1]", "b -> beam.dof[2]"] and value(g, "beam.k") == "3"
    port = g.elements[0].ports[1]
    assert port.start is not None and port.start.value == 0.1
