"""A graph written back as source elaborates to the same graph."""

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from bglang.diagnostics import Report
from bglang.elaborate import load_model
from bglang.graph.checks import check
from bglang.graph.dump import dump
from bglang.graph.emit import emit
from bglang.graph.ir import BondGraph
from bglang.source import Source

OSCILLATOR = """
model Oscillator "Mass, spring, friction"
  parameter Real m(unit = "kg", min = 0) = 1 "moving mass";
  parameter Real k(unit = "N/m", displayUnit = "N/mm") = 2*m;
  final parameter Real Fc = 1;
  J1 v "velocity";
  I mass(I = m, prefer = "independent");
  C spring(C = 1/k, q(start = 16.5, fixed = true, nominal = 10));
  R friction(e = coulomb(f, Fc));
  R orifice(0 = e - 2*f - f*abs(f));
bonds
  bond first: v ->| mass;
  v |-> spring;
  v -> friction, orifice;
annotation(experiment(StopTime = 30, Tolerance = 1e-8, initial = "steady"));
end Oscillator;
"""

MOTOR = """
package Drives
  model DCMotor
    port Electrical pin;
    port Rotational shaft;
    parameter Real R(unit = "ohm") = 1, K(unit = "V.s/rad") = 0.05;
    J1 i; J1 w;
    Electrical.Resistor r(R = R);
    Electrical.Inductor l(L = 1e-3);
    GY emf(r = K);
    Rotational.Inertia rotor(J = 1e-4);
  bonds
    pin -> i -> emf -> w -> shaft;
    i -> r, l;
    w -> rotor;
  end DCMotor;
end Drives;

block PI
  input Real u; output Real y;
  parameter Real Kp = 1, Ti = 1;
  Real x(start = 0.5);
equation
  der(x) = u/Ti;
  y = Kp*(u + x);
end PI;

model SpeedLoop
  Drives.DCMotor motor[2];
  Se supply[2](each e = ctrl.y);
  PI ctrl(u = 100 - motor[1].w.f);
  R load[2](each R = 3);
bonds
  supply -> motor.pin;
  motor.shaft -> load;
end SpeedLoop;
"""

FIELDS = """
element AirGap
  port Magnetic mag;
  port Translational mech;
  parameter Real g0 = 1e-3, area = 1e-4;
  energy = (g0 - mech.q)/(Constants.mu0*area)*mag.q^2/2;
end AirGap;

element Beam
  port Translational dof[2];
  parameter Real K[2, 2], gain = 1;
equation
  dof.e = gain*K*dof.q;
end Beam;

model Fields
  parameter Real K[2, 2] = [2, -1; -1, 2];
  constant Real bh[3, 2] = [0, 0; 1, 2; 2, 3];
  AirGap gap(mag.q(start = 1e-4));
  Beam beam[2](each K = K, gain = {1, 1 + y.q}, each dof[2].q(start = 0.1));
  J0 b; J1 x; J1 y(q(start = 0.2));
  I m(I = 1), m2(I = 2);
  R core(f = table(e, bh, method = "spline", outside = "linear"));
  R other(f = table(e, [0, 0; 1, K[1, 1]]));
  Sf s(f = if time < 0.1 then 0 else sin(314*time));
  TF t(m = 2*cos(y.q));
bonds
  s -> b -> core, gap.mag, other;
  x -> gap.mech, beam[1].dof[1], beam[2].dof[1], m;
  y -> beam[1].dof[2], beam[2].dof[2], m2;
  x -> t.p2;
  t.p1 -> y;
end Fields;
"""

EVENTS = """
model Events
  type Mode = enumeration(slow, fast);
  parameter Boolean open = true;
  parameter String label = "a \\"b\\"";
  parameter Mode mode = Mode.fast;
  parameter Real guess(fixed = false) = 2;
  J1 v; I m(I = 1); Se g(e = if on and open then -9.81 else 0);
  Real h(start = 1, min = -10);
  discrete Integer n(start = 0);
  Boolean on(start = true);
  Boolean high = h > 0.5 and not n == 3;
bonds
  g -> v -> m;
equation
  der(h) = v.f;
  when {h < 0, sample(0, 0.5)} then
    reinit(m.p, -0.8*m.p);
    n = pre(n) + 1;
  elsewhen h > 3 then
    terminate("out");
  end when;
  when n > 4 then
    on = false;
  end when;
  assert(h < 10 or not high, "too high", AssertionLevel.warning);
initial equation
  m.p = guess;
  h = 1;
end Events;
"""

