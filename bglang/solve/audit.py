"""The energy audit: what went in, what is stored, what was lost, and whether that adds up.

Stored energy comes from the state: in closed form, or as the integral of the storage's law over its state.  Supplied
and dissipated energy are integrals of power along the trajectory.  The two ways are independent, so their difference
is a check on the model and on the integration.  What impulses bring in a jump is booked to the sources and resistances
they act in; what nobody accounts for (a `reinit`) stands apart.
"""

from typing import Any

import numpy as np

from bglang.diagnostics import Diagnostic, warning
from bglang.equations.system import System, column, present
from bglang.expr import Expr, leaves
from bglang.expr.evaluate import evaluate_array
from bglang.expr.walk import rewrite
from bglang.records import replace
from bglang.results.record import Audit, EnergyEntry
from bglang.results.values import Array
from bglang.solve.collocation import collocated
from bglang.solve.consistent import Instant
from bglang.solve.interpolation import Pieces, node_weights
from bglang.solve.model import DENSE, Flags, Model, Numbers
from bglang.solve.promised import promised_energy

BATCH = 512
LOW, HIGH = 0.5 - np.sqrt(0.05), 0.5 + np.sqrt(0.05)
"""Inner nodes of Lobatto's rule on [0, 1], which is exact for polynomials of degree five."""
LOBATTO = np.array([1.0, 1.0, 5.0, 5.0]) / 12.0
"""Its weights: at both ends, then inside."""
SHARE = 0.1
"""The part of what a balance may be off by that its quadrature may be."""
EFFORT = 1e9
"""So many multiplications, about, go into intervals that are solved again: a law that conserves nothing has many."""
PANELS, PER_PANEL = 1024, 8
ROUNDING = 1e-12
SEEN = 64
"""So many instants tell how large efforts and flows are."""
EXACT = 1e-6
"""A balance that is off by more than this part of what was turned over, and than the tolerance, is looked at twice: it
may be one of rounding errors.  What the run's tolerance promises then counts as that part."""


