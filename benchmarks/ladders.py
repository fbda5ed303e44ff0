"""Ladders of components: the same line by macro and as flat text, RC and RLC, in any length."""

from benchmarks.case import Case
from benchmarks.references import ladder_end, rlc_end

STOP = 50.0
PIN = "connector Pin Real v; flow Real i; end Pin;"
PARTS = """
model Res Pin p; Pin n; parameter Real R = 1; equation p.v - n.v = R*p.i; p.i + n.i = 0; end Res;
model Cap Pin p; parameter Real C = 1; Real u(start = 0, fixed = true); equation u = p.v; p.i = C*der(u); end Cap;
model Src Pin p; equation p.v = 1; end Src;
"""


def ladder(n: int, flat: bool = False) -> Case:
    """RC sections, charged by a step."""
    name = f"ladder-{'flat-' if flat else ''}{n}"
    lines = ["RC ladder", "V1 n0 0 1"]
    lines += [f"R{k} n{k - 1} n{k} 1\nC{k} n{k} 0 1 IC=0" for k in range(1, n + 1)]
    spice = "\n".join([*lines, ".options reltol=1e-6", ".tran 0.5 50 0 0.5 uic", ".print tran v(n1)", ".end", ""])
    modelica = f"""
{PIN}{PARTS}
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
    slow = (("pymoca",) if n > 100 else ()) + (("rumoca",) if n > 1000 else ())
    first = "c1.q" if flat else "s[1].c.q"
    return Case(
        name, STOP, first, lambda: ladder_end(n, STOP), flat_text(n) if flat else macro_text(n, "R r(R = 1);", "r"),
        "" if flat else modelica, "Ladder", "c[1].u", "" if flat else spice, "" if flat else diffsl,
        "" if flat else f"ladder {n}", 1e-6, slow=slow,
    )  # fmt: skip


def rlc(n: int) -> Case:
    """Sections with inertia: a wave runs in."""
    lines = ["RLC ladder", "V1 n0 0 1"]
    lines += [
        f"R{k} n{k - 1} m{k} 1\nL{k} m{k} n{k} 1 IC=0\nC{k} n{k} 0 1 IC=0" for k in range(1, n + 1)
    ]  # fmt: skip
    spice = "\n".join([*lines, ".options reltol=1e-6", ".tran 0.1 50 0 0.1 uic", ".print tran v(n1)", ".end", ""])
    return Case(
        f"rlc-{n}", STOP, "s[1].c.q", lambda: rlc_end(n, STOP), macro_text(n, "R r(R = 1); I l(I = 1);", "r, l"),
        spice=spice, tolerance=1e-6,
    )  # fmt: skip


def macro_text(n: int, parts: str, names: str) -> str:
    return f"""
macro Section(node a, node b)
  J1 i; {parts} C c(C = 1);
bonds
  a -> i -> b; i -> {names}; b -> c;
end Section;
model Ladder
  parameter Integer n = {n};
  Se source(e = 1); J0 u[n+1];
bonds
  source -> u[1];
  for k in 1:n loop Section s[k](u[k], u[k+1]); end for;
end Ladder;
"""


def flat_text(n: int) -> str:
    """Every component by name, as a program would write it."""
    lines = ["model Ladder", "  Se source(e = 1);"]
    lines += [f"  J1 i{k}; J0 u{k}; R r{k}(R = 1); C c{k}(C = 1);" for k in range(1, n + 1)]
    lines += ["bonds", "  source -> i1;"]
    lines += [f"  i{k} -> r{k}; i{k} -> u{k} -> c{k};" for k in range(1, n + 1)]
    lines += [f"  u{k} -> i{k + 1};" for k in range(1, n)]
    return "\n".join([*lines, "end Ladder;", ""])
