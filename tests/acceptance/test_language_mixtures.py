"""Several features of the language in one model, as somebody would combine them, beside equations written by hand."""

import numpy as np
import pytest
from language_runs import close, integrate, simulate
from numpy.typing import NDArray

Vector = NDArray[np.float64]

WHEELS = """
package P
  partial model Shock
    port Translational a;
    parameter Real k = 10;
  end Shock;
  model Soft
    extends Shock;
    J1 v;
    C s(C = 1/k);
  bonds
    a -> v -> s;
  end Soft;
  model Damped
    extends Shock(k = 20);
    parameter Real c = 1;
    J1 v;
    macro Lag(node n, Real kk, Real cc)
      J0 f; C s(C = 1/kk); R d(R = cc); J1 w;
    bonds
      n -> w -> f -> s;
      f -> d;
    end Lag;
    Lag lag(v, kk = k, cc = c);
  bonds
    a -> v;
  end Damped;
  model Wheel
    replaceable Soft shock constrainedby Shock;
    parameter Real m = 2;
    J1 v;
    I mass(I = m, p(start = m));
    TF lever(m = 1 + 0.2*sin(time));
    J1 u;
  bonds
    v -> mass;
    v -> lever -> u -> shock.a;
  end Wheel;
end P;
model M
  import P.*;
  Wheel w[3](m = {2, 3, 4}, each redeclare Damped shock(c = 2, k = 7));
  Wheel plain(redeclare Soft shock(k = 5));
end M;
"""


def test_a_macro_in_a_redeclared_component_of_an_array_behind_a_modulated_lever() -> None:
    r = simulate(WHEELS, stop=5.0)
    for i, m in enumerate((2.0, 3.0, 4.0), 1):

        def rate(t: float, y: Vector, m: float = m) -> list[float]:
            lever = 1 + 0.2 * np.sin(t)
            return [-lever * 7 * y[1], lever * y[0] / m - 7 * y[1] / 2]

        p, q = integrate(rate, [m, 0.0], r.time)
        close(r[f"w[{i}].mass.p"], p)
        close(r[f"w[{i}].shock.lag.s.q"], q)
        close(r[f"w[{i}].shock.lag.d.f"], 7 * q / 2)
    p, q = integrate(lambda t, y: [-(1 + 0.2 * np.sin(t)) * 5 * y[1], (1 + 0.2 * np.sin(t)) * y[0] / 2], [2, 0], r.time)
    close(r["plain.shock.s.q"], q)


LINES = """
model Cell
  port Electrical a;
  port Electrical b;
  parameter Real R = 1, C = 1;
  J1 i; J0 u; R r(R = R); C c(C = C);
bonds
  a -> i -> u -> b;
  i -> r;
  u -> c;
end Cell;
model Line
  parameter Integer n = 6;
  port Electrical inp;
  port Electrical out;
  Cell cell[n](each R = 0.5, C = linspace(1, 2, n));
bonds
  inp -> cell[1].a;
  cell[1:n-1].b -> cell[2:n].a;
  cell[n].b -> out;
end Line;
model Bundle
  parameter Integer w = 2;
  port Electrical p[w];
  R r[w](R = {2, 4});
bonds
  p -> r;
end Bundle;
model M
  Line l[2](each n = 6);
  Bundle b;
  Se s[2](e = {1, 2});
bonds
  s -> l.inp;
  l.out -> b.p;
end M;
"""


def test_slices_of_ports_of_arrays_in_arrays() -> None:
    r = simulate(LINES, stop=4.0)
    for j, (source, load) in enumerate(((1.0, 2.0), (2.0, 4.0)), 1):

        def rate(t: float, q: Vector, source: float = source, load: float = load) -> Vector:
            v = q / np.linspace(1, 2, 6)
            flow = (np.append(source, v[:-1]) - v) / 0.5
            return flow - np.append(flow[1:], v[-1] / load)

        q = integrate(rate, [0.0] * 6, r.time)
        close(r[f"l[{j}].cell[3].c.q"], q[2])
        close(r[f"l[{j}].out.e"], q[5] / 2)
        close(r[f"b.p[{j}].f"], q[5] / 2 / load)


