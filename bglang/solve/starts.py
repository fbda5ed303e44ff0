"""Which starts hold, which are guesses: the counting of initial equations (language rules 3 and 35)."""

from bglang.diagnostics import Diagnostic, SourceError, error
from bglang.equations.system import Row, System, column
from bglang.expr import Expr, call, leaves
from bglang.records import dataclass, replace
from bglang.solve.explain import first_span, listed
from bglang.solve.problem import Problem


@dataclass(frozen=True, slots=True)
class Plan:
    """The initial problem: which unknowns hold their start, which equations are added, which parameters are found.

    `checked` are written starts of dependent storages that no equation enforces: the solution must agree with them."""

    held: tuple[int, ...]
    equations: tuple[Row, ...]
    parameters: tuple[int, ...]
    checked: tuple[int, ...]


def plan_starts(problem: Problem) -> Plan:
    """Initial equations take free unknowns and parameters first, then states that they mention, last declared
    first."""
    system = problem.system
    unknowns = system.unknowns
    kinds, fixed = column(unknowns, "kind"), column(unknowns, "fixed")
    equations = list(system.initial)
    equations += [_start_equation(problem, i) for i, kind in enumerate(kinds) if kind != "state" and fixed[i] is True]
    states = [i for i, kind in enumerate(kinds) if kind == "state"]
    free = [i for i in states if fixed[i] is False]
    found = [k for k, known in enumerate(column(system.parameters, "fixed")) if not known]
    parameters = [k for k in found if system.parameters[k].name]
    varying = set(found)
    for k, value in enumerate(column(system.parameters, "value")) if found else ():
        if _reads_any(value, varying):
            varying.add(k)
    tied = [i for i in states if varying and fixed[i] is not False and _reads_any(unknowns[i].start, varying)]
    equations += [replace(_start_equation(problem, i), residual=call("-", ("y", i), unknowns[i].start)) for i in tied]
    free += tied
    dependents = [
        i for i, kind in enumerate(kinds) if kind == "dependent" and problem.written[i] and fixed[i] is not True
    ]
    if not (equations or free or parameters or dependents):
        return Plan(tuple(states), (), (), ())
    reach = _Reach(system)
    must: list[tuple[str, int]] = [("y", i) for i in free] + [("p", k) for k in parameters]
    taken = _match(must, equations, reach)
    if len(taken) < len(must):
        raise SourceError([_under_determined(problem, [slot for slot in must if slot not in taken])])
    rest = [r for r in range(len(equations)) if r not in taken.values()]
    may = [i for i in states if fixed[i] is None]
    freed = set(free)
    for r in rest:
        slot = _slot(equations[r], may, freed, reach)
        if slot is None:
            raise SourceError([_over_determined(problem, equations[r], states)])
        freed.add(slot)
    checked = list[int]()
    for i in dependents:
        row = _start_equation(problem, i)
        unwritten = [j for j in may if not problem.written[j]]
        slot = _slot(row, unwritten, freed, reach)
        if slot is None:
            checked.append(i)
        else:  # an unwritten start is 0 and gives way to a written one
            equations.append(row)
            freed.add(slot)
    held = tuple(i for i in states if i not in freed)
    return Plan(held, tuple(equations), tuple(parameters), tuple(checked))


def _reads_any(start: Expr, found: set[int]) -> bool:
    """Whether a start is said in terms of parameters that are still to be found."""
    return bool(found) and any(leaf[0] == "p" and leaf[1] in found for leaf in leaves(start))


def _start_equation(problem: Problem, i: int) -> Row:
    u = problem.system.unknowns[i]
    return Row(call("-", ("y", i), float(problem.starts[i])), False, u.name, u.span)


