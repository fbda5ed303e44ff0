"""Models that every program gets in its own language, with a reference for the error that was reached.

`bg`, `modelica`, `spice` and `diffsl` are texts of the same physics; a peer without a text does not take part.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    """`variable` at `stop` is compared with `reference()`; names differ between the languages."""

    name: str
    stop: float
    variable: str
    reference: Callable[[], float]
    bg: str
    modelica: str = ""
    modelica_model: str = ""
    modelica_variable: str = ""
    spice: str = ""
    diffsl: str = ""
    tolerance: float = 1e-7


def oscillator() -> Case:
    periods = 100
    stop = 2 * np.pi * periods + 1.0
    bg = """
model Oscillator
  J1 v; I mass(I = 1); C spring(C = 1, q(start = 1));
bonds
  v -> mass, spring;
end Oscillator;
"""
    modelica = """
model Oscillator
  Real x(start = 1, fixed = true); Real v(start = 0, fixed = true);
equation
  der(x) = v; der(v) = -x;
end Oscillator;
"""
    diffsl = "u_i { x = 1, v = 0 }\nF_i { v, -x }\nout_i { x }\n"
    return Case(
        "oscillator", stop, "spring.q", lambda: float(np.cos(stop)), bg, modelica, "Oscillator", "x", "", diffsl
    )


def robertson() -> Case:
    bg = """
model Robertson
  Real a(start = 1), b(start = 0), c(start = 0);
equation
  der(a) = -0.04*a + 1e4*b*c;
  der(b) = 0.04*a - 1e4*b*c - 3e7*b^2;
  der(c) = 3e7*b^2;
end Robertson;
"""
    modelica = """
model Robertson
  Real a(start = 1, fixed = true); Real b(start = 0, fixed = true); Real c(start = 0, fixed = true);
equation
  der(a) = -0.04*a + 1e4*b*c;
  der(b) = 0.04*a - 1e4*b*c - 3e7*b*b;
  der(c) = 3e7*b*b;
end Robertson;
"""
    diffsl = (
        "u_i { a = 1, b = 0, c = 0 }\nF_i { -0.04*a + 1e4*b*c, 0.04*a - 1e4*b*c - 3e7*b*b, 3e7*b*b }\nout_i { a }\n"
    )
    # IVP test set, t = 40: y1 = 0.7158270688
    return Case("robertson", 40.0, "a", lambda: 0.71582706871, bg, modelica, "Robertson", "a", "", diffsl)


def coulomb() -> Case:
    """Many events: a driven mass that sticks and slips; the amplitude after a whole number of half swings is exact."""
    bg = """
model Coulomb
  J1 v; I mass(I = 1); C spring(C = 1, q(start = 1000.5)); R friction(e = coulomb(f, 1));
bonds
  v -> mass, spring, friction;
end Coulomb;
"""
    stop = 200 * np.pi
    return Case("coulomb", stop, "spring.q", lambda: 1000.5 - 400.0, bg)


def ladder(n: int) -> Case:
    """RC ladder of n components each, charged by a step; the reference is a backward sweep of the exact solution."""
    bg = f"""
model Ladder
  parameter Integer n = {n};
  Se u(e = 1); J1 i[n]; J0 v[n]; R r[n](each R = 1); C c[n](each C = 1);
bonds
  u -> i[1];
  i -> r; i -> v -> c;
  v[1:n-1] -> i[2:n];
end Ladder;
"""
    lines = ["RC ladder", "V1 n0 0 1"]
    lines += [f"R{k} n{k - 1} n{k} 1\nC{k} n{k} 0 1 IC=0" for k in range(1, n + 1)]
    spice = "\n".join([*lines, ".options reltol=1e-6", ".tran 0.5 50 0 0.5 uic", ".print tran v(n1)", ".end", ""])
    pin = "connector Pin Real v; flow Real i; end Pin;"
    modelica = f"""
{pin}
model Res Pin p; Pin n; parameter Real R = 1; equation p.v - n.v = R*p.i; p.i + n.i = 0; end Res;
model Cap Pin p; parameter Real C = 1; Real u(start = 0, fixed = true); equation u = p.v; p.i = C*der(u); end Cap;
model Src Pin p; equation p.v = 1; end Src;
model Ladder
  parameter Integer n = {n};
  Src s; Res r[n]; Cap c[n];
equation
  connect(s.p, r[1].p);
  for k in 1:n loop connect(r[k].n, c[k].p); end for;
  for k in 1:n-1 loop connect(r[k].n, r[k+1].p); end for;
end Ladder;
"""
    diffsl = (
        f"u_i {{ (0:{n}): q = 0 }}\n"
        f"A_ij {{ (0..{n - 1}, 0..{n - 1}): -2.0, ({n - 1}, {n - 1}): -1.0, "
        f"(1..{n}, 0..{n - 1}): 1.0, (0..{n - 1}, 1..{n}): 1.0 }}\n"
        f"b_i {{ (0:1): 1.0, (1:{n}): 0.0 }}\n"
        "s_i { A_ij * q_j }\nF_i { s_i + b_i }\n"
    )
    return Case(
        f"ladder-{n}",
        50.0,
        "c[1].q",
        lambda: _ladder_reference(n),
        bg,
        modelica,
        "Ladder",
        "c[1].u",
        spice,
        diffsl,
        1e-6,
    )


def _ladder_reference(n: int) -> float:
    """Modes of the ladder in closed form."""
    k = np.arange(n)
    angle = (2 * k + 1) * np.pi / (2 * n + 1)
    rate = 2 - 2 * np.cos(angle)
    shape = np.sin(angle)
    weight = 2 * shape * shape / ((2 * n + 1) / 2) / rate
    return float(np.sum(weight * (1 - np.exp(-rate * 50.0))))


CASES: dict[str, Callable[[], Case]] = {
    "oscillator": oscillator,
    "robertson": robertson,
    "coulomb": coulomb,
    "ladder-10": lambda: ladder(10),
    "ladder-100": lambda: ladder(100),
    "ladder-1000": lambda: ladder(1000),
    "ladder-10000": lambda: ladder(10000),
}