CAPTURE = """
macro Line(node a, Real w)
  Se s(e = sin(w*time));
bonds
  s -> a;
end Line;

model Capture
  parameter Real f = 50;
  J1 v; R r(R = 1);
bonds
  v -> r;
  Line l(v, w = f);
end Capture;
"""

QUOTED = """
model 'a model'
  parameter Real 'k 1' = 3;
  J1 'a.v'; I '1V101'(I = 2); C 'm/2'(C = 1/'k 1');
  Real 'x y';
bonds
  bond 'b 1': 'a.v' -> '1V101';
  'a.v' -> 'm/2';
equation
  'x y' = '1V101'.p + 'b 1'.e;
end 'a model';
"""

MODELS = {
    "oscillator": OSCILLATOR,
    "motor": MOTOR,
    "fields": FIELDS,
    "events": EVENTS,
    "capture": CAPTURE,
    "quoted": QUOTED,
}


def loaded(text: str, name: str | None = None) -> BondGraph:
    return load_model(Source("test.bg", text), model=name, report=Report())


def bare(thing: Any) -> Any:
    """Values without places in the source, and without the quotes of names that were flattened."""
    if is_dataclass(thing):
        skipped = ("span", "type_name")
        return tuple((f.name, bare(getattr(thing, f.name))) for f in fields(thing) if f.name not in skipped)
    if isinstance(thing, str):
        return thing.replace("'", "")
    return tuple(map(bare, thing)) if isinstance(thing, tuple) else thing


@pytest.mark.parametrize("name", MODELS)
def test_the_same_graph_again(name: str) -> None:
    graph = loaded(MODELS[name])
    source = emit(graph)
    again = loaded(source, graph.name)
    assert emit(again) == source
    for part in ("bonds", "equations", "initial_equations", "whens", "experiment", "domains"):
        first, second = bare(getattr(graph, part)), bare(getattr(again, part))
        if part in ("equations", "initial_equations", "whens"):
            first, second = _without_component(first), _without_component(second)
        if name == "events" and part == "equations":
            assert sorted(map(str, first)) == sorted(map(str, second))
        else:
            assert first == second, part
    if name != "capture":  # there a parameter gets a second name
        assert bare(graph.elements) == _same_tables(bare(again.elements), graph, again)
    for element in again.elements:
        assert bare(element.name) in {bare(e.name) for e in graph.elements}


def _without_component(items: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(tuple(pair for pair in item if pair[0] != "component") for item in items)


def _same_tables(thing: Any, graph: BondGraph, again: BondGraph) -> Any:
    """Tables may have other keys; their points are the same."""
    names = {b.key: a.key for a, b in zip(graph.tables, again.tables, strict=True)}

    def renamed(e: Any) -> Any:
        if isinstance(e, tuple):
            return tuple(map(renamed, e))
        return names.get(e, e) if isinstance(e, str) else e

    return renamed(thing)


@pytest.mark.parametrize("name", MODELS)
def test_parameters_keep_their_values(name: str) -> None:
    graph = loaded(MODELS[name])
    again = loaded(emit(graph), graph.name)
    first = {p.name: (p.value, p.unit, p.type) for p in graph.parameters if not p.constant}
    second = {p.name: (p.value, p.unit, p.type) for p in again.parameters}
    for parameter, (value, unit, kind) in first.items():
        if parameter in second:
            assert second[parameter] == (value, unit, "Integer" if kind == "enumeration" else kind)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_written_is_sound(name: str) -> None:
    graph = loaded(MODELS[name])
    report = Report()
    check(loaded(emit(graph), graph.name), report)
    assert [d.message for d in report.errors] == []


def test_another_name() -> None:
    assert loaded(emit(loaded(OSCILLATOR), "Reduced"), "Reduced").name == "Reduced"


def test_the_dump_shows_everything() -> None:
    shown = dump(loaded(EVENTS))
    for part in ("reinit m.p to", "terminate", "elsewhen", "warning unless", "Boolean on", "discrete Integer n"):
        assert part in shown, part
    shown = dump(loaded(FIELDS))
    for part in ("energy =", "port mag: C, Magnetic, q starts at 0.0001", "spline, outside linear", "t.p1 (-e) -> y"):
        assert part in shown, part


EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.bg"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_come_back(path: Path) -> None:
    graph = load_model(path, report=Report())
    again = loaded(emit(graph), graph.name)
    assert _same_tables(bare(again.elements), graph, again) == bare(graph.elements)
    assert bare(again.bonds) == bare(graph.bonds)
