"""Events: from the left limit of an instant to the values after it.

Modes whose roots were crossed change, everything is solved anew, `when`s whose conditions became true act, and so on
until nothing changes.  What no finite effort or flow can change stays (see `consistent.py`); a jump of a storage that
nobody asked for is an impulse and is reported.
"""

from collections.abc import Container, Iterable, Sequence

import numpy as np

from bglang.diagnostics import Diagnostic, SimulationError, error
from bglang.equations.system import Assertion, Assign, Reinit, Row, Terminate, When, WhenBranch, column, present
from bglang.expr import leaves
from bglang.expr.evaluate import Values, evaluate
from bglang.expr.walk import postorder
from bglang.records import replace
from bglang.results.record import Event
from bglang.solve.assertions import check_assertions
from bglang.solve.consistent import Consistency, Instant
from bglang.solve.explain import first_span, listed, those_of, worst_rows
from bglang.solve.happening import Happening
from bglang.solve.model import Array, Flags
from bglang.solve.modes import STICK, Modes
from bglang.solve.problem import Problem
from bglang.solve.settle import Attempt, Trial, settle
from bglang.solve.turning import Crossing, Turning
from bglang.source import Span

EXPECTED = 1000
"""So many changes of modes are remembered with what they led to."""
AHEAD = 1e-6
"""To see where a root goes, the unknowns are moved along their rates by this part of their size."""
FALLS = 0.01
"""Behind a pole, a function falls to this part of itself while the unknowns move that little."""
NEAR = 1e-10
"""A root counts as zero while it is no farther off than this part of the unknowns moves it."""


