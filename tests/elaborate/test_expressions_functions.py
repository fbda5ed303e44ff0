"""User functions are executed symbolically: what comes out computes what the algorithm says."""

import math
from typing import Any

import pytest
from expression_scope import TestScope, errors_of, parameter, value_of, variable

from bglang.expr.numbers import evaluate
from bglang.expr.walk import contains
from bglang.limits import Limits

SOURCE = """
function drag
  input Real v;
  input Real c[:] = {1, 0.5};
  output Real F;
protected
  Real x;
algorithm
  F := 0;
  x := v;
  for k in 1:size(c, 1) loop
    F := F + c[k]*x;
    x := x*abs(v);
  end for;
end drag;

function piecewise
  input Real x;
  output Real y;
algorithm
  if x < -1 then
    y := -1;
    return;
  elseif x < 0 then
    y := x;
  else
    y := 2*x;
  end if;
  y := y + 10;
end piecewise;

function root "Newton's method, left when it has converged"
  input Real a;
  output Real y;
protected
  Real step;
algorithm
  y := 1 + a/4;
  for i in 1:6 loop
    step := (y*y - a)/(2*y);
    y := y - step;
    if abs(step) < 1e-13 then
      break;
    end if;
  end for;
end root;

function power
  input Real x;
  input Integer n;
  output Real y;
protected
  Integer k;
algorithm
  y := 1;
  k := n;
  while k > 0 loop
    y := y*x;
    k := k - 1;
  end while;
end power;

function polar
  input Real x;
  input Real y;
  output Real r;
  output Real phi;
algorithm
  r := sqrt(x^2 + y^2);
  phi := atan2(y, x);
end polar;

function turned
  input Real x;
  input Real y;
  input Real by;
  output Real p[2];
protected
  Real r;
  Real phi;
algorithm
  (r, phi) := polar(x, y);
  p[1] := r*cos(phi + by);
  p[2] := r*sin(phi + by);
end turned;

function tridiagonal
  input Integer n;
  input Real a;
  output Real M[n, n];
algorithm
  M := zeros(n, n);
  for i in 1:n, j in 1:n loop
    if i == j then
      M[i, j] := 2*a;
    elseif abs(i - j) == 1 then
      M[i, j] := -a;
    end if;
  end for;
end tridiagonal;

function again = piecewise;

function recursive input Real x; output Real y; algorithm y := other(x - 1); end recursive;
function other input Real x; output Real y; algorithm y := recursive(x); end other;
function endless input Real x; output Real y; algorithm y := x; while y > 1 loop y := y/2; end while; end endless;
function far input Real x; output Real y; algorithm y := 0; for i in 1:integer(x) loop y := y + 1; end for; end far;
function unset input Real x; output Real y; protected Real z; algorithm y := z + x; end unset;
function partly input Real x; output Real y; algorithm if x > 0 then y := 1; end if; end partly;
function clock input Real x; output Real y; algorithm y := x*time; end clock;
function outer_name input Real x; output Real y; algorithm y := x*k; end outer_name;
function rate input Real x; output Real y; algorithm y := der(x); end rate;
function misspelt input Real x; output Real y; algorithm yy := x; end misspelt;
function writes input Real x; output Real y; algorithm x := 1; y := x; end writes;
function mistyped input Real x; output Integer y; algorithm y := x/2; end mistyped;
function misshaped input Real x; output Real y[3]; algorithm y := {x, x}; end misshaped;
function no_output input Real x; algorithm end no_output;
function huge input Real x; output Real y; algorithm y := x; for i in 1:40 loop y := y*y + 1/y; end for; end huge;
function forever input Real x; output Real y; algorithm y := x; while true loop y := 1; end while; end forever;
function claims input Real x; output Real y; algorithm assert(1 > 2, "never"); y := x; end claims;
"""


def scope() -> TestScope:
    return TestScope(
        {"x": variable("x"), "y": variable("y"), "v": variable("v", 3), "n": parameter("n", type="Integer"),
         "k": parameter("k")},
        {"n": 4.0},
    )  # fmt: skip


def at(text: str, s: TestScope | None = None, **values: float) -> Any:
    value = value_of(text, s or scope(), SOURCE)
    found = [evaluate(e, lambda leaf: values[leaf[1]]) for e in value.items]
    return found if value.shape else found[0]


