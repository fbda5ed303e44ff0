"""What is not merged, told in the model's words: one golden text for each class of obstacle."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent)]

import bglang  # noqa: E402
from bglang.reduce.reduce import reduce_storages  # noqa: E402
from bglang.render import render_all  # noqa: E402

GOLDEN = Path(__file__).parent / "refusals"

MODELS = {
    "split path": """model M
  J1 v[4];
  J1 w[4];
  J0 j[4];
  TF t[4,4](m = fill(2, 4, 4) + identity(4)*sin(v[1].q));
  I a[4](each I = 1);
  C s[4](each C = 1);
  I b[4](each I = 2);
bonds
  v -> a;
  v -> s;
  j -> w;
  w -> b;
  for i in 1:4 loop
    for k in 1:4 loop
      v[i] -> t[i,k] -> j[k];
    end for;
  end for;
end M;
""",
    "nonlinear": """model M
  J1 v;
  I a(f = p/2 + 0.1*p^3);
  I b(I = 2);
  C s(C = 1);
bonds
  v -> a, b, s;
end M;
""",
    "modulated": """model M
  J1 v;
  J1 w;
  J1 u(q(start = 0.3));
  TF t(m = 2 + sin(u.q));
  I a(I = 1, p(start = 1));
  I b(I = 2);
  I c(I = 3, p(start = 1));
  C s(C = 1);
bonds
  v -> a, s;
  v -> t -> w -> b;
  u -> c;
end M;
""",
    "source": """model M
  J0 u;
  Se battery(e = 12);
  C c(C = 1);
  R r(R = 2);
bonds
  battery -> u -> c, r;
end M;
""",
    "resistor": """model M
  J1 v;
  R brake(R = 2);
  I a(I = 1);
  Se push(e = 1);
bonds
  push -> v -> a;
  v ->| brake;
end M;
""",
    "modulating signal": """model M
  J1 v;
  J1 w;
  TF t(m = 2 + sin(time));
  I a(I = 1, p(start = 1));
  I b(I = 2);
  C s(C = 1);
bonds
  v -> a, s;
  v -> t -> w -> b;
end M;
""",
    "multiport": """element F
  port Any a;
  port Any b;
  energy = a.q^4 + a.q^2 + b.q^2;
end F;

model M
  J0 u;
  J0 w;
  C c(C = 1, q(start = 1));
  F f;
  R r(R = 1);
  R p(R = 2);
bonds
  u -> c, r, f.a;
  w -> p, f.b;
end M;
""",
    "singular": """model M
  J1 v;
  I a(I = 2);
  I b(I = -2);
  C s(C = 1);
  R r(R = 1);
bonds
  v -> a, b, s, r;
end M;
""",
}


@pytest.mark.parametrize("name", list(MODELS))
def test_refusals_name_class_place_and_way_out(name: str, update_golden: bool) -> None:
    graph = bglang.loads(MODELS[name], name="model.bg").graph
    made = reduce_storages(graph)
    assert [r.obstacle for r in made.refusals] == [name]
    assert made.refusals[0].at
    shown = render_all(tuple(r.diagnostic for r in made.refusals)) + "\n"
    path = GOLDEN / f"{name.replace(' ', '-')}.txt"
    if update_golden:
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


def test_a_reaction_that_a_law_reads_is_not_taken_away() -> None:
    source = """model M J1 v; I a(I = 1), b(I = 2); C s(C = 1); R r(e = (1 + b.e^2)*f); Se p(e = 1);
    bonds p -> v -> a, b, s, r; end M;"""
    made = reduce_storages(bglang.loads(source).graph)
    assert [(r.obstacle, r.at) for r in made.refusals] == [("modulating signal", "r")]


def test_after_a_refusal_the_other_fields_are_merged() -> None:
    source = """model M J0 u; Se battery(e = 12); C c(C = 1); J1 v; I a(I = 1), b(I = 2); C s(C = 1);
    bonds battery -> u -> c; v -> a, b, s; end M;"""
    made = reduce_storages(bglang.loads(source).graph)
    assert [r.storage for r in made.refusals] == ["c"] and [m.merged for m in made.mergers] == [("b",)]
