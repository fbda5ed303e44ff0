"""The electromagnetic actuator written out by hand: Kirchhoff's laws for flux, voltage and force, solved by scipy.

Nothing of bglang is used. The three loop fluxes (yoke, lower legs, armature) are the unknowns, so leakages are their
differences; the dimensions and laws are those of Hendriksma's thesis as its program reads them, with the corrections
that the README of the example lists."""

from bisect import bisect_right
from dataclasses import dataclass
from math import log, pi
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import root

Vector = npt.NDArray[np.float64]

MU0 = 1.25663706212e-6
TABLE = Path(__file__).parents[2] / "examples" / "actuator" / "Actuator" / "silicon_iron.csv"

# Figure C1, in metres
HS, HL, LCL, LSL, LSG, HLK = 33.84e-3, 26.34e-3, 10.5e-3, 7.98e-3, 7.46e-3, 4.59e-3
WS, SF = 80 * 0.3356e-3 / 0.92, 0.92
LA, WA, TA = 36.0e-3, 27.3e-3, 5.35e-3
EDDY = (35.0, 25.0, 100.0)
OHMS = 0.09 + 0.1 + 2 * 2.0 / (-955.4 + 32.5 * 18 - 0.3802 * 18**2 + 9737 / 18)


def _permeability() -> tuple[list[float], list[list[float]]]:
    """Knots and coefficients of the cubic spline with secant ends."""
    b, mu = np.loadtxt(TABLE, delimiter=",", skiprows=1).T
    first, last = (mu[1] - mu[0]) / (b[1] - b[0]), (mu[-1] - mu[-2]) / (b[-1] - b[-2])
    return b.tolist(), CubicSpline(b, mu, bc_type=((1, first), (1, last))).c.T.tolist()


_KNOTS, _PIECES = _permeability()


def field(b: float) -> float:
    """H in a part with flux density B."""
    k = min(bisect_right(_KNOTS, abs(b)) - 1, len(_PIECES) - 1)
    s, (c3, c2, c1, c0) = abs(b) - _KNOTS[k], _PIECES[k]
    return b / (MU0 * (c0 + s * (c1 + s * (c2 + s * c3))))


def window(height: float) -> float:
    """Leakage permeance of both windows over a height (B3a to B3c, doubled for the symmetry)."""
    return 2 * MU0 * height * (WS / LSG + 0.52 + 2 / pi * log(1 + 2 * LSL / LSG))


P2, P4 = window(HL - HLK), window(HLK)


def gap_reluctance(g: float) -> tuple[float, float]:
    """Reluctance of both working gaps and its derivative by the gap (B4 to B8; all gaps are small beside the edges)."""
    over_w, over_l = (WS - WA) / 2, (2 * (LSL + LSG) + LCL - LA) / 2

    def leg(area: float, inner: float, sides: float, ends: float) -> tuple[float, float]:
        p, dp = MU0 * area / g, -MU0 * area / g**2
        for length, reach in ((inner, LSG / 2), (sides, over_w), (ends, over_l)):
            p += 2 * MU0 * length / pi * log(reach / g)
            dp -= 2 * MU0 * length / pi / g
        for length, reach in ((sides, over_w), (ends, over_l)):
            p += MU0 * length / pi * log(2 * (TA + g) / reach - 1)
            dp += MU0 * length / pi * 2 / (2 * (TA + g) - reach)
        return 1 / p, -dp / p**2

    centre = leg(WA * LCL, 2 * WA, 2 * LCL, 0)
    outer = leg(2 * WA * (LSL - over_l), 2 * WA, 4 * (LSL - over_l), 2 * WA)
    return centre[0] + outer[0], centre[1] + outer[1]


def magnet(flux: Vector, gap: float) -> tuple[Vector, float]:
    """Mmf that each loop stores (the gradient of the energy by yoke, leg and armature flux), and the pull."""
    f1, f3, f5 = flux
    leak2, leak4 = f1 - f3, f3 - f5
    centre, outer, yoke = WS * SF * LCL, 2 * WS * SF * LSL, LSL / 2 + LSG + LCL / 2

    def legs(mean: float, length: float) -> float:
        return length * (field(mean / centre) + field(mean / outer))

    upper = legs(f3 + 2 / 3 * leak2, HL - HLK + (HS - HL) / 2)  # mean flux: 2/3 f1 + 1/3 f3
    lower = legs(f5 + 2 / 3 * leak4, HLK)
    reluctance, slope = gap_reluctance(gap)
    top = yoke * field(f1 / (2 * WS * SF * (HS - HL)))
    plate = yoke * field(f5 / (2 * WA * TA))
    mmf = np.array(
        [
            top + 2 / 3 * upper + leak2 / P2,
            1 / 3 * upper - leak2 / P2 + 2 / 3 * lower + leak4 / P4,
            1 / 3 * lower - leak4 / P4 + plate + reluctance * f5,
        ]
    )
    return mmf, slope * f5**2 / 2


@dataclass(frozen=True)
class Drive:
    """A wanted current for a while, within the voltages of transistor and Zener diode."""

    turns: tuple[float, float] = (0.45 * 37.5, 0.45 * 20.3)
    level: float = 10.7
    width: float = 2e-3

    def current(self, t: float, mmf: Vector) -> tuple[float, float]:
        """Current of the coil and voltage at its leads: V = R*i + sum N*(N*i - mmf)/R_eddy."""
        seen = OHMS + sum(n**2 / r for n, r in zip(self.turns, EDDY, strict=False))
        back = sum(n * m / r for n, m, r in zip(self.turns, mmf, EDDY, strict=False))
        wanted = self.level if t < self.width else 0.0
        volts = min(12.5, max(-45.0, seen * wanted - back))
        return (volts + back) / seen, volts

    def rates(self, t: float, flux: Vector, gap: float) -> tuple[Vector, float]:
        mmf, pull = magnet(flux, gap)
        current, _ = self.current(t, mmf)
        return (np.array([*self.turns, 0.0]) * current - mmf) / np.array(EDDY), pull


