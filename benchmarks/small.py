"""Small models: smooth, stiff, constrained, with events."""

from pathlib import Path

import numpy as np

from benchmarks.case import Case
from benchmarks.references import Array, actuator_place, arm_angle, ball_height, integrate

EXAMPLES = Path(__file__).parent.parent / "examples"


def flat(name: str, declarations: str, equations: str) -> str:
    """A model of equations only, which Modelica and bglang write alike."""
    return f"model {name}\n{declarations}\nequation\n{equations}\nend {name};\n"


def oscillator() -> Case:
    """100 swings with a little damping."""
    damping, stop = 0.002, 200 * np.pi + 1.0
    bg = f"""
model Oscillator
  J1 v; I mass(I = 1); C spring(C = 1, q(start = 1)); R damper(R = {damping});
bonds
  v -> mass, spring, damper;
end Oscillator;
"""
    modelica = flat(
        "Oscillator",
        "  Real x(start = 1, fixed = true); Real v(start = 0, fixed = true);",
        f"  der(x) = v; der(v) = -x - {damping}*v;",
    )
    diffsl = f"u_i {{ x = 1, v = 0 }}\nF_i {{ v, -x - {damping}*v }}\nout_i {{ x }}\n"
    s, w = damping / 2, np.sqrt(1 - damping**2 / 4)
    end = float(np.exp(-s * stop) * (np.cos(w * stop) + s / w * np.sin(w * stop)))
    return Case(
        "oscillator", stop, "spring.q", lambda: end, bg, modelica, "Oscillator", "x", diffsl=diffsl
    )  # fmt: skip


def drive() -> Case:
    """A motor turns a load by an elastic shaft."""
    bg = """
model Drive
  Se torque(e = 10); J1 motor; J1 load; J0 shaft; J1 twist;
  I rotor(I = 0.1); I wheel(I = 2); C spring(C = 0.002); R damping(R = 0.2); R drag(R = 0.5);
bonds
  torque -> motor -> rotor; motor -> shaft -> load -> wheel, drag; shaft -> twist -> spring, damping;
end Drive;
"""
    modelica = flat(
        "Drive",
        "  Real a(start = 0, fixed = true); Real b(start = 0, fixed = true); Real q(start = 0, fixed = true); Real m;",
        "  m = 500*q + 0.2*(a - b); 0.1*der(a) = 10 - m; 2*der(b) = m - 0.5*b; der(q) = a - b;",
    )
    diffsl = (
        "u_i { a = 0, b = 0, q = 0 }\nm { 500*q + 0.2*(a - b) }\n"
        "F_i { (10 - m)/0.1, (m - 0.5*b)/2, a - b }\nout_i { b }\n"
    )

    def slope(t: float, x: Array) -> list[float]:
        moment = 500 * x[2] + 0.2 * (x[0] - x[1])
        return [(10 - moment) / 0.1, (moment - 0.5 * x[1]) / 2, x[0] - x[1]]

    return Case(
        "drive", 10.0, "load.f", lambda: float(integrate(slope, [0, 0, 0], 10.0)[1]), bg, modelica, "Drive", "b",
        diffsl=diffsl,
    )  # fmt: skip


def pendulum() -> Case:
    """In Cartesian coordinates, with the force of the rod as an algebraic variable (index 1)."""
    equations = """
  der(x) = u; der(y) = v; der(u) = -force*x; der(v) = -force*y - 9.81;
  0 = u*u + v*v - force*(x*x + y*y) - 9.81*y;
"""
    names = (("x", 1.0), ("y", 0.0), ("u", 0.0), ("v", 0.0))
    bg = flat("Pendulum", "  Real " + ", ".join(f"{n}(start = {s})" for n, s in names) + ", force;", equations)
    modelica = flat(
        "Pendulum", "".join(f"  Real {n}(start = {s}, fixed = true);" for n, s in names) + " Real force;", equations
    )
    diffsl = (
        "u_i { x = 1, y = 0, p = 0, w = 0, k = 0 }\n"
        "dudt_i { dxdt = 0, dydt = 0, dpdt = 0, dwdt = -9.81, dkdt = 0 }\n"
        "M_i { dxdt, dydt, dpdt, dwdt, 0.0 }\n"
        "F_i { p, w, -k*x, -k*y - 9.81, p*p + w*w - k*(x*x + y*y) - 9.81*y }\nout_i { x }\n"
    )
    end = integrate(lambda t, s: [s[1], -9.81 * np.sin(s[0])], [np.pi / 2, 0.0], 10.0)[0]
    return Case(
        "pendulum", 10.0, "x", lambda: float(np.sin(end)), bg, modelica, "Pendulum", "x", diffsl=diffsl, c="pendulum"
    )


