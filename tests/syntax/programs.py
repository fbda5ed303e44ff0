"""Sources that use the whole surface of the language, for the tests of the parser and the formatter."""

OSCILLATOR = """
model Oscillator "Mass and spring with dry friction"
  parameter Real m(unit = "kg")   = 1 "moving mass";
  parameter Real k(unit = "N/m")  = 1 "spring rate", Fc(unit = "N") = 1;

  J1 v "velocity of the mass";
  I  mass(I = m);
  C  spring(C = 1/k, q(start = 16.5));
  R  friction(e = coulomb(f, Fc));

bonds
  v -> mass, spring, friction;

annotation(experiment(StopTime = 30, Tolerance = 1e-8));
end Oscillator;
"""

LAWS = """
model Laws
  R r1(R = 10);                            // e = R*f
  R diode(f = Is*(exp(e/Vt) - 1));         // flow given by effort
  R orifice(0 = e - a*f - b*f*abs(f));     // implicit law
  C spring(e = k1*q + k3*q^3);
  R film(e = c/(gap - x.q)^3*f);
  Se line(e = if time < 0.1 then 0 elseif time < 0.2 then 1 else 325*sin(314*time));
  R core(f = table(e, bh, method = "spline"));
  R winding(R = R);
  R damper(R = c) if c > 0;
  J1 w(q(start = 0.3, fixed = true));
  MCK beam(file = "fem10.mck", form = "multiport", dof[5].q(start = 0.1));
  Real y = x^-2 + a*-b - -c + (-d)^2;
  Real z[2, 2] = [1, 2; 3, -4], s = {1, 2, 3}*{4, 5, 6};
  Real u[:] = {i^2 for i in 1:n, j in 1:2:9};
  Real t = sum(x[i]*x[end - 1] for i in 1:n), last = x[end];
  Real p = x .* y ./ z .^ 2 .+ 1 .- 2, three = 2.*x;
  Boolean q = not a and b or c <> d and (e <= f or not (g >= h) and i == j);
  parameter String text = "a" + "b\\"c" + String(n) "joined " + "description";
  'quoted name'.'m/2' 'an other'(f = 3);
  .Rooted.Name x(each final k = 3);
  Größe längst;
equation
end Laws;
"""

FIELDS = """
element AirGap "magnetic and mechanical storage in one gap"
  port Magnetic mag;
  port Translational mech(causality = "effort_in");
  parameter Real g0, area;
  energy = (g0 - mech.q)/(Constants.mu0*area) * mag.q^2/2;   // efforts are the gradient
end AirGap;

element Beam
  port Translational dof[6];
  parameter Real K[6,6];
equation
  dof.e = K*dof.q;
  energy = 3;
end Beam;
"""

DRIVES = """
within Machines.Electric;
import Modelica.Constants;
import C = A.B;
import A.B.*;
import A.B.{x, y};
encapsulated package Drives
  domain Electrical(effort = "V", flow = "A", q_unit = "C") "electricity"
    model Resistor = R(R(unit = "ohm"));
    type Voltage = Real(unit = "V") "voltage";
    type Gear = enumeration(low "slow", high);
    constant Real x = 3;
  end Electrical;

  partial model Base
    replaceable model Load = Fan(k = 2) constrainedby PartialLoad "load";
    replaceable Motor m(K = 2) constrainedby PartialMotor(K = 1);
    port Any p(optional = true);
  protected
    Real hidden;
    if n > 1 then Real other[n]; else Real one; end if;
  public
    J1 i; J1 w;
  bonds
    pin -> i -> emf -> w -> shaft;
    i ->| r, l;
    a |-> b ->| c, d "with words";
    bond b3: v -> mass;
    for k in 1:n loop bond b[k]: v[k] -> m[k].p1; end for;
    for i in 1:n-1, j in {1, 4} loop Coupling s[i](v[i], v[i+1], k = 100, c = sqrt(2)); end for;
    cell[1:n-1].b -> cell[2:n].a;
  end Base;

  model Derived
    extends Base(redeclare model Load = Pump, redeclare Fast m(K = 3), final hidden = 3, p(e(start = 1)) = 4);
    Real[3] x(each start = 0) annotation(Placement(area = {{0, 0}, {1, 1}}));
  initial equation
    x = {1, 2, 3};
  initial /* really */ algorithm
    y := 3;
  end Derived;
end Drives;
"""

MACRO = """
macro Coupling(node a, node b[2], Real k(unit = "N/m"), Real c = 0 "damping") "spring and damper"
  J0 force;  J1 dv;
  if c > 0 then R damper(R = c); end if;
bonds
  a -> force -> b;
  if c > 0 then dv -> damper; elseif c < 0 then dv -> other; else a -> b; end if;
end Coupling;
macro Nothing() end Nothing;
"""

EVENTS = """
block PI
  input Real u;  output Real y;
  discrete Real last(start = 0);
  Real initial = 3, energy, node, connect2, inner, der2;
equation
  der(x) = u/Ti;
  0 = Kp*(u + x) - y;
  -a + b = c "words";
  (p, , q) = f(x);
  if a then x = 1; elseif b then x = 2; else x = 3; y = 4; end if;
  for i in 1:3 loop x[i] = i; end for;
  when h < 0 then reinit(m.p, -0.8*m.p); elsewhen initial() then last = pre(last) + 1; end when;
  assert(x > 0, "must be " + "positive", AssertionLevel.warning);
end PI;

function F "a function"
  input Real u[:];
  output Real y;
algorithm
  y := 0;
  while y < 10 loop
    y := y + 1;
    if y > 5 then break; end if;
  end while;
  for i in 1:size(u, 1) loop y := y + u[i]; end for;
  (y, ) := g(u);
  return;
end F;
"""

ALL = {
    "oscillator": OSCILLATOR,
    "laws": LAWS,
    "fields": FIELDS,
    "drives": DRIVES,
    "macro": MACRO,
    "events": EVENTS,
}