@dataclass(frozen=True)
class Battery(Drive):
    """12.5 V through a switch; a Zener diode limits what the open switch would make."""

    def current(self, t: float, mmf: Vector) -> tuple[float, float]:
        seen = OHMS + sum(n**2 / r for n, r in zip(self.turns, EDDY, strict=False))
        back = sum(n * m / r for n, m, r in zip(self.turns, mmf, EDDY, strict=False))
        switch = 1e-3 if t < self.width else 1e6
        for bend, slope in ((0.0, 0.0), (-45.0, 10.0)):  # the node: (12.5 - u)/switch = (u + back)/seen + zener
            volts = (12.5 / switch - back / seen + slope * bend) / (1 / switch + 1 / seen + 1e-9 + slope)
            if volts > -45.0:
                break
        return (volts + back) / seen, volts


def held(drive: Drive, gap: float, times: Vector) -> Vector:
    """Coil current and pull over time with the armature held."""
    run = solve_ivp(
        lambda t, y: drive.rates(t, y, gap)[0], (0, times[-1]), np.zeros(3), "Radau", times, rtol=1e-10, atol=1e-14
    )
    found = [(drive.current(t, magnet(y, gap)[0])[0], magnet(y, gap)[1]) for t, y in zip(times, run.y.T, strict=True)]
    return np.array(found).T


def steady_force(turns: tuple[float, float], current: float, gap: float) -> float:
    """Pull when every flux rests: the stored mmf of each loop is what the winding gives."""
    drive = np.array([*turns, 0.0]) * current
    found = root(lambda y: magnet(y, gap)[0] - drive, np.full(3, drive.sum() * P2), tol=1e-13)
    assert np.max(np.abs(found.fun)) < 1e-8 * drive.sum()
    return magnet(found.x, gap)[1]


RHO, MU, RA, RS, LEAST = 733.2, 3.34e-3, 15e-3, 2.4e-3, 5e-6
MASS, SPRING, PRELOAD, STOP = 0.038, 2e4, 47.0, 5e8


def squeeze(v: float, g: float, r: float) -> float:
    """Equation (1) of the thesis: force of a film that closes with velocity v."""
    return 3 * pi * MU * r**4 * v / (2 * g**3) + (15 / 56 - (v < 0) / 8) * pi * RHO * r**4 * v * abs(v) / g**2


def motion(stroke: float, touch: int, x: float, v: float, pull: float) -> float:
    """Acceleration; `touch` is -1 at the lower stop, 1 at the upper one. Kinetic energy is m(x) v^2/2."""
    gap = 0.108e-3 + stroke - x
    film = 3 * pi * RHO / 20
    under = LEAST + (0 if touch < 0 else x)
    mass = MASS + film * (RA**4 / gap + RS**4 / under)
    slope = film * (RA**4 / gap**2 - (0 if touch < 0 else RS**4 / under**2))
    force = pull - SPRING * x - PRELOAD - mass_term(slope, v)
    if touch < 0:
        return (force - STOP * x - 1.3 * v) / mass
    if touch > 0:
        return (force - STOP * (x - stroke) - 4e3 * v) / mass
    return (force - squeeze(v, gap, RA) + squeeze(-v, x + LEAST, RS)) / mass


def mass_term(slope: float, v: float) -> float:
    """d/dt(m v) - d/dx(m v^2/2) = m*a + m' v^2/2."""
    return slope * v**2 / 2


def stroke_run(drive: Drive, stroke: float, times: Vector) -> Vector:
    """Fluxes, displacement and velocity over time: one integration from touch to touch of a stop."""
    t, end, touch = 0.0, float(times[-1]), -1
    y = np.array([0.0, 0.0, 0.0, -PRELOAD / (STOP + SPRING), 0.0])
    rows = np.empty((0, 5))
    while t < end:
        until = drive.width if t < drive.width else end

        def rate(t: float, y: Vector, touch: int = touch) -> Vector:
            flux, pull = drive.rates(t, y[:3], 0.108e-3 + stroke - y[3])
            return np.array([*flux, y[4], motion(stroke, touch, y[3], y[4], pull)])

        def lower(t: float, y: Vector) -> float:
            return float(y[3])

        def upper(t: float, y: Vector) -> float:
            return float(y[3]) - stroke

        lower.terminal, lower.direction = touch <= 0, 1.0 if touch < 0 else -1.0  # type: ignore[attr-defined]
        upper.terminal, upper.direction = touch >= 0, -1.0 if touch > 0 else 1.0  # type: ignore[attr-defined]
        wanted = times[(times > t) & (times <= until)] if len(rows) else times[times <= until]
        run = solve_ivp(
            rate, (t, until), y, "LSODA", wanted, events=(lower, upper), rtol=1e-9, atol=1e-14, dense_output=True
        )
        rows = np.vstack([rows, run.y.T]) if len(run.t) else rows
        stop = float(run.sol.t_max)
        y = run.sol(stop)
        if run.status == 1:
            touch = (0 if touch < 0 else -1) if len(run.t_events[0]) else (0 if touch > 0 else 1)
        t = stop
    return rows