class EnergyMeter:
    """Follows a run.  Feed it all nodes of the trajectory and all events."""

    def __init__(self, model: Model, tolerance: float):
        self.model, self.tolerance = model, tolerance
        self.system: System = model.system
        count = len(self.system.audit)
        self._work = np.zeros(count)
        self._turnover = 0.0
        self._jumps = np.zeros(count)
        self._blows = np.zeros(count)
        self._rated = np.array([kind != "algebraic" for kind in column(self.system.unknowns, "kind")], dtype=bool)
        self._large = len(self.system.unknowns) > DENSE
        self._nodes: list[tuple[Array, ...]] = []
        self._begins: list[bool] = []
        items = self.system.audit
        self._allowed = _allowed(tolerance)
        self._effort = EFFORT
        kinds = column(items, "kind")
        self._stores = np.array([kind == "stored" for kind in kinds], dtype=bool)
        self._signs = np.array([1.0 if kind in ("supplied", "modulation") else -1.0 for kind in kinds])
        self._closed = np.array(present(items, "energy"), dtype=bool)
        self._integral = [k for k, there in enumerate(present(items, "integral")) if there]
        laws = {k: integral[0] for k in self._integral if (integral := items[k].integral) is not None}
        self._laws = {
            k: _without_modes(self.system, law)
            for k, law in laws.items()
            if any(leaf[0] == "z" for leaf in leaves(law))
        }
        self._read: dict[str, list[int]] | None = None
        self._batch = max(4, min(BATCH, 2_000_000 // max(1, len(self.system.unknowns))))
        self._first: Instant | None = None
        self._seen: list[Instant] = []

    # --- following --------------------------------------------------------------------------------------------------

    def begin(self, at: Instant) -> None:
        self._first = at
        self._seen.append(at)

    def nodes(self, t: Array, y: Array, d: Array, z: Array, begins: bool) -> None:
        """Nodes of the present smooth piece; `begins`: it begins with them."""
        if not self.system.audit:
            return
        modes = np.empty((len(t), len(z)))
        modes[:] = z
        if len(self._seen) < SEEN:
            self._seen.append(Instant(float(t[-1]), y[-1].copy(), d[-1].copy(), modes[-1]))
        if self._large:  # their powers are all that is kept of them
            self._nodes.append((t.copy(), self.model.node_powers(t, y, d, modes)))
        else:
            self._nodes.append((t.copy(), y.copy(), d.copy(), modes))
        self._begins += [begins] + [False] * (len(t) - 1)
        if len(self._begins) >= self._batch:
            self._integrate()

    def event(self, left: Instant, after: Instant) -> None:
        """Energy that a jump brought or took."""
        if self._read is None:
            self._read = {kind: self._readings(kind) for kind in "yz"}
        y, z = self._read["y"], self._read["z"]
        if not np.array_equal(left.y[y], after.y[y]) or not np.array_equal(left.z[z], after.z[z]):
            self._jumps += self._difference(left, after)

    def blow(self, left: Instant, after: Instant, impulse: Array | None) -> None:
        """What sources and resistances did in a jump that nobody asked for: flows or efforts that are infinite there
        act on the mean of the others before and after."""
        if not self.system.audit:
            return
        rates = np.where(self._rated, after.y - left.y, 0.0)
        extra = np.zeros(len(rates)) if impulse is None else impulse
        signs = np.array([1.0, -1.0, 1.0, -1.0])
        y = np.stack([left.y, left.y, after.y, after.y]) + signs[:, None] * extra
        z = np.stack([left.z, left.z, after.z, after.z])
        power = self.model.powers(np.full(4, after.t), y, signs[:, None] * rates, z)
        work = signs @ power / 4.0
        self._blows += np.where(np.isfinite(work), work, 0.0)

    def _integrate(self) -> None:
        """Work over the nodes gathered so far; the last node stays as the first one of what follows."""
        if len(self._begins) < 2:
            return
        t, *rest = (np.concatenate(parts) for parts in zip(*self._nodes, strict=True))
        last = tuple(part[-1:].copy() for part in (t, *rest))
        joined = (np.diff(t) > 0.0) & ~np.array(self._begins[1:])
        if joined.any():
            if self._large:
                weights, power = self._coarse(t, joined, *rest)
                self._work += weights @ power
                self._turnover += float(np.abs(weights) @ np.abs(power, out=power).sum(axis=1))
            else:
                work, turnover = self._fine(t, joined, *rest)
                self._work += work.sum(axis=0)
                self._turnover += float(turnover.sum())
        self._nodes, self._begins = [last], [True]

    def _fine(self, t: Array, joined: Flags, y: Array, d: Array, z: Array) -> tuple[Array, Array]:
        """Work and turnover of each interval: Lobatto's rule on polynomials through the nodes, and where these are
        far from what the model does, the model solved once more."""
        real = np.flatnonzero(joined)
        h = np.diff(t)[real]
        pieces = Pieces(t, y, d, joined, real)
        points = [(t[real], y[real], d[real]), (t[real + 1], y[real + 1], d[real + 1])]
        points += [(t[real] + s * h, *pieces.at(s)) for s in (LOW, HIGH)]
        times, values, rates = (np.concatenate([point[i] for point in points]) for i in range(3))
        power = self.model.powers(times, values, rates, np.concatenate([z[real]] * 4))
        ends = (power[: len(h)] + power[len(h) : 2 * len(h)]) / 2.0
        inner = power[2 * len(h) :]  # between nodes a law may be just outside where it is defined
        power[2 * len(h) :] = np.where(np.isfinite(inner), inner, np.concatenate([ends, ends]))
        power = power.reshape(4, len(h), -1)
        work = h[:, None] * np.tensordot(LOBATTO, power, 1)
        turnover = h * (LOBATTO @ np.abs(power, out=power).sum(axis=2))
        gaps = self._gaps(t, y, d, z, real, work)
        part = SHARE * (self._turnover + float(turnover.sum()))
        doubtful = _worst(np.abs(gaps), part * (EXACT if abs(gaps.sum()) > part * EXACT else self._allowed))
        cost = max(1.0, (3.0 * y.shape[1]) ** 3)
        doubtful = doubtful[max(0, len(doubtful) - int(self._effort // cost)) :]
        self._effort -= len(doubtful) * cost
        if len(doubtful) and y.shape[1]:
            at = real[doubtful]
            again, good = collocated(self.model, t[at], h[doubtful], y[at], (y[at + 1], d[at + 1]), z[at])
            work[doubtful[good]] = again[good]
            turnover[doubtful[good]] = np.abs(again[good]).sum(axis=1)
        return work, turnover

    def _gaps(self, t: Array, y: Array, d: Array, z: Array, real: Numbers, work: Array) -> Array:
        """What is missing in the balance of each interval, where stored energies are known from the state."""
        balance = work.copy()
        if self._closed.any():
            ends = np.concatenate([real, real + 1])
            known = self._closed & self._stores
            energy = self.model.energies(t[ends], y[ends], d[ends], np.concatenate([z[real]] * 2))
            balance[:, known] = (energy[len(real) :] - energy[: len(real)])[:, known]
        if self._integral:
            for k, value in zip(self._integral, self._short_paths(t, y, d, z, real), strict=True):
                if self._stores[k]:
                    balance[:, k] = value
        return np.asarray(balance @ self._signs)

    def _short_paths(self, t: Array, y: Array, d: Array, z: Array, real: Numbers) -> list[Array]:
        """Integrals of laws over their states from node to node."""
        width = y[real + 1] - y[real]
        total = np.zeros((len(real), len(self._integral)))
        for s, weight in zip((0.0, 1.0, LOW, HIGH), LOBATTO, strict=True):
            total += weight * self.model.efforts(t[real], y[real] + s * width, d[real], z[real], self._integral)
        states = [integral[1] for k in self._integral if (integral := self.system.audit[k].integral) is not None]
        return [total[:, place] * width[:, state] for place, state in enumerate(states)]

    @staticmethod
    def _coarse(t: Array, joined: Flags, power: Array) -> tuple[Array, Array]:
        """For large models, which take many steps: cubics through the powers at the nodes themselves."""
        return node_weights(t, joined), power

    def _readings(self, kind: str) -> list[int]:
        """Unknowns or modes that stored energies read."""
        items = self.system.audit
        forms = [i.energy for i in items if i.energy is not None] + [i.integral[0] for i in items if i.integral]
        found = {leaf[1] for form in forms for leaf in leaves(form) if leaf[0] == kind}
        if kind == "y":
            found |= {i.integral[1] for i in items if i.integral}
        return sorted(found)

    # --- stored energy ----------------------------------------------------------------------------------------------

    def _difference(self, a: Instant, b: Instant) -> Array:
        """Stored energy at b less that at a, for the items that know it from the state."""
        found = np.zeros(len(self.system.audit))
        if self._closed.any():
            ends = [np.array([i.t for i in (a, b)]), *(np.stack([getattr(i, w) for i in (a, b)]) for w in "ydz")]
            energy = self.model.energies(*ends)
            found[self._closed] = (energy[1] - energy[0])[self._closed]
        for k, value in self._path_integrals(a, b).items():
            found[k] = value
        return found

    def _path_integrals(self, a: Instant, b: Instant) -> dict[int, float]:
        """Integrals of laws over their states from a to b: Gauss on panels, twice as many until nothing changes."""
        if not self._integral:
            return {}
        panels = 4
        before = self._gauss(a, b, panels)
        while True:
            panels *= 2
            after = self._gauss(a, b, panels)
            size = max((abs(v) for v in after), default=0.0)
            if panels >= PANELS or all(abs(x - y) <= 1e-12 * size for x, y in zip(after, before, strict=True)):
                return dict(zip(self._integral, after, strict=True))
            before = after

    def _gauss(self, a: Instant, b: Instant, panels: int) -> list[float]:
        nodes, weights = np.polynomial.legendre.leggauss(PER_PANEL)
        s = ((np.arange(panels)[:, None] + (nodes[None, :] + 1.0) / 2.0) / panels).ravel()
        w = np.tile(weights / 2.0 / panels, panels)
        y = a.y + s[:, None] * (b.y - a.y)
        t = a.t + s * (b.t - a.t)
        d = np.broadcast_to(b.d, y.shape)
        z = np.broadcast_to(b.z, (len(s), len(b.z)))
        efforts = self.model.efforts(t, y, d, z, self._integral)
        values = list[float]()
        for place, k in enumerate(self._integral):
            integral = self.system.audit[k].integral
            assert integral is not None
            effort = efforts[:, place]
            if k in self._laws:
                at = replace(self.model.values(b.t, b.y, b.d, b.z), t=t, y=y.T)
                effort = evaluate_array(self._laws[k], at) * np.ones(len(s))
            values.append(float(w @ effort) * float(b.y[integral[1]] - a.y[integral[1]]))
        return values

    # --- the balance ------------------------------------------------------------------------------------------------

    def audit(self, last: Instant) -> Audit:
        """The balance of the whole run."""
        self._integrate()
        assert self._first is not None
        items, work = self.system.audit, self._work
        if not items:
            return Audit((), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        kinds = np.array(column(items, "kind"))
        known = self._closed.copy()
        known[self._integral] = True
        known &= kinds == "stored"
        jump = np.where(known, self._jumps, self._blows)
        energy = np.where(known, self._difference(self._first, last), work + jump)
        of, struck = (
            {kind: float(part[kinds == kind].sum()) for kind in ("supplied", "stored", "dissipated", "modulation")}
            for part in (energy, jump)
        )
        jumps = struck["stored"] + struck["dissipated"] - struck["supplied"] - struck["modulation"]
        if abs(jumps) <= ROUNDING * float(np.abs(jump).sum()):
            jumps = 0.0
        gap = np.abs(energy - jump - work)
        worst = int(np.argmax(gap))
        error = of["supplied"] + of["modulation"] + jumps - of["stored"] - of["dissipated"]
        scale = max(self._turnover / 2.0, abs(of["stored"]), abs(of["supplied"]), abs(of["dissipated"]))
        good = max(EXACT, self.tolerance)
        if abs(error) > good * scale:
            scale = max(scale, promised_energy(self.model, [*self._seen, last], self.tolerance) / good)
        names = (column(items, field) for field in ("element", "domain", "kind"))
        entries = tuple(map(EnergyEntry, *names, energy.tolist(), jump.tolist()))
        name = items[worst].element if gap[worst] > 0.0 else ""
        return Audit(
            entries, of["supplied"], of["stored"], of["dissipated"], of["modulation"], jumps, error, scale, name
        )  # fmt: skip


def imbalance(system: System, audit: Audit, tol: float) -> list[Diagnostic]:
    """The warning about a balance that is off by more than the tolerance explains."""
    if audit.relative_error <= _allowed(tol):
        return []
    from bglang.solve.explain import first_span

    rows = [row.span for row in system.rows if row.component == audit.worst]
    found = warning(
        "run/energy",
        f"the energy balance is off by {audit.error:.3g} J, {audit.relative_error:.2g} of what was turned over",
        first_span(rows),
        reason=f"The largest part is at `{audit.worst}`." if audit.worst else "",
        hint="Tighten the tolerance; if that does not help, a law of the model is not conservative.",
        component=audit.worst,
    )
    return [found]


def _allowed(tolerance: float) -> float:
    """The part of what was turned over that a balance may be off by."""
    return max(EXACT, 100.0 * tolerance)


def _worst(gaps: Array, allowed: float) -> Numbers:
    """As few intervals as leave less than `allowed` with the others; the worst one comes last."""
    order = np.argsort(gaps)
    return order[np.searchsorted(np.cumsum(gaps[order]), allowed, side="right") :]


def _without_modes(system: System, e: Expr) -> Expr:
    """A law as a function of values alone: a mode is what its root says, wherever the law is looked at."""

    def leaf(node: tuple[Any, ...]) -> Expr:
        if node[0] != "z":
            return node
        mode = system.modes[node[1]]
        if mode.kind == "relation":
            return (">" if mode.strict else ">=", rewrite(mode.roots[0], leaf), 0.0)
        if mode.kind == "floor":
            return ("floor", rewrite(mode.arguments[0], leaf))
        return node

    return rewrite(e, leaf)