def ball() -> Case:
    equations = "  der(h) = v; der(v) = -9.81;\n  when h < 0 then reinit(v, -0.8*v); end when;"
    bg = flat("Ball", "  Real h(start = 1), v(start = 0);", equations)
    starts = "  Real h(start = 1, fixed = true); Real v(start = 0, fixed = true);"
    modelica = flat("Ball", starts, equations.replace("-0.8*v)", "-0.8*pre(v))"))
    return Case("ball", 3.0, "h", lambda: ball_height(3.0), bg, modelica, "Ball", "h")


def rectifier() -> Case:
    """A diode charges a capacitor, twenty periods of the mains."""
    bg = """
model Rectifier
  Se mains(e = 325*sin(2*pi*50*time)); J1 i; J0 u; R wire(R = 1); C store(C = 1e-3); R load(R = 100);
  R diode(f = if e > 0 then e/0.1 else 1e-6*e);
bonds
  mains -> i -> wire, diode; i -> u -> store, load;
end Rectifier;
"""
    pi = "3.14159265358979"
    modelica = flat(
        "Rectifier",
        "  Real u(start = 0, fixed = true); Real e; Real i; Real d;",
        f"  e = 325*sin(2*{pi}*50*time) - u; i = if d > 0 then d/0.1 else 1e-6*d; d = e - i;\n"
        "  1e-3*der(u) = i - u/100;",
    )

    def slope(t: float, u: Array) -> list[float]:
        e = 325 * np.sin(2 * np.pi * 50 * t) - u[0]
        return [((e / 1.1 if e > 0 else e * 1e-6 / (1 + 1e-6)) - u[0] / 100) / 1e-3]

    return Case(
        "rectifier", 0.4, "u.e", lambda: float(integrate(slope, [0.0], 0.4, 1e-12)[0]), bg, modelica, "Rectifier", "u"
    )


def coulomb() -> Case:
    """Many events: a mass that swings against dry friction; each half swing takes 2 off the amplitude."""
    bg = """
model Coulomb
  J1 v; I mass(I = 1); C spring(C = 1, q(start = 1000.5)); R friction(e = coulomb(f, 1));
bonds
  v -> mass, spring, friction;
end Coulomb;
"""
    return Case("coulomb", 200 * np.pi, "spring.q", lambda: 1000.5 - 400.0, bg)


def robertson() -> Case:
    equations = "  der(a) = -0.04*a + 1e4*b*c; der(b) = 0.04*a - 1e4*b*c - 3e7*b*b; der(c) = 3e7*b*b;"
    bg = flat("Robertson", "  Real a(start = 1), b(start = 0), c(start = 0);", equations)
    starts = "".join(f"  Real {name}(start = {start}, fixed = true);" for name, start in (("a", 1), ("b", 0), ("c", 0)))
    modelica = flat("Robertson", starts, equations)
    diffsl = (
        "u_i { a = 1, b = 0, c = 0 }\nF_i { -0.04*a + 1e4*b*c, 0.04*a - 1e4*b*c - 3e7*b*b, 3e7*b*b }\nout_i { a }\n"
    )
    # the test set of initial value problems (Mazzia, Magherini) gives 0.7158270688 at t = 40
    return Case(
        "robertson", 40.0, "a", lambda: 0.71582706871, bg, modelica, "Robertson", "a", diffsl=diffsl, c="robertson"
    )


def arm() -> Case:
    """Two links with dependent inertias."""
    bg = (EXAMPLES / "reduction" / "robot_arm.bg").read_text(encoding="utf-8")
    return Case("arm", 4.0, "w1.q", lambda: arm_angle(4.0), bg)


def actuator() -> Case:
    """Document 003: drive, magnet and valve, in the middle of the release."""
    folder, stop = EXAMPLES / "actuator", 3.3e-3
    bg = (folder / "stroke.bg").read_text(encoding="utf-8")
    variable = "actuator.load.stops.q"
    return Case("actuator", stop, variable, lambda: actuator_place(stop), bg, libraries=(str(folder),))


