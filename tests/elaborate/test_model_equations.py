# ruff: noqa: E501  small models read better on one line
"""Equations, events and assertions of models."""

import pytest
from elaborating import equations, graph, messages, problems, show, starts


def test_the_ball_of_the_language_page() -> None:
    g = graph("""
        model Ball
          J1 v; I m(I = 1); Se g(e = -9.81); Real h(start = 1);
        bonds
          g -> v -> m;
        equation
          der(h) = v.f;
          when h < 0 then reinit(m.p, -0.8*m.p); end when;
        end Ball;""")
    assert equations(g) == ["der(h) = v.f"] and starts(g) == {"h": "1"}
    branch = g.whens[0].branches[0]
    assert [show(c) for c in branch.conditions] == ["<(h, 0)"]
    assert branch.actions[0].target == "m.p" and show(branch.actions[0].value) == "*(-0.8, m.p)"


def test_conditions_known_before_the_run_choose_a_branch() -> None:
    text = "model M parameter Boolean b = {}; Real x, y; equation if b then x = 1; y = 2; else x + y = 3; x = y; end if; end M;"
    assert equations(graph(text.format("true"))) == ["x = 1", "y = 2"]
    assert equations(graph(text.format("false"))) == ["+(x, y) = 3", "x = y"]


def test_branches_that_change_in_time_are_merged() -> None:
    g = graph("""
        model M Real x, y;
        equation
          if time < 1 then x = 1; y = 2; elseif time < 2 then y = 3; x = 4; else x = 5; y = 6; end if;
        end M;""")
    assert equations(g) == ["x = if(<(t(), 1), 1, if(<(t(), 2), 4, 5))", "y = if(<(t(), 1), 2, if(<(t(), 2), 3, 6))"]
    g = graph("model M Real x; equation if time < 1 then x = 1; else 2*x = 3; end if; end M;")
    assert equations(g) == ["0 = if(<(t(), 1), -(x, 1), -(*(2, x), 3))"]
    assert problems("model M Real x; equation if time < 1 then x = 1; end if; end M;") == ["equations/branches"]


def test_when_elsewhen_and_discrete_variables() -> None:
    g = graph("""
        model M
          discrete Real n(start = 1); Integer k(start = 0); Boolean b(start = false); Real z(start = 0), x(start = 0);
        equation
          der(x) = 1;
          when {x > 1, sample(0, 0.1)} then n = pre(n) + 1; k = pre(k) + 1; elsewhen time > 3 then z = 2; terminate("done"); end when;
          b = x > 2;
        end M;""")
    first, second = g.whens[0].branches
    assert len(first.conditions) == 2 and [a.target for a in first.actions] == ["n", "k"]
    assert type(second.actions[1]).__name__ == "Terminate"
    assert {v.name: v.kind for v in g.variables} == {
        "n": "discrete", "k": "discrete", "b": "discrete", "z": "discrete", "x": "continuous"
    }  # fmt: skip


def test_if_inside_when() -> None:
    g = graph("""
        model M discrete Real n(start = 0), m(start = 0); Real x(start = 0);
        equation der(x) = 1;
          when x > 1 then if x > 2 then n = 1; else n = 2; m = 3; end if; end when;
        end M;""")
    actions = g.whens[0].branches[0].actions
    assert [(a.target, show(a.value)) for a in actions] == [("n", "if(>(x, 2), 1, 2)"), ("m", "if(>(x, 2), pre(m), 3)")]


def test_assertions() -> None:
    g = graph("""
        model M parameter Real k = 1; Real x = time;
        equation
          assert(k > 0, "k must be " + "positive");
          assert(x < 5, "large", AssertionLevel.warning);
          if x > 2 then assert(x < 3, "inside"); end if;
        end M;""")
    assert [(a.message, a.level) for a in g.assertions] == [
        ("k must be positive", "error"),
        ("large", "warning"),
        ("inside", "error"),
    ]
    assert show(g.assertions[2].condition) == "or(not(>(x, 2)), <(x, 3))"


def test_declaration_equations_and_initial_equations() -> None:
    g = graph(
        "model M Real x(start = 1, fixed = true) = sin(time); Real y(start = 2); initial equation der(y) = 0; equation der(y) = x - y; end M;"
    )
    assert equations(g) == ["x = sin(t())", "der(y) = -(x, y)"]
    assert [show(q.left) for q in g.initial_equations] == ["der(y)"]
    assert g.variables[0].start is not None and g.variables[0].start.fixed


def test_functions_with_several_outputs() -> None:
    g = graph("""
        function polar input Real x, y; output Real r, phi; algorithm r := sqrt(x^2 + y^2); phi := atan2(y, x); end polar;
        model M Real r, phi; equation (r, phi) = polar(time, 2); end M;""")
    assert len(g.equations) == 2 and equations(g)[1] == "phi = atan2(2, t())"


def test_functions_see_constants_of_their_package() -> None:
    g = graph("""
        package P constant Real k = 4; function f input Real x; output Real y; algorithm y := k*x; end f; end P;
        model M Real z = P.f(time); end M;""")
    assert equations(g) == ["z = *(4, t())"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("Real x; equation x = {1, 2};", "arrays/shape"),
        ("Real x; equation x = true;", "types/mismatch"),
        ("Real x(start = 0); equation der(x) = 1; reinit(x, 0);", "equations/call"),
        ("Real x(start = 0); equation der(x) = 1; when x > 1 then reinit(2*x, 0); end when;", "equations/when"),
        ("Real x(start = 0); equation der(x) = 1; when x > 1 then 2*x = 1; end when;", "equations/when"),
        ("Real x(start = 0); equation der(x) = 1; when x then reinit(x, 0); end when;", "types/mismatch"),
        ("Real x; equation x = y;", "names/unknown"),
        ("Real x(begin = 1) = 2;", "names/unknown"),
        ('String s = "a";', "types/variability"),
    ],
)
def test_wrong_equations(body: str, code: str) -> None:
    assert problems(f"model M {body} end M;") == [code], messages(f"model M {body} end M;")


def test_tables_are_shared() -> None:
    g = graph("model M parameter Real d[2,2] = [0, 0; 1, 2]; Real x = table(time, d), y = table(2*time, d); end M;")
    assert len(g.tables) == 1 and equations(g)[0] == f"x = table(t(), {g.tables[0].key})"
