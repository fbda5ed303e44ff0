"""The other opinion: a tableau of the generator's own data, with every effort, flow and state as an unknown.

Nothing of the compiler is used: junctions, links, laws and rates are written down as they stand, checked on the
trajectories, and integrated with Radau IIA of order 5 in fixed steps."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import LinAlgError, lu_factor, lu_solve

from soak.laws import FUNCTIONS, references, to_python
from soak.physics import JUNCTIONS, LINKS, PASSIVE, Edge, Model, Node, node_of

Array = Any
S6 = 6**0.5
RADAU = np.array(
    [
        [(88 - 7 * S6) / 360, (296 - 169 * S6) / 1800, (-2 + 3 * S6) / 225],
        [(296 + 169 * S6) / 1800, (88 + 7 * S6) / 360, (-2 - 3 * S6) / 225],
        [(16 - S6) / 36, (16 + S6) / 36, 1 / 9],
    ]
)
NODES, INVERSE = RADAU.sum(axis=1), np.linalg.inv(RADAU)

BESIDE = 1e-10
"""How far from an event a row before or after it is looked at."""


class Curves:
    """All variables of a result, computed at once."""

    def __init__(self, result: Any):
        self.time, self.names = result.time, result.names
        self.values = dict(zip(self.names, result.values().T, strict=True))
        self.events = tuple(e.time for e in result.events)

    def __getitem__(self, name: str) -> Array:
        return self.values[name]

    def __contains__(self, name: str) -> bool:
        return name in self.values


class NoSolution(Exception):
    """Newton's method does not converge: the tableau has no opinion."""