def test_loops_and_defaults() -> None:
    assert at("drag(x)", x=-3.0) == -3 - 0.5 * 9
    assert at("drag(x, {1, 2, 3})", x=2.0) == 2 + 2 * 4 + 3 * 8
    assert at("drag(c = {2}, v = x)", x=2.0) == 4.0


def test_loops_make_no_events() -> None:
    value = value_of("drag(x)", scope(), SOURCE).item
    assert contains(value, frozenset({"noEvent"}))
    outside = value_of("piecewise(x)", scope(), SOURCE).item
    assert not contains(outside, frozenset({"noEvent"}))


@pytest.mark.parametrize("x", [-5.0, -0.5, 0.5, 3.0])
def test_branches_and_returns(x: float) -> None:
    assert at("piecewise(x)", x=x) == (-1 if x < -1 else 10 + (x if x < 0 else 2 * x))
    assert at("again(x)", x=x) == at("piecewise(x)", x=x)


@pytest.mark.parametrize("a", [0.2, 1.0, 2.0, 30.0])
def test_a_loop_left_at_run_time(a: float) -> None:
    assert at("root(x)", x=a) == pytest.approx(math.sqrt(a), rel=1e-9)


def test_while_with_a_known_end() -> None:
    assert at("power(x, 5)", x=1.5) == 1.5**5
    s = scope()
    assert at("power(x, n)", s, x=1.5) == 1.5**4
    assert s.structural == {"n"}


def test_several_outputs_and_elements() -> None:
    assert at("polar(x, y)", x=3.0, y=4.0) == 5.0
    assert at("turned(x, y, 1)", x=3.0, y=4.0) == pytest.approx(
        [3 * math.cos(1) - 4 * math.sin(1), 3 * math.sin(1) + 4 * math.cos(1)]
    )
    assert at("tridiagonal(3, x)", x=1.0) == [2, -1, 0, -1, 2, -1, 0, -1, 2]


def test_arrays_go_item_by_item() -> None:
    values = {"v[1]": -5.0, "v[2]": -0.5, "v[3]": 2.0}
    assert at("piecewise(v)", **values) == [-1.0, 9.5, 14.0]
    assert at("polar(v, 0)", **values) == [5.0, 0.5, 2.0]


def test_known_arguments_give_numbers() -> None:
    value = value_of("root(2)", scope(), SOURCE)
    assert value.known and value.item == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("recursive(x)", "functions/recursion", "`recursive` calls itself"),
        ("endless(x)", "functions/loop", "when this loop ends"),
        ("far(x)", "functions/loop", "how often this loop runs"),
        ("unset(x)", "functions/unassigned", "`z` is read before"),
        ("partly(x)", "functions/unassigned", "not always given a value"),
        ("clock(x)", "functions/impure", "cannot use `time`"),
        ("outer_name(x)", "functions/impure", "cannot use `k`"),
        ("rate(x)", "functions/impure", "cannot use `der`"),
        ("misspelt(x)", "names/unknown", "has no variable `yy`"),
        ("writes(x)", "functions/statement", "is an input"),
        ("mistyped(x)", "types/mismatch", "needs an Integer"),
        ("misshaped(x)", "arrays/shape", "[3]"),
        ("no_output(x)", "functions/declaration", "has no output"),
        ("claims(x)", "functions/assertion", "never"),
        ("drag()", "functions/arguments", "needs `v`"),
        ("drag(x, {1}, 2)", "functions/arguments", "at most 2"),
        ("drag(x, d = 2)", "functions/arguments", "no input `d`"),
        ("drag(x, 2)", "arrays/shape", "1 dimension"),
        ("drag(true)", "types/mismatch", "needs a Real"),
        ("polar(v, {1, 2})", "arrays/shape", "[3] and [2]"),
        ("huge(x)", "limits/expression", "formula"),
    ],
)
def test_mistakes(text: str, code: str, part: str) -> None:
    found = errors_of(text, scope(), SOURCE)
    assert [c for c, _ in found] == [code]
    assert part in found[0][1]


def test_a_loop_without_end_is_stopped() -> None:
    s = scope()
    s.limits = Limits(evaluation=1000)
    assert errors_of("forever(x)", s, SOURCE)[0][0] == "limits/evaluation"