def chain(n: int = 100) -> Case:
    """Masses between springs that stiffen with the cube of their stretch; the first is pulled, the last held."""
    bg = f"""
model Chain
  parameter Integer n = {n};
  Se pull(e = 1); J1 v[n]; J0 f[n]; I m[n](each I = 1); C s[n](each e = q + 10*q^3); Sf wall(f = 0);
bonds
  pull -> v[1]; v -> m; v -> f -> s;
  f[1:n-1] -> v[2:n];
  f[n] -> wall;
end Chain;
"""
    modelica = f"""
model Chain
  parameter Integer n = {n};
  Real v[n](each start = 0, each fixed = true); Real x[n](each start = 0, each fixed = true); Real s[n]; Real f[n];
equation
  s[n] = x[n];
  for k in 1:n-1 loop s[k] = x[k] - x[k+1]; end for;
  for k in 1:n loop f[k] = s[k] + 10*s[k]*s[k]*s[k]; der(x[k]) = v[k]; end for;
  der(v[1]) = 1 - f[1];
  for k in 2:n loop der(v[k]) = f[k-1] - f[k]; end for;
end Chain;
"""
    diffsl = (
        f"u_i {{ (0:{n}): v = 0, ({n}:{2 * n}): x = 0 }}\n"
        f"D_ij {{ (0..{n}, 0..{n}): 1.0, (0..{n - 1}, 1..{n}): -1.0 }}\n"
        f"E_ij {{ (0..{n}, 0..{n}): -1.0, (1..{n}, 0..{n - 1}): 1.0 }}\n"
        f"p_i {{ (0:1): 1.0, (1:{n}): 0.0 }}\n"
        "s_i { D_ij * x_j }\nf_i { s_i + 10*s_i*s_i*s_i }\na_i { E_ij * f_j }\nF_i { a_i + p_i, v_i }\n"
    )

    def slope(t: float, state: Array) -> Array:
        v, x = state[:n], state[n:]
        stretch = x - np.append(x[1:], 0.0)
        force = stretch + 10 * stretch**3
        return np.concatenate([np.append(1.0, force[:-1]) - force, v])

    return Case(
        "chain", 20.0, "m[1].p", lambda: float(integrate(slope, np.zeros(2 * n), 20.0)[0]), bg, modelica, "Chain",
        "v[1]", diffsl=diffsl,
    )  # fmt: skip


def variations(count: int = 1000) -> Case:
    """A stiff model of seven states, a thousand times: cells whose time constants go down by three each."""
    values = tuple(np.linspace(0.5, 2.0, count).tolist())
    stages = range(1, 8)
    capacities = [3.0 ** (1 - k) for k in stages]
    bg = f"""
model Stages
  parameter Real R = 1;
  Se u(e = 1); J1 i[7]; J0 v[7]; R r[7](each R = R);
  C c[7](C = {{{", ".join(map(repr, capacities))}}});
bonds
  u -> i[1]; i -> r; i -> v -> c; v[1:6] -> i[2:7];
end Stages;
"""
    equations = "".join(
        f"  {c!r}*R*der(u{k}) = {'1' if k == 1 else f'u{k - 1}'} - u{k}{f' - u{k} + u{k + 1}' if k < 7 else ''};\n"
        for k, c in zip(stages, capacities, strict=True)
    )
    starts = "  parameter Real R = 1;\n" + "".join(f"  Real u{k}(start = 0, fixed = true);" for k in stages)
    slopes = ", ".join(
        f"({'1' if k == 1 else f'u{k - 1}'} - u{k}{f' - u{k} + u{k + 1}' if k < 7 else ''})/(R*{c!r})"
        for k, c in zip(stages, capacities, strict=True)
    )
    diffsl = (
        "in_i { R = 1 }\nu_i { " + ", ".join(f"u{k} = 0" for k in stages) + f" }}\nF_i {{ {slopes} }}\nout_i {{ u7 }}\n"
    )

    def reference() -> float:
        from scipy.linalg import expm

        matrix = np.zeros((7, 7))
        for k in range(7):
            matrix[k, k] = -2.0 if k < 6 else -1.0
            if k:
                matrix[k, k - 1] = matrix[k - 1, k] = 1.0
        matrix /= np.array(capacities)[:, None]
        return float(sum((np.eye(7) - expm(matrix / value))[6].sum() for value in values))

    return Case(
        "variations", 1.0, "v[7].e", reference, bg, flat("Stages", starts, equations), "Stages", "u7", diffsl=diffsl,
        varied="R", variations=values, tolerance=1e-6,
    )  # fmt: skip
