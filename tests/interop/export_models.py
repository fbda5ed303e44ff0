"""Small models that together use everything an exporter must write, with what to run them for."""

MODELS = {
    "friction": """
model Friction "dry friction that sticks"
  parameter Real m(unit = "kg") = 2 "mass"; parameter Real k = 5; parameter Real level = 1.5;
  J1 v; I mass(I = m); C spring(C = 1/k, q(start = 3)); R dry(e = coulomb(f, level));
bonds v -> mass, spring, dry;
annotation(experiment(StopTime = 8, Tolerance = 1e-9));
end Friction;""",
    "events": """
model Events "reinit, sample, discrete variables, pre, elsewhen, noEvent"
  parameter Real c = 0.8;
  J1 v; I m(I = 1); Se g(e = -9.81 + 0.5*push); Real h(start = 1);
  discrete Real push(start = 0), count(start = 0), last(start = 0); Boolean low(start = false);
  Real wave = noEvent(if sin(7*time) > 0 then sin(7*time) else 0);
bonds g -> v -> m;
equation
  der(h) = v.f;
  low = h < 0.3;
  when h < 0 then reinit(m.p, -c*m.p); end when;
  when sample(0.1, 0.25) then push = pre(push) + 1; count = pre(count) + (if low then 10 else 1);
  elsewhen change(low) then last = time; end when;
annotation(experiment(StopTime = 1.9, Tolerance = 1e-9));
end Events;""",
    "tables": """
model Tables "linear, spline and pchip tables, floor, mod, min, max"
  parameter Real bh[4,2] = [0, 0; 1, 0.5; 2, 3; 4, 3.5];
  J1 v; I m(I = 1); R loss(e = table(f, [-3, -9; 0, 0; 3, 4], outside = "linear"));
  C spring(e = table(q, [-4, -30; -2, -6; 0, 0; 2, 6; 4, 30], method = "spline"));
  Se s(e = table(mod(time, 1.5), bh, method = "pchip") + 0.1*floor(3*time) - min(1, max(0.2, v.f)));
bonds s -> v -> m, loss, spring;
annotation(experiment(StopTime = 4, Tolerance = 1e-9));
end Tables;""",
    "dependent": """
model Dependent "a storage in derivative causality, a modulated transformer, an algebraic loop"
  parameter Real l = 0.5, j = l^2*3;
  J1 w(q(start = 0.7)), x; I rotor(I = j); I slider(I = 2); TF t(m = l*cos(w.q)); Se push(e = 4*sin(3*time));
  R air(0 = e - 0.4*f - 0.2*f*abs(f));
bonds w -> rotor; w -> t -> x -> slider, air; push -> w;
annotation(experiment(StopTime = 3, Tolerance = 1e-9));
end Dependent;""",
    "pulse": """
model Pulse "switches that time alone decides, a stop"
  J0 n; Se battery(e = if time > 0.2 and time < 0.2013 then 10 else if sin(9*time) > 0.99 then 2 else 0);
  J1 i; R r(R = 2); C c(C = 0.01); R leak(R = 50);
bonds battery -> i -> r; i -> n -> c, leak;
equation
  when time > 0.9 then terminate("long enough"); end when;
annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end Pulse;""",
    "ladder": """
model Ladder "many equations of one shape"
  parameter Integer n = 40;
  J0 a[n]; J1 b[n]; C c[n](each C = 0.1); I l[n](each I = 0.2); R r[n](R = {0.1 + 0.001*i for i in 1:n});
  Se s(e = sin(2*time));
bonds
  for i in 1:n loop b[i] -> l[i], r[i]; b[i] -> a[i] -> c[i]; end for;
  for i in 1:n-1 loop a[i] -> b[i+1]; end for;
  s -> b[1];
annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end Ladder;""",
    "input": """
model Driven "free inputs and outputs"
  input Real u(start = 1, unit = "V"); output Real y;
  parameter Real r(unit = "ohm") = 2 "resistance", l(unit = "H") = 0.5;
  J1 i; Se source(e = u); R loss(R = r); I coil(I = l);
bonds source -> i -> loss, coil;
equation
  y = 3*i.f;
annotation(experiment(StopTime = 2, Tolerance = 1e-9));
end Driven;""",
}
"""By a short name: the text."""