class Tableau:
    def __init__(self, model: Model):
        self.model = model
        self.ends: dict[str, list[tuple[Edge, int]]] = {}
        for e in model.edges:
            self.ends.setdefault(node_of(e.tail), []).append((e, -1))
            self.ends.setdefault(node_of(e.head), []).append((e, 1))
        self.unknowns = [f"{e.name}.{x}" for e in model.edges for x in "ef"]
        self.rates = dict(self._rates())
        self.unknowns += list(self.rates)
        self.alias = dict(self._aliases())
        self.index = {name: k for k, name in enumerate(self.unknowns)}
        self.rows = list(self._rows())
        lines = "\n".join(f"  R[{k}] = {text}" for k, (_, text) in enumerate(self.rows))
        space = dict(FUNCTIONS)
        exec(f"def residual(V, D, time, R):\n{lines}\n", space)  # our own text, not the user's
        self.residual = space["residual"]

    def _rates(self) -> Iterator[tuple[str, str]]:
        """(state, its rate) for storages and for the integrals of junctions that somebody reads."""
        for n in self.model.nodes:
            for state in n.states:
                yield f"{n.name}.{state}", f"{n.name}.{state[:-1]}{'f' if state[-1] == 'q' else 'e'}"
        read = {name for n in self.model.nodes for name in references(n.text)}
        for name in sorted(read):
            node = self.model.by_name.get(node_of(name))
            if node is not None and node.base in JUNCTIONS and name[-1] in "qp":
                yield name, name[:-1] + ("f" if name[-1] == "q" else "e")

    def _aliases(self) -> Iterator[tuple[str, str]]:
        """What a result calls otherwise than the bond it belongs to."""
        for n in self.model.nodes:
            for e, side in self.ends.get(n.name, []):
                end = e.head if side == 1 else e.tail
                if n.base in JUNCTIONS:
                    x = "f" if n.base == "J1" else "e"
                    yield f"{n.name}.{x}", f"{e.name}.{x}"
                elif n.base in LINKS:
                    port = "p1" if side == 1 else "p2"
                    yield from ((f"{n.name}.{port}.{x}", f"{e.name}.{x}") for x in "ef")
                else:
                    yield from ((f"{end}.{x}", f"{e.name}.{x}") for x in "ef")

    def _rows(self) -> Iterator[tuple[str, str]]:
        """(what it is, its residual as Python text)."""
        for n in self.model.nodes:
            if n.base in JUNCTIONS:
                yield from self._junction(n)
            elif n.base in LINKS:
                (modulus,) = (self._text(value, n.name) for _, value in n.laws)
                e1, f1, e2, f2 = (self._name(f"{n.name}.{x}") for x in ("p1.e", "p1.f", "p2.e", "p2.f"))
                one, two = (((e1, e2), (f2, f1)), ((e1, f2), (e2, f1)))[n.base == "GY"]
                yield n.name, f"{one[0]} - ({modulus})*{one[1]}"
                yield n.name, f"{two[0]} - ({modulus})*{two[1]}"
            else:
                for left, right in n.laws:
                    yield n.name, f"{self._name(f'{n.name}.{left}')} - ({self._text(right, n.name)})"
        for state, rate in self.rates.items():
            yield f"rate of {state}", f'D["{state}"] - {self._name(rate)}'

    def _junction(self, n: Node) -> Iterator[tuple[str, str]]:
        same, other = ("f", "e") if n.base == "J1" else ("e", "f")
        first = self.ends[n.name][0][0].name
        for e, _ in self.ends[n.name][1:]:
            yield n.name, f'V["{e.name}.{same}"] - V["{first}.{same}"]'
        yield n.name, " ".join(f'{"+" if side == 1 else "-"} V["{e.name}.{other}"]' for e, side in self.ends[n.name])

    def _name(self, name: str) -> str:
        return f'V["{self.alias.get(name, name)}"]'

    def _text(self, text: str, own: str) -> str:
        return re.sub(r'V\["([^"]*)"\]', lambda m: self._name(m.group(1)), to_python(text, own))

    # --- on a trajectory ----------------------------------------------------------------------------------------------

    def worst(self, result: "Curves") -> tuple[float, str]:
        """The largest residual of an algebraic row on a result, against the size of what is in it."""
        V = {name: result[name] for name in self.unknowns}
        n = len(result.time)
        R = np.zeros((len(self.rows), n))
        rates = {state: V[self.alias.get(rate, rate)] for state, rate in self.rates.items()}
        self.residual(V, rates, inner_times(result.time), R)
        found = (0.0, "")
        for k, (what, text) in enumerate(self.rows):
            node = self.model.by_name.get(what)
            if what.startswith("rate"):
                continue
            size = 1.0 + max(float(np.max(np.abs(V[name]))) for name in self.unknowns if f'"{name}"' in text)
            gap = np.abs(R[k])
            if node is not None and node.sticks:  # anything up to the level holds it, at rest
                level = node.sticks
                still = np.abs(V[self.alias[f"{what}.{_argument(node)}"]]) < 1e-7 * size
                gap = np.where(still, np.maximum(gap - level, 0), gap)
            if float(np.max(gap)) / size > found[0]:
                found = float(np.max(gap)) / size, f"`{what}` at t = {result.time[int(np.argmax(gap))]:g}"
        return found

    def drift(self, result: "Curves") -> tuple[float, str]:
        """States against the integrals of their rates, between events, by splines through the rows."""
        found = (0.0, "")
        for a, b in pieces(result.time):
            if b - a < 5:
                continue
            t = result.time[a:b]
            for state, rate in self.rates.items():
                x, f = result[state][a:b], result[self.alias.get(rate, rate)][a:b]
                gap = abs(x[-1] - x[0] - float(CubicSpline(t, f).integrate(t[0], t[-1])))
                gap /= 1 + float(np.max(np.abs(x))) + float(np.max(np.abs(f))) * 0.05
                if gap > found[0]:
                    found = gap, f"`{state}` between {t[0]:g} and {t[-1]:g}"
        return found

    # --- by itself ----------------------------------------------------------------------------------------------------

    def integrate(self, result: "Curves", step: float = 0.01, most: int = 3) -> tuple[float, str]:
        """From the result's rows after events on, through the first pieces; how far the result's ends are away."""
        found = (0.0, "")
        for a, b in [(a, b) for a, b in pieces(result.time) if b - a >= 5][:most]:
            start = np.array([result[name][a] for name in self.unknowns])
            end = self._advance(start, result.time[a], result.time[b - 1], step)
            for k, name in enumerate(self.unknowns):
                x = result[name][a:b]
                gap = abs(end[k] - x[-1]) / (1 + float(np.max(np.abs(x))))
                gap *= 1 if name in self.rates else 1e-2
                if gap > found[0]:
                    found = gap, f"`{name}` at t = {result.time[b - 1]:g}: {x[-1]:.9g}, the tableau says {end[k]:.9g}"
        return found

    def _advance(self, y: Array, t: float, end: float, step: float) -> Array:
        count = max(int(np.ceil((end - t) / step)), 1)
        h, n = (end - t) / count, len(y)
        for k in range(count):
            stages = np.repeat(y[:, None], 3, axis=1)
            times = np.clip(t + h * (k + NODES), t + BESIDE, end - BESIDE)
            factor = self._factor(y, t + k * h, h)
            for _ in range(12):
                rates = ((stages - y[:, None]) @ INVERSE.T) / h
                change = lu_solve(factor, self._evaluate(stages, rates, times).T.ravel()).reshape(3, n).T
                stages = stages - change
                if not np.all(np.isfinite(stages)):
                    raise NoSolution
                if float(np.max(np.abs(change) / (1 + np.abs(stages)))) < 1e-10:
                    break
            else:
                raise NoSolution
            y = stages[:, 2]
        return y

    def _evaluate(self, y: Array, rates: Array, times: Array) -> Array:
        R = np.zeros((len(self.rows), y.shape[1]))
        V = {name: y[k] for name, k in self.index.items()}
        self.residual(V, {name: rates[self.index[name]] for name in self.rates}, times, R)
        return R

    def _factor(self, y: Array, t: float, h: float) -> Any:
        n = len(y)
        size = 1e-7 * (1 + np.abs(y))
        both = np.hstack([y[:, None], y[:, None] + np.diag(size), y[:, None] - np.diag(size)])
        R = self._evaluate(both, np.zeros_like(both), np.full(2 * n + 1, t))
        jacobian = (R[:, 1 : n + 1] - R[:, n + 1 :]) / (2 * size)
        mass = np.zeros((len(self.rows), n))
        for k, (what, _) in enumerate(self.rows):
            if what.startswith("rate of "):
                mass[k, self.index[what[8:]]] = 1.0
        try:
            return lu_factor(np.kron(INVERSE / h, mass) + np.kron(np.eye(3), jacobian))
        except (LinAlgError, ValueError) as singular:
            raise NoSolution from singular


def _argument(node: Node) -> str:
    return {"e": "f", "f": "e"}[node.laws[0][0]]


def pieces(time: Array) -> list[tuple[int, int]]:
    """Ranges of rows between events; `--events` writes a row before and one after, with the same time."""
    cuts = [0, *(np.flatnonzero(np.diff(time) == 0) + 1), len(time)]
    return list(pairwise(cuts))


def inner_times(time: Array) -> Array:
    """Rows before and after an event have its time; a step of a source must tell them apart."""
    t = np.array(time)
    for a, b in pieces(time):
        t[a] += BESIDE
        t[b - 1] -= BESIDE
    return t


def power(model: Model, result: "Curves") -> float:
    """What sources deliver goes into losses and storages, in every instant; relative to the largest share."""
    total, size = np.zeros(len(result.time)), np.full(len(result.time), 1e-9)
    for n in model.nodes:
        if n.base in (*JUNCTIONS, *LINKS):
            continue
        names = [n.name] if n.base != "field" else [f"{n.name}.d[1]", f"{n.name}.d[2]"]
        for name in names:
            share = result[f"{name}.power"]
            total += share if n.base in PASSIVE else -share
            size = np.maximum(size, np.abs(share))
    return float(np.max(np.abs(total) / size))