class _Reach:
    """Which states and parameters an expression depends on: at once, or through algebraic variables."""

    def __init__(self, system: System):
        self.system = system
        self._rows_of = dict[int, list[int]]()
        self._leaves = [set(leaves(row.residual)) for row in system.rows]
        for r, row in enumerate(system.rows):
            if not row.differential:
                for kind, i in ((leaf[0], leaf[1]) for leaf in self._leaves[r] if len(leaf) > 1):
                    if kind == "y":
                        self._rows_of.setdefault(i, []).append(r)

    def near(self, row: Row) -> set[int]:
        """Unknowns that the equation itself mentions."""
        return {leaf[1] for leaf in leaves(row.residual) if leaf[0] in "yd"}

    def far(self, row: Row) -> tuple[set[int], set[int]]:
        """Unknowns and parameters that it reaches through the laws of what is no state."""
        seen, params = set[int](), set[int]()
        stack = list[int]()
        for leaf in leaves(row.residual):
            if leaf[0] in "yd":
                stack.append(leaf[1])
            elif leaf[0] == "p":
                params.add(leaf[1])
        rows_seen = set[int]()
        while stack:
            i = stack.pop()
            if i in seen:
                continue
            seen.add(i)
            if self.system.unknowns[i].kind == "state":
                continue
            for r in self._rows_of.get(i, ()):
                if r not in rows_seen:
                    rows_seen.add(r)
                    stack.extend(leaf[1] for leaf in self._leaves[r] if leaf[0] == "y")
                    params.update(leaf[1] for leaf in self._leaves[r] if leaf[0] == "p")
        return seen, params


def _match(must: list[tuple[str, int]], equations: list[Row], reach: _Reach) -> dict[tuple[str, int], int]:
    """An equation of its own for every free unknown and parameter (augmenting paths); equations that mention it first.

    A parameter may act through derived ones and through the differential rows, so any equation may serve it."""
    fits = dict[tuple[str, int], list[int]]()
    for slot in must:
        near = [r for r, e in enumerate(equations) if slot[0] == "y" and slot[1] in reach.near(e)]
        fits[slot] = near + [r for r in range(len(equations)) if r not in near]
    owner = dict[int, tuple[str, int]]()

    def place(slot: tuple[str, int], tried: set[int]) -> bool:
        for r in fits[slot]:
            if r not in tried:
                tried.add(r)
                if r not in owner or place(owner[r], tried):
                    owner[r] = slot
                    return True
        return False

    for slot in must:
        place(slot, set())
    return {slot: r for r, slot in owner.items()}


def _slot(row: Row, candidates: list[int], freed: set[int], reach: _Reach) -> int | None:
    """The state that an equation turns into a guess: the last declared one that it mentions, else that it reaches."""
    open_ones = [i for i in candidates if i not in freed]
    near = reach.near(row)
    direct = [i for i in open_ones if i in near]
    if direct:
        return direct[-1]
    far = reach.far(row)[0]
    indirect = [i for i in open_ones if i in far]
    return indirect[-1] if indirect else None


def _under_determined(problem: Problem, slots: list[tuple[str, int]]) -> Diagnostic:
    system = problem.system
    names = [(system.unknowns if kind == "y" else system.parameters)[i].name for kind, i in slots]
    spans = [(system.unknowns if kind == "y" else system.parameters)[i].span for kind, i in slots]
    plural = len(names) > 1
    return error(
        "initial/under-determined",
        f"nothing determines the start of {listed(names)}",
        first_span(spans),
        reason=f"{'They are' if plural else 'It is'} `fixed = false`, and there are not enough initial equations.",
        hint="Add an `initial equation` for each of them, or leave out `fixed = false`.",
        component=names[0],
    )


def _over_determined(problem: Problem, row: Row, states: list[int]) -> Diagnostic:
    fixed = [problem.system.unknowns[i].name for i in states if problem.system.unknowns[i].fixed is True]
    held = f"The start{'s' if len(fixed) > 1 else ''} of {listed(fixed)} {'are' if len(fixed) > 1 else 'is'}"
    return error(
        "initial/over-determined",
        "there is one initial equation too many",
        row.span,
        label="this one finds nothing to determine",
        reason=f"{held} `fixed = true`." if fixed else "No state is left that it could determine.",
        hint="Remove it, or take `fixed = true` from a state that it mentions."
        if fixed else "Remove it, or another initial equation.",
        component=row.component,
    )  # fmt: skip
