"""Sliding: where both sides of a switch drive a model back onto the surface on which it switches, it stays there.

The switch then acts with the share that keeps it on the surface (the equivalent control; for equations that are linear
in what is switched, Filippov's solution).  The share becomes an unknown of its own, sigma between -1 and 1, and the
switch a mode with three values, like dry friction:

    above, below    sigma = +1 or -1, the equations of that side
    slides          the switching function and its rate are zero; equations are mixed with the share (1 + sigma)/2
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bglang.diagnostics import Diagnostic, warning
from bglang.equations.system import Assign, Mode, Reinit, Row, System, Terminate, Unknown, When, WhenBranch
from bglang.expr import Expr, call, leaves, product
from bglang.expr.diff import time_derivative
from bglang.expr.evaluate import evaluate
from bglang.expr.walk import leaf_set, rewrite
from bglang.records import dataclass, replace
from bglang.solve.model import Model
from bglang.solve.modes import SLIDE
from bglang.solve.problem import Problem, make_problem

SAMPLES = 6


@dataclass(frozen=True, slots=True)
class Surface:
    """The relations that change on one surface: `truth` holds for each whether it is true above it."""

    lead: int
    truth: dict[int, bool]


def find_surface(system: System, model: Model, chattering: Sequence[int]) -> Surface | None:
    """The surface of a chattering relation; None where it cannot be slid on: it must be a function of states."""
    for k in chattering:
        mode = system.modes[k]
        if mode.kind != "relation" or mode.time_only:
            continue
        moving = [leaf for leaf in leaf_set(mode.roots[0]) if leaf[0] in "yd"]
        if moving and all(leaf[0] == "y" and system.unknowns[leaf[1]].kind == "state" for leaf in moving):
            truth = _companions(system, model, k)
            if not any(leaf[0] == "z" and leaf[1] in truth for row in system.rows for leaf in leaves(row.residual)):
                continue  # it acts by `when`s alone: no share of it could keep the model there
            lead = max(truth)  # of `sign` the one that is true above zero
            return Surface(lead, {j: side == truth[lead] for j, side in truth.items()})
    return None


def _companions(system: System, model: Model, lead: int) -> dict[int, bool]:
    """Relations whose functions are the same as that of one relation, or opposite (`sign` has one of each)."""
    rng = np.random.default_rng(1)
    n, nz = len(system.unknowns), len(system.modes)
    points = [model.values(t, rng.normal(size=n), np.zeros(n), np.zeros(nz)) for t in rng.uniform(size=SAMPLES)]
    first = np.array([evaluate(system.modes[lead].roots[0], at) for at in points])
    truth = {lead: True}
    mine = leaf_set(system.modes[lead].roots[0])
    for k, mode in enumerate(system.modes):
        if k == lead or mode.kind != "relation" or leaf_set(mode.roots[0]) != mine:
            continue
        other = np.array([evaluate(mode.roots[0], at) for at in points])
        for sign in (1.0, -1.0):
            if np.allclose(other, sign * first, rtol=1e-12, atol=0.0):
                truth[k] = sign > 0.0
    return truth


def slide(problem: Problem, surface: Surface) -> Problem:
    """The same problem with a surface on which it may slide."""
    system = _Slider(problem.system, surface).system()
    return make_problem(system, problem.options, dict(problem.overrides))


def told(mode: Mode, t: float) -> Diagnostic:
    """What the user is told."""
    text = mode.text or mode.name
    return warning(
        "events/sliding",
        f"`{text}` would chatter from t = {t:.9g} on: the model slides there",
        mode.span,
        reason="Each side of the switch drives the model back to it. The switch takes the mean value that keeps the "
        "model on it.",
        hint="`coulomb` says so where dry friction is meant; a hysteresis makes a relay that really switches.",
        component=mode.component,
    )


class _Slider:
    """Rewrites a system for one surface."""

    def __init__(self, system: System, surface: Surface):
        self._system, self._surface = system, surface
        self._sigma: Expr = ("y", len(system.unknowns))
        self._z: Expr = ("z", surface.lead)
        self._g = system.modes[surface.lead].roots[0]

    def system(self) -> System:
        old = self._system
        lead = old.modes[self._surface.lead]
        sigma = Unknown(f"sliding({lead.text or lead.name})", "algebraic", 0.0, False, None, 1.0, "", lead.span)
        return replace(
            old,
            unknowns=(*old.unknowns, sigma),
            rows=(*(self._row(row) for row in old.rows), self._surface_row(lead)),
            initial=tuple(self._row(row) for row in old.initial),
            modes=tuple(self._mode(k, mode) for k, mode in enumerate(old.modes)),
            whens=tuple(When(tuple(map(self._branch, when.branches)), when.component) for when in old.whens),
            assertions=tuple(replace(a, condition=self._truth(a.condition)) for a in old.assertions),
            outputs=tuple(replace(o, value=self._mixed(o.value)) for o in old.outputs),
            audit=tuple(
                replace(
                    item,
                    power=self._mixed(item.power),
                    energy=None if item.energy is None else self._mixed(item.energy),
                    integral=None if item.integral is None else (self._mixed(item.integral[0]), item.integral[1]),
                )
                for item in old.audit
            ),
        )

    def _row(self, row: Row) -> Row:
        position = None if row.position is None else self._mixed(row.position)
        return replace(row, residual=self._mixed(row.residual), position=position)

    def _surface_row(self, lead: Mode) -> Row:
        off = call("-", self._sigma, self._z)
        rate = time_derivative(self._g, lambda leaf: ("d", leaf[1]) if leaf[0] == "y" else 0.0)
        slides: Expr = ("==", self._z, 0.0)
        return Row(("if", slides, rate, off), True, lead.component, lead.span, ("if", slides, self._g, off))

    def _mode(self, k: int, mode: Mode) -> Mode:
        if k == self._surface.lead:
            slides: Expr = ("==", self._z, 0.0)
            upper = ("if", slides, call("-", 1.0, self._sigma), product([self._g, self._z]))
            lower = ("if", slides, ("+", 1.0, self._sigma), 1.0)
            return replace(
                mode, kind="coulomb", roots=(upper, lower), arguments=(self._g, self._sigma, 1.0), name=SLIDE
            )
        if k in self._surface.truth:  # it is part of the surface now
            return replace(mode, kind="discrete", roots=(), arguments=(0.0,))
        return replace(
            mode, roots=tuple(map(self._mixed, mode.roots)), arguments=tuple(map(self._mixed, mode.arguments))
        )

    def _branch(self, branch: WhenBranch) -> WhenBranch:
        actions = list[Any]()
        for action in branch.actions:
            if isinstance(action, Reinit | Assign):
                actions.append(replace(action, value=self._mixed(action.value)))
            elif isinstance(action, Terminate):
                actions.append(action)
            else:
                actions.append(replace(action, condition=self._truth(action.condition)))
        return WhenBranch(tuple(map(self._truth, branch.conditions)), tuple(actions), branch.span)

    def _reads(self, e: Expr) -> bool:
        return any(leaf[0] == "z" and leaf[1] in self._surface.truth for leaf in leaves(e))

    def _side(self, e: Expr, above: bool) -> Expr:
        truth = self._surface.truth

        def known(leaf: tuple[Any, ...]) -> Expr:
            return float(truth[leaf[1]] == above) if leaf[0] == "z" and leaf[1] in truth else leaf

        return rewrite(e, known)

    def _mixed(self, e: Expr) -> Expr:
        """The expression on each side, and mixed while the model slides."""
        if not self._reads(e):
            return e
        over, under = self._side(e, True), self._side(e, False)
        share = product([0.5, ("+", 1.0, self._sigma)])
        mean = ("+", product([share, over]), product([call("-", 1.0, share), under]))
        return ("if", (">", self._z, 0.5), over, ("if", ("<", self._z, -0.5), under, mean))

    def _truth(self, e: Expr) -> Expr:
        """Conditions are never mixed: on the surface itself neither side is strictly true."""
        truth = self._surface.truth

        def side(leaf: tuple[Any, ...]) -> Expr:
            if leaf[0] == "z" and leaf[1] in truth:
                return (">", self._z, 0.5) if truth[leaf[1]] else ("<", self._z, -0.5)
            return leaf

        return rewrite(e, side)