class EventHandler:
    """Carries the conditions of `when`s from event to event."""

    def __init__(self, problem: Problem, modes: Modes, scale: Array):
        self.problem, self.modes, self.system = problem, modes, problem.system
        self.model = problem.model
        self.scale = scale
        self.consistency = Consistency(self.model, scale)
        kinds = column(self.system.unknowns, "kind")
        self._storages = np.array([kind != "algebraic" for kind in kinds], dtype=bool)
        self._depends = "dependent" in kinds
        self._conditions: list[list[list[bool]]] = []
        rows = self.system.rows
        self._bound = self._idle = False
        self._rates_decide = modes.needs_rates or any(
            there and rows[r].differential for r, there in enumerate(present(rows, "position"))
        )
        self._zone = np.zeros(len(modes.owner))
        self._run = max(problem.stop - problem.start, 1e-300)
        self._turning = Turning(self.system, modes, self.model, self._run)
        self._crossings: tuple[Crossing, ...] = ()
        self._acted = False
        self._relations = np.array(
            [k for k in modes.continuous if modes.modes[k].kind == "relation" and not modes.modes[k].time_only],
            dtype=np.intp,
        )
        self._frictions = np.array([k for k in modes.continuous if modes.modes[k].kind == "coulomb"], dtype=np.intp)
        self._first = np.array([modes.first[k] for k in (*self._relations, *self._frictions)], dtype=np.intp)
        self._usual = np.array(
            [k for k, m in enumerate(modes.modes) if m.kind not in ("floor", "segment")], dtype=np.intp
        )
        self._switches = np.array([k for k in modes.continuous if modes.modes[k].kind == "relation"], dtype=np.intp)
        self._decided = np.sort(np.concatenate([self._switches, self._frictions]))
        self._switch_roots = np.array([modes.first[k] for k in self._switches], dtype=np.intp)
        self._strict = np.array([modes.modes[k].strict for k in self._switches], dtype=bool)
        self._of_states = np.array(
            [all(leaf[0] != "y" or kinds[leaf[1]] != "algebraic" for leaf in leaves(g))
             for mode in modes.modes for g in mode.roots], dtype=bool,
        )  # fmt: skip
        self._expected: dict[bytes, tuple[Array, bool]] = {}
        none = np.zeros(0)
        self._looked = (none, none, none, none, none)

    def grow(self, y: Array) -> None:
        """Sizes that the variables have shown: what counts as zero follows them."""
        seen = np.abs(y)
        self.scale = np.where(self.problem.nominal > 0.0, self.scale, np.maximum(self.scale, seen))

    # --- the three occasions ----------------------------------------------------------------------------------------

    def at_start(self, at: Instant, samples: Sequence[int], *, struck: bool = False) -> Happening:
        """`sample` and `initial()` fire at the start; other conditions that are true there do not.  `struck`: modes
        contradict the starts, which a jump may mend."""
        self._remember(at, self._values(at, at))
        self.consistency.rates(at)
        self._bound = self.consistency.bound
        self._zone[:] = 0.0
        self._crossings = ()
        happening = Happening(at, at)
        z = at.z.copy()
        z[list(samples)] = 1.0
        if samples or struck:
            self._settle(happening, at, z, {})
        self._act(happening, at, initial=True)
        happening.log[:0] = self._first_changes(happening, at, samples if struck else range(len(at.z)))
        self._switch_off(happening, samples)
        self._rest(happening, at)
        return happening

    def at_event(self, left: Instant, roots: Sequence[int], samples: Sequence[int]) -> Happening:
        """Roots crossed and samples due at one instant."""
        if self._bound or self._depends:
            left = self._lawful(left)
        happening = Happening(left, left)
        self._zone[:] = 0.0
        self._crossings, self._acted = self._turning.crossings(left, roots), False
        z = left.z.copy()
        if roots:
            g = self.model.roots(left.t, left.y, left.d, left.z)
            for r in roots:
                k = self.modes.owner[r]
                z[k] = self.modes.after_root(k, r, left, self.model)
                if np.isfinite(g[r]):
                    self._zone[self.modes.of(k)] = 2.0 * abs(g[r])  # so far from zero the root was left, and its likes
        z[list(samples)] = 1.0
        self._settle(happening, left, z, {})
        self._act(happening, left)
        self._log_modes(happening, left)
        self._switch_off(happening, samples)
        self._rest(happening, left)
        self._come_back(happening)
        return happening

    def at_end(self, at: Instant) -> Happening:
        """`terminal()` is true at the end of the run."""
        happening = Happening(at, at)
        self._act(happening, at, terminal=True)
        return happening

    def _lawful(self, left: Instant) -> Instant:
        """The left limit with the states where the laws that bind them say, in the modes before the event: what
        they are off there is the error of the run, not a jump."""
        outcome = self.consistency.values(left, left.z, {})
        moved = np.max(np.abs(outcome.u - left.y) / np.maximum(np.abs(left.y), self.scale), initial=0.0)
        return replace(left, y=outcome.u) if outcome.converged and moved <= 100.0 * self.problem.tol else left

    # --- solving ----------------------------------------------------------------------------------------------------

    def _settle(self, happening: Happening, left: Instant, z: Array, held: dict[int, float]) -> None:
        """Values that agree with modes near z, starting from `left`."""
        consistency = self.consistency
        consistency.scale = self.scale
        failed = list[Instant]()

        def attempt(z: Array) -> Trial | None:
            outcome = consistency.values(left, z, held)
            if not outcome.converged:
                failed.append(Instant(left.t, outcome.u, left.d, z))
                return None
            at = Instant(left.t, outcome.u, left.d, z)
            wrong = self._struck(at, consistency.impulse)
            if not wrong and not self._rates_decide and not outcome.singular:
                g, zone = self.zones(at)
                wrong = self.modes.contradicted(self.model, at, zone, g)
            if not wrong:
                y, d, good = consistency.rates(at)
                at = Instant(left.t, y, d, z)
                if not good:
                    failed.append(at)
                    return None
                if self._rates_decide or outcome.singular or y is not outcome.u:
                    g, zone = self.zones(at)
                    wrong = self.modes.contradicted(self.model, at, zone, g)
                if not wrong and ahead:
                    wrong = self._leaving(at, g, zone) or self._landed(left, at, g, zone)
            moved = np.abs(at.y - left.y) / np.maximum(np.abs(left.y), self.scale)
            jump = float(np.max(moved[self._storages], initial=0.0))
            regular = bool(wrong) or consistency.regular
            return Trial(z, at.y, at.d, wrong, jump, regular, consistency.bound, impulse=consistency.impulse)

        ahead = True
        trial, touched = self._as_before(attempt, left, z) if not held else None, frozenset[int]()
        if trial is None:
            trial, touched = settle(attempt, z, self.modes)
            if trial is not None and not held:
                self._remember_modes(left, z, trial)
        if trial is None:  # a switch that is driven back from both sides goes on as it can
            ahead = False
            trial, touched = settle(attempt, z, self.modes)
        if trial is None:
            raise self._stuck(left, touched, failed)
        if trial.jump > NEAR or held:
            happening.jumped = True
            self._impulses(happening, left, trial, held)
        happening.at = Instant(left.t, trial.y, trial.d, trial.z)
        if trial.jump > NEAR and not held:
            happening.blows.append((left, happening.at, trial.impulse))
        same = np.array_equal(left.z[self._switches], trial.z[self._switches])
        self._bound, self._idle = trial.bound, trial.idle or (self._idle and same)

    def _as_before(self, attempt: Attempt, left: Instant, z: Array) -> Trial | None:
        """The modes that the same change led to the last time, if they agree without a jump."""
        known = self._expected.get(left.z[self._usual].tobytes() + z[self._usual].tobytes())
        if known is None:
            return None
        guess = z.copy()
        guess[self._decided], idle = known
        trial = attempt(guess)
        if trial is None or trial.contradicted or trial.jump > NEAR or not trial.regular:
            return None
        return replace(trial, idle=idle)

    def _remember_modes(self, left: Instant, z: Array, found: Trial) -> None:
        if len(self._expected) >= EXPECTED:
            self._expected.clear()
        if not np.array_equal(z, found.z):
            key = left.z[self._usual].tobytes() + z[self._usual].tobytes()
            self._expected[key] = found.z[self._decided], found.idle

    def may_rest(self) -> Flags:
        """Roots that the present modes may hold at zero.  Where they bind states, the rates of algebraic variables say
        nothing."""
        if self._idle and not self._bound:
            return np.ones(len(self._of_states), dtype=bool)
        return self._of_states if self._bound else np.zeros(len(self._of_states), dtype=bool)

    def zones(self, at: Instant) -> tuple[Array, Array]:
        """The root functions, and what counts as zero for each.  Those of the last instant are remembered."""
        y, d, z, g, zone = self._looked
        if y is not at.y or d is not at.d or not np.array_equal(z, at.z):
            g = self.model.roots(at.t, at.y, at.d, at.z)
            zone = np.maximum(self.modes.margin(self.model, at, self.scale, NEAR, g), self._zone)
            self._looked = (at.y, at.d, at.z, g, zone)
        return g, zone

    def _impulses(self, happening: Happening, left: Instant, trial: Trial, held: dict[int, float]) -> None:
        """Storages that jumped although nobody reset them."""
        tolerance = max(1e-7, 10.0 * self.problem.tol)
        for i, unknown in enumerate(self.system.unknowns):
            if unknown.kind == "algebraic" or i in held:
                continue
            jump = trial.y[i] - left.y[i]
            if abs(jump) > tolerance * max(abs(left.y[i]), self.scale[i]):
                happening.log.append(
                    _entry(left.t, "impulse", f"{unknown.name} jumps by {jump:.6g}", unknown.name, unknown.span,
                           f"{left.y[i]:.9g}", f"{trial.y[i]:.9g}")
                )  # fmt: skip

    def _struck(self, at: Instant, impulse: Array | None) -> dict[int, float]:
        """Modes that an impulse contradicts: a diode does not block an infinite voltage."""
        if impulse is None:
            return {}
        part = float(np.max(np.abs(impulse) / self.scale, initial=0.0))
        if part <= NEAR:
            return {}
        g, zone = self.zones(at)
        infinite = self.model.roots(at.t, at.y + impulse / (part * NEAR), at.d, at.z)
        moved = np.isfinite(infinite) & (np.abs(infinite - g) > 1e-3 * np.abs(g) / NEAR)
        return self.modes.contradicted(self.model, at, zone, np.where(moved, infinite, 0.0))

    def _leaving(self, at: Instant, g: Array, zone: Array) -> dict[int, float]:
        """Modes that sit on their root and are about to leave it toward the side that contradicts them: a ball that has
        just bounced, diodes of which the next pair takes over, a friction whose flow turns because nothing holds it."""
        if not len(self._first):
            return {}
        g, zone = g[self._first], zone[self._first]
        near = np.abs(g) <= zone
        if not near.any():
            return {}
        soon = self._soon(at)[self._first]
        near &= ~self._at_pole(at, g, soon)
        relations = len(self._relations)
        toward = soon - g
        toward[:relations] = np.where(at.z[self._relations] != 0.0, toward[:relations], -toward[:relations])
        toward[relations:][at.z[self._frictions] == STICK] = 0.0  # its reaction decides, and has been looked at
        leaving = near & (toward < -1e-3 * zone)
        found = {int(k): float(1.0 - at.z[k]) for k in self._relations[leaving[:relations]]}
        found |= {int(k): STICK for k in self._frictions[leaving[relations:]]}
        return found | self._turned_back(at, set(self._relations[near[:relations]].tolist()))

    def _at_pole(self, at: Instant, g: Array, soon: Array) -> Flags:
        """Functions that come down from a pole on their new side (`1/(x - 1)` just behind x = 1) and do not return."""
        falls = (soon * g > 0.0) & (np.abs(soon) < FALLS * np.abs(g))
        if not falls.any():
            return falls
        step = self._ahead(at)
        before = self.model.roots(at.t - step, at.y - step * at.d, at.d, at.z)[self._first]
        return falls & (before * g < 0.0) & (np.abs(before) < FALLS * np.abs(g))

    def _landed(self, left: Instant, at: Instant, g: Array, zone: Array) -> dict[int, float]:
        """Relations whose two sides were apart and are equal since the event, and stay so (a source that is switched
        to 0): they are what they say of equal sides.  What laws leave at zero (a diode that idles) is not meant.
        Those that were at their root before are decided by its neighbourhood, for there equality is rounding."""
        equal = (g[self._switch_roots] == 0.0) & (at.z[self._switches] == self._strict)
        equal &= self._of_states[self._switch_roots]
        if not equal.any():
            return {}
        roots = self._switch_roots[equal]
        away = np.abs(self.model.roots(left.t, left.y, left.d, left.z)[roots]) > zone[roots]
        stays = np.abs(self._soon(at)[roots]) <= zone[roots]
        return {int(k): float(1.0 - at.z[k]) for k in self._switches[equal][away & stays]}

    def _soon(self, at: Instant) -> Array:
        """The root functions a little later, if everything goes on as it does."""
        step = self._ahead(at)
        return self.model.roots(at.t + step, at.y + step * at.d, at.d, at.z)

    def _ahead(self, at: Instant) -> float:
        """A time in which nothing changes much."""
        speed = np.max(np.abs(at.d) / np.maximum(np.abs(at.y), self.scale), initial=0.0)
        return float(AHEAD / max(speed, 0.1 / self._run))

    def _turned_back(self, at: Instant, near: Container[int]) -> dict[int, float]:
        """Relations crossed at this event that its `when`s have sent back, however slowly."""
        if not self._acted:
            return {}
        after = {c.mode: self._turning.mode_after(c, at) for c in self._crossings if c.mode in near}
        return {k: z for k, z in after.items() if z is not None and z != at.z[k]}

    def _come_back(self, happening: Happening) -> None:
        """When the relations that were turned back come again, and whether they do so for ever, too soon to follow."""
        if not self._acted or not self._crossings:
            return
        at = happening.at
        g, zone = self.zones(at)
        for c in self._crossings:
            r = self.modes.first[c.mode]
            if abs(g[r]) > zone[r] or not self._turning.is_back(c, at):
                continue
            back = self._turning.comeback(c, at, self._ahead(at), self.consistency)
            if back is not None:
                pile = self._turning.pile(back, float(zone[r]))
                if pile is not None and pile.at < self.problem.stop:
                    happening.pile = pile
                elif back.flight > 0.0:
                    happening.soon = min(happening.soon, back.flight)

    def _rest(self, happening: Happening, left: Instant) -> None:
        """The conditions as they are after the event, and the assertions."""
        if self.system.whens:
            self._remember(happening.at, self._values(happening.at, left))
        if self.system.assertions:
            check_assertions(self.system.assertions, self._values(happening.at, happening.at), happening)

    def _switch_off(self, happening: Happening, samples: Sequence[int]) -> None:
        if samples:
            z = happening.at.z.copy()
            z[list(samples)] = 0.0
            happening.at = replace(happening.at, z=z)

    # --- when -------------------------------------------------------------------------------------------------------

    def _values(self, at: Instant, left: Instant, *, initial: bool = False, terminal: bool = False) -> Values:
        before = self.model.values(left.t, left.y, left.d, left.z)
        now = self.model.values(at.t, at.y, at.d, at.z)
        values = replace(now, left=before, initial=initial, terminal=terminal)
        return values if self.problem.external is None else replace(values, external=self.problem.external)

    def _truth(self, values: Values) -> list[list[list[bool]]]:
        return [
            [[evaluate(c, values) != 0.0 for c in branch.conditions] for branch in when.branches]
            for when in self.system.whens
        ]

    def _remember(self, at: Instant, values: Values) -> None:
        self._conditions = self._truth(replace(values, left=None))

    def _act(self, happening: Happening, left: Instant, *, initial: bool = False, terminal: bool = False) -> None:
        """`when`s whose condition became true act, all together; then again, as long as any condition becomes true."""
        if not self.system.whens:
            return
        done = set[int]()
        while True:  # each `when` acts once in an event, so this ends
            values = self._values(happening.at, left, initial=initial, terminal=terminal)
            truth = self._truth(values)
            branches = list[WhenBranch]()
            for w, when in enumerate(self.system.whens):
                fired = [any(n and not o for n, o in zip(new, old, strict=True))
                         for new, old in zip(truth[w], self._conditions[w], strict=True)]  # fmt: skip
                if any(fired):
                    if w in done:  # what it did made it true once more: in the next instant it would be so again
                        raise self._endless(when.branches[fired.index(True)], happening.at.t)
                    done.add(w)
                    branches.append(when.branches[fired.index(True)])
                    happening.log += self._moment(when, branches[-1], values)
            self._conditions = truth
            if not branches:
                return
            self._perform(happening, left, branches, values)

    def _moment(self, when: When, branch: WhenBranch, values: Values) -> list[Event]:
        """The log entry of a `when` that fires at the start or the end because it is that; no mode tells of it."""
        moments = [name for name, now in (("initial", values.initial), ("terminal", values.terminal)) if now]
        said = {part[0] for c in branch.conditions for part in postorder(c)}
        written = not any(isinstance(a, Assign) and a.latch for a in branch.actions)  # not one of the compiler's own
        return [
            _entry(values.t, "when", f"{name}()", when.component, branch.span, "false", "true")
            for name in moments if name in said and written
        ]  # fmt: skip

    def _perform(self, happening: Happening, left: Instant, branches: Sequence[WhenBranch], values: Values) -> None:
        """All actions see the values before any reset; resets act together."""
        actions = [a for branch in branches for a in branch.actions]
        at = happening.at
        z = self._assigned([a for a in actions if isinstance(a, Assign)], values)
        now = replace(values, z=z)
        held = dict[int, float]()
        for action in actions:
            if isinstance(action, Reinit):
                held[action.unknown] = evaluate(action.value, now)
                unknown = self.system.unknowns[action.unknown]
                happening.log.append(
                    _entry(at.t, "reinit", f"reinit({unknown.name})", unknown.name, action.span,
                           f"{at.y[action.unknown]:.9g}", f"{held[action.unknown]:.9g}")
                )  # fmt: skip
            elif isinstance(action, Terminate):
                happening.terminate = action.message
                happening.log.append(_entry(at.t, "terminate", action.message, "", action.span, "", ""))
            elif isinstance(action, Assertion):
                check_assertions([action], now, happening)
        if held or not np.array_equal(z, at.z):
            self._acted = True
            self._settle(happening, at, z, held)

    def _assigned(self, assigns: Sequence[Assign], values: Values) -> Array:
        """Discrete variables after simultaneous assignments: equations among them hold whatever their order."""
        z = np.array(values.z, dtype=np.float64)
        for action in assigns:
            if action.latch:
                z[action.mode] = evaluate(action.value, values)
        assigns = [action for action in assigns if not action.latch]
        for _ in range(len(assigns) + 1):
            before = z.copy()
            now = replace(values, z=before)
            for action in assigns:
                z[action.mode] = evaluate(action.value, now)
            if np.array_equal(before, z):
                break
        return z

    # --- words ------------------------------------------------------------------------------------------------------

    def _log_modes(self, happening: Happening, left: Instant) -> None:
        happening.log[:0] = self.modes.changes(left.t, left.z, happening.at.z)

    def _first_changes(self, happening: Happening, at: Instant, which: Sequence[int]) -> list[Event]:
        """What `sample` and `initial()` change; a discrete variable that its own equation gives only begins there."""
        actions = [a for when in self.system.whens for branch in when.branches for a in branch.actions]
        latches = {a.mode for a in actions if isinstance(a, Assign) and a.latch}
        return self.modes.changes(at.t, at.z, happening.at.z, [k for k in which if k not in latches])

    def _endless(self, branch: WhenBranch, t: float) -> SimulationError:
        read = [leaf[1] for c in branch.conditions for leaf in leaves(c) if leaf[0] == "z"]
        texts = [self.modes.modes[k].text or self.modes.modes[k].name for k in read]
        return SimulationError(chattering(texts[0] if texts else "when", branch.span, "", t), t)

    def _stuck(self, left: Instant, touched: Iterable[int], failed: Sequence[Instant]) -> SimulationError:
        from bglang.solve.explain import not_finite

        chosen = [self.modes.modes[k] for k in sorted(touched)]
        texts = [m.text or m.name for m in chosen]
        for at in failed:
            diagnostic = not_finite(self.system, self.model.values(at.t, at.y, at.d, at.z), f"at t = {at.t:.9g}")
            if diagnostic is not None:
                return SimulationError(diagnostic, left.t)
        rows = list[Row]()
        for at in failed[-1:]:
            rows = [self.system.rows[i] for i in worst_rows(self.system, self.model.residual(at.t, at.y, at.d, at.z))]
        names = list(dict.fromkeys(row.component for row in rows if row.component))
        components = [*(m.component for m in chosen), *names, ""]
        return SimulationError(
            error(
                "events/no-continuation",
                f"at t = {left.t:.9g} the model cannot go on",
                first_span([*(m.span for m in chosen), *(row.span for row in rows)]),
                reason=f"No combination of {listed(texts)} agrees with the equations after this event."
                if texts else f"After this event the equations of {those_of(names)} have no solution near the values "
                "before it.",
                hint="Look at what the model allows to happen there: two ideal elements may contradict each other.",
                component=components[0],
            ),
            left.t,
        )  # fmt: skip


def chattering(text: str, span: Span, component: str, t: float) -> Diagnostic:
    """A switch that goes back and forth without time going on."""
    return error(
        "events/chattering",
        f"`{text}` chatters at t = {t:.9g}",
        span,
        reason="Each of its two modes leads straight back to the other.",
        hint="Use `coulomb` for dry friction, or give the switch a hysteresis.",
        component=component,
    )


def _entry(t: float, kind: str, text: str, component: str, span: Span, old: str, new: str) -> Event:
    line = span.line if span.source.text else 0
    return Event(float(t), kind, text, component, line, span.source.name, old, new)