GRID = """
model M
  parameter Integer n = 3, m = 2;
  J0 u[n,m];
  C c[n,m](each C = 1, q(start = {{i + 10*j for j in 1:m} for i in 1:n}));
  J1 h[n-1,m];
  R rh[n-1,m](each R = 2), rv[n](R = {1, 2, 3});
bonds
  for i in 1:n, j in 1:m loop bond k[i,j]: u[i,j] -> c[i,j]; end for;
  for j in 1:m loop
    for i in 1:n-1 loop
      bond a[i,j]: u[i,j] -> h[i,j];
      h[i,j] -> u[i+1,j];
      rh[i,j] -> h[i,j];
    end for;
  end for;
  for i in 1:n loop J1 w[i]; u[i,1] -> w[i] -> u[i,2]; w[i] -> rv[i]; end for;
end M;
"""


def test_bonds_named_in_two_subscripts_and_junctions_declared_in_loops() -> None:
    r = simulate(GRID, stop=2.0)

    def rate(t: float, y: Vector) -> Vector:
        q, d = y.reshape(3, 2), np.zeros((3, 2))
        flow = (q[:-1] - q[1:]) / 2
        d[:-1] -= flow
        d[1:] += flow
        across = (q[:, 0] - q[:, 1]) / [1, 2, 3]
        return np.ravel(d + np.stack([-across, across], axis=1))

    q = integrate(rate, [i + 10.0 * j for i in (1, 2, 3) for j in (1, 2)], r.time)
    expected = {"c[3,2].q": q[5], "k[1,2].e": q[1], "a[2,1].f": (q[2] - q[4]) / 2, "w[2].f": (q[2] - q[3]) / 2}
    for name, values in expected.items():
        close(r[name], values)


STAR = """
macro Star(node hub, node leg[3], Real g[3])
  constant Integer n = 3;
  J1 b[n];
  R r[n](R = g);
bonds
  for i in 1:n loop hub -> b[i] -> leg[i]; bond br[i]: b[i] -> r[i]; end for;
end Star;
model M
  J0 c, x[3];
  C cap(C = 1, q(start = 6)), cx[3](C = {1, 2, 3});
  Real total = sum(s.br[i].f for i in 1:3);
bonds
  c -> cap;
  x -> cx;
  Star s(c, x, g = {1, 2, 4});
end M;
"""


def test_a_macro_takes_an_array_of_nodes_and_names_its_bonds() -> None:
    r = simulate(STAR, stop=3.0)

    def flows(y: Vector) -> Vector:
        return (y[0] - y[1:] / [1, 2, 3]) / [1, 2, 4]

    y = integrate(lambda t, y: np.append(-flows(y).sum(), flows(y)), [6.0, 0, 0, 0], r.time)
    close(r["cx[3].q"], y[3])
    close(r["total"], [flows(column).sum() for column in y.T])
    close(r["s.br[2].power"], [2 * flows(column)[1] ** 2 for column in y.T])


NET = """
element Net
  parameter Integer n = 3;
  port Translational x[n];
  parameter Real k[n] = ones(n), kc = 0.5;
  Real tot = sum(x[i].q for i in 1:n);
  energy = sum(k[i]*x[i].q^2/2 for i in 1:n) + kc*tot^4/4;
end Net;
element Damp
  parameter Integer n = 3;
  port Translational x[n];
  parameter Real c = 0.1;
equation
  for i in 1:n loop x[i].e = c*(x[i].f - x[mod(i, n) + 1].f) + 0.01*x[i].f; end for;
end Damp;
model M
  J1 v[3];
  I m[3](I = {1, 2, 3}, p(start = {1, 0, 0}));
  Net f(k = {1, 2, 3});
  Damp d(c = 0.2);
bonds
  v -> m;
  v -> f.x;
  v -> d.x;
end M;
"""


def test_fields_sized_by_parameters_with_sums_in_energy_and_loops_in_laws() -> None:
    r = simulate(NET, stop=4.0)

    def rate(t: float, y: Vector) -> Vector:
        v, q = y[:3] / [1, 2, 3], y[3:]
        effort = q * [1, 2, 3] + 0.5 * q.sum() ** 3 + 0.2 * (v - np.roll(v, -1)) + 0.01 * v
        return np.append(-effort, v)

    y = integrate(rate, [1.0, 0, 0, 0, 0, 0], r.time)
    for name, expected in {"m[3].p": y[2], "f.x[2].q": y[4], "f.tot": y[3:].sum(axis=0)}.items():
        close(r[name], expected)


@pytest.mark.parametrize("arrow", ["r -> {0};", "{0} -> r;"])
@pytest.mark.parametrize("hidden", [True, False])
def test_an_arrow_against_a_one_sided_law_through_ports(arrow: str, hidden: bool) -> None:
    """A mass is braked five times as hard forwards: whoever drew the arrow, and however deep."""
    outside = "b.x -> v;" if arrow.startswith("r") else "v -> b.x;"
    between = "port Any x; Box b; bonds b.x -> x;" if arrow.startswith("r") else "port Any x; Box b; bonds x -> b.x;"
    r = simulate(
        f"model Box port Any x; R r(e = if f > 0 then 5*f else f); bonds {arrow.format('x')} end Box; "
        f"model Deep {between} end Deep; "
        f"model M J1 v; I m(I = 1, p(start = 2)); {'Deep' if hidden else 'Box'} b; bonds m -> v; {outside} end M;"
    )
    sign = -1 if arrow.startswith("r") else 1
    close(r["m.p"], 2 * np.exp(-5 * r.time))
    close(r["b.x.f"], 2 * np.exp(-5 * r.time))
    close(r["b.x.e"], sign * 10 * np.exp(-5 * r.time))  # a port has the e and f of the arrow as drawn


def test_charges_that_jump_share_a_step_of_the_source() -> None:
    r = simulate(
        "model M Se s(e = if time < 1 then 2 else 5); J1 i; C a(C = 1), b(C = 2); J0 m; R r(R = 3), leak(R = 4); "
        "bonds s -> i -> a; i -> m -> b; m -> leak; r -> m; end M;",
        stop=3.0,
    )
    t, decay = r.time, (1 / 3 + 1 / 4) / 3
    before = 2 * np.exp(-decay * t)
    behind = (2 * np.exp(-decay) + 1) * np.exp(-decay * (t - 1))  # 3 V over 1 F and 2 F: 2 C through both
    close(r["b.e"], np.where(t < 1, before, behind))
    close(r["a.e"], np.where(t < 1, 2 - before, 5 - behind))


def test_a_gear_that_shifts_by_a_discrete_modulus() -> None:
    r = simulate(
        "model M discrete Real n(start = 2); J1 w, u; I J(I = 1, p(start = 1)); Se M0(e = 3); TF g(m = n); C c(C = 1); "
        "R r(R = 0.5); bonds M0 -> w -> J; w -> g -> u -> c, r; "
        "equation when w.f > 1.2 then n = 1; end when; end M;",
        stop=4.0,
    )
    from scipy.integrate import solve_ivp

    def rate(n: int) -> object:
        return lambda t, y: [3 - n * (y[1] + 0.5 * n * y[0]), n * y[0]]

    def shift(t: float, y: Vector) -> float:
        return float(y[0] - 1.2)

    shift.terminal = True  # type: ignore[attr-defined]
    options = {"rtol": 1e-11, "atol": 1e-13, "dense_output": True, "method": "DOP853"}
    first = solve_ivp(rate(2), (0, 4), [1, 0], events=shift, **options)
    then = solve_ivp(rate(1), (first.t[-1], 4), first.y[:, -1], **options)
    expected = np.where(r.time < first.t[-1], first.sol(r.time), then.sol(np.maximum(r.time, first.t[-1])))
    close(r["J.p"], expected[0])
    close(r["c.q"], expected[1])
